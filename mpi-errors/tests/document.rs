//! The program of this crate in docs/rust.md is its example `code`, and runs.

#[path = "../../tests/rust/document.rs"]
mod document;
#[path = "../examples/code.rs"]
mod example;

#[test]
fn the_document_has_the_text_of_the_example() {
    document::has(include_str!("../examples/code.rs"));
}

#[test]
fn the_example_runs() {
    example::main();
}
