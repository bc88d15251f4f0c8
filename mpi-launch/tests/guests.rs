//! Processes of other libraries under `mpiexec`: the service of its PMI-1 server, and its protection against them.
#![allow(clippy::unwrap_used)] // a test that cannot continue panics
#![allow(dead_code)] // this test does not use all of the shared code

mod common;

use common::{Done, example, run};

fn guest(ranks: &str, task: &str) -> Done {
    run(&["-n", ranks, &example("guest"), task])
}

#[test]
fn guests_exchange_words() {
    for ranks in [1, 2, 7, 40] {
        let done = guest(&ranks.to_string(), "exchange");
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let words: Vec<String> = (0..ranks).map(|rank: i32| (rank * rank).to_string()).collect();
        let mut lines: Vec<&str> = done.stdout.lines().collect();
        lines.sort_unstable();
        let mut due: Vec<String> = (0..ranks).map(|rank| format!("{rank}: {}", words.join(" "))).collect();
        due.sort_unstable();
        assert_eq!(lines, due);
    }
}

#[test]
fn a_guests_abort_ends_the_job_with_its_code() {
    let done = guest("3", "abort");
    assert_eq!(done.code, Some(42), "{}", done.stderr);
    assert!(done.stderr.contains("rank 2 of 3") && done.stderr.contains("code 42"), "{}", done.stderr);
}

#[test]
fn a_guest_that_leaves_without_saying_so_is_a_failure() {
    let done = guest("2", "leave");
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("rank 1") && done.stderr.contains("without calling MPI_Finalize"), "{}", done.stderr);
}

#[test]
fn guests_that_wait_for_one_that_has_ended_are_ended() {
    let done = guest("3", "missing");
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("rank 2"), "{}", done.stderr);
}

#[test]
fn nonsense_does_the_launcher_no_harm() {
    let done = guest("2", "nonsense");
    assert_eq!((done.code, &*done.stderr), (Some(0), ""));
}

#[test]
fn the_connection_of_a_guest_that_does_not_read_is_closed() {
    let done = guest("2", "flood");
    assert_eq!((done.code, &*done.stdout), (Some(0), "given up\n"), "{}", done.stderr);
}
