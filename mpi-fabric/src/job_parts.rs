//! Parts of the object of a job memory, behind the job memory: memory for processes that have the object's descriptor, but may
//! not open each other's descriptors.
//!
//! The header has the offset at which the next part begins. The last process that leaves a part returns its pages, and its offsets
//! if no part follows; others are not used again, which the range of offsets allows. A process that ends without leaving keeps the
//! part until the job's end.
//! Invariant: a part lies behind the job memory and inside the object, whatever the header and other processes say.
//! Not here: what is in a part (`crate::shared`).
#![allow(unsafe_code)] // system calls about the object

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mpi_errors::Result;

use crate::fault;
use crate::job::Job;
use crate::layout::{PAGE, header};
use crate::mapping::{Mapping, is_sealed};
use crate::shared::{Backing, SharedMemory, host_memory};
use crate::signal_mask::with_signals_blocked;

/// A part of the object of a job memory, in a rank that has mapped it.
struct Part {
    job: Arc<Job>,
    /// Place of the rank in the job memory.
    place: u32,
    at: u64,
    bytes: usize,
}

impl Job {
    /// As [`SharedMemory::create`], as a part of the object of the job memory; for the rank with this place. Also the offset.
    /// # Errors
    /// Also `MPI_ERR_OTHER` if the job memory has no descriptor here.
    pub fn extend_object(self: &Arc<Job>, place: u32, bytes: u64, name: u64) -> Result<(u64, SharedMemory)> {
        create(self, place, bytes, name)
            .map_err(|error| fault::memory("cannot make shared memory in the job memory", bytes, &error))
    }

    /// The memory of `bytes` bytes that another rank has created at an offset, and has not dropped.
    /// # Errors
    /// It is not there.
    pub fn open_extension(self: &Arc<Job>, place: u32, at: u64, bytes: u64, name: u64) -> io::Result<SharedMemory> {
        if !is_possible(self, at) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no part of the job memory begins there"));
        }
        let bytes = length(bytes)?;
        let mapping = Mapping::open_part(object(self)?, at as usize, bytes)?;
        SharedMemory::open_in(mapping, name, Box::new(Part { job: self.clone(), place, at, bytes }))
    }
}

fn create(job: &Arc<Job>, place: u32, bytes: u64, name: u64) -> io::Result<(u64, SharedMemory)> {
    if bytes > host_memory() {
        return Err(io::Error::from_raw_os_error(libc::ENOMEM));
    }
    let (bytes, object) = (length(bytes)?, object(job)?);
    let at = claim(job, bytes as u64).ok_or_else(too_long)?;
    let part = Part { job: job.clone(), place, at, bytes };
    match part.extend(object).and_then(|()| Mapping::open_part(object, at as usize, bytes)) {
        Ok(mapping) => Ok((at, SharedMemory::create_in(mapping, name, Box::new(part)))),
        Err(error) => {
            part.give_back();
            Err(error)
        }
    }
}

/// Bytes of a part with so much memory: with a page in front, in whole pages.
fn length(bytes: u64) -> io::Result<usize> {
    let length = bytes.checked_add(PAGE as u64).and_then(|bytes| bytes.checked_next_multiple_of(PAGE as u64));
    length.and_then(|length| usize::try_from(length).ok()).ok_or_else(too_long)
}

fn too_long() -> io::Error {
    io::Error::from_raw_os_error(libc::EFBIG)
}

impl Part {
    /// Makes the object long enough, and backs the first page.
    fn extend(&self, object: BorrowedFd<'_>) -> io::Result<()> {
        let fd = object.as_raw_fd();
        with_signals_blocked(|| {
            // SAFETY: plain system calls on an open descriptor.
            let done = unsafe {
                libc::fallocate(fd, 0, self.at as libc::off_t, PAGE as libc::off_t) == 0
                    && (libc::ftruncate(fd, (self.at + self.bytes as u64) as libc::off_t) == 0 || is_longer())
            };
            if done { Ok(()) } else { Err(io::Error::last_os_error()) }
        })
    }
}

impl Backing for Part {
    fn owner(&self) -> u32 {
        self.place + 1
    }

    fn has_owner(&self, number: u32) -> bool {
        let has_ended = |place| self.job.is_lost(place) || self.job.has_ended(place);
        number.checked_sub(1).is_some_and(|place| place < self.job.ranks() && !has_ended(place))
    }

    fn give_back(&self) {
        let Ok(object) = object(&self.job) else { return };
        let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: a plain system call on an open descriptor. No process uses the pages any more.
        let done =
            unsafe { libc::fallocate(object.as_raw_fd(), how, self.at as libc::off_t, self.bytes as libc::off_t) };
        if done == 0 {
            // The next part is there, if this is the last one. Release pairs with the Acquire in `claim`.
            let next = self.job.mapping().word(header::NEXT_PART);
            let _ = next.compare_exchange(self.at + self.bytes as u64, self.at, Ordering::Release, Ordering::Relaxed);
        }
    }
}

/// Whether an object could not be made shorter, which nobody can: it is longer than requested.
fn is_longer() -> bool {
    io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// The object, which nobody can make shorter: else `extend` of a process that is slower would cut off the parts of others.
fn object(job: &Job) -> io::Result<BorrowedFd<'_>> {
    let object = job.object().filter(|object| is_sealed(*object));
    object.ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "the job memory has no descriptor that is sealed"))
}

/// Claims so many bytes, whole pages, of the object's offsets.
fn claim(job: &Job, bytes: u64) -> Option<u64> {
    let next = job.mapping().word(header::NEXT_PART);
    // Acquire pairs with the Release in `give_back`: offsets that are used again are of empty pages.
    let mut found = next.load(Ordering::Acquire);
    loop {
        let at = if found == 0 { job.layout().total_bytes() as u64 } else { found };
        let end = at.checked_add(bytes).filter(|end| is_possible(job, at) && i64::try_from(*end).is_ok())?;
        match next.compare_exchange_weak(found, end, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => return Some(at),
            Err(other) => found = other,
        }
    }
}

/// Whether a part can begin at an offset.
fn is_possible(job: &Job, at: u64) -> bool {
    at >= job.layout().total_bytes() as u64 && at.is_multiple_of(PAGE as u64) && i64::try_from(at).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::{AsFd, FromRawFd, OwnedFd};
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::layout::MIN_RING_BYTES;
    use crate::rank_block::ENDED;
    use crate::{JobOptions, SharedMemory};

    /// A job of 3 ranks, as two of them have it.
    fn jobs() -> [Arc<Job>; 2] {
        let made = Job::create(&JobOptions { ranks: 3, ring_bytes: Some(MIN_RING_BYTES), cores: 2 }).unwrap();
        let fd = made.fd().unwrap().try_clone_to_owned().unwrap();
        let mut opened = Job::open(made.fd().unwrap()).unwrap();
        opened.keep(fd);
        [Arc::new(made), Arc::new(opened)]
    }

    fn word(memory: &SharedMemory, at: usize) -> *mut u64 {
        std::ptr::with_exposed_provenance_mut(memory.address() + at)
    }

    #[test]
    fn ranks_share_a_part_and_the_last_one_returns_its_memory() {
        let [made, opened] = jobs();
        let before = made.bytes_in_use();
        for _ in 0..2 {
            let (at, first) = made.extend_object(0, 100_000, 7).unwrap();
            assert_eq!(at, made.layout().total_bytes() as u64, "offsets are used again");
            let second = opened.open_extension(1, at, 100_000, 7).unwrap();
            // SAFETY: inside both mappings, one after the other.
            unsafe {
                assert_eq!(word(&second, 90_000).read(), 0);
                word(&first, 90_000).write(42);
                drop(first);
                assert_eq!(word(&second, 90_000).read(), 42);
            }
            assert!(made.bytes_in_use() > before);
            drop(second);
            assert_eq!(made.bytes_in_use(), before);
        }
        // The object is longer now.
        assert_eq!(Job::open(made.fd().unwrap()).unwrap().id(), made.id());
    }

    #[test]
    fn parts_lie_apart() {
        let [made, opened] = jobs();
        let (first_at, first) = made.extend_object(0, 1, 1).unwrap();
        let (second_at, second) = opened.extend_object(1, 9000, 2).unwrap();
        assert_eq!(second_at, first_at + 2 * PAGE as u64);
        drop(first);
        let (third_at, _third) = made.extend_object(0, 1, 3).unwrap();
        assert_eq!(third_at, second_at + 4 * PAGE as u64);
        drop(second);
    }

    #[test]
    fn another_place_name_or_length_is_refused() {
        let [made, opened] = jobs();
        let (at, _memory) = made.extend_object(0, 8192, 7).unwrap();
        // So that the object does not end there.
        let _next = made.extend_object(0, 8192, 9).unwrap();
        let opens = |at, bytes, name| opened.open_extension(1, at, bytes, name).is_ok();
        assert!(opens(at, 8192, 7) && !opens(at, 8192, 8));
        assert!(!opens(at, 4096, 7) && !opens(at, 8193, 7));
        for other in [0, 1, PAGE as u64, at + 1, at + PAGE as u64, at - PAGE as u64, 1 << 62, 1 << 63, u64::MAX] {
            assert!(!opens(other, 8192, 7), "{other:#x}");
        }
        assert!(!opens(at, u64::MAX, 7) && !opens(at, 1 << 62, 7));
    }

    #[test]
    fn a_damaged_header_makes_no_part() {
        let [made, _opened] = jobs();
        for word in [1, PAGE as u64, u64::MAX, 1 << 63, !0 - PAGE as u64 + 1, (1 << 63) - PAGE as u64] {
            made.mapping().word(header::NEXT_PART).store(word, Ordering::Relaxed);
            assert!(made.extend_object(0, 4096, 7).is_err(), "{word:#x}");
        }
    }

    #[test]
    fn a_file_under_the_number_of_the_descriptor_is_left_alone() {
        let [made, opened] = jobs();
        let (at, part) = made.extend_object(0, 100_000, 7).unwrap();
        let path = std::env::temp_dir().join(format!("ferrum-job-parts-{}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.write_all_at(b"data", at).unwrap();
        let number = made.fd().unwrap().as_raw_fd();
        // SAFETY: a descriptor of this test gets the number of the job's.
        assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), number) }, number);
        assert!(made.extend_object(0, 100_000, 8).is_err() && made.open_extension(1, at, 100_000, 7).is_err());
        drop(part);
        let mut data = [0; 4];
        file.read_exact_at(&mut data, at).unwrap();
        assert_eq!((file.metadata().unwrap().len(), &data), (at + 4, b"data"));
        // The object of another job.
        let other = Job::create(&JobOptions { ranks: 3, ring_bytes: Some(MIN_RING_BYTES), cores: 2 }).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { libc::dup2(other.fd().unwrap().as_raw_fd(), number) }, number);
        assert!(made.extend_object(0, 100_000, 8).is_err() && made.bytes_in_use().is_none());
        drop(made);
        // SAFETY: the number is open, and has no other owner any more.
        let kept = unsafe {
            assert!(libc::fcntl(number, libc::F_GETFD) >= 0);
            OwnedFd::from_raw_fd(number)
        };
        assert_eq!(Job::open(kept.as_fd()).unwrap().id(), other.id());
        assert!(opened.extend_object(1, 4096, 9).is_ok(), "the descriptor of the other rank is the object's");
    }

    #[test]
    fn an_object_that_can_become_shorter_gets_no_parts() {
        let [made, _opened] = jobs();
        let mut page = [0; PAGE];
        let sealed = File::from(made.fd().unwrap().try_clone_to_owned().unwrap());
        sealed.read_exact_at(&mut page, 0).unwrap();
        // SAFETY: the name is a C string, and the descriptor is new.
        let file = unsafe { File::from_raw_fd(libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC)) };
        file.write_all_at(&page, 0).unwrap();
        file.set_len(made.layout().total_bytes() as u64).unwrap();
        let mut job = Job::open(file.as_fd()).unwrap();
        job.keep(file.into());
        assert!(job.bytes_in_use().is_some());
        assert!(Arc::new(job).extend_object(0, 4096, 7).is_err());
    }

    #[test]
    fn the_lock_of_a_lost_rank_is_taken_over() {
        let [made, opened] = jobs();
        let (at, memory) = made.extend_object(2, 8, 9).unwrap();
        let other = opened.open_extension(1, at, 8, 9).unwrap();
        let held = memory.lock();
        assert!(other.try_lock().is_none());
        made.report_lost(2);
        assert!(other.try_lock().is_none());
        drop(other.lock());
        std::mem::forget(held);
        // Without a launcher that reports it: the rank has finalised.
        let (at, memory) = made.extend_object(0, 8, 10).unwrap();
        let other = opened.open_extension(1, at, 8, 10).unwrap();
        std::mem::forget(memory.lock());
        made.block(0).ended().store(ENDED, Ordering::Relaxed);
        drop(other.lock());
    }
}
