//! Values from each source, and the sentences about those that are refused.

use super::*;
use crate::{EnumDef, Text};

static POLICY: EnumDef = EnumDef { name: "policy", items: &[(0, "spin"), (2, "sleep")] };

crate::cvars! {
    /// A test block.
    struct Block {
        /// A size.
        size: u64 = 10 => { name: "p2p_eager_limit", unit: "bytes", category: "a", scope: Local, range: 0..=1 << 20 },
        /// A policy.
        policy: i32 = 2 => { name: "wait_policy", unit: "", category: "a", scope: Local, states: &POLICY },
        /// A switch.
        on: bool = false => { name: "single_copy", unit: "", category: "a", scope: Local },
        /// A text.
        text: Text = "" => { name: "tool_path", unit: "", category: "a", scope: Local },
        /// A part.
        part: f64 = 0.5 => { name: "part", unit: "", category: "a", scope: Local, real_range: 0.0..=1.0 },
    }
}

fn registry(variables: &[(&str, &str)]) -> (Registry, &'static Block) {
    let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let (registry, block) = (Registry::with_environment(variables), Block::new());
    registry.register_settings(block).expect("new names");
    (registry, block)
}

crate::cvars! {
    /// Of a program with a prefix of its own.
    struct OwnPrefix {
        /// A size.
        size: u64 = 1 => { name: "shop_size" },
    }
}

#[test]
fn a_program_has_a_prefix_of_its_own() {
    let variables = [("SHOP_SIZE", "3"), ("FERRUM_OTHER", "x"), ("SHOP_SIZES", "4")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let registry = Registry::of(Environment::new("shop_", SettingsFile::default(), variables));
    let settings = OwnPrefix::new();
    registry.register_settings(settings).expect("a new name");
    assert_eq!(settings.size.get(), 3);
    let unknown = "SHOP_SIZES is set, but no such variable exists so far; did you mean SHOP_SIZE?";
    assert_eq!(registry.unknown_environment(), [unknown]);
}

crate::cvars! {
    /// What a program finds.
    struct Found {
        /// A name.
        name: Text = "" => { name: "found_name", scope: Readonly },
    }
}

#[test]
fn a_variable_that_is_only_read_has_no_value_from_outside() {
    let variables = [("FERRUM_FOUND_NAME".to_owned(), "x".to_owned())];
    let (registry, found) = (Registry::with_environment(variables), Found::new());
    registry.register_settings(found).expect("a new name");
    assert_eq!(found.name.get(), "");
    let errors = registry.startup_errors();
    assert!(errors.len() == 1 && errors[0].contains("is only read"), "{errors:?}");
}

#[test]
fn the_environment_sets_values_by_one_rule_of_names() {
    let (registry, block) = registry(&[
        ("FERRUM_P2P_EAGER_LIMIT", "64k"),
        ("FERRUM_WAIT_POLICY", "Spin"),
        ("FERRUM_SINGLE_COPY", "yes"),
        ("FERRUM_TOOL_PATH", "/a b"),
        ("FERRUM_PART", "0.25"),
        ("OTHER_PART", "7"),
    ]);
    assert_eq!((block.size.get(), block.policy.get(), block.on.get()), (65536, 0, true));
    assert_eq!((block.text.get().as_str(), block.part.get()), ("/a b", 0.25));
    assert!(registry.startup_errors().is_empty() && registry.unknown_environment().is_empty());
}

#[test]
fn a_bad_value_is_a_sentence_and_changes_nothing() {
    let (registry, block) = registry(&[
        ("FERRUM_P2P_EAGER_LIMIT", "2M"),
        ("FERRUM_WAIT_POLICY", "1"),
        ("FERRUM_SINGLE_COPY", "maybe"),
        ("FERRUM_PART", "nan"),
    ]);
    assert_eq!((block.size.get(), block.policy.get(), block.on.get(), block.part.get()), (10, 2, false, 0.5));
    assert_eq!(
        registry.startup_errors(),
        [
            "FERRUM_P2P_EAGER_LIMIT is \"2M\", but p2p_eager_limit takes a whole number from 0 to 1048576 (bytes)",
            "FERRUM_WAIT_POLICY is \"1\", but wait_policy takes one of spin, sleep",
            "FERRUM_SINGLE_COPY is \"maybe\", but single_copy takes one of off, on",
            "FERRUM_PART is \"nan\", but part takes a number from 0 to 1",
        ]
    );
}

#[test]
fn options_win_over_the_environment_and_that_over_the_file() {
    let file = SettingsFile::parse("/f", b"p2p_eager_limit = 1\nwait_policy = spin\npart = 2\nFERRUM_TOOL_PATH = x\n");
    let registry = Registry::with_values(file, [("FERRUM_P2P_EAGER_LIMIT".to_owned(), "2".to_owned())]);
    registry.give_value("--cvar", "P2P_EAGER_LIMIT", "3");
    registry.give_value("--cvar", "single_copy", "3");
    let block = Block::new();
    registry.register_settings(block).expect("new names");
    assert_eq!((block.size.get(), block.policy.get(), block.text.get().as_str()), (3, 0, "x"));
    assert_eq!(
        registry.startup_errors(),
        [
            "--cvar single_copy is \"3\", but it takes one of off, on",
            "/f, line 3: part is \"2\", but it takes a number from 0 to 1",
        ]
    );
    let in_order = registry.startup_errors_with_source().into_iter().map(|(source, _)| source).collect::<Vec<_>>();
    assert_eq!(in_order, [Source::File(3), Source::Option { place: 1, name: "--cvar" }]);
}

#[test]
fn unknown_names_outside_the_environment_have_their_place_and_variables_to_mean() {
    let registry = Registry::with_values(SettingsFile::parse("/f", b"eager = 1\nrank = 1\n"), []);
    registry.reserve_environment(&["FERRUM_RANK_OF_ALL"]);
    registry.give_value("--cvar", "pard", "2");
    registry.register_settings(Block::new()).expect("new names");
    let reported: Vec<_> =
        registry.unknown_names().into_iter().map(|u| (u.source, u.is_near_another, u.sentence)).collect();
    let so_far = "but no such variable exists so far";
    assert_eq!(
        reported,
        [
            (
                Source::File(1),
                true,
                format!("/f, line 1: eager is set to \"1\", {so_far}; did you mean p2p_eager_limit?")
            ),
            (Source::File(2), false, format!("/f, line 2: rank is set to \"1\", {so_far}")),
            (
                Source::Option { place: 0, name: "--cvar" },
                true,
                format!("--cvar pard is set to \"2\", {so_far}; did you mean part?")
            ),
        ]
    );
}

#[test]
fn what_only_the_environment_can_set_is_refused_elsewhere() {
    let file = SettingsFile::parse("/f", b"other = x\neager_limit = 1\nferrum_settings = x\n");
    let registry = Registry::with_values(file, [("FERRUM_OTHER".to_owned(), "y".to_owned())]);
    registry.give_value("--cvar", "Settings", "s");
    registry.reserve_environment(&["FERRUM_SETTINGS", "FERRUM_MORE"]);
    registry.register_settings(Block::new()).expect("new names");
    let rule = "but no variable has this name; only the environment sets FERRUM_SETTINGS";
    let reported: Vec<_> = registry.startup_errors_with_source().into_iter().map(|(_, sentence)| sentence).collect();
    let due = [format!("/f, line 3: ferrum_settings is \"x\", {rule}"), format!("--cvar Settings is \"s\", {rule}")];
    assert_eq!(reported, due);
    let misspelt = registry.misspelt_in_file();
    assert!(matches!(&*misspelt, [(Source::File(2), text)] if text.ends_with("did you mean p2p_eager_limit?")));
}

#[test]
fn a_value_set_by_a_launchers_option_is_reported_as_the_option() {
    let (registry, block) = registry(&[
        ("FERRUM_CVARS_READ", "part Single_Copy pard absent"),
        ("FERRUM_PART", "0.25"),
        ("FERRUM_SINGLE_COPY", "3"),
        ("FERRUM_PARD", "2"),
        ("FERRUM_POLICIES", "2"),
    ]);
    assert_eq!(block.part.get(), 0.25);
    assert_eq!(registry.startup_errors(), ["--cvar Single_Copy is \"3\", but it takes one of off, on"]);
    assert_eq!(
        registry.unknown_environment(),
        [
            "--cvar pard is set to \"2\", but no such variable exists so far; did you mean part?",
            "FERRUM_POLICIES is set, but no such variable exists so far",
        ]
    );
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest_known_one() {
    let (registry, _) = registry(&[
        ("FERRUM_P2P_EAGER_LIMT", "1"),
        ("FERRUM_EAGER_LIMIT", "1"),
        ("FERRUM_RANK", "0"),
        ("FERRUM_COMPLETELY_ELSE", "0"),
        ("ferrum_wait_policy", "spin"),
        ("Ferrum_Tool_Path", "x"),
    ]);
    registry.reserve_environment(&["FERRUM_RANK"]);
    assert_eq!(
        registry.unknown_environment(),
        [
            "FERRUM_COMPLETELY_ELSE is set, but no such variable exists so far",
            "FERRUM_EAGER_LIMIT is set, but no such variable exists so far; did you mean FERRUM_P2P_EAGER_LIMIT?",
            "FERRUM_P2P_EAGER_LIMT is set, but no such variable exists so far; did you mean FERRUM_P2P_EAGER_LIMIT?",
            "Ferrum_Tool_Path is set, but no such variable exists so far; did you mean FERRUM_TOOL_PATH?",
            "ferrum_wait_policy is set, but no such variable exists so far; did you mean FERRUM_WAIT_POLICY?",
        ]
    );
}
