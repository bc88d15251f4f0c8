//! Tests of the pure parts of the lower crates under Miri, which detects undefined behaviour in the code that they
//! execute.
//!
//! Only modules without system calls are selected: Miri executes no futex with a time limit, `membarrier`, `dlsym` or
//! mapping of files. Invariant: a selection without a test is a failure.

use std::process::Command;
use std::time::Duration;

use super::cargo::{count, counts};
use super::{Context, Report};
use crate::{Result, paths, process, tools, ui};

const LIMIT: Duration = Duration::from_secs(1800);

/// Packages, with the modules whose tests are run.
const SELECTED: [(&str, &[&str]); 4] = [
    ("mpi-core", &["table::", "handle::", "handle_names::", "info::", "json::", "text::", "status::", "facts::"]),
    (
        "mpi-t",
        &[
            "error::",
            "events::event_def::",
            "field::",
            "free_list::",
            "instruments_macro::",
            "last_error::",
            "level::",
            "memory::",
            "registry::nearest::",
            "registry::value_parser::",
            "setting::",
            "state_word::",
        ],
    ),
    ("mpi-datatype", &["buffer::", "element::", "external32::", "predefined::"]),
    ("mpi-p2p", &["matching::", "chains::", "buffered::", "context::", "limits::"]),
];

/// The suite `miri`; skipped if nightly Rust has no Miri and none can be installed.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    if let Err(reason) = available(context.install) {
        report.skip("all", &reason);
        return Ok(());
    }
    for (package, modules) in SELECTED {
        if !report.selects(package) {
            continue;
        }
        let mut command = miri(&["test", "--package", package, "--lib", "--target-dir"]);
        command.arg(paths::target().join("miri")).arg("--").args(modules);
        let outcome = process::run(&mut command, LIMIT)?;
        let (passed, failed) = counts(&outcome.stdout);
        if passed + failed == 0 {
            report.fail(package, &format!("no test was selected\n{}", outcome.report()));
        } else {
            count(package, &outcome, report);
        }
    }
    Ok(())
}

fn miri(arguments: &[&str]) -> Command {
    // By the proxy: the variable CARGO names the program of one toolchain, which does not accept `+nightly`.
    let mut command = Command::new("cargo");
    command.args(["+nightly", "miri"]).args(arguments).current_dir(paths::root());
    // Set by the cargo that started this task, for its own toolchain.
    // The contents of a registry are never freed, by design. Each random case takes seconds here.
    command.env("MIRIFLAGS", "-Zmiri-ignore-leaks -Zmiri-disable-isolation").env("PROPTEST_CASES", "8");
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
    command
}

/// Whether Miri works, after installing it where that is allowed; the error is a sentence.
fn available(may_install: bool) -> std::result::Result<(), String> {
    let works = || process::run(&mut miri(&["setup"]), LIMIT).is_ok_and(|outcome| outcome.success());
    if works() {
        return Ok(());
    }
    if !tools::found("rustup") {
        return Err("cargo +nightly miri does not work, and there is no rustup to install it".to_owned());
    }
    if !may_install {
        return Err(
            "cargo +nightly miri does not work; `rustup toolchain install nightly -c miri -c rust-src` installs it"
                .to_owned(),
        );
    }
    ui::step("installing Miri (rustup toolchain nightly)");
    let mut install = Command::new("rustup");
    install.args(["toolchain", "install", "nightly", "--no-self-update", "--profile", "minimal"]);
    install.args(["--component", "miri", "--component", "rust-src"]);
    match process::run(&mut install, Duration::from_secs(300)) {
        Ok(_) if works() => Ok(()),
        Ok(outcome) => {
            Err(format!("cargo +nightly miri does not work, and rustup cannot install it: {}", last(&outcome.stderr)))
        }
        Err(failure) => Err(failure.to_string()),
    }
}

/// The last line that names an error.
fn last(text: &str) -> &str {
    text.lines().map(str::trim).rfind(|line| line.starts_with("error")).unwrap_or("it gave no reason")
}
