//! The conformance programs with every pair of ranks on the network (`net_force`), on this host.
//!
//! Programs about what processes do with memory that they share are skipped, each with the reason in the manifest.
//! Not here: jobs on several hosts (`hosts`).

use std::path::Path;

use super::conformance::{self, Run, Verdict};
use super::manifest::Entry;
use super::{Context, Report, lanes};
use crate::Result;
use crate::peers::Library;

/// All programs, each with the most ranks of its line in the manifest; with `--whole`, with all numbers from two on.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    if skips_without_libfabric("network", report) {
        return Ok(());
    }
    let mut entries = entries_for(report, |ranks| ranks > 1, |entry| entry.network.as_ref())?;
    for entry in &mut entries {
        if !context.whole {
            let most = entry.ranks.iter().copied().max();
            entry.ranks = most.into_iter().collect();
        }
        entry.environment.push(("FERRUM_NET_FORCE".into(), "all".into()));
    }
    let library = Library::ferrum(context.dist()?);
    let launch = |run: &Run<'_>, program: &Path| library.launch(run.ranks, program);
    conformance::run_by(&library, entries, report, lanes::OF_NETWORK, launch, |run, outcome| {
        match run.entry.verdict(outcome) {
            Some(text) => Verdict::Failed(text),
            None => Verdict::Passed,
        }
    })
}

/// The lines of the manifest, with these numbers of ranks. Counts those as skipped for which there is a reason.
pub fn entries_for(
    report: &mut Report,
    wanted: impl Fn(usize) -> bool,
    reason: impl Fn(&Entry) -> Option<&String>,
) -> Result<Vec<Entry>> {
    let mut entries = conformance::entries()?;
    for entry in &mut entries {
        entry.ranks.retain(|ranks| wanted(*ranks));
        if let Some(reason) = reason(entry).cloned() {
            for ranks in std::mem::take(&mut entry.ranks) {
                if report.selects(&entry.title(ranks)) {
                    report.skip(&entry.title(ranks), &reason);
                }
            }
        }
    }
    Ok(entries)
}

/// Counts a test as skipped if the system has no libfabric; whether that is so.
pub fn skips_without_libfabric(test: &str, report: &mut Report) -> bool {
    let skips = !has_libfabric();
    if skips {
        report.skip(test, "libfabric.so.1 is not found (Debian: libfabric1)");
    }
    skips
}

/// Whether the system has the library.
pub fn has_libfabric() -> bool {
    let folders = ["/lib", "/usr/lib", "/usr/lib64", "/lib64", "/usr/local/lib"];
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    folders.iter().any(|folder| {
        let folder = std::path::Path::new(folder);
        folder.join("libfabric.so.1").exists() || folder.join(&triple).join("libfabric.so.1").exists()
    })
}
