//! The thin facade for Rust programs.
