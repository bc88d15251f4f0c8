//! The state word of a handle: one word with everything that a step changes, so that a step is one compare-and-swap.
//!
//! - `state`: the word, and the steps on it. `wide`: own parts too large for it.
//! - `kind`: the parts of a value, by class.
//!
//! Invariant: no lock and no allocation: all of it is async-signal-safe and thread-safe.
//! Not here: which state word belongs to which handle (`handle::slot`).

pub(crate) mod kind;
pub(crate) mod state;
mod wide;
