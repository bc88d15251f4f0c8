//! Lists with an entry for each process: their memory is used again by the next call of the thread, so that calls do not
//! allocate any.
//!
//! Invariant: a list that is kept is empty.
//! Not here: working memory (`scratch`).

use std::cell::Cell;
use std::ops::Deref;
use std::thread::LocalKey;

use mpi_datatype::{RecvBuf, SendBuf};

use crate::steps::{Side, Span};

/// Longest list whose memory is kept.
const MOST_KEPT: usize = 4096;

/// Memory for lists: two calls may overlap, where one is a part of another.
type Kept<T> = Cell<[Vec<T>; 2]>;

thread_local! {
    static SENDS: Kept<SendBuf<'static>> = const { Cell::new([Vec::new(), Vec::new()]) };
    static RECVS: Kept<RecvBuf<'static>> = const { Cell::new([Vec::new(), Vec::new()]) };
    static RECEIVES: Kept<Receive> = const { Cell::new([Vec::new(), Vec::new()]) };
    static SIZES: Kept<u64> = const { Cell::new([Vec::new(), Vec::new()]) };
}

/// An empty list of buffers, for [`Buffers::Each`](crate::Buffers::Each).
pub fn send_list<'b>() -> Vec<SendBuf<'b>> {
    take(&SENDS)
}

/// As [`send_list`].
pub fn recv_list<'b>() -> Vec<RecvBuf<'b>> {
    take(&RECVS)
}

/// A receive that is not started yet.
pub(crate) type Receive = (Side, u32, Span);

/// An empty list of receives.
pub(crate) fn receive_list() -> Vec<Receive> {
    take(&RECEIVES)
}

/// Keeps the memory of a list.
#[cold]
pub(crate) fn keep_receives(list: Vec<Receive>) {
    keep(&RECEIVES, emptied(list));
}

/// Keeps the memory of a list.
#[cold]
pub(crate) fn keep_sends(list: Vec<SendBuf<'_>>) {
    keep(&SENDS, emptied(list));
}

/// As [`keep_sends`].
#[cold]
pub(crate) fn keep_recvs(list: Vec<RecvBuf<'_>>) {
    keep(&RECVS, emptied(list));
}

#[cold]
#[inline(never)]
fn keep_sizes(list: Vec<u64>) {
    keep(&SIZES, emptied(list));
}

/// Sizes, or numbers of elements, of the blocks of all processes.
#[derive(Debug, Clone)]
pub struct Sizes(Vec<u64>);

impl FromIterator<u64> for Sizes {
    fn from_iter<I: IntoIterator<Item = u64>>(sizes: I) -> Sizes {
        let mut list = take(&SIZES);
        list.extend(sizes);
        Sizes(list)
    }
}

impl Deref for Sizes {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl Default for Sizes {
    /// None.
    #[inline]
    fn default() -> Sizes {
        Sizes(Vec::new())
    }
}

impl Drop for Sizes {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0.capacity() > 0 {
            keep_sizes(std::mem::take(&mut self.0));
        }
    }
}

/// The same memory, for entries that borrow something else.
fn emptied<T, U>(mut list: Vec<T>) -> Vec<U> {
    list.clear();
    // The standard library collects into the memory that it iterates over.
    list.into_iter().filter_map(|_| None).collect()
}

fn take<T>(kept: &'static LocalKey<Kept<T>>) -> Vec<T> {
    kept.try_with(|kept| {
        let [first, second] = kept.take();
        kept.set([second, Vec::new()]);
        first
    })
    .unwrap_or_default()
}

fn keep<T>(kept: &'static LocalKey<Kept<T>>, list: Vec<T>) {
    if list.capacity() > MOST_KEPT {
        return;
    }
    // At the end of a thread the memory is freed.
    let _ = kept.try_with(|kept| {
        let [first, _] = kept.take();
        kept.set([list, first]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_the_memory_of_those_before() {
        let data = [1u8, 2, 3];
        let mut list = send_list();
        list.extend((0..100).map(|_| SendBuf::from_slice(&data)));
        let address = list.as_ptr() as usize;
        keep_sends(list);
        let again = send_list();
        assert!(again.is_empty() && again.capacity() >= 100);
        assert_eq!(again.as_ptr() as usize, address);

        let address = (0..50).collect::<Sizes>().as_ptr() as usize;
        let sizes: Sizes = (0..40).collect();
        assert_eq!(sizes.as_ptr() as usize, address);
        assert_eq!(sizes[39], 39);
    }

    #[test]
    fn two_lists_at_once_are_both_kept() {
        let addresses = || {
            let (one, two): (Sizes, Sizes) = ((0..9).collect(), (0..9).collect());
            let mut both = [one.as_ptr() as usize, two.as_ptr() as usize];
            both.sort_unstable();
            both
        };
        assert_eq!(addresses(), addresses());
    }
}
