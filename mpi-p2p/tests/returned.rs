//! Messages that a matched probe took and the program returned.

mod common;

use common::{CONTEXT, Rank, pattern, run};
use mpi_core::Handle;
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use mpi_p2p::Mode;

/// Short, in segments, and offered.
const LENGTHS: [usize; 3] = [8, 5000, 300_000];
/// The last tag: two modes for each length.
const LAST: i32 = 5;

fn probe(rank: &Rank, tag: i32) -> Handle {
    let engine = &rank.engine;
    engine.mprobe(engine.lock(), CONTEXT, MPI_ANY_SOURCE, tag).expect("no fault").0
}

fn put_back(rank: &Rank, message: Handle) {
    rank.engine.return_message(&mut rank.engine.lock(), message);
}

/// Rank 0 sends messages of all lengths in two modes, numbered by their tags.
fn exchanged(body: impl Fn(&Rank, usize, i32) + Send + Sync + 'static) {
    run(2, move |rank| {
        for (tag, (length, mode)) in
            (0..).zip(LENGTHS.iter().flat_map(|length| [Mode::Standard, Mode::Synchronous].map(|mode| (*length, mode))))
        {
            match rank.me() {
                0 => {
                    rank.send(1, tag, &pattern(length, 1), mode);
                    rank.send(1, tag, &pattern(length, 2), mode);
                }
                _ => body(rank, length, tag),
            }
        }
    });
}

fn receive(rank: &Rank, tag: i32, length: usize, seed: usize) {
    let mut inbox = vec![0; length];
    let status = rank.recv(0, tag, &mut inbox).expect("received");
    assert_eq!((status.bytes(), inbox), (length as u64, pattern(length, seed)));
}

#[test]
fn a_message_that_is_returned_is_received_before_later_ones() {
    exchanged(|rank, length, tag| {
        let received = rank.instruments.block.messages_received.get();
        let message = probe(rank, MPI_ANY_TAG);
        put_back(rank, message);
        put_back(rank, message); // names none any more
        receive(rank, tag, length, 1);
        receive(rank, tag, length, 2);
        assert_eq!(rank.instruments.block.messages_received.get(), received + 2, "each counts once");
        if tag == LAST {
            assert_eq!(rank.instruments.block.umq_length.get(), 0);
        }
    });
}

#[test]
fn a_receive_that_was_posted_meanwhile_gets_the_message_that_is_returned() {
    exchanged(|rank, length, tag| {
        let message = probe(rank, tag);
        let mut inbox = vec![0; length];
        // Nothing else has arrived where the sender waits for the receive; otherwise the second message may be here.
        if tag % 2 == 1 {
            let request = rank.irecv(0, tag, &mut inbox);
            put_back(rank, message);
            let completion = rank.engine.wait(rank.engine.lock(), request).expect("no fault");
            assert_eq!(completion.status.bytes(), length as u64);
            assert_eq!(inbox, pattern(length, 1));
        } else {
            put_back(rank, message);
            receive(rank, tag, length, 1);
        }
        receive(rank, tag, length, 2);
    });
}

#[test]
fn a_message_that_was_received_is_not_returned() {
    exchanged(|rank, length, tag| {
        let message = probe(rank, tag);
        let mut inbox = vec![0; length];
        rank.mrecv(message, &mut inbox).expect("it is held").expect("received");
        put_back(rank, message);
        assert_eq!(inbox, pattern(length, 1));
        receive(rank, tag, length, 2);
    });
}
