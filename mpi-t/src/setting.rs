//! Blocks of control variables and their declaration by [`cvars!`](crate::cvars).
//!
//! Not here: the cells (`cell`), definitions of variables (`cvar_def`), indices and handles (`registry`).

use crate::{Bind, Cell, CvarDef};

/// A block of control variables; [`cvars!`](crate::cvars) implements it.
pub trait Settings: Sync + 'static {
    /// What the block is bound to.
    const BIND: Bind;
    /// Its variables, in the order of declaration.
    fn definitions() -> Vec<CvarDef>;
    /// Their cells, in the same order.
    fn cells(&'static self) -> Vec<&'static dyn Cell>;
    /// Gives every cell its initial value, for the block's next object.
    fn restore(&'static self);
    /// A new block with the initial values. It is never freed.
    fn make() -> &'static Self;
}

/// Declares a block of control variables: a struct of cells with their initial values.
///
/// ```
/// mpi_t::cvars! {
///     /// How a queue behaves.
///     pub struct QueueSettings {
///         /// Items that the queue holds at most; in force with the next item.
///         pub limit: u64 = 64 =>
///             { name: "queue_limit", unit: "items", category: "queue", scope: Local, range: 1..=4096 },
///         /// Whether the queue drops items when it is full.
///         pub lossy: bool = false => { name: "queue_lossy" },
///     }
/// }
///
/// let settings = QueueSettings::new();
/// assert_eq!((settings.limit.get(), settings.lossy.get()), (64, false));
/// ```
///
/// The types are `bool` (off and on), `i32` (with `states`: a choice), `u32`, `u64`, `f64` and [`Text`](crate::Text).
/// The struct's name may be followed by what the block is bound to, `: Comm` for example ([`Bind`](crate::Bind)); each
/// object then has a block of its own. Then may follow the intended readers of its variables,
/// `, verbosity: TunerDetail` ([`Verbosity`](crate::Verbosity)). Only the name is required. The other keys are
/// optional: `unit`, `category` (by default the name up to its first `_`), `scope` (a [`Scope`](crate::Scope),
/// `Local` by default), `range`, `real_range`, `states`, `verbosity`, `until_init`, as the methods of
/// [`CvarDef`](crate::CvarDef). A registry that the block is added to sets each cell from the environment variable
/// with the registry's prefix and the name in capitals ([`Registry::with_prefix`](crate::Registry::with_prefix)).
#[macro_export]
macro_rules! cvars {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $block:ident $(: $bind:ident)? $(, verbosity: $verbosity:ident)? {
            $(
                $(#[doc = $doc:expr])*
                $field_visibility:vis $field:ident: $kind:ty = $initial:expr => {
                    name: $name:expr $(, $key:ident: $setting:expr)* $(,)?
                }
            ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $visibility struct $block {
            $( $(#[doc = $doc])* $field_visibility $field: $crate::Setting<$kind>, )*
        }

        #[allow(dead_code)] // a block uses those it needs
        impl $block {
            /// The verbosity of variables without one of their own.
            const VERBOSITY: $crate::Verbosity = $crate::__verbosity!($($verbosity)?, UserBasic);

            /// A block with the initial values. It is never freed; a process makes one.
            #[allow(clippy::new_ret_no_self)] // it returns the static reference
            $visibility fn new() -> &'static Self {
                Box::leak(Box::new($block { $( $field: <$kind as $crate::SettingType>::cell($initial), )* }))
            }
        }

        impl $crate::Settings for $block {
            fn make() -> &'static Self {
                Self::new()
            }

            const BIND: $crate::Bind = $crate::__bind!($($bind)?);

            fn definitions() -> Vec<$crate::CvarDef> {
                vec![$(
                    const {
                        #[allow(unused_imports)] // a scope may be left out
                        use $crate::Scope::*;
                        $crate::CvarDef::declare::<$kind>(
                            $name,
                            concat!($($doc),*),
                            <Self as $crate::Settings>::BIND,
                        ).verbosity(Self::VERBOSITY)$(.$key($setting))*
                    },
                )*]
            }

            fn cells(&'static self) -> Vec<&'static dyn $crate::Cell> {
                vec![$(&self.$field as &'static dyn $crate::Cell),*]
            }

            fn restore(&'static self) {
                $({
                    let initial = $crate::Cell::read(&<$kind as $crate::SettingType>::cell($initial));
                    $crate::Cell::write(&self.$field, &initial).expect("a cell accepts a value of its own type");
                })*
            }
        }
    };
}

/// The [`Bind`](crate::Bind) of a block; the process by default.
#[doc(hidden)]
#[macro_export]
macro_rules! __bind {
    () => {
        $crate::Bind::NoObject
    };
    ($bind:ident) => {
        $crate::Bind::$bind
    };
}

#[cfg(test)]
mod tests {
    use crate::{EnumDef, Settings, TEXT_BYTES, TError, Text, Value};

    static POLICY: EnumDef = EnumDef { name: "policy", items: &[(0, "spin"), (2, "sleep")] };

    crate::cvars! {
        /// A test block.
        struct Block {
            /// A size.
            size: u64 = 10 => { name: "size", unit: "bytes", category: "a", scope: Local, range: 1..=100 },
            /// A policy.
            policy: i32 = 2 => { name: "policy", unit: "", category: "a", scope: AllEq, states: &POLICY },
            /// A switch.
            on: bool = true => { name: "on", category: "a", scope: Readonly },
            /// A text.
            text: Text = "abc" => { name: "text_of_it", until_init: true },
            /// A number.
            part: f64 = 0.5 => { name: "part", unit: "", category: "a", scope: Local, real_range: 0.0..=1.0 },
        }
    }

    #[test]
    fn cells_start_with_their_initial_values() {
        let values: Vec<_> = Block::new().cells().iter().map(|cell| cell.read()).collect();
        let text = Value::Text("abc".into());
        assert_eq!(values, [Value::U64(10), Value::I32(2), Value::I32(1), text, Value::F64(0.5)]);
    }

    #[test]
    fn keys_that_are_left_out_have_defaults() {
        let text = &Block::definitions()[3];
        assert_eq!((text.unit, text.category, text.scope), ("", "text", crate::Scope::Local));
        assert_eq!((text.verbosity, text.until_init), (crate::Verbosity::UserBasic, true));
        let [size, .., part] = &Block::definitions()[..] else { panic!("five variables") };
        assert_eq!((size.unit, size.category, part.category), ("bytes", "a", "a"));
    }

    #[test]
    fn only_values_of_the_type_in_range_and_with_a_name_are_accepted() {
        let cells = Block::definitions();
        let good = [Value::U64(100), Value::I32(0), Value::I32(0), Value::Text("".into()), Value::F64(1.0)];
        let bad = [Value::U64(0), Value::I32(1), Value::I32(2), Value::Text("a\0b".into()), Value::F64(f64::NAN)];
        for (def, (good, bad)) in cells.iter().zip(good.iter().zip(&bad)) {
            assert!(def.accepts(good) && !def.accepts(bad), "{}", def.name);
            assert!(!def.accepts(&Value::U32(1)), "{}: a wrong type", def.name);
        }
        assert!(!cells[3].accepts(&Value::Text("x".repeat(TEXT_BYTES))));
    }

    #[test]
    fn a_written_value_is_in_force_at_once() {
        let block = Block::new();
        let cells = block.cells();
        cells[0].write(&Value::U64(7)).expect("right type");
        cells[2].write(&Value::I32(0)).expect("right type");
        cells[3].write(&Value::Text("new".into())).expect("right type");
        assert_eq!((block.size.get(), block.on.get(), block.text.get().as_str()), (7, false, "new"));
        assert_eq!(cells[0].write(&Value::I32(7)), Err(TError::INVALID));
        block.restore();
        assert_eq!((block.size.get(), block.on.get(), block.text.get().as_str()), (10, true, "abc"));
    }
}
