//! For the fuzz target `first_packets`: any bytes as the packets of peers, with the addresses in the first ones, and as addresses in text.
#![allow(clippy::unwrap_used)] // a failed step panics

use std::sync::LazyLock;

use super::*;
use crate::instruments::NetInstruments;
use crate::token::Identity;

const PEERS: u32 = 3;
/// A connection of jobs with a process that has the number behind the ranks.
const CONNECTION: u64 = 5;
/// A buffer that the provider does not have.
const SPARE: u32 = RECEIVES as u32;

static METERS: LazyLock<&'static NetInstruments> = LazyLock::new(|| mpi_t::place(&mpi_t::HeapMemory, ""));

#[derive(Default)]
struct Inbox(Vec<u32>);

impl Sink for Inbox {
    fn record(&mut self, from: u32, _: &RecordHead, payload: Payload<'_>) {
        std::hint::black_box(payload.to_vec());
        self.0.push(from);
    }
}

/// Rank 0 of a job, and a process of another job.
pub struct FirstPackets(Network);

impl FirstPackets {
    /// Opens the provider `tcp` of libfabric.
    ///
    /// # Panics
    /// There is no libfabric.
    #[allow(clippy::new_without_default)] // it opens a network
    pub fn new() -> FirstPackets {
        let (settings, meters) = (NetSettings::new(), Meters::default());
        meters.count_in(&METERS);
        Cell::write(&settings.provider, &Value::Text("tcp".into())).unwrap();
        let network = Network::open(settings, &Options { rank: 0, size: PEERS, secret: 9, job: None, meters }).unwrap();
        {
            let mut inner = network.shared.lock();
            // Nothing is connected with: addresses of the input would name any host.
            inner.liveness = None;
            let identity = Identity { connection: CONNECTION, secret: Secret(11), own: 1, theirs: 2 };
            inner.peers.push(Peer { identity, ..Peer::of_job(Secret(11), 1, 2) });
            inner.of_connections.insert((CONNECTION, 2), PEERS);
        }
        FirstPackets(network)
    }

    /// Takes what the input is.
    ///
    /// # Panics
    /// A record of a process without the token is handed out, or a limit is exceeded.
    pub fn run(&self, mut input: &[u8]) {
        let inner = &mut *self.0.shared.lock();
        inner.reset();
        while let Some((kind, rest)) = input.split_first() {
            let (length, rest) = rest.split_at(rest.len().min(2));
            let length = usize::from(length.first().copied().unwrap_or(0)) << (kind >> 6) * 2;
            let (bytes, rest) = rest.split_at(length.min(rest.len()));
            input = rest;
            match kind % 4 {
                0 => inner.take_text(bytes),
                kind => inner.take_bytes(bytes, kind),
            }
        }
    }
}

impl Inner {
    fn reset(&mut self) {
        self.lost.clear();
        self.creditors.clear();
        for at in 0..self.peers.len() {
            let peer = &mut self.peers[at];
            (peer.lost, peer.credits, peer.owed, peer.takes) = (None, CREDITS, 0, 0);
            peer.early.clear();
            if let Some(address) = peer.address.take() {
                self.provider.remove(address);
            }
        }
    }

    /// An address in text.
    fn take_text(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let Some(Parsed { provider, host, address, port }) = parsed(&text) else { return };
        assert!(!address.is_empty() && address.len() <= ADDRESS);
        let hex: String = address.iter().map(|byte| format!("{byte:02x}")).collect();
        let again = format!("{FORMAT};{provider};{host};{hex};{port}");
        assert_eq!(parsed(&again), parsed(&text));
        if let Some(address) = self.peers[1].address.take() {
            self.provider.remove(address);
        }
        // An error is a sentence.
        let own = format!("{FORMAT};{};{host};{hex};{port}", self.provider_in_address());
        assert!(!self.enter_address(1, &own).is_err_and(|why| why.is_empty()));
    }

    /// A packet; of some kinds with the token of its sender.
    fn take_bytes(&mut self, bytes: &[u8], kind: u8) {
        let mut packet = bytes[..bytes.len().min(BUFFER)].to_vec();
        if kind > 1
            && let Some(mut header) = header_of(&packet)
        {
            let of_job = kind == 2;
            (header.from, header.connection) = if of_job { (header.from % (PEERS + 1), 0) } else { (2, CONNECTION) };
            header.token = self.token_of(&header).unwrap_or(header.token);
            header.address = header.address.min((packet.len() - HEADER) as u16 & !7);
            header.write(&mut packet);
        }
        self.buffers.at(SPARE)[..packet.len()].copy_from_slice(&packet);
        let (refused, mut inbox) = (METERS.packets_refused.get(), Inbox::default());
        let seen = self.take(SPARE, packet.len(), &mut inbox);
        assert_eq!(seen, inbox.0.len());
        let proven = Header::read(&packet).is_some_and(|it| self.token_of(&it) == Some(it.token));
        assert_eq!(METERS.packets_refused.get() - refused, u64::from(!proven));
        assert!(seen == 0 || proven);
        for peer in &self.peers {
            assert!(peer.credits <= CREDITS && peer.early.len() < CREDITS as usize);
            assert!(peer.early.keys().all(|number| *number > peer.takes));
        }
        self.creditors.clear();
    }

    /// The token that a packet with this header has to have.
    fn token_of(&self, header: &Header) -> Option<u64> {
        match header.connection {
            0 if header.from < PEERS => Some(self.secret.token(header.from, 0)),
            CONNECTION if header.from == 2 => Some(Secret(11).token(2, 1)),
            _ => None,
        }
    }
}

/// A header from the bytes of an input, whatever its magic number and its flags.
fn header_of(packet: &[u8]) -> Option<Header> {
    let word = |at: usize| packet.get(at..at + 4).map(|bytes| u32::from_ne_bytes(bytes.try_into().unwrap()));
    let (from, sequence, credits, flags) = (word(4)?, word(16)?, word(24)?, word(28)?);
    packet.get(..HEADER)?;
    let (sequence, credits) = (u64::from(sequence % 16), credits % 4);
    let address = (flags >> 16) as u16 % 512;
    Some(Header { from, connection: 0, token: 0, sequence, credits, data: flags & 1 != 0, address })
}
