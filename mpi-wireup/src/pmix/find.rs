//! The search for libpmix: the best file is the one that the launcher itself uses, which is seldom on the system's
//! path.

use std::fs;
use std::path::{Path, PathBuf};

use super::library::{Library, system_name};
use crate::host_info;
use crate::launcher::LauncherError;

/// Environment variable with the library's file.
pub const LIBRARY: &str = "FERRUM_PMIX_LIBRARY";
/// Folders of libraries below an installation's prefix.
const FOLDERS: [&str; 6] = ["lib", "lib64", "lib/openmpi", "lib/pmix", "lib/pmix2/lib", "pmix2/lib"];

/// Loads the first library that can be loaded.
pub(super) fn library() -> Result<Library, LauncherError> {
    if let Some(name) = std::env::var_os(LIBRARY) {
        return Library::load(Path::new(&name))
            .map_err(|why| LauncherError(format!("{LIBRARY} is {name:?}, but that cannot be loaded: {why}")));
    }
    let mut reasons = Vec::new();
    for name in candidates() {
        match Library::load(&name) {
            Ok(library) => return Ok(library),
            Err(why) => reasons.push(why),
        }
    }
    Err(LauncherError(format!(
        "a launcher that speaks PMIx started this program (PMIX_RANK is set), but libpmix.so.2 is not found ({}); install \
         it (Debian: libpmix2), set {LIBRARY} to its file, or use this library's mpiexec",
        reasons.join("; ")
    )))
}

fn candidates() -> Vec<PathBuf> {
    let mapped = host_info::ancestors().into_iter().filter_map(mapped_by);
    let prefixes = ["PMIX_PREFIX", "PRTE_PREFIX", "OPAL_PREFIX"].into_iter().filter_map(std::env::var_os);
    let below = prefixes.flat_map(|prefix| FOLDERS.map(|folder| Path::new(&prefix).join(folder).join(system_name())));
    mapped.chain(below.filter(|name| name.exists())).chain([system_name()]).collect()
}

/// The library as a process above this one has it loaded: the launcher, if no other process is between them.
fn mapped_by(pid: u32) -> Option<PathBuf> {
    mapped(&fs::read_to_string(format!("/proc/{pid}/maps")).ok()?).filter(|name| name.exists())
}

fn mapped(maps: &str) -> Option<PathBuf> {
    let names = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let is_library =
        |name: &&Path| name.file_name().is_some_and(|file| file.to_string_lossy().starts_with("libpmix.so"));
    names.into_iter().find(is_library).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launchers_own_library_is_found_in_its_mappings() {
        let maps = "7f0-7f1 r--p 0 00:00 0 [stack]\n7f1-7f2 r-xp 0 fe:00 5 /opt/a b/lib/libpmix.so.2.6.2\n";
        assert_eq!(mapped(maps), Some("/opt/a b/lib/libpmix.so.2.6.2".into()));
        assert_eq!(mapped("7f1-7f2 r-xp 0 fe:00 5 /lib/libc.so.6\nnonsense"), None);
    }
}
