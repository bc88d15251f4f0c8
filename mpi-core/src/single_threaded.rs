//! Compare-and-swap that costs no bus lock while the process has one thread.
//!
//! In a process with one thread, only that thread's signal handlers can interrupt an operation, and a signal never
//! divides an instruction. So the same instruction without its lock prefix is sufficient, in a fifth of the time. The C
//! library reports whether the process has one thread (`__libc_single_threaded`, glibc 2.32). It clears this flag
//! before the second thread starts and need not set it again. Without the flag, or on other processors, every operation
//! is the usual atomic one.
//!
//! Invariant: no other process writes the words.
//! Not here: memory orders weaker than SeqCst; a single thread observes its own operations in program order.
#![allow(unsafe_code)] // looks up the C library's flag by name, and executes inline assembly

use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};

/// The flag if the C library has none: several threads are possible.
static UNKNOWN: AtomicU8 = AtomicU8::new(0);
static FLAG: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const UNKNOWN).cast_mut());

/// Looks up the flag of the C library. Before the first call, every operation takes the bus lock. Thread-safe; not
/// async-signal-safe.
pub fn find_flag() {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
        if !found.is_null() {
            // The flag is a char in static memory of the C library.
            FLAG.store(found.cast(), Ordering::Relaxed);
        }
    }
}

/// Whether the process certainly has one thread. It then has one until this thread creates another.
/// Async-signal-safe.
#[inline(always)]
pub fn is_single_threaded() -> bool {
    // SAFETY: the address is that of the C library's flag or of `UNKNOWN`, both static. The only thread clears the flag
    // before another thread exists, so a thread that reads true is the only one.
    unsafe { &*FLAG.load(Ordering::Relaxed) }.load(Ordering::Relaxed) != 0
}

/// As `compare_exchange` of the atomic, SeqCst. Thread-safe and async-signal-safe.
#[inline(always)]
pub fn compare_exchange(word: &AtomicU64, current: u64, new: u64) -> Result<u64, u64> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if is_single_threaded() {
        // SAFETY: there is no other thread.
        return unsafe { swap_single_threaded(word, current, new) };
    }
    word.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst)
}

/// A swap of a pair of words, with this prefix of the instruction; whether it was done. The pair is aligned to 16 bytes
/// and has interior mutability, and the compiler assumes that the assembly accesses any memory. Without a lock no other
/// thread uses the pair, and to signal handlers one instruction is atomic.
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! swap_pair {
    ($prefix:literal, $pair:expr, $current:expr, $new:expr) => {{
        let done: u8;
        let ((first, second), (new_first, new_second)) = ($current, $new);
        // The compiler keeps `rbx` for itself.
        core::arch::asm!(
            "xchg rbx, {new_first}",
            concat!($prefix, "cmpxchg16b xmmword ptr [rdi]"),
            "mov rbx, {new_first}",
            "sete {done}",
            new_first = inout(reg) new_first => _,
            done = out(reg_byte) done,
            // Named, because it could be `rbx` otherwise.
            in("rdi") std::ptr::from_ref::<Pair>($pair),
            in("rcx") new_second,
            inout("rax") first => _,
            inout("rdx") second => _,
            options(nostack),
        );
        done != 0
    }};
}

/// Two words that are swapped together ([`PairSwap`]).
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Pair {
    /// The first word.
    pub first: AtomicU64,
    /// The second one.
    pub second: AtomicU64,
}

impl Pair {
    /// A pair of these values.
    pub const fn new(first: u64, second: u64) -> Pair {
        Pair { first: AtomicU64::new(first), second: AtomicU64::new(second) }
    }
}

/// The processor can swap pairs.
#[derive(Debug, Clone, Copy)]
pub struct PairSwap(());

impl PairSwap {
    /// `None` if the processor cannot. Async-signal-safe.
    #[inline(always)]
    pub fn supported() -> Option<PairSwap> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if std::arch::is_x86_feature_detected!("cmpxchg16b") {
            return Some(PairSwap(()));
        }
        None
    }

    /// Stores both words of `new` if those of the pair are `current`, SeqCst; whether it did. To a load of one of them
    /// it is one store. Thread-safe and async-signal-safe.
    #[inline(always)]
    pub fn compare_exchange(self, pair: &Pair, current: (u64, u64), new: (u64, u64)) -> bool {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: the processor has the instruction, and in the first case there is no other thread.
        return unsafe {
            match is_single_threaded() {
                true => swap_pair!("", pair, current, new),
                false => swap_pair!("lock ", pair, current, new),
            }
        };
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        {
            let _ = (pair, current, new);
            unreachable!("no value of this type is made")
        }
    }
}

/// # Safety
/// No other thread uses the word meanwhile.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn swap_single_threaded(word: &AtomicU64, current: u64, new: u64) -> Result<u64, u64> {
    let mut seen = current;
    // SAFETY: the word is valid and has interior mutability. By the caller's promise only signal handlers can
    // interrupt, and to them one instruction is atomic. The compiler assumes that the assembly accesses any memory.
    unsafe {
        core::arch::asm!(
            "cmpxchg qword ptr [{at}], {new}",
            at = in(reg) word.as_ptr(),
            new = in(reg) new,
            inout("rax") seen,
            options(nostack),
        );
    }
    // The instruction stores the word's value in `rax` exactly if that is another one.
    if seen == current { Ok(seen) } else { Err(seen) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_swap_exactly_when_the_word_is_as_expected() {
        let usual =
            |word: &AtomicU64, current, new| word.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: only this thread uses the words.
        let alone = |word: &AtomicU64, current, new| unsafe { swap_single_threaded(word, current, new) };
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let alone = usual;
        for swap in [&usual as &dyn Fn(&AtomicU64, u64, u64) -> Result<u64, u64>, &alone] {
            let word = AtomicU64::new(7);
            assert_eq!(swap(&word, 8, 9), Err(7));
            assert_eq!(swap(&word, 7, u64::MAX), Ok(7));
            assert_eq!(swap(&word, 0, 1), Err(u64::MAX));
            assert_eq!(word.into_inner(), u64::MAX);
        }
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[test]
    fn pairs_are_swapped_exactly_when_both_words_are_as_expected() {
        let swap = PairSwap::supported().expect("the processors of today can");
        // SAFETY: only this thread uses the pair.
        let locked =
            |pair: &Pair, current: (u64, u64), new: (u64, u64)| unsafe { swap_pair!("lock ", pair, current, new) };
        // SAFETY: as above.
        let alone = |pair: &Pair, current: (u64, u64), new: (u64, u64)| unsafe { swap_pair!("", pair, current, new) };
        let usual = |pair: &Pair, current, new| swap.compare_exchange(pair, current, new);
        type Swap<'s> = &'s dyn Fn(&Pair, (u64, u64), (u64, u64)) -> bool;
        for swap in [&locked as Swap<'_>, &alone, &usual] {
            let pair = Pair::new(7, 8);
            for wrong in [(7, 7), (8, 8), (8, 7)] {
                assert!(!swap(&pair, wrong, (1, 2)));
            }
            assert!(swap(&pair, (7, 8), (u64::MAX, 3)));
            assert_eq!((pair.first.into_inner(), pair.second.into_inner()), (u64::MAX, 3));
        }
    }

    #[test]
    fn beside_another_thread_no_thread_is_alone() {
        find_flag();
        std::thread::scope(|scope| {
            let beside = scope.spawn(is_single_threaded);
            assert!(!beside.join().expect("no panic"));
        });
    }
}
