//! `docs/rules/`: the normative statements of the documents, each with the test that would fail if it broke.
//!
//! Invariant: a test that a row names exists. Not here: whether that test passes (`test`), the functions (`coverage`).
//!
//! A file is a table of one section. Columns: `place` (document and line), `weight` (`must`, `should`, `may`,
//! `advice`), `rule` (in our own words), `tests`, joined by `; `:
//!
//! | test | is |
//! | --- | --- |
//! | `c:AREA/NAME` | a program of `tests/conformance/c` that the manifest runs |
//! | `rust:FILE::NAME` | a Rust test |
//! | `fortran:FORM/NAME` | a program of `tests/fortran` |
//! | `launch:NAME` | a case of the suite `launch` |
//! | `arguments:CASE` | a generated case of the suite `arguments`, as its list has it |
//! | `suite:NAME` | a whole suite of `cargo xtask test` |
//! | `none:REASON` | no test, because there is nothing to test |
//! | `-` | no test yet |

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::table::Table;
use crate::{Failure, Result, paths};

/// The contents of one file of `docs/rules`.
struct Section {
    name: String,
    rows: usize,
    tested: usize,
    nothing_to_test: usize,
}

/// The counts of every file, as lines to print, and the faulty rows.
pub struct Findings {
    /// A table of rows with and without tests.
    pub lines: Vec<String>,
    /// Rows that name tests which do not exist, or that have no known form.
    pub wrong: Vec<String>,
}

/// Reads all of `docs/rules` and checks that the tests exist.
pub fn check(tests: &Tests) -> Result<Findings> {
    let root = paths::root();
    let mut files: Vec<PathBuf> = fs::read_dir(root.join("docs/rules"))
        .map_err(|error| Failure::from(error).during("docs/rules"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "tsv"))
        .collect();
    files.sort();
    let mut findings = Findings {
        lines: vec![format!("{:<40}{:>6}{:>8}{:>10}{:>18}", "rules", "rows", "tested", "untested", "nothing to test")],
        wrong: Vec::new(),
    };
    let mut all = Section { name: "all".to_owned(), rows: 0, tested: 0, nothing_to_test: 0 };
    for path in files {
        let section = section(&path, tests, &mut findings.wrong)?;
        all.rows += section.rows;
        all.tested += section.tested;
        all.nothing_to_test += section.nothing_to_test;
        findings.lines.push(section.line());
    }
    findings.lines.push(all.line());
    Ok(findings)
}

impl Section {
    fn line(&self) -> String {
        let Section { name, rows, tested, nothing_to_test } = self;
        let untested = rows - tested - nothing_to_test;
        format!("{name:<40}{rows:>6}{tested:>8}{untested:>10}{nothing_to_test:>18}")
    }
}

fn section(path: &Path, tests: &Tests, wrong: &mut Vec<String>) -> Result<Section> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let table = Table::read(path, &format!("../docs/rules/{name}.tsv"))?;
    let mut section = Section { name, rows: 0, tested: 0, nothing_to_test: 0 };
    for row in table.rows() {
        section.rows += 1;
        if !["must", "should", "may", "advice"].contains(&row.cell("weight")?) {
            wrong.push(row.wrong("no such weight").to_string());
        }
        let Some(named) = row.optional("tests")? else { continue };
        if named.starts_with("none:") {
            section.nothing_to_test += 1;
            continue;
        }
        section.tested += 1;
        for test in named.split("; ").filter(|test| !tests.has(test)) {
            wrong.push(row.wrong(format_args!("there is no test `{test}`")).to_string());
        }
    }
    Ok(section)
}

/// Every test that a row can name.
pub struct Tests {
    root: PathBuf,
    programs: BTreeSet<String>,
    cases: BTreeSet<String>,
    launches: String,
    suites: BTreeSet<&'static str>,
}

impl Tests {
    /// Collects the tests in the sources, and takes the programs of the manifest, the generated cases and the suites
    /// from `test`.
    pub fn new(programs: BTreeSet<String>, cases: BTreeSet<String>, suites: BTreeSet<&'static str>) -> Result<Tests> {
        let root = paths::root();
        let mut launches = String::new();
        for entry in fs::read_dir(root.join("xtask/src/test"))?.filter_map(std::result::Result::ok) {
            if entry.file_name().to_string_lossy().starts_with("launch") {
                let path = entry.path();
                let files = if path.is_dir() {
                    fs::read_dir(&path)?.filter_map(|file| Some(file.ok()?.path())).collect()
                } else {
                    vec![path]
                };
                for file in files {
                    launches.push_str(&fs::read_to_string(file)?);
                }
            }
        }
        Ok(Tests { root, programs, cases, launches, suites })
    }

    fn has(&self, test: &str) -> bool {
        let Some((form, name)) = test.split_once(':') else { return false };
        match form {
            "c" => self.programs.contains(name) && self.is_file(&format!("tests/conformance/c/{name}.c")),
            "fortran" => ["f90", "f"].iter().any(|ending| self.is_file(&format!("tests/fortran/{name}.{ending}"))),
            "arguments" => self.cases.contains(name),
            "launch" => self.launches.contains(&format!("\"{name}\"")),
            "suite" => self.suites.contains(name),
            "rust" => name.rsplit_once("::").is_some_and(|(file, function)| {
                let text = fs::read_to_string(self.root.join(file)).unwrap_or_default();
                text.contains(&format!("fn {function}("))
            }),
            _ => false,
        }
    }

    fn is_file(&self, path: &str) -> bool {
        self.root.join(path).is_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests() -> Tests {
        crate::test::existing().expect("the tree is well formed")
    }

    #[test]
    fn tests_of_every_form_are_found() {
        let tests = tests();
        for name in [
            "c:env/wtime",
            "fortran:f90/messages",
            "fortran:f77/ring",
            "rust:xtask/src/rules.rs::tests_of_every_form_are_found",
            "launch:status 0",
            "arguments:MPI_Send(count = -1)",
            "arguments:MPI_Send before MPI_Init",
            "suite:conformance",
        ] {
            assert!(tests.has(name), "{name}");
        }
    }

    #[test]
    fn a_test_that_is_not_there_is_not_found() {
        let tests = tests();
        for name in [
            "c:env/no_such_program",
            "fortran:f90/no_such_program",
            "rust:xtask/src/rules.rs::no_such_test",
            "rust:no/such/file.rs::a_test",
            "launch:no such case",
            "arguments:MPI_Send(count = 1)",
            "suite:none",
            "other:form",
            "env/wtime",
        ] {
            assert!(!tests.has(name), "{name}");
        }
    }

    #[test]
    fn every_row_names_tests_that_are_there() {
        let findings = check(&tests()).expect("docs/rules is readable");
        assert!(findings.wrong.is_empty(), "{:#?}", findings.wrong);
    }
}
