//! Reading an area of traffic that another process may be writing, or may have damaged.
//!
//! Invariant: pages that the rank has not written are not read where the system reports them, because a read of shared
//! memory would create them.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::{FREE, LIVE, ROW_BYTES, ROW_WORDS, rows_at, table_bytes};
use crate::job::Job;
use crate::layout::PAGE;
use crate::layout::traffic::{ELSEWHERE, PEAK_COUNT, PEAKS, SIZE_CLASSES, SIZES, TABLE_HEAD, TABLES, USED};

/// What a rank has sent to another one and received from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages whose send has started.
    pub messages_sent: u64,
    /// Bytes in them.
    pub bytes_sent: u64,
    /// Messages that were matched with a receive.
    pub messages_received: u64,
    /// Bytes in them.
    pub bytes_received: u64,
}

/// The traffic of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// By rank: what this one has exchanged with it; ranks without messages are left out.
    pub peers: BTreeMap<u32, Counts>,
    /// Messages sent, those of collective operations included: element 0 of messages without data, element n of 2^(n-1) to
    /// 2^n - 1 bytes.
    pub sizes: Vec<u64>,
    /// Communicators whose messages are not in `peers`, because the area has no room for them.
    pub elsewhere: u64,
    /// Highest levels of the queues of communicators that were freed: unexpected messages, their bytes, posted receives;
    /// `None`: none was freed.
    pub freed_peaks: [Option<u64>; PEAK_COUNT],
}

/// The traffic of a rank, for readers in any process. Panics if there is no such rank.
pub fn read(job: &Job, rank: u32) -> Traffic {
    let area = Area { job, at: job.layout().traffic_at(rank), freed: job.layout().freed_traffic() };
    let ranks = job.ranks();
    if !area.is_written(0) {
        return Traffic { sizes: vec![0; SIZE_CLASSES], ..Traffic::default() };
    }
    let mut peers = BTreeMap::new();
    // Acquire pairs with the Release in `allocate`.
    let used = (area.word(USED, Ordering::Acquire) as usize).min(area.freed);
    let mut table = TABLES;
    while table + TABLE_HEAD <= used {
        // Acquire pairs with the Release in `allocate`.
        let first = area.word(table, Ordering::Acquire);
        let (bytes, state) = ((first >> 32) as usize, first as u32 as u64);
        let rows = (area.word(table + 8, Ordering::Relaxed) >> 32) as usize;
        // The number of rows of a faulty rank must not lead out of the table; no table is longer than the area.
        if !(state == LIVE || state == FREE) || bytes > used - table || rows > bytes || table_bytes(rows) != bytes {
            break;
        }
        if state == LIVE {
            for row in area.written_rows(table + rows_at(rows), rows) {
                let numbers = area.word(table + TABLE_HEAD + row / 2 * 8, Ordering::Relaxed);
                let peer = (numbers >> (row % 2 * 32)) as u32;
                if peer < ranks {
                    area.add(&mut peers, peer, table + rows_at(rows) + row * ROW_BYTES);
                }
            }
        }
        table += bytes;
    }
    for row in area.written_rows(area.freed, ranks as usize) {
        area.add(&mut peers, row as u32, area.freed + row * ROW_BYTES);
    }
    let relaxed = |at| area.word(at, Ordering::Relaxed);
    Traffic {
        peers,
        sizes: (0..SIZE_CLASSES).map(|i| relaxed(SIZES + 8 * i)).collect(),
        elsewhere: relaxed(ELSEWHERE),
        freed_peaks: std::array::from_fn(|i| relaxed(PEAKS + 8 * i).checked_sub(1)),
    }
}

struct Area<'a> {
    job: &'a Job,
    at: usize,
    freed: usize,
}

impl Area<'_> {
    fn word(&self, at: usize, ordering: Ordering) -> u64 {
        self.job.mapping().word(self.at + at).load(ordering)
    }

    /// Rows of `count` from an offset on, without those in pages that were never written.
    fn written_rows(&self, at: usize, count: usize) -> impl Iterator<Item = usize> + '_ {
        let mut last = None;
        (0..count).filter(move |row| {
            let first_page = (self.at + at + row * ROW_BYTES) / PAGE;
            // Rows are aligned to their length, so each lies in one page.
            let (page, written) = match last {
                Some((page, written)) if page == first_page => (page, written),
                _ => (first_page, self.is_written(first_page * PAGE - self.at)),
            };
            last = Some((page, written));
            written
        })
    }

    /// Whether a page was written, or may have been.
    fn is_written(&self, at: usize) -> bool {
        self.job.is_written(self.at + at)
    }

    fn add(&self, peers: &mut BTreeMap<u32, Counts>, peer: u32, row: usize) {
        let words: [u64; ROW_WORDS] = std::array::from_fn(|i| self.word(row + 8 * i, Ordering::Relaxed));
        if words == [0; ROW_WORDS] {
            return;
        }
        let sum: &mut Counts = peers.entry(peer).or_default();
        for (into, word) in
            [&mut sum.messages_sent, &mut sum.bytes_sent, &mut sum.messages_received, &mut sum.bytes_received]
                .into_iter()
                .zip(words)
        {
            *into = into.wrapping_add(word);
        }
    }
}
