//! The machine: its architecture and cores.

use std::ffi::CStr;

/// The architecture of the machine, as `uname -m` prints it.
pub(in crate::mpiexec) fn machine() -> String {
    // SAFETY: `utsname` is plain data; the call fills it with strings that end with zero, or leaves the zeroes.
    unsafe {
        let mut facts: libc::utsname = std::mem::zeroed();
        libc::uname(&mut facts);
        CStr::from_ptr(facts.machine.as_ptr()).to_string_lossy().into_owned()
    }
}

/// Words of a mask that holds any machine's cores.
const MASK_WORDS: usize = 128;

/// A set of cores, as the kernel has it.
pub(in crate::mpiexec) type Mask = [u64; MASK_WORDS];

/// The cores that this process may run on, in their order.
pub(in crate::mpiexec) fn allowed_cores() -> Vec<usize> {
    let mut mask: Mask = [0; MASK_WORDS];
    // SAFETY: the mask is writable for its size.
    unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    (0..MASK_WORDS * 64).filter(|core| mask[core / 64] >> (core % 64) & 1 == 1).collect()
}

/// The set of one core; empty for one that no machine has.
pub(in crate::mpiexec) fn mask_of(core: usize) -> Mask {
    let mut mask = [0; MASK_WORDS];
    if let Some(word) = mask.get_mut(core / 64) {
        *word = 1 << (core % 64);
    }
    mask
}

/// Year, month, day, hour, minute and second in this process's time zone, for seconds since 1970.
pub(in crate::mpiexec) fn local_time(seconds: u64) -> [i32; 6] {
    calendar(seconds, libc::localtime_r)
}

/// The same in UTC.
pub(in crate::mpiexec) fn utc_time(seconds: u64) -> [i32; 6] {
    calendar(seconds, libc::gmtime_r)
}

type ToCalendar = unsafe extern "C" fn(*const libc::time_t, *mut libc::tm) -> *mut libc::tm;

fn calendar(seconds: u64, convert: ToCalendar) -> [i32; 6] {
    // SAFETY: `tm` is plain data; the call fills it, or leaves the zeroes. One thread runs, and it does not change the
    // environment that the call reads.
    let parts = unsafe {
        let mut parts: libc::tm = std::mem::zeroed();
        let seconds = seconds as libc::time_t;
        convert(&seconds, &mut parts);
        parts
    };
    [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_a_kind_and_a_core() {
        assert_eq!(machine(), std::env::consts::ARCH);
        assert!(!allowed_cores().is_empty());
    }

    #[test]
    fn a_mask_holds_its_core_alone() {
        assert_eq!((mask_of(65)[1], mask_of(65)[0], mask_of(1 << 20)), (2, 0, [0; MASK_WORDS]));
    }

    #[test]
    fn days_have_their_dates() {
        let date = |day: u64| match utc_time(day * 86_400) {
            [year, month, day, 0, 0, 0] => (year, month, day),
            other => panic!("{other:?}"),
        };
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(11_017), (2000, 3, 1));
        assert_eq!(date(20_818), (2026, 12, 31));
        assert_eq!(date(20_819), (2027, 1, 1));
        assert_eq!(utc_time(1_795_788_005), [2026, 11, 27, 14, 0, 5]);
        // The days are in their order, without a gap.
        let mut last = date(0);
        for day in 1..200_000 {
            let next = date(day);
            let follows = next.2 == last.2 + 1 && next.1 == last.1
                || next.2 == 1 && (next.1 == last.1 + 1 || next.1 == 1 && next.0 == last.0 + 1);
            assert!(follows, "{last:?} {next:?}");
            last = next;
        }
    }
}
