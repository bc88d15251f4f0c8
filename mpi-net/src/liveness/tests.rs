//! Processes that end, leave, fall silent or are none of the job, as the watch of another one sees them.
#![allow(clippy::unwrap_used)] // a failed step panics

use std::net::Shutdown;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use mpi_fabric::connections::watch_silence;
use proptest::prelude::*;

use super::accepting::MAX_UNIDENTIFIED;
use super::hello::{HELLO_BYTES, hello};
use super::*;

const SECRET: Secret = Secret(7);
pub(super) const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub(super) fn start(rank: u32, silence: Duration) -> (Liveness, Receiver<(u32, String)>) {
    let (sender, losses) = channel();
    let config = Config { rank, size: 300, secret: SECRET, silence, ip: Some(HERE), host: format!("h{rank}") };
    let on_end = move |rank, end: End<'_>| match end {
        End::Lost { host, why } => sender.send((rank, format!("{host}: {why}"))).expect("the test waits"),
        End::Silent { ranks, host, why } => {
            for rank in ranks {
                sender.send((*rank, format!("{host}: {why}"))).expect("the test waits");
            }
        }
        End::Departed => {}
    };
    (Liveness::start(config, Box::new(on_end)).unwrap(), losses)
}

/// A rank of the job, for rank 0 or 1.
pub(super) fn to_rank(rank: u32) -> Identity {
    Identity { connection: 0, secret: SECRET, own: 1 - rank, theirs: rank }
}

/// A connection that begins with these bytes.
fn connect(to: &Liveness, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect((HERE, to.port())).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

/// Waits until the other side has accepted a connection.
fn is_accepted(mut stream: &TcpStream) {
    let mut byte = [0];
    stream.set_read_timeout(Some(IDENTIFY_TIMEOUT)).unwrap();
    stream.read_exact(&mut byte).unwrap();
    assert_eq!(byte, [ACCEPTED]);
}

/// Whether the other side closes a connection within a while.
fn is_closed(mut stream: &TcpStream) -> bool {
    stream.set_read_timeout(Some(IDENTIFY_TIMEOUT * 2)).unwrap();
    !matches!(stream.read(&mut [0]), Err(error) if matches!(error.kind(), ErrorKind::WouldBlock))
}

#[test]
fn a_process_that_ends_is_lost_after_a_moment_and_one_that_leaves_is_not() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let (leaves, _) = start(1, Duration::from_secs(30));
    own.requests().dial(1, to_rank(1), "localhost", Some(HERE), leaves.port());
    let ends = connect(&own, &hello(SECRET, 0, [2, 0], "h\n2"));
    is_accepted(&ends);
    let begin = Instant::now();
    drop((leaves, ends));
    let (rank, why) = losses.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!((rank, &*why), (2, "h_2: its process has ended, or its host is down"));
    assert!(begin.elapsed() >= LOSS_DELAY);
    assert!(losses.recv_timeout(LOSS_DELAY).is_err(), "the process that leaves is no loss");
}

#[test]
fn an_error_of_the_provider_is_a_loss_after_a_moment_for_the_reason_of_a_closed_connection_if_there_is_one() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let ends = connect(&own, &hello(SECRET, 0, [2, 0], "h2"));
    is_accepted(&ends);
    let begin = Instant::now();
    own.requests().failed(1, "not connected".into());
    own.requests().failed(1, "again".into());
    own.requests().failed(2, "not connected".into());
    drop(ends);
    let mut both = [(); 2].map(|()| losses.recv_timeout(Duration::from_secs(20)).unwrap());
    both.sort_unstable();
    assert!(begin.elapsed() >= LOSS_DELAY);
    let [first, second] = both.map(|(rank, why)| format!("{rank} {why}"));
    assert_eq!(first, "1 : not connected");
    assert_eq!(second, "2 h2: its process has ended, or its host is down");
    assert!(losses.recv_timeout(LOSS_DELAY).is_err(), "each is reported once");
}

#[test]
fn a_process_that_is_connected_from_both_sides_is_one() {
    let ((own, losses), (other, of_other)) = (start(0, Duration::from_secs(30)), start(1, Duration::from_secs(30)));
    own.requests().dial(1, to_rank(1), "localhost", Some(HERE), other.port());
    other.requests().dial(0, to_rank(0), "localhost", Some(HERE), own.port());
    thread::sleep(Duration::from_millis(200));
    drop(own);
    let more = of_other.recv_timeout(LOSS_DELAY + Duration::from_secs(1));
    assert_eq!(more, Err(RecvTimeoutError::Timeout), "the first one has left");
    drop(other);
    assert!(losses.recv().is_err());
}

#[test]
fn connections_that_are_none_of_the_job_end_nothing() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let mut wrong = hello(SECRET, 0, [1, 0], "h");
    wrong[20] ^= 1;
    let hellos = [
        wrong.to_vec(),
        hello(Secret(8), 0, [1, 0], "h").to_vec(),
        hello(SECRET, 0, [1, 2], "h").to_vec(),
        hello(SECRET, 0, [300, 0], "h").to_vec(),
    ];
    for bytes in hellos {
        let stream = connect(&own, &bytes);
        assert!(is_closed(&stream));
    }
    // The token of a packet is none of a connection.
    let mut packet = hello(SECRET, 0, [1, 0], "h");
    packet[16..24].copy_from_slice(&SECRET.token(1, 0).to_ne_bytes());
    assert!(is_closed(&connect(&own, &packet)));
    // One that sends nothing more is closed too.
    let silent = connect(&own, &[1]);
    assert!(is_closed(&silent));
    assert!(losses.try_recv().is_err());
}

#[test]
fn unidentified_connections_do_not_displace_peers() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let others: Vec<TcpStream> = (0..2 * MAX_UNIDENTIFIED).map(|_| connect(&own, &[])).collect();
    let peer = connect(&own, &hello(SECRET, 0, [1, 0], "h"));
    is_accepted(&peer);
    peer.shutdown(Shutdown::Both).unwrap();
    assert_eq!(losses.recv_timeout(Duration::from_secs(20)).unwrap().0, 1);
    drop(others);
}

#[test]
fn a_burst_of_peers_loses_none() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let peers: Vec<TcpStream> = (1..=200).map(|rank| connect(&own, &hello(SECRET, 0, [rank, 0], "h"))).collect();
    peers.iter().for_each(is_accepted);
    assert_eq!(losses.recv_timeout(LOSS_DELAY + Duration::from_secs(1)), Err(RecvTimeoutError::Timeout));
}

#[test]
fn a_connection_that_was_not_accepted_is_no_loss() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let other = TcpListener::bind((HERE, 0)).unwrap();
    own.requests().dial(1, to_rank(1), "localhost", Some(HERE), other.local_addr().unwrap().port());
    drop(other.accept().unwrap());
    assert_eq!(losses.recv_timeout(LOSS_DELAY + Duration::from_secs(1)), Err(RecvTimeoutError::Timeout));
}

#[test]
fn silence_sets_keepalive_and_the_user_timeout() {
    let stream = TcpStream::connect(TcpListener::bind((HERE, 0)).unwrap().local_addr().unwrap()).unwrap();
    watch_silence(&stream, Duration::from_secs(9)).unwrap();
    let get = |level, option| {
        let (mut value, mut bytes) = (0i32, 4u32);
        // SAFETY: a number that is valid during the call.
        let got = unsafe { libc::getsockopt(stream.as_raw_fd(), level, option, (&raw mut value).cast(), &mut bytes) };
        assert_eq!(got, 0);
        value
    };
    assert_eq!(get(libc::SOL_SOCKET, libc::SO_KEEPALIVE), 1);
    assert_eq!((get(libc::IPPROTO_TCP, libc::TCP_KEEPIDLE), get(libc::IPPROTO_TCP, libc::TCP_KEEPINTVL)), (3, 3));
    assert_eq!(get(libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT), 9000);
}

#[test]
fn addresses_of_sockets_have_an_ip() {
    let mut v4 = vec![2, 0, 0x1f, 0x90, 10, 93, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(ip_of(&v4), Some(IpAddr::from([10, 93, 0, 2])));
    v4[4..8].fill(0);
    assert_eq!(ip_of(&v4), None);
    let mut v6 = vec![10, 0, 0, 1, 0, 0, 0, 0];
    v6.extend(Ipv6Addr::LOCALHOST.octets());
    assert_eq!(ip_of(&v6), Some(IpAddr::V6(Ipv6Addr::LOCALHOST)));
    v6[8..10].copy_from_slice(&[0xfe, 0x80]);
    assert_eq!(ip_of(&v6), None, "of a link");
}

proptest! {
    #[test]
    fn any_bytes_of_a_provider_are_an_address_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = ip_of(&bytes);
    }
}

#[test]
fn a_process_of_another_job_is_watched_from_its_connection_until_it_is_forgotten() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let stranger = hello(Secret(99), 5, [3, 4], "far");
    assert!(is_closed(&connect(&own, &stranger)), "before the connection");
    let identity = Identity { connection: 5, secret: Secret(99), own: 4, theirs: 3 };
    own.requests().expect(400, identity);
    for wrong in
        [hello(Secret(99), 6, [3, 4], "far"), hello(Secret(98), 5, [3, 4], "far"), hello(SECRET, 5, [3, 4], "far")]
    {
        assert!(is_closed(&connect(&own, &wrong)));
    }
    let peer = connect(&own, &stranger);
    is_accepted(&peer);
    drop(peer);
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 2).unwrap().0, 400);
    let peer = connect(&own, &stranger);
    is_accepted(&peer);
    own.requests().forget(400);
    let mut byte = [0];
    (&peer).read_exact(&mut byte).unwrap();
    assert_eq!(byte, [LEAVING]);
    drop(peer);
    let late = connect(&own, &stranger);
    (&late).read_exact(&mut byte).unwrap();
    assert_eq!(byte, [LEAVING], "one that connects later");
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 2), Err(RecvTimeoutError::Timeout));
    // One that has ended before it was connected with.
    let gone = TcpListener::bind((HERE, 0)).unwrap().local_addr().unwrap().port();
    let identity = Identity { connection: 6, ..identity };
    own.requests().expect(401, identity);
    own.requests().dial(401, identity, "far", Some(HERE), gone);
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 2).unwrap().0, 401);
}

/// Accepts a connection, and reads what it begins with.
pub(super) fn accept_as_peer(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
    stream.read_exact(&mut [0; HELLO_BYTES]).unwrap();
    stream
}

#[test]
fn a_connection_that_is_closed_before_it_is_accepted_is_made_again() {
    for (rank, connection) in [(1, 0), (400, 5)] {
        let (own, losses) = start(0, Duration::from_secs(30));
        let other = TcpListener::bind((HERE, 0)).unwrap();
        let identity = Identity { connection, secret: SECRET, own: 0, theirs: 1 };
        own.requests().dial(rank, identity, "h1", Some(HERE), other.local_addr().unwrap().port());
        for _ in 0..3 {
            drop(accept_as_peer(&other));
        }
        let mut peer = accept_as_peer(&other);
        peer.write_all(&[ACCEPTED]).unwrap();
        assert_eq!(losses.recv_timeout(LOSS_DELAY + Duration::from_secs(1)), Err(RecvTimeoutError::Timeout));
        drop(peer);
        assert_eq!(losses.recv_timeout(LOSS_DELAY * 2).unwrap().0, rank);
    }
}

#[test]
fn a_process_of_another_job_that_ends_before_it_has_accepted_is_lost() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let other = TcpListener::bind((HERE, 0)).unwrap();
    let identity = Identity { connection: 5, secret: SECRET, own: 0, theirs: 1 };
    own.requests().dial(400, identity, "far", Some(HERE), other.local_addr().unwrap().port());
    drop((accept_as_peer(&other), other));
    let (rank, why) = losses.recv_timeout(LOSS_DELAY * 2).unwrap();
    assert_eq!((rank, &*why), (400, "far: its process has ended, or its host is down"));
}

const WITHOUT_DESCRIPTORS: &str = "MPI_NET_TEST_WITHOUT_DESCRIPTORS";

/// The limit is that of a process, so a process of its own runs the test.
#[test]
fn a_process_without_a_free_descriptor_accepts_later() {
    if std::env::var_os(WITHOUT_DESCRIPTORS).is_none() {
        let name = "liveness::tests::a_process_without_a_free_descriptor_accepts_later";
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        let ended = test.args(["--exact", name]).env(WITHOUT_DESCRIPTORS, "1").output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
        return;
    }
    let (own, losses) = start(0, Duration::from_secs(30));
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a limit of this process, which has no other test; a new socket; an address of this length.
    let peer = unsafe {
        use std::os::fd::FromRawFd;
        let fd = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
        // The socket has the highest descriptor, and all below it are in use.
        let none = libc::rlimit { rlim_cur: fd as u64 + 1, ..limit };
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &none), 0);
        let mut address: libc::sockaddr_in = std::mem::zeroed();
        address.sin_family = libc::AF_INET as u16;
        address.sin_port = own.port().to_be();
        address.sin_addr.s_addr = u32::from(Ipv4Addr::LOCALHOST).to_be();
        assert_eq!(libc::connect(fd, (&raw const address).cast(), size_of_val(&address) as u32), 0);
        TcpStream::from_raw_fd(fd)
    };
    (&peer).write_all(&hello(SECRET, 0, [1, 0], "h1")).unwrap();
    peer.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    assert!((&peer).read(&mut [0]).is_err(), "it was accepted without a descriptor");
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
    is_accepted(&peer);
    drop(peer);
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 2).unwrap().0, 1);
}
