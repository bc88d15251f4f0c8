//! Criterion benches and the side-by-side harness.
