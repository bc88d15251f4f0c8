//! The datatypes of the standard, by handle (MPI-5.0, 3.2.2, 6.9.4 and chapter 20).
//!
//! Invariant: every datatype handle of the ABI has an entry, with the size and extent that it has on x86-64 and
//! aarch64 Linux; `MPI_DATATYPE_NULL` has none.
//! Where `long double` is not the x87 format its scalar is [`Scalar::F128`]; sizes are the same.
#![allow(unsafe_code)] // reads one of two tables through a pointer

use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use mpi_core::ShortMutex;
use mpi_core::abi::*;

use crate::datatype::{Datatype, Parts};
use crate::layout::Layout;
use crate::scalar::{Category, Number, Scalar};
use crate::shape::Shape;

const FIRST: usize = 0x200;
const SLOTS: usize = 0x100;

/// The predefined datatype with this handle word; `None` for `MPI_DATATYPE_NULL` and all other words.
#[inline]
pub fn predefined(handle: usize) -> Option<&'static Datatype> {
    match TABLE.get(handle.wrapping_sub(FIRST)) {
        Some(Some(datatype)) => Some(datatype),
        _ => None,
    }
}

/// As [`predefined`], for the calls of a program, and as cheap. While uses are [watched](watch_uses) the result is
/// `None` for all words, so that the caller takes a slower path that counts the use.
#[inline]
pub fn predefined_unwatched(handle: usize) -> Option<&'static Datatype> {
    // Relaxed: a call that begins while a watcher is added may not be counted; one that the same thread begins
    // afterwards is.
    let table = ACTIVE.load(Relaxed);
    // SAFETY: only TABLE and EMPTY are stored there, which are static and never change.
    let table: &'static Entries = unsafe { &*table };
    table.get(handle.wrapping_sub(FIRST))?.as_ref()
}

/// Bytes of `count` elements of the predefined datatype with this handle word that follow each other without gaps, if there
/// are at most `most`, and `count` is not negative; `None` also for all other words and, as [`predefined_unwatched`], while
/// uses are watched.
#[inline(always)] // short ways of calls that have a longer one
pub fn short_bytes(handle: usize, count: i32, most: usize) -> Option<usize> {
    // Relaxed as in `predefined_unwatched`.
    let sizes = ACTIVE_SIZES.load(Relaxed);
    // SAFETY: only SIZES and NO_SIZES are stored there, which are static and never change.
    let sizes: &'static Sizes = unsafe { &*sizes };
    let size = sizes.get(handle.wrapping_sub(FIRST))?.bytes;
    // A negative count is a larger number than any length.
    let bytes = (i64::from(count) * i64::from(size)) as usize;
    (size != 0 && bytes <= most).then_some(bytes)
}

/// The number that an element of the predefined datatype with this handle word is, if it has 4 or 8 bytes; `None` also for
/// all other words and, as [`predefined_unwatched`], while uses are watched.
#[inline(always)] // short ways of calls that have a longer one
pub fn short_number(handle: usize) -> Option<Number> {
    // Relaxed as in `predefined_unwatched`.
    let sizes = ACTIVE_SIZES.load(Relaxed);
    // SAFETY: only SIZES and NO_SIZES are stored there, which are static and never change.
    let sizes: &'static Sizes = unsafe { &*sizes };
    sizes.get(handle.wrapping_sub(FIRST))?.number
}

/// Adds a watcher of the uses of predefined datatypes, or (`false`) removes one. It applies to all callers of
/// [`predefined_unwatched`] in the operating-system process.
pub fn watch_uses(watch: bool) {
    let mut watchers = WATCHERS.lock();
    *watchers = if watch { *watchers + 1 } else { watchers.saturating_sub(1) };
    let (table, sizes) = match *watchers {
        0 => (&raw const TABLE, &raw const SIZES),
        _ => (&raw const EMPTY, &raw const NO_SIZES),
    };
    ACTIVE.store(table.cast_mut(), Relaxed);
    ACTIVE_SIZES.store(sizes.cast_mut(), Relaxed);
}

/// The table that [`predefined_unwatched`] reads. Never written through.
static ACTIVE: AtomicPtr<Entries> = AtomicPtr::new((&raw const TABLE).cast_mut());
static EMPTY: Entries = [const { None }; SLOTS];
/// The table that [`short_bytes`] and [`short_number`] read. Never written through.
static ACTIVE_SIZES: AtomicPtr<Sizes> = AtomicPtr::new((&raw const SIZES).cast_mut());
static NO_SIZES: Sizes = [NO_SIZE; SLOTS];
static WATCHERS: ShortMutex<usize> = ShortMutex::new(0);

/// All predefined datatypes with their handle words, in handle order.
pub fn all() -> impl Iterator<Item = (usize, &'static Datatype)> {
    TABLE.iter().enumerate().filter_map(|(index, entry)| Some((FIRST + index, entry.as_ref()?)))
}

/// The standard has no reductions of `MPI_CHAR`; like all other libraries, this one takes it as an integer of C.
const CHAR: Scalar = if core::ffi::c_char::MIN == 0 { Scalar::U8 } else { Scalar::I8 };
const LONG_DOUBLE: Scalar = if cfg!(target_arch = "x86_64") { Scalar::F80 } else { Scalar::F128 };
const COMPLEX_LONG_DOUBLE: Scalar = if cfg!(target_arch = "x86_64") { Scalar::ComplexF80 } else { Scalar::ComplexF128 };

static DOUBLE_INT: Layout = Layout::new(Shape::block(12), 0, 16, (0, 12));
static LONG_INT: Layout = Layout::new(Shape::block(12), 0, 16, (0, 12));
static SHORT_INT: Layout = Layout::new(Shape::two_blocks(&[0, 4], &[0, 2, 6]), 0, 8, (0, 8));
static LONG_DOUBLE_INT: Layout = Layout::new(Shape::block(20), 0, 32, (0, 20));

/// An entry for each word from [`FIRST`] on.
type Entries = [Option<Datatype>; SLOTS];

static TABLE: Entries = table();

/// What short ways read of a type.
#[derive(Clone, Copy)]
struct Size {
    /// The size if its elements are contiguous, else 0.
    bytes: u8,
    number: Option<Number>,
}

const NO_SIZE: Size = Size { bytes: 0, number: None };

/// An entry for each word from [`FIRST`] on.
type Sizes = [Size; SLOTS];

static SIZES: Sizes = sizes(&TABLE);

const fn sizes(table: &Entries) -> Sizes {
    let (mut sizes, mut at) = ([NO_SIZE; SLOTS], 0);
    while at < SLOTS {
        if let Some(datatype) = &table[at]
            && datatype.is_contiguous()
        {
            assert!(datatype.size() < 256);
            sizes[at] =
                Size { bytes: datatype.size() as u8, number: Number::of(datatype.category(), datatype.scalar()) };
        }
        at += 1;
    }
    sizes
}

const fn table() -> Entries {
    let mut table = [const { None }; SLOTS];
    macro_rules! types {
        ($($category:ident: $($handle:ident $size:literal $scalar:expr),+;)+) => {
            $($(
                let parts = Parts {
                    name: stringify!($handle), size: $size, extent: $size, true_extent: $size,
                    alignment: alignment($scalar, $size), scalar: $scalar, category: Category::$category, layout: None,
                };
                set(&mut table, $handle, Datatype::predefined($handle, parts));
            )+)+
        };
    }
    macro_rules! pairs {
        ($($handle:ident $layout:ident $size:literal span $span:literal extent $extent:literal $scalar:ident),+ $(,)?) => {
            $(
                let parts = Parts {
                    name: stringify!($handle), size: $size, extent: $extent, true_extent: $span,
                    alignment: alignment(Scalar::$scalar, $size), scalar: Scalar::$scalar, category: Category::Pair,
                    layout: Some(&$layout),
                };
                set(&mut table, $handle, Datatype::predefined($handle, parts));
            )+
        };
    }
    use Scalar::*;
    types! {
        MultiLanguage: MPI_AINT 8 I64, MPI_COUNT 8 I64, MPI_OFFSET 8 I64;
        CInteger:
            MPI_SHORT 2 I16, MPI_INT 4 I32, MPI_LONG 8 I64, MPI_LONG_LONG 8 I64,
            MPI_UNSIGNED_SHORT 2 U16, MPI_UNSIGNED 4 U32, MPI_UNSIGNED_LONG 8 U64, MPI_UNSIGNED_LONG_LONG 8 U64,
            MPI_CHAR 1 CHAR, MPI_SIGNED_CHAR 1 I8, MPI_UNSIGNED_CHAR 1 U8,
            MPI_INT8_T 1 I8, MPI_INT16_T 2 I16, MPI_INT32_T 4 I32, MPI_INT64_T 8 I64,
            MPI_UINT8_T 1 U8, MPI_UINT16_T 2 U16, MPI_UINT32_T 4 U32, MPI_UINT64_T 8 U64;
        FortranInteger:
            MPI_INTEGER 4 I32, MPI_INTEGER1 1 I8, MPI_INTEGER2 2 I16, MPI_INTEGER4 4 I32, MPI_INTEGER8 8 I64,
            MPI_INTEGER16 16 I128;
        Floating:
            MPI_FLOAT 4 F32, MPI_DOUBLE 8 F64, MPI_LONG_DOUBLE 16 LONG_DOUBLE, MPI_REAL 4 F32,
            MPI_DOUBLE_PRECISION 8 F64, MPI_REAL2 2 F16, MPI_REAL4 4 F32, MPI_REAL8 8 F64, MPI_REAL16 16 F128;
        Complex:
            MPI_C_FLOAT_COMPLEX 8 ComplexF32, MPI_C_DOUBLE_COMPLEX 16 ComplexF64,
            MPI_C_LONG_DOUBLE_COMPLEX 32 COMPLEX_LONG_DOUBLE, MPI_CXX_FLOAT_COMPLEX 8 ComplexF32,
            MPI_CXX_DOUBLE_COMPLEX 16 ComplexF64, MPI_CXX_LONG_DOUBLE_COMPLEX 32 COMPLEX_LONG_DOUBLE,
            MPI_COMPLEX 8 ComplexF32, MPI_DOUBLE_COMPLEX 16 ComplexF64, MPI_COMPLEX4 4 ComplexF16,
            MPI_COMPLEX8 8 ComplexF32, MPI_COMPLEX16 16 ComplexF64, MPI_COMPLEX32 32 ComplexF128;
        Logical:
            MPI_LOGICAL 4 U32, MPI_C_BOOL 1 U8, MPI_CXX_BOOL 1 U8, MPI_LOGICAL1 1 U8, MPI_LOGICAL2 2 U16,
            MPI_LOGICAL4 4 U32, MPI_LOGICAL8 8 U64, MPI_LOGICAL16 16 U128;
        Byte: MPI_BYTE 1 U8;
        Pair:
            MPI_FLOAT_INT 8 PairF32I32, MPI_2INT 8 PairI32I32, MPI_2REAL 8 PairF32F32,
            MPI_2DOUBLE_PRECISION 16 PairF64F64, MPI_2INTEGER 8 PairI32I32;
        Other: MPI_PACKED 1 Opaque, MPI_CHARACTER 1 Opaque, MPI_WCHAR 4 Opaque;
    }
    pairs! {
        MPI_DOUBLE_INT DOUBLE_INT 12 span 12 extent 16 PairF64I32,
        MPI_LONG_INT LONG_INT 12 span 12 extent 16 PairI64I32,
        MPI_SHORT_INT SHORT_INT 6 span 8 extent 8 PairI16I32,
        MPI_LONG_DOUBLE_INT LONG_DOUBLE_INT 20 span 20 extent 32 PairF80I32,
    }
    table
}

/// Alignment of the C or Fortran type, which decides the extent of structures (MPI-5.0, 5.1.6).
const fn alignment(scalar: Scalar, size: u8) -> u8 {
    match scalar {
        Scalar::ComplexF16 | Scalar::ComplexF32 | Scalar::ComplexF64 | Scalar::ComplexF80 | Scalar::ComplexF128 => {
            size / 2
        }
        Scalar::PairF32F32 | Scalar::PairF64F64 => size / 2,
        Scalar::PairF32I32 | Scalar::PairI32I32 | Scalar::PairI16I32 => 4,
        Scalar::PairF64I32 | Scalar::PairI64I32 => 8,
        Scalar::PairF80I32 => 16,
        _ => size,
    }
}

const fn set(table: &mut Entries, handle: usize, datatype: Datatype) {
    // A value with a destructor cannot be overwritten at compile time; what stood there was `None`.
    std::mem::forget(table[handle - FIRST].replace(datatype));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_name_no_type_have_none() {
        for word in [0, 1, MPI_DATATYPE_NULL, 0x204, 0x1ff, 0x300, MPI_COMM_WORLD, 4096, usize::MAX] {
            assert!(predefined(word).is_none(), "{word:#x}");
        }
    }

    #[test]
    fn while_uses_are_watched_the_fast_path_finds_nothing() {
        let found = || all().filter(|(word, _)| predefined_unwatched(*word).is_some()).count();
        assert_eq!(found(), all().count());
        assert!(predefined_unwatched(MPI_DATATYPE_NULL).is_none() && predefined_unwatched(0x1ff).is_none());
        let sized = || all().filter(|(word, _)| short_bytes(*word, 1, usize::MAX >> 1).is_some()).count();
        assert_eq!(sized(), all().filter(|(_, datatype)| datatype.is_contiguous()).count());
        for (word, datatype) in all().filter(|(_, datatype)| datatype.is_contiguous()) {
            let size = datatype.size() as usize;
            assert_eq!(short_bytes(word, 3, 3 * size), Some(3 * size), "{}", datatype.name());
            assert_eq!(short_bytes(word, 3, 3 * size - 1), None);
            assert_eq!(short_bytes(word, 0, 0), Some(0));
            assert_eq!(short_bytes(word, i32::MAX, usize::MAX >> 1), Some(i32::MAX as usize * size));
            for negative in [-1, i32::MIN] {
                assert_eq!(short_bytes(word, negative, usize::MAX >> 1), None);
            }
        }
        let numbered = || all().filter(|(word, _)| short_number(*word).is_some()).count();
        assert_eq!(short_number(MPI_DOUBLE), Some(Number::F64));
        for (word, datatype) in all() {
            assert!(short_number(word).is_none_or(|number| number.bytes() as u64 == datatype.size()), "{word:#x}");
        }
        for word in [MPI_DATATYPE_NULL, MPI_BYTE, MPI_2INT, MPI_SHORT, MPI_C_BOOL, 0x1ff, 0x300, usize::MAX] {
            assert_eq!(short_number(word), None, "{word:#x}");
        }
        for word in [MPI_DATATYPE_NULL, MPI_SHORT_INT, 0x1ff, 0x300, usize::MAX] {
            assert_eq!(short_bytes(word, 0, 8), None, "{word:#x}");
        }
        watch_uses(true);
        watch_uses(true);
        watch_uses(false);
        assert_eq!((found(), sized(), numbered()), (0, 0, 0));
        assert!(predefined(MPI_INT).is_some());
        watch_uses(false);
        assert_eq!(found(), all().count());
    }

    #[test]
    fn every_datatype_of_the_abi_is_there() {
        // MPI-5.0 annex A has 73 names of datatypes, one null and two aliases among them.
        assert_eq!(all().count(), 70);
    }

    #[test]
    fn the_handle_encodes_the_size_of_fixed_size_types() {
        for (handle, datatype) in all().filter(|(handle, _)| handle & 0x40 != 0) {
            assert_eq!(datatype.size(), 1 << ((handle >> 3) & 7), "{}", datatype.name());
        }
    }

    #[test]
    fn pairs_have_the_extent_of_the_c_struct() {
        let facts = |handle| predefined(handle).map(|it| (it.size(), it.extent()));
        assert_eq!(facts(MPI_DOUBLE_INT), Some((12, 16)));
        assert_eq!(facts(MPI_LONG_INT), Some((12, 16)));
        assert_eq!(facts(MPI_SHORT_INT), Some((6, 8)));
        assert_eq!(facts(MPI_LONG_DOUBLE_INT), Some((20, 32)));
        assert_eq!(facts(MPI_FLOAT_INT), Some((8, 8)));
        assert_eq!(facts(MPI_2INT), Some((8, 8)));
    }

    #[test]
    fn only_types_with_gaps_have_a_layout_and_it_agrees() {
        for (_, datatype) in all() {
            match datatype.layout() {
                None => assert_eq!(datatype.extent(), datatype.size() as i64, "{}", datatype.name()),
                Some(layout) => {
                    assert_eq!((layout.size(), layout.extent()), (datatype.size(), datatype.extent()));
                    let span = (layout.lowest, layout.span);
                    assert_eq!(span, (datatype.true_lower_bound(), datatype.true_extent()), "{}", datatype.name());
                }
            }
        }
    }
}
