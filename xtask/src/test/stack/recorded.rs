//! Lines of shell on what `--profile` and `--trace` record: files that a program closes, programs that execute others,
//! ranks that are not recorded, the bytes of collective operations.

use super::Case;
use super::cases::case;

/// Builds the programs.
pub const BUILD: &str = "set -e; s='-Wall -Wextra -Werror'; for n in closer again rooted element; do mpicc $s $T/$n.c -o $n; done; \
    mpicc $s -shared -fPIC $T/accepts.c -o accepts.so; echo 'exec ./program alone' > program.sh; \
    printf '#!/bin/sh\\n./program alone\\nexit $?\\n' > run_program; chmod +x run_program";

/// Prints the calls of a trace by their names, with numbers.
macro_rules! names {
    () => {
        "python3 -c 'import json, sys, collections; e = json.load(open(sys.argv[1]))[\"traceEvents\"]; print(*sorted(\
         collections.Counter(x[\"name\"] for x in e if x[\"ph\"] == \"X\").items()))' "
    };
}

pub const CASES: &[Case] = &[
    case(
        "a program that closes and reuses every descriptor",
        concat!("mpiexec -n 2 --profile --trace traces/e.json ./closer own.file && ", names!(), "traces/e.json"),
        &[
            "closer: files untouched\ncloser: files untouched\n",
            "('MPI_Finalize', 2) ('MPI_Init', 2) ('MPI_Initialized', 200000)\n",
            "MPI_Initialized       200000 ",
        ],
        &["written", "lost"],
    ),
    case(
        "a program that executes itself",
        concat!("mpiexec -n 2 --profile --trace traces/f.json ./again exec && ", names!(), "traces/f.json"),
        &[
            "profile of 2 of 2 ranks",
            "('MPI_Barrier', 2) ('MPI_Finalize', 2) ('MPI_Init', 2) ('MPI_Initialized', 2)\n",
            "MPI_Initialized            2 ",
        ],
        &["not recorded"],
    ),
    case(
        "a program with the library that starts another one",
        concat!("mpiexec -n 2 --profile --trace traces/g.json ./again fork && ", names!(), "traces/g.json"),
        &["profile of 2 of 2 ranks", "('MPI_Barrier', 2) ('MPI_Finalize', 2) ('MPI_Init', 2)\n"],
        &["not recorded"],
    ),
    case(
        "a program that executes itself with other descriptors",
        "mpiexec -n 2 --profile --trace traces/h.json ./again lost",
        &[
            "again: the file is untouched\n",
            "mpiexec: --profile and --trace: ranks 0-1 are not recorded: they called no function of MPI, or ",
        ],
        &["is written"],
    ),
    case(
        "scripts",
        "mpiexec -n 1 --profile sh program.sh && mpiexec -n 1 --profile ./run_program",
        &["program: sum 1\n", "MPI_Barrier              3 "],
        &["not recorded", "profile of 0 of"],
    ),
    case(
        "one rank that is not recorded",
        "mpiexec -n 1 --profile ./again exec : -n 1 env -u LD_PRELOAD ./again exec",
        &["mpiexec: --profile: rank 1 is not recorded: it called ", "profile of 1 of 2 ranks"],
        &["rank 0 is"],
    ),
    case(
        "no room for a timeline",
        "ulimit -f 2000; mpiexec -n 1 --trace traces/i.json ./closer own.file",
        &[
            "closer: files untouched\n",
            "ferrum_stack: timeline: calls are lost from here on: File too large",
            "mpiexec: --trace: 100002 calls of rank 0 are not in it: no room\n",
        ],
        &["written"],
    ),
    case(
        "bytes of collective operations with a root",
        "mpiexec -n 4 --trace traces/j.json --tool accepts.so ./rooted && python3 $T/bytes.py traces/j.json MPI_Gather \
         MPI_Scatter MPI_Bcast MPI_Reduce",
        &["rank 0: 12 12 20 28 8\nrank 1: 12 12 20 28 8\nrank 2: 0 0 0 0 8\nrank 3: 12 12 20 28 8\n"],
        &[],
    ),
    case(
        "bytes of one-sided operations on one element",
        "mpiexec -n 2 --trace traces/k.json --tool accepts.so ./element && python3 $T/bytes.py traces/k.json \
         MPI_Fetch_and_op MPI_Compare_and_swap",
        &["rank 0: 4 8 4\nrank 1: 4 8 4\n"],
        &[],
    ),
];
