//! The two parts of a handle's value, by the class of its variable: its own part and the source.
//!
//! Invariant: the own part that is computed for a value results in that value, running or stopped.
//! Not here: the word that has the own part, and reading both parts together (`state`). `tests/loom.rs` checks this
//! file with it.

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

    /// The value, from the own part and the source at that state.
    #[inline(always)]
    pub(crate) fn value(self, running: bool, own: u64, source: u64) -> u64 {
        if !running {
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
}
