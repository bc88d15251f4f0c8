//! The label of each line, if requested: the time at which it came, and the rank that wrote it.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::mpiexec::os;

/// Which of a rank's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mpiexec) enum Stream {
    Output,
    Error,
}

/// The beginning of a rank's lines.
#[derive(Clone, Copy, Debug)]
pub(in crate::mpiexec) struct Label {
    /// The name of the job, if another one spawned it.
    pub(in crate::mpiexec) job: Option<&'static str>,
    pub(in crate::mpiexec) rank: u32,
    pub(in crate::mpiexec) stream: Stream,
    /// Whether the label has the rank.
    pub(in crate::mpiexec) tag: bool,
    /// Whether the label has the time.
    pub(in crate::mpiexec) time: bool,
}

impl Label {
    /// The text, for lines that come now; empty if no label is requested.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if self.time {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let [year, month, day, hour, minute, second] = os::local_time(now.as_secs());
            let micros = now.subsec_micros();
            text += &format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06} ");
        }
        if self.tag {
            let stream = if self.stream == Stream::Error { " err" } else { "" };
            let job = self.job.map_or_else(String::new, |job| format!("{job}:"));
            text += &format!("[{job}{}{stream}] ", self.rank);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_the_requested_parts() {
        let label = Label { job: None, rank: 7, stream: Stream::Output, tag: true, time: false };
        assert_eq!(label.text(), "[7] ");
        assert_eq!(Label { stream: Stream::Error, ..label }.text(), "[7 err] ");
        assert_eq!(Label { job: Some("2.1"), ..label }.text(), "[2.1:7] ");
        assert_eq!(Label { tag: false, ..label }.text(), "");
        let timed = Label { time: true, ..label }.text();
        let shape: String = timed.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
        assert_eq!(shape, "9999-99-99 99:99:99.999999 [9] ");
    }
}
