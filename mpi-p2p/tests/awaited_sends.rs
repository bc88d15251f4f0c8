//! Started sends for whose end a call waits: their data goes in fragments where the limit permits that, and other sends'
//! data is copied by the kernel.

mod common;

use common::{Rank, pattern, run};
use mpi_core::Handle;

const BYTES: usize = 512 << 10;
const MESSAGES: usize = 4;

/// How the sender completes its sends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    WaitAll,
    Wait,
    Test,
}

/// Sends some messages and checks them; returns how many bytes came in fragments.
fn exchange(rank: &Rank, end: End, limit: i32) -> u64 {
    let engine = &rank.engine;
    engine.settings().pipelined_limit.set(limit);
    let before = engine.instruments().bytes_in_fragments.get();
    let data: Vec<Vec<u8>> = (0..MESSAGES).map(|n| pattern(BYTES, n)).collect();
    let mut buffers = vec![vec![0; BYTES]; MESSAGES];
    rank.exchange_with_peer();
    let requests: Vec<Handle> = match rank.me() {
        0 => data.iter().map(|data| rank.isend(1, 1, data)).collect(),
        _ => buffers.iter_mut().map(|buffer| rank.irecv(0, 1, buffer)).collect(),
    };
    match end {
        _ if rank.me() == 1 => engine.wait_all(engine.lock(), &requests, |_, _| {}).expect("received"),
        End::WaitAll => engine.wait_all(engine.lock(), &requests, |_, _| {}).expect("sent"),
        End::Wait => requests.iter().for_each(|request| {
            engine.wait(engine.lock(), *request).expect("sent");
        }),
        End::Test => requests
            .iter()
            .for_each(|request| while engine.test(&mut engine.lock(), *request).expect("sent").is_none() {}),
    }
    if rank.me() == 1 {
        assert!(buffers == data, "{end:?} with a limit of {limit}");
    }
    engine.instruments().bytes_in_fragments.get() - before
}

#[test]
fn data_of_sends_that_are_waited_for_goes_in_fragments_up_to_the_limit() {
    run(2, |rank| {
        if rank.size() == 1 || !rank.engine.can_copy(&rank.engine.lock(), 1 - rank.engine.rank()) {
            return; // all data goes in fragments
        }
        for end in [End::WaitAll, End::Wait] {
            assert_eq!(exchange(rank, end, 0), 0, "{end:?}");
            assert_eq!(exchange(rank, end, BYTES as i32 - 1), 0, "{end:?}");
            // The receiver may have copied all before the sender's first poll.
            let mut some = 0;
            for _ in 0..30 {
                some += exchange(rank, end, BYTES as i32);
            }
            assert_eq!(some > 0, rank.me() == 1, "{end:?}");
        }
        for _ in 0..5 {
            assert_eq!(exchange(rank, End::Test, i32::MAX), 0);
        }
    });
}
