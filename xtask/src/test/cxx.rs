//! The namespace `MPI` of `mpicxx.h`: programs in every version of C++, every constant against the one of C, deprecation,
//! and a tool for C under a program in C++.
//!
//! Invariant: every program of `tests/cxx` is built and run. Not here: that the header has no warnings (`headers`).

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::headers::{CXX_VERSIONS, WARNINGS};
use super::{Context, Report};
use crate::process::Outcome;
use crate::table::Table;
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(120);

/// The programs, with their numbers of ranks and their arguments.
const RUNS: [(&str, &str, &[&str]); 8] = [
    ("environment", "2", &[]),
    ("environment", "2", &["threads"]),
    ("environment", "1", &["serialized"]),
    ("errors", "2", &[]),
    ("handles", "1", &[]),
    ("handles", "3", &[]),
    ("topologies", "1", &[]),
    ("topologies", "4", &[]),
];

/// A program that uses the namespace, for its warnings.
const USER: &str = "#include <mpicxx.h>\nint main() { MPI::Init(); MPI::Intracomm comm = MPI::COMM_WORLD; \
                    int one = MPI::SUCCESS; MPI::Finalize(); return one; }\n";

/// The suite `cxx`.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let folder = paths::scratch("cxx");
    // Programs of an earlier run would hide a failure.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let suite = Cxx { dist: context.dist()?, folder };
    for version in CXX_VERSIONS {
        suite.programs(version, report)?;
        suite.constants(version, report)?;
    }
    suite.two_units(report)?;
    suite.deprecated(report)?;
    suite.absent_from_mpi_h(report)?;
    suite.tool(report)?;
    fs::remove_dir_all(&suite.folder)?;
    Ok(())
}

struct Cxx<'a> {
    dist: &'a Path,
    folder: PathBuf,
}

impl Cxx<'_> {
    /// The compiler wrapper with all warnings as errors; the temporary files of a program are removed with the folder.
    fn mpicxx(&self, version: &str) -> Command {
        let mut command = Command::new(self.dist.join("bin/mpicxx"));
        command.arg(format!("-std={version}")).args(WARNINGS).current_dir(&self.folder);
        command
    }

    fn run(&self, ranks: &str, program: &Path, arguments: &[&str]) -> Result<Outcome> {
        let mut command = Command::new(self.dist.join("bin/mpiexec"));
        command.args(["-n", ranks]).arg(program).args(arguments).current_dir(&self.folder).env("TMPDIR", &self.folder);
        process::run(&mut command, LIMIT)
    }

    /// Each program once, then its runs.
    fn programs(&self, version: &str, report: &mut Report) -> Result<()> {
        let mut built = None;
        for (program, ranks, arguments) in RUNS {
            let test = format!("{program} -std={version} -n {ranks} {}", arguments.join(" ")).trim_end().to_owned();
            if !report.selects(&test) {
                continue;
            }
            let output = self.folder.join(format!("{program}-{version}"));
            if built != Some(program) {
                let mut command = self.mpicxx(version);
                command.args(["-O1", "-DFERRUM_CXX_NO_WARNINGS"]).arg(source(program)).arg("-o").arg(&output);
                let outcome = process::run(&mut command, LIMIT)?;
                if !outcome.success() {
                    report.fail(&test, &outcome.report());
                    continue;
                }
                built = Some(program);
            }
            let outcome = self.run(ranks, &output, arguments)?;
            report.check(&test, outcome.success() && outcome.stdout == "No Errors\n", || outcome.report());
        }
        Ok(())
    }

    /// Each constant has the value of C's, and its type: the function with this parameter is the one that is called.
    fn constants(&self, version: &str, report: &mut Report) -> Result<()> {
        let test = format!("constants -std={version}");
        if !report.selects(&test) {
            return Ok(());
        }
        let table = Table::read(&paths::root().join("spec/cxx.tsv"), "cxx.tsv")?;
        let mut text = String::from(
            "#include <mpicxx.h>\n#include <string.h>\n#include <typeinfo>\nstatic int wrong;\n\
             #define SAME(name, type, in_c) same(typeid(MPI::name) == typeid(type) && (in_c), #name)\n\
             static void same(bool right, const char *name)\n{\n    if (!right && ++wrong)\n        \
             fprintf(stderr, \"MPI::%s\\n\", name);\n}\n\nint main()\n{\n    using namespace MPI;\n",
        );
        let mut number = 0;
        for row in table.rows() {
            let (name, constant, class) = (row.cell("name")?, row.cell("constant")?, row.cell("type")?);
            let texts = class.strip_suffix("const").filter(|_| class.contains("char"));
            let cast = texts.map(|texts| format!("const_cast<{texts}>")).unwrap_or_default();
            let _ = writeln!(text, "    SAME({name}, {class}, MPI::{name} == {cast}({constant}));");
            number += 1;
        }
        text.push_str("    puts(wrong ? \"errors\" : \"No Errors\");\n    return wrong;\n}\n");
        let (file, output) = (self.folder.join("constants.cpp"), self.folder.join("constants"));
        fs::write(&file, text)?;
        let mut command = self.mpicxx(version);
        let built = process::run(command.arg("-DFERRUM_CXX_NO_WARNINGS").arg(&file).arg("-o").arg(&output), LIMIT)?;
        if !built.success() {
            report.fail(&test, &built.report());
            return Ok(());
        }
        let outcome = process::run(&mut Command::new(&output), LIMIT)?;
        report.check(&test, outcome.success() && outcome.stdout == "No Errors\n" && number > 200, || outcome.report());
        Ok(())
    }

    /// Two files by different versions of C++ in one program share handlers and exceptions.
    fn two_units(&self, report: &mut Report) -> Result<()> {
        for (first, second) in [("c++98", "c++2b"), ("c++2b", "c++98"), ("c++11", "c++11")] {
            let test = format!("two files, {first} and {second}");
            if !report.selects(&test) {
                continue;
            }
            let mut objects = Vec::new();
            for (version, option) in [(first, "-DFIRST"), (second, "-DSECOND")] {
                let object = self.folder.join(format!("unit{option}.o"));
                let mut command = self.mpicxx(version);
                command.args(["-DFERRUM_CXX_NO_WARNINGS", option, "-c"]).arg(source("two_units"));
                process::must(command.arg("-o").arg(&object), LIMIT)?;
                objects.push(object);
            }
            let output = self.folder.join("two_units");
            process::must(self.mpicxx(first).args(&objects).arg("-o").arg(&output), LIMIT)?;
            let outcome = self.run("2", &output, &[])?;
            report.check(&test, outcome.success() && outcome.stdout == "No Errors\n", || outcome.report());
        }
        Ok(())
    }

    /// Uses of the namespace are warned about, unless the program asks for no warnings.
    fn deprecated(&self, report: &mut Report) -> Result<()> {
        let file = self.folder.join("user.cpp");
        fs::write(&file, USER)?;
        for version in CXX_VERSIONS {
            let compile = |options: &[&str]| {
                let mut command = self.mpicxx(version);
                command.args(["-c", "-o", "/dev/null"]).args(options).arg(&file).env("LC_ALL", "C");
                process::run(&mut command, LIMIT)
            };
            let (loud, quiet) = (compile(&[])?, compile(&["-DFERRUM_CXX_NO_WARNINGS"])?);
            let named = ["Init", "Intracomm", "COMM_WORLD", "SUCCESS"].iter().all(|name| {
                let warned =
                    |line: &str| line.contains("deprecated") && line.contains(name) && line.contains("user.cpp");
                loud.stderr.lines().any(warned)
            });
            report.check(&format!("deprecated -std={version}"), named && !loud.success() && quiet.success(), || {
                format!("with warnings: {}\nwithout: {}", loud.report(), quiet.report())
            });
        }
        Ok(())
    }

    /// `mpi.h` alone has no namespace `MPI`: a program may have its own.
    fn absent_from_mpi_h(&self, report: &mut Report) -> Result<()> {
        let file = self.folder.join("own.cpp");
        let text = "#include <mpi.h>\nstruct MPI { static int Init() { return MPI_SUCCESS; } };\n\
                    int main() { return MPI::Init(); }\n";
        fs::write(&file, text)?;
        let outcome = process::run(self.mpicxx("c++17").args(["-c", "-o", "/dev/null"]).arg(&file), LIMIT)?;
        report.check("mpi.h has no namespace", outcome.success(), || outcome.report());
        Ok(())
    }

    /// A tool for C sees each call of a program in C++ once.
    fn tool(&self, report: &mut Report) -> Result<()> {
        let text = "#include <mpicxx.h>\nint main(int argc, char **argv) {\n    MPI::Init(argc, argv);\n    \
                    int rank = MPI::COMM_WORLD.Get_rank(), got = 0;\n    for (int i = 0; i < 10; i++) {\n        \
                    if (rank == 1) MPI::COMM_WORLD.Send(&i, 1, MPI::INT, 0, 1);\n        \
                    if (rank == 0) MPI::COMM_WORLD.Recv(&got, 1, MPI::INT, 1, 1);\n    }\n    \
                    MPI::Finalize();\n    return rank == 0 && got != 9;\n}\n";
        let (file, tool, output) =
            (self.folder.join("sends.cpp"), self.folder.join("tool.o"), self.folder.join("sends"));
        fs::write(&file, text)?;
        let mut command = Command::new(self.dist.join("bin/mpicc"));
        command.arg("-c").arg(paths::root().join("examples/tools/send_count.c")).arg("-o").arg(&tool);
        process::must(&mut command, LIMIT)?;
        let mut command = self.mpicxx("c++17");
        command.arg("-DFERRUM_CXX_NO_WARNINGS").arg(&file).arg(&tool).arg("-o").arg(&output);
        process::must(&mut command, LIMIT)?;
        let outcome = self.run("2", &output, &[])?;
        let good = outcome.success() && outcome.stderr.contains("send_count: rank 1 sent 10 messages, 40 bytes in ");
        report.check("a tool for C sees each call once", good, || outcome.report());
        Ok(())
    }
}

fn source(program: &str) -> PathBuf {
    paths::root().join("tests/cxx").join(program).with_extension("cpp")
}
