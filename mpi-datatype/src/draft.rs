//! A type under construction: bounds, size and shape, with checked arithmetic.
//!
//! Bounds follow the type map (MPI-5.0, 5.1.6): a type with a resized part has the bounds of its resized parts; any
//! other spans its data, rounded up to the largest alignment of a basic element.
//! Invariant: all numbers of a draft, and all offsets inside its shape, fit into an `i64`.
//! Not here: the constructors of the standard (`construct`, `construct_array`).

use std::sync::Arc;

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_COUNT};
use mpi_errors::{Error, Result};

use crate::bounds::Bounds;
use crate::datatype::{Datatype, Origin};
use crate::envelope::Envelope;
use crate::shape::{ListBuilder, Shape};
use crate::signature::Signature;

/// A type under construction, without its signature.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    /// First byte of the data and end of the last; zeros without data.
    low: i64,
    high: i64,
    /// Lower and upper bound where a resized part gives them.
    marks: Option<(i64, i64)>,
    /// Largest alignment of a basic element, a power of two.
    alignment: u8,
    /// First data byte in the order of the type map.
    offset: i64,
    shape: Shape,
}

fn narrow(value: Option<i128>) -> Result<i64> {
    value.and_then(|value| i64::try_from(value).ok()).ok_or_else(too_far)
}

/// `value`, `steps` times further.
fn moved(value: i64, by: i128) -> Result<i64> {
    narrow(i128::from(value).checked_add(by))
}

impl Draft {
    pub const EMPTY: Draft = Draft { low: 0, high: 0, marks: None, alignment: 1, offset: 0, shape: Shape::EMPTY };

    /// One element of a type.
    pub fn of(datatype: &Datatype) -> Draft {
        let bounds = datatype.bounds();
        let (offset, shape) = datatype.placed_shape();
        Draft {
            low: bounds.true_lower,
            high: bounds.true_lower + bounds.true_extent,
            marks: bounds.explicit.then(|| (bounds.lower, bounds.lower + bounds.extent)),
            alignment: bounds.alignment,
            offset,
            shape,
        }
    }

    /// Offset and alignment, for a type whose elements follow each other byte for byte, with no bounds but those of its
    /// data.
    pub fn plain_block(&self, datatype: &Datatype) -> Option<(i64, u8)> {
        let plain = self.marks.is_none() && self.shape.is_block() && datatype.extent() == datatype.size() as i64;
        plain.then_some((self.offset, self.alignment))
    }

    fn is_nothing(&self) -> bool {
        self.shape.size() == 0 && self.marks.is_none()
    }

    /// `count` times this, each `stride` bytes behind the one before. Errors: numbers that do not fit.
    pub fn repeat(self, count: u64, stride: i128) -> Result<Draft> {
        if count == 0 || self.is_nothing() {
            return Ok(Draft::EMPTY);
        }
        if count == 1 {
            return Ok(self);
        }
        let size = u128::from(self.shape.size()) * u128::from(count);
        if size > i64::MAX as u128 {
            return Err(too_large(size));
        }
        let way = i128::from(count - 1).checked_mul(stride).ok_or_else(too_far)?;
        let (down, up) = (way.min(0), way.max(0));
        let marks = match self.marks {
            Some((lower, upper)) => Some((moved(lower, down)?, moved(upper, up)?)),
            None => None,
        };
        if self.shape.size() == 0 {
            return Ok(Draft { marks, ..self });
        }
        let (low, high) = (moved(self.low, down)?, moved(self.high, up)?);
        high.checked_sub(low).ok_or_else(too_far)?;
        Ok(Draft { low, high, marks, shape: self.shape.repeat(count, stride as i64), ..self })
    }

    /// This, `by` bytes further on. Errors: numbers that do not fit.
    pub fn shifted(self, by: i128) -> Result<Draft> {
        let marks = match self.marks {
            Some((lower, upper)) => Some((moved(lower, by)?, moved(upper, by)?)),
            None => None,
        };
        if self.shape.size() == 0 {
            return Ok(Draft { marks, ..self });
        }
        let (low, high, offset) = (moved(self.low, by)?, moved(self.high, by)?, moved(self.offset, by)?);
        Ok(Draft { low, high, marks, offset, ..self })
    }

    /// The same data between these bounds.
    pub fn resized(self, lower: i64, upper: i64) -> Draft {
        Draft { marks: Some((lower, upper)), ..self }
    }

    /// The finished type. `signature` is that of the data.
    pub fn finish(self, signature: Signature, envelope: Envelope<Datatype>) -> Result<Datatype> {
        let Draft { low, high, marks, alignment, offset, shape } = self;
        let (lower, upper) = match marks {
            Some(marks) => marks,
            None => {
                let extent = i128::from(high) - i128::from(low);
                let step = i128::from(alignment);
                (low, moved(low, (extent + step - 1) / step * step)?)
            }
        };
        let extent = upper.checked_sub(lower).ok_or_else(too_far)?;
        let bounds =
            Bounds { lower, extent, true_lower: low, true_extent: high - low, alignment, explicit: marks.is_some() };
        Ok(Datatype::derived(bounds, offset, shape, Arc::new(Origin { signature, envelope })))
    }
}

/// Parts of a type under construction, in the order of the type map.
pub(crate) struct DraftList {
    whole: Draft,
    has_data: bool,
    size: u128,
    parts: ListBuilder,
}

impl DraftList {
    /// Room for this many parts.
    pub fn with_capacity(parts: usize) -> DraftList {
        DraftList { whole: Draft::EMPTY, has_data: false, size: 0, parts: ListBuilder::with_capacity(parts) }
    }

    /// Adds a part. Errors: numbers that do not fit.
    pub fn push(&mut self, part: &Draft) -> Result<()> {
        let Draft { low, high, marks, alignment, offset, ref shape } = *part;
        if let Some((lower, upper)) = marks {
            let (least, most) = self.whole.marks.unwrap_or((lower, upper));
            self.whole.marks = Some((least.min(lower), most.max(upper)));
        }
        if shape.size() > 0 {
            self.cover(low, high, shape.size(), alignment)?;
            self.parts.push(offset, shape);
        }
        Ok(())
    }

    /// Adds a block of bytes whose bounds are those of its data. Errors: numbers that do not fit.
    pub fn push_block(&mut self, offset: i64, length: u128, alignment: u8) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        let length = u64::try_from(length).map_err(|_| too_large(length))?;
        let end = offset.checked_add_unsigned(length).ok_or_else(too_far)?;
        self.cover(offset, end, length, alignment)?;
        self.parts.push_block(offset, length);
        Ok(())
    }

    fn cover(&mut self, low: i64, high: i64, size: u64, alignment: u8) -> Result<()> {
        let whole = &mut self.whole;
        self.size += u128::from(size);
        if self.size > i64::MAX as u128 {
            return Err(too_large(self.size));
        }
        (whole.low, whole.high) = match self.has_data {
            true => (whole.low.min(low), whole.high.max(high)),
            false => (low, high),
        };
        whole.high.checked_sub(whole.low).ok_or_else(too_far)?;
        whole.alignment = whole.alignment.max(alignment);
        self.has_data = true;
        Ok(())
    }

    /// All parts together.
    pub fn finish(self) -> Draft {
        let (offset, shape) = self.parts.finish();
        Draft { offset, shape, ..self.whole }
    }
}

#[cold]
pub(crate) fn too_far() -> Error {
    let rule = format!("the new datatype would reach over more than {} bytes, or beyond the largest address", i64::MAX);
    Error::new(MPI_ERR_ARG, rule)
        .hint("Check the displacements, strides and extents; they may be counted in other units.")
}

#[cold]
fn too_large(size: u128) -> Error {
    let rule = format!("the new datatype would have {size} bytes of data; the largest size is {} bytes", i64::MAX);
    Error::new(MPI_ERR_COUNT, rule)
}
