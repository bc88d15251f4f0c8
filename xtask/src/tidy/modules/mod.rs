//! Cycles of modules: each crate's graph, its drawing, and the list of those that are still allowed.
//!
//! Invariant: the list only shrinks: an edge on a cycle that is not in the list is a failure, and so is an entry that
//! is not an edge on a cycle any more. Not here: the definition of an edge (`resolve`).

mod resolve;
mod source;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::{Failure, Result, paths};
use resolve::Graph;

/// The allowed edges, from the folder of the workspace.
const LIST: &str = "xtask/module-cycles.txt";

/// The graphs of all crates of the workspace, by name, one for a library and one for each program.
fn graphs(root: &Path) -> Result<Vec<(String, Graph)>> {
    let mut graphs = Vec::new();
    for entry in fs::read_dir(root)? {
        let folder = entry?.path();
        if !folder.join("Cargo.toml").is_file() {
            continue;
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let programs = fs::read_dir(folder.join("src/bin")).into_iter().flatten().flatten().map(|entry| entry.path());
        let roots = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file)).into_iter().chain(programs);
        for file in roots.filter(|file| file.is_file() && file.extension().is_some_and(|ending| ending == "rs")) {
            let title = match file.parent().is_some_and(|parent| parent.ends_with("bin")) {
                true => format!("{name}/{}", file.file_stem().unwrap_or_default().to_string_lossy()),
                false => name.clone(),
            };
            graphs.push((title, Graph::new(&source::read(&file)?)));
        }
    }
    graphs.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(graphs)
}

/// Messages about edges on cycles that are not in the list, and about its stale entries.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let mut cyclic = BTreeSet::new();
    for (name, graph) in graphs(root)? {
        cyclic.extend(graph.cyclic().into_iter().map(|(from, to)| format!("{name}: {from} -> {to}")));
    }
    let list = fs::read_to_string(root.join(LIST)).map_err(|error| Failure::from(error).during(LIST))?;
    Ok(compare(&cyclic, &list))
}

fn compare(cyclic: &BTreeSet<String>, list: &str) -> Vec<String> {
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let allowed: BTreeSet<String> = lines.map(str::to_owned).collect();
    let new = cyclic.difference(&allowed).map(|edge| {
        let name = edge.split(':').next().unwrap_or_default();
        format!(
            "{edge}: a new edge on a cycle of modules; remove it (`cargo xtask tidy --graph {name}` draws the cycle)"
        )
    });
    let over = allowed
        .difference(cyclic)
        .map(|edge| format!("{LIST}: delete the line `{edge}`: it is no longer an edge on a cycle of modules"));
    new.chain(over).collect()
}

/// The graph of one crate, or of all, for Graphviz; edges on cycles are red, those inside a module are dotted.
pub fn drawing(wanted: &str) -> Result<String> {
    let mut graphs = graphs(&paths::root())?;
    if !wanted.is_empty() {
        let names: Vec<String> = graphs.iter().map(|(name, _)| name.clone()).collect();
        graphs.retain(|(name, _)| name == wanted);
        if graphs.is_empty() {
            return Err(format!("no crate is named {wanted}; there are {}", names.join(", ")).into());
        }
    }
    let mut text = String::from("digraph modules {\n    node [shape=box, fontname=\"sans-serif\"];\n");
    for (name, graph) in &graphs {
        let _ = writeln!(text, "    subgraph \"cluster_{name}\" {{\n        label=\"{name}\";");
        let shown = |module: &str| if module.is_empty() { "crate".to_owned() } else { module.to_owned() };
        for module in graph.names.iter().map(|module| shown(module)) {
            let _ = writeln!(text, "        \"{name}: {module}\" [label=\"{module}\"];");
        }
        let cyclic = graph.cyclic();
        for (from, to) in graph.edges() {
            // An edge between a module and one inside it cannot be on a cycle.
            let style = match resolve::siblings(from, to) {
                Some(pair) if cyclic.contains(&pair) => " [color=red]",
                Some(_) => "",
                None => " [style=dotted]",
            };
            let _ = writeln!(text, "        \"{name}: {}\" -> \"{name}: {}\"{style};", shown(from), shown(to));
        }
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_must_be_exactly_the_edges_on_cycles() {
        let edges = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<BTreeSet<String>>();
        let found = edges(&["x: a -> b", "x: b -> a"]);
        assert!(compare(&found, "# allowed\n\nx: a -> b\nx: b -> a\n").is_empty());
        let wrong = compare(&found, "x: a -> b\nx: c -> d\n");
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].contains("x: b -> a: a new edge") && wrong[0].contains("--graph x"), "{}", wrong[0]);
        assert!(wrong[1].contains("delete the line `x: c -> d`"), "{}", wrong[1]);
    }

    #[test]
    fn the_graph_of_this_program_has_its_modules() {
        let graphs = graphs(&paths::root()).expect("the tree is readable");
        let (_, graph) = graphs.iter().find(|(name, _)| name == "xtask").expect("xtask is a crate");
        let number = |name: &str| graph.names.iter().position(|each| each == name).expect("a module");
        assert!(graph.uses[number("demo")].contains(&number("process")));
        assert!(!graph.uses[number("process")].contains(&number("demo")));
    }
}
