//! Runs of programs side by side, as many at once as there are lanes.
//!
//! Invariant: no two runs of one program are under way at once, so what a program leaves behind is that of one run; one lane keeps
//! the order of the runs. Not here: what a run is, and how it is judged (`conformance`).

use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};

/// Lanes of programs on the network: they wait for half of the time, while their ranks load libfabric.
pub const OF_NETWORK: usize = 4;

/// Lanes of programs whose ranks compute little: as many as there are cores, but no more than a machine of usual memory holds.
pub fn usual() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Executes `run` for each item in one of `lanes` threads, with the number of its lane, and passes each result to `take` on this
/// thread. Items of one program, which `program` names, follow one another.
pub fn run<T: Send, R: Send>(
    lanes: usize,
    items: Vec<T>,
    program: impl Fn(&T) -> &str + Sync,
    run: impl Fn(usize, &T) -> R + Sync,
    mut take: impl FnMut(T, R),
) {
    let queue = Mutex::new(Queue { waiting: items.into(), running: BTreeSet::new() });
    let (results, arrived) = mpsc::channel();
    std::thread::scope(|scope| {
        for lane in 0..lanes.max(1) {
            let (queue, results, program, run) = (&queue, results.clone(), &program, &run);
            scope.spawn(move || {
                loop {
                    // The lock ends with this statement.
                    let next = lock(queue).next(program);
                    let Some(item) = next else { return };
                    let result = run(lane, &item);
                    lock(queue).running.remove(program(&item));
                    if results.send((item, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(results);
        for (item, result) in arrived {
            take(item, result);
        }
    });
}

/// What waits, and the programs that run.
struct Queue<T> {
    waiting: VecDeque<T>,
    running: BTreeSet<String>,
}

impl<T> Queue<T> {
    /// The first item whose program does not run. `None` ends a lane: only items of running programs are left, and the lane of
    /// such a program takes them.
    fn next(&mut self, program: impl Fn(&T) -> &str) -> Option<T> {
        let at = self.waiting.iter().position(|item| !self.running.contains(program(item)))?;
        let item = self.waiting.remove(at)?;
        self.running.insert(program(&item).to_owned());
        Some(item)
    }
}

/// The list is whole after a panic elsewhere.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn one_lane_keeps_the_order() {
        let (items, mut taken) = (vec!["b", "a", "b", "c"], Vec::new());
        run(1, items.clone(), |item| item, |lane, _| lane, |item, lane| taken.push((item, lane)));
        assert_eq!(taken, items.into_iter().map(|item| (item, 0)).collect::<Vec<_>>());
    }

    #[test]
    fn lanes_run_side_by_side_and_never_one_program_twice() {
        let items: Vec<(usize, &str)> = (0..60).map(|at| (at, ["a", "b", "c", "d"][at % 4])).collect();
        let (now, most) = ([const { AtomicUsize::new(0) }; 4], AtomicUsize::new(0));
        let mut taken = Vec::new();
        run(
            3,
            items.clone(),
            |item| item.1,
            |_, (at, _)| {
                let alone = now[at % 4].fetch_add(1, Ordering::SeqCst) == 0;
                most.fetch_max(now.iter().map(|it| it.load(Ordering::SeqCst)).sum(), Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(2));
                now[at % 4].fetch_sub(1, Ordering::SeqCst);
                alone
            },
            |item, alone| taken.push((item, alone)),
        );
        taken.sort();
        assert_eq!(taken, items.into_iter().map(|item| (item, true)).collect::<Vec<_>>());
        assert!(most.into_inner() > 1);
    }
}
