//! Exchange between two groups: the processes of both contribute a few words each, and receive those of all.
//!
//! The words of a group travel to its leader, the leaders exchange them, and each leader distributes what it received.
//! Invariant: the messages do not depend on the words (see `exchange`), so no process waits for ever because of another
//! one's error. A leader whose group has lost a process sends an empty message in place of the words that the other
//! leader waits for ([`BothGroups::end_after_error`]).
//! Not here: the meaning of the words, the exchange in one group (`exchange`).

use std::cell::Cell;

use mpi_core::abi::MPI_ERR_PROC_ABORTED;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;

use crate::comm::Comm;
use crate::exchange::Exchange;
use crate::remote::Remote;
use crate::sent_class::error_of;
use crate::tags;

/// The connection of one leader with the other one.
#[derive(Clone, Copy)]
pub(crate) enum LeaderLink<'a> {
    /// Messages with this context id, for collectives, to this rank.
    Messages { context: u32, rank: i32, tag: i32 },
    /// A way without a communicator.
    Words(&'a dyn WordExchange),
}

/// How two leaders without a common communicator exchange words.
pub trait WordExchange {
    /// Sends words to the other leader, and receives as many as there is room for. Waits; makes progress meanwhile.
    /// # Errors
    /// The other leader cannot be reached.
    fn swap(&self, own: &[u64], others: &mut [u64]) -> Result<()>;
}

/// The processes of two groups. All calls are collective over both; they wait, with no guard held.
pub(crate) struct BothGroups<'a> {
    engine: &'a Engine,
    /// The local group, its leader first.
    local: Exchange<'a>,
    /// The connection with the other group, in the leader.
    link: Option<LeaderLink<'a>>,
    /// Rank of the leader in the local group, and in the remote group.
    leaders: [usize; 2],
    remote_size: usize,
    /// Whether the other leader waits for words, or will wait for them; in a leader, while the groups are being connected.
    is_awaited: Cell<bool>,
}

/// The words of each process of the local group and of the remote group, by rank.
pub(crate) type Words<const N: usize> = [Vec<[u64; N]>; 2];

impl<'a> BothGroups<'a> {
    /// The groups of an intercommunicator. Their leaders are the processes with rank 0.
    pub fn of(engine: &'a Engine, comm: &Comm, remote: &Remote) -> BothGroups<'a> {
        let local = Exchange::among_all(engine, comm.local(), tags::BOTH_GROUPS);
        let link = LeaderLink::Messages { context: comm.collective_context(), rank: 0, tag: tags::BOTH_GROUPS };
        let link = (comm.rank == 0).then_some(link);
        BothGroups {
            engine,
            local,
            link,
            leaders: [0; 2],
            remote_size: remote.group().size() as usize,
            is_awaited: Cell::default(),
        }
    }

    /// The processes of a communicator with this leader, and a remote group that [`BothGroups::set_remote`] describes
    /// once the leader has received it. `link` is significant at the leader.
    pub fn unconnected(engine: &'a Engine, comm: &Comm, leader: u32, link: Option<LeaderLink<'a>>) -> BothGroups<'a> {
        let local = Exchange::among_all(engine, comm, tags::BOTH_GROUPS).starting_at(leader as usize);
        BothGroups { engine, local, link, leaders: [leader as usize, 0], remote_size: 0, is_awaited: Cell::default() }
    }

    /// The leaders have exchanged their groups. Each of them waits for the words of the other one from now on.
    pub fn begin(&self) {
        self.is_awaited.set(true);
    }

    /// After an error in this process: the other leader, if it waits for words, gets an error. Both send and receive as often,
    /// also if both groups have an error.
    pub fn end_after_error(&self) {
        if let (Some(LeaderLink::Messages { context, rank, tag }), true) = (self.link, self.is_awaited.take()) {
            let mut words = vec![0; 3 * self.remote_size.max(1)];
            let (send, recv) = (SendBuf::empty(), RecvBuf::from_slice(&mut words));
            // The caller reports the error that came first.
            let _ = self.engine.sendrecv(self.engine.lock(), context, rank, tag, send, rank, tag, recv);
        }
    }

    /// Sets size and leader of the remote group, which the leader has received.
    pub fn set_remote(&mut self, remote_size: u32, remote_leader: u32) {
        self.remote_size = remote_size as usize;
        self.leaders[1] = remote_leader as usize;
    }

    /// The local group, its leader first.
    pub fn local(&self) -> &Exchange<'a> {
        &self.local
    }

    /// The words of all processes. Another exchange follows, unless there is an error.
    pub fn all<const N: usize>(&self, own: [u64; N]) -> Result<Words<N>> {
        self.all_then(own, |_| true)
    }

    /// The words of all processes; `more` finds from them, alike in both leaders, whether another exchange follows.
    pub fn all_then<const N: usize>(&self, own: [u64; N], more: impl FnOnce(&Words<N>) -> bool) -> Result<Words<N>> {
        let mut local = self.local.all(own)?;
        // The class of an error comes first, so that the processes of the group do not wait for a leader that has lost
        // the other one.
        let mut words = vec![0; 1 + self.remote_size * N];
        let swapped = self.link.map(|link| link.swap(self.engine, local.as_flattened(), &mut words[1..]));
        if let Some(Err(error)) = &swapped {
            words[0] = error.class() as u64;
        }
        // Each group's leader is the first in its exchange.
        local.rotate_right(self.leaders[0]);
        let of_remote = |words: &[u64]| {
            let mut remote: Vec<[u64; N]> = words[1..].as_chunks().0.to_vec();
            remote.rotate_right(self.leaders[1]);
            remote
        };
        // Before the distribution, which may fail in the leader too.
        let known = matches!(swapped, Some(Ok(()))).then(|| [std::mem::take(&mut local), of_remote(&words)]);
        self.is_awaited.set(known.as_ref().is_some_and(more));
        self.local.distribute(&mut words)?;
        swapped.unwrap_or(Ok(()))?;
        if words[0] != 0 {
            return Err(error_of(words[0], "the leader of the local group has lost the other group"));
        }
        Ok(known.unwrap_or_else(|| [local, of_remote(&words)]))
    }
}

impl LeaderLink<'_> {
    /// Sends words to the other leader, and receives as many as there is room for.
    pub fn swap(&self, engine: &Engine, own: &[u64], others: &mut [u64]) -> Result<()> {
        match *self {
            LeaderLink::Messages { context, rank, tag } => {
                let bytes = size_of_val(others) as u64;
                let (send, recv) = (SendBuf::from_slice(own), RecvBuf::from_slice(others));
                let status = engine.sendrecv(engine.lock(), context, rank, tag, send, rank, tag, recv)?;
                if status.bytes() == bytes { Ok(()) } else { Err(failed_there()) }
            }
            LeaderLink::Words(way) => way.swap(own, others),
        }
    }
}

#[cold]
fn failed_there() -> Error {
    Error::new(MPI_ERR_PROC_ABORTED, "the other group has lost a process that takes part, which has ended")
}
