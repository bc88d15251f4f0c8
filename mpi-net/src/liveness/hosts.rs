//! The hosts of the job. A process is connected with one rank of each other host, also of those with which it exchanges nothing: what waits
//! for a rank (a receive, a lock, a collective operation of others) is not known here, and ends when the host of that rank is lost.
//!
//! So the number of connections is that of the hosts, not that of the ranks, and a wait costs nothing. The address of one rank of each host
//! is read a moment after the start, those of others when they are needed, by a thread of their own: the launcher may be busy with a call of
//! the program, and losses are found meanwhile.
//! - A host that is silent is silent for all of its ranks. Those with which nothing was exchanged are lost with the one that shows it.
//! - A rank whose connection was closed may have ended alone. The others of its host are connected with then: who refuses has ended, too.
//!   A refusal alone is no loss: the rank may have left as it should, and another rank of its host is connected with.
//!
//! Invariant: a rank that has reported that it leaves is never lost. Not here: whether something has come from a rank (`network`).

use std::collections::HashSet;

use mpi_fabric::job::HostRanks;

use super::dialling::{Dial, Dialled};
use super::*;

/// Where a process listens.
#[derive(Clone)]
pub(crate) struct Place {
    /// Name of its host.
    pub(crate) host: String,
    pub(crate) ip: Option<IpAddr>,
    pub(crate) port: u16,
}

/// Reads where each of some ranks listens; `None` for a rank that listens nowhere. Ranks whose places cannot be read now are absent, and
/// those that were not reached when this process leaves.
pub(crate) type ReadPlaces = Arc<dyn Fn(&Requests, &[u32]) -> Vec<(u32, Option<Place>)> + Send + Sync>;

/// The other hosts of the job to connect with, the ranks of each in the order in which they are tried, and how to read where they listen.
pub(crate) struct Survey {
    pub(crate) hosts: Vec<HostRanks>,
    pub(crate) read: ReadPlaces,
}

/// Before places that could not be read are read again.
const READ_PAUSE: Duration = Duration::from_secs(1);

/// What is known about the ranks of other hosts.
#[derive(Default)]
pub(super) struct Hosts {
    list: Vec<HostRanks>,
    places: HashMap<u32, Place>,
    read: Option<ReadPlaces>,
    /// Ranks to connect with when it is known where they listen.
    wanted: HashSet<u32>,
    /// Whether a thread reads where ranks listen.
    is_reading: bool,
    /// When the next one may start; `None`: at once.
    read_from: Option<Instant>,
    /// Ranks that have left, and when another one of the host of each is connected with: all may be leaving.
    replaced: Vec<(Instant, u32)>,
    /// Ranks that listen nowhere.
    nowhere: HashSet<u32>,
    /// Ranks that have left as they should.
    departed: HashSet<u32>,
    /// Ranks where nothing listens any more.
    refused: HashSet<u32>,
    /// Ranks whose connection was closed, or was silent.
    ended: HashSet<u32>,
    silent: HashSet<u32>,
}

impl Hosts {
    fn of(&self, rank: u32) -> Option<&HostRanks> {
        self.list.iter().find(|host| host.ranks.contains(&rank))
    }

    /// The ranks of the host of a rank, that one too; itself alone if its host is not known.
    fn with(&self, rank: u32) -> Vec<u32> {
        self.of(rank).map_or_else(|| vec![rank], |host| host.ranks.clone())
    }

    /// Whether nothing listens at a rank of this job any more.
    pub(super) fn has_refused(&self, rank: u32) -> bool {
        self.refused.contains(&rank)
    }

    /// A connection shows that a rank has not ended.
    pub(super) fn is_there(&mut self, rank: u32) {
        self.refused.remove(&rank);
    }

    /// When something is due that no connection causes.
    pub(super) fn due(&self) -> Option<Instant> {
        let read_from = self.read_from.filter(|_| !self.is_reading && !self.wanted.is_empty());
        self.replaced.iter().map(|(at, _)| *at).chain(read_from).min()
    }

    /// A rank of a host to connect with, if one may still be there.
    fn next_of(&self, ranks: &[u32]) -> Option<u32> {
        let gone = [&self.departed, &self.refused, &self.ended, &self.silent, &self.nowhere];
        ranks.iter().copied().find(|rank| gone.iter().all(|set| !set.contains(rank)))
    }
}

impl Watch {
    /// Begins to connect with a rank of each other host, if that is due.
    pub(super) fn survey_due(&mut self, now: Instant) {
        let Some((_, survey)) = self.survey.take_if(|(at, _)| *at <= now) else { return };
        (self.hosts.list, self.hosts.read) = (survey.hosts, Some(survey.read));
        for host in self.hosts.list.clone() {
            self.watch_host(&host.ranks);
        }
        // What was lost before its host was known.
        self.hosts.ended.clone().into_iter().for_each(|rank| self.suspect_host(rank));
        self.hosts.silent.clone().into_iter().for_each(|rank| self.lose_host(rank));
    }

    /// Connects with another rank of the hosts where one has left, and starts to read where ranks listen that are to be connected with, as
    /// far as that is due.
    pub(super) fn go_on_with_hosts(&mut self, now: Instant) {
        let (due, later): (Vec<_>, Vec<_>) = self.hosts.replaced.drain(..).partition(|(at, _)| *at <= now);
        self.hosts.replaced = later;
        for (_, rank) in due {
            let ranks = self.hosts.with(rank);
            self.watch_host(&ranks);
        }
        let Hosts { is_reading, wanted, read_from, .. } = &self.hosts;
        let may_read = !is_reading && !wanted.is_empty() && read_from.is_none_or(|from| from <= now);
        let Some(read) = self.hosts.read.clone().filter(|_| may_read) else { return };
        let mut ranks: Vec<u32> = wanted.iter().copied().collect();
        ranks.sort_unstable();
        let requests = self.requests.clone();
        let run = move || {
            let places = read(&requests, &ranks);
            requests.lock().places = Some(places);
            requests.changed.set();
        };
        // It ends by itself.
        let spawned = with_all_signals_blocked(|| {
            thread::Builder::new().name("mpi-net-hosts".into()).stack_size(128 << 10).spawn(run)
        });
        self.hosts.is_reading = spawned.is_ok();
        self.hosts.read_from = Some(now + READ_PAUSE);
    }

    /// Connects with ranks, now that it is known where they listen.
    pub(super) fn enter_places(&mut self, places: Vec<(u32, Option<Place>)>) {
        self.hosts.is_reading = false;
        if !places.is_empty() {
            self.hosts.read_from = None;
        }
        for (rank, place) in places {
            let is_wanted = self.hosts.wanted.remove(&rank);
            match place {
                Some(place) => {
                    self.hosts.places.insert(rank, place);
                    if is_wanted && !self.peers.contains_key(&rank) && !self.is_dialled(rank) {
                        self.dial_soon(rank);
                    }
                }
                None => {
                    self.hosts.nowhere.insert(rank);
                    let ranks = self.hosts.with(rank);
                    self.watch_host(&ranks);
                }
            }
        }
    }

    /// Connects with a rank of a host, unless one is connected.
    fn watch_host(&mut self, ranks: &[u32]) {
        let is_watched =
            |rank: &u32| self.peers.contains_key(rank) || self.is_dialled(*rank) || self.hosts.wanted.contains(rank);
        if ranks.iter().any(is_watched) {
            return;
        }
        if let Some(rank) = self.hosts.next_of(ranks) {
            self.dial_soon(rank);
        }
    }

    /// Whether attempts to connect with a rank are under way.
    pub(super) fn is_dialled(&self, rank: u32) -> bool {
        self.again.iter().any(|it| it.dial.rank == rank)
    }

    /// Connects with a rank as soon as it is known where it listens.
    fn dial_soon(&mut self, rank: u32) {
        let Some(Place { host, ip, port }) = self.hosts.places.get(&rank).cloned() else {
            if self.hosts.read.is_some() {
                self.hosts.wanted.insert(rank);
            }
            return;
        };
        let identity = Identity { connection: 0, secret: self.config.secret, own: self.config.rank, theirs: rank };
        self.again.push(Dialled::new(Dial { rank, identity, host, ip, port }, self.config.silence));
    }

    /// A rank of this job refuses a connection: it has left, or ended.
    pub(super) fn refused(&mut self, Dialled { dial, .. }: Dialled) {
        self.hosts.refused.insert(dial.rank);
        let ranks = self.hosts.with(dial.rank);
        if ranks.iter().any(|rank| self.hosts.ended.contains(rank)) {
            return self.ends(dial.rank, dial.host, None);
        }
        self.watch_host(&ranks);
    }

    /// A rank has left as it should: another one shows whether the host is there.
    pub(super) fn departed(&mut self, rank: u32) {
        if rank < self.config.size {
            self.hosts.departed.insert(rank);
            self.hosts.wanted.remove(&rank);
            if self.hosts.with(rank).len() > 1 {
                self.hosts.replaced.push((Instant::now() + LOSS_DELAY, rank));
            }
        }
    }

    /// A rank has ended, perhaps with its host: finds the others that have ended too.
    pub(super) fn suspect_host(&mut self, rank: u32) {
        if rank >= self.config.size {
            return;
        }
        self.hosts.ended.insert(rank);
        for other in self.hosts.with(rank) {
            let Hosts { departed, ended, silent, .. } = &self.hosts;
            let known = [departed, ended, silent].iter().any(|set| set.contains(&other));
            if known || self.peers.contains_key(&other) || self.ending.iter().any(|it| it.rank == other) {
                continue;
            }
            if !self.is_dialled(other) {
                self.dial_soon(other);
            }
        }
    }

    /// Nothing comes from the host of a rank: the others there from which nothing has come before are lost, too.
    pub(super) fn lose_host(&mut self, rank: u32) {
        let ranks = match rank < self.config.size {
            true => self.hosts.with(rank),
            false => vec![rank],
        };
        self.hosts.silent.insert(rank);
        // Another connection shows that the host is there: only the way of this one is closed.
        let is_shown =
            |rank: &u32| self.peers.get(rank).is_some_and(|peer| peer.connections.iter().any(|it| it.confirmed));
        if ranks.iter().any(is_shown) {
            return;
        }
        let of_place = self.hosts.places.get(&rank).map(|place| &place.host);
        let host = of_place.or_else(|| self.hosts.of(rank).map(|host| &host.name)).cloned().unwrap_or_default();
        let seconds = self.config.silence.as_secs();
        let why = format!("nothing came from its host for {seconds} s");
        // Each attempt would take a while in which this thread finds no loss.
        self.again.retain(|it| !ranks.contains(&it.dial.rank));
        self.hosts.wanted.retain(|rank| !ranks.contains(rank));
        let there = ranks.into_iter().filter(|rank| !self.hosts.departed.contains(rank)).collect::<Vec<_>>();
        (self.on_end)(rank, End::Silent { ranks: &there, host: &host, why: &why });
    }
}

#[cfg(test)]
mod tests;
