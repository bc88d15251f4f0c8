//! The view of a process on a file (MPI-5.0, 14.3): the positions of its data bytes in the file.
//!
//! A view repeats the filetype from the displacement on; bytes in the gaps of the filetype are not part of it. Data
//! bytes are counted from 0 through all that are part of it.
//! Invariant: data bytes lie in the order in which they are counted and do not overlap, and an etype is never divided.
//! Not here: moving data (`access`).

use mpi_core::abi::{MPI_BYTE, MPI_ERR_ARG, MPI_ERR_TYPE};
use mpi_datatype::{Datatype, Layout, predefined};
use mpi_errors::{Error, Result};

use crate::datarep::{Registered, Representation};
use crate::places::Plain;

/// Runs of this mean length or more are long.
const SHORT_RUN: u64 = 32 * 1024;

/// A datatype of a view, with the word of a predefined one; 0 for types of the program, which it may free.
#[derive(Debug, Clone)]
pub struct ViewType {
    /// The datatype.
    pub datatype: Datatype,
    /// The handle word, or 0.
    pub word: usize,
}

/// The view of a process on a file.
#[derive(Debug, Clone)]
pub struct View {
    displacement: u64,
    etype: ViewType,
    filetype: ViewType,
    representation: Representation,
    /// The filetype's layout in the file.
    placed: Datatype,
    /// Bytes of an etype in the file.
    unit: u64,
    mean_run: u64,
}

impl View {
    /// The view that a file has when it is opened: all its bytes.
    pub(crate) fn bytes() -> View {
        let byte = ViewType { datatype: predefined(MPI_BYTE).expect("it is predefined").clone(), word: MPI_BYTE };
        View {
            displacement: 0,
            placed: byte.datatype.clone(),
            unit: 1,
            mean_run: u64::MAX,
            etype: byte.clone(),
            filetype: byte,
            representation: Representation::Native,
        }
    }

    /// The view with these arguments. Errors: `MPI_ERR_ARG` for a negative displacement, `MPI_ERR_TYPE` for types
    /// without data or not committed, for a filetype that is not made of etypes, and for one whose offsets do not
    /// ascend.
    pub fn new(displacement: i64, etype: ViewType, filetype: ViewType, representation: Representation) -> Result<View> {
        let wrong = |name: &'static str, rule: &'static str, of: &ViewType| {
            let called = if of.datatype.name().is_empty() { "a derived datatype" } else { of.datatype.name() };
            let advice =
                "A view needs committed types with data; the filetype consists of whole etypes at ascending places.";
            Err(Error::new(MPI_ERR_TYPE, rule).arg(name, &called).hint(advice))
        };
        let displacement = u64::try_from(displacement).map_err(|_| {
            Error::new(MPI_ERR_ARG, "a view's displacement must not be negative").arg("disp", &displacement)
        })?;
        if etype.datatype.size() == 0 {
            return wrong("etype", "it has no data", &etype);
        }
        if filetype.datatype.size() == 0 {
            return wrong("filetype", "it has no data", &filetype);
        }
        if !etype.datatype.is_committed() {
            return wrong("etype", "it is not committed; call MPI_Type_commit first", &etype);
        }
        if !filetype.datatype.is_committed() {
            return wrong("filetype", "it is not committed; call MPI_Type_commit first", &filetype);
        }
        let unit = representation.in_file(&etype.datatype)?.size();
        let placed = representation.in_file(&filetype.datatype)?;
        let whole = filetype.datatype.size().is_multiple_of(etype.datatype.size());
        if unit == 0 {
            return wrong("etype", "it has no data in this representation", &etype);
        }
        if !whole || !placed.size().is_multiple_of(unit) {
            return wrong("filetype", "its data is no whole number of etypes", &filetype);
        }
        if !ascends(&placed) {
            return wrong("filetype", "its data must lie at ascending places that do not overlap", &filetype);
        }
        let mean_run = placed.layout().map_or(u64::MAX, mean_run);
        Ok(View { displacement, etype, filetype, representation, placed, unit, mean_run })
    }

    /// The same view with another displacement, in bytes.
    pub(crate) fn starting_at(self, displacement: u64) -> View {
        View { displacement, ..self }
    }

    /// The displacement, in bytes.
    pub fn displacement(&self) -> u64 {
        self.displacement
    }

    /// The unit of positions.
    pub fn etype(&self) -> &ViewType {
        &self.etype
    }

    /// The filetype, which the view repeats.
    pub fn filetype(&self) -> &ViewType {
        &self.filetype
    }

    /// The representation of data.
    pub fn representation(&self) -> &Representation {
        &self.representation
    }

    /// Whether data are converted to `external32`.
    pub(crate) fn is_external32(&self) -> bool {
        matches!(self.representation, Representation::External32)
    }

    /// The places of data, if there are no gaps and data are as in memory.
    pub(crate) fn plain(&self) -> Option<Plain> {
        let as_in_memory = matches!(self.representation, Representation::Native | Representation::Internal);
        let plain = as_in_memory && self.placed.is_contiguous();
        plain.then_some(Plain { displacement: self.displacement, unit: self.unit })
    }

    /// The representation, if the program has registered it.
    pub(crate) fn registered(&self) -> Option<&Registered> {
        match &self.representation {
            Representation::Registered(registered) => Some(registered),
            _ => None,
        }
    }

    /// Bytes of an etype in the file.
    pub(crate) fn unit(&self) -> u64 {
        self.unit
    }

    /// The file's byte where a data byte lies; `None` beyond what an offset can hold.
    pub(crate) fn place(&self, at: u64) -> Option<u64> {
        let (tile, rest) = (at / self.placed.size(), at % self.placed.size());
        let start = (self.placed.extent() as u64).checked_mul(tile)?.checked_add(self.displacement)?;
        start.checked_add(self.within(rest).0).filter(|place| *place <= i64::MAX as u64)
    }

    /// The position of a data byte in the file, and the number of data bytes that are contiguous from there on. For
    /// bytes that have a position.
    pub(crate) fn run(&self, at: u64) -> (u64, u64) {
        if self.placed.is_contiguous() {
            return (self.displacement + at, u64::MAX);
        }
        let (tile, rest) = (at / self.placed.size(), at % self.placed.size());
        let (offset, length) = self.within(rest);
        (self.displacement + tile * self.placed.extent() as u64 + offset, length)
    }

    /// Place and length of the run of a data byte of the first filetype, relative to its start.
    fn within(&self, at: u64) -> (u64, u64) {
        match self.placed.layout() {
            None => (at, self.placed.size() - at),
            Some(layout) => {
                let (offset, length) = layout.run(at);
                (offset as u64, length)
            }
        }
    }

    /// Calls `each` with place and length of each run of the data bytes `at .. at + bytes`, in ascending order; adjacent
    /// runs come as one. For bytes that have a position.
    pub(crate) fn each_run(&self, at: u64, bytes: u64, mut each: impl FnMut(u64, u64)) {
        match self.placed.layout() {
            None if bytes > 0 => each(self.displacement + at, bytes),
            Some(layout) if bytes > 0 => {
                let tile = at / self.placed.size();
                let origin = self.origin(tile);
                layout.each_run(at - tile * self.placed.size(), bytes, |offset, length| {
                    each(origin + offset as u64, length);
                    true
                });
            }
            _ => {}
        }
    }

    /// Mean length of the first runs; of a view without gaps, more than any file has.
    pub(crate) fn mean_run(&self) -> u64 {
        self.mean_run
    }

    /// Whether accesses of many processes may be worth an exchange, because their runs are short.
    pub(crate) fn has_short_runs(&self) -> bool {
        self.mean_run < SHORT_RUN
    }

    /// The place of the repeated filetype with this number.
    pub(crate) fn origin(&self, tile: u64) -> u64 {
        self.displacement + tile * self.placed.extent() as u64
    }

    /// The filetype's layout in the file.
    pub(crate) fn placed(&self) -> &Datatype {
        &self.placed
    }

    /// The number of etypes of the view in a file of this length; one that the file's end divides counts.
    pub(crate) fn etypes_in(&self, length: u64) -> u64 {
        self.bytes_below(length).div_ceil(self.unit())
    }

    /// The number of data bytes that lie below a place of the file.
    pub(crate) fn bytes_below(&self, place: u64) -> u64 {
        let length = place.saturating_sub(self.displacement);
        let filetype = &self.placed;
        match filetype.layout() {
            None => length,
            Some(layout) => {
                // Tiles begin at the first data byte, so that no tile's data reach into the next.
                let first = layout.run(0).0;
                let behind = length.saturating_sub(first as u64);
                let (tiles, rest) = (behind / filetype.extent() as u64, behind % filetype.extent() as u64);
                tiles * filetype.size() + layout.bytes_below(first + rest as i64)
            }
        }
    }
}

/// Whether data lies at ascending places that are not negative, in one element and from one to the next.
fn ascends(datatype: &Datatype) -> bool {
    datatype.layout().is_none_or(|layout| datatype.true_lower_bound() >= 0 && layout.ascends())
}

/// Mean length of the first runs of a repeated filetype.
fn mean_run(filetype: &Layout) -> u64 {
    let (mut runs, mut bytes) = (0, 0);
    // A few filetypes, because the last run of one may be adjacent to the first of the next.
    filetype.each_run(0, filetype.size().saturating_mul(8), |_, length| {
        runs += 1;
        bytes += length;
        runs < 1000
    });
    bytes / runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::{MPI_INT, MPI_SHORT, MPI_SHORT_INT};
    use mpi_datatype::Form;

    fn named(word: usize) -> ViewType {
        ViewType { datatype: predefined(word).expect("predefined").clone(), word }
    }

    fn derived(segments: &[(i64, u64)], extent: i64) -> ViewType {
        let (offsets, lengths): (Vec<i64>, Vec<i64>) =
            segments.iter().map(|&(offset, length)| (offset, length as i64)).unzip();
        let byte = predefined(MPI_BYTE).expect("predefined");
        let blocks = Datatype::hindexed(&lengths, &offsets, byte, Form::Small).expect("small");
        let datatype = Datatype::resized(0, extent, &blocks, Form::Small).expect("small");
        ViewType { datatype: datatype.committed(), word: 0 }
    }

    fn view(displacement: i64, etype: ViewType, filetype: ViewType) -> Result<View> {
        View::new(displacement, etype, filetype, Representation::Native)
    }

    #[test]
    fn the_default_view_is_the_file() {
        let all = View::bytes();
        assert_eq!((all.place(12345), all.run(12345).0, all.etypes_in(777), all.unit()), (Some(12345), 12345, 777, 1));
        assert_eq!(all.place(u64::MAX), None);
    }

    #[test]
    fn places_are_those_of_the_repeated_filetype() {
        // Two ints of every five, from byte 100 on.
        let view = view(100, named(MPI_INT), derived(&[(4, 4), (12, 4)], 20)).expect("ascending");
        let places: Vec<_> = (0..20).step_by(4).map(|at| view.place(at)).collect();
        assert_eq!(places, [Some(104), Some(112), Some(124), Some(132), Some(144)]);
        assert_eq!((view.run(0), view.run(5), view.run(8)), ((104, 4), (113, 3), (124, 4)));
    }

    #[test]
    fn the_end_of_the_file_counts_an_etype_that_it_cuts() {
        let ints = view(10, named(MPI_INT), named(MPI_INT)).expect("ints");
        let counted: Vec<_> = [0, 10, 11, 14, 15, 18].map(|length| ints.etypes_in(length)).into();
        assert_eq!(counted, [0, 0, 1, 1, 2, 2]);
        let some = view(0, named(MPI_INT), derived(&[(4, 4), (12, 4)], 20)).expect("ascending");
        let counted: Vec<_> = [0, 4, 5, 8, 12, 13, 16, 20, 25, 40].map(|length| some.etypes_in(length)).into();
        assert_eq!(counted, [0, 0, 1, 1, 1, 2, 2, 2, 3, 4]);
    }

    #[test]
    fn a_tile_may_reach_behind_its_extent() {
        // Two ints of every five, the second of each tile in the room of the next one.
        let view = view(0, named(MPI_INT), derived(&[(12, 4), (20, 4)], 20)).expect("ascending");
        let places: Vec<_> = (0..16).step_by(4).map(|at| view.place(at)).collect();
        assert_eq!(places, [Some(12), Some(20), Some(32), Some(40)]);
        let counted: Vec<_> = [0, 12, 16, 20, 24, 32, 36, 40, 44].map(|length| view.etypes_in(length)).into();
        assert_eq!(counted, [0, 0, 1, 1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn runs_are_those_of_the_places() {
        // Adjacent runs of two filetypes come as one: nine of 96 bytes in eight filetypes.
        let view = view(100, named(MPI_INT), derived(&[(0, 4), (12, 8)], 20)).expect("ascending");
        let of = |at: u64, bytes: u64| {
            let mut runs = Vec::new();
            view.each_run(at, bytes, |place, length| runs.push((place, length)));
            runs
        };
        assert_eq!(of(0, 12), [(100, 4), (112, 8)]);
        assert_eq!(of(6, 20), [(114, 10), (132, 10)]);
        assert_eq!(of(24, 5), [(140, 4), (152, 1)]);
        assert!(of(7, 0).is_empty());
        assert_eq!((view.mean_run(), View::bytes().mean_run()), (96 / 9, u64::MAX));
        for at in 0..60 {
            assert_eq!(view.bytes_below(view.place(at).expect("a place")), at);
        }
    }

    #[test]
    fn a_pair_is_a_filetype_with_a_gap() {
        let pairs = view(0, named(MPI_SHORT), named(MPI_SHORT_INT)).expect("6 bytes of 8");
        assert_eq!((pairs.run(0), pairs.run(2), pairs.run(6)), ((0, 2), (4, 4), (8, 2)));
    }

    #[test]
    fn what_is_no_view_is_refused() {
        let class = |result: Result<View>| result.expect_err("no view").class();
        assert_eq!(class(view(-5, named(MPI_INT), named(MPI_INT))), MPI_ERR_ARG);
        assert_eq!(class(view(0, named(MPI_INT), named(MPI_SHORT_INT))), MPI_ERR_TYPE);
        assert_eq!(class(view(0, named(MPI_INT), named(MPI_SHORT))), MPI_ERR_TYPE);
        assert_eq!(class(view(0, derived(&[], 4), named(MPI_INT))), MPI_ERR_TYPE);
        assert_eq!(class(view(0, named(MPI_INT), derived(&[], 4))), MPI_ERR_TYPE);
        for (segments, extent) in [
            ([(8, 4), (0, 4)], 16),
            ([(0, 8), (4, 4)], 16),
            ([(-4, 4), (4, 4)], 16),
            ([(0, 4), (8, 4)], 8),
            ([(4, 4), (12, 4)], 8),
            ([(0, 4), (8, 4)], -16),
        ] {
            assert_eq!(class(view(0, named(MPI_INT), derived(&segments, extent))), MPI_ERR_TYPE, "{segments:?}");
        }
    }
}
