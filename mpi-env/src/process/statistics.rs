//! The table of statistics of a job that another launcher has started, or none: rank 0 writes it in `MPI_Finalize`.
//!
//! Of each other host the first rank whose process has not ended before sends the variables of the ranks there, one rank after the other, to rank 0.
//! A rank of this host that has died before is in the table with what it has counted: the job memory has that, and the others do not wait for it.
//! Invariant: every wait ends, also if processes or hosts are lost or do not take part. Values are read when their process has ended its
//! count, so that no message of this exchange is in them.
//! Not here: the table and the form of the messages (`mpi_fabric::statistics`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mpi_core::Guard;
use mpi_core::abi::MPI_ANY_SOURCE;
use mpi_fabric::job::HostRanks;
use mpi_fabric::signal_mask::with_all_signals_blocked;
use mpi_fabric::statistics::{FinalizeShare, LONGEST_OF_RANK, Table, message_of};
use mpi_fabric::{Life, runs};
use mpi_p2p::{Engine, Mode, OwnedMessage, TAGS_OF_SOME};

use crate::process::running::joined;
use crate::record::process::Process;

/// The loss of a third process ends none of these messages.
const TAG: i32 = TAGS_OF_SOME + 0x7031;
/// How long a process waits for the others on its host to end their count.
const COUNT_LIMIT: Duration = Duration::from_secs(2);
/// How long rank 0 waits for the next rank, and another process for rank 0 to receive one.
const SILENCE_LIMIT: Duration = Duration::from_secs(10);
/// Time between two looks.
const PERIOD: Duration = Duration::from_micros(100);
/// Time between two looks for processes that have died.
const LIFE_PERIOD: Duration = Duration::from_millis(100);

impl Process {
    /// Calls what waits for the other processes in `MPI_Finalize`. Meanwhile a thread reports the ranks of this host whose processes
    /// have died without that call, as `mpiexec` does: no other launcher does, and the wait would have no end.
    #[cold]
    pub(super) fn reporting_the_dead<R>(&self, wait: impl FnOnce() -> R) -> R {
        let all = (0..self.size()).collect::<Vec<_>>();
        let (here, job, is_over) = (self.on_host.as_deref().unwrap_or(&all), &*self.job, AtomicBool::new(false));
        let has_died = |rank: u32| {
            let uses_mpi = || matches!(job.life(rank), Life::Attached | Life::Initialised);
            // A process may finalise and end between two looks, so the later one counts.
            uses_mpi() && !runs(job.pid(rank)) && uses_mpi()
        };
        let watch = || {
            // Relaxed: nothing but the flag is shared.
            while !is_over.load(Ordering::Relaxed) {
                thread::park_timeout(LIFE_PERIOD);
                let dead = here.iter().copied().filter(|rank| !job.is_lost(*rank) && has_died(*rank));
                dead.for_each(|rank| job.report_lost(rank));
            }
        };
        thread::scope(|scope| {
            let builder = thread::Builder::new().name("mpi-life".into()).stack_size(128 << 10);
            // Without a thread nothing is reported.
            let watching = with_all_signals_blocked(|| builder.spawn_scoped(scope, watch));
            let result = wait();
            is_over.store(true, Ordering::Relaxed);
            watching.iter().for_each(|watching| watching.thread().unpark());
            result
        })
    }

    /// Writes the table, or does this process's part in that. Collective in a job on several hosts.
    #[cold]
    pub(super) fn write_statistics(&self) {
        let (rank, all) = (self.rank(), (0..self.size()).collect::<Vec<_>>());
        let here = self.on_host.as_deref().unwrap_or(&all);
        if rank != 0 {
            if self.on_host.is_some() && self.is_first_of(here) {
                self.send_ranks(here);
            }
            return;
        }
        let state_name = |variable: &str, value| self.registry.state_name(variable, value);
        let mut table = Table::of(self.size(), self.statistics.is_summary());
        // The counts of this process go on while it waits.
        table.add_rank(&self.job, 0, 0, &state_name);
        self.await_counts(here);
        here.iter()
            .filter(|other| **other != 0)
            .for_each(|other| table.add_rank(&self.job, *other, *other, &state_name));
        let mut absent: Vec<u32> = all.iter().copied().filter(|other| !here.contains(other)).collect();
        self.receive_ranks(&mut absent, &mut |message, absent| {
            table.add_message(message, absent, &state_name);
        });
        let table = table.finish(self.by_host(absent));
        self.statistics.write_table(&table, None).unwrap_or_else(|sentence| self.warn(&sentence));
    }

    /// Whether this process sends for its host: the lower ranks there have ended before their count.
    #[cold]
    fn is_first_of(&self, here: &[u32]) -> bool {
        let lower = || here.iter().copied().filter(|other| *other < self.rank());
        let takes_part =
            |other| FinalizeShare::is_ended(&self.job, other) || self.engine.is_alive(&self.engine.lock(), other);
        !lower().any(takes_part)
    }

    /// Sends the variables of the ranks of this host to rank 0.
    #[cold]
    fn send_ranks(&self, here: &[u32]) {
        let Some(engine) = self.lasting_engine() else { return };
        let own = message_of(&self.job, self.rank());
        self.await_counts(here);
        let others = here.iter().filter(|other| **other != self.rank());
        for message in std::iter::once(own).chain(others.map(|other| message_of(&self.job, *other))) {
            let mut guard = engine.lock();
            let context = self.world.collective_context();
            // Complete when rank 0 receives it, which this process waits for before it leaves.
            let sent = OwnedMessage::send(engine, &mut guard, context, (0, TAG), message, None, Mode::Synchronous);
            drop(guard);
            if !sent.is_ok_and(|sent| completed(engine, sent).is_some()) {
                return;
            }
        }
    }

    /// Receives the variables of ranks of other hosts until all of `absent` have come, none of them can come because no process of
    /// their hosts is left, or nothing comes any more.
    /// `add` takes a message and removes its rank from the list, if it is there.
    #[cold]
    fn receive_ranks(&self, absent: &mut Vec<u32>, add: &mut dyn FnMut(&[u8], &mut Vec<u32>)) {
        let Some(engine) = self.lasting_engine() else { return };
        let context = self.world.collective_context();
        let hosts = self.job.hosts();
        // Another rank of its host sends the variables of a dead one.
        let may_come = |guard: &Guard<'_>, rank: u32| {
            let host = hosts.iter().find(|host| host.ranks.contains(&rank));
            let on_host = host.map_or(std::slice::from_ref(&rank), |host| &*host.ranks);
            on_host.iter().any(|rank| engine.is_alive(guard, *rank))
        };
        // Two processes of a host may send, one of which has taken the other for ended.
        for _ in 0..2 * absent.len() {
            if absent.is_empty() {
                return;
            }
            let mut came = None;
            let over = poll(engine, SILENCE_LIMIT, &mut |guard| {
                // While a process of the job is lost, an error stands for "no message".
                came = engine.improbe(guard, context, MPI_ANY_SOURCE, TAG).ok().flatten();
                came.is_some() || !absent.iter().any(|rank| may_come(guard, *rank))
            });
            let (true, Some((message, status))) = (over, came) else { return };
            let room = vec![0; status.bytes().min(LONGEST_OF_RANK as u64) as usize];
            let received = OwnedMessage::receive_matched(engine, &mut engine.lock(), message, room);
            if let Some(bytes) = received.ok().and_then(|received| completed(engine, received)) {
                add(&bytes, absent);
            }
        }
    }

    /// Waits until the processes of these ranks, which share memory with this one, have ended their count or have ended.
    #[cold]
    fn await_counts(&self, here: &[u32]) {
        let mut counting = here.to_vec();
        poll(&self.engine, COUNT_LIMIT, &mut |guard| {
            let _ = self.engine.progress(guard);
            counting.retain(|rank| !FinalizeShare::is_ended(&self.job, *rank) && self.engine.is_alive(guard, *rank));
            counting.is_empty()
        });
    }

    /// The engine of the process, for messages that may outlive a call; only the one process of the C interface has it.
    fn lasting_engine(&self) -> Option<&'static Engine> {
        joined().filter(|process| std::ptr::eq(*process, self)).map(|process| &*process.engine)
    }

    /// Ranks of other hosts, by host; those of hosts that are not known together, without a name.
    #[cold]
    fn by_host(&self, mut ranks: Vec<u32>) -> Vec<HostRanks> {
        let mut hosts = self.job.hosts();
        for host in &mut hosts {
            host.ranks.retain(|rank| ranks.contains(rank));
            ranks.retain(|rank| !host.ranks.contains(rank));
        }
        hosts.push(HostRanks { name: String::new(), ranks });
        hosts.retain(|host| !host.ranks.is_empty());
        hosts
    }
}

/// The data of a message, if it is complete in time and without an error.
#[cold]
fn completed(engine: &Engine, message: OwnedMessage<u8>) -> Option<Vec<u8>> {
    let mut fault = Ok(());
    let over = poll(engine, SILENCE_LIMIT, &mut |guard| {
        message.is_complete(guard).unwrap_or_else(|error| {
            fault = Err(error);
            true
        })
    });
    let is_complete = over && fault.is_ok();
    if is_complete { message.wait(engine.lock()).ok().map(|(data, _)| data) } else { None }
}

/// Looks again and again until it is over, or a time has passed; whether it is over.
#[cold]
fn poll(engine: &Engine, limit: Duration, is_over: &mut dyn FnMut(&mut Guard<'_>) -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if is_over(&mut engine.lock()) {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        thread::sleep(PERIOD);
    }
}
