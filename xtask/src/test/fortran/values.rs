//! The values that the generated tests pass and return, for each argument of a routine, in C and in Fortran.
//!
//! Invariant: no two arguments of a routine have the same number, so that an exchange of two is a failure.
//! Not here: the texts of the tests (`program`, `functions_of_c`).

use crate::Result;
use crate::codegen::fortran::{Form, form};
use crate::spec::{Direction, Function, Parameter, Spec};

/// Elements of each array.
pub const ELEMENTS: i64 = 3;
/// Characters of the program's variables for texts.
pub const CHARACTERS: i64 = 10;
/// What a call of C stores as a text.
pub const TEXT_OUT: &str = "result";
/// Functions that the Fortran layer asks for the length of a list: they answer with no more elements than the program's
/// arrays have.
const LENGTHS: [&str; 5] =
    ["Comm_size", "Comm_remote_size", "Cartdim_get", "Graph_neighbors_count", "Dist_graph_neighbors_count"];
/// Added to numbers of integers with 64 bits.
const WIDE: i64 = 10_000_000_000;

/// The ways in which each routine is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Ordinary arguments.
    Plain,
    /// Buffers are MPI_BOTTOM, statuses are ignored, edges have no weights.
    Bottom,
    /// Buffers are MPI_IN_PLACE, statuses are ignored, there are no edges.
    InPlace,
    /// Buffers are MPI_BUFFER_AUTOMATIC.
    Automatic,
    /// The call fails.
    Failing,
}

/// All ways.
pub const VARIANTS: [Variant; 5] =
    [Variant::Plain, Variant::Bottom, Variant::InPlace, Variant::Automatic, Variant::Failing];

/// The error that a failing call returns.
pub const ERROR: i32 = 1234;

/// An argument with its form and its numbers.
pub struct Value<'f> {
    pub parameter: &'f Parameter,
    pub form: Form,
    /// The number that goes in.
    pub sent: i64,
    /// The number that comes out in C.
    pub stored: i64,
    /// The number that then arrives in Fortran.
    pub arrives: i64,
}

/// The arguments of a routine, those that Fortran has not included.
pub fn values<'f>(spec: &Spec, function: &'f Function) -> Result<Vec<Value<'f>>> {
    let mut all = Vec::new();
    for (index, parameter) in function.parameters.iter().enumerate() {
        let form = form(spec, function, parameter)?;
        let wide = if matches!(
            form,
            Form::Address | Form::Offset | Form::Count | Form::Attribute | Form::State | Form::Pointer
        ) {
            WIDE
        } else {
            0
        };
        let number = 100 + 10 * index as i64 + wide;
        let mut value = Value { parameter, form, sent: number, stored: number + 1000, arrives: number + 1000 };
        let names = |extra: &str| {
            function.parameters.iter().any(|each| {
                each.value(extra).map(|named| named.trim_end_matches("/3")) == Some(parameter.name.as_str())
            })
        };
        let text_length = function.parameters.iter().any(|each| {
            spec.kind(each).c == "char *" && each.value("len").or(each.value("room")) == Some(parameter.name.as_str())
        });
        if text_length {
            value.sent = CHARACTERS - 1;
            // With the NUL in C, if the call stores the length.
            (value.stored, value.arrives) = (TEXT_OUT.len() as i64 + 1, TEXT_OUT.len() as i64);
        } else if names("len") {
            value.sent = ELEMENTS;
        } else if parameter.kind == "RANK_ROOT" {
            // The process itself, because some arguments are significant at the root only.
            value.sent = 0;
        }
        if LENGTHS.contains(&function.name.as_str()) {
            (value.stored, value.arrives) = (index as i64, index as i64);
        }
        if names("one_based") {
            (value.stored, value.arrives) = (ELEMENTS - 1, ELEMENTS - 1);
        }
        if parameter.has("one_based") {
            value.arrives += 1;
        }
        all.push(value);
    }
    Ok(all)
}

impl Value<'_> {
    /// Whether the argument is an input.
    pub fn goes_in(&self) -> bool {
        self.parameter.direction != Direction::Out
    }

    /// Whether it is a result.
    pub fn comes_out(&self) -> bool {
        self.parameter.direction != Direction::In
    }

    /// Whether it is an array of numbers.
    pub fn is_array(&self) -> bool {
        self.parameter.value("len").is_some() && self.form != Form::Text
    }

    /// Number of elements.
    pub fn elements(&self) -> i64 {
        let rows = self.parameter.value("len").is_some_and(|length| length.ends_with("/3"));
        match (self.is_array(), rows) {
            (false, _) => 1,
            (true, false) => ELEMENTS,
            (true, true) => 3 * ELEMENTS,
        }
    }

    /// The elements that arrive of a list of handles for each peer of a process alone; `None` for any other list.
    pub fn handles_of_peers(&self) -> Option<i64> {
        self.parameter.value("handles").map(|which| i64::from(which == "peers"))
    }

    /// How many elements of the result are moved by one because Fortran counts from 1; `None` if none are.
    pub fn moved(&self) -> Option<i64> {
        self.parameter.value("one_based").map(|_| ELEMENTS - 1)
    }

    /// The text that goes in, and how it arrives in C.
    pub fn text(&self) -> (String, String) {
        let words = format!("text {}", self.sent);
        let arrives = if self.parameter.has("stripped") { words.clone() } else { format!(" {words}") };
        (format!(" {words}"), arrives)
    }
}

/// Handles that exist without MPI: one that goes in, and one that comes out; where there is only one, both are it.
pub fn handles(c: &str) -> (&'static str, &'static str) {
    match c {
        "MPI_Comm" => ("MPI_COMM_SELF", "MPI_COMM_WORLD"),
        "MPI_Group" => ("MPI_GROUP_EMPTY", "MPI_GROUP_NULL"),
        "MPI_Datatype" => ("MPI_REAL8", "MPI_CHARACTER"),
        "MPI_Op" => ("MPI_MAX", "MPI_SUM"),
        "MPI_Errhandler" => ("MPI_ERRORS_RETURN", "MPI_ERRORS_ABORT"),
        "MPI_Info" => ("MPI_INFO_ENV", "MPI_INFO_NULL"),
        "MPI_Message" => ("MPI_MESSAGE_NO_PROC", "MPI_MESSAGE_NULL"),
        "MPI_Request" => ("MPI_REQUEST_NULL", "MPI_REQUEST_NULL"),
        "MPI_Win" => ("MPI_WIN_NULL", "MPI_WIN_NULL"),
        "MPI_File" => ("MPI_FILE_NULL", "MPI_FILE_NULL"),
        _ => ("MPI_SESSION_NULL", "MPI_SESSION_NULL"),
    }
}

/// Whether a way of calling differs from the plain one.
pub fn applies(values: &[Value<'_>], variant: Variant, fails: bool) -> bool {
    let has = |form: Form| values.iter().any(|value| value.form == form);
    let status =
        values.iter().any(|value| value.form == Form::Status && value.parameter.kind == "STATUS" && value.comes_out());
    match variant {
        Variant::Plain => true,
        Variant::Bottom | Variant::InPlace => has(Form::Choice) || status || has(Form::Weight),
        Variant::Automatic => has(Form::Choice),
        Variant::Failing => fails,
    }
}
