//! The definition of a performance variable, and blocks of them.
//!
//! Invariant: a definition whose class, type and field are not compatible does not compile.
//! Not here: declaring blocks (`instruments_macro`), the indices of variables (`registry`).

use crate::field::{Field, WordUnit, fits};
use crate::{Bind, EnumDef, PvarClass, ValueType, Verbosity};

/// A block of instruments; [`instruments!`](crate::instruments) implements it.
///
/// # Safety
/// The type is `repr(C)` and each of its fields is a [`Field`], so that it is nothing but atomic words.
#[allow(unsafe_code)] // the promise permits a zeroed block
pub unsafe trait Instruments: Sync + 'static {
    /// The name of the type.
    const NAME: &'static str;
    /// What the block is bound to.
    const BIND: Bind;
    /// Its variables, in the order of declaration.
    const VARS: &'static [PvarDef];
}

impl EnumDef {
    /// The name of a value.
    pub fn name_of(&self, value: i32) -> Option<&'static str> {
        self.items.iter().find(|(item, _)| *item == value).map(|(_, name)| *name)
    }
}

/// One performance variable as declared.
#[derive(Debug, Clone, Copy)]
pub struct PvarDef {
    /// The name; with the class, unique in a process.
    pub name: &'static str,
    /// What it counts and when it changes, as written above the field.
    pub description: &'static str,
    /// The unit, for people.
    pub unit: &'static str,
    /// The category, a dotted path.
    pub category: &'static str,
    /// The class.
    pub class: PvarClass,
    /// The type.
    pub value: ValueType,
    /// What it is bound to.
    pub bind: Bind,
    /// Its intended readers.
    pub verbosity: Verbosity,
    /// Whether it is always active, so that it can be neither started nor stopped.
    pub continuous: bool,
    /// The names of its values, for states.
    pub states: Option<&'static EnumDef>,
    /// The block's word (of 8 bytes) that it reads.
    pub word: usize,
    pub(crate) unit_of_word: WordUnit,
    /// Offset, in words, of the word that counts handles, from the variable's own word; 0: no word does.
    pub(crate) handles_word: usize,
}

impl PvarDef {
    /// A variable that reads the field `F` at byte `offset` of its block. Panics, at compile time, if class, type and
    /// field are not compatible.
    #[doc(hidden)]
    #[allow(clippy::too_many_arguments)] // called by the macro, which names each
    pub const fn declare<F: Field>(
        name: &'static str,
        description: &'static str,
        class: PvarClass,
        value: ValueType,
        unit: &'static str,
        category: &'static str,
        bind: Bind,
        offset: usize,
    ) -> PvarDef {
        assert!(fits::<F>(class, value), "the class does not allow this type, or the field cannot give this class");
        assert!(!name.is_empty() && !category.is_empty(), "a variable has a name and a category");
        assert!(matches!(F::HANDLES, 0 | 1 | 3), "a slot's facts have two bits for it");
        PvarDef {
            name,
            description,
            unit,
            category,
            class,
            value,
            bind,
            verbosity: Verbosity::UserBasic,
            continuous: matches!(class, PvarClass::Size),
            states: None,
            word: offset / 8,
            unit_of_word: F::UNIT,
            handles_word: F::HANDLES,
        }
    }

    /// The text at a place of a block.
    #[doc(hidden)]
    pub const fn text_at(texts: &[(usize, &'static str)], offset: usize) -> &'static str {
        let mut i = 0;
        while i < texts.len() {
            if texts[i].0 == offset {
                return texts[i].1;
            }
            i += 1;
        }
        ""
    }

    /// Its intended readers; [`Verbosity::UserBasic`] by default.
    pub const fn verbosity(self, verbosity: Verbosity) -> PvarDef {
        PvarDef { verbosity, ..self }
    }

    /// Another description than the field's, for the second variable of a field.
    pub const fn doc(self, description: &'static str) -> PvarDef {
        PvarDef { description, ..self }
    }

    /// Whether it is always active; by default only sizes are. Watermarks and sums need separate starting points.
    pub const fn continuous(self, continuous: bool) -> PvarDef {
        PvarDef { continuous, ..self }
    }

    /// The names of a state's values.
    pub const fn states(self, states: &'static EnumDef) -> PvarDef {
        PvarDef { states: Some(states), ..self }
    }

    /// Whether it can be neither written nor reset: levels, states, sizes and percentages show the present value.
    pub const fn readonly(&self) -> bool {
        !(self.class.is_sum() || self.class.is_watermark())
    }

    /// Whether it can be read and reset in one step.
    pub const fn atomic(&self) -> bool {
        !self.readonly()
    }
}
