//! Control variables that are bound to objects: each object has its own, until it is freed.

use mpi_core::{Handle, abi};
use mpi_t::{Bind, Registry, TError, Value};

mpi_t::cvars! {
    /// Settings of one communicator.
    struct CommSettings: Comm {
        /// A limit.
        limit: u64 = 10 => { name: "comm_limit", unit: "bytes", category: "p2p", scope: Local, range: 0..=100 },
        /// A text.
        text: mpi_t::Text = "abc" => { name: "comm_text", unit: "", category: "p2p", scope: Local },
    }
}

fn registry(environment: &[(&str, &str)]) -> Registry {
    let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let registry = Registry::with_environment(environment);
    registry.declare_settings::<CommSettings>().expect("new names");
    registry.init_thread().expect("address space");
    registry
}

/// The value in C memory.
fn raw(registry: &Registry, handle: Handle) -> Result<u64, TError> {
    let mut value = 0u64;
    // SAFETY: the variable is one u64.
    #[allow(unsafe_code)]
    unsafe { registry.cvar_read_raw(handle, (&raw mut value).cast()) }.map(|()| value)
}

#[test]
fn each_object_has_its_own_value() {
    let registry = registry(&[]);
    let (a, b) = (CommSettings::new(), CommSettings::new());
    registry.bind_settings(1000, a);
    registry.bind_settings(2000, b);
    let info = registry.cvar_get_info(0).expect("declared");
    assert_eq!((info.bind(), info.bind() as i32, info.read()), (Bind::Comm, abi::MPI_T_BIND_MPI_COMM, None));
    for none in [None, Some(0), Some(3000)] {
        assert_eq!(registry.cvar_handle_alloc(0, none), Err(TError::INVALID));
    }
    let (of_a, count) = registry.cvar_handle_alloc(0, Some(1000)).expect("bound");
    let (of_b, _) = registry.cvar_handle_alloc(0, Some(2000)).expect("bound");
    assert_eq!(count, 1);
    registry.cvar_write(of_a, &Value::U64(50)).expect("in range");
    assert_eq!(registry.cvar_write(of_b, &Value::U64(101)), Err(TError::INVALID));
    assert_eq!((a.limit.get(), b.limit.get()), (50, 10));
    assert_eq!((raw(&registry, of_a), raw(&registry, of_b)), (Ok(50), Ok(10)));
    assert_eq!((registry.cvar_read(of_a), registry.cvar_read(of_b)), (Ok(Value::U64(50)), Ok(Value::U64(10))));
}

#[test]
fn objects_begin_with_the_values_of_the_environment() {
    let registry = registry(&[("FERRUM_COMM_LIMIT", "77")]);
    let block = CommSettings::new();
    registry.bind_settings(1000, block);
    assert_eq!((block.limit.get(), registry.startup_errors().len()), (77, 0));
}

#[test]
fn handles_end_with_their_object_and_the_block_serves_the_next() {
    let registry = registry(&[]);
    let block = CommSettings::new();
    registry.bind_settings(1000, block);
    let (number, _) = registry.cvar_handle_alloc(0, Some(1000)).expect("bound");
    let (text, _) = registry.cvar_handle_alloc(1, Some(1000)).expect("bound");
    registry.cvar_write(number, &Value::U64(50)).expect("in range");
    registry.unbind_settings::<CommSettings>(1000);
    mpi_t::Settings::restore(block);
    registry.bind_settings(2000, block);
    assert_eq!(block.limit.get(), 10);
    for ended in [number, text] {
        assert_eq!(registry.cvar_read(ended), Err(TError::INVALID_HANDLE));
        assert_eq!(raw(&registry, ended), Err(TError::INVALID_HANDLE));
        assert_eq!(registry.cvar_write(ended, &Value::U64(1)), Err(TError::INVALID_HANDLE));
        registry.cvar_handle_free(ended).expect("must still be freed");
        assert_eq!(registry.cvar_handle_free(ended), Err(TError::INVALID_HANDLE));
    }
    assert_eq!(registry.cvar_handle_alloc(0, Some(1000)), Err(TError::INVALID));
}

#[test]
fn more_handles_than_are_mirrored_read_the_same() {
    let registry = registry(&[]);
    let block = CommSettings::new();
    registry.bind_settings(1000, block);
    let handles: Vec<_> = (0..1500).map(|_| registry.cvar_handle_alloc(0, Some(1000)).expect("room").0).collect();
    block.limit.set(33);
    assert!(handles.iter().all(|handle| raw(&registry, *handle) == Ok(33)));
    registry.finalize().expect("initialized");
    assert!(handles.iter().all(|handle| raw(&registry, *handle) == Err(TError::NOT_INITIALIZED)));
}

#[test]
fn a_write_that_meets_the_end_of_its_object_is_never_the_next_ones() {
    let registry = registry(&[]);
    let block = CommSettings::new();
    for object in 1..200 {
        registry.bind_settings(object, block);
        let (handle, _) = registry.cvar_handle_alloc(0, Some(object)).expect("bound");
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                while registry.cvar_write(handle, &Value::U64(77)).is_ok() {}
                registry.cvar_write(handle, &Value::U64(77))
            });
            while block.limit.get() != 77 {
                std::hint::spin_loop();
            }
            registry.unbind_settings::<CommSettings>(object);
            mpi_t::Settings::restore(block);
            assert_eq!(writer.join().expect("no panic"), Err(TError::INVALID_HANDLE));
        });
        assert_eq!(block.limit.get(), 10);
        registry.cvar_handle_free(handle).expect("must still be freed");
    }
}
