//! A table of all ranks' performance variables at the end of a job, read from the job memory, so that it includes ranks
//! that died.
//!
//! `mpiexec` writes it; under another launcher, or without one, rank 0 does in `MPI_Finalize`, with what a process of each other
//! host sends of the ranks there.
//! Invariant: a rank's memory is input: whatever it contains, the table has one line for each variable.
//! Not here: the variables and their memory (mpi-fabric, mpi-t).

mod finalize_share;
mod of_hosts;
mod table;

use std::io::Write as _;

use mpi_t::Verbosity::UserBasic;
use mpi_t::{EnumDef, Text};

use crate::Job;
pub use finalize_share::FinalizeShare;
pub use of_hosts::{LONGEST_OF_RANK, message_of};
pub use table::{Row, Table};

const EXTENTS: EnumDef = EnumDef { name: "stats_at_end", items: &[(0, "off"), (1, "summary"), (2, "all")] };
const FORMATS: EnumDef = EnumDef { name: "stats_format", items: &[(0, "text"), (1, "json")] };

mpi_t::cvars! {
    /// Settings of the statistics at the end of a job.
    pub struct StatisticsSettings, verbosity: UserDetail {
        /// Whether a table of the ranks' performance variables is written when the job ends: one line for each variable
        /// that is not 0 everywhere, with the least and the greatest value, their ranks, the mean and the sum; states
        /// are counted by name. summary: counters and times of the processes and of MPI_COMM_WORLD; all: also levels,
        /// sizes and states, what the library counted for itself in MPI_Finalize, and all objects that were not freed,
        /// communicators by their names. Variables of plug-ins are included; arrays and watermarks are not. mpiexec
        /// writes the table, dead ranks included; under another launcher, or without one, rank 0 does in MPI_Finalize, of
        /// the ranks of all hosts. Takes effect for the whole job, so set it on all hosts, by file, environment or option.
        pub at_end: i32 = 0 => {
            name: "stats_at_end", unit: "", category: "stats", scope: Constant, states: &EXTENTS,
            verbosity: UserBasic },
        /// File that the table is written to; empty: the standard error output. Takes effect as stats_at_end does.
        pub file: Text = "" => { name: "stats_file", unit: "", category: "stats", scope: Constant },
        /// Form of the table: text, or JSON with one object a line and the values of all ranks (null: the rank has not
        /// used MPI). Takes effect as stats_at_end does.
        pub format: i32 = 0 => { name: "stats_format", unit: "", category: "stats", scope: Constant, states: &FORMATS },
    }
}

const SUMMARY: i32 = 1;

/// The name of a state's value, by the name of the variable; the job memory has only numbers.
pub type StateName<'a> = &'a dyn Fn(&str, i32) -> Option<&'static str>;

impl StatisticsSettings {
    /// Writes the table if the setting requests it. That of a spawned job has its name, also at the end of the file's.
    /// # Errors
    /// A sentence: the file cannot be written; then the table is on standard error.
    pub fn write(&self, job: &Job, state_name: StateName<'_>, name: Option<&str>) -> Result<(), String> {
        if self.at_end.get() == 0 {
            return Ok(());
        }
        self.write_table(&Table::read(job, self.is_summary(), state_name), name)
    }

    /// Whether the table has counters and times of the processes and of `MPI_COMM_WORLD` alone.
    pub fn is_summary(&self) -> bool {
        self.at_end.get() == SUMMARY
    }

    /// Writes a table, whether the setting requests it or not.
    /// # Errors
    /// As [`Self::write`].
    pub fn write_table(&self, table: &Table, name: Option<&str>) -> Result<(), String> {
        let text = if self.format.get() == 1 { table.json(name) } else { table.text(name) };
        let mut file = self.file.get().to_string();
        if !file.is_empty() {
            file += &name.map_or_else(String::new, |name| format!(".job{name}"));
        }
        let failure = if file.is_empty() { None } else { std::fs::write(&file, &text).err() };
        if file.is_empty() || failure.is_some() {
            // Standard error may be closed; then there is no place for the failure.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
        failure.map_or(Ok(()), |error| {
            Err(format!("stats_file is \"{file}\", but cannot be written: {error}; the table is on standard error"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::table::WORLD;
    use super::*;
    use crate::{Endpoint, JobInstruments, Life};
    use mpi_t::{Counter, Level, Size, State, Timer};

    mpi_t::instruments! {
        /// A block.
        struct TestBlock: Comm {
            /// Things.
            things: Counter = { name: "test_things", class: Counter, type: u64, unit: "things", category: "test" },
            /// How many.
            length: Level = { name: "test_length", class: Level, type: u32, unit: "things", category: "test" },
            /// What.
            state: State = { name: "test_state", class: State, type: i32, unit: "", category: "test" },
            /// A number without an order.
            number: Size = { name: "test_number", class: Generic, type: u64, unit: "", category: "test" },
            /// How long.
            time: Timer = { name: "test_time", class: Timer, type: f64, unit: "", category: "test" },
        }
    }

    fn name_of(variable: &str, value: i32) -> Option<&'static str> {
        (variable == "test_state" && value == -2).then_some("asleep")
    }

    fn place(memory: &JobInstruments, object: &str, things: u64) -> &'static TestBlock {
        let block: &'static TestBlock = mpi_t::place(memory, object);
        block.things.add(things);
        block
    }

    #[test]
    fn each_variable_has_one_line_with_both_ends_of_its_values() {
        let endpoints = Endpoint::threads(3).expect("memory for three ranks");
        let job = endpoints[0].job().clone();
        for (rank, things) in [(0, 4), (1, 1), (2, 10)] {
            let memory = endpoints[rank].instrument_memory();
            let block = place(&memory, WORLD, things);
            block.time.add_ns(1_500_000_000 * rank as u64);
            place(&memory, "other", 1).length.raise(2);
            place(&memory, "other", 2);
            if rank == 1 {
                place(&memory, "third", u64::MAX).state.set(-2);
            }
        }
        job.set_life(0, Life::Finalised);
        let text = Table::read(&job, true, &name_of).text(None);
        let words = |name: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.trim_start().starts_with(name)).expect(name);
            line.split_whitespace().skip(1).map(str::to_owned).collect()
        };
        assert!(text.contains("of 3 ranks\n") && text.contains("up to their end: rank 1, 2\n"), "{text}");
        assert_eq!(words("test_things"), ["1", "1", "5", "10", "2", "15", "things"]);
        let time = ["0.000000000", "0", "1.500000000", "3.000000000", "2", "4.500000000", "seconds"];
        assert_eq!(words("test_time"), time);
        assert!(!text.contains("other") && !text.contains("test_length"), "{text}");
        assert!(text.contains("Not in it: freed objects, arrays, high- and low-water marks"), "{text}");
        assert!(text.ends_with("absent, or count from when the handle was allocated.\n"), "{text}");
        let json = Table::read(&job, false, &name_of).json(None);
        let first =
            "{\"source\":\"statistics\",\"kind\":\"job\",\"ranks\":3,\"without_mpi\":[],\"without_finalize\":[1,2]}\n";
        assert!(json.starts_with(first), "{json}");
        for line in [
            "{\"source\":\"statistics\",\"kind\":\"variable\",\"object\":\"other\",\"variable\":\"test_things\",\"class\":\"counter\",\
             \"unit\":\"things\",\"values\":[3,3,3]}",
            "\"class\":\"counter\",\"unit\":\"things\",\"values\":[null,18446744073709551615,null]}",
            "\"variable\":\"test_state\",\"class\":\"state\",\"unit\":\"\",\"values\":[null,\"asleep\",null]}",
            "\"variable\":\"test_length\",\"class\":\"level\",\"unit\":\"things\",\"values\":[2,2,2]}",
        ] {
            assert!(json.lines().any(|found| found.ends_with(line)), "{line}: {json}");
        }
    }

    #[test]
    fn states_are_counted_by_name_and_only_amounts_have_a_mean() {
        let endpoints = Endpoint::threads(2).expect("memory for two ranks");
        for (rank, endpoint) in endpoints.iter().enumerate() {
            let block = place(&endpoint.instrument_memory(), "", 1);
            block.state.set(if rank == 0 { -2 } else { 5 });
            block.number.set(1 << 30);
            block.length.raise(3);
        }
        let text = Table::read(endpoints[0].job(), false, &name_of).text(None);
        let words = |name: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.trim_start().starts_with(name)).expect(name);
            line.split_whitespace().skip(1).map(str::to_owned).collect()
        };
        assert_eq!(words("test_state").join(" "), "asleep: 1 rank, 5: 1 rank");
        assert_eq!(words("test_number"), ["1073741824", "0", "-", "1073741824", "0", "-"]);
        assert_eq!(words("test_length"), ["3", "0", "3", "3", "0", "6", "things"]);
    }

    #[test]
    fn what_the_library_counts_in_finalize_is_not_the_programs() {
        let endpoints = Endpoint::threads(1).expect("memory for one rank");
        let (job, memory) = (endpoints[0].job(), endpoints[0].instrument_memory());
        let block: &'static TestBlock = place(&memory, "", 5);
        let share = FinalizeShare::begin(&memory);
        block.things.add(2);
        block.time.add_ns(1_000_000_000);
        share.record::<TestBlock>(&memory);
        let summary = Table::read(job, true, &name_of).text(None);
        let line = |text: &str, name: &str| {
            text.lines().filter(|line| line.contains(name)).map(str::to_owned).collect::<Vec<_>>()
        };
        let things = line(&summary, "test_things");
        assert!(things.len() == 1 && things[0].ends_with("5 things"), "{summary}");
        assert!(line(&summary, "test_time").is_empty(), "{summary}");
        let all = Table::read(job, false, &name_of).text(None);
        assert!(all.contains("  MPI_Finalize ") && line(&all, "test_things").len() == 2, "{all}");
        assert!(line(&all, "test_time").len() == 1, "{all}");
    }

    #[test]
    fn a_job_without_mpi_has_no_numbers() {
        let job = Job::create(&crate::JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).expect("memory");
        assert_eq!(Table::read(&job, false, &name_of).text(None), "Ferrum MPI statistics: no rank has used MPI\n");
        let json =
            "{\"source\":\"statistics\",\"kind\":\"job\",\"ranks\":2,\"without_mpi\":[0,1],\"without_finalize\":[]}\n";
        assert_eq!(Table::read(&job, false, &name_of).json(None), json);
        let settings = StatisticsSettings::new();
        settings.write(&job, &name_of, None).expect("off");
        settings.at_end.set(2);
        mpi_t::Cell::write(&settings.file, &mpi_t::Value::Text("/nonexistent/x".into())).expect("a text");
        let error = settings.write(&job, &name_of, None).expect_err("no such folder");
        assert!(error.starts_with("stats_file is \"/nonexistent/x\", but cannot be written: No such file"), "{error}");
    }
}
