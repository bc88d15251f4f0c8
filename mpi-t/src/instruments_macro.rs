//! [`instruments!`](crate::instruments), which declares performance variables beside the fields that they read, and the
//! parts that the macros for control variables and events share with it.
//!
//! Not here: the definition of a variable (`pvar_def`).

/// Declares a block of instruments: a struct of fields, each with the variables that read it.
///
/// ```
/// use mpi_t::{Counter, Level};
///
/// mpi_t::instruments! {
///     /// Metrics of a queue.
///     pub struct QueueInstruments: NoObject {
///         /// Items put into the queue.
///         pub items: Counter = { name: "queue_items", class: Counter, type: u64, unit: "items", category: "queue" },
///         /// Items in the queue.
///         pub length: Level =
///             { name: "queue_length", class: Level, type: u32, unit: "items", category: "queue" }
///             { name: "queue_length", class: HighWatermark, type: u32, unit: "items", category: "queue",
///               doc: "Most items that were in the queue at once." },
///     }
/// }
///
/// let queue = QueueInstruments::detached();
/// queue.items.incr();
/// queue.length.raise(1);
/// assert_eq!((queue.items.get(), queue.length.get()), (1, 1));
/// assert_eq!(QueueInstruments::VARS.len(), 3);
/// ```
///
/// The struct's name is followed by what the block is bound to ([`Bind`](crate::Bind)), and optionally by the intended
/// readers of its variables, `, verbosity: TunerDetail` for example ([`Verbosity`](crate::Verbosity)). `class` is a
/// [`PvarClass`](crate::PvarClass), `type` one of `i32`, `u32`, `u64`, `f64`. Further keys: `doc`, `verbosity`,
/// `continuous`, `states`, as the methods of [`PvarDef`](crate::PvarDef). The text above a field becomes the
/// description of its variables: it states what is counted and when it changes. The naming rules are in the crate's
/// text.
#[macro_export]
macro_rules! instruments {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $block:ident: $bind:ident $(, verbosity: $verbosity:ident)? {
            $(
                $(#[doc = $doc:expr])*
                $field_visibility:vis $field:ident: $kind:ty = $({
                    name: $name:expr, class: $class:ident, type: $value:ident, unit: $unit:expr, category: $category:expr
                    $(, $key:ident: $setting:expr)* $(,)?
                })+
            ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug)]
        #[repr(C)]
        $visibility struct $block {
            $( $(#[doc = $doc])* $field_visibility $field: $kind, )*
        }

        #[allow(unsafe_code)] // the promise that the block is only words holds for the struct above
        // SAFETY: the struct is repr(C), and `PvarDef::declare` requires each field's type to be a `Field`.
        unsafe impl $crate::Instruments for $block {
            const NAME: &'static str = stringify!($block);
            const BIND: $crate::Bind = $crate::Bind::$bind;
            const VARS: &'static [$crate::PvarDef] = &[$($(
                $crate::PvarDef::declare::<$kind>(
                    $name,
                    $crate::PvarDef::text_at(Self::TEXTS, ::core::mem::offset_of!($block, $field)),
                    $crate::PvarClass::$class,
                    $crate::__value_type!($value),
                    $unit,
                    $category,
                    $crate::Bind::$bind,
                    ::core::mem::offset_of!($block, $field),
                ).verbosity(Self::VERBOSITY)$(.$key($setting))*,
            )+)*];
        }

        #[allow(dead_code)] // a block uses those it needs
        impl $block {
            /// The verbosity of variables without one of their own.
            const VERBOSITY: $crate::Verbosity = $crate::__verbosity!($($verbosity)?, UserBasic);

            /// The text above each field, by the field's place.
            const TEXTS: &'static [(usize, &'static str)] =
                &[$((::core::mem::offset_of!($block, $field), concat!($($doc),*))),*];

            /// The variables of this block.
            $visibility const VARS: &'static [$crate::PvarDef] = <Self as $crate::Instruments>::VARS;

            /// A zeroed block in the given memory, for the process as a whole.
            $visibility fn place(memory: &dyn $crate::InstrumentMemory) -> &'static Self {
                $crate::place(memory, "")
            }

            /// A zeroed block in the given memory, for a named object.
            $visibility fn place_for(memory: &dyn $crate::InstrumentMemory, object: &str) -> &'static Self {
                $crate::place(memory, object)
            }

            /// A zeroed block on the heap, which readers of the job memory do not find.
            $visibility fn detached() -> &'static Self {
                $crate::place(&$crate::HeapMemory, "")
            }
        }
    };
}

/// The [`Verbosity`](crate::Verbosity) of a block; without one, the default in the second argument.
#[doc(hidden)]
#[macro_export]
macro_rules! __verbosity {
    (, $default:ident) => {
        $crate::Verbosity::$default
    };
    ($verbosity:ident, $default:ident) => {
        $crate::Verbosity::$verbosity
    };
}

/// The [`ValueType`](crate::ValueType) of a Rust type's name.
#[doc(hidden)]
#[macro_export]
macro_rules! __value_type {
    (i32) => {
        $crate::ValueType::I32
    };
    (u32) => {
        $crate::ValueType::U32
    };
    (u64) => {
        $crate::ValueType::U64
    };
    (f64) => {
        $crate::ValueType::F64
    };
}

#[cfg(test)]
mod tests {
    use crate::{Bind, Counter, Level, PvarClass, ValueType};

    crate::instruments! {
        /// A test block.
        struct Block: Comm {
            /// Events.
            events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "a.b" },
            /// Depth.
            depth: Level =
                { name: "depth", class: Level, type: u32, unit: "items", category: "a" }
                { name: "depth", class: LowWatermark, type: u32, unit: "items", category: "a", doc: "Lowest." },
        }
    }

    #[test]
    fn a_declaration_has_field_class_type_and_text() {
        let vars = Block::VARS;
        assert_eq!(vars.iter().map(|var| var.word).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!((vars[0].class, vars[0].value, vars[0].bind), (PvarClass::Counter, ValueType::U64, Bind::Comm));
        assert_eq!((vars[1].description.trim(), vars[2].description), ("Depth.", "Lowest."));
        assert!(vars[1].readonly() && !vars[2].readonly() && !vars[0].readonly());
    }

    #[test]
    fn a_detached_block_starts_at_zero() {
        let block = Block::detached();
        block.events.incr();
        block.depth.raise(2);
        block.depth.lower(1);
        assert_eq!((block.events.get(), block.depth.get()), (1, 1));
    }
}
