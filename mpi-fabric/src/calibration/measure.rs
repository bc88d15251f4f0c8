//! The measurement of a calibration: copies within this process, in memory that is released afterwards.
//!
//! Each copy is timed several times and the shortest time counts, because an interrupt or another process on the core only
//! lengthens one. The kernel copies the shortest and the longest chunk of a message; what the longer one takes more is its
//! time per byte, the rest its fixed cost. The copies through a buffer are those of messages, with the lines of the buffer
//! in the second-level cache of this core, or, after streaming stores, in memory.
//! Not here: what follows from the times (`calibration`).

use std::fs;
use std::io;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use super::{CHUNK_MAX, Calibration, MIB};
use crate::layout::LINE;
use crate::prefetching::copy_prefetching;
use crate::remote;
use crate::streaming::copy_streaming;

/// Most rounds; each times every copy once.
const ROUNDS: u32 = 6;

/// No round begins after this time: a round takes less than 0.1 ms on a core of its own.
const STOP_AFTER: Duration = Duration::from_micros(600);

/// Lengths of the two copies by the kernel: the shortest and the longest chunk.
const SHORT: usize = 16 << 10;
/// See [`SHORT`].
const LONG: usize = CHUNK_MAX as usize;

/// Bytes that go through the buffer.
const THROUGH: usize = 64 << 10;

/// Length of the last-level cache where the kernel does not report it.
const USUAL_CACHE: u64 = 32 << 20;

/// The rates of this host, measured since `begun`; `took_ns` is 0. `None`: the kernel refuses the memory, or to copy.
pub(crate) fn measure(begun: Instant) -> Option<Calibration> {
    let scratch = Scratch::new()?;
    let mut best = [u64::MAX; 4];
    for round in 0..ROUNDS {
        if round > 1 && begun.elapsed() > STOP_AFTER {
            break;
        }
        let times =
            [scratch.by_kernel(SHORT)?, scratch.by_kernel(LONG)?, scratch.through(false), scratch.through(true)];
        best.iter_mut().zip(times).for_each(|(best, time)| *best = time.min(*best));
    }
    let [short, long, cached, streaming] = best;
    let kernel_ns_per_mib = long.saturating_sub(short) * MIB / (LONG - SHORT) as u64;
    let per_mib = |ns: u64| ns * (MIB / THROUGH as u64);
    Some(Calibration {
        kernel_call_ns: short.saturating_sub(kernel_ns_per_mib * SHORT as u64 / MIB),
        kernel_ns_per_mib,
        cached_ns_per_mib: per_mib(cached),
        streaming_ns_per_mib: per_mib(streaming),
        cache_bytes: cache_bytes().unwrap_or(USUAL_CACHE),
        took_ns: 0,
    })
}

/// Memory to copy from and to; unmapped when dropped.
struct Scratch(NonNull<u8>);

impl Scratch {
    const BYTES: usize = 2 * LONG;

    fn new() -> Option<Scratch> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE);
        // SAFETY: a new mapping at an address the kernel picks.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), Self::BYTES, protection, flags, -1, 0) };
        NonNull::new(address.cast()).filter(|_| address != libc::MAP_FAILED).map(Scratch)
    }

    fn at(&self, offset: usize) -> *mut u8 {
        // SAFETY: every caller's offset is a constant below `BYTES`.
        unsafe { self.0.as_ptr().add(offset) }
    }

    /// Nanoseconds in which the kernel copies the first `bytes` bytes, up to [`LONG`], to the second half.
    fn by_kernel(&self, bytes: usize) -> Option<u64> {
        // SAFETY: the second half of the mapping, which nothing else refers to meanwhile.
        let into = unsafe { std::slice::from_raw_parts_mut(self.at(LONG), bytes) };
        let (from, pid) = (self.at(0).expose_provenance() as u64, std::process::id());
        let mut copied: io::Result<()> = Ok(());
        let ns = timed(|| copied = remote::read(pid, from, into));
        copied.ok().map(|()| ns)
    }

    /// Nanoseconds in which [`THROUGH`] bytes are copied to a buffer and from there on.
    fn through(&self, streaming: bool) -> u64 {
        let [from, buffer, to] = [0, THROUGH, 2 * THROUGH].map(|offset| self.at(offset));
        // SAFETY: three parts of the mapping, of `THROUGH` bytes each; page-aligned, as mappings are.
        timed(|| unsafe {
            match streaming {
                true => copy_streaming(from, buffer, THROUGH),
                false => std::ptr::copy_nonoverlapping(from, buffer, THROUGH),
            }
            copy_prefetching(buffer, to, THROUGH);
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; no reference into it is left.
        unsafe { libc::munmap(self.0.as_ptr().cast(), Self::BYTES) };
    }
}

const _: () = assert!(3 * THROUGH <= Scratch::BYTES && THROUGH.is_multiple_of(LINE) && SHORT < LONG);

/// Nanoseconds that `copy` takes, at least 1.
fn timed(copy: impl FnOnce()) -> u64 {
    let begun = Instant::now();
    copy();
    (begun.elapsed().as_nanos() as u64).max(1)
}

/// Length of the last-level cache in bytes, as the kernel reports it.
fn cache_bytes() -> Option<u64> {
    let of_level = |index| fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok();
    // Indexes 0 and 1 are the first level's; without a third level the second is the last.
    parse_size(&of_level(3).or_else(|| of_level(2))?)
}

/// "32768K" or "32M" to bytes.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|unit: char| !unit.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_caches_have_units() {
        assert_eq!(parse_size("32768K\n"), Some(32 << 20));
        assert_eq!(parse_size("16M"), Some(16 << 20));
        assert_eq!(parse_size("512"), Some(512));
        assert_eq!([parse_size("x"), parse_size(""), parse_size("3G"), parse_size("18446744073709551615K")], [None; 4]);
    }

    #[test]
    fn a_measurement_is_in_range_and_takes_less_than_two_milliseconds() {
        let mut shortest = Duration::MAX;
        for _ in 0..20 {
            let begun = Instant::now();
            let Some(measured) = measure(begun) else { return }; // the kernel does not allow copies here
            shortest = shortest.min(begun.elapsed());
            assert!(measured.cached_ns_per_mib > 0 && measured.streaming_ns_per_mib > 0, "{measured:?}");
            assert!((1 << 16..1 << 40).contains(&measured.cache_bytes), "{measured:?}");
        }
        // Other work on the core lengthens most of them.
        assert!(shortest < Duration::from_millis(2), "{shortest:?}");
    }
}
