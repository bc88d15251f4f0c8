//! The C program that makes every wrong call of one chapter.
//!
//! Each function gets one C function: it sets all arguments to valid values, makes the one that its case names wrong,
//! calls, and checks the result with `tests/arguments/fixture.h`.
//! Invariant: a call has exactly one wrong argument, or NULL for one result that the tools interface lets a tool leave
//! out.

use std::fmt::Write;

use super::values::{Bad, Values};
use crate::Result;
use crate::spec::{Direction, Form, Function, Parameter, Spec, State};

/// The program of one chapter, and its cases.
pub struct Program {
    /// C text.
    pub text: String,
    /// Every case, in the order of running.
    pub cases: Vec<String>,
    /// The cases of right calls at each moment without MPI.
    pub outside: Vec<String>,
    /// Functions without a case, each with the reason.
    pub without: Vec<(String, &'static str)>,
}

/// Kinds of objects that have error handlers: of the parameter, of the fixture, the null handle, and the kind and word
/// that take errors when the handle itself is wrong.
const OBJECTS: [(&str, &str, &str, (&str, &str)); 6] = [
    ("COMMUNICATOR", "COMM", "MPI_COMM_NULL", ("COMM", "MPI_COMM_SELF")),
    ("INTRACOMMUNICATOR", "COMM", "MPI_COMM_NULL", ("COMM", "MPI_COMM_SELF")),
    ("INTERCOMMUNICATOR", "COMM", "MPI_COMM_NULL", ("COMM", "MPI_COMM_SELF")),
    ("WINDOW", "WIN", "MPI_WIN_NULL", ("COMM", "MPI_COMM_SELF")),
    ("FILE", "FILE_HANDLE", "MPI_FILE_NULL", ("FILE_HANDLE", "MPI_FILE_NULL")),
    ("SESSION", "SESSION", "MPI_SESSION_NULL", ("COMM", "MPI_COMM_SELF")),
];

/// The object of the fixture that a job of one process does not have.
const OF_TWO: &str = "live_intercomm";

/// The moments without MPI, in the order of a program's run.
const OUTSIDE: [&str; 4] = ["before MPI_Init", "after a session", "after MPI_Finalize", "after the last session"];

/// Writes the program of a chapter.
pub fn program(spec: &Spec, values: &Values, chapter: &str) -> Result<Program> {
    let text = "#define FERRUM_REMOVED_FUNCTIONS\n#include \"fixture.h\"\n".to_owned();
    let mut program = Program { text, cases: Vec::new(), outside: Vec::new(), without: Vec::new() };
    let (mut calls, mut outside) = (String::new(), Vec::new());
    for function in spec.implemented().filter(|function| function.chapter == chapter) {
        let name = &function.name;
        let (text, mut cases) = Writer { spec, values, function }.function()?;
        let reason = nothing_to_try(spec, function)
            .or_else(|| cases.is_empty().then_some("all values of its parameters are right"));
        if let Some(reason) = reason {
            program.without.push((name.clone(), reason));
            cases.clear();
        }
        if needs_mpi(function) {
            outside.push(name);
        }
        if needs_mpi(function) || !cases.is_empty() {
            program.text.push_str(&text);
        }
        if !cases.is_empty() {
            let _ = writeln!(calls, "    for (int i = 0; i < {}; i++)\n        try_{name}(i);", cases.len());
        }
        program.cases.extend(cases);
    }
    program.outside =
        OUTSIDE.iter().flat_map(|when| outside.iter().map(move |name| format!("MPI_{name} {when}"))).collect();
    let outside: String = outside.iter().map(|name| format!("    try_{name}(OUTSIDE);\n")).collect();
    let moments = OUTSIDE.len();
    let _ = write!(
        program.text,
        "\nstatic void all_outside(void)\n{{\n{outside}}}\n\nint main(int argc, char **argv)\n{{\n    if (argc > 3) {{\n        \
         start_outside(argc, argv);\n        for (int moment = 0; moment < {moments}; moment++) {{\n            \
         pass_to(moment, &argc, &argv);\n            all_outside();\n        }}\n        end_outside();\n        return 0;\n    \
         }}\n    start(&argc, &argv);\n{calls}    end();\n    return 0;\n}}\n"
    );
    Ok(program)
}

/// Whether the function is an error before initialisation and after finalisation.
fn needs_mpi(function: &Function) -> bool {
    matches!(function.state, State::Running | State::Starting | State::Local)
}

fn nothing_to_try(spec: &Spec, function: &Function) -> Option<&'static str> {
    if function.parameters.is_empty() {
        return Some("it has no parameters");
    }
    if function.returns != "ERROR_CODE" {
        return Some("it returns no error code");
    }
    let made = |kind: &str| {
        let mut all = spec.implemented().flat_map(|each| &each.parameters);
        all.any(|each| each.kind == kind && each.direction == Direction::Out)
    };
    let mut objects = OBJECTS.iter().map(|(kind, ..)| *kind);
    let missing = objects.any(|kind| function.parameters.iter().any(|each| each.kind == kind) && !made(kind));
    missing.then_some("no fixture creates the object that it works on")
}

struct Writer<'s> {
    spec: &'s Spec,
    values: &'s Values,
    function: &'s Function,
}

impl Writer<'_> {
    fn function(&self) -> Result<(String, Vec<String>)> {
        let name = &self.function.name;
        let mut cases = Vec::new();
        let mut text = format!("\nstatic void try_{name}(int bad)\n{{\n    fresh_places();\n");
        let mut switch = format!("    case OUTSIDE: expect_outside(\"MPI_{name}\"); break;\n");
        let mut arguments = Vec::new();
        for (index, parameter) in self.function.parameters.iter().enumerate() {
            let of = self.values.of(self.function, parameter)?;
            if self.spec.kind(parameter).c == "..." {
                continue;
            }
            arguments.push(format!("p{index}"));
            if of.valid() == Some(OF_TWO) {
                text.push_str("    required_ranks = 2;\n");
            }
            text.push_str(&self.declaration(index, parameter, of.valid().unwrap_or("NULL"))?);
            let (going_in, addresses) = match self.to_be_tried(index)? {
                true => self.bad_of(parameter)?,
                false => (Vec::new(), Vec::new()),
            };
            for (bad, by_address) in
                going_in.iter().map(|bad| (bad, false)).chain(addresses.iter().map(|bad| (bad, true)))
            {
                let number = cases.len();
                let change = match by_address {
                    true => format!("p{index} = NULL"),
                    false => self.assignment(index, parameter, &bad.value)?,
                };
                let change = if bad.value == OF_TWO { format!("required_ranks = 2; {change}") } else { change };
                let _ = writeln!(
                    switch,
                    "    case {number}: {change}; expect({}); break;",
                    self.expectation(index, parameter, bad, by_address)
                );
                let what = if by_address { "address of " } else { "" };
                cases.push(format!("MPI_{name}({what}{} = {})", parameter.name, bad.value));
            }
        }
        let _ = write!(
            text,
            "    switch (bad) {{\n{switch}    default: return;\n    }}\n    if (begin_case())\n        \
             end_case(MPI_{name}({}));\n}}\n",
            arguments.join(", ")
        );
        Ok((text, cases))
    }

    /// Whether all the other arguments can be made right.
    fn to_be_tried(&self, wrong: usize) -> Result<bool> {
        for (index, parameter) in self.function.parameters.iter().enumerate() {
            if index != wrong && self.values.of(self.function, parameter)?.valid().is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Bad values, and bad addresses of results.
    fn bad_of(&self, parameter: &Parameter) -> Result<(Vec<Bad>, Vec<Bad>)> {
        let of = self.values.of(self.function, parameter)?;
        let goes_in = parameter.direction != Direction::Out;
        // An argument that is an address has one wrong value only.
        let is_address = self.is_address(parameter);
        let addressed = is_address && !goes_in || !is_address && self.by_address(parameter);
        let addresses = if addressed { of.bad_addresses() } else { Vec::new() };
        Ok((if goes_in { of.bad() } else { Vec::new() }, addresses))
    }

    fn declaration(&self, index: usize, parameter: &Parameter, valid: &str) -> Result<String> {
        let base = self.base(parameter);
        if let Some(callback) = self.callback(parameter) {
            return Ok(format!("    {callback} *p{index} = ({callback} *)({valid});\n"));
        }
        if self.is_address(parameter) {
            let valid = match parameter.direction {
                Direction::Out => format!("room({index})"),
                _ if valid == "room" => format!("room({index})"),
                _ => valid.to_owned(),
            };
            return Ok(format!("    void *p{index} = (void *)({valid});\n"));
        }
        if !self.by_address(parameter) {
            return Ok(format!("    {base} p{index} = ({base})({valid});\n"));
        }
        let mut text = format!("    void *p{index} = room({index});\n");
        if parameter.direction != Direction::Out {
            for element in 0..self.elements(parameter)? {
                let _ = writeln!(text, "    (({base} *)p{index})[{element}] = ({base})({valid});");
            }
            if self.columns(parameter) == 3 {
                let _ = writeln!(text, "    (({base} *)p{index})[2] = 1;");
            }
        }
        Ok(text)
    }

    fn assignment(&self, index: usize, parameter: &Parameter, value: &str) -> Result<String> {
        let base = self.base(parameter);
        Ok(match (self.callback(parameter), self.is_address(parameter), self.by_address(parameter)) {
            (Some(callback), ..) => format!("p{index} = ({callback} *)({value})"),
            (_, true, _) => format!("p{index} = (void *)({value})"),
            (_, _, false) => format!("p{index} = ({base})({value})"),
            // All elements where their number is not known: the call may look at the first only.
            _ if parameter.value("len") == Some("*") && self.columns(parameter) == 1 => {
                let each = |place| format!("(({base} *)p{index})[{place}] = ({base})({value})");
                (0..self.elements(parameter)?).map(each).collect::<Vec<_>>().join(", ")
            }
            // The last element, so that those before it must be found unchanged; first and last of a row.
            _ => {
                let place = self.elements(parameter)? - self.columns(parameter);
                let element = |place: usize| format!("(({base} *)p{index})[{place}] = ({base})({value})");
                match self.columns(parameter) {
                    1 => element(place),
                    _ => format!("{}, {}", element(place), element(place + 1)),
                }
            }
        })
    }

    fn expectation(&self, index: usize, parameter: &Parameter, bad: &Bad, by_address: bool) -> String {
        let tool = self.function.state == State::Tool;
        let (object, word) = self.taker(index, bad);
        let what = if by_address { "address of " } else { "" };
        format!(
            "\"MPI_{}\", \"{what}{}\", \"{}\", \"{class}\", {class}, {}, {}, (uintptr_t){}",
            self.function.name,
            parameter.name,
            bad.value.replace('\\', "\\\\").replace('"', "\\\""),
            i32::from(tool),
            object,
            word,
            class = bad.class
        )
    }

    /// The object whose error handler gets the error when this parameter is wrong: the call's first object, unless its
    /// own handle is wrong. A wrong handle that only the function's own row names is one of a live object.
    fn taker(&self, wrong: usize, bad: &Bad) -> (&'static str, String) {
        let own = self.function.parameters.iter().find_map(|each| each.value("errors"));
        if let Some(word) = own {
            return ("FILE_HANDLE", word.to_owned());
        }
        // A handler that is passed as an argument gets all errors except those about itself, with the null handle.
        let passed = self.function.parameters.iter().enumerate();
        let passed = passed.filter(|(place, _)| *place != wrong).find_map(|(_, each)| each.value("passed"));
        if let Some(null) = passed {
            let object = OBJECTS.iter().find(|(_, _, own, _)| *own == null);
            return (object.map_or("NO_OBJECT", |(_, object, ..)| object), null.to_owned());
        }
        let owner = self.function.parameters.iter().enumerate().find_map(|(place, each)| {
            let found = OBJECTS.iter().find(|(kind, ..)| *kind == each.kind)?;
            (each.direction != Direction::Out).then_some((place, each, found))
        });
        match owner {
            Some((place, _, (_, _, _, (other, word)))) if place == wrong && !bad.is_live() => {
                (other, (*word).to_owned())
            }
            Some((place, _, (_, own, ..))) if !self.by_address(&self.function.parameters[place]) => {
                (own, format!("p{place}"))
            }
            Some((place, each, (_, own, ..))) => (own, format!("*({} *)p{place}", self.base(each))),
            None => ("COMM", "MPI_COMM_SELF".to_owned()),
        }
    }

    fn base(&self, parameter: &Parameter) -> String {
        let kind = self.spec.kind(parameter);
        match (&kind.large, self.function.large) {
            (Some(large), true) => large.clone(),
            _ => kind.c.clone(),
        }
    }

    fn callback(&self, parameter: &Parameter) -> Option<String> {
        let kind = self.spec.kind(parameter);
        if self.spec.callbacks.iter().any(|callback| callback.name == kind.c) {
            return Some(kind.c.clone());
        }
        (kind.c == "fn").then(|| {
            let suffix = if kind.large.is_some() && self.function.large { "_c" } else { "" };
            format!("{}{suffix}", parameter.value("fn").unwrap_or("void"))
        })
    }

    /// Whether the argument is an address whatever its direction: memory, a text, a structure.
    fn is_address(&self, parameter: &Parameter) -> bool {
        let base = self.base(parameter);
        let structure = self.spec.types.iter().any(|each| each.name == base && each.form == Form::Struct);
        base.ends_with('*') || structure
    }

    fn by_address(&self, parameter: &Parameter) -> bool {
        parameter.direction != Direction::In && !parameter.has("value")
            || parameter.has("pointer")
            || parameter.value("len").is_some()
    }

    /// Columns of a row of an array; 1 for a plain one. Rows of 3 are first, last and stride.
    fn columns(&self, parameter: &Parameter) -> usize {
        parameter.value("len").and_then(|length| length.split_once('/')?.1.parse().ok()).unwrap_or(1)
    }

    /// Numbers in the array that an argument points to.
    fn elements(&self, parameter: &Parameter) -> Result<usize> {
        let Some(length) = parameter.value("len") else { return Ok(1) };
        let length = length.split('/').next().unwrap_or(length);
        let Some(counting) = self.function.parameters.iter().find(|each| each.name == length) else {
            return Ok(2 * self.columns(parameter));
        };
        let valid = self.values.of(self.function, counting)?.valid().unwrap_or_default().to_owned();
        let rows: usize =
            valid.parse().map_err(|_| format!("MPI_{}: the length {valid} is no number", self.function.name))?;
        Ok(rows * self.columns(parameter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    fn chapter(name: &str) -> Program {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        let values = Values::read(&paths::root()).expect("the table is well formed");
        program(&spec, &values, name).expect("a program")
    }

    #[test]
    fn each_argument_that_can_be_wrong_has_its_cases() {
        let cases = chapter("p2p").cases;
        for case in [
            "MPI_Send(buf = NULL)",
            "MPI_Send(count = -1)",
            "MPI_Send_c(count = -1)",
            "MPI_Send(datatype = freed_type)",
            "MPI_Send(dest = ranks)",
            "MPI_Send(tag = MPI_ANY_TAG)",
            "MPI_Send(comm = MPI_COMM_NULL)",
            "MPI_Irecv(address of request = NULL)",
        ] {
            assert!(cases.iter().any(|each| each == case), "{case}");
        }
        assert!(!cases.iter().any(|case| case.starts_with("MPI_Recv(address of status")), "it may be ignored");
    }

    #[test]
    fn the_handler_that_takes_an_error_is_that_of_the_calls_object_unless_its_handle_is_wrong() {
        let text = chapter("p2p").text;
        assert!(
            text.contains("\"count\", \"-1\", \"MPI_ERR_COUNT\", MPI_ERR_COUNT, 0, COMM, (uintptr_t)p5)"),
            "{text}"
        );
        assert!(text.contains(
            "\"comm\", \"MPI_COMM_NULL\", \"MPI_ERR_COMM\", MPI_ERR_COMM, 0, COMM, (uintptr_t)MPI_COMM_SELF)"
        ));
    }

    #[test]
    fn every_function_that_needs_mpi_is_called_outside_of_it() {
        let outside = chapter("process").outside;
        for case in ["MPI_Finalize before MPI_Init", "MPI_Finalize after MPI_Finalize", "MPI_Abort before MPI_Init"] {
            assert!(outside.iter().any(|each| each == case), "{case}");
        }
        assert!(!outside.iter().any(|each| each.starts_with("MPI_Initialized")));
    }
}
