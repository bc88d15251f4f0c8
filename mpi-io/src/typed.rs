//! Memory of an access with the datatype of its elements: a data representation converts by the type.

use mpi_core::abi::MPI_BYTE;
use mpi_datatype::{Datatype, Element, RecvBuf, SendBuf, predefined};

/// A buffer with the type of its elements.
#[derive(Debug)]
pub struct Typed<Buffer> {
    /// The memory.
    pub buffer: Buffer,
    /// The type of its elements.
    pub datatype: Datatype,
    /// What functions of the program get, which registered data representations call.
    pub memory: Option<Memory>,
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
        Typed { buffer, datatype: byte(), memory: None }
    }
}

impl<'a> From<SendBuf<'a>> for Typed<SendBuf<'a>> {
    /// Bytes, which no representation converts.
    fn from(buffer: SendBuf<'a>) -> Self {
        Typed { buffer, datatype: byte(), memory: None }
    }
}

impl<'a> Typed<RecvBuf<'a>> {
    /// Room for the elements of a slice, which a representation converts.
    pub fn into_slice<T: Element>(slice: &'a mut [T]) -> Self {
        let buffer = RecvBuf::from_slice(slice);
        let memory = buffer.address().map(|address| Memory { address, word: T::HANDLE });
        Typed { buffer, datatype: T::datatype().clone(), memory }
    }
}

impl<'a> Typed<SendBuf<'a>> {
    /// The elements of a slice, which a representation converts.
    pub fn of_slice<T: Element>(slice: &'a [T]) -> Self {
        let buffer = SendBuf::from_slice(slice);
        let memory = buffer.address().map(|address| Memory { address, word: T::HANDLE });
        Typed { buffer, datatype: T::datatype().clone(), memory }
    }
}

fn byte() -> Datatype {
    predefined(MPI_BYTE).expect("it is predefined").clone()
}
