//! Balanced dimensions of a grid (`MPI_Dims_create`, MPI-5.0, 8.5.2).
//!
//! Of all ways to write the number of processes as a product, the search takes the one with the smallest difference
//! between the largest and the smallest factor; of several, the one with the smallest sum, which is the one with the
//! least data on the borders of a cube that is divided so; of several, the one with the largest smallest factor.
//! Invariant: the search visits factors in descending order and leaves a branch as soon as its bounds exclude a better
//! result, so that any number of processes takes microseconds.

use std::cmp::Reverse;

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_DIMS};
use mpi_errors::{Error, Result};

use super::primes::prime_factors;

/// `MPI_Dims_create`: replaces the zeros of `dims` by factors in descending order, so that the product of all is
/// `nodes`. Takes no lock; thread-safe. Nothing is to be done without dimensions.
///
/// Errors: `MPI_ERR_ARG` without nodes; `MPI_ERR_DIMS` for a negative dimension, and for nodes that are no multiple of
/// the product of the given dimensions (without zeros: not that product).
pub fn dims_create(nodes: i32, dims: &mut [i32]) -> Result<()> {
    let Some(nodes) = u32::try_from(nodes).ok().filter(|nodes| *nodes > 0) else {
        return Err(Error::new(MPI_ERR_ARG, "a grid has at least one node").arg("nnodes", &nodes));
    };
    let mut given = 1_u64;
    for (place, dim) in dims.iter().enumerate() {
        if *dim < 0 {
            let rule = "a dimension is positive, or 0 for one to be found";
            return Err(Error::new(MPI_ERR_DIMS, rule).arg("dims", dim).in_element(place));
        }
        if *dim > 0 {
            given = given.saturating_mul(*dim as u64);
        }
    }
    let free = dims.iter().filter(|dim| **dim == 0).count();
    let fits = if free == 0 { u64::from(nodes) == given } else { u64::from(nodes).is_multiple_of(given) };
    if dims.is_empty() {
        return Ok(());
    }
    if !fits {
        let rule = match free {
            0 => format!("the product of the dimensions is {given}, and no dimension is left to find"),
            _ => format!("the product of the given dimensions is {given}, which does not divide the nodes"),
        };
        return Err(Error::new(MPI_ERR_DIMS, rule).arg("nnodes", &nodes));
    }
    if free > 0 {
        let factors = balanced((u64::from(nodes) / given) as u32, free);
        let places = dims.iter_mut().filter(|dim| **dim == 0);
        places.zip(factors).for_each(|(place, factor)| *place = factor as i32);
    }
    Ok(())
}

/// One more than the most prime factors that a number of nodes has: further factors are 1.
const MOST_FACTORS: usize = 31;

/// The number as a product of `count` factors, in descending order, as near to each other as possible.
fn balanced(number: u32, count: usize) -> Vec<u32> {
    if count == 1 {
        return vec![number];
    }
    let mut search = Search { divisors: divisors(number), chosen: Vec::new(), best: None, visited: 0 };
    search.extend(number, count.min(MOST_FACTORS), number);
    let mut factors = search.best.map_or_else(|| vec![number], |best| best.factors);
    factors.resize(count, 1);
    factors
}

/// A divisor of the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Divisor {
    value: u32,
    /// Its largest prime factor; 1 for 1.
    largest_prime: u32,
    /// The number of its prime factors, each as often as it divides.
    primes: u32,
    /// Their sum.
    sum: u32,
}

/// The state of the search.
struct Search {
    /// All divisors of the number, in ascending order.
    divisors: Vec<Divisor>,
    chosen: Vec<u32>,
    best: Option<Found>,
    /// Factors tried.
    visited: u64,
}

struct Found {
    spread: u32,
    sum: u64,
    smallest: u32,
    factors: Vec<u32>,
}

impl Found {
    /// The better result is less.
    fn measure(&self) -> (u32, u64, Reverse<u32>) {
        (self.spread, self.sum, Reverse(self.smallest))
    }
}

impl Search {
    /// Tries all factors for what is left, `count` of them, none above `limit`.
    fn extend(&mut self, left: u32, count: usize, limit: u32) {
        self.visited += 1;
        if count == 1 {
            return self.finish(left, limit);
        }
        // The largest of the factors that are left is at least their mean, and has room for the largest prime.
        let least = self.divisor(left).largest_prime.max(root_above(left, count));
        let start = self.divisors.partition_point(|divisor| divisor.value < least);
        for place in start..self.divisors.len() {
            let factor = self.divisors[place].value;
            // A larger factor leaves less for the others, so that the smallest of them only gets smaller.
            if factor > limit.min(left) || self.least_spread(factor, left, count) > self.best_spread() {
                break;
            }
            if left.is_multiple_of(factor) && self.can_improve(factor, left / factor, count - 1) {
                self.chosen.push(factor);
                self.extend(left / factor, count - 1, factor);
                self.chosen.pop();
            }
        }
    }

    fn best_spread(&self) -> u32 {
        self.best.as_ref().map_or(u32::MAX, |best| best.spread)
    }

    /// The least possible difference with `factor` as the next of `count` factors: the smallest one is at most their
    /// mean.
    fn least_spread(&self, factor: u32, left: u32, count: usize) -> u32 {
        let largest = *self.chosen.first().unwrap_or(&factor);
        largest - root_below(left / factor, count - 1).min(largest)
    }

    /// Whether a better result is still possible when `count` factors of `left` follow `factor`.
    fn can_improve(&self, factor: u32, left: u32, count: usize) -> bool {
        let Some(best) = &self.best else { return true };
        let largest = *self.chosen.first().unwrap_or(&factor);
        // The mean of numbers with this product is least when all are equal. No sum of factors is less than that of
        // their prime factors; a factor of 1 has none.
        let equal = (count as f64 * f64::from(left).powf(1.0 / count as f64) - 1e-6).ceil() as u64;
        let primes = self.divisor(left);
        let split = u64::from(primes.sum) + (count as u64).saturating_sub(u64::from(primes.primes));
        let so_far = self.chosen.iter().map(|factor| u64::from(*factor)).sum::<u64>() + u64::from(factor);
        // The smallest is their mean at most, and 1 where there are fewer prime factors than factors.
        let smallest = if (primes.primes as usize) < count { 1 } else { root_below(left, count) };
        let possible = (largest.saturating_sub(smallest), so_far + equal.max(split), Reverse(smallest));
        possible < best.measure()
    }

    fn finish(&mut self, last: u32, limit: u32) {
        if last > limit {
            return;
        }
        let largest = *self.chosen.first().unwrap_or(&last);
        let spread = largest - last;
        let sum = self.chosen.iter().map(|factor| u64::from(*factor)).sum::<u64>() + u64::from(last);
        if self.best.as_ref().is_none_or(|best| (spread, sum, Reverse(last)) < best.measure()) {
            let factors = self.chosen.iter().copied().chain([last]).collect();
            self.best = Some(Found { spread, sum, smallest: last, factors });
        }
    }

    fn divisor(&self, value: u32) -> Divisor {
        let place = self.divisors.partition_point(|divisor| divisor.value < value);
        self.divisors[place]
    }
}

/// The smallest number whose power is at least `number`.
fn root_above(number: u32, power: usize) -> u32 {
    let reaches = |root: u64| {
        (0..power).try_fold(1_u64, |product, _| Some(product * root).filter(|all| *all < u64::from(number))).is_none()
    };
    let guess = f64::from(number).powf(1.0 / power as f64).ceil() as u64;
    // The guess may be off by one.
    (guess.saturating_sub(1).max(1)..).find(|root| reaches(*root)).map_or(number, |root| root as u32)
}

/// The largest number whose power is at most `number`, which is not 0.
fn root_below(number: u32, power: usize) -> u32 {
    root_above(number.saturating_add(1), power) - 1
}

/// All divisors in ascending order.
fn divisors(number: u32) -> Vec<Divisor> {
    let mut all = vec![Divisor { value: 1, largest_prime: 1, primes: 0, sum: 0 }];
    for (prime, power) in prime_factors(number) {
        let before = all.len();
        for times in 1..=power {
            for place in 0..before {
                let Divisor { value, primes, sum, .. } = all[place];
                let value = value * prime.pow(times);
                all.push(Divisor { value, largest_prime: prime, primes: primes + times, sum: sum + prime * times });
            }
        }
    }
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All products of `count` factors in descending order, by trial of every number.
    fn all_products(number: u32, count: usize, limit: u32, prefix: &mut Vec<u32>, each: &mut impl FnMut(&[u32])) {
        if count == 1 {
            if number <= limit {
                prefix.push(number);
                each(prefix);
                prefix.pop();
            }
            return;
        }
        for factor in (1..=number.min(limit)).filter(|factor| number.is_multiple_of(*factor)) {
            prefix.push(factor);
            all_products(number / factor, count - 1, factor, prefix, each);
            prefix.pop();
        }
    }

    fn measure(factors: &[u32]) -> (u32, u64, Reverse<u32>) {
        let smallest = factors[factors.len() - 1];
        (factors[0] - smallest, factors.iter().map(|factor| u64::from(*factor)).sum(), Reverse(smallest))
    }

    fn exhaustive(number: u32, count: usize) -> (u32, u64, Reverse<u32>) {
        let mut best = (u32::MAX, u64::MAX, Reverse(0));
        all_products(number, count, number, &mut Vec::new(), &mut |factors| best = best.min(measure(factors)));
        best
    }

    #[test]
    fn no_product_is_better_balanced() {
        // Without optimization a sample: every number below 400, then every 37th.
        let step = if cfg!(debug_assertions) { 37 } else { 1 };
        for number in (1..400).chain((400..=10_000).step_by(step)) {
            for count in 1..=4 {
                let found = balanced(number, count);
                assert_eq!(found.iter().product::<u32>(), number);
                assert!(found.len() == count && found.is_sorted_by(|a, b| a >= b), "{number}: {found:?}");
                assert_eq!(measure(&found), exhaustive(number, count), "{number}: {found:?}");
            }
        }
    }

    #[test]
    fn zeros_are_replaced_in_descending_order_and_given_dimensions_stay() {
        let of = |nodes, dims: &[i32]| {
            let mut dims = dims.to_vec();
            dims_create(nodes, &mut dims).map(|()| dims).map_err(|error| error.class())
        };
        assert_eq!(of(6, &[0, 0]), Ok(vec![3, 2]));
        assert_eq!(of(7, &[0, 0]), Ok(vec![7, 1]));
        assert_eq!(of(6, &[0, 3, 0]), Ok(vec![2, 3, 1]));
        assert_eq!(of(7, &[0, 3, 0]), Err(MPI_ERR_DIMS));
        assert_eq!(of(12, &[4, 3]), Ok(vec![4, 3]));
        assert_eq!(of(24, &[4, 3]), Err(MPI_ERR_DIMS));
        assert_eq!(of(12, &[-1, 0]), Err(MPI_ERR_DIMS));
        assert_eq!(of(12, &[i32::MAX, i32::MAX, i32::MAX, 0]), Err(MPI_ERR_DIMS));
        assert_eq!((of(0, &[0]), of(-5, &[0]), of(5, &[])), (Err(MPI_ERR_ARG), Err(MPI_ERR_ARG), Ok(vec![])));
        assert_eq!(of(i32::MAX, &[0, 0, 0]), Ok(vec![i32::MAX, 1, 1]));
        assert_eq!(of(1 << 30, &[0, 0, 0]), Ok(vec![1024, 1024, 1024]));
        assert_eq!(of(1, &[0; 40]), Ok(vec![1; 40]));
        let many = of(1 << 30, &vec![0; 1_000_000]).expect("30 twos");
        assert!(many.iter().take(30).all(|dim| *dim == 2) && many.iter().skip(30).all(|dim| *dim == 1));
    }

    #[test]
    fn the_search_stays_small() {
        // Numbers with the most divisors below 2^31, powers, and products with one large prime.
        let hard = [
            2_095_133_040,
            1_396_755_360,
            1_102_701_600,
            735_134_400,
            698_377_680,
            1 << 30,
            1 << 20,
            3_u32.pow(19),
            2_147_483_647,
            2 * 1_073_741_789,
            46_337 * 46_337,
            101 * 20_160 * 1_000,
            2_003 << 20,
            60_466_176,
            510_510 * 4_199,
            6_469_693_u32 * 210,
        ];
        let mut most = 0;
        for number in hard {
            for count in 2..=40 {
                let divisors = divisors(number);
                let mut search = Search { divisors, chosen: Vec::new(), best: None, visited: 0 };
                search.extend(number, count, number);
                let best = search.best.expect("a product");
                assert_eq!(best.factors.iter().map(|factor| u64::from(*factor)).product::<u64>(), u64::from(number));
                most = most.max(search.visited);
                assert!(search.visited < 20_000, "{number} in {count}: {} visited, {:?}", search.visited, best.factors);
            }
        }
        assert!(most > 40, "the count counts");
    }
}
