//! Handles: one machine word each, the same in C, in Rust and in the tables (MPI-5.0, chapter 20).
//!
//! A predefined object's handle is its small ABI constant. Every other handle packs a [`Kind`], a slot index and
//! the slot's generation, so that arithmetic and one compare detect a null, stale, forged or wrong-kind word.
//!
//! A Fortran `INTEGER` has 32 bits (MPI-5.0, 19.3.4; also `MPI_Comm_toint` and the like): [`Handle::to_fortran`]. A
//! predefined handle is its constant there, too. Any other is negative: below the sign bit, 9 bits of the generation
//! and 22 of the index. The kind follows from the call; it is also mixed into the generation, so that words of two
//! kinds with equal slots differ. Requests are in three tables, and a word must lead to one of them: the first bits of
//! the index are the table's prefix. The handle table itself maps the word to the whole handle
//! ([`Table::from_fortran`](crate::Table::from_fortran)); no second table is needed.
//!
//! Invariant: a packed handle is never below [`FIRST_DYNAMIC`], and never negative as an `intptr_t`.

/// Handle words below this are reserved by the ABI for predefined objects.
pub const FIRST_DYNAMIC: usize = 4096;

/// Bits of a slot's index.
pub const INDEX_BITS: u32 = 26;
/// Bits of a generation.
pub const GENERATION_BITS: u32 = 31;
const GENERATION_SHIFT: u32 = INDEX_BITS;
/// What makes the generation of a handle's word one greater.
pub(crate) const NEXT_GENERATION: usize = 1 << GENERATION_SHIFT;
const KIND_SHIFT: u32 = INDEX_BITS + GENERATION_BITS;

/// The largest number of live objects of one kind in a process.
pub const MAX_OBJECTS: usize = 1 << INDEX_BITS;
/// The last generation of a slot, which is not used again afterwards.
pub const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;

/// Bits of a slot's index in a Fortran handle: objects in slots above have none.
pub const FORTRAN_INDEX_BITS: u32 = 22;
/// Bits of a generation in a Fortran handle.
pub const FORTRAN_GENERATION_BITS: u32 = 9;
const _: () = assert!(FORTRAN_INDEX_BITS + FORTRAN_GENERATION_BITS + 1 == u32::BITS);

/// What a handle refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `MPI_Comm`
    Comm = 1,
    /// `MPI_Group`
    Group = 2,
    /// `MPI_Datatype`
    Datatype = 3,
    /// `MPI_Op`
    Op = 4,
    /// `MPI_Request`
    Request = 5,
    /// `MPI_Message`
    Message = 6,
    /// `MPI_Errhandler`
    Errhandler = 7,
    /// `MPI_Info`
    Info = 8,
    /// `MPI_Win`
    Win = 9,
    /// `MPI_File`
    File = 10,
    /// `MPI_Session`
    Session = 11,
    /// `MPI_Request` of an operation that was complete when its starting call returned
    AtOnce = 12,
    /// `MPI_Request` that starts operations: a persistent or a generalized one
    Recipe = 13,
    /// `MPI_T_cvar_handle`
    Cvar = 16,
    /// `MPI_T_pvar_handle`
    Pvar = 17,
    /// `MPI_T_pvar_session`
    PvarSession = 18,
    /// `MPI_T_enum`
    Enum = 19,
    /// `MPI_T_event_registration`
    EventRegistration = 20,
    /// `MPI_T_event_instance`
    EventInstance = 21,
}

impl Kind {
    /// The kind with this number, if there is one.
    pub const fn from_bits(bits: u8) -> Option<Kind> {
        Some(match bits {
            1 => Kind::Comm,
            2 => Kind::Group,
            3 => Kind::Datatype,
            4 => Kind::Op,
            5 => Kind::Request,
            6 => Kind::Message,
            7 => Kind::Errhandler,
            8 => Kind::Info,
            9 => Kind::Win,
            10 => Kind::File,
            11 => Kind::Session,
            12 => Kind::AtOnce,
            13 => Kind::Recipe,
            16 => Kind::Cvar,
            17 => Kind::Pvar,
            18 => Kind::PvarSession,
            19 => Kind::Enum,
            20 => Kind::EventRegistration,
            21 => Kind::EventInstance,
            _ => return None,
        })
    }
}

/// A handle word. Any bit pattern is a valid `Handle`; only a look-up in a table shows whether it names a live object.
/// `Display` and `Debug` print the word with the kind that is packed into it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Handle(pub usize);

impl Handle {
    /// Packs a kind, a slot index below [`MAX_OBJECTS`] and a generation up to [`GENERATION_MASK`].
    #[inline]
    pub const fn pack(kind: Kind, index: u32, generation: u32) -> Handle {
        Handle(
            (kind as usize) << KIND_SHIFT
                | ((generation & GENERATION_MASK) as usize) << GENERATION_SHIFT
                | (index as usize & (MAX_OBJECTS - 1)),
        )
    }

    /// The kind packed into the word, or `None` for predefined and forged words.
    #[inline]
    pub const fn kind(self) -> Option<Kind> {
        if self.0 >> KIND_SHIFT > u8::MAX as usize {
            return None;
        }
        Kind::from_bits((self.0 >> KIND_SHIFT) as u8)
    }

    /// Whether the word packs this kind.
    #[inline]
    pub const fn is(self, kind: Kind) -> bool {
        self.0 >> KIND_SHIFT == kind as usize
    }

    /// The handle as a Fortran `INTEGER`; `None` for a slot above 2^22 (of a request above 2^20) and for a word that is
    /// not a handle.
    #[inline]
    pub const fn to_fortran(self) -> Option<i32> {
        if self.0 < FIRST_DYNAMIC {
            return Some(self.0 as i32);
        }
        match self.kind() {
            Some(kind) if self.index() >> fortran_prefix(kind).1 == 0 => {
                let generation =
                    self.generation().wrapping_add(kind as u32 * 37) & ((1 << FORTRAN_GENERATION_BITS) - 1);
                let index = fortran_prefix(kind).0 | self.index();
                Some((1 << 31 | generation << FORTRAN_INDEX_BITS | index) as i32)
            }
            _ => None,
        }
    }

    /// The slot index packed into the word.
    #[inline]
    pub const fn index(self) -> u32 {
        (self.0 & (MAX_OBJECTS - 1)) as u32
    }

    /// The generation packed into the word.
    #[inline]
    pub const fn generation(self) -> u32 {
        (self.0 >> GENERATION_SHIFT) as u32 & GENERATION_MASK
    }
}

/// What stands before the index of an object of this kind in a Fortran handle, and the bits of that index.
pub(crate) const fn fortran_prefix(kind: Kind) -> (u32, u32) {
    match kind {
        Kind::Request => (0, FORTRAN_INDEX_BITS - 1),
        Kind::AtOnce => (0b10 << (FORTRAN_INDEX_BITS - 2), FORTRAN_INDEX_BITS - 2),
        Kind::Recipe => (0b11 << (FORTRAN_INDEX_BITS - 2), FORTRAN_INDEX_BITS - 2),
        _ => (0, FORTRAN_INDEX_BITS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_handles_are_themselves_in_fortran_and_all_others_negative() {
        for word in [0, 1, 0x100, FIRST_DYNAMIC - 1] {
            assert_eq!(Handle(word).to_fortran(), Some(word as i32));
        }
        let last = (1 << FORTRAN_INDEX_BITS) - 1;
        for (kind, index, generation) in [(Kind::Comm, 0, 1), (Kind::File, last, GENERATION_MASK)] {
            assert!(Handle::pack(kind, index, generation).to_fortran().is_some_and(|word| word < 0));
            assert_eq!(Handle::pack(kind, last + 1, generation).to_fortran(), None);
        }
        assert_eq!((Handle(FIRST_DYNAMIC).to_fortran(), Handle(usize::MAX).to_fortran()), (None, None));
    }

    #[test]
    fn requests_of_different_tables_have_different_fortran_handles_in_all_generations() {
        let all = |kind, index| {
            let words = (1..=600).filter_map(move |generation| Handle::pack(kind, index, generation).to_fortran());
            words.collect::<std::collections::HashSet<i32>>()
        };
        let (last, last_prefixed) = ((1 << 21) - 1, (1 << 20) - 1);
        for (index, other) in [(0, 0), (last, last_prefixed), (1 << 20, 0)] {
            let (plain, sent, recipe) = (all(Kind::Request, index), all(Kind::AtOnce, other), all(Kind::Recipe, other));
            assert_eq!(plain.len(), 1 << FORTRAN_GENERATION_BITS);
            assert!(plain.is_disjoint(&sent) && plain.is_disjoint(&recipe) && sent.is_disjoint(&recipe));
        }
        assert!(all(Kind::Request, last + 1).is_empty() && all(Kind::AtOnce, last_prefixed + 1).is_empty());
    }

    #[test]
    fn packing_is_reversible_and_stays_above_the_reserved_page() {
        for kind in [Kind::Comm, Kind::Request, Kind::EventRegistration] {
            for index in [0, 1, (MAX_OBJECTS - 1) as u32] {
                for generation in [0, 1, GENERATION_MASK] {
                    let handle = Handle::pack(kind, index, generation);
                    assert_eq!((handle.kind(), handle.index(), handle.generation()), (Some(kind), index, generation));
                    assert!(handle.0 >= FIRST_DYNAMIC && handle.0 as isize > 0);
                }
            }
        }
    }

    #[test]
    fn forged_words_have_no_kind() {
        for word in [0usize, 1, 4095, 4096, usize::MAX, 0xffff << 48, 31 << 57] {
            assert_eq!(Handle(word).kind(), None, "{word:#x}");
        }
    }
}
