//! The installed headers in every version of C and C++, with all warnings as errors: each header alone, every name of
//! the interface, a program that uses a function of each kind; and that a program's own mistakes are still refused.
//!
//! Invariant: a header of the distribution is compiled, or is a part of one that is.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::dist::HEADERS;
use crate::process::Outcome;
use crate::spec::Spec;
use crate::{Result, paths, process, tools};

const LIMIT: Duration = Duration::from_secs(120);

/// The warnings that are errors, in both languages.
pub const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// Whether programs in a language include a header; the others are parts of these, or are for C++ alone.
fn is_for(header: &str, wrapper: &str) -> bool {
    match header {
        "mpicxx.h" => wrapper == CXX.wrapper,
        part => part != "mpit_draft_calls.h" && !part.starts_with("mpicxx_"),
    }
}

/// The versions of C++.
pub const CXX_VERSIONS: [&str; 6] = ["c++98", "c++11", "c++14", "c++17", "c++20", "c++2b"];

/// A language: its versions, and the options of every compilation.
struct Language {
    versions: &'static [&'static str],
    options: &'static [&'static str],
    wrapper: &'static str,
    variable: &'static str,
}

const C: Language = Language {
    versions: &["c90", "gnu90", "c99", "c11", "c17", "c2x"],
    options: &["-x", "c", "-Wstrict-prototypes"],
    wrapper: "mpicc",
    variable: "FERRUM_CC",
};
const CXX: Language =
    Language { versions: &CXX_VERSIONS, options: &["-x", "c++"], wrapper: "mpicxx", variable: "FERRUM_CXX" };

/// The compilers, with the Debian package of each.
const COMPILERS: [(&str, &str, Language); 4] =
    [("gcc", "gcc", C), ("g++", "g++", CXX), ("clang", "clang", C), ("clang++", "clang", CXX)];

/// The mistakes of `tests/headers/mistakes.c`.
const MISTAKES: [&str; 5] = ["LONG_LONG", "UNUSED", "OTHER_HANDLE", "WRITTEN_CONSTANT", "SIGNS"];

/// The suite `headers`.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let folder = paths::scratch("headers");
    fs::create_dir_all(&folder)?;
    let every = folder.join("every_name.c");
    fs::write(&every, every_name(&Spec::read(&paths::root())?))?;
    for (compiler, package, language) in COMPILERS {
        if let Err(missing) = tools::need(compiler, package, context.install) {
            report.skip(compiler, &missing.to_string());
            continue;
        }
        let bench = Bench { dist, folder: &folder, compiler, language: &language };
        for version in language.versions {
            bench.version(version, &every, report)?;
        }
        bench.mistakes(report)?;
    }
    Ok(())
}

/// One compiler.
struct Bench<'a> {
    dist: &'a Path,
    folder: &'a Path,
    compiler: &'a str,
    language: &'a Language,
}

impl Bench<'_> {
    /// All sources by one version of the language.
    fn version(&self, version: &str, every: &Path, report: &mut Report) -> Result<()> {
        let title = |what: &str| format!("{} -std={version}: {what}", self.compiler);
        for header in HEADERS.iter().filter(|header| is_for(header, self.language.wrapper)) {
            let title = title(header);
            if report.selects(&title) {
                let source = self.folder.join("alone.c");
                fs::write(&source, format!("#include <{header}>\n#include <{header}>\nextern int nothing;\n"))?;
                let outcome = self.compile(version, &source, &["-DFERRUM_REMOVED_FUNCTIONS"])?;
                report.check(&title, outcome.success(), || outcome.report());
            }
        }
        let names = title("every name");
        if report.selects(&names) {
            let outcome = self.compile(version, every, &[])?;
            report.check(&names, outcome.success(), || outcome.report());
        }
        let program = title("program");
        if report.selects(&program) {
            self.program(version, &program, report)?;
        }
        Ok(())
    }

    /// Compiles a source file, to nothing.
    fn compile(&self, version: &str, source: &Path, options: &[&str]) -> Result<Outcome> {
        let mut command = Command::new(self.compiler);
        command.arg(format!("-std={version}")).args(WARNINGS).args(self.language.options).args(options);
        command.arg("-I").arg(self.dist.join("include")).args(["-c", "-o", "/dev/null"]).arg(source);
        process::run(command.env("LC_ALL", "C"), LIMIT)
    }

    /// Builds the program with the compiler wrapper, and runs it.
    fn program(&self, version: &str, title: &str, report: &mut Report) -> Result<()> {
        let output = self.folder.join("uses");
        let mut command = Command::new(self.dist.join("bin").join(self.language.wrapper));
        command.env(self.language.variable, self.compiler).arg(format!("-std={version}")).args(WARNINGS);
        command.args(self.language.options).arg(sources().join("uses.c")).args(["-x", "none", "-o"]).arg(&output);
        let built = process::run(&mut command, LIMIT)?;
        if !built.success() {
            report.fail(title, &built.report());
            return Ok(());
        }
        let mut command = Command::new(self.dist.join("bin/mpiexec"));
        let outcome = process::run(command.args(["-n", "2"]).arg(&output), LIMIT)?;
        let good = outcome.success() && outcome.stdout == "No Errors\n";
        report.check(title, good, || outcome.report());
        Ok(())
    }

    /// The oldest version, which the headers need most exceptions for, refuses each mistake in a program.
    fn mistakes(&self, report: &mut Report) -> Result<()> {
        let (version, source) = (self.language.versions[0], sources().join("mistakes.c"));
        for mistake in [None].into_iter().chain(MISTAKES.map(Some)) {
            let title = format!("{} -std={version}: mistake {}", self.compiler, mistake.unwrap_or("of no kind"));
            if report.selects(&title) {
                let option = format!("-D{}", mistake.unwrap_or("NONE"));
                let outcome = self.compile(version, &source, &[&option])?;
                // The message is about the program, not about a header.
                let refused =
                    outcome.stderr.lines().any(|line| line.contains("mistakes.c:") && line.contains("error:"));
                report.check(&title, outcome.success() == mistake.is_none() && refused != outcome.success(), || {
                    outcome.report()
                });
            }
        }
        Ok(())
    }
}

fn sources() -> PathBuf {
    paths::root().join("tests/headers")
}

/// A source that names every type, callback type, constant and function of `mpi.h`, in the common part of C89 and C++98.
fn every_name(spec: &Spec) -> String {
    let mut text = String::from("#include <mpi.h>\n\n");
    let types = spec.types.iter().map(|each| each.name.clone());
    for (number, name) in types.chain(spec.callbacks.iter().map(|each| format!("{} *", each.name))).enumerate() {
        let _ = writeln!(text, "extern {name} type_{number};");
    }
    text.push_str("\nvoid constants(void);\nvoid constants(void)\n{\n");
    for constant in &spec.constants {
        let _ = writeln!(text, "    (void){};", constant.name);
    }
    text.push_str("}\n\ntypedef void (*any)(void);\nextern const any functions[];\nconst any functions[] = {\n");
    for function in spec.implemented().filter(|function| !function.removed()) {
        for prefix in ["MPI_", "PMPI_"] {
            let _ = writeln!(text, "    (any){prefix}{},", function.name);
        }
    }
    // C89 has no comma after the last value.
    text.push_str("    (any)0\n};\n");
    text
}
