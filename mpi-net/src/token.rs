//! The token of a connection: SipHash-2-4 of the two ranks under the job's secret.
//!
//! Every packet has the token of its sender and receiver, so a process outside the job, which has not the secret, cannot put
//! a record into it. It is no encryption: who reads the network can repeat a token.

/// The job's secret: 128 random bits that all of its processes have, and no other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(pub u128);

impl Secret {
    /// The token of packets from one rank to another.
    pub fn token(self, from: u32, to: u32) -> u64 {
        siphash((self.0 as u64, (self.0 >> 64) as u64), &[u64::from(from) << 32 | u64::from(to)], 8)
    }
}

fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

/// SipHash-2-4 of whole words.
fn siphash(key: (u64, u64), words: &[u64], bytes: usize) -> u64 {
    let mut state = [
        key.0 ^ 0x736f_6d65_7073_6575,
        key.1 ^ 0x646f_7261_6e64_6f6d,
        key.0 ^ 0x6c79_6765_6e65_7261,
        key.1 ^ 0x7465_6462_7974_6573,
    ];
    for word in words.iter().copied().chain([(bytes as u64) << 56]) {
        state[3] ^= word;
        round(&mut state);
        round(&mut state);
        state[0] ^= word;
    }
    state[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut state));
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_has_the_published_value() {
        // The vector of 8 bytes 0..8 under the key 0..16, of the paper's appendix.
        let key = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        assert_eq!(siphash(key, &[0x0706_0504_0302_0100], 8), 0x93f5_f579_9a93_2462);
    }

    #[test]
    fn each_direction_of_each_pair_has_its_token() {
        let (one, other) = (Secret(1), Secret(2));
        assert_ne!(one.token(1, 2), one.token(2, 1));
        assert_ne!(one.token(1, 2), other.token(1, 2));
    }
}
