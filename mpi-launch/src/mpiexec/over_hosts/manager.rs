//! The launcher that starts one proxy on each host: Slurm's `srun`, PRRTE's `prterun`, or Hydra.
//!
//! Invariant: the command line has no secret; the launcher gets that in its environment, and passes it on in its own
//! protocol. Not here: how the launcher's process is watched (`front`).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::super::refusal::Refusal;
use super::PROXY;
use crate::args::{Manager, ManagerKind};

/// Option of `mpiexec` as a proxy; the variable after it has the proxy's place among the hosts.
pub(in crate::mpiexec) const SERVE_HOST: &str = "--serve-host";

/// A launcher that was found.
#[derive(Debug, PartialEq)]
pub(super) struct Starter {
    kind: ManagerKind,
    program: PathBuf,
}

impl ManagerKind {
    /// The name of the program.
    fn program(self) -> &'static str {
        match self {
            ManagerKind::Srun => "srun",
            ManagerKind::Prterun => "prterun",
            ManagerKind::Hydra => "mpiexec.hydra",
        }
    }

    /// The variable by which a proxy finds its place.
    fn place(self) -> &'static str {
        match self {
            // Slurm sorts the hosts of a step.
            ManagerKind::Srun => "SLURMD_NODENAME",
            ManagerKind::Prterun => "PMIX_RANK",
            ManagerKind::Hydra => "PMI_RANK",
        }
    }
}

impl Starter {
    /// The launcher that is requested; else inside a Slurm allocation `srun`, else `prterun`, else Hydra, as far as they
    /// are found. `find` searches a name in `PATH`.
    pub(super) fn choose(
        requested: Option<&Manager>,
        in_allocation: bool,
        find: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> Result<Starter, Refusal> {
        let found = |kind: ManagerKind| find(kind.program()).map(|program| Starter { kind, program });
        match requested {
            Some(Manager { kind, program: Some(program) }) => Ok(Starter { kind: *kind, program: program.clone() }),
            Some(Manager { kind, program: None }) => found(*kind).ok_or(Refusal::NoManager(kind.program())),
            None => {
                let slurm = in_allocation.then(|| found(ManagerKind::Srun)).flatten();
                let other = || found(ManagerKind::Prterun).or_else(|| found(ManagerKind::Hydra));
                slurm.or_else(other).ok_or(Refusal::NoManagers)
            }
        }
    }

    /// What to look at when it does not reach a host; `None`: its own message is all.
    pub(super) fn advice(&self) -> Option<&'static str> {
        match self.kind {
            ManagerKind::Srun => None,
            ManagerKind::Prterun => Some(
                "prterun uses ssh, or the command in PRTE_MCA_plm_ssh_agent: `ssh HOST true` has to end without a question, \
                 and prted has to be in PATH there",
            ),
            ManagerKind::Hydra => Some(
                "Hydra uses ssh, or the command in HYDRA_LAUNCHER_EXEC: `ssh HOST true` has to end without a question, and \
                 Hydra and this mpiexec have to be at the same paths there",
            ),
        }
    }

    /// Whether it starts proxies on the hosts of an allocation only.
    pub(super) fn is_slurm(&self) -> bool {
        self.kind == ManagerKind::Srun
    }

    /// The command that starts a proxy, the program `own`, on each of the hosts.
    pub(super) fn command(&self, hosts: &[String], own: &Path, root: bool) -> Vec<OsString> {
        let count = hosts.len().to_string();
        let list = hosts.join(",");
        let mut words: Vec<OsString> = vec![self.program.clone().into()];
        let mut add = |parts: &[&str]| words.extend(parts.iter().map(OsString::from));
        match self.kind {
            ManagerKind::Srun => {
                let (nodes, tasks) = (format!("--nodes={count}"), format!("--ntasks={count}"));
                add(&[
                    &nodes,
                    &tasks,
                    "--ntasks-per-node=1",
                    &format!("--nodelist={list}"),
                    "--mpi=none",
                    "--export=ALL",
                ]);
                // The ranks of a host share all that the allocation has there with other steps.
                add(&[
                    "--overlap",
                    "--overcommit",
                    "--cpu-bind=none",
                    "--mem=0",
                    "--kill-on-bad-exit=0",
                    "--input=none",
                ]);
            }
            ManagerKind::Prterun => {
                let entries: Vec<String> = hosts.iter().map(|host| format!("{host}:1")).collect();
                if root {
                    add(&["--allow-run-as-root"]);
                }
                add(&["--host", &entries.join(","), "-n", &count, "--map-by", "ppr:1:node", "--bind-to", "none"]);
                add(&["-x", PROXY]);
            }
            ManagerKind::Hydra => add(&["-hosts", &list, "-n", &count, "-ppn", "1", "-genvlist", PROXY]),
        }
        words.push(own.into());
        words.extend([SERVE_HOST, self.kind.place()].map(OsString::from));
        words
    }
}

/// A program in `PATH`.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::var_os("PATH")?;
    let is_program = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(is_program)
}

/// A command as a shell would read it.
pub(super) fn shown(words: &[OsString]) -> String {
    let plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte))
    };
    let word = |word: &OsString| {
        let text = OsStr::to_string_lossy(word);
        if plain(&text) { text.into_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(requested: Option<ManagerKind>, in_allocation: bool, there: &[&str]) -> Result<ManagerKind, String> {
        let requested = requested.map(|kind| Manager { kind, program: None });
        let find = |name: &str| there.contains(&name).then(|| PathBuf::from(format!("/bin/{name}")));
        Starter::choose(requested.as_ref(), in_allocation, &find)
            .map(|starter| starter.kind)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_surroundings_choose_the_launcher_unless_the_user_does() {
        let all = ["srun", "prterun", "mpiexec.hydra"];
        assert_eq!(choose(None, true, &all), Ok(ManagerKind::Srun));
        assert_eq!(choose(None, false, &all), Ok(ManagerKind::Prterun));
        assert_eq!(choose(None, true, &all[2..]), Ok(ManagerKind::Hydra));
        assert_eq!(choose(Some(ManagerKind::Hydra), true, &all), Ok(ManagerKind::Hydra));
        let none = choose(None, false, &all[..1]).unwrap_err();
        assert!(none.contains("mpich") && none.contains("prrte") && !none.contains('\n'), "{none}");
        assert!(choose(Some(ManagerKind::Srun), false, &[]).unwrap_err().contains("srun"));
    }

    #[test]
    fn a_command_names_all_hosts_and_the_place() {
        let hosts = ["a".to_owned(), "b".to_owned()];
        for (kind, texts) in [
            (ManagerKind::Srun, &["--nodelist=a,b", "--ntasks=2", "--serve-host SLURMD_NODENAME"][..]),
            (ManagerKind::Prterun, &["--host a:1,b:1", "-n 2", "-x FERRUM_PROXY", "--serve-host PMIX_RANK"]),
            (ManagerKind::Hydra, &["-hosts a,b", "-n 2", "-ppn 1", "--serve-host PMI_RANK"]),
        ] {
            let command = Starter { kind, program: "/x/y z".into() }.command(&hosts, Path::new("/bin/mpiexec"), false);
            let text = shown(&command);
            assert!(text.starts_with("'/x/y z' ") && texts.iter().all(|part| text.contains(part)), "{text}");
        }
    }
}
