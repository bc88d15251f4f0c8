//! The table of `--profile`: each function that a rank has called, all ranks together.

use std::fmt::Write;

use mpi_core::functions;
use mpi_pmpi::records::{ROW_WORDS, row};

type Row = [u64; ROW_WORDS];

/// The table: of each rank its rows by the functions' numbers, none of a rank that was not recorded; the
/// name of a spawned job.
pub(super) fn text(ranks: &[Vec<Row>], job: Option<&str>) -> String {
    let recorded = ranks.iter().filter(|rows| !rows.is_empty()).count();
    let mut sums: Vec<(&str, Row)> = Vec::new();
    for number in 1..=functions::COUNT {
        let mut sum = [0_u64; ROW_WORDS];
        for rows in ranks {
            let Some(own) = rows.get(usize::from(number)) else { continue };
            for (column, value) in own.iter().enumerate() {
                sum[column] = match column {
                    row::LONGEST_NS => sum[column].max(*value),
                    _ => sum[column].saturating_add(*value),
                };
            }
        }
        if sum[row::BEGUN] > 0 {
            sums.push((functions::name(number).unwrap_or("?"), sum));
        }
    }
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum[row::TOTAL_NS]));
    let of_job = job.map_or_else(String::new, |name| format!(" of spawned job {name}"));
    let mut text = format!("profile of {recorded} of {} ranks{of_job}: MPI calls of all ranks together\n", ranks.len());
    let width = sums.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("function".len());
    let _ = writeln!(
        text,
        "{:<width$} {:>12} {:>14} {:>12} {:>14} {:>16}",
        "function", "calls", "total ms", "mean us", "longest us", "bytes"
    );
    for (name, sum) in &sums {
        let mean = sum[row::TOTAL_NS].checked_div(sum[row::RETURNED]).unwrap_or(0);
        let _ = writeln!(
            text,
            "{name:<width$} {:>12} {:>14} {:>12} {:>14} {:>16}",
            sum[row::BEGUN],
            thousandths(sum[row::TOTAL_NS] / 1000),
            thousandths(mean),
            thousandths(sum[row::LONGEST_NS]),
            sum[row::BYTES]
        );
    }
    for (name, sum) in &sums {
        match sum[row::BEGUN].saturating_sub(sum[row::RETURNED]) {
            0 => {}
            1 => text.push_str(&format!("1 call of {name} has not returned\n")),
            more => text.push_str(&format!("{more} calls of {name} have not returned\n")),
        }
    }
    text
}

/// A number of thousandths with its decimals.
fn thousandths(value: u64) -> String {
    format!("{}.{:03}", value / 1000, value % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_added_up_and_the_longest_time_is_the_longest_of_all() {
        let rows = |send: Row, recv: Row| {
            let mut rows = vec![[0; ROW_WORDS]; usize::from(functions::COUNT) + 1];
            rows[usize::from(functions::MPI_SEND)] = send;
            rows[usize::from(functions::MPI_RECV)] = recv;
            rows
        };
        let one = rows([3, 3, 3_000_000, 2_000_000, 24, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0]);
        let two = rows([1, 1, 1_000_000, 1_000_000, 8, 0, 0, 0], [2, 2, 9_000_500, 8_000_000, 16, 0, 0, 0]);
        let text = text(&[one, two, Vec::new()], None);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(text.starts_with("profile of 2 of 3 ranks"), "{text}");
        assert_eq!(lines[2], ["MPI_Recv", "3", "9.000", "4500.250", "8000.000", "16"]);
        assert_eq!(lines[3], ["MPI_Send", "4", "4.000", "1000.000", "2000.000", "32"]);
        assert!(text.ends_with("1 call of MPI_Recv has not returned\n") && lines.len() == 5, "{text}");
    }
}
