//! Lines of shell on the objects of which a tool consists: objects of C++, libraries that several tools share, code that
//! cannot be redirected.

use super::Case;
use super::cases::case;

/// Builds the tools: A, B and C with a library that has a name of its own (`h`), and with one that has none (`p`). Two
/// more share a library `mid`, which calls nothing of MPI, but the other library.
pub const BUILD: &str = "set -e; s='-Wall -Wextra -Werror -shared -fPIC'; r='-Wl,-rpath,$ORIGIN'; \
    mpicxx $s $T/objects.cpp -o objects.so; mpicxx $T/at_exit.cpp -o at_exit; \
    mpicc -shared -Wl,-z,notext -w $T/in_code.c -o in_code.so; mpicc $s $T/helper.c -o libplain.so; \
    mpicc $s -Wl,-soname,libhelper.so $T/helper.c -o libhelper.so; \
    for n in A B C; do mpicc $s -DNAME=\\\"$n\\\" $T/helped.c -L. -lhelper \"$r\" -o h$n.so; \
    mpicc $s -DNAME=\\\"$n\\\" $T/helped.c -L. -lplain \"$r\" -o p$n.so; done; \
    cc $s $T/middle.c -L. -lhelper \"$r\" -o libmiddle.so; for n in A B; do \
    mpicc $s -DNAME=\\\"$n\\\" -DMIDDLE $T/helped.c -L. -lmiddle -lhelper \"$r\" -o m$n.so; done";

const THREE: &[&str] = &[
    "A: 3 barriers, 3 calls of the helper, 0 sizes\n",
    "B: 3 barriers, 3 calls of the helper, 3 sizes\n",
    "C: 3 barriers, 3 calls of the helper, 6 sizes\n",
];
const TWO: &[&str] =
    &["A: 3 barriers, 3 calls of the helper, 0 sizes\n", "A: 3 barriers, 3 calls of the helper, 3 sizes\n"];

pub const CASES: &[Case] = &[
    case(
        "objects of a typed tool live until its end",
        "mpiexec -n 1 --tool objects.so --tool objects.so ./at_exit",
        &[
            "at_exit: finalized\n",
            "objects: end with that of the file, that of the function: 4 calls, 2 of MPI_Barrier\n\
             objects: end with that of the file, that of the function: 4 calls, 2 of MPI_Barrier\n\
             objects: a handler of atexit with 3 functions\nobjects: that of the function is destroyed\n\
             objects: a handler of atexit with 3 functions\nobjects: that of the function is destroyed\n",
            "objects: that of the file is destroyed\nobjects: that of the file is destroyed\n",
        ],
        &["a destroyed object"],
    ),
    case(
        "tools that share a library",
        "mpiexec -n 1 --tool hA.so --tool hB.so --tool hC.so ./program alone",
        THREE,
        &["wrong"],
    ),
    case(
        "tools that share a library without a name",
        "mpiexec -n 1 --tool pA.so --tool pB.so --tool pC.so ./program alone",
        THREE,
        &["wrong"],
    ),
    case("copies of a tool with a library", "mpiexec -n 1 --tool hA.so --tool hA.so ./program alone", TWO, &["wrong"]),
    case(
        "tools that share a library through another one",
        "mpiexec -n 1 --tool mA.so --tool mB.so ./program alone",
        &["A: 3 barriers, 3 calls of the helper, 0 sizes\n", "B: 3 barriers, 3 calls of the helper, 3 sizes\n"],
        &["wrong"],
    ),
    Case {
        name: "a tool that refers to the library in its code",
        line: "mpiexec -n 1 --tool A.so --tool in_code.so ./program alone",
        status: 1,
        prints: &[
            "ferrum_stack: FERRUM_TOOLS: /",
            "/in_code.so cannot be used as a tool: its code has a relocation of PMPI_Barrier (type ",
            "compile all of it as position-independent code (-fPIC)",
        ],
        never: &["program: sum"],
    },
];
