//! Requests with a recipe: persistent and generalized requests, which are more than one operation (MPI-5.0, 3.9 and
//! 13.2).
//!
//! An ordinary request is one operation under way. A request with a recipe starts such operations: a persistent send or
//! receive one after the other, a generalized request a single one, which the program completes. Completion
//! (`complete`) uses only the methods of [`Recipe`], so a further kind, a partitioned or a collective request, is a
//! further variant here and in `start`.
//! Invariant: a request with a recipe has at most one operation under way.
//! Not here: making and starting such requests (`start`).

use std::fmt;
use std::sync::Arc;

use mpi_core::Handle;
use mpi_datatype::{RecvBuf, SendBuf};

use crate::request::{Generalized, Mode};

/// A request with a recipe.
#[derive(Debug)]
pub(crate) struct RecipeRequest {
    pub context: u32,
    pub recipe: Recipe,
    /// The request of the operation under way; `None` while inactive.
    pub under_way: Option<Handle>,
    /// The program freed it: it ends with its operation.
    pub freed: bool,
}

/// What a request does.
pub(crate) enum Recipe {
    /// A persistent send.
    Send { dest: i32, tag: i32, buffer: SendBuf<'static>, mode: Mode },
    /// A persistent receive.
    Receive { source: i32, tag: i32, buffer: RecvBuf<'static> },
    /// An operation that the program performs.
    Generalized(Arc<dyn Generalized>),
}

impl fmt::Debug for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Recipe::Send { .. } => "Send",
            Recipe::Receive { .. } => "Receive",
            Recipe::Generalized(_) => "Generalized",
        })
    }
}

impl Recipe {
    /// Whether a completion leaves the request, inactive, to be started again.
    pub fn is_persistent(&self) -> bool {
        !matches!(self, Recipe::Generalized(_))
    }

    /// What the program is called for.
    pub fn callbacks(&self) -> Option<&Arc<dyn Generalized>> {
        match self {
            Recipe::Generalized(callbacks) => Some(callbacks),
            Recipe::Send { .. } | Recipe::Receive { .. } => None,
        }
    }
}
