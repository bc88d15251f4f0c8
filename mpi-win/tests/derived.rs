//! Operations whose elements are of derived types, compared with lists of places that the tests compute.
#![allow(unsafe_code)] // looks at memory that gets fill, after the fence

mod common;

use common::{Numbers, Rank, WAYS, Way, kept, run};
use mpi_core::abi::*;
use mpi_datatype::{Datatype, Element, Form, RecvBuf, SendBuf, predefined};
use mpi_win::Target;

/// Words of the window in which each rank owns a region of every other.
const REGION: usize = 60_000;

/// A type of words, and the places of its words, from the element's address.
struct Words {
    datatype: Datatype,
    places: Vec<i64>,
}

impl Words {
    fn lowest(&self) -> i64 {
        self.places.iter().copied().min().unwrap_or(0)
    }

    fn end(&self) -> i64 {
        self.places.iter().copied().max().map_or(0, |last| last + 1)
    }
}

fn word() -> &'static Datatype {
    u64::datatype()
}

/// A type of `count` words. The shapes: rows of short blocks, rows of long ones, irregular single words, irregular
/// blocks of several lengths, backwards, and nested.
fn words(numbers: &mut Numbers, count: usize, shape: usize) -> Words {
    let (count, small) = (count as i64, Form::Small);
    let (datatype, places): (Datatype, Vec<i64>) = match shape {
        0 | 1 => {
            let length = if shape == 0 { 1 + numbers.below(3) as i64 } else { 100 };
            let (rows, rest) = (count / length, count % length);
            let stride = length + 1 + numbers.below(3) as i64;
            let rows_type = Datatype::vector(rows as u64, length as u64, stride, word(), small).expect("small");
            let types = [rows_type, word().clone()];
            let tail = (rows + 1) * stride;
            let datatype = Datatype::structure(&[1, rest], &[0, tail * 8], &types, small).expect("small");
            let in_rows = (0..rows * length).map(|at| at / length * stride + at % length);
            (datatype, in_rows.chain((0..rest).map(|at| tail + at)).collect())
        }
        2 => {
            let mut place = -7;
            let places: Vec<i64> = (0..count)
                .map(|_| {
                    place += 1 + numbers.below(4) as i64;
                    place
                })
                .collect();
            (Datatype::indexed_block(1, &places, word(), small).expect("small"), places)
        }
        3 => {
            let (mut lengths, mut starts, mut places, mut place) = (Vec::new(), Vec::new(), Vec::new(), 3);
            while (places.len() as i64) < count {
                let length = (1 + numbers.below(9) as i64).min(count - places.len() as i64);
                lengths.push(length);
                starts.push(place);
                places.extend(place..place + length);
                place += length + numbers.below(3) as i64;
            }
            (Datatype::indexed(&lengths, &starts, word(), small).expect("small"), places)
        }
        4 => {
            let back = Datatype::hvector(count as u64, 1, -16, word(), small).expect("small");
            (back, (0..count).map(|at| -2 * at).collect())
        }
        _ => {
            // Pairs of words with a gap of one inside, in rows of four words' distance from each other.
            let pair = Datatype::vector(2, 1, 2, word(), small).expect("small");
            let row = Datatype::resized(0, 32, &pair, small).expect("small");
            let (pairs, rest) = (count / 2, count % 2);
            let types = [row, word().clone()];
            let datatype = Datatype::structure(&[pairs, rest], &[0, pairs * 32], &types, small).expect("small");
            (datatype, (0..count).map(|at| at / 2 * 4 + at % 2 * 2).collect())
        }
    };
    Words { datatype: datatype.committed(), places }
}

/// The words of the type in new memory, with the address of the first element's place inside.
struct Local {
    memory: &'static mut [u64],
    start: usize,
}

impl Local {
    fn new(words: &Words, value: impl Fn(usize) -> u64) -> Local {
        let start = -words.lowest().min(0) as usize;
        let mut memory = vec![u64::MAX; start + words.end().max(0) as usize];
        for (at, place) in words.places.iter().enumerate() {
            memory[(start as i64 + place) as usize] = value(at);
        }
        Local { memory: kept(memory), start }
    }

    fn address(&self) -> *const u8 {
        self.memory.as_ptr().wrapping_add(self.start).cast()
    }

    fn send(&self, words: &Words) -> SendBuf<'static> {
        // SAFETY: the places lie in memory that stays.
        unsafe { SendBuf::new(self.address(), 1, &words.datatype) }.expect("committed")
    }

    fn receive(&mut self, words: &Words) -> RecvBuf<'static> {
        let address = self.memory.as_mut_ptr().wrapping_add(self.start).cast();
        // SAFETY: as above, and it is looked at after the fence only.
        unsafe { RecvBuf::new(address, 1, &words.datatype) }.expect("committed, without overlaps")
    }

    /// The memory, after the fence.
    fn seen(&self) -> Vec<u64> {
        // SAFETY: no operation uses it any more.
        (0..self.memory.len()).map(|at| unsafe { self.memory.as_ptr().add(at).read_volatile() }).collect()
    }
}

fn target(rank: usize, displacement: i64, datatype: &Datatype) -> Target<'_> {
    Target { rank: rank as i32, displacement, count: 1, datatype, handle: 1 << 60 }
}

/// Counts below and above every limit: inside of a record, a list of blocks, a piece of an accumulation.
const COUNTS: [usize; 4] = [5, 300, 4000, 12_000];

#[test]
fn puts_and_gets_move_the_words_of_the_types_and_nothing_else() {
    for way in WAYS {
        run(3, way, move |rank: &Rank| {
            let (own, size) = (rank.rank(), rank.size());
            let win = rank.allocate::<u64>(size * REGION);
            let mut model = vec![0u64; size * REGION];
            rank.fence(&win).expect("no fault");
            for case in 0..24 {
                let make = |origin: usize| {
                    let numbers = &mut Numbers::new(&[case, origin]);
                    let count = COUNTS[case % 4];
                    let (from, to) = (numbers.below(6), case / 4 % 6);
                    let (from, to) = (words(numbers, count, from), words(numbers, count, to));
                    let place = (origin * REGION) as i64 + numbers.below(50) as i64 - to.lowest().min(0);
                    ((origin + case) % size, from, to, place)
                };
                for origin in 0..size {
                    let (at, from, to, place) = make(origin);
                    let value = |index| (origin * 1_000_000 + case * 20_000 + index) as u64;
                    if at == own {
                        to.places.iter().enumerate().for_each(|(at, to)| model[(place + to) as usize] = value(at));
                    }
                    if origin == own {
                        let data = Local::new(&from, value).send(&from);
                        let target = target(at, place, &to.datatype);
                        rank.one_sided.put(&mut rank.engine.lock(), &win, data, &target).expect("inside");
                    }
                }
                rank.fence(&win).expect("no fault");
                assert!(*rank.memory::<u64>(&win) == *model, "case {case}, {way:?}");
                let (at, from, to, place) = make(own);
                let mut into = Local::new(&from, |_| 0);
                let target = target(at, place, &to.datatype);
                let buffer = into.receive(&from);
                rank.one_sided.get(&mut rank.engine.lock(), &win, buffer, &target).expect("inside");
                rank.fence(&win).expect("no fault");
                let value = |index| (own * 1_000_000 + case * 20_000 + index) as u64;
                assert_eq!(into.seen(), Local::new(&from, value).seen(), "case {case}, {way:?}");
            }
            rank.fence(&win).expect("no fault");
            rank.one_sided.end(&win).expect("no fault");
        });
    }
}

#[test]
fn accumulations_of_all_ranks_are_applied_and_fetch_what_was_there() {
    for way in WAYS {
        run(3, way, move |rank: &Rank| {
            let (own, size) = (rank.rank(), rank.size());
            let win = rank.allocate::<u64>(2 * REGION);
            let mut models = vec![vec![0u64; 2 * REGION]; size];
            rank.fence(&win).expect("no fault");
            for case in 0..24 {
                // All accumulate to the same places, each from its own type.
                let count = COUNTS[case % 4];
                let to = words(&mut Numbers::new(&[case]), count, case / 4 % 6);
                let place = 100 - to.lowest().min(0);
                let from = |origin: usize| words(&mut Numbers::new(&[case, origin]), count, (case + origin) % 6);
                let value = |origin: usize| move |index: usize| (origin * 5 + case + index) as u64;
                let (data, of) = (Local::new(&from(own), value(own)), from(own));
                let target = target(case % size, place, &to.datatype);
                let origin = (&of.datatype, 1 << 60);
                let sum = |guard: &mut _| {
                    rank.one_sided.accumulate(guard, &win, data.send(&of), origin, &target, MPI_SUM).expect("inside");
                };
                sum(&mut rank.engine.lock());
                for (at, to) in to.places.iter().enumerate() {
                    let sum: u64 = (0..size).map(|origin| value(origin)(at)).sum();
                    models[case % size][(place + to) as usize] += sum;
                }
                rank.fence(&win).expect("no fault");
                assert!(*rank.memory::<u64>(&win) == *models[own], "case {case}, {way:?}");
                rank.fence(&win).expect("no fault");

                // Each replaces the words of the next rank, which it gets, and then only reads them.
                let result = words(&mut Numbers::new(&[case, 8]), count, (case + 2) % 6);
                for op in [MPI_REPLACE, MPI_NO_OP] {
                    let other = (own + 1) % size;
                    let mut into = Local::new(&result, |_| 0);
                    let buffer = into.receive(&result);
                    let target = Target { rank: other as i32, ..target };
                    let of_result = (&result.datatype, 1 << 60);
                    rank.one_sided
                        .get_accumulate(
                            &mut rank.engine.lock(),
                            &win,
                            data.send(&of),
                            origin,
                            buffer,
                            of_result,
                            &target,
                            op,
                        )
                        .expect("inside");
                    let before = |index: usize| models[other][(place + to.places[index]) as usize];
                    let expected = Local::new(&result, before).seen();
                    if op == MPI_REPLACE {
                        for origin in 0..size {
                            for (at, to) in to.places.iter().enumerate() {
                                models[(origin + 1) % size][(place + to) as usize] = value(origin)(at);
                            }
                        }
                    }
                    rank.fence(&win).expect("no fault");
                    assert_eq!(into.seen(), expected, "case {case}, {way:?}");
                    assert!(*rank.memory::<u64>(&win) == *models[own], "case {case}, {way:?}");
                    rank.fence(&win).expect("no fault");
                }
            }
            rank.one_sided.end(&win).expect("no fault");
        });
    }
}

#[test]
fn pairs_are_combined_wherever_their_numbers_lie() {
    for way in WAYS {
        run(2, way, |rank: &Rank| {
            let win = rank.try_allocate(24_000, 1).expect("little memory");
            rank.fence(&win).expect("no fault");
            // Pairs of a short and an int, every second one; at the origin one behind the other.
            let pair = predefined(MPI_SHORT_INT).expect("predefined");
            let other = Datatype::vector(1000, 1, 2, pair, Form::Small).expect("small").committed();
            let dense = Datatype::contiguous(1000, pair, Form::Small).expect("small").committed();
            let mut data = vec![0u8; 8000];
            for (at, pair) in data.chunks_mut(8).enumerate() {
                pair[..2].copy_from_slice(&((at % 7) as i16 - 3 + rank.rank() as i16).to_ne_bytes());
                pair[4..].copy_from_slice(&(rank.rank() as i32).to_ne_bytes());
            }
            // SAFETY: leaked memory as long as the type.
            let data = unsafe { SendBuf::new(kept(data).as_ptr(), 1, &dense) }.expect("committed");
            let (target, of) = (target(1, 16, &other), (&dense, 1 << 60));
            let started = rank.one_sided.accumulate(&mut rank.engine.lock(), &win, data, of, &target, MPI_MAXLOC);
            started.expect("inside");
            rank.fence(&win).expect("no fault");
            for (at, place) in rank.memory::<u8>(&win)[16..].chunks(16).take(1000).enumerate() {
                let value = i16::from_ne_bytes([place[0], place[1]]);
                let index = i32::from_ne_bytes(place[4..8].try_into().expect("four"));
                // Zero with index 0 stood there before.
                let (most, by) = match (at % 7) as i16 - 2 {
                    ..0 => (0, 0),
                    0 => (0, 0),
                    value => (value, 1),
                };
                let expected = if rank.rank() == 1 { (most, by) } else { (0, 0) };
                assert_eq!((value, index), expected, "{at}");
                assert!(place[2..4] == [0; 2] && place[8..] == [0; 8]);
            }
            rank.one_sided.end(&win).expect("no fault");
        });
    }
}

#[test]
fn what_may_not_be_is_refused_before_any_byte_is_written() {
    for way in WAYS {
        run(2, way, |rank: &Rank| {
            let win = rank.allocate::<u64>(16);
            rank.fence(&win).expect("no fault");
            let derived = |datatype: mpi_errors::Result<Datatype>| datatype.expect("small").committed();
            let before = derived(Datatype::indexed(&[1, 1], &[-2, 4], word(), Form::Small));
            let sparse = derived(Datatype::vector(2, 1, 15, word(), Form::Small));
            let back = derived(Datatype::resized(0, -16, word(), Form::Small));
            let double = derived(Datatype::indexed(&[2, 2], &[0, 1], word(), Form::Small));
            let huge = derived(Datatype::resized(0, i64::MAX, word(), Form::Small));
            let float = predefined(MPI_DOUBLE).expect("predefined").clone();
            let mixed = [word().clone(), float];
            let mixed = derived(Datatype::structure(&[1, 1], &[0, 8], &mixed, Form::Small));
            let open = Datatype::vector(2, 1, 2, word(), Form::Small).expect("small");
            let of = (word(), u64::HANDLE);
            let cases: [(&Datatype, u64, i64, i32); 13] = [
                (&before, 1, 1, MPI_ERR_RMA_RANGE),
                (&before, 1, 12, MPI_ERR_RMA_RANGE),
                (&sparse, 1, 1, MPI_ERR_RMA_RANGE),
                (&sparse, 2, 0, MPI_ERR_RMA_RANGE),
                (&back, 3, 3, MPI_ERR_RMA_RANGE),
                (&back, 2, 16, MPI_ERR_RMA_RANGE),
                (&huge, 2, 0, MPI_ERR_COUNT),
                (&huge, 3, 0, MPI_ERR_COUNT),
                (&sparse, u64::MAX, 0, MPI_ERR_COUNT),
                (&sparse, 1, i64::MAX, MPI_ERR_RMA_RANGE),
                (&sparse, 1, -1, MPI_ERR_DISP),
                (&double, 1, 0, MPI_ERR_TYPE),
                (&open, 1, 0, MPI_ERR_TYPE),
            ];
            for (datatype, count, displacement, class) in cases {
                let target = Target { rank: 1, displacement, count, datatype, handle: 1 << 60 };
                let guard = &mut rank.engine.lock();
                let data = || SendBuf::from_slice(kept(vec![7u64]));
                let put = rank.one_sided.put(guard, &win, data(), &target);
                assert_eq!(put.expect_err("refused").class(), class, "{datatype:?} {displacement}");
                let accumulate = rank.one_sided.accumulate(guard, &win, data(), of, &target, MPI_SUM);
                assert_eq!(accumulate.expect_err("refused").class(), class, "{datatype:?} {displacement}");
                let into = || RecvBuf::from_slice(kept(vec![0u64; 4]));
                let fetch = rank.one_sided.get_accumulate(guard, &win, data(), of, into(), of, &target, MPI_SUM);
                assert_eq!(fetch.expect_err("refused").class(), class, "{datatype:?} {displacement}");
                let get = rank.one_sided.get(guard, &win, into(), &target);
                match std::ptr::eq(datatype, &double) {
                    // Data that are only read may be read twice.
                    true => get.expect("inside"),
                    false => assert_eq!(get.expect_err("refused").class(), class, "{datatype:?} {displacement}"),
                }
            }
            let target = Target { rank: 1, displacement: 0, count: 1, datatype: &mixed, handle: 1 << 60 };
            let mut guard = rank.engine.lock();
            let data = SendBuf::from_slice(kept(vec![7u64]));
            let mixed = rank.one_sided.accumulate(&mut guard, &win, data, of, &target, MPI_SUM);
            assert_eq!(mixed.expect_err("refused").class(), MPI_ERR_TYPE);
            let data = SendBuf::from_slice(kept(vec![7u64]));
            let one = RecvBuf::from_slice(kept(vec![7u64]));
            let target = Target { datatype: &sparse, ..target };
            let fetch = rank.one_sided.fetch_and_op(&mut guard, &win, data, one, &target, MPI_SUM);
            assert_eq!(fetch.expect_err("refused").class(), MPI_ERR_TYPE);
            drop(guard);
            rank.fence(&win).expect("no fault");
            assert_eq!(*rank.memory::<u64>(&win), [0; 16]);
            // The same accesses where they are inside.
            for (datatype, count, displacement) in [(&before, 1, 2), (&before, 1, 11), (&sparse, 1, 0), (&back, 8, 14)]
            {
                let target = Target { rank: 1, displacement, count, datatype, handle: 1 << 60 };
                let data = SendBuf::from_slice(kept(vec![0u64]));
                rank.one_sided.put(&mut rank.engine.lock(), &win, data, &target).expect("inside");
            }
            rank.fence(&win).expect("no fault");
            rank.one_sided.end(&win).expect("no fault");
        });
    }
}

#[test]
fn runs_that_are_long_are_copied_directly_and_short_ones_are_sent() {
    run(2, Way::Copied, |rank: &Rank| {
        let win = rank.allocate::<u64>(REGION);
        rank.fence(&win).expect("no fault");
        let other = 1 - rank.rank();
        for (length, sent) in [(100, 0), (1, 1)] {
            let rows = 20_000 / (2 * length);
            let datatype = Datatype::vector(rows, length, 2 * length as i64, word(), Form::Small).expect("small");
            let datatype = datatype.committed();
            let before = win.instruments().messages.get();
            let data = SendBuf::from_slice(kept(vec![length; 10_000]));
            rank.one_sided.put(&mut rank.engine.lock(), &win, data, &target(other, 0, &datatype)).expect("inside");
            let into = RecvBuf::from_slice(kept(vec![0u64; 10_000]));
            rank.one_sided.get(&mut rank.engine.lock(), &win, into, &target(other, 0, &datatype)).expect("inside");
            assert_eq!(win.instruments().messages.get() - before, 2 * sent);
            rank.fence(&win).expect("no fault");
            for (at, word) in rank.memory::<u64>(&win)[..20_000].iter_mut().enumerate() {
                assert_eq!(*word, if (at as u64 / length).is_multiple_of(2) { length } else { 0 });
                *word = 0;
            }
            rank.fence(&win).expect("no fault");
        }
        rank.one_sided.end(&win).expect("no fault");
    });
}
