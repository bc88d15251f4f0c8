//! The extern "C" entry points: argument checks by kind, then the implementation that the row names.
//!
//! Invariant: the code of an entry point follows from its row and from `kinds.tsv`; none depends on a function's name.
//! Not here: the checks (`mpi-capi/src/{call_context,check}.rs`), the implementations (`mpi-capi/src/imp`).

use std::fmt::Write;

use crate::spec::GENERATED;
use crate::spec::{Direction, Form, Function, Parameter, Spec, State};
use crate::{Failure, Result};

/// The checks that combine an address with the count and datatype that follow it.
pub const BUFFER_CHECKS: [&str; 4] = ["cx.send_buffer", "cx.recv_buffer", "cx.file_data", "cx.file_room"];

/// Whether a buffer keeps its datatype with its handle.
fn keeps_datatype(check: &str) -> bool {
    BUFFER_CHECKS[2..].contains(&check)
}

/// The checks of the object that a call works on.
pub const OBJECT_CHECKS: [&str; 5] = ["cx.comm", "cx.intracomm", "cx.intercomm", "cx.window", "cx.file"];

/// The check that looks up a datatype.
pub const DATATYPE_CHECK: &str = "cx.datatype";

/// The text of the file of one chapter.
pub fn chapter(spec: &Spec, chapter: &str) -> Result<String> {
    let mut functions = String::new();
    for function in spec.implemented().filter(|function| function.chapter == chapter) {
        functions.push_str(&entry_point(spec, function)?);
    }
    let groups: [&[(&str, &[&str])]; 3] = [
        &[("core::ffi", &["c_char", "c_int", "c_void"])],
        &[("mpi_core", &["Status", "functions"]), ("mpi_env", &["Object"])],
        &[("crate", &["check", "entry", "imp"])],
    ];
    let mut text = format!("//! Entry points of the chapter `{chapter}`.\n//! {GENERATED}\n");
    for group in groups {
        let imports: String = group.iter().filter_map(|(module, names)| import(module, names, &functions)).collect();
        if !imports.is_empty() {
            let _ = write!(text, "\n{imports}");
        }
    }
    Ok(text + &functions)
}

/// The import of those of the names in a module that the code uses; `None` if it uses none.
fn import(module: &str, names: &[&str], code: &str) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_used = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            !code[..at].chars().next_back().is_some_and(is_part)
                && !code[at + name.len()..].chars().next().is_some_and(is_part)
        })
    };
    let used: Vec<&str> = names.iter().copied().filter(|name| is_used(name)).collect();
    match used[..] {
        [] => None,
        [name] => Some(format!("use {module}::{name};\n")),
        _ => Some(format!("use {module}::{{{}}};\n", used.join(", "))),
    }
}

/// The text of the module that holds all chapters.
pub fn module(chapters: &[&str]) -> String {
    let mut text = format!(
        "//! The C entry points, one module a chapter.\n//! {GENERATED}\n\n\
         #![allow(missing_docs, non_snake_case)] // the names are the standard's own\n\
         #![allow(clippy::missing_safety_doc)] // the contract is the standard's, in mpi.h\n\
         #![allow(clippy::too_many_arguments)] // as many as the standard has\n\
         #![allow(clippy::unnecessary_cast)] // one text for both forms\n\n\
         #[cfg(feature = \"mpi-names\")]\nmod aliases;\n"
    );
    for chapter in chapters {
        let _ = writeln!(text, "pub mod {chapter};");
    }
    text
}

fn entry_point(spec: &Spec, function: &Function) -> Result<String> {
    let wrong = |what: String| Failure::from(format!("spec: {}: {what}", function.name));
    let name = &function.name;
    let mut implementation = function.implementation.clone().unwrap_or_default();
    // The forms have different parameters, so each has an implementation of its own.
    if function.large && function.parameters.iter().any(|parameter| parameter.has("large")) {
        implementation.push_str("_c");
    }
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .filter(|parameter| spec.kind(parameter).c != "...")
        .map(|parameter| Ok(format!("{}: {}", rust_name(parameter), rust_type(spec, function, parameter)?)))
        .collect::<Result<_>>()?;
    if function.whole {
        return Ok(format!(
            "\n// `MPI_{name}`, since MPI-{}.\nimp::{implementation}!(PMPI_{name}({}));\n",
            function.since,
            parameters.join(", ")
        ));
    }
    let returns = spec.kinds[&function.returns].c.as_str();
    let mut text = format!(
        "\n/// `MPI_{name}`, since MPI-{}.\n#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn PMPI_{name}({}) -> {} {{\n",
        function.since,
        parameters.join(", "),
        scalar(spec, returns).ok_or_else(|| wrong(format!("no Rust type for {returns}")))?
    );
    let arguments: Vec<String> =
        function.parameters.iter().filter(|each| spec.kind(each).c != "...").map(rust_name).collect();
    if function.state == State::Tool || function.returns != "ERROR_CODE" {
        let _ = writeln!(text, "    imp::{implementation}({})\n}}", arguments.join(", "));
        return Ok(text);
    }
    let id = format!("functions::MPI_{}", name.to_uppercase());
    let body = checks(spec, function)?;
    if function.quick {
        let (done, code) = match function.waits {
            true => ("let Some(code) = ", "code"),
            false => ("", "mpi_core::abi::MPI_SUCCESS"),
        };
        let _ = writeln!(
            text,
            "    if {done}imp::{implementation}_quickly({0}) {{\n        return {code};\n    }}\n    \
             return longer_way({0});\n\n    \
             // Out of line, with the arguments where they are, so that the short way keeps none for it.\n    \
             #[cold]\n    #[inline(never)]\n    \
             extern \"C\" fn longer_way({1}) -> c_int {{",
            arguments.join(", "),
            parameters.join(", "),
        );
    }
    let freed = freed_handle(spec, function);
    if let Some(handle) = &freed {
        let _ = writeln!(text, "    entry::freeing({id}, {handle}, || {{");
    }
    // A closure's body, so that the expression is the value.
    let end = match () {
        _ if freed.is_some() => "    })\n}",
        _ if function.quick => "    }\n}",
        _ => "}",
    };
    match function.state {
        State::Running | State::Starting | State::Local | State::Lockless => {
            let on = error_object(spec, function);
            let entry = if function.state == State::Lockless { "lockless" } else { "running" };
            let _ = writeln!(text, "    entry::{entry}({id}, {on}, |cx| {{\n{}", body.text);
            let has_recorded = function.parameters.iter().any(|parameter| parameter.has("recorded"));
            let own = match function.state == State::Running && has_recorded {
                true => "cx, record.entry()".to_owned(),
                false => "cx".to_owned(),
            };
            let all = [own].into_iter().chain(body.arguments).collect::<Vec<_>>().join(", ");
            let call = format!("imp::{implementation}({all})");
            // Short calls record theirs in place.
            let by = if function.chapter == "p2p" && !function.large { "_inline" } else { "" };
            let recorded = match function.state {
                State::Running => {
                    format!("let record = cx.enter{by}({id}, {0});\n        record.end({call})", seen(spec, function))
                }
                State::Starting if has_recorded => call,
                State::Starting => format!("cx.record{by}({id}, {0});\n        {call}", seen(spec, function)),
                _ => call,
            };
            let _ = writeln!(text, "        {recorded}\n    }})\n{end}");
        }
        _ => {
            let on = error_object(spec, function);
            let _ = writeln!(text, "    entry::anytime({id}, {on}, || {{\n{}", body.text);
            let _ = writeln!(text, "        imp::{implementation}({})\n    }})\n{end}", body.arguments.join(", "));
        }
    }
    Ok(text)
}

/// The types of the objects that have error handlers, with the function that makes an `Object` of a word.
const ERROR_OBJECTS: [(&str, &str); 4] =
    [("MPI_Comm", "comm"), ("MPI_Win", "win"), ("MPI_File", "file"), ("MPI_Session", "session")];

/// The object whose error handler handles an error of this call: the constant that a parameter names by `errors=`, else
/// the first input argument that is an object of a kind with error handlers.
fn error_object(spec: &Spec, function: &Function) -> String {
    let maker = |c: &str| ERROR_OBJECTS.iter().find(|(of, _)| *of == c).map(|(_, make)| *make);
    if let Some(named) = function.parameters.iter().find_map(|parameter| parameter.value("errors")) {
        let of = spec.constants.iter().find(|constant| constant.name == named);
        let make = of.and_then(|constant| maker(&constant.c_type)).unwrap_or("no_such_kind");
        return format!("Some(Object::{make}(mpi_core::abi::{named}))");
    }
    let found = function.parameters.iter().find_map(|parameter| {
        let (name, make) = (rust_name(parameter), maker(&spec.kind(parameter).c)?);
        match parameter.direction {
            Direction::Out => None,
            _ if parameter.value("len").is_some() => None,
            Direction::In => Some(format!("Some(Object::{make}({name}))")),
            Direction::InOut => Some(format!("Some(Object::{make}(entry::at({name})))")),
        }
    });
    found.unwrap_or_else(|| "None".to_owned())
}

/// The types of the handles whose end is recorded. Requests and messages end too often for that.
const REMEMBERED: [&str; 9] = [
    "MPI_Comm",
    "MPI_Datatype",
    "MPI_Errhandler",
    "MPI_File",
    "MPI_Group",
    "MPI_Info",
    "MPI_Op",
    "MPI_Session",
    "MPI_Win",
];

/// The handle that is input and output: calls with one free it.
fn freed_handle(spec: &Spec, function: &Function) -> Option<String> {
    let mut both = function.parameters.iter().filter(|parameter| {
        parameter.direction == Direction::InOut
            && parameter.value("len").is_none()
            && REMEMBERED.contains(&spec.kind(parameter).c.as_str())
    });
    both.next().map(rust_name)
}

/// The call's peer, tag and count for the flight recorder, if it has them.
fn seen(spec: &Spec, function: &Function) -> String {
    let argument = |checks: &[&str], late: bool| {
        let mut fitting = function.parameters.iter().filter(|parameter| {
            parameter.direction == Direction::In
                && parameter.has("late") == late
                && !(late && parameter.has("root"))
                && parameter.value("len").is_none()
                && spec.kind(parameter).check_in.as_deref().is_some_and(|check| checks.contains(&check))
        });
        fitting.next().map(rust_name)
    };
    let first = |checks: &[&str]| argument(checks, false);
    let target = || function.parameters.iter().find(|parameter| parameter.has("target")).map(rust_name);
    let peer = first(&["cx.dest", "cx.source", "cx.root"]).or_else(target);
    let peer = peer.map_or("-1".to_owned(), |name| format!("{name} as i32"));
    let tag = first(&["check::tag", "check::any_tag"]).unwrap_or_else(|| "0".to_owned());
    // A count that is not checked yet may have any value.
    let unchecked = || argument(&["check::count"], true).map(|name| format!("{name}.max(0) as u64"));
    let count = first(&["check::count"]).or_else(unchecked).unwrap_or_else(|| "0".to_owned());
    format!("{peer}, {tag}, {count}")
}

struct Checks {
    text: String,
    arguments: Vec<String>,
}

/// The lines that check the arguments, and the arguments that the implementation gets.
fn checks(spec: &Spec, function: &Function) -> Result<Checks> {
    let mut checks = Checks { text: String::new(), arguments: Vec::new() };
    let mut order: Vec<(usize, &Parameter)> = function.parameters.iter().enumerate().collect();
    // The object first, because ranks are checked against it; buffers last, because they need their datatype.
    order.sort_by_key(|(index, parameter)| match check_of(spec, parameter) {
        Some(check) if OBJECT_CHECKS.contains(&check) => (0, *index),
        Some(check) if BUFFER_CHECKS.contains(&check) => (2, *index),
        _ => (1, *index),
    });
    let mut absorbed = vec![false; function.parameters.len()];
    for index in 0..function.parameters.len() {
        if check_of(spec, &function.parameters[index]).is_some_and(|check| BUFFER_CHECKS.contains(&check)) {
            let (count, datatype) = description(spec, function, index)?;
            (absorbed[count], absorbed[datatype]) = (true, true);
        }
    }
    for (index, parameter) in order {
        let (name, quoted) = (rust_name(parameter), &parameter.name);
        let Some(check) = check_of(spec, parameter) else { continue };
        let value = if BUFFER_CHECKS.contains(&check) {
            let (count, datatype) = description(spec, function, index)?;
            let of = |at: usize| rust_name(&function.parameters[at]);
            format!("{name}, {}, {}", of(count), of(datatype))
        } else if let Some(length) = array_length(spec, parameter) {
            format!("{name}, {length}")
        } else if parameter.direction == Direction::In && spec.kind(parameter).large.is_some() {
            match spec.kind(parameter).c.as_str() {
                "fn" => format!("{name}, {}", function.large),
                _ => format!("{name} as i64"),
            }
        } else {
            name.clone()
        };
        let keeps_type = function.parameters.iter().any(|each| check_of(spec, each).is_some_and(keeps_datatype));
        let by = match check {
            _ if array_length(spec, parameter).is_some() => "check::slice",
            // A buffer copies what it needs of its datatype; that of a file needs its handle too.
            DATATYPE_CHECK if absorbed[index] && !keeps_type => "cx.borrowed_datatype",
            _ => check,
        };
        let _ = writeln!(checks.text, "        let {name} = {by}(\"{quoted}\", {value})?;");
    }
    let uses_cx = checks.text.contains("cx.");
    if uses_cx && matches!(function.state, State::Any | State::Tool) {
        return Err(
            format!("spec: {}: a check needs a running library, but the state allows any time", function.name).into()
        );
    }
    let needs_comm = ["cx.dest(", "cx.source(", "cx.root("].iter().any(|check| checks.text.contains(check));
    let has_comm = ["= cx.comm(", "= cx.intracomm("].iter().any(|check| checks.text.contains(check));
    if needs_comm && !has_comm {
        return Err(format!("spec: {}: a rank without a communicator to check it against", function.name).into());
    }
    let looks_up = OBJECT_CHECKS.iter().any(|check| checks.text.contains(&format!("= {check}(")));
    if looks_up && function.state != State::Lockless {
        checks.text.insert_str(0, "        let mut cx = cx;\n");
    }
    let arguments = function.parameters.iter().enumerate();
    checks.arguments = arguments
        .filter(|(index, parameter)| !absorbed[*index] && spec.kind(parameter).c != "...")
        .map(|(_, parameter)| rust_name(parameter))
        .collect();
    Ok(checks)
}

/// The length of an array with a stated length; texts end by themselves.
fn array_length<'p>(spec: &Spec, parameter: &'p Parameter) -> Option<&'p str> {
    let is_text = spec.kind(parameter).c.ends_with('*');
    parameter.value("len").filter(|length| *length != "*" && !is_text)
}

/// The check for a parameter of this kind and direction; `None` where the implementation checks it.
fn check_of<'s>(spec: &'s Spec, parameter: &Parameter) -> Option<&'s str> {
    if parameter.has("late") || parameter.value("len") == Some("*") {
        return None;
    }
    let kind = spec.kind(parameter);
    // A constant status is passed by reference; a buffer that is input and output is written.
    match parameter.direction {
        Direction::In if parameter.has("pointer") => kind.check_out.as_deref(),
        Direction::In => kind.check_in.as_deref(),
        Direction::Out | Direction::InOut => kind.check_out.as_deref(),
    }
}

/// The positions of a buffer's count and datatype: the first of each kind behind it.
fn description(spec: &Spec, function: &Function, buffer: usize) -> Result<(usize, usize)> {
    let find = |check: &str| {
        let behind = function.parameters.iter().enumerate().skip(buffer + 1);
        let mut fitting = behind.filter(|(_, each)| spec.kind(each).check_in.as_deref() == Some(check));
        fitting.next().map(|(index, _)| index)
    };
    find("check::count")
        .zip(find(DATATYPE_CHECK))
        .ok_or_else(|| Failure::from(format!("spec: {}: a buffer without count or datatype behind it", function.name)))
}

/// The name of a parameter in Rust.
fn rust_name(parameter: &Parameter) -> String {
    match parameter.name.as_str() {
        "type" | "in" | "fn" | "ref" | "move" | "box" => format!("{}_", parameter.name),
        name => name.to_lowercase(),
    }
}

/// The Rust type of a C type that is passed by value.
fn scalar(spec: &Spec, c: &str) -> Option<String> {
    Some(match c {
        "int" => "c_int".to_owned(),
        "double" => "f64".to_owned(),
        "fn" => "usize".to_owned(),
        name if spec.callbacks.iter().any(|callback| callback.name == name) => "usize".to_owned(),
        name => spec.types.iter().find(|each| each.name == name && each.form != Form::Struct)?.rust.clone(),
    })
}

/// The Rust type of a C structure.
fn structure<'s>(spec: &'s Spec, c: &str) -> Option<&'s str> {
    let found = spec.types.iter().find(|each| each.name == c && each.form == Form::Struct);
    found.map(|each| each.rust.as_str())
}

/// The Rust type of a parameter.
fn rust_type(spec: &Spec, function: &Function, parameter: &Parameter) -> Result<String> {
    let kind = spec.kind(parameter);
    let base = match (&kind.large, function.large) {
        (Some(large), true) => large.as_str(),
        _ => kind.c.as_str(),
    };
    let pointer = if parameter.has("const") { "*const" } else { "*mut" };
    let by_reference = parameter.direction != Direction::In && !parameter.has("value")
        || parameter.has("pointer")
        || parameter.value("len").is_some();
    let target = match base {
        "void *" => return Ok(format!("{pointer} c_void")),
        "char *" => return Ok(format!("{pointer} c_char")),
        "char **" if by_reference && !parameter.has("value") => return Ok("*mut *mut *mut c_char".to_owned()),
        "char **" => return Ok("*mut *mut c_char".to_owned()),
        name if let Some(rust) = structure(spec, name) => rust.to_owned(),
        other => scalar(spec, other).ok_or_else(|| Failure::from(format!("spec: no Rust type for {other}")))?,
    };
    // C passes a structure by address even when it is only input.
    match by_reference || structure(spec, base).is_some() {
        true => Ok(format!("{pointer} {target}")),
        false => Ok(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    /// The text of one entry point of the real table.
    fn entry(name: &str) -> String {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        let function = spec.implemented().find(|function| function.name == name).expect("implemented");
        entry_point(&spec, function).expect("generated")
    }

    #[test]
    fn the_communicator_is_checked_first_and_buffers_last() {
        let text = entry("Sendrecv");
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
        assert!(place("cx.comm(") < place("check::count("));
        assert!(place("cx.borrowed_datatype(\"recvtype\"") < place("cx.send_buffer("));
        assert!(place("cx.recv_buffer(\"recvbuf\", recvbuf, recvcount, recvtype)") < place("imp::"));
    }

    #[test]
    fn both_forms_of_a_function_have_one_implementation() {
        let (small, large) = (entry("Recv"), entry("Recv_c"));
        assert!(small.contains("count: c_int") && large.contains("count: i64"));
        assert!(small.contains("imp::receive::recv(") && large.contains("imp::receive::recv("));
    }

    #[test]
    fn a_large_form_with_more_parameters_has_an_implementation_of_its_own() {
        let (small, large) = (entry("Type_get_envelope"), entry("Type_get_envelope_c"));
        assert!(!small.contains("num_large_counts") && small.contains("type_contents::type_get_envelope("), "{small}");
        assert!(large.contains("num_large_counts") && large.contains("type_contents::type_get_envelope_c("), "{large}");
    }

    #[test]
    fn late_arguments_reach_the_implementation_unchecked() {
        let text = entry("Gather");
        assert!(!text.contains("cx.datatype(") && !text.contains("check::count("), "{text}");
        assert!(text.contains("sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm"));
    }

    #[test]
    fn an_implementation_may_be_the_entry_point_itself() {
        let text = entry("T_pvar_read");
        assert!(
            text.contains("imp::pvar::pvar_read!(PMPI_T_pvar_read(session: usize, ") && !text.contains("fn "),
            "{text}"
        );
    }

    #[test]
    fn the_tools_interface_gets_its_arguments_as_they_are() {
        let text = entry("T_pvar_readreset");
        assert!(!text.contains("check::") && !text.contains("entry::"), "{text}");
    }
}
