//! Whether docs/rust.md has the text of an example of a crate; tests of the crates include this file.

/// Panics unless the document has the example as a program of its own: without the heading, which says where the text is, and
/// with a `main` that is not public.
pub fn has(example: &str) {
    let document = include_str!("../../docs/rust.md");
    let (_, program) = example.split_once("\n\n").expect("a heading");
    let program = program.replace("/// The program; public for the test that runs it.\npub fn main", "fn main");
    let indented: String = program.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect();
    assert!(document.contains(&indented), "docs/rust.md does not have:\n{indented}");
}
