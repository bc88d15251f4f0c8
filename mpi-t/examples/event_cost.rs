//! Cost of an event point without callbacks, in instructions: two loops, one with a point and one without, each a
//! function of its own for the profiler. The argument is the number of rounds.
//!
//! `cargo xtask bench instruments` counts both with callgrind.

use std::hint::black_box;

use mpi_t::{Registry, SourceDef};

static SOURCE: SourceDef = SourceDef { name: "loop", description: "A loop." };

mpi_t::events! {
    /// The events of the loop.
    struct LoopEvents: NoObject, from: SOURCE {
        /// A round has begun: its number.
        round(number: u64) = { name: "loop_round", category: "loop", at: MpiRestricted },
    }
}

#[inline(never)]
fn rounds_with_a_point(events: &LoopEvents, rounds: u64) {
    for number in 0..rounds {
        events.round.emit(move || (number,));
        black_box(number);
    }
}

#[inline(never)]
fn rounds_without(rounds: u64) {
    for number in 0..rounds {
        black_box(number);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds = std::env::args().nth(1).map_or(Ok(1000), |text| text.parse())?;
    let (registry, events) = (Registry::new(), LoopEvents::new());
    registry.register_events(events)?;
    rounds_with_a_point(events, rounds);
    rounds_without(rounds);
    Ok(())
}
