//! The token of a connection: SipHash-2-4 of the two ranks under the job's secret.
//!
//! Every packet has the token of its sender and receiver, so a process outside the job, which has not the secret, cannot put
//! a record into it. It is no encryption: who reads the network can repeat a token.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;

/// The job's secret: 128 random bits that all of its processes have, and no other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(pub u128);

impl Secret {
    /// The token of packets from one rank to another.
    pub fn token(self, from: u32, to: u32) -> u64 {
        siphash((self.0 as u64, (self.0 >> 64) as u64), u64::from(from) << 32 | u64::from(to))
    }
}

/// How two processes identify each other in packets, as one of them has it.
#[derive(Clone, Copy)]
pub(crate) struct Identity {
    /// The connection of jobs; 0: both are of one job.
    pub(crate) connection: u64,
    pub(crate) secret: Secret,
    /// Number of this process, and of the other one.
    pub(crate) own: u32,
    pub(crate) theirs: u32,
}

impl Identity {
    /// The token of packets to the other process.
    pub(crate) fn token_to(&self) -> u64 {
        self.secret.token(self.own, self.theirs)
    }

    /// The token of packets from the other process.
    pub(crate) fn token_from(&self) -> u64 {
        self.secret.token(self.theirs, self.own)
    }
}

/// SipHash-2-4 of a word, as eight bytes, the lowest first.
fn siphash(key: (u64, u64), word: u64) -> u64 {
    let mut hasher = SipHasher24::new_with_keys(key.0, key.1);
    hasher.write(&word.to_le_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_has_the_published_value() {
        // The vector of 8 bytes 0..8 under the key 0..16, of the paper's appendix.
        let key = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        assert_eq!(siphash(key, 0x0706_0504_0302_0100), 0x93f5_f579_9a93_2462);
    }

    #[test]
    fn each_direction_of_each_pair_has_its_token() {
        let (one, other) = (Secret(1), Secret(2));
        assert_ne!(one.token(1, 2), one.token(2, 1));
        assert_ne!(one.token(1, 2), other.token(1, 2));
    }
}
