//! Performance variables: declaring them, binding blocks to objects, describing them, allocating handles
//! (MPI-5.0, section 15.3.7).
//!
//! Invariant: name and class are unique together; a handle is allocated only for words that are bound.
//! Not here: operations on a handle (`handle::access`).

use std::any::TypeId;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use mpi_core::Handle;
use mpi_core::abi::{MPI_ERR_ARG, MPI_T_ENUM_NULL};
use mpi_errors::{Error, Result};

use super::opening::{Elements, OnDemandSource, facts_of, new_handle};
use super::{Registry, RegistryState, described, full, int, refusal, taken};
use crate::handle::access;
use crate::handle::pool::{self, NewHandle};
use crate::handle::refusal::session as session_refused;
use crate::handle::slot::Facts;
use crate::memory::{words_of, words_of_rows};
use crate::state_word::state::Format;
use crate::{Bind, Instruments, Level, PvarClass, PvarDef, TError, TResult, Value, ValueType, Verbosity};

/// What tools can read about a performance variable.
#[derive(Debug)]
pub struct PvarInfo {
    /// As it was declared.
    pub definition: &'static PvarDef,
    /// What it counts, when it changes, and its unit.
    pub description: String,
    /// The names of its values, or `MPI_T_ENUM_NULL`.
    pub enumeration: Handle,
    pub(super) block: TypeId,
    /// The properties of a handle with one element.
    single: (Facts, Format),
    /// Whether it is bound in rows for some object.
    in_rows: AtomicBool,
    /// The owner of words that are not bound.
    pub(super) on_demand: Option<Arc<OnDemandSource>>,
}

impl PvarInfo {
    pub(super) fn new(
        definition: &'static PvarDef,
        enumeration: Handle,
        block: TypeId,
        on_demand: Option<Arc<OnDemandSource>>,
    ) -> PvarInfo {
        PvarInfo {
            definition,
            description: described(definition.description, definition.unit),
            enumeration,
            block,
            single: facts_of(definition, 1, 1),
            in_rows: AtomicBool::new(false),
            on_demand,
        }
    }

    /// Marks the variable as bound in rows. Under the registry's lock, as are the readers of the mark.
    pub(super) fn is_in_rows(&self) {
        self.in_rows.store(true, Relaxed);
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.definition.name
    }

    /// The class.
    pub fn class(&self) -> PvarClass {
        self.definition.class
    }

    /// The type of its values.
    pub fn value(&self) -> ValueType {
        self.definition.value
    }

    /// The kind of object that it must be bound to.
    pub fn bind(&self) -> Bind {
        self.definition.bind
    }

    /// Its intended readers.
    pub fn verbosity(&self) -> Verbosity {
        self.definition.verbosity
    }

    /// Whether it can be neither written nor reset.
    pub fn readonly(&self) -> bool {
        self.definition.readonly()
    }

    /// Whether it can be neither started nor stopped.
    pub fn continuous(&self) -> bool {
        self.definition.continuous
    }

    /// Whether it can be read and reset in one step.
    pub fn atomic(&self) -> bool {
        self.definition.atomic()
    }
}

/// A new handle and its number of elements.
pub type Allocated = (Handle, i32);

impl Registry {
    /// Adds the variables of a block. Declaring a block again changes nothing.
    pub fn declare<B: Instruments>(&self) -> Result<()> {
        self.declare_with::<B>(None)
    }

    /// As [`Registry::declare`], with the owner of words that are not bound.
    pub(super) fn declare_with<B: Instruments>(&self, on_demand: Option<OnDemandSource>) -> Result<()> {
        let on_demand = on_demand.map(Arc::new);
        let mut state = self.lock_state();
        if state.blocks.contains_key(&TypeId::of::<B>()) {
            return Ok(());
        }
        let key = |definition: &PvarDef| (definition.name, definition.class);
        for (i, definition) in B::VARS.iter().enumerate() {
            let twice = B::VARS[..i].iter().any(|other| key(other) == key(definition));
            if twice || self.pvar_named(definition.name, definition.class).is_some() {
                return Err(taken("performance variable", definition.name));
            }
        }
        state.blocks.insert(TypeId::of::<B>(), self.pvars.len());
        for definition in B::VARS {
            let states = definition.states.and_then(|states| self.intern(&mut state, states));
            let states = states.unwrap_or(Handle(MPI_T_ENUM_NULL));
            let info = PvarInfo::new(definition, states, TypeId::of::<B>(), on_demand.clone());
            self.append_pvar(&mut state, info).map_err(|_| full())?;
        }
        Ok(())
    }

    /// Adds a variable to its list, to the table of names and to its category; returns it when there is no room.
    pub(super) fn append_pvar(
        &self,
        state: &mut RegistryState,
        info: PvarInfo,
    ) -> std::result::Result<usize, PvarInfo> {
        let category = info.definition.category;
        let index = self.pvars.push(info)?;
        self.name_pvar(index);
        self.categorize_pvar(state, category, index);
        Ok(index)
    }

    /// Declares a block's variables and binds the block for the process as a whole.
    pub fn register<B: Instruments>(&self, block: &'static B) -> Result<()> {
        self.declare::<B>()?;
        self.bind(0, block);
        Ok(())
    }

    /// From now on, handles for this object (`0`: the process) read this block.
    pub fn bind<B: Instruments>(&self, object: usize, block: &'static B) {
        let mut state = self.lock_state();
        state.last_used = None;
        state.bound.insert((B::BIND, object, TypeId::of::<B>()), words_of(block));
    }

    /// From now on, handles of these variables for this object (`0`: the process) have one element for each row: a
    /// peer, a class of sizes. Declares the variables, which must not be watermarks. Errors: as
    /// [`declare`](Registry::declare), and `MPI_ERR_ARG` when there are no rows.
    pub fn bind_rows<B: Instruments>(&self, object: usize, rows: &'static [B]) -> Result<()> {
        self.declare::<B>()?;
        let stride = u16::try_from(size_of::<B>() / 8).ok();
        let count = u32::try_from(rows.len()).ok().filter(|count| *count > 0);
        let (Some(stride), Some(count), false) = (stride, count, B::VARS.iter().any(|def| def.class.is_watermark()))
        else {
            return Err(Error::new(MPI_ERR_ARG, format!("{} rows of {} cannot be bound", rows.len(), B::NAME)));
        };
        let words = words_of_rows(rows);
        let mut state = self.lock_state();
        let first = state.blocks[&TypeId::of::<B>()];
        for (place, definition) in B::VARS.iter().enumerate() {
            let bound = Elements { words: &words[definition.word..], stride, count };
            state.elements.insert((B::BIND, object, first + place), bound);
            if let Some(info) = self.pvars.get(first + place) {
                info.is_in_rows();
            }
        }
        Ok(())
    }

    /// Ends the handles of an object that is freed; they must still be freed. After this the block may be retired.
    pub fn unbind<B: Instruments>(&self, object: usize, block: &'static B) {
        let mut state = self.lock_state();
        state.last_used = None;
        state.bound.remove(&(B::BIND, object, TypeId::of::<B>()));
        // Under the registry's lock, so that no handle is allocated for it in between.
        pool::end_handles_of(words_of(block));
        let of_object = state.elements.extract_if(|key, _| (key.0, key.1) == (B::BIND, object));
        of_object.for_each(|(_, elements)| pool::end_handles_of(elements.words));
    }

    /// `MPI_T_pvar_get_num`
    pub fn pvar_get_num(&self) -> TResult<i32> {
        self.check_initialized()?;
        Ok(int(self.pvars.len()))
    }

    /// `MPI_T_pvar_get_info`
    pub fn pvar_get_info(&self, index: i32) -> TResult<&PvarInfo> {
        self.check_initialized()?;
        let found = usize::try_from(index).ok().and_then(|index| self.pvars.get(index));
        found.ok_or_else(|| TError::index("pvar_index", index, self.pvars.len(), "performance variables"))
    }

    /// `MPI_T_pvar_get_index`; `class` is an `MPI_T_PVAR_CLASS_*`.
    pub fn pvar_get_index(&self, name: impl AsRef<[u8]>, class: i32) -> TResult<i32> {
        self.check_initialized()?;
        let (name, word) = (name.as_ref(), class);
        let class = PvarClass::from_abi(word).ok_or_else(|| refusal::class(word))?;
        self.pvar_named(name, class).map(int).ok_or_else(|| self.no_pvar(name, class))
    }

    /// `MPI_T_pvar_session_create`
    pub fn pvar_session_create(&self) -> TResult<Handle> {
        self.check_initialized()?;
        pool::create_session()
    }

    /// `MPI_T_pvar_session_free`; frees the session's handles too.
    pub fn pvar_session_free(&self, session: Handle) -> TResult<()> {
        self.check_initialized()?;
        pool::free_session(session.0)
    }

    /// `MPI_T_pvar_handle_alloc`. `object` is the handle word of the object to bind to; it is ignored for variables of
    /// the process. `MPI_T_ERR_INVALID` if the variable does not exist for that object; `MPI_T_ERR_NOT_ACCESSIBLE` if
    /// the object is not accessible from this thread or within this callback.
    pub fn pvar_handle_alloc(&self, session: Handle, index: i32, object: Option<usize>) -> TResult<Allocated> {
        self.pvar_handle_alloc_with(session, index, || object)
    }

    /// As [`Registry::pvar_handle_alloc`]; `object` is called only where the variable is bound to one.
    pub fn pvar_handle_alloc_with(
        &self,
        session: Handle,
        index: i32,
        object: impl FnOnce() -> Option<usize>,
    ) -> TResult<Allocated> {
        let info = self.pvar_get_info(index)?;
        if !pool::is_session(session.0) {
            return Err(session_refused(session.0));
        }
        let def = info.definition;
        let object = match def.bind {
            Bind::NoObject => 0,
            _ => object().ok_or_else(|| refusal::no_object(def.name, def.bind, None))?,
        };
        let usize_index = index as usize;
        let mut state = self.lock_state();
        if info.in_rows.load(Relaxed)
            && let Some(elements) = state.elements.get(&(def.bind, object, usize_index))
        {
            let new = new_handle(def, usize_index, elements.words, elements.count, elements.stride);
            return Ok((pool::open(session.0, new)?, int(elements.count as usize)));
        }
        let Some(words) = state.bound_words((def.bind, object, info.block)) else {
            drop(state);
            let refused = |error| refusal::by_owner(def, object, error);
            let on_demand = info.on_demand.as_ref().ok_or_else(|| refused(TError::INVALID))?;
            let (handle, count) = on_demand.open(session.0, def, usize_index, object).map_err(refused)?;
            return Ok((handle, int(count as usize)));
        };
        let own = if def.class.is_watermark() { size_of::<Level>() / 8 } else { 1 };
        let length = own.max(def.handles_word + 1);
        let source = words.get(def.word..def.word + length).expect("a variable's words lie in its block");
        let (facts, format) = info.single;
        let handle = pool::open(session.0, NewHandle { facts, format, variable: usize_index, source })?;
        Ok((handle, 1))
    }

    /// `MPI_T_pvar_handle_free`
    pub fn pvar_handle_free(&self, session: Handle, handle: Handle) -> TResult<()> {
        self.check_initialized()?;
        pool::close(session.0, handle.0)
    }

    /// `MPI_T_pvar_start`; `MPI_T_PVAR_ALL_HANDLES` is taken. Async-signal-safe.
    pub fn pvar_start(&self, session: Handle, handle: Handle) -> TResult<()> {
        access::set_running(session.0, handle.0, true)
    }

    /// `MPI_T_pvar_stop`; `MPI_T_PVAR_ALL_HANDLES` is taken. Async-signal-safe.
    pub fn pvar_stop(&self, session: Handle, handle: Handle) -> TResult<()> {
        access::set_running(session.0, handle.0, false)
    }

    /// `MPI_T_pvar_reset`; `MPI_T_PVAR_ALL_HANDLES` is taken. Async-signal-safe.
    pub fn pvar_reset(&self, session: Handle, handle: Handle) -> TResult<()> {
        access::reset(session.0, handle.0)
    }

    /// `MPI_T_pvar_read`, for one value. Async-signal-safe.
    pub fn pvar_read(&self, session: Handle, handle: Handle) -> TResult<Value> {
        access::read_first(session.0, handle.0)
    }

    /// `MPI_T_pvar_read`, for any number of elements.
    pub fn pvar_read_all(&self, session: Handle, handle: Handle) -> TResult<Vec<Value>> {
        let mut values = Vec::new();
        access::read(session.0, handle.0, |value| values.push(value))?;
        Ok(values)
    }

    /// `MPI_T_pvar_readreset`. Async-signal-safe for one element.
    pub fn pvar_readreset(&self, session: Handle, handle: Handle) -> TResult<Vec<Value>> {
        let mut values = Vec::new();
        access::read_and_reset(session.0, handle.0, |value| values.push(value))?;
        Ok(values)
    }

    /// `MPI_T_pvar_write`; as many values of the variable's type as the handle has elements. Async-signal-safe.
    pub fn pvar_write(&self, session: Handle, handle: Handle, values: &[Value]) -> TResult<()> {
        access::write(session.0, handle.0, values)
    }

    /// The index of the variable that a handle reads. Async-signal-safe.
    pub fn pvar_of_handle(&self, session: Handle, handle: Handle) -> TResult<i32> {
        access::variable_of(session.0, handle.0).map(int)
    }
}
