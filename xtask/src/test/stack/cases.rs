//! The lines of shell of the suite `stack`.

use super::Case;

/// Builds the tools A, B and C, the typed one, the examples, and the programs.
pub const BUILD: &str = "set -e; mkdir traces; s='-Wall -Wextra -Werror -shared -fPIC'; \
    for n in A B C; do mpicc $s -DNAME=\\\"$n\\\" $T/order.c -o $n.so; done; \
    mpicc $s -Wl,-z,now $T/typed.c -o typed.so; mpicc $s $T/pcontrol.c -o pcontrol.so; \
    for n in send_count umq_tool pvar_report; do mpicc -shared -fPIC $E/tools/$n.c -o $n.so; done; \
    mpicc $T/program.c -o program; mpicc $T/changed.c -o changed; mpicc -pthread $T/threads.c -o threads; \
    mpicc $E/umq_program.c -o umq_program; mpicc $E/ring.c -o ring; \
    mpicc -static $T/program.c -o static; mpicc -c $T/order.c -DNAME='\"O\"' -o order.o; \
    cc -I$D/include $T/program.c $D/lib/libmpi.a -lpthread -ldl -lm -o inside; \
    mpicc -shared -fPIC -Dmain=inner $T/program.c -o libinner.so; cc $T/load.c -ldl -o load; \
    echo 'int nothing;' | cc -shared -fPIC -x c - -o nothing.so; \
    head -c 700 A.so > cut.so; printf '\\177ELF\\001\\001\\001' > narrow.so";

pub(super) const fn case(
    name: &'static str,
    line: &'static str,
    prints: &'static [&'static str],
    never: &'static [&'static str],
) -> Case {
    Case { name, line, status: 0, prints, never }
}

const fn refused(name: &'static str, line: &'static str, prints: &'static [&'static str]) -> Case {
    Case { name, line, status: 2, prints, never: &["program: sum"] }
}

const WRONG: &[&str] = &["is not one function", "is wrong", "is lost", "not in order", "too large"];

pub const CASES: &[Case] = &[
    case(
        "three tools in order",
        "mpiexec -n 1 --tool ./A.so --tool ./B.so --tool ./C.so ./program alone",
        &[
            "A before MPI_Init\nB before MPI_Init\nC before MPI_Init\nC after MPI_Init\nB after MPI_Init\nA after MPI_Init\n",
            "A before MPI_Barrier\nB before MPI_Barrier\nC before MPI_Barrier\nC after MPI_Barrier\nB after MPI_Barrier\n\
             A after MPI_Barrier\n",
            "A at MPI_Finalize: 3 barriers, 3 sizes\nB at MPI_Finalize: 3 barriers, 3 sizes\n\
             C at MPI_Finalize: 3 barriers, 3 sizes\nC after MPI_Finalize\nB after MPI_Finalize\nA after MPI_Finalize\n",
        ],
        WRONG,
    ),
    case(
        "three tools in another order",
        "mpiexec -n 1 --tool=C.so --tool=A.so --tool=B.so ./program alone",
        &[
            "C before MPI_Init\nA before MPI_Init\nB before MPI_Init\nB after MPI_Init\nA after MPI_Init\nC after MPI_Init\n",
            "B after MPI_Finalize\nA after MPI_Finalize\nC after MPI_Finalize\n",
        ],
        WRONG,
    ),
    case(
        "three tools in a third order",
        "mpiexec -n 1 --tool=B.so --tool=C.so --tool=A.so ./program alone",
        &[
            "B before MPI_Barrier\nC before MPI_Barrier\nA before MPI_Barrier\nA after MPI_Barrier\nC after MPI_Barrier\n",
        ],
        WRONG,
    ),
    case(
        "two copies of one tool have their own state",
        "mpiexec -n 1 --tool ./A.so --tool ./B.so --tool $PWD/A.so ./program alone",
        &[
            "A before MPI_Init\nB before MPI_Init\nA before MPI_Init\nA after MPI_Init\nB after MPI_Init\nA after MPI_Init\n",
            "A at MPI_Finalize: 3 barriers, 3 sizes\nB at MPI_Finalize: 3 barriers, 3 sizes\n\
             A at MPI_Finalize: 3 barriers, 3 sizes\n",
        ],
        WRONG,
    ),
    case(
        "eight copies of one tool",
        "mpiexec -n 1 --tool A.so --tool A.so --tool A.so --tool A.so --tool A.so --tool A.so --tool A.so --tool A.so \
         ./program alone 2>&1 | grep -c 'A at MPI_Finalize: 3 barriers, 8 sizes'",
        &["8\n"],
        WRONG,
    ),
    case(
        "list of the environment",
        "FERRUM_TOOLS=A.so:./B.so mpiexec -n 2 ./program",
        &["A before MPI_Init\n", "B after MPI_Finalize\n", "program: sum 2\n"],
        &["no such variable"],
    ),
    case(
        "options replace the list of the environment",
        "FERRUM_TOOLS=nowhere.so mpiexec -n 1 --tool B.so ./program alone",
        &["B before MPI_Init\n"],
        &["A before"],
    ),
    case(
        "another directory and another program in between",
        "mkdir -p there; mpiexec -n 1 -wdir there --tool A.so sh -c '../program alone'",
        &["A at MPI_Finalize: 3 barriers"],
        WRONG,
    ),
    case(
        "a program that loads MPI later",
        "LD_LIBRARY_PATH=$D/lib mpiexec -n 1 --tool A.so --tool B.so ./load ./libinner.so alone",
        &["A before MPI_Init\nB before MPI_Init\nB after MPI_Init\n", "A at MPI_Finalize: 3 barriers, 2 sizes\n"],
        WRONG,
    ),
    case(
        "a preloaded tool is the last one",
        "LD_PRELOAD=$PWD/C.so mpiexec -n 1 --tool A.so ./program alone",
        &["A before MPI_Init\nC before MPI_Init\nC after MPI_Init\nA after MPI_Init\n"],
        WRONG,
    ),
    case(
        "without a launcher",
        "LD_PRELOAD=$D/lib/libferrum_stack.so FERRUM_TOOLS=A.so:B.so ./program alone",
        &["A before MPI_Init\nB before MPI_Init\n"],
        &["no such variable"],
    ),
    Case {
        name: "without a launcher a wrong tool ends the process",
        line: "LD_PRELOAD=$D/lib/libferrum_stack.so FERRUM_TOOLS=A.so:nowhere.so ./program",
        status: 1,
        prints: &["ferrum_stack: FERRUM_TOOLS: nowhere.so cannot be used as a tool: "],
        never: &["before MPI_Init"],
    },
    case(
        "without tools nothing is loaded",
        "FERRUM_TOOLS= mpiexec -n 1 sh -c 'echo \"[$LD_PRELOAD]\"; cat /proc/self/maps'",
        &["[]\n"],
        &["libferrum"],
    ),
    case(
        "the stack without tools changes nothing",
        "LD_PRELOAD=$D/lib/libferrum_stack.so mpiexec -n 2 ./program",
        &["program: sum 2\n"],
        &["ferrum_stack"],
    ),
    case(
        "example tools at once",
        "mpiexec -n 2 --tool send_count.so --tool umq_tool.so --tool pvar_report.so ./ring",
        &["(correct)", "send_count: rank 1 sent 1000 messages, 8000 bytes in ", "umq_tool: rank 0: "],
        &[],
    ),
    case(
        "queue tool behind a typed one",
        "mpiexec -n 3 --tool typed.so --tool umq_tool.so ./umq_program",
        &["(correct)", "umq_tool: rank 2: 0 of ", "typed: "],
        &["rank 0: 0 of"],
    ),
    case(
        "threads",
        "mpiexec -n 1 --profile --tool A.so --tool calls --tool typed.so --tool typed.so -env FERRUM_CALLS_FILE \
         thread_calls ./threads && grep -c '^rank 0: MPI_Sendrecv(.*> *us>$\\|^rank 0: MPI_Sendrecv(.* us>$' thread_calls",
        &["threads: 4 of 4 right\n", "\n2000\n", "MPI_Sendrecv            2000 "],
        WRONG,
    ),
    case(
        "typed tool",
        "mpiexec -n 2 --tool typed.so ./program",
        &["typed: 13 calls, 5 sends of 80 bytes\n", "typed: 13 calls, 0 sends of 0 bytes\n"],
        WRONG,
    ),
    case(
        "two typed tools and others between them",
        "mpiexec -n 2 --tool typed.so --tool A.so --tool typed.so --tool B.so ./program 2>&1 | sort",
        // The first typed tool's call of MPI_Comm_size begins at the first tool, but not at that tool's functions.
        &[
            "A at MPI_Finalize: 3 barriers, ",
            "typed: 15 calls, 0 sends of 0 bytes\n",
            "typed: 20 calls, 5 sends of 80 bytes\ntyped: 25 calls, 5 sends of 80 bytes\n",
        ],
        WRONG,
    ),
    case(
        "typed tool changes results",
        "TYPED_CHANGE=1 mpiexec -n 1 --tool A.so --tool typed.so ./changed; mpiexec -n 1 --tool typed.so ./changed",
        &["changed: code changed, time changed\n", "changed: code own, time own\n"],
        &[],
    ),
    case(
        "typed tool in Rust",
        "mpiexec -n 1 --tool libslow_calls.so --tool A.so --tool libslow_calls.so ./program alone 2>&1 | \
         grep -c 'slow_calls: the longest call is MPI_'",
        &["2\n"],
        &[],
    ),
    case(
        "further arguments of MPI_Pcontrol",
        "mpiexec -n 1 --tool calls --tool pcontrol.so --tool typed.so --tool pcontrol.so ./program alone 2>&1 | head -n 40",
        &["pcontrol: level 2, \"text\", 3.5\n", "MPI_Pcontrol(level=2, varargs=...) = MPI_SUCCESS <"],
        &[],
    ),
    case(
        "lines of calls",
        "mpiexec -n 2 --tool calls -env FERRUM_CALLS_FILE calls.%r ./program && cat calls.1 && wc -l < calls.0",
        &["rank 1: MPI_Send(buf=0x", ", count=4, datatype=0x209, dest=0, tag=7, comm=0x101) = MPI_SUCCESS <", "\n13\n"],
        &[],
    ),
    Case {
        name: "no file for lines of calls",
        line: "mpiexec -n 1 --tool calls -env FERRUM_CALLS_FILE /nonexistent/f ./program alone",
        status: 1,
        prints: &["ferrum_stack: FERRUM_CALLS_FILE is \"/nonexistent/f\", which cannot be written: "],
        never: &["program: sum"],
    },
    refused(
        "missing file",
        "mpiexec --tool nowhere.so -n 1 ./program alone",
        &["--tool \"nowhere.so\" cannot be used: it cannot be read: No such file"],
    ),
    refused(
        "no ELF file",
        "mpiexec --tool $T/order.c -n 1 ./program alone",
        &["order.c\" cannot be used: it is no shared object (ELF)"],
    ),
    refused("another class", "mpiexec --tool narrow.so -n 1 ./program alone", &["it is a file of 32 bits"]),
    refused("a file that is cut off", "mpiexec --tool cut.so -n 1 ./program alone", &["cut.so\" cannot be used: it "]),
    refused(
        "an object file",
        "mpiexec --tool order.o -n 1 ./program alone",
        &["it is no shared object, but an object file"],
    ),
    refused(
        "a program as a tool",
        "mpiexec --tool ./ring -n 1 ./program alone",
        &["it is no shared object, but a program"],
    ),
    refused("no function of MPI", "mpiexec --tool nothing.so -n 1 ./program alone", &["it defines no function of MPI"]),
    refused(
        "the library as a tool",
        "mpiexec --tool $D/lib/libmpi_abi.so.1 -n 1 ./program alone",
        &["it is an MPI library"],
    ),
    refused(
        "wrong name in the environment",
        "FERRUM_TOOLS=A.so:clls mpiexec -n 1 ./program alone",
        &["FERRUM_TOOLS \"clls\" cannot be used"],
    ),
    refused(
        "static program",
        "mpiexec --tool A.so -n 1 ./static",
        &["tools do not reach the program \"./static\": it is statically linked"],
    ),
    refused("static library", "mpiexec --profile -n 1 ./inside", &["the MPI library is linked into it statically"]),
    case(
        "trace",
        "mpiexec -n 2 --trace traces/a.json --tool A.so ./program && python3 $T/trace.py traces/a.json 0 MPI_Init 1 0 \
         MPI_Barrier 3 1 MPI_Barrier 3 1 MPI_Send 5 0 MPI_Recv 5 0 MPI_Send 0 1 MPI_Allreduce 1 1 MPI_Pcontrol 1 0 \
         MPI_Finalize 1 0 MPI_Comm_rank 1 0 MPI_Comm_size 1",
        &["trace: right", "A at MPI_Finalize: 3"],
        &[],
    ),
    Case {
        name: "trace and profile of a killed rank",
        line: "mpiexec -n 2 --trace traces/b.json --profile ./program die; code=$?; python3 $T/trace.py traces/b.json 1 \
               MPI_Send 5 1 MPI_Allreduce 1 0 MPI_Recv 5 -0 MPI_Recv 1 0 MPI_Finalize 0 && exit $code",
        status: 137,
        prints: &[
            "trace: right",
            "profile of 2 of 2 ranks",
            "1 call of MPI_Recv has not returned\n",
            "MPI_Send                 5 ",
        ],
        never: &[],
    },
    case(
        "trace of a long run",
        "mpiexec -n 2 --trace traces/c.json ./ring && python3 -c 'import json; e = json.load(open(\"traces/c.json\"))[\"traceEvents\"]; \
         print(sum(x[\"name\"] == \"MPI_Sendrecv\" for x in e), sum(x[\"name\"] == \"MPI_Send\" for x in e)); \
         print(\"arrows\", len([x for x in e if x[\"ph\"] == \"s\"]) > 1000)'",
        &["(correct)", " 1000\n", "arrows True"],
        &["lost"],
    ),
    case(
        "trace of programs without MPI",
        "mpiexec -n 2 --profile --trace traces/d.json true && python3 -c 'import json; \
         print(len(json.load(open(\"traces/d.json\"))[\"traceEvents\"]))'",
        &["profile of 0 of 2 ranks", "4\n"],
        &[],
    ),
    Case {
        name: "no place for a trace",
        line: "mpiexec -n 1 --trace /nonexistent/a.json ./program alone",
        status: 1,
        prints: &["mpiexec: --trace \"/nonexistent/a.json\" cannot be written: No such file or directory"],
        never: &["program: sum"],
    },
    case(
        "profile",
        "mpiexec -n 2 --profile ./program",
        &[
            "profile of 2 of 2 ranks: MPI calls of all ranks together\nfunction ",
            "MPI_Barrier              6 ",
            "MPI_Send                 5 ",
            "MPI_Recv                 5 ",
            " 80\n",
            "MPI_Allreduce            2 ",
            " 32\n",
            "MPI_Pcontrol             2 ",
            "MPI_Finalize             2 ",
            "MPI_Comm_rank            2 ",
        ],
        &["MPI_Type_size", "has not returned"],
    ),
];
