//! A Slurm of one node, started for the test alone: its own key, ports and folder, stopped by process id.
//!
//! Invariant: when `check` returns, its daemons have ended and its folder is removed.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{Context, Endings, Expect, Programs, ends, is_there, spawns, words, works};
use crate::paths;
use crate::process;
use crate::test::Report;
use crate::tools;
use crate::{Failure, Result};

/// Time limit for the start of a daemon.
const START: Duration = Duration::from_secs(20);

pub(super) fn check(context: &Context, ours: &Programs, report: &mut Report) -> Result<()> {
    let slurm = match Slurm::start(context) {
        Ok(slurm) => slurm,
        Err(failure) => {
            report.skip("under Slurm's srun", &failure.to_string());
            return Ok(());
        }
    };
    let start = |ranks: usize, program: &str| {
        let mut command = slurm.command("srun");
        // -K: end the job when a rank fails, which srun does not do by itself.
        command.args(["--mpi=pmi2", "-K", "--overcommit", "-n", &ranks.to_string()]).arg(ours.get(program));
        command
    };
    works(report, "srun", ours, &start)?;
    ends(report, "srun", ours, &start, &Endings { abort: Expect::Failure, exit: Expect::Failure })?;
    // The processes that are spawned are a further step of the same job.
    let start_overlapping = |ranks: usize, program: &str| {
        let mut command = start(ranks, program);
        // Slurm's own srun, which starts them, inherits it.
        command.env("SLURM_OVERLAP", "1");
        command
    };
    spawns(report, "srun", &start_overlapping, &[1, 3])?;
    seen_from_outside(&slurm, context, report)?;
    let mut without = slurm.command("srun");
    let outcome = process::run(without.args(["--mpi=none", "-K", "-n", "2"]).arg(ours.get("job")), super::LIMIT)?;
    let message = words(&outcome.stderr);
    let named = !outcome.success() && message.contains("SLURM_STEP_NUM_TASKS") && message.contains("srun --mpi=pmi2");
    report.check("srun without PMI", named && !outcome.stdout.contains("size 1"), || outcome.report());
    Ok(())
}

/// `mpitop` shows a job that `srun` has started, by any of its processes.
fn seen_from_outside(slurm: &Slurm, context: &Context, report: &mut Report) -> Result<()> {
    const LINE: &str = "$S --mpi=pmi2 -K --overcommit -n 3 $L stuck $F & s=$!; n=0; \
        until p=$(pgrep -n -f -x \"$L stuck $F\") && $B/mpitop --once $p 2> /dev/null | grep -q 'MPI_Recv from rank 2'; do \
        n=$((n + 1)); test $n = 200 && break; sleep 0.1; done; \
        $B/mpitop --once $p; $B/mpitop --why $p; touch $F; wait $s; echo code $?; rm -f $F";
    let (bin, load) = (context.dist()?.join("bin"), slurm.folder.join("load"));
    let mut build = Command::new(bin.join("mpicc"));
    process::must(build.arg("-pthread").arg(paths::root().join("tests/observe/load.c")).arg("-o").arg(&load), START)?;
    let srun = slurm.command("srun").get_program().to_owned();
    let mut shell = slurm.command("sh");
    shell.args(["-c", LINE]).env("S", srun).env("L", &load).env("B", bin).env("F", slurm.folder.join("go"));
    let outcome = process::run(&mut shell, super::LIMIT)?;
    let shows = |text: &str| outcome.stdout.contains(text);
    let right = shows("3 ranks") && shows("MPI_Recv from rank 2 with tag 7") && shows("code 0") && shows("rank 2 ");
    report.check("srun, seen from outside", right, || outcome.report());
    Ok(())
}

/// The running daemons.
struct Slurm {
    folder: PathBuf,
}

impl Slurm {
    fn start(context: &Context) -> Result<Slurm> {
        if !tools::is_root() {
            return Err("only root can start Slurm's daemons".into());
        }
        for program in ["munged", "slurmctld", "slurmd"] {
            if !is_there(program) {
                // The package has all of them, and srun.
                let _ = tools::need(program, "slurm-wlm", context.install);
            }
            if !is_there(program) {
                return Err(format!("{program} is missing; it is in the package slurm-wlm").into());
            }
        }
        // Not below target/: names of sockets must be short.
        let folder = std::env::temp_dir().join(format!("ferrum-slurm-{}", std::process::id()));
        fs::create_dir_all(folder.join("state"))?;
        fs::create_dir_all(folder.join("spool"))?;
        let slurm = Slurm { folder };
        slurm.configure()?;
        slurm.munge()?;
        slurm.daemon("slurmctld")?;
        slurm.daemon("slurmd")?;
        slurm.wait_for_node()?;
        Ok(slurm)
    }

    fn configure(&self) -> Result<()> {
        let host = process::must(Command::new("hostname").arg("-s"), START)?.stdout.trim().to_owned();
        let folder = self.folder.display();
        let (control, node) = free_ports()?;
        let text = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmctldPort={control}\n\
             SlurmdPort={node}\nAuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\nCredType=cred/munge\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n\
             SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd.pid\n\
             SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n\
             ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSwitchType=switch/none\nSelectType=select/linear\n\
             MpiDefault=none\nReturnToService=2\nSlurmdParameters=config_overrides\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\nKillWait=2\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4 State=UP\n"
        );
        Ok(fs::write(self.folder.join("slurm.conf"), text)?)
    }

    fn munge(&self) -> Result<()> {
        use std::os::unix::fs::OpenOptionsExt;
        let key = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.folder.join("munge.key"));
        let mut random = std::io::Read::take(fs::File::open("/dev/urandom")?, 128);
        std::io::copy(&mut random, &mut key?)?;
        let option = |name: &str, file: &str| format!("--{name}={}", self.folder.join(file).display());
        let mut munged = self.command("munged");
        munged.arg("--force").arg(option("key-file", "munge.key")).arg(option("socket", "munge.socket"));
        munged.arg(option("pid-file", "munged.pid")).arg(option("log-file", "munged.log"));
        start_daemon(munged.arg(option("seed-file", "munge.seed")))
    }

    fn daemon(&self, name: &str) -> Result<()> {
        start_daemon(self.command(name).arg("-f").arg(self.folder.join("slurm.conf")))
    }

    fn wait_for_node(&self) -> Result<()> {
        let end = Instant::now() + START;
        loop {
            let outcome = process::run(self.command("sinfo").args(["-h", "-o", "%t"]), START)?;
            if outcome.success() && outcome.stdout.trim() == "idle" {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(Failure::from("the node does not come up").during("starting Slurm"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// A program of Slurm's, for this Slurm.
    fn command(&self, program: &str) -> Command {
        let folders = ["/usr/sbin", "/sbin", "/usr/local/sbin"].map(|folder| Path::new(folder).join(program));
        let path = folders.into_iter().find(|path| path.is_file()).unwrap_or_else(|| program.into());
        let mut command = Command::new(path);
        command.env("SLURM_CONF", self.folder.join("slurm.conf"));
        command
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for name in ["slurmd", "slurmctld", "munged"] {
            let Ok(text) = fs::read_to_string(self.folder.join(format!("{name}.pid"))) else { continue };
            if let Ok(pid) = text.trim().parse::<u32>() {
                end(pid);
            }
        }
        // Files that cannot be removed are in the system's folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Starts a program that goes into the background by itself; its output is not waited for, because its child processes
/// hold it open.
fn start_daemon(command: &mut Command) -> Result<()> {
    use std::process::Stdio;
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{:?} does not start: {status}", command.get_program()).into()),
        Err(error) => Err(format!("{:?} cannot be started: {error}", command.get_program()).into()),
    }
}

/// Ends a daemon, first with SIGTERM.
fn end(pid: u32) {
    let signal =
        |name: &str| drop(Command::new("sh").args(["-c", &format!("kill -{name} {pid} 2>/dev/null")]).status());
    let since = Instant::now();
    signal("TERM");
    while Path::new(&format!("/proc/{pid}")).exists() {
        if since.elapsed() > Duration::from_secs(10) {
            signal("KILL");
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Two ports that are free now.
fn free_ports() -> Result<(u16, u16)> {
    let (a, b) = (TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?);
    Ok((a.local_addr()?.port(), b.local_addr()?.port()))
}
