//! The bias of a lock towards one thread, which takes and releases it without a locked instruction.
//!
//! A locked instruction waits until all earlier stores of its thread have reached the cache, so it costs a call of the
//! library more than its own time. A thread that has taken the lock many times, with no other thread in between, becomes
//! the owner of a bias: the holder's word is its identity with [`BIASED`], also while it is outside. To enter, it makes the
//! count of its entries odd, and then reads the holder's word once more. To leave, it makes the count even. Another thread
//! that wants the lock claims it: it replaces the holder's word by its own identity with [`CLAIMED`], makes all threads of
//! the process execute a fence, and waits until the count is even. Either the owner's second read finds the claim, and it
//! leaves at once, or the claimer finds the count odd.
//!
//! Revoking a bias costs the claimer a system call, so the number of calls that a bias needs grows while biases are used for
//! fewer calls than that.
//! Invariant: a count is written by one thread only, ever: a thread that the system interrupts between its two reads may
//! store to its count at any later time.
//! Not here: the words of a lock without a bias (`word`), how claimers wait (`raw`).

use crate::sync::{AtomicU32, AtomicU64, Ordering, SLOTS, compiler_fence};

/// In the holder's word: the thread of the other bits is the owner of a bias, inside or outside.
pub(crate) const BIASED: u64 = 2;
/// In the holder's word: the thread of the other bits waits until the owner of a bias is outside.
pub(crate) const CLAIMED: u64 = 4;
/// The calls in turn that a bias needs at first: their locked instructions cost more than a claim.
pub(crate) const FEWEST: u32 = 256;
/// The limit of that number.
const MOST: u32 = 1 << 16;

/// The bias of a lock. Only the count of an owner is written without holding the lock.
#[derive(Debug)]
pub(crate) struct Bias {
    /// The identity of the thread that took the lock last, without a bias.
    pub(crate) last: AtomicU64,
    /// The calls in turn in which it did, since another thread has.
    pub(crate) run: AtomicU32,
    /// The calls in turn that a bias needs.
    pub(crate) needed: AtomicU32,
    /// The owner's count of entries when it got the bias.
    pub(crate) granted: AtomicU64,
    /// `None`: this lock has no biases.
    pub(crate) slots: Option<Box<[Slot; SLOTS]>>,
}

/// The count of a thread. A thread whose slot belongs to another one gets no bias.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The identity of the thread; 0: none yet. A later thread with the same identity continues with the count.
    owner: AtomicU64,
    /// Odd: the thread is inside.
    entries: AtomicU64,
}

impl Bias {
    /// For a lock with biases.
    pub(crate) fn slots() -> Option<Box<[Slot; SLOTS]>> {
        Some(Box::new(std::array::from_fn(|_| Slot { owner: AtomicU64::new(0), entries: AtomicU64::new(0) })))
    }

    /// The slot that a thread may have.
    #[inline(always)]
    fn slot(&self, thread: u64) -> Option<&Slot> {
        // The upper bits of the product depend on all bits of the address.
        let hash = thread.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.slots.as_ref().map(|slots| &slots[hash as usize % SLOTS])
    }

    /// Enters as the owner of the bias, which the holder's word named; whether the owner is inside. If not, the owner is
    /// inside already, or its bias is claimed.
    #[inline(always)]
    pub(crate) fn enter(&self, holder: &AtomicU64, owner: u64) -> bool {
        let Some(slot) = self.slot(owner) else { return false };
        // Relaxed: only this thread writes the count.
        let entries = slot.entries.load(Ordering::Relaxed);
        if !entries.is_multiple_of(2) {
            return false;
        }
        slot.entries.store(entries + 1, Ordering::Relaxed);
        // Pairs with the fence that a claimer makes all threads execute.
        compiler_fence(Ordering::SeqCst);
        // Relaxed: what the lock guards was written last by this thread, else the bias would not be its own.
        if holder.load(Ordering::Relaxed) == owner | BIASED {
            return true;
        }
        slot.entries.store(entries + 2, Ordering::Release);
        // As in `LockWord::release`: a claimer that found the count odd may sleep, and the caller looks for its wish.
        compiler_fence(Ordering::SeqCst);
        false
    }

    /// Leaves; the thread is inside as the owner of a bias.
    #[inline(always)]
    pub(crate) fn leave(&self, owner: u64) {
        if let Some(slot) = self.slot(owner) {
            let entries = slot.entries.load(Ordering::Relaxed);
            debug_assert!(!entries.is_multiple_of(2), "the thread is inside");
            // Release pairs with the Acquire in `is_outside`.
            slot.entries.store(entries + 1, Ordering::Release);
        }
    }

    /// Whether the calling thread is inside as the owner of a bias.
    #[inline(always)]
    pub(crate) fn is_inside(&self, me: u64) -> bool {
        self.slot(me).is_some_and(|slot| {
            slot.owner.load(Ordering::Relaxed) == me && !slot.entries.load(Ordering::Relaxed).is_multiple_of(2)
        })
    }

    /// Whether the owner of the bias is outside. After a claim and a fence in all threads it stays outside; the count may be odd
    /// once more for the length of an entry that fails.
    #[inline]
    pub(crate) fn is_outside(&self, owner: u64) -> bool {
        self.slot(owner).is_none_or(|slot| slot.entries.load(Ordering::Acquire).is_multiple_of(2))
    }

    /// Counts that this thread has taken the lock without a bias, `calls` times (0: a poll, which does not count);
    /// whether it may have one now. The caller holds the lock.
    #[inline(always)]
    pub(crate) fn count(&self, me: u64, calls: u32) -> bool {
        if self.last.load(Ordering::Relaxed) != me {
            self.last.store(me, Ordering::Relaxed);
            self.run.store(0, Ordering::Relaxed);
            return false;
        }
        let run = self.run.load(Ordering::Relaxed).wrapping_add(calls);
        self.run.store(run, Ordering::Relaxed);
        run >= self.needed.load(Ordering::Relaxed)
    }

    /// Makes the thread that holds the lock the owner of a bias, inside. Not if its slot belongs to another thread, or
    /// the lock has no biases.
    #[cold]
    pub(crate) fn grant(&self, holder: &AtomicU64, me: u64) {
        self.run.store(0, Ordering::Relaxed);
        let Some(slot) = self.slot(me) else { return };
        // The owner of a slot changes once, under the lock.
        match slot.owner.load(Ordering::Relaxed) {
            0 => slot.owner.store(me, Ordering::Relaxed),
            owner if owner != me => return,
            _ => {}
        }
        let entries = slot.entries.load(Ordering::Relaxed);
        self.granted.store(entries, Ordering::Relaxed);
        slot.entries.store(entries | 1, Ordering::Relaxed);
        // Release pairs with the Acquire of a claim, which therefore finds the count odd.
        holder.store(me | BIASED, Ordering::Release);
    }

    /// The owner of the bias that a holder's word names, if it is another thread than `me` and outside.
    #[inline]
    pub(crate) fn owner_outside(&self, seen: u64, me: u64) -> Option<u64> {
        let owner = seen & !BIASED;
        (seen & BIASED != 0 && owner != me && self.is_outside(owner)).then_some(owner)
    }

    /// Claims the lock from the owner of a bias, another thread; whether it still had the bias. It may be inside until it is seen
    /// outside, after a fence in all threads.
    #[inline]
    pub(crate) fn claim(&self, holder: &AtomicU64, me: u64, owner: u64) -> bool {
        holder.compare_exchange(owner | BIASED, me | CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// The claimer has seen the owner outside, and takes the lock.
    pub(crate) fn revoke(&self, holder: &AtomicU64, me: u64, owner: u64) {
        let entries = self.slot(owner).map_or(0, |slot| slot.entries.load(Ordering::Relaxed));
        let calls = entries.wrapping_sub(self.granted.load(Ordering::Relaxed)) / 2;
        let needed = self.needed.load(Ordering::Relaxed);
        let next = if calls < u64::from(needed) { needed.saturating_mul(2) } else { needed / 2 };
        self.needed.store(next.clamp(FEWEST.min(needed), MOST), Ordering::Relaxed);
        self.last.store(me, Ordering::Relaxed);
        self.run.store(0, Ordering::Relaxed);
        holder.store(me, Ordering::Relaxed);
    }

    /// The claimer gives the bias back to its owner.
    pub(crate) fn return_to(&self, holder: &AtomicU64, owner: u64) {
        // Release: a later claimer's fence and count order everything else.
        holder.store(owner | BIASED, Ordering::Release);
    }
}
