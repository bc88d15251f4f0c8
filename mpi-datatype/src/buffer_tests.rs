//! Rules of typed buffers: pack, unpack, parts, bounds.

use mpi_core::abi::*;

use super::*;
use crate::envelope::Form;
use crate::predefined::{all, predefined};

fn short_int() -> &'static Datatype {
    predefined(MPI_SHORT_INT).expect("predefined")
}

/// Blocks of so many bytes at these displacements, in elements of so many bytes.
fn bytes_at(lengths: &[i64], displacements: &[i64], extent: i64) -> Datatype {
    let byte = predefined(MPI_BYTE).expect("predefined");
    let blocks = Datatype::indexed(lengths, displacements, byte, Form::Small).expect("small");
    Datatype::resized(0, extent, &blocks, Form::Small).expect("small").committed()
}

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|index| index as u8).collect()
}

#[test]
fn packing_any_piece_equals_the_piece_of_the_whole() {
    let strange = bytes_at(&[3, 2, 1], &[5, 0, 9], 11);
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
                    layout.bytes_below(inside + 1) > layout.bytes_below(inside)
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
    let derived = bytes_at(&[1], &[0], 1 << 40);
    let double = predefined(MPI_DOUBLE).expect("predefined");
    let pair = predefined(MPI_LONG_DOUBLE_INT).expect("predefined");
    // SAFETY: no other code reads or writes these buffers.
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
fn parts_begin_and_end_at_any_byte() {
    let strange = bytes_at(&[3, 2, 1], &[5, 0, 9], 11);
    let memory = numbered(33);
    let buffer = SendBuf::over(&memory, 3, &strange).expect("fits");
    let mut whole = vec![0; 18];
    buffer.pack(0, &mut whole);
    for (at, length) in [(0, 18), (1, 4), (5, 9), (7, 11), (17, 1)] {
        let (part, mut out) = (buffer.part(at, length), vec![0; length as usize]);
        assert_eq!((part.bytes(), part.pack(0, &mut out)), (length, length as usize));
        assert_eq!(out, whole[at as usize..(at + length) as usize]);
        let inner = part.part(length / 2, length);
        let rest = inner.pack(0, &mut out);
        assert_eq!(out[..rest], whole[(at + length / 2) as usize..(at + length) as usize]);
    }
}

#[test]
fn one_block_is_a_contiguous_buffer() {
    let memory = numbered(16);
    let block = bytes_at(&[4], &[3], 100);
    assert_eq!(SendBuf::over(&memory, 1, &block).expect("fits").contiguous(), Some(&[3, 4, 5, 6][..]));
    let start = memory.as_ptr().expose_provenance() as i64;
    let addresses = [start + 3, start + 9];
    let absolute = bytes_at(&[4, 2], &addresses, 1);
    // SAFETY: the displacements are addresses of live memory.
    let buffer = unsafe { SendBuf::new(ptr::null(), 1, &absolute) }.expect("small");
    let mut out = [0; 6];
    assert_eq!((buffer.pack(0, &mut out), out), (6, [3, 4, 5, 6, 9, 10]));
}

#[test]
fn a_type_that_is_not_committed_or_stores_twice_makes_no_buffer() {
    let int = predefined(MPI_INT).expect("predefined");
    let raw = Datatype::vector(2, 1, 3, int, Form::Small).expect("small");
    assert!(SendBuf::over(&[0; 64], 1, &raw).is_none() && RecvBuf::over(&mut [0; 64], 1, &raw).is_none());
    let refused = |datatype: &Datatype, count| {
        let mut memory = [0; 64];
        assert!(SendBuf::over(&memory, count, datatype).is_some(), "overlapping data may be sent");
        RecvBuf::over(&mut memory, count, datatype).is_none()
    };
    assert!(!refused(&raw.clone().committed(), 2));
    assert!(refused(&bytes_at(&[4, 4], &[0, 3], 8), 1));
    assert!(refused(&bytes_at(&[4, 2, 1], &[8, 0, 11], 12), 1));
    assert!(refused(&bytes_at(&[4], &[0], 2), 2) && !refused(&bytes_at(&[4], &[0], 2), 1));
    assert!(refused(&Datatype::hvector(3, 1, 2, int, Form::Small).expect("small").committed(), 1));
}

#[test]
fn elements_in_a_span_begin_at_its_lowest_byte() {
    let down = Datatype::vector(3, 1, -2, predefined(MPI_SHORT).expect("predefined"), Form::Small);
    let down = down.expect("small").committed();
    assert_eq!((down.lowest_byte(1), down.span(1)), (-8, 10));
    let mut memory = numbered(10);
    let mut packed = [0; 6];
    SendBuf::in_span(&memory, 1, &down).expect("fits").pack(0, &mut packed);
    assert_eq!(packed, [8, 9, 4, 5, 0, 1]);
    let mut buffer = RecvBuf::in_span(&mut memory, 1, &down).expect("fits");
    assert_eq!(buffer.native_mut().map(|memory| memory.len()), Some(10), "the gaps belong to the slice");
    assert!(RecvBuf::in_span(&mut memory[..9], 1, &down).is_none());
}

#[test]
fn runs_are_addresses_with_adjacent_blocks_merged() {
    let memory = numbered(40);
    let pairs = bytes_at(&[2, 2], &[0, 4], 6);
    let buffer = SendBuf::over(&memory, 3, &pairs).expect("fits");
    let start = memory.as_ptr() as usize;
    let mut runs = Vec::new();
    buffer.each_run(1, 10, |address, length| {
        runs.push((address - start, length));
        true
    });
    assert_eq!(runs, [(1, 1), (4, 4), (10, 4), (16, 1)]);
}
