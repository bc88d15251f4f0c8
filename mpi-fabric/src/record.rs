//! Records: the format of messages in a ring, and how a record's first word is packed.
//!
//! A record is a 32-byte head and its payload, rounded up to cache lines; the head's first word is written last and so
//! publishes the whole. Up to 32 bytes of payload share the head's line, so that a short record is one line; longer
//! ones begin in the next line, so that they are copied line by line. What `kind`, `flags`, `context`, `tag`, `a` and
//! `b` mean is up to the protocol above.

use crate::layout::LINE;
use crate::prefetching;

/// Bytes of a head.
pub const HEAD_BYTES: usize = 32;
/// Longest payload that shares the head's line.
pub const INLINE_BYTES: usize = LINE - HEAD_BYTES;

/// The head of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordHead {
    /// The protocol's message kind.
    pub kind: u8,
    /// The protocol's flags.
    pub flags: u8,
    /// Context id.
    pub context: u32,
    /// Tag.
    pub tag: i32,
    /// A word for the protocol.
    pub a: u64,
    /// Another word for the protocol.
    pub b: u64,
}

/// The ring has no room for the record now; poll your own rings and try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Receives the records that a poll finds.
pub trait Sink {
    /// One record from rank `from`. `payload` is a view of shared memory, valid during the call.
    fn record(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>);

    /// A process of another job, by its number, has ended. Reported again while the process is pinned.
    fn lost(&mut self, _number: u32) {}
}

/// Bit that is set in the first word of every record, so that it is never 0.
const PUBLISHED: u64 = 1 << 63;
/// Bit of the mark that sends the receiver back to the ring's begin.
const WRAP: u64 = 1 << 62;
/// Bit of a record whose payload lies in the sender's copy buffer.
const AWAY: u64 = 1 << 61;
/// Bit of a record whose payload lies in a cell of the pair.
const IN_CELL: u64 = 1 << 59;
/// Bit of the mark that sends the receiver on to the pair's longer ring.
const MOVED: u64 = 1 << 60;
/// The first word of a mark behind which the records continue in the longer ring.
pub(crate) const MOVED_WORD: u64 = PUBLISHED | MOVED;
/// The first word of a wrap mark.
pub(crate) const WRAP_WORD: u64 = PUBLISHED | WRAP;

/// The fields of a first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstWord(pub(crate) u64);

impl FirstWord {
    #[inline(always)]
    pub(crate) fn new(kind: u8, flags: u8, len: usize) -> FirstWord {
        FirstWord(PUBLISHED | (flags as u64) << 40 | (kind as u64) << 32 | len as u32 as u64)
    }

    /// Of a record whose payload lies in the sender's copy buffer.
    pub(crate) fn away(kind: u8, flags: u8, len: usize) -> FirstWord {
        FirstWord(FirstWord::new(kind, flags, len).0 | AWAY)
    }

    /// Whether this is such a record.
    pub(crate) fn is_away(self) -> bool {
        self.0 >> 48 == (PUBLISHED | AWAY) >> 48
    }

    /// Of a record whose payload lies in a cell.
    #[inline(always)]
    pub(crate) fn in_cell(kind: u8, flags: u8, len: usize) -> FirstWord {
        FirstWord(FirstWord::new(kind, flags, len).0 | IN_CELL)
    }

    /// Whether this is such a record.
    #[inline(always)]
    pub(crate) fn is_in_cell(self) -> bool {
        self.0 >> 48 == (PUBLISHED | IN_CELL) >> 48
    }

    #[inline(always)]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this is a record with a payload length, and not a wrap mark or an invalid word.
    #[inline(always)]
    pub(crate) fn is_record(self) -> bool {
        self.0 >> 48 == PUBLISHED >> 48
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline(always)]
    pub(crate) fn kind(self) -> u8 {
        (self.0 >> 32) as u8
    }

    #[inline(always)]
    pub(crate) fn flags(self) -> u8 {
        (self.0 >> 40) as u8
    }
}

/// Bytes that a record with `len` bytes of payload takes in the ring.
#[inline(always)]
pub(crate) fn record_bytes(len: usize) -> usize {
    LINE + if len > INLINE_BYTES { (len + LINE - 1) & !(LINE - 1) } else { 0 }
}

/// Offset of a payload of `len` bytes in its record.
#[inline(always)]
pub(crate) fn payload_at(len: usize) -> usize {
    if len > INLINE_BYTES { LINE } else { HEAD_BYTES }
}

/// Bit of a payload's length: its lines are in the cache of a far core.
const FAR: usize = 1 << (usize::BITS - 1);

/// The payload of a record, still in shared memory.
///
/// A faulty sender could change it at any time: copy first, then inspect.
#[derive(Clone, Copy)]
pub struct Payload<'a> {
    at: *const u8,
    /// With [`FAR`], so that a payload is two words.
    len: usize,
    life: std::marker::PhantomData<&'a [u8]>,
}

impl<'a> Payload<'a> {
    /// # Safety
    /// `at..at + len` rounded up to 8 bytes is readable for `'a`, and `at` is aligned to 8.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *const u8, len: usize) -> Payload<'a> {
        Payload { at, len, life: std::marker::PhantomData }
    }

    /// As [`Self::new`], of which a far core has the lines (`ring::distance`).
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(crate) unsafe fn from_far(at: *const u8, len: usize) -> Payload<'a> {
        Payload { at, len: len | FAR, life: std::marker::PhantomData }
    }

    /// A payload that is a slice of this process, for tests of the layers above.
    pub fn from_words(words: &'a [u64], len: usize) -> Payload<'a> {
        assert!(len <= words.len() * 8, "{len} bytes in {} words", words.len());
        // SAFETY: the slice outlives 'a, is aligned to 8 and covers `len` rounded up to 8 bytes.
        unsafe { Payload::new(words.as_ptr().cast(), len) }
    }

    /// Length in bytes.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "an empty payload is not a special case")]
    pub fn len(&self) -> usize {
        self.len & !FAR
    }

    /// Address of the first byte, for code that moves the bytes elsewhere without looking at them: the sender may
    /// change them meanwhile.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const u8 {
        self.at
    }

    /// Copies the first `dst.len()` bytes, or all of the payload if it is shorter; returns how many.
    #[inline(always)]
    pub fn copy_to(&self, dst: &mut [u8]) -> usize {
        self.copy_from(0, dst)
    }

    /// The same, beginning `at` bytes into the payload.
    #[inline(always)]
    pub fn copy_from(&self, at: usize, dst: &mut [u8]) -> usize {
        if at >= self.len() {
            return 0;
        }
        let n = dst.len().min(self.len() - at);
        // SAFETY: `at + n <= len`, readable by `new`'s contract; `dst` is private memory, so they do not overlap.
        unsafe { copy::<true>(self.at.add(at), dst.as_mut_ptr(), n, self.len & FAR != 0) };
        n
    }

    /// Appends all of it to a buffer.
    pub fn append_to(&self, buffer: &mut Vec<u8>) {
        buffer.reserve(self.len());
        // SAFETY: `len` bytes are readable by `new`'s contract, and there is room for as many behind the buffer's end,
        // in private memory; they are initialised before they belong to the buffer.
        unsafe {
            copy_short(self.at, buffer.as_mut_ptr().add(buffer.len()), self.len());
            buffer.set_len(buffer.len() + self.len());
        }
    }

    /// The `i`-th 8-byte word of the payload; 0 beyond its end. Of a last, partial word the upper bytes are undefined.
    #[inline(always)]
    pub fn word(&self, i: usize) -> u64 {
        if i >= self.len().div_ceil(8) {
            return 0;
        }
        // SAFETY: the word begins inside the payload, and readability is rounded up to 8 bytes; aligned by contract.
        unsafe { self.at.cast::<u64>().add(i).read_volatile() }
    }

    /// A private copy.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len());
        self.append_to(&mut out);
        out
    }
}

/// Copies `n` bytes; short ones, which are most, without a call.
///
/// # Safety
/// `src..src + n` is readable, `dst..dst + n` writable, and they do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_short(src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { copy::<false>(src, dst, n, false) };
}

/// Copies `n` bytes that another core has written, one that is `far`.
///
/// # Safety
/// As [`copy_short`].
#[inline(never)]
unsafe fn copy_long(src: *const u8, dst: *mut u8, n: usize, far: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        match far {
            true => prefetching::copy_from_far(src, dst, n),
            false => prefetching::copy_prefetching(src, dst, n),
        }
    }
}

/// Copies 8 bytes by one load and one store, which the compiler does not join with others.
///
/// # Safety
/// As [`copy_short`].
#[inline(always)]
unsafe fn copy_word(src: *const u8, dst: *mut u8) {
    #[derive(Clone, Copy)]
    #[repr(C, packed)]
    struct Word(u64);
    // SAFETY: the caller's promise; a packed word has no alignment.
    unsafe { dst.cast::<Word>().write_volatile(src.cast::<Word>().read_volatile()) };
}

/// As [`copy_short`]; `FOREIGN`: another core has written the bytes, one that is `far`.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn copy<const FOREIGN: bool>(src: *const u8, dst: *mut u8, n: usize, far: bool) {
    // SAFETY: in all branches every access lies in `0..n` of both, by the branch's condition; unaligned on purpose.
    unsafe {
        if n == 8 {
            dst.cast::<u64>().write_unaligned(src.cast::<u64>().read_unaligned());
        } else if n > 32 {
            match FOREIGN && n >= prefetching::LEAST {
                true => copy_long(src, dst, n, far),
                false => std::ptr::copy_nonoverlapping(src, dst, n),
            }
        } else if n == 16 || n == 32 {
            copy_word(src, dst);
            copy_word(src.add(8), dst.add(8));
            if n == 32 {
                copy_word(src.add(16), dst.add(16));
                copy_word(src.add(24), dst.add(24));
            }
        } else if n >= 16 {
            let (first, last) = (src.cast::<u128>().read_unaligned(), src.add(n - 16).cast::<u128>().read_unaligned());
            dst.cast::<u128>().write_unaligned(first);
            dst.add(n - 16).cast::<u128>().write_unaligned(last);
        } else if n > 8 {
            let (first, last) = (src.cast::<u64>().read_unaligned(), src.add(n - 8).cast::<u64>().read_unaligned());
            dst.cast::<u64>().write_unaligned(first);
            dst.add(n - 8).cast::<u64>().write_unaligned(last);
        } else if n >= 4 {
            let (first, last) = (src.cast::<u32>().read_unaligned(), src.add(n - 4).cast::<u32>().read_unaligned());
            dst.cast::<u32>().write_unaligned(first);
            dst.add(n - 4).cast::<u32>().write_unaligned(last);
        } else if n > 0 {
            *dst = *src;
            *dst.add(n / 2) = *src.add(n / 2);
            *dst.add(n - 1) = *src.add(n - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_short_length_is_copied_exactly() {
        let src: Vec<u8> = (1..=100).collect();
        for n in 0..100 {
            let mut dst = vec![0u8; 101];
            // SAFETY: both have at least `n` bytes and are different vectors.
            unsafe { copy_short(src.as_ptr(), dst.as_mut_ptr(), n) };
            assert_eq!(dst[..n], src[..n]);
            assert!(dst[n..].iter().all(|b| *b == 0));
        }
    }

    #[test]
    fn a_first_word_gives_back_what_it_was_made_of() {
        let word = FirstWord::new(0, 0, 0);
        assert!(!word.is_empty() && word.is_record());
        let word = FirstWord::new(200, 255, 70_000);
        assert_eq!((word.kind(), word.flags(), word.len(), word.is_record()), (200, 255, 70_000, true));
        assert!(!FirstWord(WRAP_WORD).is_record() && !FirstWord(WRAP_WORD).is_empty());
        assert!(!FirstWord(5).is_record());
    }

    #[test]
    fn short_payloads_share_the_line_of_the_head() {
        assert_eq!([0, 32, 33, 64, 65].map(record_bytes), [64, 64, 128, 128, 192]);
        assert_eq!([0, 32, 33, 4096].map(payload_at), [32, 32, 64, 64]);
    }

    #[test]
    fn a_payload_copies_no_more_than_it_has() {
        let words = [u64::from_le_bytes(*b"abcdefgh"), u64::from_le_bytes(*b"ij......")];
        let payload = Payload::from_words(&words, 10);
        let mut long = [0u8; 16];
        assert_eq!(payload.copy_to(&mut long), 10);
        assert_eq!(&long[..10], b"abcdefghij");
        assert_eq!(payload.copy_from(9, &mut long), 1);
        assert_eq!(payload.copy_from(11, &mut long), 0);
        assert_eq!((payload.word(0), payload.word(2), payload.to_vec().len()), (words[0], 0, 10));
    }

    #[test]
    fn a_payload_in_a_far_cache_is_like_any_other() {
        let words: Vec<u64> = (0..1000).collect();
        // SAFETY: the words outlive the payload.
        let payload = unsafe { Payload::from_far(words.as_ptr().cast(), 8000) };
        let mut out = vec![0u8; 9000];
        assert_eq!((payload.len(), payload.word(999), payload.word(1000)), (8000, 999, 0));
        assert_eq!(payload.copy_to(&mut out), 8000);
        assert!(out[..8000].chunks(8).zip(&words).all(|(bytes, word)| bytes == word.to_ne_bytes()));
        assert_eq!((payload.to_vec(), payload.copy_from(8000, &mut out)), (out[..8000].to_vec(), 0));
    }

    #[test]
    fn an_offset_beyond_the_payload_copies_nothing() {
        let words = [1, 2];
        let payload = Payload::from_words(&words, 10);
        let mut out = [7u8; 4];
        for at in [10, 11, 4096, usize::MAX / 2, usize::MAX] {
            assert_eq!(payload.copy_from(at, &mut out), 0, "{at}");
        }
        assert_eq!(out, [7; 4]);
        for word in [2, 1 << 60, 1 << 61, usize::MAX] {
            assert_eq!(payload.word(word), 0, "{word}");
        }
    }
}
