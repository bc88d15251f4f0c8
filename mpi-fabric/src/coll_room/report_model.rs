//! Loom models of reports: a process overwrites what it has published only when all others have read it, for any order in which they
//! report, and nobody waits for a process that waits itself. With one weaker memory order the models fail.

use loom::sync::Arc;
use loom::thread;

use super::model::Part;
use super::protocol::{ORDERS, Orders};
use super::reports::Reports;
use crate::sync::Ordering;

/// The parts of all processes, and the orders of their accesses.
struct Shared<const N: usize> {
    parts: [Part; N],
    orders: Orders,
}

impl<const N: usize> Shared<N> {
    fn publish(&self, rank: usize, number: u64) {
        let part = &self.parts[rank];
        // SAFETY: see `Part`.
        part.data.with_mut(|data| unsafe { *data = number * 10 });
        part.line.store(number, self.orders.publish);
    }

    fn is_published(&self, rank: usize, number: u64) -> bool {
        self.parts[rank].line.load(self.orders.published) >= number
    }

    fn read(&self, rank: usize, number: u64) {
        while !self.is_published(rank, number) {
            thread::yield_now();
        }
        self.check(rank, number);
    }

    fn check(&self, rank: usize, number: u64) {
        // SAFETY: see `Part`.
        self.parts[rank].data.with(|data| assert_eq!(unsafe { *data }, number * 10));
    }

    fn report(&self, rank: usize, number: u64) {
        self.parts[rank].finished.store(number, self.orders.report);
    }

    fn reported(&self, rank: usize) -> u64 {
        self.parts[rank].finished.load(self.orders.reported)
    }

    /// Waits until all others have finished a step.
    fn wait_for_all(&self, reports: &Reports, number: u64) {
        while !reports.cover(number) && reports.require(number + 1, |rank| self.reported(rank)).is_err() {
            thread::yield_now();
        }
    }
}

/// Runs the processes 0 to N - 1 through all interleavings. Of three one has published, so that one of them waits at most.
fn model<const N: usize>(orders: Orders, process: fn(&Shared<N>, usize)) {
    loom::model(move || {
        let shared = Arc::new(Shared::<N> { parts: std::array::from_fn(|_| Part::new()), orders });
        if N == 3 {
            shared.publish(0, 1);
        }
        let others: Vec<_> = (1..N)
            .map(|rank| {
                let shared = shared.clone();
                thread::spawn(move || process(&shared, rank))
            })
            .collect();
        process(&shared, 0);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// The orders in use, one of them changed to Relaxed.
fn weaker(change: impl Fn(&mut Orders, Ordering)) -> Orders {
    let mut orders = ORDERS;
    change(&mut orders, Ordering::Relaxed);
    orders
}

/// A root overwrites its first publication, which is made, when both readers have reported; it keeps what it has read of the one that
/// reported first.
fn root_of_two_readers(shared: &Shared<3>, rank: usize) {
    if rank != 0 {
        shared.check(0, 1);
        shared.report(rank, 2);
        return;
    }
    let reports = Reports::new(0, 3, 1);
    shared.wait_for_all(&reports, 1);
    shared.publish(0, 2);
}

/// Each process is the root in turn. The publication of the second says that it has read the first; no report is made.
fn roots_in_turn(shared: &Shared<2>, rank: usize) {
    let reports = Reports::new(rank, 2, 1);
    for number in 1..=3u64 {
        let root = (number as usize + 1) % 2;
        if rank != root {
            shared.read(root, number);
            reports.finished_by(root, number);
            continue;
        }
        // Its last publication was two steps before.
        let last = number.saturating_sub(2);
        assert!(last == 0 || reports.require(last + 1, |rank| panic!("the report of {rank} is not needed")).is_ok());
        shared.publish(rank, number);
    }
}

/// A reader reports only before it waits, and a root with one line needs that for its next publication.
fn report_before_a_wait(shared: &Shared<2>, rank: usize) {
    root_and_reader(shared, rank, true);
}

/// The same without the report.
fn no_report_before_a_wait(shared: &Shared<2>, rank: usize) {
    root_and_reader(shared, rank, false);
}

fn root_and_reader(shared: &Shared<2>, rank: usize, reports_before_waits: bool) {
    let reports = Reports::new(rank, 2, 1);
    for number in 1..=2u64 {
        if rank == 0 {
            shared.wait_for_all(&reports, number - 1);
            shared.publish(0, number);
            continue;
        }
        if reports_before_waits && !shared.is_published(0, number) {
            shared.report(1, number);
        }
        shared.read(0, number);
    }
}

/// Two processes close a channel and use their parts for the next one, whose step numbers are larger. No process takes what the first
/// channel left in the words for a report or a publication of the second.
fn a_part_for_the_next_channel(shared: &Shared<2>, rank: usize) {
    const NEXT: u64 = 10;
    if rank == 1 {
        shared.read(0, 1);
        // Closed; then open.
        shared.report(1, 2);
        shared.report(1, NEXT);
        shared.read(0, NEXT);
        shared.report(1, NEXT + 1);
        return;
    }
    shared.publish(0, 1);
    while shared.reported(1) < 2 {
        thread::yield_now();
    }
    let reports = Reports::new(0, 2, NEXT);
    shared.publish(0, NEXT);
    shared.wait_for_all(&reports, NEXT);
    shared.publish(0, NEXT + 1);
}

#[test]
fn loom_a_root_overwrites_a_publication_when_both_readers_have_reported() {
    model(ORDERS, root_of_two_readers);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_report_needs_release() {
    model(weaker(|orders, relaxed| orders.report = relaxed), root_of_two_readers);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_look_at_a_report_needs_acquire() {
    model(weaker(|orders, relaxed| orders.reported = relaxed), root_of_two_readers);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_publication_needs_release() {
    model(weaker(|orders, relaxed| orders.publish = relaxed), report_before_a_wait);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_look_at_a_publication_needs_acquire() {
    model(weaker(|orders, relaxed| orders.published = relaxed), report_before_a_wait);
}

#[test]
fn loom_a_publication_of_another_root_stands_for_a_report() {
    model(ORDERS, roots_in_turn);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_publication_that_stands_for_a_report_needs_release() {
    model(weaker(|orders, relaxed| orders.publish = relaxed), roots_in_turn);
}

#[test]
fn loom_nobody_waits_for_the_report_of_a_process_that_waits() {
    model(ORDERS, report_before_a_wait);
}

#[test]
#[should_panic(expected = "Model exceeded maximum number of branches")]
fn loom_without_a_report_before_a_wait_both_wait() {
    model(ORDERS, no_report_before_a_wait);
}

#[test]
fn loom_a_part_is_used_again_when_its_readers_have_closed_it() {
    model(ORDERS, a_part_for_the_next_channel);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_part_that_is_used_again_needs_the_release_of_its_readers() {
    model(weaker(|orders, relaxed| orders.report = relaxed), a_part_for_the_next_channel);
}
