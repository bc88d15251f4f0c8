//! Model of the protocol on a transfer slot in every order of the two sides of a long message: the protocol's own file
//! on loom's atomics. A chunk's memory is a loom cell, which reports two threads that access it at once.
#![allow(dead_code, unsafe_code)] // the models use a part of the file; chunks are written through pointers

mod sync {
    pub(crate) use loom::sync::atomic::Ordering;

    /// As `mpi_fabric::TransferSlot`.
    #[derive(Clone, Copy)]
    pub(crate) struct TransferSlot<'a> {
        pub claimed: &'a loom::sync::atomic::AtomicU64,
        pub done: &'a loom::sync::atomic::AtomicU64,
    }
}

#[path = "../src/chunk_claims.rs"]
mod chunk_claims;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::thread;

const CHUNKS: u64 = 2;

/// A slot and the buffer that its chunks lie in.
struct Transfer {
    claimed: AtomicU64,
    done: AtomicU64,
    buffer: [UnsafeCell<u32>; CHUNKS as usize],
}

impl Transfer {
    fn open(round: u32) -> Arc<Transfer> {
        let transfer = Transfer {
            claimed: AtomicU64::new(0),
            done: AtomicU64::new(0),
            buffer: [UnsafeCell::new(0), UnsafeCell::new(0)],
        };
        chunk_claims::open(transfer.slot(), round);
        Arc::new(transfer)
    }

    fn slot(&self) -> sync::TransferSlot<'_> {
        sync::TransferSlot { claimed: &self.claimed, done: &self.done }
    }

    /// Copies all chunks that can be claimed in this round.
    fn copy(&self, round: u32) {
        while let Some(chunk) = chunk_claims::claim(self.slot(), round, CHUNKS) {
            self.write(chunk as usize, 1);
            chunk_claims::complete(self.slot());
        }
    }

    fn write(&self, chunk: usize, value: u32) {
        // SAFETY: the pointer is the cell's own; loom fails the model when two threads have one at once.
        self.buffer[chunk].with_mut(|at| unsafe { *at += value });
    }

    fn read(&self, chunk: usize) -> u32 {
        // SAFETY: as in `write`.
        self.buffer[chunk].with(|at| unsafe { *at })
    }

    /// The receiver has its buffer again: it writes all of it.
    fn reuse(&self) {
        (0..CHUNKS as usize).for_each(|chunk| self.write(chunk, 10));
    }
}

#[test]
fn each_chunk_is_copied_once_and_is_there_when_all_are_done() {
    loom::model(|| {
        let transfer = Transfer::open(1);
        let helper = thread::spawn({
            let transfer = transfer.clone();
            move || transfer.copy(1)
        });
        transfer.copy(1);
        while chunk_claims::completed(transfer.slot()).0 < CHUNKS {
            thread::yield_now();
        }
        assert_eq!([transfer.read(0), transfer.read(1)], [1, 1]);
        helper.join().expect("no panic");
    });
}

#[test]
fn a_late_helper_claims_nothing_of_the_next_round() {
    loom::model(|| {
        let transfer = Transfer::open(1);
        transfer.copy(1);
        let helper = thread::spawn({
            let transfer = transfer.clone();
            move || transfer.copy(1)
        });
        chunk_claims::open(transfer.slot(), 2);
        transfer.reuse();
        helper.join().expect("no panic");
        assert_eq!(chunk_claims::completed(transfer.slot()), (0, true));
    });
}

/// The receiver revokes the transfer while a helper copies; `wait`: whether it waits for claimed chunks.
fn revoke(wait: bool) {
    loom::model(move || {
        let transfer = Transfer::open(1);
        let helper = thread::spawn({
            let transfer = transfer.clone();
            move || transfer.copy(1)
        });
        let claimed = chunk_claims::close(transfer.slot(), 1, CHUNKS);
        while wait && !chunk_claims::is_settled(transfer.slot(), claimed) {
            thread::yield_now();
        }
        transfer.reuse();
        helper.join().expect("no panic");
        let touched = [transfer.read(0), transfer.read(1)].iter().filter(|value| **value == 11).count();
        assert_eq!(touched as u64, claimed, "a helper copies what it claimed before the close, and nothing after it");
    });
}

#[test]
fn the_buffer_of_a_revoked_transfer_is_free_once_all_claimed_chunks_are_done() {
    revoke(true);
}

#[test]
#[should_panic] // with loom's words for two threads that touch a chunk at once
fn the_buffer_of_a_revoked_transfer_is_not_free_before() {
    revoke(false);
}
