//! Hosts and launchers that are lost, and which of them is the cause.
//!
//! Invariant: what a launcher ends because it has lost a host is not reported as the cause.

use std::time::Instant;

use super::super::super::local_host;
use super::super::super::os::Ended;
use super::super::super::outcome::{Failure, HostLoss, signal_name};
use super::super::super::refusal::Refusal;
use super::super::frame::Frame;
use super::super::hosts::Host;
use super::super::ping_interval;
use super::{Front, VERDICT};

/// What was lost, in the order in which that was seen, and which is the cause.
#[derive(Default)]
pub(super) struct Losses {
    pub seen: Vec<Failure>,
    /// When the cause is chosen.
    pub verdict_at: Option<Instant>,
    /// The cause, and losses that nothing distinguishes from it.
    causes: Vec<Failure>,
}

impl Losses {
    /// Records a loss. What a host has reported on itself explains the end of its connection.
    fn record(&mut self, loss: Failure, now: Instant) {
        let closed = |host| Failure::HostLost { host, how: HostLoss::Closed };
        let explained = host_of(&loss)
            .is_some_and(|host| loss == closed(host) && self.seen.iter().any(|earlier| host_of(earlier) == Some(host)));
        if !explained && !self.seen.contains(&loss) {
            self.seen.push(loss);
            self.verdict_at.get_or_insert(now + VERDICT);
        }
    }

    /// Chooses the cause. A launcher that was killed is one. A launcher that has lost a host often ends on the others, first on this
    /// machine, so the first loss of another host comes before losses here. It may kill the processes of `mpiexec` on other hosts: their
    /// connections are closed then like those of a lost host, perhaps before these.
    fn judge(&mut self, is_local: impl Fn(u32) -> bool) -> Option<Failure> {
        self.verdict_at = None;
        let order = |loss: &Failure| match *loss {
            Failure::ManagerLost { how: Ended::Killed(_) } => 0,
            Failure::HostLost { how: HostLoss::Silent { .. }, .. } => 1,
            Failure::HostLost { host, how: HostLoss::Leaving { signal: 0 } } => 1 + u32::from(is_local(host)),
            Failure::HostLost { host, how: HostLoss::Closed } => 1 + 2 * u32::from(is_local(host)),
            Failure::HostLost { .. } => 4,
            _ => 5,
        };
        let first = self.seen.iter().map(order).min()?;
        if self.causes.is_empty() {
            let same = self.seen.iter().filter(|loss| order(loss) == first).copied();
            // Of hosts whose end was requested none is more of a cause than the others.
            self.causes = same.take(if first < 4 { usize::MAX } else { 1 }).collect();
        }
        self.seen.iter().find(|loss| order(loss) == first).copied()
    }

    /// The losses that nothing distinguishes from a cause.
    pub(super) fn with(&self, cause: Failure) -> &[Failure] {
        match self.causes.split_first() {
            Some((first, others)) if *first == cause => others,
            _ => &[],
        }
    }
}

fn host_of(loss: &Failure) -> Option<u32> {
    match *loss {
        Failure::HostLost { host, .. } => Some(host),
        _ => None,
    }
}

impl Front<'_> {
    pub(super) fn look_at_launcher(&mut self) -> Result<(), Refusal> {
        let Some(how) = self.launcher.ended() else { return Ok(()) };
        if !self.started {
            let how = match how {
                Ended::Exited(code) => format!("has ended with code {code}"),
                Ended::Killed(signal) => format!("was ended by {}", signal_name(signal)),
            };
            return Err(self.unreached(&how));
        }
        if !self.hosts.iter().all(Host::is_over) {
            self.record_loss(Failure::ManagerLost { how });
        }
        Ok(())
    }

    pub(super) fn record_loss(&mut self, loss: Failure) {
        self.losses.record(loss, Instant::now());
    }

    /// Chooses the cause among the losses, once those that belong together have been seen.
    pub(super) fn judge_losses(&mut self, now: Instant) {
        let all_over = self.hosts.iter().all(Host::is_over);
        if self.losses.verdict_at.is_none_or(|at| now < at && !all_over) {
            return;
        }
        let loss = self.losses.judge(|host| local_host::is_local(&self.placement.hosts[host as usize]));
        if let Some(loss) = loss {
            // The end of a rank that has found the loss itself is no other cause.
            self.ending.fail_as_cause(loss, self.living, now);
        }
    }

    /// The ranks of a host that is lost, and of those that were lost with it.
    pub(super) fn ranks_lost(&self, loss: Failure) -> Vec<u32> {
        let losses = std::iter::once(&loss).chain(self.losses.with(loss));
        let mut ranks: Vec<u32> = losses.filter_map(host_of).flat_map(|host| self.placement.ranks_of(host)).collect();
        ranks.sort_unstable();
        ranks
    }

    pub(super) fn look_for_silence(&mut self, now: Instant) {
        let interval = ping_interval(self.limit);
        for host in 0..self.hosts.len() {
            let Some(link) = &mut self.hosts[host].link else { continue };
            if link.is_silent(now, self.limit) {
                self.lose(host, HostLoss::Silent { seconds: self.limit.as_secs() });
            } else if link.own_silence(now) > interval {
                link.send(&Frame::Ping {});
            }
        }
    }

    /// A host does not take part any more.
    pub(super) fn lose(&mut self, host: usize, how: HostLoss) {
        self.hosts[host].link = None;
        if self.hosts[host].is_over() {
            return;
        }
        self.hosts[host].lost = true;
        for rank in self.hosts[host].ranks.clone() {
            self.streams_of(rank).into_iter().for_each(|stream| self.streams.end(stream));
            if std::mem::take(&mut self.ranks[rank as usize].living) {
                self.living -= 1;
            }
        }
        self.record_loss(Failure::HostLost { host: host as u32, how });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(host: u32, how: HostLoss) -> Failure {
        Failure::HostLost { host, how }
    }

    /// The cause of losses, and those that are named with it; host 0 is this machine.
    fn judged(losses: &[Failure]) -> (Failure, Vec<Failure>) {
        let mut all = Losses::default();
        losses.iter().for_each(|loss| all.record(*loss, Instant::now()));
        let cause = all.judge(|host| host == 0).expect("a loss");
        (cause, all.with(cause).to_vec())
    }

    #[test]
    fn of_hosts_whose_connections_were_closed_together_each_is_named() {
        let [two, three] = [1, 2].map(|host| lost(host, HostLoss::Closed));
        assert_eq!(judged(&[three]), (three, vec![]));
        assert_eq!(judged(&[two, three]), (two, vec![three]));
        assert_eq!(judged(&[lost(0, HostLoss::Closed), three]), (three, vec![]));
        let silent = lost(1, HostLoss::Silent { seconds: 30 });
        assert_eq!(judged(&[silent, three]), (silent, vec![three]));
    }

    #[test]
    fn a_host_whose_end_was_requested_is_no_cause_when_its_connection_is_closed_too() {
        let (ended, three) = (lost(1, HostLoss::Leaving { signal: libc::SIGTERM }), lost(2, HostLoss::Closed));
        assert_eq!(judged(&[ended, lost(1, HostLoss::Closed), three]), (three, vec![]));
        assert_eq!(judged(&[three, ended, lost(1, HostLoss::Closed)]), (three, vec![]));
        assert_eq!(judged(&[ended, lost(1, HostLoss::Closed)]), (ended, vec![]));
        let other = lost(2, HostLoss::Leaving { signal: libc::SIGTERM });
        assert_eq!(judged(&[ended, other]), (ended, vec![]));
    }

    #[test]
    fn a_launcher_that_was_killed_is_the_cause() {
        let manager = Failure::ManagerLost { how: Ended::Killed(libc::SIGKILL) };
        assert_eq!(judged(&[lost(1, HostLoss::Closed), manager]), (manager, vec![]));
        let ended = Failure::ManagerLost { how: Ended::Exited(1) };
        assert_eq!(judged(&[ended, lost(1, HostLoss::Closed)]), (lost(1, HostLoss::Closed), vec![]));
    }
}
