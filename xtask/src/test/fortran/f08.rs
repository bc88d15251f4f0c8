//! Module `mpi_f08`: a generated program that calls every procedure by both names, with and without IERROR, and checks each
//! argument on its way to C and back. The C side is that of the older bindings, which counts each call once.
//!
//! Invariant: a procedure that no generic name has is called by its specific name, so that none is left out.
//! Not here: programs that test an area (`tests/fortran/f08`).

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::arguments::{bounds, constant, is_ignored, plain_condition};
use super::values::{CHARACTERS, ELEMENTS, ERROR, VARIANTS, Value, Variant, applies, handles, values};
use super::{LIMIT, functions_of_c};
use crate::codegen::fortran::module_mpi::continued;
use crate::codegen::fortran::{Form, f08, has_ierror, result_form};
use crate::spec::{Function, Spec};
use crate::test::Report;
use crate::{Result, paths, process};

/// The name of the test.
const TEST: &str = "every procedure of module mpi_f08";
/// Characters of variables for texts that C stores: more than any text has.
const ROOM: i64 = 8192;

/// Builds and runs the program.
pub fn procedures(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    if !report.selects(TEST) {
        return Ok(());
    }
    let spec = Spec::read(&paths::root())?;
    let functions: Vec<&Function> = f08::functions(&spec).collect();
    let (c, file) = (folder.join("functions_of_c_f08.c"), folder.join("f08.f90"));
    let text = functions_of_c::functions(&spec, &functions)?;
    fs::write(&c, text + &a_procedure(&functions))?;
    fs::write(&file, program(&spec, &functions)?)?;
    let (object, output) = (c.with_extension("o"), file.with_extension(""));
    let mut compile = Command::new(dist.join("bin/mpicc"));
    compile.args(["-O0", "-Wall", "-Wno-deprecated-declarations", "-fPIC", "-c"]).arg(&c).arg("-o").arg(&object);
    process::must(&mut compile, LIMIT)?;
    let mut compile = Command::new(dist.join("bin/mpifort"));
    compile.args(["-O0", "-w"]).arg(&file).arg(&object).arg("-o").arg(&output).current_dir(folder);
    let built = process::run(&mut compile, LIMIT)?;
    if !built.success() {
        report.fail(TEST, &built.report());
        return Ok(());
    }
    let outcome = process::run(&mut Command::new(&output), LIMIT)?;
    let good = outcome.success() && outcome.stdout.lines().any(|line| line == "No Errors");
    report.check(TEST, good, || outcome.report());
    if good {
        report.add_passed(functions.len());
    }
    Ok(())
}

/// The procedure that the program passes, with a name for each place of an argument: no scope of Fortran could declare one
/// name with two interfaces.
fn a_procedure(functions: &[&Function]) -> String {
    let places = functions.iter().map(|function| function.parameters.len()).max().unwrap_or_default();
    let mut text = "\nvoid a_procedure_(void)\n{\n}\n".to_owned();
    for place in 0..places {
        let _ = writeln!(text, "void a_procedure{place}_(void) __attribute__((alias(\"a_procedure_\")));");
    }
    text
}

/// The program that calls these functions.
fn program(spec: &Spec, functions: &[&Function]) -> Result<String> {
    let mut text = String::from(
        "MODULE calls\n  USE, INTRINSIC :: ISO_C_BINDING\n  USE mpi_f08\n  IMPLICIT NONE\n  INTEGER :: failures\n  \
         COMMON /failures/ failures\n  INTEGER, TARGET :: buffer(1024)\n  COMMON /fixture/ buffer\n\nCONTAINS\n\n  \
         SUBROUTINE expect(holds, what)\n    LOGICAL :: holds\n    CHARACTER(LEN=*) :: what\n    IF (holds) RETURN\n    \
         PRINT '(A)', what\n    failures = failures + 1\n  END SUBROUTINE expect\n",
    );
    let names = f08::generic_names(spec)?;
    for function in functions {
        let generic = names.iter().find(|(_, forms)| forms.iter().any(|form| form.name == function.name));
        text.push_str(&test(spec, function, generic.map(|(name, _)| name.as_str()))?);
    }
    text.push_str("END MODULE calls\n\nPROGRAM call_all\n  USE calls\n  IMPLICIT NONE\n  EXTERNAL :: check_calls\n");
    for function in functions {
        let _ = writeln!(text, "  CALL t_{}", function.name.to_lowercase());
    }
    text.push_str(
        "  CALL check_calls\n  IF (failures == 0) PRINT '(A)', 'No Errors'\n  IF (failures /= 0) STOP 1\n\
         END PROGRAM call_all\n",
    );
    Ok(text)
}

/// The test of one function by its generic name, or by its specific one.
fn test(spec: &Spec, function: &Function, generic: Option<&str>) -> Result<String> {
    let all = values(spec, function)?;
    let name = function.name.to_lowercase();
    let mut text = format!("\n  SUBROUTINE t_{name}\n    INTEGER :: ierror, i\n    EXTERNAL :: set_variant\n");
    let result = result_form(spec, function)?;
    match result {
        Some(Form::Double) => text.push_str("    DOUBLE PRECISION :: value\n"),
        Some(_) => text.push_str("    INTEGER(KIND=MPI_ADDRESS_KIND) :: value\n"),
        None => {}
    }
    for (index, value) in all.iter().enumerate() {
        text.push_str(&declaration(spec, index, value));
    }
    for (index, value) in all.iter().enumerate().filter(|(_, value)| value.form == Form::Procedure) {
        let declared = f08::declared::declaration(spec, function, value.parameter, value.form);
        let interface = declared.split(" ::").next().unwrap_or_default();
        let _ = writeln!(text, "    {interface} :: a_procedure{index}");
    }
    let called = |prefix: &str| match generic {
        Some(name) => Ok(format!("{prefix}{name}")),
        None => f08::specific(spec, prefix, function),
    };
    if generic.is_none() {
        let _ = writeln!(text, "    EXTERNAL :: {}, {}", called("MPI_")?, called("PMPI_")?);
    }
    for prefix in ["MPI_", "PMPI_"] {
        for (number, variant) in VARIANTS.into_iter().enumerate() {
            if applies(&all, variant, has_ierror(spec, function)) {
                let _ = writeln!(text, "    CALL set_variant({number})");
                // The program leaves IERROR out once.
                let without = prefix == "PMPI_" && variant == Variant::Plain && generic.is_some();
                text.push_str(&call(spec, function, &all, variant, &called(prefix)?, without)?);
            }
        }
    }
    let _ = writeln!(text, "  END SUBROUTINE t_{name}");
    Ok(text)
}

/// One call and its checks.
fn call(
    spec: &Spec,
    function: &Function,
    all: &[Value<'_>],
    variant: Variant,
    called: &str,
    without: bool,
) -> Result<String> {
    let (mut text, mut names) = (String::new(), Vec::new());
    for (index, value) in all.iter().enumerate().filter(|(_, value)| value.form != Form::Absent) {
        text.push_str(&setting(spec, index, value));
        names.push(argument(index, value, variant));
    }
    let ierror = has_ierror(spec, function) && !without;
    if ierror {
        text.push_str("    ierror = -1\n");
        names.push("ierror".to_owned());
    }
    let list = continued(&names);
    let _ = match result_form(spec, function)? {
        Some(form) => {
            let number = if form == Form::Double { "2.5D0" } else { "20000000000_MPI_ADDRESS_KIND" };
            writeln!(text, "    value = {called}({list})\n    CALL expect(value == {number}, '{called}: value')")
        }
        None => writeln!(text, "    CALL {called}({list})"),
    };
    if ierror {
        let expected = if variant == Variant::Failing { ERROR } else { 0 };
        let _ = writeln!(text, "    CALL expect(ierror == {expected}, '{called}: ierror')");
    }
    if variant != Variant::Failing {
        for (index, value) in all.iter().enumerate().filter(|(_, value)| value.comes_out()) {
            if let Some(holds) = condition(spec, index, value, variant) {
                let _ = writeln!(text, "    CALL expect({holds}, &\n      '{called}: {}')", value.parameter.name);
            }
        }
    }
    Ok(text)
}

fn declaration(spec: &Spec, index: usize, value: &Value<'_>) -> String {
    let bounds = bounds(value);
    let declared = match value.form {
        Form::Absent | Form::Choice | Form::Procedure => return String::new(),
        Form::Unused | Form::Pointer => format!("TYPE(C_PTR) :: a{index}"),
        Form::Status if spec.kind(value.parameter).c == "MPI_Fint" => format!("INTEGER :: a{index}(MPI_STATUS_SIZE)"),
        Form::Text if value.comes_out() => format!("CHARACTER(LEN={ROOM}) :: a{index}"),
        Form::Text => format!("CHARACTER(LEN={CHARACTERS}) :: a{index}"),
        Form::Texts => format!("CHARACTER(LEN={CHARACTERS}) :: a{index}({ELEMENTS})"),
        Form::TextLists => format!("CHARACTER(LEN={CHARACTERS}) :: a{index}({ELEMENTS},{ELEMENTS})"),
        form => format!("{} :: a{index}{bounds}", f08::declared::type_of(spec, value.parameter, form)),
    };
    format!("    {declared}\n")
}

/// The statement that gives an argument its value before the call; results get one that no call stores.
fn setting(spec: &Spec, index: usize, value: &Value<'_>) -> String {
    let number = if value.goes_in() { value.sent } else { -7 };
    let kind = kind_of(value.form);
    let statement = match value.form {
        Form::Absent | Form::Choice | Form::Procedure | Form::F08Status => return String::new(),
        Form::Unused | Form::Pointer => format!("a{index} = C_NULL_PTR"),
        Form::Logical => format!("a{index} = {}", if value.goes_in() { ".TRUE." } else { ".FALSE." }),
        Form::Handle if value.goes_in() => format!("a{index} = {}", handles(&spec.kind(value.parameter).c).0),
        Form::Handle => format!("a{index}%MPI_VAL = -7"),
        Form::Text if value.goes_in() => format!("a{index} = '{}'", value.text().0),
        Form::Text => format!("a{index} = 'unset'"),
        Form::Texts => format!("a{index} = ['one  ', ' two ', '     ']"),
        Form::TextLists => {
            format!("a{index} = ' '\n    a{index}(:, 1) = ['a', 'b', 'c']\n    a{index}(2:3, 2) = ['of b', 'of c']")
        }
        Form::Status if spec.kind(value.parameter).c == "MPI_Fint" => format!("a{index} = {number}"),
        Form::Status => format!("a{index} = MPI_Status({number}, {number}, {number}, {number})"),
        _ if value.is_array() && value.goes_in() && value.elements() == 9 => {
            format!("a{index} = RESHAPE([(i, i = {}, {})], [3, 3])", value.sent, value.sent + 8)
        }
        _ if value.is_array() && value.goes_in() && kind.is_empty() => {
            format!("a{index} = [(i, i = {}, {})]", value.sent, value.sent + ELEMENTS - 1)
        }
        _ => format!("a{index} = {number}{kind}"),
    };
    format!("    {statement}\n")
}

/// The kind of a number, as the end of a constant.
fn kind_of(form: Form) -> &'static str {
    match form {
        Form::Address | Form::Attribute | Form::State => "_MPI_ADDRESS_KIND",
        Form::Offset => "_MPI_OFFSET_KIND",
        Form::Count => "_MPI_COUNT_KIND",
        _ => "",
    }
}

fn argument(index: usize, value: &Value<'_>, variant: Variant) -> String {
    constant(index, value, variant).unwrap_or_else(|| match value.form {
        Form::Procedure => format!("a_procedure{index}"),
        _ => format!("a{index}"),
    })
}

/// What holds for a result.
fn condition(spec: &Spec, index: usize, value: &Value<'_>, variant: Variant) -> Option<String> {
    let number = value.arrives;
    let kind = kind_of(value.form);
    if let Some(plain) = plain_condition(spec, index, value) {
        return Some(plain);
    }
    Some(match value.form {
        Form::Absent | Form::Choice | Form::Procedure | Form::F08Status => return None,
        _ if is_ignored(value, variant) => return None,
        Form::Unused | Form::Pointer => format!("TRANSFER(a{index}, 0_MPI_ADDRESS_KIND) == {number}_MPI_ADDRESS_KIND"),
        Form::Status if spec.kind(value.parameter).c == "MPI_Fint" => {
            format!("a{index}(MPI_SOURCE) == {number} .AND. a{index}(MPI_ERROR) == {}", number + 2)
        }
        Form::Status => {
            let last = if value.is_array() { format!("({ELEMENTS})") } else { String::new() };
            let of = |component: &str, plus: i64| format!("a{index}{last}%{component} == {}", number + plus);
            [of("MPI_SOURCE", 0), of("MPI_TAG", 1), of("MPI_ERROR", 2)].join(" .AND. ")
        }
        _ if value.is_array() => {
            let last = value.moved().map_or(ELEMENTS - 1, |moved| moved - 1);
            let first = value.stored + i64::from(value.moved().is_some());
            format!("a{index}(1) == {first}{kind} .AND. a{index}({}) == {}{kind}", last + 1, first + last)
        }
        _ => format!("a{index} == {number}{kind}"),
    })
}
