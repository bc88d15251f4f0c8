//! Collective communication and reduction operations.
