//! `cargo xtask tidy`: the rules of this workspace that a program can check.
//!
//! Invariant: every check names each file that breaks its rule, and all checks run before the task fails.
//! Not here: formatting and lints, which are cargo's.

mod modules;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rules::{self, Tests};
use crate::{Failure, Result, codegen, paths, ui, variables};

/// Files of hand-written Rust are shorter than this many lines.
const LINES: usize = 500;

/// Lines of hand-written C are no wider than those that rustfmt makes.
const COLUMNS: usize = 120;

/// The layers of the workspace, lowest first, as in ARCHITECTURE.md; a crate depends on crates of lower layers only.
const LAYERS: [&[&str]; 10] = [
    &["mpi-core"],
    &["mpi-errors"],
    &["mpi-t"],
    &["mpi-datatype", "mpi-fabric"],
    &["mpi-p2p", "mpi-net"],
    &["mpi-comm"],
    &["mpi-coll"],
    &["mpi-win", "mpi-io", "mpi-dynamic"],
    &["mpi-env"],
    &["mpi", "mpi-capi"],
];

/// Crates beside the layers, with all that they may depend on.
const BESIDE: [(&str, &[&str]); 8] = [
    ("mpi-wireup", &["mpi-core", "mpi-t", "mpi-fabric", "mpi-pmpi"]),
    ("mpi-launch", &["mpi-core", "mpi-errors", "mpi-t", "mpi-fabric", "mpi-wireup", "mpi-pmpi", "mpi-observe"]),
    ("mpi-observe", &["mpi-core", "mpi-errors", "mpi-t", "mpi-fabric", "mpi-pmpi"]),
    ("mpi-top", &["mpi-core", "mpi-fabric", "mpi-launch", "mpi-observe"]),
    ("mpi-info", &["mpi-core", "mpi-fabric", "mpi-launch", "mpi-observe", "mpi-t"]),
    ("mpi-pmpi", &["mpi-core"]),
    ("mpi-stack", &["mpi-core", "mpi-pmpi"]),
    ("mpi-macros", &[]),
];

/// The beginnings of paths that exist only on the machine where they were written.
const MACHINE_PATHS: [&str; 3] = ["/home/", "/root/", "/Users/"];

/// Prints the graph of a crate's modules, or of all crates' when the name is empty, in the language of Graphviz.
pub fn graph(name: &str) -> Result<()> {
    ui::answer(modules::drawing(name)?.trim_end());
    Ok(())
}

/// Runs all checks.
pub fn run(tests: &Tests) -> Result<()> {
    let root = paths::root();
    let files = tracked(&root)?;
    let mut wrong = Vec::new();
    module_docs(&root, &files, &mut wrong)?;
    file_lengths(&root, &files, &mut wrong)?;
    line_widths(&root, &files, &mut wrong)?;
    machine_paths(&root, &files, &mut wrong)?;
    dependencies(&root, &mut wrong)?;
    for output in codegen::stale()? {
        wrong.push(format!("{}: stale; run `cargo xtask codegen`", output.path.display()));
    }
    wrong.extend(modules::check(&root)?);
    wrong.extend(rules::check(tests)?.wrong);
    wrong.extend(variables::untested()?);
    if wrong.is_empty() {
        ui::note("tidy: all rules hold");
        return Ok(());
    }
    Err(format!("tidy:\n  {}", wrong.join("\n  ")).into())
}

/// The files that git tracks, and new ones that it does not ignore.
fn tracked(root: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| Failure::from(error).during("git ls-files"))?;
    if !output.status.success() {
        return Err("git ls-files failed; tidy needs a checkout".into());
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(names.lines().map(PathBuf::from).filter(|path| root.join(path).is_file()).collect())
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c" || extension == "h")
}

fn is_generated(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "generated")
}

fn read(root: &Path, path: &Path) -> Result<String> {
    // Not every file in the tree is text; others have no lines to check.
    let bytes = fs::read(root.join(path)).map_err(|error| Failure::from(error).during(path.display()))?;
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

fn module_docs(root: &Path, files: &[PathBuf], wrong: &mut Vec<String>) -> Result<()> {
    for path in files.iter().filter(|path| is_rust(path)) {
        if !read(root, path)?.starts_with("//!") {
            wrong.push(format!("{}: does not open with `//!` docs", path.display()));
        }
    }
    Ok(())
}

fn file_lengths(root: &Path, files: &[PathBuf], wrong: &mut Vec<String>) -> Result<()> {
    for path in files.iter().filter(|path| is_rust(path) && !is_generated(path)) {
        let lines = read(root, path)?.lines().count();
        if lines >= LINES {
            wrong.push(format!("{}: {lines} lines; {LINES} are too many", path.display()));
        }
    }
    Ok(())
}

/// Checks C files and headers; rustfmt limits Rust, and files that `cargo xtask codegen` writes follow their source.
fn line_widths(root: &Path, files: &[PathBuf], wrong: &mut Vec<String>) -> Result<()> {
    for path in files.iter().filter(|path| is_c(path)) {
        let text = read(root, path)?;
        if text.contains("@generated") {
            continue;
        }
        for (line, columns) in too_wide(&text) {
            wrong.push(format!("{}:{line}: {columns} columns; {COLUMNS} is the most", path.display()));
        }
    }
    Ok(())
}

/// The lines with more than `COLUMNS` characters: their numbers, from 1, and how many characters they have.
fn too_wide(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let widths = text.lines().map(|line| line.chars().count());
    (1..).zip(widths).filter(|(_, columns)| *columns > COLUMNS)
}

fn machine_paths(root: &Path, files: &[PathBuf], wrong: &mut Vec<String>) -> Result<()> {
    let own = root.display().to_string();
    for path in files.iter().filter(|path| !path.ends_with("xtask/src/tidy/mod.rs")) {
        for (number, line) in read(root, path)?.lines().enumerate() {
            let found = MACHINE_PATHS.iter().copied().chain([own.as_str()]).find(|start| line.contains(start));
            if let Some(start) = found {
                wrong.push(format!("{}:{}: a path of one machine ({start}...)", path.display(), number + 1));
            }
        }
    }
    Ok(())
}

/// Checks the manifest of every crate among the layers or beside them.
fn dependencies(root: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let crates = LAYERS.iter().flat_map(|names| names.iter().copied()).chain(BESIDE.iter().map(|(name, _)| *name));
    for name in crates {
        for used in workspace_dependencies(root, name)? {
            if !may_depend(name, &used) {
                wrong.push(format!("{name}/Cargo.toml: {name} must not depend on {used}"));
            }
        }
    }
    Ok(())
}

fn layer_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|names| names.contains(&name))
}

/// Whether the direction of dependencies allows this one.
fn may_depend(name: &str, used: &str) -> bool {
    if let Some((_, allowed)) = BESIDE.iter().find(|(beside, _)| *beside == name) {
        return allowed.contains(&used);
    }
    let beside = BESIDE.iter().any(|(beside, _)| *beside == used);
    match (layer_of(name), layer_of(used)) {
        (Some(own), Some(below)) => below < own,
        // The wire-up and the profiling interface are used where a process starts, and above.
        (Some(own), None) => beside && used != "mpi-launch" && Some(own) >= layer_of("mpi-env"),
        _ => false,
    }
}

/// The crates of the workspace that a crate needs to be built; those that only its tests need do not count.
fn workspace_dependencies(root: &Path, name: &str) -> Result<Vec<String>> {
    let manifest = read(root, &Path::new(name).join("Cargo.toml"))?;
    let mut within = false;
    let mut used = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            within = line == "[dependencies]";
        } else if within {
            let key = line.split(['.', '=', ' ']).next().unwrap_or_default();
            if key == "mpi" || key.starts_with("mpi-") {
                used.push(key.to_owned());
            }
        }
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_upward_is_refused() {
        assert!(may_depend("mpi-p2p", "mpi-core") && may_depend("mpi-capi", "mpi-env"));
        assert!(!may_depend("mpi-core", "mpi-errors") && !may_depend("mpi-t", "mpi-p2p"));
        assert!(!may_depend("mpi-fabric", "mpi-datatype"), "crates of one layer do not depend on each other");
    }

    #[test]
    fn the_wire_up_comes_in_where_a_process_starts() {
        assert!(may_depend("mpi-env", "mpi-wireup") && may_depend("mpi-capi", "mpi-pmpi"));
        assert!(!may_depend("mpi-p2p", "mpi-wireup") && !may_depend("mpi-wireup", "mpi-env"));
    }

    #[test]
    fn the_launcher_links_no_engine_and_no_program_links_the_launcher() {
        assert!(may_depend("mpi-launch", "mpi-wireup") && !may_depend("mpi-launch", "mpi-p2p"));
        assert!(!may_depend("mpi-env", "mpi-launch") && !may_depend("mpi-capi", "mpi-launch"));
    }

    #[test]
    fn a_line_of_c_over_the_width_is_reported_with_its_number() {
        let widest = format!("/* {} */", "é".repeat(COLUMNS - 6));
        assert_eq!(too_wide(&format!("{widest}\n{widest}")).count(), 0, "characters count, not bytes");
        assert_eq!(too_wide(&format!("int a;\n {widest}\nint b;\n")).collect::<Vec<_>>(), [(2, COLUMNS + 1)]);
    }

    #[test]
    fn c_is_recognised_by_its_name() {
        assert!(is_c(Path::new("include/mpi.h")) && is_c(Path::new("job.c")) && !is_c(Path::new("tidy.rs")));
    }
}
