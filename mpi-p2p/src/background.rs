//! What the progress thread is for, and the orders that it gets.
//!
//! Not here: the thread (`progress_thread`).

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

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
    /// Operations under way, and those of them that call functions of the program.
    pub operations: usize,
    pub calling_back: usize,
}

impl Background {
    /// Whether the thread is to make progress.
    pub fn is_wanted(&self) -> bool {
        self.running && self.operations > 0 && self.calling_back == 0
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

    /// Waits for work; false when the thread is to stop.
    pub fn next(&self) -> bool {
        let now = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let woken = self.changed.wait_while(now, |now| *now == Order::Sleep);
        *woken.unwrap_or_else(PoisonError::into_inner) == Order::Work
    }

    /// Whether the thread is to stop.
    pub fn is_stopping(&self) -> bool {
        *self.order.lock().unwrap_or_else(PoisonError::into_inner) == Order::Stop
    }
}
