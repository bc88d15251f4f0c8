//! Prime factors of numbers of processes.
//!
//! Invariant: any 32-bit number takes microseconds: small primes by trial, the two that may be left by tests that need
//! few steps.

/// The prime factors of a number that is not 0, in ascending order, each with its power.
pub fn prime_factors(mut number: u32) -> Vec<(u32, u32)> {
    let mut factors = Vec::new();
    let mut divide = |number: &mut u32, prime: u32| {
        let mut power = 0;
        while number.is_multiple_of(prime) {
            *number /= prime;
            power += 1;
        }
        if power > 0 {
            factors.push((prime, power));
        }
    };
    divide(&mut number, 2);
    divide(&mut number, 3);
    // All other primes are next to a multiple of six. What is left without those up to the cube root has two at most.
    let mut candidate = 5;
    while candidate * candidate <= number && candidate <= CUBE_ROOT {
        divide(&mut number, candidate);
        divide(&mut number, candidate + 2);
        candidate += 6;
    }
    if number > 1 {
        let root = number.isqrt();
        if candidate * candidate > number || is_prime(number) {
            factors.push((number, 1));
        } else if root * root == number {
            factors.push((root, 2));
        } else {
            let factor = proper_factor(number);
            factors.extend([(factor.min(number / factor), 1), (factor.max(number / factor), 1)]);
        }
    }
    factors
}

/// Above the cube root of all numbers of nodes.
const CUBE_ROOT: u32 = 1291;

fn power(base: u64, mut exponent: u32, modulus: u64) -> u64 {
    let (mut result, mut base) = (1, base % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % modulus;
        }
        base = base * base % modulus;
        exponent >>= 1;
    }
    result
}

/// Whether an odd number above 61 is prime: the test of Miller and Rabin, with the bases that decide it below 2^32.
fn is_prime(number: u32) -> bool {
    let (twos, modulus) = ((number - 1).trailing_zeros(), u64::from(number));
    [2, 7, 61].into_iter().all(|base| {
        let mut value = power(base, (number - 1) >> twos, modulus);
        value == 1
            || (0..twos).any(|_| {
                let minus_one = value == modulus - 1;
                value = value * value % modulus;
                minus_one
            })
    })
}

/// A factor of a product of two different primes: Pollard's rho method, one sequence after the other.
fn proper_factor(number: u32) -> u32 {
    let modulus = u64::from(number);
    let factor = (1..modulus).find_map(|constant| {
        let next = |value: u64| (value * value + constant) % modulus;
        let (mut slow, mut fast) = (2, 2);
        loop {
            (slow, fast) = (next(slow), next(next(fast)));
            let divisor = common_divisor(slow.abs_diff(fast), modulus);
            if divisor > 1 {
                return (divisor < modulus).then_some(divisor as u32);
            }
        }
    });
    factor.unwrap_or(number)
}

fn common_divisor(mut left: u64, mut right: u64) -> u64 {
    while left > 0 {
        (left, right) = (right % left, left);
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_prime_factors() {
        let by_trial = |mut number: u32| {
            let mut factors: Vec<(u32, u32)> = Vec::new();
            for prime in (2..).take_while(|prime| prime * prime <= 46_350 * 46_350) {
                while number.is_multiple_of(prime) {
                    number /= prime;
                    match factors.last_mut() {
                        Some((last, power)) if *last == prime => *power += 1,
                        _ => factors.push((prime, 1)),
                    }
                }
                if prime * prime > number {
                    break;
                }
            }
            factors.extend((number > 1).then_some((number, 1)));
            factors
        };
        // Primes, squares and products of two primes on both sides of the cube root; then numbers of all sizes.
        let primes = [61, 67, 1283, 1289, 1291, 1297, 1301, 9973, 32_749, 46_327, 46_337, 46_339];
        let products = primes.iter().flat_map(|left| primes.iter().map(move |right| left * right));
        let spread = (0..3_000_u32).map(|step| step.wrapping_mul(2_654_435_761) >> 1);
        for number in (1..3_000).chain(products).chain(spread).chain(2_147_483_500..=2_147_483_647).filter(|n| *n > 0) {
            assert_eq!(prime_factors(number), by_trial(number), "{number}");
        }
    }
}
