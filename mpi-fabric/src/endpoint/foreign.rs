//! Processes of other jobs: their numbers and identities, and the bridges to them.
//!
//! Not here: the bridges themselves (`bridge`), the agreement of the processes of a bridge (`mpi-comm`).

use mpi_errors::Result;

use super::Endpoint;
use crate::bridge::{BridgeKey, BridgeOffer, Bridges, EnteredBridge, JoinedBridge, Own, PeerPins};
use crate::record::{Full, RecordHead, Sink};
use crate::transport::{ProcessId, RemotePeer, Transport, Waiting};
use crate::{fault, host};
use std::os::fd::AsRawFd;

/// How a process gets a network.
pub type NetworkSource = Box<dyn Fn() -> Result<Box<dyn Transport>> + Send + Sync>;

/// How a process comes to connect with processes of other jobs.
pub(super) struct WaysToJobs {
    source: Option<NetworkSource>,
    /// Whether it can share memory with them.
    shares: bool,
}

impl WaysToJobs {
    pub(super) fn new(shares: bool) -> WaysToJobs {
        WaysToJobs { source: None, shares }
    }
}

/// Of up to so many processes that are connected at once each one finds the end of each other, whether or not they exchange messages.
const MOST_WATCHED: usize = 128;

impl Endpoint {
    /// Identifies the process with a number: a rank of this job, or a process of another job. `None` for a number that is
    /// not in use.
    pub fn id_of(&self, number: u32) -> Option<ProcessId> {
        if number < self.size {
            return Some(self.process(number));
        }
        self.bridges.as_ref()?.id_of(number)
    }

    /// The number of a process; `None` if it is of another job and this process is not connected with it.
    pub fn number_of(&self, id: ProcessId) -> Option<u32> {
        if id.job == self.job_number {
            return (id.rank < self.size).then_some(id.rank);
        }
        self.bridges.as_ref()?.number_of(id)
    }

    /// Whether this process has a route to a process: it is of this job, or connected and still running as far as known.
    pub fn has_route(&self, id: ProcessId) -> bool {
        self.number_of(id).is_some_and(|number| number < self.size || self.alive(number))
    }

    /// Makes a bridge for so many processes. `ring_bytes`: the longest of their [`Self::ring_bytes`].
    /// # Errors
    /// `MPI_ERR_NO_MEM`; `MPI_ERR_OTHER` for too many processes.
    pub fn create_bridge(&self, members: usize, ring_bytes: usize) -> Result<BridgeOffer> {
        BridgeOffer::new(members, ring_bytes)
    }

    /// Length of the rings of this process's job: no ring to it may be shorter.
    pub fn ring_bytes(&self) -> usize {
        self.job.ring_bytes()
    }

    /// Opens a bridge and takes the place of this process in it. `members` is the same list in all of its processes.
    /// # Errors
    /// `MPI_ERR_OTHER`: it cannot be opened, or belongs to other processes.
    pub fn enter_bridge(&self, key: BridgeKey, members: &[ProcessId]) -> Result<EnteredBridge> {
        let own = Own {
            id: self.process(self.rank),
            place: self.local,
            descriptor: self.job.fd().map(|fd| fd.as_raw_fd()),
            probe: (std::ptr::from_ref(&*self.probe) as u64, *self.probe),
        };
        let routes = self.bridges.as_ref().map_or(Vec::new(), |bridges| bridges.routes(members));
        EnteredBridge::new(key, members, &own, routes)
    }

    /// Finds the other processes of a bridge, once all have entered it. Nothing is changed yet.
    /// # Errors
    /// `MPI_ERR_OTHER`: one is not the process that it should be, or cannot be reached.
    pub fn join_bridge(&mut self, entered: EnteredBridge, members: &[ProcessId]) -> Result<JoinedBridge> {
        self.own_bridges().join(entered, members)
    }

    /// Begins to use a bridge, once all of its processes have joined it. The result keeps its processes connected.
    pub fn begin_bridge(&mut self, joined: JoinedBridge) -> PeerPins {
        self.doorbell.bound_sleeps();
        self.beyond = true;
        let pins = self.own_bridges().begin(joined);
        self.record_jobs();
        pins
    }

    /// The address of this process for processes of other jobs that share no memory with it. Opens the network, if there is none.
    /// # Errors
    /// `MPI_ERR_OTHER`: there is no network.
    pub fn network_address(&mut self) -> Result<String> {
        if self.network.is_none() {
            let open = self.ways_to_jobs.source.as_ref();
            let open = open.ok_or_else(|| fault::foreign("this process has no network to other hosts"))?;
            self.attach_network(open()?);
        }
        let address = self.network.as_ref().and_then(|network| network.address());
        address.ok_or_else(|| fault::foreign("the network of this job connects no processes of other jobs"))
    }

    /// Begins to use a network, for processes of other jobs only.
    fn attach_network(&mut self, network: Box<dyn Transport>) {
        self.max_payload = self.max_payload.min(network.max_payload());
        if let Waiting::Bell(ringer) = self.doorbell.attach_network(network.waiting()) {
            let doorbell = self.doorbell.clone();
            ringer.attach(Box::new(move || doorbell.ring()));
        }
        self.network = Some(network);
        self.beyond = true;
    }

    /// Whether nothing that this rank has pushed to a network is still with it, so that it may stop polling.
    pub fn is_drained(&self) -> bool {
        self.network.as_ref().is_none_or(|network| network.is_drained())
    }

    /// As [`Transport::settle`].
    pub fn settle_network(&mut self) {
        self.network.iter_mut().for_each(|network| network.settle());
    }

    /// Passes how this process gets a network when it connects with processes of other jobs on other hosts, and whether it shares
    /// memory with none of another job, for tests.
    pub fn set_network_source(&mut self, source: NetworkSource, alone: bool) {
        self.ways_to_jobs.source = Some(source);
        self.ways_to_jobs.shares &= !alone;
    }

    /// A number that processes of several jobs have in common if they can share memory; 0: this one shares memory with none.
    pub fn host_key(&self) -> u64 {
        match self.ways_to_jobs.shares {
            true => host::key(),
            false => 0,
        }
    }

    /// Connects processes of other jobs by the network. They are accepted from now on. The result keeps them connected.
    /// # Errors
    /// `MPI_ERR_OTHER`: one cannot be reached.
    pub fn connect_remote(&mut self, peers: &[RemotePeer]) -> Result<PeerPins> {
        let mut pins = PeerPins::default();
        for peer in peers {
            let number = self.own_bridges().add_remote(peer.id);
            // What is pinned is released after an error.
            pins.merge(&self.own_bridges().pin(&[number]));
            match &mut self.network {
                Some(network) => network.connect(number, peer)?,
                None => return Err(fault::foreign("this process has no network to other hosts")),
            }
        }
        Ok(pins)
    }

    /// Begins to use the connections with processes of other jobs, once all of these have made them.
    pub fn begin_remote(&mut self, peers: &[RemotePeer]) {
        for peer in peers {
            if let (Some(number), Some(network)) = (self.number_of(peer.id), &mut self.network) {
                // Both connect: either may end first. Many descriptors would be needed for many.
                network.begin(number, peers.len() <= MOST_WATCHED);
            }
        }
        self.record_jobs();
    }

    /// Records in the job memory which jobs this process is connected with, for the launchers of both.
    pub fn record_jobs(&self) {
        if let Some(bridges) = &self.bridges {
            self.job.set_connected_jobs(self.local, &bridges.jobs());
        }
    }

    /// Records that this process is connected with no other job any more: it has finalised MPI.
    pub fn leave_jobs(&self) {
        if self.bridges.is_some() {
            self.job.set_connected_jobs(self.local, &[]);
        }
    }

    /// Keeps the processes with these numbers connected until the result is dropped.
    pub fn pin(&self, numbers: &[u32]) -> PeerPins {
        self.bridges.as_ref().map_or(PeerPins::default(), |bridges| bridges.pin(numbers))
    }

    /// Whether [`Self::release_peers`] has something to do.
    #[inline]
    pub fn has_released_peers(&self) -> bool {
        self.bridges.as_ref().is_some_and(|bridges| bridges.has_released())
    }

    /// Forgets the processes of other jobs that nothing pins any more, and unmaps bridges without processes. The caller
    /// has nothing under way with them.
    pub fn release_peers(&mut self) {
        if let Some(bridges) = &mut self.bridges {
            let network = &mut self.network;
            bridges.release(|number| network.as_mut().is_none_or(|network| network.disconnect(number)));
            self.record_jobs();
        }
    }

    /// Whether this process has ever been connected with another job.
    #[inline]
    pub fn has_bridges(&self) -> bool {
        self.bridges.is_some()
    }

    /// Number of processes of other jobs that are connected, and of bridges.
    pub fn connected_peers(&self) -> [usize; 2] {
        self.bridges.as_ref().map_or([0; 2], |bridges| bridges.counts())
    }

    /// Looks which processes of other jobs have ended; returns the numbers of all that have.
    #[cfg(test)]
    pub(crate) fn lost_peers(&mut self) -> Vec<u32> {
        self.bridges.as_mut().map_or(Vec::new(), |bridges| bridges.lost())
    }

    pub(super) fn push_over_bridge(
        &mut self,
        dest: u32,
        head: &RecordHead,
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        let pushed = match &mut self.bridges {
            Some(bridges) => bridges.push(dest, head, len, fill, self.variables),
            None => panic!("process number {dest} of {}", self.size),
        };
        pushed.map_err(|_| self.full())
    }

    /// Polls what lies beyond the job memory.
    #[cold]
    pub(super) fn poll_beyond<S: Sink>(&mut self, sink: &mut S) -> Result<usize> {
        let mut seen = 0;
        if let Some(bridges) = &mut self.bridges {
            seen = bridges.poll(sink);
            if seen == 0 {
                seen = bridges.report_lost(sink);
            }
        }
        if !self.lost.is_empty() {
            seen += self.poll_lost(sink)?;
        }
        if let Some(network) = &mut self.network {
            seen += network.poll(sink)?;
        }
        Ok(seen)
    }

    #[cfg(test)]
    pub(crate) fn bridges_for_test(&self) -> &Bridges {
        self.bridges.as_ref().expect("a bridge")
    }

    /// Whether the network connects a process of another job.
    #[inline]
    pub(super) fn is_remote(&self, number: u32) -> bool {
        self.bridges.as_ref().is_some_and(|bridges| bridges.is_remote(number))
    }

    fn own_bridges(&mut self) -> &mut Bridges {
        let own = self.process(self.rank);
        self.bridges.get_or_insert_with(|| Box::new(Bridges::new(own, self.size, self.fenced)))
    }
}
