//! Environment variables by which users change how jobs start under another launcher.

use std::ffi::OsString;
use std::time::Duration;

/// How long another launcher may take to answer, in seconds.
pub const LAUNCHER_TIMEOUT: &str = "FERRUM_LAUNCHER_TIMEOUT";

/// How many times that limit another launcher may take to start processes for a running one, and these to call `MPI_Init` then.
pub const OF_SPAWN: u32 = 10;

/// The default time limit in seconds.
const LAUNCHER_TIMEOUT_S: u64 = 30;

/// Reads the time limit for a launcher's answers.
/// # Errors
/// A sentence with the value.
pub fn of_launcher(value: Option<OsString>) -> Result<Duration, String> {
    let Some(value) = value else { return Ok(Duration::from_secs(LAUNCHER_TIMEOUT_S)) };
    match value.to_str().and_then(|text| text.parse::<u64>().ok()).filter(|seconds| (1..=86400).contains(seconds)) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err(format!("{LAUNCHER_TIMEOUT} is {value:?}, but has to be a number of seconds from 1 to 86400")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_number_of_seconds() {
        assert_eq!(of_launcher(None), Ok(Duration::from_secs(LAUNCHER_TIMEOUT_S)));
        assert_eq!(of_launcher(Some("2".into())), Ok(Duration::from_secs(2)));
        for bad in ["", "0", "-1", "1.5", "86401", "for ever"] {
            assert!(of_launcher(Some(bad.into())).unwrap_err().contains(LAUNCHER_TIMEOUT), "{bad}");
        }
    }
}
