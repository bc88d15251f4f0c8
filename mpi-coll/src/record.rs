//! Steps kept as a schedule, for calls that are carried out later.

use mpi_datatype::Datatype;
use mpi_errors::Result;

use crate::memory::Memory;
use crate::steps::{Check, Side, Span, Steps};

/// A step of a schedule.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Send {
        side: Side,
        dest: u32,
        from: Span,
    },
    Receive {
        side: Side,
        source: u32,
        into: Span,
    },
    Copy {
        from: Span,
        into: Span,
    },
    Combine {
        from: Span,
        into: Span,
    },
    Widen {
        from: Span,
        into: Span,
    },
    Narrow {
        from: Span,
        into: Span,
    },
    Check(Check),
    /// Waits for room for a publication in the communicator's channel.
    Reserve {
        bytes: u64,
    },
    Put {
        at: u64,
        from: Span,
    },
    Publish,
    Fetch {
        source: u32,
        at: u64,
        into: Span,
    },
    Fold {
        source: u32,
        at: u64,
        into: Span,
    },
    EndTurn,
    /// Waits for the receives that were started.
    Received,
    /// Waits for everything that was started.
    Round,
}

impl Step {
    /// Whether it is one of a communicator's channel.
    pub fn uses_channel(self) -> bool {
        use Step::*;
        matches!(self, Reserve { .. } | Put { .. } | Publish | Fetch { .. } | Fold { .. } | EndTurn)
    }
}

/// The sink that keeps steps.
pub(crate) struct Record<'r> {
    pub steps: Vec<Step>,
    pub memory: Memory<'static>,
    /// The type of a reduction's elements.
    pub datatype: Option<&'r Datatype>,
}

impl Record<'_> {
    fn add(&mut self, step: Step) -> Result<()> {
        self.steps.push(step);
        Ok(())
    }
}

impl Steps for Record<'_> {
    fn send_on(&mut self, side: Side, dest: u32, from: Span) -> Result<()> {
        self.add(Step::Send { side, dest, from })
    }

    fn receive_on(&mut self, side: Side, source: u32, into: Span) -> Result<()> {
        self.add(Step::Receive { side, source, into })
    }

    fn copy(&mut self, from: Span, into: Span) -> Result<()> {
        self.add(Step::Copy { from, into })
    }

    fn combine(&mut self, from: Span, into: Span) -> Result<()> {
        self.add(Step::Combine { from, into })
    }

    fn widen(&mut self, from: Span, into: Span) -> Result<()> {
        self.add(Step::Widen { from, into })
    }

    fn narrow(&mut self, from: Span, into: Span) -> Result<()> {
        self.add(Step::Narrow { from, into })
    }

    fn check(&mut self, check: Check) -> Result<()> {
        self.add(Step::Check(check))
    }

    fn provide(&mut self, area: u8, words: &[u64]) -> Result<Span> {
        self.memory.add_words(area, words)
    }

    fn received(&mut self) -> Result<()> {
        self.add(Step::Received)
    }

    fn round(&mut self) -> Result<()> {
        match self.steps.last() {
            Some(Step::Round) | None => Ok(()),
            Some(_) => self.add(Step::Round),
        }
    }

    fn reserve(&mut self, bytes: u64) -> Result<()> {
        self.add(Step::Reserve { bytes })
    }

    fn put(&mut self, at: u64, from: Span) -> Result<()> {
        self.add(Step::Put { at, from })
    }

    fn publish(&mut self) -> Result<()> {
        self.add(Step::Publish)
    }

    fn fetch(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        self.add(Step::Fetch { source, at, into })
    }

    fn fold(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        self.add(Step::Fold { source, at, into })
    }

    fn end_turn(&mut self) -> Result<()> {
        self.add(Step::EndTurn)
    }

    fn bytes(&mut self, area: u8, bytes: u64) -> Result<Span> {
        self.memory.add_bytes(area, bytes)
    }

    fn elements(&mut self, area: u8, count: u64) -> Result<Span> {
        match self.datatype {
            Some(datatype) => self.memory.add_elements(area, count, datatype),
            None => self.memory.add_bytes(area, count),
        }
    }
}
