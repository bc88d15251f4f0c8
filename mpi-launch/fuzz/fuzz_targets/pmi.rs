//! Any bytes over PMI: as lines that three ranks send to the server (the first byte of a line says which), as a
//! launcher's answer, and as what another process put in the key-value space.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpi_launch::pmi::server::pmi_state::{Act, PmiState};
use mpi_launch::pmi::wire::Message;
use mpi_launch::wireup::card::{Address, Card};

fuzz_target!(|input: &[u8]| {
    let mut state = PmiState::new(3, 1);
    for line in input.split(|byte| *byte == b'\n') {
        let (rank, line) = line.split_first().map_or((0, line), |(first, rest)| (u32::from(*first) % 3, rest));
        if let Act::Answer(answer) | Act::AnswerAll(answer) = state.line(rank, line) {
            assert!(Message::parse(answer.as_bytes()).is_ok(), "an answer can be read: {answer:?}");
            assert_eq!(answer.matches('\n').count(), 1);
        }
    }
    if let Ok(text) = std::str::from_utf8(input) {
        if let Some(card) = Card::parse(text) {
            assert_eq!(Card::parse(&card.to_value()).map(|card| card.ancestors), Some(card.ancestors));
        }
        if let Some(address) = Address::parse(text) {
            assert_eq!(Address::parse(&address.to_value()), Some(address));
        }
    }
});
