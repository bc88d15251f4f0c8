//! How a choice buffer of module `mpi_f08` reaches C when it is an array section with gaps.
//!
//! A buffer that a call describes by one count and one datatype gets a datatype that describes the section (`Described`). A
//! buffer that the call has finished with when it returns is copied (`Copied`). Every other one must be contiguous
//! (`Contiguous`), unless the call takes its address alone (`Address`). Invariant: the use follows from the parameters.
//! Not here: the C code that does it (`mpi-capi/fortran/f08`).

use super::super::{Form, form};
use crate::Result;
use crate::spec::{Direction, Function, Parameter, Spec};

/// The chapters whose buffers hold a part for each process, so that one datatype does not describe a section of them.
const COLLECTIVE: [&str; 2] = ["coll", "topo"];

/// What a call does with a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Described,
    Copied,
    Contiguous,
    Address,
}

/// The C code for one buffer.
pub struct Buffer {
    /// The declaration of its section.
    pub declared: Vec<String>,
    /// Arguments of the call, by their places among the parameters.
    pub arguments: Vec<(usize, String)>,
}

/// The code for the buffer at this place among the parameters.
pub fn buffer(spec: &Spec, function: &Function, place: usize) -> Result<Buffer> {
    let parameter = &function.parameters[place];
    let name = &parameter.name;
    let section = format!("{name}_section");
    let mut arguments = vec![(place, format!("{section}.address"))];
    let writes = if parameter.direction == Direction::In { "0" } else { "1" };
    let value = match use_of(spec, function, place)? {
        Use::Described => {
            let (count, datatype) = (&function.parameters[place + 1].name, &function.parameters[place + 2].name);
            arguments.push((place + 1, format!("{section}.count")));
            arguments.push((place + 2, format!("{section}.datatype")));
            let may_copy = i32::from(!outlives(spec, function, parameter)?);
            format!("ferrum_described({name}, *{count}, ferrum_type(*{datatype}), {writes}, {may_copy})")
        }
        Use::Copied => format!("ferrum_copied({name}, {writes})"),
        Use::Contiguous => format!("ferrum_contiguous({name})"),
        Use::Address => format!("ferrum_addressed({name})"),
    };
    Ok(Buffer { declared: vec![format!("struct ferrum_section {section} = {value};")], arguments })
}

/// The use of the buffer at this place among the parameters.
fn use_of(spec: &Spec, function: &Function, place: usize) -> Result<Use> {
    let parameter = &function.parameters[place];
    let outlives = outlives(spec, function, parameter)?;
    let next = |distance: usize| function.parameters.get(place + distance);
    let counted = next(1).is_some_and(is_count) && next(2).is_some_and(|each| each.kind == "DATATYPE");
    let lists = (1..3).any(|distance| next(distance).is_some_and(|each| each.value("len").is_some()));
    let described = counted && !lists && !COLLECTIVE.contains(&function.chapter.as_str());
    // Other arguments state how much memory there is.
    let sized = function.parameters.iter().any(|each| {
        each.kind == "DATATYPE" || each.kind.contains("NUM_BYTES") || each.kind.ends_with("_SIZE") || is_count(each)
    });
    Ok(match (described, outlives) {
        (true, _) => Use::Described,
        (false, false) => Use::Copied,
        (false, true) if sized => Use::Contiguous,
        (false, true) => Use::Address,
    })
}

fn is_count(parameter: &Parameter) -> bool {
    parameter.kind.contains("_NUM_ELEM") && parameter.direction == Direction::In
}

/// Whether the library uses the buffer after the call has returned.
fn outlives(spec: &Spec, function: &Function, parameter: &Parameter) -> Result<bool> {
    let mut starts = false;
    for each in &function.parameters {
        starts |= each.kind == "REQUEST" && form(spec, function, each)? == Form::Handle;
    }
    Ok(starts || parameter.has("async"))
}

/// The C expression that calls the error handler of the call's object for an error of a buffer.
pub fn raises(spec: &Spec, function: &Function) -> String {
    for (c, of) in [("MPI_Comm", "comm"), ("MPI_Win", "win"), ("MPI_File", "file")] {
        let object = function.parameters.iter().find(|each| spec.kind(each).c == c && each.direction == Direction::In);
        if let Some(object) = object {
            return format!("ferrum_raise_{of}(ferrum_{of}(*{}), error)", object.name);
        }
    }
    "ferrum_raise_comm(MPI_COMM_SELF, error)".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    #[test]
    fn the_use_of_a_buffer_follows_from_its_parameters() {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        for (name, place, expected) in [
            ("Send", 0, Use::Described),
            ("Irecv_c", 0, Use::Described),
            ("File_write_at", 2, Use::Described),
            ("Bcast", 0, Use::Copied),
            ("Gather", 3, Use::Copied),
            ("Allreduce", 0, Use::Copied),
            ("Pack", 3, Use::Copied),
            ("Psend_init", 0, Use::Contiguous),
            ("Win_create", 0, Use::Contiguous),
            ("Buffer_attach", 0, Use::Contiguous),
            ("Get_address", 0, Use::Address),
            ("Free_mem", 0, Use::Address),
            ("File_read_all_end", 1, Use::Address),
        ] {
            let function = spec.functions.iter().find(|function| function.name == name).expect("in the table");
            assert_eq!(use_of(&spec, function, place).expect("a use"), expected, "{name}");
        }
    }
}
