//! How a proxy finds the front, and how both prove that they belong to one job.
//!
//! Invariant: a proxy does nothing for a process that does not know the secret of its job, and does not send it.

use std::ffi::OsStr;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mpi_fabric::host;
use mpi_wireup::PROXY;

use super::super::os;
use super::frame::Frame;
use super::link::Link;
use super::secret::{Secret, Side, random};

/// Time limit for one address to accept a connection.
const CONNECT: Duration = Duration::from_millis(1500);
/// Time limit for the front to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Front and proxy have to be of one release.
pub(super) const RELEASE: &str = concat!(env!("CARGO_PKG_VERSION"), "/2");

/// Where the front is, and the secret of the job.
#[derive(Clone)]
pub(super) struct Meeting {
    pub(super) secret: Secret,
    pub(super) port: u16,
    pub(super) addresses: Vec<IpAddr>,
    /// The time limit of the front, in seconds.
    pub(super) limit_s: u64,
}

impl Meeting {
    /// As the value of a variable.
    pub(super) fn to_text(&self) -> String {
        let addresses: Vec<String> = self.addresses.iter().map(IpAddr::to_string).collect();
        format!("{} {} {} {}", self.secret.to_text(), self.port, addresses.join(","), self.limit_s)
    }

    /// From such a value.
    pub(super) fn of_text(text: &str) -> Option<Meeting> {
        let mut words = text.split(' ');
        let (secret, port) = (Secret::of_text(words.next()?)?, words.next()?.parse().ok()?);
        let addresses = words.next()?.split(',').map(|address| address.parse().ok()).collect::<Option<Vec<_>>>()?;
        let limit_s = words.next()?.parse().ok().filter(|seconds| *seconds > 0)?;
        words.next().is_none().then_some(Meeting { secret, port, addresses, limit_s })
    }
}

/// Connects to the front that the environment names; also its time limit. `variable` has the place of this proxy.
/// # Errors
/// A sentence.
pub(super) fn connect(variable: &OsStr) -> Result<(Link, Duration), String> {
    let value = std::env::var(PROXY).map_err(|_| format!("{PROXY} is not set: only mpiexec starts its proxies"))?;
    let meeting = Meeting::of_text(&value).ok_or_else(|| format!("{PROXY} is malformed"))?;
    let place = std::env::var(variable).unwrap_or_default();
    let limit = Duration::from_secs(meeting.limit_s);
    let end = Instant::now() + limit;
    let mut last = String::new();
    while Instant::now() < end {
        for address in &meeting.addresses {
            let address = SocketAddr::new(*address, meeting.port);
            let greeted = TcpStream::connect_timeout(&address, CONNECT)
                .and_then(Link::new)
                .map_err(|error| error.to_string())
                .and_then(|link| greet(link, meeting.secret, &place));
            match greeted {
                Ok(link) => return Ok((link, limit)),
                Err(why) => last = format!("{address}: {why}"),
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("mpiexec cannot be reached at any of its addresses; {last}"))
}

fn greet(mut link: Link, secret: Secret, place: &str) -> Result<Link, String> {
    let own = random().map_err(|error| error.to_string())?.to_vec();
    let hello =
        Frame::Hello { release: RELEASE.into(), place: place.into(), name: host::name(), challenge: own.clone() };
    link.send(&hello);
    match wait(&mut link, ANSWER) {
        Some(Frame::Challenge { answer, challenge }) if answer == secret.answer(Side::Front, &own, &challenge) => {
            link.send(&Frame::Answer { answer: secret.answer(Side::Proxy, &challenge, &own) });
            link.trust();
            Ok(link)
        }
        Some(Frame::Refused { sentence, .. }) => Err(sentence),
        _ => Err("what answers there is not the mpiexec of this job".into()),
    }
}

/// The next message, if one comes in time.
pub(super) fn wait(link: &mut Link, limit: Duration) -> Option<Frame> {
    let end = Instant::now() + limit;
    loop {
        if let Some(frame) = link.next() {
            return Some(frame);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || link.is_closed() {
            return None;
        }
        let mut entry = [link.interest()];
        os::poll(&mut entry, Some(left.as_millis() as i32 + 1)).ok()?;
        link.flush();
        if entry[0].revents != 0 {
            link.receive();
        }
    }
}

/// The front's side of a connection that is not trusted yet.
pub(super) struct Guest {
    link: Link,
    since: Instant,
    /// Its place and name, and the answer that it owes.
    hello: Option<(String, String, u64)>,
}

/// What became of a guest.
pub(super) enum Welcome {
    /// It has not proved itself yet.
    Waiting(Guest),
    /// It is a proxy: its connection, its place, and the name of its host.
    Proxy(Link, String, String),
    /// It is none.
    Stranger,
    /// It is of another release: its name, and the release.
    Other(String, String),
}

impl Guest {
    pub(super) fn new(link: Link) -> Guest {
        Guest { link, since: Instant::now(), hello: None }
    }

    pub(super) fn interest(&self) -> libc::pollfd {
        self.link.interest()
    }

    /// Reads what has come.
    pub(super) fn receive(mut self, secret: Secret) -> Welcome {
        self.link.flush();
        self.link.receive();
        while let Some(frame) = self.link.next() {
            match (frame, self.hello.take()) {
                (Frame::Hello { release, name, .. }, None) if release != RELEASE => {
                    let sentence = format!("mpiexec is of release {RELEASE}, and the one on this host of {release}");
                    self.link.send(&Frame::Refused { code: 1, sentence });
                    return Welcome::Other(name, release);
                }
                (Frame::Hello { place, name, challenge, .. }, None) => {
                    let Ok(own) = random() else { return Welcome::Stranger };
                    let answer = secret.answer(Side::Front, &challenge, &own);
                    self.link.send(&Frame::Challenge { answer, challenge: own.to_vec() });
                    self.hello = Some((place, name, secret.answer(Side::Proxy, &own, &challenge)));
                }
                (Frame::Answer { answer }, Some((place, name, due))) if answer == due => {
                    self.link.trust();
                    return Welcome::Proxy(self.link, place, name);
                }
                _ => return Welcome::Stranger,
            }
        }
        match self.link.is_closed() || self.since.elapsed() > ANSWER {
            true => Welcome::Stranger,
            false => Welcome::Waiting(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A proxy that knows one secret, and a front that knows another.
    fn meet(proxy: Secret, front: Secret) -> (Result<(), String>, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = std::thread::spawn(move || {
            let link = Link::new(TcpStream::connect(address).unwrap()).unwrap();
            greet(link, proxy, "3").map(drop)
        });
        let mut guest = Guest::new(Link::new(listener.accept().unwrap().0).unwrap());
        let proved = loop {
            let mut entry = [guest.interest()];
            os::poll(&mut entry, Some(1000)).unwrap();
            match guest.receive(front) {
                Welcome::Waiting(still) => guest = still,
                Welcome::Proxy(_, place, _) => break place == "3",
                _ => break false,
            }
        };
        (client.join().unwrap(), proved)
    }

    #[test]
    fn both_sides_need_the_secret() {
        let (one, two) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert_eq!(meet(one, one), (Ok(()), true));
        let (proxy, front) = meet(one, two);
        assert!(proxy.unwrap_err().contains("not the mpiexec of this job") && !front);
    }

    #[test]
    fn a_meeting_is_a_text() {
        let secret = Secret::new().unwrap();
        let addresses = vec!["10.0.0.1".parse().unwrap(), "fd00::1".parse().unwrap()];
        let meeting = Meeting { secret, port: 77, addresses, limit_s: 30 };
        let read = Meeting::of_text(&meeting.to_text()).unwrap();
        assert!(read.secret == secret && (read.port, read.addresses) == (77, meeting.addresses));
        for bad in ["", "x 1 ::1", &format!("{} 1 h 3", secret.to_text()), &format!("{} 1 ::1 0", secret.to_text())] {
            assert!(Meeting::of_text(bad).is_none(), "{bad}");
        }
    }
}
