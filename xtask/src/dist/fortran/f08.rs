//! Module `mpi_f08` in a distribution: the specific procedures, each an object of its own.
//!
//! Invariant: an object is compiled again only if its text or that of a module has changed. Not here: the C functions that
//! the procedures call, which are compiled like those of the older bindings.

use std::fs;
use std::path::{Path, PathBuf};

use super::{JOBS, LIMIT, fortran};
use crate::codegen::fortran::f08;
use crate::spec::Spec;
use crate::{Failure, Result, paths, process};

/// Compiles the procedures with the modules in a folder; the objects.
pub fn procedures(compiler: &str, modules: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let source = paths::root().join("mpi-capi/fortran/generated");
    let mut shared = compiler.to_owned();
    for module in ["types.f90", "f08/mpi_f08_types.f90"] {
        shared.push_str(&fs::read_to_string(source.join(module))?);
    }
    let spec = Spec::read(&paths::root())?;
    let (mut waiting, mut objects) = (Vec::new(), Vec::new());
    for chapter in f08::chapters(&spec) {
        let text = fs::read_to_string(source.join(format!("f08/procedures/{chapter}.f90")))?;
        for (name, text) in f08::split(&text) {
            let of = |ending: &str| folder.join(format!("{name}.{ending}"));
            let (object, stamp, current) = (of("o"), of("of"), format!("{text}{shared}"));
            if !object.exists() || fs::read_to_string(&stamp).ok().as_deref() != Some(&current) {
                fs::write(of("f90"), text)?;
                waiting.push((of("f90"), object.clone(), stamp, current));
            }
            objects.push(object);
        }
    }
    let share = waiting.len().div_ceil(JOBS).max(1);
    std::thread::scope(|scope| {
        let compiled = |chunk: &[(PathBuf, PathBuf, PathBuf, String)]| -> std::result::Result<(), String> {
            chunk.iter().try_for_each(|(file, object, stamp, current)| {
                let mut command = fortran(compiler);
                command.args(["-O2", "-fPIC", "-I"]).arg(modules).arg("-c").arg(file).arg("-o").arg(object);
                process::must(&mut command, LIMIT).map_err(|failure| failure.to_string())?;
                fs::write(stamp, current).map_err(|error| error.to_string())
            })
        };
        let threads: Vec<_> = waiting.chunks(share).map(|chunk| scope.spawn(move || compiled(chunk))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    })
    .map_err(Failure::from)?;
    Ok(objects)
}
