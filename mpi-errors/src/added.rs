//! Error classes and codes that programs add, with their texts (MPI-5.0, section 9.5).
//!
//! Values count up from [`FIRST`] and are never reused. So processes that add in the same order get the same values,
//! and a removed value never gets another meaning. Entries are in ascending order of their values: while none has been
//! removed an entry's place is its value less [`FIRST`], and later a binary search finds it. All of them are under one
//! mutex, which takes no locked instruction while the process has one thread. A word has the code whose class was looked up last,
//! so that this needs no mutex.
//! Invariant: a class exists at least as long as the codes that the program added to it.
//! Not here: codes of instances (`codes`), texts of the ABI's classes (`classes`).

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use mpi_core::ShortMutex;
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_OTHER};

use crate::code_layout::LAST_INSTANCE_CODE;
use crate::{Error, Result, classes};

/// The first value that a program can get.
const FIRST: i32 = LAST_INSTANCE_CODE + 1;

/// All classes and codes that the program added. Thread-safe; not async-signal-safe.
#[derive(Debug)]
pub struct AddedCodes {
    /// The value of `MPI_LASTUSEDCODE`; written under the mutex, read by the program through its address.
    last: AtomicI32,
    entries: ShortMutex<Entries>,
    /// The last class or code that was looked up, in the upper half, and its class; 0: none. Written under the mutex; a removal
    /// clears it.
    recent: AtomicU64,
}

/// Entries in ascending order of their values.
#[derive(Debug, Default)]
struct Entries(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    value: i32,
    /// The class of the code; for a class, its own value.
    class: i32,
    /// For a class: number of its codes that were added and not removed.
    codes: u32,
    text: Option<Box<str>>,
}

impl Entries {
    /// The place of a value's entry.
    #[inline]
    fn place(&self, value: i32) -> Option<usize> {
        let place = value.wrapping_sub(FIRST) as u32 as usize;
        match self.0.get(place) {
            Some(entry) if entry.value == value => Some(place),
            _ => self.search(value),
        }
    }

    #[inline(never)]
    fn search(&self, value: i32) -> Option<usize> {
        self.0.binary_search_by_key(&value, |entry| entry.value).ok()
    }

    #[inline]
    fn get(&self, value: i32) -> Option<&Entry> {
        self.place(value).map(|place| &self.0[place])
    }

    fn get_mut(&mut self, value: i32) -> Option<&mut Entry> {
        self.place(value).map(|place| &mut self.0[place])
    }

    /// The entry of a value that a call concerns.
    fn find(&mut self, argument: &'static str, value: i32) -> Result<&mut Entry> {
        self.get_mut(value).ok_or_else(|| wrong(argument, value, "the program added no such value, or removed it"))
    }

    fn remove(&mut self, value: i32) {
        if let Some(place) = self.place(value) {
            self.0.remove(place);
        }
    }
}

impl Default for AddedCodes {
    fn default() -> Self {
        Self::new()
    }
}

impl AddedCodes {
    /// An empty table.
    pub const fn new() -> Self {
        let entries = ShortMutex::new(Entries(Vec::new()));
        AddedCodes { last: AtomicI32::new(FIRST - 1), entries, recent: AtomicU64::new(0) }
    }

    /// The value of `MPI_LASTUSEDCODE`: no code of this process is larger. Its address never changes.
    pub fn last_used(&self) -> &AtomicI32 {
        &self.last
    }

    /// `MPI_Add_error_class`. Errors: `MPI_ERR_OTHER` when no values are left.
    pub fn add_class(&self) -> Result<i32> {
        let entries = &mut *self.entries.lock();
        let class = self.take()?;
        entries.0.push(Entry { value: class, class, codes: 0, text: None });
        Ok(class)
    }

    /// `MPI_Add_error_code`: a code of a class of the ABI or of the program. Errors: `MPI_ERR_ARG` for a value that is
    /// not a class, `MPI_ERR_OTHER` as for [`AddedCodes::add_class`].
    pub fn add_code(&self, class: i32) -> Result<i32> {
        let entries = &mut *self.entries.lock();
        let of_program = match entries.get(class) {
            Some(entry) if entry.class == class => true,
            None if classes::exists(class) => false,
            Some(_) => return Err(wrong("errorclass", class, "that is a code, not a class")),
            None => return Err(wrong("errorclass", class, "there is no such error class")),
        };
        let value = self.take()?;
        if of_program && let Some(entry) = entries.get_mut(class) {
            entry.codes += 1;
        }
        entries.0.push(Entry { value, class, codes: 0, text: None });
        Ok(value)
    }

    /// `MPI_Add_error_string`: replaces a text set before. Errors: `MPI_ERR_ARG` for a value that was not added.
    pub fn set_text(&self, code: i32, text: &str) -> Result<()> {
        self.entries.lock().find("errorcode", code)?.text = Some(text.into());
        Ok(())
    }

    /// `MPI_Remove_error_class`. Errors: `MPI_ERR_ARG` for a value that is not an added class, `MPI_ERR_OTHER` while it
    /// has codes or a text.
    pub fn remove_class(&self, class: i32) -> Result<()> {
        let entries = &mut *self.entries.lock();
        let entry = entries.find("errorclass", class)?;
        if entry.class != class {
            return Err(wrong("errorclass", class, "that is a code, not a class"));
        }
        if entry.codes > 0 {
            let rule = format!("{} error codes of that class have to be removed first", entry.codes);
            return Err(Error::new(MPI_ERR_OTHER, rule).arg("errorclass", &class));
        }
        if entry.text.is_some() {
            return Err(has_text("errorclass", class));
        }
        entries.remove(class);
        self.recent.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// `MPI_Remove_error_code`. Errors: `MPI_ERR_ARG` for a value that is not an added code, `MPI_ERR_OTHER` while it
    /// has a text.
    pub fn remove_code(&self, code: i32) -> Result<()> {
        let entries = &mut *self.entries.lock();
        let entry = entries.find("errorcode", code)?;
        let class = entry.class;
        if class == code {
            return Err(wrong("errorcode", code, "that is a class, not a code"));
        }
        if entry.text.is_some() {
            return Err(has_text("errorcode", code));
        }
        entries.remove(code);
        self.recent.store(0, Ordering::Relaxed);
        if let Some(entry) = entries.get_mut(class) {
            entry.codes -= 1;
        }
        Ok(())
    }

    /// `MPI_Remove_error_string`. Errors: `MPI_ERR_ARG` for a value that was not added, or has no text.
    pub fn remove_text(&self, code: i32) -> Result<()> {
        match self.entries.lock().find("errorcode", code)?.text.take() {
            Some(_) => Ok(()),
            None => Err(wrong("errorcode", code, "no text was added to it")),
        }
    }

    /// The class of an added class or code.
    #[inline]
    pub fn class_of(&self, code: i32) -> Option<i32> {
        self.recent_class(code).or_else(|| {
            let entries = self.entries.lock();
            let class = entries.get(code)?.class;
            // Relaxed: the word alone has all that its readers use.
            self.recent.store(u64::from(code as u32) << 32 | u64::from(class as u32), Ordering::Relaxed);
            Some(class)
        })
    }

    /// The class of the value that [`Self::class_of`] found last; `None` for all others. Takes no mutex.
    #[inline]
    pub fn recent_class(&self, code: i32) -> Option<i32> {
        let word = self.recent.load(Ordering::Relaxed);
        ((word >> 32) as u32 as i32 == code && word != 0).then_some(word as u32 as i32)
    }

    /// Passes the text of an added class or code to `read`, empty if it has none, and returns the result. `read` must
    /// not use the table.
    #[inline]
    pub fn with_string_of<R>(&self, code: i32, read: impl FnOnce(&str) -> R) -> Option<R> {
        self.entries.lock().get(code).map(|entry| read(entry.text.as_deref().unwrap_or_default()))
    }

    /// The text of an added class or code, empty if it has none.
    pub fn string_of(&self, code: i32) -> Option<String> {
        self.with_string_of(code, str::to_owned)
    }

    /// Allocates the next value; the caller holds the mutex.
    fn take(&self) -> Result<i32> {
        // Relaxed: written only under the mutex; readers without it need only the number.
        let next = self.last.load(Ordering::Relaxed).checked_add(1);
        let next = next.ok_or_else(|| Error::new(MPI_ERR_OTHER, "there are no values for further error codes"))?;
        self.last.store(next, Ordering::Relaxed);
        Ok(next)
    }
}

#[cold]
fn has_text(name: &'static str, value: i32) -> Error {
    Error::new(MPI_ERR_OTHER, "its text has to be removed first, by MPI_Remove_error_string").arg(name, &value)
}

#[cold]
fn wrong(argument: &'static str, value: i32, rule: &'static str) -> Error {
    Error::new(MPI_ERR_ARG, rule).arg(argument, &value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::{MPI_ERR_LASTCODE, MPI_ERR_TAG};

    fn last(codes: &AddedCodes) -> i32 {
        codes.last_used().load(Ordering::Relaxed)
    }

    #[test]
    fn the_last_used_code_follows_each_addition_and_no_removal() {
        let codes = AddedCodes::new();
        assert!(last(&codes) >= MPI_ERR_LASTCODE);
        let class = codes.add_class().expect("room");
        let code = codes.add_code(class).expect("room");
        assert_eq!((class, code, last(&codes)), (FIRST, FIRST + 1, code));
        codes.remove_code(code).expect("added");
        codes.remove_class(class).expect("added");
        assert_eq!(last(&codes), code);
        assert_eq!(codes.add_class().expect("room"), code + 1);
    }

    #[test]
    fn a_class_stays_while_codes_of_it_are_there() {
        let codes = AddedCodes::new();
        let class = codes.add_class().expect("room");
        let code = codes.add_code(class).expect("room");
        assert_eq!(codes.remove_class(class).expect_err("has a code").class(), MPI_ERR_OTHER);
        assert_eq!(codes.class_of(code), Some(class));
        codes.remove_code(code).expect("added");
        codes.remove_class(class).expect("no code left");
        assert_eq!((codes.class_of(class), codes.class_of(code)), (None, None));
    }

    #[test]
    fn the_last_class_found_needs_no_mutex_until_a_value_is_removed() {
        let codes = AddedCodes::new();
        let code = codes.add_code(MPI_ERR_TAG).expect("room");
        assert_eq!((codes.recent_class(code), codes.recent_class(0)), (None, None));
        assert_eq!(codes.class_of(code), Some(MPI_ERR_TAG));
        let entries = codes.entries.lock();
        assert_eq!((codes.class_of(code), codes.recent_class(code + 1)), (Some(MPI_ERR_TAG), None));
        drop(entries);
        codes.remove_code(code).expect("added");
        assert_eq!((codes.recent_class(code), codes.class_of(code)), (None, None));
        let class = codes.add_class().expect("room");
        assert_eq!((codes.class_of(class), codes.recent_class(class)), (Some(class), Some(class)));
        codes.remove_class(class).expect("added");
        assert_eq!(codes.class_of(class), None);
    }

    #[test]
    fn every_value_is_found_whatever_was_removed_before() {
        let codes = AddedCodes::new();
        let class = codes.add_class().expect("room");
        let added: Vec<i32> = (0..60).map(|_| codes.add_code(class).expect("room")).collect();
        for (n, code) in added.iter().enumerate().filter(|(n, _)| n % 3 == 1) {
            codes.remove_code(*code).expect("added");
            assert_eq!(codes.class_of(added[n - 1]), Some(class));
        }
        for (n, code) in added.iter().enumerate() {
            assert_eq!(codes.class_of(*code), (n % 3 != 1).then_some(class), "{n}");
            assert_eq!(codes.set_text(*code, "text").is_ok(), n % 3 != 1);
        }
        assert_eq!(codes.class_of(i32::MIN), None);
    }

    #[test]
    fn threads_that_add_and_look_up_at_once_find_what_was_added() {
        let codes = AddedCodes::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let codes = &codes;
                scope.spawn(move || {
                    for i in 0..200 {
                        let class = codes.add_class().expect("room");
                        let code = codes.add_code(class).expect("room");
                        let text = format!("{thread} {i}");
                        codes.set_text(code, &text).expect("added");
                        assert_eq!((codes.class_of(code), codes.string_of(code)), (Some(class), Some(text)));
                        codes.remove_text(code).expect("set");
                        codes.remove_code(code).expect("no text");
                        codes.remove_class(class).expect("no codes");
                    }
                });
            }
        });
        assert!(codes.entries.lock().0.is_empty());
        assert_eq!(last(&codes), FIRST - 1 + 4 * 400);
    }

    #[test]
    fn texts_are_empty_until_set_and_after_removal() {
        let codes = AddedCodes::new();
        let code = codes.add_code(MPI_ERR_TAG).expect("room");
        assert_eq!(codes.string_of(code).as_deref(), Some(""));
        assert_eq!(codes.remove_text(code).expect_err("none").class(), MPI_ERR_ARG);
        codes.set_text(code, "first").expect("added");
        codes.set_text(code, "second").expect("added");
        assert_eq!(codes.string_of(code).as_deref(), Some("second"));
        codes.remove_text(code).expect("set");
        assert_eq!(codes.string_of(code).as_deref(), Some(""));
    }

    #[test]
    fn nothing_can_be_done_to_values_that_were_not_added() {
        let codes = AddedCodes::new();
        let class = codes.add_class().expect("room");
        let code = codes.add_code(class).expect("room");
        for value in [-1, 0, MPI_ERR_TAG, MPI_ERR_LASTCODE, FIRST + 2, i32::MAX] {
            assert!(codes.set_text(value, "").is_err() && codes.remove_text(value).is_err());
            assert!(codes.remove_class(value).is_err() && codes.remove_code(value).is_err());
        }
        assert!(
            codes.add_code(code).is_err() && codes.remove_class(code).is_err() && codes.remove_code(class).is_err()
        );
        assert_eq!(last(&codes), code);
    }
}
