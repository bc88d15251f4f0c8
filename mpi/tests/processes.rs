//! The facade on several processes: each test runs in as many as its attribute says.

use mpi::{Comparison, Multiple, Operation, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

#[mpi::test(ranks = [1, 2, 5])]
fn collectives_reach_all_processes(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let root = size - 1;
    let sum = world.reduce(&[rank, 1], Operation::Sum, root)?;
    assert_eq!(sum, (rank == root).then(|| vec![(0..size).sum(), size]));
    let all = world.gather(&[rank, rank * rank], root)?;
    assert_eq!(all, (rank == root).then(|| (0..size).flat_map(|rank| [rank, rank * rank]).collect()));
    let parts: Vec<u32> = if rank == root { (0..2 * size).collect() } else { Vec::new() };
    let mut own = [0; 2];
    world.scatter(&parts, &mut own, root)?;
    assert_eq!(own, [2 * rank, 2 * rank + 1]);
    let to_each: Vec<u32> = (0..size).map(|to| 100 * rank + to).collect();
    assert_eq!(world.all_to_all(&to_each)?, (0..size).map(|from| 100 * from + rank).collect::<Vec<_>>());
    // Not commutative: the first operand is of lower ranks.
    let mut first_and_last = [[0.0f64; 2]];
    world.all_reduce_with(&[[f64::from(rank), f64::from(rank)]], &mut first_and_last, |a, b| [a[0], b[1]])?;
    assert_eq!(first_and_last, [[0.0, f64::from(size - 1)]]);
    // A function of the program, as an operation.
    let largest = world.reduce(&[world.rank()], mpi::Combine::by(|a: u32, b| a.max(b)), 0)?;
    assert_eq!(largest, (world.rank() == 0).then(|| vec![size - 1]));
    assert_eq!(world.all_reduce_one(world.rank(), mpi::Combine::by(|a: u32, b| a.max(b)))?, size - 1);
    assert_eq!(class(world.gather(&[0u8], size)), "MPI_ERR_ROOT");
    if size > 1 {
        assert_eq!(class(world.all_to_all(&vec![0u8; size as usize + 1])), "MPI_ERR_COUNT");
    }
    if rank == root {
        assert_eq!(class(world.scatter(&[0u8; 3], &mut [0u8; 7], root)), "MPI_ERR_COUNT");
    }
    Ok(())
}

#[mpi::test(ranks = [1, 4])]
fn communicators_have_messages_of_their_own(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let twin = world.duplicate()?;
    assert_eq!((twin.rank(), twin.size()), (rank, size));
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    // The same tag in both: the messages do not meet.
    let sent = [world.process(next).start_send(vec![1u8], 7)?, twin.process(next).start_send(vec![2u8], 7)?];
    assert_eq!(twin.process(previous).receive::<u8>(7)?.0, [2]);
    assert_eq!(world.process(previous).receive::<u8>(7)?.0, [1]);
    for sending in sent {
        assert_eq!(sending.wait()?.len(), 1, "the data come back");
    }
    // Descending ranks.
    let half = world.split(Some(rank % 2), -(rank as i32))?.expect("a color");
    assert_eq!(half.size(), size.div_ceil(2) - if size > 1 { rank % 2 * (size % 2) } else { 0 });
    assert!(half.world_ranks().is_sorted_by(|a, b| a > b), "{:?}", half.world_ranks());
    let only = world.split((rank == 0).then_some(0), 0)?;
    assert_eq!(only.map(|only| only.size()), (rank == 0).then_some(1));
    assert_eq!(class(world.split(Some(1 << 31), 0)), "MPI_ERR_ARG");
    let last = world.subset(&[size - 1])?;
    assert_eq!(last.is_some(), rank == size - 1);
    assert_eq!(class(world.subset(&[size])), "MPI_ERR_RANK");
    assert_eq!(class(world.subset(&[0, 0])), "MPI_ERR_RANK");
    assert_eq!((world.alone().size(), world.alone().all_reduce_one(rank, Operation::Sum)?), (1, rank));
    let within = half.duplicate()?.all_reduce_one(1u32, Operation::Sum)?;
    assert_eq!(within, half.size(), "a duplicate of a part");
    // Errors name the communicator's size.
    let error = half.process(99).send(&[0u8], 0).expect_err("no such rank").to_string();
    assert!(error.contains("the communicator has"), "{error}");
    if size > 1 {
        let both = world.two_groups(rank == 0)?;
        let merged = both.merge(rank == 0)?;
        assert_eq!((merged.size(), merged.rank()), (size, if rank == 0 { size - 1 } else { rank - 1 }));
    }
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn operations_under_way_own_their_data(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut receives = Vec::new();
    for from in 0..size {
        receives.push(world.process(from).start_receive::<u32>(70_000, 3)?);
    }
    // Forgotten and dropped sends go on; their data are not freed before.
    std::mem::forget(world.process((rank + 1) % size).start_send(vec![rank; 60_000], 3)?);
    for to in (0..size).filter(|to| *to != (rank + 1) % size) {
        drop(world.process(to).start_send(vec![rank; 60_000], 3)?);
    }
    let mut sources = Vec::new();
    while let Some(place) = mpi::Receiving::wait_any(&mut receives)? {
        let receive = receives.swap_remove(place);
        assert!(receive.is_complete()?);
        let (data, received) = receive.wait()?;
        assert_eq!(data, vec![received.source; 60_000]);
        sources.push(received.source);
    }
    sources.sort_unstable();
    assert_eq!(sources, (0..size).collect::<Vec<_>>());
    // A receive that is dropped takes no message.
    drop(world.process(rank).start_receive::<u8>(1, 9)?);
    world.process(rank).send(&[5u8], 9)?;
    assert_eq!(world.process(rank).receive::<u8>(9)?.0, [5]);
    let long = world.process(rank).start_receive::<u8>(1, 9)?;
    world.process(rank).send(&[5u8, 6], 9)?;
    assert_eq!(class(long.wait()), "MPI_ERR_TRUNCATE");
    world.barrier()
}

#[mpi::test(ranks = [1, 3])]
fn communicators_are_named_compared_and_split_by_memory(world: &World) -> mpi::Result<()> {
    assert_eq!(world.name(), "MPI_COMM_WORLD");
    let host = world.split_by_memory(-(world.rank() as i32))?;
    assert_eq!((host.size(), host.rank()), (world.size(), world.size() - 1 - world.rank()), "all are on one host");
    host.set_name("the host");
    assert_eq!(host.name(), "the host");
    let twin = world.duplicate()?;
    assert_eq!(world.compare(world), Comparison::Ident);
    assert_eq!(world.compare(&twin), Comparison::Congruent);
    let reversed = if world.size() == 1 { Comparison::Congruent } else { Comparison::Similar };
    assert_eq!(world.compare(&host), reversed);
    let first = world.split(Some(u32::from(world.rank() > 0)), 0)?.expect("a color");
    assert_eq!(first.compare(&twin), if world.size() == 1 { Comparison::Congruent } else { Comparison::Unequal });
    Ok(())
}

#[mpi::test(ranks = [1, 3])]
fn sessions_have_communicators_beside_the_world(world: &World) -> mpi::Result<()> {
    let session = mpi::Session::new()?;
    assert_eq!(session.sets(), ["mpi://WORLD", "mpi://SELF"]);
    let all = session.communicator("mpi://world", "first")?;
    let other = mpi::Session::new()?;
    let twin = other.communicator("mpi://WORLD", "second")?;
    assert_eq!((all.rank(), all.size(), twin.size()), (world.rank(), world.size(), world.size()));
    let (me, mut got) = (all.process(all.rank()), [0u8]);
    let sending = me.start_send(vec![1u8], 0)?;
    twin.process(twin.rank()).exchange(&[2u8], &twin.process(twin.rank()), &mut got, 0)?;
    assert_eq!((got, me.receive::<u8>(0)?.0), ([2], vec![1]));
    sending.wait()?;
    assert_eq!(all.all_reduce_one(1u32, Operation::Sum)?, world.size());
    assert_eq!(session.communicator("mpi://SELF", "alone")?.size(), 1);
    assert_eq!(class(session.communicator("mpi://NOWHERE", "nothing")), "MPI_ERR_ARG");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn a_scope_borrows_its_data(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    for length in [3usize, 50_000, 1_000_000] {
        let own = vec![rank as u16; length];
        let (mut left, mut right) = (vec![0; length], vec![0; length + 1]);
        let received = world.scope(|scope| {
            scope.receive(&world.process(previous), &mut left, 0)?;
            scope.send(&world.process(next), &own, 0)?;
            scope.receive(&world.process(next), &mut right, 1)?;
            scope.send(&world.process(previous), &own, 1)
        })?;
        assert_eq!((left, &right[..length]), (vec![previous as u16; length], &vec![next as u16; length][..]));
        let facts: Vec<_> = received.iter().map(|it| (it.source, it.tag, it.count)).collect();
        assert_eq!(facts, [(previous, 0, length), (next, 1, length)]);
    }
    // The columns of a matrix.
    let column = mpi::Layout::<u32>::vector(3, 1, 4)?;
    let (matrix, mut others) = ((0..12).map(|it| it + 100 * rank).collect::<Vec<u32>>(), [0u32; 12]);
    world.scope(|scope| {
        scope.receive_layout(&world.process(previous), &mut others, &column, 2)?;
        scope.send_layout(&world.process(next), &matrix[1..], &column, 2)
    })?;
    assert_eq!(
        [others[0], others[4], others[8], others[1]],
        [1, 5, 9, 0].map(|it| if it == 0 { 0 } else { it + 100 * previous })
    );
    // An error of the body revokes what was started, and is the scope's.
    let mut room = [0u8; 4];
    let failed = world.scope(|scope| {
        scope.receive(&world.process(previous), &mut room, 5)?;
        scope.send(&world.process(size), &[1u8], 5)
    });
    assert_eq!(class(failed), "MPI_ERR_RANK");
    let twin = world.duplicate()?;
    assert_eq!(class(world.scope(|scope| scope.send(&twin.process(0), &[1u8], 5))), "MPI_ERR_COMM");
    let mut short = [0u8; 1];
    world.process(next).send(&[1u8, 2], 6)?;
    assert_eq!(class(world.scope(|scope| scope.receive(&world.process(previous), &mut short, 6))), "MPI_ERR_TRUNCATE");
    world.barrier()
}

#[mpi::test(ranks = 2, seconds = 60)]
fn a_failed_scope_leaves_no_send_that_reads_memory_given_back(world: &World) -> mpi::Result<()> {
    let (rank, other) = (world.rank(), 1 - world.rank());
    for length in [10usize, 64 << 10, 1 << 20] {
        if rank == 0 {
            let data = vec![7u8; length];
            let failed = world.scope(|scope| {
                scope.send(&world.process(other), &data, 0)?;
                scope.send(&world.process(9), &data, 0)
            });
            assert_eq!(class(failed), "MPI_ERR_RANK");
            drop(data);
            // Very likely the same memory.
            let next = vec![9u8; length];
            world.process(other).send(&next[..1], 1)?;
        } else {
            // The message of the scope was taken back, or came whole; this process makes progress here until the other
            // one has left the scope.
            assert_eq!(world.process(other).receive::<u8>(1)?.0, [9]);
        }
        world.barrier()?;
        let tag = 10 + length as i32;
        world.process(rank).send(&[1u8], tag)?;
        let received = world.process(rank).receive::<u8>(tag)?;
        assert_eq!(received.0, [1]);
    }
    Ok(())
}

#[mpi::test(ranks = [1, 2])]
fn the_wait_for_a_receive_needs_one_that_is_started(world: &World) -> mpi::Result<()> {
    let me = world.process(world.rank());
    let mut operation = me.persistent_receive::<u8>(4, 0)?;
    assert_eq!(class(operation.wait_received()), "MPI_ERR_REQUEST", "it is not started");
    let mut send = me.persistent_send(vec![1u8], 0)?;
    operation.start()?;
    send.start()?;
    assert_eq!(class(send.wait_received()), "MPI_ERR_REQUEST", "a send");
    send.wait()?;
    assert_eq!(operation.wait_received()?.count, 1);
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn windows_are_read_and_changed_by_all(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, length) = ((rank + 1) % size, 1000);
    let mut window = world.window::<i64>(length)?;
    let mut own = vec![7; length];
    window.read(0, &mut own)?;
    assert_eq!((own, window.len()), (vec![0; length], length), "zero at first");
    window.write(10, &[i64::from(rank)])?;
    let (mut got, put) = ([0; 1], vec![i64::from(rank); 5]);
    window.epoch(|epoch| {
        epoch.get(next, 10, &mut got)?;
        epoch.put(next, 20, &put)?;
        epoch.accumulate(0, 30, &[1, 2], Operation::Sum)
    })?;
    assert_eq!(got, [i64::from(next)]);
    let mut own = [0; 5];
    window.read(20, &mut own)?;
    assert_eq!(own, [i64::from((rank + size - 1) % size); 5]);
    if rank == 0 {
        window.read(30, &mut own)?;
        assert_eq!(own[..2], [i64::from(size), 2 * i64::from(size)]);
    }
    // Each process draws a number once.
    let (mut number, mut swapped) = ([-1], [-1]);
    window.epoch(|epoch| {
        epoch.fetch(size - 1, 40, &[1], &mut number, Operation::Sum)?;
        epoch.swap(next, 41, &[9], &mut swapped)
    })?;
    let mut drawn = world.all_gather(&number)?;
    drawn.sort_unstable();
    assert_eq!((drawn, swapped), ((0..i64::from(size)).collect(), [0]));
    // One process wins.
    let mut winner = -1;
    window.epoch(|epoch| epoch.compare_and_swap(0, 50, 0, i64::from(rank) + 1, &mut winner))?;
    let winners = world.all_gather(&[winner])?;
    let lost = winners.iter().find(|winner| **winner != 0).copied().unwrap_or(1);
    assert_eq!(winners.iter().filter(|winner| **winner == 0).count(), 1, "{winners:?}");
    assert!(winners.iter().all(|winner| *winner == 0 || *winner == lost), "{winners:?}");
    let outside = window.epoch(|epoch| epoch.put(next, length - 1, &[1, 2]));
    assert_eq!(class(outside), "MPI_ERR_RMA_RANGE");
    assert_eq!(class(window.epoch(|epoch| epoch.put(size, 0, &[1]))), "MPI_ERR_RANK");
    assert_eq!(class(window.read(length, &mut [0])), "MPI_ERR_RMA_RANGE");
    let mut two = [0; 2];
    assert_eq!(class(window.epoch(|epoch| epoch.fetch(0, 0, &[1], &mut two, Operation::Sum))), "MPI_ERR_COUNT");
    Ok(())
}

#[mpi::test(ranks = 2, seconds = 60)]
fn threads_share_the_world(world: &World<Multiple>) {
    let other = 1 - world.rank();
    std::thread::scope(|scope| {
        for tag in 0..4 {
            scope.spawn(move || {
                let mut into = [0u32];
                let own = [world.rank() * 10 + tag as u32];
                world.process(other).exchange(&own, &world.process(other), &mut into, tag).expect("a peer");
                assert_eq!(into, [other * 10 + tag as u32]);
            });
        }
    });
}

#[mpi::test(ranks = 2, seconds = 60)]
#[should_panic(expected = "this rank has a reason")]
fn a_panic_on_one_process_fails_the_test(world: &World) -> mpi::Result<()> {
    if world.rank() == 1 {
        panic!("this rank has a reason");
    }
    world.barrier()
}

#[mpi::test(ranks = 3, seconds = 60)]
#[should_panic(expected = "MPI_ERR_RANK")]
fn an_error_on_one_process_fails_the_test(world: &World) -> mpi::Result<()> {
    if world.rank() == 2 {
        world.process(3).send(&[0u8], 0)?;
    }
    world.barrier()
}

#[mpi::test(ranks = 2, seconds = 60)]
#[should_panic(expected = "Communicator::size")]
fn the_advice_for_an_error_of_a_group_is_for_rust(world: &World) -> mpi::Result<()> {
    world.group().include(&[2]).map(drop)
}
