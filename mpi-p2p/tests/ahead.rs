//! Long messages whose data goes ahead of the answer: all receives, lengths and orders.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Rank, pattern, run};
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_TRUNCATE};
use mpi_p2p::Mode;

/// Around the eager limit, what goes ahead (64 KiB), lengths of segments and fragments, and the longest message in
/// fragments.
const SIZES: [usize; 11] =
    [16_385, 24_576, 32_769, 65_535, 65_536, 65_537, 81_920, 100_001, 262_144, 1 << 20, (1 << 20) + 1];

/// Starts a receive of each message, or receives it at once.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Receives {
    Direct,
    Posted,
    Late,
}

fn receive(rank: &Rank, how: Receives, size: usize, tag: i32) -> Vec<u8> {
    let mut data = vec![0; size];
    match how {
        Receives::Posted => {
            let request = rank.irecv(0, tag, &mut data);
            rank.send(0, 1, &[], Mode::Standard);
            rank.engine.wait_all(rank.engine.lock(), &[request], |_, _| ()).expect("received");
        }
        Receives::Direct | Receives::Late => {
            if how == Receives::Late {
                // The offer, and what goes ahead, is taken from the ring before its receive comes.
                rank.recv(0, 2, &mut []).expect("fits");
            }
            let status = rank.recv(MPI_ANY_SOURCE, tag, &mut data).expect("fits");
            assert_eq!((status.source, status.tag, status.bytes()), (0, tag, size as u64));
        }
    }
    data
}

fn all_orders(send: impl Fn(&Rank, &[u8], i32) + Send + Sync + 'static, blocking: bool) {
    run(2, move |rank| {
        for turn in 0..12 {
            for (at, size) in SIZES.into_iter().enumerate() {
                for how in [Receives::Direct, Receives::Posted, Receives::Late] {
                    let tag = 10 + at as i32;
                    if how == Receives::Late && blocking {
                        continue; // the record that ends the wait of the receiver would come behind the send
                    }
                    if rank.me() == 1 {
                        let data = receive(rank, how, size, tag);
                        assert!(data == pattern(size, turn), "{size} bytes, {how:?}, in turn {turn}");
                        continue;
                    }
                    if how == Receives::Posted {
                        rank.recv(1, 1, &mut []).expect("fits");
                    }
                    send(rank, &pattern(size, turn), if how == Receives::Late { -tag } else { tag });
                }
            }
        }
    });
}

#[test]
fn blocking_sends_arrive_whole() {
    all_orders(|rank, data, tag| rank.send(1, tag, data, Mode::Standard), true);
}

#[test]
fn started_sends_arrive_whole_also_when_the_receive_comes_late() {
    let send = |rank: &Rank, data: &[u8], tag: i32| {
        let request = rank.isend(1, tag.abs(), data);
        if tag < 0 {
            rank.send(1, 2, &[], Mode::Standard);
        }
        rank.engine.wait_all(rank.engine.lock(), &[request], |_, _| ()).expect("sent");
    };
    all_orders(send, false);
}

#[test]
fn synchronous_sends_wait_for_their_receive() {
    static BEGAN: AtomicBool = AtomicBool::new(false);
    run(2, |rank| {
        const SIZE: usize = 40_000;
        if rank.me() == 0 {
            rank.send(1, 3, &pattern(SIZE, 5), Mode::Synchronous);
            assert!(BEGAN.load(Ordering::Acquire), "the send was over before its receive began");
        } else {
            // Nothing tells that a send does not end: it gets time in which it could, wrongly.
            std::thread::sleep(Duration::from_millis(50));
            BEGAN.store(true, Ordering::Release);
            let mut data = vec![0; SIZE];
            rank.recv(0, 3, &mut data).expect("fits");
            assert!(data == pattern(SIZE, 5));
        }
    });
}

#[test]
fn what_does_not_fit_is_dropped_and_reported_and_the_next_message_is_whole() {
    for posted in [false, true] {
        run(2, move |rank| {
            for (size, room) in
                [(50_000, 0), (50_000, 1), (50_000, 49_999), (200_000, 100), (200_000, 65_536), (200_000, 150_000)]
            {
                if rank.me() == 0 {
                    if posted {
                        rank.recv(1, 1, &mut []).expect("fits");
                    }
                    rank.send(1, 3, &pattern(size, room), Mode::Standard);
                    rank.send(1, 4, &pattern(30_000, room), Mode::Standard);
                    continue;
                }
                let mut memory = vec![0xee; room + 64];
                let error = if posted {
                    let request = rank.irecv(0, 3, &mut memory[..room]);
                    rank.send(0, 1, &[], Mode::Standard);
                    let mut error = None;
                    let _ = rank.engine.wait_all(rank.engine.lock(), &[request], |_, done| error = done.error);
                    error.expect("too long")
                } else {
                    rank.recv(0, MPI_ANY_TAG, &mut memory[..room]).expect_err("too long")
                };
                assert_eq!(error.class(), MPI_ERR_TRUNCATE);
                assert!(memory[..room] == pattern(size, room)[..room], "{room} of {size}");
                assert!(memory[room..].iter().all(|byte| *byte == 0xee), "{room} of {size}");
                let mut next = vec![0; 30_000];
                rank.recv(0, 4, &mut next).expect("fits");
                assert!(next == pattern(30_000, room));
            }
        });
    }
}

#[test]
fn messages_of_several_senders_do_not_mix() {
    run(5, |rank| {
        const TURNS: usize = 40;
        if rank.me() > 0 {
            (0..TURNS).for_each(|turn| rank.send(0, turn as i32, &pattern(70_000, turn), Mode::Standard));
        } else {
            let mut data = vec![0; 70_000];
            for n in 0..4 * TURNS {
                let status = rank.recv(MPI_ANY_SOURCE, MPI_ANY_TAG, &mut data).expect("fits");
                assert_eq!(status.bytes(), 70_000);
                assert!(data == pattern(70_000, status.tag as usize), "message {n} from {}", status.source);
            }
        }
    });
}

#[test]
fn both_ranks_send_to_each_other_at_once() {
    run(2, |rank| {
        let peer = 1 - rank.me();
        for turn in 0..30 {
            for size in SIZES {
                let mut inbox = vec![0; size];
                let receive = rank.irecv(peer, 8, &mut inbox);
                let outbox = pattern(size, turn + rank.me() as usize);
                let send = rank.isend(peer, 8, &outbox);
                rank.engine.wait_all(rank.engine.lock(), &[receive, send], |_, _| ()).expect("exchanged");
                assert!(inbox == pattern(size, turn + peer as usize), "{size} bytes in turn {turn}");
            }
        }
    });
}

#[test]
fn messages_beyond_the_eager_limit_go_whole_while_there_are_cells_for_them() {
    const LONG: usize = 256 << 10;
    run(2, |rank| {
        let offered = || rank.engine.instruments().rendezvous_sent.get();
        if rank.me() == 0 {
            // Rank 1 waits for the message behind them, so an offer would block. They take all cells.
            (0..4).for_each(|tag| rank.send(1, tag, &pattern(LONG, tag as usize), Mode::Standard));
            rank.send(1, 9, &[], Mode::Standard);
            assert_eq!(offered(), 0);
            rank.send(1, 4, &pattern(20_000, 4), Mode::Standard);
            assert_eq!(offered(), 1, "no cell is left");
            let mut data = vec![0; LONG];
            rank.recv(1, 5, &mut data).expect("fits");
            assert!(data == pattern(LONG, 5));
            rank.send(1, 6, &pattern(LONG, 6), Mode::Standard);
            assert_eq!(offered(), 1, "the cells of the answer");
            rank.recv(1, 7, &mut data).expect("fits");
            rank.send(1, 8, &pattern(LONG, 8), Mode::Synchronous);
            rank.engine.settings().cell_limit.set(LONG as u64 - 1);
            rank.send(1, 8, &pattern(LONG, 8), Mode::Standard);
            rank.engine.settings().cell_limit.set(LONG as u64);
            rank.engine.settings().eager_limit.set(100);
            rank.send(1, 8, &pattern(LONG, 8), Mode::Standard);
            assert_eq!(offered(), 4, "synchronous, longer than the limit, and with a low eager limit");
            return;
        }
        let mut data = vec![0; LONG];
        rank.recv(0, 9, &mut []).expect("fits");
        for (tag, bytes) in [(0, LONG), (1, LONG), (2, LONG), (3, LONG), (4, 20_000)] {
            let status = rank.recv(0, tag, &mut data).expect("fits");
            assert_eq!(status.bytes(), bytes as u64);
            assert!(data[..bytes] == pattern(bytes, tag as usize), "{tag}");
        }
        rank.send(0, 5, &pattern(LONG, 5), Mode::Standard);
        rank.recv(0, 6, &mut data).expect("fits");
        assert!(data == pattern(LONG, 6));
        rank.send(0, 7, &pattern(LONG, 7), Mode::Standard);
        (0..3).for_each(|_| _ = rank.recv(0, 8, &mut data).expect("fits"));
        assert!(data == pattern(LONG, 8) && offered() == 0);
    });
}
