//! A model of datatypes: the type map, entry by entry, as the standard defines it, and random types with their model.
#![allow(dead_code)] // each test uses a part of it

use mpi_core::abi::*;
use mpi_datatype::{Datatype, Distribution, Form, Subarray, predefined};

/// A type as its type map.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// Offset and size of each basic element.
    pub map: Vec<(i64, i64)>,
    /// Bounds that a resized part gives.
    pub marks: Option<(i64, i64)>,
    /// Largest alignment of a basic element.
    pub alignment: i64,
}

impl Model {
    pub fn size(&self) -> i64 {
        self.map.iter().map(|(_, size)| size).sum()
    }

    pub fn true_bounds(&self) -> (i64, i64) {
        let low = self.map.iter().map(|(offset, _)| *offset).min().unwrap_or(0);
        let high = self.map.iter().map(|(offset, size)| offset + size).max().unwrap_or(0);
        (low, high - low)
    }

    /// Lower bound and extent.
    pub fn bounds(&self) -> (i64, i64) {
        match self.marks {
            Some((lower, upper)) => (lower, upper - lower),
            None => {
                let (low, extent) = self.true_bounds();
                (low, (extent + self.alignment - 1) / self.alignment * self.alignment)
            }
        }
    }

    /// The parts at their displacements.
    pub fn joined<'m>(parts: impl IntoIterator<Item = (i64, &'m Model)>) -> Model {
        let mut whole = Model { alignment: 1, ..Model::default() };
        for (place, part) in parts {
            whole.map.extend(part.map.iter().map(|(offset, size)| (offset + place, *size)));
            if let Some((lower, upper)) = part.marks {
                let (least, most) = whole.marks.unwrap_or((lower + place, upper + place));
                whole.marks = Some((least.min(lower + place), most.max(upper + place)));
            }
            if !part.map.is_empty() {
                whole.alignment = whole.alignment.max(part.alignment);
            }
        }
        whole
    }

    pub fn blocks(&self, places: impl IntoIterator<Item = (i64, i64)>) -> Model {
        let extent = self.bounds().1;
        let each = places.into_iter().flat_map(|(place, length)| (0..length).map(move |i| (place + i * extent, self)));
        Model::joined(each)
    }

    /// The places of the packed bytes of `count` elements.
    pub fn bytes(&self, count: i64) -> Vec<i64> {
        let extent = self.bounds().1;
        let elements = (0..count).flat_map(|i| self.map.iter().map(move |(offset, size)| (offset + i * extent, *size)));
        elements.flat_map(|(offset, size)| offset..offset + size).collect()
    }
}

/// A generator of numbers that is the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of `low ..= high`.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    pub fn list(&mut self, length: i64, low: i64, high: i64) -> Vec<i64> {
        (0..length).map(|_| self.within(low, high)).collect()
    }
}

/// The most basic elements of a random type.
const MOST: usize = 600;

/// A random type of at most so many levels, with its model.
pub fn random_type(numbers: &mut Numbers, levels: u32) -> (Datatype, Model) {
    loop {
        let made = if levels == 0 { basic(numbers) } else { derived(numbers, levels) };
        if made.1.map.len() <= MOST {
            return made;
        }
    }
}

fn basic(numbers: &mut Numbers) -> (Datatype, Model) {
    let list: [(usize, &[(i64, i64)], Option<(i64, i64)>, i64); 8] = [
        (MPI_BYTE, &[(0, 1)], None, 1),
        (MPI_SHORT, &[(0, 2)], None, 2),
        (MPI_INT, &[(0, 4)], None, 4),
        (MPI_DOUBLE, &[(0, 8)], None, 8),
        (MPI_C_DOUBLE_COMPLEX, &[(0, 16)], None, 8),
        (MPI_SHORT_INT, &[(0, 2), (4, 4)], None, 4),
        (MPI_DOUBLE_INT, &[(0, 8), (8, 4)], None, 8),
        (MPI_LONG_DOUBLE_INT, &[(0, 16), (16, 4)], None, 16),
    ];
    let (word, map, marks, alignment) = list[numbers.within(0, 7) as usize];
    let datatype = predefined(word).expect("predefined").clone();
    (datatype, Model { map: map.to_vec(), marks, alignment })
}

fn derived(numbers: &mut Numbers, levels: u32) -> (Datatype, Model) {
    let below = numbers.within(0, i64::from(levels) - 1) as u32;
    let (old, model) = random_type(numbers, below);
    let extent = model.bounds().1;
    let form = if numbers.within(0, 1) == 0 { Form::Small } else { Form::Large };
    let made = match numbers.within(0, 12) {
        0 => {
            let count = numbers.within(0, 5);
            (Datatype::contiguous(count as u64, &old, form), model.blocks([(0, count)]))
        }
        1 | 2 => {
            let (count, length, stride) = (numbers.within(0, 6), numbers.within(0, 4), numbers.within(-6, 8));
            let places = (0..count).map(|i| (i * stride * extent, length));
            (Datatype::vector(count as u64, length as u64, stride, &old, form), model.blocks(places))
        }
        3 => {
            let (count, length, stride) = (numbers.within(0, 6), numbers.within(0, 4), numbers.within(-70, 90));
            let places = (0..count).map(|i| (i * stride, length));
            (Datatype::hvector(count as u64, length as u64, stride, &old, form), model.blocks(places))
        }
        4 | 5 => {
            let count = numbers.within(0, 9);
            let (lengths, places) = (numbers.list(count, 0, 3), numbers.list(count, -9, 12));
            let blocks = places.iter().map(|place| place * extent).zip(lengths.iter().copied());
            (Datatype::indexed(&lengths, &places, &old, form), model.blocks(blocks))
        }
        6 => {
            let count = numbers.within(0, 9);
            let (lengths, places) = (numbers.list(count, 0, 3), numbers.list(count, -50, 90));
            let blocks = places.iter().copied().zip(lengths.iter().copied());
            (Datatype::hindexed(&lengths, &places, &old, form), model.blocks(blocks))
        }
        7 => {
            let count = numbers.within(0, 9);
            let (length, places) = (numbers.within(0, 3), numbers.list(count, -9, 12));
            let blocks = places.iter().map(|place| (place * extent, length));
            (Datatype::indexed_block(length as u64, &places, &old, form), model.blocks(blocks))
        }
        8 => {
            let count = numbers.within(0, 9);
            let (length, places) = (numbers.within(0, 3), numbers.list(count, -50, 90));
            let blocks = places.iter().map(|place| (*place, length));
            (Datatype::hindexed_block(length as u64, &places, &old, form), model.blocks(blocks))
        }
        9 => structure(numbers, levels, form),
        10 => {
            let (lower, extent) = (numbers.within(-20, 20), numbers.within(-40, 80));
            let resized = Model { marks: Some((lower, lower + extent)), ..model };
            (Datatype::resized(lower, extent, &old, form), resized)
        }
        11 => subarray(numbers, &old, &model, form),
        _ => darray(numbers, &old, &model, form),
    };
    (made.0.expect("small numbers"), made.1)
}

fn structure(numbers: &mut Numbers, levels: u32, form: Form) -> (mpi_errors::Result<Datatype>, Model) {
    let count = numbers.within(0, 4);
    let (lengths, places) = (numbers.list(count, 0, 3), numbers.list(count, -60, 120));
    let parts: Vec<_> = (0..count).map(|_| random_type(numbers, levels - 1)).collect();
    let types: Vec<_> = parts.iter().map(|(datatype, _)| datatype.clone()).collect();
    let blocks: Vec<Model> =
        parts.iter().zip(&lengths).map(|((_, model), length)| model.blocks([(0, *length)])).collect();
    (Datatype::structure(&lengths, &places, &types, form), Model::joined(places.into_iter().zip(&blocks)))
}

/// The places, in elements of the whole array, of the elements that `takes` accepts, in memory order.
fn array(sizes: &[i64], order: i32, takes: impl Fn(&[i64]) -> bool) -> Vec<i64> {
    let all: i64 = sizes.iter().product();
    let at = |mut place: i64| {
        let mut index = vec![0; sizes.len()];
        let mut set = |dimension: usize| {
            index[dimension] = place % sizes[dimension];
            place /= sizes[dimension];
        };
        if order == MPI_ORDER_C {
            (0..sizes.len()).rev().for_each(&mut set)
        } else {
            (0..sizes.len()).for_each(&mut set)
        }
        index
    };
    (0..all).filter(|place| takes(&at(*place))).collect()
}

fn whole_array(model: &Model, places: &[i64], sizes: &[i64]) -> Model {
    let extent = model.bounds().1;
    let part = model.blocks(places.iter().map(|place| (place * extent, 1)));
    Model { marks: Some((0, sizes.iter().product::<i64>() * extent)), ..part }
}

fn any_order(numbers: &mut Numbers) -> i32 {
    if numbers.within(0, 1) == 0 { MPI_ORDER_C } else { MPI_ORDER_FORTRAN }
}

fn subarray(numbers: &mut Numbers, old: &Datatype, model: &Model, form: Form) -> (mpi_errors::Result<Datatype>, Model) {
    let dimensions = numbers.within(1, 3);
    let sizes = numbers.list(dimensions, 1, 5);
    let subsizes: Vec<i64> = sizes.iter().map(|size| numbers.within(1, *size)).collect();
    let starts: Vec<i64> = sizes.iter().zip(&subsizes).map(|(size, part)| numbers.within(0, size - part)).collect();
    let order = any_order(numbers);
    let places = array(&sizes, order, |index| {
        index.iter().zip(&starts).zip(&subsizes).all(|((i, start), part)| (*start..start + part).contains(i))
    });
    let part = Subarray { sizes: &sizes, subsizes: &subsizes, starts: &starts, order };
    (Datatype::subarray(&part, old, form), whole_array(model, &places, &sizes))
}

fn darray(numbers: &mut Numbers, old: &Datatype, model: &Model, form: Form) -> (mpi_errors::Result<Datatype>, Model) {
    let dimensions = numbers.within(1, 3);
    let sizes = numbers.list(dimensions, 1, 7);
    let (mut kinds, mut arguments, mut grid, mut blocks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for size in &sizes {
        let processes = numbers.within(1, 3);
        let (kind, processes, argument, block) = match numbers.within(0, 4) {
            0 => (MPI_DISTRIBUTE_NONE, 1, MPI_DISTRIBUTE_DFLT_DARG, *size),
            1 => (MPI_DISTRIBUTE_CYCLIC, processes, MPI_DISTRIBUTE_DFLT_DARG, 1),
            2 => {
                let block = numbers.within(1, 4);
                (MPI_DISTRIBUTE_CYCLIC, processes, block as i32, block)
            }
            3 => (MPI_DISTRIBUTE_BLOCK, processes, MPI_DISTRIBUTE_DFLT_DARG, (size + processes - 1) / processes),
            _ => {
                let block = (size + processes - 1) / processes + numbers.within(0, 2);
                (MPI_DISTRIBUTE_BLOCK, processes, block as i32, block)
            }
        };
        kinds.push(kind);
        grid.push(processes as i32);
        arguments.push(argument);
        blocks.push(block);
    }
    let size: i32 = grid.iter().product();
    let rank = numbers.within(0, i64::from(size) - 1) as i32;
    let order = any_order(numbers);
    // The grid is always in row-major order.
    let mut rest = rank;
    let mut own = vec![0; grid.len()];
    for dimension in (0..grid.len()).rev() {
        own[dimension] = i64::from(rest % grid[dimension]);
        rest /= grid[dimension];
    }
    let places =
        array(&sizes, order, |index| (0..index.len()).all(|d| index[d] / blocks[d] % i64::from(grid[d]) == own[d]));
    let part = Distribution { size, rank, sizes: &sizes, kinds: &kinds, arguments: &arguments, grid: &grid, order };
    (Datatype::darray(&part, old, form), whole_array(model, &places, &sizes))
}
