//! The steps that a collective operation consists of, for one process.
//!
//! An algorithm is one function that is generic over [`Steps`]. What a step does is the sink's: `run` carries it out at
//! once (blocking calls), `record` keeps it in a schedule (non-blocking and persistent calls). Memory is named by
//! [`Span`]s, so that the same steps serve all of them.
//! Invariants: an algorithm depends on the call's shape only, never on data. Between two boundaries, memory that one
//! step writes is touched by no other step, except that copies and combinations are done in order. Elements
//! are combined in working memory, and in a receive buffer whose type allows it.
//! Not here: which algorithm a call has (`shape`, `plan`).

use mpi_errors::Result;

/// The memory that a step names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The program's send buffers.
    Send,
    /// The program's receive buffers.
    Recv,
    /// Working memory of the call, one of [`AREAS`].
    Work(u8),
}

/// Number of areas of working memory.
pub(crate) const AREAS: usize = 8;
/// Elements of a derived type, in place of the receive buffer.
pub(crate) const STAGED: u8 = 0;
/// A partial result, or blocks of data.
pub(crate) const VALUE: u8 = 1;
/// The contribution that arrives.
pub(crate) const OTHER: u8 = 2;
/// The partial result of the ranks above this one.
pub(crate) const ABOVE: u8 = 3;
/// A whole result that is scattered.
pub(crate) const RESULT: u8 = 4;
/// The contribution to a reproducible sum.
pub(crate) const WIDE: u8 = 5;
/// The rounded result of a reproducible sum, which is sent on.
pub(crate) const ROUNDED: u8 = 6;
/// What processes compare before a call.
pub(crate) const AGREED: u8 = 7;

/// Packed bytes of one piece of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub place: Place,
    /// Number of the buffer, where a place has several.
    pub piece: u32,
    /// First packed byte.
    pub at: u64,
    /// Number of packed bytes.
    pub bytes: u64,
}

impl Span {
    /// No data.
    pub const EMPTY: Span = Span { place: Place::Send, piece: 0, at: 0, bytes: 0 };

    /// Bytes from `at` on of this span.
    #[inline]
    pub fn part(self, at: u64, bytes: u64) -> Span {
        debug_assert!(at + bytes <= self.bytes);
        Span { at: self.at + at, bytes, ..self }
    }
}

/// This process's rank among the processes of an algorithm, and their number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Team {
    pub rank: u32,
    pub size: u32,
}

impl Team {
    /// All other ranks, beginning behind this one: so that not all processes begin with the same.
    pub fn others(self) -> impl Iterator<Item = u32> {
        (1..self.size).map(move |step| (self.rank + step) % self.size)
    }
}

/// The processes that compare.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Among {
    pub team: Team,
    /// Number of processes of the other group of an intercommunicator, else 0.
    pub remote: u32,
}

/// A part of a comparison that is computed from words which have arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    /// The terms of all processes.
    Terms { all: Span, among: Among },
    /// The messages from each peer, against those that this process expects; the first difference becomes its finding.
    Messages { arrived: Span, expected: Span, finding: Span },
    /// What all processes found.
    Findings { all: Span, among: Among },
}

/// The processes that a rank belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Those that messages of the communicator go to: of an intercommunicator, the remote group.
    Peers,
    /// The local group of an intercommunicator.
    Local,
}

/// A sink of steps.
pub(crate) trait Steps {
    /// Starts to send to a rank.
    fn send_on(&mut self, side: Side, dest: u32, from: Span) -> Result<()>;
    /// Starts to receive exactly these bytes from a rank.
    fn receive_on(&mut self, side: Side, source: u32, into: Span) -> Result<()>;
    /// Copies data; too much data for the span is an error, as in a message.
    fn copy(&mut self, from: Span, into: Span) -> Result<()>;
    /// Combines elements: `into = from op into`.
    fn combine(&mut self, from: Span, into: Span) -> Result<()>;
    /// Converts numbers to the sums of a reproducible sum.
    fn widen(&mut self, from: Span, into: Span) -> Result<()>;
    /// Rounds the sums of a reproducible sum to numbers.
    fn narrow(&mut self, from: Span, into: Span) -> Result<()>;
    /// Computes a part of the comparison before a call.
    fn check(&mut self, check: Check) -> Result<()>;
    /// Waits for the receives that were started.
    fn received(&mut self) -> Result<()>;
    /// Waits for everything that was started.
    fn round(&mut self) -> Result<()>;
    /// Provides room for so many bytes that this process publishes in this turn of the communicator's channel.
    fn reserve(&mut self, bytes: u64) -> Result<()>;
    /// Copies data to an offset in that room.
    fn put(&mut self, at: u64, from: Span) -> Result<()>;
    /// Publishes what was put.
    fn publish(&mut self) -> Result<()>;
    /// Waits for what a rank publishes in this turn, and copies the bytes from an offset on.
    fn fetch(&mut self, source: u32, at: u64, into: Span) -> Result<()>;
    /// As [`Steps::fetch`], combining: `into = theirs op into`.
    fn fold(&mut self, source: u32, at: u64, into: Span) -> Result<()>;
    /// Ends a turn: what the others published in it is not read any more.
    fn end_turn(&mut self) -> Result<()>;
    /// Provides working memory of so many bytes, once for each area. Errors: `MPI_ERR_NO_MEM`.
    fn bytes(&mut self, area: u8, bytes: u64) -> Result<Span>;
    /// Provides working memory that holds these words, once for each area. Errors: `MPI_ERR_NO_MEM`.
    fn provide(&mut self, area: u8, words: &[u64]) -> Result<Span>;
    /// Provides working memory for elements of the reduction, once for each area. Errors: `MPI_ERR_NO_MEM`.
    fn elements(&mut self, area: u8, count: u64) -> Result<Span>;

    /// Starts to send to a peer.
    #[inline]
    fn send(&mut self, dest: u32, from: Span) -> Result<()> {
        self.send_on(Side::Peers, dest, from)
    }

    /// Starts to receive from a peer.
    #[inline]
    fn receive(&mut self, source: u32, into: Span) -> Result<()> {
        self.receive_on(Side::Peers, source, into)
    }
}

/// The same sink, for an algorithm among the local group of an intercommunicator.
pub(crate) struct InLocalGroup<'s, S>(pub &'s mut S);

impl<S: Steps> Steps for InLocalGroup<'_, S> {
    fn send_on(&mut self, _side: Side, dest: u32, from: Span) -> Result<()> {
        self.0.send_on(Side::Local, dest, from)
    }

    fn receive_on(&mut self, _side: Side, source: u32, into: Span) -> Result<()> {
        self.0.receive_on(Side::Local, source, into)
    }

    fn copy(&mut self, from: Span, into: Span) -> Result<()> {
        self.0.copy(from, into)
    }

    fn combine(&mut self, from: Span, into: Span) -> Result<()> {
        self.0.combine(from, into)
    }

    fn widen(&mut self, from: Span, into: Span) -> Result<()> {
        self.0.widen(from, into)
    }

    fn narrow(&mut self, from: Span, into: Span) -> Result<()> {
        self.0.narrow(from, into)
    }

    fn check(&mut self, check: Check) -> Result<()> {
        self.0.check(check)
    }

    fn provide(&mut self, area: u8, words: &[u64]) -> Result<Span> {
        self.0.provide(area, words)
    }

    fn received(&mut self) -> Result<()> {
        self.0.received()
    }

    fn round(&mut self) -> Result<()> {
        self.0.round()
    }

    fn reserve(&mut self, bytes: u64) -> Result<()> {
        self.0.reserve(bytes)
    }

    fn put(&mut self, at: u64, from: Span) -> Result<()> {
        self.0.put(at, from)
    }

    fn publish(&mut self) -> Result<()> {
        self.0.publish()
    }

    fn fetch(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        self.0.fetch(source, at, into)
    }

    fn fold(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        self.0.fold(source, at, into)
    }

    fn end_turn(&mut self) -> Result<()> {
        self.0.end_turn()
    }

    fn bytes(&mut self, area: u8, bytes: u64) -> Result<Span> {
        self.0.bytes(area, bytes)
    }

    fn elements(&mut self, area: u8, count: u64) -> Result<Span> {
        self.0.elements(area, count)
    }
}

#[cfg(test)]
pub(crate) mod without_data;
