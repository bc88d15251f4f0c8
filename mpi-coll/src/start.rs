//! Starting collective operations that do not block, and making persistent requests of them.
//!
//! Invariant: all processes of a communicator start such operations, and make such requests, in the same order, so that
//! they give each the same tag, and open the same channels. Requests are started in any order.
//! Not here: what happens to a schedule that was started (`schedule`).
#![allow(unsafe_code)] // a call's buffers are kept in its schedule

use mpi_comm::Comm;
use mpi_core::{Guard, Handle};
use mpi_errors::Result;

use crate::active::{OwnReduction, Schedule};
use crate::agreement::{Agreement, terms};
use crate::call::{AtEnd, CollCall, Prepared};
use crate::call_scope::Calling;
use crate::coll_op::Form;
use crate::record::Record;
use crate::shape::Shape;
use crate::shared::{Heading, Line, Way};
use crate::{Collectives, Reduction};

impl Collectives {
    /// Starts a call that does not block; returns its request. The buffers stay borrowed until it is complete. An error
    /// in what other processes sent is that of the completion. Errors: as [`Collectives::block`], `MPI_ERR_NO_MEM`.
    pub fn start(&self, guard: &mut Guard<'_>, comm: &Comm, call: CollCall<'static, '_>) -> Result<Handle> {
        self.engine.check_lost(guard, comm.collective_context())?;
        self.choose_progress(guard)?;
        let begun = self.begin_schedule(comm, call, Form::Nonblocking)?;
        let way = comm.channels().filter(|_| begun.prepared.shape.plan.shared()).cloned().map(Way::Common);
        let schedule = self.schedule(comm, begun, way)?;
        let contexts = schedule.contexts.map(|context| context & !1);
        let operation = self.engine.collective_request(guard, contexts)?;
        self.schedules.begin(&self.engine, guard, schedule, operation);
        Ok(operation)
    }

    /// Makes a persistent request of a call, inactive. The buffers stay borrowed until the request is freed. Waits for the
    /// other processes, and releases the guard meanwhile. Errors: as [`Collectives::start`].
    pub fn init(&self, guard: &mut Guard<'_>, comm: &Comm, call: CollCall<'static, '_>) -> Result<Handle> {
        self.choose_progress(guard)?;
        // Each process has started what others wait for in this call, because all make it after the same others.
        guard.unlocked(|| {
            self.agree_on_form(comm, call.which, Form::Persistent)?;
            self.open_channels_once(comm)
        })?;
        let begun = self.begin_schedule(comm, call, Form::Persistent);
        // The processes of a communicator make persistent requests in the same order, but may start them in different ones
        // (one MPI_Startall starts its requests in any). The steps of a channel are numbered in the order of the starts,
        // so each such operation needs a channel for itself. Whether it gets one is agreed upon also for operations that
        // use none, and calls that fail: the others do not wait for ever.
        let shape = begun.as_ref().ok().map(|begun| &begun.prepared.shape).filter(|shape| shape.plan.shared());
        let longest = shape.map(Shape::longest_publication);
        let way = guard.unlocked(|| self.open_own_channel(comm, longest))?.map(|channel| Way::Own(Box::new(channel)));
        let schedule = self.schedule(comm, begun?, way)?;
        let contexts = schedule.contexts.map(|context| context & !1);
        let [request, operation] = self.engine.collective_init(guard, contexts)?;
        self.schedules.keep(guard, operation, schedule);
        Ok(request)
    }

    /// Starts the progress thread if it is to make progress.
    fn choose_progress(&self, guard: &mut Guard<'_>) -> Result<()> {
        if !self.settings.progress_thread.get() {
            return Ok(());
        }
        let advice = "Set coll_progress_thread=off, or allow more threads (ulimit -u).";
        self.engine.start_progress_thread(guard, advice)
    }

    /// Prepares a call, and numbers it.
    fn begin_schedule<'a>(&self, comm: &'a Comm, mut call: CollCall<'static, 'a>, form: Form) -> Result<Begun<'a>> {
        let at_end = call.at_end.take();
        let tag = comm.next_operation_tag(form == Form::Persistent);
        Ok(Begun { prepared: self.prepare(comm, call)?, form, tag, at_end })
    }

    /// Records the steps of a call, which go this way if they go through a channel.
    fn schedule(&self, comm: &Comm, begun: Begun<'_>, way: Option<Way>) -> Result<Schedule> {
        let Begun { prepared: Prepared { shape, memory, reduction, counted, matching }, form, tag, at_end } = begun;
        let (heading, mutual) = (Heading::new(shape.which, matching), shape.ends_mutually());
        let line = way.map(|way| Line { way, heading, mutual });
        let longest = line.as_ref().map_or(0, |line| line.channel().longest());
        let plan = shape.plan.with_longest(longest).with_elements(shape.combining().size);
        let shape = Shape { plan, ..shape };
        let line = line.filter(|_| plan.shared());
        let datatype = reduction.map(|what| what.datatype);
        let mut record = Record { steps: Vec::new(), memory, datatype };
        if self.settings_of(comm).check.get() {
            Agreement::of(&shape, terms(&shape, form, reduction, matching)).steps(&mut record)?;
        }
        shape.steps(&mut record)?;
        let Record { steps, memory, .. } = record;
        let own = |what: &Reduction<'_>| OwnReduction {
            op: what.op.clone(),
            datatype: what.datatype.clone(),
            handle: what.handle,
        };
        Ok(Schedule {
            steps,
            memory,
            reduction: reduction.map(own),
            contexts: [comm.collective_context(), comm.local().collective_context()],
            tag,
            at_end,
            line,
            calling: Calling::new(self, comm, (shape.which, form), (shape.bytes, counted), shape.plan),
        })
    }
}

/// A call that is prepared to be recorded.
struct Begun<'a> {
    prepared: Prepared<'static, 'a>,
    form: Form,
    tag: i32,
    at_end: Option<AtEnd>,
}
