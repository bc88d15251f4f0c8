//! Variables, categories and enumerations can be added at any time; facts returned before stay valid.

use mpi_core::{Handle, abi};
use mpi_t::{Counter, EnumDef, Registry, SourceDef, State, TError};

static STATES: EnumDef = EnumDef { name: "engine state", items: &[(3, "idle"), (-1, "broken")] };

mpi_t::instruments! {
    /// Declared at the start.
    struct First: NoObject {
        /// Events.
        events: Counter = { name: "first_events", class: Counter, type: u64, unit: "events", category: "p2p.unexpected" },
    }
}

mpi_t::instruments! {
    /// A plug-in's variables.
    struct Second: NoObject {
        /// Events
        /// of the plug-in.
        events: Counter = { name: "second_events", class: Counter, type: u64, unit: "events", category: "p2p" },
        /// A state.
        state: State = { name: "state", class: State, type: i32, unit: "", category: "plugin.a.b", states: &STATES },
    }
}

mpi_t::instruments! {
    /// Another plug-in's variables, in a category of the first.
    struct Third: NoObject {
        /// Events.
        events: Counter = { name: "third_events", class: Counter, type: u64, unit: "events", category: "p2p.unexpected" },
    }
}

static LATE: SourceDef = SourceDef { name: "late", description: "A plug-in." };

mpi_t::events! {
    /// A plug-in's events.
    struct LateEvents: NoObject, from: LATE {
        /// Something happened.
        happened(number: i32) = { name: "late_happened", category: "tool.events", at: None },
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

/// All facts by index: names, descriptions and so on, in order, and the members of each category.
#[derive(Debug)]
struct Facts {
    pvars: Vec<String>,
    cvars: Vec<String>,
    events: Vec<String>,
    categories: Vec<String>,
    members: Vec<[Vec<i32>; 4]>,
    stamp: i32,
}

impl Facts {
    fn by(registry: &Registry) -> Facts {
        let all = |count: i32, each: &dyn Fn(i32) -> String| (0..count).map(each).collect();
        let counts = [registry.pvar_get_num(), registry.cvar_get_num(), registry.event_get_num()];
        let [pvars, cvars, events] = counts.map(|count| count.expect("initialized"));
        let categories = registry.category_get_num().expect("initialized");
        Facts {
            pvars: all(pvars, &|i| format!("{:?}", registry.pvar_get_info(i).expect("there"))),
            cvars: all(cvars, &|i| {
                let info = registry.cvar_get_info(i).expect("there");
                format!("{:?} {} {:?}", info.definition, info.description, info.enumeration)
            }),
            events: all(events, &|i| format!("{:?}", registry.event_get_info(i).expect("there"))),
            categories: all(categories, &|i| {
                let info = registry.category_get_info(i).expect("there");
                format!("{} {}", info.name(), info.description())
            }),
            members: (0..categories)
                .map(|i| {
                    let info = registry.category_get_info(i).expect("there");
                    [info.cvars(), info.pvars(), info.events(), info.categories()]
                })
                .collect(),
            stamp: registry.category_changed().expect("initialized"),
        }
    }

    /// Whether a later one begins with all of it.
    fn is_the_beginning_of(&self, later: &Facts) -> bool {
        let members = self.members.iter().zip(&later.members);
        later.pvars.starts_with(&self.pvars)
            && later.cvars.starts_with(&self.cvars)
            && later.events.starts_with(&self.events)
            && later.categories.starts_with(&self.categories)
            && members.flat_map(|(old, new)| old.iter().zip(new)).all(|(old, new)| new.starts_with(old))
    }
}

#[test]
fn indices_and_descriptions_do_not_change_and_the_stamp_does() {
    let registry = registry();
    let mut last = Facts::by(&registry);
    assert_eq!(registry.category_changed(), Ok(last.stamp), "nothing changed");
    // Additions go to existing categories of each kind, and to new ones.
    let additions: [&dyn Fn(); 4] = [
        &|| registry.register(Second::detached()).expect("new names"),
        &|| registry.register_settings(Settings::new()).expect("new names"),
        &|| registry.register_events(LateEvents::new()).expect("new names"),
        &|| registry.register(Third::detached()).expect("new names"),
    ];
    for (step, add) in additions.iter().enumerate() {
        add();
        let now = Facts::by(&registry);
        assert!(last.is_the_beginning_of(&now), "{step}: {last:?} {now:?}");
        assert!(now.stamp > last.stamp, "{step}: {} {}", last.stamp, now.stamp);
        last = now;
    }
    assert_eq!([last.pvars.len(), last.cvars.len(), last.events.len()], [4, 1, 2]);
    assert_eq!(registry.pvar_get_info(1).expect("there").description, "Events of the plug-in. Unit: events.");
    for (name, class) in
        [("first_events", abi::MPI_T_PVAR_CLASS_COUNTER), ("third_events", abi::MPI_T_PVAR_CLASS_COUNTER)]
    {
        let index = registry.pvar_get_index(name, class).expect("declared");
        assert_eq!(registry.pvar_get_info(index).expect("there").name(), name);
    }
    registry.finalize().expect("initialized");
    registry.init_thread().expect("again");
    let again = Facts::by(&registry);
    assert!(last.is_the_beginning_of(&again) && again.is_the_beginning_of(&last) && again.stamp == last.stamp);
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
