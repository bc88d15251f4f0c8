//! Environment variables by which users change how jobs start, read by `mpiexec` or, under another launcher, by rank 0.

use std::ffi::OsString;
use std::time::Duration;

use mpi_fabric::layout::{MAX_RING_BYTES, MIN_RING_BYTES};

/// Length of the message queue between two ranks, in bytes.
pub const RING_BYTES: &str = "FERRUM_RING_BYTES";
/// How long another launcher may take to answer, in seconds.
pub const PATIENCE: &str = "FERRUM_LAUNCHER_TIMEOUT";

/// Seconds that a launcher has to answer when nothing else is said.
const PATIENCE_S: u64 = 30;

/// Reads the ring length; `Job::create` checks its range again, together with the number of ranks.
/// # Errors
/// A sentence with the value.
pub fn ring_bytes(value: Option<OsString>) -> Result<Option<usize>, String> {
    let Some(value) = value else { return Ok(None) };
    let bytes = value.to_str().and_then(|text| text.parse::<usize>().ok());
    match bytes.filter(|n| n.is_power_of_two() && (MIN_RING_BYTES..=MAX_RING_BYTES).contains(n)) {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(format!(
            "{RING_BYTES} is {value:?}, but has to be a power of two from {MIN_RING_BYTES} to {MAX_RING_BYTES}"
        )),
    }
}

/// Reads the time limit for a launcher's answers.
/// # Errors
/// A sentence with the value.
pub fn patience(value: Option<OsString>) -> Result<Duration, String> {
    let Some(value) = value else { return Ok(Duration::from_secs(PATIENCE_S)) };
    match value.to_str().and_then(|text| text.parse::<u64>().ok()).filter(|seconds| (1..=86400).contains(seconds)) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err(format!("{PATIENCE} is {value:?}, but has to be a number of seconds from 1 to 86400")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_lengths_are_powers_of_two_in_range() {
        assert_eq!(ring_bytes(None), Ok(None));
        assert_eq!(ring_bytes(Some("65536".into())), Ok(Some(65536)));
        for bad in ["", "x", "65537", "8192", "33554432", "-65536", "99999999999999999999999"] {
            assert!(ring_bytes(Some(bad.into())).unwrap_err().contains(RING_BYTES), "{bad}");
        }
    }

    #[test]
    fn patience_is_a_number_of_seconds() {
        assert_eq!(patience(None), Ok(Duration::from_secs(PATIENCE_S)));
        assert_eq!(patience(Some("2".into())), Ok(Duration::from_secs(2)));
        for bad in ["", "0", "-1", "1.5", "86401", "for ever"] {
            assert!(patience(Some(bad.into())).unwrap_err().contains(PATIENCE), "{bad}");
        }
    }
}
