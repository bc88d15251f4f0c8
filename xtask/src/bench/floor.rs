//! How near the cores of a run were: near cores share a cache, far ones do not, and a virtual machine may move its cores
//! from one to the other, or make them threads of one core. Programs of two ranks measure half the round trip of one
//! cache line before and after (`benches/c/floor.h`).
//!
//! Invariant: numbers are compared within one class only.

use std::collections::BTreeSet;

use super::Measured;
use super::cases::Number;
use crate::peers::Library;

/// Half a round trip, in ns, from which cores are far. Between the caches of one complex it takes about 50, beyond them
/// 100 and more even on fast machines.
const FAR: f64 = 90.0;

/// A shorter one is that of two threads of one core, which share its first cache: 21 to 24 were measured.
const ONE_CORE: f64 = 28.0;

/// A longer one means that another program used a core.
const IN_USE: f64 = 1000.0;

/// How near the cores were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A program that does not measure it: its work is one rank's, or has more ranks than two.
    Any,
    OneCore,
    Near,
    Far,
}

impl Class {
    /// The ending of a row's name.
    pub fn label(self) -> &'static str {
        match self {
            Class::Any => "",
            Class::OneCore => " one core",
            Class::Near => " near",
            Class::Far => " far",
        }
    }

    fn of(floor: f64) -> Class {
        match floor {
            ..ONE_CORE => Class::OneCore,
            ..FAR => Class::Near,
            _ => Class::Far,
        }
    }
}

/// The class of a run; `None` if the cores moved while it ran, or another program used one.
pub fn class_of(numbers: &[Number]) -> Option<Class> {
    let find = |name: &str| numbers.iter().find(|number| number.name == name).map(|number| number.value);
    let (Some(before), Some(after)) = (find("floor"), find(AFTER)) else { return Some(Class::Any) };
    (before.max(after) < IN_USE && Class::of(before) == Class::of(after)).then(|| Class::of(before))
}

/// The number that only decides on the class.
pub const AFTER: &str = "floor_after";

/// Whether a number is of the machine and not of the case.
pub fn is_of_machine(name: &str) -> bool {
    matches!(name, "floor" | "memcpy")
}

/// For each class a line, if a library met it in some case and not in another, or never.
pub fn missing(measured: &Measured, libraries: &[Library]) -> Vec<String> {
    let classes: BTreeSet<Class> = measured.keys().map(|key| key.3).filter(|class| *class != Class::Any).collect();
    if classes.is_empty() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for class in [Class::Near, Class::Far] {
        let label = class.label().trim();
        if !classes.contains(&class) {
            lines.push(format!("no run met {label} cores"));
            continue;
        }
        for library in libraries {
            let rows = measured.iter().filter(|(key, _)| key.3 == class);
            let without = rows.filter(|(_, series)| !series.values.contains_key(library.name));
            let names: BTreeSet<&str> = without.map(|(key, _)| key.2.as_str()).collect();
            if !names.is_empty() {
                let names: Vec<&str> = names.into_iter().collect();
                lines.push(format!("{} did not meet {label} cores in {}", library.name, names.join(", ")));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(floors: &[(&str, f64)]) -> Vec<Number> {
        floors.iter().map(|(name, value)| Number { name: (*name).into(), value: *value, unit: "ns".into() }).collect()
    }

    #[test]
    fn a_run_has_a_class_unless_its_cores_moved() {
        assert_eq!(class_of(&run(&[("latency/8", 3.0)])), Some(Class::Any));
        assert_eq!(class_of(&run(&[("floor", 50.0), ("x", 3.0), ("floor_after", 55.0)])), Some(Class::Near));
        assert_eq!(class_of(&run(&[("floor", 22.0), ("floor_after", 23.0)])), Some(Class::OneCore));
        assert_eq!(class_of(&run(&[("floor", 250.0), ("floor_after", 240.0)])), Some(Class::Far));
        assert_eq!(class_of(&run(&[("floor", 250.0), ("floor_after", 50.0)])), None);
        assert_eq!(class_of(&run(&[("floor", 250.0), ("floor_after", 20_000.0)])), None);
    }
}
