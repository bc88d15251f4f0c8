//! Copies of rank blocks: a launcher whose ranks are on other hosts reads their states, recorders, instruments and traffic
//! from a copy, page by page.
//!
//! Invariant: a copy has the layout of a job memory, so that every reader of one reads the other; it is private memory.
//! Not here: how pages come from host to host (`mpi-launch`).

use std::sync::atomic::Ordering;

use mpi_errors::Result;

use crate::job::Job;
use crate::layout::{PAGE, block};

/// Number of pages of a block; those of the area of traffic follow.
pub const BLOCK_PAGES: u32 = (block::BYTES / PAGE) as u32;
/// Length of a page in bytes.
pub const BLOCK_PAGE_BYTES: usize = PAGE;

const WORDS: usize = PAGE / 8;

impl Job {
    /// Memory for copies of so many ranks' blocks.
    /// # Errors
    /// As [`Job::create`].
    pub fn copies(ranks: u32) -> Result<Job> {
        Job::private_of(ranks)
    }

    /// Number of pages of a rank: those of its block, and of its traffic.
    pub fn pages_of_rank(&self) -> u32 {
        BLOCK_PAGES + (self.layout().traffic_bytes() / PAGE) as u32
    }

    /// A page of a rank; `None` if all of it is 0. Panics if there is no such rank or page.
    pub fn block_page(&self, rank: u32, page: u32) -> Option<Vec<u8>> {
        let at = self.page_at(rank, page);
        if page >= BLOCK_PAGES && !self.is_written(at) {
            return None;
        }
        // Relaxed: the words of a rank that runs change while they are read, as for every reader of instruments.
        let words: Vec<u64> = (0..WORDS).map(|i| self.mapping().word(at + i * 8).load(Ordering::Relaxed)).collect();
        words.iter().any(|word| *word != 0).then(|| words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// Stores a page of a rank; bytes beyond a page have no effect. Panics if there is no such rank or page.
    pub fn set_block_page(&self, rank: u32, page: u32, bytes: &[u8]) {
        let at = self.page_at(rank, page);
        for (i, bytes) in bytes.chunks_exact(8).take(WORDS).enumerate() {
            let word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            // Relaxed: the copy has one user.
            self.mapping().word(at + i * 8).store(word, Ordering::Relaxed);
        }
    }

    fn page_at(&self, rank: u32, page: u32) -> usize {
        assert!(rank < self.ranks() && page < self.pages_of_rank(), "page {page} of rank {rank} of {}", self.ranks());
        match page.checked_sub(BLOCK_PAGES) {
            None => self.layout().block_at(rank) + page as usize * PAGE,
            Some(page) => self.layout().traffic_at(rank) + page as usize * PAGE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{self, TrafficArea};
    use crate::{JobOptions, Life};
    use mpi_core::functions;

    #[test]
    fn a_copy_reads_as_the_block_does() {
        let job = Job::create(&JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).unwrap();
        job.set_life(1, Life::Initialised);
        job.recorder(1).enter(functions::MPI_RECV, 0, 3, 7, 1);
        let copy = Job::copies(5).unwrap();
        let mut used = 0;
        for page in 0..BLOCK_PAGES {
            if let Some(bytes) = job.block_page(1, page) {
                copy.set_block_page(4, page, &bytes);
                used += 1;
            }
        }
        assert!(used > 0 && used < BLOCK_PAGES);
        assert!((BLOCK_PAGES..job.pages_of_rank()).all(|page| job.block_page(1, page).is_none()));
        assert_eq!((copy.life(4), copy.life(3)), (Life::Initialised, Life::Absent));
        // With traffic, its pages are copied too: tables only between jobs of the same size.
        let area = TrafficArea::new(&job, 1);
        let rows = area.allocate(8, &[0, 1]).expect("room");
        rows[0].store(6, Ordering::Relaxed);
        area.sizes()[3].store(9, Ordering::Relaxed);
        let same = Job::copies(2).unwrap();
        for page in BLOCK_PAGES..job.pages_of_rank() {
            if let Some(bytes) = job.block_page(1, page) {
                same.set_block_page(1, page, &bytes);
            }
        }
        let (copied, original) = (traffic::read(&same, 1), traffic::read(&job, 1));
        assert_eq!((copied.sizes[3], copied.peers[&0].messages_sent), (9, 6));
        assert_eq!(copied.peers, original.peers);
        let call = copy.recorder(4).current().unwrap();
        assert_eq!((call.function, call.ended), (functions::MPI_RECV, false));
    }
}
