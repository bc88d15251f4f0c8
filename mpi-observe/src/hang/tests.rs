//! Reports of views that no job has to be run for.

use mpi_core::functions;
use mpi_fabric::Life;
use mpi_fabric::job::HostRanks;
use mpi_fabric::recorder::Call;

use super::*;
use crate::process::ProcessState;
use crate::queues::{CommQueues, PostedReceive, Queues, UnexpectedMessage};

fn call(sequence: u64, function: u16, ended: bool, comm: u32, peer: i32) -> Call {
    Call { sequence, function, ended, comm, peer, tag: 7, count: 1 }
}

fn rank(calls: Vec<Call>) -> RankView {
    RankView {
        life: Life::Initialised,
        is_alive: true,
        state: Some(ProcessState::Sleeping),
        place: None,
        calls,
        records_calls: true,
        idle: None,
        queues: None,
        before: None,
        moves: false,
    }
}

fn view(ranks: Vec<RankView>) -> HangView {
    HangView { ranks, hosts: Vec::new() }
}

#[test]
fn a_job_that_moves_has_no_cause() {
    use functions::{MPI_RECV, MPI_SEND};
    let look = |number| {
        view(vec![rank(vec![call(number, MPI_RECV, false, 0, 1)]), rank(vec![call(2 * number, MPI_SEND, true, 0, 0)])])
    };
    // One look takes the pause between two calls of rank 1 for the cause.
    assert!(analyse(&look(5)).cause.contains("rank 1 has not called MPI"), "{:?}", analyse(&look(5)));
    let moved = analyse(&look(6).since(&look(5)));
    assert_eq!(moved.cause, "ranks 0-1 make progress, and no cause to wait is seen");
    assert!(
        moved.further.is_empty()
            && moved.groups
                == ["rank 0: calling MPI, last MPI_Recv; sleeping", "rank 1: calling MPI, last MPI_Send; sleeping"],
        "{moved:?}"
    );
    // Nobody moved.
    let stays = analyse(&look(5).since(&look(5)));
    assert!(stays.cause.contains("rank 1 has not called MPI after MPI_Send"), "{stays:?}");
    // Rank 0 stays in its call, and rank 1 may still send.
    let one_moves = view(vec![look(5).ranks.remove(0), look(6).ranks.remove(1)]).since(&look(5));
    assert_eq!(analyse(&one_moves).cause, "rank 1 makes progress, and no cause to wait is seen");
}

#[test]
fn ranks_that_wait_for_each_other_at_both_looks_are_named_while_others_move() {
    use functions::{MPI_RECV, MPI_TEST};
    let look = |number| {
        view(vec![
            rank(vec![call(1, MPI_RECV, false, 0, 1)]),
            rank(vec![call(1, MPI_RECV, false, 0, 0)]),
            rank(vec![call(number, MPI_RECV, true, 0, 0)]),
            // Looks again and again, which is no progress.
            rank((number..number + 9).map(|each| call(each, MPI_TEST, true, 0, -1)).collect()),
        ])
    };
    let cause = analyse(&look(8).since(&look(3))).cause;
    assert!(cause.starts_with("ranks 0-1 wait for each other: rank 0 in MPI_Recv from rank 1"), "{cause}");
}

#[test]
fn stopped_ranks_come_first() {
    let mut stopped = rank(vec![call(1, functions::MPI_RECV, false, 0, 1)]);
    stopped.state = Some(ProcessState::Stopped);
    let all = analyse(&view(vec![stopped.clone(), stopped.clone()]));
    assert!(all.cause.starts_with("all ranks are stopped by a signal or a debugger"), "{all:?}");
    let mut ended = rank(Vec::new());
    (ended.is_alive, ended.state, ended.life) = (false, None, Life::Finalised);
    let rest = analyse(&view(vec![stopped.clone(), ended]));
    assert!(rest.cause.starts_with("all ranks that have not ended are stopped"), "{rest:?}");
    let elsewhere = RankView { life: Life::Absent, state: None, ..rank(Vec::new()) };
    let host = |name: &str, at: u32| HostRanks { name: name.into(), ranks: vec![at] };
    let hosts = vec![host("h1", 0), host("h2", 1)];
    let here = analyse(&HangView { ranks: vec![stopped.clone(), elsewhere], hosts });
    assert!(here.cause.starts_with("all ranks on this host are stopped by a signal or a debugger"), "{here:?}");
    let one = analyse(&view(vec![stopped, rank(vec![call(1, functions::MPI_RECV, false, 0, 0)])]));
    assert!(one.cause.starts_with("rank 0 is stopped by a signal or a debugger; rank 1 waits for it"), "{one:?}");
}

#[test]
fn a_process_whose_state_is_not_known_is_described_without_it() {
    let mut absent = rank(Vec::new());
    (absent.life, absent.state) = (Life::Absent, None);
    let report = analyse(&view(vec![absent, rank(vec![call(1, functions::MPI_RECV, false, 0, 0)])]));
    assert_eq!(
        report.cause,
        "rank 0 has not returned from MPI_Init; rank 1 waits for it in MPI_Recv from rank 0 with tag 7"
    );
}

#[test]
fn communicators_without_a_name_have_their_number_and_ranks() {
    let named = |name: &str, both_groups: Option<Vec<u32>>| {
        let comm = CommQueues {
            context: 16,
            name: name.into(),
            world_ranks: vec![1, 0],
            both_groups,
            ..CommQueues::default()
        };
        let mut first = rank(vec![call(1, functions::MPI_BARRIER, false, 16, -1)]);
        first.queues = Some(Queues { rank: 0, size: 2, comms: vec![comm], sends: Vec::new() });
        view(vec![first, rank(vec![call(1, functions::MPI_WIN_FENCE, false, 20, -1)])])
    };
    assert_eq!(named("mine", None).comm_name(0, 17), "mine");
    for unnamed in ["", "communicator 8"] {
        assert_eq!(named(unnamed, None).comm_name(0, 16), "communicator 8 of ranks 0-1");
    }
    assert_eq!(named("", Some(vec![0, 1])).comm_name(0, 16), "intercommunicator 8 of ranks 0-1");
    assert_eq!(named("", Some(vec![0, 2])).comm_name(0, 16), "intercommunicator 8 with processes of another job");
    let it = named("", None);
    assert_eq!((it.comm_name(1, 20), it.comm_name(1, 24)), ("window 10".into(), "communicator 12".into()));
    assert_eq!(it.comm_name(1, 0), "MPI_COMM_WORLD");
}

#[test]
fn a_partitioned_send_is_named_where_the_receive_is_partitioned_and_from_its_rank() {
    use functions::{MPI_BARRIER, MPI_PRECV_INIT, MPI_PSEND_INIT, MPI_RECV, MPI_SEND_INIT, MPI_START, MPI_WAIT};
    let cause = |receiver: Vec<Call>, sender: Vec<Call>| {
        let barrier = || rank(vec![call(9, MPI_BARRIER, false, 0, 0)]);
        analyse(&view(vec![rank(receiver), rank(sender), barrier()])).cause
    };
    let wait = || Call { count: mpi_fabric::recorder::RECEIVE | 1, ..call(3, MPI_WAIT, false, 0, 1) };
    let receiver = |init: bool| {
        let first =
            if init { vec![call(1, MPI_PRECV_INIT, true, 0, 1), call(2, MPI_START, true, 0, -1)] } else { vec![] };
        first.into_iter().chain([if init { wait() } else { call(3, MPI_RECV, false, 0, 1) }]).collect::<Vec<_>>()
    };
    let sender = |to: i32, further: bool| {
        let made = [call(1, MPI_PSEND_INIT, true, 0, to)];
        let other = further.then(|| Call { tag: 8, ..call(2, MPI_SEND_INIT, true, 0, 0) });
        let rest = [call(3, MPI_START, true, 0, -1), call(4, MPI_BARRIER, false, 0, 0)];
        made.into_iter().chain(other).chain(rest).collect::<Vec<_>>()
    };
    let named = cause(receiver(true), sender(0, false));
    assert!(named.ends_with("; it has started a partitioned send of it and not called MPI_Pready"), "{named}");
    let perhaps = cause(receiver(true), sender(0, true));
    assert!(perhaps.ends_with("and may not have started it or called MPI_Pready"), "{perhaps}");
    for other in [cause(receiver(true), sender(2, false)), cause(receiver(false), sender(0, false))] {
        assert!(other.starts_with("nobody sends the message") && !other.contains("partitioned"), "{other}");
    }
}

#[test]
fn messages_are_listed_by_the_number_of_their_sender() {
    let unexpected = |from: u32| UnexpectedMessage { source: from as i32, tag: 1, bytes: 4, from };
    let comm = CommQueues {
        world_ranks: (0..12).collect(),
        unexpected: vec![unexpected(10), unexpected(2)],
        ..CommQueues::default()
    };
    let queues = Queues { rank: 0, size: 12, comms: vec![comm], sends: Vec::new() };
    let waits = || rank(vec![call(1, functions::MPI_BARRIER, false, 0, 0)]);
    let first = RankView { queues: Some(queues), ..waits() };
    let text = analyse(&view([first].into_iter().chain((1..12).map(|_| waits())).collect())).lines().join("\n");
    let place = |of: &str| text.find(of).unwrap_or_else(|| panic!("{of}: {text}"));
    assert!(place("message from rank 2 ") < place("message from rank 10 "), "{text}");
}

#[test]
fn ranks_of_other_hosts_are_named_and_nothing_is_said_of_what_they_do() {
    use functions::{MPI_BARRIER, MPI_RECV};
    let host = |name: &str, ranks: &[u32]| HostRanks { name: name.into(), ranks: ranks.to_vec() };
    let absent = || RankView { life: Life::Absent, state: None, ..rank(Vec::new()) };
    let inside = |function, peer| rank(vec![call(3, function, false, 0, peer)]);
    let mut seen = view(vec![inside(MPI_BARRIER, 0), inside(MPI_RECV, 3), absent(), absent()]);
    // Without the hosts these ranks would be the cause.
    assert!(analyse(&seen).cause.contains("rank 2 has not returned from MPI_Init"), "{:?}", analyse(&seen));
    seen.hosts = vec![host("h1", &[0, 1]), host("h2", &[2, 3])];
    let report = analyse(&seen);
    assert_eq!(report.cause, "rank 1 waits in MPI_Recv from rank 3 with tag 7, which is on h2");
    assert!(!report.lines().iter().any(|line| line.contains("MPI_Init")), "{report:?}");
    assert!(!report.groups.iter().any(|line| line.contains("not there: ranks 2-3")), "{report:?}");
    assert!(report.groups.iter().any(|line| line.contains("rank 1: in MPI_Recv from rank 3")), "{report:?}");
    let limit = report.limits.last().map(String::as_str);
    assert_eq!(limit, Some("ranks 2-3 are on h2: what they do is not seen from here"));
}

#[test]
fn processes_of_other_jobs_are_named_by_their_rank_there() {
    use functions::{MPI_BARRIER, MPI_RECV};
    // An intercommunicator of ranks 0-1 with two processes of another job, which have the numbers 2 and 3 beyond the ranks.
    let comm = |rank: u32| CommQueues {
        context: 8,
        rank,
        world_ranks: vec![2, 3],
        both_groups: Some(vec![0, 1, 2, 3]),
        posted: vec![PostedReceive { source: 1, tag: 7, bytes: Some(4), buffer: 0 }],
        unexpected: vec![UnexpectedMessage { source: 0, tag: 9, bytes: 4, from: 2 }],
        ..CommQueues::default()
    };
    let with = |rank_in: u32, function| {
        let queues = Queues { rank: rank_in, size: 2, comms: vec![comm(rank_in)], sends: Vec::new() };
        RankView { queues: Some(queues), ..rank(vec![call(3, function, false, 8, 1)]) }
    };
    let report = analyse(&view(vec![with(0, MPI_RECV), with(1, MPI_BARRIER)]));
    let text = report.lines().join("\n");
    assert!(text.contains("rank 0: in MPI_Recv from rank 1 of another job with tag 7"), "{text}");
    assert!(text.contains("message from rank 0 of another job with tag 9"), "{text}");
    assert!(text.contains("receive from rank 1 of another job with tag 7"), "{text}");
    assert!(!text.contains("rank 2") && !text.contains("rank 3") && !text.contains("ranks 0, 2"), "{text}");
}

fn comm(context: u32, size: u32, collectives: u64) -> CommQueues {
    CommQueues { context, world_ranks: (0..size).collect(), collectives: Some(collectives), ..CommQueues::default() }
}

fn with_queues(rank: u32, size: u32, it: RankView, comms: Vec<CommQueues>) -> RankView {
    RankView { queues: Some(Queues { rank, size, comms, sends: Vec::new() }), ..it }
}

#[test]
fn a_receive_from_any_rank_that_nobody_can_send_to_is_the_cause() {
    use functions::{MPI_BARRIER, MPI_RECV, MPI_SEND};
    let barrier = || rank(vec![call(2, MPI_BARRIER, false, 0, -1)]);
    let receives = || rank(vec![call(2, MPI_RECV, false, 0, -1)]);
    let report = analyse(&view(vec![receives(), barrier(), barrier()]));
    assert_eq!(
        report.cause,
        "nobody sends the message that rank 0 waits for in MPI_Recv from any rank with tag 7: ranks 1-2 are in MPI_Barrier on \
         MPI_COMM_WORLD"
    );
    let all = analyse(&view(vec![receives(), receives(), receives()]));
    assert_eq!(all.cause, "nobody sends the messages that ranks 0-2 wait for in MPI_Recv from any rank with tag 7");
    let ended = RankView { life: Life::Finalised, is_alive: false, state: None, ..rank(Vec::new()) };
    let left = analyse(&view(vec![receives(), ended]));
    assert!(!left.cause.is_empty() && !left.cause.contains("no rank waits"), "{left:?}");
    // A rank that computes may send.
    let computes = rank(vec![call(2, MPI_SEND, true, 0, 0)]);
    let open = analyse(&view(vec![receives(), barrier(), computes]));
    assert!(!open.lines().iter().any(|line| line.contains("nobody sends")), "{open:?}");
}

#[test]
fn of_several_threads_each_wait_is_named_and_no_circle_through_a_rank_that_can_go_on() {
    use functions::{MPI_BARRIER, MPI_RECV, MPI_SEND};
    let receive = |sequence, from, tag| Call { tag, ..call(sequence, MPI_RECV, false, 0, from) };
    let threads = |other| rank(vec![receive(1, other, 10), receive(2, other, 11)]);
    let report = analyse(&view(vec![threads(1), threads(0)]));
    assert_eq!(
        report.cause,
        "nobody sends the messages that 4 threads of ranks 0-1 wait for: ranks 0-1 in MPI_Recv with tag 10: rank 0 from 1, \
         rank 1 from 0; ranks 0-1 in MPI_Recv with tag 11: rank 0 from 1, rank 1 from 0"
    );
    // Another thread of rank 1 waits for rank 2, which computes: it may send to rank 0 then.
    let free = rank(vec![receive(1, 0, 10), receive(2, 2, 11)]);
    let computes = rank(vec![call(2, MPI_SEND, true, 0, 0)]);
    let report = analyse(&view(vec![rank(vec![receive(1, 1, 10)]), free, computes]));
    assert!(!report.lines().iter().any(|line| line.contains("wait for each other")), "{report:?}");
    // Both receives of rank 0 are named, as rank 1 is in a barrier.
    let barrier = rank(vec![call(2, MPI_BARRIER, false, 0, -1)]);
    let lines = analyse(&view(vec![threads(1), barrier])).lines();
    for (line, tag) in lines.iter().zip([10, 11]) {
        assert!(line.contains(&format!(
            "nobody sends the message that rank 0 waits for in MPI_Recv from rank 1 with tag {tag}"
        )));
    }
}

#[test]
fn a_collective_call_that_is_not_counted_yet_has_its_number() {
    use functions::{MPI_ALLREDUCE, MPI_BARRIER};
    let calls = || vec![call(1, MPI_BARRIER, true, 0, -1), call(2, MPI_ALLREDUCE, false, 0, -1)];
    let it = |of: u32, counted| with_queues(of, 2, rank(calls()), vec![comm(0, 2, counted)]);
    let ended = RankView { is_alive: false, ..rank(vec![call(1, MPI_BARRIER, true, 0, -1)]) };
    for counted in [1, 2] {
        let lines = about(&view(vec![it(0, counted), ended.clone()]), &[1]);
        assert_eq!(lines, ["rank 0 waited for rank 1 in MPI_Allreduce #2 on MPI_COMM_WORLD"]);
    }
}

#[test]
fn waits_for_several_ranks_that_have_ended_are_one_line() {
    use functions::{MPI_BARRIER, MPI_SSEND};
    let ended = RankView { is_alive: false, ..rank(Vec::new()) };
    let waits = |of| with_queues(of, 4, rank(vec![call(1, MPI_BARRIER, false, 0, -1)]), vec![comm(0, 4, 1)]);
    let lines = about(&view(vec![waits(0), waits(1), ended.clone(), ended.clone()]), &[2, 3]);
    assert_eq!(lines, ["ranks 0-1 waited for ranks 2-3 in MPI_Barrier #1 on MPI_COMM_WORLD"]);
    let sends = |to| rank(vec![call(1, MPI_SSEND, false, 0, to)]);
    let lines = about(&view(vec![sends(2), sends(0), ended.clone(), ended]), &[2, 3]);
    assert_eq!(lines, ["rank 0 waited for rank 2 in MPI_Ssend to rank 2 with tag 7"]);
}

#[test]
fn few_ranks_are_named_with_the_rank_that_each_waits_for() {
    use functions::MPI_SSEND;
    let sends = |to| rank(vec![call(1, MPI_SSEND, false, 0, to)]);
    let report = analyse(&view(vec![sends(1), sends(0)]));
    assert_eq!(report.groups, ["ranks 0-1: in MPI_Ssend with tag 7: rank 0 to 1, rank 1 to 0; sleeping"]);
    let many = analyse(&view((0..6).map(|of| sends((of + 1) % 6)).collect()));
    assert_eq!(many.groups, ["ranks 0-5: in MPI_Ssend to 6 different ranks with tag 7; sleeping"]);
}

#[test]
fn a_job_whose_ranks_compute_may_be_waited_for_by_another_one() {
    let inter = CommQueues { both_groups: Some(vec![0, 1, 2]), world_ranks: vec![2], ..comm(1 << 31, 0, 0) };
    let computes =
        |of| with_queues(of, 2, rank(vec![call(1, functions::MPI_BARRIER, true, 0, -1)]), vec![inter.clone()]);
    let seen = view(vec![computes(0), computes(1)]);
    assert_eq!(seen.comm_name(0, 1 << 31), "an intercommunicator with processes of another job");
    let cause = analyse(&seen).cause;
    assert!(
        cause.contains("ranks 0-1 have a communicator with another job, whose processes may wait for them"),
        "{cause}"
    );
}

#[test]
fn nobody_waits_for_a_rank_that_has_returned_from_the_collective_call() {
    use functions::{MPI_ALLREDUCE, MPI_BARRIER};
    let inside = with_queues(0, 2, rank(vec![call(1, MPI_BARRIER, false, 0, -1)]), vec![comm(0, 2, 1)]);
    let ended = |first| RankView { is_alive: false, ..rank(vec![call(first, MPI_BARRIER, true, 0, -1)]) };
    assert_eq!(about(&view(vec![inside.clone(), ended(1)]), &[1]), [""; 0]);
    // It aborts the job, on the same communicator.
    let calls = vec![call(1, MPI_BARRIER, true, 0, -1), call(2, functions::MPI_ABORT, false, 0, -1)];
    let aborts = RankView { is_alive: false, ..rank(calls) };
    assert_eq!(about(&view(vec![inside.clone(), aborts]), &[1]), [""; 0]);
    let without = RankView { is_alive: false, ..rank(vec![call(1, MPI_ALLREDUCE, true, 8, -1)]) };
    assert_eq!(
        about(&view(vec![inside, without]), &[1]),
        ["rank 0 waited for rank 1 in MPI_Barrier #1 on MPI_COMM_WORLD"]
    );
    // Of earlier calls no record is left: the second look shows whether rank 0 waits.
    let later = with_queues(0, 2, rank(vec![call(90, MPI_BARRIER, false, 0, -1)]), vec![comm(0, 2, 80)]);
    let seen = view(vec![later.clone(), ended(90)]);
    assert!(needs_second_look(&seen, 1) && !needs_second_look(&view(vec![later, ended(1)]), 1));
    let returned = with_queues(0, 2, rank(vec![call(90, MPI_BARRIER, true, 0, -1)]), vec![comm(0, 2, 80)]);
    assert_eq!(about(&view(vec![returned, ended(90)]).since(&seen), &[1]), [""; 0]);
}
