//! What is seen of a job on several hosts: statistics, hangs, time limits, failures and the last calls, with all hosts' ranks.
//!
//! The program is that of the suite `hangs`. Not here: the same on one host (`observe`, `hangs`).

use std::path::Path;

use super::super::{Report, network};
use super::cases;
use crate::lab::Lab;
use crate::peers::Library;
use crate::{Result, paths};

/// Starts a job that makes no progress, waits until its report has a text, the first argument, and ends it.
const HANGS: &str = r#"
hangs() {
    text=$1; shift
    hydra -n 4 -host h1,h2 --hang-report=0.5 "$@" 2> $W/report & job=$!
    for _ in $(seq 600); do grep -qF -e "$text" $W/report && break; sleep 0.05; done
    end_on 1 "bin/mpiexec --manager"; wait $job 2> /dev/null; cat $W/report
}
"#;

/// Waits until `mpitop` shows a call on both hosts, prints what it shows on h2, and kills the ranks.
const LOOKS: &str = r#"
kill_ranks() {
    lab run $1 sh -c "kill -9 $(lab run $1 "$B/mpitop" --once --json | grep -o '"kind":"rank","rank":[0-9]*,"pid":[0-9]*' | grep -o '[0-9]*$' | tr '\n' ' ')"
}
looks() {
    for _ in $(seq 300); do
        lab run 1 "$B/mpitop" --once 2> /dev/null | grep -qF MPI_Ssend && lab run 2 "$B/mpitop" --once 2> /dev/null | grep -qF MPI_Ssend && break
        sleep 0.1
    done
    for form in --once '--once --json' --why --list; do lab run 2 "$B/mpitop" $form; done
    echo states $(lab run 2 "$B/mpitop" --openmetrics | grep -c 'rank_state{')
    kill_ranks 1; kill_ranks 2; wait $! 2> /dev/null; echo over
}
"#;

/// Waits until `mpitop` finds the ranks on h1 by the process id of the front, prints what it shows, with FRONT for that id, and ends
/// the front. The argument is a text to wait for.
const LOOKS_BY_FRONT: &str = r#"
looks_by_front() {
    for _ in $(seq 300); do
        front=$(lab run 1 ps -eo pid=,comm=,args= | awk '$2 == "mpiexec" && !/--serve-host/ { print $1; exit }')
        [ -n "$front" ] && lab run 1 "$B/mpitop" --once $front 2>&1 | grep -qF -e "$1" && break
        sleep 0.1
    done
    for form in "--once $front" "--once --json $front" "--why $front" --list; do lab run 1 "$B/mpitop" $form 2>&1; done | sed "s/\b$front\b/FRONT/g"
    lab run 1 sh -c "kill $front"; wait $! 2> /dev/null; echo over
}
"#;

/// What `mpitop` prints on h1, by the process id of the front there.
const SEEN_BY_FRONT: &[&str] = &[
    " cores (ranks 2-3 are on h2), process FRONT: ",
    "MPI_Ssend to rank 2 with tag 3\n",
    "\"kind\":\"job\",",
    "\"pid\":FRONT,\"ranks\":4,",
    "\"hosts\":[{\"host\":\"h1\",\"ranks\":[0,1]},{\"host\":\"h2\",\"ranks\":[2,3]}]",
    "\"kind\":\"rank\",\"rank\":1,",
    "rank 0 waits in MPI_Ssend to rank 2 with tag 3, which is on h2\n",
    "  (ranks 2-3 are on h2: what they do is not seen from here)\n",
    "   FRONT  4 ranks ",
    "over\n",
];

/// What `mpitop` prints on h2.
const SEEN_ON_H2: &[&str] = &[
    ", 4 ranks on ",
    " cores (ranks 0-1 are on h1), process ",
    "MPI_Ssend to rank 0 with tag 3\n",
    "\"hosts\":[{\"host\":\"h2\",\"ranks\":[2,3]},{\"host\":\"h1\",\"ranks\":[0,1]}]",
    "rank 2 waits in MPI_Ssend to rank 0 with tag 3, which is on h1\n",
    "  (ranks 0-1 are on h1: what they do is not seen from here)\n",
    "states 2\n",
    "over\n",
];

const PLACES: &str = "(ranks 0-1 are on h1, ranks 2-3 are on h2)";

/// As the cases of `hosts`, with their sources in `$S`; `@` stands for [`HANGS`], [`LOOKS`] and [`LOOKS_BY_FRONT`].
const OBSERVED: &[(&str, &str, &[&str])] = &[
    (
        "observe: a time limit names the cause",
        "hydra -n 4 --timeout 10 -host h1,h2 $W/hang far; echo code $?",
        &[
            "the job did not end within 10 s",
            "was ended; ranks 0, 2 wait for each other: rank 0 in MPI_Ssend to rank 2 with tag 3, rank 2 in MPI_Ssend to rank 0 with \
             tag 3; what the ranks were doing:",
            "ranks 1, 3: in MPI_Barrier",
            PLACES,
            "code 124\n",
        ],
    ),
    (
        "observe: a time limit as JSON",
        "hydra -n 4 --timeout 10 --error-format json -host h1,h2 $W/hang far; echo code $?",
        &["\"cause\":\"ranks 0, 2 wait for each other: ", "\"rank\":3,", "code 124\n"],
    ),
    (
        "observe: a hang across hosts",
        "@ hangs 'wait for each other' $W/hang far",
        &[
            "no progress for 0.5 s: ranks 0, 2 wait for each other: rank 0 in MPI_Ssend to rank 2 with tag 3",
            "  ranks 1, 3: in MPI_Barrier #2 on MPI_COMM_WORLD; not there: ranks 0, 2; ",
            PLACES,
        ],
    ),
    (
        "observe: wrong tag",
        "@ hangs 'has sent one' $W/hang tag",
        &[
            "rank 0 waits in MPI_Recv from rank 1 with tag 7; rank 1 has sent one with tag 8 (4 bytes)",
            "rank 0 has received 1 message from rank 1 with tag 8 (4 bytes, MPI_COMM_WORLD) for which no receive waits",
        ],
    ),
    (
        "observe: a collective call is missing",
        "@ hangs differ $W/hang missing",
        &["collective calls on MPI_COMM_WORLD differ: ranks 0, 2-3 call MPI_Scan #2, rank 1 calls MPI_Barrier #2"],
    ),
    (
        "observe: a hang as JSON",
        "@ hangs 'has sent one' --error-format json $W/hang tag",
        &[
            "\"kind\":\"hang_report\",\"cause\":\"rank 0 waits in MPI_Recv from rank 1",
            "\"limits\":[{\"text\":\"ranks 0-1 are on h1, ranks 2-3 are on h2\"}]",
        ],
    ),
    (
        "observe: what others did to a rank that died",
        "hydra -n 4 -host h1,h2 $W/hang lost; echo code $?",
        &[
            "rank 2 of 4 ($W/hang) on host h2 ",
            "\n  ranks 0-1, 3 waited for rank 2 in MPI_Barrier #2 on MPI_COMM_WORLD\n",
        ],
    ),
    (
        "observe: the same as JSON",
        "hydra -n 4 --error-format json -host h1,h2 $W/hang lost",
        &["\"waiting\":[{\"text\":\"ranks 0-1, 3 waited for rank 2 in MPI_Barrier #2 on MPI_COMM_WORLD\"}]"],
    ),
    ("observe: mpitop names the other hosts", "@ hydra -n 4 -host h1,h2 $W/hang far & looks", SEEN_ON_H2),
    (
        "observe: mpitop under Hydra alone",
        "@ hydra_alone -hosts h1,h2 -ppn 2 -n 4 $W/hang far 2> /dev/null & looks",
        SEEN_ON_H2,
    ),
    (
        "observe: mpitop by the process id of mpiexec",
        "@ hydra -n 4 -host h1,h2 $W/hang far 2> /dev/null & looks_by_front MPI_Ssend",
        SEEN_BY_FRONT,
    ),
    (
        "observe: mpitop by the process id of an mpiexec without ranks on its host",
        "@ hydra -n 4 -host h2,h3 $W/hang far 2> /dev/null & looks_by_front 'no rank on this host'",
        &[
            "mpitop: process FRONT has no rank on this host: ",
            "; if its ranks run on other hosts, start mpitop on one of them\n",
            "no job of this user runs on this host\n",
            "over\n",
        ],
    ),
    (
        "observe: --stats",
        "hydra -n 4 --stats -host h1,h2 $W/load once; echo code $?",
        &[
            "Ferrum MPI statistics: 4 ranks, ",
            "  on 2 hosts: h1 (ranks 0-1), h2 (ranks 2-3)\n",
            "most at once: messages before their receive ",
            "2.94 KiB 3\n",
            "code 0\n",
        ],
    ),
    (
        "observe: --stats as JSON and as a page",
        "hydra -n 4 --stats=$W/s.json -host h1,h2 $W/load once && hydra -n 4 --stats=$W/s.html -host h1,h2 $W/load once && \
         python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(d[\"hosts\"], d[\"traffic\"])' $W/s.json; \
         grep -c '\"hosts\":..\"host\":\"h1\",\"ranks\":.0,1' $W/s.html",
        &[
            "[{'host': 'h1', 'ranks': [0, 1]}, {'host': 'h2', 'ranks': [2, 3]}] [[1, 0, 2, 1000], [2, 0, 3, 2000], [3, 0, 4, 3000]]\n\
             1\n",
        ],
    ),
    (
        "observe: --stats of a job that failed",
        "hydra -n 4 --stats=$W/f.json -host h1,h2 $W/load once die; echo code $?; python3 -c 'import json, sys; \
         d = json.load(open(sys.argv[1])); print(d[\"exit_code\"], d[\"without_finalize\"])' $W/f.json",
        &["rank 3 of 4 ($W/load) on host h2 exited with code 9", "code 9\n9 [", "3]\n"],
    ),
    (
        "observe: --profile",
        "hydra -n 4 --profile -host h1,h2 $W/load once; echo code $?",
        &[
            "profile of 4 of 4 ranks: MPI calls of all ranks together\n",
            "MPI_Send                   9 ",
            "MPI_Recv                   9 ",
            "MPI_Barrier                4 ",
            " 6000\n",
            "code 0\n",
        ],
    ),
    (
        "observe: --trace",
        "hydra -n 4 --trace $W/trace.json -host h1,h2 $W/load once; echo code $?; python3 $S/trace.py $W/trace.json",
        &["code 0\n", "9 arrows, calls of each rank [9, 2, 3, 4] and a barrier of all at once\n"],
    ),
    (
        "observe: --timeline",
        "hydra -n 4 --timeline $W/t.json -host h1,h2 $W/load once die; echo code $?; python3 -c 'import json, sys; \
         e = json.load(open(sys.argv[1]))[\"traceEvents\"]; print([x[\"args\"][\"name\"].split(\":\")[0] for x in e if x[\"name\"] == \
         \"process_name\"], sum(x[\"name\"] == \"MPI_Send\" for x in e), sum(x[\"ph\"] == \"s\" for x in e))' $W/t.json",
        &[
            " calls are in $W/t.json, with 9 arrows from sends to receives, for ui.perfetto.dev\n",
            "['rank 0 on h1', 'rank 1 on h1', 'rank 2 on h2', 'rank 3 on h2'] 9 9\n",
        ],
    ),
];

/// Prints what a file of statistics in JSON has: its ranks, the hosts that are absent, and what the ranks have sent, by `python3 -c`.
const READ: &str = r#"
read_statistics() {
    python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
sent = [row["values"] for row in rows if row.get("object") == "MPI_COMM_WORLD" and row["variable"] == "p2p_bytes_sent"]
print(rows[0]["ranks"], rows[0]["without_finalize"], rows[0].get("absent"), sent)' $W/s
}
export FERRUM_STATS_AT_END=summary FERRUM_NET_TIMEOUT=3
in_json() { rm -f $W/s; export FERRUM_STATS_FORMAT=json FERRUM_STATS_FILE=$W/s; }
srun_alone() { lab run 1 srun --mpi=$1 --wait=25 -N 2 -w h1,h2 -n 4 --overcommit $W/statistics ${2:-}; }
"#;

/// What the file of four ranks has. Each rank has sent 3 times (its number + 1) messages of 1000 bytes.
const OF_ALL: &str = "over\n4 [] None [[3000, 6000, 9000, 12000]]\n";
/// The same when a rank has died: its counts are there, and it is marked.
const WITH_DEAD_1: &str = "over\n4 [1] None [[3000, 6000, 9000, 12000]]\n";
const WITH_DEAD_2: &str = "over\n4 [2] None [[3000, 6000, 9000, 12000]]\n";
const WITH_DEAD_3: &str = "over\n4 [3] None [[3000, 6000, 9000, 12000]]\n";
/// The same when h2 does not answer.
const OF_H1: &str = "over\n4 [] [{'host': 'h2', 'ranks': [2, 3]}] [[3000, 6000, None, None]]\n";

/// Cases of `tests/hosts/statistics.c` under launchers alone, with [`READ`].
const STATISTICS: &[(&str, &str, &[&str])] = &[
    (
        "observe: stats_at_end, Hydra alone",
        "hydra_alone -hosts h1,h2 -ppn 2 -n 4 $W/statistics 2>&1 | tr -s ' '",
        &[
            "Ferrum MPI statistics of 4 ranks\n process least",
            " p2p_bytes_sent 3000 0 7500 12000 3 30000 bytes\n p2p_messages_received 6 3 7.5 9 0 30 messages\n",
            "over\n",
        ],
    ),
    (
        "observe: stats_at_end=all as JSON, Hydra alone, ranks of hosts in turn",
        "in_json; FERRUM_STATS_AT_END=all hydra_alone -hosts h1,h2 -ppn 1 -n 4 $W/statistics; read_statistics",
        &[OF_ALL],
    ),
    (
        "observe: stats_at_end, PRRTE alone",
        "in_json; prterun_alone -x FERRUM_STATS_AT_END -x FERRUM_STATS_FORMAT -x FERRUM_STATS_FILE --host h1:2,h2:2 -n 4 $W/statistics; \
         read_statistics",
        &[OF_ALL],
    ),
    (
        "observe: stats_at_end that one host has not",
        "in_json; prterun_alone --host h1:2,h2:2 -n 4 $W/statistics; read_statistics",
        &[OF_H1],
    ),
];

const SLURM_STATISTICS: &[(&str, &str, &[&str])] = &[
    ("observe: stats_at_end, srun alone", "in_json; srun_alone pmi2; read_statistics", &[OF_ALL]),
    ("observe: stats_at_end, a host killed", "in_json; srun_alone pmi2 '2 3'; read_statistics", &[OF_H1]),
    // The other rank of its host finds that in MPI_Finalize, without the launcher.
    ("observe: stats_at_end, a rank killed", "in_json; srun_alone pmi2 3; read_statistics", &[WITH_DEAD_3]),
    (
        "observe: stats_at_end, the first rank of a host left",
        "in_json; srun_alone pmi2 -2; read_statistics",
        &[WITH_DEAD_2],
    ),
    (
        "observe: stats_at_end, a rank killed beside rank 0",
        "in_json; srun_alone pmi2 1; read_statistics",
        &[WITH_DEAD_1],
    ),
    (
        "observe: stats_at_end as text, a host killed",
        "srun_alone pmi2 '2 3' 2>&1 | tr -s ' '",
        &[
            "Ferrum MPI statistics of 2 ranks\n not in it, because nothing came from them in time: ranks 2-3 of host h2\n",
            " p2p_bytes_sent 3000 0 4500 6000 1 9000 bytes\n",
        ],
    ),
];

const SLURM_PMIX: &[(&str, &str, &[&str])] =
    &[("observe: stats_at_end, srun alone, PMIx", "in_json; srun_alone pmix; read_statistics", &[OF_ALL])];

fn statistics(lab: &Lab, dist: &Path, work: &Path, list: &[(&str, &str, &[&str])], report: &mut Report) -> Result<()> {
    Library::ferrum(dist).compile(&paths::root().join("tests/hosts/statistics.c"), &work.join("statistics"), &[])?;
    list.iter().try_for_each(|(name, line, prints)| {
        cases(lab, dist, work, &[(name, &format!("{READ}{line}"), prints)], report)
    })
}

/// All cases.
pub fn run(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if network::skips_without_libfabric("observe", report) {
        return Ok(());
    }
    let library = Library::ferrum(dist);
    for (source, program) in [("hangs/hang.c", "hang"), ("observe/load.c", "load")] {
        library.compile(&paths::root().join("tests").join(source), &work.join(program), &["-pthread"])?;
    }
    for (name, line, prints) in OBSERVED {
        cases(
            lab,
            dist,
            work,
            &[(name, &line.replace('@', &format!("{HANGS}{LOOKS}{LOOKS_BY_FRONT}")), prints)],
            report,
        )?;
    }
    statistics(lab, dist, work, STATISTICS, report)
}

/// The cases under Slurm, after [`run`].
pub fn run_in_slurm(lab: &Lab, dist: &Path, work: &Path, report: &mut Report) -> Result<()> {
    if !work.join("hang").exists() {
        report.skip("observe under Slurm", "the program is not there");
        return Ok(());
    }
    let alone = "lab run 1 srun --mpi=pmi2 -K -N 2 -w h1,h2 -n 4 --overcommit $W/hang far 2> /dev/null & looks";
    let ours = "slurm -ppn 2 $W/hang far 2> /dev/null & looks_by_front MPI_Ssend";
    for (name, looks, line, prints) in [
        ("observe: mpitop under Slurm alone", LOOKS, alone, SEEN_ON_H2),
        ("observe: mpitop by the process id of mpiexec in Slurm", LOOKS_BY_FRONT, ours, SEEN_BY_FRONT),
    ] {
        cases(lab, dist, work, &[(name, &format!("{looks}{line}"), prints)], report)?;
    }
    statistics(lab, dist, work, SLURM_STATISTICS, report)?;
    match super::messages::slurm_has_pmix(lab, dist, work)? {
        true => statistics(lab, dist, work, SLURM_PMIX, report),
        false => {
            report.skip(SLURM_PMIX[0].0, super::messages::NO_PMIX);
            Ok(())
        }
    }
}
