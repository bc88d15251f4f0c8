//! `MPI_T_pvar_read`: from a handle word to a value in fourteen instructions.
//!
//! On x86-64 they are written in assembly, because the compiler compares no atomic word in memory, nor returns the
//! result of a comparison. The state, the source and the certificate of a slot are loaded in this order, which the
//! processor keeps. For words that calls have returned, the certificate then is that of the state, in this session, of this
//! handle exactly if the slot was this handle's and had this state when both were loaded (`slot`), so that the source in
//! between belongs to it. All
//! addresses are valid whatever the slot contains: those of sources are relative to the table, and of static memory.
//!
//! Invariant: no lock, no allocation, no system call.
//! Not here: the handles that take more instructions (`access`), the table of slots (`table`).
#![allow(unsafe_code)] // sources are found through pointers, values are stored in callers' buffers

use std::ffi::c_void;

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
use crate::handle::access;

/// What the assembly reads, as immediate operands.
#[cfg(target_arch = "x86_64")]
#[doc(hidden)]
pub mod layout {
    use std::mem::offset_of;

    use crate::handle::slot::{self, Slot};
    use crate::handle::table;
    use crate::state_word::state;

    /// The bits of a handle that are the offset of its slot, of those that are read here.
    pub const OFFSETS: usize = table::QUICK_BYTES - size_of::<Slot>();
    pub const SOURCE: usize = offset_of!(Slot, source);
    pub const STATE: usize = offset_of!(Slot, own);
    pub const CERTIFICATE: usize = STATE + size_of::<u64>();
    pub const CERTIFIED: u64 = slot::CERTIFIED;
    pub const OWN_SHIFT: u32 = state::OWN_SHIFT;
    /// What the certificate lacks of the state of a `u32`; of that of a `u64` it lacks nothing.
    pub const U32: u64 = state::FORMAT_U32 + slot::LESS_OF_U32;
    /// The same of an array.
    pub const ARRAY: u64 = state::FORMAT_OTHER + slot::LESS_OF_ARRAY;

    /// The processor extends these operands by their signs.
    const fn is_operand(value: u64) -> bool {
        value <= i32::MAX as u64
    }
    const _: () = assert!(is_operand(CERTIFIED) && is_operand(U32) && is_operand(ARRAY) && is_operand(OFFSETS as u64));
    const _: () = assert!(state::FORMAT_U64 == 0);
}

/// Expands to `$assembler!`, such as `naked_asm`, with the body of a function that has the arguments and the result of
/// `MPI_T_pvar_read`, between lines of assembly. `$no_buffer` is a function without arguments, of which the result is
/// returned without an address to store at.
#[cfg(target_arch = "x86_64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __assemble_pvar_read {
    ($assembler:ident, [$($before:expr),*], [$($after:expr),*], $no_buffer:path) => {
        ::core::arch::$assembler! {
            $($before,)*
            "test rdx, rdx",
            "je 5f",
            // Handle and session.
            "lea r9, [rdi + rsi]",
            "and esi, {offsets}",
            "mov r10, qword ptr [rip + {table}]",
            "mov rcx, qword ptr [r10 + rsi + {state}]",
            "mov r8, qword ptr [r10 + rsi + {source}]",
            "lea rax, [r9 + rcx + {certified}]",
            "sar rcx, {own_shift}",
            "add rcx, qword ptr [r10 + r8]",
            // Zero, which is MPI_SUCCESS, if it is the certificate of a `u64`.
            "sub rax, qword ptr [r10 + rsi + {certificate}]",
            "jne 3f",
            "mov qword ptr [rdx], rcx",
            "ret",
            "3:",
            "cmp rax, {u32}",
            "jne 4f",
            "mov eax, 0xffffffff",
            "cmp rcx, rax",
            "cmovb rax, rcx",
            "mov dword ptr [rdx], eax",
            "xor eax, eax",
            "ret",
            "4:",
            // The slot, for the longer ways.
            "lea rcx, [r10 + rsi]",
            "mov rsi, r9",
            "sub rsi, rdi",
            "cmp rax, {array}",
            "je {array_way}",
            "jmp {longer_way}",
            "5:",
            "jmp {no_buffer}",
            $($after,)*
            offsets = const $crate::__pvar_read_layout::OFFSETS,
            table = sym $crate::__QUICK_TABLE,
            state = const $crate::__pvar_read_layout::STATE,
            source = const $crate::__pvar_read_layout::SOURCE,
            certified = const $crate::__pvar_read_layout::CERTIFIED,
            own_shift = const $crate::__pvar_read_layout::OWN_SHIFT,
            certificate = const $crate::__pvar_read_layout::CERTIFICATE,
            u32 = const $crate::__pvar_read_layout::U32,
            array = const $crate::__pvar_read_layout::ARRAY,
            array_way = sym $crate::__pvar_read_array,
            longer_way = sym $crate::__pvar_read_longer_way,
            no_buffer = sym $no_buffer,
        }
    };
}

/// Reads a performance variable into `out` (`MPI_T_pvar_read`): `MPI_SUCCESS` or an `MPI_T_ERR_*` code.
/// Async-signal-safe; thread-safe. No lock, no allocation, no system call.
///
/// # Safety
/// `out` has room for the variable's elements, by the variable's type and the handle's count. Any words are
/// fine as `session` and `handle`.
#[inline]
pub unsafe fn pvar_read_raw(session: usize, handle: usize, out: *mut c_void) -> i32 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the caller's promise.
    return unsafe { read_assembled(session, handle, out) };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: the caller's promise.
    return unsafe { access::read_raw(session, handle, out) };
}

/// # Safety
/// As [`pvar_read_raw`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[unsafe(naked)]
unsafe extern "C" fn read_assembled(session: usize, handle: usize, out: *mut c_void) -> i32 {
    extern "C" fn no_buffer() -> i32 {
        mpi_core::abi::MPI_T_ERR_INVALID
    }
    __assemble_pvar_read!(naked_asm, [], [], no_buffer)
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use std::sync::atomic::Ordering;

    use crate::handle::table;
    use crate::{Counter, Handle, Level, PvarClass, Registry, Value};

    crate::instruments! {
        /// What is read.
        struct Block: NoObject {
            /// Events.
            events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "x" },
            /// Depth.
            depth: Level =
                { name: "depth", class: Level, type: u32, unit: "items", category: "x" }
                { name: "depth", class: HighWatermark, type: u32, unit: "items", category: "x" },
        }
    }

    fn is_certified(handle: Handle) -> bool {
        table::slot_of(handle.0).own.second.load(Ordering::Relaxed) != 0
    }

    /// The value by the assembly: `u64`, in which a `u32` fills the low half. `None`: an error.
    fn read(session: Handle, handle: Handle) -> Option<u64> {
        let mut out = 0u64;
        // SAFETY: room for either.
        let code = unsafe { super::pvar_read_raw(session.0, handle.0, (&raw mut out).cast()) };
        (code == 0).then_some(out)
    }

    #[test]
    fn running_numbers_have_certificates_and_all_others_none() {
        let (registry, block) = (Registry::with_environment([]), Block::detached());
        registry.register(block).expect("new names");
        registry.init_thread().expect("address space for handles");
        let session = registry.pvar_session_create().expect("room");
        let open = |name, class: PvarClass| {
            let index = registry.pvar_get_index(name, class as i32).expect("declared");
            registry.pvar_handle_alloc(session, index, None).expect("room").0
        };
        let events = open("events", PvarClass::Counter);
        assert!(!is_certified(events), "it is stopped");
        registry.pvar_start(session, events).expect("a counter");
        block.events.add(3);
        assert!(is_certified(events));
        assert_eq!(read(session, events), Some(3));
        registry.pvar_reset(session, events).expect("a counter");
        assert!(is_certified(events));
        assert_eq!(read(session, events), Some(0));
        registry.pvar_write(session, events, &[Value::U64(u64::MAX)]).expect("a counter");
        assert!(is_certified(events), "-1 is narrow");
        registry.pvar_write(session, events, &[Value::U64(1 << 60)]).expect("a counter");
        assert!(!is_certified(events), "the own part is wide");
        assert_eq!(read(session, events), Some(1 << 60));
        registry.pvar_reset(session, events).expect("a counter");
        registry.pvar_stop(session, events).expect("a counter");
        block.events.add(1);
        assert!(!is_certified(events), "it is stopped");
        assert_eq!(read(session, events), Some(0));

        let (depth, most) = (open("depth", PvarClass::Level), open("depth", PvarClass::HighWatermark));
        registry.pvar_start(session, most).expect("a mark");
        registry.pvar_start(session, depth).expect("a level");
        block.depth.raise(5);
        block.depth.lower(3);
        assert!(is_certified(depth) && !is_certified(most), "a mark is not a sum");
        assert_eq!((read(session, depth), read(session, most)), (Some(2), Some(5)));
        block.depth.raise(1 << 40);
        assert_eq!(read(session, depth), Some(u64::from(u32::MAX)), "as much as a `u32` holds");

        // Other sessions, and words that are none.
        let other = registry.pvar_session_create().expect("room");
        registry.pvar_start(session, events).expect("a counter");
        assert!(is_certified(events));
        assert_eq!((read(other, events), read(Handle(0), events), read(Handle(0), Handle(0))), (None, None, None));
        // Each word beside a handle and beside a session, of both types.
        assert!(is_certified(depth));
        for beside in (1..=4096).chain((0..63).map(|bit| 1 << bit)) {
            for handle in [events, depth] {
                for word in [handle.0.wrapping_add(beside), handle.0.wrapping_sub(beside), handle.0 ^ beside] {
                    assert_eq!(read(other, Handle(word)), None, "{word:#x} for {:#x} of another session", handle.0);
                }
                for word in [handle.0.wrapping_add(beside), handle.0.wrapping_sub(beside), handle.0 ^ beside] {
                    let live = word == events.0 || word == depth.0 || word == most.0;
                    assert!(live || read(session, Handle(word)).is_none(), "{word:#x} for {:#x}", handle.0);
                }
                for word in [session.0.wrapping_add(beside), session.0.wrapping_sub(beside), session.0 ^ beside] {
                    assert_eq!(read(Handle(word), handle), None, "{word:#x} for {:#x}", session.0);
                }
            }
        }
        registry.pvar_session_free(session).expect("live");
        assert!(!is_certified(events), "it is freed");
        assert_eq!(read(session, events), None);
        registry.finalize().expect("initialized");
        assert_eq!(read(other, events), None);
    }

    crate::instruments! {
        /// An element.
        struct Row: Comm {
            /// Items.
            items: Counter = { name: "row_items", class: Counter, type: u64, unit: "items", category: "x" },
        }
    }

    #[test]
    fn arrays_that_run_have_certificates_if_they_fill_a_vector() {
        let registry = Registry::with_environment([]);
        registry.init_thread().expect("address space for handles");
        let session = registry.pvar_session_create().expect("room");
        for (object, count) in [(701, 3), (702, 4), (703, 9)] {
            let rows = crate::place_rows::<Row>(count);
            registry.bind_rows(object, rows).expect("rows");
            let index = registry.pvar_get_index("row_items", PvarClass::Counter as i32).expect("declared");
            let handle = registry.pvar_handle_alloc(session, index, Some(object)).expect("room").0;
            assert!(!is_certified(handle), "it is stopped");
            registry.pvar_start(session, handle).expect("a counter");
            assert_eq!(is_certified(handle), count >= 4 && crate::handle::wide_read::is_supported());
            registry.unbind(object, &rows[0]);
            assert!(!is_certified(handle), "its object is freed");
        }
        registry.pvar_session_free(session).expect("live");
    }
}
