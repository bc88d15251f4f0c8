//! Files that processes of several hosts open together (`tests/hosts/files.c`): the same file, different ones of one name,
//! with locks and without, and a process that is lost.
//!
//! Not here: the conformance programs about files, which `messages` runs with those of other chapters.

use std::path::Path;
use std::process::Command;

use super::super::Report;
use super::super::network;
use super::{LIMIT, cases};
use crate::lab::Lab;
use crate::peers::Library;
use crate::{Result, paths, process};

/// The file `$W/local/file` is another one on each host, where a line mounts something there.
const FILES: &[(&str, &str, &[&str])] = &[
    ("files: two hosts", "hydra -n 4 -host h1,h2 $W/files same $W/shared; echo code $?", &["No Errors\n", "code 0\n"]),
    (
        "files: three hosts, ranks by turns",
        "hydra -n 5 --map-by node -host h1,h2,h3 $W/files same $W/shared; echo code $?",
        &["No Errors\n", "code 0\n"],
    ),
    (
        "files: a file system without locks",
        "hydra -n 4 -host h1,h2 -genv LD_PRELOAD $W/no_locks.so $W/files same $W/shared; echo code $?; ls -A $W | grep -c '^.ferrum'",
        &["No Errors\n", "code 0\n0\n"],
    ),
    (
        "files: a directory of each host",
        "mkdir -p $W/local; lab run 2 mount -t tmpfs none $W/local; hydra -n 4 -host h1,h2 $W/files other $W/local/file; echo code $?; ls -A $W/local | wc -l; lab run 2 ls -A $W/local | wc -l; lab run 2 umount $W/local",
        &["rank 2 on host h2 could not open it: the system reports: No such file", "code 0\n0\n0\n"],
    ),
    (
        "files: files of one name on each host",
        "mkdir -p $W/local; lab run 2 mount -t tmpfs none $W/local; echo one > $W/local/file; lab run 2 sh -c \"echo one > $W/local/file\"; hydra -n 4 -host h1,h2 $W/files other $W/local/file; echo code $?; ls -A $W/local; lab run 2 ls -A $W/local; lab run 2 umount $W/local; rm $W/local/file",
        &[
            "rank 2 on host h2 has another file of this name than rank 0 on host h1",
            "No Errors\n",
            "code 0\nfile\nfile\n",
        ],
    ),
    (
        "files: files of one name on each host, for reading, without locks",
        "mkdir -p $W/local; lab run 2 mount -t tmpfs none $W/local; echo one > $W/local/file; lab run 2 sh -c \"echo one > $W/local/file\"; hydra -n 4 -host h1,h2 -genv LD_PRELOAD $W/no_locks.so $W/files other-read $W/local/file; echo code $?; lab run 2 umount $W/local; rm $W/local/file",
        &["rank 2 on host h2 has another file of this name than rank 0 on host h1", "No Errors\n", "code 0\n"],
    ),
    (
        // Rank 0, which has the shared pointer, is on the host that falls silent.
        "files: a link cut, and the others get an error",
        "rm -f $W/lost*; export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h2,h1 -n 4 -ppn 2 sh -c \"touch $W/up\\$PMI_RANK; exec $W/files lost $W/lost\" & up 4; sleep 2; lab cut 2; sleep 7; end_on 1 'files lost'; end_on 2 'files lost'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!; rm -f $W/lost*",
        &[
            "rank 2: MPI_ERR_PROC_ABORTED: ",
            "rank 3: MPI_ERR_PROC_ABORTED: ",
            "rank 0 on h2 is lost: nothing came from its host for 3 s",
        ],
    ),
    (
        "files: a link cut in collective accesses, and the others get an error",
        "rm -f $W/lost*; export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h2,h1 -n 4 -ppn 2 sh -c \"touch $W/up\\$PMI_RANK; exec $W/files lost-windows $W/lost\" & up 4; sleep 2; lab cut 2; sleep 7; end_on 1 'files lost'; end_on 2 'files lost'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!; rm -f $W/lost*",
        &[
            "rank 2: MPI_ERR_PROC_ABORTED: ",
            "rank 3: MPI_ERR_PROC_ABORTED: ",
            "rank 0 on h2 is lost: nothing came from its host for 3 s",
        ],
    ),
    (
        "files: a link cut in collective accesses, seen by the host of rank 0",
        "rm -f $W/lost*; export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h1,h2 -n 4 -ppn 2 sh -c \"touch $W/up\\$PMI_RANK; exec $W/files lost-windows $W/lost\" & up 4; sleep 2; lab cut 2; sleep 7; end_on 1 'files lost'; end_on 2 'files lost'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!; rm -f $W/lost*",
        &["rank 0: MPI_ERR_PROC_ABORTED: ", "rank 1: MPI_ERR_PROC_ABORTED: "],
    ),
];

/// All cases.
pub fn run(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if network::skips_without_libfabric("files", report) {
        return Ok(());
    }
    let source = |name: &str| paths::root().join("tests/hosts").join(name);
    Library::ferrum(dist).compile(&source("files.c"), &work.join("files"), &[])?;
    let mut preloaded = Command::new("cc");
    preloaded.args(["-shared", "-fPIC", "-Wall", "-o"]).arg(work.join("no_locks.so")).arg(source("no_locks.c"));
    process::must(preloaded.arg("-ldl"), LIMIT)?;
    cases(lab, dist, work, FILES, report)
}
