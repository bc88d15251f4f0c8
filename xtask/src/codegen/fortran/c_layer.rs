//! The routines of `mpif.h` and module `mpi` in C: one function a routine, which converts the arguments and calls C.
//!
//! Each routine has three names: `ferrum_mpi_x_` calls `MPI_X`, `mpi_x_` is a weak name of it, and `pmpi_x_` calls
//! `PMPI_X`. A tool in C so gets each call of the program once, and a tool in Fortran can define `mpi_x_`.
//! Invariant: nothing but the one call has a name that a tool counts. Not here: one argument (`conversion`).

use std::fmt::Write;

use super::conversion::{Conversion, conversion};
use super::{
    Form, arguments, common_block, has_ierror, marked, predefined_procedures, result_form, routine_name, routines,
    symbol,
};
use crate::Result;
use crate::spec::{Function, Spec};

/// What stands before each routine in the file of a chapter, so that the file can be cut into one for each.
pub const BEGINNING: &str = "/* Routine ";

/// The text of the file of one chapter.
pub fn chapter(spec: &Spec, chapter: &str) -> Result<String> {
    let mut text = format!(
        "/* Fortran routines of the chapter `{chapter}` over the functions of C.\n * {}\n * The library has an object for \
         each routine: this beginning and the routine. */\n#include \"ferrum_fortran.h\"\n",
        marked()
    );
    for function in routines(spec).filter(|function| function.chapter == chapter) {
        text.push_str(&routine(spec, function)?);
    }
    Ok(text)
}

/// The declarations of the variables and procedures that a program names as arguments, and the tests for them.
pub fn variables(spec: &Spec) -> Result<String> {
    let mut text = format!(
        "/* Variables and procedures of Fortran that stand for constants of C, recognised by their addresses.\n * {} */\n\
         #ifndef FERRUM_FORTRAN_VARIABLES_H\n#define FERRUM_FORTRAN_VARIABLES_H\n\n",
        marked()
    );
    for declared in declared_variables(spec) {
        let _ = writeln!(text, "extern {declared};");
    }
    text.push('\n');
    for procedure in predefined_procedures(spec) {
        let _ = writeln!(text, "void {}_();", procedure.name.to_lowercase());
    }
    text.push_str(
        "\n/* The constant of C that a procedure of Fortran stands for; otherwise the procedure. */\n\
         static inline ferrum_procedure *ferrum_constant_of(ferrum_procedure *given)\n{\n",
    );
    for procedure in predefined_procedures(spec) {
        let (name, constant) = (procedure.name.to_lowercase(), &procedure.name);
        let _ = writeln!(
            text,
            "    if (given == (ferrum_procedure *){name}_)\n        return (ferrum_procedure *){constant};"
        );
    }
    text.push_str("    return given;\n}\n\n#endif\n");
    Ok(text)
}

/// The definitions of the variables: the COMMON blocks of the program become these.
pub fn definitions(spec: &Spec) -> String {
    let mut text = format!(
        "/* The variables that programs name as arguments, recognised by their addresses: in the Fortran library, and in \
         an\n * archive of their own that each program and each shared object of a program is linked with. A process has \
         each of\n * them once, even if it loads libraries without making their symbols global, as interpreters do: the \
         dynamic linker\n * unifies symbols of this type.\n * {} */\n#include \"ferrum_fortran.h\"\n\n\
         #define FERRUM_ONCE(name) __asm__(\".type \" #name \", %gnu_unique_object\")\n\n",
        marked()
    );
    for declared in declared_variables(spec) {
        let _ = writeln!(text, "{declared};");
    }
    text.push('\n');
    for name in spec.fortran.iter().filter(|name| name.value.is_none()) {
        let _ = writeln!(text, "FERRUM_ONCE({}_);", common_block(&name.name).to_lowercase());
    }
    text
}

fn declared_variables(spec: &Spec) -> impl Iterator<Item = String> {
    spec.fortran.iter().filter(|name| name.value.is_none()).map(|name| {
        let c = if name.declared.starts_with("CHARACTER") { "char" } else { "MPI_Fint" };
        let is_status = name.shape.as_deref().is_some_and(|shape| shape.contains("STATUS"));
        let elements = if is_status { "[MPI_F_STATUS_SIZE]" } else { "[1]" };
        // Compilers align COMMON blocks so.
        format!("{c} {}_{elements} __attribute__((aligned(32)))", common_block(&name.name).to_lowercase())
    })
}

/// One routine: the body, which calls by a pointer that the compiler replaces by the name, and the names.
pub fn routine(spec: &Spec, function: &Function) -> Result<String> {
    let name = &function.name;
    let result = result_form(spec, function)?;
    let returns = result.map_or("void", |form| if form == Form::Double { "double" } else { "MPI_Aint" });
    let (own, weak, shifted) = (symbol("ferrum_MPI_", function), symbol("MPI_", function), symbol("PMPI_", function));
    let body = body(spec, function)?;
    let declared = if body.parameters.is_empty() { vec!["void".to_owned()] } else { body.parameters.clone() };
    let mut text = format!("\n{BEGINNING}{} */\n", routine_name("MPI_", function));
    let all = [&["__typeof__(MPI_".to_owned() + name + ") *call"][..], &body.parameters].concat();
    text.push_str(&wrapped(&format!("FERRUM_BODY {returns} body_{name}("), &all, ")\n"));
    let _ = write!(text, "{{\n{}}}\n\n", body.text);
    let passed: Vec<String> = body.parameters.iter().map(|parameter| last_word(parameter)).collect();
    for (linked, called) in [(&own, format!("MPI_{name}")), (&shifted, format!("PMPI_{name}"))] {
        text.push_str(&wrapped(&format!("{returns} {linked}("), &declared, ")\n"));
        let give = if result.is_some() { "return " } else { "" };
        let call = [&[called][..], &passed].concat();
        let _ = write!(text, "{{\n{}}}\n\n", wrapped(&format!("    {give}body_{name}("), &call, ");\n"));
    }
    text.push_str(&wrapped(&format!("{returns} {weak}("), &declared, &format!(") FERRUM_WEAK({own});\n")));
    if super::arguments(spec, function)?.iter().any(|(_, form)| *form == Form::Pointer) {
        text.push_str(&c_pointer_names(function, returns, &body.parameters, &own, &shifted));
    }
    Ok(text)
}

/// The names of the same routine with a `TYPE(C_PTR)` in place of the integer, which has the same memory.
fn c_pointer_names(function: &Function, returns: &str, parameters: &[String], own: &str, shifted: &str) -> String {
    let other = |prefix: &str| symbol(prefix, function).trim_end_matches('_').to_owned() + "_cptr_";
    let mut text = String::new();
    for (name, target) in [("MPI_", own), ("PMPI_", shifted)] {
        let start = format!("{returns} {}(", other(name));
        text.push_str(&wrapped(&start, parameters, &format!(") FERRUM_WEAK({target});\n")));
    }
    text
}

/// The body of a routine.
pub struct Body {
    /// The parameters in C, IERROR and the lengths of texts included.
    pub parameters: Vec<String>,
    /// The statements, which call `call`.
    pub text: String,
}

/// The body of a routine, by the conversions of its arguments.
pub fn body(spec: &Spec, function: &Function) -> Result<Body> {
    let mut converted: Vec<Conversion> = Vec::new();
    for parameter in &function.parameters {
        if spec.kind(parameter).c == "..." {
            continue;
        }
        converted.push(conversion(spec, function, parameter)?);
    }
    assembled(spec, function, &converted)
}

/// The body of a routine from the conversions of its arguments.
pub fn assembled(spec: &Spec, function: &Function, converted: &[Conversion]) -> Result<Body> {
    let ierror = has_ierror(spec, function);
    let mut parameters: Vec<String> = converted.iter().filter_map(|each| each.parameter.clone()).collect();
    if ierror {
        parameters.push("MPI_Fint *ierror".to_owned());
    }
    parameters.extend(converted.iter().filter_map(|each| each.length.clone()));
    let passed: Vec<String> = converted.iter().map(|each| each.argument.clone()).collect();
    let mut text = String::new();
    if result_form(spec, function)?.is_some() {
        text.push_str(&wrapped("    return call(", &passed, ");\n"));
        return Ok(Body { parameters, text });
    }
    converted.iter().for_each(|each| each.declared.iter().for_each(|line| line_of(&mut text, 1, line)));
    let checks: Vec<&str> = converted.iter().filter_map(|each| each.allocated.as_deref()).collect();
    let has_callbacks = arguments(spec, function)?.iter().any(|(_, form)| *form == Form::Procedure);
    let after = converted.iter().any(|each| !each.after.is_empty() || !each.released.is_empty());
    let depth = if checks.is_empty() { 1 } else { 2 };
    let simple = checks.is_empty() && !after && !has_callbacks;
    if simple && ierror {
        text.push_str(&wrapped("    ferrum_return(ierror, call(", &passed, "));\n"));
    } else if simple {
        text.push_str(&wrapped("    call(", &passed, ");\n"));
    } else {
        if checks.is_empty() {
            line_of(&mut text, 1, "int error;");
        } else {
            line_of(&mut text, 1, "int error = MPI_ERR_NO_MEM;");
            line_of(&mut text, 1, &format!("if ({}) {{", checks.join(" && ")));
        }
        converted.iter().for_each(|each| each.before.iter().for_each(|line| line_of(&mut text, depth, line)));
        let indent = "    ".repeat(depth);
        text.push_str(&wrapped(&format!("{indent}error = call("), &passed, ");\n"));
        converted.iter().for_each(|each| each.after.iter().for_each(|line| line_of(&mut text, depth, line)));
        if !checks.is_empty() {
            line_of(&mut text, 1, "} else {");
            line_of(&mut text, 2, "ferrum_no_memory();");
            line_of(&mut text, 1, "}");
        }
        converted.iter().for_each(|each| each.released.iter().for_each(|line| line_of(&mut text, 1, line)));
        line_of(&mut text, 1, "ferrum_return(ierror, error);");
    }
    Ok(Body { parameters, text })
}

/// Adds a line at a depth of blocks.
pub fn line_of(text: &mut String, depth: usize, line: &str) {
    let _ = writeln!(text, "{}{line}", "    ".repeat(depth));
}

/// The name at the end of a declaration.
pub fn last_word(declaration: &str) -> String {
    declaration.rsplit([' ', '*']).next().unwrap_or_default().to_owned()
}

/// A list in parentheses, in lines of the house's width.
pub fn wrapped(start: &str, items: &[String], end: &str) -> String {
    const WIDTH: usize = 118;
    let indent = " ".repeat(start.len() - start.trim_start().len() + 4);
    let (mut text, mut column) = (start.to_owned(), start.len());
    for (index, item) in items.iter().enumerate() {
        let separator = if index + 1 < items.len() { "," } else { end.trim_end_matches('\n') };
        let width = item.len() + separator.len() + usize::from(index > 0);
        if column + width > WIDTH && index > 0 {
            text.push('\n');
            text.push_str(&indent);
            column = indent.len();
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(item);
        column += item.len();
        if index + 1 < items.len() {
            text.push(',');
            column += 1;
        }
    }
    text + end
}

/// The file of a chapter as one file for each of its routines, with its name.
pub fn split(text: &str) -> Vec<(String, String)> {
    let mut parts = text.split(BEGINNING);
    let beginning = parts.next().unwrap_or_default();
    let of = |part: &str| {
        let name = part.split(' ').next().unwrap_or_default().to_lowercase();
        (name, format!("{beginning}{BEGINNING}{part}"))
    };
    parts.map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    fn text(name: &str) -> String {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        let function = routines(&spec).find(|function| function.name == name).expect("a routine");
        routine(&spec, function).expect("generated")
    }

    #[test]
    fn the_mpi_name_is_weak_and_calls_mpi_and_the_pmpi_name_calls_pmpi() {
        let text = text("Send");
        assert!(text.contains("void mpi_send_(") && text.contains("FERRUM_WEAK(ferrum_mpi_send_);"), "{text}");
        assert!(text.contains("body_Send(MPI_Send, buf,") && text.contains("body_Send(PMPI_Send, buf,"), "{text}");
    }

    #[test]
    fn a_chapter_is_cut_into_its_routines() {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        let whole = chapter(&spec, "p2p").expect("generated");
        let parts = split(&whole);
        assert_eq!(parts.len(), routines(&spec).filter(|function| function.chapter == "p2p").count());
        assert!(parts.iter().all(|(_, text)| text.starts_with("/* Fortran routines") && text.contains("FERRUM_WEAK")));
        assert!(parts.iter().any(|(name, _)| name == "mpi_send"));
    }

    #[test]
    fn a_long_list_is_wrapped() {
        let items: Vec<String> = (0..30).map(|number| format!("parameter{number}")).collect();
        assert!(wrapped("    call(", &items, ");\n").lines().all(|line| line.len() <= 120));
    }
}
