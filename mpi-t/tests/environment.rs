//! For any environment, the result is an accepted value, or a sentence and the initial value.
#![allow(clippy::unwrap_used)] // a proptest failure shows the text

use mpi_t::{EnumDef, Registry, SettingsFile};
use proptest::prelude::*;

static POLICY: EnumDef = EnumDef { name: "policy", items: &[(0, "spin"), (2, "sleep")] };

mpi_t::cvars! {
    /// One of each type.
    struct Settings {
        /// A size.
        size: u64 = 10 => { name: "size", unit: "bytes", category: "x", scope: Local, range: 1..=1 << 40 },
        /// A small number.
        small: u32 = 7 => { name: "small", unit: "", category: "x", scope: Local },
        /// A policy.
        policy: i32 = 2 => { name: "policy", unit: "", category: "x", scope: Local, states: &POLICY },
        /// A switch.
        on: bool = true => { name: "on", unit: "", category: "x", scope: Local },
        /// A part.
        part: f64 = 0.5 => { name: "part", unit: "", category: "x", scope: Local, real_range: 0.0..=1.0 },
        /// A text.
        text: mpi_t::Text = "abc" => { name: "text", unit: "", category: "x", scope: Local },
    }
}

const NAMES: [&str; 6] = ["SIZE", "SMALL", "POLICY", "ON", "PART", "TEXT"];

fn anything() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[-+]?[0-9]{0,40}[kKmMgG.e]{0,2}", "(on|off|yes|no|spin|sleep|nan|inf)?[ a-z]{0,2}"]
}

proptest! {
    #[test]
    fn any_text_is_a_value_or_a_sentence(texts in prop::collection::vec(anything(), NAMES.len())) {
        let named = NAMES.iter().zip(&texts).map(|(name, text)| (format!("FERRUM_{name}"), text.clone()));
        let registry = Registry::with_environment(named);
        let settings = Settings::new();
        registry.register_settings(settings).unwrap();
        registry.init_thread().unwrap();
        let errors = registry.startup_errors();
        for index in 0..registry.cvar_get_num().unwrap() {
            let info = registry.cvar_get_info(index).unwrap();
            prop_assert!(info.read().is_some_and(|value| info.definition.accepts(&value)), "{}", info.name());
        }
        let refused = |name: &str| errors.iter().filter(|error| error.starts_with(&format!("FERRUM_{name} is "))).count();
        prop_assert_eq!(NAMES.iter().map(|name| refused(name)).sum::<usize>(), errors.len());
        for (name, initial) in [
            ("SIZE", settings.size.get() == 10), ("SMALL", settings.small.get() == 7), ("POLICY", settings.policy.get() == 2),
            ("ON", settings.on.get()), ("PART", settings.part.get() == 0.5), ("TEXT", settings.text.get() == "abc"),
        ] {
            prop_assert!(refused(name) == 0 || initial, "a refused value changes nothing: {}", name);
        }
        prop_assert!(registry.unknown_environment().is_empty());
    }

    #[test]
    fn any_unknown_name_is_reported_once(name in "[A-Z_]{0,30}", known in any::<bool>()) {
        let registry = Registry::with_environment([(format!("FERRUM_{name}"), "1".to_owned())]);
        if known {
            registry.register_settings(Settings::new()).unwrap();
        }
        let taken = known && NAMES.contains(&name.as_str());
        prop_assert_eq!(registry.unknown_environment().len(), usize::from(!taken));
    }

    #[test]
    fn any_file_is_values_or_sentences_with_its_name_and_is_the_same_handed_on(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "([a-z ]{0,6}[=# ]{0,2}[a-z0-9#\n ]{0,6}\n?){0,12}".prop_map(String::into_bytes),
        ]
    ) {
        let file = SettingsFile::parse("/the file", &bytes);
        prop_assert!(file.faults().all(|fault| fault.starts_with("/the file, line ") && !fault.contains('\n')));
        if file.faults().count() == 0 {
            let handed_on = SettingsFile::from_text(&file.to_text());
            prop_assert_eq!(&handed_on.to_text(), &file.to_text());
            prop_assert_eq!(handed_on.faults().count(), 0);
        }
        let registry = Registry::with_values(file, []);
        registry.register_settings(Settings::new()).unwrap();
        let reported = registry.startup_errors().into_iter().chain(registry.unknown_environment());
        prop_assert!(reported.into_iter().all(|sentence| sentence.starts_with("/the file, line ")));
    }
}
