//! Variables and events for tools written in Rust: sessions, handles and registrations that free themselves.
//!
//! Invariant: a [`Variables`] is one initialization of a registry's tool interface and one session; both end when it is
//! dropped, after all that was allocated with it.
//! Not here: the functions of the standard one by one ([`Registry`]), typed views (`typed`).

mod typed;

use std::fmt;

use mpi_core::Handle;

use crate::{
    CategoryInfo, CvarInfo, EventInstance, PvarClass, PvarInfo, Registry, Safety, TResult, Value, registry::Allocated,
};
pub use typed::{Cvar, Pvar, VariableType};

/// All variables of a registry, and a session to read them in: starts, stops and resets in other sessions do not change
/// its values.
///
/// ```
/// use mpi_t::{Counter, PvarClass, Registry, Variables};
///
/// mpi_t::instruments! {
///     /// Metrics of a shop.
///     struct Shop: NoObject {
///         /// Customers who came in; counts each one who enters.
///         customers: Counter =
///             { name: "shop_customers", class: Counter, type: u64, unit: "people", category: "shop" },
///     }
/// }
/// mpi_t::cvars! {
///     /// Settings of the shop.
///     struct ShopSettings {
///         /// Most customers in the shop at once.
///         limit: u32 = 10 => { name: "shop_limit" },
///     }
/// }
///
/// let (registry, shop, settings) = (Registry::new(), Shop::detached(), ShopSettings::new());
/// registry.register(shop)?;
/// registry.register_settings(settings)?;
///
/// let variables = Variables::open(&registry)?;
/// let customers = variables.pvar::<u64>("shop_customers", PvarClass::Counter)?;
/// shop.customers.add(3);
/// assert_eq!(customers.read()?, 3);
/// variables.cvar::<u32>("shop_limit")?.set(5)?;
/// assert_eq!(settings.limit.get(), 5);
///
/// let error = variables.pvar::<u64>("shop_costumers", PvarClass::Counter).expect_err("a slip");
/// assert!(error.to_string().ends_with("did you mean \"shop_customers\"?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Variables<'r> {
    registry: &'r Registry,
    session: Handle,
}

/// A performance variable of a registry.
#[derive(Debug, Clone, Copy)]
pub struct PvarEntry<'r> {
    /// Its index.
    pub index: i32,
    /// Name, class, type, description and so on.
    pub info: &'r PvarInfo,
}

/// A control variable of a registry.
#[derive(Debug, Clone, Copy)]
pub struct CvarEntry<'r> {
    /// Its index.
    pub index: i32,
    /// Name, type, description and so on.
    pub info: &'r CvarInfo,
}

/// A handle of a performance variable, started where it can be; freed when dropped. Reading and resetting are
/// async-signal-safe.
#[derive(Debug)]
pub struct PvarHandle<'v> {
    variables: &'v Variables<'v>,
    handle: Handle,
    /// Number of values: one, or one for each row (such as a process).
    pub count: usize,
}

/// A callback that is registered for events; no call of it begins after this is dropped.
#[derive(Debug)]
pub struct EventRegistration<'v> {
    variables: &'v Variables<'v>,
    registration: Handle,
}

impl<'r> Variables<'r> {
    /// Initializes the tool interface of a registry and creates a session. Errors: `MEMORY`, `OUT_OF_SESSIONS`.
    pub fn open(registry: &'r Registry) -> TResult<Variables<'r>> {
        registry.init_thread()?;
        match registry.pvar_session_create() {
            Ok(session) => Ok(Variables { registry, session }),
            Err(error) => {
                registry.finalize()?;
                Err(error)
            }
        }
    }

    /// The registry.
    pub fn registry(&self) -> &'r Registry {
        self.registry
    }

    /// The performance variables that exist now.
    pub fn pvars(&self) -> impl Iterator<Item = PvarEntry<'r>> + use<'r> {
        let registry = self.registry;
        let count = registry.pvar_get_num().unwrap_or(0);
        (0..count).filter_map(|index| Some(PvarEntry { index, info: registry.pvar_get_info(index).ok()? }))
    }

    /// The control variables that exist now.
    pub fn cvars(&self) -> impl Iterator<Item = CvarEntry<'r>> + use<'r> {
        let registry = self.registry;
        let count = registry.cvar_get_num().unwrap_or(0);
        (0..count).filter_map(|index| Some(CvarEntry { index, info: registry.cvar_get_info(index).ok()? }))
    }

    /// The categories that exist now.
    pub fn categories(&self) -> impl Iterator<Item = &'r CategoryInfo> + use<'r> {
        let registry = self.registry;
        let count = registry.category_get_num().unwrap_or(0);
        (0..count).filter_map(|index| registry.category_get_info(index).ok())
    }

    /// The performance variable with this name and class. Errors: `INVALID_NAME`, with the nearest name.
    pub fn find_pvar(&self, name: &str, class: PvarClass) -> TResult<PvarEntry<'r>> {
        let index = self.registry.pvar_get_index(name, class as i32)?;
        Ok(PvarEntry { index, info: self.registry.pvar_get_info(index)? })
    }

    /// The control variable with this name. Errors: `INVALID_NAME`, with the nearest name.
    pub fn find_cvar(&self, name: &str) -> TResult<CvarEntry<'r>> {
        let index = self.registry.cvar_get_index(name)?;
        Ok(CvarEntry { index, info: self.registry.cvar_get_info(index)? })
    }

    /// A handle of a performance variable of any type, started unless the variable is continuous. `object` is the
    /// handle of the object that the variable is bound to, and ignored for variables of the process. Errors:
    /// `INVALID` when the variable does not exist for the object.
    pub fn watch(&self, pvar: PvarEntry<'_>, object: Option<Handle>) -> TResult<PvarHandle<'_>> {
        let object = object.map(|handle| handle.0);
        let (handle, count): Allocated = self.registry.pvar_handle_alloc(self.session, pvar.index, object)?;
        let watch = PvarHandle { variables: self, handle, count: usize::try_from(count).unwrap_or(0) };
        if !pvar.info.continuous() {
            self.registry.pvar_start(self.session, handle)?;
        }
        Ok(watch)
    }

    /// The value of a control variable; `object` as for [`Variables::watch`]. Errors: as there.
    pub fn value(&self, cvar: CvarEntry<'_>, object: Option<Handle>) -> TResult<Value> {
        self.with_cvar(cvar, object, |handle| self.registry.cvar_read(handle))
    }

    /// Sets a control variable, which takes effect at once; `object` as for [`Variables::watch`]. Errors: as there;
    /// `INVALID` for a value that the variable does not accept, `CVAR_SET_NEVER` when it cannot be set any more,
    /// `CVAR_SET_NOT_NOW` when it cannot be set at the moment.
    pub fn set(&self, cvar: CvarEntry<'_>, object: Option<Handle>, value: &Value) -> TResult<()> {
        self.with_cvar(cvar, object, |handle| self.registry.cvar_write(handle, value))
    }

    fn with_cvar<R>(
        &self,
        cvar: CvarEntry<'_>,
        object: Option<Handle>,
        use_it: impl FnOnce(Handle) -> TResult<R>,
    ) -> TResult<R> {
        let (handle, _) = self.registry.cvar_handle_alloc(cvar.index, object.map(|handle| handle.0))?;
        let result = use_it(handle);
        self.registry.cvar_handle_free(handle)?;
        result
    }

    /// Calls `callback` with each event of this name from now on; `object` as for [`Variables::watch`]. `level` states
    /// what the callback restricts itself to. A callback of [`Safety::None`] may call anything; it runs at the end of
    /// the call of the library in which the event was raised, or of the next call. Errors: `INVALID_NAME`; `INVALID`
    /// when no such event exists for the object.
    pub fn listen(
        &self,
        name: &str,
        object: Option<Handle>,
        level: Safety,
        callback: impl Fn(&EventInstance<'_>) + Send + Sync + 'static,
    ) -> TResult<EventRegistration<'_>> {
        let registration = self.registry.subscribe(name, object.map(|handle| handle.0), level, callback)?;
        Ok(EventRegistration { variables: self, registration })
    }
}

impl fmt::Debug for Variables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variables").field("session", &self.session).finish_non_exhaustive()
    }
}

impl Drop for Variables<'_> {
    fn drop(&mut self) {
        // The session is this value's own, and its handles are freed, so neither can fail.
        let _ = self.registry.pvar_session_free(self.session);
        let _ = self.registry.finalize();
    }
}

impl CvarEntry<'_> {
    /// The value now; `None` for a variable that is bound to objects.
    pub fn value(&self) -> Option<Value> {
        self.info.read()
    }
}

impl fmt::Display for CvarEntry<'_> {
    /// The value now, by its name if it has one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = self.value() else {
            return f.pad(&format!("one for each {}", self.info.bind().object()));
        };
        let names = self.info.definition.states.map_or(&[][..], |states| states.items);
        match names.iter().find(|(item, _)| value == Value::I32(*item)) {
            Some((_, name)) => f.pad(name),
            None => f.pad(&value.to_string()),
        }
    }
}

impl PvarHandle<'_> {
    /// The first value now. Errors: `INVALID_HANDLE` when the object was freed.
    pub fn read(&self) -> TResult<Value> {
        self.variables.registry.pvar_read(self.variables.session, self.handle)
    }

    /// All values now. Errors: as [`PvarHandle::read`].
    pub fn read_all(&self) -> TResult<Vec<Value>> {
        self.variables.registry.pvar_read_all(self.variables.session, self.handle)
    }

    /// Sets the variable to its starting value, for this handle only. Errors: `PVAR_NO_WRITE` for a readonly variable.
    pub fn reset(&self) -> TResult<()> {
        self.variables.registry.pvar_reset(self.variables.session, self.handle)
    }
}

impl Drop for PvarHandle<'_> {
    fn drop(&mut self) {
        // The handle is this value's own, so this cannot fail.
        let _ = self.variables.registry.pvar_handle_free(self.variables.session, self.handle);
    }
}

impl Drop for EventRegistration<'_> {
    fn drop(&mut self) {
        // The registration is this value's own, so this cannot fail.
        let _ = self.variables.registry.event_handle_free(self.registration, None);
    }
}
