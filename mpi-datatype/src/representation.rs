//! The layout of a type in memory whose predefined types have other sizes: in a file with another data representation
//! (MPI-5.0, 14.5).
//!
//! The calls that constructed the type are repeated on types of these sizes: what they count in elements is scaled,
//! displacements in bytes stay as they are, and no element is aligned.
//! Not here: conversion of data (`external32`).

use std::collections::HashMap;

use mpi_core::abi::*;
use mpi_errors::Result;

use crate::construct_array::{Distribution, Subarray};
use crate::datatype::Datatype;
use crate::envelope::{Envelope, Form};
use crate::predefined::predefined;

impl Datatype {
    /// The same type of predefined types that have `size_of` bytes, committed; its data are bytes. Errors: those of the
    /// constructors and of `size_of`.
    pub fn with_sizes(&self, mut size_of: impl FnMut(&Datatype) -> Result<u64>) -> Result<Datatype> {
        // A type may be a part of many others: each is made once.
        let mut made: HashMap<usize, Datatype> = HashMap::new();
        // A chain of types of any depth needs no stack of calls.
        let mut pending = vec![self];
        while let Some(datatype) = pending.last().copied() {
            if made.contains_key(&key(datatype)) {
                pending.pop();
                continue;
            }
            let new = match datatype.envelope().filter(|envelope| !envelope.datatypes.is_empty()) {
                None => {
                    let byte = predefined(MPI_BYTE).expect("it is predefined");
                    Datatype::contiguous(size_of(datatype)?, byte, Form::Large)?
                }
                Some(envelope) => {
                    let missing = envelope.datatypes.iter().filter(|part| !made.contains_key(&key(part)));
                    let before = pending.len();
                    pending.extend(missing);
                    if pending.len() > before {
                        continue;
                    }
                    let parts: Vec<Datatype> = envelope.datatypes.iter().map(|part| made[&key(part)].clone()).collect();
                    repeated(envelope, &parts)?
                }
            };
            made.insert(key(datatype), new);
            pending.pop();
        }
        Ok(made.remove(&key(self)).expect("it was made last").committed())
    }
}

/// Identifies a type while it is alive; the word of a predefined one is smaller than any address.
fn key(datatype: &Datatype) -> usize {
    datatype.envelope().map_or(datatype.word(), |envelope| std::ptr::from_ref(envelope).addr())
}

/// The arguments of a constructor, in its order.
struct Arguments<'e> {
    integers: std::slice::Iter<'e, i32>,
    addresses: std::slice::Iter<'e, i64>,
    large: std::slice::Iter<'e, i64>,
    form: Form,
}

impl Arguments<'_> {
    fn integer(&mut self) -> i32 {
        *self.integers.next().expect("an envelope has all arguments")
    }

    fn integers(&mut self, count: usize) -> Vec<i32> {
        (0..count).map(|_| self.integer()).collect()
    }

    fn count(&mut self) -> i64 {
        match self.form {
            Form::Small => self.integer().into(),
            Form::Large => *self.large.next().expect("an envelope has all arguments"),
        }
    }

    fn counts(&mut self, count: usize) -> Vec<i64> {
        (0..count).map(|_| self.count()).collect()
    }

    fn displacement(&mut self) -> i64 {
        let addresses = match self.form {
            Form::Small => &mut self.addresses,
            Form::Large => &mut self.large,
        };
        *addresses.next().expect("an envelope has all arguments")
    }

    fn displacements(&mut self, count: usize) -> Vec<i64> {
        (0..count).map(|_| self.displacement()).collect()
    }
}

/// The call of an envelope with other types.
fn repeated(envelope: &Envelope<Datatype>, types: &[Datatype]) -> Result<Datatype> {
    let form = if envelope.large_counts.is_empty() { Form::Small } else { Form::Large };
    let (integers, addresses) = (envelope.integers.iter(), envelope.addresses.iter());
    let mut given = Arguments { integers, addresses, large: envelope.large_counts.iter(), form };
    let old = &types[0];
    match envelope.combiner {
        MPI_COMBINER_CONTIGUOUS => Datatype::contiguous(given.count() as u64, old, form),
        MPI_COMBINER_VECTOR => {
            let (count, length, stride) = (given.count(), given.count(), given.count());
            Datatype::vector(count as u64, length as u64, stride, old, form)
        }
        MPI_COMBINER_HVECTOR => {
            let (count, length, stride) = (given.count(), given.count(), given.displacement());
            Datatype::hvector(count as u64, length as u64, stride, old, form)
        }
        MPI_COMBINER_INDEXED => {
            let count = given.count() as usize;
            let lengths = given.counts(count);
            Datatype::indexed(&lengths, &given.counts(count), old, form)
        }
        MPI_COMBINER_HINDEXED => {
            let count = given.count() as usize;
            let lengths = given.counts(count);
            Datatype::hindexed(&lengths, &given.displacements(count), old, form)
        }
        MPI_COMBINER_INDEXED_BLOCK => {
            let (count, length) = (given.count() as usize, given.count());
            Datatype::indexed_block(length as u64, &given.counts(count), old, form)
        }
        MPI_COMBINER_HINDEXED_BLOCK => {
            let (count, length) = (given.count() as usize, given.count());
            Datatype::hindexed_block(length as u64, &given.displacements(count), old, form)
        }
        MPI_COMBINER_STRUCT => {
            let count = given.count() as usize;
            let lengths = given.counts(count);
            Datatype::structure(&lengths, &given.displacements(count), types, form)
        }
        MPI_COMBINER_RESIZED => {
            let (lower, extent) = (given.displacement(), given.displacement());
            Datatype::resized(lower, extent, old, form)
        }
        MPI_COMBINER_SUBARRAY => {
            let dimensions = given.integer() as usize;
            let (sizes, subsizes) = (given.counts(dimensions), given.counts(dimensions));
            let (starts, order) = (given.counts(dimensions), given.integer());
            let part = Subarray { sizes: &sizes, subsizes: &subsizes, starts: &starts, order };
            Datatype::subarray(&part, old, form)
        }
        MPI_COMBINER_DARRAY => {
            let (size, rank, dimensions) = (given.integer(), given.integer(), given.integer() as usize);
            let sizes = given.counts(dimensions);
            let (kinds, arguments) = (given.integers(dimensions), given.integers(dimensions));
            let (grid, order) = (given.integers(dimensions), given.integer());
            let (kinds, arguments, grid) = (&kinds, &arguments, &grid);
            let part = Distribution { size, rank, sizes: &sizes, kinds, arguments, grid, order };
            Datatype::darray(&part, old, form)
        }
        // A duplicate.
        _ => Ok(old.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types of each constructor, of elements of a type.
    fn all(old: &Datatype, form: Form) -> Vec<Datatype> {
        let grid = Distribution {
            size: 6,
            rank: 4,
            sizes: &[7, 9],
            kinds: &[MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK],
            arguments: &[2, MPI_DISTRIBUTE_DFLT_DARG],
            grid: &[2, 3],
            order: MPI_ORDER_C,
        };
        let part = Subarray { sizes: &[5, 6], subsizes: &[2, 3], starts: &[1, 2], order: MPI_ORDER_FORTRAN };
        let bytes = old.extent() * 9;
        let made = vec![
            Datatype::contiguous(3, old, form),
            Datatype::vector(3, 2, 5, old, form),
            Datatype::hvector(3, 2, bytes, old, form),
            Datatype::indexed(&[1, 2], &[4, 0], old, form),
            Datatype::hindexed(&[1, 2], &[bytes, 0], old, form),
            Datatype::indexed_block(2, &[4, 0], old, form),
            Datatype::hindexed_block(2, &[bytes, 0], old, form),
            Datatype::structure(&[2, 1], &[0, bytes], &[old.clone(), old.clone()], form),
            Datatype::resized(-bytes, 3 * bytes, old, form),
            Datatype::subarray(&part, old, form),
            Datatype::darray(&grid, old, form),
            Ok(old.dup()),
        ];
        made.into_iter().map(|each| each.expect("small").committed()).collect()
    }

    fn facts(datatype: &Datatype) -> (u64, [i64; 4], Vec<(i64, u64)>) {
        let mut runs = Vec::new();
        datatype.each_run(0, datatype.size(), |offset, length| {
            runs.push((offset, length));
            true
        });
        let bounds = [datatype.lower_bound(), datatype.extent(), datatype.true_lower_bound(), datatype.true_extent()];
        (datatype.size(), bounds, runs)
    }

    #[test]
    fn every_constructor_is_repeated_as_it_was_called() {
        let int = predefined(MPI_INT).expect("predefined");
        for form in [Form::Small, Form::Large] {
            for datatype in all(int, form) {
                let same = datatype.with_sizes(|part| Ok(part.size())).expect("small");
                assert_eq!(facts(&same), facts(&datatype), "{:?}", datatype.envelope().map(|it| it.combiner));
                for nested in all(&datatype, form) {
                    let same = nested.with_sizes(|part| Ok(part.size())).expect("small");
                    assert_eq!(facts(&same), facts(&nested));
                }
            }
        }
    }

    #[test]
    fn places_in_elements_are_scaled_and_those_in_bytes_are_not() {
        let long = predefined(MPI_LONG).expect("predefined");
        let halved = |datatype: mpi_errors::Result<Datatype>| {
            facts(&datatype.expect("small").with_sizes(|part| Ok(part.size() / 2)).expect("small")).2
        };
        assert_eq!(halved(Datatype::vector(2, 1, 3, long, Form::Small)), [(0, 4), (12, 4)]);
        assert_eq!(halved(Datatype::hvector(2, 1, 24, long, Form::Small)), [(0, 4), (24, 4)]);
        let types = [predefined(MPI_CHAR).expect("predefined").clone(), long.clone()];
        let mixed = Datatype::structure(&[1, 1], &[0, 8], &types, Form::Small).expect("small");
        let packed = mixed.with_sizes(|part| Ok(part.size().div_ceil(2))).expect("small");
        assert_eq!((packed.size(), packed.extent()), (5, 12), "nothing is aligned");
    }

    #[test]
    fn many_levels_of_shared_parts_are_made_once_each() {
        let mut datatype = predefined(MPI_BYTE).expect("predefined").clone();
        for _ in 0..60 {
            let both = [datatype.clone(), datatype.clone()];
            let step = datatype.extent();
            datatype = Datatype::structure(&[1, 1], &[0, step], &both, Form::Small).expect("2^60 bytes");
        }
        let mut leaves = 0;
        let same = datatype.with_sizes(|_| {
            leaves += 1;
            Ok(1)
        });
        assert_eq!((same.expect("2^60 bytes").size(), leaves), (1 << 60, 1));
    }
}
