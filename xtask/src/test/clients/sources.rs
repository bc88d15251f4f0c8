//! Source packages of the system's own distribution, fetched with its own package manager into `target/clients/`.
//!
//! Nothing is installed, and the system's lists stay unchanged: apt-get works on folders given here, with the system's
//! package sources turned into source packages. So it needs no special rights. Not here: use of a source (`clients`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{Failure, Result, paths, process, tools, ui};

/// The file in a folder that lists the members that were unpacked into it.
const MEMBERS: &str = "members.txt";
const MINUTES: Duration = Duration::from_secs(300);

/// The folder with these members of a package's source, fetched when it is absent or has other members. The error names
/// what is missing.
pub fn package(name: &str, members: &[&str]) -> Result<PathBuf> {
    let folder = paths::target().join("clients").join(name);
    let listed = members.join("\n");
    if fs::read_to_string(folder.join(MEMBERS)).is_ok_and(|unpacked| unpacked == listed) {
        return Ok(folder);
    }
    for program in ["apt-get", "tar", "xz"] {
        if !tools::found(program) {
            return Err(format!("{program} is missing").into());
        }
    }
    tools::may_fetch(&format!("the source of {name}"))?;
    ui::step(format!("fetching the source of {name}"));
    let fetched = paths::scratch("clients").join(name);
    // An archive of an earlier version must not be mistaken for this one's.
    let _ = fs::remove_dir_all(&fetched);
    fs::create_dir_all(&fetched)?;
    let options = lists(&paths::scratch("clients").join("apt"))?;
    // Some of the package sources may not answer; only the availability of the package matters.
    process::run(Command::new("apt-get").args(&options).args(["-qq", "update"]), MINUTES)?;
    let mut get = Command::new("apt-get");
    get.args(&options).args(["-qq", "source", "--download-only", name]).current_dir(&fetched);
    process::must(&mut get, MINUTES).map_err(|failure| failure.during(format_args!("the source of {name}")))?;
    let _ = fs::remove_dir_all(&folder);
    unpack(&archive(&fetched)?, members, &folder)?;
    fs::write(folder.join(MEMBERS), listed)?;
    Ok(folder)
}

/// Options with which apt-get stores everything in `folder`, with the system's list of package sources turned into
/// source packages.
fn lists(folder: &Path) -> Result<Vec<String>> {
    let parts = folder.join("places");
    // Left over from other settings of the system.
    let _ = fs::remove_dir_all(&parts);
    for below in ["places", "lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(folder.join(below))?;
    }
    let mut places = vec![PathBuf::from("/etc/apt/sources.list")];
    if let Ok(entries) = fs::read_dir("/etc/apt/sources.list.d") {
        places.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    for place in places {
        if let (Some(name), Ok(text)) = (place.file_name(), fs::read_to_string(&place)) {
            fs::write(parts.join(name), as_sources(&text))?;
        }
    }
    let option = |name: &str, value: &Path| format!("-o{name}={}", value.display());
    Ok(vec![
        option("Dir::Etc::sourcelist", Path::new("/dev/null")),
        option("Dir::Etc::sourceparts", &parts),
        option("Dir::State::lists", &folder.join("lists")),
        option("Dir::Cache", &folder.join("cache")),
    ])
}

/// A list of package sources, in either of apt's forms, as a list of sources of source packages.
fn as_sources(list: &str) -> String {
    let line = |line: &str| match line {
        _ if line.starts_with("Types:") => "Types: deb-src\n".to_owned(),
        _ if line.starts_with("deb ") => format!("deb-src {}\n", &line["deb ".len()..]),
        _ => format!("{line}\n"),
    };
    list.lines().map(line).collect()
}

fn archive(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_archive =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains(".orig.tar."));
    files.find(is_archive).ok_or_else(|| Failure::from(format!("no source archive came to {}", folder.display())))
}

/// Unpacks some members without the archive's own folder, and moves the result into its place at the end.
fn unpack(archive: &Path, members: &[&str], folder: &Path) -> Result<()> {
    let fresh = archive.with_file_name("unpacked");
    fs::create_dir_all(&fresh)?;
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(archive).arg("-C").arg(&fresh).args(["--strip-components=1", "--wildcards"]);
    process::must(tar.args(members.iter().map(|member| format!("*/{member}"))), MINUTES)?;
    fs::create_dir_all(folder.parent().expect("a folder below target/ has a parent"))?;
    Ok(fs::rename(fresh, folder)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_both_forms_become_lists_of_sources() {
        assert_eq!(as_sources("deb [x] place suite main\n# deb no\n"), "deb-src [x] place suite main\n# deb no\n");
        assert_eq!(as_sources("Types: deb\nSuites: a b\n"), "Types: deb-src\nSuites: a b\n");
    }
}
