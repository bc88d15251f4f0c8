//! What hosts report: the ranks' barriers, aborts and ends, and their output.
//!
//! Invariant: a host's word counts for its own ranks only. Not here: output as lines (`streams`).

use std::time::Instant;

use mpi_fabric::{AbortCause, Life};

use super::super::super::activity;
use super::super::super::os::Ended;
use super::super::super::outcome::{Failure, HostLoss, signal_name};
use super::super::super::refusal::Refusal;
use super::super::frame::Frame;
use super::Front;

impl Front<'_> {
    pub(super) fn handle(&mut self, host: usize, frame: Frame) -> Result<(), Refusal> {
        let of_host = |rank: u32| self.is_of(host, rank);
        let name = || self.hosts[host].name.clone();
        match frame {
            Frame::Ready { warnings, ahead_ns } => {
                warnings.iter().for_each(|warning| self.reporter.warn(&format!("host {}: {warning}", name())));
                self.hosts[host].ahead_ns = Some(ahead_ns);
                self.hosts[host].ready = true;
            }
            Frame::Refused { code, sentence } | Frame::NotStarted { code, sentence } => {
                return Err(Refusal::OnHost { host: name(), code, sentence });
            }
            Frame::Spawn { rank, ours, lines } if of_host(rank) => self.spawning.request(rank, ours, &lines.0),
            Frame::Started { rank, pid, core } if of_host(rank) => {
                self.spawning.started += 1;
                if self.spawning.started == self.plan.ranks
                    && let Some(parent) = &mut self.parent
                {
                    parent.report_started(self.plan);
                }
                self.reporter.verbose(|| {
                    let core = if core == 0 { String::new() } else { format!(" on core {}", core - 1) };
                    let program = self.plan.program_of(rank).to_string_lossy();
                    format!("rank {rank} is process {pid} ({}) on host {}{core}", program.escape_debug(), name())
                });
            }
            Frame::Output { rank, error, bytes } if of_host(rank) => {
                let stream = self.streams_of(rank)[usize::from(error)];
                self.hosts[host].taken += bytes.0.len() as u32;
                if self.streams.is_open(stream) {
                    self.streams.take(stream, &bytes.0);
                } else {
                    self.hosts[host].send(&Frame::CloseOutput { rank, error });
                }
            }
            Frame::OutputEnd { rank, error } if of_host(rank) => {
                self.streams.end(self.streams_of(rank)[usize::from(error)]);
            }
            Frame::InputTaken { bytes } => {
                self.hosts[host].fed = self.hosts[host].fed.saturating_sub(bytes as usize);
            }
            Frame::Fence { values } => {
                self.hosts[host].fence = Some(values);
                self.complete_fence();
            }
            Frame::Missed { rank } if of_host(rank) => self.ending.leave(rank, Instant::now()),
            Frame::Abort { rank, code, error } if rank < self.plan.ranks => {
                let cause = if error { AbortCause::Error } else { AbortCause::Call };
                self.job.request_abort(rank, code, cause);
                if let Some((rank, code, cause)) = self.job.abort() {
                    self.ending.fail(Failure::Aborted { rank, code, cause }, self.living, Instant::now());
                }
            }
            Frame::PartAbort { rank, code, error, members } if of_host(rank) => {
                let cause = if error { AbortCause::Error } else { AbortCause::Call };
                if self.job.abort().is_none() && !self.job.is_lost(rank) {
                    self.job.request_abort_of(&members, rank, code, cause);
                    self.abort_part(rank, code, cause);
                }
            }
            Frame::Page { rank, page, bytes } if of_host(rank) && page < self.job.pages_of_rank() => {
                self.job.set_block_page(rank, page, &bytes.0);
            }
            Frame::Recording { rank, timeline, at, bytes } if of_host(rank) => {
                if let Err(error) = self.recordings.store(rank, timeline, at, &bytes.0) {
                    self.reporter.warn(&format!("the recorded calls of rank {rank} are not complete: {error}"));
                }
            }
            Frame::Ended { rank, killed, code, inside, memory } if of_host(rank) => {
                let how = if killed { Ended::Killed(code) } else { Ended::Exited(code) };
                self.rank_ended(rank, how, inside, memory);
            }
            Frame::Activity { rank, state, ticks } if of_host(rank) => {
                self.ranks[rank as usize].state = Some((activity::state_of(&state), ticks as f64 / 100.0));
            }
            Frame::Waits { number, rank, facts } if of_host(rank) => self.hangs.take(number, rank, facts),
            Frame::Warning { sentence } => self.reporter.warn(&format!("host {}: {sentence}", name())),
            // After a loss they are ended.
            Frame::Doing { text } if self.losses.seen.is_empty() => self.hosts[host].doing = text,
            Frame::WithoutProgress { idle_ms } => self.hangs.take_idle(host, idle_ms),
            // That of an earlier report is late.
            Frame::ReportEnd { number } => self.hosts[host].reporting &= number != self.hangs.number,
            Frame::Idle {} => {
                self.hosts[host].idle = true;
                // Ranks whose ends were not reported cannot be waited for.
                for rank in self.hosts[host].ranks.clone() {
                    if std::mem::take(&mut self.ranks[rank as usize].living) {
                        self.living -= 1;
                    }
                }
            }
            Frame::Leaving { signal } if self.started => {
                self.record_loss(Failure::HostLost { host: host as u32, how: HostLoss::Leaving { signal } });
            }
            Frame::Leaving { signal: 0 } => return Err(self.unreached("has ended on a host")),
            Frame::Leaving { signal } => return Err(self.unreached(&format!("has sent {}", signal_name(signal)))),
            // Of another host's rank, or out of place.
            _ => {}
        }
        Ok(())
    }

    /// Whether a rank is one of a host's, whose word counts for no others.
    pub(super) fn is_of(&self, host: usize, rank: u32) -> bool {
        self.placement.of_rank.get(rank as usize) == Some(&(host as u32))
    }

    /// Ends the barrier of PMI when the ranks of all hosts are in it.
    pub(super) fn complete_fence(&mut self) {
        if self.hosts.iter().all(|host| host.fence.is_some()) {
            let values = self.hosts.iter_mut().flat_map(|host| host.fence.take().unwrap_or_default()).collect();
            self.send_all(&Frame::FenceEnd { values });
        }
        self.find_missed();
    }

    /// A rank that ended without being in the barrier that another host waits in is missing there for ever.
    pub(super) fn find_missed(&mut self) {
        if self.hosts.iter().any(|host| host.fence.is_some()) {
            let absent = self.hosts.iter().filter(|host| host.fence.is_none()).flat_map(|host| &host.ranks);
            if let Some(rank) = absent.copied().find(|rank| !self.ranks[*rank as usize].living) {
                self.ending.leave(rank, Instant::now());
            }
        }
    }

    pub(super) fn rank_ended(&mut self, rank: u32, how: Ended, inside: bool, memory: bool) {
        if !std::mem::take(&mut self.ranks[rank as usize].living) {
            return;
        }
        self.living -= 1;
        let now = Instant::now();
        self.reporter.verbose(|| match how {
            Ended::Exited(code) => format!("rank {rank} has ended with code {code}"),
            Ended::Killed(signal) => format!("rank {rank} was ended by {}", signal_name(signal)),
        });
        if self.job.abort().is_none() && self.job.is_to_end(rank) {
            self.job.report_lost(rank);
            return self.send_all(&Frame::Lost { rank });
        }
        let failure = match (self.job.abort(), how) {
            (Some((rank, code, cause)), _) => Failure::Aborted { rank, code, cause },
            (None, Ended::Exited(0)) if inside || self.job.life(rank) == Life::Initialised => {
                return self.ending.leave(rank, now);
            }
            (None, Ended::Exited(0)) => return self.find_missed(),
            (None, Ended::Killed(signal)) if self.forwarded == Some(signal) => Failure::Signalled { signal },
            (None, how) => Failure::Ended { rank, how, memory },
        };
        self.report_unconnected(rank);
        self.ending.fail(failure, self.living, now);
    }

    /// Ends the part of the job that a rank has aborted, and reports that; the others continue.
    pub(super) fn abort_part(&mut self, rank: u32, code: i32, cause: AbortCause) {
        let part: Vec<u32> = self.part();
        let is_ended = |member: &&u32| self.ranks[**member as usize].living && self.job.abort_by(**member).is_none();
        let living = part.iter().filter(is_ended).count() as u32;
        let failure = Failure::PartAborted { rank, code, cause, ranks: 1 + living };
        self.ending.abort_part(failure.exit_code(), Instant::now());
        // A rank that has requested an abort itself ends by itself, when it has written its output.
        let ranks = part.into_iter().filter(|member| self.job.abort_by(*member).is_none()).collect();
        self.send_all(&Frame::SignalPart { signal: libc::SIGTERM, ranks });
        let sentence = failure.sentence(self.plan, self.job, false);
        self.reporter.fail(failure.exit_code(), &sentence, |object| failure.facts(self.plan, self.job, object));
    }

    /// The ranks that are to end because a part of the job was aborted.
    pub(super) fn part(&self) -> Vec<u32> {
        (0..self.plan.ranks).filter(|rank| self.job.is_to_end(*rank)).collect()
    }
}
