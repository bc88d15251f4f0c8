//! The summary of `--stats`: as text of one screen, as JSON, or as a page for a browser.
//!
//! Invariant: all forms have the same numbers, from one `Summary`; the page needs no network and nothing beside it.
//! Not here: the numbers (`mpi_observe::summary`), the table of `stats_at_end` (`mpi_fabric::statistics`).

mod text;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mpi_fabric::host;
use mpi_observe::origin::Origin;
use mpi_observe::summary::Summary;

use super::os;
use super::plan::Plan;

/// The page; the data stands where its marker is.
const PAGE: &str = include_str!("stats/page.html");
/// The marker of the data.
const DATA: &str = "@DATA@";
/// The marker of the text for browsers without scripts.
const TEXT: &str = "@TEXT@";

/// Writes the summary: to a file in the form that its ending has, or as text to the standard error output. That of a
/// spawned job (`name`) has its name also in the file's name.
/// # Errors
/// A sentence: the file cannot be written; then the text is on the standard error output.
pub(super) fn write(summary: &Summary, file: Option<&Path>, name: Option<&str>) -> Result<(), String> {
    let text = text::text(summary, name);
    let Some(file) = file.map(|file| file_of(file, name)) else {
        // Standard error may be closed; then there is no place for the summary.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        return Ok(());
    };
    let ending = file.extension().map(|ending| ending.to_ascii_lowercase());
    let content = match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("json") => summary.json(name) + "\n",
        Some("html" | "htm") => page(&summary.json(name), &text),
        _ => text.clone(),
    };
    std::fs::write(&file, content).map_err(|error| {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        format!("{} cannot be written: {error}; the summary is on standard error", file.display())
    })
}

/// Command, host and time of a job that has just ended after so many seconds.
pub(super) fn origin(plan: &Plan<'_>, seconds: f64) -> Origin {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let started = now.saturating_sub(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    let programs = plan.programs.iter().map(|program| {
        let words = std::iter::once(&program.group.program).chain(&program.group.arguments);
        (program.ranks, words.map(|word| word.to_string_lossy()).collect::<Vec<_>>())
    });
    Origin::new(programs, &host::name(), os::utc_time(started.as_secs()))
}

/// The file of a job: `a.html`, of spawned job 2 `a.job2.html`.
fn file_of(file: &Path, name: Option<&str>) -> PathBuf {
    let Some(name) = name else { return file.to_owned() };
    let ending = file.extension().map_or_else(String::new, |ending| format!(".{}", ending.to_string_lossy()));
    file.with_extension(format!("job{name}{ending}"))
}

fn page(json: &str, text: &str) -> String {
    // In a script element nothing ends the data but `</`, which in JSON stands within texts only.
    let data = json.replace('<', "\\u003c");
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let (before, rest) = PAGE.split_once(TEXT).expect("the page has a place for the text");
    let (between, after) = rest.split_once(DATA).expect("the page has a place for the data");
    [before, &text, between, &data, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_cannot_end_its_element() {
        let page = page("{\"object\":\"</script><b>\"}", "a < b & c");
        assert!(page.contains("{\"object\":\"\\u003c/script>\\u003cb>\"}"));
        assert!(page.contains("a &lt; b &amp; c"));
        assert!(!page.contains(DATA) && !page.contains(TEXT));
        assert!(!page.contains("http://") && !page.contains("https://") && !page.contains(" src="));
    }

    #[test]
    fn the_file_of_a_spawned_job_keeps_its_ending() {
        assert_eq!(file_of(Path::new("d/a.html"), Some("2.1")), Path::new("d/a.job2.1.html"));
        assert_eq!(file_of(Path::new("a"), Some("2")), Path::new("a.job2"));
        assert_eq!(file_of(Path::new("a.json"), None), Path::new("a.json"));
    }
}
