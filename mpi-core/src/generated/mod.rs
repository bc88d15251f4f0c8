//! What `cargo xtask codegen` writes for this crate.

pub mod constants;
pub mod functions;
pub(crate) mod predefined;
