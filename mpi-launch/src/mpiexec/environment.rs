//! The environment of a program.
//!
//! Invariant: each name occurs once; the variables of the place of a rank are not among them, since each rank has its
//! own.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use mpi_t::{CVARS_READ, SETTINGS, SETTINGS_READ, name_in_environment};

use super::mpir;
use crate::args::{Group, Options};
use mpi_wireup::{DEBUGGER_GATE, INITIAL_ERRHANDLER};

/// Variable for the colours of error reports: `auto`, `on` or `off`.
const ERROR_COLOR: &str = "FERRUM_ERROR_COLOR";

/// Variable that has ranks report what network they use.
const NET_REPORT: &str = "FERRUM_NET_REPORT";

/// The variables that options of the job stand for.
pub(super) fn of_options(options: &Options) -> impl Iterator<Item = (OsString, OsString)> {
    let handler = options.initial_errhandler.map(|handler| (INITIAL_ERRHANDLER.into(), handler.into()));
    let report = options.verbose.then(|| (NET_REPORT.into(), "1".into()));
    handler.into_iter().chain(report)
}

/// `NAME=VALUE` of each variable: those of the launcher, changed by options of the job, then by those of the program,
/// which has so many ranks. `file`: the lines of the settings file, so that ranks need not read it. `terminal`: the
/// launcher's standard error is one, so reports of ranks may have colours although theirs is a pipe.
pub(super) fn of_program(
    own: impl Iterator<Item = (OsString, OsString)>,
    group: &Group,
    ranks: u32,
    options: &Options,
    file: &str,
    terminal: bool,
) -> Vec<OsString> {
    let mut variables: Vec<(OsString, OsString)> = own.filter(|(name, _)| !is_foreign(name)).collect();
    let mut set = |name: &OsStr, value: &OsStr| match variables.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) => *old = value.into(),
        None => variables.push((name.into(), value.into())),
    };
    of_options(options).for_each(|(name, value)| set(&name, &value));
    let number = group.processes.unwrap_or(ranks).to_string();
    for (key, variable) in mpi_wireup::INFO_ENV_VARIABLES {
        let value = match key {
            "maxprocs" => Some(OsStr::new(&number)),
            "soft" => group.soft.as_ref().map(|soft| OsStr::new(soft.text())),
            "host" => group.host.as_deref(),
            "arch" => group.arch.as_deref(),
            "file" => group.file.as_deref(),
            _ => None,
        };
        value.into_iter().for_each(|value| set(OsStr::new(variable), value));
    }
    options.variables.iter().for_each(|(name, value)| set(name, value));
    options.cvars.iter().for_each(|(name, value)| set(OsStr::new(&name_in_environment(name)), OsStr::new(value)));
    if let Some(path) = &options.settings {
        // For ranks that start a job of their own.
        set(OsStr::new(SETTINGS), std::path::absolute(path).as_deref().unwrap_or(path).as_os_str());
    }
    group.variables.iter().for_each(|(name, value)| set(name, value));
    // A program with another file reads it itself.
    if !group.variables.iter().any(|(name, _)| name == SETTINGS) {
        set(OsStr::new(SETTINGS_READ), OsStr::new(file));
    }
    let names = names_of_options(group, options);
    if !names.is_empty() {
        set(OsStr::new(CVARS_READ), OsStr::new(&names));
    }
    if mpir::is_debugged() {
        variables.push((DEBUGGER_GATE.into(), "1".into()));
    }
    if terminal && allow_color(&variables) {
        variables.push((ERROR_COLOR.into(), "on".into()));
    }
    let line = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        name
    };
    variables.into_iter().map(line).collect()
}

/// The names whose values come from options of the job, and not from the program's own variables.
fn names_of_options(group: &Group, options: &Options) -> String {
    let replaced = |name: &str| group.variables.iter().any(|(own, _)| *own == *name_in_environment(name));
    let names: Vec<&str> = options.cvars.iter().map(|(name, _)| &**name).filter(|name| !replaced(name)).collect();
    names.join(" ")
}

/// Whether reports may have colours: no variable selects or forbids them.
fn allow_color(variables: &[(OsString, OsString)]) -> bool {
    !variables.iter().any(|(name, value)| match name.as_bytes() {
        b"NO_COLOR" => !value.is_empty(),
        b"TERM" => value == "dumb",
        name => name == ERROR_COLOR.as_bytes(),
    })
}

/// Whether a variable is a place in an outer job, of this launcher or of another.
fn is_foreign(name: &OsStr) -> bool {
    let begins = |prefix: &str| name.as_bytes().starts_with(prefix.as_bytes());
    mpi_wireup::is_reserved(name) || begins("PMI_") || begins("PMIX_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Soft;

    fn pair(text: &str) -> (OsString, OsString) {
        let (name, value) = text.split_once('=').unwrap();
        (name.into(), value.into())
    }

    #[test]
    fn the_programs_own_variables_come_last_and_names_stand_once() {
        let own = [
            "A=1",
            "B=1",
            "FERRUM_RANK=3",
            "FERRUM_CVARS_READ=a",
            "FERRUM_INFO_HOST=outer",
            "PMI_FD=4",
            "PMIX_RANK=2",
            "PMI=x",
        ]
        .map(pair)
        .into_iter();
        let options = Options {
            variables: ["B=2", "C=2", "FERRUM_ERROR_COLOR=on"].map(pair).to_vec(),
            cvars: vec![("error_color".into(), "off".into()), ("pmi".into(), "1".into())],
            settings: Some("/f".into()),
            initial_errhandler: Some("mpi_errors_return"),
            ..Options::default()
        };
        let soft = Soft::parse(OsStr::new("1:9"));
        let group = Group {
            variables: ["C=3", "A=", "PMI_SIZE=1", "FERRUM_PMI=2"].map(pair).to_vec(),
            processes: Some(9),
            soft,
            ..Group::default()
        };
        let due = [
            "A=",
            "B=2",
            "PMI=x",
            "FERRUM_INITIAL_ERRHANDLER=mpi_errors_return",
            "FERRUM_INFO_MAXPROCS=9",
            "FERRUM_INFO_SOFT=1:9",
            "C=3",
            "FERRUM_ERROR_COLOR=off",
            "FERRUM_PMI=2",
            "FERRUM_SETTINGS=/f",
            "PMI_SIZE=1",
            "FERRUM_SETTINGS_READ=/f\n1 a=b",
            "FERRUM_CVARS_READ=error_color",
        ];
        assert_eq!(of_program(own, &group, 4, &options, "/f\n1 a=b", false), due);
        let other = Group { variables: vec![pair("FERRUM_SETTINGS=/g")], ..Group::default() };
        let all = of_program([pair("FERRUM_SETTINGS_READ=x")].into_iter(), &other, 1, &options, "/f\n1 a=b", false);
        assert!(all.iter().all(|line| !line.to_string_lossy().starts_with("FERRUM_SETTINGS_READ")), "{all:?}");
    }

    #[test]
    fn reports_have_colours_on_the_launchers_terminal_unless_a_variable_refuses_them() {
        let colors = |own: &[&str], variables: &[&str], terminal| {
            let group = Group { variables: variables.iter().map(|text| pair(text)).collect(), ..Group::default() };
            let all = of_program(own.iter().map(|text| pair(text)), &group, 1, &Options::default(), "", terminal);
            all.iter().any(|line| line == "FERRUM_ERROR_COLOR=on")
        };
        assert!(colors(&["TERM=xterm", "NO_COLOR="], &[], true));
        assert!(!colors(&["TERM=xterm"], &[], false));
        for (own, variable) in
            [("NO_COLOR=1", "A="), ("TERM=dumb", "A="), ("FERRUM_ERROR_COLOR=off", "A="), ("A=", "NO_COLOR=1")]
        {
            assert!(!colors(&[own], &[variable], true), "{own} {variable}");
        }
    }
}
