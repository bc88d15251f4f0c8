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
