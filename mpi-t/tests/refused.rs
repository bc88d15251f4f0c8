//! Control variables whose owner refuses a change for a while, permanently, or for one value.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

use mpi_core::Handle;
use mpi_t::{Registry, TError, Value};

mpi_t::cvars! {
    /// Settings of a queue.
    struct QueueSettings {
        /// Most items in the queue.
        limit: u64 = 64 => { name: "queue_limit", unit: "items", category: "queue", scope: Local, range: 1..=4096 },
        /// Whether the queue drops items.
        lossy: bool = false => { name: "queue_lossy", unit: "", category: "queue", scope: Local },
    }
}

/// The owner's answer now: 0 accept, 1 not now, 2 never.
#[derive(Default)]
struct Owner(AtomicI32);

impl Owner {
    fn check(&self, name: &str, value: &Value) -> Result<(), TError> {
        match (name, self.0.load(SeqCst)) {
            ("queue_limit", _) if !value.as_u64().is_some_and(u64::is_power_of_two) => Err(TError::INVALID),
            (_, 1) => Err(TError::CVAR_SET_NOT_NOW),
            (_, 2) => Err(TError::CVAR_SET_NEVER),
            _ => Ok(()),
        }
    }
}

fn queue(environment: &[(&str, &str)]) -> (Registry, &'static QueueSettings, Arc<Owner>) {
    let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let (registry, block, owner) =
        (Registry::with_environment(environment), QueueSettings::new(), Arc::new(Owner::default()));
    let checker = owner.clone();
    registry
        .register_settings_with(block, move |definition, value| checker.check(definition.name, value))
        .expect("new names");
    registry.init_thread().expect("address space");
    (registry, block, owner)
}

fn handle(registry: &Registry, name: &str) -> Handle {
    let index = registry.cvar_get_index(name).expect("declared");
    registry.cvar_handle_alloc(index, None).expect("of the process").0
}

/// Sets it as in C.
fn write_raw(registry: &Registry, handle: Handle, value: u64) -> Result<(), TError> {
    // SAFETY: the variable is one u64.
    #[allow(unsafe_code)]
    unsafe {
        registry.cvar_write_raw(handle, (&raw const value).cast())
    }
}

#[test]
fn a_refused_change_has_no_effect_and_its_code_says_when_to_try_again() {
    let (registry, block, owner) = queue(&[]);
    let limit = handle(&registry, "queue_limit");
    registry.cvar_write(limit, &Value::U64(128)).expect("the owner accepts it");
    for (answer, error) in [(1, TError::CVAR_SET_NOT_NOW), (2, TError::CVAR_SET_NEVER)] {
        owner.0.store(answer, SeqCst);
        assert_eq!(registry.cvar_write(limit, &Value::U64(256)), Err(error.clone()));
        assert_eq!(write_raw(&registry, limit, 256), Err(error));
        assert_eq!((block.limit.get(), registry.cvar_read(limit)), (128, Ok(Value::U64(128))));
    }
    owner.0.store(0, SeqCst);
    write_raw(&registry, limit, 256).expect("it may be set again");
    assert_eq!(block.limit.get(), 256);
}

#[test]
fn the_owner_is_called_with_variable_and_value() {
    let (registry, block, _) = queue(&[]);
    let (limit, lossy) = (handle(&registry, "queue_limit"), handle(&registry, "queue_lossy"));
    assert_eq!(registry.cvar_write(limit, &Value::U64(100)), Err(TError::INVALID), "no power of two");
    assert_eq!(registry.cvar_write(limit, &Value::U64(8192)), Err(TError::INVALID), "out of range");
    registry.cvar_write(lossy, &Value::I32(1)).expect("any switch");
    assert_eq!((block.limit.get(), block.lossy.get()), (64, true));
}

#[test]
fn a_refused_value_of_the_environment_is_not_set() {
    let (registry, block, _) = queue(&[("FERRUM_QUEUE_LIMIT", "100"), ("FERRUM_QUEUE_LOSSY", "on")]);
    assert_eq!((block.limit.get(), block.lossy.get()), (64, true));
    let sentence = format!("FERRUM_QUEUE_LIMIT is \"100\", but queue_limit refuses that: {}", TError::INVALID);
    assert_eq!(registry.startup_errors(), [sentence]);
}
