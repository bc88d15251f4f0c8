//! Every order in which threads store parts of a partition, under a lock, and another looks for it without one: the
//! protocol's own file, on loom's atomics. The bytes are cells of loom's, which reports an access that is not ordered.
#![allow(dead_code, unsafe_code)] // the models use a part of the file; bytes are written through pointers

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
}

#[path = "../src/arrivals.rs"]
mod arrivals;

use arrivals::Arrivals;
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// A receive with one partition of two parts.
struct Receive {
    arrivals: Arrivals,
    lock: Mutex<()>,
    parts: [UnsafeCell<u32>; 2],
}

impl Receive {
    fn started() -> Arc<Receive> {
        let arrivals = Arrivals::new(1).expect("memory for a word");
        arrivals.serve(1);
        arrivals.expect_all(2);
        Arc::new(Receive { arrivals, lock: Mutex::new(()), parts: [UnsafeCell::new(0), UnsafeCell::new(0)] })
    }

    /// Stores one part, as a thread that polls does.
    fn store(&self, part: usize) {
        let _guard = self.lock.lock().expect("no panic");
        // SAFETY: the pointer is the cell's own; loom fails the model when an access is not ordered with it.
        self.parts[part].with_mut(|at| unsafe { *at = 7 });
        assert!(self.arrivals.misses(0, 1));
        self.arrivals.stored(0, 1);
    }

    /// Looks once, as `MPI_Parrived` does, and reads the bytes if they are there.
    fn look(&self) -> bool {
        let arrived = self.arrivals.has_arrived(0).expect("it has one partition");
        if arrived {
            // SAFETY: as in `store`.
            self.parts.iter().for_each(|part| part.with(|at| assert_eq!(unsafe { *at }, 7)));
        }
        arrived
    }
}

#[test]
fn a_thread_that_finds_a_partition_sees_the_bytes_that_two_others_stored() {
    loom::model(|| {
        let receive = Receive::started();
        let threads = [0, 1].map(|part| {
            let receive = receive.clone();
            thread::spawn(move || receive.store(part))
        });
        receive.look();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert!(receive.look());
    });
}

#[test]
fn a_partition_that_is_not_whole_is_not_there() {
    loom::model(|| {
        let receive = Receive::started();
        let storing = {
            let receive = receive.clone();
            thread::spawn(move || receive.store(0))
        };
        assert!(!receive.look());
        storing.join().expect("no panic");
        assert!(!receive.look());
        assert!(!receive.arrivals.misses(0, 2), "more than is missing");
    });
}

#[test]
fn a_thread_that_looks_after_the_end_never_leaves_the_words() {
    loom::model(|| {
        let receive = Receive::started();
        let reused = {
            let receive = receive.clone();
            thread::spawn(move || {
                receive.arrivals.end_all();
                receive.arrivals.serve(0);
            })
        };
        // Whatever it finds is an answer.
        let _ = receive.arrivals.has_arrived(0);
        let _ = receive.arrivals.has_arrived(5);
        reused.join().expect("no panic");
        assert_eq!(receive.arrivals.has_arrived(0), None);
    });
}
