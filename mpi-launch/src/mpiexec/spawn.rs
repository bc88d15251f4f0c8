//! Starting one rank.
//!
//! The child is made with `clone(CLONE_VM | CLONE_VFORK)`, as `posix_spawn` does: it shares the launcher's memory on a
//! stack of its own until it executes the program, so the cost of a start does not depend on the launcher's size, and
//! the child can report a failed `execve` in a variable. It differs from `posix_spawn` in the steps between the two
//! calls.
//!
//! Invariant: between `clone` and `execve` the child calls only the system; it neither allocates nor locks.
#![allow(unsafe_code)] // clone and what a child does before exec

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use super::environment;
use super::os::{self, Inherited, Mask};
use super::plan::Program;
use super::tools::Tools;
use crate::args::Options;

/// The common data of all ranks of a program.
pub(super) struct Template {
    path: CString,
    arguments: Vec<CString>,
    directory: Option<CString>,
    environment: Vec<CString>,
    inherited: Inherited,
    stack: Vec<u128>,
}

/// The data of one rank.
pub(super) struct Own<'a> {
    /// The variables of its place.
    pub(super) variables: &'a [(&'static str, String)],
    pub(super) stdio: Stdio<'a>,
    /// Further descriptors that stay open under their numbers.
    pub(super) handed_down: &'a [BorrowedFd<'a>],
    /// The core to run on, if one is chosen.
    pub(super) core: Option<usize>,
}

/// A rank's three standard streams.
#[derive(Clone, Copy)]
pub(super) struct Stdio<'a> {
    pub(super) input: BorrowedFd<'a>,
    pub(super) output: BorrowedFd<'a>,
    pub(super) error: BorrowedFd<'a>,
}

/// The data that the child reads, all of it made before `clone`.
struct Plan<'a> {
    path: *const libc::c_char,
    arguments: *const *const libc::c_char,
    environment: *const *const libc::c_char,
    /// `sh`, the path, the arguments: for a script that does not name its interpreter.
    shell_arguments: *const *const libc::c_char,
    /// The directory to start in, or null.
    directory: *const libc::c_char,
    stdio: [RawFd; 3],
    handed_down: &'a [RawFd],
    core: Option<&'a Mask>,
    inherited: &'a Inherited,
    launcher: libc::pid_t,
    /// Written by the child: 0, or why the program could not be executed.
    error: libc::c_int,
}

const STACK_WORDS: usize = (64 << 10) / size_of::<u128>();

impl Template {
    /// Prepares a program. Its environment is that of this process, changed by the options. `terminal`: its reports end on
    /// a terminal.
    pub(super) fn new(
        program: &Program<'_>,
        options: &Options,
        settings: &str,
        tools: &Tools,
        inherited: Inherited,
        terminal: bool,
    ) -> io::Result<Template> {
        let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
        let group = program.group;
        let arguments = std::iter::once(&*group.program).chain(group.arguments.iter().map(OsString::as_os_str));
        let mut environment =
            environment::of_program(std::env::vars_os(), group, program.ranks, options, settings, terminal);
        tools.apply(&mut environment);
        Ok(Template {
            path: text(program.file.as_os_str())?,
            arguments: arguments.map(text).collect::<io::Result<_>>()?,
            directory: group.wdir.as_ref().map(|directory| text(directory.as_os_str())).transpose()?,
            environment: environment.iter().map(|line| text(line)).collect::<io::Result<_>>()?,
            inherited,
            stack: vec![0; STACK_WORDS],
        })
    }

    /// Starts one rank; returns its process id, which is also its process group.
    pub(super) fn start(&mut self, own: &Own<'_>) -> io::Result<libc::pid_t> {
        let variables: Vec<CString> = own
            .variables
            .iter()
            .map(|(name, value)| CString::new(format!("{name}={value}")).map_err(io::Error::from))
            .collect::<io::Result<_>>()?;
        let environment: Vec<_> = pointers(self.environment.iter().chain(&variables));
        let arguments: Vec<_> = pointers(self.arguments.iter());
        let script = [c"sh".into(), self.path.clone()];
        let shell_arguments = pointers(script.iter().chain(&self.arguments[1..]));
        let handed_down: Vec<RawFd> = own.handed_down.iter().map(AsRawFd::as_raw_fd).collect();
        let core = own.core.map(os::mask_of);
        let stdio = &own.stdio;
        let mut plan = Plan {
            path: self.path.as_ptr(),
            arguments: arguments.as_ptr(),
            environment: environment.as_ptr(),
            shell_arguments: shell_arguments.as_ptr(),
            directory: self.directory.as_ref().map_or(std::ptr::null(), |directory| directory.as_ptr()),
            stdio: [stdio.input, stdio.output, stdio.error].map(|fd| fd.as_raw_fd()),
            handed_down: &handed_down,
            core: core.as_ref(),
            inherited: &self.inherited,
            // SAFETY: no arguments.
            launcher: unsafe { libc::getpid() },
            error: 0,
        };
        let plan_address = (&raw mut plan).cast::<libc::c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the stack is large enough, aligned, and grows down from its end; the parent does not run, so does not
        // touch stack or plan, until the child has executed or ended; all that the plan points to is valid until then.
        let (pid, error) = unsafe {
            let pid = libc::clone(child, self.stack.as_mut_ptr().add(STACK_WORDS).cast(), flags, plan_address);
            (pid, plan_address.cast::<Plan<'_>>().read_volatile().error)
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        if error != 0 {
            // SAFETY: our own child, which has ended; its status is not used.
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
        for fd in plan.handed_down {
            libc::fcntl(*fd, libc::F_SETFD, 0);
        }
        if let Some(mask) = plan.core {
            // The core may not be available any more; then the system chooses.
            libc::sched_setaffinity(0, size_of_val(mask), mask.as_ptr().cast());
        }
        if !plan.directory.is_null() && libc::chdir(plan.directory) != 0 {
            return fail(plan);
        }
        libc::setrlimit(libc::RLIMIT_NOFILE, &plan.inherited.open_files);
        // Rust ignores SIGPIPE; the program starts with the default.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, &plan.inherited.signals, std::ptr::null_mut());
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
