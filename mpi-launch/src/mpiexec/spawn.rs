//! Starting one rank.
//!
//! The child is made with `clone(CLONE_VM | CLONE_VFORK)`, as `posix_spawn` does it: it borrows the launcher's memory on
//! a stack of its own until it executes the program, so starting costs the same however large the launcher is, and the
//! child can report a failed `execve` in a variable. It differs from `posix_spawn` in what it does in between.
//!
//! Invariant: between `clone` and `execve` the child calls only the system; it neither allocates nor locks.
#![allow(unsafe_code)] // clone and what a child does before exec

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What all ranks of a job have in common.
pub(super) struct Template {
    path: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    job_memory: Option<RawFd>,
    signals: libc::sigset_t,
    open_files: libc::rlimit,
    stack: Vec<u128>,
}

/// A rank's three standard streams.
#[derive(Clone, Copy)]
pub(super) struct Stdio<'a> {
    pub(super) input: BorrowedFd<'a>,
    pub(super) output: BorrowedFd<'a>,
    pub(super) error: BorrowedFd<'a>,
}

/// What the child reads, all of it made before `clone`.
struct Plan<'a> {
    path: *const libc::c_char,
    arguments: *const *const libc::c_char,
    environment: *const *const libc::c_char,
    /// `sh`, the path, the arguments: for a script that does not name its interpreter.
    shell_arguments: *const *const libc::c_char,
    stdio: [RawFd; 3],
    job_memory: RawFd,
    signals: &'a libc::sigset_t,
    open_files: &'a libc::rlimit,
    launcher: libc::pid_t,
    /// Written by the child: 0, or why the program could not be executed.
    error: libc::c_int,
}

const STACK_WORDS: usize = (64 << 10) / size_of::<u128>();

impl Template {
    /// Prepares a job. `signals` is the mask and `open_files` the limit that the programs get; the environment is this
    /// process's.
    pub(super) fn new(
        path: &Path,
        program: &OsStr,
        arguments: &[OsString],
        job_memory: Option<BorrowedFd<'_>>,
        signals: libc::sigset_t,
        open_files: libc::rlimit,
    ) -> io::Result<Template> {
        let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
        let arguments = std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str));
        let mut environment = Vec::new();
        for (name, value) in std::env::vars_os() {
            // A rank's place is set for each; an outer job's must not shine through.
            let place = [crate::wireup::JOB_FD, crate::wireup::JOB_ID, crate::wireup::RANK, crate::wireup::SIZE];
            if !place.iter().any(|own| name == *own) {
                let mut line = name;
                line.push("=");
                line.push(value);
                environment.push(text(&line)?);
            }
        }
        Ok(Template {
            path: text(path.as_os_str())?,
            arguments: arguments.map(text).collect::<io::Result<_>>()?,
            environment,
            job_memory: job_memory.map(|fd| fd.as_raw_fd()),
            signals,
            open_files,
            stack: vec![0; STACK_WORDS],
        })
    }

    /// Starts one rank, with variables of its own; returns its process id, which is also its process group.
    pub(super) fn start(&mut self, own: &[(&'static str, String)], stdio: Stdio<'_>) -> io::Result<libc::pid_t> {
        let own: Vec<CString> = own
            .iter()
            .map(|(name, value)| CString::new(format!("{name}={value}")).map_err(io::Error::from))
            .collect::<io::Result<_>>()?;
        let environment: Vec<_> = pointers(self.environment.iter().chain(&own));
        let arguments: Vec<_> = pointers(self.arguments.iter());
        let script = [c"sh".into(), self.path.clone()];
        let shell_arguments = pointers(script.iter().chain(&self.arguments[1..]));
        let mut plan = Plan {
            path: self.path.as_ptr(),
            arguments: arguments.as_ptr(),
            environment: environment.as_ptr(),
            shell_arguments: shell_arguments.as_ptr(),
            stdio: [stdio.input, stdio.output, stdio.error].map(|fd| fd.as_raw_fd()),
            job_memory: self.job_memory.unwrap_or(-1),
            signals: &self.signals,
            open_files: &self.open_files,
            // SAFETY: no arguments.
            launcher: unsafe { libc::getpid() },
            error: 0,
        };
        let plan_address = (&raw mut plan).cast::<libc::c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the stack is large enough, aligned, and grows down from its end; the parent does not run, so does not
        // touch stack or plan, until the child has executed or ended; all that the plan points to lives until then.
        let (pid, error) = unsafe {
            let pid = libc::clone(child, self.stack.as_mut_ptr().add(STACK_WORDS).cast(), flags, plan_address);
            (pid, plan_address.cast::<Plan<'_>>().read_volatile().error)
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        if error != 0 {
            // SAFETY: our own child, which has ended; nobody needs its status.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            return Err(io::Error::from_raw_os_error(error));
        }
        Ok(pid)
    }
}

/// A null-terminated array of C strings.
fn pointers<'a>(strings: impl Iterator<Item = &'a CString>) -> Vec<*const libc::c_char> {
    strings.map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

extern "C" fn child(plan: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `start` passes a live plan, and waits.
    let plan = unsafe { &mut *plan.cast::<Plan<'_>>() };
    // SAFETY: system calls on what the plan holds, which is all valid (see `start`).
    unsafe {
        libc::setpgid(0, 0);
        // The kernel ends this process when the launcher ends in any way.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != plan.launcher {
            libc::_exit(1);
        }
        for (number, fd) in plan.stdio.iter().enumerate() {
            if libc::dup2(*fd, number as libc::c_int) < 0 {
                return fail(plan);
            }
        }
        if plan.job_memory >= 0 {
            libc::fcntl(plan.job_memory, libc::F_SETFD, 0);
        }
        libc::setrlimit(libc::RLIMIT_NOFILE, plan.open_files);
        // Rust ignores SIGPIPE; the program starts with the default.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, plan.signals, std::ptr::null_mut());
        libc::execve(plan.path, plan.arguments, plan.environment);
        if *libc::__errno_location() == libc::ENOEXEC {
            libc::execve(c"/bin/sh".as_ptr(), plan.shell_arguments, plan.environment);
        }
    }
    fail(plan)
}

fn fail(plan: &mut Plan<'_>) -> libc::c_int {
    // SAFETY: the calling thread's own error number.
    plan.error = unsafe { *libc::__errno_location() };
    // SAFETY: ends the child without running anything of the parent's.
    unsafe { libc::_exit(127) }
}
