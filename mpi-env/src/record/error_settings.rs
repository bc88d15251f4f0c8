//! The control variables of error reports, which `mpiexec` uses as well.
//!
//! Not here: the texts (mpi-errors, `mpiexec`).

use mpi_t::EnumDef;
use mpi_t::Verbosity::UserBasic;

const FORMATS: EnumDef = EnumDef { name: "error_format", items: &[(0, "text"), (1, "json")] };
const COLORS: EnumDef = EnumDef { name: "error_color", items: &[(0, "auto"), (1, "on"), (2, "off")] };
const VERBOSITIES: EnumDef = EnumDef { name: "error_verbosity", items: &[(0, "brief"), (1, "normal"), (2, "full")] };

mpi_t::cvars! {
    /// The form of error reports.
    pub struct ErrorSettings, verbosity: UserDetail {
        /// The form of what is said of failures on the standard error output, by mpiexec, and by the library of
        /// warnings and of the error that ends a process: lines for people, or one JSON object on one line with the
        /// same facts. `mpiexec --error-format` sets it for all processes.
        pub format: i32 = 0 =>
            { name: "error_format", unit: "", category: "errors", scope: Local, states: &FORMATS },
        /// Whether the report of a fatal error has colours. With auto it has them on a terminal, unless NO_COLOR is
        /// set.
        pub color: i32 = 0 =>
            { name: "error_color", unit: "", category: "errors", scope: Local, states: &COLORS },
        /// How much the report of a fatal error says. Brief: one line with rank, call, what was wrong and the class;
        /// normal: what to try and what happens now as well; full: also the last calls of the process, as many as the
        /// flight recorder remembers (fabric_recorder_depth), at most 10. JSON has the last calls with full, and else
        /// the same. With full, each call of MPI_T that fails prints a line with the reason as well.
        pub verbosity: i32 = 1 =>
            { name: "error_verbosity", unit: "", category: "errors", scope: Local, states: &VERBOSITIES,
              verbosity: UserBasic },
    }
}

impl ErrorSettings {
    /// Whether failures are reported as JSON.
    pub fn is_json(&self) -> bool {
        self.format.get() == 1
    }
}
