//! A process that spawns others and prints the answer; the tests of `mpiexec` run it.
//!
//! `mpiexec target/debug/examples/spawn [KEY=VALUE...] COUNT PROGRAM [ARGUMENT...] [+ COUNT PROGRAM...]`
//!
//! Keys are those of an info object, and two more: `then=wait` waits until the job is known to have ended, `then=CODE`
//! exits at once, without waiting; `then=lateCODE` exits a second later; `by=itself` uses an `mpiexec` of this process's own. Without `then` the process
//! sleeps.

use std::process::exit;
use std::time::Duration;

use mpi_wireup::Spawner;
use mpi_wireup::spawn_request::{PARENT_PORT, SpawnProgram, SpawnRequest};

fn main() {
    let (mut programs, mut then, mut itself) = (Vec::new(), String::new(), false);
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    for part in words.split(|word| *word == "+") {
        let mut program = SpawnProgram::default();
        let mut words = part.iter();
        for word in &mut words {
            let text = word.to_string_lossy();
            match text.split_once('=') {
                Some(("then", value)) => then = value.into(),
                Some(("by", _)) => itself = true,
                Some((key, value)) => program.info.push((key.into(), value.into())),
                None => {
                    program.processes = text.parse().expect("a number of processes");
                    break;
                }
            }
        }
        program.program = words.next().cloned().unwrap_or_default();
        program.arguments = words.cloned().collect();
        programs.push(program);
    }
    let launcher = (!itself).then(|| std::os::unix::process::parent_id() as i32);
    let spawner = Spawner::new(launcher);
    let request = SpawnRequest { programs, values: vec![(PARENT_PORT.into(), "a port".into())] };
    let job = match spawner.spawn(&request, None) {
        Ok(job) => job,
        Err(error) => {
            println!("error: {error}");
            exit(9);
        }
    };
    let started: Vec<_> = job.result.started.iter().map(|started| i32::from(*started)).collect();
    println!("started {started:?} {}", job.result.reason);
    if let Some(code) = then.strip_prefix("late") {
        std::thread::sleep(Duration::from_secs(1));
        exit(code.parse().expect("an exit code"));
    }
    match then.parse() {
        Ok(code) => {
            if code == 0 {
                spawner.finalize();
            }
            exit(code)
        }
        Err(_) if then == "wait" => {
            while !spawner.has_ended(&job) {
                std::thread::sleep(Duration::from_millis(5));
            }
            println!("ended");
        }
        Err(_) => std::thread::sleep(Duration::from_secs(1000)),
    }
}
