//! The graph of a crate's modules: which module uses which.
//!
//! A path makes an edge to the module that defines its target: imports and re-exports on the way are followed.
//! A declaration (`mod child;`) makes no edge, nor does a re-export (`pub use child::Thing`) of the module's own
//! contents. A module and the modules inside it are one unit: an edge between the two does not count, and an edge from
//! or to an inner module counts for the siblings that contain its ends, so that `a::x` using `b::y` is an edge from `a`
//! to `b`. Not detected: methods of values whose type the module does not name, and names that macros create.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Module, Names};

/// The modules of one crate and the edges between them.
pub struct Graph {
    /// The path of each module inside the crate; the root comes first, and its path is empty.
    pub names: Vec<String>,
    /// For each module those that it uses.
    pub uses: Vec<BTreeSet<usize>>,
}

impl Graph {
    /// Resolves all paths of a crate.
    pub fn new(modules: &[Module]) -> Graph {
        let index = modules.iter().enumerate().map(|(number, module)| (module.path.clone(), number)).collect();
        let resolver = Resolver { modules, index };
        let uses = (0..modules.len()).map(|number| resolver.used(number)).collect();
        Graph { names: modules.iter().map(|module| module.path.join("::")).collect(), uses }
    }

    /// The edges between siblings that lie on a cycle of siblings, each module taken with all that lies inside it.
    pub fn cyclic(&self) -> BTreeSet<(&str, &str)> {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (from, to) in self.edges().filter_map(|(from, to)| siblings(from, to)) {
            edges.entry(from).or_default().insert(to);
        }
        let all = edges.iter().flat_map(|(&from, uses)| uses.iter().map(move |&to| (from, to)));
        all.filter(|&(from, to)| reaches(&edges, to, from)).collect()
    }

    /// All edges, of single modules.
    pub fn edges(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.uses.iter().zip(&self.names);
        all.flat_map(move |(uses, from)| uses.iter().map(move |&to| (from.as_str(), self.names[to].as_str())))
    }
}

/// The modules of the same parent that contain one module and another; none when one of them contains the other.
pub fn siblings<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let ends = |name: &'a str| name.match_indices("::").map(|(end, _)| end).chain([name.len()]);
    let mut pairs = ends(one).map(|end| &one[..end]).zip(ends(other).map(|end| &other[..end]));
    pairs.find(|(one, other)| one != other)
}

/// Whether one module can be reached from another by following edges.
fn reaches(edges: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        if seen.insert(module) {
            open.extend(edges.get(module).into_iter().flatten());
        }
    }
    false
}

/// The names looked up in modules on the way to a definition; one that occurs again is a cycle of re-exports.
type Seen = BTreeSet<(usize, String)>;

struct Resolver<'a> {
    modules: &'a [Module],
    index: BTreeMap<Names, usize>,
}

impl Resolver<'_> {
    /// The modules that a module uses.
    fn used(&self, number: usize) -> BTreeSet<usize> {
        let module = &self.modules[number];
        let mut used = BTreeSet::new();
        for (path, exported) in &module.uses {
            let targets = self.resolve(number, path, true, &mut Seen::new());
            let inside = |target: &usize| self.modules[*target].path.starts_with(&module.path);
            used.extend(targets.into_iter().filter(|target| !(*exported && inside(target))));
        }
        for path in &module.mentioned {
            used.extend(self.resolve(number, path, false, &mut Seen::new()));
        }
        used.remove(&number);
        used
    }

    /// The modules that define the target of a path in a module; several if `cfg` makes alternatives.
    fn resolve(&self, from: usize, path: &[String], in_use: bool, seen: &mut Seen) -> BTreeSet<usize> {
        let mut place = self.modules[from].path.as_slice();
        let mut rest = path;
        while let [first, others @ ..] = rest {
            place = match first.as_str() {
                "crate" => &[],
                "self" => place,
                "super" => &place[..place.len().saturating_sub(1)],
                _ => break,
            };
            rest = others;
        }
        let qualified = rest.len() < path.len();
        let Some(&start) = self.index.get(place) else { return BTreeSet::new() };
        // An unqualified name by itself is a variable, a function or a type, never a module, unless imported.
        let modules_too = qualified || in_use || rest.len() > 1;
        let found = self.walk(start, rest, modules_too, seen);
        match found.is_empty() && qualified {
            true => BTreeSet::from([start]),
            false => found,
        }
    }

    /// Follows names from a module; empty if the first is not there.
    fn walk(&self, start: usize, names: &[String], modules_too: bool, seen: &mut Seen) -> BTreeSet<usize> {
        let module = &self.modules[start];
        let [name, rest @ ..] = names else { return BTreeSet::from([start]) };
        if modules_too && module.children.contains(name) {
            let inner = [module.path.as_slice(), std::slice::from_ref(name)].concat();
            let Some(&child) = self.index.get(&inner) else { return BTreeSet::new() };
            let found = self.walk(child, rest, true, seen);
            // A name without a declaration, such as one that a macro defines, belongs to the module that the path
            // names.
            return if found.is_empty() { BTreeSet::from([child]) } else { found };
        }
        if module.defined.contains(name) {
            return BTreeSet::from([start]);
        }
        if !seen.insert((start, name.clone())) {
            return BTreeSet::new();
        }
        if let Some(paths) = module.imports.get(name) {
            return paths.iter().flat_map(|path| self.import(start, path, rest, seen)).collect();
        }
        let mut guesses = BTreeSet::new();
        for glob in &module.globs {
            for target in self.resolve(start, glob, true, seen) {
                let found = self.walk(target, names, modules_too, seen);
                if !found.is_empty() {
                    return found;
                }
                if self.modules[target].has_item_macros && target != start {
                    guesses.insert(target);
                }
            }
        }
        match guesses.len() == 1 && modules_too {
            true => guesses,
            false => BTreeSet::new(),
        }
    }

    /// Follows an import; names of another crate count as the importing module's.
    fn import(&self, at: usize, path: &[String], rest: &[String], seen: &mut Seen) -> BTreeSet<usize> {
        let whole = [path, rest].concat();
        // `use name;` of a name that the module imports under itself would lead back here.
        let found = if whole.first() == path.last() && path.len() == 1 {
            BTreeSet::new()
        } else {
            self.resolve(at, &whole, true, seen)
        };
        if found.is_empty() { BTreeSet::from([at]) } else { found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::modules::source;

    /// The edges of a crate of one file, as in `a>b`.
    fn edges(text: &str) -> Vec<String> {
        let graph = Graph::new(&source::of_text(text));
        graph.edges().map(|(from, to)| format!("{from}>{to}")).collect()
    }

    /// The edges on cycles, likewise.
    fn cyclic(text: &str) -> Vec<String> {
        let graph = Graph::new(&source::of_text(text));
        graph.cyclic().into_iter().map(|(from, to)| format!("{from}>{to}")).collect()
    }

    #[test]
    fn a_declaration_and_a_re_export_make_no_edge() {
        assert!(edges("mod a { pub struct A; } pub use a::A; mod b { pub mod c {} }").is_empty());
    }

    #[test]
    fn a_path_through_a_re_export_leads_to_the_definition() {
        let text = "mod a { pub struct A; } pub use a::A; mod b { use crate::A; } mod c { fn f(_: super::A) {} }";
        assert_eq!(edges(text), ["b>a", "c>a"]);
    }

    #[test]
    fn names_brought_in_by_use_are_followed() {
        let text = "mod a { pub mod inner { pub fn f() {} } } mod b { use crate::a; fn g() { a::inner::f() } }";
        assert_eq!(edges(text), ["b>a", "b>a::inner"]);
        let text = "mod a { pub fn f() {} } mod b { pub use super::a::*; } mod c { use crate::b::f; }";
        assert_eq!(edges(text), ["b>a", "c>a"]);
    }

    #[test]
    fn tests_and_other_crates_make_no_edges_and_variables_are_no_modules() {
        let text = "mod a { pub fn f() {} } mod b { use std::fmt; #[cfg(test)] mod tests { use crate::a; } } \
                    fn f(a: u32) -> u32 { a }";
        assert!(edges(text).is_empty());
    }

    #[test]
    fn edges_on_a_cycle_are_found_and_no_others() {
        let text = "mod a { use crate::b; } mod b { use crate::c; } mod c { use crate::a; } mod d { use crate::a; }";
        assert_eq!(cyclic(text), ["a>b", "b>c", "c>a"]);
    }

    #[test]
    fn parent_and_child_are_one_unit() {
        let text = "mod a { pub struct A; fn f() { child::g() } mod child { use super::A; pub fn g() {} } }";
        assert_eq!((edges(text).len(), cyclic(text).len()), (2, 0));
        assert!(cyclic("mod a { use crate::F; } struct F; fn f() { a::g() }").is_empty(), "the root contains all");
    }

    #[test]
    fn edges_of_inner_modules_count_for_the_siblings_that_contain_them() {
        let text = "mod a { pub mod x { use crate::b::y; } pub mod z {} } mod b { pub mod y {} use crate::a::z; }";
        assert_eq!(cyclic(text), ["a>b", "b>a"]);
    }
}
