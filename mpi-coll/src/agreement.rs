//! The comparison of the arguments of a collective call before its data move (control variable `coll_check`): a mismatch,
//! which would hang or give wrong data, becomes an error that names the ranks.
//!
//! The comparison is steps of its own before those of the call, for all forms. First all processes get the terms of all.
//! If the blocks have lengths of their own, each process then sends each peer the number and the bytes of the messages
//! that it will send there, and all get the first difference that each process found.
//! Invariant: every process compares the same terms in rank order, so that all of them find the same error and none
//! continues with the call.
//! Not here: what is compared (`terms`), errors of a call whose counts do not match (`link`).

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};

use crate::Collectives;
use crate::bcast::broadcast;
use crate::coll_op::{CollOp, Form};
use crate::memory::{Buffers, Layout, Memory};
use crate::run::Run;
use crate::shape::{Root, Shape};
use crate::steps::{AGREED, Among, Check, InLocalGroup, Place, Span, Steps, Team};
use crate::terms::{Terms, WORDS};

/// Words about the messages of one process to another: their number and their bytes.
const MESSAGES: usize = 2;
/// Words of a finding: 0 or 1 and the rank of the peer, then its messages and those that were expected.
const FINDING: usize = 1 + 2 * MESSAGES;

/// The number and the bytes of messages, by peer.
type ByPeer = Vec<[u64; MESSAGES]>;

/// What is compared before a call.
pub(crate) struct Agreement {
    among: Among,
    terms: Terms,
    /// The messages to and from each peer, of a call whose blocks have lengths of their own.
    messages: Option<[ByPeer; 2]>,
}

impl Agreement {
    /// Of a call on an intracommunicator that these terms describe.
    fn of_terms(comm: &Comm, terms: Terms) -> Agreement {
        let team = Team { rank: comm.rank, size: comm.size() };
        Agreement { among: Among { team, remote: 0 }, terms, messages: None }
    }

    /// Of a call with this shape.
    pub fn of(shape: &Shape<'_>, terms: Terms) -> Agreement {
        let remote = if shape.inter { shape.peers } else { 0 };
        Agreement { among: Among { team: shape.team, remote }, terms, messages: messages(shape) }
    }

    /// The steps of the comparison.
    pub fn steps<S: Steps>(&self, steps: &mut S) -> Result<()> {
        let among = self.among;
        let own = among.team.rank as usize;
        let processes = (among.team.size + among.remote) as usize;
        let mut words = vec![0; processes * WORDS];
        words[own * WORDS..][..WORDS].copy_from_slice(&self.terms.to_words());
        let findings = words.len();
        let Some([sent, expected]) = &self.messages else {
            let all = steps.provide(AGREED, &words)?;
            exchange_all(steps, among, all)?;
            return steps.check(Check::Terms { all, among });
        };
        words.resize(findings + processes * FINDING, 0);
        let arrived = words.len();
        words.resize(arrived + sent.len() * MESSAGES, 0);
        words.extend(expected.iter().flatten());
        words.extend(sent.iter().flatten());
        let whole = steps.provide(AGREED, &words)?;
        let part = |from: usize, words: usize| whole.part(8 * from as u64, 8 * words as u64);
        let all = part(0, findings);
        exchange_all(steps, among, all)?;
        steps.check(Check::Terms { all, among })?;

        let each = sent.len() * MESSAGES;
        let of = |list: usize, peer: u32| part(arrived + list * each + peer as usize * MESSAGES, MESSAGES);
        let peers = sent.len() as u32;
        for peer in 0..peers {
            if among.remote == 0 && peer == among.team.rank {
                steps.copy(of(2, peer), of(0, peer))?;
            } else {
                steps.receive(peer, of(0, peer))?;
            }
        }
        for peer in (0..peers).filter(|peer| among.remote > 0 || *peer != among.team.rank) {
            steps.send(peer, of(2, peer))?;
        }
        steps.round()?;
        let finding = part(findings + own * FINDING, FINDING);
        let (arrived, expected) = (part(arrived, each), part(arrived + each, each));
        steps.check(Check::Messages { arrived, expected, finding })?;
        let all = part(findings, processes * FINDING);
        exchange_all(steps, among, all)?;
        steps.check(Check::Findings { all, among })
    }
}

/// All processes get the blocks of all: those of the local group in rank order, then those of the other group. They come
/// together in the ranks 0.
fn exchange_all<S: Steps>(steps: &mut S, among: Among, all: Span) -> Result<()> {
    let Among { team, remote } = among;
    let each = all.bytes / u64::from(team.size + remote);
    let block = |rank: u32, blocks: u32| all.part(u64::from(rank) * each, u64::from(blocks) * each);
    let local = &mut InLocalGroup(steps);
    if team.rank == 0 {
        team.others().try_for_each(|rank| local.receive(rank, block(rank, 1)))?;
    } else {
        local.send(0, block(team.rank, 1))?;
    }
    local.round()?;
    if remote > 0 && team.rank == 0 {
        steps.send(0, block(0, team.size))?;
        steps.receive(0, block(team.size, remote))?;
        steps.round()?;
    }
    broadcast(&mut InLocalGroup(steps), team, all, 0, false)
}

/// The messages of a call to and from each peer; `None` if all blocks have the length that the terms have.
fn messages(shape: &Shape<'_>) -> Option<[ByPeer; 2]> {
    let peers = 0..shape.peers;
    let one = |span: Span| [1, span.bytes];
    let own = || match shape.send.in_place() {
        true => shape.recv_block(shape.team.rank),
        false => shape.send.whole(Place::Send),
    };
    let mut both = match shape.which {
        CollOp::Alltoallv | CollOp::Alltoallw => {
            let sent = |peer| if shape.send.in_place() { shape.recv_block(peer) } else { shape.send_block(peer) };
            [
                peers.clone().map(|peer| one(sent(peer))).collect(),
                peers.map(|peer| one(shape.recv_block(peer))).collect(),
            ]
        }
        CollOp::Allgatherv => {
            let own = one(own());
            [vec![own; shape.peers as usize], peers.map(|peer| one(shape.recv_block(peer))).collect()]
        }
        // Each process gets its part from every other one.
        CollOp::ReduceScatter if !shape.inter => {
            let part =
                |rank: u32| [1, shape.counts.get(rank as usize).map_or(0, |count| count * shape.combining().plain)];
            [peers.clone().map(part).collect(), vec![part(shape.team.rank); shape.peers as usize]]
        }
        CollOp::Gatherv => rooted(shape, one(own()), |peer| one(shape.recv_block(peer))),
        CollOp::Scatterv => {
            let [to_root, from_others] =
                rooted(shape, one(shape.recv.whole(Place::Recv)), |peer| one(shape.send_block(peer)));
            [from_others, to_root]
        }
        which if which.is_of_neighbours() => return Some(neighbours(shape)),
        _ => return None,
    };
    if !shape.inter {
        // The call itself reports data for the own process that do not fit.
        both.iter_mut().for_each(|list: &mut ByPeer| list[shape.team.rank as usize] = [0; MESSAGES]);
    }
    Some(both)
}

/// The messages between the root and each peer: what this process has for the root, and the root for each peer.
fn rooted(shape: &Shape<'_>, own: [u64; MESSAGES], of_root: impl Fn(u32) -> [u64; MESSAGES]) -> [ByPeer; 2] {
    let none = vec![[0; MESSAGES]; shape.peers as usize];
    let at_root = match shape.root {
        Root::Here => true,
        Root::Elsewhere => return [none.clone(), none],
        Root::Rank(root) => !shape.inter && root == shape.team.rank,
    };
    if at_root {
        return [none, (0..shape.peers).map(of_root).collect()];
    }
    let mut to_root = none.clone();
    if let Some(to_root) = to_root.get_mut(shape.root_rank() as usize) {
        *to_root = own;
    }
    [to_root, none]
}

fn neighbours(shape: &Shape<'_>) -> [ByPeer; 2] {
    let whole = matches!(shape.which, CollOp::NeighborAllgather | CollOp::NeighborAllgatherv);
    let sent = |place| if whole { shape.send.whole(Place::Send) } else { shape.send_block(place) };
    let sum = |list: &[Option<u32>], block: &dyn Fn(u32) -> Span| {
        let mut sums: ByPeer = vec![[0; MESSAGES]; shape.peers as usize];
        for (place, peer) in (0..).zip(list) {
            if let Some([messages, bytes]) = peer.and_then(|peer| sums.get_mut(peer as usize)) {
                *messages += 1;
                *bytes = bytes.saturating_add(block(place).bytes);
            }
        }
        sums
    };
    let neighbours = &shape.neighbours;
    [sum(neighbours.destinations, &sent), sum(neighbours.sources, &|place| shape.recv_block(place))]
}

impl Memory<'_> {
    /// Computes a part of a comparison. Errors: `MPI_ERR_OTHER`, in all processes, when the calls do not match.
    pub fn check(&mut self, check: Check) -> Result<()> {
        match check {
            Check::Terms { all, among } => compare_terms(&self.words(all), among),
            Check::Messages { arrived, expected, finding } => {
                let found = first_difference(&self.words(arrived), &self.words(expected));
                self.set_words(finding, &found);
                Ok(())
            }
            Check::Findings { all, among } => report_finding(&self.words(all), among),
        }
    }
}

/// A process of a comparison, in words.
fn process(place: usize, among: Among) -> String {
    match place.checked_sub(among.team.size as usize) {
        None => format!("rank {place}"),
        Some(rank) => format!("rank {rank} of the other group"),
    }
}

fn compare_terms(words: &[u64], among: Among) -> Result<()> {
    let mut all = Vec::with_capacity(words.len() / WORDS);
    for (place, words) in words.chunks_exact(WORDS).enumerate() {
        let terms = words.first_chunk().and_then(|words| Terms::from_words(*words));
        all.push(terms.ok_or_else(|| not_terms(&process(place, among)))?);
    }
    let (local, remote) = all.split_at(among.team.size as usize);
    if remote.is_empty() {
        same_in_group(local, 0, among)?;
        return match local.iter().position(Terms::differ_within_group) {
            None => Ok(()),
            Some(place) => Err(lengths_differ(place, &local[place], among)),
        };
    }
    // Both groups compare in the same order, but each describes itself as its own.
    let rooted = local.first().is_some_and(|terms| terms.which.is_rooted());
    for (group, first) in [(local, 0), (remote, local.len())] {
        let has_root = group.iter().position(|terms| terms.root == Some(Root::Here));
        match (rooted && group.iter().any(|terms| !matches!(terms.root, Some(Root::Rank(_)))), has_root) {
            (true, Some(root)) => {
                for (place, terms) in group.iter().enumerate().filter(|(place, _)| *place != root) {
                    if !group[root].fits_beside_root(terms) {
                        return Err(apart((first + root, &group[root]), (first + place, terms), among));
                    }
                }
            }
            _ => same_in_group(group, first, among)?,
        }
    }
    let root_of = |group: &[Terms]| group.iter().position(|terms| terms.root == Some(Root::Here)).unwrap_or(0);
    let (one, two) = (root_of(local), root_of(remote));
    let roots_match = match (local[one].root, remote[two].root) {
        (Some(Root::Here), Some(Root::Rank(rank))) => rank as usize == one,
        (Some(Root::Rank(rank)), Some(Root::Here)) => rank as usize == two,
        (None, None) => true,
        _ => false,
    };
    match roots_match && local[one].fits_across(&remote[two]) {
        true => Ok(()),
        false => Err(apart((one, &local[one]), (local.len() + two, &remote[two]), among)),
    }
}

fn same_in_group(group: &[Terms], first: usize, among: Among) -> Result<()> {
    let mut agreed: Option<(usize, Terms)> = None;
    for (place, terms) in group.iter().enumerate().map(|(place, terms)| (first + place, terms)) {
        match &mut agreed {
            None => agreed = Some((place, *terms)),
            Some((known, agreed)) if !agreed.fits(terms) => return Err(apart((*known, agreed), (place, terms), among)),
            Some((known, agreed)) => {
                if agreed.complete_from(terms) {
                    *known = place;
                }
            }
        }
    }
    Ok(())
}

fn apart((one, known): (usize, &Terms), (two, terms): (usize, &Terms), among: Among) -> Error {
    let (first, second) = (process(one, among), process(two, among));
    let (one, two) = (known.description(), terms.description());
    Error::new(MPI_ERR_OTHER, format!("{first} of the communicator calls {one}, but {second} calls {two}"))
        .hint("All processes of a communicator call the same collectives in the same order, with arguments that match.")
}

/// All processes send each other one another number of bytes than they receive from it.
fn lengths_differ(place: usize, terms: &Terms, among: Among) -> Error {
    let (process, what) = (process(place, among), terms.description());
    Error::new(MPI_ERR_OTHER, format!("{process} of the communicator calls {what}"))
        .hint("A process sends each other one as many bytes as it receives from it.")
}

fn not_terms(process: &str) -> Error {
    Error::new(
        MPI_ERR_OTHER,
        format!("{process} did not send the terms of a call; is coll_check set alike in all processes?"),
    )
}

fn first_difference(arrived: &[u64], expected: &[u64]) -> [u64; FINDING] {
    let mut pairs = arrived.chunks_exact(MESSAGES).zip(expected.chunks_exact(MESSAGES));
    match pairs.position(|(arrived, expected)| arrived != expected) {
        None => [0; FINDING],
        Some(peer) => {
            let at = peer * MESSAGES;
            [peer as u64 + 1, arrived[at], arrived[at + 1], expected[at], expected[at + 1]]
        }
    }
}

fn report_finding(words: &[u64], among: Among) -> Result<()> {
    let mut findings = words.chunks_exact(FINDING).enumerate();
    let Some((place, finding)) = findings.find(|(_, finding)| finding[0] != 0) else { return Ok(()) };
    // The peer is one of the other group on an intercommunicator.
    let local = place < among.team.size as usize;
    let peer = finding[0] as usize - 1 + if among.remote > 0 && local { among.team.size as usize } else { 0 };
    let data = |messages: u64, bytes: u64| {
        let bytes = mpi_errors::counted(bytes, "byte");
        match messages {
            0 => "nothing".to_owned(),
            1 => bytes,
            _ => format!("{messages} blocks of {bytes} together"),
        }
    };
    let (receiver, sender) = (process(place, among), process(peer, among));
    let (got, expected) = (data(finding[1], finding[2]), data(finding[3], finding[4]));
    let text = format!("{receiver} of the communicator expects {expected} from {sender}, which sends {got}");
    Err(Error::new(MPI_ERR_OTHER, text).hint(
        "Each process's counts and types must match those of the other side; neighbours must name each other equally \
         often.",
    ))
}

/// The terms of a call with this shape, which match if these bytes do.
pub(crate) fn terms(shape: &Shape<'_>, form: Form, reduction: Option<&crate::Reduction<'_>>, matching: u64) -> Terms {
    let which = shape.which;
    let terms = match shape.inter {
        false => within_group(shape, matching),
        true => across(shape),
    };
    let terms = terms.form(form);
    let terms = if which.is_rooted() { terms.root(shape.root) } else { terms };
    match reduction {
        Some(what) => terms.reducing(what),
        None => terms,
    }
}

/// The bytes of a call on an intracommunicator: those that match, or those for and from each process where they are to be the same.
fn within_group(shape: &Shape<'_>, matching: u64) -> Terms {
    let which = shape.which;
    if !which.sends_as_it_receives() {
        return Terms::new(which, matching);
    }
    let sent = match which {
        _ if !shape.send.present() || shape.send.in_place() => matching,
        CollOp::Allgather => shape.send.bytes(),
        _ => shape.send_block(0).bytes,
    };
    Terms::new(which, sent).expecting(matching)
}

/// The bytes of a call on an intercommunicator, for and from each process of the other group.
fn across(shape: &Shape<'_>) -> Terms {
    let which = shape.which;
    let (first_out, first_in) = (shape.send_block(0).bytes, shape.recv_block(0).bytes);
    let each = |layout: &Layout| matches!(layout, Layout::Each(_));
    match (which, shape.root) {
        (CollOp::Bcast, Root::Here) => Terms::new(which, shape.recv.bytes()),
        (CollOp::Bcast, Root::Rank(_)) => Terms::new(which, 0).expecting(shape.recv.bytes()),
        (CollOp::ReduceScatter | CollOp::ReduceScatterBlock, _) => {
            let bytes = shape.combining().plain_bytes();
            Terms::new(which, bytes).expecting(bytes)
        }
        (CollOp::Allgatherv | CollOp::Gatherv | CollOp::Scatterv | CollOp::Alltoallv | CollOp::Alltoallw, _) => {
            Terms::new(which, 0)
        }
        _ if each(&shape.send) || each(&shape.recv) => Terms::new(which, 0),
        _ => Terms::new(which, first_out).expecting(first_in),
    }
}

impl Collectives {
    /// Compares the terms of a blocking call on an intracommunicator that has begun, if `coll_check` is set; releases the
    /// guard meanwhile. Errors: `MPI_ERR_OTHER` in all processes when they differ.
    #[inline(always)]
    pub(crate) fn agree<'a>(
        &'a self,
        comm: &Comm,
        guard: Guard<'a>,
        terms: impl FnOnce() -> Terms,
    ) -> Result<Guard<'a>> {
        if !self.settings_of(comm).check.get() {
            return Ok(guard);
        }
        drop(guard);
        self.compare(comm, &Agreement::of_terms(comm, terms()))?;
        Ok(self.engine.lock())
    }

    /// Compares operation and form, if `coll_check` is set, before a call on an intracommunicator that waits for the other
    /// processes outside of its steps. Errors: as [`Collectives::agree`].
    pub(crate) fn agree_on_form(&self, comm: &Comm, which: CollOp, form: Form) -> Result<()> {
        match self.settings_of(comm).check.get() && comm.remote().is_none() {
            true => self.compare(comm, &Agreement::of_terms(comm, Terms::of_function(which, form))),
            false => Ok(()),
        }
    }

    /// Compares at once, for a blocking call. It is numbered as the calls that do not block are, so that it meets one of
    /// them if the other processes make that.
    #[cold]
    #[inline(never)]
    pub(crate) fn compare(&self, comm: &Comm, agreement: &Agreement) -> Result<()> {
        let (link, local) = (self.link(comm, comm.next_operation_tag(false)), comm.local().collective_context());
        let mut run = Run::new(link, local, Memory::new(Buffers::Absent, Buffers::Absent), None, None);
        let result = agreement.steps(&mut run);
        run.end(result, false)
    }
}

#[cfg(test)]
#[path = "agreement_tests.rs"]
mod tests;
