//! The transport: records in packets, credits, packets that wait, copies.
//!
//! Each pair of processes has [`CREDITS`] credits in each direction: packets with records that the sender may have under way
//! before the receiver has taken them. A record leaves at once while there is a credit. Without one, and when the provider takes nothing
//! now, records collect in one packet, which leaves when a credit comes back. Short records beyond [`BURST`] between two polls are
//! refused; the engine pushes them again at its next poll ([`Transport::gather`]), and they leave in one packet. Credits travel in the packets of the other
//! direction, and alone when half of them are owed.
//! Invariant: a send buffer is free, a packet that waits, or the provider's; a receive buffer is the provider's, or holds a
//! packet that was not handed out yet. Packets of a pair are handed out in the order of their numbers.
//! Not here: the format (`packet`), the provider's calls (`provider`).

mod arrivals;
mod buffers;
mod copies;
mod foreign;
#[cfg(fuzzing)]
pub(crate) mod fuzzed;
mod losses;
mod peer;
mod sending;
mod transport;
mod under_way;

use std::collections::{HashMap, VecDeque};
use std::mem::take;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERR_PROC_ABORTED};
use mpi_errors::{Error, Result};
use mpi_fabric::job::HostRanks;
use mpi_fabric::{
    Access, BellRinger, Full, NetworkCopies, Payload, Piece, RecordHead, RegionKey, Registration, Sink, Transport,
    Waiting, host,
};
use mpi_t::{Cell, Value};

use buffers::{Buffers, bytes_of};
use copies::Held;
use peer::Peer;

use crate::defaults::Defaults;
use crate::dispositions::Dispositions;
use crate::ffi;
use crate::instruments::Meters;
use crate::library::Library;
use crate::liveness::{self, Config, End, Liveness, Requests};
use crate::packet::{self, HEADER, Header};
use crate::provider::{ADDRESS, Completion, Kind, Operation, Provider, Registered};
use crate::settings::NetSettings;
use crate::token::Secret;
use crate::watcher::Watcher;

/// Packets with records that a sender may have under way to one receiver.
const CREDITS: u32 = 8;
/// Owed credits from which on they travel alone.
const MOST_OWED: u32 = CREDITS / 2;
/// Longest payload of a record.
const PAYLOAD: usize = 64 << 10;
/// Bytes of a buffer: a record of that length behind a header with an address.
const BUFFER: usize = PAYLOAD + 4096;
/// Packets with short records that leave to one peer between two polls. What is pushed beyond them waits in the engine
/// for the next poll, and leaves together.
const BURST: u32 = 3;
/// Longest payload of a short record.
const SHORT: usize = 4096;
/// Bytes of records that wait for others at most.
const GATHERED: usize = 12 << 10;
const RECEIVES: usize = 64;
const SENDS: usize = 64;
/// First field of an address in text; another one means another release of the library.
const FORMAT: &str = "f4";
/// Polls of a thread that waits for a short copy before it sleeps.
const COPY_POLLS: u32 = 200;
/// Long copies add a poll for so many bytes: a thread that sleeps in the middle of each wakes on the core of the one that sends.
const COPY_BYTES_PER_POLL: usize = 256;
/// The most that they add.
const MOST_LONGER_POLLS: usize = 1 << 20;
/// How often a thread then yields the core, if the provider wants to be polled.
const COPY_YIELDS: u32 = 100;
/// How long the end of a process waits until its last packets have left.
const LINGER: Duration = Duration::from_secs(2);

/// Held while a thread opens a provider: the environment and the actions for signals, which it changes and restores, are
/// those of the process, and another thread would take what it finds meanwhile for the user's.
static OPENING: Mutex<()> = Mutex::new(());

/// Finds the addresses of peers: the key-value space of the launcher. Thread-safe.
pub trait Addresses: Send + Sync {
    /// What [`Network::address`] returned in the process of a rank.
    /// # Errors
    /// A sentence: the launcher has none, or does not answer.
    fn address_of(&self, rank: u32) -> std::result::Result<String, String>;
}

/// The place of a process in its job.
pub struct Options {
    /// World rank.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// 128 random bits that all processes of the job have, and no other process.
    pub secret: u128,
    /// The number of the job for its launcher; without one the network has a number for it.
    pub job: Option<u64>,
    /// Where to count.
    pub meters: Meters,
}

/// The network of one rank.
pub struct Network {
    shared: Arc<Shared>,
    /// Watches whether peers are there; an error is why it does not.
    liveness: std::result::Result<Liveness, String>,
}

struct Shared {
    settings: &'static NetSettings,
    inner: Mutex<Inner>,
    /// Registrations that end while records are handed out. Locked after `inner` or without it.
    ended: Mutex<Ended>,
    /// Rings the doorbell of the endpoint, and the thread that calls it.
    bell: Mutex<Bell>,
    remote_access: bool,
    /// World rank of this process.
    rank: u32,
}

/// A record may end a registration, which the thread that hands it out then drops with `inner` locked.
#[derive(Default)]
struct Ended {
    /// Whether records are handed out: regions are closed when that is over.
    waits: bool,
    regions: Vec<Registered>,
}

#[derive(Default)]
struct Bell {
    ring: Option<Arc<dyn Fn() + Send + Sync>>,
    watcher: Option<Watcher>,
}

struct Inner {
    provider: Provider,
    secret: Secret,
    /// The number of the job, if the launcher has given it one.
    job: Option<u64>,
    own_address: Vec<u8>,
    /// The limit of `ofi_rxm` for data that it sends at once, if that is set.
    eager_limit: Option<String>,
    addresses: Option<Arc<dyn Addresses>>,
    /// To connect with peers whose ends are to be found.
    liveness: Option<Arc<Requests>>,
    /// By world rank those of the job; those of other jobs behind them, by the numbers that they have in this process.
    peers: Vec<Peer>,
    /// The numbers of peers of other jobs, by connection and their number there.
    of_connections: HashMap<(u64, u32), u32>,
    /// All buffers: first those of receives, then those of sends.
    buffers: Buffers,
    region: Registered,
    /// One for each buffer.
    operations: Box<[Operation]>,
    /// The receiver of what is in each send buffer.
    receivers: [u32; SENDS],
    /// Send buffers that are free.
    free: Vec<u32>,
    /// Sends that have not completed.
    under_way: usize,
    /// Number of ranks of this job.
    size: u32,
    /// Peers with packets that wait.
    waiting: Vec<u32>,
    /// Peers that are owed half of their credits or more.
    creditors: Vec<u32>,
    /// Receive buffers with packets that were not handed out, and their lengths.
    arrived: VecDeque<(u32, usize)>,
    /// Receive buffers that the provider does not have, the one used last at the end, and the number of those that it has.
    unposted: Vec<u32>,
    posted: usize,
    /// Peers with which packets were exchanged, and one more.
    partners: usize,
    /// Peers that are lost.
    lost: Vec<u32>,
    /// Addresses of peers that have disconnected, and since when.
    retired: VecDeque<(Instant, u64)>,
    /// Number of the last poll.
    polls: u64,
    /// Whether records wait for others that are pushed now.
    gathers: bool,
    meters: Meters,
    /// An error of the provider itself.
    failure: Option<String>,
    /// Whether the process is about to end, so that all packets are to be reported (`settle`).
    settles: bool,
    /// Whether there is something to see, or to send, that the provider's descriptor does not show: a thread that sleeps is rung for it.
    news: bool,
}

impl Network {
    /// Loads libfabric and opens an endpoint.
    /// # Errors
    /// `MPI_ERR_OTHER` with a sentence: there is no libfabric, or no provider of the settings.
    pub fn open(settings: &'static NetSettings, options: &Options) -> Result<Network> {
        let alone = OPENING.lock();
        let kept = Dispositions::keep();
        let library = Library::load(&settings.library.get())?;
        let name = settings.provider.get();
        let defaults = Defaults::set(library.version_number(), &name, options.size, BUFFER);
        let mut provider = Provider::open(library, &name, options.size)?;
        let eager_limit = defaults.eager_limit().filter(|_| provider.facts.provider.contains("ofi_rxm"));
        drop((kept, defaults, alone));
        if provider.facts.longest < BUFFER {
            let (name, longest) = (&provider.facts.provider, provider.facts.longest);
            let rule =
                format!("provider {name} of libfabric sends {longest} bytes at most; this library needs {BUFFER}");
            return Err(Error::new(MPI_ERR_OTHER, rule));
        }
        let own_address = provider.address()?;
        let buffers = Buffers::new();
        let region = match provider.registers_local() {
            // SAFETY: the buffers stay until the provider is closed.
            true => unsafe {
                let access = u64::from(ffi::FI_SEND | ffi::FI_RECV);
                provider.register(buffers.at, Buffers::layout().size(), access)?
            },
            false => Registered::NONE,
        };
        provider.keep(region);
        let kind = |number: usize| if number < RECEIVES { Kind::Receive } else { Kind::Send };
        let secret = Secret(options.secret);
        let remote_access = provider.facts.remote_access;
        let mut inner = Inner {
            provider,
            secret,
            job: options.job,
            own_address,
            eager_limit,
            addresses: None,
            liveness: None,
            peers: (0..options.size).map(|rank| Peer::of_job(secret, options.rank, rank)).collect(),
            of_connections: HashMap::new(),
            buffers,
            region,
            operations: (0..RECEIVES + SENDS).map(|n| Operation::new(kind(n), n as i64)).collect(),
            receivers: [0; SENDS],
            free: (RECEIVES as u32..(RECEIVES + SENDS) as u32).collect(),
            under_way: 0,
            size: options.size,
            waiting: Vec::new(),
            creditors: Vec::new(),
            arrived: VecDeque::new(),
            unposted: (0..RECEIVES as u32).collect(),
            posted: 0,
            partners: 2,
            lost: Vec::new(),
            retired: VecDeque::new(),
            polls: 1,
            gathers: false,
            meters: options.meters.clone(),
            failure: None,
            settles: false,
            news: false,
        };
        inner.post_receives();
        let ip = liveness::ip_of(&inner.own_address);
        let (inner, ended, bell) = (Mutex::new(inner), Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { settings, inner, ended, bell, remote_access, rank: options.rank });
        let liveness = shared.watch_peers(options, ip);
        shared.lock().liveness = liveness.as_ref().ok().map(Liveness::requests);
        let network = Network { shared, liveness };
        settings.in_use.write(&Value::Text(network.description())).expect("a cell of texts accepts one");
        Ok(network)
    }

    /// The address of this process for the others, as text without blanks.
    pub fn address(&self) -> String {
        let inner = self.shared.lock();
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || ".-_".contains(letter) { letter } else { '_' };
        let host: String = host::name().chars().take(64).map(plain).collect();
        let hex: String = inner.own_address.iter().map(|byte| format!("{byte:02x}")).collect();
        let port = self.liveness.as_ref().map_or(0, Liveness::port);
        format!("{FORMAT};{};{host};{hex};{port}", inner.provider_in_address())
    }

    /// Passes where the addresses of the others are found, and the hosts of the job, that of this process first; none: losses are found
    /// only of processes with which it exchanges messages. Before the first message.
    pub fn set_addresses(&self, addresses: Arc<dyn Addresses>, hosts: Vec<HostRanks>) {
        self.shared.lock().addresses = Some(addresses.clone());
        self.survey_hosts(addresses, hosts);
    }

    /// Why this process finds the end of a peer only when it sends to it, if the system refuses the connections that show it.
    pub fn unwatched(&self) -> Option<&str> {
        self.liveness.as_ref().err().filter(|_| self.shared.settings.timeout.get() != 0).map(String::as_str)
    }

    /// The version of libfabric, the provider, what it can do, and why peers are not watched, if they are not.
    pub fn description(&self) -> String {
        let inner = self.shared.lock();
        let facts = &inner.provider.facts;
        format!(
            "libfabric {}, provider {}, {}, {}{}",
            inner.provider.library_version(),
            facts.provider,
            if facts.remote_access { "remote access" } else { "no remote access" },
            if facts.ordered { "ordered" } else { "not ordered" },
            self.liveness.as_ref().err().map_or(String::new(), |why| format!("; peers are not watched: {why}"))
        )
    }
}

/// The parts of an address in text.
#[derive(Debug, PartialEq, Eq)]
struct Parsed<'a> {
    provider: &'a str,
    host: &'a str,
    address: Vec<u8>,
    /// Where the process listens for connections that show that it is there; 0: nowhere.
    port: u16,
}

/// The parts of an address; `None` if no process of this release wrote it.
fn parsed(text: &str) -> Option<Parsed<'_>> {
    let mut fields = text.split(';');
    let (format, provider, host, hex) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let port = fields.next().filter(|port| port.bytes().all(|digit| digit.is_ascii_digit()))?.parse().ok()?;
    if format != FORMAT
        || fields.next().is_some()
        || hex.len() % 2 != 0
        || hex.is_empty()
        || hex.len() > 2 * ADDRESS
        || !hex.bytes().all(|digit| digit.is_ascii_hexdigit())
    {
        return None;
    }
    let byte = |at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let address: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    Some(Parsed { provider, host, address: address?, port })
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self) -> MutexGuard<'_, Ended> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bell(&self) -> MutexGuard<'_, Bell> {
        self.bell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the threads that sleep on the doorbell: for a thread that has taken from the provider what they wait for.
    fn ring(&self) {
        let ring = self.bell().ring.clone();
        if let Some(ring) = ring {
            ring();
        }
    }
}

impl Inner {
    /// The number of a peer's address, which is found at the first message. `None`: the peer is lost now.
    fn address(&mut self, peer: u32) -> Option<u64> {
        let found = &mut self.peers[peer as usize];
        if let Some(address) = found.address {
            if found.dials_late {
                found.dial_where_it_listens(peer, self.liveness.as_ref());
            }
            return Some(address);
        }
        let found = match &self.addresses {
            Some(addresses) => addresses.address_of(peer),
            None => Err("its address is not known".to_owned()),
        };
        let entered = found.and_then(|text| {
            let place = self.enter_address(peer, &text)?;
            // A peer whose first message came before has connected itself.
            self.peers[peer as usize].dial(peer, &place, self.liveness.as_ref());
            Ok(())
        });
        if let Err(why) = entered {
            self.lose(peer, format!("rank {peer} cannot be reached: {why}"));
        }
        self.peers[peer as usize].address
    }

    fn push(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        if payload.len() > PAYLOAD {
            return Err(Full);
        }
        let need = packet::record_bytes(payload.len());
        let peer = &mut self.peers[dest as usize];
        if peer.is_given_up() {
            return Ok(());
        }
        let short = payload.len() <= SHORT;
        if short && !self.gathers && peer.burst_from == self.polls && peer.burst >= BURST {
            return Err(Full);
        }
        if peer.open.is_some_and(|(_, len)| len + need > BUFFER) {
            self.flush(dest);
        }
        let peer = &mut self.peers[dest as usize];
        let (buffer, len) = match peer.open {
            Some((_, len)) if len + need > BUFFER => return Err(Full),
            Some(open) => open,
            None => {
                let buffer = self.free.pop().ok_or(Full)?;
                let address = if peer.introduced { 0 } else { self.own_address.len() };
                (buffer, HEADER + ((address + 7) & !7))
            }
        };
        let len = packet::append(self.buffers.at(buffer), len, head, payload);
        peer.open = Some((buffer, len));
        self.meters.with(|meters| {
            meters.records_sent.incr();
            meters.bytes_sent.add(payload.len() as u64);
        });
        if self.gathers && short && len < GATHERED {
            self.list(dest);
        } else if !peer.listed || self.gathers {
            self.flush(dest);
        }
        Ok(())
    }

    fn is_drained(&self) -> bool {
        let unsettled = self.settles && (0..self.peers.len() as u32).any(|peer| self.is_unsettled(peer));
        self.under_way == 0
            && self.waiting.is_empty()
            && !unsettled
            && self.peers.iter().all(|peer| peer.open.is_none())
    }

    /// Whether a thread may sleep until the provider's descriptor is readable.
    fn may_sleep(&mut self) -> bool {
        let idle = self.arrived.is_empty() && self.creditors.is_empty() && !self.lacks_receives();
        idle && self.failure.is_none()
            && !self.waiting.iter().any(|dest| self.peers[*dest as usize].credits > 0)
            && self.provider.may_sleep()
    }
}

/// What a test or a report needs to hand addresses around without a launcher.
impl Addresses for OnceLock<Vec<String>> {
    fn address_of(&self, rank: u32) -> std::result::Result<String, String> {
        self.get().and_then(|all| all.get(rank as usize)).cloned().ok_or_else(|| "it has no address".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_other_releases_are_refused() {
        let whole = Parsed { provider: "tcp", host: "h1", address: vec![10, 255], port: 99 };
        assert_eq!(parsed("f4;tcp;h1;0aff;99"), Some(whole));
        for text in [
            "",
            "f4",
            "f3;tcp;h1;0a;1",
            "f4;tcp;h1;0a",
            "f4;tcp;h1;0;1",
            "f4;tcp;h1;;1",
            "f4;tcp;h1;0g;1",
            "f4;tcp;h1;0a;1;",
            "f4;tcp;h1;+1;1",
            "f4;tcp;h1;0a;+1",
            "f4;tcp;h1;0a;65536",
            "f4;tcp;h1;0a;",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
        assert_eq!(parsed(&format!("f4;tcp;h1;{};1", "00".repeat(ADDRESS + 1))), None);
    }
}
