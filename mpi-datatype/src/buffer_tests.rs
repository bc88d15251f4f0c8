//! Rules of typed buffers: pack, unpack, parts, bounds.

use mpi_core::abi::*;

use super::*;
use crate::layout::{LayoutError, Segment};
use crate::predefined::{all, predefined};

fn short_int() -> &'static Datatype {
    predefined(MPI_SHORT_INT).expect("predefined")
}

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|index| index as u8).collect()
}

#[test]
fn packing_any_piece_equals_the_piece_of_the_whole() {
    let strange = Datatype::derived(
        vec![Segment { offset: 5, length: 3 }, Segment { offset: 0, length: 2 }, Segment { offset: 9, length: 1 }],
        0,
        11,
    )
    .expect("small");
    let memory = numbered(11 * 7);
    let buffer = SendBuf::over(&memory, 7, &strange).expect("fits");
    let mut whole = vec![0; buffer.bytes() as usize];
    assert_eq!(buffer.pack(0, &mut whole), 42);
    assert_eq!(&whole[..6], [5, 6, 7, 0, 1, 9]);
    for at in 0..=42 {
        for length in 0..=42 {
            let mut piece = vec![0xff; length];
            let got = buffer.pack(at as u64, &mut piece);
            assert_eq!(got, length.min(42 - at));
            assert_eq!(piece[..got], whole[at..at + got]);
        }
    }
}

#[test]
fn unpack_undoes_pack_and_leaves_gaps_alone() {
    for (_, datatype) in all() {
        let span = datatype.span(5) as usize;
        let memory = numbered(span);
        let packed_length = datatype.size() as usize * 5;
        let mut packed = vec![0; packed_length];
        SendBuf::over(&memory, 5, datatype).expect("fits").pack(0, &mut packed);
        let mut back = vec![0xee; span];
        let mut target = RecvBuf::over(&mut back, 5, datatype).expect("fits");
        for (index, piece) in packed.chunks(7).enumerate() {
            assert_eq!(target.unpack(index as u64 * 7, piece), piece.len());
        }
        let data = |offset: usize| {
            datatype.is_contiguous()
                || datatype.layout().is_some_and(|layout| {
                    let inside = (offset as i64) % layout.extent();
                    layout.segments().iter().any(|it| (it.offset..it.offset + it.length as i64).contains(&inside))
                })
        };
        for offset in 0..span {
            let expected = if data(offset) { memory[offset] } else { 0xee };
            assert_eq!(back[offset], expected, "{} at {offset}", datatype.name());
        }
    }
}

#[test]
fn a_buffer_of_no_bytes_never_touches_its_address() {
    for handle in [MPI_INT, MPI_SHORT_INT] {
        let datatype = predefined(handle).expect("predefined");
        // SAFETY: no data bytes.
        let (from, to) =
            unsafe { (SendBuf::new(std::ptr::null(), 0, datatype), RecvBuf::new(std::ptr::null_mut(), 0, datatype)) };
        let (from, mut to) = (from.expect("small"), to.expect("small"));
        assert_eq!((from.bytes(), from.contiguous(), from.native()), (0, Some(&[][..]), Some(&[][..])));
        assert_eq!((to.unpack(0, &[1, 2]), from.pack(0, &mut [0; 4])), (0, 0));
        assert_eq!(to.contiguous_mut(), Some(&mut [][..]));
    }
}

#[test]
fn memory_too_small_is_refused() {
    assert!(SendBuf::over(&[0; 15], 2, short_int()).is_none());
    assert!(SendBuf::over(&[0; 16], 2, short_int()).is_some());
    assert!(RecvBuf::over(&mut [0; 3], 1, predefined(MPI_INT).expect("predefined")).is_none());
    assert!(SendBuf::over(&[0; 64], u64::MAX, short_int()).is_none());
}

#[test]
fn parts_are_whole_elements_and_clipped() {
    let memory = numbered(24);
    let buffer = SendBuf::over(&memory, 3, short_int()).expect("fits");
    let mut out = [0; 18];
    assert_eq!(buffer.part(6, 12).pack(0, &mut out), 12);
    assert_eq!(&out[..6], [8, 9, 12, 13, 14, 15]);
    assert_eq!(buffer.part(12, u64::MAX).bytes(), 6);
    assert_eq!(buffer.part(99, 1).bytes(), 0);
    let mut memory = numbered(24);
    let (head, tail) = RecvBuf::over(&mut memory, 3, short_int()).expect("fits").split_at(6);
    assert_eq!((head.bytes(), tail.bytes()), (6, 12));
    assert_eq!(tail.as_send().native().map(<[u8]>::first), Some(Some(&8)));
}

#[test]
fn a_copy_between_layouts_keeps_the_packed_bytes() {
    let source = numbered(8 * 300);
    let mut target = vec![0; 8 * 300];
    let from = SendBuf::over(&source, 300, short_int()).expect("fits");
    assert_eq!(RecvBuf::over(&mut target, 300, short_int()).expect("fits").copy_from(&from), 1800);
    let mut flat = vec![0; 1800];
    assert_eq!(RecvBuf::from_slice(&mut flat).copy_from(&from), 1800);
    let mut packed = vec![0; 1800];
    SendBuf::over(&target, 300, short_int()).expect("fits").pack(0, &mut packed);
    assert_eq!(packed, flat);
}

#[test]
fn a_count_of_more_bytes_than_memory_has_makes_no_buffer() {
    let derived = Datatype::derived(vec![Segment { offset: 0, length: 1 }], 0, 1 << 40).expect("small");
    let double = predefined(MPI_DOUBLE).expect("predefined");
    let pair = predefined(MPI_LONG_DOUBLE_INT).expect("predefined");
    // SAFETY: nobody reads or writes these buffers.
    let bytes = |count, datatype| unsafe {
        let receive = RecvBuf::new(std::ptr::dangling_mut(), count, datatype).map(|buffer| buffer.bytes());
        let send = SendBuf::new(std::ptr::dangling(), count, datatype).map(|buffer| buffer.bytes());
        assert_eq!(receive, send);
        send
    };
    assert_eq!(bytes((1 << 60) - 1, double), Some((1 << 63) - 8));
    assert_eq!(bytes(1 << 60, double), None);
    assert_eq!(bytes(1 << 61, double), None, "the number of bytes is 0 modulo 2^64");
    assert_eq!(bytes((1 << 58) + 1, pair), None, "the data fit, and the gaps between them do not");
    assert_eq!(bytes(1 << 22, &derived), Some(1 << 22));
    assert_eq!(bytes(1 << 24, &derived), None);
}

#[test]
fn a_datatype_whose_sizes_overflow_is_refused() {
    let derived = |segments: &[(i64, u64)], lower_bound, extent| {
        let segments = segments.iter().map(|&(offset, length)| Segment { offset, length }).collect();
        Datatype::derived(segments, lower_bound, extent).map(|datatype| datatype.size())
    };
    let half = 1 << 62;
    // The sum of these lengths wraps around, and the first segment ends at offset -255 when cast to `i64`.
    let wraps = Segment { offset: 0, length: u64::MAX - 254 };
    assert_eq!(derived(&[(wraps.offset, wraps.length), (0, 1)], 0, 1), Err(LayoutError::SegmentEnd(wraps)));
    let beyond = Segment { offset: i64::MAX, length: 1 };
    assert_eq!(derived(&[(beyond.offset, beyond.length)], 0, 1), Err(LayoutError::SegmentEnd(beyond)));
    assert_eq!(derived(&[(0, half), (0, half)], 0, 1), Err(LayoutError::Size));
    assert_eq!(derived(&[(i64::MIN, 1), (0, 1)], 0, 1), Err(LayoutError::Bounds));
    assert_eq!(derived(&[(0, 1)], i64::MAX, 1), Err(LayoutError::Bounds));
    assert_eq!(derived(&[(0, i64::MAX as u64)], 0, i64::MAX), Ok(i64::MAX as u64));
    assert_eq!(derived(&[(i64::MIN, 1)], i64::MIN, 1), Ok(1));
}
