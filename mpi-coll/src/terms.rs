//! The arguments of one process in a collective call that must match those of the others (control variable `coll_check`).
//!
//! Not here: how processes compare them (`agreement`).

use std::fmt::Write;

use mpi_core::handle::FIRST_DYNAMIC;
use mpi_datatype::predefined;

use crate::Reduction;
use crate::coll_op::{CollOp, Form};
use crate::op::Builtin;
use crate::shape::Root;

/// The arguments of one process that must match those of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    pub which: CollOp,
    pub form: Form,
    pub root: Option<Root>,
    /// Bytes that one process contributes or receives; on an intercommunicator those for each process of the other
    /// group.
    bytes: u64,
    /// Bytes from each process of the other group, or of an intracommunicator where these are to be as many as those for it; else 0.
    expected: u64,
    /// A predefined operation; `None` for others, which each process creates for itself.
    op: Option<Builtin>,
    /// Handle word of a predefined type; 0 for others, and where types may differ.
    datatype: usize,
}

/// Words of the terms in a message.
pub(crate) const WORDS: usize = 6;

/// The bytes of a call of which the function alone is compared.
const NOT_COMPARED: u64 = u64::MAX;
/// First bit of the form in the word of the operation.
const FORM: u32 = 32;

/// Words for the roots of an intercommunicator that are no ranks.
const HERE: u64 = u64::MAX - 1;
const ELSEWHERE: u64 = u64::MAX - 2;

impl Terms {
    /// Those of an operation on so many bytes.
    #[inline]
    pub fn new(which: CollOp, bytes: u64) -> Terms {
        Terms { which, form: Form::Blocking, root: None, bytes, expected: 0, op: None, datatype: 0 }
    }

    /// Those of a call of which the function alone is compared.
    pub fn of_function(which: CollOp, form: Form) -> Terms {
        Terms::new(which, NOT_COMPARED).form(form)
    }

    /// In this form.
    pub fn form(self, form: Form) -> Terms {
        Terms { form, ..self }
    }

    /// With this root.
    #[inline]
    pub fn root(self, root: Root) -> Terms {
        Terms { root: Some(root), ..self }
    }

    /// With so many bytes from each process of the other group, or of an intracommunicator.
    pub fn expecting(self, expected: u64) -> Terms {
        Terms { expected, ..self }
    }

    /// With this reduction.
    #[inline]
    pub fn reducing(self, what: &Reduction<'_>) -> Terms {
        let datatype = if what.handle < FIRST_DYNAMIC { what.handle } else { 0 };
        Terms { op: what.op.builtin(), datatype, ..self }
    }

    /// The terms as words of a message.
    pub fn to_words(self) -> [u64; WORDS] {
        let root = match self.root {
            None => 0,
            Some(Root::Rank(rank)) => u64::from(rank) + 1,
            Some(Root::Here) => HERE,
            Some(Root::Elsewhere) => ELSEWHERE,
        };
        let op = self.op.map_or(0, |op| op as u64 + 1);
        [self.which as u64 | (self.form as u64) << FORM, root, self.bytes, self.expected, op, self.datatype as u64]
    }

    /// The terms that another process sent; `None` for words that [`Terms::to_words`] does not return.
    pub fn from_words([which, root, bytes, expected, op, datatype]: [u64; WORDS]) -> Option<Terms> {
        Some(Terms {
            which: CollOp::ALL.into_iter().find(|known| *known as u64 == which & ((1 << FORM) - 1))?,
            form: Form::ALL.into_iter().find(|known| *known as u64 == which >> FORM)?,
            root: match root {
                0 => None,
                HERE => Some(Root::Here),
                ELSEWHERE => Some(Root::Elsewhere),
                rank => Some(Root::Rank(u32::try_from(rank - 1).ok()?)),
            },
            bytes,
            expected,
            op: op.checked_sub(1).map(|op| Builtin::at(op).ok_or(())).transpose().ok()?,
            datatype: usize::try_from(datatype).ok()?,
        })
    }

    /// Whether both may be in one call as far as operation, reduction and type go. Operations and types that the program
    /// created count as equal.
    fn same_call(&self, other: &Terms) -> bool {
        let known = |one: Option<Builtin>, two: Option<Builtin>| one.is_none() || two.is_none() || one == two;
        let types = self.datatype == 0 || other.datatype == 0 || self.datatype == other.datatype;
        (self.which, self.form) == (other.which, other.form) && known(self.op, other.op) && types
    }

    /// Whether a process with the one and a process of its group with the other may be in one call.
    pub fn fits(&self, other: &Terms) -> bool {
        let equal = (self.root, self.bytes, self.expected) == (other.root, other.bytes, other.expected);
        self.same_call(other) && equal
    }

    /// Whether the bytes for and from each process, which are to be the same within a group, are not.
    pub fn differ_within_group(&self) -> bool {
        self.which.sends_as_it_receives() && self.bytes != NOT_COMPARED && self.expected != self.bytes
    }

    /// The same for processes of an intercommunicator's rooted call that are of the root's group: one is the root.
    pub fn fits_beside_root(&self, other: &Terms) -> bool {
        let roots = (self.root == Some(Root::Here)) as u32 + (other.root == Some(Root::Here)) as u32;
        let none = [self.root, other.root].iter().any(|root| matches!(root, Some(Root::Rank(_))));
        (self.which, self.form) == (other.which, other.form) && roots <= 1 && !none
    }

    /// The same for processes of different groups.
    pub fn fits_across(&self, other: &Terms) -> bool {
        self.same_call(other) && (self.bytes, self.expected) == (other.expected, other.bytes)
    }

    /// Adds the terms that only the other one has, which fits; returns whether there were any.
    pub fn complete_from(&mut self, other: &Terms) -> bool {
        let before = *self;
        self.op = self.op.or(other.op);
        if self.datatype == 0 {
            self.datatype = other.datatype;
        }
        *self != before
    }

    /// The function of the call.
    fn function(&self) -> String {
        let name = self.which.function();
        match self.form {
            Form::Blocking => name.to_owned(),
            Form::Nonblocking => format!("MPI_I{}", name.trim_start_matches("MPI_").to_lowercase()),
            Form::Persistent => format!("{name}_init"),
        }
    }

    /// The call in words.
    pub fn description(&self) -> String {
        let name = self.function();
        let mut text = match (self.bytes, self.expected) {
            (NOT_COMPARED, _) => name,
            _ if self.which == CollOp::Barrier || self.root == Some(Root::Elsewhere) => name,
            (0, expected @ 1..) => format!("{name} of {} to receive", mpi_errors::counted(expected, "byte")),
            (bytes, expected) if (expected > 0 || self.which.sends_as_it_receives()) && bytes != expected => format!(
                "{name} of {} to send and {} to receive",
                mpi_errors::counted(bytes, "byte"),
                mpi_errors::counted(expected, "byte")
            ),
            (bytes, _) => format!("{name} of {}", mpi_errors::counted(bytes, "byte")),
        };
        let mut with = " with".to_owned();
        let mut add = |what: String| {
            // Writing to a String does not fail.
            let _ = write!(text, "{with} {what}");
            with = ",".to_owned();
        };
        match self.root {
            None => {}
            Some(Root::Rank(root)) => add(format!("root {root}")),
            Some(Root::Here) => add("root MPI_ROOT".to_owned()),
            Some(Root::Elsewhere) => add("root MPI_PROC_NULL".to_owned()),
        }
        if let Some(op) = self.op {
            add(op.name().to_owned());
        }
        if let Some(datatype) = predefined(self.datatype) {
            add(datatype.name().to_owned());
        }
        text
    }
}
