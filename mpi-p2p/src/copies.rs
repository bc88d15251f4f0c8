//! Claiming, counting and completing the parts of long messages that this process copies.
//!
//! Invariant: a receive completes when all of its parts are counted and, where the sender copies too, all chunks are
//! done. A revoked receive is dropped when no thread and no process copies into its buffer any more. A send whose end
//! arrives while a thread of this process copies from its data completes when that thread has counted its part.
//! Not here: the jobs and the pins (`copy_job`), the release of the lock (`copying`), transfer slots (`shared_copy`).

use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::Error;
use mpi_fabric::Endpoint;

use crate::chunk_claims;
use crate::copy_job::{Claims, CopiedPart, CopyJob, Part, SharedClaims, Side};
use crate::core::{Core, Reply};
use crate::request::{Request, Work};
use crate::wire;

impl Core {
    /// Claims the next part of the oldest job that has one. Every claimed part must be counted. `concurrently`: several
    /// threads may copy, so parts are short.
    pub fn claim_part(&mut self, endpoint: &Endpoint, concurrently: bool) -> Option<Part> {
        while let Some(at) = self.copies.first_open(self.waiters.is_deferring()) {
            let part = self.claim_of(endpoint, at, concurrently);
            if part.as_ref().is_none_or(|(_, last)| *last) {
                self.copies.close(at);
            }
            if let Some((part, _)) = part {
                return Some(part);
            }
            if matches!(self.copies.list[at], CopyJob { side: Side::Send { .. }, copiers: 0, .. }) {
                self.copies.remove(at);
            }
        }
        None
    }

    /// Claims the next part of a job; also returns whether it is the last one.
    fn claim_of(&mut self, endpoint: &Endpoint, at: usize, concurrently: bool) -> Option<(Part, bool)> {
        let job = &mut self.copies.list[at];
        let (mut pin, mut owner) = (None, endpoint.rank());
        if let Side::Send { .. } = job.side {
            let (copiers, over) = offered(&mut self.requests, job.request)?;
            if *over {
                return None;
            }
            (pin, owner) = (Some(copiers), job.copier.peer());
        }
        let (start, bytes) = match &mut job.claims {
            Claims::Alone { claimed, most } => {
                let (start, left) = (*claimed, job.remote.bytes - *claimed);
                let bytes = if concurrently { left.min(*most) } else { left };
                *claimed += bytes;
                (start, bytes)
            }
            Claims::Slot(SharedClaims { slot, round, chunks, chunk, next, .. }) => {
                let index = chunk_claims::claim(endpoint.transfer_slot(owner, *slot), *round, *chunks)?;
                if index < *next {
                    let peer = job.copier.peer();
                    self.fault(peer, "a count of claimed chunks that is less than before");
                    return None;
                }
                *next = index + 1;
                (index * *chunk, (*chunk).min(job.remote.bytes - index * *chunk))
            }
        };
        if let Some(copiers) = pin {
            *copiers += 1;
        }
        let last = start + bytes == job.remote.bytes;
        let part = job.part(start, bytes);
        #[cfg(test)]
        let part = part.after(&self.copies.before);
        Some((part, last))
    }

    /// Counts a part that was claimed, and completes its request if that was the last one.
    pub fn count_part(&mut self, endpoint: &mut Endpoint, part: CopiedPart) {
        let CopiedPart { id, bytes, result } = part;
        let at = self.copies.list.iter().position(|job| job.id == id).expect("a job with copiers stays in the list");
        let job = &mut self.copies.list[at];
        job.copiers -= 1;
        job.copied += if result.is_ok() { bytes } else { 0 };
        let request = job.request;
        match (&job.side, &job.claims) {
            (Side::Send { .. }, claims) => {
                if let Claims::Slot(SharedClaims { slot, .. }) = claims {
                    let theirs = endpoint.transfer_slot(job.copier.peer(), *slot);
                    match &result {
                        Ok(()) => chunk_claims::complete(theirs),
                        Err(_) => chunk_claims::fail(theirs),
                    }
                }
                if result.is_ok() {
                    self.instruments.bytes_helped.add(bytes);
                }
                if !job.open && job.copiers == 0 {
                    self.copies.remove(at);
                }
                self.unpin_send(request);
            }
            (Side::Partitions { .. }, _) => {
                match result {
                    Ok(()) => self.instruments.bytes_helped.add(bytes),
                    Err(_) => self.copies.close(at),
                }
                let job = &self.copies.list[at];
                if !job.open && job.copiers == 0 {
                    let job = self.copies.remove(at);
                    self.partitions_copied(endpoint, job);
                }
            }
            (Side::Receive { .. }, claims) => {
                let moved = match claims {
                    Claims::Slot(SharedClaims { slot, chunk, .. }) => {
                        let own = endpoint.transfer_slot(endpoint.rank(), *slot);
                        chunk_claims::complete(own);
                        chunk_claims::completed(own).0 * chunk
                    }
                    Claims::Alone { .. } => job.copied,
                };
                match result {
                    Ok(()) => self.instruments.bytes_copied.add(bytes),
                    Err(error) => {
                        if matches!(claims, Claims::Alone { .. }) {
                            self.copies.close(at);
                        }
                        if let Some(request) = self.requests.get_mut(request) {
                            request.error = Some(error);
                        }
                    }
                }
                if !self.complete_receive(endpoint, at) {
                    self.update_shared(request, moved);
                }
            }
        }
    }

    /// Completes the receives whose messages are in place, and drops the revoked ones that no copier writes to any
    /// more.
    pub fn complete_copies(&mut self, endpoint: &mut Endpoint) {
        let mut at = 0;
        while at < self.copies.list.len() {
            if !self.complete_receive(endpoint, at) {
                at += 1;
            }
        }
    }

    /// Completes a job's receive if it is over; whether it was.
    fn complete_receive(&mut self, endpoint: &mut Endpoint, at: usize) -> bool {
        self.close_for_fragments(endpoint, at);
        let job = &self.copies.list[at];
        let Side::Receive { token, .. } = &job.side else { return false };
        let (mut over, mut in_place) = (!job.open && job.copiers == 0, true);
        if let Claims::Slot(SharedClaims { slot, chunks, chunk, claimed_at_close, .. }) = &job.claims {
            let own = endpoint.transfer_slot(endpoint.rank(), *slot);
            let done;
            (done, in_place) = chunk_claims::completed(own);
            // Chunks that this process has claimed are its copiers'; they end also when the other process does not.
            over = job.copiers == 0
                && match claimed_at_close {
                    None => done >= *chunks,
                    Some(claimed) => chunk_claims::is_settled(own, *claimed) || !endpoint.alive(job.copier.peer()),
                };
            if !over {
                self.update_shared(job.request, done * chunk);
            }
        }
        if !over {
            return false;
        }
        let (request, from, token) = (job.request, job.copier.peer(), *token);
        let ended = self.copies.remove(at);
        let (wanted, mut rest_from) = (ended.remote.bytes, ended.remote.bytes);
        let complete = match &ended.claims {
            Claims::Alone { .. } => ended.copied == wanted,
            Claims::Slot(claims) => claims.claimed_at_close.is_none(),
        };
        if let Claims::Slot(SharedClaims { slot, rest_in_fragments, claimed_at_close, chunk, .. }) = ended.claims {
            self.free_slot(slot);
            if let (true, Some(claimed)) = (rest_in_fragments, claimed_at_close) {
                rest_from = wanted.min(claimed * chunk);
            }
        }
        let failed = self.requests.get(request).is_none_or(|request| request.error.is_some());
        self.both_limit.ended(endpoint.copied_by_both(), ended.id, complete && in_place && !failed);
        if let (false, Some(request)) = (in_place, self.requests.get_mut(request)) {
            let text = format!("process {from} of the job could not copy its part of the message");
            request.error.get_or_insert_with(|| Error::new(MPI_ERR_OTHER, text));
        }
        match ended.side {
            Side::Receive { buffer, .. } if rest_from < wanted => {
                self.begin_work(request, Work::Receiving { buffer, from, wanted, got: rest_from });
                self.reply(endpoint, Reply::stream((from, token), request, wanted, rest_from));
                // The requests that wait for a process which has ended fail once more, with this one.
                self.lost_reported |= self.lost.contains(&from);
            }
            _ => {
                self.reply(endpoint, Reply::about(from, wire::DONE, token));
                self.finish_rendezvous(request);
            }
        }
        true
    }

    /// Ends the claims of a receive whose sender sends the rest in fragments.
    fn close_for_fragments(&mut self, endpoint: &Endpoint, at: usize) {
        if let CopyJob { side: Side::Receive { .. }, claims: Claims::Slot(claims), .. } = &mut self.copies.list[at]
            && claims.rest_in_fragments
            && claims.claimed_at_close.is_none()
        {
            let own = endpoint.transfer_slot(endpoint.rank(), claims.slot);
            claims.claimed_at_close = Some(chunk_claims::close(own, claims.round, claims.chunks));
            self.copies.close(at);
        }
    }

    /// The receiver needs an offered send no more: the send completes, but not while a thread of this process copies
    /// from its data.
    pub fn end_offer(&mut self, request: Handle) {
        match offered(&mut self.requests, request) {
            Some((copiers, over)) if *copiers > 0 => *over = true,
            _ => self.finish(request),
        }
    }

    /// A thread has counted a part of a send's data.
    fn unpin_send(&mut self, request: Handle) {
        let Some((copiers, over)) = offered(&mut self.requests, request) else {
            unreachable!("a send with copiers is offered")
        };
        *copiers -= 1;
        if *copiers == 0 && *over {
            self.finish(request);
        }
    }

    /// Ends the claims of a request that is revoked. Jobs without copiers are removed by the next
    /// [`Core::complete_copies`]. Whether a job of the request is left; then the request stays in its table, detached.
    pub fn close_copies(&mut self, endpoint: &Endpoint, request: Handle) -> bool {
        let mut at = 0;
        while at < self.copies.list.len() {
            let job = &mut self.copies.list[at];
            if job.request != request {
                at += 1;
                continue;
            }
            match (&mut job.side, &mut job.claims) {
                (Side::Receive { .. }, claims) => {
                    if let Claims::Slot(claims) = claims {
                        let own = endpoint.transfer_slot(endpoint.rank(), claims.slot);
                        let close = || chunk_claims::close(own, claims.round, claims.chunks);
                        // Closed twice, the slot would count all chunks as claimed.
                        claims.claimed_at_close = claims.claimed_at_close.or_else(|| Some(close()));
                        claims.rest_in_fragments = false;
                    }
                    self.copies.close(at);
                    at += 1;
                }
                (Side::Send { .. }, _) if job.copiers == 0 => drop(self.copies.remove(at)),
                (Side::Send { .. }, _) => {
                    self.copies.close(at);
                    at += 1;
                }
                // No call revokes a partitioned send.
                (Side::Partitions { .. }, _) => at += 1,
            }
        }
        let left = self.copies.has(request);
        if left {
            if let Some((_, over)) = offered(&mut self.requests, request) {
                *over = true;
            }
            self.detach(request);
        }
        left
    }
}

/// The number of threads that copy from an offered send's data, and whether its transfer is over.
fn offered(requests: &mut mpi_core::Table<Request>, request: Handle) -> Option<(&mut u32, &mut bool)> {
    match &mut requests.get_mut(request)?.work {
        Work::Offered { copiers, over, .. } => Some((copiers, over)),
        _ => None,
    }
}
