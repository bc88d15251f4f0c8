//! A thread with a small stack can initialise the library. The limit suits unoptimised builds, whose frames are several
//! times as large; the C interface is tested with 64 KB.

use mpi_core::abi::MPI_THREAD_MULTIPLE;

const STACK: usize = 128 << 10;

#[test]
fn a_thread_with_a_small_stack_starts_the_library() {
    let start = || mpi_env::init(MPI_THREAD_MULTIPLE).expect("a world of one");
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(start).expect("a thread");
    assert_eq!(thread.join().expect("no panic"), MPI_THREAD_MULTIPLE);
    mpi_env::running().expect("initialised").finalize().expect("once");
}
