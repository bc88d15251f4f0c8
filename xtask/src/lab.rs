//! Several hosts on this machine, made of namespaces by `tests/hosts/lab.sh`.
//!
//! Invariant: they end with the value, or with this process. Not here: what runs on them (`test::hosts`, `bench::hosts`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::{Result, paths, process, tools};

/// Time limit of a command of the lab. Each has to end long before.
const LIMIT: Duration = Duration::from_secs(90);

/// Hosts, until it is dropped.
pub struct Lab {
    script: PathBuf,
    folder: PathBuf,
}

impl Lab {
    /// Makes so many hosts.
    pub fn start(name: &str, hosts: u32) -> Result<Lab> {
        let lab = Lab { script: paths::root().join("tests/hosts/lab.sh"), folder: paths::scratch("hosts").join(name) };
        lab.command(&["down"]).status()?;
        if let Some(parent) = lab.folder.parent() {
            fs::create_dir_all(parent)?;
        }
        // The hosts end with this process, also when it is killed.
        let owner = std::process::id().to_string();
        process::must(lab.command(&["up", &hosts.to_string()]).env("LAB_OWNER", owner), LIMIT)?;
        Ok(lab)
    }

    /// The program that makes the hosts.
    pub fn script(&self) -> &Path {
        &self.script
    }

    /// The folder with its state.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A command of the lab.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.script);
        command.arg(&self.folder).args(words);
        command
    }

    /// Starts Slurm over the hosts, after [`need_slurm`].
    pub fn start_slurm(&self) -> Result<()> {
        process::must(&mut self.command(&["slurm"]), LIMIT).map(drop)
    }

    /// Processes of jobs that are left on a host after a few seconds.
    pub fn left(&self, host: u32) -> Result<String> {
        let end = Instant::now() + Duration::from_secs(12);
        loop {
            let outcome = process::run(&mut self.command(&["left", &host.to_string()]), LIMIT)?;
            let others = |line: &&str| !line.contains("slurmscriptd");
            let left: Vec<&str> = outcome.stdout.lines().filter(others).collect();
            if left.is_empty() || Instant::now() > end {
                return Ok(left.join("\n"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Makes Slurm available. The error names a package that is missing.
pub fn need_slurm(may_install: bool) -> Result<()> {
    for (program, package) in [("srun", "slurm-wlm"), ("munged", "munge")] {
        if !Path::new("/usr/sbin").join(program).exists() {
            tools::need(program, package, may_install)?;
        }
    }
    Ok(())
}

impl Drop for Lab {
    fn drop(&mut self) {
        // What could not be ended is ended by the lab itself, when this process has ended.
        let _ = self.command(&["down"]).status();
    }
}
