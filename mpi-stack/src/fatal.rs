//! The end of a process that cannot have the tools that were requested.

use std::io::Write;

/// Writes a sentence and ends the process: a job must not run without the tools that were requested.
pub(crate) fn fatal(sentence: &str) -> ! {
    // Without standard error there is no place for the sentence.
    let _ = std::io::stderr().write_all(format!("ferrum_stack: {sentence}\n").as_bytes());
    // SAFETY: ends the process; destructors of tools that are half loaded do not run.
    unsafe { libc::_exit(1) }
}
