//! Attributes: values that programs attach to communicators, datatypes and windows, by key (MPI-5.0, 7.7).
//!
//! This module stores keys and values. Callbacks are words of a `Callee`; the C interface calls them before a change.
//! A value records the language that has set it: Fortran sets integers, of which C gets the address (MPI-5.0, 19.3.7).
//! Invariant: a key exists until the program has freed it and no object has a value for it. Key numbers are never
//! reused, so use of a freed key is always detected.
//! Not here: calls of callbacks, predefined keys (`mpi-capi`).

use std::collections::HashMap;
use std::fmt;

use mpi_core::Language;
use mpi_core::abi::{
    MPI_APPNUM, MPI_ERR_KEYVAL, MPI_ERR_OTHER, MPI_HOST, MPI_IO, MPI_KEYVAL_INVALID, MPI_LASTUSEDCODE, MPI_TAG_UB,
    MPI_UNIVERSE_SIZE, MPI_WIN_BASE, MPI_WIN_CREATE_FLAVOR, MPI_WIN_DISP_UNIT, MPI_WIN_MODEL, MPI_WIN_SIZE,
    MPI_WTIME_IS_GLOBAL,
};
use mpi_errors::{Error, Result};
use rustc_hash::FxBuildHasher;

/// Keys below this are predefined ones.
const FIRST: i32 = 0x1_0000;

/// The kind of object that a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// `MPI_Comm_create_keyval`
    Comm,
    /// `MPI_Type_create_keyval`
    Type,
    /// `MPI_Win_create_keyval`
    Win,
}

/// A key: its kind of object and its callbacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keyval {
    /// The kind of object that the key is for.
    pub holder: Holder,
    /// The copy callback, or the ABI's constant for a predefined one.
    pub copy: usize,
    /// The delete callback, or the ABI's constant for the predefined one.
    pub delete: usize,
    /// The program's argument of both callbacks.
    pub extra_state: usize,
}

/// A value of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeValue {
    /// The word: an address that C has set, or an integer that Fortran has set.
    pub word: usize,
    /// The language that has set it.
    pub language: Language,
    /// The address of the integer that Fortran has set.
    place: usize,
}

impl AttributeValue {
    /// A value for an object.
    pub const fn new(word: usize, language: Language) -> AttributeValue {
        AttributeValue { word, language, place: 0 }
    }

    /// The value that C gets: the word, or the address of the integer.
    #[inline]
    pub const fn in_c(&self) -> usize {
        match self.language {
            Language::C => self.word,
            _ => self.place,
        }
    }
}

/// A value as its object has it, with memory for an integer that Fortran has set.
#[derive(Debug)]
struct Stored {
    keyval: i32,
    value: AttributeValue,
    _integer: Option<Box<usize>>,
}

impl Stored {
    fn new(keyval: i32, value: AttributeValue) -> Stored {
        let integer = (value.language != Language::C).then(|| Box::new(value.word));
        let place = integer.as_deref().map_or(0, |integer| std::ptr::from_ref(integer).expose_provenance());
        Stored { keyval, value: AttributeValue { place, ..value }, _integer: integer }
    }
}

/// One value of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute {
    /// Its key.
    pub keyval: i32,
    /// Its value.
    pub value: AttributeValue,
    /// Its key's callbacks.
    pub of: Keyval,
}

/// All keys of a process, and the values of all its objects.
#[derive(Debug)]
pub struct Attributes {
    next: i32,
    keyvals: HashMap<i32, Counted, FxBuildHasher>,
    /// Values by handle word, in the order in which they were set.
    values: HashMap<usize, Vec<Stored>, FxBuildHasher>,
}

#[derive(Debug)]
struct Counted {
    keyval: Keyval,
    /// Number of objects that have a value.
    values: u32,
    freed: bool,
}

impl Default for Attributes {
    fn default() -> Self {
        Self::new()
    }
}

impl Attributes {
    /// An empty table.
    pub fn new() -> Self {
        Attributes { next: FIRST, keyvals: HashMap::default(), values: HashMap::default() }
    }

    /// `MPI_Comm_create_keyval` and the like. Errors: `MPI_ERR_OTHER` when no key numbers are left.
    pub fn create(&mut self, keyval: Keyval) -> Result<i32> {
        let number = self.next;
        self.next =
            number.checked_add(1).ok_or_else(|| Error::new(MPI_ERR_OTHER, "there are no further key values"))?;
        self.keyvals.insert(number, Counted { keyval, values: 0, freed: false });
        Ok(number)
    }

    /// `MPI_Comm_free_keyval` and the like: values set before stay. Errors: `MPI_ERR_KEYVAL`.
    pub fn free(&mut self, holder: Holder, number: i32) -> Result<()> {
        self.keyval_to_set(holder, number)?;
        if let Some(counted) = self.keyvals.get_mut(&number) {
            counted.freed = true;
        }
        self.drop_unused(number);
        Ok(())
    }

    /// The key with this number for objects of this kind, including a key that the program has freed while objects have
    /// values for it. Errors: `MPI_ERR_KEYVAL`.
    #[inline]
    pub fn keyval(&self, holder: Holder, number: i32) -> Result<Keyval> {
        match self.keyvals.get(&number) {
            Some(counted) if counted.keyval.holder == holder => Ok(counted.keyval),
            found => Err(self.refusal(holder, number, found)),
        }
    }

    /// As [`Attributes::keyval`], but without freed keys, for setting a value. Errors: `MPI_ERR_KEYVAL`.
    pub fn keyval_to_set(&self, holder: Holder, number: i32) -> Result<Keyval> {
        match self.keyvals.get(&number) {
            Some(counted) if !counted.freed && counted.keyval.holder == holder => Ok(counted.keyval),
            found => Err(self.refusal(holder, number, found)),
        }
    }

    /// An object's value for a key.
    #[inline]
    pub fn get(&self, object: usize, number: i32) -> Option<AttributeValue> {
        self.values.get(&object)?.iter().find(|each| each.keyval == number).map(|each| each.value)
    }

    /// Sets a value, which becomes the last one and replaces an earlier value for the key. Does nothing if the key does
    /// not exist.
    pub fn put(&mut self, object: usize, number: i32, value: AttributeValue) {
        self.take(object, number);
        if let Some(counted) = self.keyvals.get_mut(&number) {
            counted.values += 1;
            self.values.entry(object).or_default().push(Stored::new(number, value));
        }
    }

    /// Removes a value from an object; returns whether the object had it.
    pub fn take(&mut self, object: usize, number: i32) -> bool {
        let Some(values) = self.values.get_mut(&object) else { return false };
        let Some(place) = values.iter().position(|each| each.keyval == number) else { return false };
        values.remove(place);
        if values.is_empty() {
            self.values.remove(&object);
        }
        if let Some(counted) = self.keyvals.get_mut(&number) {
            counted.values -= 1;
        }
        self.drop_unused(number);
        true
    }

    /// The value of an object that was set most recently.
    pub fn last(&self, object: usize) -> Option<Attribute> {
        self.attribute(self.values.get(&object)?.last()?)
    }

    /// The keys of all values of an object, in the order in which they were set.
    pub fn keys(&self, object: usize) -> Vec<i32> {
        self.values.get(&object).into_iter().flatten().map(|each| each.keyval).collect()
    }

    /// The value of an object for a key, with the key's callbacks.
    pub fn of(&self, object: usize, number: i32) -> Option<Attribute> {
        self.attribute(self.values.get(&object)?.iter().find(|each| each.keyval == number)?)
    }

    fn attribute(&self, stored: &Stored) -> Option<Attribute> {
        let Stored { keyval, value, .. } = *stored;
        Some(Attribute { keyval, value, of: self.keyvals.get(&keyval)?.keyval })
    }

    fn drop_unused(&mut self, number: i32) {
        if self.keyvals.get(&number).is_some_and(|counted| counted.freed && counted.values == 0) {
            self.keyvals.remove(&number);
        }
    }

    #[cold]
    fn refusal(&self, holder: Holder, number: i32, found: Option<&Counted>) -> Error {
        let why = match found {
            Some(counted) if counted.keyval.holder != holder => {
                format!("that key is for another kind of object ({:?})", counted.keyval.holder)
            }
            Some(_) => "that key was freed; its values can still be read and deleted".to_owned(),
            None if (FIRST..self.next).contains(&number) => "that key was freed".to_owned(),
            None if number == MPI_KEYVAL_INVALID => "a key is needed".to_owned(),
            None => "there is no such key".to_owned(),
        };
        Error::new(MPI_ERR_KEYVAL, why).arg("keyval", &KeyName(number))
    }
}

/// A key's number as errors have it: with the name of a predefined one.
#[derive(Debug, Clone, Copy)]
pub struct KeyName(pub i32);

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            MPI_KEYVAL_INVALID => "MPI_KEYVAL_INVALID",
            MPI_TAG_UB => "MPI_TAG_UB",
            MPI_IO => "MPI_IO",
            MPI_HOST => "MPI_HOST",
            MPI_WTIME_IS_GLOBAL => "MPI_WTIME_IS_GLOBAL",
            MPI_APPNUM => "MPI_APPNUM",
            MPI_LASTUSEDCODE => "MPI_LASTUSEDCODE",
            MPI_UNIVERSE_SIZE => "MPI_UNIVERSE_SIZE",
            MPI_WIN_BASE => "MPI_WIN_BASE",
            MPI_WIN_DISP_UNIT => "MPI_WIN_DISP_UNIT",
            MPI_WIN_SIZE => "MPI_WIN_SIZE",
            MPI_WIN_CREATE_FLAVOR => "MPI_WIN_CREATE_FLAVOR",
            MPI_WIN_MODEL => "MPI_WIN_MODEL",
            number => return write!(f, "{number}"),
        };
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(word: usize) -> AttributeValue {
        AttributeValue::new(word, Language::C)
    }

    const KEYVAL: Keyval = Keyval { holder: Holder::Comm, copy: 0, delete: 0, extra_state: 7 };

    #[test]
    fn a_freed_key_stays_valid_for_the_values_set_before() {
        let mut all = Attributes::new();
        let key = all.create(KEYVAL).expect("room");
        all.put(1, key, word(10));
        all.free(Holder::Comm, key).expect("there");
        assert_eq!(all.keyval_to_set(Holder::Comm, key).expect_err("freed").class(), MPI_ERR_KEYVAL);
        assert_eq!(all.free(Holder::Comm, key).expect_err("freed").class(), MPI_ERR_KEYVAL);
        assert_eq!(all.keyval(Holder::Comm, key).expect("an object has a value"), KEYVAL);
        assert_eq!(all.last(1), Some(Attribute { keyval: key, value: word(10), of: KEYVAL }));
        assert!(all.take(1, key) && !all.take(1, key));
        assert_eq!(all.keyval(Holder::Comm, key).expect_err("no value is left").class(), MPI_ERR_KEYVAL);
        assert!(all.keyvals.is_empty() && all.values.is_empty());
        assert_ne!(all.create(KEYVAL).expect("room"), key);
    }

    #[test]
    fn setting_again_replaces_and_moves_to_the_end() {
        let mut all = Attributes::new();
        let (a, b) = (all.create(KEYVAL).expect("room"), all.create(KEYVAL).expect("room"));
        all.put(1, a, word(10));
        all.put(1, b, word(20));
        all.put(1, a, word(11));
        assert_eq!(all.keys(1), [b, a]);
        assert_eq!(all.of(1, a), Some(Attribute { keyval: a, value: word(11), of: KEYVAL }));
        assert_eq!((all.of(1, b).map(|each| each.value.word), all.of(2, a)), (Some(20), None));
        assert_eq!((all.get(1, a), all.get(2, a)), (Some(word(11)), None));
    }

    #[test]
    fn c_gets_the_address_of_an_integer_that_fortran_has_set() {
        let mut all = Attributes::new();
        let key = all.create(KEYVAL).expect("room");
        all.put(1, key, word(10));
        assert_eq!(all.get(1, key).map(|value| value.in_c()), Some(10));
        all.put(1, key, AttributeValue::new(10, Language::FortranAddress));
        let value = all.get(1, key).expect("set");
        assert_eq!((value.word, value.language), (10, Language::FortranAddress));
        assert!(value.in_c() > 4096 && all.get(1, key) == Some(value));
    }

    #[test]
    fn a_key_fits_one_kind_of_object_only() {
        let mut all = Attributes::new();
        let key = all.create(KEYVAL).expect("room");
        assert_eq!(all.keyval(Holder::Type, key).expect_err("kind").class(), MPI_ERR_KEYVAL);
        for number in [MPI_KEYVAL_INVALID, -1, 501, key + 1, i32::MAX] {
            assert_eq!(all.free(Holder::Comm, number).expect_err("none").class(), MPI_ERR_KEYVAL);
        }
        assert_eq!(all.keyval(Holder::Comm, key).expect("there"), KEYVAL);
    }
}
