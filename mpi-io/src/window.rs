//! Memory that holds a range of the file, with the data bytes of a view in it.
//!
//! Invariant: a buffer is made of data bytes that lie in the range only.
//! Not here: the range's way from and to the file (`sieve`, `two_phase`).
#![allow(unsafe_code)] // makes buffers at addresses in the memory

use std::marker::PhantomData;

use mpi_datatype::{RecvBuf, SendBuf};

use crate::view::View;

/// The first bytes of the memory, which grows to have as many.
pub(crate) fn of_length(memory: &mut Vec<u8>, length: u64) -> &mut [u8] {
    let length = length as usize;
    if memory.len() < length {
        memory.resize(length, 0);
    }
    &mut memory[..length]
}

/// A range of the file in memory, exclusively borrowed.
pub(crate) struct Window<'a> {
    start: *mut u8,
    bytes: usize,
    /// The file's byte that the first byte of memory stands for.
    from: u64,
    borrow: PhantomData<&'a mut [u8]>,
}

impl<'a> Window<'a> {
    /// The range that begins at `from`, in this memory.
    pub fn new(memory: &'a mut [u8], from: u64) -> Window<'a> {
        Window { start: memory.as_mut_ptr(), bytes: memory.len(), from, borrow: PhantomData }
    }

    /// As [`Window::new`], in memory that other processes have mapped too.
    ///
    /// # Safety
    /// So many bytes from `start` on stay readable and writable for `'a`, and nothing else in this process uses them.
    pub unsafe fn at(start: *mut u8, bytes: usize, from: u64) -> Window<'a> {
        Window { start, bytes, from, borrow: PhantomData }
    }

    /// The data bytes `at .. at + length` of the view, to read them. Panics unless they lie in the range.
    pub fn data(&self, view: &View, at: u64, length: u64) -> SendBuf<'_> {
        let Some((start, count, skip)) = self.elements(view, at, length) else { return SendBuf::empty() };
        // SAFETY: of these elements only the data bytes in the range are kept, and those lie in the borrowed memory.
        let all = unsafe { SendBuf::new(start, count, view.placed()) };
        all.expect("the data bytes are in memory").part(skip, length)
    }

    /// The same bytes, to store them.
    pub fn room(&mut self, view: &View, at: u64, length: u64) -> RecvBuf<'_> {
        let Some((start, count, skip)) = self.elements(view, at, length) else { return RecvBuf::empty() };
        // SAFETY: as above; the borrow is exclusive.
        let all = unsafe { RecvBuf::new(start, count, view.placed()) };
        all.expect("the data bytes are in memory, and ascend").split_at(skip).1.split_at(length).0
    }

    /// The filetypes with these data bytes: the address of the first one, which may lie before the memory, their number,
    /// and the data bytes before `at`.
    fn elements(&self, view: &View, at: u64, length: u64) -> Option<(*mut u8, u64, u64)> {
        if length == 0 {
            return None;
        }
        let (first, last) = (view.run(at).0, view.run(at + length - 1).0);
        assert!(first >= self.from && last - self.from < self.bytes as u64, "data bytes outside the range");
        let size = view.placed().size();
        let (tile, last_tile) = (at / size, (at + length - 1) / size);
        let way = view.origin(tile).wrapping_sub(self.from) as isize;
        Some((self.start.wrapping_offset(way), last_tile - tile + 1, at - tile * size))
    }
}

#[cfg(test)]
mod tests {
    use mpi_core::abi::MPI_INT;
    use mpi_datatype::{Datatype, Form, predefined};

    use super::*;
    use crate::datarep::Representation;
    use crate::view::ViewType;

    /// Two of every five ints, from byte 4 on.
    fn view() -> View {
        let int = predefined(MPI_INT).expect("predefined");
        let blocks = Datatype::hindexed(&[1, 1], &[4, 12], int, Form::Small).expect("small");
        let filetype = Datatype::resized(0, 20, &blocks, Form::Small).expect("small").committed();
        let etype = ViewType { datatype: int.clone(), word: MPI_INT };
        View::new(4, etype, ViewType { datatype: filetype, word: 0 }, Representation::Native).expect("ascending")
    }

    #[test]
    fn data_lie_at_their_places_from_any_byte_on() {
        let view = view();
        let file: Vec<u8> = (0..200).collect();
        for (at, length) in [(0, 8), (3, 30), (9, 1), (17, 40)] {
            let (from, last) = (view.run(at).0, view.run(at + length - 1).0);
            let mut part = file[from as usize..=last as usize].to_vec();
            let mut found = vec![0; length as usize];
            Window::new(&mut part, from).data(&view, at, length).pack(0, &mut found);
            let expected: Vec<u8> = (at..at + length).map(|at| view.run(at).0 as u8).collect();
            assert_eq!(found, expected, "{at} {length}");
            part.fill(0xee);
            Window::new(&mut part, from).room(&view, at, length).unpack(0, &expected);
            for (place, byte) in (from..).zip(&part) {
                let is_data = (at..at + length).any(|at| view.run(at).0 == place);
                assert_eq!(*byte, if is_data { place as u8 } else { 0xee });
            }
        }
        assert_eq!(Window::new(&mut [], 0).data(&view, 5, 0).bytes(), 0);
    }

    #[test]
    #[should_panic(expected = "outside the range")]
    fn bytes_outside_are_refused() {
        Window::new(&mut [0; 8], 8).data(&view(), 0, 5);
    }
}
