//! What the progress thread is for, and the orders that it gets.
//!
//! Not here: the thread (`progress_thread`).

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time until the thread looks again whether the program still calls the library, at first and while there are windows.
pub(crate) const PERIOD: Duration = Duration::from_micros(250);
/// The longest such time.
pub(crate) const LONGEST_PERIOD: Duration = Duration::from_millis(1);
/// So many operations the program must have moved by itself.
const ALONE: u8 = 4;
/// One operation in so many has the thread all the same: it finds whether the program needs it now.
const PROBE: u64 = 32;

/// The thread and what it is to do; it sleeps while that is nothing.
#[derive(Debug, Default)]
pub(crate) struct ProgressThread {
    pub order: Mutex<Order>,
    changed: Condvar,
    pub handle: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread is to do.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    Sleep,
    /// To look from time to time whether the program still calls the library.
    Watch,
    Work,
    Stop,
}

/// The operations that the thread is for; under the process lock.
#[derive(Debug, Default)]
pub(crate) struct Background {
    /// Whether the thread exists.
    pub running: bool,
    /// Whether the lock was in the mode of several threads before.
    pub multiple_before: bool,
    /// Whether the thread makes progress, and is not going to sleep.
    pub working: bool,
    /// Whether the thread watches.
    pub watching: bool,
    /// Whether the host has fewer than two cores for each rank, or the process may use one core only.
    pub occupied: bool,
    /// Whether messages go through a network.
    pub networked: bool,
    /// Operations under way, those of them that call functions of the program, and windows, which are operations that
    /// other processes begin.
    pub operations: usize,
    pub calling_back: usize,
    pub windows: usize,
    /// Whether a network has something of operations that are over here, and that it sends only while somebody polls.
    pub undrained: bool,
    /// Operations begun, tests made by the program, and passes in which the thread has moved something; the last two also
    /// when the last operation began.
    pub begun: u64,
    pub tests: u64,
    pub helped: u64,
    before: (u64, u64),
    /// Number of operations, up to [`ALONE`], that the program has moved by itself since one that it has not.
    alone: u8,
}

impl Background {
    /// Whether the thread is to make progress.
    pub fn is_wanted(&self) -> bool {
        self.running && (self.operations > 0 || self.undrained) && self.calling_back == 0
    }

    /// An operation begins.
    pub fn begin(&mut self, calls_back: bool) {
        self.operations += 1;
        self.calling_back += usize::from(calls_back);
        self.begun += 1;
        self.before = (self.tests, self.helped);
    }

    /// An operation is over.
    pub fn end(&mut self, calls_back: bool) {
        self.operations -= 1;
        self.calling_back -= usize::from(calls_back);
        let (tests, helped) = self.before;
        self.alone = if self.tests > tests || self.helped == helped { (self.alone + 1).min(ALONE) } else { 0 };
    }

    /// What the thread is to do, which it does not do yet, when the program has begun an operation or waits no longer.
    ///
    /// A program that tests, or waits at once, moves its operations by itself. To wake the thread for each of them takes
    /// several microseconds of the core on which the program computes (two context switches, and wake-ups by the peers), as
    /// long as a short operation. Where no core is free and no network is in use, an operation consists of copies by this
    /// core, and its steps follow each other faster than a context switch: it takes as long during the computing as after
    /// it. Then the thread is only for a program that makes no call for a period, and for windows, whose peers wait.
    pub fn order(&mut self) -> Option<Order> {
        if !self.is_wanted() || self.working {
            return None;
        }
        let gains_nothing = self.occupied && !self.networked && self.windows == 0;
        if gains_nothing || self.alone == ALONE && !self.begun.is_multiple_of(PROBE) {
            let watches = std::mem::replace(&mut self.watching, true);
            return (!watches).then_some(Order::Watch);
        }
        (self.working, self.watching) = (true, false);
        Some(Order::Work)
    }
}

impl ProgressThread {
    /// Gives the thread an order; after a stop none counts.
    pub fn give(&self, order: Order) {
        let mut now = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != Order::Stop {
            *now = order;
        }
        self.changed.notify_one();
    }

    /// Waits until there is something to do.
    pub fn next(&self) -> Order {
        let now = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let woken = self.changed.wait_while(now, |now| *now == Order::Sleep);
        *woken.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a period, or until the thread is not to watch any more; whether it still is.
    pub fn watches_on(&self, period: Duration) -> bool {
        let now = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let woken = self.changed.wait_timeout_while(now, period, |now| *now == Order::Watch);
        *woken.unwrap_or_else(PoisonError::into_inner).0 == Order::Watch
    }

    /// Whether the thread is to stop.
    pub fn is_stopping(&self) -> bool {
        *self.order.lock().unwrap_or_else(PoisonError::into_inner) == Order::Stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs an operation in which the program tests, and the thread moves something, so often; the order at its begin.
    fn operation(background: &mut Background, tests: u64, helped: u64) -> Option<Order> {
        background.begin(false);
        let order = background.order();
        (background.tests, background.helped) = (background.tests + tests, background.helped + helped);
        background.end(false);
        background.working = false;
        order
    }

    #[test]
    fn the_thread_is_woken_only_for_a_program_that_needs_it() {
        let background = &mut Background { running: true, ..Background::default() };
        for _ in 0..3 {
            assert_eq!(operation(background, 0, 1), Some(Order::Work), "nobody else moves it");
        }
        for _ in 0..4 {
            assert_eq!(operation(background, 2, 1), Some(Order::Work), "it must show that it tests");
        }
        assert_eq!(operation(background, 2, 0), Some(Order::Watch));
        assert_eq!(operation(background, 0, 0), None, "it watches already, and the program waits at once");
        let orders = (0..PROBE).filter_map(|_| operation(background, 0, 1)).collect::<Vec<_>>();
        assert!(
            orders.len() > 1 && orders.iter().all(|order| *order == Order::Work),
            "after a probe it is needed again"
        );
    }

    #[test]
    fn where_no_core_is_free_the_thread_is_woken_only_for_windows_and_networks() {
        let background = &mut Background { running: true, occupied: true, ..Background::default() };
        assert_eq!(operation(background, 0, 1), Some(Order::Watch));
        assert_eq!(operation(background, 0, 1), None, "it watches already");
        background.windows = 1;
        assert_eq!(operation(background, 0, 1), Some(Order::Work));
        (background.windows, background.networked) = (0, true);
        assert_eq!(operation(background, 0, 1), Some(Order::Work));
    }

    #[test]
    fn what_a_network_has_not_sent_needs_the_thread_after_the_operation() {
        let background = &mut Background { running: true, ..Background::default() };
        operation(background, 0, 1);
        assert_eq!(background.order(), None);
        background.undrained = true;
        assert_eq!(background.order(), Some(Order::Work));
        background.calling_back = 1;
        assert!(!background.is_wanted());
    }

    #[test]
    fn operations_that_call_the_program_wake_nothing() {
        let background = &mut Background { running: true, ..Background::default() };
        background.begin(true);
        assert_eq!(background.order(), None);
        background.end(true);
        assert_eq!(background.order(), None, "none is under way");
    }
}
