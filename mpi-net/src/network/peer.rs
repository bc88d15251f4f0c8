//! What a process has about each peer.
//!
//! Invariant: the number of a peer has one identity at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use mpi_fabric::ProcessId;

use super::CREDITS;
use crate::liveness::{Place, Requests};
use crate::token::{Identity, Secret};

/// What this process has about a peer.
pub(super) struct Peer {
    /// How the two processes identify each other in packets.
    pub(super) identity: Identity,
    /// What sentences call it: a rank of the job, or a process of another one.
    pub(super) id: Option<ProcessId>,
    /// Where it listens for connections that show that it is there.
    pub(super) place: Option<Place>,
    /// Whether this process connects there at the first message.
    pub(super) dials_late: bool,
    /// The number of its address.
    pub(super) address: Option<u64>,
    /// Packets with records that may be sent now.
    pub(super) credits: u32,
    /// Packets taken that the peer has no report of.
    pub(super) owed: u32,
    /// Numbers of the next packets.
    pub(super) sends: u64,
    pub(super) takes: u64,
    /// Packets sent since the poll with this number.
    pub(super) burst: u32,
    pub(super) burst_from: u64,
    /// A buffer with records that wait, and its length.
    pub(super) open: Option<(u32, usize)>,
    /// Whether the provider reports nothing of the last packet, nor of others before it.
    pub(super) unreported: bool,
    /// Whether the peer has this process's address.
    pub(super) introduced: bool,
    /// Whether a packet has come from it.
    pub(super) heard: bool,
    /// Whether it is in the list of those with packets that wait.
    pub(super) listed: bool,
    /// Packets that arrived before their turn.
    pub(super) early: BTreeMap<u64, Vec<u64>>,
    /// Name of its host, once that is known.
    pub(super) host: Option<Box<str>>,
    /// Whether the provider has reported an error for it. Nothing is sent to it any more, and it is lost soon.
    pub(super) failed: bool,
    /// Whether the provider still has a copy from or to its memory, which cannot be stopped.
    pub(super) copying: bool,
    /// Whether it has left as it should, or has disconnected: it takes nothing any more.
    pub(super) departed: bool,
    /// Since when the provider takes nothing for it, although it has left.
    pub(super) untaken_since: Option<Instant>,
    /// Why it is lost, if it is.
    pub(super) lost: Option<String>,
}

impl Peer {
    /// A rank of the own job.
    pub(super) fn of_job(secret: Secret, rank: u32, peer: u32) -> Peer {
        Peer::new(Identity { connection: 0, secret, own: rank, theirs: peer })
    }

    fn new(identity: Identity) -> Peer {
        Peer {
            identity,
            id: None,
            place: None,
            dials_late: false,
            address: None,
            credits: CREDITS,
            owed: 0,
            sends: 0,
            takes: 0,
            burst: 0,
            burst_from: 0,
            open: None,
            unreported: false,
            introduced: false,
            heard: false,
            listed: false,
            early: BTreeMap::new(),
            host: None,
            failed: false,
            copying: false,
            departed: false,
            untaken_since: None,
            lost: None,
        }
    }

    /// A process of another job.
    pub(super) fn of_connection(identity: Identity, id: ProcessId) -> Peer {
        Peer { id: Some(id), ..Peer::new(identity) }
    }

    /// None: a number that no process has. Nothing is sent to it, and nothing taken for it.
    pub(super) fn vacant() -> Peer {
        Peer { failed: true, ..Peer::new(Identity { connection: 0, secret: Secret(0), own: 0, theirs: 0 }) }
    }

    /// Connects with it, under this number, to find its end.
    pub(super) fn dial(&self, number: u32, place: &Place, liveness: Option<&Arc<Requests>>) {
        if let Some(liveness) = liveness.filter(|_| place.port != 0) {
            liveness.dial(number, self.identity, &place.host, place.ip, place.port);
        }
    }

    /// Connects with a process of another job, once: now, or with one of many at the first message.
    #[cold]
    pub(super) fn dial_where_it_listens(&mut self, number: u32, liveness: Option<&Arc<Requests>>) {
        self.dials_late = false;
        if let Some(place) = self.place.take() {
            self.dial(number, &place, liveness);
        }
    }

    /// Whether nothing is sent to it any more.
    pub(super) fn is_given_up(&self) -> bool {
        self.failed || self.lost.is_some()
    }
}
