//! The workspace's error value: a class, a message, the failing argument, the call; one pointer wide.
//!
//! Invariant: the class of an `Error` is always a class of the ABI, so every error has a code.
//! Not here: codes (`codes`), texts of the classes (`classes`).

use std::borrow::Cow;
use std::fmt;

use crate::ErrorClass;

/// The result of every fallible function of the engine crates; `Result<()>` is one machine word.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a call. `Display` writes a sentence for the user.
///
/// The message states the rule or fact that the argument's value violates, in a form that can follow "but":
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
#[derive(Clone, thiserror::Error)]
#[error("{}", Sentence(self))]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Clone)]
struct Inner {
    class: i32,
    message: Cow<'static, str>,
    call: Option<&'static str>,
    object: Option<Box<str>>,
    hint: Option<&'static str>,
    detail: Option<(&'static str, String)>,
    arguments: Vec<(&'static str, String)>,
    facts: Vec<(&'static str, i64)>,
    code: Option<i32>,
}

impl Error {
    /// An error of a class (`abi::MPI_ERR_*`, also `MPI_T_ERR_*`) with a message for the user.
    #[cold]
    pub fn new(class: i32, message: impl Into<Cow<'static, str>>) -> Error {
        let message = message.into();
        let inner = Inner {
            class,
            message,
            call: None,
            object: None,
            hint: None,
            detail: None,
            arguments: Vec::new(),
            facts: Vec::new(),
            code: None,
        };
        Error { inner: Box::new(inner) }
    }

    /// Sets the code of the error: a callback of the program returned it ([`crate::ErrorCodes::code_for`]).
    #[cold]
    pub fn with_code(mut self, code: i32) -> Error {
        self.inner.code = Some(code);
        self
    }

    /// Adds an argument and its value; the first argument added is the failing one.
    #[cold]
    pub fn arg(mut self, name: &'static str, value: &dyn fmt::Display) -> Error {
        self.inner.arguments.push((name, value.to_string()));
        self
    }

    /// Gives arguments other names, for an interface whose parameters are called differently: pairs of the name that an
    /// argument has and the name that it gets.
    #[cold]
    pub fn rename_arguments(mut self, names: &[(&'static str, &'static str)]) -> Error {
        for (name, _) in &mut self.inner.arguments {
            if let Some((_, other)) = names.iter().find(|(from, _)| from == name) {
                *name = other;
            }
        }
        self
    }

    /// Says which element of a list the failing argument is; the first is 0.
    #[cold]
    pub fn in_element(mut self, index: usize) -> Error {
        if let Some((_, value)) = self.inner.arguments.first_mut() {
            value.push_str(&format!(" (element {index})"));
        }
        self
    }

    /// Sets the call (`"MPI_Send"`) if none is set: the innermost name remains.
    #[cold]
    pub fn call(mut self, name: &'static str) -> Error {
        self.inner.call.get_or_insert(name);
        self
    }

    /// Sets the object of the call (`communicator "MPI_COMM_WORLD"`) if none is set.
    #[cold]
    pub fn on(mut self, object: impl Into<Box<str>>) -> Error {
        self.inner.object.get_or_insert_with(|| object.into());
        self
    }

    /// Sets advice for this error, which replaces the advice of its class ([`crate::classes::advice`]).
    #[cold]
    pub fn hint(mut self, advice: &'static str) -> Error {
        self.inner.hint = Some(advice);
        self
    }

    /// Adds a detail that only some users need: it follows the message, in brackets.
    #[cold]
    pub fn detail(mut self, name: &'static str, value: &dyn fmt::Display) -> Error {
        self.inner.detail = Some((name, value.to_string()));
        self
    }

    /// Adds a number of the message as a separate field, for programs that read reports.
    #[cold]
    pub fn fact(mut self, name: &'static str, value: i64) -> Error {
        self.inner.facts.push((name, value));
        self
    }

    /// Removes detail and facts, for reports where they are of no use.
    #[cold]
    pub fn without_detail(mut self) -> Error {
        self.inner.detail = None;
        self.inner.facts.clear();
        self
    }

    /// Advice for the user: a whole sentence, if there is any.
    pub fn advice(&self) -> Option<&'static str> {
        self.inner.hint.or_else(|| crate::classes::advice(self.class()))
    }

    /// The error class as an enum.
    ///
    /// ```
    /// use mpi_errors::{Error, ErrorClass};
    ///
    /// let error = Error::new(ErrorClass::Rank.number(), "the world has 4 processes").arg("rank", &9);
    /// let advice = match error.kind() {
    ///     ErrorClass::Rank | ErrorClass::Root => "a rank is wrong",
    ///     _ => "something else is",
    /// };
    /// assert_eq!(advice, "a rank is wrong");
    /// ```
    pub fn kind(&self) -> ErrorClass {
        ErrorClass::of(self.class())
    }

    /// The error class.
    pub fn class(&self) -> i32 {
        self.inner.class
    }

    /// The code, if a callback of the program returned it.
    pub fn code(&self) -> Option<i32> {
        self.inner.code
    }

    /// The message alone, without call and argument.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// The name of the call, if set.
    pub fn call_name(&self) -> Option<&'static str> {
        self.inner.call
    }

    /// The description of the call's object, if set.
    pub fn object(&self) -> Option<&str> {
        self.inner.object.as_deref()
    }

    /// The arguments with their values as text, the failing argument first.
    pub fn arguments(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.inner.arguments.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The numbers of the message, with their names.
    pub fn facts(&self) -> impl Iterator<Item = (&'static str, i64)> {
        self.inner.facts.iter().copied()
    }

    /// Writes the sentence without the call's name: arguments and message.
    pub(crate) fn write_body(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        for (i, (name, value)) in self.arguments().enumerate() {
            write!(f, "{}argument {name} is {value}", if i == 0 { "" } else { " and " })?;
        }
        if !self.inner.arguments.is_empty() {
            f.write_str(", but ")?;
        }
        f.write_str(&self.inner.message)?;
        match &self.inner.detail {
            Some((name, value)) => write!(f, " ({name} {value})"),
            None => Ok(()),
        }
    }
}

/// The whole sentence: call, object, arguments and message.
struct Sentence<'e>(&'e Error);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.inner.call, self.0.object()) {
            (Some(call), Some(object)) => write!(f, "{call} on {object}: ")?,
            (Some(name), None) | (None, Some(name)) => write!(f, "{name}: ")?,
            (None, None) => {}
        }
        self.0.write_body(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = crate::classes::name(self.class()).unwrap_or("class of its own");
        write!(f, "{self} ({class})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi;

    #[test]
    fn arguments_get_other_names() {
        let error = Error::new(abi::MPI_ERR_ARG, "a rule").arg("disp", &1).arg("size", &2);
        let error = error.rename_arguments(&[("count", "length"), ("disp", "first")]);
        assert_eq!(error.to_string(), "argument first is 1 and argument size is 2, but a rule");
    }

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
    fn a_clone_is_equal() {
        let error = Error::new(abi::MPI_ERR_TAG, "no").arg("tag", &-1).call("MPI_Send").fact("tag", -1).hint("Try.");
        let clone = error.clone();
        assert_eq!((format!("{clone:?}"), clone.advice()), (format!("{error:?}"), error.advice()));
        assert!(clone.facts().eq(error.facts()) && clone.arguments().eq(error.arguments()));
    }

    #[test]
    fn the_object_stands_behind_the_call() {
        let error = Error::new(abi::MPI_ERR_TAG, "no").call("MPI_Send").on("communicator \"a\"").on("another");
        assert_eq!(error.to_string(), "MPI_Send on communicator \"a\": no");
        assert_eq!(error.object(), Some("communicator \"a\""));
    }

    #[test]
    fn a_detail_stands_last_and_can_be_taken_away() {
        let error = Error::new(abi::MPI_ERR_TRUNCATE, "too long").detail("tag", &7);
        assert_eq!(error.to_string(), "too long (tag 7)");
        assert_eq!(error.without_detail().to_string(), "too long");
    }

    #[test]
    fn several_arguments_are_joined_by_and() {
        let error = Error::new(abi::MPI_ERR_ARG, "they must differ").arg("a", &1).arg("b", &1);
        assert_eq!(error.to_string(), "argument a is 1 and argument b is 1, but they must differ");
    }
}
