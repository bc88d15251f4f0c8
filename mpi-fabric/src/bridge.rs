//! Bridges: the way to processes of other jobs on this host.
//!
//! A bridge is memory with the layout of a job memory whose ranks are processes of several jobs ([`memory`]). One process
//! makes it; the others open it through that process's entry in `/proc`. A process of another job has a *process
//! number* from the size of this process's own job on. Such numbers are local: a process is identified by its
//! [`ProcessId`] in what processes exchange.
//!
//! Records to a peer go through the rings of one bridge, in order. When a second bridge connects the pair, it stays with
//! the first one if both processes still have it, and continues in the second one otherwise. A sender rings the doorbell
//! in the receiver's own job memory ([`bells`]), so a receiver that waits does the same with and without bridges.
//!
//! Invariants: a number is used again only when no [`PeerPins`] has it; a bridge stays mapped while one of its peers has
//! a number. What a bridge's processes write is input: a wrong member is refused, and a peer that writes no record is
//! lost.
//! Not here: agreement that all processes have opened a bridge (`mpi-comm`), networks (`transport`).

mod bells;
mod memory;
mod pins;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mpi_errors::{Error, Result};

use crate::fault;
use crate::job::Job;
use crate::peer::{Connections, Input, Output};
use crate::peer_process::{Copies, LOOK_EVERY_MS, ProbedProcess, now_ms};
use crate::rank_block::{ENDED, LEFT};
use crate::record::{Full, RecordHead, Sink};
use crate::transport::ProcessId;
use crate::variables::FabricInstruments;
use bells::Bells;
use pins::PinTable;

pub(crate) use memory::Own;
pub use memory::{BridgeKey, BridgeOffer, EnteredBridge};
pub use pins::PeerPins;

/// Stands for a place whose process has no number here: it is of this process's own job, or was released.
const NO_NUMBER: u32 = u32::MAX;
/// Records taken from one ring before the next ring's turn.
const BATCH: usize = 16;
/// Up to so many peers are observed through descriptors of their processes.
const MOST_HANDLES: usize = 128;

/// The bridges of one process, and its peers behind them.
pub(crate) struct Bridges {
    /// The smallest number of a peer here: the size of the own job.
    first: u32,
    own: ProcessId,
    /// Whether the others' `membarrier` reaches this process.
    fenced: bool,
    peers: Vec<Option<Peer>>,
    by_id: HashMap<ProcessId, u32>,
    bridges: Vec<Bridge>,
    table: Arc<PinTable>,
    /// When the peers' processes were last looked at.
    looked_ms: u64,
    /// Peers found to be lost, to be reported when all that they have sent has been received.
    unreported: Vec<u32>,
    /// Peers on the network that nothing pins, whose last records have not left.
    leaving: Vec<u32>,
}

/// A process of another job.
struct Peer {
    id: ProcessId,
    /// How records reach it; `None`: by the network.
    memory: Option<Memory>,
    /// It has ended, or wrote something that is no record. Of a peer on the network the network reports that.
    lost: bool,
}

/// The way to a process of another job that shares memory with this one.
struct Memory {
    output: Output,
    /// The bridge of `output`.
    bridge: Arc<Job>,
    /// Keeps the peer's doorbell mapped.
    _bells: Arc<Bells>,
}

/// One bridge, as one of its processes has it.
struct Bridge {
    job: Arc<Job>,
    /// This process's place.
    place: u32,
    connected: Connections,
    inputs: Vec<Input>,
    /// Number of the process at each place, or [`NO_NUMBER`].
    numbers: Box<[u32]>,
}

/// A bridge whose processes this one has found, and may begin to use.
pub struct JoinedBridge {
    job: Arc<Job>,
    place: u32,
    /// The processes of other jobs.
    found: Vec<Found>,
}

struct Found {
    place: u32,
    id: ProcessId,
    bells: Arc<Bells>,
    bell: u32,
    /// Both processes of the pair had a route before, which they keep.
    has_route: bool,
}

impl Bridges {
    /// None yet, for a process of a job with `size` ranks.
    pub(crate) fn new(own: ProcessId, size: u32, fenced: bool) -> Bridges {
        Bridges {
            first: size,
            own,
            fenced,
            peers: Vec::new(),
            by_id: HashMap::new(),
            bridges: Vec::new(),
            table: Arc::default(),
            looked_ms: 0,
            unreported: Vec::new(),
            leaving: Vec::new(),
        }
    }

    fn peer(&self, number: u32) -> Option<&Peer> {
        self.peers.get(number.checked_sub(self.first)? as usize)?.as_ref()
    }

    fn peer_mut(&mut self, number: u32) -> Option<&mut Peer> {
        self.peers.get_mut(number.checked_sub(self.first)? as usize)?.as_mut()
    }

    pub(crate) fn id_of(&self, number: u32) -> Option<ProcessId> {
        self.peer(number).map(|peer| peer.id)
    }

    pub(crate) fn number_of(&self, id: ProcessId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// The places of the members to which this process has a route that works.
    pub(crate) fn routes(&self, members: &[ProcessId]) -> Vec<u32> {
        let works =
            |id: &ProcessId| self.number_of(*id).and_then(|number| self.peer(number)).is_some_and(|it| !it.lost);
        (0..).zip(members).filter(|(_, id)| works(id)).map(|(place, _)| place).collect()
    }

    /// Finds the processes of a bridge that all of them have entered. Changes nothing yet.
    /// # Errors
    /// `MPI_ERR_OTHER`: a place has another process than expected, or its doorbell cannot be mapped.
    pub(crate) fn join(&self, entered: EnteredBridge, members: &[ProcessId]) -> Result<JoinedBridge> {
        let EnteredBridge { job, place, routes } = entered;
        let mut of_job: HashMap<u64, Arc<Bells>> = HashMap::new();
        let mut found = Vec::new();
        for (other, id) in (0..).zip(members).filter(|(_, id)| id.job != self.own.job) {
            let member = memory::member(&job, other, *id)?;
            let bells = match of_job.get(&id.job) {
                Some(bells) => bells.clone(),
                None => of_job.entry(id.job).or_insert(Arc::new(Bells::open(*id, member.pid, member.fd)?)).clone(),
            };
            bells.check(*id, member.bell)?;
            let has_route = routes.contains(&other) && member.has_route(place);
            found.push(Found { place: other, id: *id, bells, bell: member.bell, has_route });
        }
        Ok(JoinedBridge { job, place, found })
    }

    /// Begins to use a bridge that all of its processes have joined.
    pub(crate) fn begin(&mut self, joined: JoinedBridge) -> PeerPins {
        let JoinedBridge { job, place, found } = joined;
        let mut numbers = vec![NO_NUMBER; job.ranks() as usize];
        for Found { place: other, id, bells, bell, has_route } in found {
            let number = self.number_of(id);
            let number = match number {
                Some(number) if has_route => number,
                _ => {
                    let output = Output::over_bridge(&job, place, other, bells.bell(bell));
                    let memory = Memory { output, bridge: job.clone(), _bells: bells };
                    self.place_peer(number, Peer { id, memory: Some(memory), lost: false })
                }
            };
            numbers[other as usize] = number;
        }
        let used: Vec<u32> = numbers.iter().copied().filter(|number| *number != NO_NUMBER).collect();
        self.bridges.push(Bridge {
            place,
            connected: Connections::new(job.block(place), 0..=job.ranks() - 1),
            inputs: Vec::new(),
            numbers: numbers.into(),
            job,
        });
        self.pin(&used)
    }

    /// Whether the network connects a peer.
    #[inline]
    pub(crate) fn is_remote(&self, number: u32) -> bool {
        self.peer(number).is_some_and(|peer| peer.memory.is_none())
    }

    /// Gives a peer on the network a number: its own, if it has one.
    pub(crate) fn add_remote(&mut self, id: ProcessId) -> u32 {
        self.place_peer(self.number_of(id), Peer { id, memory: None, lost: false })
    }

    /// Stores a peer, under its number if it has one already.
    fn place_peer(&mut self, number: Option<u32>, peer: Peer) -> u32 {
        let id = peer.id;
        let index = match number {
            Some(number) => (number - self.first) as usize,
            None => self.peers.iter().position(Option::is_none).unwrap_or_else(|| {
                self.peers.push(None);
                self.peers.len() - 1
            }),
        };
        self.peers[index] = Some(peer);
        let number = self.first + index as u32;
        self.by_id.insert(id, number);
        number
    }

    /// Keeps these peers until the result is dropped; numbers of the own job and unknown ones are left out.
    pub(crate) fn pin(&self, numbers: &[u32]) -> PeerPins {
        let members = numbers.iter().filter_map(|number| Some((*number, self.id_of(*number)?))).collect();
        PeerPins::new(self.own, self.first, members, &self.table)
    }

    /// Whether the last pins of some peer were dropped since the last [`Self::release`].
    #[inline]
    pub(crate) fn has_released(&self) -> bool {
        !self.leaving.is_empty() || self.table.has_released()
    }

    /// Forgets the peers without pins, and unmaps the bridges without peers.
    /// `disconnect` ends the connection with a peer on the network; false: not yet.
    pub(crate) fn release(&mut self, mut disconnect: impl FnMut(u32) -> bool) {
        let mut released = std::mem::take(&mut self.leaving);
        // Meanwhile it may have been connected again.
        released.retain(|number| !self.table.is_pinned(*number));
        released.extend(self.table.take_released());
        for number in released {
            let Some(slot) = self.peers.get_mut((number - self.first) as usize) else { continue };
            let Some(peer) = slot.take_if(|peer| peer.memory.is_some() || disconnect(number)) else {
                self.leaving.push(number);
                continue;
            };
            self.by_id.remove(&peer.id);
            self.unreported.retain(|lost| *lost != number);
            for bridge in &mut self.bridges {
                bridge.numbers.iter_mut().filter(|place| **place == number).for_each(|place| *place = NO_NUMBER);
                bridge.inputs.retain(|input| input.from != number);
            }
        }
        self.bridges.retain(|bridge| {
            let used = bridge.numbers.iter().any(|number| *number != NO_NUMBER);
            if !used {
                bridge.leave(LEFT);
            }
            used
        });
        while self.peers.last().is_some_and(Option::is_none) {
            self.peers.pop();
        }
    }

    /// The jobs of the peers that something pins.
    pub(crate) fn jobs(&self) -> Vec<u64> {
        let peers = (self.first..).zip(&self.peers).filter(|(number, _)| self.table.is_pinned(*number));
        let mut jobs: Vec<u64> = peers.filter_map(|(_, peer)| peer.as_ref()).map(|peer| peer.id.job).collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }

    /// Number of peers, and of bridges.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.peers.iter().flatten().count(), self.bridges.len()]
    }

    /// Appends a record for a peer; one for a peer that is lost, or that has left the bridge and its ring is full, is dropped.
    pub(crate) fn push(
        &mut self,
        dest: u32,
        head: &RecordHead,
        len: usize,
        fill: impl FnOnce(&mut [u8]),
        variables: &'static FabricInstruments,
    ) -> Result<(), Full> {
        let fenced = self.fenced;
        let place_in = |bridges: &[Bridge], job: &Arc<Job>| {
            bridges.iter().find(|bridge| Arc::ptr_eq(&bridge.job, job)).map(|bridge| bridge.place)
        };
        let Some(peer) = self.peers.get_mut(dest.wrapping_sub(self.first) as usize).and_then(Option::as_mut) else {
            return Ok(());
        };
        let Some(Memory { output, bridge, .. }) = peer.memory.as_mut().filter(|_| !peer.lost) else { return Ok(()) };
        if !output.announced {
            output.announced = true;
            let own = place_in(&self.bridges, bridge).expect("a peer's bridge stays while it has a number");
            let to = output.local.expect("a place in the bridge");
            // Release pairs with the Acquire in `Bridge::connect`, as for the rings of a job.
            bridge.block(to).connected(own as usize / 64).fetch_or(1 << (own % 64), Ordering::Release);
        }
        let room = if output.ring.fits(len) { Ok(()) } else { output.ring.grow(len) };
        match room.and_then(|()| output.ring.try_push_with(head, len, fill)) {
            Ok(()) => output.notify(fenced, &variables),
            Err(full) => {
                let to = output.local.expect("a place in the bridge");
                // Relaxed: nothing else is read of a process that has left.
                if bridge.block(to).ended().load(Ordering::Relaxed) != LEFT {
                    return Err(full);
                }
            }
        }
        Ok(())
    }

    /// Hands records that have arrived to `sink`. A peer that wrote something else is lost.
    pub(crate) fn poll<S: Sink>(&mut self, sink: &mut S) -> usize {
        let (mut seen, mut wrong) = (0, Vec::new());
        for bridge in &mut self.bridges {
            bridge.look_for_connections();
            bridge.inputs.retain_mut(|input| match input.poll(BATCH, &mut [], sink) {
                Ok(records) => {
                    seen += records;
                    true
                }
                Err(_) => {
                    wrong.push(input.from);
                    false
                }
            });
        }
        for number in wrong {
            if let Some(peer) = self.peer_mut(number) {
                peer.lost = true;
            }
        }
        seen
    }

    /// After a poll that found nothing: now and then looks which peers have ended, and reports those that had ended
    /// before that poll. Returns the number of reports.
    pub(crate) fn report_lost(&mut self, sink: &mut impl Sink) -> usize {
        let reports = self.unreported.len();
        self.unreported.drain(..).for_each(|number| sink.lost(number));
        let now = now_ms();
        if reports == 0 && now.wrapping_sub(self.looked_ms) >= LOOK_EVERY_MS {
            self.looked_ms = now;
            self.unreported = self.lost();
        }
        reports
    }

    /// Looks which peers have ended: numbers of all that are lost.
    pub(crate) fn lost(&mut self) -> Vec<u32> {
        let with_handles = self.peers.len() <= MOST_HANDLES;
        let mut lost = Vec::new();
        for (number, peer) in (self.first..).zip(&mut self.peers) {
            let Some(peer) = peer else { continue };
            if let Some(Memory { output, bridge, .. }) = peer.memory.as_ref().filter(|_| !peer.lost) {
                let block = bridge.block(output.local.expect("a place in the bridge"));
                let process = &output.process;
                peer.lost = !if with_handles { process.alive(block) } else { process.exists(block) };
            }
            if peer.lost {
                lost.push(number);
            }
        }
        lost
    }

    pub(crate) fn alive(&self, number: u32) -> bool {
        self.peer(number).is_some_and(|peer| !peer.lost)
    }

    /// The process of a peer, if the kernel copies between it and this one.
    pub(crate) fn probed(&self, number: u32) -> Option<&Arc<ProbedProcess>> {
        let Memory { output, bridge, .. } = self.peer(number)?.memory.as_ref()?;
        let block = bridge.block(output.local?);
        // Processes of several jobs in one address space (threads of a test) exchange records only.
        match output.process.copies(block, || false) {
            Copies::Process(process) => Some(process),
            _ => None,
        }
    }

    /// Process id of a peer.
    pub(crate) fn pid(&self, number: u32) -> Option<u32> {
        let Memory { output, bridge, .. } = self.peer(number)?.memory.as_ref()?;
        output.process.pid(bridge.block(output.local?))
    }
}

#[cfg(test)]
impl Bridges {
    /// The memory of the first bridge, and this process's place in it.
    fn memory_for_test(&self) -> (&Job, u32) {
        (&self.bridges[0].job, self.bridges[0].place)
    }
}

impl Bridge {
    #[inline]
    fn look_for_connections(&mut self) {
        if self.connected.have_changed() {
            self.connect();
        }
    }

    #[cold]
    fn connect(&mut self) {
        for i in 0..self.connected.len() {
            for sender in self.connected.take_over(i, 0) {
                // Bits of places that do not exist are damage by another process.
                let number = self.numbers.get(sender as usize).copied().unwrap_or(NO_NUMBER);
                if number != NO_NUMBER {
                    self.inputs.push(Input::new(&self.job, self.place, sender, number));
                }
            }
        }
    }

    /// Reports to the others that this process reads nothing here any more, by [`LEFT`] or [`ENDED`].
    fn leave(&self, how: u32) {
        let block = self.job.block(self.place);
        block.probe_address().store(0, Ordering::Relaxed);
        // Release pairs with the Acquire in `PeerProcess::alive`.
        block.ended().store(how, Ordering::Release);
    }
}

impl Drop for Bridges {
    fn drop(&mut self) {
        self.bridges.iter().for_each(|bridge| bridge.leave(ENDED));
    }
}

/// Error of an operation with a peer that has ended.
#[cold]
pub fn lost_peer(id: Option<ProcessId>) -> Error {
    let which = match id {
        Some(ProcessId { job, rank }) => format!("process {rank} of job {job:016x}"),
        None => "a process of another job".to_owned(),
    };
    Error::new(mpi_core::abi::MPI_ERR_PROC_ABORTED, format!("{which}, with which this one is connected, has ended"))
}

#[cold]
fn wrong_member(place: u32, id: ProcessId, why: &str) -> Error {
    fault::foreign(format!("process {} of job {:016x} (place {place} of the connection) {why}", id.rank, id.job))
}

#[cfg(test)]
mod tests;
