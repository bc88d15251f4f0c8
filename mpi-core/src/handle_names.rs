//! Names for messages: of the kinds of handles, and of the predefined handles.
//!
//! Invariant: a predefined handle is printed as its official name, any other handle as its word with its kind.
//! Not here: the layout of handles (`handle`).

use std::fmt;

use crate::generated::predefined::PREDEFINED;
use crate::handle::{Handle, Kind};

impl Kind {
    /// The noun for an object of this kind, with its article: `an operation`.
    pub const fn noun_with_article(self) -> &'static str {
        match self {
            Kind::Comm => "a communicator",
            Kind::Group => "a group",
            Kind::Datatype => "a datatype",
            Kind::Op => "a reduction operation",
            Kind::Errhandler => "an error handler",
            Kind::Info => "an info object",
            Kind::Win => "a window",
            Kind::File => "a file",
            Kind::Session => "a session",
            Kind::Message => "a message",
            Kind::Request | Kind::AtOnce | Kind::Recipe => "a request",
            Kind::Enum => "an enumeration",
            Kind::EventRegistration => "an event registration",
            Kind::EventInstance => "an event instance",
            Kind::Cvar => "a control variable handle",
            Kind::Pvar => "a performance variable handle",
            Kind::PvarSession => "a performance variable session",
        }
    }

    /// The noun for an object of this kind: `communicator`.
    pub fn noun(self) -> &'static str {
        let noun = self.noun_with_article();
        noun.split_once(' ').map_or(noun, |(_, noun)| noun)
    }
}

impl Handle {
    /// The kind and the name of a predefined handle, `MPI_INT` for example; `None` for any other word.
    #[cold]
    pub fn predefined(self) -> Option<(Kind, &'static str)> {
        PREDEFINED.iter().find(|(word, ..)| *word == self.0).map(|(_, kind, name)| (*kind, *name))
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.predefined(), self.kind()) {
            (Some((_, name)), _) => f.write_str(name),
            (None, Some(kind)) => write!(f, "{:#x} ({})", self.0, kind.noun()),
            (None, None) => write!(f, "{:#x}", self.0),
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Some(kind) => write!(f, "Handle({kind:?} {}, generation {})", self.index(), self.generation()),
            None => write!(f, "Handle({:#x})", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_handle_names_its_kind() {
        let handle = Handle::pack(Kind::Datatype, 3, 7);
        assert_eq!(format!("{handle:?}"), "Handle(Datatype 3, generation 7)");
        assert_eq!(handle.to_string(), format!("{:#x} (datatype)", handle.0));
        assert_eq!(format!("{:?} {}", Handle(0x209), Handle(0x209)), "Handle(0x209) MPI_INT");
        assert_eq!(Handle(0x209).predefined(), Some((Kind::Datatype, "MPI_INT")));
        assert_eq!((Handle(0xfff).predefined(), handle.predefined()), (None, None));
    }
}
