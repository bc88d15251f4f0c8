//! Whole programs of the kinds that users write (`tests/applications`), whose output must be the same, byte for byte,
//! with our library and with MPICH.
//!
//! Not here: programs that test one rule each (`conformance`).

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{Context, Report};
use crate::peers::Library;
use crate::{Result, paths, process};

const APPLICATIONS: [&str; 4] = ["halo3d", "fft_transpose", "particles", "master_worker"];
const RANKS: [usize; 4] = [1, 2, 4, 6];
const LIMIT: Duration = Duration::from_secs(60);

/// Runs each program on both libraries and compares what it prints.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let ours = Library::ferrum(context.dist()?);
    let folder = paths::scratch("applications");
    fs::create_dir_all(&folder)?;
    let theirs = Library::mpich();
    for name in APPLICATIONS {
        if RANKS.iter().all(|ranks| !report.selects(&test(name, *ranks))) {
            continue;
        }
        let built = compile(&ours, name, &folder)?;
        let reference = match &theirs {
            Ok(mpich) => Some((mpich, compile(mpich, name, &folder)?)),
            Err(_) => None,
        };
        for ranks in RANKS {
            let test = test(name, ranks);
            if !report.selects(&test) {
                continue;
            }
            let outcome = process::run(&mut ours.launch(ranks, &built), LIMIT)?;
            if !outcome.success() || !outcome.stderr.is_empty() {
                report.fail(&test, &outcome.report());
                continue;
            }
            match (&reference, &theirs) {
                (Some((mpich, program)), _) => {
                    let expected = process::run(&mut mpich.launch(ranks, program), LIMIT)?;
                    report.check(&test, expected.success() && expected.stdout == outcome.stdout, || {
                        format!("MPICH:\n{}\nours:\n{}", expected.report(), outcome.report())
                    });
                }
                (None, Err(missing)) => report.skip(&test, &format!("it runs, but MPICH is missing: {missing}")),
                (None, Ok(_)) => unreachable!("a library that is there compiled the program"),
            }
        }
    }
    Ok(())
}

fn test(program: &str, ranks: usize) -> String {
    format!("{program} {ranks}")
}

fn compile(library: &Library, name: &str, folder: &Path) -> Result<std::path::PathBuf> {
    let source = paths::root().join("tests/applications").join(name).with_extension("c");
    let program = folder.join(format!("{name}.{}", library.name));
    library.compile(&source, &program, &["-O2", "-Wall", "-Wextra", "-Werror", "-Wl,--no-as-needed", "-lm"])?;
    Ok(program)
}
