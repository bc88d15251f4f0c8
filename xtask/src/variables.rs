//! Check that every performance variable is named in a conformance program.
//!
//! Invariant: every declared variable that no program mentions is reported. Not here: whether the program passes
//! (`test`), the normative statements (`rules`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Result, paths};

/// Declared performance variables that no conformance program mentions, as sentences.
pub fn untested() -> Result<Vec<String>> {
    let root = paths::root();
    let mut programs = String::new();
    for file in files(&root.join("tests/conformance/c"), &["c", "h"])? {
        programs.push_str(&fs::read_to_string(file)?);
    }
    let mut names = BTreeMap::new();
    for source in sources(&root)? {
        let text = fs::read_to_string(&source)?;
        let place = source.strip_prefix(&root).unwrap_or(&source).display().to_string();
        names.extend(declared(&text).into_iter().map(|name| (name.to_owned(), place.clone())));
    }
    let tested = |name: &str| programs.contains(&format!("\"{name}\""));
    let sentence = |(name, place)| format!("{place}: no conformance program mentions the variable {name}");
    Ok(names.into_iter().filter(|(name, _)| !tested(name)).map(sentence).collect())
}

/// The Rust files of the crates that declare variables of the library; the declarations in `mpi-t` are examples, except
/// its own.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root)? {
        let folder = entry?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("mpi") && name != "mpi-t" && folder.join("src").is_dir() {
            found.extend(files(&folder.join("src"), &["rs"])?);
        }
    }
    found.push(root.join("mpi-t/src/tool_metrics.rs"));
    Ok(found)
}

fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, endings)?);
        } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Names of the performance variables that a source declares, outside of its tests: a variable has a class beside its
/// name.
fn declared(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let declarations = code.split("{ name: \"").skip(1);
    declarations
        .filter_map(|rest| {
            let (name, more) = rest.split_once('"')?;
            more.split('}').next()?.contains("class: ").then_some(name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_performance_variables_are_found_and_no_others() {
        let text = "a: Counter = { name: \"one\", class: Counter, type: u64 }\n{ name: \"two\",\n class: Level }\n\
                    e = { name: \"event\", category: \"x\" }\n#[cfg(test)]\n{ name: \"mine\", class: Level }";
        assert_eq!(declared(text), ["one", "two"]);
    }

    #[test]
    fn the_library_declares_variables() {
        let found = sources(&paths::root()).expect("the tree is readable");
        let number: usize =
            found.iter().map(|file| declared(&fs::read_to_string(file).unwrap_or_default()).len()).sum();
        assert!(number > 90, "{number}");
    }
}
