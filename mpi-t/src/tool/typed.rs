//! Variables as Rust's own types.
//!
//! Invariant: the type of a view was compared with its variable's when the view was made, so a read gives that type.
//! Not here: values of any type (`PvarHandle`, `Value`).

use std::marker::PhantomData;

use mpi_core::Handle;

use super::{PvarHandle, Variables};
use crate::{PvarClass, TError, TResult, Value, ValueType};

/// A type that a variable's value can have in Rust.
pub trait VariableType: Sized {
    /// The type of the variables with such values.
    const TYPE: ValueType;

    /// The value as this type, if it is one.
    fn from_value(value: Value) -> Option<Self>;

    /// The value.
    fn into_value(self) -> Value;
}

macro_rules! variable_types {
    ($($kind:ty: $variant:ident, $type:ident;)+) => {$(
        impl VariableType for $kind {
            const TYPE: ValueType = ValueType::$type;

            fn from_value(value: Value) -> Option<$kind> {
                match value {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            }

            fn into_value(self) -> Value {
                Value::$variant(self)
            }
        }
    )+};
}

variable_types! {
    i32: I32, I32;
    u32: U32, U32;
    u64: U64, U64;
    f64: F64, F64;
    String: Text, Text;
}

/// A performance variable with values of one type; its handle is freed when this is dropped. Reading and resetting are
/// async-signal-safe.
#[derive(Debug)]
pub struct Pvar<'v, T> {
    handle: PvarHandle<'v>,
    values: PhantomData<fn() -> T>,
}

/// A control variable with a value of one type; its handle is freed when this is dropped.
#[derive(Debug)]
pub struct Cvar<'v, T> {
    variables: &'v Variables<'v>,
    handle: Handle,
    values: PhantomData<fn() -> T>,
}

impl Variables<'_> {
    /// A performance variable of the process by name and class, started where it can be. Errors: `INVALID_NAME`, with
    /// the nearest name; `INVALID` for another type.
    pub fn pvar<T: VariableType>(&self, name: &str, class: PvarClass) -> TResult<Pvar<'_, T>> {
        self.pvar_for(name, class, None)
    }

    /// As [`Variables::pvar`], of an object, by its handle.
    pub fn pvar_of<T: VariableType>(&self, name: &str, class: PvarClass, object: Handle) -> TResult<Pvar<'_, T>> {
        self.pvar_for(name, class, Some(object))
    }

    /// A control variable of the process by name. Errors: `INVALID_NAME`, with the nearest name; `INVALID` for another
    /// type.
    pub fn cvar<T: VariableType>(&self, name: &str) -> TResult<Cvar<'_, T>> {
        self.cvar_for(name, None)
    }

    /// As [`Variables::cvar`], of an object, by its handle.
    pub fn cvar_of<T: VariableType>(&self, name: &str, object: Handle) -> TResult<Cvar<'_, T>> {
        self.cvar_for(name, Some(object))
    }

    fn pvar_for<T: VariableType>(&self, name: &str, class: PvarClass, object: Option<Handle>) -> TResult<Pvar<'_, T>> {
        let pvar = self.find_pvar(name, class)?;
        same_type::<T>(name, pvar.info.value())?;
        Ok(Pvar { handle: self.watch(pvar, object)?, values: PhantomData })
    }

    fn cvar_for<T: VariableType>(&self, name: &str, object: Option<Handle>) -> TResult<Cvar<'_, T>> {
        let cvar = self.find_cvar(name)?;
        same_type::<T>(name, cvar.info.definition.value)?;
        let (handle, _) = self.registry.cvar_handle_alloc(cvar.index, object.map(|handle| handle.0))?;
        Ok(Cvar { variables: self, handle, values: PhantomData })
    }
}

fn same_type<T: VariableType>(name: &str, value: ValueType) -> TResult<()> {
    match T::TYPE == value {
        true => Ok(()),
        false => Err(other_type(name, value, T::TYPE)),
    }
}

#[cold]
fn other_type(name: &str, value: ValueType, wanted: ValueType) -> TError {
    let (value, wanted) = (value.rust_name(), wanted.rust_name());
    TError::INVALID.because(format!("{name} is of type {value}, but was requested as {wanted}"))
}

impl<T: VariableType> Pvar<'_, T> {
    /// The first value now. Errors: `INVALID_HANDLE` when the object was freed.
    pub fn read(&self) -> TResult<T> {
        let value = self.handle.read()?;
        // The types were compared when this was made.
        T::from_value(value).ok_or(TError::INVALID)
    }

    /// All values now. Errors: as [`Pvar::read`].
    pub fn read_all(&self) -> TResult<Vec<T>> {
        let values = self.handle.read_all()?;
        values.into_iter().map(|value| T::from_value(value).ok_or(TError::INVALID)).collect()
    }

    /// Sets the variable to its starting value, for this handle only. Errors: `PVAR_NO_WRITE` for a readonly variable.
    pub fn reset(&self) -> TResult<()> {
        self.handle.reset()
    }
}

impl<T: VariableType> Cvar<'_, T> {
    /// The value now. Errors: `INVALID_HANDLE` when the object was freed.
    pub fn get(&self) -> TResult<T> {
        let value = self.variables.registry.cvar_read(self.handle)?;
        // The types were compared when this was made.
        T::from_value(value).ok_or(TError::INVALID)
    }

    /// Sets the variable, which takes effect at once. Errors: as [`Variables::set`].
    pub fn set(&self, value: T) -> TResult<()> {
        self.variables.registry.cvar_write(self.handle, &value.into_value())
    }
}

impl<T> Drop for Cvar<'_, T> {
    fn drop(&mut self) {
        // The handle is this value's own, so this cannot fail.
        let _ = self.variables.registry.cvar_handle_free(self.handle);
    }
}
