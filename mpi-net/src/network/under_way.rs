//! The operations of one copy: several pieces at a time, so that each does not cost a round trip of its own. Long pieces are cut, and
//! several parts requested at a time, so that the peer need not wait for the next request.
//!
//! Invariant: an operation that the provider has stays in memory until it completes, or for ever if its peer or the provider is lost.
//! Not here: waiting (`copies`).

use std::borrow::Cow;

use super::*;

/// Operations of a copy that are under way at a time.
const MOST: usize = 16;
/// Longest operation in bytes (measured, 1 MiB over `tcp`: one read 348 µs, parts of 512 and 256 KiB 304, 299).
const LONGEST: usize = 256 << 10;
/// Bytes under way from which on no operation is started.
const ENOUGH: usize = 1 << 20;

/// What is left of the pieces.
pub(super) struct Left<'a> {
    pieces: Cow<'a, [(RegionKey, Piece)]>,
    /// The first one that is left, and its bytes that were taken.
    at: usize,
    done: usize,
}

impl<'a> Left<'a> {
    /// All of these.
    pub(super) fn new(pieces: Cow<'a, [(RegionKey, Piece)]>) -> Left<'a> {
        Left { pieces, at: 0, done: 0 }
    }

    /// The next bytes, at most so many.
    pub(super) fn first(&self, longest: usize) -> Option<(RegionKey, Piece)> {
        let (key, Piece { offset, address, bytes }) = *self.pieces.get(self.at)?;
        let (offset, address) = (offset + self.done as u64, address + self.done);
        Some((key, Piece { offset, address, bytes: (bytes - self.done).min(longest) }))
    }

    /// Takes bytes that [`Self::first`] returned.
    pub(super) fn take(&mut self, bytes: usize) {
        self.done += bytes;
        if self.done == self.pieces[self.at].1.bytes {
            (self.at, self.done) = (self.at + 1, 0);
        }
    }
}

/// Why a copy fails.
pub(super) enum Failure {
    /// The provider reports a negative number.
    Status(i64),
    /// Its memory cannot be registered.
    Refused(Error),
}

/// Why an operation was not started.
pub(super) enum NotStarted {
    /// The provider takes no more now.
    Later,
    Never(Failure),
}

/// One operation, and the registration of its memory here.
struct Slot {
    operation: Operation,
    local: Registered,
    /// None: nothing is under way.
    bytes: Option<usize>,
}

/// The operations.
pub(super) struct UnderWay {
    /// Allocated as a box. The provider has the addresses of the operations.
    slots: *mut [Slot],
    /// Number of operations.
    pub(super) count: usize,
    /// Their bytes.
    bytes: usize,
    /// Longest operation in bytes.
    longest: usize,
    /// Memory that is registered for a piece that the provider did not take yet.
    registered: Option<(Piece, Registered)>,
}

impl UnderWay {
    /// None yet, of a copy of these pieces, in operations of so many bytes at most.
    pub(super) fn new(pieces: &[(RegionKey, Piece)], longest: usize) -> UnderWay {
        let longest = longest.min(LONGEST);
        let slot = |_| Slot { operation: Operation::new(Kind::Copy, 0), local: Registered::NONE, bytes: None };
        let operations = pieces.iter().map(|(_, piece)| piece.bytes.div_ceil(longest)).fold(0, usize::saturating_add);
        let slots: Box<[Slot]> = (0..operations.clamp(1, MOST)).map(slot).collect();
        UnderWay { slots: Box::into_raw(slots), count: 0, bytes: 0, longest, registered: None }
    }

    /// The next operation, if one may be started now.
    pub(super) fn next(&self, left: &Left<'_>) -> Option<(usize, (RegionKey, Piece))> {
        if self.bytes >= ENOUGH {
            return None;
        }
        Some((self.free()?, left.first(self.longest)?))
    }

    fn slot(&self, place: usize) -> *mut Slot {
        assert!(place < self.slots.len(), "operation {place}");
        // SAFETY: inside of the box.
        unsafe { self.slots.cast::<Slot>().add(place) }
    }

    /// A place for one more.
    fn free(&self) -> Option<usize> {
        // SAFETY: members that this value alone uses.
        (0..self.slots.len()).find(|place| unsafe { (*self.slot(*place)).bytes.is_none() })
    }

    /// Starts the copy of a piece at a free place.
    ///
    /// # Safety
    /// Its memory is readable, and writable for a read, until the operation completes.
    pub(super) unsafe fn start(
        &mut self,
        place: usize,
        inner: &mut Inner,
        peer: u32,
        writes: bool,
        (key, piece): (RegionKey, Piece),
    ) -> std::result::Result<(), NotStarted> {
        let [start, number] = key.to_words();
        // Without an address the peer is lost now.
        let Some(address) = inner.address(peer) else {
            return Err(NotStarted::Later);
        };
        let from = if inner.provider.by_address() { start.wrapping_add(piece.offset) } else { piece.offset };
        let at = with_exposed_provenance_mut::<u8>(piece.address);
        let local = match inner.provider.registers_local() {
            // `Left` returns the same piece until it is taken.
            true if let Some((_, local)) = self.registered.take_if(|(before, _)| *before == piece) => local,
            // SAFETY: the caller's promise; `collect` or `end` ends the registration.
            true => match unsafe {
                let access = if writes { ffi::FI_WRITE } else { ffi::FI_READ };
                inner.provider.register(at, piece.bytes, access.into())
            } {
                Ok(region) => region,
                Err(why) => return Err(NotStarted::Never(Failure::Refused(why))),
            },
            false => Registered::NONE,
        };
        let slot = self.slot(place);
        // SAFETY: nothing is under way at the place, so this value alone uses it; the caller's promise.
        let status = unsafe {
            (*slot).operation.number = 0;
            let operation = &raw mut (*slot).operation;
            inner.provider.copy(address, writes, (at, piece.bytes), local, (number, from), operation)
        };
        if status == 0 {
            // SAFETY: members that this value alone uses.
            unsafe { ((*slot).local, (*slot).bytes) = (local, Some(piece.bytes)) };
            self.count += 1;
            self.bytes += piece.bytes;
            return Ok(());
        }
        self.registered = Some((piece, local));
        match status == -i64::from(ffi::FI_EAGAIN) {
            true => Err(NotStarted::Later),
            false => Err(NotStarted::Never(Failure::Status(status))),
        }
    }

    /// Ends the registration of a piece that was not taken, when no operation is started any more.
    pub(super) fn end(&mut self, inner: &mut Inner) {
        if let Some((_, local)) = self.registered.take() {
            inner.provider.end(local);
        }
    }

    /// Frees the places of the operations that have completed.
    pub(super) fn collect(&mut self, inner: &mut Inner, writes: bool, failed: &mut Option<Failure>) {
        for place in 0..self.slots.len() {
            let slot = self.slot(place);
            // SAFETY: the slot is alive; `progress` changes the number, under the lock that the caller has.
            let (bytes, number) = unsafe { ((*slot).bytes, (&raw const (*slot).operation.number).read_volatile()) };
            let Some(bytes) = bytes.filter(|_| number != 0) else { continue };
            // SAFETY: nothing is under way at the place any more.
            inner.provider.end(unsafe { (*slot).local });
            // SAFETY: as above.
            unsafe { (*slot).bytes = None };
            self.count -= 1;
            self.bytes -= bytes;
            if number < 0 {
                failed.get_or_insert(Failure::Status(number));
                continue;
            }
            inner.meters.with(|meters| match writes {
                true => meters.bytes_written.add(bytes as u64),
                false => meters.bytes_read.add(bytes as u64),
            });
        }
    }

    /// Leaves the memory of the operations to the provider for ever, if any is under way; whether that is so.
    pub(super) fn leak(&mut self) -> bool {
        std::mem::take(&mut self.count) > 0 && {
            self.slots = Box::into_raw(Box::new([]));
            true
        }
    }
}

// SAFETY: the box belongs to the value alone, and the provider, which writes the numbers of operations under the lock of the network.
unsafe impl Send for UnderWay {}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // A panic with operations under way ends the process: their memory must not be freed.
        assert_eq!(self.count, 0, "the provider has operations in this memory");
        // SAFETY: allocated by `new` or `leak`, and nothing is under way in it.
        drop(unsafe { Box::from_raw(self.slots) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_where_a_provider_sends_less() {
        let keys = [1, 2].map(|number| RegionKey::from_words([number, number]));
        let pieces = [
            (keys[0], Piece { offset: 10, address: 100, bytes: 7 }),
            (keys[1], Piece { offset: 50, address: 200, bytes: 2 }),
        ];
        let mut left = Left::new(Cow::Borrowed(&pieces));
        let mut parts = Vec::new();
        while let Some((key, Piece { offset, address, bytes })) = left.first(4) {
            parts.push((key, offset, address, bytes));
            left.take(bytes);
        }
        assert_eq!(parts, [(keys[0], 10, 100, 4), (keys[0], 14, 104, 3), (keys[1], 50, 200, 2)]);
    }

    #[test]
    fn long_pieces_are_cut_and_as_many_are_under_way_as_are_useful() {
        let piece = |bytes| (RegionKey::NONE, Piece { offset: 0, address: 0, bytes });
        let places = |bytes, longest| UnderWay::new(&[piece(bytes), piece(1)], longest).slots.len();
        assert_eq!((places(8, usize::MAX), places(LONGEST + 1, usize::MAX), places(8, 4)), (2, 3, 3));
        assert_eq!(places(usize::MAX, 1), MOST);
        let pieces = [piece(3 * ENOUGH)];
        let mut under_way = UnderWay::new(&pieces, usize::MAX);
        let left = |done| Left { done, ..Left::new(Cow::Borrowed(&pieces)) };
        assert_eq!(under_way.next(&left(3 * ENOUGH - 5)).map(|(_, (_, piece))| piece.bytes), Some(5));
        assert_eq!(under_way.next(&left(0)).map(|(_, (_, piece))| piece.bytes), Some(LONGEST));
        under_way.bytes = ENOUGH;
        assert!(under_way.next(&left(0)).is_none());
    }
}
