//! What a run leaves behind: processes of its program, and names in `/dev/shm` and in the folder for its temporary files.
//!
//! Invariant: what was there before the run is not the run's. A name in `/dev/shm` that stays is reported by each run beside the
//! one that made it. Not here: files that a program keeps elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long processes that end may take to be gone after their launcher has ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shared memory with names.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// The files before a run.
pub struct Before {
    files: BTreeSet<PathBuf>,
    temporary: PathBuf,
}

impl Before {
    /// Looks at `/dev/shm` and at the folder for temporary files.
    pub fn new(temporary: &Path) -> Before {
        Before { files: of_a_run(temporary), temporary: temporary.to_owned() }
    }

    /// What is left after the run of a program; `None`: nothing.
    pub fn left(&self, program: &Path) -> Option<String> {
        let end = Instant::now() + PATIENCE;
        loop {
            let processes = processes(program);
            let new: Vec<PathBuf> = of_a_run(&self.temporary).difference(&self.files).cloned().collect();
            if processes.is_empty() && new.is_empty() {
                return None;
            }
            if Instant::now() > end {
                return Some(format!("left processes {processes:?} and files {new:?}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn of_a_run(temporary: &Path) -> BTreeSet<PathBuf> {
    [Path::new(SHARED_MEMORY), temporary].into_iter().flat_map(files).collect()
}

/// The files of a folder; none of one that cannot be read.
pub fn files(folder: impl AsRef<Path>) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The processes that execute a program.
fn processes(program: &Path) -> Vec<u32> {
    let number = |entry: fs::DirEntry| entry.file_name().to_string_lossy().parse::<u32>().ok();
    let executes = |pid: &u32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|file| file == program);
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(number).filter(executes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_and_files_that_stay_are_found_and_those_from_before_are_not() {
        let folder = std::env::temp_dir().join(format!("ferrum-leftovers-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("old"), "").unwrap();
        let before = Before::new(&folder);
        assert_eq!(before.left(Path::new("/nowhere/program")), None);
        fs::write(folder.join("new"), "").unwrap();
        let own = std::env::current_exe().unwrap();
        let left = before.left(&own).unwrap();
        assert!(
            left.contains(&std::process::id().to_string()) && left.contains("new") && !left.contains("old"),
            "{left}"
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
