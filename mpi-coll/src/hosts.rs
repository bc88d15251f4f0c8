//! Collectives of a communicator with several hosts: steps within each host, between one process of each, and within each again.
//!
//! The process that a host sends and receives through is its first one, or the root if that is there; in scans it is the last one. Between hosts the algorithms are
//! those of communicators of as many processes, and so are the numbers of messages.
//! Invariant: contributions to a reduction are combined in rank order, because the ranks of a host are next to each other.
//! Not here: when a call goes this way (`plan`), which ranks share a host (`mpi_comm::Hosts`).

use mpi_comm::Hosts;
use mpi_errors::Result;

use crate::bcast::planned;
use crate::coll_op::CollOp;
use crate::reducing::{Reducing, copy_unless_same};
use crate::shape::Shape;
use crate::steps::{AREAS, Check, Place, STAGED, Side, Span, Steps, Team, VALUE};
use crate::{allgather, barrier, ring};

mod allgatherv;
mod alltoall;
mod reduce_scatter;
mod scan;

/// The steps of a call on a communicator with these hosts.
pub(crate) fn steps(shape: &Shape<'_>, hosts: &Hosts, steps: &mut dyn Steps) -> Result<()> {
    let mut call = Call { shape, hosts, steps, areas: [const { None }; AREAS] };
    match shape.which {
        CollOp::Barrier => call.barrier(),
        CollOp::Bcast => call.bcast(),
        CollOp::Reduce => call.reduce(),
        CollOp::Allreduce => call.allreduce(),
        CollOp::Gather => call.gather(),
        CollOp::Scatter => call.scatter(),
        CollOp::Allgather => call.allgather(),
        CollOp::Allgatherv => call.allgatherv(),
        CollOp::Alltoall => call.alltoall(),
        CollOp::ReduceScatter | CollOp::ReduceScatterBlock => call.reduce_scatter(),
        CollOp::Scan => call.scan(),
        CollOp::Exscan => call.exscan(),
        which => unreachable!("{which:?} does not go by hosts"),
    }
}

struct Call<'c, 's> {
    shape: &'c Shape<'s>,
    hosts: &'c Hosts,
    steps: &'c mut dyn Steps,
    areas: Areas,
}

/// Working memory that was provided, and for how many elements or bytes: both parts of a call use it.
type Areas = [Option<(Span, u64)>; AREAS];

/// The processes of a part of a call, by their ranks in the communicator.
#[derive(Clone, Copy)]
enum Among<'c> {
    /// Of one host, whose first rank this is.
    Host(u32),
    /// One of each host: the first, and of the host of this rank that one.
    Hosts(&'c Hosts, u32),
    /// The last one of each host.
    Lasts(&'c Hosts),
}

impl Among<'_> {
    fn rank(self, place: u32) -> u32 {
        match self {
            Among::Host(first) => first + place,
            Among::Hosts(hosts, root) if hosts.of_rank(root) == place => root,
            Among::Hosts(hosts, _) => hosts.first(place),
            Among::Lasts(hosts) => hosts.first(place) + hosts.size(place) - 1,
        }
    }
}

/// The blocks of a host in a buffer of the blocks of all ranks.
fn segment(whole: Span, hosts: &Hosts, host: u32) -> Span {
    let block = whole.bytes / u64::from(hosts.first(hosts.count()));
    whole.part(u64::from(hosts.first(host)) * block, u64::from(hosts.size(host)) * block)
}

impl<'c> Call<'c, '_> {
    fn host(&self) -> u32 {
        self.hosts.of_rank(self.shape.team.rank)
    }

    /// This process among those of its host.
    fn local(&self) -> Team {
        let host = self.host();
        Team { rank: self.shape.team.rank - self.hosts.first(host), size: self.hosts.size(host) }
    }

    /// The place in its host of the process that the host sends and receives through.
    fn leader(&self, root: u32) -> u32 {
        let host = self.host();
        if self.hosts.of_rank(root) == host { root - self.hosts.first(host) } else { 0 }
    }

    /// The team of the processes between which hosts exchange messages.
    fn between(&self) -> Team {
        Team { rank: self.host(), size: self.hosts.count() }
    }

    fn within(&mut self) -> Part<'_> {
        self.among(Among::Host(self.hosts.first(self.host())))
    }

    fn across(&mut self, root: u32) -> Part<'_> {
        self.among(Among::Hosts(self.hosts, root))
    }

    fn among<'p>(&'p mut self, among: Among<'c>) -> Part<'p> {
        Part { steps: self.steps, areas: &mut self.areas, among }
    }

    fn barrier(&mut self) -> Result<()> {
        let (local, between) = (self.local(), self.between());
        if local.rank > 0 {
            let mut within = self.within();
            within.send(0, Span::EMPTY)?;
            within.receive(0, Span::EMPTY)?;
            return within.round();
        }
        let mut within = self.within();
        local.others().try_for_each(|rank| within.receive(rank, Span::EMPTY))?;
        within.round()?;
        barrier::steps(&mut self.across(0), between, false)?;
        let mut within = self.within();
        local.others().try_for_each(|rank| within.send(rank, Span::EMPTY))?;
        within.round()
    }

    fn bcast(&mut self) -> Result<()> {
        let root = self.shape.root_rank();
        self.spread(self.shape.recv.whole(Place::Recv), root)
    }

    /// Broadcasts from a root.
    fn spread(&mut self, data: Span, root: u32) -> Result<()> {
        let (local, between, leader, plan) = (self.local(), self.between(), self.leader(root), self.shape.plan);
        if local.rank == leader {
            let from = self.hosts.of_rank(root);
            planned(&mut self.across(root), between, data, from, plan.among(between.size))?;
        }
        self.spread_within(data, leader, local)
    }

    fn spread_within(&mut self, data: Span, leader: u32, local: Team) -> Result<()> {
        let plan = self.shape.plan.among(local.size);
        if local.size == 1 { Ok(()) } else { planned(&mut self.within(), local, data, leader, plan) }
    }

    fn reducing(&self, team: Team) -> Reducing {
        Reducing { team, what: self.shape.combining(), plan: self.shape.plan.among(team.size) }
    }

    fn reduce(&mut self) -> Result<()> {
        let (shape, root) = (self.shape, self.shape.root_rank());
        if shape.combining().bytes() == 0 {
            return Ok(());
        }
        let (local, between, leader) = (self.local(), self.between(), self.leader(root));
        let (own, value) = match shape.team.rank == root {
            true => shape.operands(self.steps)?,
            false => (shape.contribution(self.steps)?, Span::EMPTY),
        };
        let partial = match local.rank == leader && shape.team.rank != root {
            true => self.steps.elements(STAGED, shape.combining().count)?,
            false => value,
        };
        let (of_host, of_all) = (self.reducing(local), self.reducing(between));
        of_host.to_root(&mut self.within(), leader, own, partial)?;
        if local.rank == leader {
            let to = self.hosts.of_rank(root);
            of_all.to_root(&mut self.across(root), to, partial, value)?;
        }
        shape.deliver(self.steps, value)
    }

    fn allreduce(&mut self) -> Result<()> {
        let shape = self.shape;
        if shape.combining().bytes() == 0 {
            return Ok(());
        }
        let (local, between) = (self.local(), self.between());
        let (own, value) = shape.operands(self.steps)?;
        let (of_host, of_all) = (self.reducing(local), self.reducing(between));
        match local.size {
            1 => copy_unless_same(self.steps, own, value)?,
            _ => of_host.to_root(&mut self.within(), 0, own, value)?,
        }
        if local.rank == 0 {
            of_all.to_all(&mut self.across(0), value, value)?;
        }
        self.spread_within(value, 0, local)?;
        shape.deliver(self.steps, value)
    }

    fn gather(&mut self) -> Result<()> {
        let (shape, root) = (self.shape, self.shape.root_rank());
        let (local, leader, to) = (self.local(), self.leader(root), self.hosts.of_rank(root));
        let own = shape.send.whole(Place::Send);
        if local.rank != leader {
            let mut within = self.within();
            within.send(leader, own)?;
            return within.round();
        }
        if shape.team.rank == root {
            if !shape.send.in_place() {
                self.steps.copy(own, shape.recv_block(root))?;
            }
            for rank in local.others() {
                let source = self.hosts.first(to) + rank;
                self.steps.receive(source, shape.recv_block(source))?;
            }
            let whole = shape.recv.whole(Place::Recv);
            for host in (0..self.hosts.count()).filter(|host| *host != to) {
                let blocks = segment(whole, self.hosts, host);
                self.steps.receive(self.hosts.first(host), blocks)?;
            }
            return self.steps.round();
        }
        let all = self.steps.bytes(VALUE, own.bytes.saturating_mul(local.size.into()))?;
        let mut within = self.within();
        for rank in local.others() {
            within.receive(rank, all.part(u64::from(rank) * own.bytes, own.bytes))?;
        }
        within.copy(own, all.part(0, own.bytes))?;
        within.round()?;
        self.steps.send(root, all)?;
        self.steps.round()
    }

    fn scatter(&mut self) -> Result<()> {
        let (shape, root) = (self.shape, self.shape.root_rank());
        let (local, leader, from) = (self.local(), self.leader(root), self.hosts.of_rank(root));
        let own = shape.recv.whole(Place::Recv);
        if local.rank != leader {
            let mut within = self.within();
            within.receive(leader, own)?;
            return within.round();
        }
        if shape.team.rank == root {
            let whole = shape.send.whole(Place::Send);
            for host in (0..self.hosts.count()).filter(|host| *host != from) {
                let blocks = segment(whole, self.hosts, host);
                self.steps.send(self.hosts.first(host), blocks)?;
            }
            for rank in local.others() {
                let dest = self.hosts.first(from) + rank;
                self.steps.send(dest, shape.send_block(dest))?;
            }
            if !shape.recv.in_place() {
                self.steps.copy(shape.send_block(root), own)?;
            }
            return self.steps.round();
        }
        let all = self.steps.bytes(VALUE, own.bytes.saturating_mul(local.size.into()))?;
        self.steps.receive(root, all)?;
        self.steps.round()?;
        let mut within = self.within();
        for rank in local.others() {
            within.send(rank, all.part(u64::from(rank) * own.bytes, own.bytes))?;
        }
        within.copy(all.part(0, own.bytes), own)?;
        within.round()
    }

    fn allgather(&mut self) -> Result<()> {
        let (shape, whole) = (self.shape, self.shape.recv.whole(Place::Recv));
        let (local, own, hosts) = (self.local(), shape.recv_block(shape.team.rank), self.hosts);
        if !shape.send.in_place() {
            self.steps.copy(shape.send.whole(Place::Send), own)?;
        }
        let first = self.hosts.first(self.host());
        let mut within = self.within();
        if local.rank == 0 {
            local.others().try_for_each(|rank| within.receive(rank, shape.recv_block(first + rank)))?;
            within.round()?;
            self.exchange_segments(&|host| segment(whole, hosts, host))?;
        } else {
            within.send(0, own)?;
            // What comes next overwrites the block.
            within.round()?;
        }
        self.spread_within(whole, 0, local)
    }

    /// Every host gets the segments of all, of which each has its own; `of`: where that of a host is.
    fn exchange_segments(&mut self, of: &dyn Fn(u32) -> Span) -> Result<()> {
        let between = self.between();
        match self.shape.plan.among(between.size).in_ring() {
            true => ring::allgather(&mut self.across(0), between, of),
            false => allgather::exchange(&mut self.across(0), between, of),
        }
    }
}

/// The sink of a part of a call. One type for all sinks, so that the algorithms between hosts exist once in the library.
struct Part<'p> {
    steps: &'p mut dyn Steps,
    areas: &'p mut Areas,
    among: Among<'p>,
}

impl Part<'_> {
    /// Provides working memory, unless it was provided for as much.
    fn area(&mut self, area: u8, count: u64, provide: impl FnOnce(&mut dyn Steps) -> Result<Span>) -> Result<Span> {
        match &mut self.areas[area as usize] {
            Some((span, known)) if *known >= count && *known > 0 => Ok(span.part(0, span.bytes / *known * count)),
            place => {
                let span = provide(self.steps)?;
                *place = Some((span, count));
                Ok(span)
            }
        }
    }
}

impl Steps for Part<'_> {
    fn send_on(&mut self, side: Side, dest: u32, from: Span) -> Result<()> {
        self.steps.send_on(side, self.among.rank(dest), from)
    }

    fn receive_on(&mut self, side: Side, source: u32, into: Span) -> Result<()> {
        self.steps.receive_on(side, self.among.rank(source), into)
    }

    fn copy(&mut self, from: Span, into: Span) -> Result<()> {
        self.steps.copy(from, into)
    }

    fn combine(&mut self, from: Span, into: Span) -> Result<()> {
        self.steps.combine(from, into)
    }

    fn widen(&mut self, from: Span, into: Span) -> Result<()> {
        self.steps.widen(from, into)
    }

    fn narrow(&mut self, from: Span, into: Span) -> Result<()> {
        self.steps.narrow(from, into)
    }

    fn check(&mut self, check: Check) -> Result<()> {
        self.steps.check(check)
    }

    fn provide(&mut self, area: u8, words: &[u64]) -> Result<Span> {
        self.steps.provide(area, words)
    }

    fn received(&mut self) -> Result<()> {
        self.steps.received()
    }

    fn round(&mut self) -> Result<()> {
        self.steps.round()
    }

    fn reserve(&mut self, bytes: u64) -> Result<()> {
        self.steps.reserve(bytes)
    }

    fn put(&mut self, at: u64, from: Span) -> Result<()> {
        self.steps.put(at, from)
    }

    fn publish(&mut self) -> Result<()> {
        self.steps.publish()
    }

    fn fetch(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        self.steps.fetch(source, at, into)
    }

    fn fold(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        self.steps.fold(source, at, into)
    }

    fn end_turn(&mut self) -> Result<()> {
        self.steps.end_turn()
    }

    fn bytes(&mut self, area: u8, bytes: u64) -> Result<Span> {
        self.area(area, bytes, |steps| steps.bytes(area, bytes))
    }

    fn elements(&mut self, area: u8, count: u64) -> Result<Span> {
        self.area(area, count, |steps| steps.elements(area, count))
    }
}

#[cfg(test)]
mod tests;
