//! Peers that are lost: found by connections of their own (`liveness`), or by an error of the provider.

use std::net::IpAddr;
use std::sync::Weak;

use super::*;
use crate::liveness::{Place, Survey};

/// How long after the start the hosts are connected with, at least and at most.
const SURVEY_AFTER: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];
/// So many hosts at most, because each process reads an address of each.
const MOST_SURVEYED: usize = 128;

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
    /// Connects with a rank of each other host, of the first [`MOST_SURVEYED`], after a moment. Jobs that end soon, or exchange messages
    /// with all hosts, need none of it.
    pub(super) fn survey_hosts(&self, addresses: Arc<dyn Addresses>, mut hosts: Vec<HostRanks>) {
        let Ok(liveness) = &self.liveness else { return };
        hosts.truncate(MOST_SURVEYED);
        let read = move |requests: &Requests, ranks: &[u32]| {
            // A call of the program may need the launcher between two of these, and this process may end.
            let ranks = ranks.iter().take_while(|_| !requests.is_leaving());
            ranks.map(|rank| (*rank, addresses.address_of(*rank).ok().and_then(|text| place_in(&text)))).collect()
        };
        let after = Duration::from_secs(self.shared.settings.timeout.get().into()) / 6;
        let survey = Survey { hosts, read: Arc::new(read) };
        liveness.requests().survey(after.clamp(SURVEY_AFTER[0], SURVEY_AFTER[1]), survey);
    }
}

/// Where a process listens, by its address as text.
fn place_in(text: &str) -> Option<Place> {
    let Parsed { host, address, port, .. } = parsed(text)?;
    Some(Place { host: host.into(), ip: liveness::ip_of(&address), port })
}

impl Inner {
    /// Gives up a peer.
    #[cold]
    pub(super) fn lose(&mut self, peer: u32, why: String) {
        if self.peers[peer as usize].lost.is_none() {
            self.peers[peer as usize].lost = Some(why);
            self.lost.push(peer);
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
        if departed.credits == 0 {
            self.drop_open(peer);
        }
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
