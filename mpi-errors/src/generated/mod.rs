//! What `cargo xtask codegen` writes from `spec/`.

pub mod error_class;
