//! Info objects by handle (MPI-5.0, chapter 10). Any thread may create and free them at any time.
//!
//! Invariant: the table has its own lock, because the process record and its lock may not exist yet.
//! Not here: the info object itself (mpi-core), `MPI_INFO_ENV` (mpi-capi).

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use mpi_core::table::TableFull;
use mpi_core::{Handle, Info, Kind, Table};
use mpi_t::{Counter, Level, OnDemand, Open, TError, TResult};

mpi_t::instruments! {
    /// One info object of the program's.
    pub struct InfoInstruments: Info, verbosity: UserAll {
        /// Number of keys in the info object.
        pub keys: Level =
            { name: "objects_info_keys", class: Level, type: u64, unit: "keys", category: "objects" },
        /// Number of calls that had this info object as an argument, without the call that frees it.
        pub uses: Counter =
            { name: "objects_info_uses", class: Counter, type: u64, unit: "calls", category: "objects" },
    }
}

mpi_t::instruments! {
    /// All info objects of the program's.
    pub struct InfosInstruments: NoObject, verbosity: UserDetail {
        /// Number of info objects that the program created or got from a call and has not freed.
        pub infos: Level =
            { name: "objects_infos", class: Level, type: u64, unit: "info objects", category: "objects" }
            { name: "objects_infos", class: HighWatermark, type: u64, unit: "info objects", category: "objects",
              doc: "Greatest number of info objects that existed at once. The program also frees those that calls \
                    return." },
    }
}

struct Infos {
    table: Table<Info>,
    on_demand: Option<OnDemand<InfoInstruments>>,
}

static INFOS: Mutex<Infos> = Mutex::new(Infos { table: Table::new(Kind::Info), on_demand: None });

fn infos() -> MutexGuard<'static, Infos> {
    // A panic ends the process, so no thread sees a partly changed table.
    INFOS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Infos {
    fn count(&self) {
        instruments().infos.follow(self.table.len() as u64);
    }

    /// The metrics of an info object, if a handle was allocated for it.
    fn metrics_of(&self, handle: Handle) -> Option<&'static InfoInstruments> {
        self.on_demand.as_ref()?.get(handle.0)
    }
}

/// The metrics of all info objects, one block for this operating-system process.
pub(crate) fn instruments() -> &'static InfosInstruments {
    static BLOCK: OnceLock<&'static InfosInstruments> = OnceLock::new();
    BLOCK.get_or_init(InfosInstruments::detached)
}

/// Inserts an info object into the table.
pub fn insert(info: Info) -> Result<Handle, TableFull> {
    let infos = &mut *infos();
    let inserted = infos.table.insert(info);
    infos.count();
    inserted
}

/// The live handle that a Fortran integer names; a predefined handle is its constant. `None` for any other integer.
pub fn of_int(word: i32) -> Option<Handle> {
    infos().table.from_fortran(word)
}

/// Reads an info object and counts the call that uses it; `None` if the handle names none.
pub fn look<R>(handle: Handle, look: impl FnOnce(&Info) -> R) -> Option<R> {
    let infos = infos();
    let found = infos.table.get(handle).map(look)?;
    if let Some(instruments) = infos.metrics_of(handle) {
        instruments.uses.incr();
    }
    Some(found)
}

/// As [`look`], for changing the object.
pub fn change<R>(handle: Handle, change: impl FnOnce(&mut Info) -> R) -> Option<R> {
    let infos = &mut *infos();
    let info = infos.table.get_mut(handle)?;
    let outcome = change(info);
    let keys = info.len();
    if let Some(instruments) = infos.metrics_of(handle) {
        instruments.uses.incr();
        instruments.keys.follow(keys as u64);
    }
    Some(outcome)
}

/// Removes an info object; false if the handle names none.
pub fn remove(handle: Handle) -> bool {
    let infos = &mut *infos();
    let removed = infos.table.remove(handle).is_some();
    infos.count();
    if let (true, Some(on_demand)) = (removed, &mut infos.on_demand) {
        on_demand.end(handle.0);
    }
    removed
}

/// Opens a handle on the metrics of an info object; for [`mpi_t::Registry::declare_on_demand`].
pub(crate) fn open_handle(object: usize, open: &mut Open<'_, InfoInstruments>) -> TResult<()> {
    let infos = &mut *infos();
    let keys = infos.table.get(Handle(object)).ok_or(TError::INVALID)?.len();
    infos.on_demand.get_or_insert_default().open_for(object, |info| info.keys.follow(keys as u64), open)
}
