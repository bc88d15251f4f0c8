//! The standard input: the ranks that get it, and how it is forwarded if a rank cannot read it itself.
//!
//! Input from a file or pipe that goes to one rank is not forwarded: the rank reads it itself. Input that goes to all
//! ranks is copied to each. No rank can read a terminal, because the ranks are in background process groups: `mpiexec`
//! reads the terminal's lines only while it is in the foreground, and only after the ranks have taken the lines before,
//! so that it consumes little input that was meant for other programs.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::os;
use crate::args::Input;

/// Bytes read at once.
const READ_BYTES: usize = 64 << 10;
/// The most bytes that a rank may be behind before the others wait for it.
const QUEUE_BYTES: usize = 16 << 20;

/// The ranks' standard input, and the forwarding.
pub(super) struct Inputs {
    chosen: Input,
    /// The descriptor that a rank reads itself; `None` if the input is forwarded.
    direct: Option<OwnedFd>,
    /// The descriptor of ranks without input.
    nothing: OwnedFd,
    feeder: Option<Feeder>,
}

impl Inputs {
    /// The input of a job, which is this process's.
    pub(super) fn new(chosen: Input) -> io::Result<Inputs> {
        let input = io::stdin();
        let terminal = io::IsTerminal::is_terminal(&input);
        let fed = terminal && chosen != Input::None || chosen == Input::All;
        let own = input.as_fd().try_clone_to_owned()?;
        let (direct, feeder) = if fed { (None, Some(Feeder::new(own, terminal))) } else { (Some(own), None) };
        Ok(Inputs { chosen, direct, nothing: nothing()?, feeder })
    }

    /// The descriptor with which a rank is started.
    pub(super) fn of_rank(&mut self, rank: u32) -> io::Result<OwnedFd> {
        let some = match self.chosen {
            Input::All => true,
            Input::Rank(chosen) => chosen == rank,
            Input::None => false,
        };
        match (&mut self.feeder, &self.direct) {
            _ if !some => self.nothing.try_clone(),
            (Some(feeder), _) => feeder.add(),
            (None, Some(direct)) => direct.try_clone(),
            (None, None) => self.nothing.try_clone(),
        }
    }

    /// Adds the descriptors to wait for to `entries`; returns their number.
    pub(super) fn interests(&self, entries: &mut Vec<libc::pollfd>) -> usize {
        self.feeder.as_ref().map_or(0, |feeder| feeder.interests(entries))
    }

    /// Forwards the input that is ready, given the entries of [`Self::interests`] after a poll.
    pub(super) fn serve(&mut self, entries: &[libc::pollfd]) {
        if let Some(feeder) = self.feeder.as_mut().filter(|_| entries.iter().any(|entry| entry.revents != 0)) {
            feeder.serve(entries);
        }
    }
}

/// An empty input.
fn nothing() -> io::Result<OwnedFd> {
    match File::open("/dev/null") {
        Ok(file) => Ok(file.into()),
        // Some containers lack it; a pipe without a writer has the same effect.
        Err(_) => os::pipe().map(|(read, _)| read),
    }
}

/// Copies input to ranks.
struct Feeder {
    /// `None` once it has ended.
    source: Option<OwnedFd>,
    terminal: bool,
    ranks: Vec<Fed>,
}

/// A rank that gets forwarded input.
struct Fed {
    /// `None` once either end is closed.
    pipe: Option<OwnedFd>,
    waiting: Vec<u8>,
}

impl Fed {
    fn write(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        match os::write(pipe.as_fd(), &self.waiting) {
            Ok(n) => drop(self.waiting.drain(..n)),
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            // The rank has ended, or has closed its input.
            Err(_) => self.pipe = None,
        }
        if self.pipe.is_none() {
            self.waiting = Vec::new();
        }
    }
}

impl Feeder {
    fn new(source: OwnedFd, terminal: bool) -> Feeder {
        Feeder { source: Some(source), terminal, ranks: Vec::new() }
    }

    fn add(&mut self) -> io::Result<OwnedFd> {
        let (read, write) = os::pipe()?;
        os::set_nonblocking(write.as_fd());
        self.ranks.push(Fed { pipe: Some(write), waiting: Vec::new() });
        Ok(read)
    }

    /// The descriptor that may be read now, if any.
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        let most = if self.terminal { 0 } else { QUEUE_BYTES };
        let wanted = self.ranks.iter().any(|rank| rank.pipe.is_some());
        let room = self.ranks.iter().all(|rank| rank.waiting.len() <= most);
        let source = self.source.as_ref().filter(|_| wanted && room)?.as_fd();
        (!self.terminal || os::is_foreground_terminal(source)).then_some(source)
    }

    fn interests(&self, entries: &mut Vec<libc::pollfd>) -> usize {
        let before = entries.len();
        entries.extend(self.readable().map(|source| os::poll_entry(source, libc::POLLIN)));
        let waiting = self.ranks.iter().filter(|rank| !rank.waiting.is_empty());
        let pipes = waiting.filter_map(|rank| rank.pipe.as_ref());
        entries.extend(pipes.map(|pipe| os::poll_entry(pipe.as_fd(), libc::POLLOUT)));
        entries.len() - before
    }

    fn serve(&mut self, entries: &[libc::pollfd]) {
        use std::os::fd::AsRawFd;
        let ready = |fd: BorrowedFd<'_>| entries.iter().any(|entry| entry.fd == fd.as_raw_fd() && entry.revents != 0);
        if self.readable().is_some_and(ready)
            && let Some(source) = &self.source
        {
            let mut bytes = vec![0; READ_BYTES];
            match os::read(source.as_fd(), &mut bytes) {
                Ok(n) if n > 0 => {
                    let fed = self.ranks.iter_mut().filter(|rank| rank.pipe.is_some());
                    fed.for_each(|rank| rank.waiting.extend_from_slice(&bytes[..n]));
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                // End of input, or a terminal that was closed: the ranks get the end of file.
                Ok(_) | Err(_) => self.source = None,
            }
        }
        for rank in &mut self.ranks {
            if !rank.waiting.is_empty() {
                rank.write();
            }
            if self.source.is_none() && rank.waiting.is_empty() {
                rank.pipe = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forwards until nothing is ready.
    fn run(feeder: &mut Feeder) {
        loop {
            let mut entries = Vec::new();
            feeder.interests(&mut entries);
            os::poll(&mut entries, Some(0)).unwrap();
            if entries.iter().all(|entry| entry.revents == 0) {
                return;
            }
            feeder.serve(&entries);
        }
    }

    fn all(fd: &OwnedFd) -> Vec<u8> {
        let (mut got, mut part) = (Vec::new(), vec![0; 100_000]);
        while let Ok(n) = os::read(fd.as_fd(), &mut part) {
            got.extend_from_slice(&part[..n]);
            if n < part.len() {
                break;
            }
        }
        got
    }

    #[test]
    fn every_rank_gets_all_input_and_an_idle_reader_blocks_no_other() {
        let (read, write) = os::pipe().unwrap();
        let mut feeder = Feeder::new(read, false);
        let (first, lazy) = (feeder.add().unwrap(), feeder.add().unwrap());
        let mut got = 0;
        for _ in 0..20 {
            assert_eq!(os::write(write.as_fd(), &[b'x'; 30_000]).unwrap(), 30_000);
            run(&mut feeder);
            got += all(&first).len();
        }
        assert_eq!(got, 600_000);
        drop(lazy);
        drop(write);
        run(&mut feeder);
        assert_eq!(all(&first), [0; 0], "the end of the input is passed on");
        assert!(feeder.source.is_none() && feeder.ranks.iter().all(|rank| rank.pipe.is_none()));
    }

    #[test]
    fn no_input_is_read_for_ranks_that_have_ended() {
        let (read, write) = os::pipe().unwrap();
        let mut feeder = Feeder::new(read, false);
        drop(feeder.add().unwrap());
        os::write(write.as_fd(), b"a").unwrap();
        run(&mut feeder);
        os::write(write.as_fd(), b"b").unwrap();
        assert!(feeder.readable().is_none());
    }

    #[test]
    fn ranks_without_input_see_its_end() {
        let mut inputs = Inputs::new(Input::None).unwrap();
        assert_eq!(all(&inputs.of_rank(0).unwrap()), [0; 0]);
        assert_eq!(inputs.interests(&mut Vec::new()), 0);
    }
}
