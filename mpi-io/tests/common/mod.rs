//! Ranks as threads of one process, each with its own files, under a watchdog; names that no other test uses.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use mpi_comm::{Comm, CommSpec, ContextIds, register};
use mpi_core::abi::MPI_ERRORS_RETURN;
use mpi_core::{Guarded, Handle, Info, ProcessLock};
use mpi_errors::Result;
use mpi_fabric::Endpoint;
use mpi_io::{AccessMode, File, Io, OpenArgs};
use mpi_p2p::{CommMeters, Engine};
use mpi_t::HeapMemory;

/// Far more than any test needs, also on a machine under load.
const TIME_LIMIT: Duration = Duration::from_secs(240);

pub struct Rank {
    pub engine: Arc<Engine>,
    pub io: Io,
    pub world: Comm,
    pub ids: Guarded<ContextIds>,
}

#[allow(dead_code)] // not every test file needs all of it
impl Rank {
    pub fn rank(&self) -> u32 {
        self.world.rank
    }

    pub fn open_with(&self, args: OpenArgs) -> Result<File> {
        self.io.open(&self.world, &self.ids, &HeapMemory, Handle(MPI_ERRORS_RETURN), args)
    }

    pub fn open(&self, name: impl Into<OsString>, amode: i32) -> Result<File> {
        self.open_with(OpenArgs { name: Ok(name.into()), amode: AccessMode::new(amode), hints: Ok(Info::new()) })
    }
}

/// Runs `body` on `size` ranks; fails when they take longer than [`TIME_LIMIT`].
pub fn run(size: u32, body: impl Fn(&Rank) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let (report, reports) = channel();
    for endpoint in Endpoint::threads(size).expect("memory for a few ranks") {
        let (body, report) = (body.clone(), report.clone());
        std::thread::spawn(move || {
            let lock = Arc::new(ProcessLock::new(false));
            let engine = Arc::new(Engine::new(endpoint, lock.clone(), &HeapMemory));
            let spec = CommSpec::world(engine.rank(), engine.size());
            let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(engine.size()));
            let ids = Guarded::new(&lock, ContextIds::new(engine.rank(), engine.size()));
            let rank = Rank { io: Io::new(engine.clone()), engine, world, ids };
            body(&rank);
            rank.engine.drain(rank.engine.lock()).expect("no fault");
            report.send(rank).expect("the test waits");
        });
    }
    drop(report);
    // Ranks stay alive until all are done: a peer may still copy from them.
    let ranks: Vec<_> =
        (0..size).map(|_| reports.recv_timeout(TIME_LIMIT).expect("a rank panicked, or hangs")).collect();
    assert_eq!(ranks.len(), size as usize);
}

/// A name that no other test uses, of a file that is deleted when this is dropped.
#[derive(Debug)]
pub struct Name(pub PathBuf);

impl Name {
    pub fn new(what: &str) -> Name {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Name(std::env::temp_dir().join(format!("ferrum-io-{}-{number}-{what}", std::process::id())))
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
