//! `mpi-info`: version, build and machine, and the variables, categories and events of the library.
//!
//! - `machine`: facts of the build and of this machine. `entries`: the catalog as entries with filters.
//! - `missing`: the sentences for what does not exist.
//!
//! Invariant: starts no job and loads no library. Not here: the catalog (`mpi-launch`).

mod entries;
mod machine;
mod missing;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use entries::{Filter, Kind, Level};
use missing::Missing;
use mpi_observe::words;

/// Version, build and machine of this MPI library, and all its variables, categories and events.
///
/// Without an option: version, build and machine, and what there is in each category. With WORDs: what contains all of
/// them, in name, text, category, class or unit.
#[derive(Parser)]
#[command(name = "mpi-info", version = concat!("(Ferrum MPI) ", env!("CARGO_PKG_VERSION")), after_help = AFTER)]
struct Options {
    /// Only entries that contain all of these, in any case
    words: Vec<String>,
    /// All: control and performance variables, event types, categories
    #[arg(long, short)]
    all: bool,
    /// Control variables
    #[arg(long)]
    cvars: bool,
    /// Performance variables
    #[arg(long)]
    pvars: bool,
    /// Event types
    #[arg(long)]
    events: bool,
    /// Categories
    #[arg(long)]
    categories: bool,
    /// Only entries of this name
    #[arg(long)]
    name: Option<String>,
    /// Only entries of this category and those below it
    #[arg(long)]
    category: Option<String>,
    /// Only performance variables of this class: counter, timer, level, state, ...
    #[arg(long)]
    class: Option<String>,
    /// Only entries for these readers and those before them
    #[arg(long, value_enum)]
    verbosity: Option<Level>,
    /// One line an entry, without its text
    #[arg(long, conflicts_with = "json")]
    short: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

const AFTER: &str = "Examples:
  mpi-info                          what this is, and what the machine offers
  mpi-info --cvars --category p2p   how messages between two processes can be tuned
  mpi-info unexpected               everything about unexpected messages
  mpi-info --all --json             the whole catalog, for programs";

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) if error.use_stderr() => {
            eprint!("{}", words::usage_error("mpi-info", &error.to_string()));
            return WRONG.into();
        }
        Err(text) => text.exit(),
    };
    match text(&options) {
        Ok(text) => match std::io::stdout().lock().write_all(text.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => fail(1, &format!("cannot write: {error}")),
            _ => ExitCode::SUCCESS,
        },
        Err(Missing::Wrong(sentence)) => fail(WRONG, &sentence),
        Err(Missing::Nothing(sentence)) => fail(1, &sentence),
    }
}

/// The exit code for a wrong command line.
const WRONG: u8 = 2;

fn fail(code: u8, sentence: &str) -> ExitCode {
    eprintln!("mpi-info: {sentence}");
    code.into()
}

fn text(options: &Options) -> Result<String, Missing> {
    let filter = Filter {
        words: options.words.clone(),
        name: options.name.clone(),
        category: options.category.clone(),
        class: options.class.clone(),
        level: options.verbosity,
    };
    let chosen = [
        (options.cvars, Kind::Cvar),
        (options.pvars, Kind::Pvar),
        (options.events, Kind::Event),
        (options.categories, Kind::Category),
    ];
    let any_kind = chosen.iter().any(|(wanted, _)| *wanted);
    let kinds: Vec<Kind> = chosen.iter().filter(|(wanted, _)| *wanted || !any_kind).map(|(_, kind)| *kind).collect();
    let only_facts = !any_kind && !options.all && filter.is_empty();
    if only_facts && options.json {
        return Ok(machine::json() + "\n");
    }
    if only_facts {
        return Ok(machine::text() + &entries::overview());
    }
    let found = entries::find(&kinds, &filter)?;
    let is_all = options.all && filter.is_empty() && !any_kind;
    Ok(match options.json {
        true if is_all => machine::json() + "\n" + &entries::json(&found),
        true => entries::json(&found),
        false if options.short => entries::short(&found),
        false => entries::long(&found),
    })
}
