//! Elements of a type in an array section with gaps: what a call of Fortran transfers when a choice buffer is a section
//! (MPI-5.0, 19.1.12).
//!
//! Count and datatype of such a call describe contiguous memory that has the elements of the section in array element
//! order. The type that is made here has the same data in the same order, in the section itself.
//! Invariant: all data of the type are in elements of the section.
//! Not here: the descriptors of Fortran (`mpi-capi`).

use mpi_core::abi::{MPI_BYTE, MPI_ERR_COUNT};
use mpi_errors::{Error, Result};

use crate::datatype::Datatype;
use crate::draft::too_far;
use crate::envelope::Form;
use crate::predefined::predefined;

/// Data in more elements than these that follow each other become one part, otherwise a block for each element.
const FEW: u64 = 32;

/// An array section.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    /// Bytes of an element.
    pub element: u64,
    /// Of each dimension, beginning with the one whose index varies fastest: number of elements, and bytes from one to
    /// the next.
    pub dimensions: &'a [(u64, i64)],
}

impl Section<'_> {
    /// Bytes of all elements together; `None` if they are more than memory can have.
    pub fn bytes(&self) -> Option<u64> {
        let mut all = self.dimensions.iter().map(|(extent, _)| *extent);
        let bytes = all.try_fold(self.element, u64::checked_mul)?;
        (bytes <= isize::MAX as u64).then_some(bytes)
    }

    /// Checks that `count` elements of a type, which begin `start` bytes behind the first element, need no more memory
    /// than the section has. `blocks` times as many follow each other. Errors: `MPI_ERR_COUNT`, with both numbers.
    pub fn check_room(&self, start: i64, count: u64, blocks: u64, datatype: &Datatype) -> Result<()> {
        let all = count.saturating_mul(blocks);
        if all == 0 || datatype.size() == 0 {
            return Ok(());
        }
        let (room, span) = (self.bytes().unwrap_or(0), datatype.span(all));
        let low = datatype.lowest_byte(if span <= isize::MAX as u64 { all } else { 1 });
        let low = low.saturating_add(start);
        if low < 0 {
            return Err(outside(self, room, format!("data {} bytes before its first element", low.unsigned_abs())));
        }
        let end = span.saturating_add(low.unsigned_abs());
        if end > room && start > 0 {
            let what =
                format!("{count} items of the datatype from byte {start} on, which end {end} bytes from its beginning");
            return Err(outside(self, room, what));
        }
        if end > room {
            let parts = if blocks == 1 { String::new() } else { format!("{blocks} parts of ") };
            return Err(outside(self, room, format!("{parts}{count} items of the datatype, {end} bytes in all")));
        }
        Ok(())
    }

    /// Bytes from the first element to this one.
    fn place(&self, element: u64) -> i64 {
        let mut rest = element;
        let mut place = 0i64;
        for (extent, stride) in self.dimensions {
            place += (rest % extent) as i64 * stride;
            rest /= extent;
        }
        place
    }
}

#[cold]
fn outside(section: &Section<'_>, room: u64, what: String) -> Error {
    let elements = room.checked_div(section.element).unwrap_or(0);
    let rule = format!(
        "the array section has {elements} elements of {} bytes, {room} bytes in all, and count and datatype describe {what}",
        section.element
    );
    Error::new(MPI_ERR_COUNT, rule).hint("Check the bounds of the section, the count and the datatype.")
}

/// Parts of the type, in the order of its data.
#[derive(Default)]
struct Parts {
    displacements: Vec<i64>,
    datatypes: Vec<Datatype>,
    /// Blocks of bytes behind the last part.
    blocks: (Vec<i64>, Vec<i64>),
}

impl Parts {
    fn push(&mut self, displacement: i64, datatype: Datatype) -> Result<()> {
        self.flush()?;
        self.displacements.push(displacement);
        self.datatypes.push(datatype);
        Ok(())
    }

    fn push_block(&mut self, displacement: i64, length: u64) {
        let (displacements, lengths) = &mut self.blocks;
        if let (Some(last), Some(bytes)) = (displacements.last(), lengths.last_mut())
            && last + *bytes == displacement
        {
            *bytes += length as i64;
        } else {
            displacements.push(displacement);
            lengths.push(length as i64);
        }
    }

    /// Makes a part of the blocks.
    fn flush(&mut self) -> Result<()> {
        let (displacements, lengths) = std::mem::take(&mut self.blocks);
        if !displacements.is_empty() {
            self.datatypes.push(Datatype::hindexed(&lengths, &displacements, byte(), Form::Large)?);
            self.displacements.push(0);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Datatype> {
        self.flush()?;
        if let ([0], [_]) = (&self.displacements[..], &self.datatypes[..]) {
            return Ok(self.datatypes.swap_remove(0));
        }
        Datatype::structure(&vec![1; self.datatypes.len()], &self.displacements, &self.datatypes, Form::Large)
    }

    /// The elements `first .. end` of a section, each of which holds a `body`.
    fn push_elements(&mut self, section: &Section<'_>, body: &Datatype, first: u64, end: u64) -> Result<()> {
        // An array of the lower dimensions, as long as the elements before or behind it are whole ones.
        let (mut at, mut arrays, mut elements) = (first, vec![(1u64, body.clone())], 1u64);
        for (extent, stride) in section.dimensions.iter().take(section.dimensions.len().saturating_sub(1)) {
            let last = &arrays[arrays.len() - 1].1;
            elements = elements.checked_mul(*extent).ok_or_else(too_far)?;
            if elements > end - first {
                break;
            }
            arrays.push((elements, Datatype::hvector(*extent, 1, *stride, last, Form::Large)?));
        }
        while at < end {
            // The largest arrays that begin here, and the stride between them.
            let (level, (elements, array)) = arrays
                .iter()
                .enumerate()
                .rev()
                .find(|(_, (elements, _))| at.is_multiple_of(*elements) && at + elements <= end)
                .expect("an element is an array of one");
            let (extent, stride) = section.dimensions.get(level).copied().unwrap_or((1, 0));
            // Up to the end of the dimension.
            let count = (extent - at / elements % extent).min((end - at) / elements).max(1);
            let datatype =
                if count == 1 { array.clone() } else { Datatype::hvector(count, 1, stride, array, Form::Large)? };
            self.push(section.place(at), datatype)?;
            at += count * elements;
        }
        Ok(())
    }

    /// Bytes `at .. at + length` of the elements one after the other. `body` is an element of bytes.
    fn push_bytes(&mut self, section: &Section<'_>, body: &Datatype, mut at: u64, mut length: u64) -> Result<()> {
        let element = section.element;
        while length > 0 {
            let (index, within) = (at / element, at % element);
            let whole = length / element;
            if within == 0 && whole > FEW {
                self.push_elements(section, body, index, index + whole)?;
                at += whole * element;
                length -= whole * element;
                continue;
            }
            let bytes = (element - within).min(length);
            self.push_block(section.place(index) + within as i64, bytes);
            at += bytes;
            length -= bytes;
        }
        Ok(())
    }
}

fn byte() -> &'static Datatype {
    predefined(MPI_BYTE).expect("a type of the standard")
}

impl Datatype {
    /// `count` elements of this type, `start` bytes behind the first element of a section and in its elements one after
    /// the other instead of contiguous memory. The new type is committed. Errors: those of [`Section::check_room`], and
    /// of the other constructors.
    pub fn in_section(&self, start: i64, count: u64, section: &Section<'_>) -> Result<Datatype> {
        section.check_room(start, count, 1, self)?;
        let Some(bytes) = self.bytes_of(count).filter(|bytes| *bytes > 0) else {
            return Ok(Datatype::contiguous(0, self, Form::Large)?.committed());
        };
        let (element, extent) = (section.element, self.extent().unsigned_abs());
        let mut parts = Parts::default();
        let (low, end) = (self.true_lower_bound(), self.true_lower_bound() + self.true_extent());
        let whole_items = self.extent() > 0 && element.is_multiple_of(extent) && low >= 0 && end <= self.extent();
        if whole_items && start == 0 {
            // An element holds whole items.
            let each = element / extent;
            let body = Datatype::contiguous(each, self, Form::Large)?;
            let (whole, rest) = (count / each, count % each);
            parts.push_elements(section, if each == 1 { self } else { &body }, 0, whole)?;
            if rest > 0 {
                parts.push(section.place(whole), Datatype::contiguous(rest, self, Form::Large)?)?;
            }
            return Ok(parts.finish()?.committed());
        }
        let body = Datatype::contiguous(element, byte(), Form::Large)?;
        let mut result = Ok(());
        self.each_run(0, bytes, |at, length| {
            result = parts.push_bytes(section, &body, (at + start) as u64, length);
            result.is_ok()
        });
        result?;
        Ok(parts.finish()?.with_signature(self.signature().repeat(count)).committed())
    }
}

#[cfg(test)]
mod tests {
    use mpi_core::abi::{MPI_2INT, MPI_INT};

    use super::*;

    /// The offsets of the packed bytes of a type.
    fn bytes_of(datatype: &Datatype, count: u64) -> Vec<i64> {
        let mut all = Vec::new();
        datatype.each_run(0, count * datatype.size(), |at, length| {
            all.extend((0..length as i64).map(|byte| at + byte));
            true
        });
        all
    }

    /// The same through the elements of the section, one byte at a time.
    fn expected(datatype: &Datatype, count: u64, section: &Section<'_>) -> Vec<i64> {
        let place = |byte: i64| section.place(byte as u64 / section.element) + byte % section.element as i64;
        bytes_of(datatype, count).into_iter().map(place).collect()
    }

    fn of(word: usize) -> &'static Datatype {
        predefined(word).expect("a predefined type")
    }

    #[test]
    fn data_are_those_of_the_elements_in_their_order() {
        let int = of(MPI_INT);
        let shapes: [&[(u64, i64)]; 5] = [
            &[(100, 8)],
            &[(100, -12)],
            &[(10, 8), (10, 200)],
            &[(5, -8), (4, 100), (5, -1000)],
            &[(2, 8), (1, 0), (5, 100), (2, 900), (5, 10_000)],
        ];
        let vector = Datatype::vector(2, 1, 2, int, Form::Small).expect("a type").committed();
        let backwards = Datatype::hindexed(&[1, 1], &[6, 1], byte(), Form::Small).expect("a type").committed();
        let many = Datatype::contiguous(7, int, Form::Small).expect("a type").committed();
        let wide = Datatype::resized(0, 4, &vector, Form::Small).expect("a type").committed();
        for dimensions in shapes {
            let section = Section { element: 4, dimensions };
            for datatype in [int, of(MPI_2INT), &vector, &backwards, &many, &wide, byte()] {
                for count in [0, 1, 2, 3, 7, 11, 14, 33, 50, 100, 400] {
                    let fits = section.check_room(0, count, 1, datatype).is_ok();
                    let made = datatype.in_section(0, count, &section);
                    assert_eq!(made.is_ok(), fits);
                    let Ok(made) = made else { continue };
                    assert_eq!(bytes_of(&made, 1), expected(datatype, count, &section), "{count} in {dimensions:?}");
                    assert_eq!(made.basic_elements(), datatype.basic_elements() * count);
                    assert_eq!(made.only_type(), datatype.only_type().filter(|_| count > 0));
                    let Ok(behind) = datatype.in_section(6, count, &section) else { continue };
                    let shifted = Datatype::hindexed(&[count as i64], &[6], datatype, Form::Small).expect("a type");
                    assert_eq!(bytes_of(&behind, 1), expected(&shifted, 1, &section), "{count} behind 6 bytes");
                }
            }
        }
    }

    #[test]
    fn data_that_the_section_does_not_have_are_an_error_with_both_numbers() {
        let section = Section { element: 4, dimensions: &[(5, 8)] };
        let error = of(MPI_INT).in_section(0, 6, &section).expect_err("too many");
        assert_eq!(error.class(), MPI_ERR_COUNT);
        let text = error.to_string();
        assert!(text.contains("5 elements of 4 bytes, 20 bytes in all") && text.contains("24 bytes"), "{text}");
        assert!(section.check_room(0, 2, 3, of(MPI_INT)).is_err());
        assert!(section.check_room(0, u64::MAX / 2, 2, of(MPI_INT)).is_err());
        let before = Datatype::hindexed(&[1], &[-4], of(MPI_INT), Form::Small).expect("a type").committed();
        assert!(before.in_section(0, 1, &section).expect_err("before").to_string().contains("4 bytes before"));
    }

    #[test]
    fn long_sections_need_little_memory() {
        let section = Section { element: 4, dimensions: &[(1 << 30, 8), (1 << 20, 1 << 40)] };
        let made = byte().in_section(0, 1 << 50, &section).expect("a type");
        assert_eq!(made.size(), 1 << 50);
        assert_eq!(of(MPI_2INT).in_section(0, 1 << 40, &section).err().map(|error| error.class()), None);
    }
}
