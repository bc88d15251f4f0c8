//! `cargo xtask bench instruments`: the cost of variables, events and the recorder, compared with a build without them.
//!
//! Invariant: the two libraries differ in nothing but the feature `uninstrumented`; each round runs both.
//! Not here: the code that the feature removes (`mpi_t::field`, `mpi_fabric::recorder`), the programs (`benches/c`).

use std::process::Command;

use super::floor::is_of_machine;
use super::{Measured, build, cases, measure, table};
use crate::peers::Library;
use crate::{Result, dist, paths, process, ui};

/// Builds both, measures latency, message rate and instructions, and prints each with the ratio.
pub fn run(rounds: u32) -> Result<()> {
    let whole = dist::build(&paths::dist())?;
    let without = dist::build_uninstrumented()?;
    let libraries = [Library::ferrum(&whole), Library::uninstrumented(&without, &whole)];
    let wanted = cases::of_messages();
    for library in &libraries {
        build(library, &wanted)?;
    }
    ui::step(format!("{rounds} rounds of {} cases on both", wanted.len()));
    let (measured, failures) = measure(&libraries, &wanted, rounds);
    ui::answer(text(&measured));
    ui::answer(format_args!("instructions of an event point without callbacks: {}", of_an_event()?));
    match failures.is_empty() {
        true => Ok(()),
        false => Err(format!("{} runs failed:\n{}", failures.len(), failures.join("\n")).into()),
    }
}

/// Instructions of an event point without callbacks: those of a loop with one, less those of a loop without.
fn of_an_event() -> Result<f64> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--release", "--package", "mpi-t", "--example", "event_cost"]);
    process::must_shown(build.current_dir(paths::root()))?;
    let program = paths::target().join("release/examples/event_cost");
    let count = |function: &str, rounds: u32| {
        let mut valgrind = Command::new("valgrind");
        cases::count_instructions(&mut valgrind, &[function], |valgrind| valgrind.arg(&program).arg(rounds.to_string()))
    };
    let a_round = |function: &str| Ok((count(function, 1200)? - count(function, 200)?) / 1000.0);
    let cost: Result<f64> = a_round("*rounds_with_a_point*").and_then(|with| Ok(with - a_round("*rounds_without*")?));
    cost
}

/// The medians of both, and the cost of the instruments in per cent.
fn text(measured: &Measured) -> String {
    let mut text = format!("\n{:<30} {:<12} {:>10} {:>10} {:>8}", "number", "unit", "with", "without", "cost");
    for ((_, _, name, class), series) in measured.iter().filter(|(key, _)| !is_of_machine(&key.2)) {
        let name = format!("{name}{}", class.label());
        let median = |library| series.values.get(library).map(|values| table::median(values));
        let (Some(with), Some(without)) = (median("ferrum"), median("without")) else { continue };
        // Where more is better, the cost is the difference to the build without instruments.
        let ratio = if series.unit.ends_with("/s") { without / with } else { with / without };
        text.push_str(&format!(
            "\n{name:<30} {:<12} {:>10} {:>10} {:>7.1}%",
            series.unit,
            table::digits(with),
            table::digits(without),
            (ratio - 1.0) * 100.0
        ));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Class, Series};
    use super::*;

    fn cost(unit: &str, with: f64, without: f64) -> String {
        let values = [("ferrum", vec![with]), ("without", vec![without])].into_iter().collect();
        let series = Series { unit: unit.to_owned(), values };
        text(&[((0, 0, "x".to_owned(), Class::Any), series)].into_iter().collect())
    }

    #[test]
    fn cost_is_more_time_or_fewer_messages() {
        assert!(cost("us", 1.1, 1.0).contains("10.0%"));
        assert!(cost("M/s", 10.0, 11.0).contains("10.0%"));
        assert!(cost("us", 1.0, 1.0).contains(" 0.0%"));
    }
}
