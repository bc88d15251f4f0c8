//! Any bytes behind the header of a job memory, read by all readers.
#![no_main]

use std::fs::File;
use std::os::unix::fs::FileExt;

use libfuzzer_sys::fuzz_target;
use mpi_fabric::layout::{Layout, MIN_RING_BYTES, PAGE};
use mpi_fabric::{Endpoint, Life};
use mpi_observe::JobView;
use mpi_observe::hang::{HangView, RankProcess, analyse};
use mpi_observe::timeline::Timeline;
use mpi_observe::sample::{Rates, Sampler};
use mpi_observe::summary::Summary;

const RANKS: u32 = 3;

mpi_t::instruments! {
    /// Some of the variables that readers look for.
    struct Variables: NoObject {
        /// Sent.
        sent: mpi_t::Counter =
            { name: "p2p_eager_sent", class: Counter, type: u64, unit: "messages", category: "p2p" },
        /// Requests.
        requests: mpi_t::PeakLevel =
            { name: "p2p_requests", class: Level, type: u64, unit: "requests", category: "p2p" }
            { name: "p2p_requests", class: HighWatermark, type: u64, unit: "requests", category: "p2p", doc: "Most." },
    }
}

// The input is a sequence of writes: a byte for the part, 4 bytes for the place in it, 1 byte length, that many bytes.
fuzz_target!(|input: &[u8]| {
    let endpoints = Endpoint::threads(RANKS).expect("memory");
    let job = endpoints[0].job();
    for (rank, endpoint) in (0..).zip(&endpoints) {
        let memory = endpoint.instrument_memory();
        let block: &'static Variables = mpi_t::place(&*memory, "object");
        block.requests.keep_peak();
        block.requests.raise(2);
        mpi_t::InstrumentMemory::allocate_rows(&*memory, 12, &[0, 1, 2]);
        job.set_life(rank, Life::Initialised);
        job.recorder(rank).set_times(true);
        job.recorder(rank).enter(1, 0, 1, 2, 3);
    }
    let memory = File::from(job.fd().expect("a memfd").try_clone_to_owned().expect("a descriptor"));
    let layout = Layout::new(RANKS, MIN_RING_BYTES).expect("a valid layout");
    let mut rest = input;
    while let [part, a, b, c, d, length, tail @ ..] = rest {
        let (bytes, tail) = tail.split_at(tail.len().min(usize::from(*length)));
        let (begin, end) = match part % 3 {
            0 => (PAGE, layout.bells().0),
            1 => (layout.block_at(u32::from(*part) % RANKS), layout.block_at(u32::from(*part) % RANKS) + 0x2400),
            _ => (layout.traffic_at(u32::from(*part) % RANKS), layout.traffic_at(u32::from(*part) % RANKS) + PAGE),
        };
        let at = begin + u32::from_le_bytes([*a, *b, *c, *d]) as usize % (end - begin - 256);
        memory.write_all_at(bytes, at as u64).expect("inside the memory");
        rest = tail;
    }
    let view = JobView::of(job);
    let mut sampler = Sampler::new();
    let (before, after) = (sampler.take(view), sampler.take(view));
    for (old, new) in before.ranks.iter().zip(&after.ranks) {
        assert!((0.0..=1.0).contains(&Rates::between(old, new, 0.1).waiting));
    }
    for rank in 0..RANKS {
        std::hint::black_box(view.activity(rank, true));
        std::hint::black_box(view.calls(rank).iter().map(|call| call.describe().len()).sum::<usize>());
    }
    let timeline = Timeline::capture(view, &[]);
    let written = timeline.write(File::create("/dev/null").expect("it is there"), &|_| Default::default(), "now");
    std::hint::black_box(written.expect("it takes everything"));
    let summary = Summary::new(view, 1.0, 0, &|_, _| None);
    std::hint::black_box(summary.json(None));
    // The ranks are said to have ended: their process ids are input too, and other processes are not to be read here.
    std::hint::black_box(analyse(&HangView::capture(view, &|_| RankProcess::Ended)).lines());
});
