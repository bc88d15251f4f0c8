//! Peers that are lost: found by connections of their own (`liveness`), or by an error of the provider.

use std::net::IpAddr;
use std::sync::Weak;

use super::*;
use crate::liveness::{LOSS_DELAY, Place, Survey};

/// How long after the start the hosts are connected with, at least and at most.
const SURVEY_AFTER: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];
/// With so many hosts at most: each process has a connection with a rank of each, and reads its address.
const MOST_SURVEYED: usize = 128;
/// So many ranks of a host connect with each rank of another one, so that a host with few ranks accepts not all of those with many.
const MOST_OF_A_HOST: usize = 16;

impl Shared {
    /// Starts to watch whether peers are there; an error is why it is not done: it is not wanted, or the system refuses it.
    pub(super) fn watch_peers(
        self: &Arc<Self>,
        options: &Options,
        ip: Option<IpAddr>,
    ) -> std::result::Result<Liveness, String> {
        let seconds = self.settings.timeout.get();
        if seconds == 0 {
            return Err("silence of a host has no time limit".into());
        }
        let config = Config {
            rank: options.rank,
            size: options.size,
            secret: Secret(options.secret),
            silence: Duration::from_secs(seconds.into()),
            ip,
            host: host::name(),
        };
        let shared: Weak<Shared> = Arc::downgrade(self);
        let on_end = move |peer: u32, end: End<'_>| {
            let Some(shared) = shared.upgrade() else { return };
            {
                let mut inner = shared.lock();
                if peer as usize >= inner.peers.len() {
                    return;
                }
                match end {
                    End::Lost { host, why } => {
                        if !host.is_empty() {
                            inner.peers[peer as usize].host = Some(host.into());
                        }
                        let sentence = inner.sentence(peer, why);
                        inner.lose(peer, sentence);
                    }
                    End::Silent { ranks, host, why } => inner.lose_silent(ranks, host, why),
                    End::Departed => inner.depart(peer),
                }
            }
            shared.ring();
        };
        Liveness::start(config, Box::new(on_end))
            .map_err(|error| format!("the connections that show the end of a peer cannot be made: {error}"))
    }
}

impl Network {
    /// Connects with a rank of each other host, of [`MOST_SURVEYED`] at most, after a moment. Jobs that end soon, or exchange messages
    /// with all hosts, need none of it.
    pub(super) fn survey_hosts(&self, addresses: Arc<dyn Addresses>, hosts: Vec<HostRanks>) {
        let Ok(liveness) = &self.liveness else { return };
        let hosts = watched(hosts, self.shared.rank);
        let read = move |requests: &Requests, ranks: &[u32]| {
            // A call of the program may need the launcher between two of these, and this process may end.
            let ranks = ranks.iter().take_while(|_| !requests.is_leaving());
            ranks.filter_map(|rank| Some((*rank, place_in(&addresses.address_of(*rank).ok()?)))).collect()
        };
        let after = Duration::from_secs(self.shared.settings.timeout.get().into()) / 6;
        let survey = Survey { hosts, read: Arc::new(read) };
        liveness.requests().survey(after.clamp(SURVEY_AFTER[0], SURVEY_AFTER[1]), survey);
    }
}

/// The hosts with which a rank connects, and the ranks of each in the order in which it tries them. `hosts`: all, that of the rank first.
/// Each host begins with another one, and each rank of a host with another rank there, so that none has all connections.
fn watched(mut hosts: Vec<HostRanks>, rank: u32) -> Vec<HostRanks> {
    if hosts.is_empty() {
        return hosts;
    }
    let here = hosts.remove(0).ranks;
    let own = here.iter().position(|other| *other == rank).unwrap_or_default();
    hosts.retain(|host| !host.ranks.is_empty() && own < MOST_OF_A_HOST * host.ranks.len());
    let before = hosts.iter().filter(|host| host.ranks[0] < rank).count();
    let first = before.checked_rem(hosts.len()).unwrap_or_default();
    hosts.rotate_left(first);
    hosts.truncate(MOST_SURVEYED);
    for host in &mut hosts {
        let first = own % host.ranks.len();
        host.ranks.rotate_left(first);
    }
    hosts
}

/// Where a process listens, by its address as text; `None`: nowhere.
fn place_in(text: &str) -> Option<Place> {
    let Parsed { host, address, port, .. } = parsed(text)?;
    (port != 0).then(|| Place { host: host.into(), ip: liveness::ip_of(&address), port })
}

impl Inner {
    /// Gives up a peer.
    #[cold]
    pub(super) fn lose(&mut self, peer: u32, why: String) {
        if self.peers[peer as usize].lost.is_none() {
            self.peers[peer as usize].lost = Some(why);
            self.lost.push(peer);
            self.news = true;
        }
        self.drop_open(peer);
    }

    /// The host of some peers answers nothing. They are lost, unless something has come from one of them that has not ended: a firewall
    /// may drop what `liveness` sends, and nothing else. The connection of that one shows when the host is lost.
    fn lose_silent(&mut self, peers: &[u32], host: &str, why: &str) {
        let peers = || peers.iter().copied().filter(|peer| (*peer as usize) < self.peers.len());
        let runs = |peer: u32| {
            let Peer { heard, departed, lost, .. } = &self.peers[peer as usize];
            *heard && !departed && lost.is_none()
        };
        if peers().any(runs) {
            return;
        }
        for peer in peers().collect::<Vec<_>>() {
            let silent = &mut self.peers[peer as usize];
            if !silent.departed {
                silent.host = silent.host.take().or_else(|| (!host.is_empty()).then(|| host.into()));
                let sentence = self.sentence(peer, why);
                self.lose(peer, sentence);
            }
        }
    }

    /// A peer has left, and returns no credits any more: what waits for one will not be sent.
    fn depart(&mut self, peer: u32) {
        let departed = &mut self.peers[peer as usize];
        departed.departed = true;
        // An error of the provider from before is of the way that it left, and no loss. What is sent from now on is one.
        if departed.address.is_some() {
            departed.failed = false;
        }
        if departed.credits == 0 {
            self.drop_open(peer);
        }
    }

    /// The provider takes nothing for a peer now. One that has left, and to which it could send nothing for [`LOSS_DELAY`], is
    /// lost: `ofi_rxm` may try without end to connect with it.
    #[cold]
    pub(super) fn takes_nothing(&mut self, peer: u32) -> bool {
        let departed = &mut self.peers[peer as usize];
        if !departed.departed || departed.untaken_since.get_or_insert_with(Instant::now).elapsed() < LOSS_DELAY {
            return false;
        }
        let sentence = self.sentence(peer, "its process has left");
        self.lose(peer, sentence);
        true
    }

    /// The provider has reported an error for a peer: it is lost after a delay, or at once if nothing watches peers.
    #[cold]
    pub(super) fn lose_connection(&mut self, peer: u32, error: i64) {
        let why = self.provider.text(error);
        let Some(liveness) = &self.liveness else {
            let why = self.sentence(peer, &why);
            return self.lose(peer, why);
        };
        if !self.peers[peer as usize].failed {
            liveness.failed(peer, why);
            self.peers[peer as usize].failed = true;
        }
        self.drop_open(peer);
    }

    /// Frees the buffer of records that wait for a peer, which will not be sent.
    pub(super) fn drop_open(&mut self, peer: u32) {
        if let Some((buffer, _)) = self.peers[peer as usize].open.take() {
            self.free.push(buffer);
        }
    }

    /// What sentences call a peer.
    #[cold]
    pub(super) fn name_of(&self, peer: u32) -> String {
        match self.peers[peer as usize].id {
            Some(id) => format!("process {} of job {:016x}", id.rank, id.job),
            None => format!("rank {peer}"),
        }
    }

    /// The sentence about a lost peer. The launcher, which has the name of its host, may be lost too.
    #[cold]
    pub(super) fn sentence(&self, peer: u32, why: &str) -> String {
        let host = self.peers[peer as usize].host.as_deref().unwrap_or("its host");
        format!("the connection to {} on {host} is lost: {why}", self.name_of(peer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(ranks: impl IntoIterator<Item = u32>) -> HostRanks {
        HostRanks { name: "h".into(), ranks: ranks.into_iter().collect() }
    }

    fn ranks_of(hosts: Vec<HostRanks>, rank: u32) -> Vec<Vec<u32>> {
        watched(hosts, rank).into_iter().map(|host| host.ranks).collect()
    }

    #[test]
    fn each_process_begins_with_another_host_and_another_rank_there() {
        let (a, b, c) = (|| host([0, 3]), || host([1, 4]), || host([2, 5, 6]));
        assert_eq!(ranks_of(vec![a(), b(), c()], 0), [vec![1, 4], vec![2, 5, 6]]);
        assert_eq!(ranks_of(vec![a(), b(), c()], 3), [vec![4, 1], vec![5, 6, 2]]);
        assert_eq!(ranks_of(vec![b(), a(), c()], 1), [vec![2, 5, 6], vec![0, 3]]);
        assert_eq!(ranks_of(vec![c(), a(), b()], 6), [vec![0, 3], vec![1, 4]]);
        assert_eq!(ranks_of(vec![host([0, 1])], 1), [[0; 0]; 0]);
        assert_eq!(ranks_of(Vec::new(), 1), [[0; 0]; 0]);
    }

    #[test]
    fn a_host_with_few_ranks_is_connected_with_by_few_of_a_host_with_many() {
        let with_one = |rank| watched(vec![host(1..=100), host([0])], rank).len();
        assert_eq!((1..=100).map(with_one).sum::<usize>(), MOST_OF_A_HOST);
        assert_eq!(watched(vec![host([0]), host(1..=100)], 0).len(), 1);
    }

    #[test]
    fn of_many_hosts_each_is_connected_with_by_as_many() {
        let hosts = |own: u32| {
            let mut all: Vec<HostRanks> = (0..300).map(|rank| host([rank])).collect();
            all[..=own as usize].rotate_right(1);
            all
        };
        let mut connections = vec![0; 300];
        for own in 0..300 {
            watched(hosts(own), own).iter().for_each(|host| connections[host.ranks[0] as usize] += 1);
        }
        assert!(connections.iter().all(|number| *number == MOST_SURVEYED), "{connections:?}");
    }
}
