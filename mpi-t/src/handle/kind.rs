//! The two parts of a handle's value, by the class of its variable: its own part and the source.
//!
//! Invariant: the own part that is computed for a value results in that value, running or stopped.
//! Not here: reading both parts together (`state`). `tests/loom.rs` checks this file with it.

use crate::handle::state::{Format, State};

/// The kind of a handle's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What was added to the source while running.
    Sum = 0,
    /// The source; the source at the time of the stop, while stopped.
    Mirror = 1,
    /// The highest source while running.
    High = 2,
    /// The lowest source while running.
    Low = 3,
}

impl Kind {
    pub(crate) const fn from_bits(bits: u8) -> Kind {
        match bits & 3 {
            0 => Kind::Sum,
            1 => Kind::Mirror,
            2 => Kind::High,
            _ => Kind::Low,
        }
    }

    /// The value, from a state and the source at that state.
    #[inline]
    pub(crate) fn value(self, state: State, source: u64) -> u64 {
        self.value_of(state, state.own(), source)
    }

    /// The same, from the state's own part.
    #[inline(always)]
    pub(crate) fn value_of(self, state: State, own: u64, source: u64) -> u64 {
        if !state.running() {
            return own;
        }
        match self {
            Kind::Sum | Kind::Mirror => own.wrapping_add(source),
            Kind::High => {
                if source > own {
                    source
                } else {
                    own
                }
            }
            Kind::Low => {
                if source < own {
                    source
                } else {
                    own
                }
            }
        }
    }

    /// The own part with which `value` is the present value.
    pub(crate) const fn own_for(self, value: u64, running: bool, source: u64) -> u64 {
        match self {
            Kind::Sum if running => value.wrapping_sub(source),
            Kind::Mirror if running => 0,
            _ => value,
        }
    }

    /// The starting value (MPI-5.0, section 15.3.7): zero for sums, the present value for all others.
    pub(crate) const fn starting_value(self, source: u64) -> u64 {
        match self {
            Kind::Sum => 0,
            _ => source,
        }
    }

    /// The state of a new handle, which has its starting value.
    #[inline]
    pub(crate) fn initial(self, turn: u32, format: Format, running: bool, source: u64) -> State {
        let own = self.own_for(self.starting_value(source), running, source);
        State::new(0, turn, format, running).with_own(own)
    }
}
