//! Who watches a level, so that its high- and low-water marks move.
//!
//! A level says above and below which value somebody's mark must be moved; only then does it come here.
//! Not here: the marks themselves (each handle has its own).

use crate::Level;

/// A level rose above a mark.
#[cold]
pub(crate) fn rose(_level: &Level, _now: u64) {}

/// A level fell below a mark.
#[cold]
pub(crate) fn fell(_level: &Level, _now: u64) {}
