//! The environment of a started process: its place in a job of our own launcher, in a job of another launcher, or
//! alone.
//!
//! Invariant: a process that some launcher started as one of several never becomes a world of its own in silence.
//! Not here: the variables of other launchers (`other_launchers`), sharing memory under them (`rendezvous`).

use std::ffi::OsString;
use std::sync::Arc;

use mpi_fabric::layout::MAX_RANKS;
use mpi_fabric::{Attachment, rank_list};
use mpi_pmpi::records;

use crate::error::{WireupError, number};
use crate::hosts::{OverHosts, secret_of};
use crate::launcher::{Launcher, LauncherError};
use crate::manager::Manager;
use crate::other_launchers::{self, OtherLauncher};
use crate::spawn_request::{PARENT, PARENT_PORT};
use crate::{host_info, pmi, pmix, rendezvous, time_limit};

/// Descriptor of the job memory, decimal.
pub const JOB_FD: &str = "FERRUM_JOB_FD";
/// Number of the job, 16 hexadecimal digits.
pub const JOB_ID: &str = "FERRUM_JOB_ID";
/// This process's rank, decimal.
pub const RANK: &str = "FERRUM_RANK";
/// Number of ranks, decimal.
pub const SIZE: &str = "FERRUM_SIZE";
/// Number of this process's program among those of the job, decimal, from 0; without it 0.
pub const APPNUM: &str = "FERRUM_APPNUM";

/// In a job of our launcher with several hosts: the ranks of this host in the order of their places in its job memory, such
/// as `0, 2-4`. Its rank and size are those of the whole job then.
pub const HOST_RANKS: &str = "FERRUM_HOST_RANKS";
/// In such a job: number of this host, from 0, and how many there are, such as `0/2`.
pub const HOSTS: &str = "FERRUM_HOSTS";
/// In such a job: its secret, 32 hexadecimal digits, which the ranks prove to each other when they connect.
pub const NET_SECRET: &str = "FERRUM_NET_SECRET";
/// The launcher by which `mpiexec` reaches other hosts.
pub const MANAGER: &str = "FERRUM_MANAGER";
/// Where a proxy of `mpiexec` on another host finds it, and the secret by which they recognise each other.
pub const PROXY: &str = "FERRUM_PROXY";

/// The initial error handler; `mpiexec --initial-errhandler` sets it.
pub const INITIAL_ERRHANDLER: &str = "FERRUM_INITIAL_ERRHANDLER";

/// Environment variables that the library reads beside those of control variables.
pub const RESERVED: &[&str] = &[
    INITIAL_ERRHANDLER,
    JOB_FD,
    JOB_ID,
    RANK,
    SIZE,
    APPNUM,
    HOST_RANKS,
    HOSTS,
    NET_SECRET,
    MANAGER,
    PROXY,
    PARENT,
    INFO_ENV_VARIABLES[0].1,
    INFO_ENV_VARIABLES[1].1,
    INFO_ENV_VARIABLES[2].1,
    INFO_ENV_VARIABLES[3].1,
    INFO_ENV_VARIABLES[4].1,
    mpi_t::SETTINGS,
    mpi_t::SETTINGS_READ,
    time_limit::LAUNCHER_TIMEOUT,
    crate::spawner::MPIEXEC,
    pmix::LIBRARY,
    records::TOOLS,
    records::PROFILE_FD,
    records::TIMELINE_FD,
    records::CALLS_FILE,
    DEBUGGER_GATE,
];

/// The options of `mpiexec` with which the program was started: keys of `MPI_INFO_ENV` (MPI-4.1, 11.2.1) and the
/// variables that hold their values, where there are any.
pub const INFO_ENV_VARIABLES: [(&str, &str); 5] = [
    ("maxprocs", "FERRUM_INFO_MAXPROCS"),
    ("soft", "FERRUM_INFO_SOFT"),
    ("host", "FERRUM_INFO_HOST"),
    ("arch", "FERRUM_INFO_ARCH"),
    ("file", "FERRUM_INFO_FILE"),
];

/// Variable that makes `MPI_Init` wait until a debugger has set `MPIR_debug_gate`.
pub const DEBUGGER_GATE: &str = "FERRUM_DEBUGGER_GATE";

/// Whether only launchers set a variable: those of the place of a process, and of values that the launcher has read for
/// it.
pub fn is_reserved(name: &std::ffi::OsStr) -> bool {
    let options = INFO_ENV_VARIABLES.iter().map(|(_, variable)| variable);
    let read = [mpi_t::SETTINGS_READ, mpi_t::CVARS_READ, records::PROFILE_FD, records::TIMELINE_FD];
    [JOB_FD, JOB_ID, RANK, SIZE, APPNUM, HOST_RANKS, HOSTS, NET_SECRET, PROXY, PARENT, DEBUGGER_GATE]
        .iter()
        .chain(options)
        .chain(&read)
        .any(|own| name == *own)
}

/// How a process was started, by its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// Without a launcher.
    Alone,
    /// Our launcher did; this is its place.
    Ours(Attachment),
    /// Another launcher did, as one of several.
    OtherLauncher(OtherLauncher),
}

/// A process's place in a job.
pub struct Joined {
    /// Its rank, and the job's memory.
    pub attachment: Attachment,
    /// The launcher, if that is not ours.
    pub manager: Option<Arc<Manager>>,
    /// Those of its ranks that share the memory, if not all do.
    pub over: Option<OverHosts>,
    /// The name of the port of the process that spawned this job, if one did.
    pub parent: Option<String>,
}

/// The place of this process in a job by its environment; `None` for a process without a launcher. Under
/// another launcher this is collective: it waits until all processes of the job have called it; rank 0
/// makes the job memory, with rings of this length. To be called once.
/// # Errors
/// See [`WireupError`].
pub fn from_environment(ring_bytes: Option<usize>) -> Result<Option<Joined>, WireupError> {
    let get = |name: &str| std::env::var_os(name);
    match from_variables(&get)? {
        Started::Alone => Ok(None),
        Started::Ours(attachment) => {
            let over = over_hosts(&get, &attachment)?;
            Ok(Some(Joined { attachment, manager: None, over, parent: parent_port(get(PARENT))? }))
        }
        Started::OtherLauncher(other) => join(&other, &get, ring_bytes).map(Some),
    }
}

/// The same for any set of variables, without any effect.
/// # Errors
/// See [`WireupError`].
pub fn from_variables(get: &dyn Fn(&str) -> Option<OsString>) -> Result<Started, WireupError> {
    if [JOB_FD, JOB_ID, RANK, SIZE].iter().all(|name| get(name).is_none()) {
        return Ok(other_launchers::find(get)?.map_or(Started::Alone, Started::OtherLauncher));
    }
    let fd = number(get, JOB_FD, "it has to be a descriptor", |fd: &i32| *fd >= 0)?;
    let size = number(get, SIZE, "it has to be a number of ranks from 1 to 8192", |n| (1..=MAX_RANKS).contains(n))?;
    let rank = number(get, RANK, "it has to be a rank below FERRUM_SIZE", |rank| *rank < size)?;
    let rule = "it has to be the number of one of the job's programs";
    let appnum = if get(APPNUM).is_some() { number(get, APPNUM, rule, |n| *n < size)? } else { 0 };
    let value = get(JOB_ID).ok_or(WireupError::Missing(JOB_ID))?;
    let digits = value.to_str().filter(|text| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit()));
    let job_id = digits.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or(WireupError::Invalid {
        name: JOB_ID,
        value,
        rule: "it has to be 16 hexadecimal digits",
    })?;
    Ok(Started::Ours(Attachment { fd, job_id, rank, size, appnum }))
}

/// The ranks of this host of a job of our launcher on several hosts.
fn over_hosts(
    get: &dyn Fn(&str) -> Option<OsString>,
    attachment: &Attachment,
) -> Result<Option<OverHosts>, WireupError> {
    let Some(value) = get(HOSTS) else { return Ok(None) };
    let place = |value: &OsString| {
        let (host, hosts) = value.to_str()?.split_once('/')?;
        let (host, hosts): (u32, u32) = (host.parse().ok()?, hosts.parse().ok()?);
        (host < hosts).then_some(hosts)
    };
    let rule = "it has to be the number of a host and how many there are, such as 0/2";
    if place(&value).ok_or(WireupError::Invalid { name: HOSTS, value, rule })? == 1 {
        return Ok(None);
    }
    let value = get(HOST_RANKS).ok_or(WireupError::Missing(HOST_RANKS))?;
    let ranks = value.to_str().and_then(|text| rank_list::of_text(&text.replace(' ', ""), attachment.size));
    let rule = "it has to be the ranks of this host, such as 0,2-4";
    let here = ranks.filter(|ranks| ranks.contains(&attachment.rank));
    let here = here.ok_or(WireupError::Invalid { name: HOST_RANKS, value, rule })?.into();
    let value = get(NET_SECRET).ok_or(WireupError::Missing(NET_SECRET))?;
    // The value is not shown: it is a secret.
    let (hidden, rule) = (OsString::from("..."), "it has to be 32 hexadecimal digits");
    let secret = value.to_str().and_then(secret_of);
    let secret = secret.ok_or(WireupError::Invalid { name: NET_SECRET, value: hidden, rule })?;
    Ok(Some(OverHosts { here, secret, refusal: None }))
}

/// The name of the parent's port, by our launcher.
fn parent_port(value: Option<OsString>) -> Result<Option<String>, WireupError> {
    let invalid = |value| WireupError::Invalid { name: PARENT, value, rule: "it has to be the name of a port" };
    value.map(|value| value.into_string().map_err(invalid)).transpose()
}

/// Joins a job of another launcher.
fn join(
    other: &OtherLauncher,
    get: &dyn Fn(&str) -> Option<OsString>,
    ring_bytes: Option<usize>,
) -> Result<Joined, WireupError> {
    let limit = time_limit::of_launcher(get(time_limit::LAUNCHER_TIMEOUT)).map_err(LauncherError)?;
    let mut launcher: Box<dyn Launcher> = match other {
        // A descriptor that is no connection is left over from an outer launcher, if there is another way.
        OtherLauncher::Descriptor { fd, or: Some(server), .. } if !pmi::client::is_connection(*fd) => {
            Box::new(pmix::Client::connect(server, limit)?)
        }
        OtherLauncher::Descriptor { fd, rank, size, .. } => {
            Box::new(pmi::client::Client::on_descriptor(*fd, *rank, *size, limit)?)
        }
        OtherLauncher::Port { address, id } => Box::new(pmi::client::Client::on_port(address, *id, limit)?),
        OtherLauncher::Pmix(server) => Box::new(pmix::Client::connect(server, limit)?),
    };
    let (attachment, over) = rendezvous::share_memory(&mut *launcher, &host_info::HostInfo::own(), ring_bytes)?;
    let parent = if launcher.is_spawned() {
        parent_port(get(PARENT))?
    } else if get(other_launchers::PMI_SPAWNED).is_some_and(|value| value == "1") {
        launcher.get(0, PARENT_PORT)?
    } else {
        None
    };
    Ok(Joined { attachment, manager: Some(Arc::new(Manager::new(launcher))), over, parent })
}

/// The variables for a started process.
pub fn to_variables(place: &Attachment) -> [(&'static str, String); 5] {
    [
        (JOB_FD, place.fd.to_string()),
        (JOB_ID, format!("{:016x}", place.job_id)),
        (RANK, place.rank.to_string()),
        (SIZE, place.size.to_string()),
        (APPNUM, place.appnum.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn read(variables: &[(&'static str, &str)]) -> Result<Started, WireupError> {
        let map: HashMap<_, _> = variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect();
        from_variables(&|name| map.get(name).cloned())
    }

    fn job(rank: &str, size: &str) -> Result<Started, WireupError> {
        read(&[(JOB_FD, "7"), (JOB_ID, "00000000000000ff"), (RANK, rank), (SIZE, size)])
    }

    #[test]
    fn nothing_set_is_a_world_of_one() {
        assert_eq!(read(&[]), Ok(Started::Alone));
    }

    #[test]
    fn what_the_launcher_writes_is_what_the_process_reads() {
        let place = Attachment { fd: 9, job_id: 0x1234_5678_9abc_def0, rank: 3, size: 4, appnum: 2 };
        let map: HashMap<_, _> = to_variables(&place).into_iter().collect();
        assert_eq!(from_variables(&|name| map.get(name).map(OsString::from)), Ok(Started::Ours(place)));
    }

    #[test]
    fn the_ranks_of_a_host_are_checked() {
        let place = Attachment { fd: 7, job_id: 255, rank: 2, size: 4, appnum: 0 };
        let over = |hosts: &str, ranks: &str, secret: &str| {
            let map = HashMap::from([
                (HOSTS, hosts.to_owned()),
                (HOST_RANKS, ranks.to_owned()),
                (NET_SECRET, secret.to_owned()),
            ]);
            over_hosts(&|name| map.get(name).map(OsString::from), &place)
        };
        let secret = "0123456789abcdef0123456789abcdef";
        let here = |over: Result<Option<OverHosts>, WireupError>| over.unwrap().map(|over| over.here.to_vec());
        assert_eq!(over_hosts(&|_| None, &place), Ok(None));
        assert_eq!(here(over("0/1", "0-3", secret)), None);
        assert_eq!(here(over("1/2", "0, 2-3", secret)), Some(vec![0, 2, 3]));
        for (hosts, ranks, secret, text) in [
            ("2/2", "2", secret, "FERRUM_HOSTS is"),
            ("x", "2", secret, "FERRUM_HOSTS is"),
            ("1/2", "0-1", secret, "FERRUM_HOST_RANKS is \"0-1\""),
            ("1/2", "2-4", secret, "FERRUM_HOST_RANKS is"),
            ("1/2", "2-3", "abcd", "FERRUM_NET_SECRET is \"...\""),
        ] {
            let error = over(hosts, ranks, secret).unwrap_err().to_string();
            assert!(error.contains(text) && !error.contains("abcd"), "{error}");
        }
    }

    #[test]
    fn a_missing_variable_is_named() {
        assert_eq!(read(&[(RANK, "0")]), Err(WireupError::Missing(JOB_FD)));
        assert_eq!(read(&[(JOB_FD, "3"), (SIZE, "1"), (RANK, "0")]), Err(WireupError::Missing(JOB_ID)));
    }

    #[test]
    fn a_rank_or_size_out_of_range_is_an_error_with_the_value() {
        for (rank, size) in [("4", "4"), ("-1", "4"), ("+1", "4"), ("", "4"), ("1x", "4"), ("0", "0")] {
            let error = job(rank, size).unwrap_err().to_string();
            assert!(error.contains("only a launcher sets this variable"), "{error}");
        }
        let error = job("0", &(MAX_RANKS + 1).to_string()).unwrap_err().to_string();
        assert!(error.contains(&format!("ranks from 1 to {MAX_RANKS};")), "{error}");
        assert!(job("3", "4").is_ok());
        let appnum = |n| read(&[(JOB_FD, "7"), (JOB_ID, "00000000000000ff"), (RANK, "0"), (SIZE, "4"), (APPNUM, n)]);
        assert!(matches!(appnum("3"), Ok(Started::Ours(place)) if place.appnum == 3));
        assert!(appnum("4").is_err() && appnum("").is_err());
    }

    #[test]
    fn our_own_launcher_inside_another_one_counts() {
        let inside = [(JOB_FD, "7"), (JOB_ID, "00000000000000ff"), (RANK, "1"), (SIZE, "2"), ("PMI_SIZE", "5")];
        assert!(matches!(read(&inside), Ok(Started::Ours(place)) if place.rank == 1));
    }

    proptest! {
        #[test]
        fn any_values_give_a_valid_place_or_a_sentence(fd in ".*", id in ".*", rank in ".*", size in ".*") {
            match read(&[(JOB_FD, &fd), (JOB_ID, &id), (RANK, &rank), (SIZE, &size)]) {
                Ok(started) => {
                    let Started::Ours(place) = started else { panic!("variables are set") };
                    prop_assert!(place.fd >= 0 && place.rank < place.size && place.size <= MAX_RANKS);
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }

        #[test]
        fn nearly_valid_values_too(fd in "[0-9]{1,12}", id in "[0-9a-g]{15,17}", rank in "[0-9]{1,5}", size in "[0-9]{1,5}") {
            if let Ok(started) = read(&[(JOB_FD, &fd), (JOB_ID, &id), (RANK, &rank), (SIZE, &size)]) {
                let Started::Ours(place) = started else { panic!("variables are set") };
                prop_assert_eq!(Ok(place.rank), rank.parse());
                prop_assert!(place.rank < place.size);
            }
        }
    }
}
