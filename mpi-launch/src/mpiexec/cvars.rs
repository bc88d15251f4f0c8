//! The text of `--help-cvars`: each control variable with what it takes and does.
//!
//! Not here: the variables (`variables`).

use mpi_t::{CvarInfo, Registry, Scope, Value, expectation};

use crate::variables;

/// Lines are at most so long.
const WIDTH: usize = 92;
const INDENT: &str = "      ";

/// Variables whose first value is chosen when the job starts, unless it is given.
const CHOSEN: [&str; 3] = ["fabric_ring_bytes", "p2p_wait_spins", "p2p_wait_yields"];

/// All variables, in the order of their names.
pub(super) fn help() -> String {
    let registry = Registry::with_environment([]);
    let mut text = String::from(
        "Control variables of the library, each with the value that it begins with, what it takes,\n\
         and what it does. Set one by --cvar NAME=VALUE; else by FERRUM_NAME (in capitals) in the\n\
         environment; else by a line NAME = VALUE in a settings file (--settings). Whole numbers may\n\
         end in k, M or G (1024, 1024 k, 1024 M). Programs and tools set them by MPI_T_cvar_write,\n\
         but for those that can be set before the start only.\n",
    );
    // Names that two variables have are refused by every process.
    if variables::register(&registry).is_err() || registry.init_thread().is_err() {
        return text;
    }
    let count = registry.cvar_get_num().unwrap_or(0);
    let mut all: Vec<&CvarInfo> = (0..count).filter_map(|index| registry.cvar_get_info(index).ok()).collect();
    all.sort_by_key(|info| info.name());
    all.iter().for_each(|info| text += &about(info));
    text
}

fn about(info: &CvarInfo) -> String {
    let definition = &info.definition;
    let initial = match info.read() {
        _ if CHOSEN.contains(&definition.name) => "chosen when the job starts".to_owned(),
        Some(Value::Text(text)) if text.is_empty() => "empty".to_owned(),
        Some(Value::I32(value)) => name_of(info, value),
        Some(value) => value.to_string(),
        None => "each communicator's own".to_owned(),
    };
    let all = if matches!(definition.scope, Scope::AllEq | Scope::GroupEq) { "; alike in all processes" } else { "" };
    let early = if definition.scope.is_writable() { "" } else { "; set before the start only" };
    let mut text = format!("\n  {} = {initial}\n", definition.name);
    text += &format!("{INDENT}{}{all}{early}\n", expectation(definition));
    let mut line = INDENT.to_owned();
    for word in definition.description.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            text += &format!("{}\n", line.trim_end());
            line = INDENT.to_owned();
        }
        line += &format!("{word} ");
    }
    text + line.trim_end() + "\n"
}

/// A value by its name, if it has one.
fn name_of(info: &CvarInfo, value: i32) -> String {
    let named = info.definition.states.and_then(|states| states.items.iter().find(|(item, _)| *item == value));
    named.map_or_else(|| value.to_string(), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_has_its_first_value_what_it_takes_and_a_text() {
        let text = help();
        for part in [
            "\n  p2p_eager_limit = 16384\n      takes a whole number from 0 to 1073741824 (bytes)\n      Longest message",
            "\n  coll_shape = auto\n      takes one of auto, flat, tree; alike in all processes\n",
            "\n  win_direct = on\n      takes one of off, on\n",
            "\n  coll_split_limit = 16384\n      takes a whole number from 0 up (bytes); alike in all processes\n",
            "\n  fabric_ring_bytes = chosen when the job starts\n",
            "\n  stats_at_end = off\n      takes one of off, summary, all; set before the start only\n",
            "\n  p2p_comm_eager_limit = each communicator's own\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        let names = |prefix: &str| text.lines().filter(|line| line.starts_with("  ") && line.contains(prefix)).count();
        assert!(CHOSEN.iter().all(|name| names(&format!("  {name} = ")) == 1));
    }
}
