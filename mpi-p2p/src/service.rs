//! Services: the chapters above the engine that handle messages of their own as these arrive (one-sided communication).
//!
//! A message for a service does not go through matching. `arrival` queues it, and the next call that makes progress
//! passes it to the service of its context, whatever that call waits for. The engine calls up only through [`Service`].
//! Invariants: messages of one sender reach a service in the order in which they were sent; no service is called while
//! a reference into the engine's state exists. Messages for a context whose service is not registered yet are kept.
//! A long message takes at most [`LONGEST_FOR_SERVICE`] bytes of memory, whatever its sender offers.
//! Not here: what services do with messages (`mpi-win`), messages of the program and of collectives (`matching`).
#![allow(unsafe_code)] // a long message is received into memory that is kept here

use std::sync::Arc;

use mpi_core::abi::MPI_ERR_PROC_ABORTED;
use mpi_core::{Guard, Handle};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_fabric::{Payload, RecordHead};

use crate::awaited::Awaited;
use crate::chains::Key;
use crate::collective_request::SCHEDULES;
use crate::core::Core;
use crate::delivery::message_key;
use crate::engine::{Engine, Service, ServiceMessage};
use crate::message::Matched;
use crate::request::{Data, Mode, Receiver, Request, SERVED, Work};
use crate::service_queue::{Arrival, Event, ServiceQueue, What};
use crate::wire::Offer;

/// Longest message for a service, in bytes. The longest one that is sent is a batch of one-sided operations of 80 KiB (`mpi-win`), so a
/// longer one is no message of this library: the memory for it would be whatever its sender claims.
pub const LONGEST_FOR_SERVICE: u64 = 128 << 10;

impl Engine {
    /// A module above the engine that handles the messages of one context itself (one-sided communication).
    pub fn add_service(&self, guard: &mut Guard<'_>, context: u32, service: Arc<dyn Service>) {
        self.services.get_mut(guard).insert(context, service);
        let services = &mut self.state.get_mut(guard).core.services;
        services.queue.extend(services.early.remove(&context).unwrap_or_default());
    }

    /// The module above the engine that carries out collective operations; once.
    pub fn serve_collectives(&self, service: Arc<dyn Service>) {
        // A second one is refused: the first has operations under way.
        let _ = self.schedules.set(service);
    }

    /// Removes the service of a context, with the messages that it has not been called for.
    pub fn remove_service(&self, guard: &mut Guard<'_>, context: u32) {
        let service = self.services.get_mut(guard).remove(&context);
        let services = &mut self.state.get_mut(guard).core.services;
        services.early.remove(&context);
        services.queue.retain(|event| event.context != context);
        drop(service);
    }

    /// Starts a send to the service of a context in another process, or in this one. As [`Engine::isend`] else. The data are
    /// at most [`LONGEST_FOR_SERVICE`] bytes; the other process refuses longer ones.
    pub fn send_to_service(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        dest: i32,
        tag: i32,
        data: SendBuf<'static>,
    ) -> Result<Handle> {
        let data = Data::User(data);
        self.state.get_mut(guard).isend_slowly(context, dest, tag, data, Mode::Standard, Receiver::Service)
    }

    /// Has the context's service called when a request is complete, instead of a wait or test for it.
    pub fn serve_completion(&self, guard: &mut Guard<'_>, context: u32, request: Handle) {
        let core = &mut self.state.get_mut(guard).core;
        match core.requests.get_mut(request).filter(|request| !request.is_done()) {
            Some(under_way) => under_way.marks |= SERVED,
            None => core.services.queue.push_back(Event { context, what: What::Completed(request) }),
        }
    }

    /// Waits until `ready`, called with the process's lock held after each change, returns true.
    /// # Errors
    /// `MPI_ERR_PROC_ABORTED` while it returns false and a process of the context has ended.
    pub fn wait_until(&self, guard: Guard<'_>, context: u32, mut ready: impl FnMut() -> bool) -> Result<()> {
        self.block(guard, Awaited::Change, |state| match ready() {
            true => Some(Ok(())),
            false => state.check_lost(context).err().map(Err),
        })?
    }

    /// Has [`Engine::wait_until`] call `ready` again in all threads that wait in it, after a change that no message made.
    pub fn changed(&self, guard: &mut Guard<'_>) {
        self.state.get_mut(guard).core.wake_on_any_change();
    }

    /// Calls the services for the messages and completions that are queued.
    #[cold]
    #[inline(never)]
    pub(crate) fn call_services(&self, guard: &mut Guard<'_>) {
        self.state.get_mut(guard).core.services.calls += 1;
        while let Some(Event { context, what }) = self.state.get_mut(guard).core.services.queue.pop_front() {
            if let What::Lost(number) = what {
                self.report_lost(guard, number);
                continue;
            }
            if context == SCHEDULES
                && let Some(service) = self.schedules.get()
            {
                self.call_service(guard, service.as_ref(), what);
                continue;
            }
            let service = self.services.get(guard).get(&context).cloned();
            let core = &mut self.state.get_mut(guard).core;
            let Some(service) = service else {
                match what {
                    What::Message(..) if core.contexts.get(context).is_some_and(|context| !context.freed) => {
                        core.services.early.entry(context).or_default().push(Event { context, what });
                    }
                    What::Message(..) => {}
                    What::Completed(request) => drop(core.take_if_done(request)),
                    What::Raised(_) | What::Lost(_) => {}
                }
                continue;
            };
            self.call_service(guard, service.as_ref(), what);
        }
        let core = &mut self.state.get_mut(guard).core;
        core.services.calls -= 1;
        core.wake_on_any_change();
    }

    /// Reports a process that has ended to the services of all contexts.
    #[cold]
    fn report_lost(&self, guard: &mut Guard<'_>, number: u32) {
        let services: Vec<Arc<dyn Service>> = self.services.get(guard).values().cloned().collect();
        services.iter().for_each(|service| service.lost(self, guard, number));
    }

    fn call_service(&self, guard: &mut Guard<'_>, service: &dyn Service, what: What) {
        match what {
            What::Message(key, data) => {
                let message = ServiceMessage { source: key.source, tag: key.tag, data: &data };
                service.message(self, guard, message);
            }
            What::Raised(operation) => service.raised(self, guard, operation),
            What::Lost(number) => service.lost(self, guard, number),
            What::Completed(request) => {
                let taken = self.state.get_mut(guard).core.take_if_done(request);
                if let Some(Some(completion)) = taken {
                    service.completed(self, guard, request, completion);
                }
            }
        }
    }
}

impl Core {
    /// A message for a service has arrived whole.
    pub fn service_message(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        let Some(context) = self.contexts.get(head.context) else { return self.keep_early(from, head, &payload) };
        let Some((key, _)) = message_key(&context.routes, from, head) else {
            return self.fault(from, "a message with an invalid tag or source");
        };
        let data = payload.to_vec();
        self.instruments.eager_received.incr();
        match self.services.behind.get_mut(&(head.context, key.source)) {
            Some(behind) => behind.push_back(Arrival::Here(key, data)),
            None => self.services.queue.push_back(Event { context: head.context, what: What::Message(key, data) }),
        }
    }

    /// A long message for a service was offered.
    pub fn service_offer(&mut self, from: u32, head: &RecordHead, offer: Offer, key: Key) {
        if offer.bytes > LONGEST_FOR_SERVICE {
            return self.fault(from, "a message for a service that is longer than any of this library");
        }
        let mut data = Vec::new();
        if data.try_reserve_exact(offer.bytes as usize).is_err() {
            return self.fault(from, "a message for a service that is longer than this process's memory");
        }
        data.resize(offer.bytes as usize, 0);
        // SAFETY: the bytes stay where they are, in `incoming`, until the request is complete.
        let buffer = unsafe { RecvBuf::from_slice(&mut data).detach() };
        let mut request = Request::waiting(head.context, Work::Matched { buffer });
        request.marks = SERVED;
        match self.add_request(request) {
            Ok(request) => {
                self.instruments.rendezvous_received.incr();
                self.services.incoming.insert(request, (key, data));
                let behind = self.services.behind.entry((head.context, key.source)).or_default();
                behind.push_back(Arrival::OnTheWay(request));
                self.matched.push(Matched { from, token: head.b, offer, key, request });
            }
            Err(error) => {
                self.fault.get_or_insert(error);
            }
        }
    }

    /// A request that a service waits for is complete.
    #[cold]
    pub fn completed_for_service(&mut self, handle: Handle, context: u32) {
        let Some((key, data)) = self.services.incoming.remove(&handle) else {
            return self.services.queue.push_back(Event { context, what: What::Completed(handle) });
        };
        let failed = self.drop_request(handle).and_then(|request| request.error);
        let ServiceQueue { behind, queue, .. } = &mut self.services;
        let sender = (context, key.source);
        let Some(arrivals) = behind.get_mut(&sender) else { return };
        let place = arrivals.iter_mut().position(|arrival| matches!(arrival, Arrival::OnTheWay(on) if *on == handle));
        let Some(place) = place else { return };
        match failed {
            None => arrivals[place] = Arrival::Here(key, data),
            // A process has ended in the middle of a message: what it sent later must not be handled without that one.
            // Only those that need it fail.
            Some(error) if error.class() == MPI_ERR_PROC_ABORTED => {
                behind.remove(&sender);
                return;
            }
            Some(error) => {
                arrivals.remove(place);
                self.fault.get_or_insert(error);
            }
        }
        // Everything up to the next message whose data is still to come.
        while let Some(Arrival::Here(..)) = arrivals.front()
            && let Some(Arrival::Here(key, data)) = arrivals.pop_front()
        {
            queue.push_back(Event { context, what: What::Message(key, data) });
        }
        if arrivals.is_empty() {
            behind.remove(&sender);
        }
    }
}

#[cfg(test)]
mod tests;
