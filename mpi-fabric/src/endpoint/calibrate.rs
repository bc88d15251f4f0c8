//! The limits between the ways of a long message, as an endpoint reads them.
//!
//! Not here: the model and the words in the job memory (`calibration`), the measurement (`calibration::measure`).

use super::Endpoint;
use crate::calibration::{Calibrated, CalibrationWords, calibrate};
use crate::layout::header;
use crate::settings::{AUTO, BUFFER, CACHED};
use crate::sync::AtomicU64;

/// Whether a receiver runs on a core that shares a cache with this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Near {
    /// It was measured.
    Measured,
    /// By a setting.
    Set,
    /// It does not, or was not measured yet.
    No,
}

impl Endpoint {
    /// Whether the receiver is far: copies to it use streaming stores unless `fabric_copy_stores` is set. False for a
    /// peer that shares no memory.
    #[inline]
    pub fn is_far(&self, peer: u32) -> bool {
        self.outputs.get(peer as usize).is_some_and(|output| output.ring.distance().is_far())
    }

    /// Whether the receiver is near: as `fabric_copy_stores` is set, or as it was measured at least once.
    pub fn is_near(&self, peer: u32) -> Near {
        let Some(output) = self.outputs.get(peer as usize) else { return Near::No };
        match (self.settings.copy_stores.get(), output.ring.distance()) {
            (CACHED | BUFFER, _) => Near::Set,
            (AUTO, distance) if distance.ns() > 0 && !distance.is_far() => Near::Measured,
            _ => Near::No,
        }
    }

    /// The calibration of this host. Measures it if no process of the job has begun to, which takes less than 2 ms.
    /// `NotYet`, without a measurement, if the kernel does not copy between this process and the peer
    /// ([`Self::can_copy_runs`]), or while another process measures.
    #[cold]
    pub fn calibrate(&self, peer: u32) -> Calibrated {
        if !self.can_copy_runs(peer) {
            return Calibrated::NotYet;
        }
        let words = CalibrationWords::of(&self.job);
        match words.read() {
            Calibrated::NotYet => {
                calibrate(&self.job);
                words.read()
            }
            found => found,
        }
    }

    /// The word of the job memory that has what receivers measured of copies by both processes. Every process may write it.
    pub fn copied_by_both(&self) -> &AtomicU64 {
        self.job.mapping().word(header::COPIED_BY_BOTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_one_process_measure_nothing() {
        let ranks = Endpoint::threads(2).expect("memory for two ranks");
        assert_eq!(ranks[0].calibrate(1), Calibrated::NotYet);
        assert!(CalibrationWords::of(&ranks[0].job).claim(), "no process has begun");
        assert!(!ranks[0].is_far(1) && !ranks[0].is_far(7));
    }
}
