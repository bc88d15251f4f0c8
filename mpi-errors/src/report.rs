//! The report of a fatal error: rank, host, call, error and advice, as text or as JSON.
//!
//! Invariant: both forms report the same facts. No line of the text is longer than [`WIDTH`] columns, unless a single
//! word is. The JSON form is one object on one line.
//! Not here: printing and the end of the job (mpi-env).

mod json;

use crate::{Error, classes};

/// Lines are wrapped to this many columns.
const WIDTH: usize = 80;
const INDENT: usize = 8;

/// The facts about a fatal error; unknown facts are `None`.
#[derive(Debug, Clone, Copy)]
pub struct FatalReport<'a> {
    /// Rank in `MPI_COMM_WORLD`, and the number of processes there.
    pub rank: Option<(u32, u32)>,
    /// Host name.
    pub host: &'a str,
    /// Process id.
    pub pid: u32,
    /// The error, with its call and the call's object.
    pub error: &'a Error,
    /// The object whose handler handled the error, if that is not the call's own object.
    pub handler_of: Option<&'a str>,
    /// The function with which the program can choose to get the error as a code, such as `MPI_Comm_set_errhandler`, if
    /// there is one.
    pub handled_by: Option<&'a str>,
    /// The consequence of the error, for example `The job ends.`
    pub consequence: &'a str,
    /// The level of detail.
    pub detail: Detail,
    /// The process's last calls as text, the oldest first; reported with [`Detail::Full`].
    pub last_calls: &'a [String],
}

/// The level of detail of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// One line: rank, call, error, class. JSON is the same as with `Normal`.
    Brief,
    /// All facts but the last calls.
    #[default]
    Normal,
    /// All facts.
    Full,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// A block of lines of text.
    Text {
        /// Whether the terminal's colours may be used.
        color: bool,
    },
    /// One JSON object on one line.
    Json,
}

/// The report's text, each line ended by a newline.
pub fn fatal_report(report: &FatalReport<'_>, format: ReportFormat) -> String {
    match format {
        ReportFormat::Text { .. } if report.detail == Detail::Brief => line(report),
        ReportFormat::Text { color } => block(report, color),
        ReportFormat::Json => json::object(report),
    }
}

impl FatalReport<'_> {
    /// The error without the call: one sentence that begins with a capital.
    fn what(&self) -> String {
        let mut what = String::new();
        self.error.write_body(&mut what).expect("writing to a String cannot fail");
        let mut chars = what.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    }

    /// Advice for the user, if there is any.
    fn advice(&self) -> Option<String> {
        let handled = || {
            self.handled_by.map(|call| format!("To handle the error in the program, pass MPI_ERRORS_RETURN to {call}."))
        };
        self.error.advice().map(str::to_owned).or_else(handled)
    }
}

fn line(report: &FatalReport<'_>) -> String {
    let call = report.error.call_name().map_or_else(String::new, |call| format!(" in {call}"));
    let rank = report.rank.map_or_else(String::new, |(rank, size)| format!(" on rank {rank} of {size}"));
    let class = classes::name(report.error.class()).map_or_else(String::new, |class| format!(" ({class})"));
    let what: Vec<_> = [report.what(), class].concat().split_whitespace().map(str::to_owned).collect();
    format!("Fatal MPI error{call}{rank}: {}\n", what.join(" "))
}

fn block(report: &FatalReport<'_>, color: bool) -> String {
    let error = report.error;
    let mut out = Block { text: String::new(), color };
    out.title("Fatal MPI error");
    let at = match report.rank {
        Some((rank, size)) => format!("rank {rank} of {size} on {}, process {}", report.host, report.pid),
        None => format!("{}, process {}", report.host, report.pid),
    };
    out.field("where", &at);
    if let Some(call) = error.call_name() {
        let on = error.object().map_or_else(String::new, |object| format!(" on {object}"));
        out.field("call", &format!("{call}{on}"));
    }
    match classes::name(error.class()) {
        Some(class) => out.field("what", &format!("{} ({class})", report.what())),
        None => out.field("what", &report.what()),
    }
    if let Some(advice) = report.advice() {
        out.field("try", &advice);
    }
    if report.detail == Detail::Full {
        out.field("last", &report.last_calls.join("; "));
    }
    let handler = report.handler_of.map_or_else(String::new, |of| {
        format!(" Errors of calls without a live object of their own go to the error handler of {of}.")
    });
    out.field("now", &format!("{}{handler}", report.consequence));
    out.text
}

/// The lines so far.
struct Block {
    text: String,
    color: bool,
}

impl Block {
    fn title(&mut self, title: &str) {
        let (begin, end) = if self.color { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        self.text.push_str(&format!("{begin}{title}{end}\n"));
    }

    /// Adds ` label text`, wrapped, with later lines aligned under the text. Adds nothing if the text is empty.
    fn field(&mut self, label: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let (begin, end) = if self.color { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let out = &mut self.text;
        out.push_str(&format!("  {begin}{label:<width$}{end}", width = INDENT - 2));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi;

    const WORLD: &str = "communicator \"MPI_COMM_WORLD\"";

    fn detailed(error: &Error, format: ReportFormat, detail: Detail) -> String {
        let report = FatalReport {
            rank: Some((2, 4)),
            host: "node7",
            pid: 4711,
            error,
            handler_of: None,
            handled_by: Some("MPI_Comm_set_errhandler"),
            consequence: "The job ends.",
            detail: Detail::Normal,
            last_calls: &["1 MPI_Barrier".to_owned(), "2 MPI_Send".to_owned()],
        };
        fatal_report(&FatalReport { detail, ..report }, format)
    }

    fn report_of(error: &Error, format: ReportFormat) -> String {
        detailed(error, format, Detail::Normal)
    }

    #[test]
    fn a_brief_report_is_a_line_and_a_full_one_has_the_last_calls() {
        let text = |detail| detailed(&bad_rank(), ReportFormat::Text { color: false }, detail);
        assert_eq!(
            text(Detail::Brief),
            "Fatal MPI error in MPI_Send on rank 2 of 4: Argument dest is 9, but the communicator has 4 processes \
             (MPI_ERR_RANK)\n"
        );
        let (normal, full) = (text(Detail::Normal), text(Detail::Full));
        assert_eq!(full.replace("  last  1 MPI_Barrier; 2 MPI_Send\n", ""), normal);
        assert_ne!(full, normal);
        let json = |detail| detailed(&bad_rank(), ReportFormat::Json, detail);
        assert_eq!(json(Detail::Brief), json(Detail::Normal));
        assert!(json(Detail::Full).contains(",\"last_calls\":[\"1 MPI_Barrier\",\"2 MPI_Send\"],"));
        let lines = Error::new(abi::MPI_ERR_OTHER, "two\nlines");
        assert_eq!(detailed(&lines, ReportFormat::Text { color: true }, Detail::Brief).lines().count(), 1);
    }

    fn text_of(error: &Error) -> String {
        report_of(error, ReportFormat::Text { color: false })
    }

    fn bad_rank() -> Error {
        Error::new(abi::MPI_ERR_RANK, "the communicator has 4 processes").arg("dest", &9).call("MPI_Send").on(WORLD)
    }

    #[test]
    fn the_block_names_the_place_the_mistake_and_what_to_try() {
        assert_eq!(
            text_of(&bad_rank()),
            "Fatal MPI error\n\
             \x20 where rank 2 of 4 on node7, process 4711\n\
             \x20 call  MPI_Send on communicator \"MPI_COMM_WORLD\"\n\
             \x20 what  Argument dest is 9, but the communicator has 4 processes (MPI_ERR_RANK)\n\
             \x20 try   Compare the rank with what MPI_Comm_size gives for this communicator.\n\
             \x20 now   The job ends.\n"
        );
    }

    #[test]
    fn the_object_has_the_same_facts_on_one_line() {
        assert_eq!(
            report_of(&bad_rank(), ReportFormat::Json),
            "{\"source\":\"library\",\"kind\":\"error\",\"rank\":2,\"size\":4,\"host\":\"node7\",\"pid\":4711,\
             \"call\":\"MPI_Send\",\"object\":\"communicator \\\"MPI_COMM_WORLD\\\"\",\
             \"class\":\"MPI_ERR_RANK\",\"class_value\":6,\"arguments\":{\"dest\":\"9\"},\
             \"message\":\"Argument dest is 9, but the communicator has 4 processes\",\
             \"advice\":\"Compare the rank with what MPI_Comm_size gives for this communicator.\",\
             \"handler_of\":null,\"consequence\":\"The job ends.\"}\n"
        );
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        for (class, _) in classes::all() {
            let error = Error::new(class, "some words to be wrapped ".repeat(20)).arg("buf", &"0x0").call("MPI_Recv");
            assert!(text_of(&error).lines().all(|line| line.chars().count() <= WIDTH), "{}", text_of(&error));
        }
    }

    #[test]
    fn colours_are_asked_for_and_hide_no_word() {
        let plain = text_of(&bad_rank());
        let colored = report_of(&bad_rank(), ReportFormat::Text { color: true });
        assert!(!plain.contains('\x1b') && colored.contains('\x1b'));
        let stripped = ["\x1b[1;31m", "\x1b[1m", "\x1b[0m"].iter().fold(colored, |text, code| text.replace(code, ""));
        assert_eq!(stripped, plain);
    }

    #[test]
    fn advice_of_the_case_comes_before_that_of_the_class_and_the_handlers_last() {
        assert!(text_of(&bad_rank().hint("Look here.")).contains("try   Look here.\n"));
        assert!(
            text_of(&Error::new(abi::MPI_ERR_OP, "no")).contains("pass MPI_ERRORS_RETURN to\n        MPI_Comm_set")
        );
    }
}
