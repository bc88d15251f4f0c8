//! `docs/error-classes.md` lists for every error class of the ABI a misuse that raises it and the program that does so,
//! or the reason why none does.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use mpi_errors::classes;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The rows of the table: class, misuse, program.
fn rows() -> Vec<[String; 3]> {
    let text = fs::read_to_string(root().join("docs/error-classes.md")).expect("the table is there");
    let rows = text.lines().filter(|line| line.starts_with("| `MPI_"));
    rows.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(|cell| cell.trim().trim_matches('`')).collect();
        let cells: [&str; 3] = cells.try_into().unwrap_or_else(|_| panic!("three cells: {line}"));
        cells.map(str::to_owned)
    })
    .collect()
}

#[test]
fn the_table_has_each_class_of_the_abi_once() {
    let in_table: Vec<String> = rows().into_iter().map(|[class, ..]| class).collect();
    let in_abi: Vec<&str> = classes::all().map(|(_, name)| name).filter(|name| *name != "MPI_SUCCESS").collect();
    assert_eq!(in_table, in_abi);
}

#[test]
fn each_named_program_raises_its_class() {
    let mut sources = HashMap::new();
    let manifest = fs::read_to_string(root().join("tests/conformance/manifest")).expect("the manifest is there");
    for [class, misuse, program] in rows() {
        if program == "-" {
            assert!(misuse.starts_with("not applicable: "), "{class} has neither a program nor a reason");
            continue;
        }
        assert!(manifest.lines().any(|line| line.split(' ').next() == Some(&program)), "{program} is not run");
        let source = sources.entry(program.clone()).or_insert_with(|| {
            let path = root().join(format!("tests/conformance/c/{program}.c"));
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        });
        // Patterns that check the class: `RAISES(CLASS, call)`, `check_class(call, CLASS)`, and the like.
        let checked = |line: &str| {
            let named = line.split(|each: char| !each.is_ascii_alphanumeric() && each != '_').any(|word| word == class);
            named && (line.contains("RAISES(") || line.contains("RETURNS(") || line.contains("check_"))
        };
        assert!(source.lines().any(checked), "{program} does not raise {class}");
    }
}

#[test]
fn what_is_not_applicable_is_not_raised_by_the_program_of_all_classes() {
    let source = fs::read_to_string(root().join("tests/conformance/c/errors/every_class.c")).expect("it is there");
    for [class, _, program] in rows() {
        let raised = source.contains(&format!("({class},"));
        assert_eq!(raised, program == "errors/every_class", "{class}");
    }
}
