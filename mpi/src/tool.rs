//! Control and performance variables and events, for tools written in Rust (MPI-5.0, chapter 15).
//!
//! A program adds variables and events of its own to [`Variables::registry`], declared as [`mpi_t`] shows; tools see them
//! beside the library's. A block placed in the memory of the job (`mpi::env::running()?.instrument_memory()`) is in
//! the table of `stats_at_end` too, one on the heap is not.
//!
//! Everything here works before MPI is initialized, while it is, and after it is finalized, from any thread.
//! Invariant: a [`Variables`] is one initialization of the tool interface and one session, ended when it is dropped.
//! Not here: the variables (the crates that keep them declare them), the whole of the interface (mpi-t).

use std::fmt;

use mpi_core::Handle;
pub use mpi_t::{Bind, EventInstance, PvarClass, PvarInfo, Registry, Safety, TError, TResult, Value};
use mpi_t::{CategoryInfo, CvarInfo};

use crate::Result;

/// All variables of this process, and a session of one's own to watch them in: what others start, stop or reset is
/// not seen here, nor the reverse.
pub struct Variables {
    registry: &'static Registry,
    session: Handle,
}

/// A performance variable.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its index.
    pub index: i32,
    /// What is told of it.
    pub info: &'static PvarInfo,
}

/// A control variable.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its index.
    pub index: i32,
    /// What is told of it.
    pub info: &'static CvarInfo,
}

/// A performance variable that is being watched; ends when dropped. Reading and resetting are async-signal-safe.
#[derive(Debug)]
pub struct Watch<'v> {
    variables: &'v Variables,
    handle: Handle,
    /// Number of values: one, or one for each of something (such as processes).
    pub count: usize,
}

/// Events that are being listened to; no callback begins once this is dropped.
#[derive(Debug)]
pub struct Listening<'v> {
    variables: &'v Variables,
    registration: Handle,
}

impl Variables {
    /// Opens the tool interface. Errors: when the launcher's facts are not usable, or memory is exhausted.
    pub fn open() -> Result<Variables> {
        let registry = &mpi_env::join_job()?.registry;
        registry.init_thread()?;
        match registry.pvar_session_create() {
            Ok(session) => Ok(Variables { registry, session }),
            Err(error) => {
                registry.finalize()?;
                Err(error.into())
            }
        }
    }

    /// The registry that all of it stands in.
    pub fn registry(&self) -> &'static Registry {
        self.registry
    }

    /// Calls `callback` with each event of this name from now on; `object` as for [`Variables::watch`]. `level` says what
    /// the callback restricts itself to. With [`Safety::None`] it may do anything, and is called at the end of the
    /// call of the library in which the event came; events that come while nobody is in a call wait for the next one.
    /// Errors: `INVALID_NAME`; `INVALID` when no such event exists for the object.
    pub fn listen(
        &self,
        name: &str,
        object: Option<Handle>,
        level: Safety,
        callback: impl Fn(&EventInstance<'_>) + Send + Sync + 'static,
    ) -> TResult<Listening<'_>> {
        let registration = self.registry.subscribe(name, object.map(|handle| handle.0), level, callback)?;
        Ok(Listening { variables: self, registration })
    }

    /// The performance variables that exist now.
    pub fn iter(&self) -> impl Iterator<Item = Variable> + use<> {
        let registry = self.registry;
        let count = registry.pvar_get_num().unwrap_or(0);
        (0..count).filter_map(|index| Some(Variable { index, info: registry.pvar_get_info(index).ok()? }))
    }

    /// The performance variable with this name and class. Errors: `INVALID_NAME`.
    pub fn find(&self, name: &str, class: PvarClass) -> TResult<Variable> {
        let index = self.registry.pvar_get_index(name, class as i32)?;
        Ok(Variable { index, info: self.registry.pvar_get_info(index)? })
    }

    /// Watches a variable from now on; `object` is the handle of what it is bound to (such as
    /// [`World::handle`](crate::World::handle)), and ignored for variables of the process. Errors: `INVALID` when the
    /// variable does not exist for the object.
    pub fn watch(&self, variable: Variable, object: Option<Handle>) -> TResult<Watch<'_>> {
        let object = object.map(|handle| handle.0);
        let (handle, count) = self.registry.pvar_handle_alloc(self.session, variable.index, object)?;
        let watch = Watch { variables: self, handle, count: usize::try_from(count).unwrap_or(0) };
        if !variable.info.continuous() {
            self.registry.pvar_start(self.session, handle)?;
        }
        Ok(watch)
    }

    /// The control variables that exist now.
    pub fn settings(&self) -> impl Iterator<Item = Setting> + use<> {
        let registry = self.registry;
        let count = registry.cvar_get_num().unwrap_or(0);
        (0..count).filter_map(|index| Some(Setting { index, info: registry.cvar_get_info(index).ok()? }))
    }

    /// The control variable with this name. Errors: `INVALID_NAME`.
    pub fn setting(&self, name: &str) -> TResult<Setting> {
        let index = self.registry.cvar_get_index(name)?;
        Ok(Setting { index, info: self.registry.cvar_get_info(index)? })
    }

    /// Sets a control variable; in force at once. Errors: `INVALID` when it does not take the value,
    /// `CVAR_SET_NEVER` when it cannot be set any more, `CVAR_SET_NOT_NOW` when it cannot be set at the moment.
    pub fn set(&self, setting: Setting, value: &Value) -> TResult<()> {
        self.with_setting(setting, None, |handle| self.registry.cvar_write(handle, value))
    }

    /// Sets a control variable that each object has its own of, for the object with this handle. Errors: as
    /// [`Variables::set`]; `INVALID` also when the variable does not exist for the object.
    pub fn set_for(&self, setting: Setting, object: Handle, value: &Value) -> TResult<()> {
        self.with_setting(setting, Some(object.0), |handle| self.registry.cvar_write(handle, value))
    }

    /// The value of a control variable that each object has its own of, for the object with this handle. Errors:
    /// `INVALID` when the variable does not exist for the object.
    pub fn value_for(&self, setting: Setting, object: Handle) -> TResult<Value> {
        self.with_setting(setting, Some(object.0), |handle| self.registry.cvar_read(handle))
    }

    fn with_setting<R>(
        &self,
        setting: Setting,
        object: Option<usize>,
        use_it: impl FnOnce(Handle) -> TResult<R>,
    ) -> TResult<R> {
        let (handle, _) = self.registry.cvar_handle_alloc(setting.index, object)?;
        let result = use_it(handle);
        self.registry.cvar_handle_free(handle)?;
        result
    }

    /// The categories that exist now.
    pub fn categories(&self) -> impl Iterator<Item = &'static CategoryInfo> + use<> {
        let registry = self.registry;
        let count = registry.category_get_num().unwrap_or(0);
        (0..count).filter_map(|index| registry.category_get_info(index).ok())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variables").field("session", &self.session).finish_non_exhaustive()
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        // The session is this value's own and its watches are gone, so neither can fail.
        let _ = self.registry.pvar_session_free(self.session);
        let _ = self.registry.finalize();
    }
}

impl Setting {
    /// The value now; `None` for a variable that each object has its own of.
    pub fn value(&self) -> Option<Value> {
        self.info.read()
    }
}

impl fmt::Display for Setting {
    /// The value now, by its name if it has one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = self.value() else { return f.pad("one for each object") };
        let names = self.info.definition.states.map_or(&[][..], |states| states.items);
        match names.iter().find(|(item, _)| value == Value::I32(*item)) {
            Some((_, name)) => f.pad(name),
            None => f.pad(&value.to_string()),
        }
    }
}

impl Watch<'_> {
    /// The first value now. Errors: `INVALID_HANDLE` when the object is gone.
    pub fn read(&self) -> TResult<Value> {
        self.variables.registry.pvar_read(self.variables.session, self.handle)
    }

    /// All values now. Errors: as [`Watch::read`].
    pub fn read_all(&self) -> TResult<Vec<Value>> {
        self.variables.registry.pvar_read_all(self.variables.session, self.handle)
    }

    /// Gives the variable its starting value, for this watch only. Errors: `PVAR_NO_WRITE` for those that only show
    /// what is.
    pub fn reset(&self) -> TResult<()> {
        self.variables.registry.pvar_reset(self.variables.session, self.handle)
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // The handle is this value's own, so this cannot fail.
        let _ = self.variables.registry.pvar_handle_free(self.variables.session, self.handle);
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        // The registration is this value's own, so this cannot fail.
        let _ = self.variables.registry.event_handle_free(self.registration, None);
    }
}
