//! For the fuzz target `frames`: any bytes as the messages of hosts to `mpiexec`.
//!
//! Not here: connections (`link`), of which a message is a length and bytes.

use mpi_fabric::Job;
use mpi_observe::hang::{self, HangView};

use super::frame::{Frame, WaitFacts};

/// Takes messages, each after its length in one byte, and reports on the job as they describe it.
///
/// # Panics
/// A message is not what it is when it is written and read again.
pub fn frames(job: &Job, mut input: &[u8]) {
    let ranks = (0..job.ranks()).map(|rank| WaitFacts::default().view(job, rank, true));
    let mut view = HangView { ranks: ranks.collect(), hosts: Vec::new() };
    while let Some((length, rest)) = input.split_first() {
        let (message, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        input = rest;
        let Some(frame) = Frame::take(message) else { continue };
        let mut again = Vec::new();
        frame.put(&mut again);
        assert!(again.len() <= message.len() + 4);
        assert_eq!(Frame::take(&again[4..]).as_ref(), Some(&frame));
        match frame {
            Frame::Waits { rank, facts, .. } if rank < job.ranks() => {
                view.ranks[rank as usize] = facts.view(job, rank, true);
            }
            Frame::Page { rank, page, bytes } if rank < job.ranks() && page < job.pages_of_rank() => {
                job.set_block_page(rank, page, &bytes.0);
            }
            _ => {}
        }
    }
    let report = hang::analyse(&view);
    assert!(!report.cause.is_empty());
    hang::about(&view, &[0]);
}
