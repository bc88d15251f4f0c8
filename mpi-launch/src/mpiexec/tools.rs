//! The tools that are put in front of the library: the list, its checks, and the variables of the ranks.
//!
//! Invariant: a tool that a rank would refuse is refused before anything starts, as far as its file shows it.
//! Not here: loading and chaining (mpi-stack), what `--profile` and `--trace` print (`recordings`).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use mpi_pmpi::records::{OWN_TOOLS, TOOLS};

use super::elf::{Elf, Wrong};
use super::refusal::Refusal;
use crate::args::{Group, Options};

/// The variable with the objects that the dynamic linker loads before a program's own.
const PRELOAD: &str = "LD_PRELOAD";
/// The stack library.
const LIBRARY: &str = "libferrum_stack.so";

/// The tools of a job.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tools {
    /// Names of the stack's own tools, and absolute paths, separated by `:`; empty without tools.
    list: OsString,
    library: PathBuf,
}

impl Tools {
    /// Those of the options, else those of the environment; checked. `inherited`: the variable of this process.
    pub(super) fn new(options: &Options, inherited: Option<OsString>) -> Result<Tools, Refusal> {
        let mut named: Vec<(&str, OsString)> = Vec::new();
        if options.trace.is_some() {
            named.push(("--trace", "timeline".into()));
        }
        if options.profile {
            named.push(("--profile", "profile".into()));
        }
        let set = options.variables.iter().rev().find(|(name, _)| name == TOOLS).map(|(_, value)| value.clone());
        match &options.tools[..] {
            [] => {
                let list = set.or(inherited).unwrap_or_default();
                let items = list.as_bytes().split(|byte| *byte == b':').filter(|item| !item.is_empty());
                named.extend(items.map(|item| (TOOLS, OsStr::from_bytes(item).to_owned())));
            }
            tools => named.extend(tools.iter().map(|tool| ("--tool", tool.clone()))),
        }
        keep_named_place(&mut named)?;
        if named.is_empty() {
            return Ok(Tools::default());
        }
        let mut list = Vec::new();
        for (by, tool) in &named {
            let path = check(by, tool)?;
            if !list.is_empty() {
                list.push(b':');
            }
            list.extend_from_slice(path.as_bytes());
        }
        Ok(Tools { list: OsString::from_vec(list), library: library()? })
    }

    /// Refuses a program that the tools do not reach, and tools for one program only.
    pub(super) fn check_program(&self, group: &Group, file: &Path) -> Result<(), Refusal> {
        if let Some((_, value)) = group.variables.iter().find(|(name, _)| name == TOOLS) {
            return Err(Refusal::ToolsOfGroup(value.clone()));
        }
        if self.list.is_empty() {
            return Ok(());
        }
        // What is no ELF file is a script, whose interpreter is not known here.
        let Ok(elf) = Elf::read(file) else { return Ok(()) };
        if elf.is_static() {
            return Err(Refusal::Static(file.into(), "it is statically linked"));
        }
        let inside = |names: Option<Vec<&[u8]>>| names.is_some_and(|names| names.contains(&b"PMPI_Init".as_slice()));
        match inside(elf.defined()) {
            true => Err(Refusal::Static(file.into(), "the MPI library is linked into it statically")),
            false => Ok(()),
        }
    }

    /// Sets the variables of a program: lines `NAME=VALUE`, each name once.
    pub(super) fn apply(&self, environment: &mut Vec<OsString>) {
        if self.list.is_empty() {
            return;
        }
        let value_of = |line: &OsString, name: &str| {
            let rest = line.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(OsStr::from_bytes(rest).to_owned())
        };
        let preloaded = environment.iter().find_map(|line| value_of(line, PRELOAD)).unwrap_or_default();
        environment.retain(|line| value_of(line, PRELOAD).is_none() && value_of(line, TOOLS).is_none());
        let line = |name: &str, parts: &[&OsStr]| {
            let mut line = OsString::from(name);
            line.push("=");
            parts.iter().for_each(|part| line.push(part));
            line
        };
        // A job within a job has it already.
        let others = preloaded.as_bytes().split(|byte| *byte == b':');
        let others: Vec<&[u8]> = others.filter(|other| *other != self.library.as_os_str().as_bytes()).collect();
        let preloaded = OsString::from_vec(others.join(&b':'));
        environment.push(line(TOOLS, &[&self.list]));
        let separator = OsStr::new(if preloaded.is_empty() { "" } else { ":" });
        environment.push(line(PRELOAD, &[self.library.as_os_str(), separator, &preloaded]));
    }
}

/// The tools whose files `--profile` and `--trace` print record each call once: where their names are given too, they stand in
/// that place; without their options nothing would be printed.
fn keep_named_place(named: &mut Vec<(&str, OsString)>) -> Result<(), Refusal> {
    for (tool, option) in [("profile", "--profile"), ("timeline", "--trace")] {
        let of_option = named.iter().position(|(by, _)| *by == option);
        let others: Vec<usize> = (0..named.len()).filter(|at| named[*at].1 == tool && Some(*at) != of_option).collect();
        match (of_option, &others[..]) {
            (_, []) => {}
            (Some(at), [_]) => {
                named.remove(at);
            }
            (_, [at, ..]) => {
                let why = match of_option {
                    Some(_) => "it is named twice".to_owned(),
                    None => format!("its records are printed with {option} only; write that option"),
                };
                return Err(Refusal::Tool { by: named[*at].0.to_owned(), tool: tool.into(), why });
            }
        }
    }
    Ok(())
}

/// The name for the list of a tool that an option or variable gives.
fn check(by: &str, tool: &OsStr) -> Result<OsString, Refusal> {
    if OWN_TOOLS.iter().any(|own| tool == *own) {
        return Ok(tool.to_owned());
    }
    let refuse = |why: String| Refusal::Tool { by: by.to_owned(), tool: tool.to_owned(), why };
    let path = std::path::absolute(tool)?;
    let wrong = |why: Wrong| {
        let hint = match &why {
            Wrong::Unreadable(_) if !tool.as_bytes().contains(&b'/') => " (the tool that needs no file is calls)",
            _ => "",
        };
        refuse(format!("it {why}{hint}"))
    };
    if path.as_os_str().as_bytes().contains(&b':') {
        return Err(refuse("its path has a colon, which separates tools".into()));
    }
    let elf = Elf::read(&path).map_err(wrong)?;
    elf.check_shared().map_err(wrong)?;
    let is_tool = |name: &&[u8]| name.starts_with(b"MPI_") || *name == b"ferrum_interceptor_v1";
    match elf.exported() {
        Some(names) if names.contains(&b"PMPI_Init".as_slice()) => Err(refuse("it is an MPI library".into())),
        Some(names) if !names.iter().any(is_tool) => Err(refuse("it defines no function of MPI".into())),
        // Without the list the ranks look.
        _ => Ok(path.into_os_string()),
    }
}

/// The stack library beside this program.
fn library() -> Result<PathBuf, Refusal> {
    let program = std::env::current_exe()?;
    let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    let library = prefix.join("lib").join(LIBRARY);
    if !library.is_file() {
        return Err(Refusal::NoStack(library, "it is not there"));
    }
    match library.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b':' | b' ' | b'\t' | b'\n')) {
        true => Err(Refusal::NoStack(library, "LD_PRELOAD can name no path with a colon or blank")),
        false => Ok(library),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_get_the_list_and_the_stack_before_what_is_preloaded() {
        let tools = Tools { list: "calls:/a.so".into(), library: "/l/libferrum_stack.so".into() };
        let mut lines: Vec<OsString> = ["A=1", "LD_PRELOAD=/b.so", "FERRUM_TOOLS=x"].map(Into::into).into();
        tools.apply(&mut lines);
        assert_eq!(lines, ["A=1", "FERRUM_TOOLS=calls:/a.so", "LD_PRELOAD=/l/libferrum_stack.so:/b.so"]);
        let mut lines: Vec<OsString> = vec!["A=1".into()];
        tools.apply(&mut lines);
        assert_eq!(lines[2], "LD_PRELOAD=/l/libferrum_stack.so");
    }

    #[test]
    fn without_tools_nothing_changes() {
        let tools = Tools::new(&Options::default(), Some("".into())).unwrap();
        let mut lines: Vec<OsString> = vec!["LD_PRELOAD=/b.so".into()];
        tools.apply(&mut lines);
        assert_eq!(lines, ["LD_PRELOAD=/b.so"]);
        assert!(tools.check_program(&Group::default(), Path::new("/nonexistent")).is_ok());
    }

    #[test]
    fn a_tool_with_an_option_of_its_own_stands_once_where_it_is_named() {
        let list = |profile: bool, tools: &[&str]| {
            let tools = tools.iter().map(Into::into).collect();
            let mut named: Vec<(&str, OsString)> = Vec::new();
            named.extend(profile.then(|| ("--profile", "profile".into())));
            let options = Options { profile, tools, ..Options::default() };
            named.extend(options.tools.iter().map(|tool| ("--tool", tool.clone())));
            keep_named_place(&mut named).map(|()| named.into_iter().map(|(_, tool)| tool).collect::<Vec<_>>())
        };
        assert_eq!(list(true, &["calls"]).unwrap(), ["profile", "calls"]);
        assert_eq!(list(true, &["calls", "profile"]).unwrap(), ["calls", "profile"]);
        let refused = |profile, tools: &[&str]| list(profile, tools).unwrap_err().to_string();
        assert!(
            refused(false, &["profile"]).ends_with("its records are printed with --profile only; write that option")
        );
        assert!(refused(false, &["timeline"]).ends_with("printed with --trace only; write that option"));
        assert!(refused(true, &["profile", "profile"]).ends_with("it is named twice"));
    }

    #[test]
    fn what_is_no_tool_is_refused_by_its_name() {
        let refusal = |tool: &str| {
            let options = Options { tools: vec![tool.into()], ..Options::default() };
            let refusal = Tools::new(&options, None).unwrap_err();
            assert_eq!(refusal.exit_code(), 2, "{tool}");
            refusal.to_string()
        };
        assert!(
            refusal("/nonexistent.so").starts_with("--tool \"/nonexistent.so\" cannot be used: it cannot be read: ")
        );
        assert!(refusal("clls").ends_with("(the tool that needs no file is calls)"));
        assert!(refusal("/etc/passwd").ends_with("it is no shared object (ELF)"));
        assert!(refusal("/").ends_with("it is a directory"));
        let by_variable = Tools::new(&Options::default(), Some(":/a/b:".into())).unwrap_err().to_string();
        assert!(by_variable.starts_with("FERRUM_TOOLS \"/a/b\" cannot be used: "), "{by_variable}");
        let group = Group { variables: vec![(TOOLS.into(), "x".into())], ..Group::default() };
        assert!(Tools::default().check_program(&group, Path::new("/")).is_err());
    }
}
