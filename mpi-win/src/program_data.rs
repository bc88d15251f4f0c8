//! Vectors of the program that a window owns, without their type.
//!
//! Invariant: the vector is freed only after [`Owned::end`], when no process accesses it any more; otherwise it is
//! leaked.
//! Not here: the windows that own one (`owned`), attaching vectors (`owned_attach`).
#![allow(unsafe_code)] // keeps a vector by its raw parts, because other processes change its elements

use std::any::Any;
use std::fmt;
use std::mem::ManuallyDrop;

use mpi_datatype::Element;

/// A vector by its raw parts: no reference to its elements exists while other processes may access them.
pub(crate) struct RawVec<T: Element> {
    start: *mut T,
    length: usize,
    capacity: usize,
}

// SAFETY: it owns its elements, which are plain.
unsafe impl<T: Element> Send for RawVec<T> {}
// SAFETY: a shared reference gives no access to the elements.
unsafe impl<T: Element> Sync for RawVec<T> {}

impl<T: Element> RawVec<T> {
    pub fn new(data: Vec<T>) -> RawVec<T> {
        let mut data = ManuallyDrop::new(data);
        RawVec { start: data.as_mut_ptr(), length: data.len(), capacity: data.capacity() }
    }

    /// The address of its elements, exposed, and their number.
    pub fn place(&self) -> (usize, usize) {
        (self.start.expose_provenance(), self.length)
    }

    /// The vector.
    pub fn into_vec(self) -> Vec<T> {
        let raw = ManuallyDrop::new(self);
        // SAFETY: these are the parts of a vector that this value owns, and it gives it away once.
        unsafe { Vec::from_raw_parts(raw.start, raw.length, raw.capacity) }
    }
}

impl<T: Element> Drop for RawVec<T> {
    fn drop(&mut self) {
        // SAFETY: as in `into_vec`, which does not drop the value.
        drop(unsafe { Vec::from_raw_parts(self.start, self.length, self.capacity) });
    }
}

/// What a window owns of the program's memory, and whether other processes may still access it.
#[derive(Default)]
pub(crate) struct Owned {
    data: Option<Box<dyn Any + Send + Sync>>,
    /// The vectors that are attached, with the addresses of their elements.
    attached: Vec<(usize, Box<dyn Any + Send + Sync>)>,
    ended: bool,
}

impl Owned {
    /// Takes a vector.
    pub fn keep<T: Element>(&mut self, data: RawVec<T>) {
        self.data = Some(Box::new(data));
    }

    /// The vector, if its elements are of this type and no process accesses it any more.
    pub fn take<T: Element>(&mut self) -> Option<RawVec<T>> {
        let ended = self.ended;
        let data = self.data.take_if(|data| ended && data.is::<RawVec<T>>())?;
        data.downcast().ok().map(|data| *data)
    }

    /// Takes a vector that is attached, whose elements begin at `base`.
    pub fn attach<T: Element>(&mut self, base: usize, data: RawVec<T>) {
        self.attached.push((base, Box::new(data)));
    }

    /// Whether a vector of these elements is attached that begins at `base`.
    pub fn has<T: Element>(&self, base: usize) -> bool {
        self.attached.iter().any(|(at, data)| *at == base && data.is::<RawVec<T>>())
    }

    /// The vector that begins at `base`. The caller has made sure that no process accesses it any more.
    pub fn detach<T: Element>(&mut self, base: usize) -> Option<Vec<T>> {
        let place = self.attached.iter().position(|(at, data)| *at == base && data.is::<RawVec<T>>())?;
        self.attached.swap_remove(place).1.downcast::<RawVec<T>>().ok().map(|data| data.into_vec())
    }

    /// No process accesses the memory from now on.
    pub fn end(&mut self) {
        self.ended = true;
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.ended {
            std::mem::forget((self.data.take(), std::mem::take(&mut self.attached)));
        }
    }
}

impl fmt::Debug for Owned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned")
            .field("data", &self.data.is_some())
            .field("attached", &self.attached.len())
            .field("ended", &self.ended)
            .finish()
    }
}
