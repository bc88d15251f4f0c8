//! How threads wait for a lock: bursts of one thread, turns of the others.
//!
//! A hand-over moves all state behind the lock from one core to the other, which takes longer than a call. So a thread
//! that finds the lock held leaves it to the holder, who takes it again and again, for [`PATIENCE`]. Then it demands its
//! turn: the next release waits until the lock has been taken. If that takes long, because the holder copies or does
//! not run, the thread sleeps. A holder that only polls gives way to a waiting thread at once ([`RawLock::give_way`]).
//! A waiting thread reads a line of its own (`Queue`), so that it does not slow down the holder.
//! The owner of a bias (`bias`) is such a holder too: a thread that waits looks whether it is outside, and claims the lock.
//! Not here: the words of the protocol, which loom checks (`word`, `bias`).

use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use super::bias::{BIASED, Bias, CLAIMED, FEWEST};
use super::thread_id::this_thread;
use super::word::{ASLEEP, Attempt, FREE, LEAVE, LockWord, TURN};

/// How long a thread leaves the lock to the holder before it demands its turn.
const PATIENCE: Duration = Duration::from_micros(200);
/// How long it waits for its turn before it sleeps.
const TURN_WAIT: Duration = Duration::from_micros(20);
/// The pause before the first attempt; each later pause is four times as long, because each attempt may end a burst.
const FIRST_PAUSE: Duration = Duration::from_micros(1);
/// The bound of a sleep, because not every kernel makes all threads execute a fence.
static LONGEST_SLEEP: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
/// The first pause of a thread that polls and finds the lock held: each attempt may end a burst of another thread's calls
/// (measured with two threads in each of 2 processes on 16 cores: 3.5 million messages a second without pauses, 4.8 with;
/// with four threads a half round trip of 8.3 and 4.0 us).
const FIRST_POLL_PAUSE: Duration = Duration::from_nanos(500);
/// The limit of these pauses, each twice as long as the one before.
const LONGEST_POLL_PAUSE: Duration = Duration::from_micros(16);
/// How often it then looks whether the lock is free before it waits as others do: about a microsecond.
const CLOSE_LOOKS: u32 = 50;
/// How often a release looks whether the lock has been taken by a thread whose turn it is.
const LOOKS: u32 = 64;

/// A lock for which threads spin, then sleep.
#[derive(Debug)]
pub(super) struct RawLock {
    word: LockWord,
    queue: Queue,
}

/// What waiting threads read and write: apart from the holder's line.
#[derive(Debug)]
#[repr(align(128))] // pairs of lines are fetched together
struct Queue {
    /// Number of threads that wait and do not sleep.
    waiting: AtomicU32,
    /// Number of threads that sleep.
    sleeping: AtomicU32,
    /// Incremented when a thread may take its turn.
    turns: AtomicU32,
    /// Incremented when the owner of a bias may have left. Not the wishes: a wish of the owner, who waits too by then, would
    /// give them the value of before, and the thread that claims the lock would sleep on.
    left: AtomicU32,
}

impl RawLock {
    /// A free lock without biases.
    pub(super) const fn new() -> RawLock {
        RawLock {
            word: LockWord {
                holder: AtomicU64::new(FREE),
                wishes: AtomicU32::new(0),
                bias: Bias {
                    last: AtomicU64::new(0),
                    run: AtomicU32::new(0),
                    needed: AtomicU32::new(FEWEST),
                    granted: AtomicU64::new(0),
                    slots: None,
                },
            },
            queue: Queue {
                waiting: AtomicU32::new(0),
                sleeping: AtomicU32::new(0),
                turns: AtomicU32::new(0),
                left: AtomicU32::new(0),
            },
        }
    }

    /// A free lock with biases, where the kernel makes all threads execute a fence.
    pub(super) fn with_biases() -> RawLock {
        let mut lock = RawLock::new();
        if !cfg!(miri) && all_threads_fence() {
            lock.word.bias.slots = Bias::slots();
        }
        lock
    }

    #[inline]
    pub(super) fn take(&self) {
        if !self.word.take_alone(this_thread()) {
            self.take_among_threads();
        }
    }

    /// As [`RawLock::take`], for a thread that polls or has slept: it tries again soon,
    /// and so may end a burst.
    #[inline]
    pub(super) fn take_soon(&self) {
        if !self.word.take_alone(this_thread()) {
            self.take_soon_among_threads();
        }
    }

    /// Not inlined: nearly every function of the library takes the lock.
    #[inline(never)]
    fn take_among_threads(&self) {
        if !self.word.try_take(this_thread(), 1) {
            self.take_slow();
        }
    }

    #[inline(never)]
    fn take_soon_among_threads(&self) {
        if !self.word.try_take(this_thread(), 0) {
            self.take_soon_slow();
        }
    }

    pub(super) fn try_take(&self) -> bool {
        let me = this_thread();
        self.word.take_alone(me) || self.word.try_take(me, 1) || self.try_claim(me)
    }

    /// Takes the lock if it is free and the process has one thread.
    #[inline(always)]
    pub(super) fn take_alone(&self) -> bool {
        self.word.take_alone(this_thread())
    }

    /// Releases the lock that [`RawLock::take_alone`] took, if no bias was granted since. A thread that was created meanwhile, and
    /// sleeps for the lock, finds it free after a millisecond.
    #[inline(always)]
    pub(super) fn release_alone(&self) {
        debug_assert_eq!(self.word.holder.load(Ordering::Relaxed), this_thread(), "taken alone");
        self.word.holder.store(FREE, Ordering::Release);
    }

    /// As [`RawLock::try_take`], but not from the owner of a bias, and without a call of a function, so that a short way keeps
    /// no registers for it.
    #[inline(always)]
    pub(super) fn try_take_quickly(&self) -> bool {
        self.word.attempt(this_thread(), 1) != Attempt::Failed
    }

    #[inline]
    pub(super) fn is_held_by(&self, thread: u64) -> bool {
        self.word.is_held_by(thread)
    }

    #[inline]
    pub(super) fn release(&self) {
        if !self.word.release() {
            self.release_rest();
        }
    }

    /// Releases the lock; wishes stay for the next release.
    #[inline(always)]
    pub(super) fn release_to_retake(&self) {
        if !self.word.release() {
            self.word.release_rest(this_thread());
        }
    }

    /// The end of a release by the owner of a bias, or with wishes. Not inlined, as `take_among_threads`.
    #[inline(never)]
    fn release_rest(&self) {
        if self.word.release_rest(this_thread()) {
            self.serve();
        }
    }

    /// Whether a thread waits that does not sleep; may be out of date.
    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        self.queue.waiting.load(Ordering::Relaxed) != 0
    }

    /// Whether the lock has biases at all.
    #[cfg(test)]
    pub(super) fn has_biases(&self) -> bool {
        self.word.bias.slots.is_some()
    }

    /// Whether a thread has the bias; may be out of date.
    #[cfg(test)]
    pub(super) fn is_biased(&self) -> bool {
        self.word.holder.load(Ordering::Relaxed) & BIASED != 0
    }

    /// Whether a thread sleeps; may be out of date.
    #[cfg(test)]
    pub(super) fn sleeps(&self) -> bool {
        self.queue.sleeping.load(Ordering::Relaxed) != 0
    }

    /// Releases the lock; a thread that waits for it and runs takes it before this returns.
    #[inline]
    pub(super) fn give_way(&self) {
        self.release();
        if self.is_awaited() {
            self.pass_on();
        }
    }

    /// After a release: wakes a sleeper, and waits until a thread that demands its turn has taken the lock.
    #[cold]
    fn serve(&self) {
        let wishes = self.word.take_wishes();
        if wishes & LEAVE != 0 {
            self.queue.left.fetch_add(1, Ordering::SeqCst);
            wake_one(&self.queue.left);
        }
        if wishes & ASLEEP != 0 {
            wake_one(&self.word.wishes);
        }
        if wishes & TURN != 0 && self.is_awaited() {
            self.pass_on();
        }
    }

    /// Waits briefly until a thread has taken the lock, which is free, or whose owner of a bias is outside. That thread may
    /// not be running.
    #[cold]
    fn pass_on(&self) {
        self.queue.turns.fetch_add(1, Ordering::Relaxed);
        for _ in 0..LOOKS {
            let holder = self.word.holder.load(Ordering::Relaxed);
            if holder != FREE && holder & BIASED == 0 {
                return;
            }
            spin_loop();
        }
    }

    /// Waits for the holder.
    #[cold]
    fn take_slow(&self) {
        let me = self.begin_wait();
        if !(has_other_cores() && self.take_patiently(me)) {
            self.take_asleep(me, true);
        }
        self.queue.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Pauses a few times, then looks closely for a while, then sleeps: where there are more threads than cores, the holder
    /// may need this one.
    #[cold]
    fn take_soon_slow(&self) {
        let me = self.begin_wait();
        let look = |_| {
            spin_loop();
            self.take_if_free(me)
        };
        if !(has_other_cores() && self.take_in_a_pause(me) || (0..CLOSE_LOOKS).any(look)) {
            self.take_asleep(me, false);
        }
        self.queue.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// The identity of this thread, which waits from now on.
    fn begin_wait(&self) -> u64 {
        let me = this_thread();
        assert!(
            !self.is_held_by(me),
            "this thread called the library from within a call of the library (a signal handler or a callback that \
             must not call it): waiting for that call would never end"
        );
        self.serve_claim();
        self.queue.waiting.fetch_add(1, Ordering::Relaxed);
        me
    }

    /// Wakes the thread that claims the lock, after an attempt that failed: this thread may be the owner of the bias, whose
    /// count was odd for the length of its attempt, and the claimer may sleep for it.
    fn serve_claim(&self) {
        if self.word.holder.load(Ordering::Relaxed) & CLAIMED != 0 {
            self.serve();
        }
    }

    /// Attempts to take the lock in longer and longer intervals; whether it did before the patience was over.
    fn take_patiently(&self, me: u64) -> bool {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        while let Some(left) = PATIENCE.checked_sub(began.elapsed()) {
            self.await_turn(pause.min(left));
            if self.take_if_free(me) {
                return true;
            }
            pause *= 4;
        }
        false
    }

    /// Attempts to take the lock after pauses that double; whether it did.
    fn take_in_a_pause(&self, me: u64) -> bool {
        let mut pause = FIRST_POLL_PAUSE;
        while pause < LONGEST_POLL_PAUSE {
            self.await_turn(pause);
            if self.take_if_free(me) {
                return true;
            }
            pause *= 2;
        }
        false
    }

    /// Sleeps until it takes the lock; demands a turn before each sleep, before the first one if `demand`.
    fn take_asleep(&self, me: u64, demand: bool) {
        let mut slept = false;
        loop {
            if (demand || slept) && has_other_cores() {
                self.word.wish(TURN);
                self.await_turn(TURN_WAIT);
                if self.take_if_free(me) {
                    break;
                }
            }
            let wishes = self.word.wish(ASLEEP);
            all_threads_fence();
            if self.take_if_free(me) {
                break;
            }
            slept = true;
            self.sleep(&self.word.wishes, wishes);
            if self.take_if_free(me) {
                break;
            }
        }
        if slept && self.queue.sleeping.load(Ordering::Relaxed) != 0 {
            // The wish of all sleepers has been taken, and only one was woken.
            self.word.wish(ASLEEP);
        }
    }

    /// Sleeps while the word has this value.
    fn sleep(&self, word: &AtomicU32, value: u32) {
        self.queue.sleeping.fetch_add(1, Ordering::Relaxed);
        self.queue.waiting.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the word outlives the call, and the kernel only compares it.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                value,
                &raw const LONGEST_SLEEP,
            );
        }
        self.queue.waiting.fetch_add(1, Ordering::Relaxed);
        self.queue.sleeping.fetch_sub(1, Ordering::Relaxed);
    }

    /// Waits until a turn begins, at most for so long.
    fn await_turn(&self, longest: Duration) {
        let seen = self.queue.turns.load(Ordering::Relaxed);
        let began = Instant::now();
        while began.elapsed() < longest {
            for _ in 0..8 {
                if self.queue.turns.load(Ordering::Relaxed) != seen {
                    return;
                }
                spin_loop();
            }
        }
    }

    /// Takes the lock if it is free, or if the owner of its bias is this thread or outside.
    fn take_if_free(&self, me: u64) -> bool {
        let holder = self.word.holder.load(Ordering::Relaxed);
        if holder == FREE || holder == me | BIASED {
            return self.word.try_take(me, 0);
        }
        self.word.bias.owner_outside(holder, me).is_some_and(|owner| self.claim(me, owner))
    }

    /// Claims the lock from this owner of its bias and takes it once the owner is outside; whether it still had the bias.
    fn claim(&self, me: u64, owner: u64) -> bool {
        let (word, bias) = (&self.word, &self.word.bias);
        if !bias.claim(&word.holder, me, owner) {
            return false;
        }
        fence_of_claim();
        let began = Instant::now();
        while !bias.is_outside(owner) {
            if has_other_cores() && began.elapsed() < TURN_WAIT {
                spin_loop();
                continue;
            }
            let left = self.queue.left.load(Ordering::SeqCst);
            word.wish(LEAVE);
            all_threads_fence();
            if !bias.is_outside(owner) {
                self.sleep(&self.queue.left, left);
            }
        }
        bias.revoke(&word.holder, me, owner);
        true
    }

    /// As [`RawLock::claim`], but gives the bias back if its owner is inside.
    #[cold]
    fn try_claim(&self, me: u64) -> bool {
        let (word, bias) = (&self.word, &self.word.bias);
        let owner = bias.owner_outside(word.holder.load(Ordering::Relaxed), me);
        let Some(owner) = owner.filter(|owner| bias.claim(&word.holder, me, *owner)) else {
            self.serve_claim();
            return false;
        };
        fence_of_claim();
        let outside = bias.is_outside(owner);
        if outside {
            bias.revoke(&word.holder, me, owner);
        } else {
            bias.return_to(&word.holder, owner);
            // Other threads, also the owner, may have waited for this one.
            self.serve();
        }
        outside
    }
}

/// Wakes one thread that sleeps on the word.
fn wake_one(word: &AtomicU32) {
    // SAFETY: the kernel only compares the address and does not access its memory.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}

/// Whether the holder can run while this thread spins.
fn has_other_cores() -> bool {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from)) > 1
}

/// The fence of a claim. The kernel supported it when the lock was made. If it refuses now (a filter of system calls), this thread
/// sleeps for much longer than a store of another thread takes to be seen.
fn fence_of_claim() {
    if !all_threads_fence() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Makes every running thread of the process execute a fence if the kernel supports that; otherwise only this thread
/// does. Whether the kernel does.
fn all_threads_fence() -> bool {
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    fence(Ordering::SeqCst);
    // SAFETY: a system call without pointers.
    let membarrier = |command: libc::c_int| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 };
    // The kernel rejects the command until the process has registered.
    membarrier(PRIVATE_EXPEDITED) || membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED)
}
