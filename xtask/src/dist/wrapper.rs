//! The compiler wrappers: one script for all languages (`wrapper.sh`), with the names of each.

use std::path::Path;

use super::replace;
use crate::Result;

/// What differs between the wrappers.
pub struct Names<'n> {
    /// Name of the wrapper.
    pub name: &'n str,
    /// Language of the programs.
    pub language: &'n str,
    /// The compiler that it runs.
    pub compiler: &'n str,
    /// The environment variable for another compiler.
    pub variable: &'n str,
    /// The option for another compiler.
    pub option: &'n str,
    /// Further options of the compiler.
    pub options: &'n str,
    /// Options of the linker for static programs.
    pub static_options: &'n str,
    /// Libraries in front of the C library, each with a blank behind it: shared and static.
    pub library: [&'n str; 2],
}

/// Writes a wrapper.
pub fn write(prefix: &Path, names: &Names<'_>) -> Result<()> {
    let text = include_str!("wrapper.sh")
        .replace("@NAME@", names.name)
        .replace("@LANGUAGE@", names.language)
        .replace("@COMPILER@", names.compiler)
        .replace("@VARIABLE@", names.variable)
        .replace("@OPTION@", names.option)
        .replace("@OPTIONS@", names.options)
        .replace("@STATIC_OPTIONS@", names.static_options)
        .replace("@SHARED@", names.library[0])
        .replace("@STATIC@", names.library[1])
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    replace(&prefix.join("bin").join(names.name), text.as_bytes(), 0o755)
}

/// Writes the wrappers of C and C++.
pub fn write_c(prefix: &Path) -> Result<()> {
    for (name, language, compiler, variable, option) in
        [("mpicc", "C", "cc", "FERRUM_CC", "-cc"), ("mpicxx", "C++", "c++", "FERRUM_CXX", "-cxx")]
    {
        write(
            prefix,
            &Names { name, language, compiler, variable, option, options: "", static_options: "", library: ["", ""] },
        )?;
    }
    Ok(())
}
