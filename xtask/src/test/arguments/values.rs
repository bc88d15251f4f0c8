//! The values that a test passes for a parameter: `spec/arguments.tsv` by kind, and the extras of the parameter's own
//! row.
//!
//! Invariant: a bad value always has the expected error class. Not here: the C text of a case (`source`).

use std::collections::BTreeMap;
use std::path::Path;

use crate::Result;
use crate::spec::{Function, Parameter, State};
use crate::table::Table;

/// A value that must be refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Bad {
    /// The value, in C.
    pub value: String,
    /// The error class, in C; `MPI_SUCCESS` where the tools interface lets it pass.
    pub class: String,
    /// Whether the row of the function has it, not the kind.
    pub own: bool,
}

impl Bad {
    /// Whether the wrong handle is that of a live object: one of another sort, or one that a row of a function names.
    pub fn is_live(&self) -> bool {
        self.own || self.value.starts_with("live_")
    }
}

/// The values of all kinds.
pub struct Values {
    kinds: BTreeMap<String, Kind>,
}

struct Kind {
    valid: Option<String>,
    bad: Vec<(Vec<String>, String)>,
    bad_address: Vec<(Vec<String>, String)>,
}

impl Values {
    /// Reads `spec/arguments.tsv` below the folder of the workspace.
    pub fn read(root: &Path) -> Result<Values> {
        let table = Table::read(&root.join("spec/arguments.tsv"), "arguments.tsv")?;
        let mut kinds = BTreeMap::new();
        for row in table.rows() {
            let list = |column: &str| match row.cell(column)? {
                "any" => Ok(Vec::new()),
                text => text.split("; ").map(|part| parse(part).ok_or_else(|| row.wrong(part))).collect(),
            };
            let kind = Kind {
                valid: row.optional("valid")?.map(str::to_owned),
                bad: list("bad")?,
                bad_address: list("bad_address")?,
            };
            kinds.insert(row.cell("kind")?.to_owned(), kind);
        }
        Ok(Values { kinds })
    }

    /// Fails when an implemented function has a parameter of a kind without values.
    pub fn of<'v>(&'v self, function: &Function, parameter: &'v Parameter) -> Result<Of<'v>> {
        let kind = self.kinds.get(&parameter.kind).ok_or_else(|| {
            format!("spec/arguments.tsv has no {}, which MPI_{} needs for its tests", parameter.kind, function.name)
        })?;
        Ok(Of { kind, parameter, tool: function.state == State::Tool })
    }
}

/// `value,value=CLASS`, split at the last `=`.
fn parse(text: &str) -> Option<(Vec<String>, String)> {
    let (values, class) = text.rsplit_once('=')?;
    Some((values.split(',').map(str::to_owned).collect(), class.to_owned()))
}

/// The values for one parameter.
pub struct Of<'v> {
    kind: &'v Kind,
    parameter: &'v Parameter,
    tool: bool,
}

impl Of<'_> {
    /// A value that no call refuses; `None` where a test cannot have one.
    pub fn valid(&self) -> Option<&str> {
        self.parameter.value("valid").or(self.kind.valid.as_deref())
    }

    /// Input values that must be refused.
    pub fn bad(&self) -> Vec<Bad> {
        let own = self.parameter.extras.iter().filter_map(|extra| extra.strip_prefix("bad="));
        let own: Vec<Bad> = own.filter_map(parse).flat_map(|part| self.expand(&part, true)).collect();
        match self.parameter.has("any") {
            true => own,
            false => self.kind.bad.iter().flat_map(|part| self.expand(part, false)).chain(own).collect(),
        }
    }

    /// Addresses of results that must be refused; with `null` the address that must be accepted.
    pub fn bad_addresses(&self) -> Vec<Bad> {
        if self.parameter.has("ignored") {
            return Vec::new();
        }
        if self.parameter.has("null") {
            return vec![Bad { value: "NULL".to_owned(), class: "MPI_SUCCESS".to_owned(), own: true }];
        }
        self.kind.bad_address.iter().flat_map(|part| self.expand(part, false)).collect()
    }

    fn expand(&self, (values, classes): &(Vec<String>, String), own: bool) -> Vec<Bad> {
        let (class, of_tool) = classes.split_once('/').unwrap_or((classes, classes));
        let class = if self.tool { of_tool } else { class };
        let taken: Vec<&str> = self.parameter.extras.iter().filter_map(|extra| extra.strip_prefix("takes=")).collect();
        let bad =
            values.iter().filter(|value| !taken.contains(&value.as_str()) && Some(value.as_str()) != self.valid());
        bad.map(|value| Bad { value: value.clone(), class: class.to_owned(), own }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;
    use crate::spec::Spec;

    /// The bad values of one parameter of the real table.
    fn bad(function: &str, parameter: &str) -> Vec<(String, String)> {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        let values = Values::read(&paths::root()).expect("the table is well formed");
        let function = spec.implemented().find(|each| each.name == function).expect("implemented");
        let parameter = function.parameters.iter().find(|each| each.name == parameter).expect("a parameter");
        let of = values.of(function, parameter).expect("a kind with values");
        of.bad().into_iter().map(|bad| (bad.value, bad.class)).collect()
    }

    fn is_bad(function: &str, parameter: &str, value: &str) -> bool {
        bad(function, parameter).iter().any(|(bad, _)| bad == value)
    }

    #[test]
    fn a_kinds_bad_values_hold_for_every_function_but_those_that_take_them() {
        assert!(is_bad("Request_free", "request", "MPI_REQUEST_NULL"));
        assert!(!is_bad("Wait", "request", "MPI_REQUEST_NULL") && is_bad("Wait", "request", "freed_request"));
        assert!(bad("Status_set_tag", "tag").is_empty());
    }

    #[test]
    fn a_valid_value_is_never_bad() {
        assert!(is_bad("Comm_get_attr", "comm_keyval", "live_type_keyval"));
        assert!(!is_bad("Type_get_attr", "type_keyval", "live_type_keyval"));
    }

    #[test]
    fn the_tools_interface_has_classes_of_its_own() {
        let class = |function: &str, parameter: &str, value: &str| {
            bad(function, parameter).into_iter().find(|(bad, _)| bad == value).expect("a bad value").1
        };
        assert_eq!(class("Info_get", "key", "NULL"), "MPI_ERR_ARG");
        assert_eq!(class("T_cvar_get_index", "name", "NULL"), "MPI_T_ERR_INVALID");
    }

    #[test]
    fn a_list_ends_with_its_class() {
        assert_eq!(parse("-1,0=MPI_ERR_ARG"), Some((vec!["-1".to_owned(), "0".to_owned()], "MPI_ERR_ARG".to_owned())));
        assert_eq!(parse("-1"), None);
    }
}
