//! The C side of the generated tests: every function that a routine calls, by both names, in place of the library's. It
//! checks the arguments that arrive, stores results, and counts its calls.
//!
//! Invariant: a function that is not called by each name as often as its test calls the routine is a failure.

use std::fmt::Write;

use super::arguments::is_ignorable;
use super::values::{ELEMENTS, ERROR, TEXT_OUT, VARIANTS, Value, Variant, applies, handles, values};
use crate::Result;
use crate::codegen::fortran::{Form, has_ierror, result_form};
use crate::codegen::header;
use crate::spec::{Function, Spec};

/// The text of the functions that these routines call.
pub fn functions(spec: &Spec, functions: &[&Function]) -> Result<String> {
    let mut text = String::from(
        "#define FERRUM_REMOVED_FUNCTIONS\n#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n\
         extern int failures_;\nint fixture_[1024];\nint failures_;\nvoid a_procedure_(void);\nstatic int variant;\n\n\
         void set_variant_(int *number)\n{\n    variant = *number;\n}\n\n\
         static void expect(int holds, const char *what)\n{\n    if (!holds) {\n        \
         printf(\"%s arrives wrong in C (variant %d)\\n\", what, variant);\n        failures_++;\n    }\n}\n\n\
         static inline const void *buffer_of(int *own)\n{\n    switch (variant) {\n    case 1: return MPI_BOTTOM;\n    \
         case 2: return MPI_IN_PLACE;\n    case 3: return MPI_BUFFER_AUTOMATIC;\n    default: return own;\n    }\n}\n\n\
         /* Lists without a length need more calls by PMPI names. */\n\
         static void calls_of(const char *name, int calls, int profiling, int expected)\n{\n    \
         if (calls != expected || profiling < expected) {\n        \
         printf(\"%s was called %d times, and by its PMPI name %d times, not %d\\n\", name, calls, profiling, expected);\n        \
         failures_++;\n    }\n}\n",
    );
    let mut ends = String::new();
    text.push_str(&prototypes(spec, functions));
    for function in functions {
        let all = values(spec, function)?;
        let fails = has_ierror(spec, function);
        let expected = VARIANTS.into_iter().filter(|variant| applies(&all, *variant, fails)).count();
        let name = &function.name;
        let _ = writeln!(ends, "    calls_of(\"MPI_{name}\", calls_{name}[0], calls_{name}[1], {expected});");
        text.push_str(&definition(spec, function, &all)?);
    }
    let _ = write!(text, "\nvoid check_calls_(void)\n{{\n{ends}}}\n");
    Ok(text)
}

/// The prototypes of those functions that `mpi.h` does not have.
pub fn prototypes(spec: &Spec, functions: &[&Function]) -> String {
    let absent = functions.iter().filter(|function| function.implementation.is_none());
    absent.flat_map(|function| ["MPI_", "PMPI_"].map(|prefix| header::prototype(spec, function, prefix))).collect()
}

fn definition(spec: &Spec, function: &Function, all: &[Value<'_>]) -> Result<String> {
    let name = &function.name;
    let named = all.iter().filter(|value| spec.kind(value.parameter).c != "...");
    let arguments: Vec<&str> = named.map(|value| value.parameter.name.as_str()).collect();
    let checked = header::prototype(spec, function, "check_");
    let mut text = format!("\nstatic int calls_{name}[2];\nstatic {}\n{{\n", checked.trim_end_matches(";\n"));
    for (index, value) in all.iter().enumerate() {
        text.push_str(&check(spec, index, value, name));
    }
    let fails = has_ierror(spec, function);
    if fails {
        let failing = VARIANTS.iter().position(|variant| *variant == Variant::Failing).unwrap_or_default();
        let _ = writeln!(text, "    if (variant == {failing})\n        return {ERROR};");
    }
    for value in all {
        text.push_str(&result(spec, value));
    }
    match result_form(spec, function)? {
        Some(Form::Double) => text.push_str("    return 2.5;\n}\n"),
        Some(_) => text.push_str("    return 20000000000;\n}\n"),
        None => text.push_str("    return MPI_SUCCESS;\n}\n"),
    }
    for (place, prefix) in ["MPI_", "PMPI_"].into_iter().enumerate() {
        let prototype = header::prototype(spec, function, prefix);
        let _ = write!(
            text,
            "\n{}\n{{\n    calls_{name}[{place}]++;\n    return check_{name}({});\n}}\n",
            prototype.trim_end_matches(";\n"),
            arguments.join(", ")
        );
    }
    Ok(text)
}

/// The check of one argument.
fn check(spec: &Spec, index: usize, value: &Value<'_>, function: &str) -> String {
    let name = &value.parameter.name;
    let c = spec.kind(value.parameter).c.as_str();
    let by_address = value.comes_out() || value.parameter.has("pointer");
    let star = if by_address { "*" } else { "" };
    let number = value.sent;
    let holds = match value.form {
        Form::Absent if c == "..." => return String::new(),
        Form::Absent => format!("!{name}"),
        Form::Choice => format!("{name} == buffer_of(&fixture_[{}])", 10 * index),
        Form::Weight => format!(
            "variant == 1 ? {name} == MPI_UNWEIGHTED : variant == 2 ? {name} == MPI_WEIGHTS_EMPTY : {}",
            if value.goes_in() { format!("{name}[0] == {number}") } else { "1".to_owned() }
        ),
        Form::Status if is_ignorable(value) => {
            let constant = if value.is_array() { "MPI_STATUSES_IGNORE" } else { "MPI_STATUS_IGNORE" };
            format!("variant == 1 || variant == 2 ? {name} == {constant} : {name} != {constant}")
        }
        Form::Status if value.goes_in() && c == "MPI_Status" => {
            format!("{name}->MPI_SOURCE == {number} && {name}->MPI_TAG == {number} && {name}->MPI_ERROR == {number}")
        }
        Form::Status if value.goes_in() => format!("{name}[0] == {number} && {name}[7] == {number}"),
        Form::Procedure => {
            let by_c = value
                .parameter
                .value("fn")
                .is_some_and(|callback| callback.contains("Grequest") || callback.contains("Datarep"));
            match by_c {
                true => format!("{name} && (void (*)(void)){name} != a_procedure_"),
                false => format!("(void (*)(void)){name} == a_procedure_"),
            }
        }
        // The state of procedures that functions of C call is the layer's.
        Form::State if number_is_hidden(function) => format!("{name} != 0"),
        Form::State | Form::StateInteger | Form::Attribute | Form::AttributeInteger if value.goes_in() => {
            format!("(long){name} == {number}")
        }
        _ if !value.goes_in() => return String::new(),
        Form::Text => format!("!strcmp({name}, \"{}\")", value.text().1),
        Form::Logical if value.is_array() => format!("{name}[0] && {name}[{}]", ELEMENTS - 1),
        Form::Logical => format!("{star}{name}"),
        Form::Handle if value.is_array() && value.handles_of_peers() == Some(0) => return String::new(),
        // Converted at the root only, which this program's functions do not make every process.
        Form::Handle if value.is_array() && value.parameter.has("root") => return String::new(),
        // None are read of a process that sends from its receive buffer, or if the number of processes is an error.
        Form::Handle if value.is_array() && value.handles_of_peers().is_some() => {
            format!("variant == 2 || variant == 4 || {name}[0] == {}", handles(c).0)
        }
        Form::Texts => {
            // A list of known length has its blank text, too.
            let counted = value.parameter.value("texts").is_some();
            let last = if counted { format!("!*{name}[2]") } else { format!("!{name}[2]") };
            format!("{}!strcmp({name}[0], \"one\") && !strcmp({name}[1], \" two\") && {last}", at_root(name, value))
        }
        Form::TextLists => format!(
            "{}!strcmp({name}[0][0], \"a\") && !{name}[0][1] && !strcmp({name}[1][0], \"b\") && \
             !strcmp({name}[2][1], \"of c\") && !{name}[2][2]",
            at_root(name, value)
        ),
        Form::Handle if value.is_array() => {
            let handle = handles(c).0;
            format!("{name}[0] == {handle} && {name}[{}] == {handle}", ELEMENTS - 1)
        }
        Form::Handle => format!("{star}{name} == {}", handles(c).0),
        Form::F08Status => format!("{name} != 0"),
        _ if value.elements() == 9 => format!("{name}[0][0] == {number} && {name}[2][2] == {}", number + 8),
        Form::Integer if value.is_array() => {
            format!("{name}[0] == {number} && {name}[{}] == {}", ELEMENTS - 1, number + ELEMENTS - 1)
        }
        _ if value.is_array() => format!("{name}[0] == {number} && {name}[{}] == {number}", ELEMENTS - 1),
        // A length of a text has room for its NUL in C.
        Form::Integer if value.comes_out() && number == super::values::CHARACTERS - 1 => {
            format!("*{name} == {}", number + 1)
        }
        _ => format!("{star}{name} == {number}"),
    };
    format!("    expect({holds}, \"MPI_{function}: {name}\");\n")
}

/// Whether the extra state in C is a structure of the layer.
fn number_is_hidden(function: &str) -> bool {
    function.starts_with("Grequest") || function.starts_with("Register")
}

/// The statements that store one result.
fn result(spec: &Spec, value: &Value<'_>) -> String {
    if !value.comes_out() {
        return String::new();
    }
    let name = &value.parameter.name;
    let c = spec.kind(value.parameter).c.as_str();
    let number = value.stored;
    match value.form {
        Form::Absent | Form::Choice | Form::Procedure | Form::F08Status => String::new(),
        Form::Pointer | Form::Unused | Form::Attribute | Form::AttributeInteger => {
            format!("    *(void **){name} = (void *)(MPI_Aint){number};\n")
        }
        Form::Text => format!("    strcpy({name}, \"{TEXT_OUT}\");\n"),
        Form::Logical if value.is_array() => {
            format!("    for (int i = 0; i < {ELEMENTS}; i++)\n        {name}[i] = 1;\n")
        }
        Form::Logical => format!("    *{name} = 1;\n"),
        Form::Handle if value.is_array() => {
            format!("    for (int i = 0; i < {ELEMENTS}; i++)\n        {name}[i] = {};\n", handles(c).1)
        }
        Form::Handle => format!("    *{name} = {};\n", handles(c).1),
        Form::Status if c != "MPI_Status" => {
            format!("    for (int i = 0; i < 3; i++)\n        {name}[i] = {number} + i;\n")
        }
        Form::Status => {
            let last = if value.is_array() { ELEMENTS } else { 1 };
            let condition = if is_ignorable(value) { "variant != 1 && variant != 2 && " } else { "" };
            format!(
                "    for (int i = 0; {condition}i < {last}; i++) {{\n        {name}[i].MPI_SOURCE = {number};\n        \
                 {name}[i].MPI_TAG = {number} + 1;\n        {name}[i].MPI_ERROR = {number} + 2;\n    }}\n"
            )
        }
        Form::Weight => format!(
            "    for (int i = 0; variant != 1 && variant != 2 && i < {ELEMENTS}; i++)\n        {name}[i] = {number} + i;\n"
        ),
        _ if value.is_array() => {
            format!("    for (int i = 0; i < {ELEMENTS}; i++)\n        {name}[i] = {number} + i;\n")
        }
        _ => format!("    *{name} = {number};\n"),
    }
}

/// The beginning of a condition of lists that are converted at the root only: the functions of this program do not make
/// every process the root.
fn at_root(name: &str, value: &Value<'_>) -> String {
    if value.parameter.has("root") { format!("!{name} || ") } else { String::new() }
}
