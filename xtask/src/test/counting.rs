//! The conformance programs under a tool that counts every function: it sees exactly the program's calls.
//!
//! The tool and what counts in the program are generated from `spec/` at each run: the tool defines every function as one
//! more count and the call of its `PMPI_` name; in the program the linker (`--wrap`) puts a function that counts before
//! each name, also where its address is taken.
//! Invariant: a function of the library that no program calls is a failure.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::conformance::{self, Run, Verdict};
use super::{Context, Report, lanes};
use crate::codegen::header;
use crate::peers::Library;
use crate::spec::{Function, Spec};
use crate::{Result, paths, process, ui};

const LIMIT: Duration = Duration::from_secs(120);
/// Larger runs make the same calls again. A program that needs more ranks runs with the fewest it is listed with.
const MOST_RANKS: usize = 2;

/// The suite `counting`.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let spec = Spec::read(&paths::root())?;
    let dist = context.dist()?;
    let folder = paths::scratch("counting");
    let counts = folder.join("counts");
    if counts.exists() {
        fs::remove_dir_all(&counts)?;
    }
    fs::create_dir_all(&counts)?;
    let library = tool(&spec, dist, &folder)?;
    let mut entries = conformance::entries()?;
    for entry in &mut entries {
        let fewest = entry.ranks.iter().copied().min().unwrap_or(0);
        entry.ranks.retain(|&ranks| ranks <= MOST_RANKS.max(fewest));
    }
    let mut called = BTreeSet::new();
    // The processes of each run write into a folder of its own.
    let counts_of = |run: &Run<'_>| counts.join(run.number.to_string());
    let launch = |run: &Run<'_>, program: &Path| {
        // What cannot be made is missed when the counts are read.
        let _ = fs::create_dir_all(counts_of(run));
        let mut command = library.launch(run.ranks, program);
        command.env("COUNT_FOLDER", counts_of(run));
        command
    };
    conformance::run_by(&library, entries, report, lanes::usual(), launch, |run, outcome| {
        let different = collect(&counts_of(run), &mut called);
        match (run.entry.verdict(outcome), different) {
            (_, Err(failure)) => Verdict::Failed(failure.to_string()),
            (_, Ok(lines)) if !lines.is_empty() => Verdict::Failed(lines.join("\n      ")),
            (Some(text), _) => Verdict::Failed(text),
            (None, _) => Verdict::Passed,
        }
    })?;
    if report.filter().is_empty() {
        coverage(&spec, &called, report);
    }
    Ok(())
}

/// Every function of the library was called.
fn coverage(spec: &Spec, called: &BTreeSet<String>, report: &mut Report) {
    for function in spec.implemented() {
        let name = &function.name;
        report.check(&format!("MPI_{name}"), called.contains(name), || "no conformance program calls it".into());
    }
    ui::note(format!("{} functions were counted", called.len()));
}

/// Builds the tool and the counts of the program; the library whose programs are linked with both.
fn tool(spec: &Spec, dist: &Path, folder: &Path) -> Result<Library> {
    for (name, text, options) in
        [("tool", tool_source(spec), ["-shared", "-fPIC"]), ("program", program_source(spec), ["-c", "-fPIC"])]
    {
        let source = folder.join(name).with_extension("c");
        fs::write(&source, text)?;
        let mut build = Command::new(dist.join("bin/mpicc"));
        build.args(["-O1", "-Wall", "-Werror", "-Wno-deprecated-declarations"]).args(options).arg(&source);
        process::must(build.arg("-o").arg(source.with_extension("o")), LIMIT)?;
    }
    fs::rename(folder.join("tool.o"), folder.join("libcount.so"))?;
    let wrapped: String = spec.implemented().map(|function| format!("--wrap=MPI_{}\n", function.name)).collect();
    fs::write(folder.join("wrap"), wrapped)?;
    let folder = folder.display();
    let link = [
        format!("{folder}/program.o"),
        format!("{folder}/libcount.so"),
        format!("-Wl,-rpath,{folder}"),
        format!("-Wl,@{folder}/wrap"),
    ];
    Ok(Library::ferrum(dist).with_tool("counted", link))
}

/// The functions, in the order of their numbers in the table of counts.
fn functions(spec: &Spec) -> impl Iterator<Item = (usize, &Function)> {
    spec.implemented().enumerate()
}

/// The beginning of both sources.
const BEGINNING: &str = "#define FERRUM_REMOVED_FUNCTIONS\n#include <mpi.h>\n";

/// A definition that counts in a table and calls the function by a name with another prefix.
fn definition(spec: &Spec, (number, function): (usize, &Function), table: &str, [own, other]: [&str; 2]) -> String {
    let prototype = header::prototype(spec, function, own);
    let parameters = function.parameters.iter().filter(|parameter| spec.kind(parameter).c != "...");
    let arguments: Vec<&str> = parameters.map(|parameter| parameter.name.as_str()).collect();
    // This call does not return, and no destructor runs.
    let before = if (own, function.name.as_str()) == ("MPI_", "Abort") { "    report();\n" } else { "" };
    format!(
        "{}\n{{\n    __atomic_fetch_add(&{table}[{number}], 1, __ATOMIC_RELAXED);\n{before}    \
         return {other}{}({});\n}}\n\n",
        prototype.trim_end_matches(";\n"),
        function.name,
        arguments.join(", ")
    )
}

/// What the linker puts between the program and the tool.
fn program_source(spec: &Spec) -> String {
    let mut text = format!("{BEGINNING}extern unsigned long program_calls[];\n");
    for function in functions(spec) {
        for prefix in ["__real_MPI_", "__wrap_MPI_"] {
            text.push_str(&header::prototype(spec, function.1, prefix));
        }
        text.push_str(&definition(spec, function, "program_calls", ["__wrap_MPI_", "__real_MPI_"]));
    }
    text
}

/// The tool: counts, and writes both counts of each function that was called when the process ends.
pub fn tool_source(spec: &Spec) -> String {
    let number = functions(spec).count();
    let mut text = format!(
        "{BEGINNING}#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\n\
         unsigned long program_calls[{number}];\nstatic unsigned long tool_calls[{number}];\n\
         static const char *const names[{number}] = {{\n"
    );
    for (_, function) in functions(spec) {
        let _ = writeln!(text, "    \"{}\",", function.name);
    }
    text.push_str("};\n\n");
    let _ = write!(
        text,
        "static __attribute__((destructor)) void report(void)\n{{\n    const char *folder = getenv(\"COUNT_FOLDER\");\n    \
         char name[4096];\n    snprintf(name, sizeof name, \"%s/%ld\", folder ? folder : \".\", (long)getpid());\n    \
         FILE *file = fopen(name, \"w\");\n    if (!file)\n        return;\n    for (int i = 0; i < {number}; i++)\n        \
         if (program_calls[i] || tool_calls[i])\n            \
         fprintf(file, \"%s %lu %lu\\n\", names[i], program_calls[i], tool_calls[i]);\n    fclose(file);\n}}\n\n"
    );
    for function in functions(spec) {
        text.push_str(&definition(spec, function, "tool_calls", ["MPI_", "PMPI_"]));
    }
    text
}

/// Reads and removes what the processes of a run have written; the functions whose counts differ.
fn collect(folder: &Path, called: &mut BTreeSet<String>) -> Result<Vec<String>> {
    let files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    let mut different = Vec::new();
    for file in files {
        for line in fs::read_to_string(&file)?.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, program, tool] = words[..] else { return Err(format!("no line of counts: {line}").into()) };
            called.insert(name.to_owned());
            if program != tool {
                different.push(format!("MPI_{name}: the program called it {program} times, the tool saw {tool} calls"));
            }
        }
    }
    fs::remove_dir_all(folder)?;
    Ok(different)
}
