//! Groups, communicators of them, and intercommunicators of two communicators, on several processes.

use mpi::{Comparison, GroupRelation, Operation, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

#[mpi::test(ranks = [1, 2, 4])]
fn groups_are_sets_in_an_order(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let all = world.group();
    assert_eq!((all.size(), all.rank(), all.world_ranks()), (size, Some(rank), &(0..size).collect::<Vec<_>>()[..]));
    let descending = all.include(&(0..size).rev().collect::<Vec<_>>())?;
    let relation = if size == 1 { GroupRelation::Identical } else { GroupRelation::Similar };
    assert_eq!((all.compare(&descending), all == descending), (relation, size == 1));
    assert_eq!(descending.rank(), Some(size - 1 - rank));
    assert_eq!(all.translate(0, &descending)?, Some(size - 1));
    let first = all.include(&[0])?;
    let others = all.exclude(&[0])?;
    assert_eq!((first.rank(), others.rank()), ((rank == 0).then_some(0), rank.checked_sub(1)));
    assert_eq!(first.translate(0, &others)?, None);
    assert_eq!((others.union(&first).size(), first.union(&others)), (size, all.clone()));
    assert_eq!((others.intersection(&first).size(), all.intersection(&others)), (0, others.clone()));
    assert_eq!((all.difference(&others), descending.difference(&others)), (first.clone(), first.clone()));
    assert_eq!(first.compare(&others), GroupRelation::Unequal);
    assert_eq!(class(all.include(&[0, 0])), "MPI_ERR_RANK");
    assert_eq!(class(all.include(&[size])), "MPI_ERR_RANK");
    assert_eq!(class(all.exclude(&[u32::MAX])), "MPI_ERR_RANK");
    assert_eq!(class(all.translate(size, &first)), "MPI_ERR_RANK");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn communicators_are_made_of_groups(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let descending = world.group().include(&(0..size).rev().collect::<Vec<_>>())?;
    let turned = world.create(&descending)?.expect("all processes are in it");
    assert_eq!((turned.rank(), turned.group()), (size - 1 - rank, descending));
    let last = world.group().include(&[size - 1])?;
    assert_eq!(world.create(&last)?.is_some(), rank + 1 == size);
    // The last process takes no part.
    let others = world.group().difference(&last);
    if rank + 1 < size {
        let made = world.create_group(&others, 3)?;
        assert_eq!((made.size(), made.all_reduce_one(1u32, Operation::Sum)?), (size - 1, size - 1));
        assert_eq!(class(world.create_group(&last, 0)), "MPI_ERR_GROUP", "this process is not in it");
        assert_eq!(class(made.create(&last)), "MPI_ERR_GROUP", "its process is not in the communicator");
    } else {
        assert_eq!(class(world.create_group(&others, 0)), "MPI_ERR_GROUP");
    }
    assert_eq!(class(world.create_group(&world.group(), -1)), "MPI_ERR_TAG");
    // A group outlives what it was taken from.
    let kept = world.duplicate()?.group();
    let session = mpi::Session::new()?;
    assert_eq!(session.group("mpi://WORLD")?, kept);
    let made = session.communicator_of(&kept.include(&[rank])?, "org.example.one")?;
    assert_eq!((made.size(), world.create(&kept)?.map(|made| made.size())), (1, Some(size)));
    assert_eq!(class(session.group("mpi://NOWHERE")), "MPI_ERR_ARG");
    let none = kept.include(&[])?;
    assert_eq!(class(session.communicator_of(&none, "org.example.none")), "MPI_ERR_GROUP");
    assert!(world.create(&none)?.is_none());
    Ok(())
}

#[mpi::test(ranks = [2, 4])]
fn two_communicators_are_connected_by_their_leaders(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let half = world.split(Some(rank % 2), 0)?.expect("all pass a color");
    // The leaders are the last processes of the halves.
    let leader = half.size() - 1;
    let other = world.process(if rank % 2 == 0 { size - 1 } else { size - 2 });
    let both = half.connect(leader, (half.rank() == leader).then_some(&other), 7)?;
    assert_eq!((both.rank(), both.size(), both.remote_size()), (rank / 2, size / 2, size / 2));
    let odd_ranks = |odd: u32| (0..size / 2).map(|at| 2 * at + odd).collect::<Vec<_>>();
    assert_eq!(both.group().world_ranks(), odd_ranks(rank % 2));
    assert_eq!(both.remote_group().world_ranks(), odd_ranks(1 - rank % 2));
    assert_eq!(both.all_gather(&[rank], 1)?, odd_ranks(1 - rank % 2));
    both.set_name("halves");
    let twin = both.duplicate()?;
    assert_eq!((both.name(), twin.name()), ("halves".to_owned(), String::new()));
    assert_eq!((both.compare(&both), both.compare(&twin)), (Comparison::Ident, Comparison::Congruent));
    // Each process with the one of the same rank in the other group.
    let pair = both.split(Some(both.rank()), 0)?.expect("both pass the same color");
    assert_eq!((pair.size(), pair.remote_group().world_ranks()), (1, &[rank ^ 1][..]));
    pair.barrier()?;
    assert!(both.split((rank % 2 == 0).then_some(0), 0)?.is_none(), "the other group passes no color");
    assert_eq!(class(both.split(Some(1 << 31), 0)), "MPI_ERR_ARG");
    assert_eq!(class(half.connect(half.size(), None, 0)), "MPI_ERR_RANK");
    assert_eq!(class(half.connect(0, None, 0)), "MPI_ERR_COMM", "in all processes");
    let nobody = world.process(size);
    assert_eq!(class(half.connect(0, Some(&nobody), 0)), "MPI_ERR_RANK");
    world.barrier()
}

#[mpi::test(ranks = [2, 4])]
fn groups_of_a_session_are_connected(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let session = mpi::Session::new()?;
    let all = session.group("mpi://WORLD")?;
    let parts = [0, 1].map(|odd| all.include(&(0..size / 2).map(|at| 2 * at + odd).collect::<Vec<_>>()));
    let [even, odd] = parts;
    let (even, odd) = (even?, odd?);
    let (own, other) =
        if rank % 2 == 0 { ((&even, 0), (&odd, size / 2 - 1)) } else { ((&odd, size / 2 - 1), (&even, 0)) };
    let both = session.connect(own, other, "org.example.halves")?;
    assert_eq!((both.group(), both.remote_group()), (own.0.clone(), other.0.clone()));
    assert_eq!(both.all_reduce(&[rank], Operation::Sum)?, [other.0.world_ranks().iter().sum::<u32>()]);
    assert_eq!(class(session.connect(other, own, "org.example.strange")), "MPI_ERR_GROUP", "not in the group");
    let none = all.include(&[])?;
    assert_eq!(class(session.connect(own, (&none, 0), "org.example.none")), "MPI_ERR_GROUP");
    assert_eq!(class(session.connect((own.0, size), other, "org.example.leader")), "MPI_ERR_RANK", "in all processes");
    assert_eq!(class(session.connect(own, (other.0, size), "org.example.remote")), "MPI_ERR_RANK", "in all processes");
    assert_eq!(class(session.connect((&all, 0), (&all, 0), "org.example.common")), "MPI_ERR_GROUP");
    world.barrier()
}

#[mpi::test(ranks = [1, 2])]
fn a_receive_that_is_cancelled_loses_no_message(world: &World) -> mpi::Result<()> {
    let me = world.process(world.rank());
    let unmatched = me.start_receive::<u8>(1, 0)?;
    let matched = me.start_receive::<u16>(4, 1)?;
    me.send(&[5u16, 6], 1)?;
    assert!(unmatched.cancel()?.is_none());
    while !matched.is_complete()? {}
    let (data, received) = matched.cancel()?.expect("its message has come");
    assert_eq!((data, received.count, received.tag), (vec![5, 6], 2, 1));
    let short = me.start_receive::<u8>(1, 2)?;
    me.send(&[1u8, 2], 2)?;
    while !short.is_complete()? {}
    assert_eq!(class(short.cancel()), "MPI_ERR_TRUNCATE");
    me.send(&[7u8], 0)?;
    assert_eq!(me.receive::<u8>(0)?.0, [7], "the cancelled receive takes no message");
    let of_one = world.all_reduce_one(u32::from(world.rank() == 0), Operation::Xor)?;
    assert_eq!((of_one, world.all_reduce_one(1u32, Operation::Xor)?), (1, world.size() % 2));
    Ok(())
}

#[test]
fn values_of_one_process_are_combined() {
    let mut values = [1.5f64, -2.0];
    mpi::Combine::from(Operation::Product).apply(&[2.0, 3.0], &mut values).expect("as long");
    assert_eq!(values, [3.0, -6.0]);
    mpi::Combine::by(|lower: f64, higher| lower - higher).apply(&[10.0, 1.0], &mut values).expect("as long");
    assert_eq!(values, [7.0, 7.0]);
    mpi::Combine::from(Operation::Sum).apply(&[] as &[u8], &mut []).expect("nothing");
    assert_eq!(class(mpi::Combine::from(Operation::Sum).apply(&[1u8], &mut [])), "MPI_ERR_COUNT");
    assert_eq!(class(mpi::Combine::from(Operation::BitOr).apply(&[1.5f32], &mut [2.0])), "MPI_ERR_OP");
}
