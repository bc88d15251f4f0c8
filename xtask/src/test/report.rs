//! What has passed, failed and been skipped.

use std::fmt;

use crate::{Result, ui};

/// The counts, with the progress shown on a terminal.
#[derive(Default)]
pub struct Report {
    suite: &'static str,
    passed: usize,
    failed: usize,
    skipped: usize,
    at_begin: (usize, usize, usize),
}

impl Report {
    /// A suite begins.
    pub fn begin(&mut self, suite: &'static str) {
        self.suite = suite;
        self.at_begin = (self.passed, self.failed, self.skipped);
    }

    /// The suite ends: its own counts are shown.
    pub fn end(&self) {
        let (passed, failed, skipped) = self.at_begin;
        let (passed, failed, skipped) = (self.passed - passed, self.failed - failed, self.skipped - skipped);
        ui::note(format!("{}: {passed} passed, {failed} failed, {skipped} skipped", self.suite));
    }

    /// One test passed.
    pub fn pass(&mut self) {
        self.add_passed(1);
    }

    /// Several tests passed.
    pub fn add_passed(&mut self, number: usize) {
        self.passed += number;
    }

    /// One test failed; the text is shown at once.
    pub fn fail(&mut self, test: &str, text: &str) {
        self.failed += 1;
        ui::note(format!("FAILED {}/{test}: {text}", self.suite));
    }

    /// One test could not run, and why.
    pub fn skip(&mut self, test: &str, why: &str) {
        self.skipped += 1;
        ui::note(format!("skipped {}/{test}: {why}", self.suite));
    }

    /// Counts a step as one test.
    pub fn step<T>(&mut self, test: &str, outcome: Result<T>) -> Result<()> {
        match outcome {
            Ok(_) => self.pass(),
            Err(failure) => self.fail(test, &failure.to_string()),
        }
        Ok(())
    }

    /// Counts a condition as one test.
    pub fn check(&mut self, test: &str, holds: bool, text: impl FnOnce() -> String) {
        match holds {
            true => self.pass(),
            false => self.fail(test, &text()),
        }
    }

    /// Tests failed so far.
    pub fn failed(&self) -> usize {
        self.failed
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}
