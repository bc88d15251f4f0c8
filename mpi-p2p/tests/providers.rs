//! Which process provides the ids of communicators that are created without waiting.

mod common;

use common::{CONTEXT, run};
use mpi_p2p::{CommMeters, ContextSpec, MakeContext};

const RANKS: u32 = 3;

fn make(rank: u32) -> MakeContext {
    Box::new(move |id| {
        let world_ranks = (0..RANKS).collect();
        let instruments = CommMeters::detached(RANKS);
        vec![ContextSpec {
            id,
            rank,
            world_ranks,
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments,
        }]
    })
}

#[test]
fn the_processes_give_the_ids_of_duplicates_in_turn() {
    run(RANKS, |rank| {
        let me = rank.engine.rank();
        let mut given = 0;
        for number in 0..6 {
            let mut guard = rank.engine.lock();
            let provider = rank.engine.duplicate_provider(&guard, CONTEXT).expect("a known communicator");
            assert_eq!(provider, number % RANKS);
            let id = (provider == me).then_some(Some(1000 + 2 * number));
            given += u32::from(id.is_some());
            let request = rank.engine.duplicate(&mut guard, CONTEXT, id, make(me)).expect("no fault");
            assert!(rank.engine.wait(guard, request).expect("no fault").error.is_none());
            rank.engine.check_context(&rank.engine.lock(), 1000 + 2 * number).expect("the duplicate exists");
        }
        assert_eq!(given, 2);
        assert_eq!(rank.engine.duplicate_provider(&rank.engine.lock(), 77_777), None);
    });
}

#[test]
fn the_processes_give_the_ids_of_communicators_without_a_parent_in_turn() {
    run(RANKS, |rank| {
        let (me, digest, members) = (rank.engine.rank(), [8, 15], [0, 1, 2]);
        let mut given = 0;
        for number in 0..6 {
            let mut guard = rank.engine.lock();
            let provider = rank.engine.named_provider(&guard, digest, &members);
            let id = (provider == me).then_some(Some(2000 + 2 * number));
            given += u32::from(id.is_some());
            let request = rank.engine.named(&mut guard, digest, &members, id, make(me)).expect("no fault");
            assert!(rank.engine.wait(guard, request).expect("no fault").error.is_none());
            rank.engine.check_context(&rank.engine.lock(), 2000 + 2 * number).expect("the communicator exists");
        }
        assert_eq!(given, 2, "rank {me}");
    });
}
