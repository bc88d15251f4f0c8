//! Schedules, and carrying out the steps of one that was started: as many as can be, each time a message of it is complete or a word
//! is raised that it waits for.
//!
//! Invariant: an operation that fails carries out no further step; its messages under way are waited for.
//! Not here: which operations there are, and when they are moved on (`schedule`).
#![allow(unsafe_code)] // messages use the schedule's memory, which outlives them

use std::collections::{HashMap, VecDeque};

use mpi_comm::{Expected, Outcome};
use mpi_core::{Guard, Guarded, Handle};
use mpi_datatype::Datatype;
use mpi_errors::{Error, Result};
use mpi_p2p::{AwaitedWord, Channel, Completion, Engine, Mode};

use crate::Reduction;
use crate::call::AtEnd;
use crate::call_scope::Calling;
use crate::handle_map::HandleMap;
use crate::link::result_of;
use crate::lowered::Lowered;
use crate::memory::Memory;
use crate::missing_buffer::copy_own;
use crate::op::Op;
use crate::record::Step;
use crate::shared::{Line, no_channel, outside, put_into};
use crate::steps::{Side, Span};

/// The reduction of a schedule; it lives on when the program frees its operation and datatype.
pub(crate) struct OwnReduction {
    pub op: Op,
    pub datatype: Datatype,
    pub handle: usize,
}

/// The steps of an operation and their memory.
pub(crate) struct Schedule {
    pub steps: Vec<Step>,
    pub memory: Memory<'static>,
    pub reduction: Option<OwnReduction>,
    /// Contexts of the messages to peers and within the local group.
    pub contexts: [u32; 2],
    pub tag: i32,
    /// Its way through the communicator's channel, if it goes there.
    pub line: Option<Line>,
    pub calling: Calling,
    pub at_end: Option<AtEnd>,
}

impl Schedule {
    /// Whether it calls a function of the program.
    pub fn calls_back(&self) -> bool {
        self.reduction.as_ref().is_some_and(|what| what.op.is_user())
    }

    /// The schedule on addresses, if it can be lowered.
    pub fn lowered(&mut self) -> Option<Lowered> {
        let Schedule { steps, memory, reduction, .. } = self;
        let kernel = match reduction {
            Some(what) => Some((&what.datatype, what.op.on(&what.datatype, what.handle).ok()?.kernel()?)),
            None => None,
        };
        Lowered::new(steps, memory, kernel)
    }

    pub fn datatype(&self) -> Option<&Datatype> {
        self.reduction.as_ref().map(|what| &what.datatype)
    }
}

/// The place of a schedule.
#[derive(Default)]
pub(crate) struct Slot {
    /// `None` while a thread moves it on.
    pub active: Option<Box<Active>>,
    /// Whether it was started, and is not complete.
    pub started: bool,
    /// Messages that were completed meanwhile.
    pub complete: Vec<(Message, Completion)>,
    /// Whether the word that it waits for was raised meanwhile, or its turn in the channel has come.
    pub raised: bool,
}

/// A message of a schedule.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    /// The request of the operation.
    pub operation: Handle,
    /// The data of a receive; `None` for a send.
    pub expected: Option<Expected>,
}

#[derive(Default)]
pub(crate) struct Table {
    /// By the request of the operation: those that were started, and persistent ones.
    pub slots: HandleMap<Slot>,
    /// By the request of the message.
    pub messages: HandleMap<Message>,
    /// Operations that go through the common channel of a communicator, by its context, in the order in which they
    /// began: the first one uses it.
    lines: HashMap<u32, VecDeque<InLine>>,
}

/// An operation that goes through the common channel of a communicator.
struct InLine {
    operation: Handle,
    /// Whether it has ended before its turn in the channel has come: it had no data, or failed.
    over: bool,
}

impl Table {
    /// Whether it is this operation's turn in the channel of its communicator.
    fn is_first_in_line(&self, context: u32, operation: Handle) -> bool {
        self.lines.get(&context).and_then(VecDeque::front).is_some_and(|first| first.operation == operation)
    }

    /// An operation goes through the channel behind those that began before it.
    pub fn join_line(&mut self, context: u32, operation: Handle) {
        self.lines.entry(context).or_default().push_back(InLine { operation, over: false });
    }

    /// An operation is over; the one that uses the channel next, if there is another one now; `mutual` as for
    /// [`Channel::end_operation`]. The operations of a channel end there in their order, as in all other processes: one that
    /// is over before its turn has come ends then, and has neither published nor read.
    pub fn leave_line(&mut self, context: u32, operation: Handle, channel: &Channel, mutual: bool) -> Option<Handle> {
        let line = self.lines.get_mut(&context)?;
        if line.front()?.operation != operation {
            line.iter_mut().filter(|other| other.operation == operation).for_each(|own| own.over = true);
            return None;
        }
        line.pop_front();
        channel.end_operation(mutual);
        while line.pop_front_if(|first| first.over).is_some() {
            channel.end_operation(false);
        }
        let next = line.front().map(|first| first.operation);
        if next.is_none() {
            self.lines.remove(&context);
        }
        next
    }
}

/// A schedule with its state.
pub(crate) struct Active {
    pub schedule: Schedule,
    /// What is carried out instead of its steps, if that can be.
    lowered: Option<Lowered>,
    /// The next step.
    at: usize,
    /// Messages under way.
    pub receives: usize,
    sends: usize,
    outcome: Outcome,
    /// The error that ended the operation early.
    pub failed: Option<Error>,
    /// Whether it is started again and again.
    pub persistent: bool,
    /// Start time in nanoseconds; 0 when no tool needs it.
    pub began: u64,
}

impl Active {
    pub fn new(schedule: Schedule, persistent: bool) -> Active {
        let (outcome, failed) = (Outcome::default(), None);
        Active { schedule, lowered: None, at: 0, receives: 0, sends: 0, outcome, failed, persistent, began: 0 }
    }

    /// The schedule of a persistent request.
    pub fn kept(mut schedule: Schedule) -> Box<Active> {
        let lowered =
            if schedule.line.as_ref().is_some_and(|line| !line.is_common()) { schedule.lowered() } else { None };
        Box::new(Active { lowered, ..Active::new(schedule, true) })
    }

    /// Carries out steps of a lowered schedule; whether it must wait.
    fn advance_lowered(&mut self, engine: &Engine, guard: &mut Guard<'_>, operation: Handle) -> bool {
        let (Some(lowered), Some(line)) = (&self.lowered, &self.schedule.line) else { return false };
        // SAFETY: the schedule's memory lives beside it, and the program leaves its buffers alone while the operation is
        // active.
        match unsafe { lowered.carry_out(&mut self.at, line.channel(), line.heading) } {
            Ok(None) => false,
            Ok(Some(awaited)) => {
                let waits = engine.serve_word(guard, awaited.to_word(), operation);
                self.failed = waits.err();
                self.failed.is_none()
            }
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }

    /// Carries out a lowered schedule that begins, if nothing has to be waited for and no callback is registered; whether it
    /// is over. Otherwise the operation is still to be started, and goes on behind the steps that were carried out.
    #[inline]
    pub fn carry_out_at_once(&mut self) -> bool {
        let (Some(lowered), Some(line)) = (&self.lowered, &self.schedule.line) else { return false };
        if mpi_t::any_callback_registered() {
            return false;
        }
        // SAFETY: as in `advance_lowered`.
        let carried_out = unsafe { lowered.carry_out(&mut self.at, line.channel(), line.heading) };
        // What is wrong with the data of another process is found again: a step that fails has changed nothing.
        let Ok(None) = carried_out else { return false };
        self.at = 0;
        self.schedule.calling.count();
        line.channel().end_operation(line.mutual);
        true
    }

    /// The error of an operation that is over. It may begin again.
    pub fn end(&mut self) -> Option<Error> {
        self.at = 0;
        self.failed.take().or_else(|| std::mem::take(&mut self.outcome).end().err())
    }

    /// A message is complete.
    pub fn take(&mut self, message: Message, completion: Completion) {
        match message.expected {
            Some(_) => self.receives -= 1,
            None => self.sends -= 1,
        }
        self.record(result_of(completion, message.expected));
    }

    /// Records the result of a step. After an error that is not about data no further step is carried out.
    fn record(&mut self, result: Result<()>) {
        if let Err(error) = self.outcome.record_data_error(result) {
            self.fail(error);
        }
    }

    /// Carries out no further step.
    fn fail(&mut self, error: Error) {
        self.failed.get_or_insert(error);
        self.at = self.schedule.steps.len();
    }

    /// Carries out steps up to one that must wait; whether there is one.
    pub fn advance(
        &mut self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        table: &Guarded<Table>,
        operation: Handle,
    ) -> bool {
        if self.lowered.is_some() {
            return self.advance_lowered(engine, guard, operation);
        }
        while let Some(step) = self.schedule.steps.get(self.at).copied() {
            if step.uses_channel() && !self.take_turn(engine, guard, table, operation) {
                return true;
            }
            match step {
                Step::Received if self.receives > 0 => return true,
                Step::Round if self.receives + self.sends > 0 => return true,
                Step::Received | Step::Round => {}
                Step::Send { side, dest, from } => self.send(engine, guard, table, operation, (side, dest, from)),
                Step::Receive { side, source, into } => {
                    self.receive(engine, guard, table, operation, (side, source, into));
                }
                Step::Copy { from, into } => self.copy(engine, guard, from, into),
                Step::Combine { from, into } => self.combine(engine, guard, from, into),
                Step::Check(check) => {
                    if let Err(error) = self.schedule.memory.check(check) {
                        self.fail(error);
                    }
                }
                Step::Widen { from, into } => {
                    let memory = &mut self.schedule.memory;
                    let result = engine.copy_unlocked(guard, into.bytes, || memory.widen(from, into));
                    self.record(result);
                }
                Step::Narrow { from, into } => {
                    let memory = &mut self.schedule.memory;
                    let result = engine.copy_unlocked(guard, from.bytes, || memory.narrow(from, into));
                    self.record(result);
                }
                // Carried out above, with what follows them.
                Step::Reserve { .. } | Step::Put { .. } | Step::Publish => {}
                Step::Fetch { .. } | Step::Fold { .. } | Step::EndTurn => {}
            }
            // A step that fails has moved behind the last.
            self.at = (self.at + 1).min(self.schedule.steps.len());
        }
        self.receives + self.sends > 0
    }

    /// Carries out the steps in the channel that follow, up to one that must wait, for which the operation is then called
    /// again; whether there is none. `self.at` is the last step that was carried out.
    fn take_turn(&mut self, engine: &Engine, guard: &mut Guard<'_>, table: &Guarded<Table>, operation: Handle) -> bool {
        let Some(line) = self.schedule.line.take() else {
            self.record(Err(no_channel()));
            return true;
        };
        let comes = match line.is_common() {
            true => table.get(guard).is_first_in_line(self.schedule.contexts[0], operation),
            false => true,
        };
        let done = comes && self.step_in_channel(engine, guard, &line, operation);
        self.schedule.line = Some(line);
        done
    }

    /// As [`Active::take_turn`], when the channel is this operation's.
    fn step_in_channel(&mut self, engine: &Engine, guard: &mut Guard<'_>, line: &Line, operation: Handle) -> bool {
        let (channel, heading) = (line.channel(), line.heading);
        match self.schedule.steps[self.at] {
            Step::Reserve { bytes } => {
                let mut publication = match channel.reserve(bytes as usize) {
                    Ok(publication) => publication,
                    Err(awaited) => return !self.waits_for(engine, guard, awaited, operation),
                };
                while let Some(Step::Put { at, from }) = self.schedule.steps.get(self.at + 1).copied() {
                    self.at += 1;
                    let data = self.schedule.memory.source(from, self.schedule.datatype());
                    engine.copy_unlocked(guard, from.bytes, || put_into(&mut publication, at, &data));
                }
                self.at += 1;
                publication.publish(heading.word());
            }
            Step::Fetch { source, at, into } | Step::Fold { source, at, into } => {
                let published = match channel.read(source) {
                    Ok(published) => published,
                    Err(awaited) => return !self.waits_for(engine, guard, awaited, operation),
                };
                let data = heading
                    .check(source, &published)
                    .and_then(|()| published.bytes(at as usize, into.bytes as usize).ok_or_else(|| outside(source)));
                let folds = matches!(self.schedule.steps[self.at], Step::Fold { .. });
                let result = data.and_then(|data| match folds {
                    true => self.fold(engine, guard, data, into),
                    false => {
                        let Schedule { memory, reduction, .. } = &mut self.schedule;
                        let mut room = memory.target(into, reduction.as_ref().map(|what| &what.datatype));
                        engine.copy_unlocked(guard, into.bytes, || room.unpack(0, data));
                        Ok(())
                    }
                });
                if let Err(error) = result {
                    // The others end their part by themselves.
                    self.failed.get_or_insert(error);
                    self.at = self.schedule.steps.len();
                }
            }
            _ => channel.end_turn(),
        }
        true
    }

    /// Waits for a word of another process; false if one has ended, so that the operation fails.
    fn waits_for(
        &mut self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        awaited: AwaitedWord<'_>,
        operation: Handle,
    ) -> bool {
        let waits = engine.serve_word(guard, awaited.to_word(), operation).map_err(|error| self.fail(error));
        waits.is_ok()
    }

    fn fold(&mut self, engine: &Engine, guard: &mut Guard<'_>, data: &[u8], into: Span) -> Result<()> {
        let Schedule { memory, reduction: Some(what), .. } = &mut self.schedule else { return Ok(()) };
        let reduction = Reduction { op: &what.op, datatype: &what.datatype, handle: what.handle, count: 0 };
        let direct = reduction.is_direct();
        let mut fold = || {
            let reducer = what.op.on(&what.datatype, what.handle)?;
            memory.fold(data, into, &what.datatype, &reducer, direct)
        };
        match what.op.builtin() {
            Some(_) => engine.copy_unlocked(guard, into.bytes, fold),
            None => engine.unlocked(guard, &mut fold),
        }
    }

    fn context(&self, side: Side) -> u32 {
        self.schedule.contexts[usize::from(side == Side::Local)]
    }

    fn send(
        &mut self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        table: &Guarded<Table>,
        operation: Handle,
        (side, dest, from): (Side, u32, Span),
    ) {
        let (context, dest, tag) = (self.context(side), dest as i32, self.schedule.tag);
        let data = self.schedule.memory.source(from, self.schedule.datatype());
        if engine.send_at_once(guard, context, dest, tag, &data) {
            return;
        }
        // SAFETY: the memory lives until this message is complete, and no step writes it before the next boundary.
        let data = unsafe { data.detach() };
        match engine.isend(guard, context, dest, tag, data, Mode::Standard) {
            Ok(request) => self.add(engine, guard, table, request, Message { operation, expected: None }),
            Err(error) => self.record(Err(error)),
        }
    }

    fn receive(
        &mut self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        table: &Guarded<Table>,
        operation: Handle,
        (side, source, into): (Side, u32, Span),
    ) {
        let context = self.context(side);
        let schedule = &mut self.schedule;
        let datatype = schedule.reduction.as_ref().map(|what| &what.datatype);
        // SAFETY: as in `send`.
        let room = unsafe { schedule.memory.target(into, datatype).detach() };
        let expected = Some(Expected { source, bytes: into.bytes });
        match engine.irecv(guard, context, source as i32, schedule.tag, room) {
            Ok(request) => self.add(engine, guard, table, request, Message { operation, expected }),
            Err(error) => self.record(Err(error)),
        }
    }

    /// A message was started.
    fn add(
        &mut self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        table: &Guarded<Table>,
        request: Handle,
        message: Message,
    ) {
        match engine.completion_or_schedule(guard, request) {
            Some(completion) => self.record(result_of(completion, message.expected)),
            None => {
                table.get_mut(guard).messages.insert(request, message);
                match message.expected {
                    Some(_) => self.receives += 1,
                    None => self.sends += 1,
                }
            }
        }
    }

    fn copy(&mut self, engine: &Engine, guard: &mut Guard<'_>, from: Span, into: Span) {
        let Schedule { memory, reduction, .. } = &mut self.schedule;
        let (from, into) = memory.both(from, into, reduction.as_ref().map(|what| &what.datatype));
        let (bytes, outcome) = (from.bytes(), &mut self.outcome);
        let result = engine.copy_unlocked(guard, bytes, || copy_own(into, &from, outcome));
        self.record(result);
    }

    fn combine(&mut self, engine: &Engine, guard: &mut Guard<'_>, from: Span, into: Span) {
        let Schedule { memory, reduction: Some(what), .. } = &mut self.schedule else { return };
        let mut combine = || {
            let reducer = what.op.on(&what.datatype, what.handle)?;
            memory.combine(from, into, &what.datatype, &reducer)
        };
        let result = match what.op.builtin() {
            Some(_) => engine.copy_unlocked(guard, from.bytes, combine),
            None => engine.unlocked(guard, &mut combine),
        };
        self.record(result);
    }
}
