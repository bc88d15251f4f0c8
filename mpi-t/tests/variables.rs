//! A tool's view of a registry: typed variables, and handles, sessions and registrations that free themselves.

use mpi_t::{Counter, Level, PvarClass, Registry, Safety, TError, Variables, WatchedCounter};

mpi_t::instruments! {
    /// Metrics of a shop.
    struct Shop: NoObject {
        /// Customers who came in; counts each one who enters.
        customers: Counter =
            { name: "shop_customers", class: Counter, type: u64, unit: "people", category: "shop" },
        /// Customers in the shop.
        inside: Level = { name: "shop_inside", class: Level, type: u32, unit: "people", category: "shop" },
        /// Goods that customers looked at, counted while a handle exists.
        looks: WatchedCounter =
            { name: "shop_looks", class: Counter, type: u64, unit: "goods", category: "shop" },
    }
}

mpi_t::cvars! {
    /// Settings of the shop.
    struct ShopSettings {
        /// Most customers in the shop at once.
        limit: u32 = 10 => { name: "shop_limit", range: 1..=20 },
    }
}

#[test]
fn variables_have_the_types_that_they_were_declared_with() {
    let (registry, shop, settings) = (Registry::with_environment([]), Shop::detached(), ShopSettings::new());
    registry.register(shop).expect("new names");
    registry.register_settings(settings).expect("new names");
    let variables = Variables::open(&registry).expect("memory");
    let customers = variables.pvar::<u64>("shop_customers", PvarClass::Counter).expect("declared");
    let inside = variables.pvar::<u32>("shop_inside", PvarClass::Level).expect("declared");
    shop.customers.add(3);
    shop.inside.raise(2);
    assert_eq!((customers.read(), inside.read(), customers.read_all()), (Ok(3), Ok(2), Ok(vec![3])));
    customers.reset().expect("a counter");
    assert_eq!((customers.read(), inside.reset()), (Ok(0), Err(TError::PVAR_NO_WRITE)));

    let limit = variables.cvar::<u32>("shop_limit").expect("declared");
    assert_eq!((limit.get(), limit.set(20), settings.limit.get()), (Ok(10), Ok(()), 20));
    let sentence = |error: TError| error.to_string();
    let refused = "the value is 21, but shop_limit of type MPI_UNSIGNED takes a whole number from 1 to 20";
    assert_eq!(limit.set(21).map_err(sentence), Err(refused.to_owned()));
    let wrong = variables.pvar::<f64>("shop_inside", PvarClass::Level).map(drop).map_err(sentence);
    assert_eq!(wrong, Err("shop_inside is of type u32, but was requested as f64".to_owned()));
    let slip = variables.cvar::<u32>("shop_limits").map(drop).map_err(sentence);
    let near =
        "argument name is \"shop_limits\", but there is no control variable of that name; did you mean \"shop_limit\"?";
    assert_eq!(slip, Err(near.to_owned()));
}

#[test]
fn what_is_dropped_is_freed() {
    let (registry, shop) = (Registry::with_environment([]), Shop::detached());
    registry.register(shop).expect("new names");
    registry.register(registry.instruments()).expect("new names");
    let variables = Variables::open(&registry).expect("memory");
    let registrations = variables.pvar::<u64>("tool_event_registrations", PvarClass::Level).expect("declared");
    let looks = variables.pvar::<u64>("shop_looks", PvarClass::Counter).expect("declared");
    let registration = variables.listen("tool_cvar_set", None, Safety::None, |_| ()).expect("declared");
    assert!(shop.looks.is_watched());
    assert_eq!(registrations.read(), Ok(1));
    drop((looks, registration));
    assert!(!shop.looks.is_watched());
    assert_eq!(registrations.read(), Ok(0));
    drop(registrations);
    drop(variables);
    assert!(!registry.is_initialized());
}
