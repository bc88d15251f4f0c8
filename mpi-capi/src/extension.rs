//! Functions beyond the standard, with which a shared object adds its own variables (`ferrum_tool.h`).
//!
//! Invariant: for any contents of the struct the result is a variable, or a code with a reason. The words returned
//! belong to this library and remain valid until the process ends.
//! Not here: the variables themselves (mpi-t).

use core::cmp::Ordering;
use core::ffi::{CStr, c_char, c_int};
use mpi_core::abi;
use mpi_env::Process;
use mpi_t::{Limits, PvarClass, Scope, TError, TResult, Value, ValueType, VariableTexts};

/// The program's description of a variable: `struct ferrum_tool_variable`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Variable {
    size: usize,
    name: *const c_char,
    description: *const c_char,
    unit: *const c_char,
    category: *const c_char,
    category_description: *const c_char,
    pvar_class: c_int,
    scope: c_int,
    datatype: usize,
    count: c_int,
    initial: f64,
    least: f64,
    most: f64,
}

/// Adds a variable (see `ferrum_tool.h`).
///
/// # Safety
/// `variable` points to a struct of the size in its first field, its strings are NULL or end with a null character, and
/// `words` has room for an address. Either may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrum_tool_add(variable: *const Variable, words: *mut *mut u64) -> c_int {
    let added = match mpi_env::join_job() {
        // SAFETY: the program's promise.
        Ok(process) => unsafe { add(process, variable, words) },
        Err(error) => Err(TError::NOT_INITIALIZED.because(format!("the library cannot work here: {error}"))),
    };
    match added {
        Ok(()) => {
            mpi_t::clear_failure();
            abi::MPI_SUCCESS
        }
        Err(error) => {
            mpi_t::record_failure("ferrum_tool_add", &error);
            error.code()
        }
    }
}

/// The reason for this thread's last failed call of the tool interface (see `ferrum_tool.h`). Async-signal-safe.
#[unsafe(no_mangle)]
pub extern "C" fn ferrum_tool_error() -> *const c_char {
    mpi_t::last_failure()
}

/// # Safety
/// As [`ferrum_tool_add`].
unsafe fn add(process: &Process, variable: *const Variable, words: *mut *mut u64) -> TResult<()> {
    if variable.is_null() || words.is_null() {
        return invalid(format!("{} is NULL", if variable.is_null() { "variable" } else { "words" }));
    }
    // SAFETY: the program passed the address of a struct whose first word is its size.
    let size = unsafe { variable.cast::<usize>().read_unaligned() };
    if size < size_of::<Variable>() {
        return invalid(format!(
            "size is {size}, but has to be sizeof(struct ferrum_tool_variable), {} at least",
            size_of::<Variable>()
        ));
    }
    // SAFETY: the struct has the size of this version's.
    let variable = unsafe { variable.read_unaligned() };
    let texts = VariableTexts {
        name: text("name", variable.name)?,
        description: text("description", variable.description)?,
        unit: text("unit", variable.unit)?,
        category: text("category", variable.category)?,
        category_description: text("category_description", variable.category_description)?,
    };
    let value = value_type(texts.name, variable.datatype)?;
    // A field that the program does not set is 0.
    let count = if variable.count == 0 { 1 } else { variable.count };
    let registry = &process.registry;
    let added = match variable.pvar_class {
        0 => {
            let scope = scope(texts.name, variable.scope)?;
            if count != 1 {
                let name = texts.name;
                return invalid(format!(
                    "count of {name:?} is {count}, but of a control variable it has to be 1 or left out"
                ));
            }
            let (initial, limits) = setting(texts.name, value, &variable)?;
            let reported = registry.startup_errors().len();
            let word = registry.add_cvar(&texts, scope, &initial, limits)?;
            // File or environment set an invalid value for it.
            registry.startup_errors().iter().skip(reported).for_each(|sentence| process.warn(sentence));
            word.as_ptr()
        }
        word => {
            let Some(class) = PvarClass::from_abi(word) else {
                let rule = "but has to be 0 or one of MPI_T_PVAR_CLASS_*";
                return invalid(format!("pvar_class of {:?} is {word}, {rule}", texts.name));
            };
            registry.add_pvar(process.instrument_memory(), &texts, class, value, count)?[0].as_ptr()
        }
    };
    // SAFETY: the program passed the address of a pointer.
    unsafe { words.write_unaligned(added) };
    Ok(())
}

fn invalid<T>(why: String) -> TResult<T> {
    Err(TError::INVALID.because(why))
}

/// A string of the program; empty for NULL.
fn text<'a>(field: &str, address: *const c_char) -> TResult<&'a str> {
    if address.is_null() {
        return Ok("");
    }
    // SAFETY: the program passed a C string.
    let text = unsafe { CStr::from_ptr(address) };
    text.to_str().or_else(|_| invalid(format!("{field} is {text:?}, which is not UTF-8")))
}

fn value_type(name: &str, datatype: usize) -> TResult<ValueType> {
    let all = [ValueType::I32, ValueType::U32, ValueType::U64, ValueType::F64];
    let rule = "but has to be MPI_INT, MPI_UNSIGNED, MPI_UNSIGNED_LONG_LONG or MPI_DOUBLE";
    let found = all.into_iter().find(|value| value.datatype() == datatype);
    found.map_or_else(|| invalid(format!("datatype of {name:?} is {datatype:#x}, {rule}")), Ok)
}

fn scope(name: &str, word: c_int) -> TResult<Scope> {
    let all = [Scope::Constant, Scope::Readonly, Scope::Local, Scope::Group, Scope::GroupEq, Scope::All, Scope::AllEq];
    let found = all.into_iter().find(|scope| *scope as c_int == word);
    found.map_or_else(|| invalid(format!("scope of {name:?} is {word}, but has to be one of MPI_T_SCOPE_*")), Ok)
}

/// The initial value and the limits of a control variable.
fn setting(name: &str, value: ValueType, variable: &Variable) -> TResult<(Value, Limits)> {
    let Variable { initial, least, most, .. } = *variable;
    let all = least == 0.0 && most == 0.0;
    if !least.partial_cmp(&most).is_some_and(Ordering::is_le) {
        return invalid(format!("least of {name:?} is {least}, but most is {most}"));
    }
    if value == ValueType::F64 {
        let limits = if all { Limits::Real(f64::MIN, f64::MAX) } else { Limits::Real(least, most) };
        return Ok((Value::F64(initial), limits));
    }
    let (low, high) = match value {
        ValueType::I32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
        ValueType::U32 => (0, i128::from(u32::MAX)),
        _ => (0, i128::from(u64::MAX)),
    };
    for (field, number) in [("initial", initial), ("least", least), ("most", most)] {
        if number.fract() != 0.0 {
            let rule = format!("but {} takes whole numbers", value.name());
            return invalid(format!("{field} of {name:?} is {number}, {rule}"));
        }
        // The initial value has narrower limits. The largest MPI_UNSIGNED_LONG_LONG is rounded up by one as a double.
        if field != "initial" && !(low as f64..=high as f64).contains(&number) {
            let rule = format!("but {} takes {low} to {high}", value.name());
            return invalid(format!("{field} of {name:?} is {number}, {rule}"));
        }
    }
    let whole = |limit: f64| (limit as i128).min(high);
    let limits = if all { (low, high) } else { (whole(least), whole(most)) };
    let initial = initial as i128;
    if !(limits.0..=limits.1).contains(&initial) {
        let (low, high) = limits;
        return invalid(format!("initial of {name:?} is {initial}, but has to be from {low} to {high}"));
    }
    let initial = match value {
        ValueType::I32 => Value::I32(initial as i32),
        ValueType::U32 => Value::U32(initial as u32),
        _ => Value::U64(initial as u64),
    };
    Ok((initial, Limits::Whole(limits.0, limits.1)))
}

const _: () = assert!(abi::MPI_T_PVAR_CLASS_STATE != 0, "no class is 0, which stands for control variables");
