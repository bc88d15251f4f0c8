//! `-soft`: the acceptable numbers of processes (MPI-4.1, 11.8.4, the info key `soft`).
//!
//! A list of Fortran-90 triplets `a`, `a:b`, `a:b:c`, divided by commas; the set is their union.
//! Invariant: a triplet's step is never 0, and leads from its begin to its end.

use std::ffi::OsStr;

/// The accepted values.
pub(super) const RULE: &str = "a list of numbers and ranges a:b or a:b:c (from a to b in steps of c, c not 0 and in \
                               the direction from a to b), divided by commas";

/// A set of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Soft {
    text: String,
    triplets: Vec<Triplet>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Triplet {
    begin: i64,
    end: i64,
    step: i64,
}

impl Soft {
    /// Reads a list; `None` if it is not one.
    pub fn parse(text: &OsStr) -> Option<Soft> {
        let text = text.to_str()?.to_owned();
        let triplets = text.split(',').map(Triplet::parse).collect::<Option<Vec<_>>>()?;
        Some(Soft { text, triplets })
    }

    /// The list as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The largest number in the set from 1 to `most`.
    pub fn largest(&self, most: u32) -> Option<u32> {
        self.triplets.iter().filter_map(|triplet| triplet.largest(most.into())).max()
    }
}

impl Triplet {
    fn parse(text: &str) -> Option<Triplet> {
        let mut numbers = text.split(':').map(number);
        let begin = numbers.next()??;
        let end = numbers.next().unwrap_or(Some(begin))?;
        let step = numbers.next().unwrap_or(Some(1))?;
        let forward = match end.cmp(&begin) {
            std::cmp::Ordering::Equal => step != 0,
            std::cmp::Ordering::Greater => step > 0,
            std::cmp::Ordering::Less => step < 0,
        };
        (forward && numbers.next().is_none()).then_some(Triplet { begin, end, step })
    }

    fn largest(&self, most: i64) -> Option<u32> {
        // Reversed into ascending order: the same numbers, since they are counted from `begin`.
        let steps = (self.end - self.begin) / self.step;
        let (low, step) = match self.step > 0 {
            true => (self.begin, self.step),
            false => (self.begin + steps * self.step, -self.step),
        };
        let fitting = (most - low).checked_div_euclid(step)?.min(steps);
        let number = low + fitting * step;
        if fitting >= 0 && number >= 1 { u32::try_from(number).ok() } else { None }
    }
}

/// A decimal number with an optional sign; far beyond any number of processes, so that nothing overflows.
fn number(text: &str) -> Option<i64> {
    let text = text.trim();
    text.parse().ok().filter(|n: &i64| n.abs() <= 1 << 40)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn largest(text: &str, most: u32) -> Option<u32> {
        Soft::parse(OsStr::new(text)).unwrap_or_else(|| panic!("{text}")).largest(most)
    }

    #[test]
    fn the_standards_examples() {
        assert_eq!(largest("0:16", 16), Some(16));
        let powers = "1,2,4,8,16,32,64,128,256,512,1024,2048,4096";
        assert_eq!([1, 3, 100, 512, 1023].map(|most| largest(powers, most)), [1, 2, 64, 512, 512].map(Some));
        assert_eq!([1, 2, 7, 1000].map(|most| largest("2:10000:2", most)), [None, Some(2), Some(6), Some(1000)]);
        let mixed = "2:10:2,7";
        assert_eq!([2, 3, 5, 7, 9, 12].map(|most| largest(mixed, most)), [2, 2, 4, 7, 8, 10].map(Some));
    }

    #[test]
    fn negative_and_too_large_numbers_are_ignored_and_order_does_not_matter() {
        assert_eq!(largest("-5,100,3", 10), Some(3));
        assert_eq!(largest("-5:-1,0", 10), None);
        assert_eq!(largest("10:2:-4", 9), Some(6));
        assert_eq!(largest("10:1:-4", 5), Some(2));
        assert_eq!(largest("9:-9:-3", 2), None);
        assert_eq!(largest("5:5:-3", 8), Some(5));
    }

    #[test]
    fn malformed_lists_are_refused() {
        for bad in
            ["", ",", "a", "1,", "1:", ":2", "1:2:0", "1:2:-1", "2:1", "2:1:1", "1:2:3:4", "1;2", "99999999999999"]
        {
            assert_eq!(Soft::parse(OsStr::new(bad)), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn it_is_the_largest_number_that_counting_finds(a in -20i64..40, b in -20i64..40, c in 1i64..7, most in 1u32..45) {
            let step = if b < a { -c } else { c };
            let counted = (0..100).map(|k| a + k * step).filter(|n| (if step > 0 { *n <= b } else { *n >= b }) && *n >= 1);
            let due = counted.filter(|n| *n <= i64::from(most)).max();
            prop_assert_eq!(largest(&format!("{a}:{b}:{step}"), most).map(i64::from), due);
        }
    }
}
