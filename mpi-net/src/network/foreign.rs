//! Peers of other jobs: processes that are connected while the job runs (MPI-5.0, 11.8 and 11.9).
//!
//! All processes of several jobs that are connected at once have a number among them, and a secret of that connection. A process gives
//! each of the others a number of its own, behind the ranks of its job.
//! Invariant: a packet of a connection is refused until this process has connected its sender, so all connect before one sends.
//! Not here: the numbers, and the agreement of the processes (`mpi-fabric`, `mpi-comm`).

use mpi_fabric::RemotePeer;

use super::*;
use crate::liveness::Place;
use crate::token::Identity;

impl Inner {
    /// The provider as addresses have it, with what its peers must have alike.
    pub(super) fn provider_in_address(&self) -> String {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
        let mut text = self.provider.facts.provider.replace(';', "+");
        if let Some(limit) = &self.eager_limit {
            text.push(':');
            text.extend(limit.chars().take(20).map(plain));
        }
        text
    }

    /// Enters the address of a peer, as text; where it listens.
    pub(super) fn enter_address(&mut self, peer: u32, text: &str) -> std::result::Result<Place, String> {
        let Parsed { provider, host, address, port } =
            parsed(text).ok_or_else(|| format!("{text:?} is no address of this release of the library"))?;
        let own = self.provider_in_address();
        if provider != own {
            let advice = match provider.split(':').next() == own.split(':').next() {
                true => "the numbers are FI_OFI_RXM_EAGER_LIMIT, which has to be the same on all hosts: set it",
                false => "choose one with FERRUM_NET_PROVIDER",
            };
            let here = host::name();
            return Err(format!(
                "its host {host} uses provider {provider} and this host {here} provider {own}: {advice}"
            ));
        }
        let place = Place { host: host.into(), ip: liveness::ip_of(&address), port };
        let number = self.provider.insert(&address).map_err(|error| error.to_string())?;
        // A process that connects again within a moment may have the same number.
        self.retired.retain(|(_, retired)| *retired != number);
        let peer = &mut self.peers[peer as usize];
        peer.host = Some(host.into());
        peer.address = Some(number);
        Ok(place)
    }

    /// Ends the use of addresses that were retired so long ago that all that was sent to them has left or never will.
    pub(super) fn remove_retired(&mut self, now: Instant) {
        while self.under_way == 0
            && let Some((_, address)) = self.retired.pop_front_if(|(since, _)| *since + LINGER <= now)
        {
            self.provider.remove(address);
        }
    }

    /// Connects a process of another job under a number.
    pub(super) fn connect(&mut self, number: u32, peer: &RemotePeer) -> std::result::Result<(), String> {
        let RemotePeer { id, connection, secret, own, theirs, .. } = *peer;
        let identity = Identity { connection, secret: Secret(secret), own, theirs };
        self.remove_retired(Instant::now());
        while self.peers.len() <= number as usize {
            self.peers.push(Peer::vacant());
        }
        // Its last connection was released by the other process alone.
        if let Some(liveness) = self.liveness.as_ref().filter(|_| self.peers[number as usize].identity.connection != 0)
        {
            liveness.forget(number);
        }
        self.clear(number);
        self.peers[number as usize] = Peer::of_connection(identity, id);
        match self.enter_address(number, &peer.address) {
            Ok(place) => self.peers[number as usize].place = Some(place),
            Err(why) => {
                self.clear(number);
                return Err(why);
            }
        }
        self.of_connections.insert((connection, theirs), number);
        if let Some(liveness) = &self.liveness {
            liveness.expect(number, identity);
        }
        Ok(())
    }

    /// All processes of a connection have connected: finds the end of this one from now on. `dials`: this process connects,
    /// not the other one.
    pub(super) fn begin(&mut self, number: u32, dials: bool) {
        let peer = &mut self.peers[number as usize];
        match dials {
            true => peer.dial_where_it_listens(number, self.liveness.as_ref()),
            false => peer.dials_late = true,
        }
    }

    /// Forgets a process of another job; false: what is to be sent to it has not left yet.
    pub(super) fn disconnect(&mut self, number: u32) -> bool {
        let Some(peer) = self.peers.get(number as usize) else { return true };
        if peer.open.is_some() && !peer.is_given_up() {
            self.flush(number);
            let peer = &self.peers[number as usize];
            if peer.open.is_some() && !peer.is_given_up() {
                return false;
            }
        }
        if let Some(liveness) = &self.liveness {
            liveness.forget(number);
        }
        self.clear(number);
        true
    }

    /// Makes a number vacant.
    fn clear(&mut self, number: u32) {
        self.drop_open(number);
        let peer = std::mem::replace(&mut self.peers[number as usize], Peer::vacant());
        self.of_connections.remove(&(peer.identity.connection, peer.identity.theirs));
        if let Some(address) = peer.address.filter(|_| !peer.copying) {
            self.retired.push_back((Instant::now(), address));
        }
        self.waiting.retain(|dest| *dest != number);
        self.creditors.retain(|dest| *dest != number);
        self.lost.retain(|lost| *lost != number);
        // An error of a send that is under way concerns no later process with this number.
        self.receivers.iter_mut().filter(|receiver| **receiver == number).for_each(|receiver| *receiver = u32::MAX);
    }
}

#[cfg(test)]
mod tests;
