//! How amounts are measured: their units, and values as text.
//!
//! Not here: the amounts (`summary`, `traffic`).

use crate::words;

/// How an amount is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
}

impl Measure {
    /// The unit in JSON.
    pub fn unit(self) -> &'static str {
        match self {
            Measure::Count => "count",
            Measure::Bytes => "bytes",
            Measure::Seconds => "seconds",
        }
    }

    /// A value as text.
    pub fn text(self, value: f64) -> String {
        match self {
            Measure::Count => words::amount(value),
            Measure::Bytes => words::bytes(value),
            Measure::Seconds => words::seconds(value),
        }
    }

    /// A difference that is worth a line, in a job of this many seconds.
    pub(crate) fn notable(self, seconds: f64) -> f64 {
        match self {
            Measure::Count => 10.0,
            Measure::Bytes => 65536.0,
            Measure::Seconds => (seconds / 100.0).max(0.01),
        }
    }
}
