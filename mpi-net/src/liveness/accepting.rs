//! Connections that peers make: accepted, and identified by what they begin with.
//!
//! Invariant: a connection becomes one of a peer only after its proof.
//! Not here: connections that this process makes (`dialling`).

use mpi_fabric::connections::{is_of_listener, watch_silence};

use super::hello::{HELLO_BYTES, IDENTITY_BYTES, hello, name_in};
use super::*;

/// Most connections of a pair: both may connect at once, and again when a number is used again.
const MOST_CONNECTIONS: usize = 4;
/// How long an accepted connection may stay without a rank.
pub(super) const IDENTIFY_TIMEOUT: Duration = Duration::from_secs(5);
/// Most accepted connections without a rank.
pub(super) const MAX_UNIDENTIFIED: usize = 64;
/// Between two attempts to accept connections while no descriptor is free.
const SHORTAGE_PAUSE: Duration = Duration::from_millis(250);

/// An accepted connection whose hello is not complete: the stream, when it was accepted, and the bytes received.
pub(super) struct Unidentified {
    pub(super) stream: TcpStream,
    pub(super) since: Instant,
    hello: [u8; HELLO_BYTES],
    len: usize,
}

impl Watch {
    pub(super) fn accept(&mut self) {
        while let Some(accepted) = self.listener.as_ref().map(TcpListener::accept) {
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => continue,
                Err(error) if is_of_listener(&error) => {
                    // Peers that cannot connect are watched by the provider alone.
                    self.listener = None;
                    return;
                }
                Err(_) => {
                    // No descriptor or memory is free, or the connection is faulty. Peers wait in the queue of the listener
                    // meanwhile, and try again.
                    self.accepts_from = Instant::now() + SHORTAGE_PAUSE;
                    return;
                }
            };
            if stream.set_nonblocking(true).is_err() || watch_silence(&stream, self.config.silence).is_err() {
                continue;
            }
            if self.unidentified.len() == MAX_UNIDENTIFIED {
                self.identify();
            }
            if self.unidentified.len() == MAX_UNIDENTIFIED {
                self.unidentified.remove(0);
            }
            let since = Instant::now();
            self.unidentified.push(Unidentified { stream, since, hello: [0; HELLO_BYTES], len: 0 });
        }
    }

    /// Reads what accepted connections begin with; those of the job become connections of their peers.
    pub(super) fn identify(&mut self) {
        for mut new in std::mem::take(&mut self.unidentified) {
            match new.stream.read(&mut new.hello[new.len..]) {
                Ok(0) => continue,
                Ok(bytes) => new.len += bytes,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(_) => continue,
            }
            if new.len < HELLO_BYTES {
                if new.since.elapsed() < IDENTIFY_TIMEOUT {
                    self.unidentified.push(new);
                }
                continue;
            }
            let from = self.sender(&new.hello);
            if from == Some(None) {
                // Who has ended meanwhile needs no report.
                let _ = new.stream.write_all(&[LEAVING]);
            }
            // One that is closed after it was accepted would be taken for the end of this process.
            let has_room = |from| self.peers.get(&from).is_none_or(|peer| peer.connections.len() < MOST_CONNECTIONS);
            if let Some(Some(from)) = from
                && has_room(from)
                && new.stream.write_all(&[ACCEPTED]).is_ok()
            {
                self.hosts.is_there(from);
                let host = name_in(&new.hello);
                let peer = self.peers.entry(from).or_insert_with(|| Peer { host, connections: Vec::new() });
                peer.connections.push(Connection { stream: new.stream, confirmed: true, dialled: None });
            }
        }
    }

    /// The peer that a connection begins with, if it has proved who it is; `Some(None)`: this process has disconnected from it.
    fn sender(&self, bytes: &[u8; HELLO_BYTES]) -> Option<Option<u32>> {
        let from = u32::from_ne_bytes([4, 5, 6, 7].map(|at| bytes[at]));
        let connection = u64::from_ne_bytes(std::array::from_fn(|at| bytes[8 + at]));
        let Config { rank, size, secret, .. } = self.config;
        let (number, secret, own) = match connection {
            0 if from < size => (Some(from), secret, rank),
            0 => return None,
            _ => {
                let (number, identity) = self.requests.lock().foreign.get(&(connection, from)).copied()?;
                (number, identity.secret, identity.own)
            }
        };
        let expected = hello(secret, connection, [from, own], "");
        (bytes[..IDENTITY_BYTES] == expected[..IDENTITY_BYTES]).then_some(number)
    }
}
