//! Jobs on several hosts that start others or connect with them (`tests/hosts/jobs.c`).
//!
//! Not here: the same on one host (`conformance`), ranks of one host on the network (`network`).

use std::path::Path;

use super::super::{Report, network};
use super::cases;
use crate::lab::Lab;
use crate::peers::Library;
use crate::{Result, paths};

const JOBS: &[(&str, &str, &[&str])] = &[
    (
        "jobs: spawn on all hosts of the job",
        "hydra -n 4 -host h1,h2 $W/jobs spawn 4 -; echo code $?",
        &["children: h1 h1 h2 h2\n", "code 0\n"],
    ),
    (
        "jobs: spawn on another host",
        "hydra -n 2 -host h1,h2 $W/jobs spawn 2 h3; echo code $?",
        &["children: h3 h3\n", "code 0\n"],
    ),
    (
        "jobs: spawn on the host of mpiexec",
        "hydra -n 2 -host h1,h2 $W/jobs spawn 3 h1; echo code $?",
        &["children: h1 h1 h1\n", "code 0\n"],
    ),
    (
        "jobs: spawn of two programs",
        "hydra -n 4 -host h1,h2 $W/jobs multiple; echo code $?",
        &["children: h2 h1 h1\n", "code 0\n"],
    ),
    (
        "jobs: a spawned job spawns",
        "hydra -n 2 -host h1,h2 $W/jobs nested -; echo code $?",
        &["children: h1 h2\n", "grandchildren: h1 h2\n", "code 0\n"],
    ),
    (
        "jobs: a spawned job on one host spawns",
        "hydra -n 2 -host h1,h2 $W/jobs nested h1; echo code $?",
        &["children: h1 h1\n", "grandchildren: h1 h2\n", "code 0\n"],
    ),
    (
        "jobs: PRRTE",
        "prrte --manager prterun -n 2 -host h1,h2 $W/jobs spawn 2 -; echo code $?",
        &["children: h1 h2\n", "code 0\n"],
    ),
    (
        "jobs: spawn under Hydra alone",
        "hydra_alone -hosts h1,h2 -n 4 -ppn 2 $W/jobs spawn 2 -; echo code $?",
        &["children: h", "code 0\n"],
    ),
    (
        "jobs: spawn under PRRTE alone",
        "prterun_alone --host h1:4,h2:4 --map-by node --bind-to none -n 4 $W/jobs spawn 2 -; echo code $?",
        &["children: h", "code 0\n"],
    ),
    (
        "jobs: spawn under PRRTE alone by a job on another host",
        "prterun_alone --host h1:2,h2:2 --bind-to none -n 2 $W/jobs spawn 2 -; echo code $?",
        &["children: h2 h2\n", "code 0\n"],
    ),
    (
        "jobs: a program without MPI_Init under PRRTE alone",
        "prterun_alone --host h1:4 --bind-to none -x FERRUM_LAUNCHER_TIMEOUT=1 -n 2 $W/jobs missing /bin/sleep 12; echo code $?",
        &["refused\n", "code 0\n"],
    ),
    (
        "jobs: no such program",
        "hydra -n 2 -host h1,h2 $W/jobs missing /nonexistent/program; echo code $?",
        &["refused\n", "code 0\n"],
    ),
    (
        "jobs: a killed child",
        "hydra -n 2 -host h1,h2 $W/jobs child-dies; echo code $?; gone 1 jobs; gone 2 jobs",
        &["was killed by signal 9 (SIGKILL)", "code 137\n", "gone from h1\ngone from h2\n"],
    ),
    (
        "jobs: a killed parent",
        "hydra -n 2 -host h1,h2 $W/jobs parent-dies; echo code $?; gone 1 jobs; gone 2 jobs",
        &[
            "rank 1 of 2 ($W/jobs) on host h2 was killed by signal 9 (SIGKILL)",
            "code 137\n",
            "gone from h1\ngone from h2\n",
        ],
    ),
    (
        "jobs: two jobs on the same hosts connect",
        "rm -f $W/port; hydra -n 4 -host h1,h2 $W/jobs accept $W/port & hydra -n 2 -host h1,h2 $W/jobs connect $W/port; echo code $?; wait $!; echo code $?",
        &["accept: connected and parted\n", "connect: connected and parted\n", "code 0\n", "code 0\n"],
    ),
    (
        "jobs: one job on one host connects",
        "rm -f $W/port; hydra -n 2 -host h1,h2 $W/jobs accept $W/port & lab run 3 $B/mpiexec -n 2 $W/jobs connect $W/port; echo code $?; wait $!; echo code $?",
        &["accept: connected and parted\n", "connect: connected and parted\n", "code 0\n", "code 0\n"],
    ),
    (
        "jobs: two jobs on one host each connect",
        "rm -f $W/port; lab run 1 $B/mpiexec -n 2 $W/jobs accept $W/port & lab run 3 $B/mpiexec -n 2 $W/jobs connect $W/port; echo code $?; wait $!; echo code $?",
        &["accept: connected and parted\n", "connect: connected and parted\n", "code 0\n", "code 0\n"],
    ),
    (
        "jobs: a name published in a folder",
        "rm -rf $W/names; mkdir -m 700 $W/names; export FERRUM_NET_NAMES_FOLDER=$W/names; lab run 1 $B/mpiexec -n 2 $W/jobs publish lab & lab run 3 $B/mpiexec -n 1 $W/jobs taken lab; lab run 2 $B/mpiexec -n 2 $W/jobs look lab; echo code $?; wait $!; echo code $?; ls $W/names | wc -l",
        &[
            "on host h1 has the file $W/names/ferrum-name-",
            "publish: connected and parted\n",
            "look: connected and parted\n",
            "code 0\n",
            "code 0\n0\n",
        ],
    ),
    (
        "jobs: a name published in a folder by several hosts",
        "rm -rf $W/names; mkdir -m 700 $W/names; export FERRUM_NET_NAMES_FOLDER=$W/names; hydra -n 2 -host h1,h2 $W/jobs publish lab & hydra -n 2 -host h3,h2 $W/jobs look lab; echo code $?; wait $!; echo code $?; ls $W/names | wc -l",
        &["publish: connected and parted\n", "look: connected and parted\n", "code 0\n", "code 0\n0\n"],
    ),
    (
        "jobs: a name of a killed process",
        "rm -rf $W/names; mkdir -m 700 $W/names; export FERRUM_NET_NAMES_FOLDER=$W/names; lab run 1 $B/mpiexec -n 1 $W/jobs publish lab & for _ in $(seq 400); do ls $W/names | grep -q ferrum && break; sleep 0.05; done; end_on 1 'jobs publish'; wait $!; echo code $?; ls $W/names | wc -l; OLD=$(ls -i $W/names); lab run 1 $B/mpiexec -n 2 $W/jobs publish lab & for _ in $(seq 400); do [ \"$(ls -i $W/names)\" = \"$OLD\" ] || break; sleep 0.05; done; lab run 2 $B/mpiexec -n 2 $W/jobs look lab; echo code $?; wait $!; echo code $?",
        &["code 137\n1\n", "publish: connected and parted\n", "look: connected and parted\n", "code 0\n", "code 0\n"],
    ),
    (
        "jobs: the other job is killed",
        "rm -f $W/port; hydra -n 2 -host h1,h2 $W/jobs errors $W/port & lab run 3 $B/mpiexec -n 1 $W/jobs errors-victim $W/port; echo code $?; wait $!; echo code $?",
        &["the others are lost\n", "code 137\n", "code 0\n"],
    ),
];

/// The same under Slurm.
const SLURM_JOBS: &[(&str, &str, &[&str])] =
    &[("jobs: Slurm", "slurm -n 2 -ppn 1 $W/jobs spawn 2 -; echo code $?", &["children: h1 h2\n", "code 0\n"])];

/// All cases.
pub fn run(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if network::skips_without_libfabric("jobs", report) {
        return Ok(());
    }
    Library::ferrum(dist).compile(&paths::root().join("tests/hosts/jobs.c"), &work.join("jobs"), &[])?;
    cases(lab, dist, work, JOBS, report)
}

/// The cases under Slurm.
pub fn run_in_slurm(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    match network::has_libfabric() {
        true => cases(lab, dist, work, SLURM_JOBS, report),
        false => Ok(()),
    }
}
