//! Messages in segments: their lengths, their receives, and receives that come in the middle.

mod common;

use common::{Rank, pattern, run};
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_TRUNCATE};
use mpi_p2p::Mode;

/// Around the shortest message in segments, the lengths of segments, the eager limit and the longest record.
const SIZES: [usize; 12] = [2047, 2048, 2049, 4095, 4096, 4097, 6144, 8191, 8193, 16_383, 16_384, 16_385];

/// Sends all sizes from rank 0 to rank 1, again and again, so that the copy buffer is used around its end.
fn stream(rank: &Rank, turns: usize, mut receive: impl FnMut(usize, usize)) {
    for turn in 0..turns {
        for size in SIZES {
            match rank.me() {
                0 => rank.send(1, 7, &pattern(size, turn), Mode::Standard),
                _ => receive(turn, size),
            }
        }
    }
}

#[test]
fn messages_of_all_lengths_arrive_whole_around_the_end_of_the_buffer() {
    run(2, |rank| {
        stream(rank, 100, |turn, size| {
            let mut data = vec![0; size];
            let status = rank.recv(0, 7, &mut data).expect("fits");
            assert_eq!((status.source, status.tag, status.bytes()), (0, 7, size as u64));
            assert!(data == pattern(size, turn), "{size} bytes in turn {turn}");
        });
    });
}

#[test]
fn posted_and_unexpected_messages_arrive_whole() {
    run(2, |rank| {
        const COUNT: usize = 40;
        for posted in [true, false] {
            if rank.me() == 0 {
                // The receiver is ready, or has not begun to receive.
                if posted {
                    rank.recv(1, 9, &mut []).expect("fits");
                }
                (0..COUNT).for_each(|n| rank.send(1, n as i32, &pattern(16_384, n), Mode::Standard));
                if !posted {
                    rank.send(1, 1000, &[], Mode::Standard);
                }
                rank.recv(1, 10, &mut []).expect("fits");
                continue;
            }
            let mut inboxes = vec![vec![0; 16_384]; COUNT];
            if posted {
                let requests: Vec<_> =
                    inboxes.iter_mut().enumerate().map(|(n, inbox)| rank.irecv(0, n as i32, inbox)).collect();
                rank.send(0, 9, &[], Mode::Standard);
                rank.engine.wait_all(rank.engine.lock(), &requests, |_, _| ()).expect("live");
            } else {
                rank.recv(0, 1000, &mut []).expect("fits");
                assert_eq!(rank.instruments.umq_bytes.get(), (COUNT * 16_384) as u64);
                for n in (0..COUNT).rev() {
                    let status = rank.recv(MPI_ANY_SOURCE, n as i32, &mut inboxes[n]).expect("fits");
                    assert_eq!((status.source, status.bytes()), (0, 16_384));
                }
                assert_eq!((rank.instruments.umq_bytes.get(), rank.instruments.umq_length.get()), (0, 0));
            }
            assert!(inboxes.iter().enumerate().all(|(n, inbox)| *inbox == pattern(16_384, n)));
            rank.send(0, 10, &[], Mode::Standard);
        }
    });
}

#[test]
fn what_does_not_fit_is_dropped_and_reported_and_the_next_message_is_whole() {
    run(2, |rank| {
        for room in [0, 1, 2048, 4096, 4097, 16_383] {
            if rank.me() == 0 {
                rank.send(1, 3, &pattern(16_384, room), Mode::Standard);
                rank.send(1, 4, &pattern(5000, room), Mode::Standard);
            } else {
                let mut memory = vec![0xee; room + 64];
                let error = rank.recv(0, MPI_ANY_TAG, &mut memory[..room]).expect_err("too long");
                assert_eq!(error.class(), MPI_ERR_TRUNCATE);
                assert!(memory[..room] == pattern(16_384, room)[..room], "{room}");
                assert!(memory[room..].iter().all(|byte| *byte == 0xee), "{room}");
                let mut next = vec![0; 5000];
                rank.recv(0, 4, &mut next).expect("fits");
                assert!(next == pattern(5000, room));
            }
        }
    });
}

#[test]
fn segments_of_several_senders_do_not_mix() {
    run(5, |rank| {
        const TURNS: usize = 60;
        if rank.me() > 0 {
            (0..TURNS).for_each(|turn| rank.send(0, turn as i32, &pattern(12_000, turn), Mode::Standard));
        } else {
            let mut data = vec![0; 12_000];
            for n in 0..4 * TURNS {
                let status = rank.recv(MPI_ANY_SOURCE, MPI_ANY_TAG, &mut data).expect("fits");
                assert_eq!(status.bytes(), 12_000);
                assert!(data == pattern(12_000, status.tag as usize), "message {n} from {}", status.source);
            }
        }
    });
}
