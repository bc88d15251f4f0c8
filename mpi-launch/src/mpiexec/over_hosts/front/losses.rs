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
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
            self.verdict_at.get_or_insert(Instant::now() + VERDICT);
        }
    }

    /// Chooses the cause among the losses. A launcher that was killed is one. A launcher that has lost a host often ends on the others,
    /// first on this machine, so the first loss of another host comes before losses here.
    pub(super) fn judge_losses(&mut self, now: Instant) {
        let all_over = self.hosts.iter().all(Host::is_over);
        if self.verdict_at.is_none_or(|at| now < at && !all_over) {
            return;
        }
        self.verdict_at = None;
        let is_local = |host: u32| local_host::is_local(&self.placement.hosts[host as usize]);
        let order = |loss: &&Failure| match **loss {
            Failure::ManagerLost { how: Ended::Killed(_) } => 0,
            Failure::HostLost { how: HostLoss::Silent { .. }, .. } => 1,
            Failure::HostLost { host, how: HostLoss::Leaving { signal: 0 } } => 1 + u32::from(is_local(host)),
            Failure::HostLost { host, how: HostLoss::Closed } => 1 + 2 * u32::from(is_local(host)),
            Failure::HostLost { .. } => 4,
            _ => 5,
        };
        if let Some(loss) = self.losses.iter().min_by_key(order).copied() {
            // The end of a rank that has found the loss itself is no other cause.
            self.ending.fail_as_cause(loss, self.living, now);
        }
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
