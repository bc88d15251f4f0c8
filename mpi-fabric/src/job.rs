//! The job memory as a whole: created by the launcher, opened by the ranks and by readers in other processes.
//!
//! Invariant: a `Job` that was opened has a header that agrees with its length and with itself.

mod host_ranks;
mod reading;
pub use self::{host_ranks::HostRanks, reading::LINK};

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mpi_errors::Result;

use crate::doorbell::{Bell, LinuxKernel};
use crate::fault;
use crate::layout::{self, Layout, block, header};
use crate::mapping::{Mapping, identity_of};
use crate::os::random_id;
use crate::rank_block::{ENDED, Life, RankBlock};
use crate::recorder::{self, Recorder};
use crate::region::Regions;

/// Options of a new job.
#[derive(Clone, Copy, Debug)]
pub struct JobOptions {
    /// Number of ranks of the job, 1..=[`layout::MAX_RANKS`].
    pub ranks: u32,
    /// Length of a ring in bytes, a power of two; `None` for one that suits the number of ranks.
    pub ring_bytes: Option<usize>,
    /// Cores that the ranks may use together, at least 1.
    pub cores: u32,
}

/// Why a rank requests the end of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortCause {
    /// The program called `MPI_Abort`.
    Call,
    /// An error was fatal, by `MPI_ERRORS_ARE_FATAL` or `MPI_ERRORS_ABORT`.
    Error,
}

/// Bit of the header's word: the cause was an error.
const BY_ERROR: u64 = 1 << 62;

/// The shared memory of one job.
pub struct Job {
    mapping: Arc<Mapping>,
    /// Memory that ranks of this process have registered for each other; private, unlike all else here.
    regions: Arc<Regions>,
    layout: Layout,
    fd: Option<OwnedFd>,
    /// Device and inode of the object that is mapped.
    identity: Option<(u64, u64)>,
}

impl Job {
    /// Makes the memory of a new job.
    /// # Errors
    /// `MPI_ERR_ARG` for options out of range, `MPI_ERR_NO_MEM` or `MPI_ERR_OTHER` if the system refuses.
    pub fn create(options: &JobOptions) -> Result<Job> {
        Job::create_part(options, &(0..options.ranks).collect::<Vec<_>>())
    }

    /// The same for these ranks of the job, which are all on this host; the places of others stay empty, and take addresses only.
    /// # Errors
    /// As [`Self::create`], and `MPI_ERR_ARG` for a rank that the job has not.
    pub fn create_part(options: &JobOptions, here: &[u32]) -> Result<Job> {
        let layout = layout_of(options)?;
        if let Some(rank) = here.iter().find(|rank| **rank >= options.ranks) {
            let rule = format!("rank {rank} is none of a job of {} ranks", options.ranks);
            return Err(mpi_errors::Error::new(mpi_core::abi::MPI_ERR_ARG, rule));
        }
        let refused = |error: io::Error| {
            fault::memory("cannot make the job's shared memory", layout.total_bytes() as u64, &error)
        };
        shared(&layout, here).map(|shared| Job::new(layout, options, here, shared)).map_err(refused)
    }

    /// Makes a bridge: memory with the layout of a job memory for processes of several jobs. Its number is random, too.
    /// # Errors
    /// As [`Self::create`].
    pub(crate) fn create_bridge(ranks: u32, ring_bytes: usize) -> Result<Job> {
        let layout = layout_of(&JobOptions { ranks, ring_bytes: Some(ring_bytes), cores: 1 })?;
        let blocks = (0..ranks).map(|rank| (layout.block_at(rank), layout::PAGE));
        let reserved = [(0, layout::PAGE), layout.bells()].into_iter().chain(blocks);
        let (fd, mapping) = Mapping::create(c"ferrum-bridge", layout.total_bytes(), reserved).map_err(|error| {
            fault::memory("cannot make the memory that connects jobs", layout.total_bytes() as u64, &error)
        })?;
        let bridge = Job::of(layout, (Some(fd), mapping));
        bridge.write_header(layout::BRIDGE_MAGIC, 1);
        Ok(bridge)
    }

    /// Opens a bridge and checks its header. Errors: as [`Self::open`].
    pub(crate) fn open_bridge(fd: BorrowedFd<'_>) -> Result<Job> {
        Job::open_as(fd, layout::BRIDGE_MAGIC, "memory that connects jobs")
    }

    /// The memory of a process without others. It does without an object to share where the system has none (an old
    /// kernel, a strict sandbox) or where the process's limit of file sizes is less.
    /// # Errors
    /// As [`Self::create`].
    pub(crate) fn alone(ring_bytes: Option<usize>) -> Result<Job> {
        let options = JobOptions { ranks: 1, ring_bytes, cores: 1 };
        let layout = layout_of(&options)?;
        match shared(&layout, &[0]) {
            Ok(shared) => Ok(Job::new(layout, &options, &[0], shared)),
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EFBIG)) => {
                Ok(Job::new(layout, &options, &[0], (None, private(&layout)?)))
            }
            Err(error) => Err(fault::memory("cannot make this process's memory", layout.total_bytes() as u64, &error)),
        }
    }

    /// Memory for a single rank, with the shortest ring.
    pub(crate) fn private() -> Result<Job> {
        Job::private_of(1)
    }

    /// Memory of this process alone for so many ranks, with the shortest rings.
    pub(crate) fn private_of(ranks: u32) -> Result<Job> {
        let options = JobOptions { ranks, ring_bytes: Some(layout::MIN_RING_BYTES), cores: 1 };
        let layout = layout_of(&options)?;
        let all: Vec<u32> = (0..ranks).collect();
        Ok(Job::new(layout, &options, &all, (None, private(&layout)?)))
    }

    /// A job in zeroed memory.
    fn new(layout: Layout, options: &JobOptions, here: &[u32], memory: (Option<OwnedFd>, Mapping)) -> Job {
        let job = Job::of(layout, memory);
        job.write_header(layout::MAGIC, options.cores);
        here.iter().for_each(|rank| job.recorder(*rank).set_depth(recorder::DEPTH));
        job
    }

    fn of(layout: Layout, (fd, mapping): (Option<OwnedFd>, Mapping)) -> Job {
        let identity = fd.as_ref().and_then(|fd| identity_of(fd.as_raw_fd()));
        Job { mapping: Arc::new(mapping), regions: Arc::default(), layout, fd, identity }
    }

    fn write_header(&self, magic: u64, cores: u32) {
        let (words, layout) = (&self.mapping, &self.layout);
        let put = |at, value: usize| words.word(at).store(value as u64, Ordering::Relaxed);
        words.half(header::VERSION).store(layout::VERSION, Ordering::Relaxed);
        words.half(header::RANKS).store(layout.ranks(), Ordering::Relaxed);
        put(header::TOTAL_BYTES, layout.total_bytes());
        put(header::BLOCKS_AT, layout.block_at(0));
        put(header::BLOCK_BYTES, block::BYTES);
        put(header::RINGS_AT, layout.rings_at());
        put(header::RING_BYTES, layout.ring_bytes());
        words.word(header::JOB_ID).store(random_id(), Ordering::Relaxed);
        words.half(header::CORES).store(cores.max(1), Ordering::Relaxed);
        words.half(header::LAUNCHER_PID).store(std::process::id(), Ordering::Relaxed);
        // Release pairs with the Acquire in `open`.
        words.word(header::MAGIC).store(magic, Ordering::Release);
    }

    /// Corrects the number of the job's cores (at least 1) and the process whose descendants the ranks are, for a
    /// creator that is itself a rank and gets these facts only from the others. To be called before any rank attaches.
    pub fn describe(&self, cores: u32, launcher: u32) {
        self.mapping.half(header::CORES).store(cores.max(1), Ordering::Relaxed);
        self.mapping.half(header::LAUNCHER_PID).store(launcher, Ordering::Relaxed);
    }

    /// Opens the memory of an existing job and checks its header.
    /// # Errors
    /// `MPI_ERR_OTHER` with a sentence if it is not the memory of a job, or of another version.
    pub fn open(fd: BorrowedFd<'_>) -> Result<Job> {
        Job::open_as(fd, layout::MAGIC, "the shared memory of a job")
    }

    fn open_as(fd: BorrowedFd<'_>, magic: u64, what: &str) -> Result<Job> {
        let (layout, mapping) = Job::mapped(fd, magic, what, Mapping::open_part)?;
        let mut job = Job::of(layout, (None, mapping));
        job.identity = identity_of(fd.as_raw_fd());
        Ok(job)
    }

    /// The memory that a header describes; parts may follow it in the object (`job_parts`).
    fn mapped(fd: BorrowedFd<'_>, magic: u64, what: &str, map: Map) -> Result<(Layout, Mapping)> {
        let refused = |error: io::Error| fault::foreign(format!("this is not {what}: {error}"));
        let layout = checked_layout(&map(fd, 0, layout::PAGE).map_err(refused)?, magic, what)?;
        Ok((layout, map(fd, 0, layout.total_bytes()).map_err(refused)?))
    }

    /// Keeps the object open for other jobs that map this process's bell.
    pub(crate) fn keep(&mut self, fd: OwnedFd) {
        self.fd = Some(fd);
    }

    /// The object, open: for the ranks to inherit, and for processes of other jobs to open. `None` if the memory is private
    /// to this process, or was opened for reading only.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.fd.as_ref().map(AsFd::as_fd)
    }

    /// As [`Self::fd`], if the descriptor is still that of the object: a program that closes descriptors which are not its own
    /// gets the number for a file of its own.
    pub(crate) fn object(&self) -> Option<BorrowedFd<'_>> {
        self.fd().filter(|fd| self.identity.is_some() && identity_of(fd.as_raw_fd()) == self.identity)
    }

    /// The number of the job, random; never 0.
    pub fn id(&self) -> u64 {
        self.mapping.word(header::JOB_ID).load(Ordering::Relaxed)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.layout.ranks()
    }

    /// Length of the ring between two ranks, in bytes.
    pub fn ring_bytes(&self) -> usize {
        self.layout.ring_bytes()
    }

    /// Cores that the ranks may use together.
    pub fn cores(&self) -> u32 {
        self.mapping.half(header::CORES).load(Ordering::Relaxed).max(1)
    }

    /// Process id of the maker.
    pub fn launcher_pid(&self) -> u32 {
        self.mapping.half(header::LAUNCHER_PID).load(Ordering::Relaxed)
    }

    /// The state of a rank. Panics if there is no such rank.
    pub fn life(&self, rank: u32) -> Life {
        self.block(rank).life()
    }

    /// Process id of the process that attached as a rank; 0 if none did.
    pub fn pid(&self, rank: u32) -> u32 {
        self.block(rank).pid().load(Ordering::Relaxed)
    }

    /// A rank's flight recorder.
    pub fn recorder(&self, rank: u32) -> Recorder {
        Recorder::new(self.mapping.clone(), self.layout.block_at(rank))
    }

    /// Reports the rank's state to the launcher; for that rank itself. Panics if there is no such rank.
    pub fn set_life(&self, rank: u32, life: Life) {
        self.block(rank).set_life(life);
    }

    /// Requests the end of the job with an exit code. Only the first request counts; true if this was it.
    pub fn request_abort(&self, rank: u32, code: i32, cause: AbortCause) -> bool {
        let by_error = if cause == AbortCause::Error { BY_ERROR } else { 0 };
        let word = 1 << 63 | by_error | (rank as u64) << 32 | code as u32 as u64;
        // Relaxed: the request is this one word.
        let abort = self.mapping.word(header::ABORT);
        abort.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Requests the end of a part of the job: a rank's own abort of `members`, with an exit code. Only the rank's first
    /// request counts; true if this was it. Panics if there is no such rank; members that are none are left out.
    pub fn request_abort_of(&self, members: &[u32], rank: u32, code: i32, cause: AbortCause) -> bool {
        let by_error = if cause == AbortCause::Error { BY_ERROR } else { 0 };
        let word = 1 << 63 | by_error | code as u32 as u64;
        if self.block(rank).abort().compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return false;
        }
        for member in members.iter().filter(|member| **member < self.ranks()) {
            // Relaxed: the launcher reads the words when this process has ended.
            self.mapping.word(self.layout.to_end_at(*member)).fetch_or(1 << (member % 64), Ordering::Relaxed);
        }
        true
    }

    /// The code and cause with which a rank has aborted a part of the job. Panics if there is no such rank.
    pub fn abort_by(&self, rank: u32) -> Option<(i32, AbortCause)> {
        let word = self.block(rank).abort().load(Ordering::Relaxed);
        let cause = if word & BY_ERROR != 0 { AbortCause::Error } else { AbortCause::Call };
        (word != 0).then_some((word as i32, cause))
    }

    /// Whether a rank is to end because a part of the job was aborted. Panics if there is no such rank.
    pub fn is_to_end(&self, rank: u32) -> bool {
        self.mapping.word(self.layout.to_end_at(rank)).load(Ordering::Relaxed) & 1 << (rank % 64) != 0
    }

    /// Reports to all other ranks that the process of one has ended while the job continues; for the launcher, and for
    /// who has found that where the launcher does not report it. Panics if there is no such rank.
    pub fn report_lost(&self, rank: u32) {
        // Release pairs with the Acquire in `is_lost`: the rank's records are seen with it.
        self.mapping.word(self.layout.lost_at(rank)).fetch_or(1 << (rank % 64), Ordering::Release);
        for other in (0..self.ranks()).filter(|other| *other != rank) {
            let block = self.block(other);
            // Release pairs with the Acquire in `Endpoint::connect`, which then finds the bit above.
            block.connected(other as usize / 64).fetch_or(1 << (other % 64), Ordering::Release);
            let bell = Bell { waiters: block.waiters(), futex: block.futex() };
            if bell.has_waiters(false) {
                bell.ring(&LinuxKernel);
            }
        }
    }

    /// Whether the launcher has reported that the process of a rank has ended while the job continues. Panics if there is
    /// no such rank.
    pub fn is_lost(&self, rank: u32) -> bool {
        // Acquire pairs with the Release in `report_lost`.
        self.mapping.word(self.layout.lost_at(rank)).load(Ordering::Acquire) & 1 << (rank % 64) != 0
    }

    /// Whether the process of a rank takes part no more. Panics if there is no such rank.
    pub(crate) fn has_ended(&self, rank: u32) -> bool {
        // Acquire pairs with the Release in the endpoint's `drop`.
        self.block(rank).ended().load(Ordering::Acquire) == ENDED
    }

    /// Records the jobs that a rank is connected with; for that rank itself. Panics if there is no such rank.
    pub fn set_connected_jobs(&self, rank: u32, jobs: &[u64]) {
        let block = self.block(rank);
        // While the list changes, its length is that of more jobs than are listed.
        block.connected_jobs().store(2 + block::MOST_CONNECTED_JOBS as u64, Ordering::Relaxed);
        for (i, job) in jobs.iter().take(block::MOST_CONNECTED_JOBS).enumerate() {
            // Release pairs with the Acquire in `has_left`: who reads the job reads a length from that store on.
            block.connected_job(i).store(*job, Ordering::Release);
        }
        // Release pairs with the Acquire in `has_left`.
        block.connected_jobs().store(1 + jobs.len() as u64, Ordering::Release);
    }

    /// Whether all ranks have been connected with other jobs, and none is connected with this one any more; `None`: with
    /// any.
    pub fn has_left(&self, job: Option<u64>) -> bool {
        let is_left = |rank| {
            let block = self.block(rank);
            // Acquire pairs with the Release in `set_connected_jobs`.
            let count = block.connected_jobs().load(Ordering::Acquire) as usize;
            // Acquire pairs with the Release in `set_connected_jobs`, as the length is read again below.
            let is_among = |job| (0..count - 1).any(|i| block.connected_job(i).load(Ordering::Acquire) == job);
            let is_same = || block.connected_jobs().load(Ordering::Relaxed) as usize == count;
            match count {
                0 => false,
                1 => true,
                // Of more than are listed any may be it.
                _ => count - 1 <= block::MOST_CONNECTED_JOBS && job.is_some_and(|job| !is_among(job)) && is_same(),
            }
        };
        (0..self.ranks()).all(is_left)
    }

    /// Which rank requested the end of the job, with which code, and why.
    pub fn abort(&self) -> Option<(u32, i32, AbortCause)> {
        let word = self.mapping.word(header::ABORT).load(Ordering::Relaxed);
        let cause = if word & BY_ERROR != 0 { AbortCause::Error } else { AbortCause::Call };
        (word != 0).then_some(((word >> 32) as u32 & !(3 << 30), word as i32, cause))
    }

    pub(crate) fn block(&self, rank: u32) -> RankBlock<'_> {
        RankBlock::new(&self.mapping, &self.layout, rank)
    }

    pub(crate) fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    pub(crate) fn regions(&self) -> &Arc<Regions> {
        &self.regions
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl Drop for Job {
    /// Leaves a file alone that the program has under the number of a descriptor that it has closed.
    fn drop(&mut self) {
        if self.object().is_none() {
            std::mem::forget(self.fd.take());
        }
    }
}

/// Maps bytes at an offset of an object.
type Map = fn(BorrowedFd<'_>, usize, usize) -> io::Result<Mapping>;

/// The layout that the header of a mapped object describes. Its length beyond the header is not compared.
/// # Errors
/// `MPI_ERR_OTHER` with a sentence if it is no such object, or of another version.
pub(crate) fn checked_layout(mapping: &Mapping, magic: u64, what: &str) -> Result<Layout> {
    let refused = |why: &str| fault::foreign(format!("this is not {what}: {why}"));
    if mapping.bytes() < layout::PAGE {
        return Err(refused(&format!("it has only {} bytes", mapping.bytes())));
    }
    let get = |at| mapping.word(at).load(Ordering::Relaxed);
    // Acquire pairs with the Release in `write_header`.
    if mapping.word(header::MAGIC).load(Ordering::Acquire) != magic {
        return Err(refused("it does not begin with the magic number"));
    }
    let version = mapping.half(header::VERSION).load(Ordering::Relaxed);
    if version != layout::VERSION {
        return Err(refused(&format!(
            "its format is version {version}, this library's is {}; mpiexec and the library must be of one release",
            layout::VERSION
        )));
    }
    let ranks = mapping.half(header::RANKS).load(Ordering::Relaxed);
    let layout = usize::try_from(get(header::RING_BYTES)).ok().and_then(|bytes| Layout::new(ranks, bytes));
    let layout = layout.ok_or_else(|| refused("its header has an impossible number of ranks or ring length"))?;
    let found = [header::TOTAL_BYTES, header::BLOCKS_AT, header::BLOCK_BYTES, header::RINGS_AT].map(get);
    let due = [layout.total_bytes(), layout.block_at(0), block::BYTES, layout.rings_at()].map(|n| n as u64);
    if found != due {
        return Err(refused("its header contradicts itself"));
    }
    Ok(layout)
}

fn layout_of(options: &JobOptions) -> Result<Layout> {
    let ring_bytes = options.ring_bytes.unwrap_or_else(|| Layout::default_ring_bytes(options.ranks));
    Layout::new(options.ranks, ring_bytes).ok_or_else(|| {
        mpi_errors::Error::new(
            mpi_core::abi::MPI_ERR_ARG,
            format!(
                "a job has 1 to {} ranks and rings of a power of two from {} to {} bytes, not {} and {ring_bytes}",
                layout::MAX_RANKS,
                layout::MIN_RING_BYTES,
                layout::MAX_RING_BYTES,
                options.ranks
            ),
        )
    })
}

/// Zeroed memory that other processes can open, for these ranks.
fn shared(layout: &Layout, here: &[u32]) -> io::Result<(Option<OwnedFd>, Mapping)> {
    let in_block = |rank: &u32| block::RESERVED.map(|(at, len)| (layout.block_at(*rank) + at, len));
    let blocks = here.iter().flat_map(in_block);
    // Every rank reads and writes the bells, and the sets behind those of many ranks.
    let (bells, _) = layout.bells();
    let reserved = [(0, layout::PAGE), (bells, layout.first_rings_at() - bells)].into_iter().chain(blocks);
    Mapping::create_growing(c"ferrum-job", layout.total_bytes(), reserved).map(|(fd, mapping)| (Some(fd), mapping))
}

/// Zeroed memory of this process alone.
fn private(layout: &Layout) -> Result<Mapping> {
    Mapping::private(layout.total_bytes()).map_err(|error| fault::system("no memory to map", &error))
}

#[cfg(test)]
mod tests;
