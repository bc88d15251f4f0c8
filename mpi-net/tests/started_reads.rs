//! A read that was started goes on while the process polls, and waits for nothing.
#![allow(unsafe_code)] // registers memory, and reads into it
#![allow(clippy::unwrap_used)] // a failed step panics

mod common;

use std::time::{Duration, Instant};

use mpi_fabric::{Access, CopyState, Payload, Piece, RecordHead, RegionKey, Sink, Transport};

struct Nothing;

impl Sink for Nothing {
    fn record(&mut self, _: u32, _: &RecordHead, _: Payload<'_>) {}
}

#[test]
fn reads_that_are_started_end_when_the_other_process_polls() {
    for provider in ["tcp", "tcp;ofi_rxm"] {
        let Some([mut own, mut peer]) = common::pair(provider) else { continue };
        if !own.can_copy(1) {
            eprintln!("skipped: no remote access");
            continue;
        }
        const BYTES: usize = 3 << 20;
        let memory: Vec<u8> = (0..BYTES).map(|at| (at * 7) as u8).collect();
        // SAFETY: the memory outlives the registration, and nobody writes it.
        let (number, region) = unsafe { peer.register(memory.as_ptr().cast_mut(), BYTES, Access::Read) };
        let key = RegionKey::from_words([memory.as_ptr() as u64, number]);
        let mut halves = [vec![0u8; BYTES / 2], vec![0u8; BYTES / 2]];
        let piece = |half: usize, into: &mut Vec<u8>| Piece {
            offset: (half * BYTES / 2) as u64,
            address: into.as_mut_ptr().expose_provenance(),
            bytes: BYTES / 2,
        };
        let pieces = [0, 1].map(|half| vec![(key, piece(half, &mut halves[half]))]);
        // SAFETY: the halves stay until both reads are over.
        let mut reads = pieces.map(|pieces| unsafe { own.copies().start_read(1, pieces) }.unwrap());
        // The peer does not poll: nothing ends, and each call returns.
        let (begin, end) = (Instant::now(), Instant::now() + Duration::from_secs(30));
        while begin.elapsed() < Duration::from_millis(50) {
            own.poll(&mut Nothing).unwrap();
            assert!(reads.iter_mut().all(|read| !matches!(read.advance(), CopyState::Over(_))), "{provider}");
        }
        let mut over = [false; 2];
        while over != [true; 2] {
            assert!(Instant::now() < end, "{provider}: the reads do not end");
            own.poll(&mut Nothing).unwrap();
            peer.poll(&mut Nothing).unwrap();
            for (read, over) in reads.iter_mut().zip(&mut over).filter(|(_, over)| !**over) {
                if let CopyState::Over(result) = read.advance() {
                    result.unwrap();
                    *over = true;
                }
            }
        }
        assert!(halves.concat() == memory, "{provider}");
        drop(region);
    }
}
