//! Requests of operations that were complete when they were started: short sends, and receives whose message was there.
//!
//! They have a table of their own, whose entries are small and need no drop.
//! Not here: other requests (`request`), waits and tests (`complete`), cancels (`cancel`).

use mpi_core::{Handle, Kind, Status};
use mpi_errors::Result;

use crate::core::Core;
use crate::request::{AtOnce, Completion, too_many_requests};

impl Core {
    /// A request for a send that is over already.
    #[inline]
    pub fn sent_request(&mut self, context: u32, dest: i32, bytes: u64) -> Result<Handle> {
        self.at_once.insert(AtOnce::sent(context, dest, bytes)).map_err(|_| too_many_requests())
    }

    /// A request for a receive that is over already, without an error.
    #[inline]
    pub fn received_at_once(&mut self, context: u32, status: Status) -> Result<Handle> {
        let operation = AtOnce::received(context, status.source, status.tag, status.bytes());
        self.at_once.insert(operation).map_err(|_| too_many_requests())
    }

    /// The completion of an operation that was complete when it was started; the request is removed then. `None` for
    /// every other request, and while a cancel is under way.
    #[inline(always)]
    pub fn take_at_once(&mut self, handle: Handle) -> Option<Completion> {
        if !handle.is(Kind::AtOnce) || !self.cancel_requests.is_empty() {
            return None;
        }
        let operation = self.at_once.remove_copy(handle)?;
        if operation.has_handle() {
            self.end_request_handles(handle);
        }
        Some(Completion::of(operation.status(), None, operation.context))
    }

    /// As [`Core::take_if_done`], for an operation that was complete when it was started, while the cancel of some send is
    /// under way.
    #[cold]
    pub fn take_cancelled(&mut self, handle: Handle) -> Option<Option<Completion>> {
        let operation = *self.at_once.get(handle)?;
        let Some(status) = self.answer(handle, operation.status(), true) else { return Some(None) };
        self.at_once.remove(handle);
        if operation.has_handle() {
            self.end_request_handles(handle);
        }
        Some(Some(Completion::of(status, None, operation.context)))
    }
}
