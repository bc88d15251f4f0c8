//! The places of data in a file, for a view without gaps.
//!
//! Not here: views with gaps (`view`), accesses (`plain`).

/// The places of data in a view without gaps, where data are as in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plain {
    /// The file's byte where the first etype lies.
    pub displacement: u64,
    /// Bytes of an etype.
    pub unit: u64,
}

impl Plain {
    /// The file's byte where so many bytes begin at a position. `None` for parts of etypes, and beyond the last place of a
    /// file.
    pub fn place(self, offset: u64, bytes: u64) -> Option<u64> {
        if self.unit != 1 && !bytes.is_multiple_of(self.unit) {
            return None;
        }
        let place = offset.checked_mul(self.unit)?.checked_add(self.displacement)?;
        place.checked_add(bytes).filter(|end| *end <= i64::MAX as u64)?;
        Some(place)
    }

    /// The etypes in so many bytes; one that the file's end divides counts.
    pub fn etypes(self, bytes: u64) -> u64 {
        if self.unit == 1 { bytes } else { bytes.div_ceil(self.unit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_etypes_from_the_displacement_on() {
        let plain = Plain { displacement: 100, unit: 8 };
        assert_eq!((plain.place(3, 16), plain.etypes(16), plain.etypes(17)), (Some(124), 2, 3));
        assert_eq!(plain.place(3, 12), None, "a part of an etype");
        assert_eq!(Plain { displacement: 0, unit: 1 }.place(5, 12), Some(5));
    }

    #[test]
    fn no_place_is_behind_the_last_one_of_a_file() {
        let last = i64::MAX as u64;
        let plain = Plain { displacement: 0, unit: 1 };
        assert_eq!((plain.place(last - 1, 1), plain.place(last - 1, 2)), (Some(last - 1), None));
        let plain = Plain { displacement: last, unit: 8 };
        assert_eq!((plain.place(1, 8), plain.place(u64::MAX, 8)), (None, None));
    }
}
