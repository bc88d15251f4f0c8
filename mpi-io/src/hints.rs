//! Hints about a file (MPI-5.0, 14.2.8).
//!
//! | key | effect |
//! | --- | --- |
//! | `access_style` | `sequential` and `random` (alone or in a list) set the system's read-ahead |
//! | `file_perm` | permissions of a file that is created, in octal, before the umask is applied |
//! | `filename` | reported, never accepted |
//! | those of `buffering` | as there |
//!
//! Invariant: other keys and bad values are ignored, as the standard allows.
#![allow(unsafe_code)] // the system's advice call

use std::os::fd::AsRawFd;

use mpi_core::Info;

use crate::buffering::{Buffering, Sieving};

const ACCESS_STYLE: &str = "access_style";
const FILE_PERM: &str = "file_perm";
const FILENAME: &str = "filename";

const STYLES: [&str; 7] =
    ["read_once", "write_once", "read_mostly", "write_mostly", "sequential", "reverse_sequential", "random"];

/// The hints that a file has accepted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hints {
    style: Option<String>,
    permissions: Option<u32>,
    /// Those on which all processes agree.
    pub buffering: Buffering,
    /// Those about strided accesses of this process.
    pub sieving: Sieving,
}

impl Hints {
    /// Sets the supported hints of the program; absent hints keep their value.
    pub fn take(&mut self, info: &Info) {
        let known = |text: &&str| text.split(',').all(|word| STYLES.contains(&word.trim()));
        if let Some(style) = info.get(ACCESS_STYLE).filter(known) {
            self.style = Some(style.to_owned());
        }
        let octal = |text: &str| u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
        if let Some(permissions) = info.get(FILE_PERM).and_then(octal) {
            self.permissions = Some(permissions);
        }
        self.buffering.take(info);
        self.sieving.take(info);
    }

    /// The same hints with others that all processes agree on.
    pub fn with(self, buffering: Buffering) -> Hints {
        Hints { buffering, ..self }
    }

    /// Permissions of a file to be created.
    pub fn permissions(&self) -> u32 {
        self.permissions.unwrap_or(0o666)
    }

    /// The hints in use, and the file's name; `processes` have it open, on so many hosts if there are several.
    pub fn to_info(&self, name: &str, processes: u32, hosts: Option<u32>) -> Info {
        let mut info = Info::new();
        // A name that is too long for an info object is left out.
        let _ = info.set(FILENAME, name);
        if let Some(style) = &self.style {
            info.set(ACCESS_STYLE, style).expect("it came out of an info object");
        }
        if let Some(permissions) = self.permissions {
            info.set(FILE_PERM, &format!("{permissions:o}")).expect("a short text");
        }
        for (key, value) in self.buffering.texts(processes, hosts).iter().chain(&self.sieving.texts()) {
            info.set(key, value).expect("a short text");
        }
        info
    }

    /// Passes the access style to the system, which may ignore it.
    pub fn advise(&self, file: &std::fs::File) {
        let Some(style) = &self.style else { return };
        let has = |wanted: &str| style.split(',').any(|word| word.trim() == wanted);
        let advice = match (has("random"), has("sequential")) {
            (true, false) => libc::POSIX_FADV_RANDOM,
            (false, true) => libc::POSIX_FADV_SEQUENTIAL,
            _ => libc::POSIX_FADV_NORMAL,
        };
        // SAFETY: the call takes numbers only.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(pairs: &[(&str, &str)]) -> Info {
        let mut info = Info::new();
        pairs.iter().for_each(|(key, value)| info.set(key, value).expect("short"));
        info
    }

    #[test]
    fn known_hints_are_returned_and_others_ignored() {
        let mut hints = Hints::default();
        hints.take(&info(&[(ACCESS_STYLE, "read_once, sequential"), (FILE_PERM, "640"), ("colour", "red")]));
        hints.take(&info(&[(ACCESS_STYLE, "whatever"), (FILE_PERM, "0x99"), (FILENAME, "another")]));
        let info = hints.to_info("a", 4, None);
        assert_eq!(info.len(), 3 + 8);
        assert_eq!((info.get(ACCESS_STYLE), info.get(FILENAME)), (Some("read_once, sequential"), Some("a")));
        assert_eq!((info.get(FILE_PERM), hints.permissions()), (Some("640"), 0o640));
    }

    #[test]
    fn without_hints_the_name_and_defaults_are_reported() {
        let hints = Hints::default();
        let info = hints.to_info("a", 4, None);
        assert_eq!((info.len(), info.get("cb_nodes"), hints.permissions()), (1 + 8, Some("4"), 0o666));
    }
}
