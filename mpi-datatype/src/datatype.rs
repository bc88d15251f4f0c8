//! The datatype: size, bounds, layout and, for reductions, the format of its numbers (MPI-5.0, 5.1).
//!
//! Invariant: a type whose elements are [contiguous](Datatype::is_contiguous) has `size == extent`, and its first data
//! byte is at the element's address.
//! Not here: constructors (`construct`), which reduction is allowed on which type (`mpi-coll`).

use std::sync::Arc;

use mpi_core::abi::{MPI_COMBINER_DUP, MPI_COMBINER_F90_COMPLEX, MPI_COMBINER_F90_INTEGER, MPI_COMBINER_F90_REAL};

use crate::bounds::Bounds;
use crate::envelope::Envelope;
use crate::layout::{Layout, LayoutRef};
use crate::scalar::{Category, Scalar};
use crate::shape::Shape;
use crate::signature::Signature;

/// A datatype: size, bounds, layout, and how it was constructed. Cheap to clone; safe to use from any thread.
///
/// A derived datatype has to be [committed](Datatype::commit) before it describes a buffer.
#[derive(Debug, Clone)]
pub struct Datatype {
    size: u64,
    elements: Elements,
    bounds: Bounds,
    scalar: Scalar,
    category: Category,
    name: &'static str,
    /// Handle word of a predefined type, else 0.
    word: usize,
    /// `None` for a predefined type.
    origin: Option<Arc<Origin>>,
}

/// How elements lie in memory.
#[derive(Debug, Clone)]
enum Elements {
    Contiguous,
    Fixed(&'static Layout),
    Committed(Arc<Layout>),
    /// No buffer may be made of it yet.
    Uncommitted(Arc<Layout>),
}

impl Datatype {
    pub(crate) const fn predefined(word: usize, parts: Parts) -> Datatype {
        let Parts { name, size, extent, true_extent, alignment, scalar, category, layout } = parts;
        let elements = match layout {
            None => Elements::Contiguous,
            Some(layout) => Elements::Fixed(layout),
        };
        let bounds = Bounds { lower: 0, extent, true_lower: 0, true_extent, alignment, explicit: false };
        Datatype { size, elements, bounds, scalar, category, name, word, origin: None }
    }

    /// A type that is not committed.
    pub(crate) fn derived(bounds: Bounds, offset: i64, shape: Shape, origin: Arc<Origin>) -> Datatype {
        let range = (bounds.true_lower, bounds.true_extent);
        Datatype {
            size: shape.size(),
            elements: Elements::Uncommitted(Arc::new(Layout::new(shape, offset, bounds.extent, range))),
            bounds,
            scalar: Scalar::Opaque,
            category: Category::Other,
            name: "",
            word: 0,
            origin: Some(origin),
        }
    }

    /// A duplicate (`MPI_Type_dup`), committed if this type is. Reductions take it like this type.
    pub fn dup(&self) -> Datatype {
        let envelope = Envelope::new(MPI_COMBINER_DUP, vec![self.clone()]);
        let origin = Some(Arc::new(Origin { signature: self.signature(), envelope }));
        Datatype { word: 0, origin, ..self.clone() }
    }

    /// The type that stands for a precision and range of Fortran numbers (`MPI_Type_create_f90_real` and the like): this
    /// type, with the call and its arguments as its origin.
    pub fn selected(&self, combiner: i32, parameters: &[i32]) -> Datatype {
        let envelope = Envelope::new(combiner, Vec::new()).integers(parameters.iter().copied());
        let origin = Some(Arc::new(Origin { signature: self.signature(), envelope }));
        Datatype { word: 0, origin, ..self.clone() }
    }

    /// This derived type, with other basic elements in its packed bytes.
    pub(crate) fn with_signature(mut self, signature: Signature) -> Datatype {
        if let Some(origin) = &self.origin {
            self.origin = Some(Arc::new(Origin { signature, envelope: origin.envelope.clone() }));
        }
        self
    }

    /// Whether the type is one of [`Datatype::selected`], which programs cannot free.
    pub fn is_selected(&self) -> bool {
        let combiner = self.envelope().map(|envelope| envelope.combiner);
        matches!(combiner, Some(MPI_COMBINER_F90_REAL | MPI_COMBINER_F90_COMPLEX | MPI_COMBINER_F90_INTEGER))
    }

    /// Makes the type usable for buffers (`MPI_Type_commit`); does nothing if it is. Its layout is compiled when it is
    /// constructed, so this is cheap.
    pub fn commit(&mut self) {
        if let Elements::Uncommitted(layout) = &self.elements {
            let contiguous = layout.shape.is_block() && layout.offset == 0 && layout.extent == self.size as i64;
            self.elements = if contiguous { Elements::Contiguous } else { Elements::Committed(layout.clone()) };
        }
    }

    /// The type, committed.
    #[must_use]
    pub fn committed(mut self) -> Datatype {
        self.commit();
        self
    }

    /// Whether buffers may be made of the type.
    #[inline]
    pub fn is_committed(&self) -> bool {
        !matches!(self.elements, Elements::Uncommitted(_))
    }

    /// The handle word of a predefined type; 0 for all others.
    #[inline]
    pub fn word(&self) -> usize {
        self.word
    }

    /// The call that constructed the type; `None` for a predefined one.
    pub fn envelope(&self) -> Option<&Envelope<Datatype>> {
        self.origin.as_ref().map(|origin| &origin.envelope)
    }

    /// Data bytes of one element (`MPI_Type_size`).
    #[inline]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Bytes from one element to the next (`MPI_Type_get_extent`).
    #[inline]
    pub fn extent(&self) -> i64 {
        self.bounds.extent
    }

    /// Lower bound in bytes (`MPI_Type_get_extent`).
    #[inline]
    pub fn lower_bound(&self) -> i64 {
        self.bounds.lower
    }

    /// Bytes from the element's address to its first data byte (`MPI_Type_get_true_extent`).
    #[inline]
    pub fn true_lower_bound(&self) -> i64 {
        self.bounds.true_lower
    }

    /// Bytes from the first to the last data byte, gaps between them included (`MPI_Type_get_true_extent`).
    #[inline]
    pub fn true_extent(&self) -> i64 {
        self.bounds.true_extent
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Whether elements follow each other without gaps, from their address on, and the type is committed.
    #[inline]
    pub const fn is_contiguous(&self) -> bool {
        matches!(self.elements, Elements::Contiguous)
    }

    /// The layout, for a type that is not [contiguous](Datatype::is_contiguous).
    #[inline]
    pub fn layout(&self) -> Option<&Layout> {
        match &self.elements {
            Elements::Contiguous => None,
            Elements::Fixed(layout) => Some(layout),
            Elements::Committed(layout) | Elements::Uncommitted(layout) => Some(layout),
        }
    }

    /// The layout that a buffer refers to; `None` for a type that is not committed.
    #[inline]
    pub(crate) fn layout_ref(&self) -> Option<LayoutRef> {
        match &self.elements {
            Elements::Contiguous => Some(LayoutRef::Contiguous),
            Elements::Fixed(layout) => Some(LayoutRef::Fixed(layout)),
            Elements::Committed(layout) => Some(LayoutRef::Shared(layout.clone())),
            Elements::Uncommitted(_) => None,
        }
    }

    /// The offset of the first data byte of an element, and its shape.
    pub(crate) fn placed_shape(&self) -> (i64, Shape) {
        self.layout().map_or_else(|| (0, Shape::block(self.size)), |layout| (layout.offset, layout.shape.clone()))
    }

    pub(crate) fn signature(&self) -> Signature {
        match &self.origin {
            Some(origin) => origin.signature.clone(),
            None => Signature::predefined(self.word, self.scalar, self.size),
        }
    }

    /// The handle word of the predefined type that all data of this type are elements of; `None` if they are of
    /// several types, or there are no data. A pair of the standard is a predefined type.
    pub fn only_type(&self) -> Option<usize> {
        self.signature().only_type()
    }

    /// Whether `count` elements of a committed type certainly store some byte twice. Not every overlap is found.
    pub fn surely_overlaps(&self, count: u64) -> bool {
        self.layout().is_some_and(|layout| layout.surely_overlaps(count))
    }

    /// Calls `run` with the offset from the first element's address, and the length, of each run of the packed bytes
    /// `at .. at + length` of consecutive elements, in packing order, until it returns `false`. Of a type with data,
    /// and for elements whose [`span`](Datatype::span) memory can have.
    pub fn each_run(&self, at: u64, length: u64, mut run: impl FnMut(i64, u64) -> bool) {
        match self.layout() {
            Some(layout) if length > 0 => layout.each_run(at, length, run),
            None if length > 0 => {
                run(at as i64, length);
            }
            _ => {}
        }
    }

    /// Number of basic elements of one element; a pair of the standard has two.
    pub fn basic_elements(&self) -> u64 {
        self.signature().elements()
    }

    /// Number of basic elements that the first `bytes` packed bytes of a buffer are; `None` if they end inside of one
    /// (`MPI_Get_elements`).
    pub fn basic_elements_in(&self, bytes: u64) -> Option<u64> {
        self.signature().elements_in(bytes)
    }

    /// Packed bytes of the first `elements` basic elements of a buffer; `None` if these do not fit into an `i64`, or if
    /// the type has no data and there are any.
    pub fn bytes_of_basic_elements(&self, elements: u64) -> Option<u64> {
        self.signature().bytes_of(elements)
    }

    /// How a reduction reads an element.
    #[inline]
    pub const fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// The group of the standard's table of reductions.
    #[inline]
    pub const fn category(&self) -> Category {
        self.category
    }

    /// The official name of a predefined type, and of a duplicate of one; empty for other derived types.
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

    /// Data bytes of `count` elements that are contiguous; `None` when these are more than memory can have, and for
    /// other types.
    #[inline]
    pub(crate) fn contiguous_bytes_of(&self, count: u64) -> Option<u64> {
        let bytes = count.checked_mul(self.size).filter(|bytes| *bytes <= isize::MAX as u64)?;
        self.is_contiguous().then_some(bytes)
    }

    /// Bytes of memory that `count` elements need, from the first to the last data byte, gaps included; saturates.
    pub fn span(&self, count: u64) -> u64 {
        if count == 0 || self.size == 0 {
            return 0;
        }
        (count - 1).saturating_mul(self.extent().unsigned_abs()).saturating_add(self.true_extent() as u64)
    }

    /// Bytes from a buffer's address to the lowest data byte of `count` elements, for a `span` of at most `isize::MAX`.
    pub fn lowest_byte(&self, count: u64) -> i64 {
        match count {
            0 => 0,
            _ if self.size == 0 => 0,
            _ => self.true_lower_bound().wrapping_add(self.extent().min(0).wrapping_mul((count - 1) as i64)),
        }
    }
}

/// The numbers of a predefined type.
pub(crate) struct Parts {
    pub name: &'static str,
    pub size: u64,
    pub extent: i64,
    pub true_extent: i64,
    pub alignment: u8,
    pub scalar: Scalar,
    pub category: Category,
    pub layout: Option<&'static Layout>,
}

/// What a derived type has besides its numbers and its layout.
#[derive(Debug)]
pub(crate) struct Origin {
    pub signature: Signature,
    pub envelope: Envelope<Datatype>,
}

impl Drop for Origin {
    /// Drops types with no other owner one by one: a chain of any depth needs no stack.
    fn drop(&mut self) {
        let mut pending = std::mem::take(&mut self.envelope.datatypes);
        while let Some(mut datatype) = pending.pop() {
            if let Some(mut origin) = datatype.origin.take().and_then(Arc::into_inner) {
                pending.append(&mut origin.envelope.datatypes);
            }
        }
    }
}
