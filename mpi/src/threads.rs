//! How many threads of a process use MPI (MPI-5.0, 11.2.1), as types.
//!
//! Invariant: what belongs to a world of [`Single`] cannot leave its thread.
//! Not here: the world.

use std::marker::PhantomData;

use mpi_core::abi::{MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE};

/// How many threads of the process use MPI: [`Single`] or [`Multiple`].
pub trait ThreadUse: sealed::Sealed {
    /// The thread level.
    #[doc(hidden)]
    const LEVEL: i32;
    /// The function that initializes MPI.
    #[doc(hidden)]
    const INIT: &'static str;
}

/// Only the thread that initialized MPI uses it (`MPI_THREAD_FUNNELED`); the world cannot leave it.
///
/// ```compile_fail
/// fn on_another_thread(world: mpi::World) {
///     std::thread::spawn(move || world.barrier());
/// }
/// ```
#[derive(Debug)]
pub struct Single(PhantomData<*const ()>);

/// Any thread may use MPI at any time (`MPI_THREAD_MULTIPLE`); the world can be shared.
///
/// ```
/// fn on_another_thread(world: mpi::World<mpi::Multiple>) {
///     std::thread::spawn(move || world.barrier());
/// }
/// ```
#[derive(Debug)]
pub struct Multiple(());

mod sealed {
    /// No other crate may have worlds of its own kind of threads.
    pub trait Sealed {}

    impl Sealed for super::Single {}
    impl Sealed for super::Multiple {}
}

impl ThreadUse for Single {
    const LEVEL: i32 = MPI_THREAD_FUNNELED;
    const INIT: &'static str = "mpi::init";
}

impl ThreadUse for Multiple {
    const LEVEL: i32 = MPI_THREAD_MULTIPLE;
    const INIT: &'static str = "mpi::init_multiple";
}
