//! Rules of context ids: the processes of a communicator give them in turn, and none is left when all shares are used.

use std::collections::HashSet;
use std::sync::Barrier;
use std::sync::{Arc, Mutex};

use mpi_comm::{Comm, CommSpec, ContextIds, agree, agree_in_group, agree_on_context, register};
use mpi_core::{Guarded, ProcessLock};
use mpi_fabric::Endpoint;
use mpi_p2p::{CommMeters, Engine};
use mpi_t::HeapMemory;

const RANKS: u32 = 5;
/// A job of so many processes has shares of four ids.
const CROWD: u32 = 1 << 28;

/// Runs `body` on five ranks of a job with `size` shares; returns what each returned.
fn run<T: Send>(size: u32, body: impl Fn(&Engine, &Comm, &Guarded<ContextIds>) -> T + Sync) -> Vec<T> {
    let done = Barrier::new(RANKS as usize);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for endpoint in Endpoint::threads(RANKS).expect("memory for a few ranks") {
            let (body, done, results) = (&body, &done, &results);
            scope.spawn(move || {
                let lock = Arc::new(ProcessLock::new(false));
                let engine = Engine::new(endpoint, lock.clone(), &HeapMemory);
                let ids = Guarded::new(&lock, ContextIds::new(engine.rank(), size));
                let spec = CommSpec::world(engine.rank(), RANKS);
                let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(RANKS));
                let result = body(&engine, &world, &ids);
                engine.drain(engine.lock()).expect("no fault");
                results.lock().expect("no panic").push(result);
                done.wait();
            });
        }
    });
    results.into_inner().expect("no panic")
}

#[test]
fn all_processes_give_ids_in_turn() {
    let results = run(RANKS, |engine, world, ids| {
        let before = ids.get(&engine.lock()).left();
        let given: Vec<u32> = (0..20).map(|_| agree_on_context(engine, world, ids).expect("ids are left")).collect();
        (given, before - ids.get(&engine.lock()).left())
    });
    for (given, own) in &results {
        assert_eq!(given, &results[0].0, "all agree");
        assert_eq!(*own, 4, "each gave a fifth");
    }
    assert_eq!(results[0].0.iter().collect::<HashSet<_>>().len(), 20);
}

#[test]
fn words_stay_with_their_process_for_any_provider_of_the_id() {
    run(RANKS, |engine, world, ids| {
        for round in 0..7 {
            let agreed = agree(engine, world, ids, [engine.rank() as i32, round]).expect("ids are left");
            let expected: Vec<_> = (0..RANKS as i32).map(|rank| [rank, round]).collect();
            assert_eq!(agreed.words, expected);
        }
    });
}

#[test]
fn ids_run_out_only_when_the_shares_of_all_processes_are_used() {
    let results = run(CROWD, |engine, world, ids| {
        let mut given = HashSet::new();
        while let Ok(id) = agree_on_context(engine, world, ids) {
            assert!(given.insert(id), "{id} twice");
        }
        (given.len(), agree(engine, world, ids, [0; 2]).is_err(), ids.get(&engine.lock()).left())
    });
    // Two ids of the first share are those of the predefined communicators.
    assert_eq!(results, vec![(RANKS as usize * 4 - 2, true, 0); RANKS as usize]);
}

#[test]
fn the_process_with_the_most_ids_left_gives_one_to_a_group() {
    let results = run(CROWD, |engine, world, ids| {
        let mut given = HashSet::new();
        while let Ok(id) = agree_in_group(engine, world, ids, world.group(), 3) {
            assert!(given.insert(id), "{id} twice");
        }
        given.len()
    });
    assert_eq!(results, vec![RANKS as usize * 4 - 2; RANKS as usize]);
}
