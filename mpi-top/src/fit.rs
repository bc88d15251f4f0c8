//! What of a line or a table fits the width of a terminal: whole columns, items and words; a number is never cut.
//!
//! Not here: the texts (`rows`, `ranks_screen`, `jobs_screen`).

use ratatui::text::Line;

use crate::rows::{COLUMNS, Column};

/// The columns that a narrow terminal keeps, the most important first.
const IMPORTANCE: [Column; 12] = [
    Column::Rank,
    Column::State,
    Column::Waiting,
    Column::Call,
    Column::Sent,
    Column::BytesSent,
    Column::Received,
    Column::Collectives,
    Column::Unexpected,
    Column::Posted,
    Column::Requests,
    Column::Pid,
];
/// Columns that come before all others: who, in what state, waiting for whom.
const FIRST: usize = 4;
/// The least width of the calls: a function of a usual length.
const LEAST_CALL: u16 = 10;
/// The width of the calls before there are further columns: a function with its peer and tag.
const WIDE_CALL: u16 = 32;

/// The columns for a width, in their order, each with its width. Those that do not fit are left out, the least important first;
/// the column by which rows are sorted is shown before all that are not among the first. The calls have the rest of the width.
pub fn columns(width: u16, sorted_by: Column) -> Vec<(Column, &'static str, u16)> {
    let (first, others) = IMPORTANCE.split_at(FIRST);
    let sorted = others.iter().filter(|column| **column == sorted_by);
    let order = first.iter().chain(sorted).chain(others.iter().filter(|column| **column != sorted_by));
    let of =
        |wanted: Column| COLUMNS.iter().find(|(column, ..)| *column == wanted).expect("each column is in the table");
    let mut chosen: Vec<Column> = Vec::new();
    let mut used = 0;
    for (place, column) in order.enumerate() {
        let own = if *column == Column::Call { LEAST_CALL } else { of(*column).2 };
        let gap = u16::from(!chosen.is_empty());
        // Further columns leave the calls a width at which their peers are seen.
        let room = if place >= FIRST { width.saturating_sub(WIDE_CALL - LEAST_CALL) } else { width };
        if used + gap + own > room {
            break;
        }
        used += gap + own;
        chosen.push(*column);
    }
    let shown = COLUMNS.iter().filter(|(column, ..)| chosen.contains(column));
    shown
        .map(|(column, title, own)| match column {
            Column::Call => (*column, *title, LEAST_CALL + width - used),
            _ => (*column, *title, *own),
        })
        .collect()
}

/// Items in a line: those before the last are left out from behind until the rest fits.
pub fn items<'a>(items: &[&'a str], gap: &str, width: u16) -> String {
    let mut kept: Vec<&'a str> = items.to_vec();
    while kept.len() > 1 && Line::from(kept.join(gap)).width() > usize::from(width) {
        kept.remove(kept.len() - 2);
    }
    kept.join(gap)
}

/// A text in a width: as many whole words as fit, and a sign where words are left out.
pub fn words(text: &str, width: u16) -> String {
    let width = usize::from(width);
    if Line::from(text).width() <= width {
        return text.to_owned();
    }
    let mut line = String::new();
    for word in text.split(' ') {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if Line::from(&*longer).width() + 2 > width {
            break;
        }
        line = longer;
    }
    let sign = if line.is_empty() { "…" } else { " …" };
    line.trim_end_matches([',', ':']).to_owned() + sign
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(width: u16, sorted_by: Column) -> Vec<&'static str> {
        let columns = columns(width, sorted_by);
        let total: u16 = columns.iter().map(|(_, _, own)| own + 1).sum();
        assert!(total <= width + 1, "{width}");
        columns.into_iter().map(|(_, title, _)| title).collect()
    }

    #[test]
    fn a_narrow_table_has_fewer_columns() {
        assert_eq!(titles(40, Column::Rank), ["RANK", "STATE", "WAIT%", "CALL"]);
        assert_eq!(titles(80, Column::Rank), ["RANK", "STATE", "WAIT%", "SENT/S", "BYTES/S", "CALL"]);
        assert_eq!(titles(80, Column::Pid), ["RANK", "PID", "STATE", "WAIT%", "SENT/S", "CALL"]);
        assert_eq!(titles(150, Column::Rank).len(), COLUMNS.len());
        assert_eq!(titles(26, Column::Rank), ["RANK", "STATE"]);
        assert!(titles(4, Column::Rank).is_empty());
        for width in 0..200 {
            titles(width, Column::Posted);
        }
    }

    #[test]
    fn lines_are_shortened_by_whole_words_and_items() {
        assert_eq!(words("MPI_Recv from rank 123", 22), "MPI_Recv from rank 123");
        assert_eq!(words("MPI_Recv from rank 123", 21), "MPI_Recv from rank …");
        assert_eq!(words("job 12, 30 ranks", 9), "job 12 …");
        assert_eq!(words("MPI_Allreduce", 10), "…");
        assert_eq!(items(&["a: b", "r: reverse", "q: end"], "   ", 13), "a: b   q: end");
        assert_eq!(items(&["a: b", "r: reverse", "q: end"], "   ", 12), "q: end");
    }
}
