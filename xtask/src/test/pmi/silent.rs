//! Launchers that are visible but do not answer, or answer with invalid text: our programs end with a sentence that
//! names the variable, and never run as several worlds of one. And the variables that do not mean a launcher.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use super::{LIMIT, Programs, words};
use crate::Result;
use crate::process;
use crate::test::Report;

/// Variables, and the text that standard error must contain.
const REFUSED: [(&[(&str, &str)], &str); 10] = [
    (&[("PMI_FD", "77"), ("PMI_RANK", "0"), ("PMI_SIZE", "2")], "PMI_FD is 77"),
    (&[("PMI_FD", "0"), ("PMI_RANK", "0"), ("PMI_SIZE", "2")], "no connection"),
    (&[("PMI_FD", "77"), ("PMI_RANK", "2"), ("PMI_SIZE", "2")], "PMI_RANK"),
    (&[("PMI_RANK", "0"), ("PMI_SIZE", "2")], "PMI_SIZE"),
    (&[("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "1")], "srun --mpi=pmi2"),
    (&[("OMPI_COMM_WORLD_SIZE", "2")], "OMPI_COMM_WORLD_SIZE"),
    (&[("PMIX_RANK", "1")], "PMIX_RANK"),
    (&[("PMI_PORT", "127.0.0.1:1"), ("PMI_ID", "0")], "PMI_PORT"),
    (&[("PMI_PORT", "nowhere"), ("PMI_ID", "0")], "PMI_PORT"),
    (
        &[("PMIX_NAMESPACE", "job"), ("PMIX_RANK", "0"), ("FERRUM_PMIX_LIBRARY", "/nonexistent/libpmix.so")],
        "FERRUM_PMIX_LIBRARY",
    ),
];

/// Variables of a process that is alone nevertheless.
const ALONE: [&[(&str, &str)]; 4] = [
    &[],
    // A batch script of Slurm, and an interactive step.
    &[("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0"), ("SLURM_LOCALID", "0")],
    &[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0"), ("SLURM_STEP_ID", "4294967290"), ("SLURM_STEP_NUM_TASKS", "1")],
    &[("PMI_FD", "77"), ("PMI_RANK", "0"), ("PMI_SIZE", "1")],
];

/// The answers of a launcher to the lines it gets, before it closes the connection or, at `None`, sends nothing more;
/// the error text.
const ANSWERS: [(&[Option<&[u8]>], &str); 8] = [
    (&[], "closed the connection instead of answering cmd=initack"),
    (&[None], "does not answer cmd=initack within 1 seconds"),
    (&[Some(b"\x00\xff\xfe\x80\n")], "it is not text"),
    (&[Some(b"HTTP/1.1 400 Bad Request\r\n\r\n")], "no answer of PMI-1"),
    (&[Some(b"cmd=initack rc=0\ncmd=set size=2\ncmd=set rank=7\ncmd=set debug=0\n")], "without a rank"),
    (&[Some(INTRODUCED), None], "does not answer cmd=init within 1 seconds"),
    (&[Some(INTRODUCED), Some(b"cmd=response_to_init rc=-1 msg=go_away\n")], "refuses cmd=init: \"go_away\""),
    (&[Some(INTRODUCED), Some(b"cmd=response_to_init pmi_version=9 rc=0\n")], "has version 9 of PMI"),
];

const INTRODUCED: &[u8] = b"cmd=initack rc=0\ncmd=set size=2\ncmd=set rank=0\ncmd=set debug=0\n";

pub(super) fn check(dist: &Path, ours: &Programs, report: &mut Report) -> Result<()> {
    for (variables, text) in REFUSED {
        refused(ours, report, variables, text)?;
    }
    for variables in ALONE {
        let outcome = process::run(command(ours).envs(variables.iter().copied()), LIMIT)?;
        let alone = outcome.success() && outcome.stdout.contains("size 1 token 1 sum 0");
        report.check(&format!("alone: {variables:?}"), alone, || outcome.report());
    }
    for (answers, text) in ANSWERS {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let server = std::thread::spawn(move || serve(&listener, answers));
        refused(ours, report, &[("PMI_PORT", &address), ("PMI_ID", "0"), ("FERRUM_LAUNCHER_TIMEOUT", "1")], text)?;
        // A program that never connected leaves the server waiting.
        let _ = std::net::TcpStream::connect(&address);
        report.check("fake server", server.join().is_ok(), || "it broke".to_owned());
    }
    let bad = &[("PMI_PORT", "127.0.0.1:1"), ("PMI_ID", "0"), ("FERRUM_LAUNCHER_TIMEOUT", "soon")];
    refused(ours, report, bad, "FERRUM_LAUNCHER_TIMEOUT is \"soon\"")?;
    // Our own launcher is not confused by the variables of one that it runs under.
    let mut inside = Command::new(dist.join("bin/mpiexec"));
    inside.args(["-n", "2"]).arg(ours.get("job")).envs([("PMI_FD", "77"), ("PMI_RANK", "3"), ("PMI_SIZE", "4")]);
    inside.envs([("PMIX_NAMESPACE", "job"), ("PMIX_RANK", "3"), ("SLURM_STEP_NUM_TASKS", "4")]);
    let outcome = process::run(&mut inside, LIMIT)?;
    let works = outcome.success() && outcome.stdout.contains("size 2 token 2 sum 1");
    report.check("ours inside others", works, || outcome.report());
    Ok(())
}

fn command(ours: &Programs) -> Command {
    Command::new(ours.get("job"))
}

fn refused(ours: &Programs, report: &mut Report, variables: &[(&str, &str)], text: &str) -> Result<()> {
    let outcome = process::run(command(ours).envs(variables.iter().copied()), LIMIT)?;
    // The report of an error breaks its lines.
    let code = outcome.status.code().filter(|_| !outcome.timed_out);
    let right =
        code.is_some_and(|code| code != 0) && outcome.stdout.is_empty() && words(&outcome.stderr).contains(text);
    report.check(&format!("refused: {text}"), right, || outcome.report());
    Ok(())
}

/// A launcher for one process.
fn serve(listener: &TcpListener, answers: &[Option<&[u8]>]) {
    let Ok((mut stream, _)) = listener.accept() else { return };
    let Ok(copy) = stream.try_clone() else { return };
    let mut lines = BufReader::new(copy).lines();
    for answer in answers {
        if !matches!(lines.next(), Some(Ok(_))) {
            return;
        }
        match answer {
            // The other side may have closed the connection already.
            Some(bytes) => drop(stream.write_all(bytes)),
            None => while matches!(lines.next(), Some(Ok(_))) {},
        }
    }
}
