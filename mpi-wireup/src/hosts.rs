//! Which ranks of a job share memory with a process, and the job's secret.
//!
//! Not here: who finds them out (`rendezvous`, `environment`), lists of ranks as text (`mpi_fabric::rank_list`).

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use crate::launcher::LauncherError;

/// What a rank needs to know of a job whose ranks do not all share memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverHosts {
    /// The ranks that share memory with this one, and itself, ascending.
    pub here: Arc<[u32]>,
    /// 128 random bits that all processes of the job have, and no other process.
    pub secret: u128,
    /// A sentence, if ranks of one host do not all share memory: which one was refused that of another one, and why.
    pub refusal: Option<String>,
}

/// 128 bits of the system's random numbers.
/// # Errors
/// Those of reading `/dev/urandom`.
pub fn random_bits() -> io::Result<u128> {
    let mut bytes = [0u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}

/// A secret for a job.
pub(crate) fn random_secret() -> Result<u128, LauncherError> {
    random_bits().map_err(|error| LauncherError(format!("/dev/urandom gives no random number for the job: {error}")))
}

/// The number of 32 hexadecimal digits.
pub(crate) fn secret_of(text: &str) -> Option<u128> {
    let is_one = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_one { u128::from_str_radix(text, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_128_bits() {
        let secret = random_secret().unwrap();
        assert_ne!(secret, random_secret().unwrap());
        assert_eq!(secret_of(&format!("{secret:032x}")), Some(secret));
        assert_eq!(
            (secret_of("1"), secret_of(&"g".repeat(32)), secret_of(&format!("+{:031x}", 1))),
            (None, None, None)
        );
    }
}
