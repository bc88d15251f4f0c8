//! The properties of an element that reductions use: its number format, and the group of the standard's table (MPI-5.0,
//! 6.9.2).

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

/// A number of 4 or 8 bytes, of a type that is an integer or a floating-point number to reductions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // as those of `Scalar`
#[repr(u8)]
pub enum Number {
    I32,
    U32,
    F32,
    I64,
    U64,
    F64,
}

impl Number {
    /// The number of a type of this category and scalar.
    pub(crate) const fn of(category: Category, scalar: Scalar) -> Option<Number> {
        use Category::{CInteger, Floating, FortranInteger, MultiLanguage};
        match (category, scalar) {
            (CInteger | FortranInteger | MultiLanguage, Scalar::I32) => Some(Number::I32),
            (CInteger | FortranInteger | MultiLanguage, Scalar::U32) => Some(Number::U32),
            (CInteger | FortranInteger | MultiLanguage, Scalar::I64) => Some(Number::I64),
            (CInteger | FortranInteger | MultiLanguage, Scalar::U64) => Some(Number::U64),
            (Floating, Scalar::F32) => Some(Number::F32),
            (Floating, Scalar::F64) => Some(Number::F64),
            _ => None,
        }
    }

    /// Whether it has 8 bytes, not 4.
    #[inline(always)]
    pub const fn is_long(self) -> bool {
        self as u8 >= Number::I64 as u8
    }

    /// Its size.
    #[inline(always)]
    pub const fn bytes(self) -> usize {
        if self.is_long() { 8 } else { 4 }
    }

    /// Whether it is an integer.
    #[inline(always)]
    pub const fn is_integer(self) -> bool {
        !matches!(self, Number::F32 | Number::F64)
    }
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
