//! The secret of a job, by which `mpiexec` and its proxies recognise each other without sending it.
//!
//! Each side sends random numbers and expects their keyed hash (SipHash-2-4, a pseudorandom function with a key of 128
//! bits). So a process that listens at an address that belongs to several hosts (that of a container bridge, for example)
//! neither learns the secret nor can have programs started.
//! Invariant: the secret is in environments only, which other users cannot read; never on a command line.
//! Not here: secrecy of what is sent afterwards; a network of a cluster is as private as for the launchers themselves.

use std::hash::Hasher;
use std::io;

use siphasher::sip::SipHasher24;

/// A secret of 128 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Secret([u64; 2]);

/// Which side gives an answer, so that none can be sent back.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Front = 1,
    Proxy = 2,
}

/// Random numbers.
pub(super) fn random() -> io::Result<[u64; 2]> {
    let both = mpi_wireup::random_bits()?;
    Ok([both as u64, (both >> 64) as u64])
}

impl Secret {
    /// A new one.
    pub(super) fn new() -> io::Result<Secret> {
        random().map(Secret)
    }

    /// 32 hexadecimal digits.
    pub(super) fn to_text(self) -> String {
        format!("{:016x}{:016x}", self.0[0], self.0[1])
    }

    /// The secret of such a text.
    pub(super) fn of_text(text: &str) -> Option<Secret> {
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let number = |part: &str| u64::from_str_radix(part, 16).ok();
        Some(Secret([number(&text[..16])?, number(&text[16..])?]))
    }

    /// The number of the job whose ranks have this secret, as the library computes it (`mpi_net`): the token of a packet that no rank
    /// sends.
    pub(super) fn job_number(self) -> u64 {
        let [high, low] = self.0;
        siphash([low, high], &[u64::MAX]).max(1)
    }

    /// The answer of a side to a challenge of the other one, after its own.
    pub(super) fn answer(self, side: Side, challenge: &[u64], own: &[u64]) -> u64 {
        let words: Vec<u64> =
            std::iter::once(side as u64).chain(challenge.iter().copied()).chain(own.iter().copied()).collect();
        siphash(self.0, &words)
    }
}

/// SipHash-2-4 of words, each as eight bytes, the lowest first.
fn siphash([k0, k1]: [u64; 2], words: &[u64]) -> u64 {
    let mut hasher = SipHasher24::new_with_keys(k0, k1);
    words.iter().for_each(|word| hasher.write(&word.to_le_bytes()));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_its_authors() {
        // The vectors of the reference implementation for 0, 8 and 16 bytes: key 00 01 .. 0f, input 00 01 02 ...
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(siphash(key, &[]), 0x726f_db47_dd0e_0e31);
        assert_eq!(siphash(key, &[0x0706_0504_0302_0100]), 0x93f5_f579_9a93_2462);
    }

    #[test]
    fn a_secret_is_a_text_and_answers_differ_by_side_and_challenge() {
        let secret = Secret::new().unwrap();
        assert!(Secret::of_text(&secret.to_text()) == Some(secret));
        assert!(Secret::of_text("").is_none() && Secret::of_text(&"+".repeat(32)).is_none());
        let answer = secret.answer(Side::Front, &[1, 2], &[3, 4]);
        assert_ne!(answer, secret.answer(Side::Proxy, &[1, 2], &[3, 4]));
        assert_ne!(answer, secret.answer(Side::Front, &[1, 3], &[3, 4]));
        assert_ne!(answer, Secret::new().unwrap().answer(Side::Front, &[1, 2], &[3, 4]));
    }
}
