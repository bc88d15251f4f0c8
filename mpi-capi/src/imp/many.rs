//! Completion of one, some or all of several requests (MPI-5.0, 3.7.5).
//!
//! Invariant: if one of several operations failed, the call returns `MPI_ERR_IN_STATUS`, and the error field of every
//! status that the call sets has that operation's code. No operation remains pending then, because the call waits for
//! all of them. If none failed, error fields are unchanged.

use mpi_core::{Handle, Status, abi};
use mpi_errors::Error;
use mpi_fabric::Mark;
use mpi_p2p::Completion;

use crate::call_context::CallContext;
use crate::check::{Out, StatusOut, StatusesOut};
use crate::errors::{self, Outcome, Raised};
use crate::imp::request;

const NULL: Handle = Handle(abi::MPI_REQUEST_NULL);

/// Converts a slice of requests to handles, which have the same representation.
pub fn handles(requests: &mut [usize]) -> &mut [Handle] {
    // SAFETY: `Handle` is a transparent wrapper of `usize`.
    unsafe { &mut *(requests as *mut [usize] as *mut [Handle]) }
}

/// Collects the errors of a call that completes several operations.
struct Failures {
    statuses: StatusesOut,
    /// One more than the last place that was stored.
    stored: usize,
    /// The failed operations: the index of the status, the error, and the context, if there is one.
    failed: Vec<(usize, Error, Option<u32>)>,
}

impl Failures {
    fn new(statuses: StatusesOut) -> Failures {
        Failures { statuses, stored: 0, failed: Vec::new() }
    }

    /// Stores the status of an operation at index `place` of the array of statuses.
    #[inline]
    fn completed(&mut self, place: usize, completion: Completion) {
        let context = completion.context();
        match completion.error {
            None if self.failed.is_empty() && !completion.is_empty() => {
                self.statuses.set_keeping_error(place, completion.status);
            }
            None => self.statuses.set(place, with_error(completion.status, abi::MPI_SUCCESS)),
            Some(error) => self.failed(place, completion.status, error, context),
        }
        self.stored = self.stored.max(place + 1);
    }

    #[cold]
    fn failed(&mut self, place: usize, status: Status, error: Error, context: Option<u32>) {
        if self.failed.is_empty() {
            // All operations so far succeeded. Generalized requests come last, whatever their places.
            (0..self.stored).for_each(|place| self.statuses.set_error(place, abi::MPI_SUCCESS));
        }
        self.statuses.set(place, with_error(status, error.class()));
        self.failed.push((place, error, context));
    }

    /// The outcome of the call. No guard is held.
    #[inline]
    fn finish(self) -> Outcome {
        if self.failed.is_empty() { Ok(()) } else { self.store_codes() }
    }

    /// Stores each failed operation's code; the error handler gets the first error.
    #[cold]
    fn store_codes(self) -> Outcome {
        let mut first = None;
        for (place, error, context) in self.failed {
            let (error, code) = errors::in_status(error, context);
            self.statuses.set_error(place, code);
            first.get_or_insert((error, context, code));
        }
        let (error, context, code) = first.expect("something failed");
        Err(Raised::in_status(error, context, code))
    }
}

fn with_error(mut status: Status, error: i32) -> Status {
    status.error = error;
    status
}

/// `MPI_Waitall`
#[inline]
pub fn waitall(
    cx: CallContext,
    entry: Mark<'_>,
    count: usize,
    requests: &mut [usize],
    statuses: *mut Status,
) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    debug_assert!(count == requests.len());
    let requests = handles(requests);
    let mut failures = Failures::new(StatusesOut::new(statuses));
    let mut kept = Vec::new();
    process.engine.wait_all_recorded(guard, requests, Some(entry), |index, completion| {
        keep(&mut kept, index, &completion);
        failures.completed(index, completion);
    })?;
    end(requests, &kept);
    failures.finish()
}

/// `MPI_Testall`
pub fn testall(
    cx: CallContext,
    _count: usize,
    requests: &mut [usize],
    flag: Out<i32>,
    statuses: *mut Status,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let requests = handles(requests);
    let mut failures = Failures::new(StatusesOut::new(statuses));
    let mut kept = Vec::new();
    let done = process.engine.test_all(&mut guard, requests, |index, completion| {
        keep(&mut kept, index, &completion);
        failures.completed(index, completion);
    })?;
    drop(guard);
    if done {
        end(requests, &kept);
    }
    flag.set(i32::from(done));
    failures.finish()
}

/// `MPI_Waitany`
pub fn waitany(
    cx: CallContext,
    entry: Mark<'_>,
    _count: usize,
    requests: &mut [usize],
    index: Out<i32>,
    status: StatusOut,
) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    let requests = handles(requests);
    match process.engine.wait_any_recorded(guard, requests, Some(entry))? {
        None => none_active(index, status),
        Some((at, completion)) => one(requests, at, completion, index, status),
    }
}

/// `MPI_Testany`
pub fn testany(
    cx: CallContext,
    _count: usize,
    requests: &mut [usize],
    index: Out<i32>,
    flag: Out<i32>,
    status: StatusOut,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let requests = handles(requests);
    let found = process.engine.test_any(&mut guard, requests)?;
    drop(guard);
    flag.set(i32::from(found.is_some()));
    match found {
        None => {
            index.set(abi::MPI_UNDEFINED);
            Ok(())
        }
        Some(None) => none_active(index, status),
        Some(Some((at, completion))) => one(requests, at, completion, index, status),
    }
}

/// `MPI_Waitsome`
pub fn waitsome(
    cx: CallContext,
    entry: Mark<'_>,
    _count: usize,
    requests: &mut [usize],
    outcount: Out<i32>,
    indices: *mut i32,
    statuses: *mut Status,
) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    some(requests, outcount, indices, statuses, |requests, each| {
        process.engine.wait_some_recorded(guard, requests, Some(entry), each)
    })
}

/// `MPI_Testsome`
pub fn testsome(
    cx: CallContext,
    _count: usize,
    requests: &mut [usize],
    outcount: Out<i32>,
    indices: *mut i32,
    statuses: *mut Status,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    some(requests, outcount, indices, statuses, move |requests, each| {
        // The guard is dropped in this closure, because the code after it looks up communicators.
        process.engine.test_some(&mut guard, requests, each)
    })
}

type Each<'e> = &'e mut dyn FnMut(usize, Option<Completion>);

fn some(
    requests: &mut [usize],
    outcount: Out<i32>,
    indices: *mut i32,
    statuses: *mut Status,
    complete: impl FnOnce(&[Handle], Each<'_>) -> mpi_errors::Result<Option<usize>>,
) -> Outcome {
    let requests = handles(requests);
    let indices = crate::check::slice("array_of_indices", indices, requests.len())?;
    let mut failures = Failures::new(StatusesOut::new(statuses));
    let (mut taken, mut kept, mut repeats) = (0, Vec::new(), Vec::new());
    let found = complete(requests, &mut |index, completion| {
        let Some(completion) = completion else { return repeats.push(index) };
        keep(&mut kept, index, &completion);
        failures.completed(taken, completion);
        indices[taken] = index as i32;
        taken += 1;
    })?;
    let completed = indices[..taken].iter().map(|index| *index as usize);
    for index in completed.filter(|index| kept.binary_search(index).is_err()).chain(repeats) {
        requests[index] = NULL;
    }
    outcount.set(found.map_or(abi::MPI_UNDEFINED, |count| count as i32));
    failures.finish()
}

/// Records the request at this index if it remains, inactive, after completion.
#[inline]
fn keep(kept: &mut Vec<usize>, index: usize, completion: &Completion) {
    if completion.keeps_request() {
        kept.push(index);
    }
}

/// Sets all requests to null except those in `kept`, which is in ascending order. All requests are complete.
#[inline]
fn end(requests: &mut [Handle], kept: &[usize]) {
    if kept.is_empty() {
        return requests.fill(NULL);
    }
    for (index, request) in requests.iter_mut().enumerate() {
        if kept.binary_search(&index).is_err() {
            *request = NULL;
        }
    }
}

/// Stores the result for only null or inactive requests: an empty status and no index.
fn none_active(index: Out<i32>, status: StatusOut) -> Outcome {
    index.set(abi::MPI_UNDEFINED);
    status.set_all(Status::EMPTY);
    Ok(())
}

fn one(requests: &mut [Handle], at: usize, completion: Completion, index: Out<i32>, status: StatusOut) -> Outcome {
    if !completion.keeps_request() {
        let completed = requests[at];
        // The list may name the request more than once.
        requests[at..].iter_mut().filter(|request| **request == completed).for_each(|request| *request = NULL);
    }
    index.set(at as i32);
    request::finish(completion, status)
}
