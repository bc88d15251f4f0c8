//! What the launcher tells a started process, in environment variables.
//!
//! Invariant: a process that some launcher started as one of several never becomes a world of its own in silence.

use std::ffi::OsString;
use std::str::FromStr;

use mpi_fabric::Attachment;
use mpi_fabric::layout::MAX_RANKS;

/// Descriptor of the job memory, decimal.
pub const JOB_FD: &str = "FERRUM_JOB_FD";
/// Number of the job, 16 hexadecimal digits.
pub const JOB_ID: &str = "FERRUM_JOB_ID";
/// This process's rank, decimal.
pub const RANK: &str = "FERRUM_RANK";
/// Number of ranks, decimal.
pub const SIZE: &str = "FERRUM_SIZE";

/// Why a process cannot join its job.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WireupError {
    /// Some of the variables are there, but not this one.
    #[error(
        "{0} is not set although other variables of this library's mpiexec are; start the program with mpiexec, or unset them all"
    )]
    Missing(&'static str),
    /// A variable is not what mpiexec writes.
    #[error("{name} is {value:?}, but {rule}; only mpiexec sets this variable")]
    Invalid {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: OsString,
        /// What it has to be.
        rule: &'static str,
    },
    /// Another launcher started this process as one of several.
    #[error(
        "this program was started by another launcher ({name} is {value:?}), which cannot connect its processes; use this library's mpiexec, or unset {name} to run alone"
    )]
    OtherLauncher {
        /// The variable that shows it.
        name: &'static str,
        /// Its value.
        value: OsString,
    },
}

/// What the environment of this process says: a place in a job, or `None` for a process that nobody launched.
/// # Errors
/// See [`WireupError`].
pub fn from_environment() -> Result<Option<Attachment>, WireupError> {
    from_variables(&|name| std::env::var_os(name))
}

/// The same for any set of variables.
/// # Errors
/// See [`WireupError`].
pub fn from_variables(get: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<Attachment>, WireupError> {
    if [JOB_FD, JOB_ID, RANK, SIZE].iter().all(|name| get(name).is_none()) {
        return match other_launcher(get) {
            Some((name, value)) => Err(WireupError::OtherLauncher { name, value }),
            None => Ok(None),
        };
    }
    let fd = number(get, JOB_FD, "it has to be a descriptor", |fd: &i32| *fd >= 0)?;
    let size = number(get, SIZE, "it has to be a number of ranks from 1 to 1024", |n| (1..=MAX_RANKS).contains(n))?;
    let rank = number(get, RANK, "it has to be a rank below FERRUM_SIZE", |rank| *rank < size)?;
    let value = get(JOB_ID).ok_or(WireupError::Missing(JOB_ID))?;
    let digits = value.to_str().filter(|text| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit()));
    let job_id = digits.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or(WireupError::Invalid {
        name: JOB_ID,
        value,
        rule: "it has to be 16 hexadecimal digits",
    })?;
    Ok(Some(Attachment { fd, job_id, rank, size }))
}

/// The variables for a started process.
pub fn to_variables(place: &Attachment) -> [(&'static str, String); 4] {
    [
        (JOB_FD, place.fd.to_string()),
        (JOB_ID, format!("{:016x}", place.job_id)),
        (RANK, place.rank.to_string()),
        (SIZE, place.size.to_string()),
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

/// The variable by which another launcher shows that this process is one of several, if there is one.
fn other_launcher(get: &dyn Fn(&str) -> Option<OsString>) -> Option<(&'static str, OsString)> {
    // Number of processes of Hydra and Flux (PMI-1), Open MPI, Slurm, PALS, MVAPICH; absent or 1 means alone.
    const SIZES: [&str; 6] = [
        "PMI_SIZE",
        "OMPI_COMM_WORLD_SIZE",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_NTASKS",
        "PALS_SIZE",
        "MV2_COMM_WORLD_SIZE",
    ];
    // A Slurm allocation sets its size for every process inside it; only a step's tasks have this too.
    const SLURM_TASK: &str = "SLURM_PROCID";
    for name in SIZES {
        let Some(value) = get(name) else { continue };
        if name == "SLURM_NTASKS" && get(SLURM_TASK).is_none() {
            continue;
        }
        let alone = value.to_str().and_then(|text| text.trim().parse::<u64>().ok()).is_some_and(|n| n <= 1);
        if !alone {
            return Some((name, value));
        }
    }
    // PMIx and PMI launchers that do not say how many there are: the rank alone shows that somebody counts.
    for (name, size) in [("PMIX_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("PMI_FD", "PMI_SIZE")] {
        if let Some(value) = get(name)
            && get(size).is_none()
        {
            return Some((name, value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn read(variables: &[(&'static str, &str)]) -> Result<Option<Attachment>, WireupError> {
        let map: HashMap<_, _> = variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect();
        from_variables(&|name| map.get(name).cloned())
    }

    fn job(rank: &str, size: &str) -> Result<Option<Attachment>, WireupError> {
        read(&[(JOB_FD, "7"), (JOB_ID, "00000000000000ff"), (RANK, rank), (SIZE, size)])
    }

    #[test]
    fn nothing_set_is_a_world_of_one() {
        assert_eq!(read(&[]), Ok(None));
    }

    #[test]
    fn what_the_launcher_writes_is_what_the_process_reads() {
        let place = Attachment { fd: 9, job_id: 0x1234_5678_9abc_def0, rank: 3, size: 4 };
        let map: HashMap<_, _> = to_variables(&place).into_iter().collect();
        assert_eq!(from_variables(&|name| map.get(name).map(OsString::from)), Ok(Some(place)));
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
            assert!(error.contains("only mpiexec sets this variable"), "{error}");
        }
        assert!(job("3", "4").is_ok());
    }

    #[test]
    fn other_launchers_are_noticed_only_when_they_started_several() {
        for several in [
            &[("PMI_RANK", "0"), ("PMI_SIZE", "2")][..],
            &[("OMPI_COMM_WORLD_SIZE", "3")],
            &[("SLURM_NTASKS", "2"), ("SLURM_PROCID", "1")],
            &[("SLURM_STEP_NUM_TASKS", "2")],
            &[("PMIX_RANK", "1")],
            &[("PMI_FD", "5")],
            &[("PMI_SIZE", "nonsense")],
        ] {
            let error = read(several).unwrap_err().to_string();
            assert!(error.contains("another launcher") && error.contains("mpiexec"), "{error}");
        }
        for alone in [
            &[("PMI_RANK", "0"), ("PMI_SIZE", "1")][..],
            &[("SLURM_NTASKS", "2")],
            &[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")],
        ] {
            assert_eq!(read(alone), Ok(None), "{alone:?}");
        }
    }

    #[test]
    fn our_own_launcher_inside_another_one_counts() {
        let inside = [(JOB_FD, "7"), (JOB_ID, "00000000000000ff"), (RANK, "1"), (SIZE, "2"), ("PMI_SIZE", "5")];
        assert_eq!(read(&inside).unwrap().unwrap().rank, 1);
    }

    proptest! {
        #[test]
        fn any_values_give_a_valid_place_or_a_sentence(fd in ".*", id in ".*", rank in ".*", size in ".*") {
            match read(&[(JOB_FD, &fd), (JOB_ID, &id), (RANK, &rank), (SIZE, &size)]) {
                Ok(place) => {
                    let place = place.expect("variables are set");
                    prop_assert!(place.fd >= 0 && place.rank < place.size && place.size <= MAX_RANKS);
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }

        #[test]
        fn nearly_valid_values_too(fd in "[0-9]{1,12}", id in "[0-9a-g]{15,17}", rank in "[0-9]{1,5}", size in "[0-9]{1,5}") {
            if let Ok(place) = read(&[(JOB_FD, &fd), (JOB_ID, &id), (RANK, &rank), (SIZE, &size)]) {
                let place = place.expect("variables are set");
                prop_assert_eq!(Ok(place.rank), rank.parse());
                prop_assert!(place.rank < place.size);
            }
        }
    }
}
