//! mpi4py, built from its source package with our `mpicc`.
//!
//! mpi4py covers the whole standard. Its build can detect which functions a library has and leave out the
//! others; what it did without is the second half of the result.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::{Result, paths, peers, process, tools, ui};

const SOURCE: &str = "mpi4py==4.1.2";

/// The script: what mpi4py can do with messages, errors and communicators. (Its collective calls first test whether a
/// communicator is an intercommunicator, which is not implemented.)
const SCRIPT: &str = "
from array import array
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
to, source = (rank + 1) % size, (rank - 1) % size
assert comm.sendrecv({'rank': rank}, dest=to, source=source) == {'rank': source}
buffer = bytearray([rank] * 1000000)
comm.Sendrecv_replace(buffer, to, source=source)
assert set(buffer) == {source}
got = array('d', [0] * 10)
request = comm.Irecv(got, source=source, tag=5)
comm.Send(array('d', [rank] * 10), dest=to, tag=5)
status = MPI.Status()
request.Wait(status)
assert list(got) == [source] * 10 and status.Get_count(MPI.DOUBLE) == 10
try:
    comm.Send(got, dest=size + 5)
    assert False
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_RANK, error
other = comm.Dup()
other.Set_name('other')
assert other.Get_name() == 'other'
other.Free()
comm.Barrier()
if rank == 0: print('mpi4py works on', MPI.Get_library_version().split(chr(10))[0])
";

/// Builds it, runs a script on 2 ranks, lists the functions that it lacks.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let venv = match peers::environment("mpi4py", "setuptools", "bin/pip") {
        Ok(venv) => venv,
        Err(failure) => {
            report.skip("build", &failure.to_string());
            return Ok(());
        }
    };
    if let Err(failure) = tools::may_fetch("the source of mpi4py") {
        report.skip("build", &failure.to_string());
        return Ok(());
    }
    let folder = paths::scratch("mpi4py");
    // A half-finished build of an earlier run would be continued.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut install = Command::new(venv.join("bin/pip"));
    install
        .args(["install", "--verbose", "--no-binary", "mpi4py", "--force-reinstall", "--no-deps", "--no-cache-dir"])
        .arg(SOURCE)
        .env("MPI4PY_BUILD_CONFIGURE", "1")
        .env("CFLAGS", "-O0")
        .env("MPICC", dist.join("bin/mpicc"));
    let outcome = process::run(&mut install, Duration::from_secs(600))?;
    let log = folder.join("build.log");
    fs::write(&log, format!("{}{}", outcome.stdout, outcome.stderr))?;
    if !outcome.success() {
        let reason = if outcome.timed_out { "the build took too long" } else { "the build failed" };
        report.skip("build", &format!("{reason}; see {}", log.display()));
        return Ok(());
    }
    report.pass("build");
    let missing = missing(&format!("{}{}", outcome.stdout, outcome.stderr));
    fs::write(folder.join("missing.txt"), missing.join("\n") + "\n")?;
    let list = folder.join("missing.txt");
    ui::note(format!("mpi4py does without {} functions, listed in {}", missing.len(), list.display()));
    run(dist, &venv, &folder, report)
}

fn run(dist: &Path, venv: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let script = folder.join("script.py");
    fs::write(&script, SCRIPT)?;
    let mut command = Command::new(dist.join("bin/mpiexec"));
    command.args(["-n", "2"]).arg(venv.join("bin/python")).arg(script);
    let outcome = process::run(&mut command, Duration::from_secs(60))?;
    report.check("script", outcome.success() && outcome.stdout.contains("mpi4py works on"), || outcome.report());
    Ok(())
}

/// The functions that mpi4py's configuration found missing.
fn missing(log: &str) -> Vec<String> {
    let failed = log.lines().filter_map(|line| line.split("failed check for '").nth(1)?.split('\'').next());
    // Constants are in capitals.
    let function = |name: &&str| name.starts_with("MPI_") && name.contains(|c: char| c.is_ascii_lowercase());
    let mut names: Vec<String> = failed.filter(function).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}
