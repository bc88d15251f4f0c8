//! Every function with every wrong argument, generated from `spec/`: the right error class, one call of the right
//! object's handler, no argument changed, and messages still delivered afterwards. And every function that needs MPI,
//! called before initialisation and after finalisation: an error without any other effect.
//!
//! The programs are written to the target folder at each run: they contain only what follows from `spec/` and
//! `tests/arguments`, so there is nothing in them to review.
//! Invariant: a function without a case is named with its reason; a case that ends its program is one failure, and
//! those after it still run.

mod source;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Context, Report};
use crate::peers::Library;
use crate::process::Outcome;
use crate::spec::Spec;
use crate::{Failure, Result, paths, process, ui};
use source::Program;
use values::Values;

const LIMIT: Duration = Duration::from_secs(20);
/// Numbers of ranks that each program runs with.
const RANKS: [usize; 2] = [1, 2];

/// Generates, builds and runs the programs of all chapters.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let spec = Spec::read(&paths::root())?;
    let values = Values::read(&paths::root())?;
    let library = Library::ferrum(context.dist()?);
    let folder = paths::scratch("arguments");
    fs::create_dir_all(&folder)?;
    let have: String = spec.implemented().map(|function| format!("#define HAVE_MPI_{} 1\n", function.name)).collect();
    fs::write(folder.join("have.h"), have)?;
    let (mut cases, mut without) = (0, BTreeMap::<&str, Vec<String>>::new());
    let mut list = String::new();
    for chapter in chapters(&spec) {
        let program = source::program(&spec, &values, chapter)?;
        cases += program.cases.len() + program.outside.len();
        list.extend(program.cases.iter().chain(&program.outside).map(|case| format!("{case}\n")));
        for (function, reason) in &program.without {
            without.entry(reason).or_default().push(function.clone());
        }
        if !report.selects(chapter) && !program.cases.iter().chain(&program.outside).any(|case| report.selects(case)) {
            continue;
        }
        if let Err(failure) = chapter_runs(&library, &folder, chapter, &program, report) {
            report.fail(chapter, &failure.to_string());
        }
    }
    fs::write(folder.join("cases.txt"), list)?;
    ui::note(format!("{cases} cases, listed in {}", folder.join("cases.txt").display()));
    for (reason, functions) in without {
        ui::note(format!("no case, because {reason}: {}", functions.join(" ")));
    }
    Ok(())
}

/// Every case of every chapter.
pub fn cases() -> Result<Vec<String>> {
    let spec = Spec::read(&paths::root())?;
    let values = Values::read(&paths::root())?;
    let mut cases = Vec::new();
    for chapter in chapters(&spec) {
        let program = source::program(&spec, &values, chapter)?;
        cases.extend(program.cases.into_iter().chain(program.outside));
    }
    Ok(cases)
}

fn chapters(spec: &Spec) -> BTreeSet<&str> {
    spec.implemented().map(|function| function.chapter.as_str()).collect()
}

fn chapter_runs(library: &Library, folder: &Path, chapter: &str, program: &Program, report: &mut Report) -> Result<()> {
    let (source, binary) = (folder.join(format!("{chapter}.c")), folder.join(chapter));
    fs::write(&source, &program.text)?;
    let include = format!("-I{}", paths::root().join("tests/arguments").display());
    let own = format!("-I{}", folder.display());
    let options =
        ["-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-unused-parameter", "-Wno-cast-function-type"];
    let options: Vec<&str> =
        options.into_iter().chain(["-Wno-deprecated-declarations", "-Wno-nonnull", &include, &own]).collect();
    library.compile(&source, &binary, &options)?;
    for ranks in RANKS {
        let run = Run { library, folder, binary: &binary, ranks, outside: false };
        run.all(&program.cases, report)?;
    }
    let run = Run { library, folder, binary: &binary, ranks: 1, outside: true };
    run.all(&program.outside, report)
}

/// One program, run so often that each of its cases has begun once.
struct Run<'r> {
    library: &'r Library,
    folder: &'r Path,
    binary: &'r Path,
    ranks: usize,
    /// Right calls outside of MPI, instead of wrong calls inside.
    outside: bool,
}

impl Run<'_> {
    fn all(&self, cases: &[String], report: &mut Report) -> Result<()> {
        let mut outcomes = Outcomes::default();
        let mut first = 1;
        while first <= cases.len() {
            let (outcome, last) = self.from(first, &mut outcomes)?;
            if outcome.success() && outcomes.ended {
                break;
            }
            if last < first {
                let place = format!("{} -n {}, before any case", self.binary.display(), self.ranks);
                return Err(Failure::from(outcome.report()).during(place));
            }
            let text = format!("the program does not continue: {}", outcome.report());
            outcomes.wrong.entry(last).or_default().push(text);
            first = last + 1;
        }
        for (index, case) in cases.iter().enumerate() {
            let title = format!("{case} -n {}", self.ranks);
            match outcomes.wrong.get(&(index + 1)) {
                Some(texts) => report.fail(&title, &texts.join("\n      ")),
                None if outcomes.right.contains(&(index + 1)) => report.pass(&title),
                None if outcomes.skipped.contains(&(index + 1)) => {}
                None => report.fail(&title, "was not run"),
            }
        }
        Ok(())
    }

    /// Runs the cases from this number on; the last one that was begun.
    fn from(&self, first: usize, outcomes: &mut Outcomes) -> Result<(Outcome, usize)> {
        let lines = self.binary.with_extension("lines");
        let mut command = self.library.launch(self.ranks, self.binary);
        // Some cases open a file in the folder of the run.
        command.current_dir(self.folder).arg(&lines).arg(first.to_string());
        if self.outside {
            // There is no communicator to set a handler on.
            command.arg("outside").env("FERRUM_INITIAL_ERRHANDLER", "mpi_errors_return");
        }
        let outcome = process::run(&mut command, LIMIT)?;
        let last = outcomes.read(&lines, self.ranks)?;
        Ok((outcome, last))
    }
}

/// The results that the lines of all ranks report.
#[derive(Default)]
struct Outcomes {
    right: BTreeSet<usize>,
    /// Cases that need more ranks than the run has.
    skipped: BTreeSet<usize>,
    wrong: BTreeMap<usize, Vec<String>>,
    ended: bool,
}

impl Outcomes {
    /// Reads and removes the lines of one run; the last case that was begun.
    fn read(&mut self, lines: &Path, ranks: usize) -> Result<usize> {
        let mut last = 0;
        self.ended = true;
        for rank in 0..ranks {
            let path = PathBuf::from(format!("{}.{rank}", lines.display()));
            let text = fs::read_to_string(&path).unwrap_or_default();
            let mut ended = false;
            for line in text.lines() {
                let mut words = line.splitn(3, ' ');
                let (word, number) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                let number: usize = number.parse().map_err(|_| format!("no line of a test: {line}"))?;
                match word {
                    "begin" => last = last.max(number),
                    "right" => _ = self.right.insert(number),
                    "skipped" => _ = self.skipped.insert(number),
                    "wrong" => {
                        let text = format!("rank {rank}: {}", words.next().unwrap_or_default());
                        self.wrong.entry(number).or_default().push(text);
                    }
                    _ => ended = true,
                }
            }
            self.ended &= ended;
            // The next run must not read them again.
            let _ = fs::remove_file(&path);
        }
        Ok(last)
    }
}
