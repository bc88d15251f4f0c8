//! Folders: everything follows from the folder of the workspace and cargo's target folder.

use std::env;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace").to_owned()
}

/// Cargo's target folder: `CARGO_TARGET_DIR` when set, else `target/`.
pub fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Where `dist` writes when no prefix is given.
pub fn dist() -> PathBuf {
    target().join("dist")
}

/// Scratch space of a task, inside the target folder.
pub fn scratch(task: &str) -> PathBuf {
    target().join("xtask").join(task)
}
