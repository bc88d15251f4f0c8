//! Raising the events of requests: transfers that begin and end, and operations that complete.
//!
//! Invariant: raised under the process lock; the library's own messages raise nothing.
//! Not here: the events themselves (`events`).

use mpi_core::Handle;

use crate::context::user_side;
use crate::core::Core;
use crate::events::of;
use crate::request::Work;

impl Core {
    /// A request is about to be marked complete.
    #[cold]
    #[inline(never)]
    pub fn raise_completed(&self, handle: Handle) {
        let Some(request) = self.requests.get(handle) else { return };
        match &request.work {
            // The parts of a pair raise their own events.
            Work::Done | Work::Pair { .. } => {}
            work if work.is_send() => {
                let found = self.contexts.get(request.context).filter(|_| user_side(request.context));
                let Some(context) = found else { return };
                self.events.sent.emit_for(|| (of(context.spec.instruments.block), (handle.0 as u64,)));
            }
            _ => self.raise_received(handle),
        }
    }

    /// A receive is complete; its status is set.
    #[cold]
    #[inline(never)]
    pub fn raise_received(&self, handle: Handle) {
        let Some(request) = self.requests.get(handle) else { return };
        let Some(context) = self.contexts.get(request.context).filter(|_| user_side(request.context)) else { return };
        let (key, status) = (of(context.spec.instruments.block), request.status);
        self.events.received.emit_for(|| (key, (status.source, status.tag, status.bytes())));
    }

    /// The transfer into a receive begins (`ended`: has ended).
    #[cold]
    #[inline(never)]
    pub fn raise_rendezvous(&self, handle: Handle, (source, tag, bytes): (i32, i32, u64), ended: bool) {
        let Some(request) = self.requests.get(handle) else { return };
        let Some(context) = self.contexts.get(request.context).filter(|_| user_side(request.context)) else { return };
        let point = if ended { &self.events.rendezvous_end } else { &self.events.rendezvous_begin };
        point.emit_for(|| (of(context.spec.instruments.block), (source, tag, bytes)));
    }

    /// An offered message has been moved: its receive is complete.
    pub fn finish_rendezvous(&mut self, handle: Handle) {
        if mpi_t::any_callback_registered()
            && let Some(request) = self.requests.get(handle)
        {
            let status = request.status;
            self.raise_rendezvous(handle, (status.source, status.tag, status.bytes()), true);
        }
        self.finish(handle);
    }
}
