//! mpiexec, and the wire-up that a started process speaks.
