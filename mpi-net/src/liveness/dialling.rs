//! Connections that this process makes, and makes again when the other one has closed them before it has accepted them.
//!
//! A process without a free descriptor, or with many connections that have not proved who they are, accepts later. One that has ended
//! refuses, because nothing listens there any more.
//! Invariant: a connection is made again for as long as a host may be silent, and not while the peer is connected otherwise.
//! Not here: connections that peers make (`accepting`).

use std::net::{SocketAddr, ToSocketAddrs};

use mpi_fabric::connections::watch_silence;

use super::hello::hello;
use super::*;

/// How long a connection to one address may take. The thread finds no loss meanwhile.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Between two attempts: first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A peer to connect with: its number here, and where its process listens. The host is looked up if there is no address.
pub(super) struct Dial {
    pub(super) rank: u32,
    pub(super) identity: Identity,
    pub(super) host: String,
    pub(super) ip: Option<IpAddr>,
    pub(super) port: u16,
}

/// Attempts to connect.
pub(super) struct Dialled {
    pub(super) dial: Dial,
    /// When the next one is due.
    pub(super) at: Instant,
    /// Before the one after that.
    pause: Duration,
    /// When no other one follows.
    until: Instant,
    /// When the first one began of those at the end that got no answer.
    silent_since: Option<Instant>,
}

impl Dialled {
    pub(super) fn new(dial: Dial, silence: Duration) -> Dialled {
        let now = Instant::now();
        Dialled { dial, at: now, pause: FIRST_PAUSE, until: now + silence, silent_since: None }
    }

    /// The last attempt has failed; `since`: when it began, if it got no answer.
    pub(super) fn with_silence(self, since: Option<Instant>) -> Dialled {
        Dialled { silent_since: since.map(|since| self.silent_since.unwrap_or(since)), ..self }
    }
}

impl Watch {
    /// Connects with a peer, unless it is connected.
    pub(super) fn dial(&mut self, dialled: Dialled) {
        let rank = dialled.dial.rank;
        if self.peers.contains_key(&rank) {
            return;
        }
        let (of_other_job, began) = (dialled.dial.identity.connection != 0, Instant::now());
        match self.connect(&dialled.dial) {
            Ok(stream) => {
                let host = dialled.dial.host.clone();
                let connections = vec![Connection { stream, confirmed: false, dialled: Some(dialled) }];
                self.peers.insert(rank, Peer { host, connections });
            }
            // One of another job listens until it ends, and accepts or reports that it has disconnected. One of this job may have left.
            Err(error) if is_refusal(&error) && of_other_job => self.ends(rank, dialled.dial.host, None),
            Err(error) if is_refusal(&error) => self.refused(dialled),
            Err(error) => self.dial_again(dialled.with_silence(is_silence(&error).then_some(began)), false),
        }
    }

    /// Connects again after a while. In the end a peer whose host answers nothing counts as lost, and, if `loses`, one of another job that
    /// closes all connections. Any other one is watched by the provider alone.
    pub(super) fn dial_again(&mut self, mut dialled: Dialled, loses: bool) {
        let (now, silence) = (Instant::now(), self.config.silence);
        if dialled.silent_since.is_some_and(|since| since + silence <= now) {
            self.lose_host(dialled.dial.rank);
        } else if now < dialled.until || dialled.silent_since.is_some() {
            dialled.at = now + dialled.pause;
            dialled.pause = (dialled.pause * 2).min(LONGEST_PAUSE);
            self.again.push(dialled);
        } else if loses && dialled.dial.identity.connection != 0 {
            self.ends(dialled.dial.rank, dialled.dial.host, None);
        }
    }

    /// Makes the connection that is due again, one at a time: each may take a while in which this thread finds no loss.
    pub(super) fn dial_due(&mut self, now: Instant) {
        if !self.requests.is_leaving()
            && let Some(at) = self.again.iter().position(|it| it.at <= now)
        {
            let dialled = self.again.swap_remove(at);
            self.dial(dialled);
        }
    }

    fn connect(&self, dial: &Dial) -> io::Result<TcpStream> {
        let Dial { identity, host, ip, port, .. } = dial;
        let addresses: Vec<SocketAddr> = match ip {
            Some(ip) => vec![(*ip, *port).into()],
            None => (&**host, *port).to_socket_addrs()?.collect(),
        };
        let mut last = io::Error::from(ErrorKind::NotFound);
        for address in addresses {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(mut stream) => {
                    watch_silence(&stream, self.config.silence)?;
                    stream.write_all(&hello(
                        identity.secret,
                        identity.connection,
                        [identity.own, identity.theirs],
                        &self.config.host,
                    ))?;
                    stream.set_nonblocking(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Whether nothing listens at an address any more.
fn is_refusal(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}

/// Whether nothing has answered. That a host is not reached may also be the answer of a firewall.
fn is_silence(error: &io::Error) -> bool {
    error.kind() == ErrorKind::TimedOut
}
