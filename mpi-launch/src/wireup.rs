//! How a started process finds its place: in the job of our own launcher, in one that it makes together with the others
//! that another launcher started, or alone.
//!
//! - this file: our own launcher's environment variables, and the decision.
//! - [`others`]: the variables of other launchers.
//! - [`card`], [`meet`]: how processes that another launcher started come to share memory.
//!
//! Invariant: a process that some launcher started as one of several never becomes a world of its own in silence.

pub mod card;
pub mod meet;
pub mod others;

use std::ffi::OsString;
use std::str::FromStr;

use mpi_fabric::Attachment;
use mpi_fabric::layout::MAX_RANKS;

use crate::exchange::{Launcher, Trouble};
use crate::manager::Manager;
use crate::{pmi, pmix, settings};
use others::Other;

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

/// What was asked for when the program was started: keys of `MPI_INFO_ENV` (MPI-4.1, 11.2.1) and the variables that
/// hold their values, where there are any.
pub const INFO_ENV_VARIABLES: [(&str, &str); 5] = [
    ("maxprocs", "FERRUM_ASKED_MAXPROCS"),
    ("soft", "FERRUM_ASKED_SOFT"),
    ("host", "FERRUM_ASKED_HOST"),
    ("arch", "FERRUM_ASKED_ARCH"),
    ("file", "FERRUM_ASKED_FILE"),
];

/// Whether a variable tells a process its place, or what was read for it, so that only launchers set it.
pub fn is_reserved(name: &std::ffi::OsStr) -> bool {
    let asked = INFO_ENV_VARIABLES.iter().map(|(_, variable)| variable);
    let read = [mpi_t::SETTINGS_READ, mpi_t::CVARS_READ];
    [JOB_FD, JOB_ID, RANK, SIZE, APPNUM].iter().chain(asked).chain(&read).any(|own| name == *own)
}

/// Why a process cannot join its job.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WireupError {
    /// Some of the variables are there, but not this one.
    #[error(
        "{0} is not set although other variables of a launcher are; start the program with mpiexec, or unset them all"
    )]
    Missing(&'static str),
    /// A variable is not what launchers write.
    #[error("{name} is {value:?}, but {rule}; only a launcher sets this variable")]
    Invalid {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: OsString,
        /// What it has to be.
        rule: &'static str,
    },
    /// A launcher that offers no way to meet started this process as one of several.
    #[error(
        "this program was started by a launcher ({name} is {value:?}) that does not help its processes to find each other; \
         {instead}, or unset {name} to run alone"
    )]
    Silent {
        /// The variable that shows it.
        name: &'static str,
        /// Its value.
        value: OsString,
        /// What to use in its place.
        instead: &'static str,
    },
    /// The launcher does not do what it offers, or the processes cannot be connected.
    #[error("{0}")]
    Trouble(#[from] Trouble),
}

/// What a process's variables say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// Nobody launched it.
    Alone,
    /// Our launcher did; this is its place.
    Ours(Attachment),
    /// Another launcher did, as one of several.
    Other(Other),
}

/// A process's place in a job.
pub struct Joined {
    /// Its rank, and the job's memory.
    pub attachment: Attachment,
    /// The launcher, if that is not ours.
    pub manager: Option<Manager>,
}

/// What the environment of this process says: a place in a job, or `None` for a process that nobody launched. Under
/// another launcher this is collective: it waits until all processes of the job have called it; rank 0
/// makes the job memory, with rings of this length. To be called once.
/// # Errors
/// See [`WireupError`].
pub fn from_environment(ring_bytes: Option<usize>) -> Result<Option<Joined>, WireupError> {
    let get = |name: &str| std::env::var_os(name);
    match from_variables(&get)? {
        Started::Alone => Ok(None),
        Started::Ours(attachment) => Ok(Some(Joined { attachment, manager: None })),
        Started::Other(other) => join(&other, &get, ring_bytes).map(Some),
    }
}

/// The same for any set of variables, without doing anything about it.
/// # Errors
/// See [`WireupError`].
pub fn from_variables(get: &dyn Fn(&str) -> Option<OsString>) -> Result<Started, WireupError> {
    if [JOB_FD, JOB_ID, RANK, SIZE].iter().all(|name| get(name).is_none()) {
        return Ok(others::find(get)?.map_or(Started::Alone, Started::Other));
    }
    let fd = number(get, JOB_FD, "it has to be a descriptor", |fd: &i32| *fd >= 0)?;
    let size = number(get, SIZE, "it has to be a number of ranks from 1 to 1024", |n| (1..=MAX_RANKS).contains(n))?;
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

/// Joins a job of another launcher's.
fn join(
    other: &Other,
    get: &dyn Fn(&str) -> Option<OsString>,
    ring_bytes: Option<usize>,
) -> Result<Joined, WireupError> {
    let limit = settings::patience(get(settings::PATIENCE)).map_err(Trouble)?;
    let mut launcher: Box<dyn Launcher> = match other {
        // A descriptor that is no connection is left over from a launcher further out, if there is another way.
        Other::Descriptor { fd, or: Some(server), .. } if !pmi::client::is_connection(*fd) => {
            Box::new(pmix::Client::connect(server, limit)?)
        }
        Other::Descriptor { fd, rank, size, .. } => {
            Box::new(pmi::client::Client::on_descriptor(*fd, *rank, *size, limit)?)
        }
        Other::Port { address, id } => Box::new(pmi::client::Client::on_port(address, *id, limit)?),
        Other::Pmix(server) => Box::new(pmix::Client::connect(server, limit)?),
    };
    let attachment = meet::meet(&mut *launcher, &card::Card::own(), ring_bytes)?;
    Ok(Joined { attachment, manager: Some(Manager::new(launcher)) })
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

fn number<T: FromStr>(
    get: &dyn Fn(&str) -> Option<OsString>,
    name: &'static str,
    rule: &'static str,
    valid: impl Fn(&T) -> bool,
) -> Result<T, WireupError> {
    let value = get(name).ok_or(WireupError::Missing(name))?;
    // Digits only: `parse` alone would accept a sign.
    let digits = value.to_str().filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    let number = digits.and_then(|text| text.parse().ok()).filter(valid);
    number.ok_or(WireupError::Invalid { name, value, rule })
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
    fn a_missing_variable_is_named() {
        assert_eq!(read(&[(RANK, "0")]), Err(WireupError::Missing(JOB_FD)));
        assert_eq!(read(&[(JOB_FD, "3"), (SIZE, "1"), (RANK, "0")]), Err(WireupError::Missing(JOB_ID)));
    }

    #[test]
    fn a_rank_or_size_out_of_range_is_an_error_with_the_value() {
        for (rank, size) in [("4", "4"), ("-1", "4"), ("+1", "4"), ("", "4"), ("1x", "4"), ("0", "0"), ("0", "1025")] {
            let error = job(rank, size).unwrap_err().to_string();
            assert!(error.contains("only a launcher sets this variable"), "{error}");
        }
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
