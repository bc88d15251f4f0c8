//! How a choice buffer of module `mpi_f08` reaches C when it is an array section with gaps.
//!
//! A buffer that a call describes by one count and one datatype gets a datatype that describes the section (`Described`). A
//! buffer that the call has finished with when it returns is copied (`Copied`), where its arguments state how much of it
//! is used. Partitions, elements that the call describes by a predefined datatype alone, and buffers of collective operations
//! with lists of counts or that do not block are stated to the library (`Stated`): the implementations of these calls read
//! it (`mpi-capi/src/fortran_section.rs`). Every other buffer must be contiguous (`Contiguous`), unless the call takes its
//! address alone (`Address`). Invariant: the use follows from the parameters.
//! Not here: the C code that does it (`mpi-capi/fortran/f08`).

use super::super::conversion::at_root;
use super::super::{Form, form};
use crate::Result;
use crate::spec::{Direction, Function, Parameter, Spec};

/// The chapters whose buffers hold a part for each process, so that one datatype does not describe a section of them.
const COLLECTIVE: [&str; 2] = ["coll", "topo"];

/// What a call does with a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    Described,
    /// With C expressions for a count and a datatype of what is used.
    Copied(String, String),
    Stated,
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
    let mut more = Vec::new();
    let value = match use_of(spec, function, place)? {
        Use::Described => {
            let (count, datatype) = (&function.parameters[place + 1].name, &function.parameters[place + 2].name);
            arguments.push((place + 1, format!("{section}.count")));
            arguments.push((place + 2, format!("{section}.datatype")));
            format!("ferrum_described({name}, *{count}, ferrum_type(*{datatype}))")
        }
        Use::Copied(count, datatype) => {
            let root = if parameter.has("root") { format!(" && {}", at_root(spec, function)?) } else { String::new() };
            let writes = i32::from(parameter.direction != Direction::In);
            let blocks = match parameter.value("blocks") {
                Some(blocks) => format!("ferrum_{blocks}(ferrum_comm(*comm))"),
                None => "1".to_owned(),
            };
            more.push(format!("if (!ferrum_is_contiguous({name}){root})"));
            let copy = format!("    ferrum_section_copy(&{section}, {name}, {writes}, {count}, {datatype},");
            match blocks.as_str() {
                "1" => more.push(format!("{copy} 1);")),
                _ => more.extend([copy, format!("        {blocks});")]),
            }
            format!("ferrum_addressed({name})")
        }
        Use::Stated => format!("ferrum_stated({name}, \"{name}\")"),
        Use::Contiguous => format!("ferrum_contiguous({name})"),
        Use::Address => format!("ferrum_addressed({name})"),
    };
    let declared = [vec![format!("struct ferrum_section {section} = {value};")], more].concat();
    Ok(Buffer { declared, arguments })
}

/// The use of the buffer at this place among the parameters.
fn use_of(spec: &Spec, function: &Function, place: usize) -> Result<Use> {
    let parameter = &function.parameters[place];
    let all = &function.parameters;
    let outlives = outlives(spec, function, parameter)?;
    let next = |distance: usize| all.get(place + distance);
    let counted = next(1).is_some_and(is_count) && next(2).is_some_and(|each| each.kind == "DATATYPE");
    let lists = (1..3).any(|distance| next(distance).is_some_and(|each| each.value("len").is_some()));
    let is_typed = all.iter().any(|each| each.kind == "DATATYPE");
    if counted && !lists && !COLLECTIVE.contains(&function.chapter.as_str()) {
        return Ok(Use::Described);
    }
    let listed = (place..all.len()).find(|at| is_count(&all[*at])).is_some_and(|at| all[at].value("len").is_some());
    let collective = COLLECTIVE.contains(&function.chapter.as_str());
    if collective && (outlives || listed) {
        return Ok(Use::Stated);
    }
    if outlives {
        let is_stated = all.iter().any(|each| each.kind == "PARTITION") || parameter.kind == "RAW_BUFFER" && is_typed;
        // Other arguments state how much memory there is.
        let sized = is_typed || all.iter().any(|each| is_bytes(each) || is_count(each));
        return Ok(match (is_stated, sized) {
            (true, _) => Use::Stated,
            (false, true) => Use::Contiguous,
            (false, false) => Use::Address,
        });
    }
    // The first count behind the buffer and the datatype behind that, or the only number of bytes.
    let used = (place..all.len() - 1).find(|at| is_count(&all[*at]) && all[at + 1].kind == "DATATYPE");
    let of_bytes = all.iter().find(|each| is_bytes(each) && each.direction == Direction::In);
    Ok(match (used.filter(|_| parameter.kind == "BUFFER"), of_bytes) {
        (Some(at), _) if all[at].value("len").is_none() => {
            Use::Copied(format!("*{}", all[at].name), format!("ferrum_type(*{})", all[at + 1].name))
        }
        (None, Some(bytes)) => Use::Copied(format!("*{}", bytes.name), "MPI_BYTE".to_owned()),
        _ => Use::Contiguous,
    })
}

fn is_count(parameter: &Parameter) -> bool {
    parameter.kind.contains("_NUM_ELEM") && parameter.direction == Direction::In
}

fn is_bytes(parameter: &Parameter) -> bool {
    parameter.kind.contains("NUM_BYTES") || parameter.kind.ends_with("_SIZE")
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
    let call = format!("ferrum_section_raise(\"MPI_{}\", ", function.name);
    for (c, of, number) in [("MPI_Comm", "comm", "COMM"), ("MPI_Win", "win", "WIN"), ("MPI_File", "file", "FILE")] {
        let object = function.parameters.iter().find(|each| spec.kind(each).c == c && each.direction == Direction::In);
        if let Some(object) = object {
            return format!("{call}FERRUM_OF_{number}, (uintptr_t)ferrum_{of}(*{}))", object.name);
        }
    }
    format!("{call}FERRUM_OF_NONE, 0)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    #[test]
    fn the_use_of_a_buffer_follows_from_its_parameters() {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        let copied = |count: &str, datatype: &str| Use::Copied(format!("*{count}"), datatype.to_owned());
        for (name, place, expected) in [
            ("Send", 0, Use::Described),
            ("Irecv_c", 0, Use::Described),
            ("File_write_at", 2, Use::Described),
            ("Bcast", 0, copied("count", "ferrum_type(*datatype)")),
            ("Gather", 3, copied("recvcount", "ferrum_type(*recvtype)")),
            ("Allreduce", 0, copied("count", "ferrum_type(*datatype)")),
            ("Pack", 3, copied("outsize", "MPI_BYTE")),
            ("Reduce_local", 1, copied("count", "ferrum_type(*datatype)")),
            ("Alltoallv", 0, Use::Stated),
            ("Igather", 3, Use::Stated),
            ("Neighbor_alltoallw", 4, Use::Stated),
            ("Allgatherv", 0, copied("sendcount", "ferrum_type(*sendtype)")),
            ("Allgatherv", 3, Use::Stated),
            ("Reduce_scatter", 0, Use::Stated),
            ("Reduce_scatter_block", 0, copied("recvcount", "ferrum_type(*datatype)")),
            ("Iallreduce", 0, Use::Stated),
            ("Exscan_init", 1, Use::Stated),
            ("Fetch_and_op", 1, Use::Stated),
            ("Psend_init", 0, Use::Stated),
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
