//! The Fortran side of the generated tests: a subroutine for each routine, which calls it by both names in each way and
//! checks what arrives.
//!
//! Not here: the functions of C that the routines call (`functions_of_c`).

use std::fmt::Write;

use super::arguments::{bounds, constant, is_ignored, plain_condition};
use super::values::{CHARACTERS, ELEMENTS, ERROR, VARIANTS, Value, Variant, applies, handles, values};
use crate::Result;
use crate::codegen::fortran::{Form, has_ierror, result_form, routine_name};
use crate::spec::{Function, Spec};

/// Where a program gets the constants and interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `include 'mpif.h'`
    Header,
    /// `use mpi`
    Module,
}

/// The program that calls these routines; with `running`, between MPI_INIT and MPI_FINALIZE.
pub fn program(spec: &Spec, source: Source, functions: &[&Function], running: bool) -> Result<String> {
    let mut text = String::from(
        "PROGRAM calls\n  IMPLICIT NONE\n  INTEGER :: failures, ierror\n  COMMON /failures/ failures\n  ierror = 0\n",
    );
    if running {
        text.push_str("  CALL MPI_INIT(ierror)\n");
    }
    for function in functions {
        let _ = writeln!(text, "  CALL t_{}", function.name.to_lowercase());
    }
    if running {
        text.push_str("  CALL MPI_FINALIZE(ierror)\n");
    }
    text.push_str(
        "  CALL check_calls\n  IF (failures == 0) PRINT '(A)', 'No Errors'\n  IF (failures /= 0) STOP 1\nEND PROGRAM calls\n\n\
         SUBROUTINE expect(holds, what)\n  IMPLICIT NONE\n  LOGICAL :: holds\n  CHARACTER(LEN=*) :: what\n  \
         INTEGER :: failures\n  COMMON /failures/ failures\n  IF (.NOT. holds) THEN\n    PRINT '(A)', what\n    \
         failures = failures + 1\n  END IF\nEND SUBROUTINE expect\n\n\
         SUBROUTINE a_procedure\nEND SUBROUTINE a_procedure\n",
    );
    for function in functions {
        text.push_str(&test(spec, source, function)?);
    }
    Ok(text)
}

/// The test of one routine.
fn test(spec: &Spec, source: Source, function: &Function) -> Result<String> {
    let all = values(spec, function)?;
    let name = function.name.to_lowercase();
    let mut text = format!("\nSUBROUTINE t_{name}\n");
    if source == Source::Module {
        text.push_str("  USE mpi\n");
    }
    text.push_str("  IMPLICIT NONE\n");
    if source == Source::Header {
        text.push_str("  INCLUDE 'mpif.h'\n");
    }
    text.push_str(
        "  INTEGER :: ierror, i\n  INTEGER :: buffer(1024)\n  COMMON /fixture/ buffer\n  EXTERNAL :: a_procedure\n",
    );
    let result = result_form(spec, function)?;
    match result {
        Some(Form::Double) => text.push_str("  DOUBLE PRECISION :: value\n"),
        Some(_) => text.push_str("  INTEGER(KIND=MPI_ADDRESS_KIND) :: value\n"),
        None => {}
    }
    for (index, value) in all.iter().enumerate() {
        text.push_str(&declaration(index, value, source));
    }
    let ierror = has_ierror(spec, function);
    for prefix in ["MPI_", "PMPI_"] {
        for (number, variant) in VARIANTS.into_iter().enumerate() {
            if !applies(&all, variant, ierror) {
                continue;
            }
            let _ = writeln!(text, "  CALL set_variant({number})");
            let mut names = Vec::new();
            for (index, value) in all.iter().enumerate().filter(|(_, value)| value.form != Form::Absent) {
                text.push_str(&setting(spec, index, value));
                names.push(argument(index, value, variant));
            }
            if ierror {
                text.push_str("  ierror = -1\n");
                names.push("ierror".to_owned());
            }
            let called = routine_name(prefix, function);
            let list = crate::codegen::fortran::module_mpi::continued(&names);
            match result {
                Some(Form::Double) => {
                    let _ =
                        write!(text, "  value = {called}({list})\n  CALL expect(value == 2.5D0, '{called}: value')\n");
                }
                Some(_) => {
                    let _ = write!(
                        text,
                        "  value = {called}({list})\n  CALL expect(value == 20000000000_MPI_ADDRESS_KIND, '{called}: value')\n"
                    );
                }
                None => {
                    let _ = writeln!(text, "  CALL {called}({list})");
                }
            }
            if ierror {
                let expected = if variant == Variant::Failing { ERROR } else { 0 };
                let _ = writeln!(text, "  CALL expect(ierror == {expected}, '{called}: ierror')");
            }
            if variant == Variant::Failing {
                continue;
            }
            for (index, value) in all.iter().enumerate().filter(|(_, value)| value.comes_out()) {
                text.push_str(&check(spec, index, value, variant, &called));
            }
        }
    }
    let _ = writeln!(text, "END SUBROUTINE t_{name}");
    Ok(text)
}

fn declaration(index: usize, value: &Value<'_>, source: Source) -> String {
    let bounds = bounds(value);
    let declared = match value.form {
        Form::Absent | Form::Choice | Form::Unused | Form::Procedure => return String::new(),
        Form::Status if value.is_array() => format!("INTEGER :: a{index}(MPI_STATUS_SIZE,{ELEMENTS})"),
        Form::Status => format!("INTEGER :: a{index}(MPI_STATUS_SIZE)"),
        Form::F08Status if source == Source::Header => format!("INTEGER :: a{index}(MPI_STATUS_SIZE)"),
        Form::F08Status => format!("TYPE(MPI_Status) :: a{index}"),
        Form::Text => format!("CHARACTER(LEN={CHARACTERS}) :: a{index}"),
        Form::Texts => format!("CHARACTER(LEN={CHARACTERS}) :: a{index}({ELEMENTS})"),
        Form::TextLists => format!("CHARACTER(LEN={CHARACTERS}) :: a{index}({ELEMENTS},{ELEMENTS})"),
        form => format!("{} :: a{index}{bounds}", crate::codegen::fortran::type_text(form)),
    };
    format!("  {declared}\n")
}

/// Statements that give an argument its value before the call; results get one that no call stores.
fn setting(spec: &Spec, index: usize, value: &Value<'_>) -> String {
    let number = if value.goes_in() { value.sent } else { -7 };
    match value.form {
        Form::Absent | Form::Choice | Form::Unused | Form::Procedure => String::new(),
        Form::Logical => format!("  a{index} = {}\n", if value.goes_in() { ".TRUE." } else { ".FALSE." }),
        Form::Handle if value.goes_in() => format!("  a{index} = {}\n", handles(&spec.kind(value.parameter).c).0),
        Form::Text => {
            let text = if value.goes_in() { value.text().0 } else { "unset".to_owned() };
            format!("  a{index} = '{text}'\n")
        }
        Form::Texts => format!("  a{index} = (/ 'one  ', ' two ', '     ' /)\n"),
        Form::TextLists => format!(
            "  a{index} = ' '\n  a{index}(:, 1) = (/ 'a', 'b', 'c' /)\n  a{index}(2:3, 2) = (/ 'of b', 'of c' /)\n"
        ),
        Form::F08Status => String::new(),
        Form::Status => format!("  a{index} = {}\n", if value.goes_in() { value.sent } else { -7 }),
        Form::Address | Form::Pointer | Form::Attribute | Form::State => {
            format!("  a{index} = {number}_MPI_ADDRESS_KIND\n")
        }
        Form::Offset => format!("  a{index} = {number}_MPI_OFFSET_KIND\n"),
        Form::Count => format!("  a{index} = {number}_MPI_COUNT_KIND\n"),
        _ if value.is_array() && value.goes_in() && value.elements() == 9 => {
            format!("  a{index} = RESHAPE((/ (i, i = {}, {}) /), (/ 3, 3 /))\n", value.sent, value.sent + 8)
        }
        _ if value.is_array() && value.goes_in() => {
            format!("  a{index} = (/ (i, i = {}, {}) /)\n", value.sent, value.sent + ELEMENTS - 1)
        }
        _ => format!("  a{index} = {number}\n"),
    }
}

fn argument(index: usize, value: &Value<'_>, variant: Variant) -> String {
    constant(index, value, variant).unwrap_or_else(|| match value.form {
        Form::Unused => format!("buffer({})", 1 + 10 * index),
        Form::Procedure => "a_procedure".to_owned(),
        _ => format!("a{index}"),
    })
}

/// The check of a result.
fn check(spec: &Spec, index: usize, value: &Value<'_>, variant: Variant, called: &str) -> String {
    let number = value.arrives;
    let plain = plain_condition(spec, index, value);
    let holds = match value.form {
        _ if plain.is_some() => plain.unwrap_or_default(),
        Form::Absent | Form::Choice | Form::Unused | Form::Procedure | Form::F08Status => return String::new(),
        _ if is_ignored(value, variant) => return String::new(),
        Form::Status => {
            let of = |place: &str| match value.is_array() {
                true => format!("a{index}({place},{ELEMENTS})"),
                false => format!("a{index}({place})"),
            };
            format!(
                "{} == {number} .AND. {} == {} .AND. {} == {}",
                of("MPI_SOURCE"),
                of("MPI_TAG"),
                number + 1,
                of("MPI_ERROR"),
                number + 2
            )
        }
        Form::Address | Form::Pointer | Form::Attribute if !value.is_array() => {
            format!("a{index} == {number}_MPI_ADDRESS_KIND")
        }
        Form::Offset if !value.is_array() => format!("a{index} == {number}_MPI_OFFSET_KIND"),
        Form::Count if !value.is_array() => format!("a{index} == {number}_MPI_COUNT_KIND"),
        _ if value.is_array() => {
            let last = value.moved().map_or(ELEMENTS - 1, |moved| moved - 1);
            let kind = match value.form {
                Form::Address => "_MPI_ADDRESS_KIND",
                Form::Count => "_MPI_COUNT_KIND",
                Form::Offset => "_MPI_OFFSET_KIND",
                _ => "",
            };
            let first = value.stored + i64::from(value.moved().is_some());
            let end = match value.moved() {
                // The element behind the last index that was stored.
                Some(_) => format!(" .AND. a{index}({ELEMENTS}) == {}", value.stored + ELEMENTS - 1),
                None => String::new(),
            };
            format!("a{index}(1) == {first}{kind} .AND. a{index}({}) == {}{kind}{end}", last + 1, first + last)
        }
        _ => format!("a{index} == {number}"),
    };
    let what = format!("'{called}: {}'", value.parameter.name);
    if holds.len() + what.len() > 95 {
        return format!("  CALL expect({holds}, &\n    {what})\n");
    }
    format!("  CALL expect({holds}, {what})\n")
}
