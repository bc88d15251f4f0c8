//! The error of a task: a text for the user. No code branches on it.

use std::fmt;

/// Why a task failed, as one or more lines of text.
#[derive(Debug)]
pub struct Failure(String);

/// The result of every task and step.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Adds the step that failed in front of the text.
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
