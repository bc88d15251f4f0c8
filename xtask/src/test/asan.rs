//! The conformance programs on a library with AddressSanitizer, which must not report anything.
//!
//! Every program runs with the numbers of ranks of the manifest up to `MOST_RANKS`. Where the compilers have no
//! sanitizer the programs run under valgrind on the distribution; without valgrind too the suite is skipped.

use super::conformance::{self, Verdict};
use super::{Context, Report};
use crate::dist::sanitised;
use crate::peers::Library;
use crate::process::Outcome;
use crate::{Result, tools, ui};

/// Larger runs execute the same code again and take most of the time.
const MOST_RANKS: usize = 4;

/// Factor on the time limit of a program.
const SLOWER: u32 = 4;

/// The suite `asan`.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let library = match sanitised::possible() {
        Ok(()) => Library::sanitised(&sanitised::build(context.dist()?)?),
        Err(failure) if tools::found("valgrind") => {
            ui::note(format!("no AddressSanitizer here, valgrind in its place: {failure}"));
            Library::under_valgrind(context.dist()?)
        }
        Err(failure) => {
            report.skip("all", &format!("neither AddressSanitizer nor valgrind works here: {failure}"));
            return Ok(());
        }
    };
    let mut entries = conformance::entries()?;
    for entry in &mut entries {
        entry.ranks.retain(|&ranks| ranks <= MOST_RANKS);
        entry.limit *= SLOWER;
    }
    for entry in entries.extract_if(.., |entry| entry.asan.is_some()) {
        for &ranks in &entry.ranks {
            report.skip(&entry.title(ranks), entry.asan.as_deref().unwrap_or_default());
        }
    }
    conformance::run_all(&library, entries, report, |entry, outcome| match (reports(outcome), entry.verdict(outcome)) {
        (Some(line), _) => Verdict::Failed(format!("{line}\n{}", outcome.report())),
        (None, Some(text)) => Verdict::Failed(text),
        (None, None) => Verdict::Passed,
    })
}

/// The line by which AddressSanitizer or valgrind reports an error, whatever status the program ended with.
fn reports(outcome: &Outcome) -> Option<&str> {
    let mut lines = outcome.stdout.lines().chain(outcome.stderr.lines());
    lines.find(|line| {
        line.contains("ERROR: AddressSanitizer") || (line.starts_with("==") && line.contains("== Invalid "))
    })
}
