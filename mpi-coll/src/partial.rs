//! A partial result of a reduction, and combining it with contributions in rank order.
//!
//! There are two pieces of memory: one holds the partial result, the other the next contribution. An operation that is
//! not commutative leaves the result in the memory of the right operand; then the pieces change roles.
//! Invariant: the pieces are as long as `count` elements span; the result covers a contiguous range of ranks.

use mpi_core::abi::MPI_ERR_INTERN;
use mpi_datatype::{Datatype, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::Reduction;
use crate::op::Reducer;
use crate::scratch::Scratch;

pub(crate) struct Partial<'a> {
    reducer: &'a Reducer<'a>,
    datatype: &'a Datatype,
    count: u64,
    value: &'a mut [u8],
    other: &'a mut [u8],
    swapped: bool,
}

impl<'a> Partial<'a> {
    /// A partial result of `count` elements that stand in `value`; `other` is for contributions.
    #[inline]
    pub fn new(
        reducer: &'a Reducer<'a>,
        datatype: &'a Datatype,
        count: u64,
        value: &'a mut [u8],
        other: &'a mut [u8],
    ) -> Partial<'a> {
        Partial { reducer, datatype, count, value, other, swapped: false }
    }

    /// The partial result, to send.
    #[inline]
    pub fn value(&self) -> SendBuf<'_> {
        SendBuf::in_span(self.value, self.count, self.datatype).expect("the pieces are long enough")
    }

    /// The partial result, to overwrite.
    #[inline]
    pub fn value_mut(&mut self) -> RecvBuf<'_> {
        RecvBuf::in_span(self.value, self.count, self.datatype).expect("the pieces are long enough")
    }

    /// The memory for the next contribution.
    #[inline]
    pub fn incoming(&mut self) -> RecvBuf<'_> {
        self.both().1
    }

    /// The partial result, to send, and the memory for the next contribution.
    #[inline]
    pub fn both(&mut self) -> (SendBuf<'_>, RecvBuf<'_>) {
        (
            SendBuf::in_span(self.value, self.count, self.datatype).expect("the pieces are long enough"),
            RecvBuf::in_span(self.other, self.count, self.datatype).expect("the pieces are long enough"),
        )
    }

    /// Combines with the contribution of ranks below those in the result.
    #[inline]
    pub fn absorb_lower(&mut self) {
        self.reducer.apply(self.other, self.value, self.count);
    }

    /// Combines with the contribution of ranks above those in the result.
    #[inline]
    pub fn absorb_higher(&mut self) {
        self.reducer.apply(self.value, self.other, self.count);
        std::mem::swap(&mut self.value, &mut self.other);
        self.swapped = !self.swapped;
    }

    /// Combines with the contribution, in the cheapest order that is allowed. Not for results that several processes
    /// compute: they could differ in the sign of a zero.
    #[inline]
    pub fn absorb(&mut self, from_higher: bool) {
        if from_higher && !self.reducer.is_commutative() {
            self.absorb_higher();
        } else {
            self.absorb_lower();
        }
    }

    /// Moves the result into the memory that was `value` at first.
    #[inline]
    pub fn settle(self) {
        if self.swapped {
            let result = SendBuf::in_span(self.value, self.count, self.datatype).expect("the pieces are long enough");
            RecvBuf::in_span(self.other, self.count, self.datatype)
                .expect("the pieces are long enough")
                .copy_from(&result);
        }
    }
}

/// The elements of a receive buffer as they stand in memory. For buffers of predefined types, and those in memory of
/// the library ([`in_scratch`]).
#[inline]
pub(crate) fn elements_mut<'b>(buffer: &'b mut RecvBuf<'_>) -> Result<&'b mut [u8]> {
    buffer
        .native_mut()
        .ok_or_else(|| Error::new(MPI_ERR_INTERN, "elements of a derived datatype in the program's memory"))
}

/// Whether the elements of a buffer must not be combined where they are: the gaps of a derived datatype may hold other
/// data of the program.
#[inline]
pub(crate) fn needs_scratch(datatype: &Datatype, buffer: &mut RecvBuf<'_>) -> bool {
    !datatype.is_contiguous() && buffer.native_mut().is_none()
}

/// Carries out a reduction whose contribution and result have a derived datatype in working memory: `reduce` gets the
/// contribution there, and leaves the result in its place.
#[cold]
pub(crate) fn in_scratch(
    send: Option<SendBuf<'_>>,
    mut recv: RecvBuf<'_>,
    what: &Reduction<'_>,
    reduce: impl FnOnce(RecvBuf<'_>) -> Result<()>,
) -> Result<()> {
    let mut scratch = Scratch::elements(what.datatype, what.count)?;
    let mut inside =
        RecvBuf::in_span(scratch.bytes(), what.count, what.datatype).expect("as long as the elements span");
    inside.copy_from(send.as_ref().unwrap_or(&recv.as_send()));
    reduce(inside.reborrow())?;
    recv.copy_from(&inside.as_send());
    Ok(())
}
