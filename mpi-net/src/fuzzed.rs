//! What the fuzz targets (`mpi-net/fuzz`) call of this crate, which is not public: a process that peers connect with.

pub use crate::liveness::fuzzed::Connections;
pub use crate::network::fuzzed::FirstPackets;
