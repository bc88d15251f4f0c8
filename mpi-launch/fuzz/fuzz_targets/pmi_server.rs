//! Any bytes as lines that three ranks send to the PMI-1 server; the first byte of a line selects the rank.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpi_launch::pmi_server::pmi_state::{Act, PmiState};
use mpi_wireup::pmi::wire::Message;

fuzz_target!(|input: &[u8]| {
    let mut state = PmiState::new(3, 1);
    for line in input.split(|byte| *byte == b'\n') {
        let (rank, line) = line.split_first().map_or((0, line), |(first, rest)| (u32::from(*first) % 3, rest));
        if let Act::Answer(answer) | Act::AnswerAll(answer) = state.line(rank, line) {
            assert!(Message::parse(answer.as_bytes()).is_ok(), "an answer can be read: {answer:?}");
            assert_eq!(answer.matches('\n').count(), 1);
        }
    }
});
