//! The limits between the ways of a long message, as an endpoint reads them.
//!
//! Not here: the model and the words in the job memory (`calibration`), the measurement (`calibration::measure`).

use super::Endpoint;
use crate::calibration::{Calibrated, CalibrationWords, calibrate};

impl Endpoint {
    /// Whether the receiver is far: copies to it use streaming stores unless `fabric_copy_stores` is set. False for a
    /// peer that shares no memory.
    #[inline]
    pub fn is_far(&self, peer: u32) -> bool {
        self.outputs.get(peer as usize).is_some_and(|output| output.ring.distance().is_far())
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
