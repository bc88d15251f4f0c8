//! Programs of this library on several hosts: by our `mpiexec`, and by other launchers alone.
//!
//! Not here: programs without MPI and those of other libraries (`hosts`), ranks of one host on the network (`network`).

use std::path::Path;

use super::super::conformance::{self, Run, Verdict};
use super::super::{Context, Report, lanes, network};
use super::cases;
use crate::lab::Lab;
use crate::peers::Library;
use crate::{Result, paths};

/// Programs of this library on several hosts (`tests/hosts/messages.c`): by our `mpiexec`, and by other launchers alone.
const MESSAGES: &[(&str, &str, &[&str])] = &[
    (
        "messages: mpiexec and Hydra",
        "hydra -n 4 -host h1,h2 $W/messages; echo code $?",
        &["0 of 4 on h1, 2 there, 2 hosts\n", "3 of 4 on h2, 2 there, 2 hosts\n", "code 0\n"],
    ),
    (
        "messages: ranks by turns",
        "hydra -n 5 --map-by node -host h1,h2 $W/messages; echo code $?",
        &["0 of 5 on h1, 3 there, 2 hosts\n", "3 of 5 on h2, 2 there, 2 hosts\n", "code 0\n"],
    ),
    (
        "messages: three hosts",
        "hydra -n 3 -host h1,h2,h3 $W/messages; echo code $?",
        &["2 of 3 on h3, 1 there, 3 hosts\n", "code 0\n"],
    ),
    (
        "messages: without remote access",
        "FERRUM_NET_REMOTE_ACCESS=off hydra -n 4 -host h1,h2 $W/messages; echo code $?",
        &["3 of 4 on h2, 2 there, 2 hosts\n", "code 0\n"],
    ),
    (
        "messages: libfabric 2, provider tcp",
        "FERRUM_NET_LIBRARY=$MPICH/lib/mpich/libfabric.so.1 FERRUM_NET_PROVIDER=tcp hydra -v -n 4 -host h1,h2 $W/messages; echo code $?",
        &[
            "3 of 4 on h2, 2 there, 2 hosts\n",
            "rank 0 on h1: libfabric 2.",
            "rank 2 on h2: libfabric 2.",
            ", provider tcp, remote access",
            "code 0\n",
        ],
    ),
    (
        "messages: libfabric of the system, provider tcp;ofi_rxm",
        "FERRUM_NET_PROVIDER='tcp;ofi_rxm' hydra -v -n 4 -host h1,h2 $W/messages; echo code $?",
        &["3 of 4 on h2, 2 there, 2 hosts\n", ", provider tcp;ofi_rxm, ", "code 0\n"],
    ),
    (
        "messages: mpiexec and PRRTE",
        "prrte --manager prterun -n 4 -host h1,h2 $W/messages; echo code $?",
        &["3 of 4 on h2, 2 there, 2 hosts\n", "code 0\n"],
    ),
    (
        "messages: Hydra alone",
        "lab run 1 $MPICH/bin/mpiexec.hydra -hosts h1,h2 -n 4 -ppn 2 $W/messages; echo code $?",
        &["0 of 4 on h1, 2 there, 2 hosts\n", "3 of 4 on h2, 2 there, 2 hosts\n", "code 0\n"],
    ),
    (
        "messages: Hydra alone, one host",
        "FERRUM_NET_LIBRARY=/nowhere lab run 1 $MPICH/bin/mpiexec.hydra -hosts h1 -n 2 $W/messages; echo code $?",
        &["1 of 2 on h1, 2 there, 1 hosts\n", "code 0\n"],
    ),
    (
        "messages: Hydra alone, user namespaces on both hosts",
        "lab run 1 $MPICH/bin/mpiexec.hydra -hosts h1,h2 -n 4 -ppn 2 sh -c \"case \\$PMI_RANK in [13]) exec unshare --user --map-root-user $W/messages;; esac; exec $W/messages\"; echo code $?",
        &["0 of 4 on h1, 1 there, 4 hosts\n", "3 of 4 on h2, 1 there, 4 hosts\n", "code 0\n"],
    ),
    (
        "messages: no libfabric",
        "FERRUM_NET_LIBRARY=/nowhere hydra -n 4 -host h1,h2 $W/messages; echo code $?",
        &["net_library (FERRUM_NET_LIBRARY) is \"/nowhere\"", "code 16\n"],
    ),
    (
        "messages: no such provider",
        "FERRUM_NET_PROVIDER=none hydra -n 2 -host h1,h2 $W/messages; echo code $?",
        &["has no provider \"none\"", "code 16\n"],
    ),
    (
        // Hydra may give another code and lose the sentence: its proxies stop at an assertion if both processes end at once.
        "messages: no such provider, Hydra alone",
        "FERRUM_NET_PROVIDER=none lab run 1 $MPICH/bin/mpiexec.hydra -hosts h1,h2 -n 2 -ppn 1 $W/messages && echo no failure || echo failed",
        &["failed\n"],
    ),
    (
        "messages: PRRTE alone",
        "prterun_alone --host h1:2,h2:2 -n 4 $W/messages; echo code $?",
        &["0 of 4 on h1, 2 there, 2 hosts\n", "3 of 4 on h2, 2 there, 2 hosts\n", "code 0\n"],
    ),
    (
        "messages: PRRTE alone, three hosts by turns",
        "prterun_alone --host h1:2,h2:2,h3:2 -n 5 --map-by node $W/messages; echo code $?",
        &["0 of 5 on h1, 2 there, 3 hosts\n", "4 of 5 on h2, 2 there, 3 hosts\n", "code 0\n"],
    ),
    (
        "messages: PRRTE alone, one host cannot",
        "prterun_alone --host h1:1,h2:1 -n 2 sh -c \"[ \\$PMIX_RANK = 1 ] && export FERRUM_NET_LIBRARY=/nowhere; exec $W/messages\" && echo no failure || echo failed",
        &["net_library (FERRUM_NET_LIBRARY) is \"/nowhere\"", "failed\n"],
    ),
    (
        "messages: MPI_Abort",
        "hydra -n 4 -host h1,h2 $W/messages abort; echo code $?",
        &["rank 2 of 4 ($W/messages) on host h2 called MPI_Abort with code 7; the other ranks were ended", "code 7\n"],
    ),
    (
        "messages: MPI_Abort, Hydra alone",
        "lab run 1 $MPICH/bin/mpiexec.hydra -hosts h1,h2 -n 4 -ppn 2 $W/messages abort; echo code $?",
        &["rank 2 of 4 on h2 called MPI_Abort with code 7", "code 7\n"],
    ),
    (
        "messages: MPI_Abort of a part",
        "hydra -n 4 -host h1,h2 $W/messages abort-self; echo code $?",
        &["on host h2 called MPI_Abort with code 5; the other ranks were ended", "code 5\n"],
    ),
    (
        "messages: a fatal error",
        "hydra -n 4 -host h1,h2 $W/messages fatal; echo code $?",
        &["call  MPI_Send on communicator", "on host h2 ended the job after a fatal error, with code 2", "code 2\n"],
    ),
    (
        "messages: a rank that exits",
        "hydra -n 4 -host h1,h2 $W/messages exit; echo code $?",
        &["rank 2 of 4 ($W/messages) on host h2 exited with code 9", "code 9\n"],
    ),
    (
        "messages: a host that falls silent in a barrier",
        "export FERRUM_LAUNCHER_TIMEOUT=3; hydra -n 4 -host h1,h2 sh -c 'touch $W/up$FERRUM_RANK; exec $W/messages wait' & up 4; sleep 1; lab cut 2; wait $!; echo code $?; sleep 4; lab left 2 | grep -c 'messages wait'; lab mend 2",
        &["host h2 with ranks 2-3 is lost: nothing came from it for 3 s; the other ranks were ended", "code 1\n0\n"],
    ),
    (
        "messages: SIGTERM to mpiexec",
        "hydra -n 4 -host h1,h2 sh -c 'touch $W/up$FERRUM_RANK; exec $W/messages wait' & up 4; sleep 1; lab run 1 pkill -TERM -f 'bin/mpiexec --manager'; wait $!; echo code $?",
        &["the job was ended by SIGTERM\n", "code 143\n"],
    ),
    (
        "messages: a killed rank in a barrier",
        "hydra -n 4 -host h1,h2 sh -c 'touch $W/up$FERRUM_RANK; exec $W/messages wait' & up 4; sleep 1; end_on 2 'messages wait'; wait $!; echo code $?",
        &["on host h2 was killed by signal 9 (SIGKILL)", "code 137\n"],
    ),
    (
        "messages: a link cut in a collective, Hydra alone",
        "export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h1,h2 -n 4 -ppn 2 sh -c \"touch $W/up\\$PMI_RANK; exec $W/messages wait\" & up 4; sleep 2; lab cut 2; gone 1 'messages wait'; gone 2 'messages wait'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!",
        &[
            "MPI_Barrier on communicator",
            "on h2 is lost: nothing came from its host for 3",
            "gone from h1\ngone from h2\n",
        ],
    ),
    (
        "messages: a link cut in a long message, Hydra alone",
        "export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h1,h2 -n 4 -ppn 2 $W/messages long $W & up 4; sleep 2; lab cut 2; gone 1 'messages long'; gone 2 'messages long'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!",
        &[
            "MPI_Send on communicator",
            "rank 3 on h2 is lost: nothing came from its host for 3",
            "gone from h1\ngone from h2\n",
        ],
    ),
    (
        "messages: errors after a link is cut, and the others go on",
        "export FERRUM_NET_TIMEOUT=3; hydra_alone -hosts h1,h2 -n 4 -ppn 2 sh -c \"touch $W/up\\$PMI_RANK; exec $W/messages errors\" & up 4; sleep 2; lab cut 2; sleep 7; end_on 1 'messages errors'; end_on 2 'messages errors'; lab mend 2; sleep 2; end_on 1 mpiexec.hydra; wait $!",
        &[
            "0: class MPI_ERR_PROC_ABORTED, 2 go on: ",
            "1: class MPI_ERR_PROC_ABORTED, 2 go on: ",
            "the connection to rank 3 on h2 is lost: nothing came from its host for 3 s",
        ],
    ),
    (
        "messages: a slow link is no loss",
        "lab rate 1 1mbit 16kb; lab rate 2 1mbit 16kb; FERRUM_NET_TIMEOUT=3 hydra -n 2 -host h1,h2 $W/messages slow; echo code $?; lab rate 1 10gbit; lab rate 2 10gbit",
        &["slow, and whole\n", "code 0\n"],
    ),
    (
        "messages: what several hosts do not share",
        "hydra -n 4 -host h1,h2 $W/messages refused; echo code $?",
        &["refused as they should be\n", "code 0\n"],
    ),
];

/// The same under Slurm.
const SLURM_MESSAGES: &[(&str, &str, &[&str])] = &[
    (
        "messages: mpiexec and Slurm",
        "slurm -n 4 -ppn 2 $W/messages; echo code $?",
        &["0 of 4 on h1, 2 there, 2 hosts\n", "3 of 4 on h2, 2 there, 2 hosts\n", "code 0\n"],
    ),
    (
        "messages: srun alone",
        "lab run 1 srun --mpi=pmi2 -N 2 -w h1,h2 -n 4 --overcommit $W/messages; echo code $?",
        &["0 of 4 on h1, 2 there, 2 hosts\n", "3 of 4 on h2, 2 there, 2 hosts\n", "code 0\n"],
    ),
];

/// A host falls silent under Slurm, which waits for it.
const SLURM_SILENCE: &[(&str, &str, &[&str])] = &[(
    "messages: a link cut in a collective, srun alone",
    "export FERRUM_NET_TIMEOUT=3; lab run 1 srun --mpi=pmi2 -N 2 -w h1,h2 -n 4 --overcommit sh -c \"touch $W/up\\$SLURM_PROCID; exec $W/messages wait\" & up 4; sleep 3; lab cut 2; gone 1 'messages wait'; gone 2 'messages wait'; lab mend 2; sleep 1; end_on 1 'srun --mpi'; wait $!",
    &["MPI_Barrier on communicator", "on h2 is lost: nothing came from its host for 3", "gone from h1\ngone from h2\n"],
)];

/// The same by PMIx, where Slurm has it.
const SLURM_PMIX: &[(&str, &str, &[&str])] = &[(
    "messages: srun alone, PMIx",
    "lab run 1 srun --mpi=pmix -N 2 -w h1,h2 -n 4 --overcommit $W/messages; echo code $?",
    &["0 of 4 on h1, 2 there, 2 hosts\n", "3 of 4 on h2, 2 there, 2 hosts\n", "code 0\n"],
)];

/// All cases.
pub fn run(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if network::skips_without_libfabric("messages", report) {
        return Ok(());
    }
    compile(dist, work)?;
    cases(lab, dist, work, MESSAGES, report)
}

fn compile(dist: &Path, work: &Path) -> Result<()> {
    Library::ferrum(dist).compile(&paths::root().join("tests/hosts/messages.c"), &work.join("messages"), &[])
}

/// The cases under Slurm.
pub fn run_in_slurm(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if network::skips_without_libfabric("messages under Slurm", report) {
        return Ok(());
    }
    compile(dist, work)?;
    cases(lab, dist, work, SLURM_MESSAGES, report)?;
    match slurm_has_pmix(lab, dist, work)? {
        true => cases(lab, dist, work, SLURM_PMIX, report)?,
        false => report.skip("messages: srun alone, PMIx", NO_PMIX),
    }
    cases(lab, dist, work, SLURM_SILENCE, report)
}

/// Why a case by PMIx is skipped.
pub const NO_PMIX: &str = "Slurm's plugin pmix or libpmix.so (Debian: libpmix-dev) is not there";

/// Whether `srun --mpi=pmix` starts processes.
pub fn slurm_has_pmix(lab: &Lab, dist: &Path, work: &Path) -> Result<bool> {
    let plugins = "compgen -G '/usr/lib/*/pmix2/lib/libpmix.so' && lab run 1 srun --mpi=list 2>&1";
    Ok(super::run(lab, dist, work, plugins)?.stdout.split_whitespace().any(|plugin| plugin == "pmix"))
}

/// The conformance programs on two hosts: each line of the manifest for four ranks, two on each host; with `--whole` each line
/// with all of its numbers of ranks from two on, of which an odd one is on the first host.
pub fn conformance_programs(
    context: &Context,
    lab: &Lab,
    dist: &Path,
    mpich: &Library,
    report: &mut Report,
) -> Result<()> {
    if !network::has_libfabric() {
        return Ok(());
    }
    let wanted = |ranks: usize| if context.whole { ranks > 1 } else { ranks == 4 };
    let entries = network::entries_for(report, wanted, |entry| entry.network.as_ref().or(entry.hosts.as_ref()))?;
    let ssh = lab.folder().join("ssh");
    let hydra = mpich.launcher().with_file_name("mpiexec.hydra");
    let launch = |run: &Run<'_>, program: &Path| {
        let mut command = lab.command(&["run", "1"]);
        command.arg(dist.join("bin/mpiexec")).arg("--manager").arg(&hydra);
        command.args(["-n", &run.ranks.to_string(), "-host", "h1,h2"]).arg(program);
        command.env("HYDRA_LAUNCHER", "ssh").env("HYDRA_LAUNCHER_EXEC", &ssh);
        // As in the other cases: the hosts share cores.
        command.env("FERRUM_P2P_WAIT_SPINS", "0");
        command
    };
    conformance::run_by(&Library::ferrum(dist), entries, report, lanes::OF_NETWORK, launch, |run, outcome| {
        match run.entry.verdict(outcome) {
            Some(text) => Verdict::Failed(text),
            None => Verdict::Passed,
        }
    })
}
