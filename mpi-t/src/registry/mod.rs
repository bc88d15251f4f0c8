//! The registry: all variables, categories and enumerations of a process, by index and by name (MPI-5.0, section 15.3).
//!
//! Its functions are those of the standard, on Rust types: `pvar_get_info` is `MPI_T_pvar_get_info`. All are
//! thread-safe. Those of `pvar_start` to `pvar_readreset` are async-signal-safe too; the others take short locks of
//! the registry's own, never the engine's, and must not be called from signal handlers.
//!
//! Invariant: an entry keeps its index and its description; lists only grow.
//! Not here: handles (`handle`), the fields (`field`).

mod categories;
mod cvar_slots;
mod cvars;
mod definitions;
mod enums;
mod environment;
mod events;
mod file;
mod names;
mod nearest;
mod on_demand;
mod opening;
mod pvars;
mod refusal;
mod runtime_variables;
mod value_parser;

use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mpi_core::abi::{MPI_ERR_OTHER, MPI_THREAD_MULTIPLE};
use mpi_core::handle::Kind;
use mpi_core::{Handle, ShortMutex, ShortMutexGuard, Table, single_threaded};
use mpi_errors::Error;
use rustc_hash::FxBuildHasher;

use crate::append_only::AppendOnly;
use crate::events::ToolEvents;
use crate::events::hub::Hub;
use crate::handle::pool;
use crate::tool_metrics::{self, RegistryInstruments};
use crate::{Bind, Cell, EnumDef, PvarClass, TError, TResult};
pub use categories::CategoryInfo;
use cvar_slots::{CvarHandle, Mirrors};
pub use cvars::CvarInfo;
use environment::Environment;
pub use environment::{CVAR_OPTION, CVARS_READ, PREFIX, Source, UnknownName, name_in_environment};
pub use events::{CAPACITY_HINT, DroppedHandler, EventCallback, EventInfo, FreedCallback};
pub use file::{SETTINGS, SETTINGS_READ, SettingsFile};
use names::Names;
pub use on_demand::{OnDemand, Open, end_handles};
use opening::Elements;
pub use pvars::{Allocated, PvarInfo};
pub use runtime_variables::VariableTexts;
pub use value_parser::expectation;

/// All variables of one process.
///
/// ```
/// use mpi_t::{Counter, PvarClass, Registry, Value};
///
/// mpi_t::instruments! {
///     /// Metrics of a shop.
///     struct Shop: NoObject {
///         /// Customers who came in.
///         customers: Counter =
///             { name: "shop_customers", class: Counter, type: u64, unit: "people", category: "shop" },
///     }
/// }
///
/// // The program.
/// let (registry, shop) = (Registry::new(), Shop::detached());
/// registry.register(shop)?;
/// shop.customers.add(100);
///
/// // The tool.
/// registry.init_thread()?;
/// let index = registry.pvar_get_index("shop_customers", PvarClass::Counter as i32)?;
/// let session = registry.pvar_session_create()?;
/// let (handle, _) = registry.pvar_handle_alloc(session, index, None)?;
/// registry.pvar_start(session, handle)?;
/// shop.customers.add(3);
/// assert_eq!(registry.pvar_read(session, handle)?, Value::U64(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Registry {
    initializations: AtomicU64,
    started: AtomicBool,
    pvars: AppendOnly<PvarInfo>,
    cvars: AppendOnly<CvarInfo>,
    events: AppendOnly<EventInfo>,
    hub: Arc<Hub>,
    tool_events: &'static ToolEvents,
    metrics: &'static RegistryInstruments,
    categories: AppendOnly<CategoryInfo>,
    enums: AppendOnly<&'static EnumDef>,
    names: Lookups,
    stamp: AtomicI32,
    /// Held during the first initialization and the last finalization.
    turning: Mutex<()>,
    state: ShortMutex<RegistryState>,
    cvar_handles: ShortMutex<Table<CvarHandle>>,
    cvar_mirrors: Mirrors,
}

/// From names to indices.
#[derive(Debug)]
struct Lookups {
    pvars: Names,
    cvars: Names,
    events: Names,
    categories: Names,
}

impl Default for Lookups {
    fn default() -> Self {
        Lookups { pvars: Names::new(), cvars: Names::new(), events: Names::new(), categories: Names::new() }
    }
}

/// Kind of object, handle word (0: none), and the block's type.
type BlockKey = (Bind, usize, TypeId);

/// The data that change when the registry grows; its lock also orders changes of the state.
#[derive(Default)]
struct RegistryState {
    /// By kind of object and handle word: the key with which the object's events are raised.
    event_keys: HashMap<(Bind, usize), usize, FxBuildHasher>,
    category_texts: HashMap<&'static str, &'static str>,
    /// The blocks declared, with the index of their first variable.
    blocks: HashMap<TypeId, usize>,
    /// The words of each block bound.
    bound: HashMap<BlockKey, &'static [AtomicU64], FxBuildHasher>,
    /// The block of the last handle: a tool allocates several for one block.
    last_used: Option<(BlockKey, &'static [AtomicU64])>,
    /// Arrays bound: by kind of object, handle word and variable.
    elements: HashMap<(Bind, usize, usize), Elements, FxBuildHasher>,
    /// Cells of bound control variables: by kind of object, handle word and variable.
    cells: HashMap<(Bind, usize, usize), &'static dyn Cell, FxBuildHasher>,
    environment: Environment,
}

impl RegistryState {
    #[inline]
    fn bound_words(&mut self, key: BlockKey) -> Option<&'static [AtomicU64]> {
        match self.last_used {
            Some((last, words)) if last == key => Some(words),
            _ => {
                let words = self.bound.get(&key).copied()?;
                self.last_used = Some((key, words));
                Some(words)
            }
        }
    }
}

impl std::fmt::Debug for RegistryState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RegistryState").finish_non_exhaustive()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Registry::new()
    }
}

impl Registry {
    /// A registry without variables, which takes values of control variables from the process's environment.
    pub fn new() -> Registry {
        Registry::with_environment(environment())
    }

    /// As [`Registry::new`], which also takes values from the settings file that the environment leads to
    /// ([`SettingsFile::find`]).
    pub fn from_surroundings() -> Registry {
        Registry::with_values(SettingsFile::find(&|name| std::env::var_os(name)), environment())
    }

    /// As [`Registry::new`], with these environment variables instead of the process's.
    pub fn with_environment(variables: impl IntoIterator<Item = (String, String)>) -> Registry {
        Registry::with_values(SettingsFile::default(), variables)
    }

    /// A registry without variables, which takes values of control variables from these environment variables, and the
    /// remaining ones from this file.
    pub fn with_values(file: SettingsFile, variables: impl IntoIterator<Item = (String, String)>) -> Registry {
        Registry::of(Environment::new(PREFIX, file, variables))
    }

    /// As [`Registry::new`], with a prefix of the program for environment variables instead of `FERRUM_`: the prefix
    /// and a control variable's name in capitals, where a name that begins with the prefix does not get it twice.
    ///
    /// ```
    /// mpi_t::cvars! {
    ///     /// Settings of a shop.
    ///     struct ShopSettings {
    ///         /// Most customers in the shop at once.
    ///         limit: u64 = 64 => { name: "shop_limit" },
    ///     }
    /// }
    ///
    /// // Started with SHOP_LIMIT=3 in the environment, this prints 3.
    /// let (registry, settings) = (mpi_t::Registry::with_prefix("SHOP_"), ShopSettings::new());
    /// registry.register_settings(settings)?;
    /// println!("{}", settings.limit.get());
    /// # Ok::<(), mpi_errors::Error>(())
    /// ```
    pub fn with_prefix(prefix: &str) -> Registry {
        Registry::of(Environment::new(prefix, SettingsFile::default(), environment()))
    }

    fn of(environment: Environment) -> Registry {
        single_threaded::find_flag();
        let registry = Registry {
            initializations: AtomicU64::new(0),
            started: AtomicBool::new(false),
            pvars: AppendOnly::new(),
            cvars: AppendOnly::new(),
            events: AppendOnly::new(),
            hub: Arc::new(Hub::new()),
            tool_events: ToolEvents::new(),
            metrics: RegistryInstruments::detached(),
            categories: AppendOnly::new(),
            enums: AppendOnly::new(),
            names: Lookups::default(),
            stamp: AtomicI32::new(1),
            turning: Mutex::new(()),
            state: ShortMutex::new(RegistryState { environment, ..RegistryState::default() }),
            cvar_handles: ShortMutex::new(Table::new(Kind::Cvar)),
            cvar_mirrors: Mirrors::new(),
        };
        registry.describe_categories(&tool_metrics::CATEGORIES);
        registry.register_events(registry.tool_events).expect("the first events of a new registry");
        registry
    }

    /// Metrics of the tools that use this registry; a program registers them to make them readable.
    pub fn instruments(&self) -> &'static RegistryInstruments {
        self.metrics
    }

    /// `MPI_T_init_thread`: one more initialization; the thread level provided is always `MPI_THREAD_MULTIPLE`.
    #[inline]
    pub fn init_thread(&self) -> TResult<i32> {
        if self.count(|count| (count > 0).then_some(count + 1)).is_some() {
            return Ok(MPI_THREAD_MULTIPLE);
        }
        if self.first_init() {
            return Ok(MPI_THREAD_MULTIPLE);
        }
        Err(TError::MEMORY.because("there is no address space for handles"))
    }

    /// Whether there is address space for handles.
    #[cold]
    #[inline(never)]
    fn first_init(&self) -> bool {
        let _turning = self.turning();
        if self.initializations.load(Ordering::SeqCst) == 0 {
            if !pool::initialize() {
                pool::finalize();
                return false;
            }
            self.hub.initialized();
        }
        self.count(|count| Some(count + 1));
        true
    }

    /// Counts initializations: sets the number that `next` returns; returns the number before.
    #[inline]
    fn count(&self, next: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let count = &self.initializations;
        if single_threaded::is_single_threaded() {
            // No other thread exists, and signal handlers do not call this.
            let before = count.load(Ordering::Relaxed);
            count.store(next(before)?, Ordering::Relaxed);
            return Some(before);
        }
        count.fetch_update(Ordering::SeqCst, Ordering::Relaxed, next).ok()
    }

    /// `MPI_T_finalize`: one initialization less; an error when there is none.
    #[inline]
    pub fn finalize(&self) -> TResult<()> {
        if self.count(|count| (count > 1).then(|| count - 1)).is_some() {
            return Ok(());
        }
        if self.last_finalize() { Ok(()) } else { Err(TError::NOT_INITIALIZED) }
    }

    /// Decrements the number of initializations; false if it is 0.
    #[cold]
    #[inline(never)]
    fn last_finalize(&self) -> bool {
        let _turning = self.turning();
        // Beside this thread, others may still nest; only this one ends the last.
        let before = self.count(|count| count.checked_sub(1));
        if before == Some(1) {
            self.hub.finalized();
            pool::finalize();
        }
        before.is_some()
    }

    fn turning(&self) -> MutexGuard<'_, ()> {
        self.turning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether [`Registry::init_thread`] was called more often than [`Registry::finalize`]. Async-signal-safe.
    #[inline]
    pub fn is_initialized(&self) -> bool {
        self.initializations.load(Ordering::Relaxed) != 0
    }

    /// Fixes the control variables that can be set only until MPI is initialized.
    pub fn started(&self) {
        self.started.store(true, Ordering::SeqCst);
    }

    #[inline]
    fn pvar_named(&self, name: impl AsRef<[u8]>, class: PvarClass) -> Option<usize> {
        let name = name.as_ref();
        let is =
            |index| self.pvars.get(index).is_some_and(|info| info.class() == class && names::same(info.name(), name));
        self.names.pvars.find(names::hash(name, class as i32), is)
    }

    /// Adds a performance variable's name to the table. Under the registry's lock, like all additions.
    fn name_pvar(&self, index: usize) {
        let hash_of =
            |index| self.pvars.get(index).map_or(0, |info| names::hash(info.name().as_bytes(), info.class() as i32));
        self.names.pvars.add(index, hash_of);
    }

    #[inline]
    fn cvar_named(&self, name: impl AsRef<[u8]>) -> Option<usize> {
        let name = name.as_ref();
        let is = |index| self.cvars.get(index).is_some_and(|info| names::same(info.name(), name));
        self.names.cvars.find(names::hash(name, 0), is)
    }

    fn event_named(&self, name: impl AsRef<[u8]>) -> Option<usize> {
        let name = name.as_ref();
        let is = |index| self.events.get(index).is_some_and(|info| names::same(info.definition.name, name));
        self.names.events.find(names::hash(name, 0), is)
    }

    fn category_named(&self, name: impl AsRef<[u8]>) -> Option<usize> {
        let name = name.as_ref();
        let is = |index| self.categories.get(index).is_some_and(|info| names::same(info.name(), name));
        self.names.categories.find(names::hash(name, 0), is)
    }

    fn check_initialized(&self) -> TResult<()> {
        if self.is_initialized() { Ok(()) } else { Err(TError::NOT_INITIALIZED) }
    }

    fn lock_state(&self) -> ShortMutexGuard<'_, RegistryState> {
        // Entries are added to the lists before the maps, so a panic leaves at most an entry without a name.
        self.state.lock()
    }
}

/// The environment variables of the process that are text.
fn environment() -> impl Iterator<Item = (String, String)> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned()));
    std::env::vars_os().filter_map(text)
}

impl Drop for Registry {
    fn drop(&mut self) {
        while self.finalize().is_ok() {}
    }
}

/// A count or an index as the standard's functions return it.
fn int(value: usize) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// The words of a text that was written on several lines.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A description as tools get it: the text and the unit.
fn described(text: &str, unit: &str) -> String {
    let text = joined(text);
    if unit.is_empty() { text } else { format!("{text} Unit: {unit}.") }
}

fn full() -> Error {
    Error::new(MPI_ERR_OTHER, "the registry has no room for further variables")
}

fn taken(what: &str, name: &str) -> Error {
    Error::new(MPI_ERR_OTHER, format!("there is a {what} of that name already")).arg("name", &name)
}

/// The handle of an enumeration: its index, as enumerations are never freed.
fn enum_handle(index: usize) -> Handle {
    Handle::pack(Kind::Enum, index as u32, 1)
}
