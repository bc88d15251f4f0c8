//! Starting collective operations that do not block, and making persistent requests of them.
//!
//! Invariant: all processes of a communicator start such operations, and make such requests, in the same order, so that
//! they give each the same tag.
//! Not here: what happens to a schedule that was started (`schedule`).
#![allow(unsafe_code)] // a call's buffers are kept in its schedule

use mpi_comm::Comm;
use mpi_core::{Guard, Handle};
use mpi_errors::Result;

use crate::agreement::{Agreement, terms};
use crate::call::{CollCall, Prepared};
use crate::call_scope::Calling;
use crate::coll_op::Form;
use crate::record::Record;
use crate::schedule::{OwnReduction, Schedule};
use crate::shape::Shape;
use crate::shared::{Heading, Line, is_mutual};
use crate::{Collectives, Reduction};

impl Collectives {
    /// Starts a call that does not block; returns its request. The buffers stay borrowed until it is complete. An error
    /// in what other processes sent is that of the completion. Errors: as [`Collectives::block`], `MPI_ERR_NO_MEM`.
    pub fn start(&self, guard: &mut Guard<'_>, comm: &Comm, call: CollCall<'static, '_>) -> Result<Handle> {
        self.choose_progress(guard)?;
        let schedule = self.schedule(comm, call, Form::Nonblocking)?;
        let contexts = schedule.contexts.map(|context| context & !1);
        let operation = self.engine.collective_request(guard, contexts)?;
        self.schedules.begin(&self.engine, guard, schedule, operation, None);
        Ok(operation)
    }

    /// Makes a persistent request of a call, inactive. The buffers stay borrowed until the request is freed. Errors: as
    /// [`Collectives::start`].
    pub fn init(&self, guard: &mut Guard<'_>, comm: &Comm, call: CollCall<'static, '_>) -> Result<Handle> {
        self.choose_progress(guard)?;
        let schedule = self.schedule(comm, call, Form::Persistent)?;
        let contexts = schedule.contexts.map(|context| context & !1);
        let request = self.engine.collective_init(guard, contexts)?;
        self.schedules.keep(guard, request, schedule);
        Ok(request)
    }

    /// Starts the progress thread if it is to make progress.
    fn choose_progress(&self, guard: &mut Guard<'_>) -> Result<()> {
        if self.settings.progress_thread.get() { self.engine.start_progress_thread(guard) } else { Ok(()) }
    }

    /// Records the steps of a call.
    fn schedule(&self, comm: &Comm, mut call: CollCall<'static, '_>, form: Form) -> Result<Box<Schedule>> {
        let at_end = call.at_end.take();
        let tag = comm.next_operation_tag(form == Form::Persistent);
        let Prepared { shape, memory, reduction, counted, matching } = self.prepare(comm, call)?;
        let channels = comm.channels().filter(|_| form == Form::Nonblocking && shape.plan.shared());
        // The processes of a communicator make persistent requests in the same order, but may start them in different ones
        // (one MPI_Startall starts its requests in any). The steps of a channel are numbered in the order of the starts, so
        // a process would read another operation's publication.
        let longest = channels.map_or(0, |channels| channels.nonblocking.longest());
        let plan = shape.plan.with_longest(longest).with_elements(shape.combining().size);
        let shape = Shape { plan, ..shape };
        let line = channels.filter(|_| plan.shared()).map(|channels| Line {
            channels: channels.clone(),
            heading: Heading::new(shape.which, matching),
            mutual: is_mutual(shape.which, shape.team.size),
        });
        let datatype = reduction.map(|what| what.datatype);
        let mut record = Record { steps: Vec::new(), memory, datatype };
        if self.settings_of(comm).check.get() {
            Agreement::of(&shape, terms(&shape, reduction, matching)).steps(&mut record)?;
        }
        shape.steps(&mut record)?;
        let Record { steps, memory, .. } = record;
        let own = |what: &Reduction<'_>| OwnReduction {
            op: what.op.clone(),
            datatype: what.datatype.clone(),
            handle: what.handle,
        };
        Ok(Box::new(Schedule {
            steps,
            memory,
            reduction: reduction.map(own),
            contexts: [comm.collective_context(), comm.local().collective_context()],
            tag,
            at_end,
            line,
            calling: Calling::new(self, comm, (shape.which, form), (shape.bytes, counted), shape.plan),
        }))
    }
}
