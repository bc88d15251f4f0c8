//! The `share/` folder of a distribution: documents, man pages, examples, licences, and the names of the
//! absent functions, which the compiler wrappers read.
//!
//! Invariant: documents lie relative to each other as in the source tree, and every link from one to another leads to
//! a file that is installed.

use std::fs;
use std::path::Path;

use super::replace;
use crate::spec::Spec;
use crate::{Failure, Result, paths};

/// Files and folders of the source tree that are installed with the documents.
const DOCUMENTS: [&str; 7] =
    ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "docs", "examples"];

/// The endings of files that are taken from folders.
const ENDINGS: [&str; 4] = ["md", "c", "f90", "tsv"];

/// Writes `share/`.
pub fn write(prefix: &Path) -> Result<()> {
    let (root, share) = (paths::root(), prefix.join("share"));
    let documents = share.join("doc/ferrum-mpi");
    // A document that is no longer in the source tree must not stay.
    if documents.exists() {
        fs::remove_dir_all(&documents)?;
    }
    for name in DOCUMENTS {
        copy(&root.join(name), &documents.join(name))?;
    }
    let broken = broken_links(&documents)?;
    if !broken.is_empty() {
        return Err(format!("installed documents have links to no file:\n  {}", broken.join("\n  ")).into());
    }
    let manual = share.join("man/man1");
    fs::create_dir_all(&manual)?;
    for page in pages(&root)? {
        replace(&manual.join(&page), &fs::read(root.join("docs/man").join(&page))?, 0o644)?;
    }
    let same = [
        ("mpicxx.1", "mpicc.1"),
        ("mpic++.1", "mpicc.1"),
        ("mpifort.1", "mpicc.1"),
        ("mpif90.1", "mpicc.1"),
        ("mpif77.1", "mpicc.1"),
        ("mpirun.1", "mpiexec.1"),
    ];
    for (name, page) in same.into_iter().filter(|(_, page)| manual.join(page).exists()) {
        replace(&manual.join(name), format!(".so man1/{page}\n").as_bytes(), 0o644)?;
    }
    let spec = Spec::read(&root)?;
    let absent = spec.functions.iter().filter(|function| function.implementation.is_none());
    let absent: String = absent.map(|function| format!("MPI_{}\n", function.name)).collect();
    fs::create_dir_all(share.join("ferrum-mpi"))?;
    replace(&share.join("ferrum-mpi/absent-functions"), absent.as_bytes(), 0o644)
}

/// The links between documents of a folder that lead to no file, each with its document.
fn broken_links(folder: &Path) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            broken.extend(broken_links(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            let text = fs::read_to_string(&path)?;
            let to_nothing = links(&text).filter(|link| !folder.join(link).exists());
            broken.extend(to_nothing.map(|link| format!("{}: {link}", path.display())));
        }
    }
    Ok(broken)
}

/// The files that a document in Markdown refers to by relative links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

/// The man pages of the source tree.
fn pages(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("docs/man");
    let entries = fs::read_dir(&folder).map_err(|error| Failure::from(error).during(folder.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name.ends_with(".1")).collect())
}

/// Copies a file, or the documents and sources of a folder and of those in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        let content = fs::read(from).map_err(|error| Failure::from(error).during(from.display()))?;
        return replace(to, &content, 0o644);
    }
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let taken =
            path.is_dir() || path.extension().is_some_and(|ending| ENDINGS.iter().any(|wanted| ending == *wanted));
        if taken {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_links_are_found() {
        let text = "[a](docs/a.md#part) [b](#here) [c](https://example.org/c.md)\n[d](../d.md)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["docs/a.md", "../d.md"]);
    }
}
