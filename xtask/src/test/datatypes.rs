//! Random derived datatypes: a C program writes sizes, bounds, packed bytes and a file in external32 as the library has
//! them, and a model in Python with numpy, which shares no code with the library, computes the same
//! (`tests/datatypes`).
//!
//! Invariant: the cases follow from the seed, which the test prints, so that a failure can be repeated.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::peers::{self, Library};
use crate::{Result, paths, process, ui};

const LIMIT: Duration = Duration::from_secs(240);
/// Number of random types.
const CASES: &str = "3000";
/// The seed without the option.
const SEED: &str = "20260101";

/// One run of all cases; skipped where numpy cannot be installed.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let python = match peers::environment("numpy", "numpy", "bin/f2py") {
        Ok(venv) => venv.join("bin/python"),
        Err(failure) => {
            report.skip("model", &failure.to_string());
            return Ok(());
        }
    };
    let library = Library::ferrum(context.dist()?);
    let (sources, folder) = (paths::root().join("tests/datatypes"), paths::scratch("datatypes"));
    fs::create_dir_all(&folder)?;
    let program = folder.join("cases");
    library.compile(&sources.join("cases.c"), &program, &["-O1", "-Wall", "-Wextra", "-Werror"])?;
    let seed = context.seed.as_deref().unwrap_or(SEED);
    report.step("model", || compare(&library, &folder, &program, (&python, &sources.join("model.py")), seed))
}

fn compare(
    library: &Library,
    folder: &Path,
    program: &Path,
    (python, model): (&Path, &Path),
    seed: &str,
) -> Result<()> {
    let [list, answers, external] = ["cases", "answers", "external32"].map(|end| folder.join(format!("random.{end}")));
    let made = process::must(Command::new(python).arg(model).arg("make").arg(&list).args([CASES, seed]), LIMIT)?;
    ui::step(format!("{CASES} random types, {}", made.stdout.trim()));
    process::must(library.launch(1, program).args([&list, &answers, &external]), LIMIT)?;
    let check = process::run(Command::new(python).arg(model).arg("check").args([&list, &answers, &external]), LIMIT)?;
    if check.success() { Ok(()) } else { Err(check.report().into()) }
}
