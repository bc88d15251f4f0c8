//! The results of a run: passed, failed and skipped tests.

use std::fmt;
use std::time::Instant;

use crate::{Result, ui};

/// The counts, with the progress shown on a terminal.
#[derive(Default)]
pub struct Report {
    suite: &'static str,
    /// Part of the names (`suite/test`) of the tests that count; empty for all.
    only: String,
    passed: usize,
    failed: usize,
    skipped: usize,
    at_begin: (usize, usize, usize),
    began: Option<Instant>,
}

impl Report {
    /// A report that counts only the tests whose names contain a text.
    pub fn only(text: &str) -> Report {
        Report { only: text.to_owned(), ..Report::default() }
    }

    /// Whether a test of this name is to run; results of others are not counted.
    pub fn selects(&self, test: &str) -> bool {
        format!("{}/{test}", self.suite).contains(&self.only)
    }

    /// The text that the names of tests must contain, for a program that filters by itself; empty for all.
    pub fn filter(&self) -> &str {
        let suite = self.only.strip_prefix(self.suite).and_then(|rest| rest.strip_prefix('/'));
        if self.suite.contains(&self.only) { "" } else { suite.unwrap_or(&self.only) }
    }

    /// An empty report for a part of the suite that runs beside others.
    pub fn part(&self) -> Report {
        Report { suite: self.suite, only: self.only.clone(), ..Report::default() }
    }

    /// Begins a suite.
    pub fn begin(&mut self, suite: &'static str) {
        self.suite = suite;
        self.at_begin = (self.passed, self.failed, self.skipped);
        self.began = Some(Instant::now());
    }

    /// Ends the suite and prints its counts and how long it took.
    pub fn end(&self) {
        let (passed, failed, skipped) = self.at_begin;
        let (passed, failed, skipped) = (self.passed - passed, self.failed - failed, self.skipped - skipped);
        let seconds = self.began.map_or(0, |began| began.elapsed().as_secs());
        ui::note(format!("{}: {passed} passed, {failed} failed, {skipped} skipped, {seconds} s", self.suite));
    }

    /// Adds the counts of another report.
    pub fn add(&mut self, other: &Report) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Counts a passed test.
    pub fn pass(&mut self, test: &str) {
        self.passed += usize::from(self.selects(test));
    }

    /// Counts several passed tests.
    pub fn add_passed(&mut self, number: usize) {
        self.passed += number;
    }

    /// Counts a failed test and prints the text at once.
    pub fn fail(&mut self, test: &str, text: &str) {
        if self.selects(test) {
            self.failed_among(test, text);
        }
    }

    /// Counts a failure whatever names are selected: of the suite itself, or of tests that were filtered already.
    pub fn failed_among(&mut self, tests: &str, text: &str) {
        self.failed += 1;
        ui::note(format!("FAILED {}/{tests}: {text}", self.suite));
    }

    /// Counts a test that could not run, and prints the reason.
    pub fn skip(&mut self, test: &str, why: &str) {
        if !self.selects(test) {
            return;
        }
        self.skipped += 1;
        ui::note(format!("skipped {}/{test}: {why}", self.suite));
    }

    /// Runs a step as one test, unless its name is not selected.
    pub fn step<T>(&mut self, test: &str, step: impl FnOnce() -> Result<T>) -> Result<()> {
        if !self.selects(test) {
            return Ok(());
        }
        match step() {
            Ok(_) => self.pass(test),
            Err(failure) => self.fail(test, &failure.to_string()),
        }
        Ok(())
    }

    /// Counts a condition as one test.
    pub fn check(&mut self, test: &str, holds: bool, text: impl FnOnce() -> String) {
        match holds {
            true => self.pass(test),
            false => self.fail(test, &text()),
        }
    }

    /// Tests counted so far.
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.skipped
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
