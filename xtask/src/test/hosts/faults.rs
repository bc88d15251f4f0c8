//! Faults at each moment of a job (`tests/hosts/faults.c`): a link that is cut, a host that is killed, a daemon of the launcher that is
//! killed; while the ranks start, are in a long message, in a collective, hold a lock, are in a spawn, and while they end.
//!
//! Invariant: after each case all hosts are up and connected. Not here: the same faults without MPI (`hosts`), and under launchers
//! alone (`messages`).

use std::path::Path;

use super::super::{Report, network};
use super::cases;
use crate::lab::Lab;
use crate::peers::Library;
use crate::{Result, paths};

/// `after_job` prints how the job has ended and what is left on h1 while h2 is still lost.
const SHELL: &str = r#"
# Long enough for a launcher to start on a machine with other load.
export FERRUM_LAUNCHER_TIMEOUT=5 FERRUM_NET_TIMEOUT=5
after_job() {
    wait $!; echo code $?
    gone 1 'faults '
    none "$(lab left 1 | grep -v slurm)" 'process left on h1'
}
none() { if [ -z "$1" ]; then echo "no $2"; else echo "$1"; fi; }
no_memory() { none "$(for host in 1 2; do lab run $host ls -A /dev/shm | grep -vE 'munge|slurm'; done)" 'shared memory left'; }
# The ranks of h2 end by themselves; a daemon of PRRTE there waits longer for its network.
mended() { gone 2 'faults '; lab mend 2; end_on 2 prted; no_memory; }
again() { lab again 2; no_memory; }
"#;

/// A launcher: its name, how it runs four ranks on h1 and h2, and the name of its daemon.
type Launcher = (&'static str, &'static str, &'static str);

const HYDRA: Launcher = ("Hydra", "hydra -n 4 -host h1,h2", "hydra_pmi_proxy");
const PRRTE: Launcher = ("PRRTE", "prrte --manager prterun -n 4 -host h1,h2", "prted");
const SLURM: Launcher = ("Slurm", "slurm -n 4 -ppn 2", "slurmstepd");

/// A fault of h2: its name, what makes it (`@`: the daemon), what follows when the job is over, and what is said of it.
struct Fault {
    name: &'static str,
    act: &'static str,
    then: &'static str,
    says: &'static str,
}

const CUT: Fault = Fault { name: "a link cut", act: "lab cut 2", then: "mended", says: "nothing came from it for 5 s" };
const HOST: Fault =
    Fault { name: "a host killed", act: "lab kill 2", then: "again", says: "the connection to it was closed" };
const DAEMON: Fault = Fault {
    name: "a daemon killed",
    act: "end_on 2 @",
    then: "mended",
    says: "the launcher's process on it has ended",
};

/// A moment: its name, the number of processes that are up then, and what is said of the ranks of h2.
struct Moment {
    name: &'static str,
    up: u32,
    doing: &'static str,
}

const START: Moment = Moment { name: "start", up: 4, doing: "ranks 2-3: has not returned from MPI_Init\n" };
const LONG: Moment = Moment { name: "long", up: 4, doing: "inside MPI_Sendrecv" };
const COLLECTIVE: Moment = Moment { name: "collective", up: 4, doing: "inside MPI_Allreduce" };
const LOCK: Moment = Moment { name: "lock", up: 4, doing: "outside MPI, after MPI_Barrier" };
// The loss is reported of both jobs, or of the spawned one alone.
const SPAWN: Moment = Moment { name: "spawn", up: 8, doing: "ranks 2-3: " };
const END: Moment = Moment { name: "end", up: 4, doing: "outside MPI, after MPI_Sendrecv" };

/// All moments and faults under Hydra, and under PRRTE those that differ in what the launcher does.
const FAULTS: &[(Launcher, &[Moment], &[Fault])] = &[
    (HYDRA, &[START, LONG, COLLECTIVE, LOCK, SPAWN, END], &[CUT, HOST, DAEMON]),
    (PRRTE, &[COLLECTIVE, SPAWN], &[CUT, HOST, DAEMON]),
];
const SLURM_FAULTS: &[(Launcher, &[Moment], &[Fault])] = &[(SLURM, &[COLLECTIVE], &[CUT, HOST, DAEMON])];

/// All cases.
pub fn run(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if network::skips_without_libfabric("faults", report) {
        return Ok(());
    }
    compile(dist, work)?;
    all(lab, dist, work, FAULTS, report)?;
    let line = format!("{SHELL}\n{ALONE}");
    let texts = ["MPI_Comm_spawn on communicator", "(MPI_ERR_PROC_ABORTED)", "gone from h1\n", "gone from h2\n"];
    cases(lab, dist, work, &[("faults: a link cut at spawn, Hydra alone", &line, &texts)], report)
}

fn compile(dist: &Path, work: &Path) -> Result<()> {
    Library::ferrum(dist).compile(&paths::root().join("tests/hosts/faults.c"), &work.join("faults"), &[])
}

/// The cases under Slurm.
pub fn run_in_slurm(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if !network::has_libfabric() {
        return Ok(());
    }
    compile(dist, work)?;
    all(lab, dist, work, SLURM_FAULTS, report)
}

/// A spawn whose processes do not come: a lost process of the job that spawns ends it. Hydra waits for the lost host.
const ALONE: &str = "hydra_alone -hosts h1,h2 -n 4 -ppn 2 $W/faults spawn h2 $W & up 8; lab cut 2; gone 1 'faults spawn'; \
                     lab mend 2; sleep 1; end_on 1 mpiexec.hydra; end_on 1 'faults child'; end_on 2 'faults child'; wait $!; \
                     gone 2 faults";

fn all(
    lab: &Lab,
    dist: &Path,
    work: &Path,
    list: &[(Launcher, &[Moment], &[Fault])],
    report: &mut Report,
) -> Result<()> {
    for ((launcher, job, daemon), moments, faults) in list {
        for (moment, fault) in moments.iter().flat_map(|moment| faults.iter().map(move |fault| (moment, fault))) {
            let name = format!("faults: {} at {}, {launcher}", fault.name, moment.name);
            let (act, name_of) = (fault.act.replace('@', daemon), moment.name);
            // A host reports what its ranks do each half second.
            let line = format!(
                "{SHELL}\n{job} $W/faults {name_of} h2 $W & up {}; sleep 1; {act}; after_job; {}",
                moment.up, fault.then
            );
            let texts = [
                "host h2 with ranks 2-3 is lost: ",
                fault.says,
                "\n  the last that was heard from the host: rank",
                moment.doing,
                "code 1\n",
                "gone from h1\n",
                "no process left on h1\n",
                "no shared memory left\n",
            ];
            cases(lab, dist, work, &[(&name, &line, &texts)], report)?;
        }
    }
    Ok(())
}
