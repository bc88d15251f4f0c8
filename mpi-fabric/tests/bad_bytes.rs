//! Another process's writes are input: whatever bytes are in the job memory, an endpoint returns an error or works on.
//!
//! As a fuzz target: `cargo +nightly fuzz run job_memory` in `mpi-fabric/fuzz`.
#![allow(clippy::unwrap_used)] // a failed step panics

use std::fs::File;
use std::os::fd::{AsFd, IntoRawFd};
use std::os::unix::fs::FileExt;

use mpi_fabric::layout::{FIRST_RING_BYTES, Layout, MIN_RING_BYTES, bell, block, header};
use mpi_fabric::{
    Attachment, Endpoint, Expected, FabricSettings, Job, JobOptions, Payload, RecordHead, Sink, instruments,
};
use proptest::prelude::*;

/// Reads everything that it is given.
#[derive(Default)]
struct Digest(u64);

impl Sink for Digest {
    fn record(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        assert!(from < 2);
        self.0 = self.0.wrapping_add(head.a ^ head.b ^ payload.word(0) ^ payload.word(payload.len() / 8));
        self.0 = payload.to_vec().iter().fold(self.0, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    }
}

/// Expects any record of a rank.
struct Any<'d>(u32, &'d mut Digest);

impl Expected for Any<'_> {
    type Output = ();

    fn is(&self, _head: &RecordHead, _len: usize) -> bool {
        true
    }

    fn take(self, head: &RecordHead, payload: Payload<'_>) {
        self.1.record(self.0, head, payload);
    }
}

/// A job with one correct rank (0), whose memory gets arbitrary bytes.
struct Victim {
    memory: File,
    job: Job,
    endpoint: Endpoint,
}

impl Victim {
    fn new() -> Victim {
        let job = Job::create(&JobOptions { ranks: 2, ring_bytes: Some(MIN_RING_BYTES), cores: 2 }).unwrap();
        let memory = File::from(job.fd().unwrap().try_clone_to_owned().unwrap());
        let fd = memory.try_clone().unwrap().into_raw_fd();
        let endpoint =
            Endpoint::attach(&Attachment { fd, job_id: job.id(), rank: 0, size: 2, appnum: 0 }, FabricSettings::new())
                .unwrap();
        Victim { memory, job, endpoint }
    }

    /// Performs every operation that reads the job memory.
    fn exercise(&mut self) {
        let mut digest = Digest::default();
        for _ in 0..4 {
            let _ = self.endpoint.poll(&mut digest);
            for from in 0..2 {
                self.endpoint.take_next(from, Any(from, &mut digest));
                if let Some(records) = self.endpoint.records_of(from) {
                    records.await_next(2, || (), Any(from, &mut digest));
                }
            }
            let _ = self.endpoint.poll(&mut digest);
        }
        for len in [0, 8, 100, self.endpoint.max_payload()] {
            let _ = self.endpoint.push(1, &RecordHead { kind: 1, ..Default::default() }, &vec![1; len]);
            let _ = self.endpoint.push(0, &RecordHead { kind: 1, ..Default::default() }, &vec![1; len]);
        }
        let _ = (self.endpoint.can_copy(1), self.endpoint.alive(1), self.job.abort(), self.endpoint.host_facts());
        for rank in 0..2 {
            let _ = (self.job.life(rank), self.job.pid(rank), self.job.recorder(rank).calls());
            let _ = (self.job.recorder(rank).current(), instruments::read(&self.job, rank));
        }
        let _ = Job::open(self.memory.as_fd()).map(|job| (job.id(), job.cores(), job.launcher_pid()));
    }
}

/// The mark that leads from a first ring to the longer one.
const MOVED: u64 = 1 << 63 | 1 << 60;

/// Places that the endpoint reads most.
fn places() -> Vec<usize> {
    let layout = Layout::new(2, MIN_RING_BYTES).unwrap();
    let mut places = vec![0, header::RANKS, header::TOTAL_BYTES, header::RING_BYTES, header::CORES, header::ABORT];
    for rank in 0..2 {
        let at = layout.block_at(rank);
        places.extend([at + block::LIFE, at + block::PID, at + block::PROBE_ADDRESS]);
        places.push(layout.bell_at(rank) + bell::CONNECTED);
        places.extend([at + block::RECORDER, at + block::RECORDER + 64, at + block::INSTRUMENTS]);
        places.extend([at + block::INSTRUMENTS + 64, at + block::INSTRUMENTS + 72, at + block::INSTRUMENTS + 128]);
        for other in 0..2 {
            let rings =
                [(layout.first_ring_at(rank, other), FIRST_RING_BYTES), (layout.ring_at(rank, other), MIN_RING_BYTES)];
            for (ring, bytes) in rings {
                // The report's line, and heads of records.
                places.extend([ring, ring + 128, ring + 128 + 8, ring + 192, ring + 256, ring + bytes - 64]);
            }
        }
    }
    places
}

fn words() -> impl Strategy<Value = u64> {
    let record = (0..1_u64 << 33, any::<u16>()).prop_map(|(len, kind)| 1 << 63 | u64::from(kind) << 32 | len);
    prop_oneof![any::<u64>(), 0..70_000_u64, record, Just(3 << 62), Just(MOVED), Just(u64::MAX), Just(1 << 63), Just(0)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_words_in_the_places_that_matter_are_survived(
        writes in prop::collection::vec((prop::sample::select(places()), 0..4_usize, words(), any::<bool>()), 1..24)
    ) {
        let mut victim = Victim::new();
        for (place, offset, word, exercise) in writes {
            victim.memory.write_all_at(&word.to_le_bytes(), (place + offset * 8) as u64).unwrap();
            if exercise {
                victim.exercise();
            }
        }
        victim.exercise();
    }

    #[test]
    fn rings_full_of_any_bytes_are_survived(
        bytes in prop::collection::vec(any::<u8>(), 1..2048), connected in any::<u64>(), moved in any::<bool>()
    ) {
        let mut victim = Victim::new();
        let layout = Layout::new(2, MIN_RING_BYTES).unwrap();
        let bytes: Vec<u8> = bytes.into_iter().cycle().take(MIN_RING_BYTES).collect();
        victim.memory.write_all_at(&bytes, layout.ring_at(0, 1) as u64).unwrap();
        let first = layout.first_ring_at(0, 1) as u64;
        victim.memory.write_all_at(&bytes[..FIRST_RING_BYTES], first).unwrap();
        if moved {
            victim.memory.write_all_at(&MOVED.to_le_bytes(), first + 128).unwrap();
        }
        let word = (layout.bell_at(0) + bell::CONNECTED) as u64;
        victim.memory.write_all_at(&connected.to_le_bytes(), word).unwrap();
        victim.exercise();
    }
}

#[test]
fn a_recorder_of_no_depth_after_any_number_of_calls_has_none() {
    let victim = Victim::new();
    let recorder = Layout::new(2, MIN_RING_BYTES).unwrap().block_at(0) + block::RECORDER;
    for (offset, word) in [(0, u64::MAX), (8, 0_u64)] {
        victim.memory.write_all_at(&word.to_le_bytes(), (recorder + offset) as u64).unwrap();
    }
    assert_eq!(victim.endpoint.job().recorder(0).calls(), []);
}

#[test]
fn a_bad_record_is_an_error_that_names_the_sender_every_time() {
    let layout = Layout::new(2, MIN_RING_BYTES).unwrap();
    let first = layout.first_ring_at(0, 1) as u64 + 128;
    let longer = layout.ring_at(0, 1) as u64 + 128;
    let words = [5, u64::MAX, 1 << 63 | 20_000, 3 << 62, 1 << 62];
    // A pair moves to its longer ring once.
    let in_longer = words.into_iter().chain([MOVED]).map(|word| vec![(first, MOVED), (longer, word)]);
    for writes in words.into_iter().map(|word| vec![(first, word)]).chain(in_longer) {
        let mut victim = Victim::new();
        let connected = (layout.bell_at(0) + bell::CONNECTED) as u64;
        victim.memory.write_all_at(&2_u64.to_le_bytes(), connected).unwrap();
        for (at, word) in writes {
            victim.memory.write_all_at(&word.to_le_bytes(), at).unwrap();
        }
        for _ in 0..2 {
            let error = victim.endpoint.poll(&mut Digest::default()).unwrap_err().to_string();
            assert!(error.contains("rank 1 wrote something that is no message"), "{error}");
        }
    }
}

#[test]
fn a_report_that_cannot_be_true_gives_no_room() {
    let mut victim = Victim::new();
    let layout = Layout::new(2, MIN_RING_BYTES).unwrap();
    let mut pushed = 0;
    while victim.endpoint.push(1, &RecordHead::default(), &[7; 1000]).is_ok() {
        pushed += 1;
    }
    for lie in [u64::MAX, 1 << 20, 1 << 63] {
        victim.memory.write_all_at(&lie.to_le_bytes(), layout.ring_at(1, 0) as u64).unwrap();
        assert!(victim.endpoint.push(1, &RecordHead::default(), &[7; 1000]).is_err());
    }
    assert!(pushed > 5);
}
