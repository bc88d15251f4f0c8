//! The words that a new handle reads, and its properties.
//!
//! Not here: finding the words of an object that has some (`pvars`), declaring owners of words (`on_demand`).

use std::fmt;
use std::sync::atomic::AtomicU64;

use mpi_core::Handle;

use crate::events::safety::is_restricted;
use crate::handle::pool::{self, NewHandle};
use crate::handle::slot::{Facts, Traits};
use crate::handle::value_format::ValueFormat;
use crate::handle::wide_read;
use crate::state_word::kind::Kind;
use crate::state_word::state::Format;
use crate::{PvarClass, PvarDef, TError, TResult, ValueType};

/// Elements bound in place of a block's field.
#[derive(Debug)]
pub(super) struct Elements {
    /// From the first element's first word on.
    pub(super) words: &'static [AtomicU64],
    /// Words from one element to the next.
    pub(super) stride: u16,
    pub(super) count: u32,
}

/// A handle of a variable with these elements.
pub(super) fn new_handle(
    def: &PvarDef,
    variable: usize,
    source: &'static [AtomicU64],
    count: u32,
    stride: u16,
) -> NewHandle {
    let (facts, format) = facts_of(def, count, stride);
    NewHandle { facts, format, variable, source }
}

/// The properties of a handle with this many elements.
pub(super) fn facts_of(def: &PvarDef, count: u32, stride: u16) -> (Facts, Format) {
    let kind = match def.class {
        class if class.is_sum() => Kind::Sum,
        PvarClass::HighWatermark => Kind::High,
        PvarClass::LowWatermark => Kind::Low,
        _ => Kind::Mirror,
    };
    let value_format = ValueFormat { value: def.value, unit: def.unit_of_word };
    let format = match (kind, def.value) {
        (Kind::Sum | Kind::Mirror, ValueType::U64) if count == 1 => Format::U64,
        (Kind::Sum | Kind::Mirror, ValueType::U32) if count == 1 => Format::U32,
        _ => Format::Other,
    };
    let in_vectors = matches!(kind, Kind::Sum | Kind::Mirror)
        && value_format == ValueFormat::WHOLE
        && count >= wide_read::FEWEST
        && wide_read::is_supported();
    let (readonly, continuous, handles_word) = (def.readonly(), def.continuous, def.handles_word);
    (
        Facts::of(Traits {
            kind,
            value_format: value_format.bits(),
            readonly,
            continuous,
            in_vectors,
            in_eights: in_vectors && stride == 1 && count >= 8 && wide_read::has_eights(),
            handles_word,
            stride,
            count,
        }),
        format,
    )
}

/// The function of an owner that opens a handle on the words of an object.
type OpenFor = dyn Fn(usize, &mut dyn FnMut(Elements) -> TResult<()>) -> TResult<()> + Send + Sync;

/// The owner of a kind of object.
pub(super) struct OnDemandSource(Box<OpenFor>);

impl fmt::Debug for OnDemandSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnDemandSource").finish_non_exhaustive()
    }
}

impl OnDemandSource {
    pub(super) fn new(open: Box<OpenFor>) -> OnDemandSource {
        OnDemandSource(open)
    }

    /// Opens a handle of the variable for the object, if its owner has it.
    pub(super) fn open(&self, session: usize, def: &PvarDef, variable: usize, object: usize) -> TResult<(Handle, u32)> {
        if is_restricted() {
            let rule = "cannot get a handle in a callback that may call restricted functions only";
            return Err(TError::NOT_ACCESSIBLE.because(format!("{} {rule}", def.name)));
        }
        let mut opened = Err(TError::INVALID);
        self.0(object, &mut |rows| {
            let Elements { words, stride, count } = rows;
            let handle = pool::open(session, new_handle(def, variable, &words[def.word..], count, stride))?;
            opened = Ok((handle, count));
            Ok(())
        })?;
        opened
    }
}
