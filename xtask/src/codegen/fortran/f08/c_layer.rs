//! The C functions of module `mpi_f08`: those with choice buffers, whose descriptors they get; those with large counts; and
//! those with an address as their result. All others are the functions of the older bindings.
//!
//! Each function has two names: one calls `MPI_X`, the other `PMPI_X`. Invariant: nothing but the one call has a name that
//! a tool counts. Not here: the conversion of choice buffers (`buffers`) and of other arguments (`conversion`).

use std::fmt::Write;

use super::super::c_layer::{Body, assembled, last_word, line_of, wrapped};
use super::super::conversion::{Conversion, conversion};
use super::super::{Form, form, has_ierror, marked};
use super::{buffers, form_of, functions, has_choice, has_own_c};
use crate::Result;
use crate::spec::{Function, Spec};

/// What stands before each function in the file of a chapter, so that the file can be cut into one for each.
pub const BEGINNING: &str = super::super::c_layer::BEGINNING;

/// The text of the file of one chapter; `None` if no function of the chapter needs one.
pub fn chapter(spec: &Spec, chapter: &str) -> Result<Option<String>> {
    let mut text = format!(
        "/* C functions of module mpi_f08 in the chapter `{chapter}`.\n * {}\n * The library has an object for each \
         function: this beginning and the function. */\n#include \"ferrum_f08.h\"\n",
        marked()
    );
    let mut any = false;
    for function in functions(spec).filter(|function| function.chapter == chapter) {
        if has_own_c(spec, function)? {
            text.push_str(&function_text(spec, function)?);
            any = true;
        }
    }
    Ok(any.then_some(text))
}

/// The symbol of the function that a specific procedure calls. Procedures without choice buffers call by the name that
/// Fortran makes of an external procedure's.
pub fn symbol_of(spec: &Spec, prefix: &str, function: &Function) -> Result<String> {
    let end = if has_choice(spec, function)? { "" } else { "_" };
    Ok(format!("ferrum_f08_{}{}{end}", prefix.to_lowercase(), function.name.to_lowercase()))
}

/// The text of the functions that the two procedures of a function call.
pub fn function_text(spec: &Spec, function: &Function) -> Result<String> {
    let name = &function.name;
    let body = body(spec, function)?;
    let symbols = [symbol_of(spec, "MPI_", function)?, symbol_of(spec, "PMPI_", function)?];
    let mut text = format!("\n{BEGINNING}{} */\n", symbols[0]);
    let all = [&["__typeof__(MPI_".to_owned() + name + ") *call"][..], &body.parameters].concat();
    text.push_str(&wrapped(&format!("FERRUM_BODY void body_{name}("), &all, ")\n"));
    let _ = write!(text, "{{\n{}}}\n\n", body.text);
    let passed: Vec<String> = body.parameters.iter().map(|parameter| last_word(parameter)).collect();
    for (linked, prefix) in symbols.iter().zip(["MPI_", "PMPI_"]) {
        text.push_str(&wrapped(&format!("void {linked}("), &body.parameters, ")\n"));
        let call = [&[format!("{prefix}{name}")][..], &passed].concat();
        let _ = write!(text, "{{\n{}}}\n\n", wrapped(&format!("    body_{name}("), &call, ");\n"));
    }
    // A tidy end of the file and of each of its parts.
    text.truncate(text.trim_end().len());
    text.push('\n');
    Ok(text)
}

/// The body of a function.
fn body(spec: &Spec, function: &Function) -> Result<Body> {
    let mut converted = Vec::new();
    for parameter in &function.parameters {
        // The address is a result here; the older bindings drop it.
        let unused = form(spec, function, parameter)? == Form::Unused;
        converted.push(if unused {
            let name = &parameter.name;
            Conversion { parameter: Some(format!("void *{name}")), argument: name.clone(), ..Conversion::default() }
        } else {
            conversion(spec, function, parameter)?
        });
    }
    if !has_choice(spec, function)? {
        return assembled(spec, function, &converted);
    }
    let mut sections: Vec<String> = Vec::new();
    for (index, parameter) in function.parameters.iter().enumerate() {
        match form_of(spec, function, parameter)? {
            Form::Choice => {
                let buffer = buffers::buffer(spec, function, index)?;
                sections.push(format!("{}_section", parameter.name));
                for (place, argument) in buffer.arguments {
                    converted[place].argument = argument;
                }
                converted[index].parameter = Some(format!("CFI_cdesc_t *{}", parameter.name));
                converted[index].declared = buffer.declared;
            }
            Form::Text => described_text(&mut converted[index], &parameter.name),
            _ => {}
        }
    }
    // Other arguments may depend on which constant stands for the buffer.
    for name in sections.iter().filter_map(|section| section.strip_suffix("_section")) {
        let (pointer, described) = (format!("ferrum_buffer({name})"), format!("ferrum_buffer({name}->base_addr)"));
        for each in &mut converted {
            each.declared.iter_mut().for_each(|line| *line = line.replace(&pointer, &described));
        }
    }
    let mut parameters: Vec<String> = converted.iter().filter_map(|each| each.parameter.clone()).collect();
    let ierror = has_ierror(spec, function);
    parameters.extend(ierror.then(|| "MPI_Fint *ierror".to_owned()));
    Ok(Body { parameters, text: statements(function, &converted, &sections, &buffers::raises(spec, function)) })
}

/// A text beside a choice buffer has a descriptor too, because the procedure of C is declared BIND(C).
fn described_text(converted: &mut Conversion, name: &str) {
    converted.parameter = Some(format!("CFI_cdesc_t *{name}_text"));
    converted.length = None;
    let pointer = format!("const char *{name} = {name}_text->base_addr;");
    let length = format!("size_t {name}_length = {name}_text->elem_len;");
    converted.declared.splice(0..0, [pointer, length]);
}

/// The statements: the call, unless a buffer or a list cannot be passed.
fn statements(function: &Function, converted: &[Conversion], sections: &[String], raises: &str) -> String {
    let mut text = String::new();
    converted.iter().for_each(|each| each.declared.iter().for_each(|line| line_of(&mut text, 1, line)));
    let refused: Vec<String> = sections.iter().map(|each| format!("{each}.is_refused")).collect();
    line_of(&mut text, 1, &format!("int error, refused = {};", refused.join(" || ")));
    for check in converted.iter().filter_map(|each| each.allocated.as_deref()) {
        line_of(&mut text, 1, &format!("if (!{check}) {{"));
        line_of(&mut text, 2, "ferrum_section_refuse(MPI_ERR_NO_MEM);");
        line_of(&mut text, 2, "refused = 1;");
        line_of(&mut text, 1, "}");
    }
    line_of(&mut text, 1, "if (!refused) {");
    converted.iter().for_each(|each| each.before.iter().for_each(|line| line_of(&mut text, 2, line)));
    let passed: Vec<String> = converted.iter().map(|each| each.argument.clone()).collect();
    text.push_str(&wrapped("        error = call(", &passed, ");\n"));
    converted.iter().for_each(|each| each.after.iter().for_each(|line| line_of(&mut text, 2, line)));
    line_of(&mut text, 1, "} else {");
    line_of(&mut text, 2, &format!("error = {raises};"));
    line_of(&mut text, 1, "}");
    sections.iter().for_each(|each| line_of(&mut text, 1, &format!("ferrum_section_end(&{each});")));
    converted.iter().for_each(|each| each.released.iter().for_each(|line| line_of(&mut text, 1, line)));
    debug_assert_eq!(function.returns, "ERROR_CODE");
    line_of(&mut text, 1, "ferrum_return(ierror, error);");
    text
}
