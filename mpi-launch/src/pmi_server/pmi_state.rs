//! The state of the server: lines in, lines out, without any socket.
//!
//! Invariant: every request gets an answer; the answer to a malformed line is an error, and the line changes nothing. A
//! barrier ends when all ranks of the job are in it.

use super::key_values::{KeyValueSpace, LONGEST_KEY, LONGEST_NAME, LONGEST_VALUE};
use mpi_wireup::pmi::spawn::{BEGIN, Collected, Collector, LONGEST_LINE as LONGEST_SPAWN_LINE};
use mpi_wireup::pmi::wire::{LONGEST_LINE, Message, compose};

/// The state of one rank.
#[derive(Default)]
struct RankState {
    /// Number of its program among several.
    program: u32,
    /// It has sent `init`, and not yet `finalize`.
    inside: bool,
    /// In the barrier.
    waits: bool,
    /// The lines of its request to start processes.
    spawn: Collector,
    /// In the middle of another message of several lines.
    in_long_message: bool,
    /// Its process has ended.
    ended: bool,
}

/// The action for a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Act {
    /// Send this to the rank that sent the request.
    Answer(String),
    /// Send this to every rank.
    AnswerAll(String),
    /// End the job with this exit code.
    Abort(i32),
    /// Start processes, or answer why that cannot be done.
    Spawn(Collected),
    /// All ranks of this host are in the barrier: exchange what they have put with the other hosts, then call
    /// [`PmiState::end_fence`].
    Fence(Vec<(String, String)>),
    /// Nothing.
    Nothing,
}

/// The state of one job.
pub struct PmiState {
    rank_states: Vec<RankState>,
    name: String,
    space: KeyValueSpace,
    waiting: u32,
    /// If the job has other hosts too.
    others: Option<Others>,
    /// Whether the launcher has the report that the barrier cannot end.
    reported: bool,
}

/// The part of a job that is on other hosts.
struct Others {
    /// Number of ranks of the whole job.
    size: u32,
    /// What the ranks of this host have put since the last barrier.
    new: Vec<(String, String)>,
    /// Whether the other hosts are waited for.
    fencing: bool,
}

impl PmiState {
    /// For the ranks of one host of several: how many are here, and in the whole job; `mapping` has the ranks of each host.
    pub fn over_hosts(here: u32, size: u32, job_id: u64, mapping: &str) -> PmiState {
        let mut state = PmiState::new(here, job_id);
        // A mapping of very many blocks is left out: it is no more than a hint.
        let _ =
            state.space.put("PMI_process_mapping", "").and_then(|()| state.space.put("PMI_process_mapping", mapping));
        state.others = Some(Others { size, new: Vec::new(), fencing: false });
        state
    }

    /// Ends the barrier of all hosts, with the values that ranks of all of them have put; the line for the ranks here.
    /// `None`: no barrier was to be ended.
    pub fn end_fence(&mut self, values: &[(String, String)]) -> Option<String> {
        if !std::mem::take(&mut self.others.as_mut()?.fencing) {
            return None;
        }
        // The host of the rank that has put it has accepted each.
        for (key, value) in values {
            let _ = self.space.put(key, value);
        }
        Some(self.end_barrier())
    }

    fn end_barrier(&mut self) -> String {
        self.waiting = 0;
        self.rank_states.iter_mut().for_each(|seat| seat.waits = false);
        compose("barrier_out", &[("rc", "0")])
    }

    /// For a job of so many ranks; `job_id` makes the name of its key-value space.
    pub fn new(ranks: u32, job_id: u64) -> PmiState {
        let mut space = KeyValueSpace::default();
        // All ranks are on one host: other libraries share memory by this value.
        let placed = space.put("PMI_process_mapping", &format!("(vector,(0,1,{ranks}))"));
        debug_assert!(placed.is_ok());
        PmiState {
            rank_states: (0..ranks).map(|_| RankState::default()).collect(),
            name: format!("ferrum_{job_id:016x}"),
            space,
            waiting: 0,
            others: None,
            reported: false,
        }
    }

    /// Records which of several programs a rank runs. Panics if there is no such rank.
    pub fn set_program(&mut self, rank: u32, program: u32) {
        self.rank_states[rank as usize].program = program;
    }

    /// Whether a rank has sent `init` and not `finalize`.
    pub fn is_inside(&self, rank: u32) -> bool {
        self.rank_states[rank as usize].inside
    }

    /// Number of ranks of the whole job.
    pub fn size(&self) -> usize {
        self.others.as_ref().map_or(self.rank_states.len(), |others| others.size as usize)
    }

    /// Records that a rank's process has ended.
    pub fn set_gone(&mut self, rank: u32) {
        self.rank_states[rank as usize].ended = true;
    }

    /// A rank that has ended and that others wait for in the barrier; returned once.
    pub fn missed(&mut self) -> Option<u32> {
        if self.reported || self.waiting == 0 {
            return None;
        }
        let missed = self.rank_states.iter().position(|seat| seat.ended && !seat.waits)?;
        self.reported = true;
        Some(missed as u32)
    }

    /// Takes one line of a rank's, without its line end.
    pub fn line(&mut self, rank: u32, line: &[u8]) -> Act {
        let seat = &mut self.rank_states[rank as usize];
        if seat.spawn.in_block() {
            return seat.spawn.line(line).map_or(Act::Nothing, Act::Spawn);
        }
        if line == BEGIN.as_bytes() {
            seat.spawn.begin();
            return Act::Nothing;
        }
        if seat.in_long_message {
            if line != b"endcmd" {
                return Act::Nothing;
            }
            seat.in_long_message = false;
            return refusal("error", "unknown_command_of_several_lines");
        }
        if line.starts_with(b"mcmd=") {
            seat.in_long_message = true;
            return Act::Nothing;
        }
        match Message::parse(line) {
            Ok(message) => self.message(rank, &message),
            Err(malformed) => refusal("error", &malformed.to_string().replace(' ', "_")),
        }
    }

    /// Gives all ranks values, as a rank's `put` does.
    /// # Errors
    /// Why a value is not accepted.
    pub fn put_all(&mut self, values: &[(String, String)]) -> Result<(), &'static str> {
        values.iter().try_for_each(|(key, value)| self.space.put(key, value))
    }

    /// The longest line that a rank may send now, in bytes.
    pub fn longest_line(&self, rank: u32) -> usize {
        if self.rank_states[rank as usize].spawn.in_block() { LONGEST_SPAWN_LINE } else { LONGEST_LINE }
    }

    /// The action for a line that is longer than any can be.
    pub fn overlong(&mut self, rank: u32) -> Act {
        let spawn = &mut self.rank_states[rank as usize].spawn;
        if spawn.in_block() {
            // The request is answered at its end.
            spawn.overlong();
            return Act::Nothing;
        }
        refusal("error", "the_line_is_too_long")
    }

    fn message(&mut self, rank: u32, message: &Message<'_>) -> Act {
        let size = self.size().to_string();
        match message.command {
            "init" => self.init(rank, message),
            "get_maxes" => {
                let [name, key, value] = [LONGEST_NAME, LONGEST_KEY, LONGEST_VALUE].map(|most| most.to_string());
                answer("maxes", &[("kvsname_max", &name), ("keylen_max", &key), ("vallen_max", &value)])
            }
            "get_appnum" => answer("appnum", &[("appnum", &self.rank_states[rank as usize].program.to_string())]),
            "get_universe_size" => answer("universe_size", &[("size", &size)]),
            "get_my_kvsname" => answer("my_kvsname", &[("kvsname", &self.name)]),
            "put" => self.put(message),
            "get" => self.get(message),
            "barrier_in" => self.enter_barrier(rank, message),
            "finalize" => {
                self.rank_states[rank as usize].inside = false;
                answer("finalize_ack", &[])
            }
            "abort" => Act::Abort(message.number("exitcode").unwrap_or(1)),
            "publish_name" => refusal("publish_result", "names_are_not_published_here"),
            "unpublish_name" => refusal("unpublish_result", "names_are_not_published_here"),
            "lookup_name" => refusal("lookup_result", "names_are_not_published_here"),
            "spawn" => refusal("spawn_result", "the_request_has_several_lines"),
            other => refusal("error", &format!("unknown_command_{}", other.chars().take(40).collect::<String>())),
        }
    }

    fn init(&mut self, rank: u32, message: &Message<'_>) -> Act {
        if message.number::<u32>("pmi_version") != Some(1) {
            // A second request with version 1 is allowed.
            let spoken =
                [("pmi_version", "1"), ("pmi_subversion", "1"), ("rc", "-1"), ("msg", "only_version_1_is_spoken")];
            return Act::Answer(compose("response_to_init", &spoken));
        }
        self.rank_states[rank as usize].inside = true;
        answer("response_to_init", &[("pmi_version", "1"), ("pmi_subversion", "1")])
    }

    fn put(&mut self, message: &Message<'_>) -> Act {
        let Some((key, value)) = message.get("key").zip(message.get("value")) else {
            return refusal("put_result", "no_key_or_no_value");
        };
        match self.is_own_space(message).and_then(|()| self.space.put(key, value)) {
            Ok(()) => {
                if let Some(others) = &mut self.others {
                    others.new.push((key.to_owned(), value.to_owned()));
                }
                answer("put_result", &[])
            }
            Err(why) => refusal("put_result", why),
        }
    }

    fn get(&self, message: &Message<'_>) -> Act {
        let found = self.is_own_space(message).map(|()| message.get("key").and_then(|key| self.space.get(key)));
        match found {
            Ok(Some(value)) => answer("get_result", &[("value", value)]),
            // Clients of every age understand that a value is missing by one of these.
            Ok(None) => absent("key_not_found"),
            Err(why) => absent(why),
        }
    }

    fn is_own_space(&self, message: &Message<'_>) -> Result<(), &'static str> {
        match message.get("kvsname") {
            None => Ok(()),
            Some(name) if name == self.name => Ok(()),
            Some(_) => Err("no_such_kvsname"),
        }
    }

    fn enter_barrier(&mut self, rank: u32, message: &Message<'_>) -> Act {
        if message.get("group").is_some() {
            return refusal("barrier_out", "no_barriers_of_groups");
        }
        let seat = &mut self.rank_states[rank as usize];
        if seat.waits {
            return refusal("barrier_out", "already_in_the_barrier");
        }
        seat.waits = true;
        self.waiting += 1;
        if self.waiting < self.rank_states.len() as u32 {
            return Act::Nothing;
        }
        if let Some(others) = &mut self.others {
            others.fencing = true;
            return Act::Fence(std::mem::take(&mut others.new));
        }
        Act::AnswerAll(self.end_barrier())
    }
}

fn answer(command: &str, attributes: &[(&str, &str)]) -> Act {
    let all: Vec<_> = std::iter::once(("rc", "0")).chain(attributes.iter().copied()).collect();
    Act::Answer(compose(command, &all))
}

fn refusal(command: &str, why: &str) -> Act {
    Act::Answer(compose(command, &[("rc", "-1"), ("msg", why)]))
}

fn absent(why: &str) -> Act {
    Act::Answer(compose("get_result", &[("rc", "-1"), ("msg", why), ("value", "unknown")]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_wireup::launcher::{KeyValueExchange, Launcher};
    use mpi_wireup::pmi::client::Client;
    use proptest::prelude::*;
    use std::ffi::OsStr;
    use std::io::{BufRead, BufReader, Write};
    use std::os::fd::IntoRawFd;
    use std::os::unix::net::UnixStream;

    fn answer_of(act: Act) -> String {
        match act {
            Act::Answer(line) | Act::AnswerAll(line) => line.trim_end().to_owned(),
            other => panic!("{other:?} is no answer"),
        }
    }

    fn request(state: &mut PmiState, rank: u32, line: &str) -> String {
        answer_of(state.line(rank, line.as_bytes()))
    }

    #[test]
    fn a_process_initialises_requests_values_and_finalises() {
        let mut state = PmiState::new(2, 0xab);
        state.set_program(1, 3);
        assert!(!state.is_inside(1));
        let greeting = request(&mut state, 1, "cmd=init pmi_version=1 pmi_subversion=1");
        assert_eq!(greeting, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1");
        assert!(state.is_inside(1) && !state.is_inside(0));
        assert_eq!(
            request(&mut state, 1, "cmd=get_maxes"),
            "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"
        );
        assert_eq!(request(&mut state, 1, "cmd=get_appnum"), "cmd=appnum rc=0 appnum=3");
        assert_eq!(request(&mut state, 1, "cmd=get_universe_size"), "cmd=universe_size rc=0 size=2");
        assert_eq!(request(&mut state, 1, "cmd=get_my_kvsname"), "cmd=my_kvsname rc=0 kvsname=ferrum_00000000000000ab");
        assert_eq!(request(&mut state, 1, "cmd=finalize"), "cmd=finalize_ack rc=0");
        assert!(!state.is_inside(1));
    }

    #[test]
    fn values_are_found_as_they_were_put() {
        let mut state = PmiState::new(2, 1);
        let name = "kvsname=ferrum_0000000000000001";
        assert_eq!(request(&mut state, 0, &format!("cmd=put {name} key=a/b-1 value=x=y\\ z;")), "cmd=put_result rc=0");
        assert_eq!(request(&mut state, 1, &format!("cmd=get {name} key=a/b-1")), "cmd=get_result rc=0 value=x=y\\ z;");
        assert_eq!(
            request(&mut state, 1, "cmd=get key=PMI_process_mapping"),
            "cmd=get_result rc=0 value=(vector,(0,1,2))"
        );
        for (line, why) in [
            ("cmd=get key=other", "key_not_found"),
            ("cmd=get", "key_not_found"),
            ("cmd=get kvsname=theirs key=a/b-1", "no_such_kvsname"),
            ("cmd=put kvsname=theirs key=a value=b", "no_such_kvsname"),
            ("cmd=put key=a", "no_key_or_no_value"),
        ] {
            let answer = request(&mut state, 0, line);
            assert!(answer.contains("rc=-1") && answer.contains(why), "{line}: {answer}");
        }
    }

    #[test]
    fn a_barrier_ends_when_the_last_rank_comes() {
        let mut state = PmiState::new(3, 1);
        for _ in 0..2 {
            assert_eq!(
                (state.line(0, b"cmd=barrier_in"), state.line(2, b"cmd=barrier_in")),
                (Act::Nothing, Act::Nothing)
            );
            assert!(request(&mut state, 2, "cmd=barrier_in").contains("already_in_the_barrier"));
            assert_eq!(state.line(1, b"cmd=barrier_in"), Act::AnswerAll("cmd=barrier_out rc=0\n".into()));
        }
        assert!(request(&mut state, 0, "cmd=barrier_in group=1").contains("no_barriers_of_groups"));
    }

    #[test]
    fn a_barrier_over_hosts_ends_with_the_values_of_all() {
        let mut state = PmiState::over_hosts(2, 5, 1, "(vector,(0,1,2),(1,1,3))");
        assert!(request(&mut state, 0, "cmd=get key=PMI_process_mapping").contains("(1,1,3)"));
        assert!(request(&mut state, 0, "cmd=get_universe_size").contains("size=5"));
        assert_eq!(state.end_fence(&[]), None);
        request(&mut state, 0, "cmd=put key=a value=1");
        assert_eq!(state.line(0, b"cmd=barrier_in"), Act::Nothing);
        assert_eq!(state.line(1, b"cmd=barrier_in"), Act::Fence(vec![("a".into(), "1".into())]));
        assert_eq!(state.missed(), None);
        let all = [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())];
        assert_eq!(state.end_fence(&all).as_deref(), Some("cmd=barrier_out rc=0\n"));
        assert_eq!(
            (request(&mut state, 1, "cmd=get key=b"), state.end_fence(&[])),
            ("cmd=get_result rc=0 value=2".into(), None)
        );
        assert_eq!(
            (state.line(1, b"cmd=barrier_in"), state.line(0, b"cmd=barrier_in")),
            (Act::Nothing, Act::Fence(vec![]))
        );
    }

    #[test]
    fn an_abort_has_a_code() {
        let mut state = PmiState::new(1, 1);
        assert_eq!(state.line(0, b"cmd=abort exitcode=42 message=x"), Act::Abort(42));
        assert_eq!(state.line(0, b"cmd=abort exitcode=x"), Act::Abort(1));
    }

    #[test]
    fn a_request_to_spawn_is_collected_and_other_long_messages_are_refused() {
        let mut state = PmiState::new(1, 1);
        for line in ["mcmd=spawn", "nprocs=2", "execname=a b", "argcnt=1", "arg1=cmd=finalize"] {
            assert_eq!(state.line(0, line.as_bytes()), Act::Nothing);
        }
        let Act::Spawn(Collected { request: Ok(spawn), ours: false }) = state.line(0, b"endcmd") else {
            panic!("the request is whole")
        };
        assert_eq!((spawn.processes(), &*spawn.programs[0].program), (2, OsStr::new("a b")));
        assert_eq!(spawn.programs[0].arguments, ["cmd=finalize"]);
        assert_eq!((state.line(0, b"mcmd=other"), state.line(0, b"cmd=finalize")), (Act::Nothing, Act::Nothing));
        assert!(request(&mut state, 0, "endcmd").starts_with("cmd=error rc=-1 msg="));
    }

    #[test]
    fn publishing_is_refused() {
        let mut state = PmiState::new(1, 1);
        for line in [
            "cmd=publish_name service=a port=b",
            "cmd=lookup_name service=a",
            "cmd=unpublish_name service=a",
            "cmd=spawn",
        ] {
            assert!(request(&mut state, 0, line).contains("_result rc=-1 msg="));
        }
    }

    #[test]
    fn nonsense_is_answered_and_changes_nothing() {
        let mut state = PmiState::new(1, 1);
        for line in
            [&b""[..], b"hello", b"cmd=", b"cmd=init \xff", b"cmd=nonsense a=b", b"cmd=init pmi_version=2", b"cmd=init"]
        {
            assert!(answer_of(state.line(0, line)).contains("rc=-1 msg="));
        }
        assert!(!state.is_inside(0));
    }

    proptest! {
        #[test]
        fn any_lines_get_answers_that_can_be_read(
            lines in prop::collection::vec((0..3u32, prop_oneof![
                "cmd=(init|put|get|barrier_in|abort|finalize|get_maxes)( [a-z_]{1,9}=[!-~]{0,9}){0,3}",
                "mcmd=[a-z]{0,5}", Just("endcmd".to_owned()), ".{0,40}"]), 0..40)
        ) {
            let mut state = PmiState::new(3, 1);
            for (rank, line) in lines {
                if let Act::Answer(line) | Act::AnswerAll(line) = state.line(rank, line.as_bytes()) {
                    prop_assert!(Message::parse(line.as_bytes()).is_ok() && line.ends_with('\n'), "{line}");
                    prop_assert_eq!(line.matches('\n').count(), 1);
                }
            }
        }
    }

    #[test]
    fn the_client_of_this_library_understands_the_server() {
        let (end, own) = UnixStream::pair().expect("the other end is there");
        let thread = std::thread::spawn(move || {
            let mut state = PmiState::new(1, 5);
            for line in BufReader::new(&own).lines() {
                match state.line(0, line.expect("the other end is there").as_bytes()) {
                    Act::Answer(line) | Act::AnswerAll(line) => {
                        (&own).write_all(line.as_bytes()).expect("the other end is there")
                    }
                    Act::Abort(code) => return code,
                    Act::Nothing | Act::Spawn(_) | Act::Fence(_) => {}
                }
            }
            -1
        });
        let mut client = Client::on_descriptor(end.into_raw_fd(), 0, 1, std::time::Duration::from_secs(20))
            .expect("the other end is there");
        assert_eq!((client.put("key", "a\\ b"), client.fence()), (Ok(()), Ok(())));
        assert_eq!((client.get(0, "key"), client.get(0, "other")), (Ok(Some("a\\ b".into())), Ok(None)));
        assert_eq!(client.finalize(), Ok(()));
        client.abort(42);
        assert_eq!(thread.join().expect("the other end is there"), 42);
    }
}
