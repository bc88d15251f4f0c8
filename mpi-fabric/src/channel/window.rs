//! What one process has published and others may still read: which lines and which data it may write next.
//!
//! Data are used in turn, around the whole area between near processes, and in a short part of it between far ones (see
//! `copy_buffer`, `ring::distance`), for short data of several processes and for their exchanges, and between two processes on a mesh; those
//! stay in caches then.
//! Invariant: what is written next belongs to no step that another process has not finished.
//! Not here: the places of data (`coll_room::data_records`).

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use super::{Channel, IN_LINE};
use crate::coll_room::data_records::DataRecords;
use crate::coll_room::reports::Reports;
use crate::coll_room::{LINES, protocol};
use crate::layout::LINE;
use crate::raised_word::Awaited;
use crate::ring::{Distance, clock_ns, is_on_mesh};

/// Part of the area that is used between far processes, and for short data and exchanges of several, unless one publication is longer than
/// half of it.
const FAR_AREA: usize = 256 << 10;
/// Part of the area in which one of two processes publishes data on a mesh, unless one publication is longer than half of it: room for some
/// publications ahead of the reader, in a second-level cache (measured, bcast and reduce of 64 KiB: 5.3 and 7.4 us in one run, in 4 MiB 6.1
/// and 8.7; no difference in another; 256 KiB and 1 MiB differ by less than a twentieth).
const PAIR_AREA: usize = 512 << 10;
/// Longest publication: two have room in a part of the area that a second-level cache holds.
const LONGEST: usize = 512 << 10;
/// One of so many publications of long data measures the distance of another process.
const LOOKS: u64 = 8;
/// The same of short data.
const SHORT_LOOKS: u64 = 64;
/// Data up to this part of the area are short: those of 16 operations, which need not be reported, take a quarter of it.
const SHORT: usize = 64;

/// Most bytes of one publication in an area of so many: two have room. Without an area publications lie in lines.
pub(super) fn longest(area: usize) -> usize {
    if area == 0 { IN_LINE } else { (area / 2).min(LONGEST) }
}

/// The window of one process. Plain words: one thread uses it at a time.
pub(super) struct Window {
    /// By line, the number of its last publication.
    last: [AtomicU64; LINES],
    reports: Reports,
    records: DataRecords,
    /// Longest data outside of lines that the operation has published or read.
    data: AtomicUsize,
    /// Longest short data.
    short: usize,
    /// Whether operations with data are over that are not reported.
    unreported: AtomicBool,
    streams: AtomicBool,
    /// Whether all read what all published in the last operation.
    mutual: AtomicBool,
    looks: AtomicU64,
    /// The number in the line by which the distance was measured last.
    seen: AtomicU64,
    distance: Mutex<Distance>,
}

impl Window {
    pub fn new(reports: Reports, area: usize) -> Window {
        Window {
            last: [const { AtomicU64::new(0) }; LINES],
            reports,
            records: DataRecords::new(area),
            data: AtomicUsize::new(0),
            short: area.min(FAR_AREA) / SHORT,
            unreported: AtomicBool::new(false),
            streams: AtomicBool::new(false),
            mutual: AtomicBool::new(false),
            looks: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            distance: Mutex::new(Distance::UNKNOWN),
        }
    }

    /// Whether data are copied with streaming stores.
    #[inline]
    pub fn streams(&self) -> bool {
        self.streams.load(Relaxed)
    }

    /// Ends an operation: whether it has had data outside of lines that are not short.
    #[inline(always)]
    pub fn end_data(&self) -> bool {
        let data = self.data.load(Relaxed);
        if data == 0 {
            return false;
        }
        self.data.store(0, Relaxed);
        self.unreported.store(true, Relaxed);
        data > self.short
    }

    /// An operation has ended.
    #[inline(always)]
    pub fn ended(&self, mutual: bool) {
        if mutual != self.mutual.load(Relaxed) {
            self.mutual.store(mutual, Relaxed);
        }
    }

    /// Whether all read what all published in the last operation.
    #[inline(always)]
    pub fn was_mutual(&self) -> bool {
        self.mutual.load(Relaxed)
    }

    /// This operation has data outside of lines, so many.
    #[inline(always)]
    pub fn saw_data(&self, bytes: usize) {
        if bytes > self.data.load(Relaxed) {
            self.data.store(bytes, Relaxed);
        }
    }

    /// Whether operations with data are over that are not reported.
    #[inline(always)]
    pub fn has_unreported(&self) -> bool {
        self.unreported.load(Relaxed)
    }

    /// All that is over is reported.
    #[inline(always)]
    pub fn reported(&self) {
        self.unreported.store(false, Relaxed);
    }

    #[inline(always)]
    pub fn published(&self, number: u64) {
        self.last[protocol::slot(number)].store(number, Relaxed);
    }

    /// A process has published in a step, so it has finished all before.
    #[inline(always)]
    pub fn finished_by(&self, rank: usize, number: u64) {
        self.reports.finished_by(rank, number);
    }

    /// The line of a step may be written, or this must come before.
    #[inline(always)]
    pub fn free_line<'c>(&self, channel: &'c Channel, number: u64) -> Result<(), Awaited<'c>> {
        let last = self.last[protocol::slot(number)].load(Relaxed);
        if self.reports.cover(last) { Ok(()) } else { self.require(channel, last + 1) }
    }

    /// Data of this length are published in a room that passes: measures the distance of the other process from time to time.
    /// The line that is measured changes with reports, which exchanges do not need; so both report some operations earlier, because a line
    /// that is just being written takes longer.
    #[inline(always)]
    pub fn look_again(&self, channel: &Channel, bytes: usize) {
        let looks = self.looks.load(Relaxed) + 1;
        self.looks.store(looks, Relaxed);
        let due = if bytes <= self.short { SHORT_LOOKS } else { LOOKS };
        if looks == due / 2 {
            channel.report_finished();
        } else if looks >= due {
            self.measure(channel);
            self.looks.store(0, Relaxed);
        }
    }

    /// Room for data of a step, as an offset in the area, or what must come before. `exchange` as for [`Channel::reserve_exchange`].
    pub fn free_data<'c>(
        &self,
        channel: &'c Channel,
        (number, exchange): (u64, bool),
        bytes: usize,
    ) -> Result<usize, Awaited<'c>> {
        self.saw_data(bytes);
        let (looks, is_short) = (self.looks.load(Relaxed) + 1, bytes <= self.short);
        let is_due = looks >= if is_short { SHORT_LOOKS } else { LOOKS };
        // Short data are reported seldom, and the line that is measured changes with the report.
        self.looks.store(if is_due && (self.measure(channel) || is_short) { 0 } else { looks }, Relaxed);
        let need = bytes.next_multiple_of(LINE) as u64;
        // Two publications have room: before a process publishes data in an exchange it has read those of all others in the exchange before,
        // so all have finished the one before that. A writer that may be ahead of its readers, as in a broadcast, uses the whole area, but
        // on a mesh, whose second-level caches are long, `PAIR_AREA` with one reader, and little for short data (measured: a reduction of
        // 1 KiB in 0.25 us, with the whole area 0.72).
        let few = self.streams() || (is_short || exchange) && self.reports.size() > 2 || is_short && is_on_mesh();
        let most = match few {
            true => FAR_AREA,
            false if self.reports.size() == 2 && is_on_mesh() => PAIR_AREA,
            false => channel.area,
        };
        let area = most.max(2 * need as usize).min(channel.area);
        loop {
            match self.records.place(number, need, area as u64, |number| self.reports.cover(number)) {
                Ok(at) => return Ok(at),
                Err(first) => self.require(channel, first + 1)?,
            }
        }
    }

    /// Where the next data will lie if they have room behind the last ones.
    #[inline]
    pub fn next_data(&self) -> usize {
        self.records.next_data()
    }

    /// Waits until all other processes have finished the steps before a number.
    #[cold]
    #[inline(never)]
    fn require<'c>(&self, channel: &'c Channel, at_least: u64) -> Result<(), Awaited<'c>> {
        let word = |rank| channel.finished_word(rank);
        self.reports.require(at_least, |rank| protocol::reported(word(rank))).map_err(|rank| {
            channel.report_before_wait();
            Awaited::new(channel, word(rank), at_least)
        })
    }

    /// Measures in which time the line of a process arrives; whether that was possible: a line that has not changed since
    /// may lie in the cache of this process.
    #[cold]
    fn measure(&self, channel: &Channel) -> bool {
        let word = channel.looked_at((channel.rank + 1) % channel.parts.len());
        let before = mpi_t::now_ns();
        let number = word.load(Relaxed);
        let took = mpi_t::now_ns().saturating_sub(before).saturating_sub(clock_ns());
        if self.seen.swap(number, Relaxed) == number {
            return false;
        }
        // A panic elsewhere leaves a whole value.
        let mut distance = self.distance.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        distance.measured(took.try_into().unwrap_or(u32::MAX));
        self.streams.store(distance.streams(), Relaxed);
        true
    }
}
