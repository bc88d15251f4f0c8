//! The datatype: size, bounds, layout and, for reductions, the format of its numbers (MPI-5.0, 5.1).
//!
//! Invariant: a type whose layout is contiguous has `size == extent` and lower bound 0.
//! Not here: which reduction is allowed on which type (`mpi-coll`).

use std::sync::Arc;

use crate::layout::{Layout, LayoutError, LayoutRef, Segment};

/// The number format of one element, for reductions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the sizes in bits
pub enum Scalar {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    /// IEEE half precision.
    F16,
    F32,
    F64,
    /// The 80-bit format of x87 in 16 bytes: `long double` on x86-64 Linux.
    F80,
    /// IEEE quadruple precision.
    F128,
    /// Two [`Scalar::F16`].
    ComplexF16,
    /// Two [`Scalar::F32`].
    ComplexF32,
    /// Two [`Scalar::F64`].
    ComplexF64,
    /// Two [`Scalar::F80`].
    ComplexF80,
    /// Two [`Scalar::F128`].
    ComplexF128,
    /// `struct { float; int }`
    PairF32I32,
    /// `struct { double; int }`
    PairF64I32,
    /// `struct { long; int }`
    PairI64I32,
    /// `struct { int; int }`
    PairI32I32,
    /// `struct { short; int }`
    PairI16I32,
    /// `struct { long double; int }`
    PairF80I32,
    /// Two reals.
    PairF32F32,
    /// Two double precision reals.
    PairF64F64,
    /// Bytes without arithmetic, or a derived type.
    Opaque,
}

/// The groups into which the standard sorts types for reductions (MPI-5.0, 6.9.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// C integers, and `MPI_CHAR`.
    CInteger,
    /// Fortran integers.
    FortranInteger,
    /// Real numbers of C and Fortran.
    Floating,
    /// Truth values of C, C++ and Fortran.
    Logical,
    /// Complex numbers of C, C++ and Fortran.
    Complex,
    /// `MPI_BYTE`.
    Byte,
    /// Integers of several languages: `MPI_AINT`, `MPI_COUNT`, `MPI_OFFSET`.
    MultiLanguage,
    /// A value with an index.
    Pair,
    /// Everything else: wide and Fortran characters, packed data, derived types. No predefined reduction takes them.
    Other,
}

/// Size, bounds and layout of a datatype. Cheap to clone; immutable, so safe to use from any thread.
#[derive(Debug, Clone)]
pub struct Datatype {
    size: u64,
    extent: i64,
    lower_bound: i64,
    true_lower_bound: i64,
    true_extent: i64,
    layout: LayoutRef,
    scalar: Scalar,
    category: Category,
    name: &'static str,
}

impl Datatype {
    pub(crate) const fn contiguous(name: &'static str, size: u64, scalar: Scalar, category: Category) -> Datatype {
        Datatype {
            size,
            extent: size as i64,
            lower_bound: 0,
            true_lower_bound: 0,
            true_extent: size as i64,
            layout: LayoutRef::Contiguous,
            scalar,
            category,
            name,
        }
    }

    pub(crate) const fn fixed(name: &'static str, layout: &'static Layout, span: i64, parts: Parts) -> Datatype {
        Datatype {
            size: parts.size,
            extent: parts.extent,
            lower_bound: 0,
            true_lower_bound: 0,
            true_extent: span,
            layout: LayoutRef::Fixed(layout),
            scalar: parts.scalar,
            category: Category::Pair,
            name,
        }
    }

    /// A derived type made of `segments` (in packing order), with the lower bound and extent that
    /// `MPI_Type_get_extent` returns.
    ///
    /// Errors: sizes or bounds that do not fit into an `i64`.
    pub fn derived(segments: Vec<Segment>, lower_bound: i64, extent: i64) -> Result<Datatype, LayoutError> {
        lower_bound.checked_add(extent).ok_or(LayoutError::Bounds)?;
        let layout = Layout::new(segments, extent)?;
        let (true_lower_bound, true_extent) = layout.true_bounds()?;
        Ok(Datatype {
            size: layout.size(),
            extent,
            lower_bound,
            true_lower_bound,
            true_extent,
            layout: LayoutRef::Shared(Arc::new(layout)),
            scalar: Scalar::Opaque,
            category: Category::Other,
            name: "",
        })
    }

    /// Data bytes of one element (`MPI_Type_size`).
    #[inline]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes from one element to the next (`MPI_Type_get_extent`).
    #[inline]
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Lower bound in bytes (`MPI_Type_get_extent`).
    #[inline]
    pub fn lower_bound(&self) -> i64 {
        self.lower_bound
    }

    /// Bytes from the element's address to its first data byte (`MPI_Type_get_true_extent`).
    #[inline]
    pub fn true_lower_bound(&self) -> i64 {
        self.true_lower_bound
    }

    /// Bytes from the first to the last data byte, gaps between them included (`MPI_Type_get_true_extent`).
    #[inline]
    pub fn true_extent(&self) -> i64 {
        self.true_extent
    }

    /// Whether elements follow each other without gaps.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        matches!(self.layout, LayoutRef::Contiguous)
    }

    /// The layout, for a type that is not contiguous.
    #[inline]
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.get()
    }

    pub(crate) fn layout_ref(&self) -> &LayoutRef {
        &self.layout
    }

    /// How a reduction reads an element.
    #[inline]
    pub fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// The group of the standard's table of reductions.
    #[inline]
    pub fn category(&self) -> Category {
        self.category
    }

    /// The predefined name, as `MPI_Type_get_name` returns it; empty for derived types.
    #[inline]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Data bytes of `count` elements; `None` when these, or the memory from the first to the last of them, are more
    /// than an object in memory can have, which is `isize::MAX`.
    #[inline]
    pub fn bytes_of(&self, count: u64) -> Option<u64> {
        let bytes = count.checked_mul(self.size).filter(|bytes| *bytes <= isize::MAX as u64)?;
        (self.is_contiguous() || self.span(count) <= isize::MAX as u64).then_some(bytes)
    }

    /// Bytes of memory that `count` elements need, from the first to the last data byte, gaps included; saturates.
    pub fn span(&self, count: u64) -> u64 {
        if count == 0 || self.size == 0 {
            return 0;
        }
        (count - 1).saturating_mul(self.extent.unsigned_abs()).saturating_add(self.true_extent as u64)
    }
}

/// The numbers of a fixed type with gaps.
pub(crate) struct Parts {
    pub size: u64,
    pub extent: i64,
    pub scalar: Scalar,
}
