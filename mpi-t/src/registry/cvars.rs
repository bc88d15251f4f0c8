//! Control variables: indices, handles, reading and setting (MPI-5.0, section 15.3.6).
//!
//! Invariant: a cell is only set to a value that its declaration accepts.
//! Not here: the cells (`cell`), values of files, environment and options (`environment`).
#![allow(unsafe_code)] // values are stored in and taken from callers' buffers

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mpi_core::Handle;
use mpi_core::abi::MPI_T_ENUM_NULL;
use mpi_core::handle::Kind;
use mpi_errors::Result;

use super::cvar_slots::{CvarHandle, Mirrored};
use super::value_parser::values;
use super::{Registry, described, full, int, names, refusal, taken};
use crate::{Bind, Cell, CvarDef, Settings, TError, TResult, Value, ValueType};

/// What tools can read about a control variable.
pub struct CvarInfo {
    /// As it was declared.
    pub definition: CvarDef,
    /// What it controls, its unit, and the values it accepts, except those that the enumeration names.
    pub description: String,
    /// The names of its values, or `MPI_T_ENUM_NULL`.
    pub enumeration: Handle,
    /// The cell; `None` for variables that are bound to objects, each of which has one.
    cell: Option<&'static dyn Cell>,
    /// The value of file or environment; variables bound to objects begin with it.
    given: Option<Value>,
    refuse: Option<Refuse>,
}

/// Called before a variable is set: `Err` refuses the value.
type Refuse = Arc<dyn Fn(&CvarDef, &Value) -> TResult<()> + Send + Sync>;

impl fmt::Debug for CvarInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CvarInfo").field("definition", &self.definition).finish_non_exhaustive()
    }
}

/// A description as tools get it: the text, the unit, and the values that can be written, if no enumeration names them.
/// Without a text it is empty.
fn with_values(definition: &CvarDef) -> String {
    let text = described(definition.description, definition.unit);
    if text.is_empty() || definition.states.is_some() {
        text
    } else {
        format!("{text} Values: {}.", values(definition))
    }
}

impl CvarInfo {
    /// The name.
    pub fn name(&self) -> &'static str {
        self.definition.name
    }

    /// The kind of object that it must be bound to.
    pub fn bind(&self) -> Bind {
        self.definition.bind
    }

    /// The value now; `None` for variables that are bound to objects.
    pub fn read(&self) -> Option<Value> {
        self.cell.map(Cell::read)
    }
}

/// A word that is no live handle of a control variable.
#[cold]
fn bad_handle(handle: Handle) -> TError {
    let stale = "it was freed, or the object that it is bound to was";
    crate::handle::refusal::other("handle", handle, Kind::Cvar, stale)
}

impl Registry {
    /// Gives the variables of a block their indices, and those that a file or the environment names their values. A
    /// value that is not accepted is left out, and reported by [`Registry::startup_errors`].
    pub fn register_settings<S: Settings>(&self, block: &'static S) -> Result<()> {
        self.add_settings(S::definitions(), block.cells().into_iter().map(Some), None)
    }

    /// As [`Registry::register_settings`], for an owner that can refuse changes: `refuse` is called before any variable
    /// of the block is set, and [`Registry::cvar_write`] returns its error: `MPI_T_ERR_CVAR_SET_NOT_NOW` for a change
    /// that may be possible later, `MPI_T_ERR_CVAR_SET_NEVER` for one that will not be, `MPI_T_ERR_INVALID` for a value
    /// that is in the declared range and yet unusable. A value from the environment that it refuses is ignored, and
    /// reported by [`Registry::startup_errors`].
    ///
    /// It runs in the writing thread, which may hold the engine's lock (that of a callback does), so it must neither
    /// take that lock nor call this registry. The state that it checks may change before the value is set.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    /// use mpi_t::{Registry, TError, Value};
    ///
    /// mpi_t::cvars! {
    ///     /// Settings of a queue.
    ///     struct QueueSettings {
    ///         /// Items that the queue holds at most.
    ///         limit: u64 = 64 => { name: "queue_limit", unit: "items", category: "queue", scope: Local },
    ///     }
    /// }
    ///
    /// static BUSY: AtomicBool = AtomicBool::new(true);
    ///
    /// let registry = Registry::new();
    /// registry.register_settings_with(QueueSettings::new(), |_, _| match BUSY.load(SeqCst) {
    ///     true => Err(TError::CVAR_SET_NOT_NOW),
    ///     false => Ok(()),
    /// })?;
    /// # Ok::<(), mpi_errors::Error>(())
    /// ```
    pub fn register_settings_with<S: Settings>(
        &self,
        block: &'static S,
        refuse: impl Fn(&CvarDef, &Value) -> TResult<()> + Send + Sync + 'static,
    ) -> Result<()> {
        self.add_settings(S::definitions(), block.cells().into_iter().map(Some), Some(Arc::new(refuse)))
    }

    /// Adds the variables of a block that is bound to objects; objects get their blocks by [`Registry::bind_settings`],
    /// and begin with the values of file and environment.
    pub fn declare_settings<S: Settings>(&self) -> Result<()> {
        self.add_settings(S::definitions(), std::iter::repeat(None), None)
    }

    pub(super) fn add_settings(
        &self,
        definitions: Vec<CvarDef>,
        cells: impl Iterator<Item = Option<&'static dyn Cell>>,
        refuse: Option<Refuse>,
    ) -> Result<()> {
        let mut state = self.lock_state();
        for (definition, cell) in definitions.into_iter().zip(cells) {
            if self.cvar_named(definition.name).is_some() {
                return Err(taken("control variable", definition.name));
            }
            let given = state.environment.value_for(&definition);
            if let (Some(value), Some(cell)) = (&given, cell) {
                // The types agree: the environment's value was parsed for this declaration.
                let allowed = refuse.as_ref().map_or(Ok(()), |refuse| refuse(&definition, value));
                if let Err(error) = allowed.and_then(|()| cell.write(value)) {
                    state.environment.refused_by_owner(&definition, error);
                }
            }
            let states = definition.states.and_then(|states| self.intern(&mut state, states));
            let info = CvarInfo {
                definition,
                description: with_values(&definition),
                enumeration: states.unwrap_or(Handle(MPI_T_ENUM_NULL)),
                cell,
                given,
                refuse: refuse.clone(),
            };
            let index = self.cvars.push(info).map_err(|_| full())?;
            self.names
                .cvars
                .add(index, |index| names::hash(self.cvars.get(index).map_or("", CvarInfo::name).as_bytes(), 0));
            self.categorize_cvar(&mut state, definition.category, index);
        }
        Ok(())
    }

    /// From now on, handles for this object read and set this block, which was declared.
    pub fn bind_settings<S: Settings>(&self, object: usize, block: &'static S) {
        let mut state = self.lock_state();
        for (definition, cell) in S::definitions().iter().zip(block.cells()) {
            let Some(index) = self.cvar_named(definition.name) else { continue };
            if let Some(value) = self.cvars.get(index).and_then(|info| info.given.as_ref()) {
                // The types agree, as for variables of the process.
                let _ = cell.write(value);
            }
            state.cells.insert((S::BIND, object, index), cell);
        }
    }

    /// Ends the handles of an object that is freed; they must still be freed. After this the block may be reused for
    /// another object.
    pub fn unbind_settings<S: Settings>(&self, object: usize) {
        let mut state = self.lock_state();
        for index in S::definitions().iter().filter_map(|definition| self.cvar_named(definition.name)) {
            state.cells.remove(&(S::BIND, object, index));
        }
        // Under the registry's lock, so that no handle is allocated for it in between.
        self.with_handles(|handles| {
            let of_object = |handle: &CvarHandle| handle.object == (S::BIND, object);
            let ending: Vec<Handle> =
                handles.iter().filter(|(_, handle)| of_object(handle)).map(|(word, _)| word).collect();
            for word in ending {
                self.cvar_mirrors.close(word);
                if let Some(handle) = handles.get_mut(word) {
                    handle.cell = None;
                }
            }
        });
    }

    /// `MPI_T_cvar_get_num`
    pub fn cvar_get_num(&self) -> TResult<i32> {
        self.check_initialized()?;
        Ok(int(self.cvars.len()))
    }

    /// `MPI_T_cvar_get_info`
    pub fn cvar_get_info(&self, index: i32) -> TResult<&CvarInfo> {
        self.check_initialized()?;
        let found = usize::try_from(index).ok().and_then(|index| self.cvars.get(index));
        found.ok_or_else(|| TError::index("cvar_index", index, self.cvars.len(), "control variables"))
    }

    /// `MPI_T_cvar_get_index`
    pub fn cvar_get_index(&self, name: impl AsRef<[u8]>) -> TResult<i32> {
        self.check_initialized()?;
        let name = name.as_ref();
        self.cvar_named(name).map(int).ok_or_else(|| self.no_cvar(name))
    }

    /// `MPI_T_cvar_handle_alloc`: the handle and the number of elements. `object` is the handle word of the object to
    /// bind to; it is ignored for variables of the process. `MPI_T_ERR_INVALID` if the variable does not exist for it.
    pub fn cvar_handle_alloc(&self, index: i32, object: Option<usize>) -> TResult<(Handle, i32)> {
        let info = self.cvar_get_info(index)?;
        let index = index as usize;
        let bind = info.definition.bind;
        let state = self.lock_state();
        let (object, cell) = match info.cell {
            Some(cell) => (0, cell),
            None => {
                let cell = object.and_then(|object| Some((object, *state.cells.get(&(bind, object, index))?)));
                cell.ok_or_else(|| refusal::no_object(info.name(), bind, object))?
            }
        };
        let handle = self.with_handles(|handles| {
            let handle = handles.insert(CvarHandle { index, object: (bind, object), cell: Some(cell) }).ok()?;
            self.cvar_mirrors.open(handle, cell.word(), info.definition.value.size());
            self.metrics.cvar_handles.raise(1);
            Some(handle)
        });
        let handle =
            handle.ok_or_else(|| TError::OUT_OF_HANDLES.because("no more handles of control variables can exist"))?;
        Ok((handle, int(info.definition.count())))
    }

    /// `MPI_T_cvar_handle_free`
    pub fn cvar_handle_free(&self, handle: Handle) -> TResult<()> {
        self.check_initialized()?;
        let freed = self.with_handles(|handles| {
            let freed = handles.remove(handle)?;
            self.cvar_mirrors.close(handle);
            self.metrics.cvar_handles.lower(1);
            Some(freed)
        });
        freed.map(|_| ()).ok_or_else(|| bad_handle(handle))
    }

    /// `MPI_T_cvar_read`
    pub fn cvar_read(&self, handle: Handle) -> TResult<Value> {
        self.with_cell(handle, |cell| cell.read())
    }

    /// `MPI_T_cvar_write`. `MPI_T_ERR_INVALID` for a value that the variable does not accept,
    /// `MPI_T_ERR_CVAR_SET_NEVER` when it cannot be set any more, `MPI_T_ERR_CVAR_SET_NOT_NOW` while its owner refuses.
    pub fn cvar_write(&self, handle: Handle, value: &Value) -> TResult<()> {
        let (index, info) = self.cvar_of(handle)?;
        let definition = &info.definition;
        if !definition.scope.is_writable() || definition.until_init && self.started.load(Ordering::SeqCst) {
            return Err(refusal::set_never(definition));
        }
        if !definition.accepts(value) {
            return Err(refusal::value(definition, value));
        }
        if let Some(refuse) = &info.refuse {
            let explain = |error: TError| error.because(format!("{} cannot be set to {value} now", definition.name));
            refuse(definition, value).map_err(|error| error.or_explained(explain))?;
        }
        self.with_cell(handle, |cell| cell.write(value))??;
        self.tool_events.cvar_set.emit(|| (int(index), value.as_f64().unwrap_or(0.0)));
        Ok(())
    }

    /// `MPI_T_cvar_read` into C memory. Takes no lock, and is async-signal-safe, for numbers whose handle is one of the
    /// first thousand at a time.
    ///
    /// # Safety
    /// `out` has room for the variable's elements, by the variable's type and the handle's count.
    #[inline]
    pub unsafe fn cvar_read_raw(&self, handle: Handle, out: *mut c_void) -> TResult<()> {
        if self.is_initialized()
            && let Some(Mirrored { value, bytes }) = self.cvar_mirrors.read(handle)
        {
            // SAFETY: the caller's promise; the mirror has the bytes of the variable's type.
            unsafe {
                match bytes {
                    8 => out.cast::<u64>().write_unaligned(value),
                    _ => out.cast::<u32>().write_unaligned(value as u32),
                }
            }
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.cvar_read_slowly(handle, out) }
    }

    /// # Safety
    /// As [`Registry::cvar_read_raw`].
    #[cold]
    unsafe fn cvar_read_slowly(&self, handle: Handle, out: *mut c_void) -> TResult<()> {
        let (_, info) = self.cvar_of(handle)?;
        let value = self.with_cell(handle, |cell| cell.read())?;
        // SAFETY: the caller's promise; a text is shorter than its count, so its null has room too.
        unsafe {
            match value {
                Value::I32(value) => out.cast::<i32>().write_unaligned(value),
                Value::U32(value) => out.cast::<u32>().write_unaligned(value),
                Value::U64(value) => out.cast::<u64>().write_unaligned(value),
                Value::F64(value) => out.cast::<f64>().write_unaligned(value),
                Value::Text(text) => {
                    let bytes = &text.as_bytes()[..text.len().min(info.definition.count() - 1)];
                    out.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                    out.cast::<u8>().add(bytes.len()).write(0);
                }
            }
        }
        Ok(())
    }

    /// `MPI_T_cvar_write` from C memory. A text ends at its null, or at its count.
    ///
    /// # Safety
    /// At `from` lie the variable's elements, by the variable's type and the handle's count.
    pub unsafe fn cvar_write_raw(&self, handle: Handle, from: *const c_void) -> TResult<()> {
        let definition = &self.cvar_of(handle)?.1.definition;
        // SAFETY: the caller's promise; a text is read up to its null, and never beyond its count.
        let value = unsafe {
            match definition.value {
                ValueType::I32 => Value::I32(from.cast::<i32>().read_unaligned()),
                ValueType::U32 => Value::U32(from.cast::<u32>().read_unaligned()),
                ValueType::U64 => Value::U64(from.cast::<u64>().read_unaligned()),
                ValueType::F64 => Value::F64(from.cast::<f64>().read_unaligned()),
                ValueType::Text => {
                    let at = from.cast::<u8>();
                    let length = (0..definition.count()).take_while(|&i| at.add(i).read() != 0).count();
                    let bytes = std::slice::from_raw_parts(at, length);
                    Value::Text(
                        std::str::from_utf8(bytes)
                            .map_err(|_| TError::INVALID.because("the value is not UTF-8"))?
                            .to_owned(),
                    )
                }
            }
        };
        self.cvar_write(handle, &value)
    }

    fn cvar_of(&self, handle: Handle) -> TResult<(usize, &CvarInfo)> {
        self.check_initialized()?;
        let found = self.with_handles(|handles| handles.get(handle).copied());
        let found = found.filter(|found| found.cell.is_some());
        let found = found.and_then(|found| Some((found.index, self.cvars.get(found.index)?)));
        found.ok_or_else(|| bad_handle(handle))
    }

    /// Uses the cell of a handle. Under the lock of the handles, so that the object exists until this returns, and its
    /// block is not reused before.
    fn with_cell<R>(&self, handle: Handle, use_it: impl FnOnce(&'static dyn Cell) -> R) -> TResult<R> {
        self.check_initialized()?;
        self.with_handles(|handles| Some(use_it(handles.get(handle)?.cell?))).ok_or_else(|| bad_handle(handle))
    }

    fn with_handles<R>(&self, use_them: impl FnOnce(&mut mpi_core::Table<CvarHandle>) -> R) -> R {
        // Each change of the table is complete, so a panic elsewhere leaves it consistent.
        use_them(&mut self.cvar_handles.lock())
    }
}
