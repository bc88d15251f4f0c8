//! The C programs of `tests/conformance/c`, built by a library's `mpicc`, run under its `mpiexec` as the manifest says.
//!
//! Invariant: every C file is in the manifest, so that none is forgotten.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::manifest::{self, Entry};
use super::{Context, Report};
use crate::peers::Library;
use crate::{Result, paths, process, ui};

/// Builds and runs all of the manifest.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let sources = paths::root().join("tests/conformance/c");
    let mut entries = manifest::parse(&fs::read_to_string(sources.with_file_name("manifest"))?)?;
    for forgotten in unlisted(&sources, &entries)? {
        report.fail(&forgotten, "is not in the manifest");
    }
    if let Some(part) = &context.only {
        entries.retain(|entry| entry.program.contains(part.as_str()));
    }
    let library = match context.on.as_deref() {
        None => Library::ferrum(context.dist()?),
        Some("mpich") => Library::mpich_abi()?,
        Some(other) => return Err(format!("cannot run on {other}; there is mpich").into()),
    };
    let folder = paths::scratch("conformance").join(library.name);
    let broken = build(&library, &sources, &folder, &entries, report)?;
    entries.retain(|entry| !broken.contains(&entry.program));
    let mut progress = ui::Progress::new(entries.iter().map(|entry| entry.ranks.len()).sum());
    for entry in &entries {
        for &ranks in &entry.ranks {
            progress.part(&entry.title(ranks));
            run(&library, &folder, entry, ranks, report)?;
        }
    }
    Ok(())
}

fn run(library: &Library, folder: &Path, entry: &Entry, ranks: usize, report: &mut Report) -> Result<()> {
    let mut command: Command = library.launch(ranks, &folder.join(&entry.program));
    command.args(&entry.arguments).envs(entry.environment.iter().map(|(name, value)| (name, value)));
    let outcome = process::run(&mut command, entry.limit)?;
    match (entry.verdict(&outcome), &entry.mpich) {
        (None, _) => report.pass(),
        (Some(_), Some(reason)) if library.name == "mpich-abi" => report.skip(&entry.title(ranks), reason),
        (Some(text), _) => report.fail(&entry.title(ranks), &text),
    }
    Ok(())
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
