//! Every function that needs the library running, called before `MPI_Init`, between the world model and a session, and after
//! `MPI_Finalize`: each is an error that says so, and none a crash or a wait.
//!
//! The program is generated from `spec/` at each run. Arguments are all zero: nothing looks at them before the state of the
//! library is known.

use std::fmt::Write;
use std::fs;
use std::time::Duration;

use super::{Context, Report};
use crate::codegen::spec::{Function, Spec, State};
use crate::peers::Library;
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(60);

/// The calls come back: an error class, and a text that names what is missing.
const BEGIN: &str = r#"#define FERRUM_REMOVED_FUNCTIONS
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong, calls;
static const char *when;

static void expect(const char *name, int code)
{
    int class = -1, length = 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    calls++;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class == MPI_ERR_OTHER && strstr(text, name) && (strstr(text, "nitialized") || strstr(text, "MPI_Finalize")))
        return;
    wrong++;
    printf("%s %s: class %d, \"%s\"\n", name, when, class, text);
}

static void all(const char *moment)
{
    when = moment;
"#;

const END: &str = r#"}

int main(int argc, char **argv)
{
    MPI_Session session;
    all("before everything");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_finalize(&session);
    all("after a session");
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    all("after MPI_Finalize");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_finalize(&session);
    all("after the last session");
    printf("%d calls, %d wrong\n", calls, wrong);
    return wrong != 0;
}
"#;

/// Generates, builds and runs the program.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let spec = Spec::read(&paths::root())?;
    let library = Library::ferrum(context.dist()?);
    let folder = paths::scratch("outside");
    fs::create_dir_all(&folder)?;
    let (source, binary) = (folder.join("outside.c"), folder.join("outside"));
    let functions: Vec<&Function> = spec.implemented().filter(|function| needs_library(function)).collect();
    let mut text = BEGIN.to_owned();
    for function in &functions {
        let zeros = vec!["0"; function.parameters.len()].join(", ");
        let _ = writeln!(text, "    expect(\"MPI_{0}\", MPI_{0}({zeros}));", function.name);
    }
    text.push_str(END);
    fs::write(&source, text)?;
    library.compile(&source, &binary, &["-O0", "-w"])?;
    for ranks in [1, 2] {
        let mut command = library.launch(ranks, &binary);
        command.env("FERRUM_INITIAL_ERRHANDLER", "mpi_errors_return");
        let outcome = process::run(&mut command, LIMIT)?;
        let said = format!("{} calls, 0 wrong", functions.len() * 4);
        report
            .check(&format!("{ranks} ranks"), outcome.success() && outcome.stdout.contains(&said), || outcome.report());
    }
    Ok(())
}

fn needs_library(function: &Function) -> bool {
    function.returns == "ERROR_CODE" && !matches!(function.state, State::Any | State::Tool)
}
