//! Publications and reads of one operation that waits for them.
//!
//! Every publication has a heading: the operation and the bytes by which it matches those of other processes. A process
//! that reads another one's compares it with its own before it uses the data, so calls that do not match end with an
//! error.

use std::sync::Arc;

use mpi_comm::Channels;
use mpi_core::abi::{MPI_ERR_INTERN, MPI_ERR_OTHER, MPI_ERR_TRUNCATE};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::{AwaitedWord, Channel, Engine, Publication, Published};

use crate::coll_op::CollOp;
use crate::link::SAME_COUNTS;

/// Bits of a heading that hold the bytes.
const BYTES: u64 = (1 << 56) - 1;

/// What a process states about its call in each of its publications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heading(u64);

impl Heading {
    /// Of the synchronisation in `MPI_Finalize`: a barrier that matches none of the program's.
    pub const FINALIZE: Heading = Heading::new(CollOp::Barrier, 1);

    /// Of an operation in which processes have so many bytes in common.
    #[inline(always)]
    pub const fn new(which: CollOp, bytes: u64) -> Heading {
        Heading((which as u64) << 56 | if bytes > BYTES { BYTES } else { bytes })
    }

    #[inline(always)]
    pub fn word(self) -> u64 {
        self.0
    }

    /// The bytes in common.
    pub const fn matching(self) -> u64 {
        self.0 & BYTES
    }

    /// Compares it with what another process has published.
    #[inline(always)]
    pub fn check(self, source: u32, theirs: &Published<'_>) -> Result<()> {
        if theirs.terms == self.0 { Ok(()) } else { Err(self.mismatch(source, theirs.terms)) }
    }

    #[cold]
    #[inline(never)]
    fn mismatch(self, source: u32, theirs: u64) -> Error {
        let is_finalize = |heading: u64| heading == Heading::FINALIZE.0;
        let name = |heading: u64| {
            if is_finalize(heading) {
                return "MPI_Finalize";
            }
            let which = CollOp::ALL.into_iter().find(|which| *which as u64 == heading >> 56);
            which.map_or("no operation", CollOp::function)
        };
        if theirs >> 56 != self.0 >> 56 || is_finalize(theirs) != is_finalize(self.0) {
            return Error::new(
                MPI_ERR_OTHER,
                format!("rank {source} of the communicator calls {}, this process {}", name(theirs), name(self.0)),
            )
            .hint("All processes of a communicator call the same collectives in the same order.");
        }
        let (got, expected) = (theirs & BYTES, self.0 & BYTES);
        let class = if got > expected { MPI_ERR_TRUNCATE } else { MPI_ERR_OTHER };
        let got = mpi_errors::counted(got, "byte");
        let text = format!(
            "rank {source} sent {got} where {expected} were expected: the counts or types of the processes do not match"
        );
        Error::new(class, text).hint(SAME_COUNTS)
    }
}

/// The channel of an operation that does not block.
pub(crate) enum Way {
    /// That of its communicator, which operations use one after the other.
    Common(Arc<Channels>),
    /// One that a persistent operation has for itself: its processes may start several ones in different orders.
    Own(Box<Channel>),
}

/// The way of an operation that does not block.
pub(crate) struct Line {
    pub way: Way,
    pub heading: Heading,
    /// As for [`Channel::end_operation`].
    pub mutual: bool,
}

impl Line {
    #[inline]
    pub fn channel(&self) -> &Channel {
        match &self.way {
            Way::Common(channels) => &channels.nonblocking,
            Way::Own(channel) => channel,
        }
    }

    /// Whether operations use its channel one after the other.
    #[inline]
    pub fn is_common(&self) -> bool {
        matches!(self.way, Way::Common(_))
    }
}

/// The data of a publication are not where it says.
#[cold]
pub(crate) fn outside(source: u32) -> Error {
    Error::new(MPI_ERR_INTERN, format!("rank {source} published data outside of its part of the shared memory"))
}

/// A step of a channel in a call that has none.
#[cold]
pub(crate) fn no_channel() -> Error {
    Error::new(MPI_ERR_INTERN, "a collective through shared memory on a communicator without it")
}

/// Copies data to an offset of a publication.
#[inline]
pub(crate) fn put_into(publication: &mut Publication<'_>, at: u64, data: &SendBuf<'_>) {
    match data.contiguous() {
        Some(data) => publication.put(at as usize, data),
        None => {
            data.pack(0, publication.room(at as usize, data.bytes() as usize));
        }
    }
}

/// Copies `length` bytes of data, from `from` on, to an offset of a publication.
#[inline]
pub(crate) fn put_part(publication: &mut Publication<'_>, at: u64, data: &SendBuf<'_>, from: u64, length: u64) {
    match data.contiguous() {
        Some(data) => publication.put(at as usize, &data[from as usize..][..length as usize]),
        None => {
            data.pack(from, publication.room(at as usize, length as usize));
        }
    }
}

/// Stores what a rank has published, from an offset of a buffer on.
#[inline(always)]
pub(crate) fn store(
    published: &Published<'_>,
    source: u32,
    at: u64,
    len: u64,
    buffer: &mut RecvBuf<'_>,
    into: u64,
) -> Result<()> {
    let end = into.saturating_add(len);
    if let Some(room) = buffer.contiguous_mut().and_then(|room| room.get_mut(into as usize..end as usize)) {
        return if published.copy(at as usize, room) { Ok(()) } else { Err(outside(source)) };
    }
    let data = published.bytes(at as usize, len as usize).ok_or_else(|| outside(source))?;
    buffer.unpack(into, data);
    Ok(())
}

/// The turns of an operation that waits.
pub(crate) struct Turns<'c> {
    engine: &'c Engine,
    channel: &'c Channel,
    heading: Heading,
    /// Whether every process publishes and reads in each turn.
    exchanges: bool,
    publication: Option<Publication<'c>>,
}

impl<'c> Turns<'c> {
    /// Those of an operation that begins. `exchanges`: every process publishes and reads in each turn.
    #[inline(always)]
    pub fn new(engine: &'c Engine, channel: &'c Channel, heading: Heading, exchanges: bool) -> Turns<'c> {
        Turns { engine, channel, heading, exchanges, publication: None }
    }

    /// Waits for room for a publication.
    #[inline(always)]
    pub fn reserve(&mut self, bytes: u64) -> Result<()> {
        let room = match self.exchanges {
            true => self.wait(|channel| channel.reserve_exchange(bytes as usize))?,
            false => self.wait(|channel| channel.reserve(bytes as usize))?,
        };
        self.publication = Some(room);
        Ok(())
    }

    /// Room for what this process publishes in the next turn, if there is room without a wait.
    #[inline]
    pub fn reserve_next(&self, bytes: u64) -> Option<Publication<'c>> {
        self.channel.reserve_next(bytes as usize)
    }

    /// Whether data are published with streaming stores.
    #[inline]
    pub fn streams(&self) -> bool {
        self.channel.streams()
    }

    /// Takes such room in its turn.
    #[inline]
    pub fn take_room(&mut self, room: Publication<'c>) {
        self.publication = Some(room);
    }

    /// The room that was reserved.
    #[inline(always)]
    pub fn publication(&mut self) -> Option<&mut Publication<'c>> {
        self.publication.as_mut()
    }

    /// Publishes what is in the room.
    #[inline(always)]
    pub fn publish(&mut self) {
        if let Some(publication) = self.publication.take() {
            publication.publish(self.heading.word());
        }
    }

    /// Publishes data for another process, and copies this process's own meanwhile: the same data if not `each`. Waits for what the
    /// other one publishes. `several`: other turns of the operation have data as well.
    #[inline]
    pub fn exchange(
        &mut self,
        source: u32,
        (own, into): (&[u8], &mut [u8]),
        data: &[u8],
        (each, several): (bool, bool),
    ) -> Result<Published<'c>> {
        // Between far cores streaming stores into this process's part are faster then (measured, 1 MiB: 113 against 125 us).
        if each && several && self.streams() {
            self.publication = Some(self.wait(|channel| channel.reserve(data.len()))?);
        } else {
            self.reserve(data.len() as u64)?;
        }
        let Some(mut publication) = self.publication.take() else { return Err(no_channel()) };
        let at_once = !each && publication.copies_at_once();
        if at_once {
            publication.put_and_copy(0, own, into);
        } else {
            publication.put(0, data);
        }
        publication.publish(self.heading.word());
        if !at_once {
            into.copy_from_slice(own);
        }
        self.read(source)
    }

    /// Waits for what a rank publishes in this turn. Errors: it does not match.
    #[inline(always)]
    pub fn read(&self, source: u32) -> Result<Published<'c>> {
        let published = self.wait(|channel| channel.read(source))?;
        self.heading.check(source, &published)?;
        Ok(published)
    }

    /// Waits for what a rank publishes in this turn; some of its bytes.
    #[inline(always)]
    pub fn bytes(&self, source: u32, at: u64, len: u64) -> Result<&'c [u8]> {
        self.read(source)?.bytes(at as usize, len as usize).ok_or_else(|| outside(source))
    }

    /// As [`Turns::bytes`], and stores them from an offset of a buffer on.
    #[inline(always)]
    pub fn store(&self, source: u32, at: u64, len: u64, buffer: &mut RecvBuf<'_>, into: u64) -> Result<()> {
        store(&self.read(source)?, source, at, len, buffer, into)
    }

    #[inline(always)]
    fn wait<T>(&self, mut try_it: impl FnMut(&'c Channel) -> Result<T, AwaitedWord<'c>>) -> Result<T> {
        loop {
            match try_it(self.channel) {
                Ok(done) => return Ok(done),
                Err(awaited) => self.engine.await_word(awaited)?,
            }
        }
    }

    /// Ends a turn.
    #[inline(always)]
    pub fn end_turn(&self) {
        self.channel.end_turn();
    }

    /// Ends the operation; `mutual` as for [`Channel::end_operation`].
    #[inline(always)]
    pub fn end(self, mutual: bool) {
        self.channel.end_operation(mutual);
    }
}
