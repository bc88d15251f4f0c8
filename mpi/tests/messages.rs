//! Matched probes, modes of sends, and waits for several operations, on several processes.

use mpi::{ANY_TAG, Collective, Multiple, Operation, Request, SendMode, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

/// Short, in segments, and offered.
const LENGTHS: [usize; 3] = [3, 2000, 200_000];
const MODES: [SendMode; 4] = [SendMode::Standard, SendMode::Synchronous, SendMode::Buffered, SendMode::Ready];

#[mpi::test(ranks = [1, 2, 4])]
fn a_matched_message_is_received_once(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = (world.process((rank + 1) % size), world.process((rank + size - 1) % size));
    for length in LENGTHS {
        let sends: Vec<_> =
            (0..5).map(|number| next.start_send(vec![number as u32; length], number)).collect::<mpi::Result<_>>()?;
        let first = world.any().matched_probe(0)?;
        assert_eq!((first.source(), first.tag(), first.bytes()), ((rank + size - 1) % size, 0, 4 * length));
        assert_eq!(first.properties::<u16>()?.count, 2 * length);
        if length % 2 == 1 {
            assert_eq!(class(first.properties::<u64>()), "MPI_ERR_TYPE");
        }
        let second = previous.matched_probe(1)?;
        // The messages are not where another probe finds them.
        assert!(previous.try_matched_probe(0)?.is_none() && previous.try_probe::<u32>(1)?.is_none());
        assert_eq!(second.receive::<u32>()?.0, vec![1; length]);
        let (data, received) = first.receive::<u32>()?;
        assert_eq!((data, received.count), (vec![0; length], length));
        let mut room = vec![9u32; length + 1];
        assert_eq!(previous.matched_probe(2)?.receive_into(&mut room)?.count, length);
        assert_eq!((&room[..length], room[length]), (&vec![2; length][..], 9));
        let started = previous.matched_probe(3)?.start_receive::<u32>()?;
        assert_eq!(started.wait()?.0, vec![3; length]);
        let every_second = mpi::Layout::<u32>::vector(length, 1, 2)?;
        let mut gaps = vec![9u32; 2 * length];
        assert_eq!(previous.matched_probe(4)?.receive_layout(&mut gaps, &every_second)?.count, length);
        assert!(gaps.chunks(2).all(|pair| pair == [4, 9]));
        sends.into_iter().try_for_each(|send| send.wait().map(drop))?;
        world.barrier()?;
    }
    assert_eq!(class(world.process(size).matched_probe(0).map(drop)), "MPI_ERR_RANK");
    assert_eq!(class(next.try_matched_probe(-5).map(drop)), "MPI_ERR_TAG");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn a_matched_message_that_is_not_received_goes_back(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = (world.process((rank + 1) % size), world.process((rank + size - 1) % size));
    for length in LENGTHS {
        let sends = [next.start_send(vec![1u16; length], 0)?, next.start_send(vec![2u16; length], 0)?];
        drop(previous.matched_probe(ANY_TAG)?);
        let message = previous.matched_probe(0)?;
        assert_eq!(class(message.receive_into(&mut [0u16; 1])), "MPI_ERR_TRUNCATE");
        if length % 2 == 1 {
            assert_eq!(class(previous.matched_probe(0)?.receive::<u32>()), "MPI_ERR_TYPE");
        }
        let blocks = mpi::Layout::<u16>::vector(length, 1, 1)?;
        assert_eq!(class(previous.matched_probe(0)?.receive_layout(&mut [0u16; 1], &blocks)), "MPI_ERR_BUFFER");
        // A receive that waits already gets it, before the later message.
        let message = previous.matched_probe(0)?;
        let later = previous.matched_probe(0)?;
        let waiting = previous.start_receive::<u16>(length, 0)?;
        drop(message);
        assert_eq!(waiting.wait()?.0, vec![1; length]);
        assert_eq!(later.receive::<u16>()?.0, vec![2; length]);
        for send in sends {
            send.wait()?;
        }
        world.barrier()?;
    }
    // One that is forgotten is lost; the next one is received.
    next.send(&[1u8], 1)?;
    std::mem::forget(previous.matched_probe(1)?);
    next.send(&[2u8], 1)?;
    assert_eq!(previous.receive::<u8>(1)?.0, [2]);
    Ok(())
}

#[mpi::test(ranks = 1)]
fn a_message_that_goes_back_is_not_timed_twice(world: &World) -> mpi::Result<()> {
    use mpi::tool::{self, PvarClass};

    let variables = tool::open().expect("nothing in the way");
    let timer = variables.find_pvar("p2p_time_unexpected", PvarClass::Timer).expect("it exists");
    let timer = variables.watch(timer, Some(world.handle())).expect("it exists for the world");
    let (me, before) = (world.process(0), std::time::Instant::now());
    me.send(&[1u8], 0)?;
    while me.try_probe::<u8>(0)?.is_none() {}
    std::thread::sleep(std::time::Duration::from_millis(20));
    drop(me.matched_probe(0)?);
    me.receive::<u8>(0)?;
    let waited = timer.read().expect("a timer").as_f64().expect("a number");
    assert!((0.02..before.elapsed().as_secs_f64()).contains(&waited), "{waited} seconds");
    Ok(())
}

#[mpi::test(ranks = 2, seconds = 60)]
fn a_message_that_goes_back_wakes_the_thread_that_waits_for_one(world: &World<Multiple>) -> mpi::Result<()> {
    let other = world.process(1 - world.rank());
    for length in LENGTHS {
        let sending = other.start_send(vec![7u8; length], 0)?;
        let message = other.matched_probe(0)?;
        std::thread::scope(|scope| -> mpi::Result<()> {
            let receives = scope.spawn(|| other.receive::<u8>(0));
            std::thread::sleep(std::time::Duration::from_millis(20));
            drop(message);
            assert!(receives.join().expect("no panic")?.0 == vec![7; length]);
            Ok(())
        })?;
        sending.wait()?;
        world.barrier()?;
    }
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn sends_have_all_modes_in_all_forms(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = (world.process((rank + 1) % size), world.process((rank + size - 1) % size));
    let buffer = world.attach_process_buffer(None)?;
    for (length, mode) in LENGTHS.iter().flat_map(|length| MODES.map(|mode| (*length, mode))) {
        let data = vec![rank; length];
        let expected = vec![(rank + size - 1) % size; length];
        let receive = || previous.start_receive::<u32>(length, 0);
        // Receives are posted first, as ready mode needs it.
        let receives = [receive()?, receive()?, receive()?, receive()?];
        world.barrier()?;
        next.send_in_mode(&data, 0, mode)?;
        assert_eq!(next.start_send_in_mode(data.clone(), 0, mode)?.wait()?, data);
        let mut persistent = next.persistent_send_in_mode(data.clone(), 0, mode)?;
        persistent.start()?;
        persistent.wait()?;
        assert!(persistent.is_complete()?);
        world.scope(|scope| scope.send_in_mode(&next, &data, 0, mode))?;
        for receive in receives {
            assert_eq!(receive.wait()?.0, expected, "{mode:?}");
        }
    }
    assert_eq!(class(world.process(size).send_in_mode(&[1u8], 0, SendMode::Ready)), "MPI_ERR_RANK");
    assert_eq!(class(next.start_send_in_mode(vec![1u8], -3, SendMode::Synchronous)), "MPI_ERR_TAG");
    assert_eq!(class(next.persistent_send_in_mode(vec![1u8], ANY_TAG, SendMode::Buffered)), "MPI_ERR_TAG");
    buffer.detach()
}

#[mpi::test(ranks = [1, 2])]
fn synchronous_sends_wait_for_their_receive_and_buffered_ones_do_not(world: &World) -> mpi::Result<()> {
    let me = world.process(world.rank());
    let synchronous = me.start_send_in_mode(vec![1u8], 0, SendMode::Synchronous)?;
    let mut repeated = me.persistent_send_in_mode(vec![2u8], 1, SendMode::Synchronous)?;
    repeated.start()?;
    for _ in 0..100 {
        assert!(!synchronous.is_complete()? && !repeated.is_complete()?);
    }
    let buffer = world.attach_buffer(Some(1 << 20))?;
    me.send_in_mode(&vec![3u8; 500_000], 2, SendMode::Buffered)?;
    me.start_send_in_mode(vec![4u8; 300_000], 2, SendMode::Buffered)?.wait()?;
    for (tag, value) in [(2, 3), (2, 4), (1, 2), (0, 1)] {
        assert_eq!(me.receive::<u8>(tag)?.0[0], value);
    }
    repeated.wait()?;
    synchronous.wait()?;
    buffer.flush()?;
    buffer.detach()
}

#[mpi::test(ranks = [1, 3])]
fn buffers_bound_what_waits_in_them(world: &World) -> mpi::Result<()> {
    let me = world.process(world.rank());
    let buffered = |bytes: usize| me.send_in_mode(&vec![1u8; bytes], 0, SendMode::Buffered);
    let advice = buffered(1).expect_err("none is attached").advice().unwrap_or_default();
    assert!(advice.contains("attach_process_buffer") && !advice.contains("MPI_"), "{advice}");
    assert_eq!(class(buffered(1)), "MPI_ERR_BUFFER", "none is attached");
    let of_process = world.attach_process_buffer(Some(1000))?;
    assert_eq!(class(world.attach_process_buffer(None)), "MPI_ERR_BUFFER", "the second one");
    assert_eq!(class(buffered(100_000)), "MPI_ERR_BUFFER", "no room");
    {
        let of_world = world.attach_buffer(Some(500_000))?;
        assert_eq!(class(world.attach_buffer(Some(1))), "MPI_ERR_BUFFER");
        buffered(300_000)?;
        assert_eq!(class(buffered(300_000)), "MPI_ERR_BUFFER", "the first one is in it");
        drop(of_world);
        // What waits in a buffer that is detached is sent, and takes no room of the next one.
        let again = world.attach_buffer(Some(500_000))?;
        buffered(300_000)?;
        assert_eq!(me.receive::<u8>(0)?.1.count, 300_000);
        assert_eq!(me.receive::<u8>(0)?.1.count, 300_000);
        again.detach()?;
    }
    // The buffer of a communicator that is forgotten ends with the communicator.
    let twin = world.duplicate()?;
    std::mem::forget(twin.attach_buffer(None)?);
    drop(twin);
    assert_eq!(
        class(world.duplicate()?.process(0).send_in_mode(&[0u8; 2000], 0, SendMode::Buffered)),
        "MPI_ERR_BUFFER"
    );
    drop(of_process);
    let session = mpi::Session::new()?;
    let of_session = session.attach_buffer(Some(1 << 20))?;
    assert_eq!(class(session.attach_buffer(None)), "MPI_ERR_BUFFER");
    let alone = session.communicator("mpi://SELF", "alone")?;
    alone.process(0).send_in_mode(&[5u8; 100_000], 0, SendMode::Buffered)?;
    assert_eq!(class(buffered(1)), "MPI_ERR_BUFFER", "the world is no communicator of the session");
    assert_eq!(alone.process(0).receive::<u8>(0)?.1.count, 100_000);
    of_session.detach()
}

#[mpi::test(ranks = [1, 2, 4])]
fn data_are_exchanged_in_place_and_probed_without_waiting(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = (world.process((rank + 1) % size), world.process((rank + size - 1) % size));
    for length in LENGTHS {
        let mut data = vec![rank; length];
        let received = next.exchange_in_place(&mut data, &previous, 0)?;
        assert_eq!((received.count, data), (length, vec![(rank + size - 1) % size; length]));
    }
    assert!(next.try_probe::<u8>(3)?.is_none());
    world.barrier()?;
    next.send(&[1u16, 2], 3)?;
    let found = loop {
        if let Some(found) = world.any().try_probe::<u16>(ANY_TAG)? {
            break found;
        }
    };
    assert_eq!((found.source, found.tag, found.count), ((rank + size - 1) % size, 3, 2));
    previous.receive::<u16>(3)?;
    let twin = world.duplicate()?;
    assert_eq!(class(next.exchange_in_place(&mut [0u8], &twin.process(0), 0)), "MPI_ERR_COMM");
    assert_eq!(class(world.any().exchange_in_place(&mut [0u8], &previous, 0)), "MPI_ERR_RANK");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn operations_of_any_kind_are_waited_for_together(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = (world.process((rank + 1) % size), world.process((rank + size - 1) % size));
    assert_eq!((mpi::wait_any(&[])?, mpi::test_any(&[])?, mpi::test_all(&[])?), (None, None, true));
    assert!(mpi::wait_some(&[])?.is_empty() && mpi::test_some(&[])?.is_empty());
    mpi::wait_all(&[])?;
    let never = previous.start_receive::<u8>(1, 99)?;
    let receiving = previous.start_receive::<f64>(10, 1)?;
    let mut repeated = previous.persistent_receive::<i16>(1, 2)?;
    repeated.start()?;
    assert_eq!(mpi::test_any(&[&never])?, None);
    assert!(mpi::test_some(&[&never])?.is_empty() && !mpi::test_all(&[&never])?);
    let sum = world.start(Collective::all_reduce(vec![1u32], Operation::Sum))?;
    let mut again = world.persistent(Collective::barrier())?;
    again.start()?;
    let duplicating = world.start_duplicate()?;
    let exchange = next.start_exchange(vec![rank], &previous, 1, 3)?;
    let sending = next.start_send(vec![0.5f64; 10], 1)?;
    next.send(&[7i16], 2)?;
    let all: [&dyn Request; 7] = [&receiving, &repeated, &sum, &again, &duplicating, &exchange, &sending];
    mpi::wait_all(&all)?;
    assert!(mpi::test_all(&all)? && mpi::test_some(&all)?.len() == all.len());
    let mixed: [&dyn Request; 4] = [&never, &sum, &never, &receiving];
    assert_eq!((mpi::wait_some(&mixed)?, mpi::wait_any(&mixed)?), (vec![1, 3], Some(1)));
    assert_eq!((mpi::test_some(&mixed)?, mpi::test_any(&mixed)?, mpi::test_all(&mixed)?), (vec![1, 3], Some(1), false));
    // They still have their results.
    assert_eq!(
        (receiving.wait()?.0, sum.wait()?, exchange.wait()?.0),
        (vec![0.5; 10], vec![size], vec![(rank + size - 1) % size])
    );
    assert_eq!(repeated.wait_received()?.count, 1);
    again.wait()?;
    assert_eq!(duplicating.wait()?.size(), size);
    sending.wait()?;
    assert_eq!(mpi::wait_any(&[&never, &repeated])?, Some(1), "an inactive one counts as complete");
    world.barrier()
}

#[mpi::test(ranks = 2, seconds = 60)]
fn threads_wait_for_the_same_operations(world: &World<Multiple>) -> mpi::Result<()> {
    let other = world.process(1 - world.rank());
    let receiving = other.start_receive::<u8>(1, 0)?;
    let (own, completer) = world.start_generalized::<u8>()?;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| mpi::wait_all(&[&receiving, &own]).expect("no error"));
            scope.spawn(|| mpi::wait_any(&[&receiving, &own]).expect("no error"));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        other.send(&[1u8], 0).expect("sent");
        completer.complete(5);
    });
    assert_eq!((own.wait()?, receiving.wait()?.0), (5, vec![1]));
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn duplicates_are_made_while_the_process_works(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let both = [world.start_duplicate()?, world.start_duplicate()?];
    let sending = world.process(next).start_send(vec![rank], 0)?;
    assert_eq!(world.process(previous).receive::<u32>(0)?.0, [previous]);
    sending.wait()?;
    let [first, second] = both;
    while !first.is_complete()? {}
    let (second, first) = (second.wait()?, first.wait()?);
    let sent = [first.process(next).start_send(vec![1u8], 0)?, second.process(next).start_send(vec![2u8], 0)?];
    assert_eq!(
        (second.process(previous).receive::<u8>(0)?.0, first.process(previous).receive::<u8>(0)?.0),
        (vec![2], vec![1])
    );
    for sending in sent {
        sending.wait()?;
    }
    // Dropped or forgotten in some processes, it is complete in the others.
    for round in 0..10 {
        let duplicating = first.start_duplicate()?;
        match (rank + round) % 3 {
            0 => drop(duplicating),
            1 => std::mem::forget(duplicating),
            _ => assert_eq!(duplicating.wait()?.size(), size),
        }
    }
    assert_eq!(first.all_reduce_one(1u32, Operation::Sum)?, size);
    if size > 1 {
        let groups = world.two_groups(rank == 0)?;
        let twin = groups.duplicate()?;
        assert_eq!((twin.rank(), twin.remote_size()), (groups.rank(), groups.remote_size()));
        twin.barrier()?;
    }
    world.barrier()
}

#[mpi::test(ranks = [1, 2, 4])]
fn layouts_select_the_elements_of_messages_that_own_their_data(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = (world.process((rank + 1) % size), world.process((rank + size - 1) % size));
    let from = (rank + size - 1) % size;
    for rows in [3usize, 2000, 100_000] {
        // The first column of a matrix of two columns.
        let column = mpi::Layout::<u32>::vector(rows, 1, 2)?;
        let matrix = vec![rank; 2 * rows];
        let receiving = previous.start_receive_layout(vec![99; 2 * rows], &column, 0)?;
        let sending = next.start_send_layout(matrix.clone(), &column, 0)?;
        let (room, received) = receiving.wait()?;
        assert_eq!(received.count, rows);
        assert!(room.chunks(2).all(|row| row == [from, 99]));
        assert!(sending.wait()? == matrix);
        let mut send = next.persistent_send_layout(matrix, &column, 1)?;
        let mut receive = previous.persistent_receive_layout(vec![99; 2 * rows], &column, 1)?;
        for step in 1..4 {
            send.data_mut().expect("inactive")[0] = 10 * step;
            receive.start()?;
            send.start()?;
            send.wait()?;
            assert_eq!(receive.wait_received()?.count, rows);
            let data = receive.data().expect("inactive");
            assert!(data[..2] == [10 * step, 99] && data[2..].chunks(2).all(|row| row == [from, 99]));
        }
    }
    let layout = mpi::Layout::<u8>::vector(2, 1, 3)?;
    assert_eq!(class(next.start_send_layout(vec![0; 3], &layout, 0)), "MPI_ERR_BUFFER");
    assert_eq!(class(next.start_receive_layout(vec![0; 3], &layout, 0)), "MPI_ERR_BUFFER");
    assert_eq!(class(next.persistent_send_layout(vec![0; 3], &layout, 0)), "MPI_ERR_BUFFER");
    assert_eq!(class(next.persistent_receive_layout(vec![0; 3], &layout, 0)), "MPI_ERR_BUFFER");
    let twice = mpi::Layout::<u8>::indexed(&[(0, 2), (1, 2)])?;
    assert_eq!(class(next.start_receive_layout(vec![0; 9], &twice, 0)), "MPI_ERR_BUFFER");
    let pairs = mpi::Layout::<u8>::indexed(&[(3, 2), (6, 2), (7, 2), (10, 2)])?;
    assert_eq!(class(next.start_receive_layout(vec![0; 12], &pairs, 0)), "MPI_ERR_BUFFER");
    assert_eq!(class(next.start_send_layout(vec![0; 9], &layout, -1)), "MPI_ERR_TAG");
    assert_eq!(class(world.any().persistent_send_layout(vec![0; 9], &layout, 0)), "MPI_ERR_RANK");
    // A receive that is cancelled or forgotten, and a send that is dropped, own their data.
    assert!(next.start_receive_layout(vec![0; 9], &layout, 77)?.cancel()?.is_none());
    std::mem::forget(next.start_receive_layout(vec![0; 9], &layout, 78)?);
    drop(next.start_send_layout(vec![1u8; 9], &layout, 79)?);
    assert_eq!(previous.receive::<u8>(79)?.0, [1, 1]);
    Ok(())
}
