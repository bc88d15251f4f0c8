//! How far away the receiver of a ring is: the time in which a line that it has written comes from its cache.
//!
//! Between cores that share a cache it takes a few tens of nanoseconds, and ordinary copies into the ring are the
//! fastest. Between others it takes several times as long, and a copy that fetches each line of the ring from there takes several times
//! as long as one with streaming stores (measured, half round trips of 8 KiB: 1.2 against 1.7 us near, 4.4 against 1.4
//! far). Processes move between cores, and the cores of a virtual machine between those of the host, so the sender
//! measures again each time it reads the receiver's report.
//! Not here: the copies (`streaming`).

use std::sync::OnceLock;

/// From this many nanoseconds on a receiver is far: measured, near 10 to 30, far 60 to 130, above what reading the clock
/// takes.
pub(crate) const FAR_NS: u32 = 50;

/// The same on processors of Intel, where all cores of a socket share one cache over a mesh, and a line takes as long as between
/// two caches of other processors, while streaming stores go to memory (measured on 16 cores with half round trips of a line of 56 to 110 ns:
/// windows of 16 messages of 64 KiB at 10.8 GB/s by ordinary stores, 7.0 by streaming ones).
const FAR_NS_ON_MESH: u32 = 80;

/// From so many nanoseconds on streaming stores are faster there for messages of up to 64 KiB and for the data of collectives (measured on two
/// cores with half round trips of a line of 60 to 100 ns, by ordinary stores and by streaming ones: windows of 16 messages of 64 KiB 10.4 and 7.0 GB/s;
/// a broadcast of 64 KiB 5.4 and 8.2 us, an allreduce 9.6 and 16.9; but parts of longer messages 8 and 13 GB/s).
const STREAMS_NS_ON_MESH: u32 = 160;

/// Whether the cores of this processor are taken to share a cache over a mesh: those of Intel, also the few that have none.
pub(crate) fn is_on_mesh() -> bool {
    static INTEL: OnceLock<bool> = OnceLock::new();
    *INTEL.get_or_init(is_intel)
}

#[cfg(target_arch = "x86_64")]
fn is_intel() -> bool {
    let words = std::arch::x86_64::__cpuid(0);
    [words.ebx, words.edx, words.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
}

#[cfg(not(target_arch = "x86_64"))]
fn is_intel() -> bool {
    false
}

/// So many measurements are kept: an interrupt lengthens a single one, and the line may have been fetched already.
const KEPT: usize = 15;

/// The measured times to one receiver.
#[derive(Debug)]
pub(crate) struct Distance {
    last: [u32; KEPT],
    next: usize,
    /// Their median.
    median: u32,
}

impl Distance {
    /// Nothing is measured yet.
    pub(crate) const UNKNOWN: Distance = Distance { last: [0; KEPT], next: 0, median: 0 };

    /// The line of the receiver's report took so many nanoseconds.
    pub(crate) fn measured(&mut self, ns: u32) {
        if self.last == [0; KEPT] {
            self.last = [ns.max(1); KEPT];
        }
        self.last[self.next] = ns.max(1);
        self.next = (self.next + 1) % KEPT;
        let mut sorted = self.last;
        sorted.sort_unstable();
        self.median = sorted[KEPT / 2];
    }

    /// Nanoseconds: the median of the last measurements; 0 before the first.
    pub(crate) fn ns(&self) -> u32 {
        self.median
    }

    /// Whether the receiver is far.
    pub(crate) fn is_far(&self) -> bool {
        self.median >= if is_on_mesh() { FAR_NS_ON_MESH } else { FAR_NS }
    }

    /// Whether streaming stores are faster for messages that go whole, and for the data of collectives.
    pub(crate) fn streams(&self) -> bool {
        self.median >= if is_on_mesh() { STREAMS_NS_ON_MESH } else { FAR_NS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_measurements_change_nothing_and_a_move_is_noticed() {
        let mut distance = Distance::UNKNOWN;
        assert!(!distance.is_far() && distance.ns() == 0);
        distance.measured(40);
        distance.measured(90_000);
        assert!(!distance.is_far() && distance.ns() == 40);
        (0..KEPT).for_each(|_| distance.measured(250));
        distance.measured(3);
        assert!(distance.is_far() && distance.streams() && distance.ns() == 250);
        (0..KEPT / 2 + 1).for_each(|_| distance.measured(45));
        assert!(!distance.is_far());
    }

    #[test]
    fn a_time_below_the_resolution_of_the_clock_is_a_measurement() {
        let mut distance = Distance::UNKNOWN;
        distance.measured(0);
        distance.measured(300);
        assert_eq!(distance.ns(), 1);
    }
}
