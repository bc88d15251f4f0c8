//! Intercommunicators of random shapes over the simulated network: groups, ids, messages, parts and merged groups.

use std::collections::HashSet;
use std::sync::Arc;

use mpi_comm::{
    Comm, CommSpec, ContextIds, ExpectedRemote, Group, PeerLeader, RemoteSpec, agree, agree_on_context,
    by_color_in_both, connect, merged, place_in, register, subsets, unregister,
};
use mpi_core::abi::{MPI_ERR_COMM, MPI_ERR_GROUP, MPI_ERR_RANK, MPI_UNDEFINED};
use mpi_core::{Guarded, Handle, ProcessLock};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::simulated::{Topology, run};
use mpi_p2p::{CommMeters, Engine, Mode};
use mpi_t::HeapMemory;

const ERRHANDLER: Handle = Handle(0);

/// One process of the job.
struct Rank {
    engine: Engine,
    ids: Guarded<ContextIds>,
    world: Comm,
    internal_meters: CommMeters,
}

/// Runs `body` on all ranks of a job; the values that it returned, by rank.
fn simulate<T: Send>(ranks: u32, body: impl Fn(&Rank) -> T + Sync) -> Vec<T> {
    let outcome = run(&Topology::new(ranks), |rank| {
        let lock = Arc::new(ProcessLock::new(false));
        let engine = Engine::new(rank.endpoint, lock.clone(), &HeapMemory);
        let ids = Guarded::new(&lock, ContextIds::new(engine.rank(), ranks));
        let internal_meters = CommMeters::detached(ranks);
        let world = register(&engine, &mut engine.lock(), CommSpec::world(engine.rank(), ranks), internal_meters);
        body(&Rank { engine, ids, world, internal_meters })
    });
    outcome.expect("memory and threads for the ranks").results
}

impl Rank {
    /// A communicator of a group that all processes of the group agree on.
    fn intra(&self, group: &Group) -> Comm {
        let context = mpi_comm::agree_in_group(&self.engine, &self.world, &self.ids, group, 7).expect("ids");
        let rank = group.rank_of(self.engine.rank()).expect("a member");
        self.register(CommSpec::part(&self.world, context, group, rank))
    }

    fn register(&self, spec: CommSpec) -> Comm {
        register(&self.engine, &mut self.engine.lock(), spec, CommMeters::detached(self.engine.size()))
    }

    /// The intercommunicator of `local` and the group whose leader has this world rank.
    fn inter(&self, local: &Comm, leader: u32, remote_leader: u32, tag: i32) -> Result<Comm> {
        let peer = (local.rank() == leader).then_some(Ok(PeerLeader {
            comm: &self.world,
            rank: remote_leader,
            tag,
            expected: None,
            refusal: 0,
        }));
        let made = connect(&self.engine, local, leader, peer, &self.ids)?;
        let remote = Some(RemoteSpec { group: made.remote, internal_meters: self.internal_meters });
        let (context, group, rank) = (made.context, local.group().clone(), local.rank());
        let (name, errhandler) = (String::new(), ERRHANDLER);
        Ok(self.register(CommSpec { context, group, remote, rank, name, errhandler, topology: None }))
    }

    /// Each process sends a number to each process of the remote group, and receives one from each.
    fn exchange_with_all(&self, comm: &Comm, number: u32) {
        let engine = &self.engine;
        let remote = comm.remote().expect("an intercommunicator");
        for dest in 0..comm.peers() {
            let value = [number, engine.rank(), dest];
            let data = SendBuf::from_slice(&value);
            engine.send(engine.lock(), comm.context(), dest as i32, 5, data, Mode::Standard).expect("no fault");
        }
        for source in 0..comm.peers() {
            let mut value = [0u32; 3];
            let room = RecvBuf::from_slice(&mut value);
            let status = engine.recv(engine.lock(), comm.context(), source as i32, 5, room).expect("no fault");
            assert_eq!(value, [number, remote.group().world_ranks()[source as usize], comm.rank()]);
            assert_eq!(status.source, source as i32);
        }
    }

    fn free(&self, comm: &Comm) {
        unregister(&self.engine, &mut self.engine.lock(), comm);
    }
}

/// Pseudo-random numbers (xorshift), the same in all processes.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as u32 % limit
    }

    /// Two disjoint groups of some of the ranks, in random order, neither empty.
    fn groups(&mut self, ranks: u32) -> [Group; 2] {
        let mut all: Vec<u32> = (0..ranks).collect();
        for place in (1..all.len()).rev() {
            all.swap(place, self.below(place as u32 + 1) as usize);
        }
        let first = 1 + self.below(ranks - 1);
        let second = 1 + self.below(ranks - first);
        [&all[..first as usize], &all[first as usize..(first + second) as usize]].map(Group::new)
    }
}

/// The side of a process and of the other group; `None` outside both.
fn sides(groups: &[Group; 2], world_rank: u32) -> Option<(usize, usize)> {
    let own = groups.iter().position(|group| group.rank_of(world_rank).is_some())?;
    Some((own, 1 - own))
}

#[test]
fn groups_of_any_shape_connect_and_their_messages_arrive() {
    for seed in 1..30 {
        let ranks = 2 + seed as u32 % 23;
        let results = simulate(ranks, |rank| {
            let mut random = Random::new(seed);
            let mut contexts = Vec::new();
            for round in 0..3 {
                let groups = random.groups(ranks);
                let leaders = groups.each_ref().map(|group| random.below(group.size()));
                let tag = [0, i32::MAX, 0x7000_0000][round as usize];
                let Some((own, other)) = sides(&groups, rank.engine.rank()) else { continue };
                let local = rank.intra(&groups[own]);
                let remote_leader = groups[other].world_ranks()[leaders[other] as usize];
                let inter = rank.inter(&local, leaders[own], remote_leader, tag).expect("disjoint groups");
                assert_eq!(inter.group(), &groups[own]);
                assert_eq!(inter.remote().expect("two groups").group(), &groups[other]);
                rank.exchange_with_all(&inter, round);
                // Duplicates of it have ids of their own, from all processes in turn.
                contexts.push((round, 0, inter.context()));
                for number in 1..6 {
                    let context = agree_on_context(&rank.engine, &inter, &rank.ids).expect("ids are left");
                    let copy = rank.register(CommSpec::duplicate(&inter, context));
                    rank.exchange_with_all(&copy, 100 * round + number);
                    contexts.push((round, number, context));
                    rank.free(&copy);
                }
                rank.free(&inter);
            }
            contexts
        });
        // All processes of a call have the same id, and different calls different ids.
        let all: HashSet<(u32, u32, u32)> = results.into_iter().flatten().collect();
        let calls: HashSet<(u32, u32)> = all.iter().map(|(round, number, _)| (*round, *number)).collect();
        let ids: HashSet<u32> = all.iter().flat_map(|(_, _, id)| [*id, *id + 2]).collect();
        assert_eq!((all.len(), ids.len()), (calls.len(), 2 * calls.len()), "seed {seed}");
    }
}

#[test]
fn parts_and_merged_groups_are_the_same_in_all_processes() {
    for seed in 1..20 {
        let ranks = 3 + seed as u32 % 14;
        let results = simulate(ranks, |rank| {
            let mut random = Random::new(seed);
            let groups = random.groups(ranks);
            let (own, other) = sides(&groups, rank.engine.rank())?;
            let local = rank.intra(&groups[own]);
            let inter = rank.inter(&local, 0, groups[other].world_ranks()[0], 1).expect("disjoint groups");
            let remote = inter.remote().expect("two groups");

            // Colors and keys of all ranks of the job, the same in all processes.
            let words: Vec<[i32; 2]> =
                (0..ranks).map(|_| [[0, 1, MPI_UNDEFINED][random.below(3) as usize], random.below(4) as i32]).collect();
            let mine = words[rank.engine.rank() as usize];
            let agreed = agree(&rank.engine, &inter, &rank.ids, mine).expect("ids are left");
            let expected = groups.each_ref().map(|group| {
                let mut same: Vec<u32> = group.world_ranks().to_vec();
                same.retain(|member| words[*member as usize][0] == mine[0]);
                same.sort_by_key(|member| words[*member as usize][1]);
                Group::new(same)
            });
            let there = mine[0] != MPI_UNDEFINED && expected[other].size() > 0;
            let parts = by_color_in_both(&inter, remote, &agreed);
            assert_eq!(parts, there.then(|| [expected[own].clone(), expected[other].clone()]));
            if let Some([part, others]) = parts {
                let place = part.rank_of(rank.engine.rank()).expect("a member");
                let made = rank.register(CommSpec::parts(&inter, agreed.context, &part, &others, place));
                rank.exchange_with_all(&made, 9);
                rank.free(&made);
            }

            // Subsets: those of each group whose world rank is even, in reverse.
            let subset = |group: &Group| {
                let even = group.world_ranks().iter().rev().copied().filter(|member| member % 2 == 0);
                Group::new(even.collect::<Vec<_>>())
            };
            let place = place_in(&subset(&groups[own]), &inter);
            let agreed = agree(&rank.engine, &inter, &rank.ids, place).expect("ids are left");
            let found = subsets(&inter, remote, &agreed).expect("groups");
            let [first, second] = [subset(&groups[own]), subset(&groups[other])];
            assert_eq!(found, (first.size() > 0 && second.size() > 0).then_some([first, second]));

            // Both groups, in one order for all.
            let high = [random.below(2), random.below(2)];
            let agreed = agree(&rank.engine, &inter, &rank.ids, [high[own] as i32, 0]).expect("ids are left");
            let both = merged(&inter, remote, &agreed).expect("each group passed one value");
            let low = if high[0] < high[1] { 0 } else { 1 };
            if high[0] != high[1] {
                assert_eq!(both, groups[low].union(&groups[1 - low]));
            }
            Some((agreed.context, both.world_ranks().to_vec()))
        });
        let different: HashSet<_> = results.into_iter().flatten().collect();
        assert_eq!(different.len(), 1, "seed {seed}");
    }
}

#[test]
fn groups_with_a_common_process_are_an_error_in_all_processes() {
    for seed in 1..20 {
        let ranks = 3 + seed as u32 % 9;
        let results = simulate(ranks, |rank| {
            let mut random = Random::new(seed);
            let [first, second] = random.groups(ranks);
            // The last process of the first group, also of a group of one, is at the end of the second one.
            let common = first.world_ranks()[first.size() as usize - 1];
            let second = second.union(&Group::new([common]));
            let groups = [first, second];
            let member = |own: &usize| groups[*own].rank_of(rank.engine.rank()).is_some();
            let locals: Vec<(usize, Comm)> = (0..2).filter(member).map(|own| (own, rank.intra(&groups[own]))).collect();
            // The common process makes both calls, one after the other.
            let made = locals.iter().map(|(own, local)| {
                let leader = groups[1 - own].world_ranks()[0];
                rank.inter(local, 0, leader, 3).map(|_| ()).map_err(|error| error.class())
            });
            made.collect::<Vec<_>>()
        });
        let all: Vec<_> = results.into_iter().flatten().collect();
        assert!(all.len() > 2 && all.iter().all(|made| *made == Err(MPI_ERR_COMM)), "seed {seed}: {all:?}");
    }
}

#[test]
fn an_error_of_a_leader_is_one_in_all_processes_of_its_group() {
    let results = simulate(9, |rank| {
        let failed = || Error::new(MPI_ERR_RANK, "no such rank");
        let peer = (rank.engine.rank() == 4).then(|| Err(failed()));
        let made = connect(&rank.engine, &rank.world, 4, peer, &rank.ids);
        // The communicator is usable afterwards.
        agree_on_context(&rank.engine, &rank.world, &rank.ids).expect("ids are left");
        made.map(|_| ()).map_err(|error| error.class())
    });
    assert_eq!(results, vec![Err(MPI_ERR_RANK); 9]);
}

#[test]
fn another_group_than_the_leader_was_given_is_an_error_in_both() {
    let results = simulate(6, |rank| {
        let me = rank.engine.rank();
        let group = if me < 3 { Group::new([0, 1, 2]) } else { Group::new([5, 4, 3]) };
        let local = rank.intra(&group);
        // The first leader expects one process less; the second expects what there is, in another order.
        let expected = if me < 3 { Group::new([3, 4]) } else { Group::new([2, 1, 0]) };
        let leaders = if me < 3 { [0, 5] } else { [5, 0] };
        let expected = Some(ExpectedRemote { group: &expected, leaders });
        let peer = PeerLeader { comm: &rank.world, rank: leaders[1], tag: 2, expected, refusal: 0 };
        let peer = (local.rank() == 0).then_some(Ok(peer));
        connect(&rank.engine, &local, 0, peer, &rank.ids).map(|_| ()).map_err(|error| error.class())
    });
    assert_eq!(results, vec![Err(MPI_ERR_GROUP); 6]);
}

#[test]
fn a_refusal_is_an_error_in_both_groups() {
    let results = simulate(5, |rank| {
        let me = rank.engine.rank();
        let group = if me < 2 { Group::new([0, 1]) } else { Group::new([2, 3, 4]) };
        let local = rank.intra(&group);
        let (other, refusal) = if me < 2 { (2, MPI_ERR_RANK) } else { (0, 0) };
        let peer = PeerLeader { comm: &rank.world, rank: other, tag: 2, expected: None, refusal };
        let peer = (local.rank() == 0).then_some(Ok(peer));
        let made = connect(&rank.engine, &local, 0, peer, &rank.ids).map(|_| ()).map_err(|error| error.class());
        rank.inter(&local, 0, other, 2).expect("nothing of the failed call is left");
        made
    });
    assert_eq!(results, vec![Err(MPI_ERR_RANK); 5]);
}

#[test]
fn leaders_that_the_groups_name_differently_are_an_error_in_both() {
    let results = simulate(5, |rank| {
        let me = rank.engine.rank();
        let groups = [Group::new([0, 1]), Group::new([2, 3, 4])];
        let (local, remote) = if me < 2 { (&groups[0], &groups[1]) } else { (&groups[1], &groups[0]) };
        // The first group's leader is process 1; the second group takes process 0 for it.
        let leaders = if me < 2 { [1, 2] } else { [2, 0] };
        let local = rank.intra(local);
        let expected = Some(ExpectedRemote { group: remote, leaders });
        let peer = PeerLeader { comm: &rank.world, rank: if me < 2 { 2 } else { 0 }, tag: 2, expected, refusal: 0 };
        let peer = (local.rank() == 0).then_some(Ok(peer));
        connect(&rank.engine, &local, 0, peer, &rank.ids).map(|_| ()).map_err(|error| error.class())
    });
    assert_eq!(results, vec![Err(MPI_ERR_RANK); 5]);
}

#[test]
fn ids_of_pairs_run_out_only_when_all_shares_of_both_groups_are_used() {
    // A job of so many processes has shares of four ids.
    const CROWD: u32 = 1 << 28;
    let results = simulate(5, |rank| {
        let me = rank.engine.rank();
        let group = if me < 2 { Group::new([0, 1]) } else { Group::new([2, 3, 4]) };
        let local = rank.intra(&group);
        let inter = rank.inter(&local, 0, if me < 2 { 2 } else { 0 }, 0).expect("disjoint groups");
        let ids = Guarded::new(rank.engine.process_lock(), ContextIds::new(me, CROWD));
        let mut given = HashSet::new();
        while let Ok(id) = agree_on_context(&rank.engine, &inter, &ids) {
            assert!(given.insert(id), "{id} twice");
        }
        (given.len(), agree(&rank.engine, &inter, &ids, [0; 2]).is_err(), ids.get(&rank.engine.lock()).left())
    });
    // Two pairs of each process; the first share begins with the ids of the predefined communicators.
    assert_eq!(results, vec![(9, true, 0); 5]);
}
