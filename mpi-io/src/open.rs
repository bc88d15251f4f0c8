//! Opening files collectively, and deleting them (MPI-5.0, 14.2.1 and 14.2.3).
//!
//! First all processes exchange their arguments; then rank 0 opens the file, creating it if necessary, and publishes
//! the result; then all others open it; then all exchange the identity of the file that they have opened. Processes of
//! several hosts look for evidence that it is the same file (`same_file`).
//! Invariant: a process with a wrong argument takes part in all exchanges, so that the others fail with it and do not
//! hang. When one process fails, all close the file again, and a file that was created is deleted.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Seek};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi_comm::{Comm, CommSpec, ContextIds, InternalMeters, agree, register, unregister};
use mpi_core::abi::{MPI_ERR_BAD_FILE, MPI_ERR_NO_SUCH_FILE, MPI_ERR_NOT_SAME, MPI_ERRORS_RETURN};
use mpi_core::{Guard, Guarded, Handle, Info};
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;
use mpi_t::InstrumentMemory;

use crate::amode::AccessMode;
use crate::buffering::Buffering;
use crate::collective::{delete, refused_elsewhere};
use crate::datarep::{Conversions, Representation, Representations};
use crate::fault::{Fault, quoted};
use crate::file::{File, Parts, length};
use crate::hints::Hints;
use crate::instruments::FileInstruments;
use crate::openers::{self, Standing};
use crate::pointer::SharedPointer;
use crate::report::{Report, by_first, exchange, first_fault};
use crate::same_file::{self, Hosts, Named, Standing as AmongHosts};
use crate::served::Served;

/// Files of one process.
#[derive(Clone)]
pub struct Io {
    engine: Arc<Engine>,
    /// The instruments of the communicators of all files; tools do not see them.
    messages: InternalMeters,
    representations: Arc<Representations>,
}

/// The arguments of a program; an error stands for an argument that was refused.
#[derive(Debug)]
pub struct OpenArgs {
    /// The file's name.
    pub name: Result<OsString>,
    /// The access mode.
    pub amode: Result<AccessMode>,
    /// Hints.
    pub hints: Result<Info>,
}

struct Request {
    path: PathBuf,
    name: String,
    amode: AccessMode,
    hints: Hints,
}

/// The file as this process has opened it.
struct Opened {
    system: fs::File,
    regular: bool,
    stream: bool,
    position: u64,
    /// Device and number of the file: the same in all processes.
    identity: [u64; 2],
    created: bool,
    /// Another handle may write gaps back (`openers`), as rank 0 has found it.
    must_lock: bool,
    shared: Option<SharedPointer>,
    /// The hosts of the processes, if there are several.
    hosts: Option<Hosts>,
    /// The hints of rank 0 on which all processes agree.
    buffering: Buffering,
}

impl OpenArgs {
    fn check(self) -> Result<Request> {
        let (path, name) = path_of(self.name?)?;
        let mut hints = Hints::default();
        let amode = self.amode?;
        hints.take(&self.hints?);
        Ok(Request { path, name, amode, hints })
    }
}

/// A name as a path, and as text for messages. Errors: `MPI_ERR_BAD_FILE` for names that no file can have.
fn path_of(name: OsString) -> Result<(PathBuf, String)> {
    let text = name.to_string_lossy().into_owned();
    let rule = if name.is_empty() {
        "a file's name must not be empty"
    } else if text.contains('\0') {
        "a file's name cannot have a NUL in it"
    } else {
        return Ok((PathBuf::from(name), text));
    };
    Err(Error::new(MPI_ERR_BAD_FILE, rule).arg("filename", &quoted(&text)))
}

impl Io {
    /// The files of the process with this engine.
    pub fn new(engine: Arc<Engine>) -> Io {
        Io { messages: InternalMeters::default(), engine, representations: Arc::default() }
    }

    /// `MPI_Register_datarep`. Errors: `MPI_ERR_ARG` for an empty name and one that is too long, `MPI_ERR_DUP_DATAREP`
    /// for one that is taken.
    pub fn register(&self, name: String, functions: Box<dyn Conversions>) -> Result<()> {
        self.representations.register(name, functions)
    }

    /// The data representation with this name. Errors: `MPI_ERR_UNSUPPORTED_DATAREP`.
    pub fn representation(&self, name: &str) -> Result<Representation> {
        self.representations.find(name)
    }

    /// `MPI_File_open`: opens a file in all processes of `parent`; waits for all. `errhandler` becomes its handler.
    ///
    /// Errors, in all processes or in none: the refused arguments of one process, `MPI_ERR_NOT_SAME` when modes
    /// differ or the names are of different files, `MPI_ERR_NO_SUCH_FILE` when a host has no file or another one of the
    /// name, `MPI_ERR_UNSUPPORTED_OPERATION` for a device, pipe or terminal on several hosts, errors of the system,
    /// `MPI_ERR_OTHER` when there are no context ids left.
    pub fn open(
        &self,
        parent: &Comm,
        ids: &Guarded<ContextIds>,
        memory: &dyn InstrumentMemory,
        errhandler: Handle,
        args: OpenArgs,
    ) -> Result<File> {
        let request = args.check();
        let own = match &request {
            Ok(request) => [0, request.amode.bits()],
            Err(error) => [error.class(), 0],
        };
        let agreed = agree(&self.engine, parent, ids, own)?;
        let request = accepted(request, &agreed.words)?;
        let spec = CommSpec { errhandler: Handle(MPI_ERRORS_RETURN), ..CommSpec::duplicate(parent, agreed.context) };
        let messages = self.messages.of(parent.size().max(self.engine.size()));
        let comm = register(&self.engine, &mut self.engine.lock(), spec, messages);
        let opened = match self.open_everywhere(&comm, &request) {
            Ok(opened) => opened,
            Err(error) => {
                self.leave(&mut self.engine.lock(), &comm);
                return Err(error);
            }
        };
        Ok(File::new(Parts {
            engine: self.engine.clone(),
            comm,
            instruments: FileInstruments::place_for(memory, &format!("file {}", request.name)),
            name: request.name,
            path: request.path,
            amode: request.amode,
            system: opened.system,
            regular: opened.regular,
            stream: opened.stream,
            must_lock: opened.must_lock,
            shared: opened.shared,
            hosts: opened.hosts,
            position: opened.position,
            hints: request.hints.with(opened.buffering),
            errhandler,
        }))
    }

    /// Removes the communicator of a file from the engine.
    pub fn leave(&self, guard: &mut Guard<'_>, comm: &Comm) {
        self.engine.remove_service(guard, comm.collective_context());
        unregister(&self.engine, guard, comm);
    }

    /// `MPI_File_delete`. Processes that have the file open may continue to use it. Errors: `MPI_ERR_BAD_FILE` for
    /// an invalid name, errors of the system.
    pub fn delete(&self, name: OsString) -> Result<()> {
        let (path, name) = path_of(name)?;
        delete(&path).map_err(|fault| fault.named(&name))
    }

    fn open_everywhere(&self, comm: &Comm, request: &Request) -> Result<Opened> {
        let (mut first, creates) = (None, request.amode.creates());
        let among_hosts = AmongHosts::of(&self.engine, comm);
        let mut served = among_hosts.map(|_| Served::new(&self.engine, comm));
        let begun = by_first(&self.engine, comm, || {
            let (opened, found_at) = open_first(request, creates, comm.size(), served.take())?;
            first = Some(opened);
            Ok(found_at)
        })?;
        let found_at = begun.map_err(|fault| failed(fault, 0, "rank 0", comm, request))?;
        let mut own = first.map_or_else(|| open_further(request, found_at, served), Ok);
        let name = same_everywhere(&request.path) & !1;
        let report = match &own {
            Ok(opened) => {
                let [device, number] = opened.identity;
                let shared = u64::from(opened.shared.is_some());
                let hints = request.hints.buffering.to_word() << 1;
                Report { fault: None, numbers: [device, number, hints | shared, name | u64::from(opened.must_lock)] }
            }
            Err(fault) => Report { fault: Some(*fault), numbers: [0, 0, 0, name] },
        };
        let all = exchange(&self.engine, comm, report)?;
        let identity = |report: &Report| [report.numbers[0], report.numbers[1]];
        let mut hosts = None;
        let mut elsewhere = None;
        if let (Some(among), Ok(opened), None) = (among_hosts, &own, first_fault(&all)) {
            // The numbers of devices are those of one host.
            let (path, writes) = (&request.path, request.amode.writes());
            let file = Named { system: &opened.system, path, number: name, writes };
            let is_other = among.is_near() && opened.identity != identity(&all[0]);
            match same_file::agree(&self.engine, comm, (among, is_other), &file, found_at[0])? {
                Ok(found) => hosts = Some(found),
                Err(other) => elsewhere = Some(other),
            }
        }
        let on_hosts = match among_hosts.is_some() && (elsewhere.is_some() || first_fault(&all).is_some()) {
            true => Some(same_file::host_names(&self.engine, comm)?),
            false => None,
        };
        let rank_text = |rank: usize| match &on_hosts {
            Some(names) => format!("rank {rank} on host {}", names[rank]),
            None => format!("rank {rank}"),
        };
        let different = || match among_hosts {
            Some(_) => elsewhere,
            None => {
                let other = all.iter().position(|report| identity(report) != identity(&all[0]));
                other.map(|rank| (rank, MPI_ERR_NOT_SAME))
            }
        };
        let mut error = if let Some((rank, fault)) = first_fault(&all) {
            // Rank 0 has opened or made the file of its name.
            let another_name = all[rank].numbers[3] & !1 != all[0].numbers[3] & !1;
            match another_name && fault.class == MPI_ERR_NO_SUCH_FILE {
                true => {
                    let rule =
                        format!("rank 0 and rank {rank} gave different names, and that of rank {rank} is of no file");
                    Error::new(MPI_ERR_NOT_SAME, rule).arg("filename", &quoted(&request.name))
                }
                false => failed(fault, rank, &rank_text(rank), comm, request),
            }
        } else if let Some((rank, class)) = different() {
            let rule = match class {
                MPI_ERR_NOT_SAME => format!("the names that rank 0 and rank {rank} gave are of different files"),
                _ => format!("{} has another file of this name than {}", rank_text(rank), rank_text(0)),
            };
            Error::new(class, rule).arg("filename", &quoted(&request.name))
        } else {
            let opened = own.as_mut().expect("no process failed");
            match &mut opened.shared {
                Some(shared) if all.iter().all(|report| report.numbers[2] & 1 == 1) => shared.close(),
                shared => *shared = None,
            }
            opened.buffering = Buffering::from_word(all[0].numbers[2] >> 1);
            opened.must_lock = all[0].numbers[3] & 1 == 1;
            opened.hosts = hosts;
            return Ok(own.expect("no process failed"));
        };
        if on_hosts.is_some() && error.class() == MPI_ERR_NO_SUCH_FILE {
            error = error.hint("The hosts must see one file by this name: put it on a file system that they share.");
        }
        if creates {
            // The others get the error when the file is closed and deleted.
            let _ = by_first(&self.engine, comm, || {
                if let Some(opened) = own.ok().filter(|opened| opened.created) {
                    delete_created(&request.path, opened.identity);
                }
                Ok([0; 2])
            })?;
        }
        Err(error)
    }
}

/// A number that other handles hardly ever have, of this process or of another one.
fn new_seed() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    u64::from(std::process::id()) << 32 | NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A number that equal names have in all processes, and different ones hardly ever.
fn same_everywhere(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(path.as_os_str().as_bytes());
    hasher.finish()
}

/// Opens the file in the first process, with the word of the shared file pointer if the system allows that. `served`:
/// for processes of several hosts, with evidence for the others in place of the word.
fn open_first(
    request: &Request,
    create: bool,
    processes: u32,
    served: Option<Served>,
) -> Result<(Opened, [u64; 2]), Fault> {
    if served.is_some() {
        refuse_pipe(request)?;
    }
    let mut opened = open_here(request, create)?;
    if opened.regular && request.amode.writes() && !request.amode.is_unique() {
        opened.must_lock = openers::mark(&opened.system, new_seed()) == Standing::MustLock;
    }
    if processes == 1 {
        opened.shared = Some(SharedPointer::own(opened.position));
        return Ok((opened, [0; 2]));
    }
    if let Some(served) = served {
        same_file::check_regular(opened.regular)?;
        let token = same_file::lock_evidence(&opened.system, request.amode.writes());
        let shared = SharedPointer::Served(served);
        shared.set(opened.position);
        opened.shared = Some(shared);
        return Ok((opened, [token, 0]));
    }
    match SharedPointer::create(opened.position) {
        Ok((shared, found_at)) => {
            opened.shared = Some(shared);
            Ok((opened, found_at))
        }
        Err(_) => Ok((opened, [0; 2])),
    }
}

/// Refuses what is no regular file on processes of several hosts, before it is opened, because opening a pipe may wait.
fn refuse_pipe(request: &Request) -> Result<(), Fault> {
    let is_file = |facts: fs::Metadata| facts.is_file() || facts.is_dir();
    same_file::check_regular(fs::metadata(&request.path).map_or(true, is_file))
}

/// Opens the file in another process.
fn open_further(request: &Request, found_at: [u64; 2], served: Option<Served>) -> Result<Opened, Fault> {
    let Some(served) = served else {
        let opened = open_here(request, false)?;
        return Ok(Opened { shared: SharedPointer::open(found_at).ok(), ..opened });
    };
    refuse_pipe(request)?;
    let system = match request.amode.creates() {
        true => same_file::open_created(&options(request), &request.path)?,
        false => options(request).open(&request.path)?,
    };
    let opened = opened(request, system, false)?;
    same_file::check_regular(opened.regular)?;
    Ok(Opened { shared: Some(SharedPointer::Served(served)), ..opened })
}

/// The request of this process, when no argument was refused and all processes have the same mode.
fn accepted(request: Result<Request>, words: &[[i32; 2]]) -> Result<Request> {
    if let Some((rank, [class, _])) = words.iter().enumerate().find(|(_, [class, _])| *class != 0) {
        return Err(match request {
            Err(own) if own.class() == *class => own,
            _ => refused_elsewhere(rank, *class),
        });
    }
    let request = request?;
    let Some(rank) = words.iter().position(|[_, amode]| *amode != words[0][1]) else { return Ok(request) };
    let mode = |rank: usize| AccessMode::new(words[rank][1]).map(|mode| mode.to_string()).unwrap_or_default();
    let rule = format!("rank 0 has {} and rank {rank} has {}: they must agree", mode(0), mode(rank));
    Err(Error::new(MPI_ERR_NOT_SAME, rule).arg("amode", &format_args!("{}", request.amode)))
}

/// The error in this process for the fault of one process.
#[cold]
fn failed(fault: Fault, rank: usize, text: &str, comm: &Comm, request: &Request) -> Error {
    if rank == comm.rank() as usize {
        return fault.named(&request.name);
    }
    Error::new(fault.class, format!("{text} could not open it: {fault}")).arg("filename", &quoted(&request.name))
}

/// Opens the file in this process; `create`: also when it does not exist yet.
fn open_here(request: &Request, create: bool) -> Result<Opened, Fault> {
    let options = options(request);
    let (system, created) =
        if create { create_here(&options, request)? } else { (options.open(&request.path)?, false) };
    opened(request, system, created)
}

fn options(request: &Request) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(request.amode.reads()).write(request.amode.writes()).mode(request.hints.permissions());
    options
}

/// The file that the system has opened.
fn opened(request: &Request, system: fs::File, created: bool) -> Result<Opened, Fault> {
    let facts = system.metadata()?;
    if facts.is_dir() {
        return Err(Fault::of(libc::EISDIR));
    }
    let regular = facts.is_file();
    let position = if request.amode.appends() { length(&system, regular)? } else { 0 };
    let stream = (&system).stream_position().is_err_and(|error| error.raw_os_error() == Some(libc::ESPIPE));
    let identity = [facts.dev(), facts.ino()];
    let buffering = request.hints.buffering;
    let (must_lock, shared, hosts) = (false, None, None);
    Ok(Opened { system, regular, stream, position, identity, created, must_lock, shared, hosts, buffering })
}

/// Opens a file; returns whether it did not exist before. Creating and opening are separate calls, because
/// only a file that did not exist is deleted when another process fails.
fn create_here(options: &OpenOptions, request: &Request) -> io::Result<(fs::File, bool)> {
    let path = &request.path;
    match options.clone().create_new(true).open(path) {
        Ok(system) => return Ok((system, true)),
        Err(error) if error.raw_os_error() != Some(libc::EEXIST) || request.amode.is_exclusive() => return Err(error),
        Err(_) => {}
    }
    match options.open(path) {
        // A link to a file that does not exist yet, or a file that was deleted just now.
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
            options.clone().create(true).open(path).map(|system| (system, false))
        }
        result => result.map(|system| (system, false)),
    }
}

/// Deletes a file that was created, unless another file has replaced it.
fn delete_created(path: &Path, identity: [u64; 2]) {
    let same = fs::symlink_metadata(path).is_ok_and(|facts| [facts.dev(), facts.ino()] == identity);
    if same {
        // The error that made the deletion necessary is reported, not one of the deletion.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_file_can_have_are_refused() {
        for name in ["", "a\0b"] {
            assert_eq!(path_of(OsString::from(name)).expect_err("no name").class(), MPI_ERR_BAD_FILE);
        }
        assert_eq!(path_of("ufs:/x".into()).expect("a colon is nothing special").0, Path::new("ufs:/x"));
    }
}
