//! The C programs of `tests/conformance/c`, built by a library's `mpicc`, run under its `mpiexec` by the manifest.
//!
//! Invariant: every C file is in the manifest, so that each one runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::leftovers::Before;
use super::manifest::{self, Entry};
use super::{Context, Report, lanes};
use crate::peers::Library;
use crate::process::{self, Outcome};
use crate::{Result, paths, ui};

/// Builds and runs all of the manifest.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let sources = sources();
    let entries = entries()?;
    for missing in unlisted(&sources, &entries)? {
        report.fail(&missing, "is not in the manifest");
    }
    let library = match context.on.as_deref() {
        None => Library::ferrum(context.dist()?),
        Some("mpich") => Library::mpich_abi()?,
        Some(other) => return Err(format!("cannot run on {other}; there is mpich").into()),
    };
    run_all(&library, entries, report, |entry, outcome| match (entry.verdict(outcome), &entry.mpich) {
        (Some(_), Some(reason)) if library.name == "mpich-abi" => Verdict::Skipped(reason.clone()),
        (Some(text), _) => Verdict::Failed(text),
        (None, _) => Verdict::Passed,
    })
}

/// The result of a run.
pub enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

/// The lines of the manifest.
pub fn entries() -> Result<Vec<Entry>> {
    manifest::parse(&fs::read_to_string(sources().with_file_name("manifest"))?)
}

fn sources() -> PathBuf {
    paths::root().join("tests/conformance/c")
}

/// Builds the programs of these lines with a library, runs them and judges each run.
pub fn run_all(
    library: &Library,
    entries: Vec<Entry>,
    report: &mut Report,
    mut judge: impl FnMut(&Entry, &Outcome) -> Verdict,
) -> Result<()> {
    let launch = |run: &Run<'_>, program: &Path| library.launch(run.ranks, program);
    run_by(library, entries, report, lanes::usual(), launch, |run, outcome| judge(run.entry, outcome))
}

/// Factor on the time limit of a program that runs beside others, at most.
const SLOWEST: usize = 2;

/// One run of a program.
pub struct Run<'e> {
    /// The line of the manifest.
    pub entry: &'e Entry,
    /// Number of ranks.
    pub ranks: usize,
    /// A number that no other run of the same call has.
    pub number: usize,
}

/// The same with a launcher, which gives the command of a run of a program; as many runs at once as there are `lanes`, then, one
/// after the other, the runs of programs that need the machine for themselves.
pub fn run_by(
    library: &Library,
    mut entries: Vec<Entry>,
    report: &mut Report,
    lanes: usize,
    launch: impl Fn(&Run<'_>, &Path) -> Command + Sync,
    mut judge: impl FnMut(&Run<'_>, &Outcome) -> Verdict,
) -> Result<()> {
    for entry in &mut entries {
        let (program, ranks) = (entry.program.clone(), entry.ranks.clone());
        entry.ranks = ranks
            .into_iter()
            .filter(|&ranks| report.selects(&entry.title(ranks)) || report.selects(&program))
            .collect();
    }
    entries.retain(|entry| !entry.ranks.is_empty());
    let folder = paths::scratch("conformance").join(library.name);
    let broken = build(library, &sources(), &folder, &entries, report)?;
    entries.retain(|entry| !broken.contains(&entry.program));
    // Files that a failed program leaves are removed with the folder, of which each lane has its own.
    let temporary = |lane: usize| folder.join(format!("tmp{lane}"));
    for lane in 0..lanes {
        fs::create_dir_all(temporary(lane))?;
    }
    let runs = entries.iter().flat_map(|entry| entry.ranks.iter().map(move |&ranks| (entry, ranks))).enumerate();
    let runs: Vec<Run<'_>> = runs.map(|(number, (entry, ranks))| Run { entry, ranks, number }).collect();
    let mut progress = ui::Progress::new(runs.len());
    let execute = |lane: usize, run: &Run<'_>| -> Result<(Outcome, Option<String>)> {
        let (entry, program) = (run.entry, folder.join(&run.entry.program));
        let mut command = launch(run, &program);
        command
            .env("TMPDIR", temporary(lane))
            .args(&entry.arguments)
            .envs(entry.environment.iter().map(|(name, value)| (name, value)));
        let before = Before::new(&temporary(lane));
        let share = if entry.alone.is_some() { 1 } else { lanes.min(SLOWEST) };
        let outcome = process::run(&mut command, entry.limit * share as u32)?;
        let left = if library.name == "ferrum" { before.left(&program) } else { None };
        Ok((outcome, left))
    };
    let mut failure = Ok(());
    let mut take = |run: Run<'_>, result: Result<(Outcome, Option<String>)>| {
        let title = run.entry.title(run.ranks);
        progress.part(&title);
        match result.map(|(outcome, left)| (judge(&run, &outcome), left)) {
            Ok((Verdict::Passed, None)) => report.pass(&title),
            Ok((Verdict::Passed, Some(left))) => report.fail(&title, &left),
            Ok((Verdict::Failed(text), _)) => report.fail(&title, &text),
            Ok((Verdict::Skipped(reason), _)) => report.skip(&title, &reason),
            Err(error) => failure = Err(error),
        }
    };
    let (beside, alone): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.entry.alone.is_none());
    for (lanes, runs) in [(lanes, beside), (1, alone)] {
        lanes::run(lanes, runs, |run| &run.entry.program, execute, &mut take);
    }
    for lane in 0..lanes {
        fs::remove_dir_all(temporary(lane))?;
    }
    failure
}

/// The programs that this process has built: the suites that run them with the same library build them once.
static BUILT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Builds each program once, as many at a time as there are cores; returns those that could not be built.
fn build(
    library: &Library,
    sources: &Path,
    folder: &Path,
    entries: &[Entry],
    report: &mut Report,
) -> Result<BTreeSet<String>> {
    let mut programs: BTreeSet<&str> = entries.iter().map(|entry| entry.program.as_str()).collect();
    let built = || BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    programs.retain(|program| !built().contains(&folder.join(program)));
    let include = format!("-I{}", sources.display());
    let compile = |_, program: &&str| -> Result<()> {
        let (source, output) = (sources.join(program).with_extension("c"), folder.join(program));
        let made = output.parent().map_or(Ok(()), fs::create_dir_all).map_err(crate::Failure::from);
        // Warnings are errors: the header is under test too.
        let options = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-pthread", &include];
        made.and_then(|()| library.compile(&source, &output, &options))
    };
    let mut broken: Vec<(String, String)> = Vec::new();
    let take = |program: &str, result: Result<()>| match result {
        Ok(()) => drop(built().insert(folder.join(program))),
        Err(failure) => broken.push((program.to_owned(), failure.to_string())),
    };
    lanes::run(lanes::usual(), programs.into_iter().collect(), |program| program, compile, take);
    for (program, text) in &broken {
        let reason = entries.iter().find(|entry| entry.program == *program).and_then(|entry| entry.mpich.as_deref());
        match reason.filter(|_| library.name == "mpich-abi") {
            Some(reason) => report.skip(program, reason),
            None => report.fail(program, text),
        }
    }
    Ok(broken.into_iter().map(|(program, _)| program).collect())
}

/// C files that no line of the manifest names.
fn unlisted(sources: &Path, entries: &[Entry]) -> Result<Vec<String>> {
    let listed: BTreeSet<PathBuf> =
        entries.iter().map(|entry| sources.join(&entry.program).with_extension("c")).collect();
    let mut unlisted = Vec::new();
    for chapter in fs::read_dir(sources)? {
        let chapter = chapter?.path();
        if chapter.is_dir() {
            for file in fs::read_dir(chapter)? {
                let file = file?.path();
                if file.extension().is_some_and(|ending| ending == "c") && !listed.contains(&file) {
                    unlisted.push(file.strip_prefix(sources).unwrap_or(&file).display().to_string());
                }
            }
        }
    }
    unlisted.sort();
    Ok(unlisted)
}
