//! Events reach callbacks of every level, at the end of the call that raised them. One test, as MPI starts once a
//! process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi::tool::{self, EventRegistration, Safety, Variables};

const MESSAGES: u64 = 10;

/// Registers a callback that counts.
fn count<'v>(variables: &'v Variables<'_>, name: &str, level: Safety) -> (EventRegistration<'v>, Arc<AtomicU64>) {
    let seen = Arc::new(AtomicU64::new(0));
    let counter = seen.clone();
    let world = mpi::core::Handle(mpi::core::abi::MPI_COMM_WORLD);
    let callback = move |_: &mpi::tool::EventInstance<'_>| {
        counter.fetch_add(1, Ordering::Relaxed);
    };
    (variables.listen(name, Some(world), level, callback).expect("such events exist"), seen)
}

#[test]
fn callbacks_of_all_levels_have_seen_what_a_call_raised_when_it_returns() {
    let variables = tool::open().expect("nothing in the way");
    let world = mpi::init().expect("the first time");
    let levels = [Safety::None, Safety::MpiRestricted, Safety::ThreadSafe, Safety::AsyncSignalSafe];
    let matched = levels.map(|level| count(&variables, "p2p_matched", level));
    let collectives = count(&variables, "coll_end", Safety::None);
    for n in 1..=MESSAGES {
        world.process(0).send(&[n], 0).expect("a short message");
        let mut into = [0u64];
        world.process(0).receive_into(&mut into, 0).expect("it was sent");
        assert!(matched.iter().all(|(_, seen)| seen.load(Ordering::Relaxed) == n), "{n}: {matched:?}");
    }
    world.barrier().expect("one process");
    assert_eq!(collectives.1.load(Ordering::Relaxed), 1);
    let seen = matched.map(|(listening, seen)| {
        drop(listening);
        seen
    });
    world.process(0).send(&[0u64], 0).expect("a short message");
    world.process(0).receive::<u64>(0).expect("it was sent");
    assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) == MESSAGES), "{seen:?}");
}
