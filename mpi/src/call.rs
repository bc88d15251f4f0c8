//! One call of this crate: its entry in the flight recorder, and the names in its error.
//!
//! A call is recorded under the name of the equivalent MPI function (`MPI_Recv` for `Peer::receive`), so that the
//! launcher's reports have one form for programs in C and in Rust. Errors name the Rust function.
//! Invariant: a call is recorded as begun before it can wait, and as returned or refused when it ends.
//! Not here: the calls themselves (`peer`, `collective`, `file`).

use mpi_core::Guard;
use mpi_core::abi::{
    MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_RANK, MPI_ERR_ROOT, MPI_ERR_TAG, MPI_ERR_TRUNCATE, MPI_ERR_TYPE,
};
use mpi_env::Process;
use mpi_errors::classes;
use mpi_fabric::Mark;

use crate::{Error, Result};

/// The names of a call: in errors, and in the flight recorder (`mpi_core::functions`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallName {
    /// As errors have it: `Peer::send`.
    pub(crate) rust: &'static str,
    /// The number of the MPI function.
    pub(crate) function: u16,
}

impl CallName {
    pub(crate) const fn new(rust: &'static str, function: u16) -> CallName {
        CallName { rust, function }
    }
}

/// A call that has not checked its arguments yet, or is under way.
pub(crate) struct Call {
    pub(crate) process: &'static Process,
    /// Context id of the communicator that the call is on.
    pub(crate) context: u32,
    name: CallName,
    mark: Option<Mark<'static>>,
}

impl Call {
    /// Runs a call: records how it ends and names it in its error.
    #[inline]
    pub(crate) fn run<T>(
        process: &'static Process,
        context: u32,
        name: CallName,
        body: impl FnOnce(&mut Call) -> Result<T>,
    ) -> Result<T> {
        let mut call = Call { process, context, name, mark: None };
        let outcome = body(&mut call);
        if let Some(mark) = call.mark {
            mark.leave();
        }
        // Callbacks of events without restrictions run here, where no lock is held.
        process.registry.deliver_events();
        match outcome {
            Ok(value) => Ok(value),
            Err(error) => Err(call.failed(error)),
        }
    }

    /// Records that the call begins, once its arguments are checked; the process's lock, which is held. Peer, tag and
    /// count are what the recorder's reports show; -1, 0 and 0 where the call has none.
    #[inline]
    pub(crate) fn enter(&mut self, peer: i32, tag: i32, count: u64) -> Guard<'static> {
        let guard = self.process.engine.lock();
        self.mark = Some(self.process.recorder.enter(self.name.function, self.context, peer, tag, count));
        guard
    }

    /// The error of this call, with the call's name and advice for callers in Rust.
    #[cold]
    fn failed(&self, error: Error) -> Error {
        if self.mark.is_none() {
            // The lock keeps other threads from recording a call at the same time.
            let _guard = self.process.engine.lock();
            self.process.recorder.refused(self.name.function);
        }
        for_rust(of_rust(error, self.name.rust))
    }
}

/// The functions of C that attach a buffer, in the engine's advice.
const ATTACH: [&str; 2] = ["MPI_Buffer_attach", "_attach_buffer"];

/// Arguments of functions of C, which the engine names, and what they are called in this crate.
const ARGUMENTS: [(&str, &str); 17] = [
    ("amode", "access"),
    ("array_of_blocklengths", "blocks"),
    ("array_of_sizes", "sizes"),
    ("array_of_starts", "starts"),
    ("array_of_subsizes", "subsizes"),
    ("blocklength", "length"),
    ("datarep", "representation"),
    ("direction", "dimension"),
    ("disp", "displacement"),
    ("edges", "neighbors"),
    ("fh", "self"),
    ("filename", "path"),
    ("filetype", "layout"),
    ("op", "operation"),
    ("target_count", "count"),
    ("target_disp", "first"),
    ("target_rank", "rank"),
];

/// The error of a function of this crate, which its caller has not named yet: arguments have the names of this crate.
#[cold]
pub(crate) fn of_rust(error: Error, name: &'static str) -> Error {
    error.rename_arguments(&ARGUMENTS).call(name)
}

/// The error with advice that names functions of this crate, instead of the class's advice, which names those of C.
#[cold]
pub(crate) fn for_rust(error: Error) -> Error {
    // Advice on the buffers of buffered sends, which the engine gives.
    if error.class() == MPI_ERR_BUFFER
        && error.advice().is_some_and(|advice| ATTACH.iter().any(|word| advice.contains(word)))
    {
        return error.hint(
            "Attach a larger buffer: Communicator::attach_buffer, Session::attach_buffer, World::attach_process_buffer.",
        );
    }
    if error.advice() != classes::advice(error.class()) {
        return error;
    }
    let advice = match error.class() {
        MPI_ERR_RANK | MPI_ERR_ROOT => {
            "Compare the rank with Communicator::size. A message from any rank: Communicator::any."
        }
        MPI_ERR_TRUNCATE => {
            "Receive into a buffer at least as long as the message: Peer::probe gives its length, and Peer::receive \
             makes a buffer that fits. Check that sender and receiver use the same tag for the same data."
        }
        MPI_ERR_TYPE => "Receive the element type that was sent. Check that sender and receiver use the same tag.",
        MPI_ERR_TAG => "Use a tag from 0 up; mpi::ANY_TAG is for receives and probes only.",
        MPI_ERR_COUNT => "Pass slices of the lengths that the function's documentation states.",
        _ => return error,
    };
    error.hint(advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_the_names_of_this_crate() {
        let error = crate::Layout::<u8>::subarray(&[4, 4], &[2, 3], &[1, 2]).expect_err("it reaches out of the array");
        let text = "Layout::subarray: argument starts is 2 in dimension 1, but 3 of 4 elements start at 0 to 1";
        assert_eq!(error.to_string(), text);
        let error = crate::balance(7, &mut [2, 0]).expect_err("2 does not divide 7");
        assert!(error.to_string().starts_with("mpi::balance: argument processes is 7, but "), "{error}");
        assert!(ARGUMENTS.is_sorted());
    }

    #[test]
    fn advice_for_rust_names_no_function_of_c() {
        for (class, _) in classes::all() {
            let advice = for_rust(Error::new(class, "a rule")).advice();
            let names_c = |word: &str| {
                let rest = word.strip_prefix("MPI_").unwrap_or_default();
                rest.chars().nth(1).is_some_and(|second| second.is_ascii_lowercase())
            };
            let of_c = advice.unwrap_or_default().split_whitespace().find(|word| names_c(word));
            assert_eq!(of_c, None, "{class}: {advice:?}");
        }
        let own = Error::new(MPI_ERR_COUNT, "a rule").hint("Its own advice.");
        assert_eq!(for_rust(own).advice(), Some("Its own advice."));
    }
}
