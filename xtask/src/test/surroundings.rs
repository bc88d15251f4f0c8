//! `mpiexec` in restricted surroundings: as root and as the user nobody, with few processes, without /dev/shm, network, temporary files or
//! standard input, on a read-only file system, with little memory, a long path, many ranks.
//!
//! Namespaces and control groups of this test create the surroundings; those that the machine does not allow are
//! skipped.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Report, network};
use crate::process::Outcome;
use crate::{Result, process, tools};

const LIMIT: Duration = Duration::from_secs(120);

/// Name, the shell line that creates the surroundings (run by `unshare`; it must end with `exec "$@"`), and its
/// namespaces.
const PLACES: [(&str, &str, &[&str]); 5] = [
    ("no /dev/shm", "mount -t tmpfs -o ro,size=4k none /dev/shm && exec \"$@\"", &["-m"]),
    ("no network", "exec \"$@\"", &["-n"]),
    (
        "no temporary files",
        "unset TMPDIR; mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && exec \"$@\"",
        &["-m"],
    ),
    (
        "read-only file system",
        "unset TMPDIR; mount -o remount,bind,ro / && ! touch /x 2>/dev/null && exec \"$@\"",
        &["-m"],
    ),
    ("no /proc", "mount -t tmpfs -o ro,size=4k none /proc && exec \"$@\"", &["-m"]),
];

const MORE_PROCESSES: &str =
    "; start fewer ranks, or raise the limit of processes (ulimit -u, or pids.max of the control group)";

const NO_THREAD_FOR_NETWORK: &str = "no thread for the ends of processes on other hosts";

/// Name, most processes and threads, line of bash, exit code, and what it writes on standard error.
const FEW_PROCESSES: [(&str, u32, &str, i32, &str); 4] = [
    ("no process for the guard", 1, "exec \"$M\" -n 2 \"$P/size\"", 1, MORE_PROCESSES),
    ("no process for a rank", 4, "exec \"$M\" -n 6 \"$P/size\"", 1, MORE_PROCESSES),
    (
        "no thread for the progress of collectives",
        4,
        "exec \"$M\" -n 2 --cvar coll_progress_thread=on \"$P/size\" ibarrier",
        39, // MPI_ERR_NO_MEM
        "Set coll_progress_thread=off, or allow more threads (ulimit -u).",
    ),
    (
        NO_THREAD_FOR_NETWORK,
        4,
        "FERRUM_NET_FORCE=all exec \"$M\" -n 2 \"$P/size\"",
        0,
        "; this process finds the end of a process on another host only when it sends to that process, and a receive from it may \
         wait for ever\n",
    ),
];

/// All surroundings; `folder` holds the compiled programs.
pub fn suite(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let places = Places { mpiexec: dist.join("bin/mpiexec"), folder: folder.to_owned() };
    places.everywhere(report)?;
    places.unshared(report)?;
    places.little_memory(report)?;
    places.few_processes(report)?;
    places.as_nobody(report)
}

struct Places {
    mpiexec: PathBuf,
    folder: PathBuf,
}

impl Places {
    /// Surroundings that need no special rights.
    fn everywhere(&self, report: &mut Report) -> Result<()> {
        let closed = self.run(&mut self.shell("exec \"$M\" -n 2 \"$P/size\" <&-"))?;
        report.check("standard input closed", prints(&closed, "size 2"), || closed.report());
        let deep = self.folder.join(format!("{}/{}", "d".repeat(99), "e".repeat(101)));
        fs::create_dir_all(&deep)?;
        fs::copy(self.folder.join("size"), deep.join("size"))?;
        let long = self.run(Command::new(&self.mpiexec).args(["-n", "2", "./size"]).current_dir(&deep))?;
        report.check("path of 200 characters", prints(&long, "size 2"), || long.report());
        let bare = self.run(Command::new(&self.mpiexec).args(["-n", "2"]).arg(self.folder.join("size")).env_clear())?;
        report.check("no environment", prints(&bare, "size 2"), || bare.report());
        match tools::free_megabytes() {
            Some(free) if free < 2000 => report.skip("200 ranks", &format!("{free} MB of memory are free")),
            _ if !report.selects("200 ranks") => {}
            _ => {
                let many = self.run(&mut self.shell("exec \"$M\" -n 200 \"$P/size\""))?;
                report.check("200 ranks", prints(&many, "size 200"), || many.report());
            }
        }
        Ok(())
    }

    fn unshared(&self, report: &mut Report) -> Result<()> {
        for (name, make, namespaces) in PLACES {
            if !report.selects(name) {
                continue;
            }
            let place = |line: &str| {
                let mut command = Command::new("unshare");
                command.args(namespaces).args(["sh", "-c", make, "sh", "sh", "-c", line]);
                command.env("M", &self.mpiexec).env("P", &self.folder).current_dir("/");
                command
            };
            match process::run(&mut place("true"), LIMIT) {
                Ok(outcome) if outcome.success() => {}
                Ok(outcome) => {
                    report.skip(name, &format!("the machine does not allow it: {}", outcome.stderr.trim()));
                    continue;
                }
                Err(failure) => {
                    report.skip(name, &failure.to_string());
                    continue;
                }
            }
            let outcome =
                self.run(&mut place("\"$M\" -n 3 \"$P/size\" && ! \"$M\" -n 2 sh -c 'exit 9' 2>/dev/null"))?;
            report.check(name, prints(&outcome, "size 3"), || outcome.report());
        }
        Ok(())
    }

    fn as_nobody(&self, report: &mut Report) -> Result<()> {
        if !report.selects("as nobody") {
            return Ok(());
        }
        if !tools::is_root() {
            report.skip("as nobody", "only root can become another user");
            return Ok(());
        }
        let all = Copies::new(&self.mpiexec, &self.folder.join("size"))?;
        let mut command = Command::new(all.0.join("bin/mpiexec"));
        command.args(["-n", "2"]).arg(all.0.join("size")).env("LD_LIBRARY_PATH", &all.0).current_dir("/");
        command.uid(65534);
        let outcome = self.run(&mut command)?;
        report.check("as nobody", prints(&outcome, "size 2"), || outcome.report());
        Ok(())
    }

    /// Limits of processes and threads, which the kernel counts together. It does not limit root, who becomes a user without
    /// other processes.
    fn few_processes(&self, report: &mut Report) -> Result<()> {
        let all = Copies::new(&self.mpiexec, &self.folder.join("size"))?;
        for (name, most, line, code, text) in FEW_PROCESSES {
            if !report.selects(name) {
                continue;
            }
            if most > 1 && !tools::is_root() {
                report.skip(name, "only root can become a user without other processes");
                continue;
            }
            if name == NO_THREAD_FOR_NETWORK && network::skips_without_libfabric(name, report) {
                continue;
            }
            let mut command = Command::new("bash");
            command.args(["-c", &format!("ulimit -u {most}; {line}")]).current_dir("/");
            command.env("M", all.0.join("bin/mpiexec")).env("P", &all.0).env("LD_LIBRARY_PATH", &all.0);
            if tools::is_root() {
                command.uid(20_000 + std::process::id() % 40_000);
            }
            let outcome = self.run(&mut command)?;
            let good = outcome.status.code() == Some(code) && outcome.stderr.contains(text);
            report.check(name, good, || outcome.report());
        }
        Ok(())
    }

    /// A control group of 64 MB.
    fn little_memory(&self, report: &mut Report) -> Result<()> {
        const NAMES: [&str; 3] = ["64 MB of memory", "64 MB for 200 ranks", "a rank that takes all memory"];
        let group = match Group::new(64) {
            Ok(group) => group,
            Err(why) => {
                NAMES.iter().for_each(|name| report.skip(name, &why));
                return Ok(());
            }
        };
        let inside = |line: &str| {
            let mut command = self.shell(&format!("echo $$ > \"$G/cgroup.procs\" && {line}"));
            command.env("G", &group.0);
            command
        };
        let few = self.run(&mut inside("exec \"$M\" -n 4 \"$P/size\""))?;
        report.check(NAMES[0], prints(&few, "size 4"), || few.report());
        let many = self.run(&mut inside("exec \"$M\" -n 200 \"$P/size\""))?;
        let refused = many.status.code() == Some(1) && many.stderr.contains("64 MB is the limit");
        report.check(NAMES[1], refused, || many.report());
        let hungry = self.run(&mut inside("exec \"$M\" -n 2 \"$P/hungry\""))?;
        let reported = hungry.status.code() == Some(137) && hungry.stderr.contains("no memory left");
        // The kernel chooses the process that it ends; if that is mpiexec, no report is written.
        match std::os::unix::process::ExitStatusExt::signal(&hungry.status) {
            Some(_) => report.skip(NAMES[2], "the kernel ended mpiexec"),
            None => report.check(NAMES[2], reported, || hungry.report()),
        }
        Ok(())
    }

    fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]).env("M", &self.mpiexec).env("P", &self.folder);
        command
    }

    fn run(&self, command: &mut Command) -> Result<Outcome> {
        process::run(command, LIMIT)
    }
}

/// Copies of programs in a folder that every user can enter, removed at the end; other folders on the way to them may be closed.
struct Copies(PathBuf);

impl Copies {
    /// Copies `mpiexec`, its library and a program.
    fn new(mpiexec: &Path, program: &Path) -> Result<Copies> {
        let folder = std::env::temp_dir().join(format!("ferrum-nobody-{}", std::process::id()));
        fs::create_dir_all(folder.join("bin"))?;
        let copies = Copies(folder);
        let folder = &copies.0;
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        fs::copy(mpiexec, folder.join("bin/mpiexec"))?;
        fs::copy(program, folder.join(program.file_name().unwrap_or_default()))?;
        fs::copy(mpiexec.with_file_name("../lib/libmpi_abi.so.1"), folder.join("libmpi_abi.so.1"))?;
        Ok(copies)
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        // What is left lies in a folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A control group that is removed at the end.
struct Group(PathBuf);

impl Group {
    /// Creates one with a limit of so many megabytes, of either version; else returns the reason.
    fn new(megabytes: u64) -> std::result::Result<Group, String> {
        let name = format!("ferrum-test-{}", std::process::id());
        let top = Path::new("/sys/fs/cgroup");
        let (parent, file) = if top.join("memory/memory.limit_in_bytes").exists() {
            (top.join("memory"), "memory.limit_in_bytes")
        } else {
            (top.to_owned(), "memory.max")
        };
        let group = Group(parent.join(name));
        let limit = || {
            fs::create_dir(&group.0)?;
            if !group.0.join(file).exists() {
                return Err(std::io::Error::other("this machine does not limit the memory of control groups"));
            }
            fs::write(group.0.join(file), (megabytes << 20).to_string())
        };
        limit().map_err(|error| format!("no control group can be made: {error}"))?;
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last process may take a moment to leave it.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn prints(outcome: &Outcome, text: &str) -> bool {
    outcome.success() && outcome.stdout.lines().any(|line| line == text)
}
