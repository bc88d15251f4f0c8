//! The open file: its parts, and calls that do not wait for other processes.
//!
//! Invariant: communicator, name and access mode never change; the individual file pointer is one process's own, and
//! is locked while a call uses it, so that threads take turns.
//! Not here: opening and closing (`open`, `collective`), moving data (`access`).

use std::borrow::Cow;
use std::io::{self, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mpi_comm::{Comm, Group};
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_UNSUPPORTED_OPERATION, MPI_SEEK_CUR, MPI_SEEK_END, MPI_SEEK_SET};
use mpi_core::{Handle, Info, clock};
use mpi_datatype::Datatype;
use mpi_errors::{Attached, Error, Result};
use mpi_p2p::{Doing, Engine};

use crate::amode::AccessMode;
use crate::atomicity::{self, Turns};
use crate::buffering::{Buffering, Choice, Sieving};
use crate::fault::{Fault, quoted};
use crate::hints::Hints;
use crate::instruments::FileInstruments;
use crate::places::Plain;
use crate::pointer::SharedPointer;
use crate::same_file::Hosts;
use crate::split_access::SplitAccess;
use crate::stage::Stage;
use crate::view::View;

/// A file that the processes of a communicator have opened collectively. Thread-safe.
///
/// Calls wait until the system has completed the access; none may be made under the process lock.
pub struct File {
    pub(crate) engine: Arc<Engine>,
    pub(crate) comm: Comm,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) amode: AccessMode,
    pub(crate) system: std::fs::File,
    /// No device, pipe or terminal.
    pub(crate) regular: bool,
    /// A stream: it has no positions.
    pub(crate) stream: bool,
    pub(crate) shared: Option<SharedPointer>,
    /// The hosts of its processes, if there are several.
    pub(crate) hosts: Option<Hosts>,
    pub(crate) instruments: &'static FileInstruments,
    /// Written since it was last synchronised.
    pub(crate) dirty: AtomicBool,
    pub(crate) atomic: AtomicBool,
    pub(crate) turns: Turns,
    /// Another handle may write gaps back, so that all writes lock their ranges. The same in all processes.
    pub(crate) must_lock: bool,
    /// The region of marks is locked for this handle (`openers`), so strided writes may write gaps back. The same in all
    /// processes.
    pub(crate) region_locked: AtomicBool,
    /// The end of the file up to which writes meet no limit of file sizes.
    pub(crate) unlimited_to: AtomicU64,
    /// In some process the view has gaps between short runs. All processes agree on it.
    pub(crate) strided: AtomicBool,
    /// The hints ask for gaps to be written back wherever there are any.
    pub(crate) writes_back_always: AtomicBool,
    /// Shared windows of collective accesses.
    pub(crate) stage: Mutex<Stage>,
    /// Memory of data sieving, between accesses.
    pub(crate) sieve: Mutex<Vec<u8>>,
    /// System calls that read or wrote, not counted yet.
    pub(crate) system_calls: AtomicU64,
    split: Mutex<Option<SplitAccess>>,
    view: Mutex<Arc<View>>,
    pointer: Mutex<u64>,
    hints: Mutex<Hints>,
    errhandler: Attached,
}

/// The origin of a seek.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whence {
    /// `MPI_SEEK_SET`: the start.
    Start,
    /// `MPI_SEEK_CUR`: the current position.
    Current,
    /// `MPI_SEEK_END`: the end of the file.
    End,
}

impl Whence {
    /// The value of a word of the ABI. Errors: `MPI_ERR_ARG`.
    pub fn new(word: i32) -> Result<Whence> {
        match word {
            MPI_SEEK_SET => Ok(Whence::Start),
            MPI_SEEK_CUR => Ok(Whence::Current),
            MPI_SEEK_END => Ok(Whence::End),
            _ => Err(Error::new(MPI_ERR_ARG, "it is one of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END")
                .arg("whence", &word)),
        }
    }
}

/// The parts of a file that has just been opened.
pub(crate) struct Parts {
    pub engine: Arc<Engine>,
    pub comm: Comm,
    pub name: String,
    pub path: PathBuf,
    pub amode: AccessMode,
    pub system: std::fs::File,
    pub regular: bool,
    pub stream: bool,
    pub must_lock: bool,
    pub shared: Option<SharedPointer>,
    pub hosts: Option<Hosts>,
    pub instruments: &'static FileInstruments,
    pub position: u64,
    pub hints: Hints,
    pub errhandler: Handle,
}

impl File {
    pub(crate) fn new(parts: Parts) -> File {
        parts.hints.advise(&parts.system);
        File {
            engine: parts.engine,
            comm: parts.comm,
            name: parts.name,
            path: parts.path,
            amode: parts.amode,
            system: parts.system,
            regular: parts.regular,
            stream: parts.stream,
            shared: parts.shared,
            hosts: parts.hosts,
            instruments: parts.instruments,
            dirty: AtomicBool::new(false),
            atomic: AtomicBool::new(false),
            turns: Turns::default(),
            must_lock: parts.must_lock,
            region_locked: AtomicBool::new(false),
            unlimited_to: AtomicU64::new(0),
            strided: AtomicBool::new(false),
            writes_back_always: AtomicBool::new(parts.hints.buffering.ds_write == Choice::Enable),
            stage: Mutex::default(),
            sieve: Mutex::default(),
            system_calls: AtomicU64::new(0),
            split: Mutex::new(None),
            view: Mutex::new(Arc::new(View::bytes())),
            pointer: Mutex::new(parts.position),
            hints: Mutex::new(parts.hints),
            errhandler: Attached::new(parts.errhandler),
        }
    }

    /// The name it was opened with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its access mode (`MPI_File_get_amode`).
    pub fn amode(&self) -> AccessMode {
        self.amode
    }

    /// The processes that opened it (`MPI_File_get_group`).
    pub fn group(&self) -> &Group {
        self.comm.group()
    }

    /// Its own communicator, over which its processes agree.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }

    /// Its performance variables.
    pub fn instruments(&self) -> &'static FileInstruments {
        self.instruments
    }

    /// Its error handler.
    pub fn errhandler(&self) -> &Attached {
        &self.errhandler
    }

    /// The hints in use (`MPI_File_get_info`).
    pub fn hints(&self) -> Info {
        self.lock_hints().to_info(&self.name, self.comm.size(), self.host_count())
    }

    /// The number of hosts of its processes, if there are several.
    pub(crate) fn host_count(&self) -> Option<u32> {
        self.hosts.as_ref().map(|hosts| hosts.firsts.len() as u32)
    }

    /// Of a file on several hosts: what this host has cached of it is read from the file system again. Those that keep
    /// their hosts' caches apart, such as NFS, do so when a file is locked; where locks do not work, cached pages are
    /// dropped.
    pub(crate) fn forget_cached(&self) {
        if self.hosts.is_some() {
            atomicity::forget_cached(&self.system, self.amode.reads());
        }
    }

    /// These hints of the program together with those in use, which they replace.
    pub(crate) fn hints_with(&self, info: &Info) -> Hints {
        let mut hints = self.lock_hints().clone();
        hints.take(info);
        hints
    }

    /// Replaces the hints; `agreed` are those of rank 0.
    pub(crate) fn replace_hints(&self, hints: Hints, agreed: Buffering) {
        hints.advise(&self.system);
        // Relaxed: a collective call changes it, while no accesses are under way.
        self.writes_back_always.store(agreed.ds_write == Choice::Enable, Ordering::Relaxed);
        *self.lock_hints() = hints.with(agreed);
    }

    /// The hints on which all processes agree.
    pub(crate) fn buffering(&self) -> Buffering {
        self.lock_hints().buffering
    }

    /// The hints about strided accesses.
    pub(crate) fn sieving(&self) -> Sieving {
        self.lock_hints().sieving
    }

    fn lock_hints(&self) -> MutexGuard<'_, Hints> {
        // Hints are replaced one by one, so a panic in another thread leaves valid ones.
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view of this process (`MPI_File_get_view`).
    pub fn view(&self) -> Arc<View> {
        // It is replaced as a whole, so a panic in another thread leaves a valid one.
        self.view.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The places of data, if accesses need nothing but these.
    pub(crate) fn plain(&self) -> Option<Plain> {
        if self.is_atomic() {
            return None;
        }
        self.view.lock().unwrap_or_else(PoisonError::into_inner).plain()
    }

    /// The access that is between its two calls, if there is one.
    pub(crate) fn split(&self) -> MutexGuard<'_, Option<SplitAccess>> {
        self.split.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether accesses are atomic (`MPI_File_get_atomicity`).
    pub fn is_atomic(&self) -> bool {
        // Relaxed: a collective call changes it, while no accesses are under way.
        self.atomic.load(Ordering::Relaxed)
    }

    /// Replaces the view; the individual file pointer is at its start.
    pub(crate) fn replace_view(&self, view: View) {
        let mut pointer = self.pointer();
        *self.view.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        *pointer = 0;
    }

    /// The individual file pointer, in etypes of the view, for as long as a call uses it.
    pub(crate) fn pointer(&self) -> MutexGuard<'_, u64> {
        self.pointer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes in the file now (`MPI_File_get_size`). Errors: those of the system.
    pub fn size(&self) -> Result<u64> {
        length(&self.system, self.regular).map_err(|error| self.fault(error))
    }

    /// The individual file pointer, in etypes of the view (`MPI_File_get_position`). Errors:
    /// `MPI_ERR_UNSUPPORTED_OPERATION` for a sequential file.
    pub fn position(&self) -> Result<u64> {
        self.check_pointers()?;
        Ok(*self.pointer())
    }

    /// Moves the individual file pointer (`MPI_File_seek`), in etypes of the view; it may be behind the end of the
    /// file. Errors: `MPI_ERR_ARG` for a place before the start or beyond what an offset can hold, and then it stays;
    /// `MPI_ERR_UNSUPPORTED_OPERATION` for a sequential file; errors of the system.
    pub fn seek(&self, offset: i64, whence: Whence) -> Result<()> {
        self.check_pointers()?;
        let mut pointer = self.pointer();
        let from = match whence {
            Whence::Start => 0,
            Whence::Current => *pointer,
            Whence::End => self.view().etypes_in(self.size()?),
        };
        match from.checked_add_signed(offset).filter(|place| *place <= i64::MAX as u64) {
            Some(place) => *pointer = place,
            None => {
                let rule = format!("from position {from} on that is no place in a file");
                return Err(Error::new(MPI_ERR_ARG, rule).arg("offset", &offset));
            }
        }
        Ok(())
    }

    /// Runs a system call on the file; the process's state shows it meanwhile. `count` counts the result.
    pub(crate) fn at_work<R>(&self, work: impl FnOnce() -> R, count: impl FnOnce(&FileInstruments, &R)) -> R {
        let process = self.engine.instruments();
        let guard = self.engine.lock();
        let doing = process.begin(Doing::File);
        drop(guard);
        let began_ns = clock::now_ns();
        let result = work();
        let time_ns = clock::now_ns().saturating_sub(began_ns);
        let guard = self.engine.lock();
        process.end(doing);
        self.instruments.time.add_ns(time_ns);
        // Relaxed: only the number counts, and each call is counted once.
        self.instruments.system_calls.add(self.system_calls.swap(0, Ordering::Relaxed));
        count(self.instruments, &result);
        drop(guard);
        result
    }

    /// The file's byte where a position of the view lies (`MPI_File_get_byte_offset`). Errors: `MPI_ERR_ARG` for a
    /// negative position and for one beyond what an offset can hold; `MPI_ERR_UNSUPPORTED_OPERATION` for a sequential
    /// file.
    pub fn byte_offset(&self, offset: i64) -> Result<u64> {
        self.check_pointers()?;
        let view = self.view();
        let place = position(offset)?.checked_mul(view.unit()).and_then(|at| view.place(at));
        place.ok_or_else(|| Error::new(MPI_ERR_ARG, "the file has no such place").arg("offset", &offset))
    }

    /// The extent of a type in the file, in the representation of the view (`MPI_File_get_type_extent`). Errors:
    /// `MPI_ERR_ARG` for a type that no file can have.
    pub fn type_extent(&self, datatype: &Datatype) -> Result<i64> {
        Ok(self.view().representation().in_file(datatype)?.extent())
    }

    /// Error if the file is sequential: only the shared file pointer is for such files (MPI-5.0, 14.2.1).
    pub(crate) fn check_pointers(&self) -> Result<()> {
        if !self.amode.is_sequential() {
            return Ok(());
        }
        let rule = "it was opened with MPI_MODE_SEQUENTIAL, and is for accesses by the shared file pointer only";
        Err(self.refusal(MPI_ERR_UNSUPPORTED_OPERATION, rule))
    }

    /// The error of a call that the access mode does not allow.
    #[cold]
    pub(crate) fn refusal(&self, class: i32, rule: impl Into<Cow<'static, str>>) -> Error {
        Error::new(class, rule).arg("fh", &format_args!("file {}", quoted(&self.name)))
    }

    #[cold]
    pub(crate) fn fault(&self, error: io::Error) -> Error {
        Fault::from(error).on_file(&self.name)
    }
}

/// A position that a program passed.
pub(crate) fn position(offset: i64) -> Result<u64> {
    u64::try_from(offset)
        .map_err(|_| Error::new(MPI_ERR_ARG, "an offset into a file must not be negative").arg("offset", &offset))
}

/// Bytes in a file; of a device, its last position.
pub(crate) fn length(system: &std::fs::File, regular: bool) -> io::Result<u64> {
    if regular {
        return Ok(system.metadata()?.len());
    }
    // The system's own position is used for no other purpose.
    let mut system = system;
    system.seek(SeekFrom::End(0))
}
