//! The modules of one crate as its sources declare them: children, definitions, imports and the paths they use.
//!
//! Invariant: code for tests only is skipped, and so are attributes, visibilities and documentation.
//! Not here: the targets of paths (`resolve`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemMod, ItemUse, Meta, UseTree, Visibility};

use crate::{Failure, Result};

/// A path as written, without generic arguments.
pub type Names = Vec<String>;

/// One module of a crate.
#[derive(Default)]
pub struct Module {
    /// Its path inside the crate; the root's is empty.
    pub path: Names,
    /// Names of the modules that it declares.
    pub children: BTreeSet<String>,
    /// Names of the items that it defines.
    pub defined: BTreeSet<String>,
    /// Names that `use` declarations bring in, with their paths; alternatives by `cfg` make more than one.
    pub imports: BTreeMap<String, Vec<Names>>,
    /// Paths of `use path::*`.
    pub globs: Vec<Names>,
    /// Whether a macro call among its items may define further names.
    pub has_item_macros: bool,
    /// Paths of private `use` declarations and of re-exports, which the last field marks.
    pub uses: Vec<(Names, bool)>,
    /// All other paths in its code.
    pub mentioned: BTreeSet<Names>,
}

/// All modules of the crate with this root file; the root comes first.
pub fn read(root: &Path) -> Result<Vec<Module>> {
    let mut found = Vec::new();
    let folder = root.parent().unwrap_or(Path::new("")).to_owned();
    file(root, &folder, Names::new(), &mut found)?;
    Ok(found)
}

/// The modules of the crate that consists of this text.
#[cfg(test)]
pub fn of_text(text: &str) -> Vec<Module> {
    let mut found = Vec::new();
    let items = syn::parse_file(text).expect("the example is Rust").items;
    module(&items, Path::new(""), Names::new(), &mut found).expect("the example has no files");
    found
}

/// Reads a file whose child modules are in `folder`.
fn file(path: &Path, folder: &Path, name: Names, found: &mut Vec<Module>) -> Result<()> {
    let text = fs::read_to_string(path).map_err(|error| Failure::from(error).during(path.display()))?;
    let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    module(&parsed.items, folder, name, found)
}

fn module(items: &[Item], folder: &Path, path: Names, found: &mut Vec<Module>) -> Result<()> {
    let mut collector = Collector { module: Module { path, ..Module::default() }, children: Vec::new() };
    for item in items {
        collector.define(item);
        collector.visit_item(item);
    }
    let (children, path) = (collector.children, collector.module.path.clone());
    found.push(collector.module);
    for child in children {
        let name = child.ident.to_string();
        let name = name.trim_start_matches("r#");
        let inner = [path.as_slice(), &[name.to_owned()]].concat();
        match &child.content {
            Some((_, items)) => module(items, &folder.join(name), inner, found)?,
            None => {
                let (place, inside) = place(child, folder, name);
                file(&place, &inside, inner, found)?;
            }
        }
    }
    Ok(())
}

/// The file of a module that is declared in a file whose children are in `folder`, and the folder of its own children.
fn place(child: &ItemMod, folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let inside = folder.join(name);
    for attribute in child.attrs.iter().filter(|attribute| attribute.path().is_ident("path")) {
        if let Meta::NameValue(syn::MetaNameValue { value: syn::Expr::Lit(literal), .. }) = &attribute.meta
            && let syn::Lit::Str(text) = &literal.lit
        {
            return (folder.join(text.value()), inside);
        }
    }
    let beside = folder.join(format!("{name}.rs"));
    match beside.is_file() {
        true => (beside, inside),
        false => (inside.join("mod.rs"), inside),
    }
}

struct Collector<'a> {
    module: Module,
    children: Vec<&'a ItemMod>,
}

impl Collector<'_> {
    /// Records the name of an item of the module itself.
    fn define(&mut self, item: &Item) {
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::TraitAlias(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            Item::Macro(item) => match &item.ident {
                Some(name) => name,
                None => {
                    self.module.has_item_macros = true;
                    return;
                }
            },
            _ => return,
        };
        if !for_tests_only(attributes(item)) {
            self.module.defined.insert(name.to_string());
        }
    }

    fn import(&mut self, tree: &UseTree, before: &[String], exported: bool) {
        let joined = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let mut bring = |name: String, path: Names| {
            // `use a::{self}` is the path of the module itself.
            let path = if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                path[..path.len() - 1].to_vec()
            } else {
                path
            };
            self.module.uses.push((path.clone(), exported));
            let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
            self.module.imports.entry(name).or_default().push(path);
        };
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &joined(&path.ident), exported),
            UseTree::Name(name) => bring(name.ident.to_string(), joined(&name.ident)),
            UseTree::Rename(rename) => bring(rename.rename.to_string(), joined(&rename.ident)),
            UseTree::Glob(_) => {
                self.module.uses.push((before.to_vec(), exported));
                self.module.globs.push(before.to_vec());
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before, exported)),
        }
    }

    /// Paths among the tokens of a macro call or definition: names joined by `::`, `$crate` as `crate`.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path = Names::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Ident(name) if colons == 2 && !path.is_empty() => {
                    path.push(name.to_string());
                    colons = 0;
                }
                other => {
                    self.mention(std::mem::take(&mut path));
                    colons = 0;
                    match other {
                        TokenTree::Ident(name) => path.push(name.to_string()),
                        TokenTree::Group(group) => self.scan(group.stream()),
                        _ => {}
                    }
                }
            }
        }
        self.mention(path);
    }

    fn mention(&mut self, path: Names) {
        if !path.is_empty() {
            self.module.mentioned.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'ast> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !for_tests_only(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Const(item) => &item.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if !for_tests_only(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.module.children.insert(item.ident.to_string());
        self.children.push(item);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            let exported = !matches!(item.vis, Visibility::Inherited);
            self.import(&item.tree, &[], exported);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.mention(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.scan(call.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is compiled for tests only.
fn for_tests_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.path().is_ident("cfg").then(|| attribute.parse_args::<Meta>().ok()).flatten();
        attribute.path().is_ident("test") || condition.is_some_and(|condition| holds(&condition) == Some(false))
    })
}

/// The value of a condition in a build without tests, if `test` alone decides it.
fn holds(condition: &Meta) -> Option<bool> {
    let Meta::List(list) = condition else { return condition.path().is_ident("test").then_some(false) };
    let parse = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
    let parts = list.parse_args_with(parse).ok()?;
    let values: Vec<Option<bool>> = parts.iter().map(holds).collect();
    let decisive = |value: bool| values.contains(&Some(value)).then_some(value);
    let unanimous = |value: bool| values.iter().all(|each| *each == Some(value)).then_some(value);
    match list.path.get_ident()?.to_string().as_str() {
        "not" => values.first().copied().flatten().map(|value| !value),
        "all" => decisive(false).or(unanimous(true)),
        "any" => decisive(true).or(unanimous(false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_tests(condition: &str) -> bool {
        let item: Item = syn::parse_str(&format!("{condition} fn f() {{}}")).expect("an item");
        for_tests_only(attributes(&item))
    }

    #[test]
    fn conditions_decided_by_test_leave_items_out() {
        assert!(only_tests("#[cfg(test)]") && only_tests("#[cfg(all(test, not(loom)))]") && only_tests("#[test]"));
        assert!(!only_tests("#[cfg(not(test))]") && !only_tests("#[cfg(any(test, feature = \"x\"))]"));
        assert!(!only_tests("#[cfg(loom)]") && !only_tests("#[inline]"));
    }

    #[test]
    fn paths_in_macro_calls_are_found() {
        let root = &of_text("fn f() { println!(\"{}\", crate::a::b(other::c)); }")[0];
        let mentions = |path: &str| root.mentioned.contains(&path.split("::").map(str::to_owned).collect::<Names>());
        assert!(mentions("crate::a::b") && mentions("other::c") && mentions("println"));
    }
}
