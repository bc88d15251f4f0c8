//! Layouts: the offsets of the data bytes in one element of a type.
//!
//! Invariant: `size` is the sum of the segments' lengths and fits into an `i64`, as the end of every segment does;
//! segments are in the order in which data is packed, and no segment is empty.
//! Not here: user memory (`buffer`), bounds as `MPI_Type_get_extent` returns them (`datatype`).

use std::borrow::Cow;
use std::sync::Arc;

/// A run of data bytes of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Bytes from the element's address to the run; may be negative.
    pub offset: i64,
    /// Bytes of the run.
    pub length: u64,
}

impl Segment {
    /// The offset of the first byte behind the run; `None` when it does not fit.
    fn end(self) -> Option<i64> {
        self.offset.checked_add_unsigned(self.length)
    }
}

/// A description of a type whose sizes or bounds do not fit into 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A run ends beyond the largest offset.
    #[error("a run of {} bytes at offset {} ends beyond the largest offset, {}", .0.length, .0.offset, i64::MAX)]
    SegmentEnd(Segment),
    /// The data bytes of an element are too many.
    #[error("an element has more than {} bytes of data", i64::MAX)]
    Size,
    /// The first and the last data byte, or the bounds, are too far from each other.
    #[error("the bounds of an element are more than {} bytes apart", i64::MAX)]
    Bounds,
}

/// The layout of a type whose elements do not simply follow each other byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    segments: Cow<'static, [Segment]>,
    size: u64,
    extent: i64,
}

impl Layout {
    /// A layout of static memory; `size` is the sum of the segments' lengths.
    pub(crate) const fn fixed(segments: &'static [Segment], size: u64, extent: i64) -> Layout {
        Layout { segments: Cow::Borrowed(segments), size, extent }
    }

    /// A layout of the given segments, the next element `extent` bytes further on. Empty segments are dropped.
    ///
    /// Errors: lengths whose sum, or a segment whose end, does not fit into an `i64`.
    pub fn new(mut segments: Vec<Segment>, extent: i64) -> Result<Layout, LayoutError> {
        segments.retain(|segment| segment.length > 0);
        let mut size = 0i64;
        for segment in &segments {
            segment.end().ok_or(LayoutError::SegmentEnd(*segment))?;
            size = size.checked_add_unsigned(segment.length).ok_or(LayoutError::Size)?;
        }
        Ok(Layout { segments: Cow::Owned(segments), size: size as u64, extent })
    }

    /// Offset of the first data byte and the number of bytes from there to the end of the last one; zeros when there
    /// are none.
    pub(crate) fn true_bounds(&self) -> Result<(i64, i64), LayoutError> {
        let start = self.segments.iter().map(|segment| segment.offset).min().unwrap_or(0);
        let end = self.segments.iter().filter_map(|segment| segment.end()).max().unwrap_or(0);
        Ok((start, end.checked_sub(start).ok_or(LayoutError::Bounds)?))
    }

    /// The runs of data bytes of one element, in packing order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Data bytes of one element.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes from one element's address to the next one's.
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Calls `run(memory_offset, packed_offset, length)` for the packed bytes `at .. at + length` of a buffer of such
    /// elements; `packed_offset` counts from `at`.
    pub(crate) fn each_run(&self, at: u64, length: u64, mut run: impl FnMut(i64, usize, usize)) {
        if self.size == 0 {
            return;
        }
        let mut done = 0;
        let mut element = (at / self.size) as i64;
        let mut skip = at % self.size;
        while done < length {
            for segment in self.segments.iter() {
                if skip >= segment.length {
                    skip -= segment.length;
                    continue;
                }
                let part = (segment.length - skip).min(length - done);
                run(element * self.extent + segment.offset + skip as i64, done as usize, part as usize);
                done += part;
                skip = 0;
                if done == length {
                    return;
                }
            }
            element += 1;
        }
    }
}

/// The reference of a buffer or a type to its layout; the common case, contiguous, has none.
#[derive(Debug, Clone)]
pub(crate) enum LayoutRef {
    /// Element after element, byte after byte.
    Contiguous,
    /// A predefined type with gaps.
    Fixed(&'static Layout),
    /// A derived type; the buffer keeps the layout alive after `MPI_Type_free`.
    Shared(Arc<Layout>),
}

impl LayoutRef {
    #[inline]
    pub fn get(&self) -> Option<&Layout> {
        match self {
            LayoutRef::Contiguous => None,
            LayoutRef::Fixed(layout) => Some(layout),
            LayoutRef::Shared(layout) => Some(layout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(layout: &Layout, at: u64, length: u64) -> Vec<(i64, usize, usize)> {
        let mut runs = Vec::new();
        layout.each_run(at, length, |memory, packed, length| runs.push((memory, packed, length)));
        runs
    }

    #[test]
    fn runs_start_and_end_in_the_middle_of_segments() {
        let layout = Layout::new(
            vec![Segment { offset: 0, length: 2 }, Segment { offset: 3, length: 0 }, Segment { offset: 4, length: 4 }],
            8,
        )
        .expect("small");
        assert_eq!(layout.size(), 6);
        assert_eq!(runs(&layout, 0, 12), [(0, 0, 2), (4, 2, 4), (8, 6, 2), (12, 8, 4)]);
        assert_eq!(runs(&layout, 1, 3), [(1, 0, 1), (4, 1, 2)]);
        assert_eq!(runs(&layout, 5, 2), [(7, 0, 1), (8, 1, 1)]);
        assert_eq!(runs(&layout, 4, 0), []);
    }

    #[test]
    fn an_empty_layout_has_no_runs() {
        assert_eq!(runs(&Layout::new(Vec::new(), 16).expect("small"), 0, 5), []);
    }
}
