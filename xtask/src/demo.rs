//! `cargo xtask demo`: builds the distribution and shows its main uses.
//!
//! Not here: the programs, which are in `examples/` and can be built by hand with the `mpicc` named in the output.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Result, dist, paths, process, ui};

/// A ring on 4 processes, then the unexpected-queue tool linked in front of the library, then preloaded.
pub fn run() -> Result<()> {
    let prefix = dist::build(&paths::dist())?;
    let folder = paths::scratch("demo");
    fs::create_dir_all(&folder)?;
    let mpicc = prefix.join("bin/mpicc");
    let examples = paths::root().join("examples");
    let build = |arguments: &[&Path], options: &[&str], output: &str| -> Result<()> {
        let mut command = Command::new(&mpicc);
        command.args(["-O2", "-Wall"]).args(options).args(arguments).arg("-o").arg(folder.join(output));
        process::must_shown(&mut command)
    };
    let (ring, program) = (examples.join("ring.c"), examples.join("umq_program.c"));
    let tool = examples.join("tools/umq_tool.c");

    ui::step("a ring on 4 processes");
    build(&[&ring], &[], "ring")?;
    mpiexec(&prefix, &folder.join("ring"), None)?;

    ui::step("a program whose unexpected queues grow, with the tool linked in front of the library");
    build(&[&program, &tool], &[], "umq_linked")?;
    mpiexec(&prefix, &folder.join("umq_linked"), None)?;

    ui::step("the same program without the tool in it, and the tool preloaded");
    build(&[&program], &[], "umq_program")?;
    build(&[&tool], &["-shared", "-fPIC"], "libumq_tool.so")?;
    mpiexec(&prefix, &folder.join("umq_program"), Some(&folder.join("libumq_tool.so")))?;
    ui::note(format!("compiler wrapper: {}", mpicc.display()));
    ui::note(format!("programs: {}", folder.display()));
    Ok(())
}

fn mpiexec(prefix: &Path, program: &Path, preload: Option<&Path>) -> Result<()> {
    let mut command = Command::new(prefix.join("bin/mpiexec"));
    command.args(["-n", "4"]);
    if let Some(tool) = preload {
        // Through `env`, so that the tool is preloaded into the program and not into the launcher.
        command.arg("env").arg(format!("LD_PRELOAD={}", tool.display()));
    }
    command.arg(program);
    process::must_shown(&mut command)
}
