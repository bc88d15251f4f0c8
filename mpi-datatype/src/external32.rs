//! The data representation `external32`: packed data that any computer reads (MPI-5.0, 5.3 and 14.5.2).
//!
//! The elements of the type signature follow each other without gaps: numbers in two's complement and IEEE formats with
//! the most significant byte first. `long` has 4 bytes and a wide character 2; of a larger value the less significant
//! bytes are stored, as the standard demands. A `long double` has 16 bytes.
//! Invariant: elements are converted whole.
//! Not here: where elements lie in memory (`layout`), the representation of files (`mpi-io`).

use mpi_errors::Result;

use crate::buffer::{RecvBuf, SendBuf};
use crate::datatype::Datatype;
use crate::signature::{BasicType, External, Signature};

/// Bytes that are converted at once. The largest element has 32 bytes.
const CHUNK: usize = 4096;

/// Bytes of `count` elements of a type; `None` when they are more than an `i64` can count.
pub fn size(count: u64, datatype: &Datatype) -> Option<u64> {
    datatype.signature().external_bytes().checked_mul(count).filter(|bytes| *bytes <= i64::MAX as u64)
}

/// The layout of a type in a file with this representation, committed: what is counted in elements is scaled to the
/// sizes of `external32`, and nothing is aligned (MPI-5.0, 14.5). Errors: those of the constructors.
pub fn in_file(datatype: &Datatype) -> Result<Datatype> {
    datatype.with_sizes(|part| Ok(part.signature().external_bytes()))
}

/// Packs basic elements from the packed byte `at` of a buffer on, where one begins, into `out`: as many as fit, but
/// at least one, into a room of 32 bytes or more. Returns the packed bytes read and the bytes stored.
pub fn pack_part(buffer: &SendBuf<'_>, datatype: &Datatype, at: u64, out: &mut [u8]) -> (u64, usize) {
    let mut chunk = [0; CHUNK];
    // No element takes more bytes than in memory.
    let most = out.len().min(CHUNK);
    let packed = buffer.pack(at, &mut chunk[..most]);
    let (read, written) = encode(&datatype.signature(), at, &chunk[..packed], out);
    (read as u64, written)
}

/// Unpacks the basic elements that lie whole in `data` to the packed bytes from `at` on, where one begins, of a buffer.
/// Returns the bytes used and the packed bytes stored.
pub fn unpack_part(buffer: &mut RecvBuf<'_>, datatype: &Datatype, at: u64, data: &[u8]) -> (usize, u64) {
    let signature = datatype.signature();
    let mut chunk = [0; CHUNK];
    let (mut used, mut stored) = (0, 0);
    loop {
        let room = (buffer.bytes().saturating_sub(at + stored)).min(CHUNK as u64) as usize;
        let (read, written) = decode(&signature, at + stored, &data[used..], &mut chunk[..room]);
        if written == 0 {
            return (used, stored);
        }
        buffer.unpack(at + stored, &chunk[..written]);
        (used, stored) = (used + read, stored + written as u64);
    }
}

/// Packs a buffer of whole elements of a type into `out`, which has to be [`size`] bytes long at least. Returns the
/// bytes stored.
pub fn pack(buffer: &SendBuf<'_>, datatype: &Datatype, out: &mut [u8]) -> usize {
    let signature = datatype.signature();
    let mut chunk = [0; CHUNK];
    let (mut at, mut stored) = (0, 0);
    while at < buffer.bytes() {
        let packed = buffer.pack(at, &mut chunk);
        let (read, written) = encode(&signature, at, &chunk[..packed], &mut out[stored..]);
        at += read as u64;
        stored += written;
    }
    stored
}

/// Unpacks into a buffer of whole elements of a type from `data`, which has to be [`size`] bytes long at least. Returns
/// the bytes used.
pub fn unpack(buffer: &mut RecvBuf<'_>, datatype: &Datatype, data: &[u8]) -> usize {
    unpack_part(buffer, datatype, 0, data).0
}

/// Converts the elements that lie whole in `native`, which begins with packed byte `at`, to `external32`. Returns the
/// bytes read and written.
fn encode(signature: &Signature, at: u64, native: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while read < native.len() {
        let (basic, run) = signature.run(at + read as u64);
        let (own, external) = (basic.bytes as usize, basic.external_bytes() as usize);
        let elements = ((native.len() - read) / own).min((run / own as u64) as usize);
        if elements == 0 {
            break;
        }
        let (from, to) = (&native[read..read + elements * own], &mut out[written..written + elements * external]);
        each_number(basic, elements, |number, width, other| {
            let place = &from[number * width..(number + 1) * width];
            store(place, basic.external, &mut to[number * other..(number + 1) * other]);
        });
        read += from.len();
        written += to.len();
    }
    (read, written)
}

/// The reverse of [`encode`]: fills `native` with as many whole elements as it has room for and `data` has.
fn decode(signature: &Signature, at: u64, data: &[u8], native: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while written < native.len() {
        let (basic, run) = signature.run(at + written as u64);
        let (own, external) = (basic.bytes as usize, basic.external_bytes() as usize);
        let elements = ((native.len() - written) / own).min((run / own as u64) as usize);
        let elements = elements.min((data.len() - read) / external);
        if elements == 0 {
            break;
        }
        let (from, to) = (&data[read..read + elements * external], &mut native[written..written + elements * own]);
        each_number(basic, elements, |number, width, other| {
            let place = &mut to[number * width..(number + 1) * width];
            load(&from[number * other..(number + 1) * other], basic.external, place);
        });
        read += from.len();
        written += to.len();
    }
    (read, written)
}

/// Calls `convert` with the index of each number of these elements, its bytes in memory and in `external32`.
fn each_number(basic: BasicType, elements: usize, mut convert: impl FnMut(usize, usize, usize)) {
    let numbers = (basic.bytes / basic.number) as usize;
    let (width, other) = (basic.number as usize, basic.external_bytes() as usize / numbers);
    (0..elements * numbers).for_each(|number| convert(number, width, other));
}

/// Copies a number with its bytes in the other order, if this computer's is not that of `external32`.
fn swap(from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
    if cfg!(target_endian = "little") {
        to.reverse();
    }
}

fn store(native: &[u8], format: External, out: &mut [u8]) {
    match format {
        External::Swapped => swap(native, out),
        External::Signed(_) | External::Unsigned(_) => {
            // The less significant bytes.
            let start = if cfg!(target_endian = "little") { 0 } else { native.len() - out.len() };
            swap(&native[start..start + out.len()], out);
        }
        External::FromX87 => {
            let (mut significand, mut head) = ([0; 8], [0; 2]);
            significand.copy_from_slice(&native[..8]);
            head.copy_from_slice(&native[8..10]);
            let quadruple = widened(u64::from_le_bytes(significand), u16::from_le_bytes(head));
            out.copy_from_slice(&quadruple.to_be_bytes());
        }
    }
}

fn load(data: &[u8], format: External, native: &mut [u8]) {
    match format {
        External::Swapped => swap(data, native),
        External::Signed(_) | External::Unsigned(_) => {
            let negative = matches!(format, External::Signed(_)) && data[0] & 0x80 != 0;
            native.fill(if negative { 0xff } else { 0 });
            let start = if cfg!(target_endian = "little") { 0 } else { native.len() - data.len() };
            swap(data, &mut native[start..start + data.len()]);
        }
        External::FromX87 => {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(data);
            let (significand, head) = narrowed(u128::from_be_bytes(bytes));
            native.fill(0);
            native[..8].copy_from_slice(&significand.to_le_bytes());
            native[8..10].copy_from_slice(&head.to_le_bytes());
        }
    }
}

/// Sign and exponent of both formats; the exponent has the same width and bias.
const EXPONENT: u16 = 0x7fff;
/// Fraction bits of quadruple precision.
const FRACTION: u32 = 112;
/// How many more fraction bits quadruple precision has than x87.
const MORE: u32 = FRACTION - 63;
/// The first bit of the significand, which x87 stores and quadruple precision does not.
const FIRST: u64 = 1 << 63;

/// The quadruple precision number with the value of one of x87, which it always has.
fn widened(significand: u64, head: u16) -> u128 {
    let (sign, exponent) = (head & !EXPONENT, head & EXPONENT);
    let fraction = u128::from(significand & !FIRST) << MORE;
    let (exponent, fraction) = match (exponent, significand & FIRST != 0) {
        // Numbers that x87 itself calls invalid.
        (1.., false) => (EXPONENT, 1 << (FRACTION - 1)),
        // A number below the smallest normal one by its exponent, and not by its significand.
        (0, true) => (1, fraction),
        (exponent, _) => (exponent, fraction),
    };
    u128::from(sign | exponent) << FRACTION | fraction
}

/// The nearest number of x87, ties to even: significand, and sign with exponent.
fn narrowed(quadruple: u128) -> (u64, u16) {
    let head = (quadruple >> FRACTION) as u16;
    let (sign, exponent) = (head & !EXPONENT, head & EXPONENT);
    let fraction = quadruple & ((1 << FRACTION) - 1);
    if exponent == EXPONENT {
        // Infinity, or not a number: the first bit of the fraction keeps it one.
        let quiet = if fraction == 0 { 0 } else { 1 << 62 };
        return (FIRST | quiet | (fraction >> MORE) as u64, head);
    }
    let first = if exponent == 0 { 0 } else { FIRST };
    let kept = first | (fraction >> MORE) as u64;
    let (rest, half) = (fraction & ((1 << MORE) - 1), 1 << (MORE - 1));
    let up = rest > half || rest == half && kept & 1 == 1;
    match kept.checked_add(u64::from(up)) {
        // The carry went through all bits: the next power of two.
        None => (FIRST, sign | (exponent + 1)),
        Some(rounded) if exponent == 0 && rounded & FIRST != 0 => (rounded, sign | 1),
        Some(rounded) => (rounded, head),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Form;
    use crate::predefined::{all, predefined};
    use mpi_core::abi::*;

    fn packed(word: usize, native: &[u8]) -> Vec<u8> {
        let datatype = predefined(word).expect("predefined");
        let count = native.len() as u64 / datatype.extent() as u64;
        let buffer = SendBuf::over(native, count, datatype).expect("whole elements");
        let mut out = vec![0xee; size(count, datatype).expect("small") as usize];
        assert_eq!(pack(&buffer, datatype, &mut out), out.len());
        out
    }

    #[test]
    fn sizes_are_those_of_the_standards_table() {
        let of = |word| size(1, predefined(word).expect("predefined"));
        for (word, bytes) in [
            (MPI_BYTE, 1),
            (MPI_CHAR, 1),
            (MPI_WCHAR, 2),
            (MPI_SHORT, 2),
            (MPI_INT, 4),
            (MPI_LONG, 4),
            (MPI_UNSIGNED_LONG, 4),
            (MPI_LONG_LONG, 8),
            (MPI_FLOAT, 4),
            (MPI_DOUBLE, 8),
            (MPI_LONG_DOUBLE, 16),
            (MPI_C_BOOL, 1),
            (MPI_INT64_T, 8),
            (MPI_AINT, 8),
            (MPI_COUNT, 8),
            (MPI_OFFSET, 8),
            (MPI_C_LONG_DOUBLE_COMPLEX, 32),
            (MPI_LOGICAL, 4),
            (MPI_LONG_INT, 8),
            (MPI_LONG_DOUBLE_INT, 20),
            (MPI_SHORT_INT, 6),
        ] {
            assert_eq!(of(word), Some(bytes), "{word:#x}");
        }
        assert_eq!(size(1 << 62, predefined(MPI_INT).expect("predefined")), None);
    }

    #[test]
    fn numbers_are_stored_with_the_most_significant_byte_first() {
        assert_eq!(packed(MPI_INT, &0x0102_0304i32.to_ne_bytes()), [1, 2, 3, 4]);
        assert_eq!(packed(MPI_LONG, &(-2i64).to_ne_bytes()), [0xff, 0xff, 0xff, 0xfe]);
        assert_eq!(packed(MPI_WCHAR, &0x20acu32.to_ne_bytes()), [0x20, 0xac]);
        assert_eq!(packed(MPI_DOUBLE, &1.0f64.to_ne_bytes()), [0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
        let complex: Vec<u8> = [1.0f32, -2.0].into_iter().flat_map(f32::to_ne_bytes).collect();
        assert_eq!(packed(MPI_C_FLOAT_COMPLEX, &complex), [0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]);
    }

    #[test]
    fn every_predefined_type_comes_back() {
        for (word, datatype) in all() {
            let extent = datatype.extent() as usize;
            let mut native: Vec<u8> = (0..40 * extent).map(|index| (index * 37 % 113) as u8).collect();
            // Values that external32 can hold.
            let widths: &[(usize, usize)] = match word {
                MPI_LONG | MPI_UNSIGNED_LONG | MPI_LONG_INT => &[(4, 8)],
                MPI_WCHAR => &[(2, 4)],
                _ => &[],
            };
            for element in native.chunks_mut(extent) {
                widths.iter().for_each(|(from, to)| element[*from..*to].fill(0));
                if matches!(word, MPI_LONG_DOUBLE | MPI_C_LONG_DOUBLE_COMPLEX | MPI_CXX_LONG_DOUBLE_COMPLEX) {
                    element.chunks_mut(16).for_each(|number| number.copy_from_slice(&x87(FIRST | 77, 0x4011)));
                } else if word == MPI_LONG_DOUBLE_INT {
                    element[..16].copy_from_slice(&x87(FIRST | 3 << 60, 0xbfff));
                }
            }
            let external = packed(word, &native);
            let mut back = vec![0xee; native.len()];
            let mut buffer = RecvBuf::over(&mut back, 40, datatype).expect("it fits");
            assert_eq!(unpack(&mut buffer, datatype, &external), external.len(), "{}", datatype.name());
            let flat = |memory: &[u8]| {
                let mut flat = vec![0; 40 * datatype.size() as usize];
                SendBuf::over(memory, 40, datatype).expect("it fits").pack(0, &mut flat);
                flat
            };
            assert_eq!(flat(&back), flat(&native), "{}", datatype.name());
        }
    }

    #[test]
    fn derived_types_are_converted_element_by_element_across_chunks() {
        let types = [MPI_CHAR, MPI_LONG, MPI_SHORT_INT].map(|word| predefined(word).expect("predefined").clone());
        let mixed = Datatype::structure(&[3, 2, 1], &[0, 8, 24], &types, Form::Small).expect("small").committed();
        let count = 1000;
        let mut native = vec![0; mixed.span(count) as usize];
        for (index, element) in native.chunks_mut(mixed.extent() as usize).enumerate() {
            element[..3].copy_from_slice(&[1, 2, index as u8]);
            element[8..16].copy_from_slice(&(index as i64 - 500).to_ne_bytes());
            element[16..24].copy_from_slice(&7i64.to_ne_bytes());
            element[24..26].copy_from_slice(&(index as i16).to_ne_bytes());
            element[28..32].copy_from_slice(&(-5i32).to_ne_bytes());
        }
        let length = size(count, &mixed).expect("small");
        assert_eq!(length, 1000 * (3 + 8 + 6));
        let mut external = vec![0; length as usize];
        pack(&SendBuf::over(&native, count, &mixed).expect("it fits"), &mixed, &mut external);
        assert_eq!(external[17 * 900..][..17], [1, 2, 132, 0, 0, 1, 144, 0, 0, 0, 7, 3, 132, 255, 255, 255, 251]);
        let mut back = vec![0; native.len()];
        let mut buffer = RecvBuf::over(&mut back, count, &mixed).expect("it fits");
        assert_eq!(unpack(&mut buffer, &mixed, &external), external.len());
        assert_eq!(back, native);
    }

    fn x87(significand: u64, head: u16) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&significand.to_le_bytes());
        bytes[8..10].copy_from_slice(&head.to_le_bytes());
        bytes
    }

    #[test]
    fn extended_precision_has_a_quadruple_equal_and_the_reverse_rounds() {
        // One; the largest; infinity; the smallest.
        assert_eq!(widened(FIRST, 0x3fff), 0x3fff << 112);
        assert_eq!(widened(u64::MAX, 0x7ffe), 0x7ffe << 112 | ((1 << 63) - 1) << 49);
        assert_eq!(widened(FIRST, 0x7fff), 0x7fff << 112);
        assert_eq!(widened(1, 0x8000), 0x8000 << 112 | 1 << 49);
        for (significand, head) in
            [(FIRST | 12345, 0x3fff), (u64::MAX, 0x7ffe), (FIRST, 0xffff), (1, 0), (FIRST - 1, 0x8000), (0, 0x8000)]
        {
            assert_eq!(narrowed(widened(significand, head)), (significand, head));
        }
        assert_eq!(narrowed(widened(FIRST, 0)), (FIRST, 1), "the same value with its usual exponent");
        let one = 0x3fffu128 << 112;
        let half = 1u128 << 48;
        assert_eq!(narrowed(one | half), (FIRST, 0x3fff), "a tie goes to the even one");
        assert_eq!(narrowed(one | 1 << 49 | half), (FIRST | 2, 0x3fff));
        assert_eq!(narrowed(one | half | 1), (FIRST | 1, 0x3fff));
        assert_eq!(narrowed(one | ((1 << 112) - 1)), (FIRST, 0x4000), "the carry reaches the exponent");
        assert_eq!(narrowed(0x7ffe << 112 | ((1 << 112) - 1)), (FIRST, 0x7fff), "and infinity");
        assert_eq!(narrowed((1 << 112) - 1), (FIRST, 1));
        let (significand, head) = narrowed(0x7fff << 112 | 1);
        assert!(head == 0x7fff && significand & !FIRST != 0, "it stays not a number");
        assert!(widened(FIRST | 1, 0x7fff) & ((1 << 112) - 1) != 0 && widened(1, 0x3fff) >> 112 == 0x7fff);
    }
}
