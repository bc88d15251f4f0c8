//! The conversion of one argument between Fortran and C, by its form.
//!
//! Invariant: a result is stored in the program's variable only if the call has set it. Helpers that the text names are
//! in `mpi-capi/fortran/ferrum_fortran.h`. Not here: how conversions make a routine (`c_layer`).

use super::{Form, form};
use crate::spec::{Direction, Function, Parameter, Spec};
use crate::{Failure, Result};

/// The parts of a routine that one argument needs.
#[derive(Default)]
pub struct Conversion {
    /// The parameter in C; none where Fortran has no argument.
    pub parameter: Option<String>,
    /// The parameter for the length of a text, at the end of the list.
    pub length: Option<String>,
    /// Declarations.
    pub declared: Vec<String>,
    /// A condition that is false if there was no memory.
    pub allocated: Option<String>,
    /// Statements before the call.
    pub before: Vec<String>,
    /// What the call gets.
    pub argument: String,
    /// Statements after the call.
    pub after: Vec<String>,
    /// Statements that release what `declared` has allocated.
    pub released: Vec<String>,
}

/// The conversion of one argument.
pub fn conversion(spec: &Spec, function: &Function, parameter: &Parameter) -> Result<Conversion> {
    let name = &parameter.name;
    let form = form(spec, function, parameter)?;
    let input = parameter.direction == Direction::In;
    let array = parameter.value("len");
    let wrong = |what: &str| Failure::from(format!("spec: {}: {name}: {what}", function.name));
    let simple = |declared: String, argument: String| Conversion {
        parameter: Some(declared),
        argument,
        ..Conversion::default()
    };
    Ok(match form {
        Form::Absent => Conversion { argument: "0".to_owned(), ..Conversion::default() },
        Form::Integer if spec.kind(parameter).c == "int" && array.is_none() && !input && is_length(parameter) => {
            length_of_text(name)
        }
        Form::Integer | Form::Logical if array.is_some() => integers(parameter, input),
        Form::Integer | Form::Logical if input => {
            let value = if form == Form::Logical { format!("*{name} != 0") } else { format!("*{name}") };
            simple(format!("const MPI_Fint *{name}"), value)
        }
        Form::Integer | Form::Logical => {
            let mut plain = simple(format!("MPI_Fint *{name}"), name.clone());
            if parameter.has("one_based") {
                plain.before.push(format!("*{name} = MPI_UNDEFINED;"));
                plain.after.push(format!("ferrum_from_one({name}, 1);"));
            }
            plain
        }
        Form::Address | Form::Offset | Form::Count | Form::Double => wide(form, name, input, array.is_some()),
        Form::Weight if array.is_some() => simple(format!("MPI_Fint *{name}"), format!("ferrum_weights({name})")),
        Form::Weight => return Err(wrong("weights are an array")),
        Form::Handle if array.is_some() => handles(spec, function, parameter)?,
        Form::Handle => handle(spec, parameter),
        Form::Status => {
            let constant = if input { "const " } else { "" };
            let argument = match spec.kind(parameter).c.as_str() {
                "MPI_Status" => format!("ferrum_status({name})"),
                _ => name.clone(),
            };
            simple(format!("{constant}MPI_Fint *{name}"), argument)
        }
        Form::F08Status => {
            let constant = if input { "const " } else { "" };
            simple(format!("{constant}MPI_F08_status *{name}"), name.clone())
        }
        Form::Choice => {
            let constant = if parameter.has("const") { "const " } else { "" };
            simple(format!("{constant}void *{name}"), format!("ferrum_buffer({name})"))
        }
        Form::Pointer => simple(format!("void *{name}"), name.clone()),
        Form::Unused => Conversion {
            parameter: Some(format!("void *{name}")),
            declared: vec![format!("void *c_{name} = {name};")],
            argument: format!("&c_{name}"),
            ..Conversion::default()
        },
        Form::Text if input => text_in(name, parameter.has("stripped")),
        Form::Text => text_out(spec, function, parameter)?,
        Form::Attribute | Form::AttributeInteger => attribute(spec, function, parameter, form)?,
        Form::State | Form::StateInteger | Form::Procedure => callback(spec, function, parameter, form)?,
        Form::Texts | Form::TextLists => texts(spec, function, parameter, form)?,
    })
}

/// Whether the argument is the length of a text that is the room on entry and the length on return.
fn is_length(parameter: &Parameter) -> bool {
    parameter.direction == Direction::InOut && ["INFO_VALUE_LENGTH", "STRING_LENGTH"].contains(&parameter.kind.as_str())
}

/// In C such a length includes the NUL; 0 stands for a question about the length alone in both languages.
fn length_of_text(name: &str) -> Conversion {
    Conversion {
        parameter: Some(format!("MPI_Fint *{name}")),
        declared: vec![format!("int c_{name} = ferrum_with_nul(*{name});")],
        argument: format!("&c_{name}"),
        after: vec![format!("ferrum_length({name}, c_{name});")],
        ..Conversion::default()
    }
}

/// Arrays of default integers have the same memory in both languages.
fn integers(parameter: &Parameter, input: bool) -> Conversion {
    let name = &parameter.name;
    let constant = if input { "const " } else { "" };
    let rows = parameter.value("len").is_some_and(|length| length.ends_with("/3"));
    let argument = match parameter.kind.as_str() {
        "ERROR_CODE" => format!("ferrum_error_codes({name})"),
        // C has no implicit conversion to an array of constant rows.
        _ if rows => format!("(int (*)[3]){name}"),
        _ => name.clone(),
    };
    let mut plain =
        Conversion { parameter: Some(format!("{constant}MPI_Fint *{name}")), argument, ..Conversion::default() };
    if let Some(count) = parameter.value("one_based") {
        plain.before.push(format!("*{count} = 0;"));
        plain.after.push(format!("ferrum_from_one({name}, *{count});"));
    }
    plain
}

/// Integers of the kinds that have types of their own in C.
fn wide(form: Form, name: &str, input: bool, array: bool) -> Conversion {
    let c = match form {
        Form::Address => "MPI_Aint",
        Form::Offset => "MPI_Offset",
        Form::Count => "MPI_Count",
        _ => "double",
    };
    let (constant, value) = match (input, array) {
        (true, false) => ("const ", format!("*{name}")),
        (true, true) => ("const ", name.to_owned()),
        (false, _) => ("", name.to_owned()),
    };
    Conversion { parameter: Some(format!("{constant}{c} *{name}")), argument: value, ..Conversion::default() }
}

/// The names of the helpers for a type of handles: `MPI_Comm` has `ferrum_comm`, `ferrum_set_comm` and so on.
fn helper(c: &str) -> String {
    match c.trim_start_matches("MPI_").to_lowercase().as_str() {
        "datatype" => "type".to_owned(),
        other => other.to_owned(),
    }
}

fn handle(spec: &Spec, parameter: &Parameter) -> Conversion {
    let (name, c) = (&parameter.name, &spec.kind(parameter).c);
    let of = helper(c);
    let mut converted = Conversion { parameter: Some(format!("MPI_Fint *{name}")), ..Conversion::default() };
    match parameter.direction {
        Direction::In if parameter.has("pointer") => {
            converted.declared.push(format!("{c} c_{name} = ferrum_{of}(*{name});"));
            converted.argument = format!("&c_{name}");
        }
        Direction::In => {
            converted.parameter = Some(format!("const MPI_Fint *{name}"));
            converted.argument = format!("ferrum_{of}(*{name})");
        }
        direction => {
            let value = if direction == Direction::InOut { format!("ferrum_{of}(*{name})") } else { "0".to_owned() };
            converted.declared.push(format!("{c} c_{name} = {value};"));
            converted.argument = format!("&c_{name}");
            converted.after.push(format!("ferrum_set_{of}({name}, c_{name});"));
        }
    }
    converted
}

fn handles(spec: &Spec, function: &Function, parameter: &Parameter) -> Result<Conversion> {
    let (name, c) = (&parameter.name, &spec.kind(parameter).c);
    let of = helper(c);
    let length = number_of_handles(spec, function, parameter)?;
    let input = parameter.direction == Direction::In;
    let constant = if input { "const " } else { "" };
    let from = if parameter.direction == Direction::Out { "0" } else { name };
    let mut converted = Conversion {
        parameter: Some(format!("{constant}MPI_Fint *{name}")),
        declared: vec![
            format!("{c} few_{name}[FERRUM_FEW];"),
            format!("{c} *c_{name} = ferrum_{of}_list({from}, {length}, few_{name});"),
        ],
        allocated: Some(format!("c_{name}")),
        argument: format!("c_{name}"),
        released: vec![format!("ferrum_release(c_{name}, few_{name});")],
        ..Conversion::default()
    };
    if !input {
        converted.after.push(format!("ferrum_set_{of}_list({name}, {length}, c_{name});"));
    }
    Ok(converted)
}

/// The number of handles in a list: an argument, or the peers or neighbours of the communicator, unless the list is not
/// significant.
fn number_of_handles(spec: &Spec, function: &Function, parameter: &Parameter) -> Result<String> {
    let name = &parameter.name;
    let length = parameter.value("len").unwrap_or_default();
    if function.parameters.iter().any(|each| each.name == length) {
        return Ok(match parameter.has("root") {
            true => format!("{} ? *{length} : 0", at_root(spec, function)?),
            false => format!("*{length}"),
        });
    }
    let Some(number) = parameter.value("handles") else {
        return Err(format!("spec: {}: {name}: no extra has the number of handles", function.name).into());
    };
    let before = function.parameters.iter().take_while(|each| each.name != *name);
    let buffer = before.filter(|each| each.kind == "BUFFER").last();
    let number = format!("ferrum_{number}(ferrum_comm(*{}))", communicator(spec, function)?);
    Ok(match buffer.filter(|buffer| buffer.direction == Direction::In) {
        // A process that sends from its receive buffer passes no types to send.
        Some(buffer) => format!("ferrum_buffer({}) == MPI_IN_PLACE ? 0 : {number}", buffer.name),
        None => number,
    })
}

/// The name of the communicator.
fn communicator<'f>(spec: &Spec, function: &'f Function) -> Result<&'f str> {
    let input = |each: &&Parameter| spec.kind(each).c == "MPI_Comm" && each.direction == Direction::In;
    let found = function.parameters.iter().find(input);
    found.map(|each| each.name.as_str()).ok_or_else(|| format!("spec: {}: no communicator", function.name).into())
}

/// The condition that the process is the root.
pub(super) fn at_root(spec: &Spec, function: &Function) -> Result<String> {
    let root = function.parameters.iter().find(|each| each.kind == "RANK_ROOT");
    let root = root.ok_or_else(|| Failure::from(format!("spec: {}: no root", function.name)))?;
    Ok(format!("ferrum_is_root(ferrum_comm(*{}), *{})", communicator(spec, function)?, root.name))
}

/// Lists of texts, of which those that are not significant are not read.
fn texts(spec: &Spec, function: &Function, parameter: &Parameter, form: Form) -> Result<Conversion> {
    let name = &parameter.name;
    let count = parameter.value("texts").or(parameter.value("len"));
    let (helper, c, nothing) = match form {
        Form::Texts => ("ferrum_texts", "char **", "ferrum_argv_null_"),
        _ => ("ferrum_text_lists", "char ***", "ferrum_argvs_null_"),
    };
    let from = match parameter.has("root") {
        true => format!("{} ? {name} : {nothing}", at_root(spec, function)?),
        false => name.clone(),
    };
    let count = count.map_or("-1".to_owned(), |length| format!("*{length}"));
    Ok(Conversion {
        parameter: Some(format!("const char *{name}")),
        length: Some(format!("size_t {name}_length")),
        declared: vec![
            format!("{c}c_{name};"),
            format!("int made_{name} = {helper}({from}, {name}_length, {count}, &c_{name});"),
        ],
        allocated: Some(format!("made_{name}")),
        argument: format!("c_{name}"),
        released: vec![format!("free(c_{name});")],
        ..Conversion::default()
    })
}

/// A text of the program, without its trailing blanks.
fn text_in(name: &str, stripped: bool) -> Conversion {
    let leading = if stripped { "1" } else { "0" };
    Conversion {
        parameter: Some(format!("const char *{name}")),
        length: Some(format!("size_t {name}_length")),
        declared: vec![
            format!("char few_{name}[FERRUM_FEW_CHARACTERS];"),
            format!("char *c_{name} = ferrum_text({name}, {name}_length, {leading}, few_{name});"),
        ],
        allocated: Some(format!("c_{name}")),
        argument: format!("c_{name}"),
        released: vec![format!("ferrum_release(c_{name}, few_{name});")],
        ..Conversion::default()
    }
}

/// A text for the program, padded with blanks. Where the call says by a flag whether there is one, the flag decides.
fn text_out(spec: &Spec, function: &Function, parameter: &Parameter) -> Result<Conversion> {
    let name = &parameter.name;
    let room = parameter.value("room").or(parameter.value("len"));
    let room = room.ok_or_else(|| Failure::from(format!("spec: {}: {name} has no room", function.name)))?;
    let given = function.parameters.iter().find(|each| each.name == room);
    let mut conditions = vec!["error == MPI_SUCCESS".to_owned()];
    let flags = function.parameters.iter().filter(|each| each.direction == Direction::Out);
    conditions.extend(
        flags
            .filter(|each| spec.kind(each).fortran.as_deref() == Some("LOGICAL"))
            .map(|flag| format!("*{}", flag.name)),
    );
    let mut converted = Conversion {
        parameter: Some(format!("char *{name}")),
        length: Some(format!("size_t {name}_length")),
        argument: format!("c_{name}"),
        ..Conversion::default()
    };
    match given {
        // The program's number of characters, which the length of its variable may exceed.
        Some(length) => {
            let length = &length.name;
            // With room for none the call reports the length alone.
            if given.is_some_and(is_length) {
                conditions.push(format!("c_{length}_given > 0"));
                converted.declared.push(format!("int c_{length}_given = *{length};"));
            }
            converted.declared.push(format!("char few_{name}[FERRUM_FEW_CHARACTERS];"));
            converted.declared.push(format!("char *c_{name} = ferrum_room(*{length}, few_{name});"));
            converted.allocated = Some(format!("c_{name}"));
            converted.released.push(format!("ferrum_release(c_{name}, few_{name});"));
        }
        None => {
            converted.declared.push(format!("char c_{name}[{room}];"));
            converted.before.push(format!("c_{name}[0] = 0;"));
        }
    }
    let condition = conditions.join(" && ");
    converted.after.push(format!("if ({condition})"));
    converted.after.push(format!("    ferrum_pad({name}, {name}_length, c_{name});"));
    Ok(converted)
}

/// The value of an attribute. The library records with each value how Fortran has set it, because C gets the address of
/// such a value, and Fortran the value of what C has set by its address (MPI-5.0, 19.3.7).
fn attribute(spec: &Spec, function: &Function, parameter: &Parameter, form: Form) -> Result<Conversion> {
    let name = &parameter.name;
    let wrong = || Failure::from(format!("spec: {}: an attribute without object and key", function.name));
    let object = function.parameters.iter().find(|each| spec.kind(each).fortran.as_deref() == Some("HANDLE"));
    let object = object.ok_or_else(wrong)?;
    let key = function.parameters.iter().find(|each| each.kind == "KEYVAL").ok_or_else(wrong)?;
    let of = helper(&spec.kind(object).c);
    let (c, tag) =
        if form == Form::Attribute { ("MPI_Aint", "FERRUM_ADDRESS") } else { ("MPI_Fint", "FERRUM_INTEGER") };
    let handle = format!("ferrum_{of}(*{})", object.name);
    let holder = format!("FERRUM_{}", of.to_uppercase());
    if parameter.direction == Direction::In {
        return Ok(Conversion {
            parameter: Some(format!("const {c} *{name}")),
            argument: format!("(void *)(MPI_Aint)*{name}"),
            before: vec![format!("ferrum_fortran_attribute({tag}, *{}, (uintptr_t)(MPI_Aint)*{name});", key.name)],
            after: vec!["ferrum_fortran_attribute(0, 0, 0);".to_owned()],
            ..Conversion::default()
        });
    }
    let flag = function.parameters.iter().find(|each| each.kind == "LOGICAL").ok_or_else(wrong)?;
    Ok(Conversion {
        parameter: Some(format!("{c} *{name}")),
        declared: vec![format!("void *c_{name} = 0;")],
        argument: format!("&c_{name}"),
        after: vec![
            format!("if (error == MPI_SUCCESS && *{})", flag.name),
            format!("    *{name} = ({c})ferrum_fortran_value({holder}, (uintptr_t){handle}, *{}, c_{name});", key.name),
        ],
        ..Conversion::default()
    })
}

/// A procedure of the program, and the extra state of procedures. The library itself calls some of them as Fortran
/// demands, once it is told that they are written in it. The others are called by functions of C, whose extra state holds
/// the procedures and their own.
fn callback(spec: &Spec, function: &Function, parameter: &Parameter, form: Form) -> Result<Conversion> {
    let name = &parameter.name;
    let procedures: Vec<&Parameter> =
        function.parameters.iter().filter(|each| spec.kind(each).fortran.as_deref() == Some("PROCEDURE")).collect();
    let way = |each: &Parameter| {
        let callback = spec.callbacks.iter().find(|callback| Some(callback.name.as_str()) == each.value("fn"));
        callback.and_then(|callback| callback.fortran.clone())
    };
    let ways: Vec<String> = procedures.iter().filter_map(|each| way(each)).collect();
    if ways.len() != procedures.len() || ways.is_empty() {
        return Err(format!("spec: {}: callbacks.tsv has no Fortran for a procedure", function.name).into());
    }
    let by_library = ways[0].starts_with("LIBRARY");
    let first = procedures[0].name == *name;
    if form != Form::Procedure {
        let c = if form == Form::State { "MPI_Aint" } else { "MPI_Fint" };
        let argument = if by_library { format!("(void *)(MPI_Aint)*{name}") } else { "state".to_owned() };
        let mut converted =
            Conversion { parameter: Some(format!("const {c} *{name}")), argument, ..Conversion::default() };
        if !by_library {
            converted.before.push(format!("state->extra_state = *{name};"));
        }
        return Ok(converted);
    }
    let place = procedures.iter().position(|each| each.name == *name).unwrap_or_default();
    let callback = parameter.value("fn").unwrap_or_default();
    let suffix = if function.large && spec.kind(parameter).large.is_some() { "_c" } else { "" };
    let c = format!("{callback}{suffix}");
    let mut converted = Conversion { parameter: Some(format!("ferrum_procedure *{name}")), ..Conversion::default() };
    if by_library {
        converted.argument = format!("({c} *)ferrum_constant_of({name})");
        if first {
            let names: Vec<&str> = procedures.iter().map(|each| each.name.as_str()).collect();
            let second = names.get(1).copied().unwrap_or("0");
            let tag = if ways[0] == "LIBRARY_INTEGER" { "FERRUM_INTEGER" } else { "FERRUM_ADDRESS" };
            converted.before.push(format!("ferrum_fortran_procedures({tag}, {}, {second});", names[0]));
            converted.after.push("ferrum_fortran_procedures(0, 0, 0);".to_owned());
        }
        return Ok(converted);
    }
    let trampoline = &ways[place];
    converted.argument = match parameter.kind.as_str() {
        // The library needs to see that there is no function.
        "CONVERSION_FUNCTION" => format!("ferrum_constant_of({name}) ? {trampoline}{suffix}_{place} : 0"),
        _ => format!("{trampoline}{suffix}_{place}"),
    };
    if first {
        converted.declared.push("struct ferrum_procedures *state = malloc(sizeof *state);".to_owned());
        converted.allocated = Some("state".to_owned());
        converted.after.push("if (error != MPI_SUCCESS)".to_owned());
        converted.after.push("    free(state);".to_owned());
    }
    converted.before.push(format!("state->procedures[{place}] = {name};"));
    Ok(converted)
}
