//! Non-blocking and persistent collective operations: schedules of steps, moved on by every call that makes progress
//! (MPI-5.0, 6.12 and 6.13).
//!
//! A call records its steps once, and starts them. The engine reports each message that is complete to [`Schedules`],
//! its service, which carries out the steps up to the next boundary that waits.
//! Invariants: a schedule that is being moved on is outside of its slot, so that no other thread touches it; messages
//! that other threads complete meanwhile wait in the slot. The program's functions run with no lock held. The memory of
//! a schedule lives until its last message is complete.
//! Not here: schedules, and carrying out their steps (`active`), the requests of such operations (`mpi_p2p`), the algorithms.

use std::sync::Arc;

use mpi_core::{Guard, Guarded, Handle, ProcessLock};
use mpi_p2p::{Completion, Engine, Service, ServiceMessage};

use crate::active::{Active, Schedule, Slot, Table};
use crate::shared::Line;

/// All schedules of a process.
pub(crate) struct Schedules(Guarded<Table>);

impl Schedules {
    /// None yet.
    pub fn new(lock: &Arc<ProcessLock>) -> Schedules {
        Schedules(Guarded::new(lock, Table::default()))
    }

    /// Keeps the schedule of a persistent request, whose operations have this request.
    pub fn keep(&self, guard: &mut Guard<'_>, operation: Handle, schedule: Schedule) {
        let active = Some(Active::kept(schedule));
        self.0.get_mut(guard).slots.insert(operation, Slot { active, ..Slot::default() });
    }

    /// Starts a schedule, whose operation has this request.
    pub fn begin(&self, engine: &Engine, guard: &mut Guard<'_>, schedule: Schedule, operation: Handle) {
        let table = self.0.get_mut(guard);
        if schedule.line.as_ref().is_some_and(Line::is_common) {
            table.join_line(schedule.contexts[0], operation);
        }
        table.slots.insert(operation, Slot { started: true, ..Slot::default() });
        self.begin_active(engine, guard, operation, Box::new(Active::new(schedule, false)));
    }

    #[inline]
    fn begin_active(&self, engine: &Engine, guard: &mut Guard<'_>, operation: Handle, mut active: Box<Active>) {
        active.began = active.schedule.calling.begin(engine);
        let calls_back = active.schedule.calls_back();
        engine.begin_background(guard, calls_back);
        self.move_on(engine, guard, operation, active);
        engine.resume_background(guard);
    }

    /// Carries out the steps that can be, and ends the operation after the last.
    fn move_on(&self, engine: &Engine, guard: &mut Guard<'_>, operation: Handle, mut active: Box<Active>) {
        loop {
            let waits = active.advance(engine, guard, &self.0, operation);
            let slot = self.0.get_mut(guard).slots.entry(operation).or_default();
            if waits && slot.complete.is_empty() && !slot.raised {
                slot.active = Some(active);
                return;
            }
            let complete = std::mem::take(&mut slot.complete);
            slot.raised = false;
            if !waits {
                debug_assert!(complete.is_empty(), "its messages are over");
                return self.finish(engine, guard, operation, active);
            }
            complete.into_iter().for_each(|(message, completion)| active.take(message, completion));
        }
    }

    fn finish(&self, engine: &Engine, guard: &mut Guard<'_>, operation: Handle, mut active: Box<Active>) {
        let schedule = &active.schedule;
        engine.end_background(guard, schedule.calls_back());
        schedule.calling.end(engine, guard, active.began);
        let contexts = schedule.contexts;
        let table = self.0.get_mut(guard);
        let next = schedule.line.as_ref().and_then(|line| {
            let (channel, mutual) = (line.channel(), line.mutual && active.failed.is_none());
            if line.is_common() {
                return table.leave_line(contexts[0], operation, channel, mutual);
            }
            channel.end_operation(mutual);
            None
        });
        let error = active.end();
        if active.persistent {
            let slot = table.slots.entry(operation).or_default();
            (slot.started, slot.active) = (false, Some(active));
            engine.finish_persistent(guard, operation, error);
        } else {
            table.slots.remove(&operation);
            end(active.schedule, guard);
            engine.finish_collective(guard, operation, contexts.map(|context| context & !1), error);
        }
        if let Some(next) = next {
            engine.continue_operation(guard, next);
        }
    }
}

impl Service for Schedules {
    fn message(&self, _engine: &Engine, _guard: &mut Guard<'_>, _message: ServiceMessage<'_>) {}

    fn completed(&self, engine: &Engine, guard: &mut Guard<'_>, request: Handle, completion: Completion) {
        let table = self.0.get_mut(guard);
        let Some(message) = table.messages.remove(&request) else { return };
        let Some(slot) = table.slots.get_mut(&message.operation) else { return };
        let Some(mut active) = slot.active.take() else {
            return slot.complete.push((message, completion));
        };
        active.take(message, completion);
        if active.receives == 0 {
            self.move_on(engine, guard, message.operation, active);
        } else {
            slot.active = Some(active);
        }
    }

    fn raised(&self, engine: &Engine, guard: &mut Guard<'_>, operation: Handle) {
        let slot = self.0.get_mut(guard).slots.get_mut(&operation).filter(|slot| slot.started);
        let Some(slot) = slot else { return };
        match slot.active.take() {
            Some(active) => self.move_on(engine, guard, operation, active),
            None => slot.raised = true,
        }
    }

    fn start_at_once(&self, guard: &mut Guard<'_>, operation: Handle) -> bool {
        let slot = self.0.get_mut(guard).slots.get_mut(&operation);
        slot.and_then(|slot| slot.active.as_mut()).is_some_and(|active| active.carry_out_at_once())
    }

    fn start(&self, engine: &Engine, guard: &mut Guard<'_>, operation: Handle) {
        let Some(slot) = self.0.get_mut(guard).slots.get_mut(&operation) else { return };
        let Some(active) = slot.active.take() else { return };
        slot.started = true;
        self.begin_active(engine, guard, operation, active);
    }

    fn freed(&self, guard: &mut Guard<'_>, operation: Handle) {
        let slot = self.0.get_mut(guard).slots.remove(&operation);
        if let Some(active) = slot.and_then(|slot| slot.active) {
            end(active.schedule, guard);
        }
    }
}

/// Ends a schedule that will not be started again.
fn end(schedule: Schedule, guard: &mut Guard<'_>) {
    if let Some(at_end) = schedule.at_end {
        at_end(guard);
    }
}
