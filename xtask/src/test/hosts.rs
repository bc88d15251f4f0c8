//! Jobs on several hosts, which are namespaces of this machine (`tests/hosts/lab.sh`): under Hydra, PRRTE and Slurm.
//!
//! Invariant: when the suite has ended, in whatever way, no process and no namespace of it is left.
//! Not here: the arguments and parts of `mpiexec` for hosts and their unit tests (`mpi-launch`).

mod faults;
mod files;
mod jobs;
mod messages;
mod observe;
mod seeds;
mod waits;
mod windows;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report, lanes, network};
use crate::lab::{Lab, need_slurm};
use crate::peers::Library;
use crate::process::{self, Outcome};
use crate::{Result, paths, tools};

/// Time limit of a case. Each has to end long before.
const LIMIT: Duration = Duration::from_secs(90);

/// Memory that 512 ranks and their sockets need, and some more.
const LARGE_MIB: u64 = 8 << 10;

/// What the shell lines of cases begin with. `$B`: folder of `mpiexec`; `$LAB`, `$F`: the lab and its folder; `$W`: a folder
/// for files, `$S`: `tests/hosts`; `$MPICH`, `$OPENMPI`: their folders.
const PRELUDE: &str = r#"
set -u
# The hosts share this machine's cores, which their processes cannot know: they would poll as if each had a core of its own.
export FERRUM_P2P_WAIT_SPINS=0
lab() { "$LAB" "$F" "$@"; }
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$F/ssh PRTE_MCA_plm_ssh_agent=$F/ssh
hydra() { lab run 1 "$B/mpiexec" --manager "$MPICH/bin/mpiexec.hydra" "$@"; }
prrte() {
    OPAL_PREFIX=$OPENMPI PRTE_PREFIX=$OPENMPI PMIX_PREFIX=$OPENMPI LD_LIBRARY_PATH=$OPENMPI/lib PATH=$OPENMPI/bin:$PATH \
        lab run 1 "$B/mpiexec" "$@"
}
prterun_alone() {
    OPAL_PREFIX=$OPENMPI PRTE_PREFIX=$OPENMPI PMIX_PREFIX=$OPENMPI LD_LIBRARY_PATH=$OPENMPI/lib PATH=$OPENMPI/bin:$PATH \
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        lab run 1 prterun "$@"
}
slurm() { lab run 1 salloc -Q -N 2 -w h1,h2 -n 4 --overcommit "$B/mpiexec" "$@"; }
# Kills the processes of a host whose command lines contain a text.
end_on() { lab run "$1" ps -eo pid=,args= | grep -F -e "$2" | grep -vF grep | while read -r pid _; do lab run "$1" sh -c "kill -9 $pid" 2> /dev/null; done; }
# Waits until so many ranks have made their files.
up() { for _ in $(seq 400); do [ "$(ls "$W"/up* 2> /dev/null | wc -l)" = "$1" ] && return; sleep 0.05; done; echo "the ranks are not up" >&2; }
# Waits until no process of a host has a text in its command line, other than launchers.
gone() {
    for _ in $(seq 300); do
        [ "$(lab left "$1" | grep -F -e "$2" | grep -cvE 'hydra|srun|slurmstepd')" = 0 ] && { echo "gone from h$1"; return; }
        sleep 0.05
    done
    echo "still on h$1"
}
hydra_alone() { lab run 1 "$MPICH/bin/mpiexec.hydra" "$@"; }
stay='touch $W/up$FERRUM_RANK; sleep 4711'
rm -rf "$W"/up* "$W"/prrte
# A daemon that was killed leaves its folder, named by its process id, which comes again in another namespace.
mkdir -p "$W"/prrte
export PRTE_MCA_prte_tmpdir_base=$W/prrte
"#;

/// Name, shell line, and what it has to print, each text, on either stream.
const CASES: &[(&str, &str, &[&str])] = &[
    (
        "Hydra: ranks have places",
        "hydra -l -n 4 -host h1,h2 sh -c 'echo $FERRUM_RANK of $FERRUM_SIZE, $FERRUM_HOST_RANKS, host $FERRUM_HOSTS, on $(hostname)'; echo code $?",
        &["[0] 0 of 4, 0-1, host 0/2, on h1\n", "[3] 3 of 4, 2-3, host 1/2, on h2\n", "code 0\n"],
    ),
    (
        "Hydra: no signal is blocked in the ranks",
        "hydra -l -n 4 -host h1,h2 grep SigBlk: /proc/self/status | tr -d '\\t'; echo code $?",
        &["[0] SigBlk:0000000000000000\n", "[3] SigBlk:0000000000000000\n", "code 0\n"],
    ),
    (
        "--map-by node",
        "hydra -l -n 3 --map-by node -host h1,h2 hostname; echo code $?",
        &["[0] h1\n", "[1] h2\n", "[2] h1\n", "code 0\n"],
    ),
    (
        "a file of hosts",
        "printf 'h2 slots=1\\nh1:2 # two\\n' > $W/hosts; hydra -l -hostfile $W/hosts hostname; echo code $?",
        &["[0] h2\n", "[1] h1\n", "[2] h1\n", "code 0\n"],
    ),
    (
        "two programs on two hosts",
        "hydra -l -n 1 -host h2 hostname : -n 2 -host h1 sh -c 'echo $FERRUM_APPNUM'; echo code $?",
        &["[0] h2\n", "[1] 1\n", "[2] 1\n", "code 0\n"],
    ),
    (
        "more ranks than slots",
        "hydra -n 4 -host h1:1,h2:2 true; echo code $?",
        &["4 ranks do not fit: the 2 hosts have 3 slots together", "code 2\n"],
    ),
    (
        "PRRTE: ranks have places",
        "prrte --manager prterun -l -n 4 -host h1,h2 sh -c 'echo $FERRUM_RANK on $(hostname)'; echo code $?",
        &["[1] 1 on h1\n", "[2] 2 on h2\n", "code 0\n"],
    ),
    (
        "PRRTE comes before Hydra",
        "PATH=$MPICH/bin:$PATH prrte -v -n 2 -host h1,h2 true 2>&1; echo code $?",
        &["hosts h1, h2 are reached by: ", "prterun", "rank 1 is process ", "on host h2", "code 0\n"],
    ),
    (
        "no launcher",
        "PATH=/nonexistent $LAB $F run 1 true 2> /dev/null; lab run 1 env PATH=/nonexistent $B/mpiexec -n 2 -host h1,h2 true; echo code $?",
        &["no launcher that reaches other hosts is found in PATH: install MPICH's Hydra (package mpich)", "code 1\n"],
    ),
    (
        "a host that does not exist",
        "FERRUM_LAUNCHER_TIMEOUT=8 hydra -n 2 -host h1,h9 true; echo code $?",
        &["cannot start the job: the launcher ", "h9", "code 1\n"],
    ),
    (
        "environment, directory and arguments",
        "cd $W; SECRET_OF_USER='a  b' hydra -n 2 -host h1,h2 -genv ADDED 'x y' sh -c 'echo \"$SECRET_OF_USER,$ADDED,$PWD,$1\"' sh 'c  d'; echo code $?",
        &["a  b,x y,$W,c  d\na  b,x y,$W,c  d\n", "code 0\n"],
    ),
    (
        "a program that one host lacks",
        "hydra -n 2 -host h1,h2 /nonexistent/program; echo code $?",
        &["host h", "\"/nonexistent/program\" is not found", "code 127\n"],
    ),
    (
        "input goes to one rank",
        "seq 1 200000 | hydra -l -n 4 --stdin 3 -host h1,h2 sh -c 'wc -l'; echo code $?",
        &["[3] 200000\n", "[0] 0\n", "[2] 0\n", "code 0\n"],
    ),
    (
        "much output, by whole lines",
        "hydra -n 4 -host h1,h2 seq 1 50000 | sort -n | uniq -c | awk '$1 != 4 { bad = 1 } END { print NR, bad + 0 }'",
        &["50000 0\n"],
    ),
    (
        "files of output",
        "hydra -n 4 --output $W/out -host h1,h2 sh -c 'hostname; echo err >&2'; echo code $?; cat $W/out/rank.3.out $W/out/rank.3.err",
        &["code 0\nh2\nerr\n"],
    ),
    (
        "exit code of a rank on another host",
        "hydra -n 4 -host h1,h2 sh -c '[ $FERRUM_RANK = 2 ] && exit 9; sleep 4711'; echo code $?",
        &["rank 2 of 4 (sh) on host h2 exited with code 9; the other ranks were ended", "code 9\n"],
    ),
    (
        "a failure as JSON",
        "hydra -n 4 --error-format json -host h1,h2 sh -c '[ $FERRUM_RANK = 2 ] && exit 9; sleep 4711'; echo code $?",
        &["\"kind\":\"exit\",\"ranks\":4,\"host\":\"h2\",\"rank\":2", "code 9\n"],
    ),
    (
        "a time limit",
        "hydra -n 4 --timeout 1 -host h1,h2 sleep 4711; echo code $?",
        &["the job did not end within 1 s", "ranks 0-3: before the end of MPI_Init, in the system call", "code 124\n"],
    ),
    (
        "a signal is passed on",
        "hydra -n 2 -host h1,h2 sh -c \"trap 'echo got; exit 0' USR1; $stay & wait\" & up 2; end=$(lab run 1 ps -eo pid=,args= | grep -F 'bin/mpiexec --manager' | grep -vF grep | head -1); lab run 1 sh -c \"kill -USR1 ${end%%/*}\"; wait $!; echo code $?",
        &["got\ngot\n", "code 0\n"],
    ),
    (
        "a killed rank",
        "hydra -n 4 -host h1,h2 sh -c \"$stay\" & up 4; end_on 2 'sleep 4711'; wait $!; echo code $?",
        &[" of 4 (sh) on host h2 was killed by signal 9 (SIGKILL); the other ranks were ended", "code 137\n"],
    ),
    (
        "the secret is on no command line",
        "hydra -n 4 -host h1,h2 sh -c \"$stay\" & up 4; { lab run 1 ps -eo args=; lab run 2 ps -eo args=; } | grep -cE '[0-9a-f]{32}'; end_on 1 'sleep 4711'; wait $!",
        &["0\n"],
    ),
    (
        "a killed proxy",
        "hydra -n 4 -host h1,h2 sh -c \"$stay\" & up 4; end_on 2 --serve-host; wait $!; echo code $?",
        &["host h2 with ranks 2-3 is lost: the connection to it was closed", "code 1\n"],
    ),
    (
        "a killed guard is replaced",
        "hydra -n 4 -host h1,h2 sh -c \"$stay\" 2> $W/warnings & up 4; lab run 2 pkill -KILL -x mpiexec-guard; for _ in $(seq 400); do grep -q guard $W/warnings && break; sleep 0.05; done; lab run 2 pgrep -cx mpiexec-guard; end_on 2 'sleep 4711'; wait $!; echo code $?; cat $W/warnings",
        &[
            "1\ncode 137\n",
            "mpiexec: host h2: the guard process ",
            ", which ends the job if mpiexec is killed, has ended; another one was started (process ",
        ],
    ),
    (
        "a killed daemon of the launcher",
        "hydra -n 4 -host h1,h2 sh -c \"$stay\" & up 4; end_on 2 hydra_pmi_proxy; wait $!; echo code $?",
        &["lost", "h2", "code 1\n"],
    ),
    (
        "a killed daemon of PRRTE",
        "prrte --manager prterun -n 4 -host h1,h2 sh -c \"$stay\" & up 4; end_on 2 prted; wait $!; echo code $?",
        // PRRTE ends the processes on the other host too, and the first that is missed may be either.
        &["lost", "host h", "code 1\n"],
    ),
    (
        "a killed launcher",
        "hydra -n 4 -host h1,h2 sh -c \"$stay\" & up 4; end_on 1 mpiexec.hydra' -hosts'; wait $!; echo code $?",
        &["code 1\n"],
    ),
    (
        "the front is killed",
        "hydra -n 4 -host h1,h2 sh -c \"$stay\" & up 4; end_on 1 'mpiexec --manager'; wait $!; echo code $?",
        &["code 137\n"],
    ),
    (
        "a host that falls silent",
        "export FERRUM_LAUNCHER_TIMEOUT=3; hydra -n 4 -host h1,h2 sh -c \"$stay\" & up 4; lab cut 2; wait $!; echo code $?; sleep 4; lab left 2 | grep -c 'sleep 4711'; lab mend 2",
        &["host h2 with ranks 2-3 is lost: nothing came from it for 3 s; the other ranks were ended", "code 1\n0\n"],
    ),
];

/// Cases with Slurm.
const SLURM_CASES: &[(&str, &str, &[&str])] = &[
    (
        "Slurm: ranks have places",
        "slurm -l -ppn 2 sh -c 'echo $FERRUM_RANK of $FERRUM_SIZE on $(hostname)'; echo code $?",
        &["[0] 0 of 4 on h1\n", "[3] 3 of 4 on h2\n", "code 0\n"],
    ),
    (
        "Slurm: hosts in another order",
        "slurm -v -l -n 4 -host h2:2,h1:2 hostname 2>&1; echo code $?",
        &["/srun ", "[0] h2\n", "[3] h1\n", "code 0\n"],
    ),
    (
        "Slurm: a host of others",
        "slurm -n 2 -host h1,h3 true; echo code $?",
        &["host h3 is not in this Slurm allocation", "code 2\n"],
    ),
    (
        "Slurm: exit code",
        "slurm -n 4 -ppn 2 sh -c '[ $FERRUM_RANK = 2 ] && exit 9; sleep 4711'; echo code $?",
        &["rank 2 of 4 (sh) on host h2 exited with code 9", "code 9\n"],
    ),
    (
        "Slurm: a killed proxy",
        "slurm -n 4 -ppn 2 sh -c \"$stay\" & up 4; end_on 2 --serve-host; wait $!; echo code $?",
        &["host h2 with ranks 2-3 is lost", "code 1\n"],
    ),
    (
        "Slurm: a killed daemon",
        "slurm -n 4 -ppn 2 sh -c \"$stay\" & up 4; end_on 2 slurmstepd; wait $!; echo code $?",
        &["lost", "h2", "code 1\n"],
    ),
];

/// All cases; skipped where hosts cannot be made.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    if !tools::is_root() {
        report.skip("hosts", "only root can make hosts of namespaces");
        return Ok(());
    }
    let needs = [("ip", "iproute2"), ("sshd", "openssh-server"), ("ssh-keygen", "openssh-client"), ("ps", "procps")];
    for (program, package) in needs {
        if !std::path::Path::new("/usr/sbin").join(program).exists()
            && let Err(failure) = tools::need(program, package, context.install)
        {
            report.skip("hosts", &failure.to_string());
            return Ok(());
        }
    }
    if let Err(failure) = Lab::start("one", 1) {
        report.skip("hosts", &format!("namespaces are not allowed here: {failure}"));
        return Ok(());
    }
    let dist = context.dist()?;
    let (mpich, _openmpi) = (Library::mpich()?, Library::openmpi()?);
    let mut failure = Ok(());
    let run = |_, (name, part): &(&'static str, Part)| {
        let mut counts = report.part();
        let result = on_a_lab(name, *part, context, dist, &mpich, &mut counts);
        (counts, result)
    };
    let mut parts = Vec::new();
    lanes::run(PARTS.len(), PARTS.to_vec(), |(name, _)| name, run, |_, part| parts.push(part));
    for (counts, result) in parts {
        report.add(&counts);
        failure = failure.and(result);
    }
    failure?;
    on_a_lab("programs", programs, context, dist, &mpich, report)?;
    let work = paths::scratch("hosts").join("files");
    fs::create_dir_all(&work)?;
    large(dist, &work, report)
}

/// A part of the suite, which has a lab of its own.
type Part = fn(&Context, &Lab, &Path, &Path, &Library, &mut Report) -> Result<()>;

/// The parts, side by side: most of their time they wait.
const PARTS: [(&str, Part); 3] = [("launchers", launchers), ("faults", losses), ("others", others)];

fn on_a_lab(
    name: &str,
    part: Part,
    context: &Context,
    dist: &Path,
    mpich: &Library,
    report: &mut Report,
) -> Result<()> {
    let lab = Lab::start(name, 3)?;
    let work = paths::scratch("hosts").join(format!("files-{name}"));
    fs::create_dir_all(&work)?;
    part(context, &lab, dist, &work, mpich, report)
}

fn launchers(_: &Context, lab: &Lab, dist: &Path, work: &Path, mpich: &Library, report: &mut Report) -> Result<()> {
    cases(lab, dist, work, CASES, report)?;
    messages_of_mpich(lab, dist, work, mpich, report)?;
    messages::run(lab, dist, work, report)?;
    // The host does not come back, so this is the last one.
    let killed = "hydra -n 6 -host h1,h2,h3 sh -c \"$stay\" & up 6; lab kill 3; wait $!; echo code $?";
    cases(lab, dist, work, &[("a killed host", killed, &["host h3 with ranks 4-5 is lost", "code 1\n"])], report)
}

/// These use the cores, which would delay what the other parts wait for.
fn programs(context: &Context, lab: &Lab, dist: &Path, _: &Path, mpich: &Library, report: &mut Report) -> Result<()> {
    messages::conformance_programs(context, lab, dist, mpich, report)
}

fn losses(_: &Context, lab: &Lab, dist: &Path, work: &Path, _: &Library, report: &mut Report) -> Result<()> {
    faults::run(lab, dist, work, report)
}

fn others(context: &Context, lab: &Lab, dist: &Path, work: &Path, _: &Library, report: &mut Report) -> Result<()> {
    jobs::run(lab, dist, work, report)?;
    files::run(lab, dist, work, report)?;
    waits::run(lab, dist, work, report)?;
    windows::run(lab, dist, work, report)?;
    seeds::run(context, lab, work, report)?;
    observe::run(lab, dist, work, report)?;
    match need_slurm(context.install).and_then(|()| lab.start_slurm()) {
        Ok(()) => {
            cases(lab, dist, work, SLURM_CASES, report)?;
            messages::run_in_slurm(lab, dist, work, report)?;
            jobs::run_in_slurm(lab, dist, work, report)?;
            observe::run_in_slurm(lab, dist, work, report)?;
            faults::run_in_slurm(lab, dist, work, report)
        }
        Err(failure) => {
            report.skip("Slurm", &failure.to_string());
            Ok(())
        }
    }
}

fn run(lab: &Lab, dist: &Path, work: &Path, line: &str) -> Result<Outcome> {
    let mut command = Command::new("bash");
    command.args(["-c", &format!("{PRELUDE}\n{line}")]).env("B", dist.join("bin")).env("LAB", lab.script());
    command.env("F", lab.folder()).env("W", work).env("S", paths::root().join("tests/hosts"));
    let peers = paths::root().join("target/peers");
    command.env("MPICH", peers.join("mpich")).env("OPENMPI", peers.join("openmpi"));
    process::run(&mut command, LIMIT)
}

fn cases(lab: &Lab, dist: &Path, work: &Path, cases: &[(&str, &str, &[&str])], report: &mut Report) -> Result<()> {
    for (name, line, texts) in cases.iter().filter(|(name, ..)| report.selects(name)).collect::<Vec<_>>() {
        let outcome = run(lab, dist, work, line)?;
        let printed = format!("{}{}", outcome.stdout, outcome.stderr);
        let folder = work.to_string_lossy();
        let absent = texts.iter().find(|text| !printed.contains(&text.replace("$W", &folder)));
        let mut left = String::new();
        for host in 1..=3 {
            left += &lab.left(host)?;
        }
        let holds = !outcome.timed_out && absent.is_none() && left.is_empty();
        report.check(name, holds, || format!("{}\n  absent: {absent:?}\n  left: {left}", outcome.report()));
    }
    Ok(())
}

/// Programs of MPICH exchange their addresses by our PMI over hosts, and messages by their own network.
fn messages_of_mpich(lab: &Lab, dist: &Path, work: &Path, mpich: &Library, report: &mut Report) -> Result<()> {
    let name = "messages of MPICH's programs";
    if !report.selects(name) {
        return Ok(());
    }
    let program = work.join("job");
    mpich.compile(&paths::root().join("tests/pmi/job.c"), &program, &[])?;
    let outcome = run(lab, dist, work, "hydra -n 4 -host h1,h2 $W/job; echo code $?")?;
    report.check(name, outcome.stdout.ends_with("code 0\n"), || outcome.report());
    Ok(())
}

/// Eight hosts.
fn large(dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    let names = ["8 hosts of 8 ranks", "8 hosts of 64 ranks"];
    let collectives = names.map(|name| format!("{name}: collectives"));
    if !names.iter().any(|name| report.selects(name)) && !collectives.iter().any(|name| report.selects(name)) {
        return Ok(());
    }
    let lab = Lab::start("eight", 8)?;
    let hosts = (1..=8).map(|host| format!("h{host}")).collect::<Vec<_>>().join(",");
    for (name, ranks) in collectives.iter().zip([8, 64]).filter(|(name, _)| report.selects(name)).collect::<Vec<_>>() {
        if network::skips_without_libfabric(name, report) {
            continue;
        }
        // 512 processes load Debian's libfabric for half a minute, in which they only wait.
        let library = "$MPICH/lib/mpich/libfabric.so.1";
        let library = if ranks == 8 { String::new() } else { format!("export FERRUM_NET_LIBRARY={library}; ") };
        if ranks > 8 && tools::free_megabytes().is_none_or(|free| free < LARGE_MIB) {
            report.skip(name, &format!("512 processes need {LARGE_MIB} MiB of memory that is available"));
            continue;
        }
        Library::ferrum(dist).compile(&paths::root().join("tests/hosts/large.c"), &work.join("large"), &[])?;
        let line = format!("{library}hydra -ppn {ranks} -host {hosts} $W/large; echo code $?");
        let outcome = run(&lab, dist, work, &line)?;
        let due = format!("{} ranks: all right\ncode 0\n", ranks * 8);
        report.check(name, outcome.stdout == due, || outcome.report());
    }
    for (name, ranks) in names.into_iter().zip([8, 64]).filter(|(name, _)| report.selects(name)).collect::<Vec<_>>() {
        let line = format!("hydra -ppn {ranks} -host {hosts} sh -c 'echo up' | wc -l; echo code ${{PIPESTATUS[0]}}");
        let outcome = run(&lab, dist, work, &line)?;
        let due = format!("{}\ncode 0\n", ranks * 8);
        report.check(name, outcome.stdout == due, || outcome.report());
    }
    Ok(())
}
