//! The one function beyond the standard: a shared object adds variables of its own (`ferrum_tool.h`).
//!
//! Invariant: whatever the struct holds, the result is a variable or a code; what comes out are words of this
//! library's, which last as long as the process.
//! Not here: what variables are (mpi-t).

use core::ffi::{CStr, c_char, c_int};

use mpi_core::abi;
use mpi_t::{AddedTexts, Limits, PvarClass, Scope, TError, TResult, Value, ValueType};

use crate::tool_edge::with_registry;

/// What the program says of a variable; as `struct ferrum_tool_variable`.
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
/// `variable` points to a struct of the size that stands in it, its texts are NULL or end with a null character, and
/// `words` has room for an address; either may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrum_tool_add(variable: *const Variable, words: *mut *mut u64) -> c_int {
    with_registry(|registry| {
        if variable.is_null() || words.is_null() {
            return Err(TError::INVALID);
        }
        // SAFETY: the program passed the address of a struct whose first word is its size; the whole of it is read
        // only if it is as long as this version's.
        let variable = unsafe {
            if variable.cast::<usize>().read_unaligned() < size_of::<Variable>() {
                return Err(TError::INVALID);
            }
            variable.read_unaligned()
        };
        let texts = AddedTexts {
            name: text(variable.name)?,
            description: text(variable.description)?,
            unit: text(variable.unit)?,
            category: text(variable.category)?,
            category_description: text(variable.category_description)?,
        };
        let value = value_type(variable.datatype)?;
        let added = match variable.pvar_class {
            0 => {
                let scope = scope(variable.scope)?;
                if variable.count != 1 {
                    return Err(TError::INVALID);
                }
                let (initial, limits) = setting(value, &variable)?;
                let told = registry.startup_errors().len();
                let word = registry.add_cvar(&texts, scope, &initial, limits)?;
                // File or environment have a value for it that it does not take.
                registry.startup_errors().iter().skip(told).for_each(|sentence| warn(sentence));
                word.as_ptr()
            }
            class => {
                let class = PvarClass::from_abi(class).ok_or(TError::INVALID)?;
                let count = usize::try_from(variable.count).map_err(|_| TError::INVALID)?;
                let memory = mpi_env::process().map_err(|_| TError::NOT_INITIALIZED)?.instrument_memory();
                registry.add_pvar(memory, &texts, class, value, count)?[0].as_ptr()
            }
        };
        // SAFETY: the program passed the address of a pointer.
        unsafe { words.write_unaligned(added) };
        Ok(())
    })
}

fn warn(sentence: &str) {
    if let Ok(process) = mpi_env::process() {
        process.warn(sentence);
    }
}

/// A text of the program's; empty for NULL.
fn text<'a>(address: *const c_char) -> TResult<&'a str> {
    if address.is_null() {
        return Ok("");
    }
    // SAFETY: the program passed a C string.
    unsafe { CStr::from_ptr(address) }.to_str().map_err(|_| TError::INVALID)
}

fn value_type(datatype: usize) -> TResult<ValueType> {
    let all = [ValueType::I32, ValueType::U32, ValueType::U64, ValueType::F64];
    all.into_iter().find(|value| value.datatype() == datatype).ok_or(TError::INVALID)
}

fn scope(word: c_int) -> TResult<Scope> {
    let all = [Scope::Constant, Scope::Readonly, Scope::Local, Scope::Group, Scope::GroupEq, Scope::All, Scope::AllEq];
    all.into_iter().find(|scope| *scope as c_int == word).ok_or(TError::INVALID)
}

/// The first value and the limits of a control variable.
fn setting(value: ValueType, variable: &Variable) -> TResult<(Value, Limits)> {
    let Variable { initial, least, most, .. } = *variable;
    let all = least == 0.0 && most == 0.0;
    if value == ValueType::F64 {
        let limits = if all { Limits::Real(f64::MIN, f64::MAX) } else { Limits::Real(least, most) };
        return Ok((Value::F64(initial), limits));
    }
    let (low, high) = match value {
        ValueType::I32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
        ValueType::U32 => (0, i128::from(u32::MAX)),
        _ => (0, i128::from(u64::MAX)),
    };
    let limits = if all { (low, high) } else { (whole(least)?.max(low), whole(most)?.min(high)) };
    let initial = whole(initial).ok().filter(|initial| (low..=high).contains(initial)).ok_or(TError::INVALID)?;
    let initial = match value {
        ValueType::I32 => Value::I32(initial as i32),
        ValueType::U32 => Value::U32(initial as u32),
        _ => Value::U64(initial as u64),
    };
    Ok((initial, Limits::Whole(limits.0, limits.1)))
}

fn whole(number: f64) -> TResult<i128> {
    if number.fract() == 0.0 { Ok(number as i128) } else { Err(TError::INVALID) }
}

const _: () = assert!(abi::MPI_T_PVAR_CLASS_STATE != 0, "no class is 0, which stands for control variables");
