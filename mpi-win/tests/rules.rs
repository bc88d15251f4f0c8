//! Violations of the rules are errors, here or at the target, without any other effect.

mod common;

use common::{Numbers, Rank, Way, kept, run};
use mpi_core::Info;
use mpi_core::abi::*;
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_p2p::Mode;
use mpi_win::{Exposure, Flavor, Target};

#[test]
fn nothing_may_be_started_outside_of_an_epoch_or_left_open() {
    run(2, Way::Copied, |rank: &Rank| {
        let win = rank.allocate::<u32>(4);
        let class = |result: mpi_errors::Result<()>| result.err().map(|error| error.class());
        let data = kept(vec![7u32]);
        let other = 1 - rank.rank();
        assert_eq!(class(rank.put(&win, data, other, 0)), Some(MPI_ERR_RMA_SYNC));
        rank.fence(&win).expect("no fault");
        assert!(rank.put(&win, kept(vec![7u32]), other, 0).is_ok());
        assert_eq!(class(win.is_complete(&rank.engine.lock())), Some(MPI_ERR_RMA_SYNC));
        // The assertion was not true, but the fence completed its operations.
        assert_eq!(class(rank.one_sided.fence(&win, MPI_MODE_NOPRECEDE)), Some(MPI_ERR_ASSERT));
        assert_eq!(rank.memory::<u32>(&win)[0], 7);
        assert!(rank.one_sided.fence(&win, MPI_MODE_NOSUCCEED | MPI_MODE_NOPRECEDE).is_ok());
        assert_eq!(class(rank.put(&win, kept(vec![7u32]), other, 0)), Some(MPI_ERR_RMA_SYNC));
        assert!(win.is_complete(&rank.engine.lock()).is_ok());
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn one_process_without_memory_is_an_error_everywhere_and_leaves_the_rest_alone() {
    run(3, Way::Shared, |rank: &Rank| {
        for unlucky in 0..3 {
            let size = if rank.rank() == unlucky { 1 << 61 } else { 64 };
            let error = rank.try_allocate(size, 1).expect_err("no rank has a window");
            assert_eq!(error.class(), MPI_ERR_NO_MEM);
            let part = if rank.rank() == unlucky { "that much memory".to_owned() } else { format!("rank {unlucky}") };
            assert!(error.to_string().contains(&part), "{error}");
        }
        let win = rank.allocate::<u64>(1);
        rank.fence(&win).expect("no fault");
        rank.put(&win, kept(vec![5u64]), (rank.rank() + 1) % 3, 0).expect("inside");
        rank.fence(&win).expect("no fault");
        assert_eq!(rank.memory::<u64>(&win)[0], 5);
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn one_process_without_room_is_an_error_everywhere() {
    run(3, Way::Shared, |rank: &Rank| {
        for flavor in [Flavor::Allocate { alignment: 0 }, Flavor::Shared] {
            let what = Exposure { flavor, size: 64, disp_unit: 1, hints: Info::new() };
            let error = rank.try_create(what.clone(), rank.rank() != 1).expect_err("no rank has a window");
            assert_eq!(error.class(), MPI_ERR_NO_MEM);
        }
        let win = rank.allocate::<u64>(1);
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn what_is_refused_is_not_started() {
    run(2, Way::Sent, |rank: &Rank| {
        let win = rank.allocate::<u32>(4);
        rank.fence(&win).expect("no fault");
        let target = Target { rank: 1, displacement: 0, count: 1, datatype: u32::datatype(), handle: u32::HANDLE };
        let (op, of) = (MPI_SUM, (u32::datatype(), u32::HANDLE));
        let data = || SendBuf::from_slice(kept(vec![7u32; 2]));
        let guard = &mut rank.engine.lock();
        let refused = [
            rank.one_sided.put(guard, &win, data(), &target),
            rank.one_sided.get(guard, &win, RecvBuf::empty(), &target),
            rank.one_sided.accumulate(guard, &win, data(), of, &target, op),
            rank.one_sided.get_accumulate(guard, &win, data(), of, RecvBuf::empty(), of, &target, op),
        ];
        for refused in refused {
            assert_eq!(refused.expect_err("too long").class(), MPI_ERR_TRUNCATE);
        }
        assert!(win.is_complete(guard).is_ok());
    });
}

/// A batch of one record as another process could have written it.
fn forged(words: [u64; 5], data: &[u8]) -> Vec<u8> {
    let mut batch: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    batch.extend_from_slice(data);
    batch.resize(batch.len().next_multiple_of(8), 0);
    batch
}

#[test]
fn records_that_make_no_sense_are_errors_and_touch_nothing() {
    run(2, Way::Sent, |rank: &Rank| {
        let (int, far) = (MPI_INT as u64, u64::MAX - 8);
        let sum = (MPI_SUM as u64) << 32;
        let mut bad = vec![
            Vec::from(b"cut".as_slice()),
            forged([0, int, 0, 1, 4], &[1; 4]),
            forged([9, int, 0, 1, 4], &[1; 4]),
            forged([1, 0, 0, 1, 4], &[1; 4]),
            forged([1, int, 512, 1, 4], &[1; 4]),
            forged([1, int, far, 1, 4], &[1; 4]),
            forged([1, int, 0, 1, 8], &[1; 8]),
            forged([1, int, 0, u64::MAX, 4], &[1; 4]),
            forged([3, int, 0, 1, 4], &[1; 4]),
            forged([3 | (MPI_NO_OP as u64) << 32, int, 0, 1, 4], &[1; 4]),
            forged([3 | sum, MPI_BYTE as u64, 0, 4, 4], &[1; 4]),
            forged([3 | sum, int, 510, 1, 4], &[1; 4]),
            forged([4 | sum, int, 0, 1, 8], &[1; 8]),
            forged([2, int, 0, 1, 8], &[]),
            forged([5, int, 0, 2, 16], &[1; 16]),
            forged([5, int, 0, 1, 4], &[1; 4]),
            forged([5, MPI_DOUBLE as u64, 0, 1, 16], &[0; 16]),
        ];
        // Random ones: with any contents, short enough that no data would have to follow.
        for round in 0..200 {
            let numbers = &mut Numbers::new(&[round]);
            let word = |numbers: &mut Numbers| (numbers.below(1 << 32) as u64) << numbers.below(33);
            let verb = numbers.below(7) as u64 | (numbers.below(0x40) as u64) << 32;
            let (bytes, room) = (numbers.below(64), numbers.below(64));
            let head = [verb, numbers.below(0x300) as u64, word(numbers) | 1 << 40, word(numbers), bytes as u64];
            bad.push(forged(head, &vec![0xEE; room]));
        }
        for batch in bad {
            // A window for each, because a fence counts the batches that a window has got.
            let win = rank.allocate::<u64>(64);
            rank.fence(&win).expect("no fault");
            deliver(rank, &win, batch, None);
            let fence = rank.fence(&win);
            match rank.rank() {
                0 => fence.expect("the sender gets no report"),
                _ => {
                    let error = fence.expect_err("no sense");
                    assert!([MPI_ERR_INTERN, MPI_ERR_OP].contains(&error.class()), "{error}");
                }
            }
            rank.fence(&win).expect("no fault");
            assert!(rank.memory::<u64>(&win).iter().all(|word| *word == 0));
            rank.one_sided.end(&win).expect("no fault");
        }
    });
}

/// Rank 0 sends a batch, and data behind it, to the service of rank 1's window; rank 1 returns when it has got both.
fn deliver(rank: &Rank, win: &mpi_win::Win, batch: Vec<u8>, data: Option<SendBuf<'static>>) {
    const BATCH: i32 = 1;
    const DATA: i32 = 2;
    let engine = &rank.engine;
    let world = rank.world.context();
    if rank.rank() == 0 {
        // Rank 1 has left its fence, so that it is the next one that reports the error.
        engine.recv(engine.lock(), world, 1, 76, RecvBuf::empty()).expect("no fault");
        let batch = SendBuf::from_slice(kept(batch));
        let sent = engine.send_to_service(&mut engine.lock(), win.context(), 1, BATCH, batch).expect("no fault");
        engine.wait(engine.lock(), sent).expect("live");
        if let Some(data) = data {
            engine.send(engine.lock(), win.context(), 1, DATA, data, Mode::Standard).expect("no fault");
        }
        engine.send(engine.lock(), world, 1, 77, SendBuf::empty(), Mode::Standard).expect("no fault");
    } else {
        engine.send(engine.lock(), world, 0, 76, SendBuf::empty(), Mode::Standard).expect("no fault");
        engine.recv(engine.lock(), world, 0, 77, RecvBuf::empty()).expect("no fault");
        // The service is called by any progress after the arrival.
        engine.progress(&mut engine.lock()).expect("no fault");
    }
}

#[test]
fn data_that_do_not_come_whole_are_an_error_and_the_fence_ends() {
    run(2, Way::Sent, |rank: &Rank| {
        for verb in [1, 3 | (MPI_SUM as u64) << 32] {
            let win = rank.allocate::<u64>(2000);
            rank.fence(&win).expect("no fault");
            let batch = forged([verb, MPI_INT as u64, 0, 2500, 10_000], &[]);
            deliver(rank, &win, batch, Some(SendBuf::empty()));
            let fence = rank.fence(&win);
            match rank.rank() {
                0 => fence.expect("the sender gets no report"),
                _ => assert_eq!(fence.expect_err("no data").class(), MPI_ERR_INTERN),
            }
            rank.fence(&win).expect("no fault");
            assert!(rank.memory::<u64>(&win).iter().all(|word| *word == 0));
            rank.one_sided.end(&win).expect("no fault");
        }
    });
}
