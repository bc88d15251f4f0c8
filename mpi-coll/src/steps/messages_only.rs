//! For tests: a sink that keeps the messages of an algorithm, and checks that copies and combinations have the same length on both sides.
//!
//! Not here: channels, reproducible sums and comparisons, which such tests do not use.

use super::*;

/// What is done with the messages.
pub(crate) trait Messaging {
    fn send(&mut self, side: Side, dest: u32, bytes: u64);
    fn receive(&mut self, side: Side, source: u32, bytes: u64);
    /// So many bytes are copied or combined.
    fn work(&mut self, _bytes: u64) {}
    /// Everything that was received up to here is waited for.
    fn boundary(&mut self);
}

/// The sink.
pub(crate) struct MessagesOnly<M>(pub M);

impl<M: Messaging> Steps for MessagesOnly<M> {
    fn send_on(&mut self, side: Side, dest: u32, from: Span) -> Result<()> {
        self.0.send(side, dest, from.bytes);
        Ok(())
    }

    fn receive_on(&mut self, side: Side, source: u32, into: Span) -> Result<()> {
        self.0.receive(side, source, into.bytes);
        Ok(())
    }

    fn copy(&mut self, from: Span, into: Span) -> Result<()> {
        assert_eq!(from.bytes, into.bytes);
        self.0.work(from.bytes);
        Ok(())
    }

    fn combine(&mut self, from: Span, into: Span) -> Result<()> {
        assert_eq!(from.bytes, into.bytes);
        self.0.work(from.bytes);
        Ok(())
    }

    fn widen(&mut self, _: Span, _: Span) -> Result<()> {
        unreachable!("no reproducible sums")
    }

    fn narrow(&mut self, _: Span, _: Span) -> Result<()> {
        unreachable!("no reproducible sums")
    }

    fn check(&mut self, _: Check) -> Result<()> {
        unreachable!("no comparison")
    }

    fn received(&mut self) -> Result<()> {
        self.0.boundary();
        Ok(())
    }

    fn round(&mut self) -> Result<()> {
        self.0.boundary();
        Ok(())
    }

    fn reserve(&mut self, _: u64) -> Result<()> {
        unreachable!("no channel")
    }

    fn put(&mut self, _: u64, _: Span) -> Result<()> {
        unreachable!("no channel")
    }

    fn publish(&mut self) -> Result<()> {
        unreachable!("no channel")
    }

    fn fetch(&mut self, _: u32, _: u64, _: Span) -> Result<()> {
        unreachable!("no channel")
    }

    fn fold(&mut self, _: u32, _: u64, _: Span) -> Result<()> {
        unreachable!("no channel")
    }

    fn end_turn(&mut self) -> Result<()> {
        unreachable!("no channel")
    }

    fn bytes(&mut self, area: u8, bytes: u64) -> Result<Span> {
        Ok(Span { place: Place::Work(area), piece: 0, at: 0, bytes })
    }

    fn provide(&mut self, area: u8, words: &[u64]) -> Result<Span> {
        self.bytes(area, 8 * words.len() as u64)
    }

    fn elements(&mut self, area: u8, count: u64) -> Result<Span> {
        self.bytes(area, 8 * count)
    }
}
