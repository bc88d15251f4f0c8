//! Tests of sums that depend on neither order nor grouping.

use super::super::binned::{Number, Total};
use super::*;
use mpi_core::abi::*;
use mpi_datatype::predefined;

/// A sequence of numbers without a pattern.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 32) as usize % limit
    }
}

fn binning(handle: usize) -> Binning {
    let sum = Op::predefined(MPI_SUM).expect("an operation");
    Binning::of(sum, predefined(handle).expect("a type")).expect("numbers that are rounded")
}

/// The sum of numbers in one order, each with the bytes of a number.
fn summed(binning: Binning, numbers: &[Vec<u8>]) -> Vec<u8> {
    let sums = numbers.iter().map(|number| wide(binning, number));
    let whole = sums.reduce(|left, mut right| {
        Binning::add(&left, &mut right);
        right
    });
    narrow_to(binning, &whole.expect("numbers"), numbers[0].len())
}

fn wide(binning: Binning, number: &[u8]) -> Vec<u8> {
    let mut sum = vec![0; binning.size() as usize];
    binning.widen(number, &mut sum);
    sum
}

fn narrow_to(binning: Binning, sum: &[u8], bytes: usize) -> Vec<u8> {
    let mut number = vec![0; bytes];
    binning.narrow(sum, &mut number);
    number
}

/// The sum in a random order and a random grouping.
fn summed_at_random(binning: Binning, numbers: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = numbers.iter().map(|number| wide(binning, number)).collect();
    while parts.len() > 1 {
        let one = parts.swap_remove(random.below(parts.len()));
        let two = random.below(parts.len());
        Binning::add(&one, &mut parts[two]);
    }
    narrow_to(binning, &parts[0], numbers[0].len())
}

fn doubles(numbers: &[f64]) -> Vec<Vec<u8>> {
    numbers.iter().map(|number| number.to_ne_bytes().to_vec()).collect()
}

fn sum_of_doubles(numbers: &[f64]) -> f64 {
    let bytes = summed(binning(MPI_DOUBLE), &doubles(numbers));
    f64::from_ne_bytes(*bytes.first_chunk().expect("a double"))
}

#[test]
fn a_number_alone_keeps_its_value_in_every_format() {
    for (handle, bytes, patterns) in [(MPI_FLOAT, 4, 40_000), (MPI_DOUBLE, 8, 40_000)] {
        let mut random = Random(7);
        for _ in 0..patterns {
            let pattern = random.next().to_ne_bytes()[..bytes].to_vec();
            let single = pattern.first_chunk().map(|bytes| f32::from_ne_bytes(*bytes));
            let double = pattern.first_chunk().map(|bytes| f64::from_ne_bytes(*bytes));
            let not_a_number =
                if bytes == 4 { single.is_some_and(f32::is_nan) } else { double.is_some_and(f64::is_nan) };
            let result = summed(binning(handle), std::slice::from_ref(&pattern));
            assert!(not_a_number || result == pattern, "{pattern:?} becomes {result:?}");
        }
    }
    for value in [0.0, -0.0, f64::MIN_POSITIVE, 5e-324, -5e-324, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(sum_of_doubles(&[value]).to_bits(), value.to_bits(), "{value}");
    }
    assert!(sum_of_doubles(&[f64::NAN]).is_nan());
    for pattern in 0..=u16::MAX {
        let bytes = pattern.to_ne_bytes().to_vec();
        let (mut sum, mut back) = (vec![0; Binned::SIZE], vec![0; 2]);
        super::widen::<Half>(&bytes, &mut sum);
        super::narrow::<Half>(&sum, &mut back);
        let not_a_number = pattern & 0x7c00 == 0x7c00 && pattern & 0x3ff != 0;
        assert!(not_a_number || back == bytes, "{pattern:#x}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_extended_number_alone_keeps_its_value() {
    let mut random = Random(3);
    for at in 0..20_000u32 {
        let exponent = match at % 4 {
            0 => 0,
            1 => 1,
            2 => 0x7ffe,
            _ => (random.next() % 0x7fff) as u16,
        };
        let lead = if exponent == 0 { 0 } else { 1 << 63 };
        let mantissa = random.next() >> 1 | lead;
        let mut bytes = vec![0u8; 16];
        bytes[..8].copy_from_slice(&mantissa.to_le_bytes());
        bytes[8..10].copy_from_slice(&(exponent | (at as u16 & 1) << 15).to_le_bytes());
        assert_eq!(
            summed(binning(MPI_LONG_DOUBLE), std::slice::from_ref(&bytes)),
            bytes,
            "{mantissa:#x} {exponent:#x}"
        );
    }
}

/// The sum of numbers whose exponents are from -30 to 30, in integers that hold it exactly.
fn exact(numbers: &[f64]) -> i128 {
    numbers.iter().map(|number| (number * 2f64.powi(53)) as i128 * (1 << 30)).sum::<i128>()
}

#[test]
fn sums_are_the_exact_sum_rounded_once() {
    let mut random = Random(11);
    for _ in 0..5_000 {
        let count = 1 + random.below(20);
        let mut number = || {
            let mantissa = (random.next() >> 11) as f64 * 2f64.powi(-53) - 0.5;
            // As many bits as the integers of the model have.
            let number = mantissa * 2f64.powi(random.below(30) as i32);
            (number * 2f64.powi(53)).trunc() * 2f64.powi(-53)
        };
        let mut numbers: Vec<f64> = (0..count).map(|_| number()).collect();
        if count > 4 {
            // Cancels most of the sum.
            numbers[0] = -numbers[1..].iter().sum::<f64>();
            numbers[0] = (numbers[0] * 2f64.powi(53)).trunc() * 2f64.powi(-53);
        }
        let model = exact(&numbers) as f64 * 2f64.powi(-83);
        assert_eq!(sum_of_doubles(&numbers), model, "{numbers:?}");
    }
}

#[test]
fn every_order_and_grouping_gives_the_same_bits() {
    let mut random = Random(5);
    for round in 0..400 {
        let count = 2 + random.below(12);
        let numbers: Vec<f64> = (0..count)
            .map(|_| match round % 3 {
                // Of all sizes, subnormal ones too.
                0 => f64::from_bits(random.next() & !(0x7ff << 52) | (random.next() % 2047) << 52),
                1 => f64::from_bits(random.next() & !(0x7ff << 52) | (1000 + random.next() % 60) << 52),
                _ => f64::from_bits(random.next() & 0x800f_ffff_ffff_ffff),
            })
            .collect();
        let first = summed(binning(MPI_DOUBLE), &doubles(&numbers));
        for _ in 0..20 {
            let other = summed_at_random(binning(MPI_DOUBLE), &doubles(&numbers), &mut random);
            assert_eq!(first, other, "{numbers:?}");
        }
    }
}

#[test]
fn only_the_sum_overflows_and_not_a_part_of_it() {
    let most = f64::MAX;
    assert_eq!(sum_of_doubles(&[most, most, -most]), most);
    assert_eq!(sum_of_doubles(&[most, most]), f64::INFINITY);
    assert_eq!(sum_of_doubles(&[-most, -most, -most]), f64::NEG_INFINITY);
    // Half of the last place: rounds to the even number, which is infinite; less does not.
    let last = 2f64.powi(971);
    assert_eq!(sum_of_doubles(&[most, last / 2.0]), f64::INFINITY);
    assert_eq!(sum_of_doubles(&[most, last / 2.0, -2f64.powi(900)]), most);
}

#[test]
fn ties_go_to_the_even_number_unless_a_lower_digit_decides() {
    let half = 2f64.powi(-53);
    assert_eq!(sum_of_doubles(&[1.0, half]), 1.0);
    assert_eq!(sum_of_doubles(&[1.0, half, 2f64.powi(-90)]), 1.0 + 2.0 * half);
    assert_eq!(sum_of_doubles(&[1.0, half, -2f64.powi(-90)]), 1.0);
    assert_eq!(sum_of_doubles(&[1.0 + 2.0 * half, half]), 1.0 + 4.0 * half);
    let least = 5e-324;
    assert_eq!(sum_of_doubles(&[f64::MIN_POSITIVE, -least]), f64::MIN_POSITIVE - least);
}

#[test]
fn special_numbers_follow_the_rules_of_ieee_754() {
    let (infinite, not) = (f64::INFINITY, f64::NAN);
    assert_eq!(sum_of_doubles(&[1.0, infinite, -5.0]), infinite);
    assert_eq!(sum_of_doubles(&[-infinite, f64::MAX]), -infinite);
    assert!(sum_of_doubles(&[infinite, 1.0, -infinite]).is_nan());
    assert!(sum_of_doubles(&[1.0, not]).is_nan());
    assert_eq!(sum_of_doubles(&[-0.0, -0.0]).to_bits(), (-0.0f64).to_bits());
    assert_eq!(sum_of_doubles(&[-0.0, 0.0]).to_bits(), 0);
    assert_eq!(sum_of_doubles(&[1.0, -1.0, -0.0]).to_bits(), 0);
}

#[test]
fn complex_numbers_are_two_sums_and_other_reductions_none() {
    let number = |real: f64, imaginary: f64| [real.to_ne_bytes(), imaginary.to_ne_bytes()].concat();
    let binning = binning(MPI_C_DOUBLE_COMPLEX);
    let sum = summed(binning, &[number(1e20, -1.0), number(3.0, 1e-20), number(-1e20, 1.0)]);
    // Exact, because all bits are among the first 97.
    let sum: Vec<f64> =
        sum.chunks(8).filter_map(|part| part.first_chunk().map(|part| f64::from_ne_bytes(*part))).collect();
    assert!(sum[0] == 3.0 && (sum[1] - 1e-20).abs() < 1e-28, "{sum:?}");
    for (op, handle) in [(MPI_PROD, MPI_DOUBLE), (MPI_SUM, MPI_INT), (MPI_MAX, MPI_FLOAT)] {
        let (op, datatype) = (Op::predefined(op).expect("an operation"), predefined(handle).expect("a type"));
        assert!(Binning::of(op, datatype).is_none());
    }
}

#[test]
fn many_numbers_do_not_overflow_a_digit() {
    let number = f64::from_bits(0x40ff_ffff_ffff_ffff);
    let mut sum = Binned::of(Double::read(&number.to_ne_bytes()));
    // 2^30 equal operands, by doubling.
    (0..30).for_each(|_| sum = sum.plus(&sum));
    let mut bytes = [0; 8];
    Double::write(sum.total(), &mut bytes);
    assert_eq!(f64::from_ne_bytes(bytes), number * 2f64.powi(30));
    assert_ne!(sum.total(), Total::Nan);
    assert_eq!(
        Binned::of(Number::Finite { negative: true, mantissa: 0, exponent: 0 }).total(),
        Total::Zero { negative: true }
    );
}
