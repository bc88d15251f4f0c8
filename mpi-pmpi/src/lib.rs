//! The profiling interface: name shift and MPI_Pcontrol.
