//! The program of this crate in docs/rust.md is its example `code`, and runs.

#[path = "../examples/code.rs"]
mod example;

#[test]
fn the_document_has_the_text_of_the_example() {
    let document = include_str!("../../docs/rust.md");
    let program = include_str!("../examples/code.rs");
    // Without the heading, which says where the text is.
    let (_, program) = program.split_once("\n\n").expect("a heading");
    let program = program.replace("/// The program; public for the test that runs it.\npub fn main", "fn main");
    let indented: String = program.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect();
    assert!(document.contains(&indented), "docs/rust.md does not have:\n{indented}");
}

#[test]
fn the_example_runs() {
    example::main();
}
