//! Which receive of a trace got the message of which send, for the arrows of the trace.
//!
//! Messages from one rank to another with one tag arrive in their order, so the k-th send belongs to the k-th receive that
//! names this source and tag. Where only the last calls are known, the k-th last send belongs to the k-th last receive, if all that
//! was sent was received. Only messages on `MPI_COMM_WORLD` are considered, because its ranks are those of the trace.
//! Invariant: no arrow is guessed. Where receives with wildcards, matched probes, persistent operations, several threads,
//! failures or cancelled operations leave several possibilities, there is none.
//! Not here: the form of the file (`trace_json`).

use std::collections::{HashMap, HashSet};

use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_PROC_NULL};
use mpi_core::functions::*;
use mpi_pmpi::records::{Event, sends_and_receives};

/// Most sends, and most receives, that are considered of all ranks together; each rank has its part of them.
const MOST: usize = 1 << 21;

/// The end of an arrow: a moment within a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The rank.
    pub(super) rank: u32,
    /// Its thread.
    pub(super) thread: u32,
    /// The moment.
    pub(super) ns: u64,
}

/// Sender, receiver and tag.
type Stream = (u32, u32, i32);

/// Whether a receiver has received all that a sender has sent to it; the last value: whether it also posts receives without
/// waiting for them.
pub type IsSettled<'a> = Box<dyn Fn(u32, u32, bool) -> bool + 'a>;

/// The sends and receives of a trace.
pub struct Arrows<'a> {
    ranks: u32,
    /// `None`: all calls since the start are known.
    is_settled: Option<IsSettled<'a>>,
    /// Receivers with receives that do not wait.
    posting: HashSet<u32>,
    sends: HashMap<Stream, Vec<End>>,
    receives: HashMap<Stream, Vec<End>>,
    /// Receivers whose receives may take any message.
    open_receivers: HashSet<u32>,
    /// Pairs of which messages may be others than are seen.
    open_pairs: HashSet<(u32, u32)>,
    /// How many sends and receives of the present rank there may be.
    left: [usize; 2],
    present: Option<u32>,
}

impl<'a> Arrows<'a> {
    /// Those of a job of so many ranks, all of whose calls are known.
    pub fn of_all(ranks: u32) -> Arrows<'a> {
        Arrows {
            ranks,
            is_settled: None,
            posting: HashSet::new(),
            sends: HashMap::new(),
            receives: HashMap::new(),
            open_receivers: HashSet::new(),
            open_pairs: HashSet::new(),
            left: [0; 2],
            present: None,
        }
    }

    /// Those of a job of which the last calls are known.
    pub fn of_last(ranks: u32, is_settled: IsSettled<'a>) -> Arrows<'a> {
        Arrows { is_settled: Some(is_settled), ..Arrows::of_all(ranks) }
    }

    /// Considers a call; those of a rank come together and in their order.
    pub(super) fn add(&mut self, rank: u32, event: &Event) {
        if self.present != Some(rank) {
            (self.present, self.left) = (Some(rank), [MOST / self.ranks.max(1) as usize; 2]);
        }
        if event.function == MPI_CANCEL {
            self.open_receivers.insert(rank);
            self.open_pairs.extend((0..self.ranks).map(|other| (rank, other)));
        }
        let starts = matches!(event.function, MPI_START | MPI_STARTALL);
        if event.object != Some(MPI_COMM_WORLD as u64) && !starts {
            return;
        }
        let (peer, tag) = (event.peer.unwrap_or(MPI_PROC_NULL), event.tag.unwrap_or(MPI_ANY_TAG));
        if self.is_settled.is_some() && starts {
            // The requests may have been made before the first call that is known.
            self.open_receivers.insert(rank);
            self.open_pairs.extend((0..self.ranks).map(|other| (rank, other)));
        }
        match event.function {
            MPI_SEND | MPI_SEND_C | MPI_SSEND | MPI_SSEND_C | MPI_BSEND | MPI_BSEND_C | MPI_RSEND | MPI_RSEND_C
            | MPI_ISEND | MPI_ISEND_C | MPI_ISSEND | MPI_ISSEND_C | MPI_IBSEND | MPI_IBSEND_C | MPI_IRSEND
            | MPI_IRSEND_C => self.send(rank, event, peer, tag),
            MPI_RECV | MPI_RECV_C => self.receive(rank, event, peer, tag),
            MPI_IRECV | MPI_IRECV_C => {
                self.posting.insert(rank);
                self.receive(rank, event, peer, tag);
            }
            function if sends_and_receives(function) => {
                if matches!(function, MPI_ISENDRECV | MPI_ISENDRECV_C | MPI_ISENDRECV_REPLACE | MPI_ISENDRECV_REPLACE_C)
                {
                    self.posting.insert(rank);
                }
                self.send(rank, event, peer, tag);
                let (source, tag) = event.second.unwrap_or((MPI_ANY_SOURCE, MPI_ANY_TAG));
                self.receive(rank, event, source, tag);
            }
            MPI_SEND_INIT | MPI_SEND_INIT_C | MPI_SSEND_INIT | MPI_SSEND_INIT_C | MPI_BSEND_INIT | MPI_BSEND_INIT_C
            | MPI_RSEND_INIT | MPI_RSEND_INIT_C => self.open(rank, peer),
            MPI_RECV_INIT | MPI_RECV_INIT_C => match peer {
                MPI_ANY_SOURCE => drop(self.open_receivers.insert(rank)),
                peer => self.open(u32::try_from(peer).unwrap_or(u32::MAX), rank as i32),
            },
            MPI_MPROBE | MPI_IMPROBE => drop(self.open_receivers.insert(rank)),
            _ => {}
        }
    }

    fn open(&mut self, from: u32, to: i32) {
        self.open_pairs.extend(u32::try_from(to).ok().map(|to| (from, to)));
    }

    fn send(&mut self, rank: u32, event: &Event, to: i32, tag: i32) {
        let Ok(to) = u32::try_from(to) else { return };
        // A call that has not returned may not have sent its message.
        if event.code != 0 || self.is_settled.is_some() && event.end_ns == 0 {
            self.open_pairs.insert((rank, to));
        }
        if let Some(left) = self.left[0].checked_sub(1) {
            self.left[0] = left;
            let end = End { rank, thread: event.thread, ns: event.start_ns };
            self.sends.entry((rank, to, tag)).or_default().push(end);
        }
    }

    fn receive(&mut self, rank: u32, event: &Event, from: i32, tag: i32) {
        if from == MPI_ANY_SOURCE {
            self.open_receivers.insert(rank);
        }
        let Ok(from) = u32::try_from(from) else { return };
        if self.is_settled.is_some() && event.end_ns == 0 {
            // What is received by calls that have returned is settled; this one waits for more.
            return;
        }
        if tag == MPI_ANY_TAG || event.code != 0 {
            self.open_pairs.insert((from, rank));
        }
        if let Some(left) = self.left[1].checked_sub(1) {
            self.left[1] = left;
            // The last moment within the call; 0: it has not returned.
            let ns = event.end_ns.saturating_sub(1);
            self.receives.entry((from, rank, tag)).or_default().push(End { rank, thread: event.thread, ns });
        }
    }

    /// The arrows, from senders to receivers. A receive that returned before the send began, as a non-blocking one can, has
    /// none.
    pub(super) fn matched(self) -> impl Iterator<Item = (End, End)> {
        let mut streams: Vec<_> = self.sends.into_iter().collect();
        streams.sort_unstable_by_key(|(stream, _)| *stream);
        let (mut receives, receivers, pairs) = (self.receives, self.open_receivers, self.open_pairs);
        let (is_settled, posting) = (self.is_settled, self.posting);
        let has_one_thread = |ends: &[End]| ends.windows(2).all(|two| two[0].thread == two[1].thread);
        let closed = streams.into_iter().filter_map(move |(stream, mut sends)| {
            let (from, to, _) = stream;
            let mut received = receives.remove(&stream)?;
            if let Some(is_settled) = &is_settled {
                if !is_settled(from, to, posting.contains(&to)) {
                    return None;
                }
                // From the last ones back.
                let both = sends.len().min(received.len());
                sends.drain(..sends.len() - both);
                received.drain(..received.len() - both);
            }
            let is_sure = !receivers.contains(&to) && !pairs.contains(&(from, to));
            (is_sure && has_one_thread(&sends) && has_one_thread(&received)).then(|| sends.into_iter().zip(received))
        });
        closed.flatten().filter(|(sent, received)| received.ns >= sent.ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(function: u16, peer: i32, tag: i32, start_ns: u64, end_ns: u64) -> Event {
        let object = Some(MPI_COMM_WORLD as u64);
        Event { function, thread: 1, start_ns, end_ns, peer: Some(peer), tag: Some(tag), object, ..Event::default() }
    }

    fn arrows(calls: &[(u32, Event)]) -> Vec<(u32, u64, u32, u64)> {
        let mut arrows = Arrows::of_all(3);
        calls.iter().for_each(|(rank, event)| arrows.add(*rank, event));
        arrows.matched().map(|(sent, received)| (sent.rank, sent.ns, received.rank, received.ns)).collect()
    }

    #[test]
    fn the_kth_send_belongs_to_the_kth_receive_of_its_tag() {
        let calls = [
            (0, call(MPI_SEND, 1, 7, 10, 11)),
            (0, call(MPI_ISEND, 1, 8, 12, 13)),
            (0, call(MPI_SSEND, 1, 7, 14, 30)),
            (1, call(MPI_RECV, 0, 8, 1, 20)),
            (1, call(MPI_RECV, 0, 7, 21, 22)),
            (1, call(MPI_RECV, 0, 7, 23, 31)),
            // Has not returned.
            (1, call(MPI_RECV, 0, 7, 40, 0)),
        ];
        assert_eq!(arrows(&calls), [(0, 10, 1, 21), (0, 14, 1, 30), (0, 12, 1, 19)]);
    }

    #[test]
    fn a_receive_that_was_posted_before_has_no_arrow() {
        assert!(arrows(&[(0, call(MPI_SEND, 1, 7, 10, 11)), (1, call(MPI_IRECV, 0, 7, 5, 6))]).is_empty());
    }

    #[test]
    fn both_directions_of_an_exchange_have_arrows() {
        let exchange = |peer| Event { second: Some((peer, 4)), ..call(MPI_SENDRECV, peer, 4, 10, 20) };
        assert_eq!(arrows(&[(0, exchange(1)), (1, exchange(0))]), [(0, 10, 1, 19), (1, 10, 0, 19)]);
    }

    #[test]
    fn what_is_not_sure_has_no_arrow() {
        let sure = [(0, call(MPI_SEND, 1, 7, 10, 11)), (1, call(MPI_RECV, 0, 7, 12, 20))];
        assert_eq!(arrows(&sure).len(), 1);
        let failed = Event { code: 15, ..call(MPI_RECV, 0, 7, 1, 2) };
        let thread = Event { thread: 2, ..call(MPI_RECV, 0, 7, 1, 2) };
        let spoiling = [
            (1, call(MPI_RECV, MPI_ANY_SOURCE, 9, 1, 2)),
            (1, call(MPI_RECV, 0, MPI_ANY_TAG, 1, 2)),
            (1, call(MPI_IMPROBE, 0, 7, 1, 2)),
            (1, call(MPI_RECV_INIT, 0, 7, 1, 2)),
            (0, call(MPI_SEND_INIT, 1, 7, 1, 2)),
            (1, Event { function: MPI_CANCEL, ..Event::default() }),
            (1, failed),
            (1, thread),
        ];
        for one in spoiling {
            assert!(arrows(&[sure[0], sure[1], one]).is_empty(), "{one:?}");
        }
        // Of other communicators, and to nobody.
        let other = Event { object: Some(MPI_COMM_WORLD as u64 + 1), ..call(MPI_RECV, MPI_ANY_SOURCE, 7, 1, 2) };
        let nobody = call(MPI_SEND, MPI_PROC_NULL, 7, 1, 2);
        assert_eq!(arrows(&[sure[0], (0, nobody), sure[1], (1, other)]).len(), 1);
    }

    #[test]
    fn of_the_last_calls_the_last_send_belongs_to_the_last_receive_if_all_was_received() {
        let calls = [
            (0, call(MPI_SEND, 1, 7, 14, 30)),
            (1, call(MPI_RECV, 0, 7, 1, 12)),
            (1, call(MPI_RECV, 0, 7, 21, 31)),
            (1, call(MPI_RECV, 0, 7, 40, 0)),
        ];
        let last = |is_settled: bool, more: &[(u32, Event)]| {
            let mut arrows =
                Arrows::of_last(2, Box::new(move |from, to, posts| is_settled && (from, to, posts) == (0, 1, false)));
            calls.iter().chain(more).for_each(|(rank, event)| arrows.add(*rank, event));
            arrows.matched().map(|(sent, received)| (sent.ns, received.ns)).collect::<Vec<_>>()
        };
        assert_eq!(last(true, &[]), [(14, 30)]);
        assert!(last(false, &[]).is_empty());
        // Requests that were made earlier, and receives that may wait.
        let started = Event { function: MPI_START, object: Some(0), ..call(MPI_START, 0, 7, 1, 2) };
        for spoiling in [started, call(MPI_IRECV, 0, 8, 1, 2)] {
            assert!(last(true, &[(1, spoiling)]).is_empty(), "{spoiling:?}");
        }
        // A message that may not have left.
        assert!(last(true, &[(0, call(MPI_SEND, 1, 7, 40, 0))]).is_empty());
    }
}
