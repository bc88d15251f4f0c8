//! The C programs of `tests/conformance/c`, built by a library's `mpicc`, run under its `mpiexec` by the manifest.
//!
//! Invariant: every C file is in the manifest, so that each one runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    judge: impl FnMut(&Entry, &Outcome) -> Verdict,
) -> Result<()> {
    run_by(library, entries, report, 1, |ranks, program| library.launch(ranks, program), judge)
}

/// The same with a launcher, which starts a program on so many ranks; as many runs at once as there are `lanes`.
pub fn run_by(
    library: &Library,
    mut entries: Vec<Entry>,
    report: &mut Report,
    lanes: usize,
    launch: impl Fn(usize, &Path) -> Command + Sync,
    mut judge: impl FnMut(&Entry, &Outcome) -> Verdict,
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
    let runs: Vec<(&Entry, usize)> =
        entries.iter().flat_map(|entry| entry.ranks.iter().map(move |&ranks| (entry, ranks))).collect();
    let mut progress = ui::Progress::new(runs.len());
    let run = |lane: usize, &(entry, ranks): &(&Entry, usize)| -> Result<(Outcome, Option<String>)> {
        let program = folder.join(&entry.program);
        let mut command = launch(ranks, &program);
        command
            .env("TMPDIR", temporary(lane))
            .args(&entry.arguments)
            .envs(entry.environment.iter().map(|(name, value)| (name, value)));
        let before = Before::new(&temporary(lane));
        let outcome = process::run(&mut command, entry.limit)?;
        let left = if library.name == "ferrum" { before.left(&program) } else { None };
        Ok((outcome, left))
    };
    let mut failure = Ok(());
    let take = |(entry, ranks): (&Entry, usize), result: Result<(Outcome, Option<String>)>| {
        let title = entry.title(ranks);
        progress.part(&title);
        match result.map(|(outcome, left)| (judge(entry, &outcome), left)) {
            Ok((Verdict::Passed, None)) => report.pass(&title),
            Ok((Verdict::Passed, Some(left))) => report.fail(&title, &left),
            Ok((Verdict::Failed(text), _)) => report.fail(&title, &text),
            Ok((Verdict::Skipped(reason), _)) => report.skip(&title, &reason),
            Err(error) => failure = Err(error),
        }
    };
    lanes::run(lanes, runs, |(entry, _)| &entry.program, run, take);
    for lane in 0..lanes {
        fs::remove_dir_all(temporary(lane))?;
    }
    failure
}

/// Builds each program once, two at a time; returns those that could not be built.
fn build(
    library: &Library,
    sources: &Path,
    folder: &Path,
    entries: &[Entry],
    report: &mut Report,
) -> Result<BTreeSet<String>> {
    let programs: BTreeSet<&str> = entries.iter().map(|entry| entry.program.as_str()).collect();
    let programs: Vec<&str> = programs.into_iter().collect();
    let include = format!("-I{}", sources.display());
    let compile = |program: &&str| -> Option<(String, String)> {
        let (source, output) = (sources.join(program).with_extension("c"), folder.join(program));
        let made = output.parent().map_or(Ok(()), fs::create_dir_all).map_err(crate::Failure::from);
        // Warnings are errors: the header is under test too.
        let options = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-pthread", &include];
        let built = made.and_then(|()| library.compile(&source, &output, &options));
        built.err().map(|failure| ((*program).to_owned(), failure.to_string()))
    };
    let (first, second) = programs.split_at(programs.len() / 2);
    let broken: Vec<(String, String)> = std::thread::scope(|scope| {
        let other = scope.spawn(|| second.iter().filter_map(compile).collect::<Vec<_>>());
        let mut broken: Vec<_> = first.iter().filter_map(compile).collect();
        broken.extend(other.join().expect("compiling does not panic"));
        broken
    });
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
