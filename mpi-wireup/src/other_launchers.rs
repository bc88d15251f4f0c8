//! Detection of other launchers by their environment variables, and how to reach them.
//!
//! Invariant: a process that any known launcher started as one of several is never treated as one that is alone.
//! Not here: the protocols of the launchers (`pmi`, `pmix`), our own launcher's variables (`wireup`).

use std::ffi::OsString;

use crate::error::{WireupError, number};

/// A launcher other than ours, and how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherLauncher {
    /// A PMI-1 server at the end of an inherited descriptor.
    Descriptor {
        /// `PMI_FD`.
        fd: i32,
        /// `PMI_RANK`, below `size`.
        rank: u32,
        /// `PMI_SIZE`, 2 at least, or 1 if a process of another job started this one.
        size: u32,
        /// A PMIx server, for the case that the descriptor is left over from a launcher further out.
        or: Option<Server>,
    },
    /// A PMI-1 server to connect to.
    Port {
        /// `PMI_PORT`, HOST:PORT.
        address: String,
        /// `PMI_ID`.
        id: u32,
    },
    /// A PMIx server.
    Pmix(Server),
}

/// A PMIx server, which its library finds by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// `PMIX_NAMESPACE`.
    pub namespace: String,
    /// `PMIX_RANK`.
    pub rank: u32,
}

/// Variable that is 1 in processes that a process of another job started.
pub(crate) const PMI_SPAWNED: &str = "PMI_SPAWNED";

type Get<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The launcher that the variables name; `None` for a process that is alone.
pub(crate) fn find(get: Get<'_>) -> Result<Option<OtherLauncher>, WireupError> {
    let server = pmix(get)?;
    if get("PMI_FD").is_some() {
        if let Some(other) = descriptor(get, server.clone())? {
            return Ok(Some(other));
        }
    } else if let Some(address) = get("PMI_PORT") {
        let rule = "it has to be HOST:PORT";
        let address = address.into_string().map_err(|value| WireupError::Invalid { name: "PMI_PORT", value, rule })?;
        let id = number(get, "PMI_ID", "it has to be the number of a process", |_| true)?;
        return Ok(Some(OtherLauncher::Port { address, id }));
    }
    match server {
        Some(server) => Ok(Some(OtherLauncher::Pmix(server))),
        None => silent(get).map_or(Ok(None), Err),
    }
}

/// A job of one process needs no launcher to be complete: then `None`.
fn descriptor(get: Get<'_>, or: Option<Server>) -> Result<Option<OtherLauncher>, WireupError> {
    let rule = "it has to be a number of processes, 1 or more";
    let size: u32 = number(get, "PMI_SIZE", rule, |size| *size > 0)?;
    if size == 1 && get(PMI_SPAWNED).is_none_or(|value| value != "1") {
        return Ok(None);
    }
    let fd = number(get, "PMI_FD", "it has to be a descriptor", |fd: &i32| *fd >= 0)?;
    let rank = number(get, "PMI_RANK", "it has to be a rank below PMI_SIZE", |rank| *rank < size)?;
    Ok(Some(OtherLauncher::Descriptor { fd, rank, size, or }))
}

fn pmix(get: Get<'_>) -> Result<Option<Server>, WireupError> {
    let (Some(namespace), Some(_)) = (get("PMIX_NAMESPACE"), get("PMIX_RANK")) else { return Ok(None) };
    let rule = "it has to be the name of a job";
    let namespace = namespace.into_string().ok().filter(|name| !name.is_empty() && name.len() < 256);
    let value = get("PMIX_NAMESPACE").unwrap_or_default();
    let namespace = namespace.ok_or(WireupError::Invalid { name: "PMIX_NAMESPACE", value, rule })?;
    let rank = number(get, "PMIX_RANK", "it has to be a rank", |rank| *rank < 1 << 24)?;
    Ok(Some(Server { namespace, rank }))
}

/// What to use instead of a launcher without PMI.
const OURS: &str = "use this library's mpiexec";
const SRUN: &str = "use srun --mpi=pmi2, or this library's mpiexec";

/// The variable by which a launcher shows that this process is one of several although it offers no PMI.
fn silent(get: Get<'_>) -> Option<WireupError> {
    // A Slurm allocation, and a batch script in it, have SLURM_NTASKS and even SLURM_PROCID without being one of
    // several tasks; only srun sets the number of a step's tasks.
    const SIZES: [(&str, &str); 5] = [
        ("PMI_SIZE", OURS),
        ("OMPI_COMM_WORLD_SIZE", OURS),
        ("SLURM_STEP_NUM_TASKS", SRUN),
        ("PALS_SIZE", OURS),
        ("MV2_COMM_WORLD_SIZE", OURS),
    ];
    for (name, instead) in SIZES {
        let Some(value) = get(name) else { continue };
        let alone = value.to_str().and_then(|text| text.trim().parse::<u64>().ok()).is_some_and(|n| n <= 1);
        if !alone {
            return Some(WireupError::Silent { name, value, instead });
        }
    }
    // Launchers that set no number of processes: the rank alone shows that there may be several.
    for (name, size) in [("PMIX_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE")] {
        if let Some(value) = get(name)
            && get(size).is_none()
        {
            return Some(WireupError::Silent { name, value, instead: OURS });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn read(variables: &[(&'static str, &str)]) -> Result<Option<OtherLauncher>, WireupError> {
        let map: HashMap<_, _> = variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect();
        find(&|name| map.get(name).cloned())
    }

    #[test]
    fn hydra_flux_and_slurm_hand_a_descriptor_down() {
        let place = [("PMI_FD", "9"), ("PMI_RANK", "1"), ("PMI_SIZE", "2"), ("SLURM_STEP_NUM_TASKS", "2")];
        assert_eq!(read(&place), Ok(Some(OtherLauncher::Descriptor { fd: 9, rank: 1, size: 2, or: None })));
    }

    #[test]
    fn hydra_can_have_a_port() {
        let port = OtherLauncher::Port { address: "h:1".into(), id: 3 };
        assert_eq!(read(&[("PMI_PORT", "h:1"), ("PMI_ID", "3")]), Ok(Some(port)));
        assert_eq!(read(&[("PMI_PORT", "h:1")]), Err(WireupError::Missing("PMI_ID")));
    }

    #[test]
    fn prrte_and_open_mpi_have_a_pmix_server() {
        let server = Server { namespace: "j@1".into(), rank: 0 };
        let both = [("PMIX_NAMESPACE", "j@1"), ("PMIX_RANK", "0")];
        assert_eq!(read(&both), Ok(Some(OtherLauncher::Pmix(server.clone()))));
        let inner = [("PMI_FD", "9"), ("PMI_RANK", "0"), ("PMI_SIZE", "1"), both[0], both[1]];
        assert_eq!(
            read(&inner),
            Ok(Some(OtherLauncher::Pmix(server.clone()))),
            "a step of one task may hold a job of several"
        );
        let either = [("PMI_FD", "9"), ("PMI_RANK", "0"), ("PMI_SIZE", "4"), both[0], both[1]];
        assert_eq!(read(&either), Ok(Some(OtherLauncher::Descriptor { fd: 9, rank: 0, size: 4, or: Some(server) })));
    }

    #[test]
    fn several_processes_without_a_way_to_meet_are_an_error_that_names_the_variable() {
        for (several, text) in [
            (&[("PMI_RANK", "0"), ("PMI_SIZE", "2")][..], "PMI_SIZE is \"2\""),
            (&[("OMPI_COMM_WORLD_SIZE", "3")], "OMPI_COMM_WORLD_SIZE"),
            (&[("SLURM_STEP_NUM_TASKS", "2")], "srun --mpi=pmi2"),
            (&[("PMIX_RANK", "1")], "PMIX_RANK"),
            (&[("PMI_RANK", "1")], "PMI_RANK"),
            (&[("PMI_SIZE", "nonsense")], "nonsense"),
            (&[("PMI_FD", "5")], "PMI_SIZE is not set"),
            (&[("PMI_FD", "x"), ("PMI_SIZE", "2")], "PMI_FD is \"x\""),
            (&[("PMI_FD", "5"), ("PMI_SIZE", "2"), ("PMI_RANK", "2")], "PMI_RANK is \"2\""),
            (&[("PMI_FD", "5"), ("PMI_SIZE", "0"), ("PMI_RANK", "0")], "PMI_SIZE is \"0\""),
            (&[("PMIX_NAMESPACE", ""), ("PMIX_RANK", "1")], "PMIX_NAMESPACE"),
            (&[("PMIX_NAMESPACE", "n"), ("PMIX_RANK", "4294967294")], "PMIX_RANK"),
        ] {
            let error = read(several).expect_err("no process is alone here").to_string();
            assert!(error.contains(text) && !error.contains('\n'), "{several:?}: {error}");
        }
    }

    #[test]
    fn one_process_is_alone_also_inside_an_allocation() {
        for alone in [
            &[][..],
            &[("PMI_RANK", "0"), ("PMI_SIZE", "1")],
            &[("PMI_FD", "9"), ("PMI_RANK", "0"), ("PMI_SIZE", "1")],
            // What Slurm sets in a shell of salloc, in a batch script and in an interactive step.
            &[("SLURM_NTASKS", "4"), ("SLURM_NPROCS", "4")],
            &[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0"), ("SLURM_LOCALID", "0")],
            &[
                ("SLURM_NTASKS", "4"),
                ("SLURM_PROCID", "0"),
                ("SLURM_STEP_ID", "4294967290"),
                ("SLURM_STEP_NUM_TASKS", "1"),
            ],
            &[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")],
        ] {
            assert_eq!(read(alone), Ok(None), "{alone:?}");
        }
    }
}
