//! The tool stack: its entry points and names, and the tool in C that calls a typed interceptor around every function.
//!
//! Invariant: both lists have the implemented functions in the order of their names, which is the order of the table.
//! Not here: loading and chaining (`mpi-stack/src`), the C types (`mpi-capi/include/ferrum_stack.h`).

use std::fmt::Write;

use super::header;
use crate::spec::{Direction, Form, Function, GENERATED, Parameter, Spec};
use crate::{Failure, Result};

/// The text of the entry points and their names.
pub fn entries(spec: &Spec) -> String {
    let mut text = format!(
        "//! The entry points of the tool stack and the table of where each leads.\n//! {GENERATED}\n\n\
         /// The functions without `MPI_`, in the order of the table.\npub(crate) static NAMES: [&str; {}] = [\n",
        spec.implemented().count()
    );
    for function in spec.implemented() {
        let _ = writeln!(text, "    \"{}\",", function.name);
    }
    text.push_str("];\n\nmacro_rules! entry_points {\n    ($text:literal) => {\n        core::arch::global_asm!(\n            include_str!($text),\n");
    for (number, function) in spec.implemented().enumerate() {
        let _ = writeln!(text, "            \"entry {number}, {}\",", function.name);
    }
    text.push_str("            \".data\", \".p2align 6\", \".globl ferrum_stack_table\", \".hidden ferrum_stack_table\",\n            \"ferrum_stack_table:\",\n");
    for number in 0..spec.implemented().count() {
        let _ = writeln!(text, "            \".quad ferrum_stack_first_{number}\",");
    }
    text.push_str(
        "            \".text\",\n        );\n    };\n}\n\n\
         #[cfg(target_arch = \"x86_64\")]\nentry_points!(\"../entry_x86_64.s\");\n\
         #[cfg(target_arch = \"aarch64\")]\nentry_points!(\"../entry_aarch64.s\");\n",
    );
    text
}

/// The text of the adapter in C.
pub fn adapter(spec: &Spec) -> Result<String> {
    let mut text = format!(
        "/* A PMPI tool that calls a typed interceptor (ferrum_stack.h) around every function.\n * {GENERATED} */\n\
         #define FERRUM_REMOVED_FUNCTIONS\n#include \"../adapter.h\"\n\n"
    );
    let functions: Vec<&Function> = spec.implemented().collect();
    for function in functions.iter().filter(|function| !function.parameters.is_empty()) {
        let _ = writeln!(text, "static const ferrum_parameter parameters_{}[] = {{", function.name);
        for parameter in &function.parameters {
            let c_type = header::declared_type(spec, function, parameter);
            let direction = match parameter.direction {
                Direction::In => "FERRUM_IN",
                Direction::Out => "FERRUM_OUT",
                Direction::InOut => "FERRUM_INOUT",
            };
            let _ = writeln!(
                text,
                "    {{\"{}\", \"{}\", \"{c_type}\", {}, {direction}}},",
                parameter.name,
                parameter.kind,
                value_type(spec, &c_type)
            );
        }
        text.push_str("};\n");
        let buffers = buffers(spec, function);
        if !buffers.is_empty() {
            let rows: Vec<String> =
                buffers.iter().map(|row| format!("{{{}}}", row.map(|at| at.to_string()).join(", "))).collect();
            let _ =
                writeln!(text, "static const adapter_buffer buffers_{}[] = {{{}}};", function.name, rows.join(", "));
        }
    }
    let _ = writeln!(text, "\nconst ferrum_function adapter_functions[ADAPTER_FUNCTIONS] = {{");
    for function in &functions {
        let parameters = match function.parameters.is_empty() {
            true => "NULL".to_owned(),
            false => format!("parameters_{}", function.name),
        };
        let _ = writeln!(
            text,
            "    {{\"MPI_{}\", {}, {}, {parameters}, {}, {}, {}, {}, {}}},",
            function.name,
            number(spec, function)?,
            function.parameters.len(),
            value_type(spec, &spec.kinds[&function.returns].c),
            u8::from(function.returns == "ERROR_CODE"),
            position(function, |parameter| checked(spec, parameter, &["cx.dest", "cx.source", "cx.root"])),
            position(function, |parameter| parameter.kind.starts_with("TAG")),
            position(function, |parameter| checked(spec, parameter, &super::entries::OBJECT_CHECKS)),
        );
    }
    let _ = writeln!(text, "}};\n\nconst adapter_buffers adapter_all_buffers[ADAPTER_FUNCTIONS] = {{");
    for function in &functions {
        let root = position(function, is_root);
        let _ = match buffers(spec, function).len() {
            0 => writeln!(text, "    {{0, {root}, NULL}},"),
            count => writeln!(text, "    {{{count}, {root}, buffers_{}}},", function.name),
        };
    }
    text.push_str("};\n");
    for (index, function) in functions.iter().enumerate() {
        text.push_str(&definition(spec, function, index));
    }
    text = text.replace("ADAPTER_FUNCTIONS", &functions.len().to_string());
    Ok(text)
}

/// A function's number in all tables of the library.
fn number(spec: &Spec, function: &Function) -> Result<usize> {
    let place = spec.functions.iter().position(|each| each.name == function.name);
    place.map(|place| place + 1).ok_or_else(|| Failure::from(format!("spec: no {}", function.name)))
}

/// One function of the adapter.
fn definition(spec: &Spec, function: &Function, index: usize) -> String {
    let prototype = header::prototype(spec, function, "MPI_");
    let prototype = prototype.trim_end_matches(";\n");
    let fixed: Vec<&Parameter> =
        function.parameters.iter().filter(|parameter| spec.kind(parameter).c != "...").collect();
    let variadic = fixed.len() < function.parameters.len();
    let mut arguments: Vec<String> = fixed.iter().map(|parameter| parameter.name.clone()).collect();
    let values: Vec<String> = fixed
        .iter()
        .map(|parameter| {
            let name = &parameter.name;
            match value_type(spec, &header::declared_type(spec, function, parameter)) {
                "FERRUM_INT" | "FERRUM_INT64" => format!("{{.integer = {name}}}"),
                "FERRUM_DOUBLE" => format!("{{.real = {name}}}"),
                _ => format!("{{.address = (void *)(uintptr_t){name}}}"),
            }
        })
        .chain(variadic.then(|| "{.integer = 0}".to_owned()))
        .collect();
    let result = match value_type(spec, &spec.kinds[&function.returns].c) {
        "FERRUM_DOUBLE" => "real",
        "FERRUM_HANDLE" => "address",
        _ => "integer",
    };
    let mut text = format!("\n{prototype}\n{{\n");
    if variadic {
        let last = arguments.last().cloned().unwrap_or_default();
        let _ = writeln!(text, "    ADAPTER_FURTHER_ARGUMENTS({last});");
        arguments.push("ADAPTER_FURTHER".to_owned());
    }
    let call = format!("PMPI_{}({})", function.name, arguments.join(", "));
    let _ = writeln!(text, "    int *inside = adapter_flag();\n    if (!inside)\n        return {call};");
    let list = match values.is_empty() {
        true => "NULL".to_owned(),
        false => {
            let _ = writeln!(text, "    const ferrum_value values[] = {{{}}};", values.join(", "));
            "values".to_owned()
        }
    };
    let returned = &spec.kinds[&function.returns].c;
    let _ = writeln!(
        text,
        "    ferrum_call call = {{.function = &adapter_functions[{index}], .arguments = {list}, .bytes = adapter_bytes}};\n    \
         adapter_enter(&call, inside);\n    call.result.{result} = {call};\n    adapter_leave(&call, inside);\n    \
         return ({returned})call.result.{result};\n}}"
    );
    text
}

/// The representation of a value of a C type.
fn value_type(spec: &Spec, c_type: &str) -> &'static str {
    // A constant value, not an address of constants.
    let c_type = c_type.strip_prefix("const ").filter(|rest| !rest.contains('*')).unwrap_or(c_type);
    let is = |form: Form| spec.types.iter().any(|each| each.name == c_type && each.form == form);
    match c_type {
        "..." => "FERRUM_VOID",
        "double" => "FERRUM_DOUBLE",
        "int" | "MPI_Fint" => "FERRUM_INT",
        _ if c_type.strip_suffix(" *").is_some_and(|name| spec.callbacks.iter().any(|each| each.name == name)) => {
            "FERRUM_FUNCTION"
        }
        name if spec.callbacks.iter().any(|each| each.name == name) => "FERRUM_FUNCTION",
        _ if is(Form::Enum) => "FERRUM_INT",
        _ if is(Form::Integer) => "FERRUM_INT64",
        _ if is(Form::Handle) => "FERRUM_HANDLE",
        _ => "FERRUM_ADDRESS",
    }
}

fn checked(spec: &Spec, parameter: &Parameter, checks: &[&str]) -> bool {
    let kind = spec.kind(parameter);
    parameter.direction != Direction::Out
        && parameter.value("len").is_none()
        && kind.check_in.as_deref().is_some_and(|check| checks.contains(&check))
}

fn position(function: &Function, wanted: impl Fn(&Parameter) -> bool) -> isize {
    let fitting = |parameter: &Parameter| parameter.direction == Direction::In && wanted(parameter);
    function.parameters.iter().position(fitting).map_or(-1, |at| at as isize)
}

fn is_root(parameter: &Parameter) -> bool {
    parameter.kind == "RANK_ROOT"
}

/// Each described buffer of a function: the positions of address, count (-1 for one element) and datatype, and of the
/// number of partitions (-1 for none), and whether the buffer is significant at the root only. Buffers that the process sends come first.
fn buffers(spec: &Spec, function: &Function) -> Vec<[isize; 5]> {
    let mut buffers: Vec<(bool, [isize; 5])> = Vec::new();
    let place = |from: usize, wanted: &dyn Fn(&Parameter) -> bool| {
        function.parameters.iter().enumerate().skip(from + 1).find(|(_, each)| wanted(each)).map(|(at, _)| at)
    };
    for (at, parameter) in function.parameters.iter().enumerate() {
        let kind = spec.kind(parameter);
        let by = |check: &'static str| move |each: &Parameter| spec.kind(each).check_in.as_deref() == Some(check);
        let count = place(at, &by("check::count"));
        let is_buffer = match kind.check_in.as_deref() {
            Some(check) if super::entries::BUFFER_CHECKS.contains(&check) => count.is_some(),
            // MPI_Fetch_and_op and MPI_Compare_and_swap: one element.
            _ => parameter.kind == "RAW_BUFFER" && !function.parameters.iter().any(by("check::count")),
        };
        let datatype = place(at, &by(super::entries::DATATYPE_CHECK));
        let (true, Some(datatype)) = (is_buffer, datatype) else { continue };
        if count.iter().chain([&datatype]).any(|at| function.parameters[*at].value("len").is_some()) {
            continue;
        }
        let partitions = place(at, &|each: &Parameter| each.kind == "PARTITION").filter(|found| Some(*found) < count);
        let at_root = parameter.has("root") && function.parameters.iter().any(is_root);
        let [count, partitions] = [count, partitions].map(|at| at.map_or(-1, |at| at as isize));
        let row = [at as isize, count, datatype as isize, partitions, isize::from(at_root)];
        buffers.push((parameter.direction == Direction::Out, row));
    }
    buffers.sort_by_key(|(is_result, _)| *is_result);
    buffers.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    fn function(name: &str) -> (Spec, usize) {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        let at = spec.functions.iter().position(|function| function.name == name).expect("in the table");
        (spec, at)
    }

    #[test]
    fn the_data_that_a_process_sends_is_its_first_buffer() {
        let (spec, at) = function("Sendrecv");
        assert_eq!(buffers(&spec, &spec.functions[at]), [[0, 1, 2, -1, 0], [5, 6, 7, -1, 0]]);
        let (spec, at) = function("Gather");
        assert_eq!(buffers(&spec, &spec.functions[at]), [[0, 1, 2, -1, 0], [3, 4, 5, -1, 1]]);
        let (spec, at) = function("Psend_init");
        assert_eq!(buffers(&spec, &spec.functions[at]), [[0, 2, 3, 1, 0]]);
        let (spec, at) = function("Fetch_and_op");
        assert_eq!(buffers(&spec, &spec.functions[at]), [[0, -1, 2, -1, 0], [1, -1, 2, -1, 0]]);
        let (spec, at) = function("Barrier");
        assert!(buffers(&spec, &spec.functions[at]).is_empty());
    }

    #[test]
    fn values_of_all_types_are_passed_to_the_interceptor() {
        let (spec, at) = function("Send_c");
        let text = definition(&spec, &spec.functions[at], 3);
        assert!(text.contains("{.integer = count}") && text.contains("{.address = (void *)(uintptr_t)comm}"), "{text}");
        assert!(text.contains("&adapter_functions[3]") && text.contains("return (int)call.result.integer;"), "{text}");
        let (spec, at) = function("Pcontrol");
        let text = definition(&spec, &spec.functions[at], 0);
        assert!(text.contains("PMPI_Pcontrol(level, ADAPTER_FURTHER)"), "{text}");
    }
}
