//! The definition of an enumeration.

/// An enumeration: the names of a variable's values (MPI-5.0, section 15.3.5).
#[derive(Debug)]
pub struct EnumDef {
    /// The enumeration's name, unique in a process.
    pub name: &'static str,
    /// Values and their names, in the order of their indices.
    pub items: &'static [(i32, &'static str)],
}
