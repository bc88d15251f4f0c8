//! The table of collective functions for the programs of `tests/collectives`: a C function for each, which takes its
//! arguments from one structure by their names.
//!
//! Invariant: no function is named here; what it is follows from its parameters.

use std::fmt::Write as _;

use crate::Result;
use crate::spec::{Function, Parameter, Spec};

/// The members of `struct args` (`tests/collectives/base.h`) that are lists with an entry for each process.
const LISTS: [&str; 5] = ["sendcounts", "recvcounts", "displs", "sdispls", "rdispls"];
/// All its other members.
const MEMBERS: [&str; 14] = [
    "sendbuf",
    "recvbuf",
    "buffer",
    "sendcount",
    "recvcount",
    "count",
    "sendtype",
    "recvtype",
    "datatype",
    "sendtypes",
    "recvtypes",
    "op",
    "root",
    "comm",
];

/// The header `calls.h` with the functions that the library has, or with all.
pub fn header(spec: &Spec, all: bool) -> Result<String> {
    let chosen = |function: &&Function| {
        (all || function.implementation.is_some()) && matches!(function.chapter.as_str(), "coll" | "topo")
    };
    let (mut functions, mut table) = (String::new(), String::new());
    for function in spec.functions.iter().filter(chosen) {
        let name = &function.name;
        if !is_collective(function) {
            // The programs find out whether the function is there.
            let _ = writeln!(functions, "#define HAS_{name} 1");
            continue;
        }
        let arguments: Vec<String> =
            function.parameters.iter().map(|parameter| argument(spec, function, parameter)).collect::<Result<_>>()?;
        let arguments = arguments.join(", ");
        let _ = writeln!(
            functions,
            "static int call_{name}(struct args *args, MPI_Request *request)\n{{\n    (void)request;\n    \
             return MPI_{name}({arguments});\n}}\n"
        );
        let (operation, form) = operation(function);
        let large = i32::from(function.large);
        let inter = i32::from(all || takes_groups(function));
        let _ = writeln!(table, "    {{\"{name}\", \"{operation}\", {form}, {large}, {inter}, call_{name}}},");
    }
    Ok(format!("{functions}\nstatic const struct call calls[] = {{\n{table}}};\n"))
}

/// The functions that the library has, without large-count forms.
pub fn functions(spec: &Spec) -> impl Iterator<Item = &Function> {
    let chosen = |function: &&Function| {
        !function.large && is_collective(function) && matches!(function.chapter.as_str(), "coll" | "topo")
    };
    spec.implemented().filter(chosen)
}

/// Whether a function has a parameter with this name.
pub fn has(function: &Function, name: &str) -> bool {
    function.parameters.iter().any(|parameter| parameter.name == name)
}

/// Whether a function takes intercommunicators, as far as the kinds of its parameters say.
fn takes_groups(function: &Function) -> bool {
    !function.parameters.iter().any(|each| each.kind == "INTRACOMMUNICATOR")
}

/// Whether a function has a form between two groups: not between neighbours.
pub fn is_between_groups(function: &Function) -> bool {
    takes_groups(function) && function.chapter == "coll"
}

/// Whether every argument has a member, and there is a communicator.
fn is_collective(function: &Function) -> bool {
    let known = |parameter: &Parameter| {
        let name = parameter.name.as_str();
        LISTS.contains(&name) || MEMBERS.contains(&name) || matches!(name, "info" | "request")
    };
    function.parameters.iter().all(known) && has(function, "comm")
}

/// The name of the blocking function, and the form in C.
fn operation(function: &Function) -> (String, &'static str) {
    let name = function.name.strip_suffix("_c").filter(|_| function.large).unwrap_or(&function.name);
    match (has(function, "request"), has(function, "info")) {
        (true, true) => (name.trim_end_matches("_init").to_owned(), "PERSISTENT"),
        (true, false) => {
            let rest = &name[1..];
            (format!("{}{}", rest[..1].to_uppercase(), &rest[1..]), "NONBLOCKING")
        }
        _ => (name.to_owned(), "BLOCKING"),
    }
}

/// An argument in C.
fn argument(spec: &Spec, function: &Function, parameter: &Parameter) -> Result<String> {
    let (name, kind) = (&parameter.name, spec.kind(parameter));
    let c = kind.large.as_deref().filter(|_| function.large).unwrap_or(&kind.c);
    Ok(match (LISTS.contains(&name.as_str()), c) {
        _ if name == "request" => "request".to_owned(),
        (true, "int") => format!("args->{name}.small"),
        (true, "MPI_Count") => format!("args->{name}.large"),
        (true, "MPI_Aint") => format!("args->{name}.bytes"),
        (true, other) => return Err(format!("MPI_{}: {name} is a list of {other}", function.name).into()),
        (false, "int") => format!("(int)args->{name}"),
        (false, _) => format!("args->{name}"),
    })
}
