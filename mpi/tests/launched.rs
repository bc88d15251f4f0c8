//! The examples under `mpiexec`, as a user runs them: several processes, no C compiler.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The folder in which cargo puts programs of this profile.
fn programs() -> PathBuf {
    let test = std::env::current_exe().expect("a test is a program");
    test.ancestors().nth(2).expect("tests lie in <profile>/deps").to_path_buf()
}

/// The launcher, built by the same cargo into the same folder.
fn launcher() -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let folder = programs();
    BUILT.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "mpi-launch", "--bin", "mpiexec", "--target-dir"]);
        cargo.arg(folder.parent().expect("a profile is in a target folder"));
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        let built = cargo.status().expect("cargo started this test, so it is there");
        assert!(built.success(), "mpiexec cannot be built");
    });
    folder.join("mpiexec")
}

fn run(processes: u32, example: &str, arguments: &[&str]) -> Output {
    run_with(&[], processes, example, arguments)
}

fn run_with(options: &[&str], processes: u32, example: &str, arguments: &[&str]) -> Output {
    let program = programs().join("examples").join(example);
    let count = processes.to_string();
    let mut command = Command::new(launcher());
    command.args(["-n", &count]).args(options).arg(program).args(arguments);
    // What users see who have not set it.
    command.env_remove("RUST_BACKTRACE");
    command.output().expect("mpiexec was just built")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_ring_comes_round_with_any_number_of_processes() {
    for processes in [1, 2, 4, 7] {
        let ended = run(processes, "ring", &[]);
        let (out, sum) = (text(&ended.stdout), (0..processes).sum::<u32>());
        assert!(ended.status.success(), "{processes}: {}", text(&ended.stderr));
        assert!(out.contains(&format!("the number came back as {sum}\n")), "{processes}: {out}");
        assert!(out.contains(&format!("the sum over all processes is {sum}\n")), "{processes}: {out}");
    }
}

#[test]
fn a_job_spawns_workers_which_find_its_service() {
    for processes in [1, 2] {
        let ended = run(processes, "workers", &[]);
        let out = text(&ended.stdout);
        assert!(ended.status.success(), "{processes}: {}", text(&ended.stderr));
        for (worker, square) in [(0, 100), (1, 121), (2, 144)] {
            assert!(out.contains(&format!("worker {worker} answers {square}\n")), "{processes}: {out}");
        }
    }
}

#[test]
fn persistent_and_partitioned_operations_are_started_again_and_again() {
    for processes in [1, 2, 4] {
        let ended = run(processes, "persistent", &[]);
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        for rank in 0..processes {
            let line = format!("rank {rank} received 5 messages and 10 partitions");
            assert!(text(&ended.stdout).contains(&line), "{}", text(&ended.stdout));
        }
    }
}

#[test]
fn groups_and_graphs_exchange_messages() {
    for processes in [1, 2, 5] {
        let ended = run(processes, "groups", &[]);
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        for rank in 0..processes {
            let line = format!("rank {rank} received {} from its neighbours", 3 * ((rank + processes - 1) % processes));
            assert!(text(&ended.stdout).contains(&line), "{}", text(&ended.stdout));
        }
    }
}

#[test]
fn neighbours_in_a_grid_exchange_numbers() {
    for (processes, dims) in [(1, "1 times 1"), (4, "2 times 2"), (6, "3 times 2"), (7, "7 times 1")] {
        let ended = run(processes, "grid", &[]);
        let (out, sum) = (text(&ended.stdout), 4 * (0..processes).sum::<u32>());
        assert!(ended.status.success(), "{processes}: {}", text(&ended.stderr));
        assert!(out.contains(&format!("a grid of {dims}: the neighbours' numbers sum up to {sum}\n")), "{out}");
    }
}

#[test]
fn monte_carlo_throws_all_points() {
    for processes in [1, 3] {
        let ended = run(processes, "pi", &["100001"]);
        let out = text(&ended.stdout);
        assert!(ended.status.success(), "{processes}: {}", text(&ended.stderr));
        let pi: f64 = out.trim().rsplit(' ').next().expect("a line").parse().expect("a number");
        assert!(out.starts_with("100001 points") && (pi - std::f64::consts::PI).abs() < 0.03, "{out}");
    }
}

#[test]
fn heat_spreads_in_the_same_way_on_any_number_of_processes() {
    for processes in [1, 2, 4, 6] {
        let ended = run(processes, "halo", &["37", "50"]);
        let out = text(&ended.stdout);
        assert!(ended.status.success(), "{processes}: {}", text(&ended.stderr));
        assert!(out.contains("mean temperature 31.680836 after 50 steps"), "{processes}: {out}");
    }
}

#[test]
fn a_file_is_written_together_and_deleted_when_it_is_closed() {
    let name = std::env::temp_dir().join(format!("ferrum-mpi-{}-squares", std::process::id()));
    let path = name.to_str().expect("plain text");
    for processes in [1, 4] {
        let ended = run(processes, "file", &[path]);
        let (out, squares) = (text(&ended.stdout), (0..processes).map(|rank| rank * rank).collect::<Vec<_>>());
        assert!(ended.status.success(), "{processes}: {}", text(&ended.stderr));
        assert!(out.contains(&format!("{squares:?}\n")) && out.contains("File exists (EEXIST)"), "{processes}: {out}");
        assert!(!name.exists());
    }
}

#[test]
fn work_is_shared_through_memory() {
    for processes in [1, 2, 4] {
        let ended = run(processes, "shared", &["20"]);
        let out = text(&ended.stdout);
        assert!(ended.status.success(), "{processes}: {}", text(&ended.stderr));
        assert!(out.contains("2262 primes below 20000\n"), "{processes}: {out}");
    }
}

#[test]
fn the_tool_sees_what_really_happened() {
    let ended = run(3, "variables", &[]);
    let out = text(&ended.stdout);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let value = |name: &str, class: &str| -> String {
        let line = out.lines().find(|line| line.contains(name) && line.contains(class));
        let line = line.unwrap_or_else(|| panic!("{name} is not printed: {out}"));
        line.split_whitespace().last().unwrap_or_default().to_owned()
    };
    assert!(out.contains("unexpected messages before they are received: 100\n"), "{out}");
    assert!(out.contains("and after: 0\n"), "{out}");
    assert_eq!(value("p2p_messages_received", "Counter"), "101");
    assert_eq!(value("p2p_bytes_received", "Aggregate"), "808");
    assert_eq!(value("p2p_messages_sent", "Counter"), "0");
    assert_eq!(value("MPI_T_UMQ_LENGTH", "Level"), "0");
}

#[test]
fn a_panic_ends_the_job_and_reports_its_place() {
    let ended = run(2, "panic", &[]);
    let err = text(&ended.stderr);
    assert!(!ended.status.success());
    assert!(err.contains("rank 1 has had enough") && err.contains("rank 1 of 2"), "{err}");
    assert!(err.contains("stack backtrace:") && err.contains("examples/panic.rs"), "{err}");
}

#[test]
fn an_error_ends_the_job_with_a_report() {
    let ended = run(2, "panic", &["error"]);
    let err = text(&ended.stderr);
    assert!(!ended.status.success());
    assert!(
        err.contains("call  Peer::send\n  what  Argument rank is 9, but the world has 2 processes (MPI_ERR_RANK)"),
        "{err}"
    );
}

#[test]
fn a_timeout_report_names_the_calls_that_programs_in_rust_wait_in() {
    for (call, expected) in [
        ("receive", "ranks 0-1: in MPI_Recv from any rank with tag 7;"),
        ("barrier", "rank 0: in MPI_Barrier #1 on MPI_COMM_WORLD; not there: rank 1;"),
        ("close", "rank 0: in MPI_File_close;"),
    ] {
        let name = std::env::temp_dir().join(format!("ferrum-mpi-{}-hang", std::process::id()));
        let path = name.to_str().expect("plain text");
        let ended = run_with(&["--timeout", "3"], 2, "hang", &[call, path]);
        let err = text(&ended.stderr);
        let _ = std::fs::remove_file(&name);
        assert!(!ended.status.success(), "{err}");
        assert!(err.contains(expected), "{call}: {err}");
    }
}

#[test]
fn a_report_lists_the_calls_of_a_program_in_rust_and_advises_with_functions_of_rust() {
    let ended = run_with(&["--cvar", "error_verbosity=full"], 2, "panic", &["error"]);
    let err = text(&ended.stderr);
    assert!(err.contains("try   Compare the rank with Communicator::size."), "{err}");
    assert!(err.contains("last  1 MPI_Barrier; 2 MPI_Send, which was refused\n"), "{err}");
}
