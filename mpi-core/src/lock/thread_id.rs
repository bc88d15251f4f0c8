//! The identity of the calling thread as one word, in one instruction.
//!
//! Invariant: the word is odd, its bits 1 to 3 are 0, and no two threads that exist at the same time have the same word.

/// The calling thread's identity. Async-signal-safe.
#[inline(always)]
pub(super) fn this_thread() -> u64 {
    thread_pointer() | 1
}

/// The address of the thread's control block, which is aligned to at least 16 bytes.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
#[inline(always)]
fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: in the x86-64 ABI of thread-local storage, `fs` points to the control block, whose first word is its own
    // address; the address does not change while the thread exists.
    unsafe {
        core::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(pure, nomem, nostack, preserves_flags));
    }
    pointer
}

/// The address of the thread's control block, which is aligned to at least 16 bytes.
#[cfg(all(target_os = "linux", target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: reads the register that the aarch64 ABI reserves for the address of thread-local storage.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags));
    }
    pointer
}

/// The address of a thread-local variable.
#[cfg(not(all(
    target_os = "linux",
    any(all(target_arch = "x86_64", target_pointer_width = "64"), target_arch = "aarch64"),
    not(miri)
)))]
fn thread_pointer() -> u64 {
    #[repr(align(16))]
    struct Place(#[allow(dead_code)] u64); // has an address of its own
    thread_local!(static HERE: Place = const { Place(0) });
    HERE.with(|here| std::ptr::from_ref(here).addr() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_one_identity_and_shares_it_with_no_other() {
        let here = this_thread();
        let other = std::thread::scope(|scope| scope.spawn(this_thread).join().expect("no panic"));
        assert!(here == this_thread() && here != other && here % 16 == 1 && other % 16 == 1);
    }
}
