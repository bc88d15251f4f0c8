//! The workspace's error value: a class, a message, the failing argument, the call; one pointer wide.
//!
//! Invariant: an `Error` always has a class of the ABI's, so a code can be made of it.
//! Not here: codes (`codes`), texts of the classes (`classes`).

use std::borrow::Cow;
use std::fmt;

/// The result of every fallible function of the engine crates; `Result<()>` is one machine word.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. `Display` is a sentence for the user.
///
/// The message states the rule or fact that the argument's value contradicts, so that it reads on after "but":
/// ```
/// use mpi_core::abi::MPI_ERR_RANK;
/// use mpi_errors::Error;
///
/// let error = Error::new(MPI_ERR_RANK, "the communicator MPI_COMM_WORLD has 4 processes").arg("dest", &9);
/// assert_eq!(
///     error.call("MPI_Send").to_string(),
///     "MPI_Send: argument dest is 9, but the communicator MPI_COMM_WORLD has 4 processes"
/// );
/// ```
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    class: i32,
    message: Cow<'static, str>,
    call: Option<&'static str>,
    arguments: Vec<(&'static str, String)>,
}

impl Error {
    /// An error of a class (`abi::MPI_ERR_*`, also `MPI_T_ERR_*`) with a message for the user.
    #[cold]
    pub fn new(class: i32, message: impl Into<Cow<'static, str>>) -> Error {
        Error { inner: Box::new(Inner { class, message: message.into(), call: None, arguments: Vec::new() }) }
    }

    /// Names an argument and its value; the first one named is the one that failed.
    #[cold]
    pub fn arg(mut self, name: &'static str, value: &dyn fmt::Display) -> Error {
        self.inner.arguments.push((name, value.to_string()));
        self
    }

    /// Names the call (`"MPI_Send"`). The innermost name stays: a later one does not replace it.
    #[cold]
    pub fn call(mut self, name: &'static str) -> Error {
        self.inner.call.get_or_insert(name);
        self
    }

    /// The error class.
    pub fn class(&self) -> i32 {
        self.inner.class
    }

    /// The message alone, without call and argument.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// The name of the call, if one was given.
    pub fn call_name(&self) -> Option<&'static str> {
        self.inner.call
    }

    /// The arguments named, with their values as text, the failing one first.
    pub fn arguments(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.inner.arguments.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The sentence without the call's name: arguments and message.
    pub(crate) fn write_body(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        for (i, (name, value)) in self.arguments().enumerate() {
            write!(f, "{}argument {name} is {value}", if i == 0 { "" } else { " and " })?;
        }
        if !self.inner.arguments.is_empty() {
            f.write_str(", but ")?;
        }
        f.write_str(&self.inner.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(call) = self.inner.call {
            write!(f, "{call}: ")?;
        }
        self.write_body(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = crate::classes::name(self.class()).unwrap_or("class of its own");
        write!(f, "{self} ({class})")
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi;

    #[test]
    fn a_result_without_value_is_one_word() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn the_sentence_names_call_argument_and_value() {
        let error = Error::new(abi::MPI_ERR_COUNT, "a count must not be negative").arg("count", &-3);
        assert_eq!(error.to_string(), "argument count is -3, but a count must not be negative");
        let error = error.call("MPI_Send").call("MPI_Sendrecv");
        assert_eq!(error.call_name(), Some("MPI_Send"));
        assert_eq!(format!("{error:?}"), format!("{error} (MPI_ERR_COUNT)"));
        assert_eq!(error.class(), abi::MPI_ERR_COUNT);
    }

    #[test]
    fn several_arguments_are_joined_by_and() {
        let error = Error::new(abi::MPI_ERR_ARG, "they must differ").arg("a", &1).arg("b", &1);
        assert_eq!(error.to_string(), "argument a is 1 and argument b is 1, but they must differ");
    }
}
