//! Values of options.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use mpi_fabric::layout::MAX_RANKS;
use mpi_t::name_in_environment;

use super::hosts::digits;
use super::{Bind, ErrorFormat, Input};

/// Environment variable with a job's time limit in seconds, as other launchers have it.
pub const TIME_LIMIT: &str = "MPIEXEC_TIMEOUT";

/// A number of processes.
pub(super) fn processes(value: &OsStr) -> Result<u32, String> {
    digits(value)
        .filter(|n| (1..=MAX_RANKS).contains(n))
        .ok_or_else(|| format!("a number of processes from 1 to {MAX_RANKS}"))
}

/// A time in seconds.
pub(super) fn seconds(value: &OsStr) -> Result<Duration, String> {
    let plain = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = value.to_str().filter(plain).and_then(|text| text.parse::<f64>().ok());
    // The millisecond is the unit of the launcher's waits.
    match seconds.filter(|seconds| (0.001..=1e9).contains(seconds)) {
        Some(seconds) => Ok(Duration::from_secs_f64(seconds)),
        None => Err("a time in seconds, from 0.001 to 1000000000".into()),
    }
}

/// The time limit of a job: `None` for 0 and negative numbers, which set none.
/// # Errors
/// A phrase for what it has to be.
pub(super) fn limit(value: &OsStr) -> Result<Option<Duration>, String> {
    if value.to_str().and_then(|text| text.parse::<f64>().ok()).is_some_and(|number| number == 0.0) {
        return Ok(None);
    }
    seconds(value).map(Some).map_err(|rule| format!("{rule}, or 0 for no limit"))
}

/// The time limit of a job from the environment; an empty or negative value sets none.
/// # Errors
/// A sentence with the value.
pub fn time_limit(value: Option<OsString>) -> Result<Option<Duration>, String> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    // Hydra takes -1 from the environment as no limit.
    if value.to_str().and_then(|text| text.parse::<f64>().ok()).is_some_and(|number| number < 0.0) {
        return Ok(None);
    }
    limit(&value).map_err(|rule| format!("{TIME_LIMIT} is {value:?}, but has to be {rule}"))
}

/// `cores` or `none`.
pub(super) fn bind(value: &OsStr) -> Result<Bind, String> {
    match value.to_str() {
        Some("auto") => Ok(Bind::Auto),
        Some("core" | "cores") => Ok(Bind::Cores),
        Some("none") => Ok(Bind::None),
        _ => Err("cores, none or auto".into()),
    }
}

/// A rank, `all` or `none`.
pub(super) fn input(value: &OsStr) -> Result<Input, String> {
    match value.to_str() {
        Some("all") => Ok(Input::All),
        Some("none") => Ok(Input::None),
        _ => digits(value)
            .filter(|n| *n < MAX_RANKS)
            .map(Input::Rank)
            .ok_or_else(|| "a rank of the job, all or none".into()),
    }
}

/// `text` or `json`.
pub(super) fn error_format(value: &OsStr) -> Result<ErrorFormat, String> {
    match value.to_ascii_lowercase().to_str() {
        Some("text") => Ok(ErrorFormat::Text),
        Some("json") => Ok(ErrorFormat::Json),
        _ => Err("text or json".into()),
    }
}

/// The initial error handler, by the value of the info key `mpi_initial_errhandler` or the handle's name.
pub(super) fn errhandler(value: &OsStr) -> Result<&'static str, String> {
    const NAMES: [&str; 3] = ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"];
    let known = NAMES.into_iter().find(|name| value.eq_ignore_ascii_case(name));
    known.ok_or_else(|| NAMES.join(", ").replace(", mpi_errors_return", " or mpi_errors_return"))
}

/// The name of a variable that may be set for a rank.
pub(super) fn name(name: &OsStr) -> Result<OsString, String> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
        return Err("the name of a variable".into());
    }
    if mpi_wireup::is_reserved(name) {
        return Err("the name of a variable other than those that mpiexec sets for the place of a rank".into());
    }
    Ok(name.into())
}

/// `NAME=VALUE`; `None` for the value where there is no `=`.
pub(super) fn assignment(word: &OsStr) -> Result<(OsString, Option<OsString>), String> {
    let bytes = word.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => Ok((name(OsStr::from_bytes(&bytes[..at]))?, Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned()))),
        None => Ok((name(word)?, None)),
    }
}

/// `NAME=VALUE` of a control variable, whose name may have the prefix of the environment.
pub(super) fn cvar(word: &OsStr) -> Result<(String, String), String> {
    let rule = || "NAME=VALUE with the name of a control variable (letters, digits and _)".to_owned();
    let (given, value) = word.to_str().and_then(|word| word.split_once('=')).ok_or_else(rule)?;
    let letters = !given.is_empty() && given.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !letters || value.contains('\0') {
        return Err(rule());
    }
    name(OsStr::new(&name_in_environment(given)))?;
    Ok((given.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_positive_and_finite() {
        assert_eq!(seconds(OsStr::new("2.5")), Ok(Duration::from_millis(2500)));
        for bad in ["", "0", "-1", "x", "1e3", "inf", "nan", "2000000000", "."] {
            assert!(seconds(OsStr::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn control_variables_are_environment_variables_in_capitals() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(cvar(OsStr::new("p2p_eager_limit=64k")), pair("p2p_eager_limit", "64k"));
        assert_eq!(cvar(OsStr::new("FERRUM_P2P_EAGER_LIMIT=")), pair("FERRUM_P2P_EAGER_LIMIT", ""));
        assert_eq!(["p2p_wait", "FERRUM_P2P_WAIT"].map(name_in_environment), ["FERRUM_P2P_WAIT", "FERRUM_P2P_WAIT"]);
        for bad in ["", "x", "=1", "a b=1", "ä=1", "rank=1", "FERRUM_JOB_FD=3"] {
            assert!(cvar(OsStr::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_ranks_place_cannot_be_set_by_hand() {
        assert!(name(OsStr::new("FERRUM_RANK")).is_err() && name(OsStr::new("FERRUM_RANKS")).is_ok());
    }

    #[test]
    fn the_form_is_named_in_any_case_as_in_other_places() {
        assert_eq!(error_format(OsStr::new("JSON")), Ok(ErrorFormat::Json));
        assert!(error_format(OsStr::new("xml")).is_err());
    }

    #[test]
    fn handlers_have_the_info_keys_values() {
        assert_eq!(errhandler(OsStr::new("MPI_ERRORS_RETURN")), Ok("mpi_errors_return"));
        assert!(errhandler(OsStr::new("return")).is_err_and(|rule| rule.ends_with(" or mpi_errors_return")));
    }
}
