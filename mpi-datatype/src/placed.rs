//! Several buffers in one piece of memory: safe, because they lie in it, and those that are written do not overlap.
//!
//! Invariant: unlike a buffer in memory of its own (`slices`), such a buffer has no right to its gaps, which may be the
//! data of another one.
#![allow(unsafe_code)] // makes buffers of addresses inside another buffer

use crate::buffer::{RecvBuf, SendBuf, TypedBuf};
use crate::datatype::Datatype;
use crate::overlap::{ascends, first_overlap};
use crate::slices::fits;

/// Elements of a datatype in a piece of memory.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Bytes from the beginning of the memory to the first element.
    pub at: usize,
    /// Number of elements.
    pub count: u64,
    /// The datatype.
    pub datatype: Datatype,
}

/// Why there are no such buffers, with the place of the first that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misplaced {
    /// It reaches out of the memory.
    Outside(usize),
    /// It is written, and overlaps itself or another one.
    Overlapping(usize),
}

impl<'a> SendBuf<'a> {
    /// Buffers inside this one, which is contiguous; they may overlap.
    pub fn places(&self, places: &[Placed]) -> Result<Vec<SendBuf<'a>>, Misplaced> {
        let make = |place: &Placed, start: *const u8| {
            // SAFETY: the elements lie in the memory of this buffer, which is readable for `'a`.
            unsafe { SendBuf::new(start, place.count, &place.datatype) }
        };
        inside(self, places, make)
    }
}

impl<'a> RecvBuf<'a> {
    /// Buffers inside this one, which is contiguous.
    pub fn places(self, places: &[Placed]) -> Result<Vec<RecvBuf<'a>>, Misplaced> {
        let make = |place: &Placed, start: *const u8| {
            // SAFETY: the elements lie in the memory of this buffer, which only it may access for `'a`, and which it gives
            // to buffers that do not overlap: others are dropped below, unused.
            unsafe { RecvBuf::new(start.cast_mut(), place.count, &place.datatype) }
        };
        let made = inside(&self, places, make)?;
        if are_apart(places) {
            return Ok(made);
        }
        first_overlap(&made).map_or(Ok(made), |place| Err(Misplaced::Overlapping(place)))
    }
}

fn inside<Access, B>(
    memory: &TypedBuf<'_, Access>,
    places: &[Placed],
    make: impl Fn(&Placed, *const u8) -> Option<B>,
) -> Result<Vec<B>, Misplaced> {
    let start = memory.as_ptr();
    let one = |(number, place): (usize, &Placed)| {
        let room = (memory.bytes() as usize).checked_sub(place.at);
        let first = start.filter(|_| room.is_some_and(|room| fits(room, place.count, &place.datatype)));
        let first = first.ok_or(Misplaced::Outside(number))?.wrapping_add(place.at);
        make(place, first).ok_or(Misplaced::Overlapping(number))
    };
    places.iter().enumerate().map(one).collect()
}

/// Whether the buffers lie one behind the other, which needs no look at their runs.
fn are_apart(places: &[Placed]) -> bool {
    let span = |place: &Placed| {
        let first = place.at as u64 + place.datatype.lowest_byte(place.count) as u64;
        (first, first + place.datatype.span(place.count))
    };
    let mut spans: Vec<(u64, u64)> = places.iter().map(span).filter(|(first, end)| first < end).collect();
    spans.sort_unstable();
    spans.windows(2).all(|pair| pair[0].1 <= pair[1].0) && places.iter().all(|place| ascends(&place.datatype))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use crate::envelope::Form;

    fn column(rows: u64, columns: i64) -> Datatype {
        Datatype::vector(rows, 1, columns, u16::datatype(), Form::Large).expect("small").committed()
    }

    fn at(element: usize, count: u64, datatype: &Datatype) -> Placed {
        Placed { at: 2 * element, count, datatype: datatype.clone() }
    }

    #[test]
    fn columns_of_a_matrix_are_buffers_beside_each_other() {
        let mut matrix = [0u16; 12];
        let (one, columns) = (u16::datatype(), column(4, 3));
        let places = [at(2, 1, &columns), at(0, 1, &columns), at(0, 0, one), at(1, 1, &columns)];
        let made = RecvBuf::from_slice(&mut matrix).places(&places).expect("they do not overlap");
        for (mut buffer, value) in made.into_iter().zip(1u16..) {
            buffer.unpack(0, &[value.to_ne_bytes(); 4].concat()[..buffer.bytes() as usize]);
            assert!(buffer.bytes() == 0 || buffer.native_mut().is_none(), "the gaps are not its own");
        }
        assert_eq!(matrix, [2, 4, 1, 2, 4, 1, 2, 4, 1, 2, 4, 1]);
        let sent = SendBuf::from_slice(&matrix).places(&[at(1, 2, one), at(2, 1, one)]).expect("they lie in it");
        assert_eq!(sent.iter().map(SendBuf::bytes).collect::<Vec<_>>(), [4, 2]);
    }

    #[test]
    fn an_overlap_is_found_among_any_number_of_blocks() {
        let mut memory = vec![0u16; 10_000];
        let mut starts: Vec<i64> = (0..5000).rev().map(|start| 2 * start).collect();
        let of = |starts: &[i64]| {
            let blocks = vec![1; starts.len()];
            Datatype::indexed(&blocks, starts, u16::datatype(), Form::Large).expect("little").committed()
        };
        let apart = of(&starts);
        starts[4999] = starts[0];
        let twice = of(&starts);
        let mut result = |datatype: &Datatype| {
            let placed = RecvBuf::from_slice(&mut memory).places(&[at(0, 1, datatype)]).map(drop);
            (placed, RecvBuf::in_slice(&mut memory, 1, datatype).is_some())
        };
        assert_eq!(result(&apart), (Ok(()), true));
        assert_eq!(result(&twice), (Err(Misplaced::Overlapping(0)), false));
    }

    #[test]
    fn buffers_outside_or_on_each_other_are_refused() {
        let (mut matrix, one, columns) = ([0u16; 12], u16::datatype(), column(4, 3));
        let mut of = |places: &[Placed]| RecvBuf::from_slice(&mut matrix).places(places).map(drop);
        assert_eq!(of(&[at(0, 1, one), at(3, 1, &columns)]), Err(Misplaced::Outside(1)));
        assert_eq!(of(&[at(13, 0, one)]), Err(Misplaced::Outside(0)));
        assert_eq!(of(&[at(12, 0, one), at(11, 1, one)]), Ok(()));
        assert_eq!(of(&[at(0, 1, &columns), at(3, 1, one)]), Err(Misplaced::Overlapping(1)));
        assert_eq!(of(&[at(2, 4, one), at(0, 2, one), at(5, 3, one)]), Err(Misplaced::Overlapping(2)));
        // The second element begins between the first one's blocks and shares one of them.
        let pair = Datatype::indexed(&[1, 1], &[0, 2], one, Form::Large).expect("small");
        let close = Datatype::resized(0, 4, &pair, Form::Large).expect("valid").committed();
        assert_eq!(of(&[at(0, 2, &close)]), Err(Misplaced::Overlapping(0)));
        // The end of one pair of blocks overlaps the beginning of the next pair.
        let pairs = Datatype::indexed(&[2; 4], &[3, 6, 7, 10], one, Form::Large).expect("small").committed();
        assert_eq!(of(&[at(0, 1, &pairs)]), Err(Misplaced::Overlapping(0)));
        assert!(RecvBuf::in_slice(&mut [0u16; 12], 1, &pairs).is_none());
        let sent = SendBuf::from_slice(&[0u16; 4]).places(&[at(0, 4, one), at(2, 3, one)]).map(drop);
        assert_eq!(sent, Err(Misplaced::Outside(1)));
    }
}
