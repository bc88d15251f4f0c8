//! @generated modules: written by `cargo xtask codegen`.

pub mod constants;
