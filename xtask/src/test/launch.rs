//! `mpiexec` from a user's view: exit status, output, input, and no leftovers.
//!
//! Not here: the forms of its arguments, its own tests and how jobs end with it (`mpi-launch`), the jobs of the
//! conformance programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::leftovers::{SHARED_MEMORY, files};
use super::{Context, Report};
use crate::process::Outcome;
use crate::{Result, paths, process, tools};

const LIMIT: Duration = Duration::from_secs(60);

/// Shell lines and their expected results. `$B` is the folder of `mpiexec`, `$P` that of the programs.
const CASES: [(&str, &str, Expect); 62] = [
    ("status 0", "$B/mpiexec -n 3 true", Expect::Status(0)),
    ("status of a rank", "$B/mpiexec -n 3 sh -c 'exit 9'", Expect::Status(9)),
    ("-np", "$B/mpiexec -np 2 true", Expect::Status(0)),
    ("mpirun", "$B/mpirun -n 2 true", Expect::Status(0)),
    ("--help", "$B/mpiexec --help", Expect::Prints("-n")),
    ("--version", "$B/mpiexec --version", Expect::Prints("Ferrum")),
    ("no program", "$B/mpiexec -n 2 /nonexistent/program", Expect::Refused("/nonexistent/program")),
    ("no number", "$B/mpiexec -n two true", Expect::Refused("two")),
    ("zero ranks", "$B/mpiexec -n 0 true", Expect::Refused("0")),
    ("unknown option", "$B/mpiexec --nonsense -n 2 true", Expect::Refused("nonsense")),
    ("killed rank", "$B/mpiexec -n 2 sh -c 'kill -SEGV $$'", Expect::Refused("SEGV")),
    ("singleton", "$P/size", Expect::Prints("size 1")),
    ("ranks and size", "$B/mpiexec -n 4 $P/size", Expect::Prints("size 4")),
    ("abort without a launcher", "$P/abort", Expect::Status(9)),
    ("-wdir", "mkdir -p $P/there; cd /; $B/mpiexec -n 2 -wdir $P/there pwd", Expect::Prints("/there")),
    ("-path", "cd /; $B/mpiexec -n 3 -path $P size", Expect::Prints("size 3")),
    ("-soft", "$B/mpiexec -n 5 -soft 2,3,9 $P/size", Expect::Prints("size 3")),
    ("-soft triplet", "$B/mpiexec -n 5 -soft 1:10:3 $P/size", Expect::Prints("size 4")),
    ("-arch", "$B/mpiexec -n 2 -arch $(uname -m) $P/size", Expect::Prints("size 2")),
    ("-host of this machine", "$B/mpiexec -n 2 -host localhost $P/size", Expect::Prints("size 2")),
    ("no -n", "$B/mpiexec $P/size", Expect::Prints("size ")),
    (
        "MPI_INFO_ENV",
        "$B/mpiexec -n 5 -soft 2,3 $P/info_env : -n 4 $P/info_env",
        Expect::Prints("rank 1: maxprocs=5 soft=2,3\n"),
    ),
    (
        "MPI_INFO_ENV of another",
        "$B/mpiexec -n 5 -soft 2,3 $P/info_env : -n 4 $P/info_env",
        Expect::Prints("rank 6: maxprocs=4\n"),
    ),
    (
        "MPI_INFO_ENV of a place",
        "touch $P/none; $B/mpiexec -file $P/none -host localhost $P/info_env all",
        Expect::Prints("host=localhost"),
    ),
    ("APPNUM", "$B/mpiexec -n 1 $P/appnum : -n 2 $P/appnum", Expect::Prints("rank 2 of 3: program 1")),
    ("APPNUM of the first", "$B/mpiexec -n 2 $P/appnum : -n 1 $P/appnum", Expect::Prints("rank 1 of 3: program 0")),
    ("three programs", "$B/mpiexec echo infile1 : echo infile2 : echo infile3", Expect::Prints("infile3")),
    (
        "-configfile",
        "printf '# two\\n-n 1 \\\\\\n%s\\n-n 2 %s\\n' $P/appnum $P/appnum > $P/two; $B/mpiexec -configfile $P/two",
        Expect::Prints("rank 1 of 3: program 1"),
    ),
    (
        "--cvar",
        "$B/mpiexec -n 2 --cvar p2p_eager_limit=2k $P/cvars p2p_eager_limit",
        Expect::Prints("p2p_eager_limit=2048\n"),
    ),
    (
        "--cvar misspelt",
        "$B/mpiexec --cvar p2p_eager_limt=2k $P/cvars",
        Expect::Refused("did you mean p2p_eager_limit?"),
    ),
    (
        "--settings",
        "$B/mpiexec -n 2 --settings $P/rings $P/cvars fabric_ring_bytes=5",
        Expect::Prints("fabric_ring_bytes is set: never\nfabric_ring_bytes=131072\n"),
    ),
    (
        "settings without mpiexec",
        "FERRUM_SETTINGS=$P/rings $P/cvars fabric_ring_bytes",
        Expect::Prints("fabric_ring_bytes=131072\n"),
    ),
    (
        "environment before settings",
        "FERRUM_SETTINGS=$P/rings FERRUM_FABRIC_RING_BYTES=16k $P/cvars fabric_ring_bytes",
        Expect::Prints("fabric_ring_bytes=16384\n"),
    ),
    (
        "bad settings without mpiexec",
        "printf '\nfabric_single_copy = 2\nwait\n' > $P/wrong; FERRUM_SETTINGS=$P/wrong FERRUM_ERROR_FORMAT=json $P/cvars",
        Expect::Refused("wrong, line 2: fabric_single_copy is \\\"2\\\", but it takes one of off, on; /"),
    ),
    ("no settings", "FERRUM_SETTINGS=/nonexistent/s $P/cvars", Expect::Refused("/nonexistent/s cannot be read")),
    (
        "settings of a plug-in",
        "printf 'late_limit = 7\n' > $P/late; $B/mpiexec --settings $P/late $P/cvars +late_limit",
        Expect::Prints("late_limit=7\n"),
    ),
    (
        "bad settings of a plug-in",
        "FERRUM_LATE_LIMIT=10 $P/cvars +late_limit 2>&1",
        Expect::Prints("FERRUM_LATE_LIMIT is \"10\", but late_limit takes a whole number from 1 to 9\nlate_limit=3\n"),
    ),
    (
        "bad --cvar of a plug-in",
        "$B/mpiexec --cvar late_limit=10 $P/cvars +late_limit 2>&1",
        Expect::Prints("--cvar late_limit is \"10\", but it takes a whole number from 1 to 9\n"),
    ),
    (
        "--cvar of an unknown name",
        "$B/mpiexec --cvar nonsense=1 --cvar error_format=json $P/cvars 2>&1",
        Expect::Prints(
            "\"kind\":\"warning\",\"rank\":0,\"message\":\"--cvar nonsense is set to \\\"1\\\", but no such variable",
        ),
    ),
    (
        "warnings as JSON",
        "FERRUM_NONSENSE=1 FERRUM_ERROR_FORMAT=json $P/cvars 2>&1",
        Expect::Prints("{\"source\":\"library\",\"kind\":\"warning\",\"rank\":0,\"message\":\"FERRUM_NONSENSE is set,"),
    ),
    (
        "recorder's depth is set",
        "$B/mpiexec --cvar fabric_recorder_depth=4 $P/cvars fabric_recorder_depth fabric_recorder_depth=0",
        Expect::Prints("fabric_recorder_depth=4\nfabric_recorder_depth is set: good\nfabric_recorder_depth=0\n"),
    ),
    (
        "a refused call is the last one",
        "$B/mpiexec -n 2 $P/refused",
        Expect::Refused("exited with code 5, after its last MPI call, MPI_Send, was refused"),
    ),
    (
        "statistics are true",
        "$B/mpiexec -n 3 --cvar stats_at_end=summary --cvar stats_format=json --cvar stats_file=$P/stats $P/traffic && cat $P/stats",
        Expect::Prints(
            "{\"source\":\"statistics\",\"kind\":\"variable\",\"object\":\"MPI_COMM_WORLD\",\"variable\":\"p2p_messages_sent\",\"class\":\"counter\",\"unit\":\"messages\",\"values\":[0,10,20]}\n",
        ),
    ),
    (
        "statistics of a rank that died",
        "! $B/mpiexec -n 3 --cvar stats_at_end=all --cvar stats_format=json --cvar stats_file=$P/stats -q $P/traffic die && cat $P/stats",
        Expect::Prints(
            "{\"source\":\"statistics\",\"kind\":\"variable\",\"object\":\"MPI_COMM_WORLD\",\"variable\":\"p2p_bytes_sent\",\"class\":\"aggregate\",\"unit\":\"bytes\",\"values\":[0,80,160]}\n",
        ),
    ),
    (
        "statistics without mpiexec",
        "FERRUM_STATS_AT_END=all FERRUM_STATS_FORMAT=json $P/traffic 2>&1",
        Expect::Prints(
            "{\"source\":\"statistics\",\"kind\":\"variable\",\"object\":\"MPI_COMM_SELF\",\"variable\":\"p2p_messages_received\",\"class\":\"counter\",\"unit\":\"messages\",\"values\":[5]}\n",
        ),
    ),
    (
        "statistics as text",
        "$B/mpiexec -n 3 --cvar stats_at_end=summary $P/traffic 2>&1 | tr -s ' ' | grep -A99 'of 3 ranks'",
        Expect::Prints("p2p_messages_sent 0 0 10 20 2 30 messages\n"),
    ),
    (
        "statistics that cannot be written",
        "$B/mpiexec --cvar stats_at_end=all --cvar stats_file=/nonexistent/s $P/traffic; test $? = 1 && exit 1",
        Expect::Refused("mpiexec: stats_file is \"/nonexistent/s\", but cannot be written"),
    ),
    (
        "statistics that cannot be written of a job that failed",
        "$B/mpiexec -n 2 --cvar stats_at_end=all --cvar stats_file=/nonexistent/s $P/refused; test $? = 5 && exit 5",
        Expect::Refused("mpiexec: stats_file is \"/nonexistent/s\", but cannot be written"),
    ),
    (
        "statistics have communicators' names",
        "$B/mpiexec -n 2 --cvar stats_at_end=all --cvar stats_format=json $P/named 2>&1",
        Expect::Prints(
            "{\"source\":\"statistics\",\"kind\":\"variable\",\"object\":\"solver\",\"variable\":\"p2p_messages_sent\",\"class\":\"counter\",\"unit\":\"messages\",\"values\":[1,1]}\n",
        ),
    ),
    (
        "statistics have plug-ins' variables",
        "$B/mpiexec -n 2 --cvar stats_at_end=summary --cvar stats_format=json $P/named 2>&1",
        Expect::Prints(
            "{\"source\":\"statistics\",\"kind\":\"variable\",\"object\":\"\",\"variable\":\"late_things\",\"class\":\"counter\",\"unit\":\"things\",\"values\":[1,2]}\n",
        ),
    ),
    (
        "statistics have no algorithms that were not requested",
        "$B/mpiexec -n 2 --cvar stats_at_end=all --cvar stats_format=json --cvar stats_file=$P/stats $P/traffic && ! grep _algorithm $P/stats && cat $P/stats",
        Expect::Prints(
            "\"variable\":\"coll_barrier_calls\",\"class\":\"counter\",\"unit\":\"calls\",\"values\":[1,1]}\n",
        ),
    ),
    (
        "statistics list who did not finalize",
        "! $B/mpiexec -n 3 --cvar stats_at_end=all --cvar stats_format=json --cvar stats_file=$P/stats -q $P/traffic die && cat $P/stats",
        Expect::Prints(
            "{\"source\":\"statistics\",\"kind\":\"job\",\"ranks\":3,\"without_mpi\":[],\"without_finalize\":[",
        ),
    ),
    (
        "checkpoint of a job with a killed rank",
        "! timeout 20 $B/mpiexec -q -n 4 $P/checkpoint $P/saved die && $B/mpiexec -n 4 $P/checkpoint $P/saved check && rm $P/saved",
        Expect::Prints("all that was synchronised is there"),
    ),
    ("part of a job", "$B/mpiexec -n 3 $P/apart part; test $? = 3", Expect::Prints("rank 2 continues")),
    (
        "part of a job by an error",
        "$B/mpiexec -n 3 $P/apart part-error; test $? = 2",
        Expect::Prints("rank 0 continues"),
    ),
    (
        "child that fails",
        "$B/mpiexec $P/apart child stay",
        Expect::Refused("a job that rank 0 spawned failed with exit code 42"),
    ),
    (
        "disconnected child that fails",
        "$B/mpiexec $P/apart child disconnect; test $? = 42",
        Expect::Prints("the parent continues"),
    ),
    ("parent that fails", "$B/mpiexec $P/apart parent stay", Expect::Status(42)),
    (
        "disconnected parent that fails",
        "$B/mpiexec $P/apart parent disconnect; test $? = 42",
        Expect::Prints("the child continues"),
    ),
    ("empty environment", "env -i $B/mpiexec -n 2 $P/size", Expect::Prints("size 2")),
    ("whole lines", "$B/mpiexec -n 8 $P/lines", Expect::Lines),
    ("input goes to rank 0", "echo for rank 0 | $B/mpiexec -n 2 $P/input", Expect::Prints("got for rank 0")),
];

/// The expected result of a case.
enum Expect {
    /// This exit status.
    Status(i32),
    /// Exit status 0 and this text.
    Prints(&'static str),
    /// Another exit status, by itself, and this text on standard error.
    Refused(&'static str),
    /// Eight ranks' thousand lines, none mixed with another.
    Lines,
}

/// All cases, with an empty folder for temporary files that must stay empty.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let folder = paths::scratch("launch");
    fs::create_dir_all(&folder)?;
    for name in [
        "size",
        "lines",
        "input",
        "barriers",
        "appnum",
        "abort",
        "hungry",
        "info_env",
        "cvars",
        "refused",
        "traffic",
        "named",
        "ends",
        "spawns",
        "checkpoint",
        "apart",
    ] {
        let source = paths::root().join("tests/launch").join(format!("{name}.c"));
        let mut command = Command::new(dist.join("bin/mpicc"));
        process::must(command.arg(source).arg("-o").arg(folder.join(name)), LIMIT)?;
    }
    let temporary = folder.join("tmp");
    fs::create_dir_all(&temporary)?;
    fs::write(folder.join("rings"), "fabric_ring_bytes = 100k # each\n")?;
    let shared_before = files(SHARED_MEMORY);
    for (name, line, expect) in CASES {
        if !report.selects(name) {
            continue;
        }
        let mut command = Command::new("sh");
        command.args(["-c", line]).env("B", dist.join("bin")).env("P", &folder).env("TMPDIR", &temporary);
        let outcome = process::run(&mut command, LIMIT)?;
        report.check(name, holds(&expect, &outcome), || outcome.report());
    }
    super::reports::suite(dist, &folder, report)?;
    super::surroundings::suite(dist, &folder, report)?;
    crowd(dist, &folder, report)?;
    let left = files(&temporary);
    report.check("no temporary file left", left.is_empty(), || format!("{left:?}"));
    let new = files(SHARED_MEMORY);
    // Other libraries may run at the same time, and leave theirs.
    let is_ours = |file: &&PathBuf| !file.to_string_lossy().starts_with(&format!("{SHARED_MEMORY}/mpich"));
    let left: Vec<&PathBuf> = new.difference(&shared_before).filter(is_ours).collect();
    report.check("no shared memory left", left.is_empty(), || format!("{left:?}"));
    Ok(())
}

/// More ranks than cores slow a barrier only by sharing the cores: a barrier that waits for time slices to expire takes
/// several milliseconds for each of them; 16 ranks on two cores stay below one in all.
fn crowd(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    if let Err(failure) = tools::need("taskset", "util-linux", false) {
        report.skip("crowd", &failure.to_string());
        return Ok(());
    }
    if !report.selects("crowd") {
        return Ok(());
    }
    // The shortest of three: other load only makes a run longer.
    let shortest = |cores: &str, ranks: &str| -> Result<f64> {
        let mut shortest = f64::INFINITY;
        for _ in 0..3 {
            let mut command = Command::new("taskset");
            command.args(["-c", cores]).arg(dist.join("bin/mpiexec")).args(["-n", ranks]).arg(folder.join("barriers"));
            let outcome = process::must(&mut command, LIMIT)?;
            shortest = shortest.min(outcome.stdout.trim().parse().map_err(|_| format!("no time: {}", outcome.stdout))?);
        }
        Ok(shortest)
    };
    let many = shortest("0,1", "16")?;
    report.check("crowd", many <= 1000.0, || format!("a barrier of 16 ranks on 2 cores takes {many} us"));
    Ok(())
}

fn holds(expect: &Expect, outcome: &Outcome) -> bool {
    match expect {
        Expect::Status(status) => !outcome.timed_out && outcome.status.code() == Some(*status),
        Expect::Prints(text) => outcome.success() && outcome.stdout.contains(text),
        Expect::Refused(text) => {
            !outcome.timed_out && outcome.status.code().is_some_and(|code| code != 0) && outcome.stderr.contains(text)
        }
        Expect::Lines => {
            let whole = |line: &str| {
                let mut words = line.split(' ');
                let (rank, number, tail) = (words.next(), words.next(), words.next());
                rank.is_some_and(|rank| tail.is_some_and(|tail| tail == rank.repeat(60))) && number.is_some()
            };
            outcome.success() && outcome.stdout.lines().count() == 8000 && outcome.stdout.lines().all(whole)
        }
    }
}
