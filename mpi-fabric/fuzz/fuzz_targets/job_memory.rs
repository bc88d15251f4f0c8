//! Any bytes at any place of the job memory, while a correct rank polls and pushes.
#![no_main]

use std::fs::File;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::FileExt;

use libfuzzer_sys::fuzz_target;
use mpi_fabric::layout::{Layout, MIN_RING_BYTES};
use mpi_fabric::{Attachment, Endpoint, FabricSettings, Job, JobOptions, Payload, RecordHead, Sink, instruments};

struct Look;

impl Sink for Look {
    fn record(&mut self, _: u32, _: &RecordHead, payload: Payload<'_>) {
        std::hint::black_box(payload.to_vec());
    }
}

// The input is a sequence of writes: 4 bytes place, 1 byte length, that many bytes.
fuzz_target!(|input: &[u8]| {
    let job = Job::create(&JobOptions { ranks: 2, ring_bytes: Some(MIN_RING_BYTES), cores: 2 }).expect("memory");
    let memory = File::from(job.fd().expect("a memfd").try_clone_to_owned().expect("a descriptor"));
    let fd = memory.try_clone().expect("a descriptor").into_raw_fd();
    let place = Attachment { fd, job_id: job.id(), rank: 0, size: 2, appnum: 0 };
    let mut endpoint = Endpoint::attach(&place, FabricSettings::new()).expect("a fresh job");
    let total = Layout::new(2, MIN_RING_BYTES).expect("a valid layout").total_bytes();
    let mut rest = input;
    while let [a, b, c, d, len, tail @ ..] = rest {
        let at = u32::from_le_bytes([*a, *b, *c, *d]) as usize % (total - 256);
        let (bytes, tail) = tail.split_at(tail.len().min(usize::from(*len)));
        memory.write_all_at(bytes, at as u64).expect("inside the memory");
        let _ = endpoint.poll(&mut Look);
        let _ = endpoint.push(1, &RecordHead::default(), &[0; 40]);
        let _ = endpoint.push(0, &RecordHead::default(), &[0; 40]);
        rest = tail;
    }
    let _ = (instruments::read(&job, 0), job.recorder(0).calls(), job.abort(), job.hosts(), endpoint.alive(1), endpoint.can_copy(1));
});
