//! The job memory as mapped into this process.
//!
//! Invariant: `base..base + bytes` stays mapped while the value exists, and its first bytes for ever once
//! [`Mapping::keep`] was called; every access is checked against `bytes` here or by the layout it was made from.

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::signal_mask::with_signals_blocked;

pub(crate) struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
    /// Bytes at the beginning that are never unmapped.
    kept: AtomicUsize,
}

// SAFETY: an address and a length; what lies there is accessed as atomics or by the protocols of this crate.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Zeroed memory that can be handed to other processes. The `reserved` ranges (offset, length) are backed now, the
    /// rest when touched. Without memfd (an old kernel, a strict sandbox), and beyond the
    /// process's limit of file sizes, it is an error.
    pub(crate) fn create(
        name: &CStr,
        bytes: usize,
        reserved: impl Iterator<Item = (usize, usize)>,
    ) -> io::Result<(OwnedFd, Mapping)> {
        Mapping::create_with(libc::F_SEAL_GROW, name, bytes, reserved)
    }

    /// As [`Mapping::create`], of an object that can be made longer.
    pub(crate) fn create_growing(
        name: &CStr,
        bytes: usize,
        reserved: impl Iterator<Item = (usize, usize)>,
    ) -> io::Result<(OwnedFd, Mapping)> {
        Mapping::create_with(0, name, bytes, reserved)
    }

    fn create_with(
        seals: i32,
        name: &CStr,
        bytes: usize,
        reserved: impl Iterator<Item = (usize, usize)>,
    ) -> io::Result<(OwnedFd, Mapping)> {
        // SAFETY: the name is a C string; a descriptor comes back or -1.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor without another owner.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        with_signals_blocked(|| file.set_len(bytes as u64))?;
        for (at, len) in reserved {
            let reserve = || {
                // SAFETY: a plain system call on our descriptor.
                let done = unsafe { libc::fallocate(fd, 0, at as libc::off_t, len as libc::off_t) } == 0;
                if done { Ok(()) } else { Err(io::Error::last_os_error()) }
            };
            if let Err(error) = with_signals_blocked(reserve) {
                // Missing memory is an error now instead of a crash later; a kernel that cannot reserve is not.
                if matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::ENOMEM)) {
                    return Err(error);
                }
                break;
            }
        }
        // SAFETY: as above. No process can then make the memory shorter under the others. Where the system refuses it, processes
        // that inherit the descriptor use the memory all the same; whatever depends on the seal requires it (`is_sealed`).
        unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL | seals) };
        let fd = OwnedFd::from(file);
        let mapping = Mapping::map(Some(fd.as_raw_fd()), 0, bytes)?;
        Ok((fd, mapping))
    }

    /// Zeroed memory of this process alone (and of its children).
    pub(crate) fn private(bytes: usize) -> io::Result<Mapping> {
        Mapping::map(None, 0, bytes)
    }

    /// All of an existing object.
    pub(crate) fn open(fd: BorrowedFd<'_>) -> io::Result<Mapping> {
        let bytes = file_bytes(fd)?;
        Mapping::map(Some(fd.as_raw_fd()), 0, bytes)
    }

    /// Part of an existing object, in whole pages. Errors: also if the object ends before.
    pub(crate) fn open_part(fd: BorrowedFd<'_>, at: usize, bytes: usize) -> io::Result<Mapping> {
        has_part(fd, at, bytes)?;
        Mapping::map(Some(fd.as_raw_fd()), at, bytes)
    }

    /// All of an existing object, for reading only; a child of `fork` does not have it.
    pub(crate) fn open_for_reading(fd: BorrowedFd<'_>) -> io::Result<Mapping> {
        Mapping::open_part_for_reading(fd, 0, file_bytes(fd)?)
    }

    /// As [`Self::open_part`], for reading only; a child of `fork` does not have it.
    pub(crate) fn open_part_for_reading(fd: BorrowedFd<'_>, at: usize, bytes: usize) -> io::Result<Mapping> {
        has_part(fd, at, bytes)?;
        let mapping = Mapping::map_with(libc::PROT_READ, Some(fd.as_raw_fd()), at, bytes)?;
        // SAFETY: the mapping just made. A hint, which saves the child the page tables.
        unsafe { libc::madvise(mapping.base.as_ptr().cast(), mapping.bytes, libc::MADV_DONTFORK) };
        Ok(mapping)
    }

    fn map(fd: Option<i32>, at: usize, bytes: usize) -> io::Result<Mapping> {
        Mapping::map_with(libc::PROT_READ | libc::PROT_WRITE, fd, at, bytes)
    }

    fn map_with(rights: i32, fd: Option<i32>, at: usize, bytes: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | if fd.is_none() { libc::MAP_ANONYMOUS } else { 0 };
        // SAFETY: a new mapping at an address the kernel picks.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, rights, flags, fd.unwrap_or(-1), at as libc::off_t) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).expect("the kernel does not map address 0 without a request");
        Ok(Mapping { base, bytes, kept: AtomicUsize::new(0) })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Never unmaps the first `bytes`, a multiple of a page: objects that outlive the mapping point into them.
    pub(crate) fn keep(&self, bytes: usize) {
        assert!(bytes <= self.bytes && bytes.is_multiple_of(crate::layout::PAGE));
        // Relaxed: dropping happens after, by the ownership of the value.
        self.kept.fetch_max(bytes, Ordering::Relaxed);
    }

    /// The address of `len` bytes at an offset.
    pub(crate) fn at(&self, offset: usize, len: usize) -> NonNull<u8> {
        assert!(offset.checked_add(len).is_some_and(|end| end <= self.bytes), "{offset}+{len} of {}", self.bytes);
        // SAFETY: inside the mapping, as just checked.
        unsafe { self.base.add(offset) }
    }

    /// The word at an offset that is a multiple of 8.
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8));
        // SAFETY: mapped while `self` exists (checked by `at`) and aligned.
        unsafe { AtomicU64::from_ptr(self.at(offset, 8).as_ptr().cast()) }
    }

    /// Two words that follow each other, at an offset that is a multiple of 8.
    #[inline(always)]
    pub(crate) fn two_words(&self, offset: usize) -> [&AtomicU64; 2] {
        assert!(
            offset.is_multiple_of(8) && offset < self.bytes && self.bytes - offset >= 16,
            "{offset} of {}",
            self.bytes
        );
        // SAFETY: mapped while `self` exists, inside as just checked, and aligned.
        unsafe {
            let first = self.base.add(offset).cast::<AtomicU64>();
            [first.as_ref(), first.add(1).as_ref()]
        }
    }

    /// The half word at an offset that is a multiple of 4.
    pub(crate) fn half(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4));
        // SAFETY: mapped while `self` exists (checked by `at`) and aligned.
        unsafe { AtomicU32::from_ptr(self.at(offset, 4).as_ptr().cast()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let kept = *self.kept.get_mut();
        if kept < self.bytes {
            // SAFETY: our own mapping; the references returned borrow `self`, the rings' owners keep it mapped, and
            // memory with a longer lifetime is in the part that is kept.
            unsafe { libc::munmap(self.base.as_ptr().add(kept).cast(), self.bytes - kept) };
        }
    }
}

/// Opens the object that a process has under a descriptor, if nobody can make it shorter.
pub(crate) fn open_sealed(pid: u32, descriptor: i32) -> io::Result<File> {
    open_if_sealed(pid, descriptor, true)
}

/// As [`open_sealed`], for reading only.
pub(crate) fn open_sealed_for_reading(pid: u32, descriptor: i32) -> io::Result<File> {
    open_if_sealed(pid, descriptor, false)
}

fn open_if_sealed(pid: u32, descriptor: i32, write: bool) -> io::Result<File> {
    let path = format!("/proc/{pid}/fd/{descriptor}");
    // Without waiting, whatever kind of file it is.
    let file: File = OpenOptions::new().read(true).write(write).custom_flags(libc::O_NONBLOCK).open(path)?;
    match is_sealed(file.as_fd()) {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is another object")),
    }
}

/// Whether this is an object that nobody can make shorter.
pub(crate) fn is_sealed(fd: BorrowedFd<'_>) -> bool {
    // SAFETY: a plain query about an open descriptor; it fails for a file of another kind.
    let seals = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) };
    seals >= 0 && seals & libc::F_SEAL_SHRINK != 0
}

/// Fails if the object ends before.
fn has_part(fd: BorrowedFd<'_>, at: usize, bytes: usize) -> io::Result<()> {
    let length = file_bytes(fd)?;
    match at.checked_add(bytes).is_some_and(|end| end <= length) {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the object is too short")),
    }
}

fn file_bytes(fd: BorrowedFd<'_>) -> io::Result<usize> {
    // SAFETY: `stat` is plain data, filled by the call when it succeeds.
    let stat = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstat(fd.as_raw_fd(), &mut stat) != 0 {
            return Err(io::Error::last_os_error());
        }
        stat
    };
    if stat.st_mode & libc::S_IFMT != libc::S_IFREG {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a memory object"));
    }
    Ok(stat.st_size as usize)
}

/// Device and inode of a descriptor. Async-signal-safe.
pub(crate) fn identity_of(descriptor: i32) -> Option<(u64, u64)> {
    // SAFETY: `stat` is plain data, filled by the call when it succeeds.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::fstat(descriptor, &mut stat) == 0).then_some((stat.st_dev, stat.st_ino))
    }
}
