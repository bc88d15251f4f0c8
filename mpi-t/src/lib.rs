//! Control and performance variables for any program: the tool information interface (MPI-5.0, chapter 15).
//!
//! - [`instruments!`] declares performance variables beside the fields that they describe, [`cvars!`] control
//!   variables; the fields are [`Counter`], [`Level`], [`Timer`] and their like.
//! - Objects that are too short-lived to have instruments each get them when a tool allocates a handle
//!   ([`Registry::declare_on_demand`]).
//! - [`events!`] declares event types; raising one is a load and a branch while no callback is registered.
//! - [`InstrumentMemory`] is the memory of the fields: the heap, or a page that other processes can read.
//! - [`Variables`] is a tool's view of a registry: variables by name, as Rust's types, with handles that free
//!   themselves.
//!
//! `examples/queue.rs` is a complete program.
//!
//! Names: a variable's name is `<subsystem>_<what is counted>`, lower case, no unit in it (`p2p_messages_sent`,
//! `p2p_eager_limit`); variables of one resource in several classes share one name (`MPI_T_UMQ_LENGTH` is a level and
//! a high-water mark). The one name in capitals is that of the standard's own example. Categories are dotted paths
//! by subsystem (`p2p.unexpected`); each prefix is a category that contains the next.
//!
//! Verbosity: [`Verbosity`] names the intended readers of a variable or an event (MPI-5.0, 15.3.1). A tool that selects
//! all up to a level has what the readers of that level and of those before it need. The library's own variables follow
//! this list, and variables of one name have one level:
//!
//! - `UserBasic`: what the author of a program reads first and changes the program for: messages, bytes, calls,
//!   errors and waiting in all; settings that find mistakes or show these numbers.
//! - `UserDetail`: the same in parts, by process, size or operation; queues; times; how many objects there are; the
//!   form of reports; most events.
//! - `UserAll`: metrics of one request, message, group, datatype, info object or the like; settings of the
//!   flight recorder.
//! - `TunerBasic`: the settings to try first for a faster job, and the counts that show whether they help.
//! - `TunerDetail`: settings of one communicator or operation; protocols, algorithms, rings and waiting in parts.
//! - `TunerAll`: settings that seldom help; what tools themselves allocate and change.
//! - `DeveloperBasic`: internal resources: slots, connections, allocations.
//! - `DeveloperDetail`: values that the library has adapted.
//! - `DeveloperAll`: all else; nothing now.
//!
//! Variables that a program or a plug-in adds at run time are `UserBasic`.
//!
//! Invariant: an instrument is written by one thread at a time (under the engine's lock) and read by any thread.
//! Not here: what the variables count, messages, C types.

mod append_only;
mod cell;
mod class;
mod cvar_def;
mod enum_def;
mod error;
mod events;
mod field;
mod free_list;
mod handle;
mod instruments_macro;
mod last_error;
mod level;
mod memory;
mod pvar_def;
mod registry;
mod setting;
mod state_word;
mod sync;
mod tool;
mod tool_metrics;
mod value;
mod watched;

pub use mpi_core::{Handle, Info};

pub use cell::{Cell, Limits, SWITCH, Setting, SettingType, TEXT_BYTES, Text, TextCell, Word};
pub use class::{Bind, PvarClass, Scope, ValueType, Verbosity};
pub use cvar_def::CvarDef;
pub use enum_def::EnumDef;
pub use error::{ArgumentValue, TError, TResult};
pub use events::event_def::{bytes_of as __bytes_of, laid_out as __laid_out};
pub use events::{
    AnyPoint, Dropped, EVENT_BYTES, ElementDef, EventDef, EventInstance, EventPoint, Events, Freed, Payload, Safety,
    SourceDef, any_callback_registered, now_ns, request_whole_calls, whole_calls_requested,
};
pub use field::{Aggregate, Counter, Field, Percentage, Size, State, Timer};
pub use free_list::{place_settings, retire_settings};
pub use handle::access::read_at as __pvar_read_longer_way;
pub use handle::access::{pvar_readreset_raw, pvar_reset, pvar_set_running, pvar_write_raw};
#[cfg(target_arch = "x86_64")]
pub use handle::read::layout as __pvar_read_layout;
pub use handle::read::pvar_read_raw;
pub use handle::table::{QUICK_TABLE as __QUICK_TABLE, disable_handles};
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub use handle::wide_read::read_array as __pvar_read_array;
pub use last_error::{clear_failure, last_failure, record_failure, report_failures};
pub use level::{Level, PEAK_KEPT, PEAK_WORD, PeakLevel};
pub use memory::{
    BlockDescription, HeapMemory, InstrumentMemory, place, place_rows, place_rows_in, rename, retire, retire_rows,
    retire_rows_in,
};
pub use pvar_def::{Instruments, PvarDef};
pub use registry::{
    CAPACITY_HINT, CVAR_OPTION, CVARS_READ, CategoryInfo, CvarInfo, DroppedHandler, EventCallback, EventInfo,
    FreedCallback, OnDemand, Open, PREFIX, PvarInfo, Registry, SETTINGS, SETTINGS_READ, SettingsFile, Source,
    UnknownName, VariableTexts, end_handles, expectation, name_in_environment,
};
pub use setting::Settings;
pub use tool::{Cvar, CvarEntry, EventRegistration, Pvar, PvarEntry, PvarHandle, VariableType, Variables};
pub use tool_metrics::{HandleInstruments, RegistryInstruments, handle_instruments};
pub use value::Value;
pub use watched::{WatchedCounter, WatchedLevel, WatchedPercentage, WatchedState, WatchedTimer};
