//! A program marks the part that is to be measured, and a tool in Rust measures only that part.
//!
//! Run it with `cargo run -p mpi-pmpi --example regions`.

use std::time::{Duration, Instant};

use mpi_pmpi::{control, current, level};

/// The tool: the time spent in the steps that ran while profiling was on.
#[derive(Default)]
struct Tool {
    measured: Duration,
    steps: u32,
}

impl Tool {
    /// Runs a step of the program, and measures it if profiling is on.
    fn step(&mut self, work: impl FnOnce()) {
        let begin = Instant::now();
        work();
        if current() > level::OFF {
            self.measured += begin.elapsed();
            self.steps += 1;
        }
    }
}

fn main() {
    let mut tool = Tool::default();
    control(level::OFF);
    (0..10).for_each(|_| tool.step(|| std::thread::sleep(Duration::from_millis(1)))); // start-up
    control(level::NORMAL);
    (0..5).for_each(|_| tool.step(|| std::thread::sleep(Duration::from_millis(1)))); // the part of interest
    println!("{} of 15 steps were measured: {:?}", tool.steps, tool.measured);
    assert_eq!(tool.steps, 5);
}
