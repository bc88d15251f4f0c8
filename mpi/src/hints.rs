//! Hints: keys with values that a communicator, window or file may use (MPI-5.0, chapter 10).
//!
//! Invariant: keys and values have a length that every MPI library accepts, and no NUL.
//! Not here: hints of windows and files (`window`, `file`), what hints mean (`mpi_win`, `mpi_io`, `mpi_env`).

use mpi_core::abi::{MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE, MPI_MAX_INFO_KEY, MPI_MAX_INFO_VAL};
use mpi_core::{Info, functions};

use crate::call::CallName;
use crate::threads::ThreadUse;
use crate::{Communicator, Error, Result};

const DUPLICATE: CallName = CallName::new("Communicator::duplicate_with_hints", functions::MPI_COMM_DUP_WITH_INFO);

/// Keys with values, in the order in which the keys were first set. What does not support a key ignores it, and a value
/// that it cannot use, without an error: `hints()` of a communicator, window or file returns those that it has. Threads
/// may set and read the hints of one object at once.
///
/// ```no_run
/// use mpi::{Access, Hints};
///
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let hints = Hints::new().with("access_style", "read_once,sequential")?.with("file_perm", "600")?;
/// let file = world.open_with_hints("table", Access::READ, &hints)?;
/// assert_eq!(file.hints().get("access_style"), Some("read_once,sequential"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    info: Info,
}

impl Hints {
    /// No hints.
    pub const fn new() -> Hints {
        Hints { info: Info::new() }
    }

    /// These hints and one more. Errors: as [`Hints::set`].
    pub fn with(mut self, key: &str, value: &str) -> Result<Hints> {
        self.set(key, value).map_err(|error| error.call("Hints::with"))?;
        Ok(self)
    }

    /// Sets a key, or replaces its value (`MPI_Info_set`). Errors: `MPI_ERR_INFO_KEY` unless the key has 1 to
    /// `MPI_MAX_INFO_KEY - 1` bytes, `MPI_ERR_INFO_VALUE` unless the value has at most `MPI_MAX_INFO_VAL - 1`; the same
    /// for a text with a NUL.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let refused = |class, rule: String, name, text: &str| {
            let shown = match text.char_indices().nth(40) {
                Some((end, _)) => format!("{:?}... ({} bytes)", &text[..end], text.len()),
                None => format!("{text:?}"),
            };
            Err(Error::new(class, rule).arg(name, &shown).call("Hints::set"))
        };
        if !Info::is_key(key) || key.contains('\0') {
            let rule = format!("a key has 1 to {} bytes, and no NUL", MPI_MAX_INFO_KEY - 1);
            return refused(MPI_ERR_INFO_KEY, rule, "key", key);
        }
        if value.contains('\0') || self.info.set(key, value).is_err() {
            let rule = format!("a value has at most {} bytes, and no NUL", MPI_MAX_INFO_VAL - 1);
            return refused(MPI_ERR_INFO_VALUE, rule, "value", value);
        }
        Ok(())
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.info.get(key)
    }

    /// Removes a key; returns whether it was there.
    pub fn remove(&mut self, key: &str) -> bool {
        self.info.remove(key)
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.info.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.info.is_empty()
    }

    /// The keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        (0..self.len()).filter_map(|place| self.info.key(place)).filter_map(|key| Some((key, self.info.get(key)?)))
    }

    pub(crate) fn info(&self) -> &Info {
        &self.info
    }
}

impl From<Info> for Hints {
    fn from(info: Info) -> Hints {
        Hints { info }
    }
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// As [`Communicator::duplicate`]; the new communicator has these hints (`MPI_Comm_dup_with_info`; MPI-5.0, 7.4.2).
    /// Processes may pass different hints. Errors: as there.
    pub fn duplicate_with_hints(&self, hints: &Hints) -> Result<Communicator<'_, M>> {
        self.call(DUPLICATE, |call| {
            drop(call.enter(-1, 0, 0));
            let made = self.made(call.process.comm_dup(self.handle())?, "communicator")?;
            made.set_hints(hints);
            Ok(made)
        })
    }

    /// Sets hints: the assertions `mpi_assert_no_any_tag` and the like, which are `true` or `false`
    /// (`MPI_Comm_set_info`; MPI-5.0, 7.4.4). All processes of the communicator call it; none waits.
    pub fn set_hints(&self, hints: &Hints) {
        let guard = &mut self.process.engine.lock();
        self.process.names_and_hints.get_mut(guard).set_hints(self.handle().0, hints.info());
    }

    /// All hints that communicators support, with their values in this one (`MPI_Comm_get_info`).
    pub fn hints(&self) -> Hints {
        self.process.names_and_hints.get(&self.process.engine.lock()).hints(self.handle().0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_have_lengths_that_c_accepts() {
        let class = |key: &str, value: &str| Hints::new().with(key, value).expect_err("refused").class();
        let (key, value) = ("k".repeat(MPI_MAX_INFO_KEY as usize - 1), "v".repeat(MPI_MAX_INFO_VAL as usize - 1));
        let hints = Hints::new().with(&key, &value).expect("both just fit").with("", "").expect_err("empty");
        assert_eq!(hints.class(), MPI_ERR_INFO_KEY);
        assert_eq!(class(&format!("{key}k"), ""), MPI_ERR_INFO_KEY);
        assert_eq!(class("a\0b", ""), MPI_ERR_INFO_KEY);
        assert_eq!(class("k", &format!("{value}v")), MPI_ERR_INFO_VALUE);
        assert_eq!(class("k", "a\0b"), MPI_ERR_INFO_VALUE);
    }

    #[test]
    fn keys_keep_their_order_and_values_are_replaced() {
        let mut hints = Hints::new();
        for (key, value) in [("b", "1"), ("a", ""), ("b", "2")] {
            hints.set(key, value).expect("short");
        }
        assert_eq!(hints.iter().collect::<Vec<_>>(), [("b", "2"), ("a", "")]);
        assert!(hints.remove("b") && !hints.remove("b"));
        assert_eq!((hints.len(), hints.is_empty(), hints.get("b")), (1, false, None));
    }
}
