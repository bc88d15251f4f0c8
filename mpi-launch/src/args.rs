//! The command line of `mpiexec` (MPI-4.1, 11.5): from words to a command, or to one sentence that names the fault.
//!
//! - `parse`: groups, options and their values.
//! - `foreign`: options of other launchers.
//! - `names`, `value`, `soft`, `hosts`, `words`: the options' names, single values, the lists of `-soft` and `-host`, files
//!   of options.
//! - `types`, `error`, `help`: the parsed command, its errors, the help text.
//!
//! Invariant: the parser changes nothing, and reads only the files that the command line names.
//! Not here: whether programs, directories and hosts exist (`mpiexec`).

mod error;
mod foreign;
mod help;
mod hosts;
mod manager;
mod names;
mod parse;
mod rank_list;
mod soft;
#[cfg(test)]
mod tests;
mod types;
mod value;
mod words;

pub use error::ArgsError;
pub use help::HELP;
pub use hosts::{HostEntry, HostFile, MapBy, hosts_of};
pub use manager::{MANAGER, manager_of};
pub use parse::{ReadFile, options_of, parse, read_file, spawned};
pub use rank_list::RankList;
pub use soft::Soft;
pub use types::{Bind, Command, ErrorFormat, Group, Input, Listing, Manager, ManagerKind, Options, Run, Variable};
pub use value::{TIME_LIMIT, time_limit};
