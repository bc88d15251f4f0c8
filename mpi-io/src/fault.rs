//! Errors of the system: error classes (MPI-5.0, 14.7) and sentences for `errno`.
//!
//! Invariant: a [`Fault`] is two numbers, so that a process can send it to the others.
//!
//! | class | reasons |
//! | --- | --- |
//! | `MPI_ERR_NO_SUCH_FILE` | `ENOENT` |
//! | `MPI_ERR_FILE_EXISTS` | `EEXIST` |
//! | `MPI_ERR_ACCESS` | `EACCES`, `EPERM` |
//! | `MPI_ERR_READ_ONLY` | `EROFS` |
//! | `MPI_ERR_NO_SPACE` | `ENOSPC`, `EFBIG` |
//! | `MPI_ERR_QUOTA` | `EDQUOT`, and `EFBIG` at the process's own limit (`RLIMIT_FSIZE`) |
//! | `MPI_ERR_FILE_IN_USE` | `EBUSY`, `ETXTBSY` |
//! | `MPI_ERR_BAD_FILE` | `ENAMETOOLONG`, `EISDIR`, `ENOTDIR`, `ELOOP` |
//! | `MPI_ERR_UNSUPPORTED_OPERATION` | `ESPIPE`, `EOPNOTSUPP`, `ENOSYS` |
//! | `MPI_ERR_BUFFER` | `EFAULT` |
//! | `MPI_ERR_NO_MEM` | `ENOMEM` |
//! | `MPI_ERR_IO` | `EIO` and all others |

use std::io;

use mpi_core::abi::{
    MPI_ERR_ACCESS, MPI_ERR_BAD_FILE, MPI_ERR_BUFFER, MPI_ERR_FILE_EXISTS, MPI_ERR_FILE_IN_USE, MPI_ERR_INTERN,
    MPI_ERR_IO, MPI_ERR_NO_MEM, MPI_ERR_NO_SPACE, MPI_ERR_NO_SUCH_FILE, MPI_ERR_QUOTA, MPI_ERR_READ_ONLY,
    MPI_ERR_UNSUPPORTED_OPERATION,
};
use mpi_errors::Error;
use mpi_fabric::signal_mask;

/// An error of the system. `Display` continues a sentence after "but".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", sentence(*errno))]
pub(crate) struct Fault {
    /// The error class, `MPI_ERR_*`.
    pub class: i32,
    /// The system's error number; 0 where there is none.
    pub errno: i32,
}

/// Numbers of faults that the system does not report; the system's are positive.
const OF_ONE_HOST: i32 = -1;
const MALFORMED: i32 = -2;

impl Fault {
    /// A file that is something else on each host.
    pub const OF_ONE_HOST: Fault = Fault { class: MPI_ERR_UNSUPPORTED_OPERATION, errno: OF_ONE_HOST };
    /// A message of another process about places in a file has no valid form.
    pub const MALFORMED: Fault = Fault { class: MPI_ERR_INTERN, errno: MALFORMED };

    /// The fault of this number.
    pub fn of(errno: i32) -> Fault {
        let class = match errno {
            libc::EFBIG if signal_mask::file_size_limit().is_some() => MPI_ERR_QUOTA,
            _ => class_of(errno),
        };
        Fault { class, errno }
    }

    /// The error of a call with a file's name.
    #[cold]
    pub fn named(self, name: &str) -> Error {
        Error::new(self.class, self.to_string()).arg("filename", &quoted(name))
    }

    /// The error of a call with an open file.
    #[cold]
    pub fn on_file(self, name: &str) -> Error {
        Error::new(self.class, self.to_string()).arg("fh", &format_args!("file {}", quoted(name)))
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        match error.raw_os_error() {
            Some(errno) => Fault::of(errno),
            None => Fault { class: MPI_ERR_IO, errno: 0 },
        }
    }
}

/// The sentence about an error number.
fn sentence(errno: i32) -> String {
    match errno {
        0 => return "the system accepted no more data, and gave no reason".to_owned(),
        OF_ONE_HOST => {
            return "it is a device, a pipe or a terminal, which is another one on each host: processes of several hosts can \
                    open regular files only"
                .to_owned();
        }
        MALFORMED => return "a message of another process about its data has no valid form".to_owned(),
        _ => {}
    }
    let text = io::Error::from_raw_os_error(errno).to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    match symbol(errno) {
        Some(name) => format!("the system reports: {text} ({name})"),
        None => format!("the system reports: {text} (errno {errno})"),
    }
}

/// A name in the form of error messages.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.escape_debug())
}

fn class_of(errno: i32) -> i32 {
    match errno {
        libc::ENOENT => MPI_ERR_NO_SUCH_FILE,
        libc::EEXIST => MPI_ERR_FILE_EXISTS,
        libc::EACCES | libc::EPERM => MPI_ERR_ACCESS,
        libc::EROFS => MPI_ERR_READ_ONLY,
        libc::ENOSPC | libc::EFBIG => MPI_ERR_NO_SPACE,
        libc::EDQUOT => MPI_ERR_QUOTA,
        libc::EBUSY | libc::ETXTBSY => MPI_ERR_FILE_IN_USE,
        libc::ENAMETOOLONG | libc::EISDIR | libc::ENOTDIR | libc::ELOOP => MPI_ERR_BAD_FILE,
        libc::ESPIPE | libc::EOPNOTSUPP | libc::ENOSYS => MPI_ERR_UNSUPPORTED_OPERATION,
        libc::EFAULT => MPI_ERR_BUFFER,
        libc::ENOMEM => MPI_ERR_NO_MEM,
        _ => MPI_ERR_IO,
    }
}

macro_rules! symbols {
    ($($name:ident)+) => {
        /// The name of an error number of calls on files.
        fn symbol(errno: i32) -> Option<&'static str> {
            match errno {
                $(libc::$name => Some(stringify!($name)),)+
                _ => None,
            }
        }
    };
}

symbols! {
    EACCES EBADF EBUSY EDQUOT EEXIST EFAULT EFBIG EINTR EINVAL EIO EISDIR ELOOP EMFILE ENAMETOOLONG ENFILE ENODEV ENOENT
    ENOLCK ENOMEM ENOSPC ENOSYS ENOTDIR ENXIO EOPNOTSUPP EOVERFLOW EPERM EPIPE EROFS ESPIPE ESTALE ETIMEDOUT ETXTBSY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_class() {
        for (errno, class) in [
            (libc::ENOENT, MPI_ERR_NO_SUCH_FILE),
            (libc::EEXIST, MPI_ERR_FILE_EXISTS),
            (libc::EACCES, MPI_ERR_ACCESS),
            (libc::EPERM, MPI_ERR_ACCESS),
            (libc::EROFS, MPI_ERR_READ_ONLY),
            (libc::ENOSPC, MPI_ERR_NO_SPACE),
            (libc::EDQUOT, MPI_ERR_QUOTA),
            (libc::EBUSY, MPI_ERR_FILE_IN_USE),
            (libc::ETXTBSY, MPI_ERR_FILE_IN_USE),
            (libc::ENAMETOOLONG, MPI_ERR_BAD_FILE),
            (libc::EISDIR, MPI_ERR_BAD_FILE),
            (libc::ENOTDIR, MPI_ERR_BAD_FILE),
            (libc::ELOOP, MPI_ERR_BAD_FILE),
            (libc::ESPIPE, MPI_ERR_UNSUPPORTED_OPERATION),
            (libc::EFAULT, MPI_ERR_BUFFER),
            (libc::EIO, MPI_ERR_IO),
            (libc::EMFILE, MPI_ERR_IO),
            (libc::EINVAL, MPI_ERR_IO),
        ] {
            assert_eq!(Fault::of(errno), Fault { class, errno });
        }
    }

    #[test]
    fn the_sentence_has_the_name_and_the_system_s_words() {
        let error = Fault::of(libc::ENOENT).named("a\nb");
        assert_eq!(
            error.to_string(),
            "argument filename is \"a\\nb\", but the system reports: No such file or directory (ENOENT)"
        );
        let error = Fault::of(libc::ENOSPC).on_file("/x");
        assert!(
            error.to_string().starts_with("argument fh is file \"/x\", but the system reports: No space"),
            "{error}"
        );
        assert!(Fault::of(libc::ENOTTY).to_string().contains(&format!("errno {}", libc::ENOTTY)));
        assert!(Fault::from(io::Error::other("x")).to_string().contains("no reason"));
    }
}
