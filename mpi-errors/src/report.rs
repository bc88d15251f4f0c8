//! The block that a process prints when an error ends it: rank, host, call, what was wrong, what to try.
//!
//! Invariant: no line is longer than [`WIDTH`] columns unless one word is.
//! Not here: printing it and ending the job (mpi-env).

use crate::{Error, classes};

/// Lines are wrapped to this many columns.
const WIDTH: usize = 80;
const INDENT: usize = 8;

/// Where and how a fatal error happened; unknown facts are `None`.
#[derive(Debug, Clone, Copy)]
pub struct FatalReport<'a> {
    /// Rank in `MPI_COMM_WORLD`, and the number of processes there.
    pub rank: Option<(u32, u32)>,
    /// Host name.
    pub host: &'a str,
    /// Process id.
    pub pid: u32,
    /// The object whose handler was called, for example `communicator "MPI_COMM_WORLD"`.
    pub object: Option<&'a str>,
    /// The error.
    pub error: &'a Error,
    /// What happens now, for example `The job ends.`
    pub consequence: &'a str,
}

/// The block's text, each line ended by a newline.
pub fn fatal_report(report: &FatalReport<'_>) -> String {
    let error = report.error;
    let mut out = String::from("Fatal MPI error\n");
    let at = match report.rank {
        Some((rank, size)) => format!("rank {rank} of {size} on {}, process {}", report.host, report.pid),
        None => format!("{}, process {}", report.host, report.pid),
    };
    field(&mut out, "where", &at);
    if let Some(call) = error.call_name() {
        let on = report.object.map_or_else(String::new, |object| format!(" on {object}"));
        field(&mut out, "call", &format!("{call}{on}"));
    }
    let mut what = String::new();
    error.write_body(&mut what).expect("writing to a String cannot fail");
    match classes::name(error.class()) {
        Some(class) => field(&mut out, "what", &format!("{} ({class})", sentence(&what))),
        None => field(&mut out, "what", &sentence(&what)),
    }
    // Without a call there was nobody to return an error to.
    let handled = "To handle the error in the program, set MPI_ERRORS_RETURN with MPI_Comm_set_errhandler.";
    if let Some(advice) = classes::advice(error.class()).or(error.call_name().map(|_| handled)) {
        field(&mut out, "try", advice);
    }
    if !report.consequence.is_empty() {
        field(&mut out, "now", report.consequence);
    }
    out
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `  label  text`, wrapped, later lines aligned under the text.
fn field(out: &mut String, label: &str, text: &str) {
    out.push_str(&format!("  {label:<width$}", width = INDENT - 2));
    let mut column = INDENT;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > INDENT && column + 1 + width > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(INDENT));
            column = INDENT;
        } else if column > INDENT {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi;

    fn report_of(error: &Error) -> String {
        fatal_report(&FatalReport {
            rank: Some((2, 4)),
            host: "node7",
            pid: 4711,
            object: Some("communicator \"MPI_COMM_WORLD\""),
            error,
            consequence: "The job ends.",
        })
    }

    #[test]
    fn the_block_tells_where_what_and_what_to_try() {
        let error = Error::new(abi::MPI_ERR_RANK, "the communicator has 4 processes").arg("dest", &9).call("MPI_Send");
        assert_eq!(
            report_of(&error),
            "Fatal MPI error\n\
             \x20 where rank 2 of 4 on node7, process 4711\n\
             \x20 call  MPI_Send on communicator \"MPI_COMM_WORLD\"\n\
             \x20 what  Argument dest is 9, but the communicator has 4 processes (MPI_ERR_RANK)\n\
             \x20 try   Compare the rank with what MPI_Comm_size gives for this communicator.\n\
             \x20 now   The job ends.\n"
        );
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        for (class, _) in classes::all() {
            let error = Error::new(class, "some words to be wrapped ".repeat(20)).arg("buf", &"0x0").call("MPI_Recv");
            assert!(report_of(&error).lines().all(|line| line.chars().count() <= WIDTH), "{}", report_of(&error));
        }
    }
}
