//! Random types against the model of their type maps: bounds, packing and unpacking in parts cut anywhere, copies
//! between layouts, basic elements.

mod common;

use std::collections::HashSet;

use common::{Model, Numbers, random_type};
use mpi_datatype::{Datatype, RecvBuf, SendBuf};

const TYPES: u64 = if cfg!(miri) { 25 } else { 4000 };

fn each_type(mut check: impl FnMut(&mut Numbers, Datatype, Model)) {
    for seed in 0..TYPES {
        let mut numbers = Numbers(seed);
        let levels = numbers.within(1, 4) as u32;
        let (datatype, model) = random_type(&mut numbers, levels);
        let case = format!("seed {seed}");
        let guard = OnPanic(case);
        check(&mut numbers, datatype.committed(), model);
        std::mem::forget(guard);
    }
}

/// Prints which type a failing check had.
struct OnPanic(String);

impl Drop for OnPanic {
    fn drop(&mut self) {
        eprintln!("failed with {}", self.0);
    }
}

/// Memory for `count` elements, numbered, and the position of the buffer's lowest byte: its start.
fn memory(datatype: &Datatype, count: u64) -> Vec<u8> {
    (0..datatype.span(count)).map(|index| (index % 251) as u8).collect()
}

fn places(datatype: &Datatype, model: &Model, count: u64) -> Vec<usize> {
    let lowest = datatype.lowest_byte(count);
    model.bytes(count as i64).into_iter().map(|place| (place - lowest) as usize).collect()
}

#[test]
fn sizes_and_bounds_are_those_of_the_type_map() {
    each_type(|_, datatype, model| {
        assert_eq!(datatype.size() as i64, model.size());
        assert_eq!((datatype.true_lower_bound(), datatype.true_extent()), model.true_bounds());
        assert_eq!((datatype.lower_bound(), datatype.extent()), model.bounds());
        assert_eq!(datatype.basic_elements(), model.map.len() as u64);
    });
}

#[test]
fn packing_in_any_parts_gives_the_bytes_of_the_type_map() {
    each_type(|numbers, datatype, model| {
        let count = numbers.within(0, 4) as u64;
        let memory = memory(&datatype, count);
        let expected: Vec<u8> = places(&datatype, &model, count).into_iter().map(|place| memory[place]).collect();
        let buffer = SendBuf::in_span(&memory, count, &datatype).expect("it fits");
        assert_eq!(buffer.bytes(), expected.len() as u64);
        let mut whole = vec![0xee; expected.len() + 3];
        assert_eq!(buffer.pack(0, &mut whole), expected.len());
        assert_eq!(whole[..expected.len()], expected);
        let mut at = 0;
        while at < expected.len() {
            let length = numbers.within(1, 1 + (expected.len() as i64).min(60)) as usize;
            let mut piece = vec![0xee; length];
            let got = buffer.pack(at as u64, &mut piece);
            assert_eq!(got, length.min(expected.len() - at));
            assert_eq!(piece[..got], expected[at..at + got], "{length} bytes from {at}");
            at += got;
        }
        // A part of a part, and the runs of memory.
        let (at, length) = (numbers.within(0, 30) as u64, numbers.within(0, 500) as u64);
        let part = buffer.part(at, length).part(3, length);
        let cut = (at as usize + 3).min(expected.len())..((at + length) as usize).min(expected.len());
        let cut = cut.start.min(cut.end)..cut.end;
        let mut piece = vec![0xee; cut.len()];
        assert_eq!((part.bytes(), part.pack(0, &mut piece)), (cut.len() as u64, cut.len()));
        assert_eq!(piece, expected[cut]);
        let mut bytes = Vec::new();
        let start = memory.as_ptr() as usize;
        buffer.each_run(at, length, |address, length| {
            bytes.extend_from_slice(&memory[address - start..address - start + length]);
            true
        });
        let end = ((at + length) as usize).min(expected.len());
        assert_eq!(bytes, expected[(at as usize).min(end)..end]);
    });
}

#[test]
fn unpacking_in_any_parts_stores_the_bytes_and_nothing_else() {
    each_type(|numbers, datatype, model| {
        let count = numbers.within(0, 4) as u64;
        let places = places(&datatype, &model, count);
        let distinct: HashSet<usize> = places.iter().copied().collect();
        let mut memory = vec![0xee; datatype.span(count) as usize];
        let Some(mut buffer) = RecvBuf::in_span(&mut memory, count, &datatype) else {
            assert!(distinct.len() < places.len(), "only types that overlap are refused");
            return;
        };
        if distinct.len() < places.len() {
            // An overlap that is not found: what is stored is undefined.
            return;
        }
        let packed: Vec<u8> = (0..places.len()).map(|index| (index % 199) as u8).collect();
        let mut cuts = vec![0, packed.len()];
        cuts.extend((0..numbers.within(0, 5)).map(|_| numbers.within(0, packed.len() as i64) as usize));
        cuts.sort_unstable();
        for piece in cuts.windows(2) {
            assert_eq!(buffer.unpack(piece[0] as u64, &packed[piece[0]..piece[1]]), piece[1] - piece[0]);
        }
        let mut expected = vec![0xee; memory.len()];
        places.iter().zip(&packed).for_each(|(place, byte)| expected[*place] = *byte);
        assert_eq!(memory, expected);
    });
}

#[test]
fn a_copy_between_two_layouts_keeps_the_packed_bytes() {
    let mut last: Option<(Datatype, u64)> = None;
    each_type(|numbers, datatype, model| {
        let count = numbers.within(1, 4) as u64;
        let places = places(&datatype, &model, count);
        let distinct: HashSet<usize> = places.iter().copied().collect();
        let mut target = vec![0xee; datatype.span(count) as usize];
        if let Some((other, number)) = &last
            && distinct.len() == places.len()
            && let Some(mut to) = RecvBuf::in_span(&mut target, count, &datatype)
        {
            let source = memory(other, *number);
            let from = SendBuf::in_span(&source, *number, other).expect("it fits");
            let mut packed = vec![0; from.bytes() as usize];
            from.pack(0, &mut packed);
            // A part of each, so that the cuts differ.
            let skip = numbers.within(0, 7) as u64;
            let from = from.part(skip, u64::MAX);
            let copied = to.copy_from(&from);
            assert_eq!(copied, from.bytes().min(places.len() as u64));
            let mut expected = vec![0xee; target.len()];
            let bytes = packed.iter().skip(skip as usize).take(copied as usize);
            places.iter().zip(bytes).for_each(|(place, byte)| expected[*place] = *byte);
            assert_eq!(target, expected);
        }
        last = Some((datatype, count));
    });
}

#[test]
fn basic_elements_are_counted_byte_by_byte() {
    each_type(|numbers, datatype, model| {
        let size = model.size();
        for bytes in (0..3).map(|_| numbers.within(0, 3 * size + 2)).chain([size]) {
            let mut left = bytes;
            let mut elements = 0;
            for (_, length) in model.map.iter().cycle().take(model.map.len() * 4 + 1) {
                if left < *length {
                    break;
                }
                left -= length;
                elements += 1;
            }
            let expected = (left == 0).then_some(elements);
            assert_eq!(datatype.basic_elements_in(bytes as u64), expected, "{bytes} bytes");
            if left == 0 {
                assert_eq!(datatype.bytes_of_basic_elements(elements), Some(bytes as u64));
            }
        }
    });
}
