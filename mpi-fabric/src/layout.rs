//! Offsets of everything in the job memory (`FORMAT.md` describes the same for readers outside).
//!
//! Invariant: a `Layout` is computed from (ranks, ring bytes) alone, and its parts neither overlap nor overflow; a
//! header read from shared memory is accepted only if it agrees with this computation.
//! Not here: the mapping itself (`mapping`).

/// First word of the job memory: "FERRUMJB" in memory order.
pub const MAGIC: u64 = u64::from_le_bytes(*b"FERRUMJB");
/// First word of a bridge (`crate::bridge`): "FERRUMBR" in memory order.
pub const BRIDGE_MAGIC: u64 = u64::from_le_bytes(*b"FERRUMBR");
/// Version of the format; readers of another version refuse it.
pub const VERSION: u32 = 13;
/// Most ranks of one job, on all of its hosts together. The memory on each host has a place for each rank of the job: a ring
/// of 16 KiB at least for each ordered pair, so this many take 1.1 TiB of the 128 TiB of addresses of a process.
pub const MAX_RANKS: u32 = 8192;
/// Most ranks of one job on one host, and most processes of several jobs that one bridge connects.
pub const MAX_HOST_RANKS: u32 = 1024;
/// Shortest ring, in bytes.
pub const MIN_RING_BYTES: usize = 16 << 10;
/// Longest ring, in bytes.
pub const MAX_RING_BYTES: usize = 16 << 20;
/// Ring length of a small job without a setting.
pub const DEFAULT_RING_BYTES: usize = 128 << 10;
/// Most bytes that the rings of one receiver together take by default; more ranks get shorter rings.
const RINGS_PER_RANK_BYTES: usize = 8 << 20;

/// Longest copy buffer of a rank, in bytes. Long beside a second-level cache of usual size: by the time the lines are
/// used again they have left it for memory that the cores share, where both sides find them sooner than in each
/// other's cache (measured, half round trips of 64 KiB in pieces of 16 KiB between near cores: 2.4 us in 3 MiB used in
/// turn, 5 us in 256 KiB).
const MAX_COPY_BUFFER: usize = 4 << 20;
/// Shortest copy buffer.
const MIN_COPY_BUFFER: usize = 256 << 10;
/// Most bytes that the copy buffers of all ranks together take, if that leaves each the shortest.
const COPY_BUFFERS_BYTES: usize = 128 << 20;

/// Length of the first ring of a pair with its control lines: the ring of a pair that exchanges little.
///
/// A page has those from one sender to eight receivers, and the pages for the same receivers follow each other. So a
/// process that sends to all others touches an eighth of as many pages, and one that receives from all touches
/// neighbouring pages, of which the kernel maps many at once.
pub const FIRST_RING_BYTES: usize = 512;
/// Receivers whose first rings from one sender share a page.
const FIRST_RINGS_IN_PAGE: usize = PAGE / FIRST_RING_BYTES;

/// Longest room of a rank for collectives, in bytes (see `coll_room`).
const MAX_COLL_ROOM: usize = 8 << 20;
/// Shortest room for collectives of several ranks.
const MIN_COLL_ROOM: usize = 1 << 20;
/// Most bytes that the rooms of all ranks together take, if that leaves each the shortest.
const COLL_ROOMS_BYTES: usize = 128 << 20;

/// Length of a cell (see `cells`): the longest part of a message that the receiver cannot read before it is whole.
pub const CELL_BYTES: usize = 16 << 10;
/// Most cells of a pair.
pub const MOST_CELLS: usize = 128;
/// Most bytes that the cells of all pairs together take. Pairs that would have less than two cells have none.
const CELLS_BYTES: usize = 128 << 20;

/// A cache line, the unit of the rings.
pub const LINE: usize = 64;
/// The unit of everything that is mapped.
pub const PAGE: usize = 4096;

/// Offsets in the header page.
pub mod header {
    /// u64: [`super::MAGIC`], stored last by the maker.
    pub const MAGIC: usize = 0x00;
    /// u32: [`super::VERSION`].
    pub const VERSION: usize = 0x08;
    /// u32: number of ranks.
    pub const RANKS: usize = 0x0c;
    /// u64: length of the whole memory in bytes.
    pub const TOTAL_BYTES: usize = 0x10;
    /// u64: offset of rank 0's block.
    pub const BLOCKS_AT: usize = 0x18;
    /// u64: distance between rank blocks in bytes.
    pub const BLOCK_BYTES: usize = 0x20;
    /// u64: offset of the first ring.
    pub const RINGS_AT: usize = 0x28;
    /// u64: distance between rings in bytes.
    pub const RING_BYTES: usize = 0x30;
    /// u64: number of the job, random (never 0).
    pub const JOB_ID: usize = 0x38;
    /// u32: cores that the job's ranks may use together.
    pub const CORES: usize = 0x40;
    /// u32: process id of the launcher, or of the only process; of the ranks' nearest common ancestor when the launcher
    /// is not this library's.
    pub const LAUNCHER_PID: usize = 0x44;
    /// u32: 1 if the ranks keep the greatest levels of all of their queues; the launcher sets it before it starts them.
    pub const KEEP_PEAKS: usize = 0x48;
    /// u32: process id of the `mpiexec` that the user has started, for a job on several hosts, if it runs on this host; else 0.
    pub const FRONT_PID: usize = 0x4c;
    /// u64: where the next part of the object begins (`crate::job_parts`); 0: directly behind the job memory.
    pub const NEXT_PART: usize = 0x50;
    /// u64: 0, or bit 63 | bit 62 for a fatal error | rank << 32 | exit code: the first MPI_Abort or fatal error.
    pub const ABORT: usize = 0x80;
    /// u64: the calibration (`crate::calibration`): 0 none, 1 a process measures, 2 published.
    pub const CALIBRATION: usize = 0xc0;
    /// u64 each: what was published.
    pub const CALIBRATED: usize = 0xc8;
    /// How many.
    pub const CALIBRATED_WORDS: usize = 6;
    /// u64: two bits for each class of lengths of copies by the kernel, as their receivers measured (`mpi-p2p`): 1 the receiver
    /// alone is faster, 2 both processes are, 0 not measured.
    pub const COPIED_BY_BOTH: usize = 0xf8;
    /// 16 x u64: bit `r` is set if rank `r` is to end because a process has aborted a part of the job that it is in.
    pub const TO_END: usize = 0x100;
    /// 16 x u64: bit `r` is set once rank `r` has ended so, and the others continue, or died while they end. The launcher sets it, or a rank in
    /// `MPI_Finalize` if there is none of this library.
    pub const LOST: usize = 0x180;
    /// Most ranks of which these two sets are in the header; those of more lie behind the bells.
    pub const SET_RANKS: u32 = 1024;
    /// u64: bytes of the text at [`HOSTS`]; stored last. 0: all ranks are on this host.
    pub const HOSTS_BYTES: usize = 0x200;
    /// Text: a line for each host with its ranks and its name, this host first (`crate::job::HostRanks`).
    pub const HOSTS: usize = 0x208;
    /// The longest such text.
    pub const MOST_HOSTS_BYTES: usize = 0xdf8;
}

/// Offsets in a rank's block.
pub mod block {
    /// u32: [`crate::Life`] of the rank.
    pub const LIFE: usize = 0x00;
    /// u32: its process id.
    pub const PID: usize = 0x04;
    /// u64: address, in the rank's own address space, of a word that holds `PROBE_VALUE`.
    pub const PROBE_ADDRESS: usize = 0x08;
    /// u64: what a peer must read there if it can copy from this rank.
    pub const PROBE_VALUE: usize = 0x10;
    /// u32: 1 once the rank's endpoint was dropped.
    pub const ENDED: usize = 0x18;
    /// In a job memory, u64: address of the [`crate::queue_map`] of the rank in its own address space; 0: none.
    pub const QUEUE_MAP: usize = 0x20;
    /// In a bridge, u64: number of the job of the process.
    pub const MEMBER_JOB: usize = 0x20;
    /// In a bridge, u32: world rank of the process in its job.
    pub const MEMBER_RANK: usize = 0x28;
    /// In a bridge, u32: its place in its job memory, where its bell is.
    pub const MEMBER_PLACE: usize = 0x2c;
    /// In a bridge, u32: the descriptor under which it has its job memory open.
    pub const MEMBER_FD: usize = 0x30;
    /// In a bridge, 16 x u64: bit `p` is set if it had a route to the process with place `p` before.
    pub const MEMBER_ROUTES: usize = 0x40;
    /// In a job memory, u64: the sum of the times at which the waits began that have not ended (`crate::Job::unfinished_waits`).
    pub const WAITS_BEGAN: usize = 0x40;
    /// In a job memory, u64: the number of those waits.
    pub const OPEN_WAITS: usize = 0x48;
    /// In a job memory, u64: when the launcher found that the process had ended; 0: it has not.
    pub const ENDED_AT: usize = 0x50;
    /// u64: 0, or bit 63 | bit 62 for a fatal error | exit code: the rank has aborted a part of the job.
    pub const ABORT: usize = 0xc0;
    /// u64: 0 before the rank has been connected with another job; else 1 more than the number of jobs that it is
    /// connected with.
    pub const CONNECTED_JOBS: usize = 0xc8;
    /// u64 each: the numbers of those jobs, the first ones of many.
    pub const CONNECTED_JOB: usize = 0xd0;
    /// How many.
    pub const MOST_CONNECTED_JOBS: usize = 16;
    /// The instruments.
    pub const INSTRUMENTS: usize = 0x1000;
    /// Length of the instruments in bytes.
    pub const INSTRUMENTS_BYTES: usize = 0x1_b000;
    /// 256 transfer slots of 64 bytes.
    pub const TRANSFERS: usize = 0x1_c000;
    /// Number of transfer slots.
    pub const TRANSFER_SLOTS: usize = 256;
    /// The flight recorder.
    pub const RECORDER: usize = 0x2_0000;
    /// Length of the flight recorder in bytes.
    pub const RECORDER_BYTES: usize = 0x2_1000;
    /// The part that every rank uses, and that is therefore reserved before it starts: offset and length.
    pub const RESERVED: [(usize, usize); 2] = [(0, 0x2000), (RECORDER, 0x1000)];
    /// Length of a block in bytes.
    pub const BYTES: usize = 0x4_1000;
}

/// Offsets in a rank's area of traffic ([`crate::traffic`]).
pub mod traffic {
    /// u64: end of the tables in use.
    pub const USED: usize = 0x00;
    /// u64: communicators in use whose rows are not in the area.
    pub const ELSEWHERE: usize = 0x08;
    /// 3 x u64: highest levels of the queues of freed communicators, each 1 more; 0: none.
    pub const PEAKS: usize = 0x10;
    /// How many.
    pub const PEAK_COUNT: usize = 3;
    /// 64 x u64: messages sent by classes of sizes.
    pub const SIZES: usize = 0x40;
    /// How many.
    pub const SIZE_CLASSES: usize = 64;
    /// The first table.
    pub const TABLES: usize = 0x240;
    /// Length of a row: messages sent, bytes sent, messages received, bytes received.
    pub const ROW_BYTES: usize = 32;
    /// Length of a table before the numbers of its peers.
    pub const TABLE_HEAD: usize = 64;
    /// Length of the tables of a small job.
    pub(super) const LEAST_TABLES: usize = 128 << 10;
    /// Communicators of all ranks that a rank has room for, at least.
    pub(super) const WHOLE_TABLES: usize = 16;
}

/// Offsets in a rank's bell: what its peers read and write before they send to it. The bells of all ranks lie side by
/// side, so that a process that sends to many ranks touches few pages.
pub mod bell {
    /// u32: threads of the rank that sleep or are about to.
    pub const WAITERS: usize = 0x00;
    /// u32: futex word, changed by every wake-up.
    pub const FUTEX: usize = 0x40;
    /// A u64 for each 64 ranks, at least 16: bit `r` is set once rank `r` sends to this rank. The rank's own bit, which no
    /// sender needs, reports that [`super::header::LOST`] has changed.
    pub const CONNECTED: usize = 0x80;
    /// Length of a bell in bytes in jobs of up to 1024 ranks; each further bit for a rank lengthens it.
    pub const LEAST_BYTES: usize = 0x100;
}

const _: () = assert!(bell::CONNECTED + header::SET_RANKS as usize / 8 == bell::LEAST_BYTES);
const _: () = assert!(header::LOST - header::TO_END == header::SET_RANKS as usize / 8);
const _: () = assert!(MAX_RANKS.is_multiple_of(64) && MAX_HOST_RANKS <= header::SET_RANKS);
const _: () = assert!(header::HOSTS + header::MOST_HOSTS_BYTES <= PAGE);
const _: () = assert!(block::INSTRUMENTS + block::INSTRUMENTS_BYTES <= block::TRANSFERS);
const _: () = assert!(block::TRANSFERS + block::TRANSFER_SLOTS * LINE <= block::RECORDER);
const _: () = assert!(block::RECORDER + block::RECORDER_BYTES <= block::BYTES && block::BYTES.is_multiple_of(PAGE));

/// The places of the parts of one job's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    ranks: u32,
    ring_bytes: usize,
}

impl Layout {
    /// The layout for a number of ranks (1..=[`MAX_RANKS`]) and a ring length (a power of two in
    /// [`MIN_RING_BYTES`]..=[`MAX_RING_BYTES`]); `None` if either is out of range.
    pub fn new(ranks: u32, ring_bytes: usize) -> Option<Layout> {
        let ring_ok = ring_bytes.is_power_of_two() && (MIN_RING_BYTES..=MAX_RING_BYTES).contains(&ring_bytes);
        (ring_ok && (1..=MAX_RANKS).contains(&ranks)).then_some(Layout { ranks, ring_bytes })
    }

    /// The ring length without a setting.
    pub fn default_ring_bytes(ranks: u32) -> usize {
        let share = RINGS_PER_RANK_BYTES / ranks.max(1) as usize;
        let fitting = if share.is_power_of_two() { share } else { share.next_power_of_two() / 2 };
        fitting.clamp(MIN_RING_BYTES, DEFAULT_RING_BYTES)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Distance between two rings, and so the length of one with its control line.
    pub fn ring_bytes(&self) -> usize {
        self.ring_bytes
    }

    /// Offset of a rank's block.
    pub fn block_at(&self, rank: u32) -> usize {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        PAGE + rank as usize * block::BYTES
    }

    /// Offset of the rows of freed communicators in an area of traffic; the tables end before.
    pub fn freed_traffic(&self) -> usize {
        let table = traffic::TABLE_HEAD + self.ranks as usize * (traffic::ROW_BYTES + 4);
        (traffic::TABLES + traffic::LEAST_TABLES.max(traffic::WHOLE_TABLES * table)).next_multiple_of(PAGE)
    }

    /// Length of a rank's area of traffic, in whole pages.
    pub fn traffic_bytes(&self) -> usize {
        self.freed_traffic() + (self.ranks as usize * traffic::ROW_BYTES).next_multiple_of(PAGE)
    }

    /// Offset of a rank's area of traffic.
    pub fn traffic_at(&self, rank: u32) -> usize {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        PAGE + self.ranks as usize * block::BYTES + rank as usize * self.traffic_bytes()
    }

    /// Length of a bell in bytes.
    pub fn bell_bytes(&self) -> usize {
        (bell::CONNECTED + self.set_bytes()).next_multiple_of(bell::LEAST_BYTES)
    }

    /// Offset of rank 0's bell, and length of the bells of all ranks in whole pages.
    pub fn bells(&self) -> (usize, usize) {
        let ranks = self.ranks as usize;
        (self.traffic_at(0) + ranks * self.traffic_bytes(), (ranks * self.bell_bytes()).next_multiple_of(PAGE))
    }

    /// Offset of a rank's bell.
    pub fn bell_at(&self, rank: u32) -> usize {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        self.bells().0 + rank as usize * self.bell_bytes()
    }

    /// Length of a set with a bit for each rank, in bytes.
    fn set_bytes(&self) -> usize {
        self.ranks.div_ceil(64) as usize * 8
    }

    /// Whether the two sets of ranks are behind the bells.
    fn has_long_sets(&self) -> bool {
        self.ranks > header::SET_RANKS
    }

    /// Offset of the word with a rank's bit in the set [`header::TO_END`].
    pub fn to_end_at(&self, rank: u32) -> usize {
        self.bit_at(header::TO_END, 0, rank)
    }

    /// Offset of the word with a rank's bit in the set [`header::LOST`].
    pub fn lost_at(&self, rank: u32) -> usize {
        self.bit_at(header::LOST, self.set_bytes(), rank)
    }

    /// Offset of a rank's word in a set, which is in the header or so far behind the end of the bells.
    fn bit_at(&self, in_header: usize, behind: usize, rank: u32) -> usize {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        let (at, bytes) = self.bells();
        let set = if self.has_long_sets() { at + bytes + behind } else { in_header };
        set + rank as usize / 64 * 8
    }

    /// Offset of the first rings of all pairs: directly behind the bells and what sets of ranks follow them.
    pub(crate) fn first_rings_at(&self) -> usize {
        let (at, bytes) = self.bells();
        let sets = if self.has_long_sets() { (2 * self.set_bytes()).next_multiple_of(PAGE) } else { 0 };
        at + bytes + sets
    }

    /// Offset of the first ring that `sender` fills and `receiver` empties, of [`FIRST_RING_BYTES`].
    pub fn first_ring_at(&self, receiver: u32, sender: u32) -> usize {
        assert!(receiver < self.ranks && sender < self.ranks, "ring {receiver}/{sender} of {}", self.ranks);
        let (receiver, sender) = (receiver as usize, sender as usize);
        let page = receiver / FIRST_RINGS_IN_PAGE * self.ranks as usize + sender;
        self.first_rings_at() + page * PAGE + receiver % FIRST_RINGS_IN_PAGE * FIRST_RING_BYTES
    }

    /// Offset of the rings.
    pub fn rings_at(&self) -> usize {
        let ranks = self.ranks as usize;
        self.first_rings_at() + ranks.div_ceil(FIRST_RINGS_IN_PAGE) * ranks * PAGE
    }

    /// Offset of the ring that `sender` fills and `receiver` empties.
    pub fn ring_at(&self, receiver: u32, sender: u32) -> usize {
        assert!(receiver < self.ranks && sender < self.ranks, "ring {receiver}/{sender} of {}", self.ranks);
        self.rings_at() + (receiver as usize * self.ranks as usize + sender as usize) * self.ring_bytes
    }

    /// Length of each rank's copy buffer in bytes, a power of two. A single rank has no other core to copy for.
    pub fn copy_buffer_bytes(&self) -> usize {
        if self.ranks == 1 {
            return MIN_COPY_BUFFER;
        }
        let share = COPY_BUFFERS_BYTES / self.ranks.next_power_of_two() as usize;
        share.clamp(MIN_COPY_BUFFER, MAX_COPY_BUFFER)
    }

    /// Offset of a rank's copy buffer.
    pub fn copy_buffer_at(&self, rank: u32) -> usize {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        self.rings_at()
            + self.ranks as usize * self.ranks as usize * self.ring_bytes
            + rank as usize * self.copy_buffer_bytes()
    }

    /// Length of each rank's room for collectives in bytes; a single rank has none.
    pub fn coll_room_bytes(&self) -> usize {
        if self.ranks == 1 {
            return 0;
        }
        let share = COLL_ROOMS_BYTES / self.ranks.next_power_of_two() as usize;
        share.clamp(MIN_COLL_ROOM, MAX_COLL_ROOM)
    }

    /// Offset of a rank's room for collectives.
    pub fn coll_room_at(&self, rank: u32) -> usize {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        self.copy_buffer_at(0) + self.ranks as usize * self.copy_buffer_bytes() + rank as usize * self.coll_room_bytes()
    }

    /// Number of pairs of different ranks.
    fn pairs(&self) -> usize {
        self.ranks as usize * (self.ranks as usize - 1) / 2
    }

    /// How many cells each pair of ranks has: a power of two from 2 to [`MOST_CELLS`], or none.
    pub fn pair_cells(&self) -> usize {
        let share = CELLS_BYTES / CELL_BYTES / self.pairs().max(1);
        if self.ranks == 1 || share < 2 { 0 } else { (1 << share.ilog2()).min(MOST_CELLS) }
    }

    /// Offset of the cells of two ranks, in either order; none for one rank.
    pub fn cells_at(&self, one: u32, other: u32) -> usize {
        let (low, high) = (one.min(other) as usize, one.max(other) as usize);
        assert!(low < high && high < self.ranks as usize, "cells of {one} and {other} of {}", self.ranks);
        self.end_of_rooms() + (high * (high - 1) / 2 + low) * self.pair_cells() * CELL_BYTES
    }

    fn end_of_rooms(&self) -> usize {
        self.coll_room_at(self.ranks - 1) + self.coll_room_bytes()
    }

    /// Length of the whole memory in bytes.
    pub fn total_bytes(&self) -> usize {
        self.end_of_rooms() + self.pairs() * self.pair_cells() * CELL_BYTES
    }
}

#[cfg(test)]
mod tests;
