//! The command line of `mpiexec` (MPI-4.1, 11.5): from words to a command, or to one sentence that names the fault.
//!
//! - `parse`: groups, options and their values.
//! - `foreign`: options of other launchers.
//! - `names`, `value`, `soft`, `words`: the options' names, single values, the lists of `-soft`, files of options.
//! - `types`, `error`, `help`: the parsed command, its errors, the help text.
//!
//! Invariant: the parser changes nothing, and reads only the files that the command line names.
//! Not here: whether programs, directories and hosts exist (`mpiexec`).

mod error;
mod foreign;
mod help;
mod names;
mod parse;
mod soft;
#[cfg(test)]
mod tests;
mod types;
mod value;
mod words;

pub use error::ArgsError;
pub use help::HELP;
pub use parse::{ReadFile, options_of, parse, spawned};
pub use soft::Soft;
pub use types::{Bind, Command, ErrorFormat, Group, Input, Listing, Options, Run, Variable};
pub use value::{TIME_LIMIT, time_limit};
