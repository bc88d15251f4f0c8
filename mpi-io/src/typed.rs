//! Memory of an access with the datatype of its elements: a data representation converts by the type.
//!
//! Invariant: the address that functions of the program get is that of the buffer, and elements of the type are there.
#![allow(unsafe_code)] // states the promise of code that passes an address

use mpi_core::abi::MPI_BYTE;
use mpi_datatype::{Datatype, Element, RecvBuf, SendBuf, TypedBuf, predefined};

/// A buffer with the type of its elements.
///
/// ```compile_fail
/// // Safe code cannot name memory that is not the buffer's.
/// let memory = Some(mpi_io::Memory { address: 1 << 20, word: 0 });
/// mpi_io::Typed { memory, ..mpi_io::Typed::into_slice(&mut [0u8; 4]) };
/// ```
#[derive(Debug)]
pub struct Typed<Buffer> {
    /// The memory.
    pub(crate) buffer: Buffer,
    /// The type of its elements.
    pub(crate) datatype: Datatype,
    /// What functions of the program get, which registered data representations call.
    pub(crate) memory: Option<Memory>,
}

impl<Buffer> Typed<Buffer> {
    /// A buffer of elements of a type, which no representation of the program converts.
    pub fn new(buffer: Buffer, datatype: Datatype) -> Self {
        Typed { buffer, datatype, memory: None }
    }

    /// A buffer of elements of a type, which representations of the program convert at `memory`.
    ///
    /// # Safety
    /// The buffer was made of the address in `memory` and of elements of the type, whose handle word is there too.
    pub unsafe fn in_memory(buffer: Buffer, datatype: Datatype, memory: Memory) -> Self {
        Typed { buffer, datatype, memory: Some(memory) }
    }

    /// The buffer.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

/// A buffer as the program passed it.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Its address, exposed.
    pub address: usize,
    /// The handle word of its type.
    pub word: usize,
}

impl<'a> From<RecvBuf<'a>> for Typed<RecvBuf<'a>> {
    /// Room for bytes, which no representation converts.
    fn from(buffer: RecvBuf<'a>) -> Self {
        Typed::new(buffer, byte())
    }
}

impl<'a> From<SendBuf<'a>> for Typed<SendBuf<'a>> {
    /// Bytes, which no representation converts.
    fn from(buffer: SendBuf<'a>) -> Self {
        Typed::new(buffer, byte())
    }
}

impl<'a> Typed<RecvBuf<'a>> {
    /// Room for the elements of a slice, which a representation converts.
    pub fn into_slice<T: Element>(slice: &'a mut [T]) -> Self {
        let buffer = RecvBuf::from_slice(slice);
        Typed { memory: memory_of(&buffer, T::HANDLE), buffer, datatype: T::datatype().clone() }
    }
}

impl<'a> Typed<SendBuf<'a>> {
    /// The elements of a slice, which a representation converts.
    pub fn of_slice<T: Element>(slice: &'a [T]) -> Self {
        let buffer = SendBuf::from_slice(slice);
        Typed { memory: memory_of(&buffer, T::HANDLE), buffer, datatype: T::datatype().clone() }
    }
}

/// The memory of elements that begin with their first data byte.
fn memory_of<Access>(buffer: &TypedBuf<'_, Access>, word: usize) -> Option<Memory> {
    let mut first = None;
    buffer.each_run(0, 1, |address, _| {
        first = Some(address);
        false
    });
    buffer.address().or(first).map(|address| Memory { address, word })
}

fn byte() -> Datatype {
    predefined(MPI_BYTE).expect("it is predefined").clone()
}
