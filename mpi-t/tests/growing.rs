//! Variables, categories and enumerations can be added at any time; what was told stays true.

use mpi_core::{Handle, abi};
use mpi_t::{Counter, EnumDef, Registry, State, TError};

static STATES: EnumDef = EnumDef { name: "engine state", items: &[(3, "idle"), (-1, "broken")] };

mpi_t::instruments! {
    /// There from the start.
    struct First: NoObject {
        /// Events.
        events: Counter = { name: "first_events", class: Counter, type: u64, unit: "events", category: "p2p.unexpected" },
    }
}

mpi_t::instruments! {
    /// A plug-in's.
    struct Second: NoObject {
        /// Events
        /// of the plug-in.
        events: Counter = { name: "second_events", class: Counter, type: u64, unit: "events", category: "p2p" },
        /// A state.
        state: State = { name: "state", class: State, type: i32, unit: "", category: "plugin.a.b", states: &STATES },
    }
}

mpi_t::cvars! {
    /// Settings.
    struct Settings {
        /// A state.
        state: i32 = 3 => { name: "p2p_state", unit: "", category: "p2p", scope: Local, states: &STATES },
    }
}

fn registry() -> Registry {
    let registry = Registry::with_environment([]);
    registry.init_thread().expect("address space for handles");
    registry.describe_categories(&[("p2p", "Messages between\n two processes.")]);
    registry.register(First::detached()).expect("new names");
    registry
}

#[test]
fn indices_and_what_was_told_do_not_change_and_the_stamp_moves() {
    let registry = registry();
    let (first, stamp) = (registry.pvar_get_info(0).expect("there"), registry.category_changed().expect("initialized"));
    let told = (first.name(), first.description.clone());
    assert_eq!(registry.category_changed(), Ok(stamp), "nothing changed");
    registry.register(Second::detached()).expect("new names");
    assert!(registry.category_changed().expect("initialized") > stamp);
    assert_eq!(registry.pvar_get_num(), Ok(3));
    let again = registry.pvar_get_info(0).expect("there");
    assert_eq!((again.name(), again.description.clone()), told);
    let second = registry.pvar_get_info(1).expect("there");
    assert_eq!(second.description, "Events of the plug-in. Unit: events.");
}

#[test]
fn categories_are_a_tree_of_prefixes() {
    let registry = registry();
    registry.register(Second::detached()).expect("new names");
    registry.register_settings(Settings::new()).expect("new names");
    let index = |name| registry.category_get_index(name).expect("there");
    let names: Vec<_> = (0..registry.category_get_num().expect("initialized"))
        .map(|index| registry.category_get_info(index).expect("in range").name().to_owned())
        .collect();
    assert_eq!(names, ["tool", "tool.events", "p2p", "p2p.unexpected", "plugin", "plugin.a", "plugin.a.b"]);
    assert_eq!(registry.category_get_categories(index("p2p")), Ok(vec![index("p2p.unexpected")]));
    assert_eq!(registry.category_get_categories(index("plugin.a")), Ok(vec![index("plugin.a.b")]));
    assert_eq!(registry.category_get_pvars(index("p2p.unexpected")), Ok(vec![0]));
    assert_eq!(registry.category_get_pvars(index("p2p")), Ok(vec![1]));
    assert_eq!(registry.category_get_cvars(index("p2p")), Ok(vec![0]));
    assert_eq!(registry.category_get_events(index("p2p")), Ok(vec![]));
    let p2p = registry.category_get_info(index("p2p")).expect("there");
    assert_eq!((p2p.description(), p2p.counts()), ("Messages between two processes.", (1, 1, 1)));
    assert_eq!(registry.category_get_events(77), Err(TError::INVALID_INDEX));
}

#[test]
fn variables_of_one_enumeration_share_its_handle() {
    let registry = registry();
    registry.register(Second::detached()).expect("new names");
    registry.register_settings(Settings::new()).expect("new names");
    let state = registry.pvar_get_info(2).expect("there").enumeration;
    assert_eq!(registry.cvar_get_info(0).expect("there").enumeration, state);
    assert_eq!(registry.enum_get_info(state), Ok((2, "engine state")));
    assert_eq!(registry.enum_get_item(state, 1), Ok((-1, "broken")));
    for item in [-1, 2, i32::MAX] {
        assert_eq!(registry.enum_get_item(state, item), Err(TError::INVALID_INDEX));
    }
    for word in [abi::MPI_T_ENUM_NULL, 1, state.0 ^ 0x100, state.0 ^ 1 << 26, state.0 ^ 1 << 57, usize::MAX] {
        assert_eq!(registry.enum_get_info(Handle(word)), Err(TError::INVALID_HANDLE), "{word:#x}");
        assert_eq!(registry.enum_get_item(Handle(word), 0), Err(TError::INVALID_HANDLE), "{word:#x}");
    }
}

#[test]
fn readers_go_on_while_the_registry_grows() {
    let registry = registry();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            loop {
                let num = registry.pvar_get_num().expect("initialized");
                for index in 0..num {
                    assert!(!registry.pvar_get_info(index).expect("below the number").name().is_empty());
                }
                if num == 3 {
                    break num;
                }
            }
        });
        registry.register(Second::detached()).expect("new names");
        assert_eq!(reader.join().expect("no panic"), 3);
    });
}
