//! Moving bytes between the processes of a job over shared memory.
