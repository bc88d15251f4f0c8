//! PMI-1, the protocol that Hydra, Flux and Slurm's `pmi2` serve and MPI libraries speak: lines of `key=value` over a
//! connection that a launcher hands down.
//!
//! - [`wire`]: the lines themselves.
//! - [`client`]: what a process of ours asks another launcher.
//!
//! Invariant: what the other side sends is input; a bad line is an error that quotes it, and never a crash.
//! Not here: which launcher there is, and what its processes tell each other over it (`wireup`).

pub mod client;

pub mod wire;
