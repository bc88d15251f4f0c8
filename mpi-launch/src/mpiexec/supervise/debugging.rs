//! The ranks that `--gdb` names, before and when the job fails.
//!
//! Not here: gdb (`debugging`), tracing (`os::tracing`).

use std::time::{Duration, Instant};

use super::super::debugging::{CRASHES, ends};
use super::super::ending::Order;
use super::super::os::{self, Stop, tracing};
use super::Supervisor;

/// Time limit for a rank to stop for gdb.
const STOP_LIMIT: Duration = Duration::from_secs(2);

impl Supervisor<'_> {
    /// What is to be done next to end the job; gdb sees it before.
    pub(super) fn next_order(&mut self, children: bool) -> Option<Order> {
        if self.ending.failure().is_some() && self.living > 0 {
            self.debug();
        }
        if self.debugging.holds() {
            return None;
        }
        self.ending.due(self.living, Instant::now()).filter(|_| children)
    }

    /// Handles the stop of a traced process.
    pub(super) fn stopped(&mut self, pid: i32, stop: Stop) {
        match stop {
            Stop::Signal(signal) if CRASHES.contains(&signal) && !self.debugging.is_done() && ends(pid, signal) => {
                tracing::release(pid, libc::SIGSTOP);
                self.crashed = Some((pid, signal));
                self.debug();
                self.let_crash();
            }
            Stop::Signal(signal) => tracing::resume(pid, signal),
            Stop::Group => tracing::leave_stopped(pid),
            Stop::Event => tracing::resume(pid, 0),
        }
    }

    /// Shows the chosen ranks to gdb, once: those that run, and one that is about to crash.
    pub(super) fn debug(&mut self) {
        if !self.debugging.begin() {
            return;
        }
        let is_crashed = |pid: i32| self.crashed.is_some_and(|(crashed, _)| crashed == pid);
        let living = (0..).zip(&self.ranks).filter(|(_, process)| process.living);
        let chosen = living.filter(|(rank, process)| self.debugging.is_chosen(*rank) || is_crashed(process.pid));
        let mut chosen: Vec<(u32, i32)> = chosen.map(|(rank, process)| (rank, process.pid)).collect();
        chosen.sort_by_key(|(rank, pid)| (!is_crashed(*pid), *rank));
        let mut ended = Vec::new();
        for (rank, pid) in chosen.iter().filter(|(_, pid)| !is_crashed(*pid)) {
            ended.extend(tracing::release_running(*pid, STOP_LIMIT).map(|how| (*rank, how)));
        }
        chosen.retain(|(rank, _)| ended.iter().all(|(other, _)| other != rank));
        let reports = self.debugging.show(&chosen);
        reports.iter().for_each(|report| self.reporter.warn(report));
        ended.into_iter().for_each(|(rank, how)| self.rank_ended(rank, how));
    }

    /// Lets the rank that has crashed end by its signal, once gdb has seen it.
    pub(super) fn let_crash(&mut self) {
        if self.debugging.holds() {
            return;
        }
        if let Some((pid, signal)) = self.crashed.take() {
            os::signal_process(pid, signal);
            os::signal_process(pid, libc::SIGCONT);
        }
    }
}
