//! The error of a task: a text for the person at the terminal. Nothing branches on it.

use std::fmt;

/// Why a task did not get done, as one or more lines of text.
#[derive(Debug)]
pub struct Failure(String);

/// What every task and step returns.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Puts what was being done in front of what went wrong.
    pub fn during(self, what: impl fmt::Display) -> Failure {
        Failure(format!("{what}: {}", self.0))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure(text)
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Failure {
        Failure(text.to_owned())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure(error.to_string())
    }
}
