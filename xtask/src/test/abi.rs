//! Comparison of our header and binaries with those of the `mpich` wheel, which has the same standard ABI.
//!
//! Not here: agreement of `mpi.h` with the tables in `spec/` (`codegen`).

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::peers::Library;
use crate::{Result, dist, paths, peers, process};

const LIMIT: Duration = Duration::from_secs(120);

/// The version of the standard that a library implements differs between libraries.
const OWN_VALUE: [&str; 2] = ["MPI_VERSION", "MPI_SUBVERSION"];

/// Programs that exchange libraries, with a number of ranks: a bit of every chapter.
const PROGRAMS: [(&str, usize); 9] = [
    ("env/inquiry_of_versions", 1),
    ("p2p/send_modes", 2),
    ("p2p/completion_of_many", 1),
    ("p2p/wildcard_order", 3),
    ("p2p/large_messages", 2),
    ("coll/reduce_types_and_ops", 3),
    ("coll/user_operations", 2),
    ("comm/names", 2),
    ("datatype/sizes", 1),
];

/// Header, prototypes, and programs run on the other library.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let wheel = match Library::mpich_abi() {
        Ok(wheel) => wheel,
        Err(failure) => {
            report.skip("all", &failure.to_string());
            return Ok(());
        }
    };
    let folder = paths::scratch("abi");
    fs::create_dir_all(&folder)?;
    constants(dist, &folder, report)?;
    prototypes(dist, &folder, report)?;
    swapped(dist, &wheel, &folder, report)
}

fn gcc(include: &Path) -> Command {
    let mut command = Command::new("gcc");
    command.args(["-DMPI_ABI", "-w", "-I"]).arg(include);
    command
}

/// Every constant that both headers have: same value, same type.
fn constants(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let (ours, theirs) = (dist.join("include"), peers::mpich_folder().join("include"));
    let names: BTreeSet<String> =
        constant_names(&ours, folder)?.intersection(&constant_names(&theirs, folder)?).cloned().collect();
    report.check("constants in both", names.len() > 300, || format!("only {} constants are in both", names.len()));
    let (our_facts, their_facts) = (facts(&ours, &names, folder, "ours")?, facts(&theirs, &names, folder, "theirs")?);
    let pairs = our_facts.lines().zip(their_facts.lines());
    let different: Vec<String> = pairs
        .filter(|(our, their)| our != their && !OWN_VALUE.iter().any(|name| our.starts_with(&format!("{name} "))))
        .map(|(our, their)| format!("{our}; in the wheel {their}"))
        .collect();
    report.check("constants", different.is_empty(), || different.join("\n"));
    Ok(())
}

/// The constants of a header, macros and enumerators alike: names in capitals, without macros that have no value.
fn constant_names(include: &Path, folder: &Path) -> Result<BTreeSet<String>> {
    let source = folder.join("names.c");
    fs::write(&source, "#include <mpi.h>\n")?;
    let text = process::must(gcc(include).args(["-E", "-dD", "-P"]).arg(&source), LIMIT)?.stdout;
    let empty: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define "))
        .filter(|definition| definition.split_whitespace().count() < 2)
        .map(str::trim)
        .collect();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let capitals = |word: &&str| word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let names = words.filter(|word| word.starts_with("MPI_")).filter(capitals).filter(|word| !empty.contains(word));
    // A switch of the wheel's header, and the fields of a status.
    let others = ["MPI_ABI", "MPI_SOURCE", "MPI_TAG", "MPI_ERROR"];
    Ok(names.filter(|word| !others.contains(word)).map(str::to_owned).collect())
}

/// One line `name value type` per constant, printed by a program.
fn facts(include: &Path, names: &BTreeSet<String>, folder: &Path, which: &str) -> Result<String> {
    let types = [
        "MPI_Comm",
        "MPI_Datatype",
        "MPI_Errhandler",
        "MPI_File",
        "MPI_Group",
        "MPI_Info",
        "MPI_Message",
        "MPI_Op",
        "MPI_Request",
        "MPI_Session",
        "MPI_Win",
        "MPI_T_enum",
        "MPI_T_cvar_handle",
        "MPI_T_pvar_handle",
        "MPI_T_pvar_session",
        "MPI_Status *",
        "MPI_Copy_function *",
        "MPI_Delete_function *",
        "MPI_Type_copy_attr_function *",
        "MPI_Win_copy_attr_function *",
        "MPI_Datarep_conversion_function *",
        "MPI_Datarep_conversion_function_c *",
        "MPI_Type_delete_attr_function *",
        "MPI_Win_delete_attr_function *",
        "void *",
        "char **",
        "char ***",
        "int *",
        "int",
        "unsigned",
        "long",
        "char *",
        "MPI_Offset",
    ];
    // Types that are one C type cannot both be in a selection, so each has a test of its own.
    let mut source = String::from(
        "#include <mpi.h>\n#include <stdio.h>\n#define IS(x, T) __builtin_types_compatible_p(__typeof__(x), T)\n",
    );
    source.push_str("static const char *t(const int *is) { static const char *n[] = {");
    for name in types {
        let _ = write!(source, "\"{name}\", ");
    }
    source.push_str(
        "\"other\"}; int i = 0; while (i < sizeof n / sizeof *n - 1 && !is[i]) i++; return n[i]; }\nint main(void) {\n",
    );
    for name in names {
        let is: Vec<String> = types.iter().map(|ty| format!("IS({name}, {ty})")).collect();
        let is = is.join(", ");
        let _ =
            writeln!(source, "{{ int is[] = {{{is}}}; printf(\"{name} %lld %s\\n\", (long long)({name}), t(is)); }}");
    }
    source.push_str("return 0; }\n");
    let (file, program) = (folder.join(format!("{which}.c")), folder.join(which));
    fs::write(&file, source)?;
    process::must(gcc(include).arg(&file).arg("-o").arg(&program), LIMIT)?;
    Ok(process::must(&mut Command::new(program), LIMIT)?.stdout)
}

/// Our declarations of functions that both have, after the wheel's header: C rejects a different declaration.
fn prototypes(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let header = fs::read_to_string(dist.join("include/mpi.h"))?;
    let include = peers::mpich_folder().join("include");
    let theirs = fs::read_to_string(include.join("mpi_abi.h"))?;
    let both = |name: &String| theirs.contains(&format!("{name}("));
    let known: BTreeSet<String> = dist::symbols::declared(dist)?.into_iter().filter(both).collect();
    let declarations: Vec<&str> = header
        .lines()
        .filter(|line| line.ends_with(';') && !line.contains("typedef"))
        .filter(|line| {
            line.split_once('(').is_some_and(|(before, _)| {
                let name = before.rsplit(' ').next().unwrap_or("").trim_start_matches('*');
                known.contains(name) || name.strip_prefix('P').is_some_and(|name| known.contains(name))
            })
        })
        .collect();
    report.check("prototypes found", declarations.len() == 2 * known.len(), || {
        format!("{} declarations for {} functions", declarations.len(), known.len())
    });
    let source = folder.join("prototypes.c");
    fs::write(&source, format!("#include <mpi.h>\n{}\n", declarations.join("\n")))?;
    let outcome = process::run(gcc(&include).arg("-fsyntax-only").arg(&source), LIMIT)?;
    report.check("prototypes", outcome.success(), || outcome.report());
    Ok(())
}

/// Programs of ours on the wheel's library, and programs built by its `mpicc_abi` on ours.
fn swapped(dist: &Path, wheel: &Library, folder: &Path, report: &mut Report) -> Result<()> {
    let ferrum = Library::ferrum(dist);
    let (our_lib, their_lib) = (dist.join("lib"), peers::mpich_folder().join("lib"));
    for (compiler, runner, lib, vendor) in [(&ferrum, wheel, &their_lib, "MPICH"), (wheel, &ferrum, &our_lib, "Ferrum")]
    {
        let built = folder.join(compiler.name);
        fs::create_dir_all(&built)?;
        for (program, ranks) in PROGRAMS {
            let title = format!("{program} built by {} on {}", compiler.name, runner.name);
            if !report.selects(&title) {
                continue;
            }
            let (source, output) = (source(program), built.join(program.replace('/', "_")));
            let include = format!("-I{}", paths::root().join("tests/conformance/c").display());
            compiler.compile(&source, &output, &[&include, "-pthread"])?;
            let mut command = runner.launch(ranks, &output);
            let outcome = process::run(command.env("LD_LIBRARY_PATH", lib), LIMIT)?;
            // The first program prints the library that it runs on.
            let right = !program.ends_with("versions") || outcome.stdout.contains(vendor);
            let good = outcome.success() && outcome.stdout.contains("No Errors") && right;
            report.check(&title, good, || outcome.report());
        }
    }
    Ok(())
}

fn source(program: &str) -> PathBuf {
    let tests = paths::root().join("tests");
    match program {
        "env/inquiry_of_versions" => tests.join("abi/versions.c"),
        other => tests.join("conformance/c").join(other).with_extension("c"),
    }
}
