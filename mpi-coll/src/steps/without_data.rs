//! For tests: a sink that keeps what an algorithm sends, receives, publishes and reads, without data, and checks that copies and
//! combinations have the same length on both sides.
//!
//! Not here: reproducible sums and comparisons, which such tests do not use.

use super::*;

/// What is done with the steps: with messages, or with what goes through a channel.
pub(crate) trait Lengths {
    fn send(&mut self, _side: Side, _dest: u32, _bytes: u64) {
        unreachable!("no message")
    }
    fn receive(&mut self, _side: Side, _source: u32, _bytes: u64) {
        unreachable!("no message")
    }
    /// So many bytes are copied or combined.
    fn work(&mut self, _bytes: u64) {}
    /// Everything that was received up to here is waited for.
    fn boundary(&mut self) {}
    fn reserve(&mut self, _bytes: u64) {
        unreachable!("no channel")
    }
    fn put(&mut self, _at: u64, _bytes: u64) {
        unreachable!("no channel")
    }
    fn publish(&mut self) {
        unreachable!("no channel")
    }
    /// So many bytes of a publication are copied or combined.
    fn read(&mut self, _source: u32, _at: u64, _bytes: u64) {
        unreachable!("no channel")
    }
    fn end_turn(&mut self) {
        unreachable!("no channel")
    }
}

/// The sink.
pub(crate) struct WithoutData<L>(pub L);

impl<L: Lengths> Steps for WithoutData<L> {
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

    fn reserve(&mut self, bytes: u64) -> Result<()> {
        self.0.reserve(bytes);
        Ok(())
    }

    fn put(&mut self, at: u64, from: Span) -> Result<()> {
        self.0.put(at, from.bytes);
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        self.0.publish();
        Ok(())
    }

    fn fetch(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        self.0.read(source, at, into.bytes);
        Ok(())
    }

    fn fold(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        self.0.read(source, at, into.bytes);
        Ok(())
    }

    fn end_turn(&mut self) -> Result<()> {
        self.0.end_turn();
        Ok(())
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
