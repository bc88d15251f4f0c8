//! Layouts: which elements of a slice a message holds (MPI-5.0, chapter 5).
//!
//! Invariant: a layout has a committed datatype whose basic elements are `T`, at places that are not negative.
//! Not here: the datatypes themselves (`mpi_datatype`).

use std::marker::PhantomData;

use mpi_core::abi::{MPI_ERR_BUFFER, MPI_ORDER_C};
use mpi_datatype::{Datatype, Element, Form, RecvBuf, SendBuf, Subarray};

use crate::call::of_rust;
use crate::{Error, Result};

/// Which elements of a slice a message holds, and in which order. Both sides of a message may have different layouts of
/// as many elements. Cheap to clone; safe to use from any thread.
///
/// ```
/// use mpi::Layout;
///
/// let world = mpi::init()?;
/// // The columns of a matrix of 4 rows and 3 columns become rows.
/// let matrix: Vec<u32> = (0..12).collect();
/// let mut transposed = vec![0; 12];
/// let column = Layout::<u32>::vector(4, 1, 3)?;
/// for at in 0..3 {
///     world.process(world.rank()).send_layout(&matrix[at..], &column, 0)?;
///     world.process(world.rank()).receive_into(&mut transposed[4 * at..4 * at + 4], 0)?;
/// }
/// assert_eq!(transposed, [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
/// // A box in the middle of a field.
/// let middle = Layout::<u32>::subarray(&[4, 3], &[2, 1], &[1, 1])?;
/// world.process(world.rank()).send_layout(&matrix, &middle, 1)?;
/// let (values, _) = world.any().receive::<u32>(1)?;
/// assert_eq!(values, [4, 7]);
/// # Ok::<(), mpi::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Layout<T> {
    datatype: Datatype,
    elements: PhantomData<T>,
}

impl<T: Element> Layout<T> {
    /// `count` blocks of `length` elements, each `stride` elements behind the one before. Errors: `MPI_ERR_COUNT` and
    /// `MPI_ERR_ARG` for more than memory can hold.
    pub fn vector(count: usize, length: usize, stride: usize) -> Result<Layout<T>> {
        Layout::make("Layout::vector", || {
            Datatype::vector(count as u64, length as u64, signed(stride)?, T::datatype(), Form::Large)
        })
    }

    /// `count` elements side by side. Errors: as [`Layout::vector`].
    pub fn contiguous(count: usize) -> Result<Layout<T>> {
        Layout::make("Layout::contiguous", || {
            Datatype::vector(1, count as u64, signed(count)?, T::datatype(), Form::Large)
        })
    }

    /// Blocks of elements, each a start and a length, in this order. Errors: as [`Layout::vector`].
    pub fn indexed(blocks: &[(usize, usize)]) -> Result<Layout<T>> {
        Layout::make("Layout::indexed", || {
            let starts = blocks.iter().map(|(start, _)| signed(*start)).collect::<Result<Vec<i64>>>()?;
            let lengths = blocks.iter().map(|(_, length)| signed(*length)).collect::<Result<Vec<i64>>>()?;
            Datatype::indexed(&lengths, &starts, T::datatype(), Form::Large)
        })
    }

    /// The part of an array in row-major order that begins at `starts` and has `subsizes` elements in each dimension.
    /// Errors: as [`Layout::vector`], and for a part that reaches out of the array.
    pub fn subarray(sizes: &[usize], subsizes: &[usize], starts: &[usize]) -> Result<Layout<T>> {
        Layout::make("Layout::subarray", || {
            let list = |values: &[usize]| values.iter().map(|value| signed(*value)).collect::<Result<Vec<i64>>>();
            let (sizes, subsizes, starts) = (list(sizes)?, list(subsizes)?, list(starts)?);
            let part = Subarray { sizes: &sizes, subsizes: &subsizes, starts: &starts, order: MPI_ORDER_C };
            Datatype::subarray(&part, T::datatype(), Form::Large)
        })
    }

    /// One element.
    pub(crate) fn element() -> Layout<T> {
        Layout { datatype: T::datatype().clone(), elements: PhantomData }
    }

    fn make(name: &'static str, make: impl FnOnce() -> Result<Datatype>) -> Result<Layout<T>> {
        let datatype = make().map_err(|error| of_rust(error, name))?.committed();
        Ok(Layout { datatype, elements: PhantomData })
    }

    /// Number of elements in a message.
    pub fn count(&self) -> usize {
        self.datatype.basic_elements() as usize
    }

    /// The datatype.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// The elements of a slice. Errors: `MPI_ERR_BUFFER` when the slice is too short.
    pub(crate) fn send_from<'a>(&self, slice: &'a [T]) -> Result<SendBuf<'a>> {
        SendBuf::in_slice(slice, 1, &self.datatype).ok_or_else(|| self.too_short(slice.len()))
    }

    /// As [`Layout::send_from`], to receive into; also an error when blocks overlap.
    pub(crate) fn receive_into<'a>(&self, slice: &'a mut [T]) -> Result<RecvBuf<'a>> {
        let length = slice.len();
        RecvBuf::in_slice(slice, 1, &self.datatype).ok_or_else(|| self.too_short(length))
    }

    #[cold]
    fn too_short(&self, length: usize) -> Error {
        let end = (self.datatype.true_lower_bound() + self.datatype.true_extent()) as usize / size_of::<T>().max(1);
        let rule = match end > length {
            true => format!("the layout reaches to element {end}, and the slice has {length}"),
            false => "data cannot be received into blocks that overlap".to_owned(),
        };
        Error::new(MPI_ERR_BUFFER, rule)
    }
}

fn signed(value: usize) -> Result<i64> {
    i64::try_from(value)
        .map_err(|_| Error::new(mpi_core::abi::MPI_ERR_ARG, "no memory has that many elements").arg("value", &value))
}
