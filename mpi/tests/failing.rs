//! The output of a test that fails on one of its processes.

use std::process::Command;

#[mpi::test(ranks = 2, seconds = 60)]
#[ignore = "it fails; the test below runs it"]
fn rank_1_panics(world: &mpi::World) -> mpi::Result<()> {
    eprintln!("a line of its own");
    assert_ne!(world.rank(), 1, "no test for this rank");
    Ok(())
}

#[test]
fn each_line_of_a_failed_test_has_its_rank() {
    let test = std::env::current_exe().expect("a test is a program");
    let output = Command::new(test).args(["rank_1_panics", "--exact", "--ignored", "--nocapture"]).output();
    let output = output.expect("the program runs");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!output.status.success(), "{text}");
    for line in ["[0 err] a line of its own\n", "[1 err] a line of its own\n"] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let of_rank = |line: &str| line.contains("no test for this rank") && line.starts_with("[1 err] ");
    assert!(text.lines().any(of_rank), "{text}");
}

#[mpi::test(ranks = 2, seconds = 60)]
#[ignore = "it fails; the test below runs it"]
fn a_session_is_forgotten(world: &mpi::World) -> mpi::Result<()> {
    if world.rank() == 1 {
        std::mem::forget(mpi::Session::new()?);
    }
    world.barrier()
}

#[test]
fn a_report_has_the_session_that_is_open_at_the_end() {
    let test = std::env::current_exe().expect("a test is a program");
    let output = Command::new(test).args(["a_session_is_forgotten", "--exact", "--ignored", "--nocapture"]).output();
    let output = output.expect("the program runs");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!output.status.success(), "{text}");
    let report = "exited with an open session, without calling MPI_Session_finalize";
    assert!(text.contains("rank 1 of 2") && text.contains(report), "{text}");
    assert!(!text.contains("without calling MPI_Finalize"), "{text}");
}
