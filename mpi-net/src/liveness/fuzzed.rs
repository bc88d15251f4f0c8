//! For the fuzz target `connections`: any bytes at the beginning of a connection that shows whether a peer is there.
#![allow(clippy::unwrap_used)] // a failed step panics

use std::collections::HashSet;
use std::net::Shutdown;

use super::hello::{HELLO_BYTES, IDENTITY_BYTES, hello};
use super::*;

const SECRET: Secret = Secret(7);
const OF_CONNECTION: Secret = Secret(99);
const SIZE: u32 = 300;
/// The rank that connects after each input.
const CORRECT: u32 = SIZE - 1;
/// The connection of jobs of one process that is expected, and that of one from which this process has disconnected.
const EXPECTED: u64 = 5;
const FORGOTTEN: u64 = 6;
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const NUMBER: u32 = 400;

/// A process with two peers of other jobs.
pub struct Connections {
    liveness: Liveness,
    /// Peers that have proved who they are.
    proven: Arc<Mutex<HashSet<u32>>>,
}

impl Connections {
    /// Starts the thread.
    #[allow(clippy::new_without_default)] // it starts a thread
    pub fn new() -> Connections {
        let proven = Arc::new(Mutex::new(HashSet::from([CORRECT])));
        let seen = proven.clone();
        let on_end = move |rank: u32, end: End<'_>| {
            let host = match end {
                End::Lost { host, .. } | End::Silent { host, .. } => host,
                End::Departed => "",
            };
            assert!(seen.lock().unwrap().contains(&rank), "{rank} ends without a proof");
            assert!(host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)), "{host}");
        };
        let silence = Duration::from_secs(30);
        let config = Config { rank: 0, size: SIZE, secret: SECRET, silence, ip: Some(HERE), host: "h0".into() };
        let liveness = Liveness::start(config, Box::new(on_end)).unwrap();
        let identity = |connection| Identity { connection, secret: OF_CONNECTION, own: 4, theirs: 3 };
        liveness.requests.expect(NUMBER, identity(EXPECTED));
        liveness.requests.expect(NUMBER + 1, identity(FORGOTTEN));
        liveness.requests.forget(NUMBER + 1);
        Connections { liveness, proven }
    }

    /// Makes connections that begin with what the input is, then a correct one.
    ///
    /// # Panics
    /// One without a proof is accepted or counts, or the correct one is not accepted.
    pub fn run(&self, mut input: &[u8]) {
        let mut byte = || {
            let (first, rest) = input.split_first().unwrap_or((&0, &[]));
            input = rest;
            *first
        };
        let mut streams = Vec::new();
        for _ in 0..byte() % 4 {
            let mut bytes = match byte() % 5 {
                0 => Vec::new(),
                1 => hello(SECRET, 0, [1 + u32::from(byte() % 3), 0], "h\n1").to_vec(),
                2 => hello(OF_CONNECTION, EXPECTED, [3, 4], "far").to_vec(),
                3 => hello(OF_CONNECTION, FORGOTTEN, [3, 4], "far").to_vec(),
                _ => hello(SECRET, 0, [u32::from(byte()) * 2, u32::from(byte() % 2)], "").to_vec(),
            };
            for _ in 0..byte() % 4 {
                let (at, other) = (usize::from(byte()) % HELLO_BYTES, byte());
                if let Some(place) = bytes.get_mut(at) {
                    *place = other;
                }
            }
            for _ in 0..byte() {
                bytes.push(byte());
            }
            let cut = usize::from(byte()).min(bytes.len());
            streams.push(self.connect(&bytes, cut));
        }
        drop(streams);
        let mut correct = TcpStream::connect((HERE, self.liveness.port())).unwrap();
        correct.write_all(&hello(SECRET, 0, [CORRECT, 0], "h")).unwrap();
        assert_eq!(answer(&correct), Some(ACCEPTED), "a correct process");
        correct.write_all(&[LEAVING]).unwrap();
        // The other process has read it when it closes the connection.
        assert_eq!(answer(&correct), None);
    }

    /// A connection that begins with these bytes, in two parts, and then sends nothing more.
    fn connect(&self, bytes: &[u8], cut: usize) -> TcpStream {
        let proof = bytes.len() >= HELLO_BYTES;
        let identity = &bytes[..IDENTITY_BYTES.min(bytes.len())];
        let of_job = (0..SIZE).find(|rank| identity == &hello(SECRET, 0, [*rank, 0], "")[..IDENTITY_BYTES]);
        let of_other = |connection| identity == &hello(OF_CONNECTION, connection, [3, 4], "")[..IDENTITY_BYTES];
        let peer = of_job.or(of_other(EXPECTED).then_some(NUMBER)).filter(|_| proof);
        self.proven.lock().unwrap().extend(peer);
        let mut stream = TcpStream::connect((HERE, self.liveness.port())).unwrap();
        stream.set_nodelay(true).unwrap();
        // The other process may have closed it already.
        let sent = stream.write_all(&bytes[..cut]).and_then(|()| stream.write_all(&bytes[cut..]));
        let _ = sent.and_then(|()| stream.shutdown(Shutdown::Write));
        match answer(&stream) {
            Some(ACCEPTED) => assert!(peer.is_some(), "accepted without a proof"),
            Some(LEAVING) => assert!(proof && of_other(FORGOTTEN), "an answer of one that has disconnected"),
            Some(other) => panic!("an answer {other}"),
            // Without a proof, or one of many connections of a peer.
            None => {}
        }
        stream
    }
}

/// What the other process answers; `None`: it closes the connection.
fn answer(mut stream: &TcpStream) -> Option<u8> {
    let mut byte = [0];
    stream.set_read_timeout(Some(IDENTIFY_TIMEOUT * 2)).unwrap();
    match stream.read(&mut byte) {
        Ok(1) => Some(byte[0]),
        Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("no answer"),
        _ => None,
    }
}
