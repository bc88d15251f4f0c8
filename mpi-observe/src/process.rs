//! What the system reports of a process.
//!
//! Not here: what the process does in the library (`view`).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// It computes, or could.
    Running,
    /// It waits.
    Sleeping,
    /// It waits inside the system and cannot be interrupted.
    WaitingForSystem,
    /// A signal or a debugger has stopped it.
    Stopped,
    /// It has ended, and nobody has collected its exit code.
    Ended,
    /// The system reports something else.
    Unknown,
}

impl ProcessState {
    /// The state as text.
    pub fn name(self) -> &'static str {
        match self {
            ProcessState::Running => "running",
            ProcessState::Sleeping => "sleeping",
            ProcessState::WaitingForSystem => "waiting for the system",
            ProcessState::Stopped => "stopped",
            ProcessState::Ended => "ended",
            ProcessState::Unknown => "in an unknown state",
        }
    }

    /// The state with this text; [`ProcessState::Unknown`] if no state has it.
    pub fn named(text: &str) -> ProcessState {
        use ProcessState::*;
        let states = [Running, Sleeping, WaitingForSystem, Stopped, Ended];
        states.into_iter().find(|state| state.name() == text).unwrap_or(Unknown)
    }
}

/// State and processor time of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessFacts {
    /// Its state.
    pub state: ProcessState,
    /// Seconds of processor time that all of its threads have used.
    pub cpu_seconds: f64,
}

/// The facts of a process; `None` where the system does not report it.
pub fn facts(pid: u32) -> Option<ProcessFacts> {
    facts_of(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn facts_of(stat: &str) -> Option<ProcessFacts> {
    // The second field is the program's name in parentheses, and may hold anything.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = match fields.next()? {
        "R" => ProcessState::Running,
        "S" | "I" => ProcessState::Sleeping,
        "D" => ProcessState::WaitingForSystem,
        "T" | "t" => ProcessState::Stopped,
        "Z" | "X" => ProcessState::Ended,
        _ => ProcessState::Unknown,
    };
    let mut ticks = fields.skip(10).map(|field| field.parse::<u64>().unwrap_or(0));
    let (user, system) = (ticks.next()?, ticks.next()?);
    // The kernel counts for programs in hundredths of a second.
    Some(ProcessFacts { state, cpu_seconds: (user + system) as f64 / 100.0 })
}

/// The process that started a process, or has taken it over; `None` where the system does not report it.
pub fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat[stat.rfind(')')? + 1..].split_whitespace().nth(1)?.parse().ok()
}

/// The user that a process runs as; `None` if there is no such process.
pub fn user(pid: u32) -> Option<u32> {
    fs::metadata(format!("/proc/{pid}")).ok().map(|facts| facts.uid())
}

/// The file of the program that a process runs; `None` where the system does not permit to see it.
pub fn program(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The command line of a process, its words separated by blanks, without control characters; empty if it has none.
pub fn command(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let words: Vec<&str> = text.split('\0').filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_line_about_a_process_is_read_whatever_its_name() {
        let stat = "17 (a) R (b) S 1 17 17 0 -1 4194304 100 0 0 0 150 25 0 0 20 0 1 0 5";
        assert_eq!(facts_of(stat), Some(ProcessFacts { state: ProcessState::Sleeping, cpu_seconds: 1.75 }));
        assert_eq!(facts_of("nonsense"), None);
        assert_eq!(facts_of(") R"), None);
    }

    #[test]
    fn this_process_is_found() {
        assert!(facts(std::process::id()).is_some() && user(std::process::id()).is_some());
        assert!(!command(std::process::id()).is_empty());
        assert_eq!(parent(std::process::id()), Some(std::os::unix::process::parent_id()));
        assert_eq!(program(std::process::id()), std::env::current_exe().ok());
        assert_eq!((facts(0), user(0), program(0)), (None, None, None));
    }
}
