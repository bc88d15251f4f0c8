//! Waits for ranks with which nothing was exchanged, when the host of these is lost (`tests/hosts/waits.c`).
//!
//! Not here: losses of ranks that have exchanged messages (`messages`, `windows`, `files`).

use std::path::Path;

use super::super::Report;
use super::super::network;
use super::cases;
use crate::lab::Lab;
use crate::peers::Library;
use crate::{Result, paths};

/// The link is cut before the processes are connected with each other, and after that.
const WAITS: &[(&str, &str, &[&str])] = &[
    ("waits: a link cut before the hosts are connected with", LINE_AT_ONCE, SAYS),
    ("waits: a link cut between ranks that have exchanged nothing", LINE_LATER, SAYS),
];
const LINE_AT_ONCE: &str = "export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h1,h2 -n 4 -ppn 2 $W/waits $W & up 4; lab cut 2; up 6; end_on 1 'waits /'; end_on 2 'waits /'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!; rm -f $W/up*";
const LINE_LATER: &str = "export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h1,h2 -n 4 -ppn 2 $W/waits $W & up 4; sleep 2; lab cut 2; up 6; end_on 1 'waits /'; end_on 2 'waits /'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!; rm -f $W/up*";
const SAYS: &[&str] = &[
    "rank 0: MPI_ERR_PROC_ABORTED ",
    "rank 3 on h2 is lost: nothing came from its host for 3 s",
    "rank 1: MPI_ERR_PROC_ABORTED ",
];

/// All cases.
pub fn run(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if network::skips_without_libfabric("waits", report) {
        return Ok(());
    }
    Library::ferrum(dist).compile(&paths::root().join("tests/hosts/waits.c"), &work.join("waits"), &[])?;
    cases(lab, dist, work, WAITS, report)
}
