//! The API as `spec/` tells it: constants, types, callbacks, kinds of parameters, functions.
//!
//! Invariant: a `Spec` is consistent: every kind that a function uses exists, names are unique, functions are in the
//! order of their names. Not here: any output format.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::table::{Row, Table};
use crate::{Failure, Result};

/// The whole specification.
pub struct Spec {
    pub constants: Vec<Constant>,
    pub types: Vec<Type>,
    pub callbacks: Vec<Callback>,
    pub kinds: BTreeMap<String, Kind>,
    /// Every function, in the order of names; the large-count form follows its small one.
    pub functions: Vec<Function>,
}

/// A constant of `mpi.h`.
pub struct Constant {
    pub name: String,
    pub c_type: String,
    pub value: String,
}

/// A type of `mpi.h`.
pub struct Type {
    pub name: String,
    pub form: Form,
    pub c: String,
    pub rust: String,
}

/// How a type is declared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Integer,
    Handle,
    Enum,
    Struct,
}

/// A function type that a user passes a pointer to.
pub struct Callback {
    pub name: String,
    pub returns: String,
    pub alias: Option<String>,
    pub parameters: String,
}

/// What all parameters of one kind have in common.
#[derive(Clone)]
pub struct Kind {
    /// C type; `fn` stands for the callback that the parameter names, `...` for further arguments.
    pub c: String,
    /// C type in the large-count form, where it differs.
    pub large: Option<String>,
    /// The check of an argument that goes in by value, as a path in `mpi-capi`.
    pub check_in: Option<String>,
    /// The check of an argument that says where to store something.
    pub check_out: Option<String>,
}

/// Which way an argument goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
    InOut,
}

/// One parameter of one form of a function.
#[derive(Clone)]
pub struct Parameter {
    pub name: String,
    pub kind: String,
    pub direction: Direction,
    pub extras: Vec<String>,
}

/// When a function may be called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Between initialisation and finalisation.
    Running,
    /// As `Running`; the call cannot wait.
    Starting,
    /// As `Running`; the call moves no messages, so the flight recorder leaves it out.
    Local,
    /// As `Local`; without the process lock.
    Lockless,
    /// At any time.
    Any,
    /// At any time; a part of the tools interface, which returns codes and calls no error handler.
    Tool,
}

/// One function of the C interface.
pub struct Function {
    /// Name without `MPI_`.
    pub name: String,
    pub chapter: String,
    pub returns: String,
    pub since: String,
    pub state: State,
    /// Path of the implementation below `mpi-capi/src/imp`, where there is one.
    pub implementation: Option<String>,
    /// Whether this is the large-count form.
    pub large: bool,
    pub parameters: Vec<Parameter>,
}

impl Parameter {
    /// Whether an extra stands in the row.
    pub fn has(&self, extra: &str) -> bool {
        self.extras.iter().any(|each| each == extra)
    }

    /// The value of an extra of the form `name=value`.
    pub fn value(&self, extra: &str) -> Option<&str> {
        self.extras.iter().find_map(|each| each.strip_prefix(extra)?.strip_prefix('='))
    }

    fn parse(text: &str, row: &Row<'_>) -> Result<Parameter> {
        let mut parts = text.splitn(4, ':');
        let (Some(name), Some(kind), Some(direction)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(row.wrong(format!("`{text}` is not name:KIND:direction")));
        };
        let direction = match direction {
            "in" => Direction::In,
            "out" => Direction::Out,
            "inout" => Direction::InOut,
            other => return Err(row.wrong(format!("`{other}` is no direction"))),
        };
        let extras = parts.next().map(|list| list.split(',').map(str::to_owned).collect()).unwrap_or_default();
        Ok(Parameter { name: name.to_owned(), kind: kind.to_owned(), direction, extras })
    }
}

impl Spec {
    /// Reads `spec/` below the folder of the workspace.
    pub fn read(root: &Path) -> Result<Spec> {
        let folder = root.join("spec");
        let table = |name: &str| Table::read(&folder.join(name), name);
        let mut spec = Spec {
            constants: read_constants(&table("constants.tsv")?)?,
            types: read_types(&table("types.tsv")?)?,
            callbacks: read_callbacks(&table("callbacks.tsv")?)?,
            kinds: read_kinds(&table("kinds.tsv")?)?,
            functions: Vec::new(),
        };
        let mut chapters: Vec<String> = std::fs::read_dir(folder.join("functions"))
            .map_err(|error| Failure::from(error).during("spec/functions"))?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".tsv"))
            .collect();
        chapters.sort();
        for file in &chapters {
            let chapter = file.trim_end_matches(".tsv");
            read_functions(&table(&format!("functions/{file}"))?, chapter, &mut spec.functions)?;
        }
        spec.functions.sort_by(|a, b| a.name.cmp(&b.name));
        spec.check()?;
        Ok(spec)
    }

    /// The value of a constant that is an integer.
    pub fn integer(&self, name: &str) -> Result<i64> {
        let constant = self.constants.iter().find(|constant| constant.name == name);
        let constant = constant.ok_or_else(|| Failure::from(format!("spec/constants.tsv has no {name}")))?;
        constant.value.parse().map_err(|_| Failure::from(format!("spec/constants.tsv: {name} is no integer")))
    }

    /// The implemented functions.
    pub fn implemented(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.implementation.is_some())
    }

    /// The kind of a parameter.
    pub fn kind(&self, parameter: &Parameter) -> &Kind {
        &self.kinds[&parameter.kind]
    }

    fn check(&self) -> Result<()> {
        let mut seen = HashSet::new();
        for function in &self.functions {
            if !seen.insert(&function.name) {
                return Err(format!("spec/functions: {} stands there twice", function.name).into());
            }
            let kinds = function.parameters.iter().map(|parameter| &parameter.kind).chain([&function.returns]);
            if let Some(kind) = kinds.into_iter().find(|kind| !self.kinds.contains_key(*kind)) {
                return Err(format!("spec/functions: {}: spec/kinds.tsv has no {kind}", function.name).into());
            }
        }
        Ok(())
    }
}

fn read_constants(table: &Table) -> Result<Vec<Constant>> {
    let constant = |row: Row<'_>| {
        Ok(Constant {
            name: row.cell("name")?.to_owned(),
            c_type: row.cell("type")?.to_owned(),
            value: row.cell("value")?.to_owned(),
        })
    };
    table.rows().map(constant).collect()
}

fn read_types(table: &Table) -> Result<Vec<Type>> {
    let read = |row: Row<'_>| {
        let form = match row.cell("form")? {
            "integer" => Form::Integer,
            "handle" => Form::Handle,
            "enum" => Form::Enum,
            "struct" => Form::Struct,
            other => return Err(row.wrong(format!("`{other}` is no form of a type"))),
        };
        let (name, c, rust) = (row.cell("name")?, row.cell("c")?, row.cell("rust")?);
        Ok(Type { name: name.to_owned(), form, c: c.to_owned(), rust: rust.to_owned() })
    };
    table.rows().map(read).collect()
}

fn read_callbacks(table: &Table) -> Result<Vec<Callback>> {
    let read = |row: Row<'_>| {
        Ok(Callback {
            name: row.cell("name")?.to_owned(),
            returns: row.cell("returns")?.to_owned(),
            alias: row.optional("alias")?.map(str::to_owned),
            parameters: row.cell("parameters")?.to_owned(),
        })
    };
    table.rows().map(read).collect()
}

fn read_kinds(table: &Table) -> Result<BTreeMap<String, Kind>> {
    let read = |row: Row<'_>| {
        let kind = Kind {
            c: row.cell("c")?.to_owned(),
            large: row.optional("large")?.map(str::to_owned),
            check_in: row.optional("in")?.map(str::to_owned),
            check_out: row.optional("out")?.map(str::to_owned),
        };
        Ok((row.cell("kind")?.to_owned(), kind))
    };
    table.rows().map(read).collect()
}

fn read_functions(table: &Table, chapter: &str, functions: &mut Vec<Function>) -> Result<()> {
    for row in table.rows() {
        let state = match row.cell("state")? {
            "running" => State::Running,
            "starting" => State::Starting,
            "local" => State::Local,
            "lockless" => State::Lockless,
            "any" => State::Any,
            "tool" => State::Tool,
            other => return Err(row.wrong(format!("`{other}` is no state"))),
        };
        let parameters: Vec<Parameter> = match row.optional("parameters")? {
            Some(list) => list.split("; ").map(|text| Parameter::parse(text, &row)).collect::<Result<_>>()?,
            None => Vec::new(),
        };
        let small: Vec<Parameter> = parameters.iter().filter(|each| !each.has("large")).cloned().collect();
        let form = |name: String, since: &str, large: bool, parameters: Vec<Parameter>| -> Result<Function> {
            Ok(Function {
                name,
                chapter: chapter.to_owned(),
                returns: row.cell("returns")?.to_owned(),
                since: since.to_owned(),
                state,
                implementation: row.optional("impl")?.map(str::to_owned),
                large,
                parameters,
            })
        };
        let name = row.cell("name")?;
        functions.push(form(name.to_owned(), row.cell("since")?, false, small)?);
        if let Some(since) = row.optional("large")? {
            functions.push(form(format!("{name}_c"), since, true, parameters)?);
        }
    }
    Ok(())
}
