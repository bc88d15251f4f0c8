//! Clients of the tool information interface, and tests of process topologies, of other projects, from source packages
//! of the system's distribution: compiled unchanged with our `mpicc`, and run.
//!
//! - MPICH: `mpivars`, which lists everything, and its tests of the interface and of process topologies. Its harness is
//!   replaced (`tests/clients/mpitest.h`).
//! - Open MPI: the test of its counters, and the tool that draws communication matrices. Both look for variables of
//!   Open MPI's by name; a shared object adds those names (`tests/clients/names.c`), which must be enough.
//!
//! Invariant: no source of another project is in the tree, and none is changed. Not here: fetching sources (`sources`).

mod sources;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::process::Outcome;
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(60);

/// MPICH's tests of the interface: file, ranks, arguments.
const MPICH_TESTS: [(&str, &str, &[&str]); 8] = [
    ("mpi_t/mpit_vars", "1", &[]),
    ("mpi_t/mpi_t_str", "1", &[]),
    ("mpi_t/getindex", "1", &[]),
    ("mpi_t/mpit_isendirecv", "2", &["0", "0"]),
    ("mpi_t/mpit_isendirecv", "2", &["0", "1"]),
    ("mpi_t/mpit_isendirecv", "2", &["1", "0"]),
    ("mpi_t/mpit_isendirecv", "2", &["1", "1"]),
    ("threads/mpi_t/mpit_threading", "1", &[]),
];

/// MPICH's tests of process topologies, on 4 ranks. `cartsuball` is not among them: it expects MPI_COMM_NULL from
/// MPI_Cart_sub without dimensions in all processes but one, where the standard has a grid without dimensions in each.
/// Nor is `dims5`: of dimensions with the same difference it expects those with the largest smallest one, and this
/// library takes those with the smallest sum first.
const MPICH_TOPOLOGY_TESTS: [&str; 16] = [
    "cartcreates",
    "cartmap1",
    "cartshift1",
    "cartzero",
    "dgraph_unwgt",
    "dims0",
    "dims1",
    "dims2",
    "dims3",
    "dims4",
    "distgraph1",
    "graphcr",
    "graphcr2",
    "graphmap1",
    "topodup",
    "topotest",
];

/// Both packages; a package that cannot be fetched is skipped.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let bench = Bench { dist: context.dist()?, folder: paths::scratch("clients").join("built") };
    fs::create_dir_all(&bench.folder)?;
    match sources::package(
        "mpich",
        &["src/env/mpivars.c", "test/mpi/mpi_t/*.c", "test/mpi/threads/mpi_t/*.c", "test/mpi/topo/*.[ch]"],
    ) {
        Ok(source) => mpich(&bench, &source, report)?,
        Err(failure) => report.skip("mpich", &failure.to_string()),
    }
    match sources::package("openmpi", &["test/spc/spc_test.c", "ompi/mca/common/monitoring/monitoring_prof.c"]) {
        Ok(source) => open_mpi(&bench, &source, report)?,
        Err(failure) => report.skip("openmpi", &failure.to_string()),
    }
    Ok(())
}

fn mpich(bench: &Bench<'_>, source: &Path, report: &mut Report) -> Result<()> {
    let mpivars = bench.compile(&source.join("src/env/mpivars.c"), "mpivars", &[])?;
    let listed = bench.run(&mpivars, "2", &["-nodesc"], &[])?;
    report.check("mpivars", listed.success() && lists_all(&listed), || listed.report());
    for (file, ranks, arguments) in MPICH_TESTS {
        let name = file.rsplit('/').next().unwrap_or(file);
        if !report.selects(name) {
            continue;
        }
        let program = bench.compile(&source.join("test/mpi").join(file).with_extension("c"), name, &["-lm"])?;
        let outcome = bench.run(&program, ranks, arguments, &[])?;
        let good = outcome.success() && outcome.stdout.contains(" No Errors");
        report.check(name, good, || outcome.report());
    }
    for name in MPICH_TOPOLOGY_TESTS {
        if !report.selects(name) {
            continue;
        }
        let program = bench.compile(&source.join("test/mpi/topo").join(name).with_extension("c"), name, &[])?;
        let outcome = bench.run(&program, "4", &[], &[])?;
        let good = outcome.success() && outcome.stdout.contains(" No Errors");
        report.check(name, good, || outcome.report());
    }
    let program = bench.compile(&source.join("test/mpi/mpi_t/cvarwrite.c"), "cvarwrite", &[])?;
    let outcome = bench.run(&program, "1", &[], &[])?;
    // It writes an arbitrary number to every control variable and expects to read it back, whatever values the variable
    // accepts.
    let refused = outcome.stdout.trim().strip_prefix("Found ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    let least = enumerated(&bench.run(&mpivars, "1", &["-nodesc"], &[])?.stdout);
    let good = outcome.status.code() == Some(1) && refused.is_some_and(|refused: usize| refused >= least);
    report.check("cvarwrite", good, || format!("not all {least} enumerations are safe; {}", outcome.report()));
    Ok(())
}

/// Whether `mpivars` found as many variables as MPI_T_pvar_get_num returned, each with a class, a type, and so on.
fn lists_all(outcome: &Outcome) -> bool {
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let promised = lines.iter().find_map(|line| line.strip_suffix(" MPI Performance Variables")?.parse::<usize>().ok());
    let ranks = lines.iter().filter(|line| line.ends_with(" MPI Performance Variables")).count();
    let listed = lines.iter().filter(|line| line.contains("\tReadonly=")).count();
    let wrong = ["Invalid", "Unrecognized", "Incorrect"];
    let clean = outcome.stderr.is_empty() && !lines.iter().any(|line| wrong.iter().any(|word| line.contains(word)));
    clean && promised.is_some_and(|promised| promised > 0 && promised * ranks == listed)
}

/// Writable control variables whose values `mpivars` lists by name.
fn enumerated(listing: &str) -> usize {
    let lines: Vec<&str> = listing.lines().take_while(|line| !line.ends_with(" MPI Performance Variables")).collect();
    let fixed = ["SCOPE_CONSTANT", "SCOPE_READONLY"];
    let named = |pair: &&[&str]| {
        pair[1].starts_with("Enum ")
            && pair[0].contains("\tNo-object\t")
            && !fixed.iter().any(|scope| pair[0].contains(scope))
    };
    lines.windows(2).filter(named).count()
}

fn open_mpi(bench: &Bench<'_>, source: &Path, report: &mut Report) -> Result<()> {
    let own = paths::root().join("tests/clients");
    let names = bench.compile(&own.join("names.c"), "libnames.so", &["-shared", "-fPIC"])?;
    let traffic = bench.compile(&own.join("traffic.c"), "traffic", &[])?;
    let counters = bench.compile(&source.join("test/spc/spc_test.c"), "spc_test", &[])?;
    let without = bench.run(&counters, "2", &[], &[])?;
    let good = !without.status.success() && without.stderr.contains("Couldn't find the appropriate SPC counter");
    report.check("spc_test without its names", good, || without.report());
    let with = bench.run(&counters, "2", &[], &[&names])?;
    let good = with.success() && with.stdout.matches("Value Read: 1111111").count() == 2;
    report.check("spc_test", good, || with.report());

    let file = source.join("ompi/mca/common/monitoring/monitoring_prof.c");
    let profiler = bench.compile(&file, "libprof.so", &["-shared", "-fPIC"])?;
    let drawn = bench.run(&traffic, "2", &[], &[&profiler, &names])?;
    let matrix = |name: &str| fs::read_to_string(bench.folder.join(name)).unwrap_or_default();
    // 10 messages one way and 30 the other; the tool writes the mean of both ways.
    let good = drawn.success()
        && matrix("monitoring_pml_msg.mat") == "0 20 \n20 0 \n"
        && matrix("monitoring_pml_size.mat") == "0 605 \n605 0 \n";
    report.check("monitoring_prof", good, || drawn.report());
    Ok(())
}

/// The folder in which clients are built and run.
struct Bench<'a> {
    dist: &'a Path,
    folder: PathBuf,
}

impl Bench<'_> {
    /// Compiles one file with our `mpicc`; warnings about clients are ignored.
    fn compile(&self, source: &Path, name: &str, options: &[&str]) -> Result<PathBuf> {
        let output = self.folder.join(name);
        let mut command = Command::new(self.dist.join("bin/mpicc"));
        command.args(["-O1", "-w", "-pthread"]).arg(format!("-I{}", paths::root().join("tests/clients").display()));
        command.arg(source).arg("-o").arg(&output).args(options);
        process::must(&mut command, LIMIT)?;
        Ok(output)
    }

    fn run(&self, program: &Path, ranks: &str, arguments: &[&str], preload: &[&Path]) -> Result<Outcome> {
        let mut command = Command::new(self.dist.join("bin/mpiexec"));
        command.args(["-n", ranks]).current_dir(&self.folder);
        if !preload.is_empty() {
            let objects: Vec<String> = preload.iter().map(|path| path.display().to_string()).collect();
            command.arg("env").arg(format!("LD_PRELOAD={}", objects.join(" ")));
        }
        process::run(command.arg(program).args(arguments), LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumerations_of_writable_variables_are_counted() {
        let listing = "3 MPI Control Variables\n\ta=1\tSCOPE_LOCAL\tNo-object\tMPI_INT\nEnum e (2) values: x(0),y(1)\n\
                       \tb=1\tSCOPE_CONSTANT\tNo-object\tMPI_INT\nEnum e (2) values: x(0),y(1)\n\
                       \tc=1\tSCOPE_LOCAL\tNo-object\tMPI_INT\n1 MPI Performance Variables\n\tp\tNo-object\nEnum s\n";
        assert_eq!(enumerated(listing), 1);
    }
}
