//! Medians and ratios of the measured numbers, as a table of text and as JSON.

use std::fmt::Write;

use super::floor::Class;
use super::{Measured, Series};

/// One number on all libraries.
pub struct Row {
    name: String,
    class: Class,
    unit: String,
    medians: Vec<(&'static str, f64)>,
    values: Vec<(&'static str, Vec<f64>)>,
}

impl Row {
    fn more_is_better(&self) -> bool {
        self.unit.ends_with("/s") || matches!(self.unit.as_str(), "times" | "%")
    }

    fn median(&self, library: &str) -> Option<f64> {
        self.medians.iter().find(|(name, _)| *name == library).map(|&(_, value)| value)
    }

    /// The best of the other libraries.
    fn best_peer(&self) -> Option<(&'static str, f64)> {
        let peers = self.medians.iter().filter(|(name, _)| *name != "ferrum").copied();
        match self.more_is_better() {
            true => peers.max_by(|a, b| a.1.total_cmp(&b.1)),
            false => peers.min_by(|a, b| a.1.total_cmp(&b.1)),
        }
    }

    /// How many times better ours is than the best peer; below 1 is worse. `None` where a count is 0.
    fn ratio(&self) -> Option<f64> {
        let ours = self.median("ferrum")?;
        let (_, best) = self.best_peer()?;
        Some(if self.more_is_better() { ours / best } else { best / ours }).filter(|ratio| ratio.is_finite())
    }
}

/// One row per number, with medians.
pub fn rows(measured: &Measured) -> Vec<Row> {
    let row = |((_, _, name, class), series): (&'_ (usize, usize, String, Class), &'_ Series)| Row {
        name: name.clone(),
        class: *class,
        unit: series.unit.clone(),
        medians: series.values.iter().map(|(library, values)| (*library, median(values))).collect(),
        values: series.values.iter().map(|(library, values)| (*library, values.clone())).collect(),
    };
    measured.iter().map(row).collect()
}

/// The table. The last column is how many times better this library is than the best peer.
pub fn text(rows: &[Row], libraries: &[&str]) -> String {
    let mut text = format!("\n{:<26} {:<12}", "number", "unit");
    for library in libraries {
        let _ = write!(text, " {library:>10}");
    }
    let compared = libraries.len() > 1 && libraries.contains(&"ferrum");
    if compared {
        text.push_str("  best peer   times better");
    }
    for row in rows {
        let _ = write!(text, "\n{:<26} {:<12}", format!("{}{}", row.name, row.class.label()), row.unit);
        for library in libraries {
            match row.median(library) {
                Some(value) => write!(text, " {:>10}", digits(value)),
                None => write!(text, " {:>10}", "-"),
            }
            .expect("a String takes all text");
        }
        if let (true, Some((peer, _)), Some(ratio)) = (compared, row.best_peer(), row.ratio()) {
            let _ = write!(text, "  {peer:<10} {ratio:>13.2}");
        }
    }
    text.push('\n');
    text
}

/// All medians, ratios and single values.
pub fn json(rows: &[Row], libraries: &[&str], rounds: u32) -> String {
    let quoted: Vec<String> = libraries.iter().map(|name| format!("\"{name}\"")).collect();
    let mut text = format!("{{\n  \"rounds\": {rounds},\n  \"libraries\": [{}],\n  \"results\": [", quoted.join(", "));
    for (index, row) in rows.iter().enumerate() {
        let better = if row.more_is_better() { "more" } else { "less" };
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\n    {{\"name\": \"{}\", \"unit\": \"{}\", \"better\": \"{better}\"",
            row.name, row.unit
        );
        if row.class != Class::Any {
            let _ = write!(text, ", \"cores\": \"{}\"", row.class.label().trim());
        }
        if let Some(ratio) = row.ratio() {
            let _ = write!(text, ", \"times_better_than_best_peer\": {ratio:.4}");
        }
        for (part, list) in [("medians", None), ("values", Some(()))] {
            let entries: Vec<String> = match list {
                None => row.medians.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect(),
                Some(()) => row.values.iter().map(|(name, values)| format!("\"{name}\": {values:?}")).collect(),
            };
            let _ = write!(text, ", \"{part}\": {{{}}}", entries.join(", "));
        }
        text.push('}');
    }
    text.push_str("\n  ]\n}\n");
    text
}

/// The middle one, or the mean of the middle two.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) }
}

/// Three significant digits.
pub fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(unit: &str, ours: f64, peer: f64) -> Measured {
        let values = [("ferrum", vec![ours, ours]), ("mpich", vec![peer; 3])].into_iter().collect();
        [((0, 0, "x".to_owned(), Class::Near), Series { unit: unit.to_owned(), values })].into_iter().collect()
    }

    #[test]
    fn ratio_is_above_one_when_ours_is_better_in_either_direction() {
        assert_eq!(rows(&measured("us", 2.0, 4.0))[0].ratio(), Some(2.0));
        assert_eq!(rows(&measured("GB/s", 4.0, 2.0))[0].ratio(), Some(2.0));
        assert_eq!(rows(&measured("us", 4.0, 2.0))[0].ratio(), Some(0.5));
    }

    #[test]
    fn a_count_of_none_has_no_ratio() {
        assert_eq!(rows(&measured("switches", 0.0, 4.0))[0].ratio(), None);
    }

    #[test]
    fn median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
    }
}
