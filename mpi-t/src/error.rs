//! Errors of the tool information interface (MPI-5.0, section 15.3.10): a code, and the reason. No error handler is
//! called.
//!
//! Invariant: a [`TError`]'s code is one of the ABI's `MPI_T_ERR_*`. An error without a reason, with a reason from
//! [`TError::argument`], or with a static text takes no memory, so async-signal-safe calls can return it.
//! Not here: texts of codes (`mpi_errors::classes`), the record of a thread's last failed call (`last_error`).

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use mpi_core::Handle;
use mpi_core::abi;

/// Why a call of the tool interface failed: an `MPI_T_ERR_*` code, the argument, its value, and what was allowed. Two
/// errors are equal if their codes are.
///
/// ```
/// use mpi_t::{Registry, TError};
///
/// let registry = Registry::new();
/// registry.init_thread()?;
/// let error = registry.pvar_get_info(7).expect_err("a registry without variables");
/// assert_eq!(error, TError::INVALID_INDEX);
/// assert_eq!(error.to_string(), "argument pvar_index is 7, but there are no performance variables");
/// # Ok::<(), TError>(())
/// ```
#[derive(Clone, thiserror::Error)]
#[error("{}", Sentence(self))]
pub struct TError {
    code: i32,
    reason: Reason,
}

/// The result of a call of the tool interface.
pub type TResult<T> = Result<T, TError>;

#[derive(Clone)]
enum Reason {
    /// No reason.
    None,
    Argument {
        name: &'static str,
        value: ArgumentValue,
        rule: Rule,
    },
    Text(Cow<'static, str>),
}

/// The value of an argument, for [`TError::argument`].
#[derive(Clone, Copy, Debug)]
pub enum ArgumentValue {
    /// A number.
    Number(i64),
    /// A handle, a session, an enumeration or an address: a word.
    Word(usize),
    /// A constant's name.
    Name(&'static str),
}

/// The rule that a value breaks.
#[derive(Clone, Copy)]
enum Rule {
    Text(&'static str),
    /// An index must be below this number of objects, whose name in the plural follows.
    Below(usize, &'static str),
    /// A statement about the performance variable with this index.
    Pvar(usize, &'static str),
}

impl From<i32> for ArgumentValue {
    fn from(number: i32) -> ArgumentValue {
        ArgumentValue::Number(i64::from(number))
    }
}

impl From<Handle> for ArgumentValue {
    fn from(handle: Handle) -> ArgumentValue {
        ArgumentValue::Word(handle.0)
    }
}

impl From<&'static str> for ArgumentValue {
    fn from(name: &'static str) -> ArgumentValue {
        ArgumentValue::Name(name)
    }
}

impl fmt::Display for ArgumentValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentValue::Number(number) => number.fmt(f),
            ArgumentValue::Word(word) => write!(f, "{word:#x}"),
            ArgumentValue::Name(name) => f.write_str(name),
        }
    }
}

impl TError {
    /// The interface is not initialized.
    pub const NOT_INITIALIZED: TError = TError::of(abi::MPI_T_ERR_NOT_INITIALIZED);
    /// There is no memory left.
    pub const MEMORY: TError = TError::of(abi::MPI_T_ERR_MEMORY);
    /// An argument is invalid.
    pub const INVALID: TError = TError::of(abi::MPI_T_ERR_INVALID);
    /// The index is out of range.
    pub const INVALID_INDEX: TError = TError::of(abi::MPI_T_ERR_INVALID_INDEX);
    /// The session does not exist, or was freed.
    pub const INVALID_SESSION: TError = TError::of(abi::MPI_T_ERR_INVALID_SESSION);
    /// The handle does not exist, was freed, is of another session, or its object was freed.
    pub const INVALID_HANDLE: TError = TError::of(abi::MPI_T_ERR_INVALID_HANDLE);
    /// Nothing has this name.
    pub const INVALID_NAME: TError = TError::of(abi::MPI_T_ERR_INVALID_NAME);
    /// The variable exists, but is not accessible at this time or from this thread.
    pub const NOT_ACCESSIBLE: TError = TError::of(abi::MPI_T_ERR_NOT_ACCESSIBLE);
    /// No further handle can be allocated.
    pub const OUT_OF_HANDLES: TError = TError::of(abi::MPI_T_ERR_OUT_OF_HANDLES);
    /// No further session can be created.
    pub const OUT_OF_SESSIONS: TError = TError::of(abi::MPI_T_ERR_OUT_OF_SESSIONS);
    /// The variable can be set, but not at this time.
    pub const CVAR_SET_NOT_NOW: TError = TError::of(abi::MPI_T_ERR_CVAR_SET_NOT_NOW);
    /// The variable can never be set again.
    pub const CVAR_SET_NEVER: TError = TError::of(abi::MPI_T_ERR_CVAR_SET_NEVER);
    /// The variable can be neither written nor reset.
    pub const PVAR_NO_WRITE: TError = TError::of(abi::MPI_T_ERR_PVAR_NO_WRITE);
    /// The variable is always active.
    pub const PVAR_NO_STARTSTOP: TError = TError::of(abi::MPI_T_ERR_PVAR_NO_STARTSTOP);
    /// The variable cannot be read and reset in one step.
    pub const PVAR_NO_ATOMIC: TError = TError::of(abi::MPI_T_ERR_PVAR_NO_ATOMIC);

    const fn of(code: i32) -> TError {
        TError { code, reason: Reason::None }
    }

    /// The `MPI_T_ERR_*` code.
    #[inline]
    pub const fn code(&self) -> i32 {
        self.code
    }

    /// This error with the argument that was wrong, its value, and the rule that the value breaks. The rule is printed
    /// after "but". Takes no memory; async-signal-safe.
    #[cold]
    #[inline(never)]
    pub fn argument(self, name: &'static str, value: impl Into<ArgumentValue>, rule: &'static str) -> TError {
        TError { code: self.code, reason: Reason::Argument { name, value: value.into(), rule: Rule::Text(rule) } }
    }

    /// This error with a sentence on what was wrong. Takes no memory for a text that is static.
    #[cold]
    #[inline(never)]
    pub fn because(self, text: impl Into<Cow<'static, str>>) -> TError {
        TError { code: self.code, reason: Reason::Text(text.into()) }
    }

    /// An index that is not below `count`, the number of objects called `plural`. Async-signal-safe.
    #[cold]
    #[inline(never)]
    pub(crate) fn index(name: &'static str, value: i32, count: usize, plural: &'static str) -> TError {
        let rule = Rule::Below(count, plural);
        TError { reason: Reason::Argument { name, value: value.into(), rule }, ..TError::INVALID_INDEX }
    }

    /// A handle that is refused because of its performance variable. Async-signal-safe.
    #[cold]
    #[inline(never)]
    pub(crate) fn of_pvar(self, handle: Handle, variable: usize, rule: &'static str) -> TError {
        let rule = Rule::Pvar(variable, rule);
        TError { code: self.code, reason: Reason::Argument { name: "handle", value: handle.into(), rule } }
    }

    /// This error, with the reason from `explain` if it has none: for errors that callbacks return.
    #[cold]
    pub(crate) fn or_explained(self, explain: impl FnOnce(TError) -> TError) -> TError {
        match self.reason {
            Reason::None => explain(self),
            _ => self,
        }
    }
}

/// The error as a sentence without a capital and a full stop: the reason, or the meaning of the code.
struct Sentence<'a>(&'a TError);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.reason {
            Reason::None => f.write_str(mpi_errors::classes::text(self.0.code).unwrap_or("unknown code")),
            Reason::Text(text) => f.write_str(text),
            Reason::Argument { name, value, rule } => write!(f, "argument {name} is {value}, but {rule}"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Rule::Text(text) => f.write_str(text),
            Rule::Pvar(index, rule) => write!(f, "performance variable {index} {rule}"),
            Rule::Below(0, plural) => write!(f, "there are no {plural}"),
            Rule::Below(count, plural) => write!(f, "there are {count} {plural}, with indices 0 to {}", count - 1),
        }
    }
}

impl PartialEq for TError {
    fn eq(&self, other: &TError) -> bool {
        self.code == other.code
    }
}

impl Eq for TError {}

impl Hash for TError {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.code.hash(state);
    }
}

impl fmt::Debug for TError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(mpi_errors::classes::name(self.code).unwrap_or("TError"))?;
        match self.reason {
            Reason::None => Ok(()),
            _ => write!(f, "({self})"),
        }
    }
}

impl From<TError> for mpi_errors::Error {
    fn from(error: TError) -> Self {
        match &error.reason {
            Reason::Argument { name, value, rule } => {
                mpi_errors::Error::new(error.code, rule.to_string()).arg(name, value)
            }
            _ => mpi_errors::Error::new(error.code, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_argument_value_and_rule() {
        let sentence = |error: TError| error.to_string();
        let below = |count| sentence(TError::index("cat_index", -1, count, "categories"));
        assert_eq!(below(3), "argument cat_index is -1, but there are 3 categories, with indices 0 to 2");
        assert_eq!(below(0), "argument cat_index is -1, but there are no categories");
        let error = TError::INVALID_HANDLE.argument("handle", Handle(0x9), "a rule");
        assert_eq!(sentence(error.clone()), "argument handle is 0x9, but a rule");
        assert_eq!(format!("{error:?}"), "MPI_T_ERR_INVALID_HANDLE(argument handle is 0x9, but a rule)");
        assert_eq!(error, TError::INVALID_HANDLE);
        assert_eq!(mpi_errors::Error::from(error).to_string(), "argument handle is 0x9, but a rule");
        assert_eq!(sentence(TError::MEMORY), mpi_errors::classes::text(abi::MPI_T_ERR_MEMORY).expect("of the ABI"));
    }

    #[test]
    fn a_reason_that_is_there_is_kept() {
        let explained = TError::INVALID.because("first").or_explained(|error| error.because("second"));
        assert_eq!(explained.to_string(), "first");
        assert_eq!(TError::INVALID.or_explained(|error| error.because("second")).to_string(), "second");
    }
}
