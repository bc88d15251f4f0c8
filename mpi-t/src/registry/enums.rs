//! Enumerations: the names of a variable's values (MPI-5.0, section 15.3.5).
//!
//! Invariant: an enumeration's handle is valid for ever. Not here: which variables have one.

use mpi_core::Handle;
use mpi_core::handle::Kind;

use super::{Registry, RegistryState, enum_handle, int};
use crate::handle::refusal;
use crate::{EnumDef, TError, TResult};

impl Registry {
    /// `MPI_T_enum_get_info`: the number of items, and the name.
    pub fn enum_get_info(&self, handle: Handle) -> TResult<(i32, &'static str)> {
        let definition = self.enumeration(handle)?;
        Ok((int(definition.items.len()), definition.name))
    }

    /// `MPI_T_enum_get_item`: value and name of an item.
    pub fn enum_get_item(&self, handle: Handle, index: i32) -> TResult<(i32, &'static str)> {
        let items = self.enumeration(handle)?.items;
        let found = usize::try_from(index).ok().and_then(|index| items.get(index));
        found.copied().ok_or_else(|| TError::index("indx", index, items.len(), "items of the enumeration"))
    }

    fn enumeration(&self, handle: Handle) -> TResult<&'static EnumDef> {
        self.check_initialized()?;
        let index = handle.index() as usize;
        let known = handle == enum_handle(index);
        let definition = if known && handle.kind() == Some(Kind::Enum) { self.enums.get(index) } else { None };
        definition
            .copied()
            .ok_or_else(|| refusal::other("enumtype", handle, Kind::Enum, "there is no such enumeration"))
    }

    /// The handle of an enumeration, which is added if it is new.
    pub(super) fn intern(&self, _: &mut RegistryState, definition: &'static EnumDef) -> Option<Handle> {
        let known = self.enums.iter().position(|known| std::ptr::eq(*known, definition));
        known.or_else(|| self.enums.push(definition).ok()).map(enum_handle)
    }
}
