//! `cargo xtask bench`: the C programs of `benches/c/`, built with each library's own compiler wrapper and run
//! under its own launcher.
//!
//! Invariant: one round runs a case once on every library before the next round starts, so that other load on the
//! machine affects all libraries alike. Not here: the cases (`cases`), the table and the JSON (`table`).

mod cases;
mod floor;
mod hosts;
mod instruments;
pub mod stack;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::peers::Library;
use crate::{Result, dist, paths, ui};
use cases::{Case, Number};
use floor::Class;

/// Options of `bench`.
#[derive(clap::Args)]
pub struct Options {
    /// Cases to run: names or beginnings of names (latency, bandwidth, collective, launch, ...); none means all.
    /// `instruments` alone compares the library with a build of it that has no instruments, `stack` alone measures
    /// tools in front of the library, `hosts` alone measures between two hosts made of namespaces (root only), with --peers beside MPICH
    names: Vec<String>,
    /// Measure MPICH, Open MPI and Intel MPI too, installed from PyPI into target/peers/ when missing
    #[arg(long)]
    peers: bool,
    /// How often each case is run on each library; medians are shown
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Measure only these libraries (ferrum, mpich, openmpi, intel)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    library: Vec<String>,
    /// List the cases and end
    #[arg(long)]
    list: bool,
}

/// The measured numbers: by the place of the case, the place of the number in it, the number's name, and how near the
/// cores were.
pub type Measured = BTreeMap<(usize, usize, String, Class), Series>;

/// The values of one number.
pub struct Series {
    /// Unit as printed by the program; it also determines which direction is better.
    pub unit: String,
    /// One value a round, per library in the order they were run.
    pub values: BTreeMap<&'static str, Vec<f64>>,
}

/// Builds, runs all rounds, prints the table and writes the JSON file.
pub fn run(options: &Options) -> Result<()> {
    if options.names == ["instruments"] {
        return instruments::run(options.rounds);
    }
    if options.names == ["stack"] {
        return stack::run(options.rounds);
    }
    if options.names == ["hosts"] {
        return hosts::run(options.rounds, options.peers);
    }
    if let Some(wrong) = options.names.iter().find_map(|name| unknown(name, &cases::all())) {
        return Err(wrong.into());
    }
    let wanted: Vec<Case> = cases::all().into_iter().filter(|case| case.matches(&options.names)).collect();
    if options.list {
        wanted.iter().for_each(|case| ui::answer(format_args!("{:<20} {}", case.name, case.what)));
        return Ok(());
    }
    let libraries = libraries(options)?;
    ui::step("compiling the programs with each library's compiler wrapper");
    for library in &libraries {
        build(library, &wanted)?;
    }
    let names: Vec<&str> = libraries.iter().map(|library| library.name).collect();
    ui::step(format!("{} rounds of {} cases on {}", options.rounds, wanted.len(), names.join(", ")));
    let (measured, failures) = measure(&libraries, &wanted, options.rounds);
    let rows = table::rows(&measured);
    ui::answer(table::text(&rows, &names));
    floor::missing(&measured, &libraries).iter().for_each(ui::answer);
    let file = paths::target().join("bench.json");
    fs::write(&file, table::json(&rows, &names, options.rounds))?;
    ui::answer(format_args!("all values: {}", file.display()));
    match failures.is_empty() {
        true => Ok(()),
        false => Err(format!("{} runs failed:\n{}", failures.len(), failures.join("\n")).into()),
    }
}

/// The message for a name that no case begins with: the cases, and the nearest of them.
fn unknown(name: &str, cases: &[Case]) -> Option<String> {
    if cases.iter().any(|case| case.matches(&[name.to_owned()])) {
        return None;
    }
    let names: Vec<&str> = cases.iter().map(|case| case.name).chain(["instruments", "stack", "hosts"]).collect();
    if ["instruments", "stack", "hosts"].contains(&name) {
        return Some(format!("{name} is measured by itself: `cargo xtask bench {name}`"));
    }
    let near = |known: &str| strsim::normalized_damerau_levenshtein(name, known);
    let nearest = names.iter().copied().max_by(|one, other| near(one).total_cmp(&near(other)));
    let suggestion = nearest.filter(|known| near(known) > 0.5).map(|known| format!("; did you mean {known}?"));
    Some(format!("no case is named {name}{}\nknown: {}", suggestion.unwrap_or_default(), names.join(" ")))
}

/// All rounds: the measured numbers, and the failures. A run during which the cores moved is not counted.
fn measure(libraries: &[Library], wanted: &[Case], rounds: u32) -> (Measured, Vec<String>) {
    let (mut measured, mut moved) = (Measured::new(), 0);
    let mut failures = Vec::new();
    let mut progress = ui::Progress::new(rounds as usize * wanted.len() * libraries.len());
    for round in 0..rounds {
        for (index, case) in wanted.iter().enumerate() {
            for turn in 0..libraries.len() {
                // Each round begins with another library, so that none always runs first.
                let library = &libraries[(turn + round as usize) % libraries.len()];
                progress.part(&format!("{} on {}", case.name, library.name));
                if case.counts_only() && round > 0 {
                    continue;
                }
                match case.measure(library, &programs(library)) {
                    Ok(numbers) => match floor::class_of(&numbers) {
                        Some(class) => record(&mut measured, index, class, library.name, numbers),
                        None => moved += 1,
                    },
                    Err(failure) => failures.push(format!("{} on {}: {failure}", case.name, library.name)),
                }
            }
        }
    }
    if moved > 0 {
        ui::note(format!(
            "runs left out because cores moved between near and far, or another program used one: {moved}"
        ));
    }
    (measured, failures)
}

/// Where the programs built with a library are.
fn programs(library: &Library) -> PathBuf {
    paths::scratch("bench").join(library.name)
}

/// Runs every case except the counted ones once on our library, to check that the programs build and run.
pub fn smoke() -> Result<()> {
    let library = Library::ferrum(&paths::dist());
    let wanted: Vec<Case> = cases::all().into_iter().filter(|case| !case.counts_only()).collect();
    build(&library, &wanted)?;
    for case in &wanted {
        let numbers = case.measure(&library, &programs(&library)).map_err(|failure| failure.during(case.name))?;
        if numbers.is_empty() {
            return Err(format!("{} gives no number", case.name).into());
        }
    }
    Ok(())
}

/// Prepares a peer; installs it if it is missing.
type Install = fn() -> Result<Library>;

/// The selected libraries; a peer that cannot be installed is named and skipped.
fn libraries(options: &Options) -> Result<Vec<Library>> {
    let known = ["ferrum", "mpich", "openmpi", "intel"];
    if let Some(unknown) = options.library.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("no library is named {unknown}; there are {}", known.join(", ")).into());
    }
    let wanted = |name: &str| match options.library.is_empty() {
        true => name == "ferrum" || options.peers,
        false => options.library.iter().any(|given| given == name),
    };
    let mut libraries = Vec::new();
    if wanted("ferrum") {
        libraries.push(Library::ferrum(&dist::build(&paths::dist())?));
    }
    let peers: [(&str, Install); 3] =
        [("mpich", Library::mpich), ("openmpi", Library::openmpi), ("intel", Library::intel)];
    for (name, install) in peers {
        if wanted(name) {
            match install() {
                Ok(library) => libraries.push(library),
                Err(failure) => ui::note(format!("left out: {name} ({failure})")),
            }
        }
    }
    match libraries.is_empty() {
        true => Err("no library to measure".into()),
        false => Ok(libraries),
    }
}

fn build(library: &Library, wanted: &[Case]) -> Result<()> {
    let folder = programs(library);
    fs::create_dir_all(&folder)?;
    let mut programs: Vec<&str> = wanted.iter().map(|case| case.program).collect();
    programs.sort_unstable();
    programs.dedup();
    for program in programs {
        let source = paths::root().join("benches/c").join(format!("{program}.c"));
        library.compile(&source, &folder.join(program), &["-O2", "-Wall"])?;
    }
    Ok(())
}

fn record(measured: &mut Measured, case: usize, class: Class, library: &'static str, numbers: Vec<Number>) {
    for (place, number) in numbers.into_iter().enumerate().filter(|(_, number)| number.name != floor::AFTER) {
        // The floors of all cases are one row, the first.
        let (case, place) = if floor::is_of_machine(&number.name) { (0, 0) } else { (case, place) };
        let series = measured
            .entry((case, place, number.name, class))
            .or_insert_with(|| Series { unit: number.unit, values: BTreeMap::new() });
        series.values.entry(library).or_default().push(number.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_case_is_refused_with_the_nearest_and_all_names() {
        let wrong = unknown("latencey", &cases::all()).expect("no case is named so");
        assert!(wrong.contains("did you mean latency?") && wrong.contains("launch-64"), "{wrong}");
        assert!(!unknown("xyzzy", &cases::all()).expect("no case is named so").contains("did you mean"));
    }

    #[test]
    fn names_and_beginnings_of_names_are_known() {
        assert!(unknown("latency", &cases::all()).is_none() && unknown("launch-6", &cases::all()).is_none());
    }
}
