//! Reduction operations: which are defined on which types, and how elements are combined (MPI-5.0, 6.9).
//!
//! A predefined operation on a predefined type becomes one kernel, chosen once per call for the processor's widest
//! vectors; kernels work on elements as they stand in memory, at any alignment. A user's operation is a function of the layer above.
//! Invariant: `apply(invec, inoutvec)` computes `inoutvec[i] = invec[i] op inoutvec[i]`, the standard's order.
//! Not here: handles of user operations (`mpi-env`), the order of combining (the collectives).

mod binned;
mod formats;
mod half;
mod kernels;
mod lanes;
mod of_elements;
mod pairs;
mod quad;
mod reproducible;
mod vectors;
#[cfg(target_arch = "x86_64")]
mod x87;

use std::fmt;
use std::sync::Arc;

use mpi_core::abi::*;
use mpi_datatype::{Category, Datatype};
use mpi_errors::{Error, Result};

pub(crate) use reproducible::Binning;

/// Combines elements as they stand in memory: `inoutvec[i] = invec[i] op inoutvec[i]`.
pub(crate) type Kernel = fn(&[u8], &mut [u8]);

/// A user's function: `invec`, `inoutvec`, and what elements they hold.
pub type UserFunction = dyn Fn(&[u8], &mut [u8], &Elements) + Send + Sync;

/// The elements that a user's function combines.
#[derive(Debug, Clone, Copy)]
pub struct Elements {
    /// Number of elements.
    pub count: u64,
    /// Handle word of their datatype.
    pub handle: usize,
    /// Bytes from one element to the next.
    pub extent: i64,
    /// Bytes from the address of the first element to the start of the slices, which is the lowest data byte.
    pub lowest: i64,
}

/// A predefined operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the standard's
pub enum Builtin {
    Sum,
    Min,
    Max,
    Prod,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    Minloc,
    Maxloc,
    /// Only for one-sided accumulation; no reduction takes it.
    Replace,
    /// Only for one-sided accumulation; no reduction takes it.
    NoOp,
}

use Builtin::*;

const BUILTINS: [(usize, Builtin, &str); 14] = [
    (MPI_SUM, Sum, "MPI_SUM"),
    (MPI_MIN, Min, "MPI_MIN"),
    (MPI_MAX, Max, "MPI_MAX"),
    (MPI_PROD, Prod, "MPI_PROD"),
    (MPI_BAND, Band, "MPI_BAND"),
    (MPI_BOR, Bor, "MPI_BOR"),
    (MPI_BXOR, Bxor, "MPI_BXOR"),
    (MPI_LAND, Land, "MPI_LAND"),
    (MPI_LOR, Lor, "MPI_LOR"),
    (MPI_LXOR, Lxor, "MPI_LXOR"),
    (MPI_MINLOC, Minloc, "MPI_MINLOC"),
    (MPI_MAXLOC, Maxloc, "MPI_MAXLOC"),
    (MPI_REPLACE, Replace, "MPI_REPLACE"),
    (MPI_NO_OP, NoOp, "MPI_NO_OP"),
];

const FIRST: usize = 0x20;

static BY_HANDLE: [Option<Op>; 32] = by_handle();

const fn by_handle() -> [Option<Op>; 32] {
    const fn entry(slot: usize) -> Option<Op> {
        let mut index = 0;
        while index < BUILTINS.len() {
            if BUILTINS[index].0 == FIRST + slot {
                return Some(Op { kind: OpKind::Builtin(BUILTINS[index].1), commutative: true });
            }
            index += 1;
        }
        None
    }
    let mut table = [const { None }; 32];
    let mut slot = 0;
    while slot < table.len() {
        // A value with a destructor cannot be overwritten at compile time; the old value was `None`.
        std::mem::forget(std::mem::replace(&mut table[slot], entry(slot)));
        slot += 1;
    }
    table
}

impl Builtin {
    /// The official name.
    pub fn name(self) -> &'static str {
        BUILTINS.iter().find(|entry| entry.1 == self).map_or("", |entry| entry.2)
    }

    /// Whether the operation is defined on types of this category (MPI-5.0, 6.9.2 and 6.9.4). Logical operations on
    /// types of several languages are not in the standard's table; all other libraries have them.
    pub fn takes(self, category: Category) -> bool {
        use Category::*;
        match self {
            Max | Min => matches!(category, CInteger | FortranInteger | Floating | MultiLanguage),
            Sum | Prod => matches!(category, CInteger | FortranInteger | Floating | Complex | MultiLanguage),
            Land | Lor | Lxor => matches!(category, CInteger | Logical | MultiLanguage),
            Band | Bor | Bxor => matches!(category, CInteger | FortranInteger | Byte | MultiLanguage),
            Minloc | Maxloc => category == Pair,
            Replace | NoOp => false,
        }
    }

    /// The operation with this number.
    pub(crate) fn at(number: u64) -> Option<Builtin> {
        BUILTINS.iter().map(|entry| entry.1).find(|builtin| *builtin as u64 == number)
    }

    /// The types on which the operation is defined, as text.
    fn domain(self) -> &'static str {
        match self {
            Max | Min => "integers and real numbers",
            Sum | Prod => "integers, real and complex numbers",
            Land | Lor | Lxor => "integers of C, MPI_AINT, MPI_COUNT, MPI_OFFSET and logical types",
            Band | Bor | Bxor => "integers and MPI_BYTE",
            Minloc | Maxloc => "the pair types, such as MPI_DOUBLE_INT",
            Replace | NoOp => "one-sided accumulation only, not reductions",
        }
    }
}

/// A reduction operation. Immutable, so safe to use from any thread.
#[derive(Clone, Debug)]
pub struct Op {
    kind: OpKind,
    commutative: bool,
}

#[derive(Clone)]
enum OpKind {
    Builtin(Builtin),
    User(Arc<UserFunction>),
}

impl fmt::Debug for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpKind::Builtin(builtin) => f.write_str(builtin.name()),
            OpKind::User(_) => f.write_str("user operation"),
        }
    }
}

impl Op {
    /// The predefined operation with this handle word; `None` for `MPI_OP_NULL` and all other words.
    #[inline]
    pub fn predefined(handle: usize) -> Option<&'static Op> {
        match BY_HANDLE.get(handle.wrapping_sub(FIRST)) {
            Some(Some(op)) => Some(op),
            _ => None,
        }
    }

    /// The predefined operation; `None` if the program made it.
    pub(crate) fn builtin(&self) -> Option<Builtin> {
        match &self.kind {
            OpKind::Builtin(builtin) => Some(*builtin),
            OpKind::User(_) => None,
        }
    }

    /// Whether the program made it.
    pub fn is_user(&self) -> bool {
        matches!(self.kind, OpKind::User(_))
    }

    /// A user's operation (`MPI_Op_create`), assumed associative. It is called with no lock of the library held.
    pub fn user(function: Arc<UserFunction>, commutative: bool) -> Op {
        Op { kind: OpKind::User(function), commutative }
    }

    /// Whether operands may be swapped (`MPI_Op_commutative`).
    #[inline]
    pub fn is_commutative(&self) -> bool {
        self.commutative
    }

    /// The operation prepared for one type. `handle` is the word of the datatype, passed on to a user's function.
    ///
    /// Errors: `MPI_ERR_OP` when the operation is not defined on the type, or when this build cannot
    /// compute it (quadruple precision).
    #[inline]
    pub fn on<'a>(&'a self, datatype: &Datatype, handle: usize) -> Result<Reducer<'a>> {
        let extent = datatype.extent();
        match &self.kind {
            OpKind::Builtin(builtin) => {
                let kernel = match builtin.takes(datatype.category()) {
                    true => kernels::kernel(*builtin, datatype.scalar(), datatype.category()),
                    false => None,
                };
                match kernel {
                    Some(kernel) => Ok(Reducer { work: Work::Kernel(kernel), extent, commutative: true }),
                    None => Err(undefined(*builtin, datatype)),
                }
            }
            OpKind::User(function) => {
                let lowest = datatype.true_lower_bound();
                let work = Work::User { function, handle, lowest };
                Ok(Reducer { work, extent, commutative: self.commutative })
            }
        }
    }
}

#[cold]
fn undefined(builtin: Builtin, datatype: &Datatype) -> Error {
    let message = match (datatype.category(), builtin.takes(datatype.category())) {
        (_, true) => format!("this library has no quadruple precision arithmetic, which {} needs", datatype.name()),
        (Category::Other, _) if datatype.name().is_empty() => "it is not defined on derived datatypes".to_owned(),
        _ => format!("it is not defined on {}, but on {}", datatype.name(), builtin.domain()),
    };
    Error::new(MPI_ERR_OP, message).arg("op", &builtin.name())
}

/// An operation prepared for one type.
pub struct Reducer<'a> {
    work: Work<'a>,
    extent: i64,
    commutative: bool,
}

enum Work<'a> {
    Kernel(Kernel),
    User { function: &'a Arc<UserFunction>, handle: usize, lowest: i64 },
}

impl Reducer<'_> {
    /// `inoutvec[i] = invec[i] op inoutvec[i]` for `count` elements as they stand in memory; the slices reach from
    /// the lowest to the highest data byte. Elements that do not fit into both slices stay unchanged.
    #[inline]
    pub fn apply(&self, invec: &[u8], inoutvec: &mut [u8], count: u64) {
        if count == 0 {
            return;
        }
        match &self.work {
            Work::Kernel(kernel) => kernel(invec, inoutvec),
            Work::User { function, handle, lowest } => {
                let lowest = lowest.wrapping_add(self.extent.min(0).wrapping_mul((count - 1) as i64));
                function(invec, inoutvec, &Elements { count, handle: *handle, extent: self.extent, lowest });
            }
        }
    }

    /// The kernel of a predefined operation.
    pub(crate) fn kernel(&self) -> Option<Kernel> {
        match self.work {
            Work::Kernel(kernel) => Some(kernel),
            Work::User { .. } => None,
        }
    }

    /// Whether operands may be swapped.
    #[inline]
    pub fn is_commutative(&self) -> bool {
        self.commutative
    }

    /// Bytes from one element to the next.
    #[inline]
    pub fn extent(&self) -> i64 {
        self.extent
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
