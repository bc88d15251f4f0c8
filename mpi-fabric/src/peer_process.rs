//! The process of a peer, and whether this one can copy to and from it: determined once, then kept in private memory.
//!
//! A process id in the job memory may be overwritten by a stray store, and the kernel reuses the id of a process that
//! has ended. So the id is read from there once; the process behind it must show the peer's probe word; and from then
//! on its start time is compared now and then, more often than ids can come round.
//! Invariant: no copy goes to a process that was not probed.

use std::cell::OnceCell;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::rank_block::{LEFT, Life, RankBlock};

/// Milliseconds between two checks of a peer's start time. The kernel assigns all other ids, 32,768 or more, before it
/// reuses one, which takes many times as long.
pub(crate) const LOOK_EVERY_MS: u64 = 64;

/// How to copy to and from a peer.
#[derive(Debug)]
pub(crate) enum Copies {
    /// The peer has not attached.
    Unknown,
    /// The kernel refuses.
    Refused,
    /// It is a rank of this process.
    Within,
    /// It is this process, which allows copies.
    Process(Arc<ProbedProcess>),
}

/// A process that has shown the peer's probe word. Thread-safe.
#[derive(Debug)]
pub(crate) struct ProbedProcess {
    pub(crate) pid: u32,
    /// When it started, in ticks since the host started; `None` if the kernel does not show it.
    started: Option<u64>,
    /// When the start time was last compared. Any thread that copies stores it: a clock, which orders nothing.
    looked_ms: AtomicU64,
}

impl ProbedProcess {
    /// An error once the id of the process is another's.
    #[inline]
    pub(crate) fn check(&self) -> io::Result<()> {
        let now = now_ms();
        if now.wrapping_sub(self.looked_ms.load(Ordering::Relaxed)) < LOOK_EVERY_MS {
            return Ok(());
        }
        self.looked_ms.store(now, Ordering::Relaxed);
        match self.started {
            Some(started) if start_time(self.pid) != Some(started) => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            _ => Ok(()),
        }
    }
}

/// The facts of a peer's process, each determined at most once.
#[derive(Default)]
pub(crate) struct PeerProcess {
    pid: OnceCell<u32>,
    copies: OnceCell<Copies>,
    /// Becomes readable when the process ends; `None` inside if the kernel offers no such descriptor.
    handle: OnceCell<Option<OwnedFd>>,
}

impl PeerProcess {
    /// The peer's process id, read from its block once; `None` until it has attached.
    pub(crate) fn pid(&self, block: RankBlock<'_>) -> Option<u32> {
        if let Some(pid) = self.pid.get() {
            return Some(*pid);
        }
        let pid = block.pid().load(Ordering::Relaxed);
        (pid != 0).then(|| *self.pid.get_or_init(|| pid))
    }

    /// How to copy to and from the peer; `is_member`: whether this process has registered the peer's regions.
    #[inline]
    pub(crate) fn copies(&self, block: RankBlock<'_>, is_member: impl FnOnce() -> bool) -> &Copies {
        match self.copies.get() {
            Some(copies) => copies,
            None => self.probe(block, is_member),
        }
    }

    #[cold]
    fn probe(&self, block: RankBlock<'_>, is_member: impl FnOnce() -> bool) -> &Copies {
        // The life word is set after the probe's words: Acquire in `life` pairs with the Release in `Endpoint::enter`.
        let address = block.probe_address().load(Ordering::Relaxed);
        if block.life() == Life::Absent || address == 0 {
            return &Copies::Unknown;
        }
        let Some(pid) = self.pid(block) else { return &Copies::Unknown };
        self.copies.get_or_init(|| {
            if pid == std::process::id() {
                return if is_member() { Copies::Within } else { Copies::Refused };
            }
            let started = start_time(pid);
            let mut word = [0u8; 8];
            let read = crate::remote::read(pid, address, &mut word);
            let right = read.is_ok() && u64::from_ne_bytes(word) == block.probe_value().load(Ordering::Relaxed);
            // Equal before and after: the process that was read is the one that started then.
            if !right || start_time(pid) != started {
                return Copies::Refused;
            }
            Copies::Process(Arc::new(ProbedProcess { pid, started, looked_ms: AtomicU64::new(now_ms()) }))
        })
    }

    /// Whether the peer still runs. A peer that has not attached yet counts as alive.
    pub(crate) fn alive(&self, block: RankBlock<'_>) -> bool {
        if has_ended(block) {
            return false;
        }
        let Some(pid) = self.pid(block).filter(|pid| *pid != std::process::id()) else { return true };
        match self.handle.get_or_init(|| open_process(pid)) {
            Some(handle) => !ended(handle),
            None => exists(pid),
        }
    }

    /// As [`Self::alive`], without a descriptor; a process that has ended counts as alive until its parent has collected
    /// its exit status.
    pub(crate) fn exists(&self, block: RankBlock<'_>) -> bool {
        !has_ended(block) && self.pid(block).is_none_or(exists)
    }
}

/// Whether a process reports its end in its block, by any word but those of one that runs.
fn has_ended(block: RankBlock<'_>) -> bool {
    // Acquire pairs with the Release in `Endpoint::drop`, and in `Bridge::leave`.
    !matches!(block.ended().load(Ordering::Acquire), 0 | LEFT)
}

/// Whether there is a process with this id; one that has ended counts until its parent has collected its exit status.
pub(crate) fn exists(pid: u32) -> bool {
    // 0 and negative numbers name groups of processes.
    if pid == 0 || i32::try_from(pid).is_err() {
        return false;
    }
    // SAFETY: signal 0 is not delivered; the call only reports whether the process exists.
    unsafe { libc::kill(pid as libc::pid_t, 0) == 0 || *libc::__errno_location() != libc::ESRCH }
}

/// Whether a process with this id runs, for a caller that may wait until it does not: one that has ended does not run, also before
/// its parent has collected its exit status. A process that the kernel does not show otherwise runs if it can be signalled.
#[cold]
pub fn runs(pid: u32) -> bool {
    open_process(pid).map_or_else(|| exists(pid), |process| !ended(&process))
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

/// Start time of a process, in ticks since the host started; `None` if there is none, or the kernel does not show it. A later process
/// with the same id has another one.
pub fn start_time(pid: u32) -> Option<u64> {
    let facts = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in parentheses that may hold anything; the start time is the 22nd.
    facts.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Milliseconds of a clock that is cheap to read and exact to some milliseconds.
pub(crate) fn now_ms() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure; without the clock it stays 0, and only the first check is made.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut now) };
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::job::AbortCause;
    use crate::{Access, Endpoint, FabricSettings, Job, JobOptions};

    /// Starts a child that attaches as a rank, if it is to, and ends with the value of `word` once the job ends.
    fn child(job: &Arc<Job>, word: &mut u64, rank: Option<u32>, settings: &'static FabricSettings) -> libc::pid_t {
        // Another test's thread may be inside of this call, which happens once in a process; the child would wait for it.
        crate::os::membarrier_register();
        // SAFETY: the child attaches, sleeps and leaves by `_exit`; the C library keeps its allocator usable there.
        unsafe {
            match libc::fork() {
                0 => {
                    let endpoint = rank.and_then(|rank| Endpoint::enter(job.clone(), rank, settings).ok());
                    let region = endpoint.as_ref().map(|endpoint| {
                        crate::remote::permit(libc::getppid() as u32);
                        endpoint.register(&[0], std::ptr::from_mut(word).cast(), 8, Access::ReadWrite)
                    });
                    while job.abort().is_none() {
                        libc::usleep(1000);
                    }
                    drop(region);
                    libc::_exit(std::ptr::from_ref(word).read_volatile() as i32)
                }
                child => child,
            }
        }
    }

    fn exit_code(child: libc::pid_t) -> i32 {
        let mut status = 0;
        // SAFETY: a child of this process, and a live word.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status), "{status:#x}");
        libc::WEXITSTATUS(status)
    }

    #[test]
    fn a_process_id_that_changes_in_the_job_memory_redirects_no_copy() {
        let job = Arc::new(Job::create(&JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).unwrap());
        let settings: [&'static FabricSettings; 2] = [FabricSettings::new(), FabricSettings::new()];
        let mut word = Box::new(3u64);
        let key = crate::RegionKey::from_words([std::ptr::from_mut(&mut *word) as u64, 0]);
        let peer = child(&job, &mut word, Some(1), settings[1]);
        let bystander = child(&job, &mut word, None, settings[1]);
        let own = Endpoint::enter(job.clone(), 0, settings[0]).unwrap();
        while job.life(1) == Life::Absent || job.block(1).probe_address().load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        let copies = own.can_copy(1);
        job.block(1).pid().store(bystander as u32, Ordering::Relaxed);
        let written = own.write(1, key, 0, &7u64.to_ne_bytes());
        assert!(own.alive(1));
        job.request_abort(0, 0, AbortCause::Call);
        let codes = (exit_code(peer), exit_code(bystander));
        if copies {
            written.unwrap();
            assert_eq!(codes, (7, 3), "the words of the peer and of the other process");
        } else {
            assert_eq!((written.is_err(), codes), (true, (3, 3)), "the kernel allows no copies here");
        }
        assert_eq!(*word, 3);
    }

    #[test]
    fn a_start_time_is_found_whatever_the_name_of_the_process() {
        let own = start_time(std::process::id()).expect("this system has /proc");
        assert_eq!(start_time(std::process::id()), Some(own));
        assert_eq!(start_time(u32::MAX), None);
    }
}
