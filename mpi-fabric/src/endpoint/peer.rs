//! What an endpoint keeps per peer: the ring to it and the ring from it, and what is known about its process.

use std::cell::OnceCell;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use mpi_errors::Result;

use crate::doorbell::{Bell, LinuxKernel};
use crate::fault;
use crate::job::Job;
use crate::rank_block::{Life, RankBlock};
use crate::record::Sink;
use crate::ring::{Consumer, MappedRing, Producer};
use crate::sync::{AtomicU32, AtomicU64};
use crate::variables::FabricInstruments;

/// The way to one peer.
pub(super) struct Output {
    pub(super) ring: Producer<MappedRing>,
    /// Whether this rank's bit is set in the peer's block.
    pub(super) announced: bool,
    waiters: NonNull<AtomicU32>,
    futex: NonNull<AtomicU32>,
    /// Found out at first need, once the peer has attached.
    copies: OnceCell<bool>,
    /// Becomes readable when the process ends; `None` inside if the kernel has none to give.
    process: OnceCell<Option<OwnedFd>>,
}

// SAFETY: the pointers lead into the job memory, which outlives the `Output` (its endpoint holds the job).
unsafe impl Send for Output {}

impl Output {
    pub(super) fn new(job: &Job, from: u32, to: u32) -> Output {
        let block = job.block(to);
        Output {
            ring: Producer::new(ring(job, to, from)),
            announced: false,
            waiters: NonNull::from(block.waiters()),
            futex: NonNull::from(block.futex()),
            copies: OnceCell::new(),
            process: OnceCell::new(),
        }
    }

    /// Wakes the peer if it sleeps. To be called after every push.
    #[inline(always)]
    pub(super) fn notify(&self, fenced: bool, variables: &FabricInstruments) {
        // SAFETY: see `Send`: the job memory is alive.
        let bell = unsafe { Bell { waiters: self.waiters.as_ref(), futex: self.futex.as_ref() } };
        if bell.has_waiters(fenced) {
            variables.wakeups_sent.incr();
            bell.ring(&LinuxKernel);
        }
    }

    pub(super) fn can_copy(&self, block: RankBlock<'_>) -> bool {
        if let Some(known) = self.copies.get() {
            return *known;
        }
        // The life word is set after the probe's words: Acquire in `life` pairs with the Release in `Endpoint::enter`.
        if block.life() == Life::Absent || block.probe_address().load(Ordering::Relaxed) == 0 {
            return false;
        }
        *self.copies.get_or_init(|| {
            let mut word = [0u8; 8];
            let (pid, at) = (block.pid().load(Ordering::Relaxed), block.probe_address().load(Ordering::Relaxed));
            let read = crate::remote::read(pid, at, &mut word);
            read.is_ok() && u64::from_ne_bytes(word) == block.probe_value().load(Ordering::Relaxed)
        })
    }

    pub(super) fn alive(&self, block: RankBlock<'_>) -> bool {
        // Acquire pairs with the Release in `Endpoint::drop`.
        if block.gone().load(Ordering::Acquire) != 0 {
            return false;
        }
        let pid = block.pid().load(Ordering::Relaxed);
        if pid == 0 || pid == std::process::id() {
            return true;
        }
        match self.process.get_or_init(|| open_process(pid)) {
            Some(fd) => !ended(fd),
            // SAFETY: signal 0 only asks whether the process exists.
            None => unsafe { libc::kill(pid as libc::pid_t, 0) == 0 || *libc::__errno_location() != libc::ESRCH },
        }
    }
}

fn open_process(pid: u32) -> Option<OwnedFd> {
    // SAFETY: no memory is passed; a descriptor of our own comes back or -1.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as i32))
    }
}

fn ended(process: &OwnedFd) -> bool {
    let mut poll = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one live pollfd.
    unsafe { libc::poll(&mut poll, 1, 0) == 1 }
}

/// The set of ranks that send to this one, as they set it themselves. Looked at in every poll.
pub(super) struct Connections {
    words: NonNull<AtomicU64>,
    count: usize,
}

// SAFETY: the pointer leads into the job memory, which outlives the value (its endpoint holds the job).
unsafe impl Send for Connections {}

impl Connections {
    pub(super) fn new(block: RankBlock<'_>, ranks: u32) -> Connections {
        let count = ranks.div_ceil(64) as usize;
        // The last word's address is asked for its bounds check.
        let (first, _last) = (block.connected(0), block.connected(count - 1));
        Connections { words: NonNull::from(first), count }
    }

    /// The `i`-th 64 ranks.
    #[inline(always)]
    pub(super) fn word(&self, i: usize) -> &AtomicU64 {
        assert!(i < self.count);
        // SAFETY: the words follow each other in the block, `count` of them, all inside the mapping (see `new`).
        unsafe { self.words.add(i).as_ref() }
    }
}

/// The way from one peer.
pub(super) struct Input {
    from: u32,
    ring: Consumer<MappedRing>,
}

impl Input {
    pub(super) fn new(job: &Job, rank: u32, from: u32) -> Input {
        Input { from, ring: Consumer::new(ring(job, rank, from)) }
    }

    #[inline(always)]
    pub(super) fn poll<S: Sink>(&mut self, most: usize, sink: &mut S) -> Result<usize> {
        let from = self.from;
        let polled = self.ring.poll(most, |head, payload| sink.record(from, head, payload));
        polled.map_err(|bad| fault::bad_record(from, bad))
    }
}

fn ring(job: &Job, receiver: u32, sender: u32) -> MappedRing {
    let (layout, mapping) = (job.layout(), job.mapping());
    let at = mapping.at(layout.ring_at(receiver, sender), layout.ring_bytes());
    // SAFETY: inside the mapping, which the endpoint holds alive together with this value; page-aligned by the layout;
    // only the two endpoints of these ranks use it, one at each end, since a rank can be claimed once.
    unsafe { MappedRing::new(at, layout.ring_bytes()) }
}
