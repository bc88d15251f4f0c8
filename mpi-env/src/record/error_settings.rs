//! The control variables of error reports, which `mpiexec` uses as well.
//!
//! Not here: the texts (mpi-errors, `mpiexec`).

use mpi_t::EnumDef;
use mpi_t::Verbosity::UserBasic;

const FORMATS: EnumDef = EnumDef { name: "error_format", items: &[(0, "text"), (1, "json")] };
const COLORS: EnumDef = EnumDef { name: "error_color", items: &[(0, "auto"), (1, "on"), (2, "off")] };
const VERBOSITIES: EnumDef = EnumDef { name: "error_verbosity", items: &[(0, "brief"), (1, "normal"), (2, "full")] };

mpi_t::cvars! {
    /// Settings of error reports.
    pub struct ErrorSettings, verbosity: UserDetail {
        /// Form of failure reports on the standard error output, those of mpiexec and the library's warnings and fatal
        /// errors: text, or json with the same facts in one object on one line. `mpiexec --error-format` sets it for
        /// all processes. Takes effect with the next report.
        pub format: i32 = 0 =>
            { name: "error_format", unit: "", category: "errors", scope: Local, states: &FORMATS },
        /// Whether the report of a fatal error has colours; auto: on a terminal, unless NO_COLOR is set. Takes effect
        /// with the next report.
        pub color: i32 = 0 =>
            { name: "error_color", unit: "", category: "errors", scope: Local, states: &COLORS },
        /// Level of detail of a fatal error's report. brief: one line with rank, call, mistake and class; normal: also
        /// advice and the consequence; full: also the process's last calls, as many as the flight recorder stores
        /// (fabric_recorder_depth), at most 10. json reports differ only in the last calls. With full, each failed call
        /// of MPI_T prints a line with the reason. Takes effect with the next report.
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
