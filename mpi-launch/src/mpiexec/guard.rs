//! The guard: a process that outlives the launcher briefly, to end the job if the launcher was killed.
//!
//! The kernel then ends the ranks (parent death signal), but not the processes that they started. The guard waits for
//! the end of a pipe that only the launcher holds. It is in a process group of its own, blocks all signals except
//! SIGKILL, and holds no other descriptor. It finds the job's processes by their groups and by the job's number in
//! their environment.
//!
//! The launcher polls the pipe, which reports an error when the guard has ended, and then starts another guard.
//!
//! Invariant: while the launcher runs, or after it has ended normally, the guard signals no process.
#![allow(unsafe_code)] // fork, shared memory, and what the guard does without the standard library's help

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use super::os;

/// Time limit of the guard to end when the job is over, and to end by SIGKILL.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Time limit of a guard whose end of the pipe is closed to be gone.
const LOSS_LIMIT: Duration = Duration::from_millis(500);
/// How often another guard takes the place of one that has ended.
const RENEWALS: u32 = 8;

/// The launcher's side of the guard.
pub(super) struct Guard {
    /// 0: it has been dismissed, or there is none any more.
    pid: libc::pid_t,
    pipe: OwnedFd,
    groups: &'static [AtomicI32],
    job_id: u64,
    renewals: u32,
}

impl Guard {
    /// Starts the guard for a job of so many ranks. To be called before other threads, signals or ranks exist.
    pub(super) fn start(ranks: u32, job_id: u64) -> io::Result<Guard> {
        let groups = shared_words(ranks as usize)?;
        let (pid, pipe) = fork(groups, job_id)?;
        Ok(Guard { pid, pipe, groups, job_id, renewals: 0 })
    }

    /// What to poll for the loss of the guard, for [`Guard::renew`].
    pub(super) fn interest(&self) -> Option<libc::pollfd> {
        // An error is reported in any case: nobody can read from the pipe any more.
        (self.pid != 0).then(|| os::poll_entry(self.pipe.as_fd(), 0))
    }

    /// Starts another guard if the guard has ended, as these results of polling show; a sentence about it if so. To be
    /// called by the only thread.
    pub(super) fn renew(&mut self, polled: &[libc::pollfd]) -> Option<String> {
        let own = self.pipe.as_raw_fd();
        if self.pid == 0 || !polled.iter().any(|entry| entry.fd == own && entry.revents != 0) {
            return None;
        }
        let lost = std::mem::take(&mut self.pid);
        os::ends_within(lost, LOSS_LIMIT);
        let what = format!("the guard process {lost}, which ends the job if mpiexec is killed, has ended");
        let without = "if mpiexec is killed now, processes that the ranks have started may remain";
        if self.renewals == RENEWALS {
            return Some(format!("{what}, as {RENEWALS} before it; no other one is started: {without}"));
        }
        self.renewals += 1;
        Some(match fork(self.groups, self.job_id) {
            Ok((pid, pipe)) => {
                (self.pid, self.pipe) = (pid, pipe);
                format!("{what}; another one was started (process {pid})")
            }
            Err(error) => format!("{what}, and no other one can be started ({error}): {without}"),
        })
    }

    /// Records the process group of a rank.
    pub(super) fn set_group(&self, rank: u32, group: i32) {
        self.groups[rank as usize].store(group, Ordering::Relaxed);
    }

    /// The rank has ended. Its group stays recorded while it has members; later its number may be that of another
    /// group.
    pub(super) fn rank_ended(&self, rank: u32) {
        let group = self.groups[rank as usize].load(Ordering::Relaxed);
        if group > 1 && !os::group_exists(group) {
            self.set_group(rank, 0);
        }
    }

    /// The recorded process group of a rank, while it may have members.
    pub(super) fn group_of(&self, rank: u32) -> Option<i32> {
        Some(self.groups[rank as usize].load(Ordering::Relaxed)).filter(|group| *group > 1)
    }

    /// The recorded process groups.
    pub(super) fn groups(&self) -> impl Iterator<Item = i32> {
        self.groups.iter().map(|group| group.load(Ordering::Relaxed)).filter(|group| *group > 1)
    }

    /// Signals what ranks of the job have left behind: children of this process that neither are the guard nor `is_other`.
    pub(super) fn signal_orphans(&self, signal: i32, job_id: u64, is_other: impl Fn(i32) -> bool) {
        match os::children() {
            Some(children) => {
                let orphans = children.into_iter().filter(|pid| *pid != self.pid() && !is_other(*pid));
                orphans.for_each(|pid| os::signal_process(pid, signal));
            }
            None => {
                // Groups of ranks that have ended may still have members; the others are found by their environment.
                self.groups().for_each(|group| os::signal_group(group, signal));
                if signal == libc::SIGKILL {
                    end_members(job_id);
                }
            }
        }
    }

    /// Its process id.
    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    /// Ends the guard. Only the first call does anything.
    /// # Errors
    /// A sentence: the guard did not end by itself.
    pub(super) fn dismiss(&mut self) -> Result<(), String> {
        let pid = std::mem::take(&mut self.pid);
        if pid == 0 {
            return Ok(());
        }
        let _ = os::write(self.pipe.as_fd(), b"done");
        if os::ends_within(pid, END_LIMIT) {
            return Ok(());
        }
        os::signal_process(pid, libc::SIGKILL);
        let end = if os::ends_within(pid, END_LIMIT) { "was killed" } else { "cannot be killed" };
        Err(format!("the guard process {pid} did not end within {} s and {end}", END_LIMIT.as_secs()))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The launcher fails for another reason, which it reports.
        let _ = self.dismiss();
    }
}

/// Starts the process of a guard: its id, and the end of the pipe that the launcher holds.
fn fork(groups: &[AtomicI32], job_id: u64) -> io::Result<(libc::pid_t, OwnedFd)> {
    let (read, write) = os::pipe()?;
    // SAFETY: a fork without SIGCHLD, so that waiting for the ranks does not see the guard. One thread exists, so
    // the child may continue in this program's code.
    let pid = unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) } as libc::pid_t;
    match pid {
        0 => {
            drop(write);
            watch(&read, groups, job_id);
            // SAFETY: ends this process without running the launcher's exit code.
            unsafe { libc::_exit(0) }
        }
        pid if pid > 0 => Ok((pid, write)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Words that launcher and guard share.
fn shared_words(count: usize) -> io::Result<&'static [AtomicI32]> {
    let (bytes, access) = (count * size_of::<AtomicI32>(), libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: new zeroed memory, aligned to a page and never unmapped.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0);
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(std::slice::from_raw_parts(at.cast(), count))
    }
}

/// The main function of the guard.
fn watch(pipe: &OwnedFd, groups: &[AtomicI32], job_id: u64) {
    // SAFETY: system calls on this process's own state.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"mpiexec-guard".as_ptr());
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
        // A process that waits for the end of the launcher's streams must not wait for the guard.
        let keep = pipe.as_raw_fd() as libc::c_uint;
        libc::syscall(libc::SYS_close_range, 0, keep - 1, 0);
        libc::syscall(libc::SYS_close_range, keep + 1, libc::c_uint::MAX, 0);
    }
    loop {
        match os::read(pipe.as_fd(), &mut [0u8; 16]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => break,
            Ok(_) => return,
        }
    }
    for group in groups.iter().map(|group| group.load(Ordering::Relaxed)).filter(|group| *group > 1) {
        os::signal_group(group, libc::SIGKILL);
    }
    end_members(job_id);
}

/// Ends every process with the job's number in its environment, until there is none, except the caller.
pub(super) fn end_members(job_id: u64) {
    let mark = format!("{}={job_id:016x}\0", mpi_wireup::JOB_ID);
    // Processes that an ending process has started meanwhile are found in the next round; the rounds are limited in
    // case a process cannot be killed.
    for _ in 0..100 {
        let members = members(mark.as_bytes());
        if members.is_empty() {
            return;
        }
        for pid in members {
            os::signal_process(pid, libc::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn members(mark: &[u8]) -> Vec<i32> {
    let own = std::process::id() as i32;
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        // A zombie's environment reads as empty, so it does not count.
        *pid != own
            && fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|text| text.windows(mark.len()).any(|part| part == mark))
    })
    .collect()
}
