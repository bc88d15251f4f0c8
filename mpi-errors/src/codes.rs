//! Error codes: positive ints from which an error's text, or at least its class, is found again (MPI-5.0, section 9.4).
//!
//! A class is also a code. The code of an error (an instance) has its class and a serial, which counts from 1 and then
//! starts again. The last 4096 texts are kept, so memory is bounded for any number of errors.
//! Not here: the layout of a code (`code_layout`), classes and codes that programs add (`added`).

use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_core::abi::{MPI_ERR_LASTCODE, MPI_ERR_UNKNOWN, MPI_MAX_ERROR_STRING};

use crate::code_layout::{CLASS_BITS, CLASS_MASK, LAST_INSTANCE_CODE, LAST_SERIAL};
use crate::{AddedCodes, Error, classes};

const INSTANCES: usize = 4096;

/// Assigns codes to errors and looks up the texts of codes. Thread-safe; not async-signal-safe.
#[derive(Debug, Default)]
pub struct ErrorCodes {
    /// Classes and codes that the program added.
    pub added: AddedCodes,
    recent: Mutex<Recent>,
}

#[derive(Debug, Default)]
struct Recent {
    serial: u32,
    /// Slot `serial % INSTANCES`: the code and its text.
    texts: Vec<(i32, Box<str>)>,
}

impl ErrorCodes {
    /// An empty table.
    pub fn new() -> Self {
        ErrorCodes { added: AddedCodes::new(), recent: Mutex::new(Recent { serial: 0, texts: Vec::new() }) }
    }

    /// Assigns a code to this error, unless it has one. The text is kept until 4096 further errors have occurred; the
    /// class can always be found.
    #[cold]
    pub fn code_for(&self, error: &Error) -> i32 {
        if let Some(code) = error.code() {
            return code;
        }
        let class = if classes::exists(error.class()) { error.class() } else { MPI_ERR_UNKNOWN };
        let text = shortened(error.to_string()).into_boxed_str();
        let mut recent = self.lock();
        recent.serial = if recent.serial == LAST_SERIAL { 1 } else { recent.serial + 1 };
        let code = (recent.serial << CLASS_BITS) as i32 | class;
        let slot = recent.serial as usize % INSTANCES;
        while recent.texts.len() <= slot {
            recent.texts.push((0, "".into()));
        }
        recent.texts[slot] = (code, text);
        code
    }

    /// The class of a code (`MPI_Error_class`), or `None` if the library never returns such a code.
    #[inline]
    pub fn class_of(&self, code: i32) -> Option<i32> {
        match code {
            ..=LAST_INSTANCE_CODE => own_class(code),
            _ => self.added.class_of(code),
        }
    }

    /// The class of a code of the program that [`Self::class_of`] found last; `None` for all others.
    #[inline]
    pub fn recent_class(&self, code: i32) -> Option<i32> {
        self.added.recent_class(code)
    }

    /// The text of a code (`MPI_Error_string`), at most `MPI_MAX_ERROR_STRING - 1` bytes; for a class, or an instance
    /// whose text is no longer kept, the text of the class. `None` as for [`ErrorCodes::class_of`].
    pub fn string_of(&self, code: i32) -> Option<String> {
        if code > LAST_INSTANCE_CODE {
            return self.added.string_of(code);
        }
        let class = self.class_of(code)?;
        if code > MPI_ERR_LASTCODE {
            let recent = self.lock();
            let slot = (code >> CLASS_BITS) as usize % INSTANCES;
            if let Some((_, text)) = recent.texts.get(slot).filter(|(kept, _)| *kept == code) {
                return Some(text.to_string());
            }
        }
        classes::code_text(class).map(str::to_owned)
    }

    /// As [`ErrorCodes::string_of`], passed to `read` in place, which must not use the table.
    #[inline]
    pub fn with_string_of<R>(&self, code: i32, read: impl FnOnce(&str) -> R) -> Option<R> {
        if code > LAST_INSTANCE_CODE {
            return self.added.with_string_of(code, read);
        }
        self.string_of(code).map(|text| read(&text))
    }

    fn lock(&self) -> MutexGuard<'_, Recent> {
        // Every change is one step, so a panic of a holder leaves no partial change.
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Computes the class of a code of the library: a class of the ABI or an instance's code. `None` for any other number,
/// including codes that the program added.
#[inline]
pub const fn own_class(code: i32) -> Option<i32> {
    let class = code & CLASS_MASK;
    if code >= 0 && code <= LAST_INSTANCE_CODE && classes::exists(class) { Some(class) } else { None }
}

/// Truncates a text to the length that `MPI_Error_string` may return, at a character boundary.
fn shortened(mut text: String) -> String {
    let limit = MPI_MAX_ERROR_STRING as usize - 1;
    if text.len() > limit {
        let end = (0..=limit - 3).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi;

    #[test]
    fn a_class_is_a_code_with_its_own_text() {
        let codes = ErrorCodes::new();
        assert_eq!(codes.class_of(abi::MPI_SUCCESS), Some(0));
        assert_eq!(codes.class_of(abi::MPI_ERR_TAG), Some(abi::MPI_ERR_TAG));
        assert!(codes.string_of(abi::MPI_ERR_TAG).is_some_and(|text| text.starts_with("MPI_ERR_TAG: ")));
    }

    #[test]
    fn codes_that_were_not_assigned_have_no_class() {
        let codes = ErrorCodes::new();
        for code in [-1, i32::MIN, 63, 1000, 1019, abi::MPI_ERR_LASTCODE, LAST_INSTANCE_CODE, i32::MAX] {
            assert_eq!((codes.class_of(code), codes.string_of(code)), (None, None), "{code}");
        }
    }

    #[test]
    fn an_instance_keeps_its_text_until_the_ring_comes_round_and_its_class_for_ever() {
        let codes = ErrorCodes::new();
        let first = codes.code_for(&Error::new(abi::MPI_ERR_RANK, "no such rank").arg("dest", &9).call("MPI_Send"));
        assert!(first > abi::MPI_ERR_LASTCODE);
        for _ in 0..INSTANCES - 1 {
            codes.code_for(&Error::new(abi::MPI_ERR_TAG, "x"));
        }
        assert_eq!(codes.string_of(first).as_deref(), Some("MPI_Send: argument dest is 9, but no such rank"));
        codes.code_for(&Error::new(abi::MPI_ERR_TAG, "x"));
        assert!(codes.string_of(first).is_some_and(|text| text.starts_with("MPI_ERR_RANK: ")));
        assert_eq!(codes.class_of(first), Some(abi::MPI_ERR_RANK));
    }

    #[test]
    fn serials_wrap_without_leaving_the_range() {
        let codes = ErrorCodes::new();
        for _ in 0..LAST_SERIAL + 10 {
            let code = codes.code_for(&Error::new(abi::MPI_ERR_TRUNCATE, ""));
            assert!(code > abi::MPI_ERR_LASTCODE && code <= LAST_INSTANCE_CODE);
            assert_eq!(codes.class_of(code), Some(abi::MPI_ERR_TRUNCATE));
        }
        assert_eq!(codes.lock().texts.len(), INSTANCES);
    }

    #[test]
    fn an_unknown_class_becomes_err_unknown() {
        let codes = ErrorCodes::new();
        let code = codes.code_for(&Error::new(77_777, "odd"));
        assert_eq!(codes.class_of(code), Some(MPI_ERR_UNKNOWN));
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let cut = shortened("é".repeat(400));
        assert!(cut.len() < MPI_MAX_ERROR_STRING as usize && cut.ends_with("é..."));
        assert_eq!(shortened("short".to_owned()), "short");
    }
}
