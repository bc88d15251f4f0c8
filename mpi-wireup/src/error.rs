//! The errors because of which a process cannot join its job.
//!
//! Invariant: every `Display` is a sentence that names the variable and its value, or the launcher.
//! Not here: the variables (`environment`, `other_launchers`).

use std::ffi::OsString;
use std::str::FromStr;

use crate::launcher::LauncherError;

/// Why a process cannot join its job.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WireupError {
    /// Some of the variables are set, but not this one.
    #[error(
        "{0} is not set although other variables of a launcher are; start the program with mpiexec, or unset them all"
    )]
    Missing(&'static str),
    /// A variable has a value that launchers do not write.
    #[error("{name} is {value:?}, but {rule}; only a launcher sets this variable")]
    Invalid {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: OsString,
        /// The accepted values.
        rule: &'static str,
    },
    /// A launcher without a key-value space started this process as one of several.
    #[error(
        "this program was started by a launcher ({name} is {value:?}) that does not help its processes to find each other; \
         {instead}, or unset {name} to run alone"
    )]
    Silent {
        /// The variable that shows it.
        name: &'static str,
        /// Its value.
        value: OsString,
        /// What to use instead.
        instead: &'static str,
    },
    /// The launcher does not work as announced, or the processes cannot be connected.
    #[error("{0}")]
    LauncherError(#[from] LauncherError),
}

/// The number that a variable has.
pub(crate) fn number<T: FromStr>(
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
