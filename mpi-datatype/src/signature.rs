//! Type signatures: the basic elements of a type in the order of its type map (MPI-5.0, 5.1), as runs and loops.
//!
//! A pair of the standard has two basic elements, a complex number one.
//! Invariants: packed data are the basic elements one after the other; the caller has checked that the bytes fit into
//! an `i64`; no part is empty, except that a whole signature may be.
//! Not here: where elements lie in memory (`layout`).

use std::sync::Arc;

use mpi_core::abi::{MPI_LONG, MPI_LONG_INT, MPI_UNSIGNED_LONG, MPI_WCHAR};

use crate::scalar::Scalar;

/// A basic element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BasicType {
    /// Bytes of the element.
    pub bytes: u8,
    /// Bytes of each number in it: half of them for a complex number.
    pub number: u8,
    /// How `external32` stores a number of it.
    pub external: External,
}

/// How the representation `external32` stores a number (MPI-5.0, 14.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum External {
    /// With the same bytes, the most significant first.
    Swapped,
    /// In this many bytes; a reader extends the sign.
    Signed(u8),
    /// In this many bytes; a reader extends with zeros.
    Unsigned(u8),
    /// As an IEEE number of 16 bytes, converted from the 80-bit format of x87.
    FromX87,
}

impl BasicType {
    /// An element that is one number, or one piece of data without a format.
    pub(crate) const fn plain(bytes: u8) -> BasicType {
        BasicType { bytes, number: bytes, external: External::Swapped }
    }

    /// Bytes of the element in `external32`.
    pub const fn external_bytes(self) -> u8 {
        match self.external {
            External::Swapped | External::FromX87 => self.bytes,
            External::Signed(bytes) | External::Unsigned(bytes) => bytes * (self.bytes / self.number),
        }
    }
}

/// The basic elements of a type. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Signature {
    elements: u64,
    bytes: u64,
    /// Packed bytes in `external32`.
    external: u64,
    made_of: MadeOf,
    kind: Kind,
}

/// The predefined types that data are elements of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MadeOf {
    /// There are no data.
    Nothing,
    /// The one with this handle word.
    One(usize),
    Several,
}

impl MadeOf {
    fn and(self, other: MadeOf) -> MadeOf {
        match (self, other) {
            (MadeOf::Nothing, other) | (other, MadeOf::Nothing) => other,
            (one, other) if one == other => one,
            _ => MadeOf::Several,
        }
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Empty,
    Run(BasicType),
    /// Two elements in turn.
    Pair(BasicType, BasicType),
    Repeat(Arc<Signature>),
    /// Parts, with the packed offset of each.
    List(Arc<Vec<(u64, Signature)>>),
}

/// Lists of at most this many parts dissolve in a list around them.
const DISSOLVE: usize = 1024;

impl Signature {
    pub const EMPTY: Signature =
        Signature { elements: 0, bytes: 0, external: 0, made_of: MadeOf::Nothing, kind: Kind::Empty };

    /// The signature of a predefined type.
    pub const fn predefined(word: usize, scalar: Scalar, size: u64) -> Signature {
        // The C type `long` has 4 bytes in external32, a wide character 2.
        let external = match word {
            MPI_LONG | MPI_LONG_INT => External::Signed(4),
            MPI_UNSIGNED_LONG => External::Unsigned(4),
            MPI_WCHAR => External::Unsigned(2),
            _ => match scalar {
                Scalar::F80 | Scalar::ComplexF80 | Scalar::PairF80I32 => External::FromX87,
                _ => External::Swapped,
            },
        };
        let (all, made_of) = (size as u8, MadeOf::One(word));
        let (first, second) = match scalar {
            Scalar::ComplexF16 | Scalar::ComplexF32 | Scalar::ComplexF64 | Scalar::ComplexF80 | Scalar::ComplexF128 => {
                (BasicType { bytes: all, number: all / 2, external }, None)
            }
            Scalar::PairF32F32 | Scalar::PairF64F64 => (BasicType::plain(all / 2), Some(BasicType::plain(all / 2))),
            Scalar::PairF32I32
            | Scalar::PairI32I32
            | Scalar::PairF64I32
            | Scalar::PairI64I32
            | Scalar::PairI16I32
            | Scalar::PairF80I32 => {
                (BasicType { bytes: all - 4, number: all - 4, external }, Some(BasicType::plain(4)))
            }
            _ => (BasicType { bytes: all, number: all, external }, None),
        };
        match second {
            None => {
                let external = first.external_bytes() as u64;
                Signature { elements: 1, bytes: size, external, made_of, kind: Kind::Run(first) }
            }
            Some(second) => {
                let external = first.external_bytes() as u64 + second.external_bytes() as u64;
                Signature { elements: 2, bytes: size, external, made_of, kind: Kind::Pair(first, second) }
            }
        }
    }

    /// Packed bytes in `external32`.
    pub fn external_bytes(&self) -> u64 {
        self.external
    }

    /// The handle word of the predefined type that all data are elements of; `None` if there are several, or no data.
    pub fn only_type(&self) -> Option<usize> {
        match self.made_of {
            MadeOf::One(word) => Some(word),
            MadeOf::Nothing | MadeOf::Several => None,
        }
    }

    /// Number of basic elements.
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// `count` times this signature.
    pub fn repeat(&self, count: u64) -> Signature {
        if count == 0 || self.bytes == 0 {
            return Signature::EMPTY;
        }
        let kind = match &self.kind {
            Kind::List(_) if count > 1 => Kind::Repeat(Arc::new(self.clone())),
            kind => kind.clone(),
        };
        let (elements, bytes) = (self.elements * count, self.bytes * count);
        Signature { elements, bytes, external: self.external * count, made_of: self.made_of, kind }
    }

    /// The signature of parts in their order.
    pub fn list(parts: impl Iterator<Item = Signature>) -> Signature {
        let mut list: Vec<(u64, Signature)> = Vec::new();
        let (mut elements, mut bytes, mut external, mut made_of) = (0, 0, 0, MadeOf::Nothing);
        let mut push = |part: &Signature| {
            if let Some((_, last)) = list.last_mut()
                && last.goes_on_in(part)
            {
                last.elements += part.elements;
                last.bytes += part.bytes;
                last.external += part.external;
                last.made_of = last.made_of.and(part.made_of);
            } else {
                list.push((bytes, part.clone()));
            }
            elements += part.elements;
            bytes += part.bytes;
            external += part.external;
            made_of = made_of.and(part.made_of);
            list.len()
        };
        let mut length = 0;
        for part in parts {
            match &part.kind {
                Kind::Empty => {}
                Kind::List(inner) if length + inner.len() <= DISSOLVE => {
                    inner.iter().for_each(|(_, part)| length = push(part));
                }
                _ => length = push(&part),
            }
        }
        match list.len() {
            0 => Signature::EMPTY,
            1 => list.swap_remove(0).1,
            _ => Signature { elements, bytes, external, made_of, kind: Kind::List(Arc::new(list)) },
        }
    }

    /// Whether the parts are one longer run of the same elements.
    fn goes_on_in(&self, next: &Signature) -> bool {
        match (&self.kind, &next.kind) {
            (Kind::Run(one), Kind::Run(other)) => one == other,
            (Kind::Pair(first, second), Kind::Pair(third, fourth)) => first == third && second == fourth,
            (Kind::Repeat(one), Kind::Repeat(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Number of basic elements in the first packed bytes of a buffer of elements with this signature; `None` if the
    /// bytes end inside of one.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        if self.bytes == 0 {
            return (bytes == 0).then_some(0);
        }
        let (mut counted, mut rest) = (bytes / self.bytes * self.elements, bytes % self.bytes);
        let mut part = self;
        loop {
            part = match &part.kind {
                Kind::Empty => return (rest == 0).then_some(counted),
                Kind::Run(basic) => {
                    let size = u64::from(basic.bytes);
                    return rest.is_multiple_of(size).then_some(counted + rest / size);
                }
                Kind::Pair(first, second) => {
                    let (first, second) = (u64::from(first.bytes), u64::from(second.bytes));
                    counted += rest / (first + second) * 2;
                    return match rest % (first + second) {
                        0 => Some(counted),
                        left if left == first => Some(counted + 1),
                        _ => None,
                    };
                }
                Kind::Repeat(body) => {
                    counted += rest / body.bytes * body.elements;
                    rest %= body.bytes;
                    body
                }
                Kind::List(list) => {
                    let index = list.partition_point(|(start, _)| *start <= rest) - 1;
                    counted += list[..index].iter().map(|(_, part)| part.elements).sum::<u64>();
                    rest -= list[index].0;
                    &list[index].1
                }
            };
        }
    }

    /// Packed bytes of the first basic elements of a buffer of elements with this signature; `None` if there are
    /// too many.
    pub fn bytes_of(&self, elements: u64) -> Option<u64> {
        if self.elements == 0 {
            return (elements == 0).then_some(0);
        }
        let mut counted = (elements / self.elements).checked_mul(self.bytes)?;
        let mut rest = elements % self.elements;
        let mut part = self;
        let within = loop {
            part = match &part.kind {
                Kind::Empty => break 0,
                Kind::Run(basic) => break rest * u64::from(basic.bytes),
                Kind::Pair(first, second) => {
                    let pairs = rest / 2 * u64::from(first.bytes + second.bytes);
                    break pairs + rest % 2 * u64::from(first.bytes);
                }
                Kind::Repeat(body) => {
                    counted = counted.checked_add(rest / body.elements * body.bytes)?;
                    rest %= body.elements;
                    body
                }
                Kind::List(list) => {
                    let mut parts = list.iter();
                    let (start, last) = parts
                        .find(|(_, part)| {
                            let found = rest < part.elements;
                            rest -= if found { 0 } else { part.elements };
                            found
                        })
                        .expect("fewer elements than the list has");
                    counted = counted.checked_add(*start)?;
                    last
                }
            };
        };
        counted.checked_add(within).filter(|bytes| *bytes <= i64::MAX as u64)
    }

    /// The basic element that holds packed byte `at`, which is at its start, of a buffer of elements with this
    /// signature; and the bytes from there to the end of its run.
    pub fn run(&self, at: u64) -> (BasicType, u64) {
        let mut rest = if self.bytes == 0 { 0 } else { at % self.bytes };
        let mut part = self;
        loop {
            part = match &part.kind {
                Kind::Empty => return (BasicType::plain(1), 1),
                Kind::Run(basic) => return (*basic, part.bytes - rest),
                Kind::Pair(first, second) => {
                    let (one, both) = (u64::from(first.bytes), u64::from(first.bytes + second.bytes));
                    rest %= both;
                    return if rest < one { (*first, one - rest) } else { (*second, both - rest) };
                }
                Kind::Repeat(body) => {
                    rest %= body.bytes;
                    body
                }
                Kind::List(list) => {
                    let index = list.partition_point(|(start, _)| *start <= rest) - 1;
                    rest -= list[index].0;
                    &list[index].1
                }
            };
        }
    }
}

impl Drop for Signature {
    /// Drops parts with no other owner one by one: a chain of any depth needs no stack.
    fn drop(&mut self) {
        if !matches!(self.kind, Kind::Repeat(_) | Kind::List(_)) {
            return;
        }
        let mut pending = vec![std::mem::replace(&mut self.kind, Kind::Empty)];
        while let Some(kind) = pending.pop() {
            match kind {
                Kind::Repeat(body) => {
                    if let Some(mut body) = Arc::into_inner(body) {
                        pending.push(std::mem::replace(&mut body.kind, Kind::Empty));
                    }
                }
                Kind::List(list) => {
                    for (_, mut part) in Arc::into_inner(list).unwrap_or_default() {
                        pending.push(std::mem::replace(&mut part.kind, Kind::Empty));
                    }
                }
                _ => {}
            }
        }
    }
}
