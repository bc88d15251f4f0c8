//! Handles of control variables, and a mirror of the first of them that is read without a lock.
//!
//! Invariant: a mirror's facts change only while its `word` is 0, under the lock of the handles; the words that it
//! points to are static.
//! Not here: values and their rules (`cvars`).

use std::fmt;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

use mpi_core::Handle;

use crate::{Bind, Cell};

/// How many handles are mirrored.
const MIRRORED: usize = 1024;

/// The variable and object of a handle.
#[derive(Clone, Copy)]
pub(super) struct CvarHandle {
    pub index: usize,
    /// The object that it is bound to.
    pub object: (Bind, usize),
    /// `None`: the object was freed.
    pub cell: Option<&'static dyn Cell>,
}

impl fmt::Debug for CvarHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CvarHandle").field("index", &self.index).finish_non_exhaustive()
    }
}

/// The places of the first handles' values.
#[derive(Debug)]
pub(super) struct Mirrors(Box<[Mirror]>);

#[derive(Debug)]
struct Mirror {
    word: AtomicUsize,
    source: AtomicPtr<AtomicU64>,
    bytes: AtomicUsize,
}

/// The target of a mirror: a value in the low bytes of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mirrored {
    pub value: u64,
    /// 4 or 8.
    pub bytes: usize,
}

impl Mirrors {
    pub fn new() -> Mirrors {
        let none = || Mirror {
            word: AtomicUsize::new(0),
            source: AtomicPtr::new(std::ptr::null_mut()),
            bytes: AtomicUsize::new(0),
        };
        Mirrors((0..MIRRORED).map(|_| none()).collect())
    }

    /// Mirrors a new handle if there is a free place. The caller holds the lock of the handles.
    pub fn open(&self, handle: Handle, source: Option<&'static AtomicU64>, bytes: usize) {
        let (Some(mirror), Some(source)) = (self.0.get(handle.index() as usize), source) else { return };
        mirror.source.store(std::ptr::from_ref(source).cast_mut(), Ordering::Relaxed);
        mirror.bytes.store(bytes, Ordering::Relaxed);
        // Pairs with the Acquire in `read`.
        mirror.word.store(handle.0, Ordering::Release);
    }

    /// Ends the mirror of a handle that is freed, or whose object is. The caller holds the lock of the handles.
    pub fn close(&self, handle: Handle) {
        if let Some(mirror) = self.0.get(handle.index() as usize) {
            mirror.word.store(0, Ordering::Relaxed);
            // Pairs with the Acquire fence in `read`: later contents of the memory come with another word.
            fence(Ordering::Release);
        }
    }

    /// The value of a handle that is mirrored. Async-signal-safe.
    #[inline]
    #[allow(unsafe_code)] // the value is found through a pointer
    pub fn read(&self, handle: Handle) -> Option<Mirrored> {
        let mirror = self.0.get(handle.index() as usize)?;
        if handle.0 == 0 || mirror.word.load(Ordering::Acquire) != handle.0 {
            return None;
        }
        // SAFETY: a mirror whose word was a handle's has had the address of a static word since, whichever one.
        let value = unsafe { &*mirror.source.load(Ordering::Relaxed) }.load(Ordering::Relaxed);
        let bytes = mirror.bytes.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        (mirror.word.load(Ordering::Relaxed) == handle.0).then_some(Mirrored { value, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::handle::Kind;

    #[test]
    fn only_the_handle_itself_reads_and_only_while_it_is_open() {
        static WORD: AtomicU64 = AtomicU64::new(7);
        let mirrors = Mirrors::new();
        let handle = |index, generation| Handle::pack(Kind::Cvar, index, generation);
        mirrors.open(handle(3, 1), Some(&WORD), 8);
        mirrors.open(handle(MIRRORED as u32, 1), Some(&WORD), 8);
        mirrors.open(handle(4, 1), None, 0);
        assert_eq!(mirrors.read(handle(3, 1)), Some(Mirrored { value: 7, bytes: 8 }));
        for none in [handle(3, 2), handle(4, 1), handle(5, 1), handle(MIRRORED as u32, 1), Handle(0), Handle(3)] {
            assert_eq!(mirrors.read(none), None);
        }
        mirrors.close(handle(3, 1));
        assert_eq!(mirrors.read(handle(3, 1)), None);
    }
}
