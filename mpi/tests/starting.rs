//! Starts of several operations at once, partitions by ranges and lists, and flushes under way.

use mpi::{Collective, ErrorClass, Operation, SendMode, World, start_all, wait_all};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> ErrorClass {
    result.expect_err("an error").kind()
}

#[mpi::test(ranks = [1, 3])]
fn operations_of_all_kinds_start_together(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = (world.process((rank + 1) % size), world.process((rank + size - 1) % size));
    let mut send = next.persistent_send(vec![rank], 0)?;
    let mut receive = previous.persistent_receive::<u32>(1, 0)?;
    let mut parts = next.partitioned_send(vec![1.5f64; 4], 2, 1)?;
    let mut arriving = previous.partitioned_receive::<f64>(4, 4, 1)?;
    let mut sum = world.persistent(Collective::all_reduce(vec![1u64], Operation::Sum))?;
    for _ in 0..3 {
        start_all(&mut [&mut receive, &mut send, &mut sum, &mut parts, &mut arriving])?;
        assert!(receive.data().is_none() && send.data_mut().is_none() && sum.result().is_none(), "active");
        assert_eq!(class(parts.partition_mut(2)), ErrorClass::Arg);
        parts.partition_mut(1)?.fill(2.5);
        parts.ready_range(0..2)?;
        wait_all(&[&send, &receive, &sum, &parts, &arriving])?;
        send.wait()?;
        assert_eq!(receive.wait_received()?.count, 1);
        assert_eq!(receive.data().expect("inactive"), [(rank + size - 1) % size]);
        sum.wait()?;
        assert_eq!(sum.result().expect("inactive"), [u64::from(size)]);
        parts.wait()?;
        arriving.wait()?;
        assert_eq!(arriving.data().expect("inactive"), [1.5, 1.5, 2.5, 2.5]);
    }
    start_all(&mut [])
}

#[mpi::test(ranks = 1)]
fn nothing_starts_beside_an_active_operation(world: &World) -> mpi::Result<()> {
    let me = world.process(0);
    let mut first = me.persistent_receive::<u8>(1, 0)?;
    let mut second = me.persistent_send(vec![7u8], 0)?;
    first.start()?;
    let error = start_all(&mut [&mut second, &mut first]).expect_err("the second one is active");
    assert_eq!(error.kind(), ErrorClass::Request);
    let text = error.to_string();
    assert!(text.starts_with("mpi::start_all: ") && text.contains("element 1"), "{text}");
    assert!(second.data().is_some(), "it is inactive");
    start_all(&mut [&mut second])?;
    first.wait()?;
    second.wait()?;
    // One that fails when it starts, behind one that does not.
    let mut buffered = me.persistent_send_in_mode(vec![1u8], 1, SendMode::Buffered)?;
    let error = start_all(&mut [&mut first, &mut buffered]).expect_err("no buffer is attached");
    assert_eq!(error.kind(), ErrorClass::Buffer);
    assert!(first.data().is_none(), "it has been started");
    assert!(buffered.data().is_some(), "it has not");
    me.send(&[9u8], 0)?;
    assert_eq!(first.wait_received()?.count, 1);
    assert_eq!(first.data().expect("inactive"), [9]);
    Ok(())
}

#[mpi::test(ranks = 2)]
fn partitions_are_ready_by_ranges_and_lists(world: &World) -> mpi::Result<()> {
    let other = world.process(1 - world.rank());
    let mut send = other.partitioned_send((0..16u16).collect(), 8, 0)?;
    let mut receive = other.partitioned_receive::<u16>(16, 8, 0)?;
    assert_eq!(class(send.ready_range(0..8)), ErrorClass::Request, "inactive");
    assert_eq!(class(receive.ready_list(&[0])), ErrorClass::Request, "a receive");
    receive.start()?;
    send.start()?;
    assert_eq!(class(send.ready_range(4..9)), ErrorClass::Arg);
    assert_eq!(class(send.ready_range(u32::MAX - 1..u32::MAX)), ErrorClass::Arg);
    assert_eq!(class(send.ready_list(&[1, 8])), ErrorClass::Arg);
    assert_eq!(class(send.ready_list(&[1, u32::MAX])), ErrorClass::Arg);
    assert_eq!(class(send.ready_list(&[1, 2, 1])), ErrorClass::Arg);
    // None of those was marked: all partitions may be changed still.
    for partition in 0..8 {
        send.partition_mut(partition)?[0] += 100;
    }
    send.ready_range(0..4)?;
    send.ready_range(4..4)?;
    #[allow(clippy::reversed_empty_ranges)]
    send.ready_range(6..5)?;
    send.ready_list(&[])?;
    assert_eq!(class(send.partition_mut(3)), ErrorClass::Arg, "it is ready");
    assert_eq!(class(send.ready_range(3..5)), ErrorClass::Arg, "one of them is ready");
    send.partition_mut(4)?;
    send.ready_list(&[7, 4, 6])?;
    assert!(!send.is_complete()?, "partition 5 is not ready");
    send.ready_list(&[5])?;
    send.wait()?;
    receive.wait()?;
    let expected: Vec<u16> = (0..16).map(|at| if at % 2 == 0 { at + 100 } else { at }).collect();
    assert_eq!(receive.data().expect("inactive"), expected);
    Ok(())
}

#[mpi::test(ranks = 2)]
fn a_flush_is_complete_when_the_messages_have_left(world: &World) -> mpi::Result<()> {
    let buffers = [world.attach_buffer(None)?, world.attach_process_buffer(None)?];
    let long = vec![3u32; 1 << 20];
    if world.rank() == 0 {
        let twin = world.duplicate()?;
        buffers[0].start_flush()?.wait()?;
        world.process(1).send_in_mode(&long, 0, SendMode::Buffered)?;
        twin.process(1).send_in_mode(&long, 0, SendMode::Buffered)?;
        let flushes = [buffers[0].start_flush()?, buffers[1].start_flush()?];
        drop(buffers[0].start_flush()?);
        assert!(!flushes[0].is_complete()? && !flushes[1].is_complete()?, "nothing is received yet");
        world.process(1).send(&[1u8], 1)?;
        wait_all(&[&flushes[0], &flushes[1]])?;
        for flush in flushes {
            assert!(flush.is_complete()?);
            flush.wait()?;
        }
    } else {
        let twin = world.duplicate()?;
        world.process(0).receive::<u8>(1)?;
        assert_eq!(world.process(0).receive::<u32>(0)?.0, long);
        assert_eq!(twin.process(0).receive::<u32>(0)?.0, long);
    }
    Ok(())
}
