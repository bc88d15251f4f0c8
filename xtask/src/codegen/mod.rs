//! `cargo xtask codegen`: writes all files that are generated from `spec/`.
//!
//! Owns the list of generated files. Invariant: the same tables give the same bytes; `--check` writes nothing.
//! Not here: the meaning of the tables (`spec`), one module for each kind of output.

mod core;
mod cxx;
mod entries;
pub mod fortran;
pub mod header;
mod stack;
mod symbols;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::spec::Spec;
use crate::{Failure, Result, coverage, paths, ui};

/// One generated file.
pub struct Output {
    /// Path below the folder of the workspace.
    pub path: PathBuf,
    /// Its contents.
    pub text: String,
}

/// Writes the generated files; with `check`, fails if one of them is stale.
pub fn run(check: bool) -> Result<()> {
    let stale = stale()?;
    if stale.is_empty() {
        ui::note("codegen: all generated files are current");
        return Ok(());
    }
    if check {
        let names: Vec<String> = stale.iter().map(|output| format!("  {}", output.path.display())).collect();
        return Err(format!("stale generated files; run `cargo xtask codegen`:\n{}", names.join("\n")).into());
    }
    for output in stale {
        let path = paths::root().join(&output.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, &output.text).map_err(|error| Failure::from(error).during(path.display()))?;
        ui::note(format!("codegen: wrote {}", output.path.display()));
    }
    Ok(())
}

/// The generated files whose contents are stale.
pub fn stale() -> Result<Vec<Output>> {
    let current = |output: &Output| fs::read_to_string(paths::root().join(&output.path)).ok();
    Ok(outputs()?.into_iter().filter(|output| current(output).as_deref() != Some(&output.text)).collect())
}

/// Every generated file.
pub fn outputs() -> Result<Vec<Output>> {
    let spec = Spec::read(&paths::root())?;
    let mut outputs = Vec::new();
    let mut add = |path: &str, text: String| outputs.push(Output { path: PathBuf::from(path), text });
    add("mpi-capi/include/mpi.h", header::header(&spec));
    add("mpi-capi/include/mpicxx_constants.h", cxx::constants(&paths::root(), &spec)?);
    add("mpi-capi/libmpi_abi.map", symbols::version_script(&spec));
    add("docs/coverage.md", coverage::document(&spec)?);
    add("mpi-core/src/generated/constants.rs", rustfmt(core::constants(&spec)?)?);
    add("mpi-core/src/generated/predefined.rs", rustfmt(core::predefined(&spec))?);
    add("mpi-core/src/generated/functions.rs", rustfmt(core::functions(&spec))?);
    add("mpi-errors/src/generated/error_class.rs", rustfmt(core::error_classes(&spec))?);
    add("mpi-capi/src/generated/aliases.rs", rustfmt(symbols::aliases(&spec))?);
    add("mpi-stack/src/generated/mod.rs", rustfmt(stack::entries(&spec))?);
    add("mpi-stack/src/generated/adapter.c", stack::adapter(&spec)?);
    let chapters: BTreeSet<&str> = spec.implemented().map(|function| function.chapter.as_str()).collect();
    let chapters: Vec<&str> = chapters.into_iter().collect();
    add("mpi-capi/src/generated/mod.rs", rustfmt(entries::module(&chapters))?);
    for chapter in chapters {
        add(&format!("mpi-capi/src/generated/{chapter}.rs"), rustfmt(entries::chapter(&spec, chapter)?)?);
    }
    for (path, text) in fortran::outputs(&spec)? {
        add(&path, text);
    }
    Ok(outputs)
}

/// Formats Rust text as `cargo fmt` would, so that generated files stay as they are.
fn rustfmt(text: String) -> Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout", "--config-path"])
        .arg(paths::root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::from(error).during("rustfmt"))?;
    let mut input = child.stdin.take().expect("stdin is piped");
    // rustfmt reads all of its input before it writes, so this cannot block on a full pipe.
    input.write_all(text.as_bytes())?;
    drop(input);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("rustfmt refused generated text:\n{text}").into());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string().into())
}
