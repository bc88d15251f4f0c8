//! Exchange between two groups: the processes of both contribute a few words each, and receive those of all.
//!
//! The words of a group travel to its leader, the leaders exchange them, and each leader distributes what it received.
//! Invariant: the messages do not depend on the words (see `exchange`), so no process waits for ever because of another
//! one's error.
//! Not here: the meaning of the words, the exchange in one group (`exchange`).

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;

use crate::comm::Comm;
use crate::exchange::Exchange;
use crate::remote::Remote;
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
}

/// The words of each process of the local group and of the remote group, by rank.
pub(crate) type Words<const N: usize> = [Vec<[u64; N]>; 2];

impl<'a> BothGroups<'a> {
    /// The groups of an intercommunicator. Their leaders are the processes with rank 0.
    pub fn of(engine: &'a Engine, comm: &Comm, remote: &Remote) -> BothGroups<'a> {
        let local = Exchange::among_all(engine, comm.local(), tags::BOTH_GROUPS);
        let link = LeaderLink::Messages { context: comm.collective_context(), rank: 0, tag: tags::BOTH_GROUPS };
        let link = (comm.rank == 0).then_some(link);
        BothGroups { engine, local, link, leaders: [0; 2], remote_size: remote.group().size() as usize }
    }

    /// The processes of a communicator with this leader, and a remote group that [`BothGroups::set_remote`] describes
    /// once the leader has received it. `link` is significant at the leader.
    pub fn unconnected(engine: &'a Engine, comm: &Comm, leader: u32, link: Option<LeaderLink<'a>>) -> BothGroups<'a> {
        let local = Exchange::among_all(engine, comm, tags::BOTH_GROUPS).starting_at(leader as usize);
        BothGroups { engine, local, link, leaders: [leader as usize, 0], remote_size: 0 }
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

    /// The words of all processes.
    pub fn all<const N: usize>(&self, own: [u64; N]) -> Result<Words<N>> {
        let mut local = self.local.all(own)?;
        // The class of an error comes first, so that the processes of the group do not wait for a leader that has lost
        // the other one.
        let mut words = vec![0; 1 + self.remote_size * N];
        let swapped = self.link.map(|link| link.swap(self.engine, local.as_flattened(), &mut words[1..]));
        if let Some(Err(error)) = &swapped {
            words[0] = error.class() as u64;
        }
        self.local.distribute(&mut words)?;
        swapped.unwrap_or(Ok(()))?;
        if words[0] != 0 {
            return Err(Error::new(words[0] as i32, "the leader of the local group has lost the other group"));
        }
        let mut remote: Vec<[u64; N]> = words[1..].as_chunks().0.to_vec();
        // Each group's leader is the first in its exchange.
        local.rotate_right(self.leaders[0]);
        remote.rotate_right(self.leaders[1]);
        Ok([local, remote])
    }
}

impl LeaderLink<'_> {
    /// Sends words to the other leader, and receives as many as there is room for.
    pub fn swap(&self, engine: &Engine, own: &[u64], others: &mut [u64]) -> Result<()> {
        match *self {
            LeaderLink::Messages { context, rank, tag } => {
                let (send, recv) = (SendBuf::from_slice(own), RecvBuf::from_slice(others));
                engine.sendrecv(engine.lock(), context, rank, tag, send, rank, tag, recv)?;
                Ok(())
            }
            LeaderLink::Words(way) => way.swap(own, others),
        }
    }
}
