//! Locks of windows whose processes are on several hosts, and long operations on their memory, when the host of some of them is lost
//! (`tests/hosts/windows.c`).
//!
//! Not here: the conformance programs about windows, which `messages` runs with those of other chapters.

use std::path::Path;

use super::super::Report;
use super::super::network;
use super::cases;
use crate::lab::Lab;
use crate::peers::Library;
use crate::{Result, paths};

/// Rank 2 is lost with the lock of rank 0, and rank 3 with its own.
const WINDOWS: &[(&str, &str, &[&str])] = &[
    (
        "windows: a link cut, and the lock of a lost holder goes to those that wait",
        "export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h1,h2 -n 4 -ppn 2 $W/windows lost $W & up 4; sleep 1; lab cut 2; up 6; end_on 1 'windows lost'; end_on 2 'windows lost'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!; rm -f $W/up*",
        &[
            "rank 0: the own lock of a lost holder: done",
            "rank 0: its end: done",
            "rank 1: a lock of a lost rank: MPI_ERR_PROC_ABORTED",
            "rank 3 on h2 is lost: nothing came from its host for 3 s",
            "rank 1: a lock of a lost holder: done",
            "rank 1: its end: done",
            "rank 1: found 7\n",
            "rank 1: all locks: MPI_ERR_PROC_ABORTED",
            "rank 0: the lock again: done",
            "rank 0: the end again: done",
        ],
    ),
    (
        "windows: a link cut, and a process that sleeps grants the lock of a lost holder",
        "export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h1,h2 -n 4 -ppn 2 $W/windows lost-asleep $W & up 4; sleep 1; lab cut 2; up 6; end_on 1 'windows lost'; end_on 2 'windows lost'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!; rm -f $W/up*",
        &[
            "rank 1: a lock of a lost holder: done",
            "rank 1: its end: done",
            "rank 1: found 7\n",
            "rank 1: all locks: MPI_ERR_PROC_ABORTED",
            "rank 0: a message: done",
            "rank 0: the lock again: done",
        ],
    ),
    (
        "windows: a link cut in MPI_Rput and MPI_Rget",
        "export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h1,h2 -n 4 -ppn 2 $W/windows long $W & up 2; lab cut 2; up 4; end_on 1 'windows long'; end_on 2 'windows long'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!; rm -f $W/up*",
        LONG,
    ),
];

/// What is printed in the last case.
const LONG: &[&str] = &[
    "rank 0: MPI_Rput: MPI_ERR_PROC_ABORTED",
    "rank 1: MPI_Rget: MPI_ERR_PROC_ABORTED",
    "rank 0: another operation: MPI_ERR_PROC_ABORTED",
    "rank 1: the unlock: MPI_ERR_PROC_ABORTED",
    "rank 0: goes on with rank 1\n",
    "rank 1: goes on with rank 0\n",
];

/// All cases.
pub fn run(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if network::skips_without_libfabric("windows", report) {
        return Ok(());
    }
    let source = paths::root().join("tests/hosts/windows.c");
    Library::ferrum(dist).compile(&source, &work.join("windows"), &[])?;
    cases(lab, dist, work, WINDOWS, report)
}
