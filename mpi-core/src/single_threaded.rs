//! Compare-and-swap that costs no bus lock while the process has one thread.
//!
//! With one thread only its own signal handlers can come between, and a signal never divides an instruction: without
//! its lock prefix the same instruction does, at a fifth of the time. The C library says whether there is one thread
//! (`__libc_single_threaded`, glibc 2.32) and takes it back before the second one runs; it need never say it again.
//! Where it does not say, or on other processors, every step is the usual one.
//!
//! Invariant: for words that no other process writes.
//! Not here: memory orders weaker than SeqCst; one thread sees its own steps in order anyway.
#![allow(unsafe_code)] // the C library's flag is found by its name, and the instruction without the prefix written out

use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};

/// What the flag says where the C library has none.
static UNKNOWN: AtomicU8 = AtomicU8::new(0);
static FLAG: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const UNKNOWN).cast_mut());

/// Asks the C library for its flag. Until this was called, every step takes the bus lock. Thread-safe; not for signal
/// handlers.
pub fn find_flag() {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: a lookup by name; the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
        if !found.is_null() {
            // The flag is a char that the C library keeps for as long as the process lives.
            FLAG.store(found.cast(), Ordering::Relaxed);
        }
    }
}

/// Whether the process certainly has one thread. It then has one until this thread creates another.
/// Async-signal-safe.
#[inline(always)]
pub fn is_single_threaded() -> bool {
    // SAFETY: either the C library's flag or `UNKNOWN`, both static. It changes in the only thread there is, before
    // another one exists, so a thread that reads true is the only one.
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

/// # Safety
/// No other thread uses the word meanwhile.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn swap_single_threaded(word: &AtomicU64, current: u64, new: u64) -> Result<u64, u64> {
    let mut seen = current;
    let swapped: u8;
    // SAFETY: the word lives and may be written through a shared reference; by the caller's promise only signal
    // handlers can come between, and to them one instruction is whole. The compiler takes it for any access of memory.
    unsafe {
        core::arch::asm!(
            "cmpxchg qword ptr [{at}], {new}",
            "sete {swapped}",
            at = in(reg) word.as_ptr(),
            new = in(reg) new,
            swapped = lateout(reg_byte) swapped,
            inout("rax") seen,
            options(nostack),
        );
    }
    if swapped != 0 { Ok(seen) } else { Err(seen) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_swap_exactly_when_the_word_is_as_expected() {
        let usual =
            |word: &AtomicU64, current, new| word.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: the words are this thread's.
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

    #[test]
    fn beside_another_thread_nobody_is_alone() {
        find_flag();
        std::thread::scope(|scope| {
            let beside = scope.spawn(is_single_threaded);
            assert!(!beside.join().expect("no panic"));
        });
    }
}
