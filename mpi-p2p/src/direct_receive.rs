//! Polling for the message of a direct receive (`direct`), and turning the receive into a request when the wait gets
//! long.
//!
//! Invariant: no direct receive exists when the lock is released.

use mpi_core::{Handle, Status};
use mpi_datatype::RecvBuf;
use mpi_errors::Result;
use mpi_fabric::RecordHead;

use crate::chains::Key;
use crate::core::{Core, State};
use crate::direct::Outcome;
use crate::instruments::CommInstruments;
use crate::message::Matched;
use crate::request::{Request, Work};
use crate::wire::Offer;

impl Core {
    /// Turns the direct receive into a request that the offer matches, unless all of the data goes ahead.
    pub fn match_direct(&mut self, head: &RecordHead, from: u32, offer: Offer, (key, ahead): (Key, u64)) {
        if offer.bytes == ahead && !mpi_t::any_callback_registered() {
            return self.fill_direct_ahead(head, from, offer, key);
        }
        let buffer = self.direct.leave();
        let work = Work::Matched { buffer };
        match self.add_request(Request::waiting(head.context, work)) {
            Ok(request) => {
                let matched = Matched { from, token: head.b, offer, key, request };
                match ahead {
                    0 => self.matched.push(matched),
                    _ => self.receive_ahead(matched, ahead),
                }
                self.direct.outcome = Some(Outcome::Under(request));
            }
            Err(error) => self.direct.outcome = Some(Outcome::Received(Status::EMPTY, Some(error))),
        }
    }
}

impl State {
    /// Polls for a while for a message that is copied straight into `buffer`. If none has arrived by then, the receive
    /// continues as a request. The caller has checked that no unexpected message matches and no other work is pending.
    #[inline]
    pub fn receive_directly(
        &mut self,
        context: u32,
        key: Key,
        buffer: RecvBuf<'static>,
        instruments: Option<&'static CommInstruments>,
    ) -> Result<Outcome> {
        let direct = &mut self.core.direct;
        direct.context = context;
        direct.key = key;
        direct.buffer = buffer;
        let mut counts = instruments;
        for _ in 0..self.core.first_polls() {
            self.core.instruments.polls.incr();
            match self.endpoint.poll_inline(&mut self.core) {
                Ok(0) => {
                    std::hint::spin_loop();
                    // The receive counts as waiting from here on, unless its message is arriving.
                    if let Some(instruments) = counts.take()
                        && self.core.direct.filling.is_none()
                    {
                        instruments.posted_length.raise(1);
                        self.core.direct.instruments = Some(instruments);
                    }
                }
                Ok(_) if !self.core.has_work() => {
                    if let Some(outcome) = self.core.direct.outcome.take() {
                        return Ok(outcome);
                    }
                }
                moved => {
                    if let Some(outcome) = self.after_direct_poll(context, moved)? {
                        return Ok(outcome);
                    }
                }
            }
        }
        self.post_direct(context).map(Outcome::Under)
    }

    /// Performs the work that a poll brought besides the awaited message, or ends the receive with the poll's fault.
    #[inline(never)]
    fn after_direct_poll(&mut self, context: u32, moved: Result<usize>) -> Result<Option<Outcome>> {
        let worked = match moved {
            Ok(moved) => {
                let worked = self.advance_pending(moved);
                self.make_request_for_calls(context)?;
                worked
            }
            fault => fault,
        };
        match worked {
            // The wait for the request copies.
            Ok(_) if self.core.copies.open > 0 && self.core.direct.outcome.is_none() => {
                self.post_direct(context).map(|request| Some(Outcome::Under(request)))
            }
            Ok(_) => Ok(self.core.direct.outcome.take()),
            Err(fault) => {
                let fault = self.core.fail_waits(fault);
                let direct = &mut self.core.direct;
                // The buffer is borrowed until the call returns, which ends here unless a request has the buffer.
                direct.filling = None;
                direct.leave();
                match direct.outcome.take() {
                    Some(Outcome::Under(request)) => {
                        // The wait for the request reports the fault, and revokes the request.
                        self.core.fault.get_or_insert(fault);
                        Ok(Some(Outcome::Under(request)))
                    }
                    _ => {
                        self.core.drop_filling();
                        Err(fault)
                    }
                }
            }
        }
    }

    /// Turns a direct receive that is over into a request when a service is to be called or a long message to be
    /// copied: the call that completes the request does that first.
    #[cold]
    fn make_request_for_calls(&mut self, context: u32) -> Result<()> {
        let core = &mut self.core;
        if core.has_calls()
            && let Some(outcome) = core.direct.outcome.take()
        {
            let request = match outcome {
                Outcome::Received(status, error) => core.received_request(context, status, error)?,
                Outcome::Under(request) => request,
            };
            core.direct.outcome = Some(Outcome::Under(request));
        }
        Ok(())
    }

    /// Posts the direct receive, behind all others of its context; one whose message is arriving becomes a request that
    /// takes the rest.
    #[inline(never)]
    fn post_direct(&mut self, context: u32) -> Result<Handle> {
        let direct = &mut self.core.direct;
        if let Some(filling) = direct.leave_filling() {
            return self.core.post_filling(context, filling);
        }
        let key = direct.key;
        let buffer = direct.leave();
        self.core.post(context, key, buffer)
    }
}
