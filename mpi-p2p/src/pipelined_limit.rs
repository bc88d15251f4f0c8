//! Up to which length a blocking send goes in fragments: as `p2p_pipelined_limit` is set, or as this host was calibrated.
//! Whether the receiver is to copy data in shared memory itself.
//!
//! Invariant: the limits of a calibration are read from the job memory once; no send waits for one.
//! Not here: the measurement and the model (`mpi_fabric::calibration`), the offer (`send`), the fragments (`transfer`).

use mpi_fabric::calibration::{Calibrated, LEAST_LIMIT, WayLimits};
use mpi_fabric::{Endpoint, Near};
use mpi_t::{InstrumentMemory, Size};

use crate::cvars::{AUTOMATIC, EngineSettings};

mpi_t::instruments! {
    /// The limit between fragments and copies by the kernel.
    pub struct CalibrationInstruments: NoObject, verbosity: TunerDetail {
        /// Longest message in bytes that a blocking send of this process sends in fragments to a process on a core that
        /// shares a cache: p2p_pipelined_limit, or with -1 as calibrated, and 16 MiB before. Updated by the first
        /// blocking send of a message longer than the eager limit after a change.
        pub limit_near: Size =
            { name: "p2p_calibration_limit_near", class: Generic, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Longest message in bytes that a blocking send of this process sends in fragments to a process on a core that
        /// shares no cache (fabric_ring_distance is 50 or more, with processors of Intel 80): p2p_pipelined_limit, or with -1 as calibrated, and 16 MiB
        /// before. Updated by the first blocking send of a message longer than the eager limit after a change.
        pub limit_far: Size =
            { name: "p2p_calibration_limit_far", class: Generic, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Smallest message in bytes from which on both processes copy all messages of this receiver by the kernel, if
        /// p2p_single_copy_by is auto: p2p_both_copy_from, or with -1 as measured, and 32 KiB before. Updated by the first such copy after a
        /// change.
        pub both_from: Size =
            { name: "p2p_calibration_both_from", class: Generic, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Number of the three classes of lengths, from 16, 32 and 64 KiB to twice as much, for which a receiver of this host has measured
        /// whether one process or both copy faster. The others have the built-in limit of 32 KiB. Updated as p2p_calibration_both_from.
        pub both_classes: Size =
            { name: "p2p_calibration_both_classes", class: Generic, type: u64, unit: "classes",
              category: "p2p.protocol" },
        /// Fixed time in nanoseconds of a copy by the kernel, as one process of this host measured it for all. 0 until
        /// this process has read the calibration, which its first blocking send of 64 KiB or more does, and its next
        /// ones while another process measures. Constant from then on, as all p2p_calibration_ variables of times.
        pub kernel_call: Size =
            { name: "p2p_calibration_kernel_call", class: Generic, type: u64, unit: "nanoseconds",
              category: "p2p.protocol" },
        /// Time in nanoseconds in which the kernel copies 1 MiB, without the fixed time. 0 until the calibration is read
        /// (p2p_calibration_kernel_call).
        pub kernel_copy: Size =
            { name: "p2p_calibration_kernel_copy", class: Generic, type: u64, unit: "nanoseconds per MiB",
              category: "p2p.protocol" },
        /// Time in nanoseconds in which 1 MiB is copied into a buffer by ordinary stores, and out of it. 0 until the
        /// calibration is read (p2p_calibration_kernel_call).
        pub cached_copy: Size =
            { name: "p2p_calibration_cached_copy", class: Generic, type: u64, unit: "nanoseconds per MiB",
              category: "p2p.protocol" },
        /// Time in nanoseconds in which 1 MiB is copied into a buffer by stores that go past the caches, and out of it.
        /// 0 until the calibration is read (p2p_calibration_kernel_call).
        pub streaming_copy: Size =
            { name: "p2p_calibration_streaming_copy", class: Generic, type: u64, unit: "nanoseconds per MiB",
              category: "p2p.protocol" },
        /// Nanoseconds that the calibration took in the process that made it. 0 until it is read
        /// (p2p_calibration_kernel_call).
        pub time: Size =
            { name: "p2p_calibration_time", class: Generic, type: u64, unit: "nanoseconds",
              category: "p2p.protocol" },
    }
}

/// Of the messages that near receivers copy from shared memory themselves, one in so many goes another way, because the
/// distance of the receiver is measured by fragments: processes move between cores.
const MEASURED: u32 = 32;

/// Longest message in bytes of a started send that goes to a far receiver in fragments, if no limit is set: several of them are
/// under way, so that longer ones leave the caches (measured, windows of 16: 256 KiB 6.7 against 6.0 GB/s by the kernel, 1 MiB 4.6
/// against 5.4).
const FAR_MOST: u64 = 512 << 10;

/// The limits of one process.
#[derive(Debug)]
pub(crate) struct PipelinedLimit {
    /// The smaller one of the automatic limits in `limits`; 0 until they are calibrated.
    least: u64,
    limits: WayLimits,
    /// Whether the calibration has been read.
    read: bool,
    /// Messages that could be copied from shared memory.
    shared: u32,
    /// The setting whose limits the instruments have.
    shown: i32,
    pub instruments: &'static CalibrationInstruments,
}

impl PipelinedLimit {
    pub fn new(memory: &dyn InstrumentMemory) -> PipelinedLimit {
        let limit = PipelinedLimit {
            least: 0,
            limits: WayLimits::BUILT_IN,
            read: false,
            shared: 0,
            shown: AUTOMATIC,
            instruments: CalibrationInstruments::place(memory),
        };
        limit.show(WayLimits::BUILT_IN);
        limit
    }

    /// Whether a blocking send of so many bytes to a process goes in fragments.
    #[inline]
    pub fn permits(&mut self, endpoint: &Endpoint, settings: &EngineSettings, dest: u32, bytes: u64) -> bool {
        let set = settings.pipelined_limit.get();
        if set != self.shown {
            self.follow(set);
        }
        match u64::try_from(set) {
            Ok(limit) => bytes <= limit || set == i32::MAX,
            Err(_) => bytes <= self.least || self.permits_by_distance(endpoint, dest, bytes),
        }
    }

    /// Whether the data of a started send for whose end a call waits goes in fragments, as [`Self::permits`] for a blocking one.
    pub fn permits_awaited(&mut self, endpoint: &Endpoint, settings: &EngineSettings, dest: u32, bytes: u64) -> bool {
        let suits = bytes <= FAR_MOST || settings.pipelined_limit.get() != AUTOMATIC || !endpoint.is_far(dest);
        suits && self.permits(endpoint, settings, dest, bytes)
    }

    /// Whether the receiver of so many bytes in shared memory is to copy them itself: between cores that share a cache. From
    /// another core each line comes out of the sender's cache on its own, which takes 3 to 8 times as long as fragments
    /// of streaming stores up to their limit; longer data is in memory for the most part.
    pub fn permits_shared(&mut self, endpoint: &Endpoint, dest: u32, bytes: u64) -> bool {
        if bytes > self.limits.far {
            return true;
        }
        match endpoint.is_near(dest) {
            Near::Measured => {
                self.shared = self.shared.wrapping_add(1);
                !self.shared.is_multiple_of(MEASURED)
            }
            Near::Set => true,
            Near::No => false,
        }
    }

    /// As [`Self::permits`], where the two limits differ or are not calibrated yet.
    fn permits_by_distance(&mut self, endpoint: &Endpoint, dest: u32, bytes: u64) -> bool {
        if !self.read && bytes >= LEAST_LIMIT {
            self.calibrate(endpoint, dest);
        }
        bytes <= if endpoint.is_far(dest) { self.limits.far } else { self.limits.near }
    }

    #[cold]
    fn calibrate(&mut self, endpoint: &Endpoint, dest: u32) {
        match endpoint.calibrate(dest) {
            Calibrated::NotYet => return,
            Calibrated::Invalid => {}
            Calibrated::Rates(rates) => {
                self.limits = rates.limits();
                self.instruments.kernel_call.set(rates.kernel_call_ns);
                self.instruments.kernel_copy.set(rates.kernel_ns_per_mib);
                self.instruments.cached_copy.set(rates.cached_ns_per_mib);
                self.instruments.streaming_copy.set(rates.streaming_ns_per_mib);
                self.instruments.time.set(rates.took_ns);
            }
        }
        self.read = true;
        self.least = self.limits.near.min(self.limits.far);
        self.show(self.limits);
    }

    /// The setting has changed.
    #[cold]
    fn follow(&mut self, set: i32) {
        self.shown = set;
        self.show(match u64::try_from(set) {
            Ok(limit) => WayLimits { near: limit, far: limit },
            Err(_) => self.limits,
        });
    }

    fn show(&self, limits: WayLimits) {
        self.instruments.limit_near.set(limits.near);
        self.instruments.limit_far.set(limits.far);
    }
}

#[cfg(test)]
mod tests {
    use mpi_fabric::FabricSettings;
    use mpi_t::HeapMemory;

    use super::*;

    #[test]
    fn a_number_forces_the_limit_and_is_shown() {
        let endpoint = Endpoint::alone(FabricSettings::new()).expect("memory for one rank");
        let (settings, mut limit) = (EngineSettings::new(), PipelinedLimit::new(&HeapMemory));
        let mut permits = |set: i32, bytes| {
            settings.pipelined_limit.set(set);
            let permits = limit.permits(&endpoint, settings, 0, bytes);
            (permits, limit.instruments.limit_near.get(), limit.instruments.limit_far.get())
        };
        assert_eq!(permits(0, 1), (false, 0, 0));
        assert_eq!(permits(100_000, 100_000), (true, 100_000, 100_000));
        assert_eq!(permits(100_000, 100_001), (false, 100_000, 100_000));
        assert!(permits(i32::MAX, 1 << 40).0);
        // No copy by the kernel, so no calibration: the built-in limit.
        let built_in = WayLimits::BUILT_IN.near;
        assert_eq!(permits(AUTOMATIC, built_in), (true, built_in, built_in));
        assert!(!permits(AUTOMATIC, built_in + 1).0);
        assert!(!limit.read && limit.least == 0);
    }
}
