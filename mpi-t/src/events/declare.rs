//! Blocks of event points and their declaration by [`events!`](crate::events).
//!
//! Not here: the definition of an event type (`event_def`), giving event types their indices (`registry`).

use super::event_def::EventDef;
use super::point::AnyPoint;

/// A block of event points; [`events!`](crate::events) implements it.
pub trait Events: Sync + 'static {
    /// Its event types with their points, in the order of declaration.
    fn points(&'static self) -> Vec<(EventDef, &'static dyn AnyPoint)>;
}

/// Declares a block of event points: a struct with one [`EventPoint`](crate::EventPoint) for each event type.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::sync::Arc;
/// use mpi_t::{Registry, Safety, SourceDef, Value};
///
/// static SHOP: SourceDef = SourceDef { name: "shop", description: "Events of the shop." };
///
/// mpi_t::events! {
///     /// Events of a shop.
///     pub struct ShopEvents: NoObject, from: SHOP {
///         /// A customer bought something.
///         pub sold(items: u32, price: f64) = { name: "shop_sold", category: "shop", at: None },
///     }
/// }
///
/// // The program.
/// let (registry, shop) = (Registry::new(), ShopEvents::new());
/// registry.register_events(shop)?;
///
/// // The tool.
/// registry.init_thread()?;
/// let sales = Arc::new(AtomicU64::new(0));
/// let sum = sales.clone();
/// let registration = registry.subscribe("shop_sold", None, Safety::None, move |event| {
///     let Some(Value::U32(items)) = event.get("items") else { return };
///     sum.fetch_add(u64::from(items), Ordering::Relaxed);
/// })?;
/// shop.sold.emit(|| (3, 1.5));
/// assert_eq!(sales.load(Ordering::Relaxed), 3);
/// registry.event_handle_free(registration, None)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The struct's name is followed by what its events are bound to ([`Bind`](crate::Bind)) and by their
/// [`SourceDef`](crate::SourceDef). `at` is a [`Safety`](crate::Safety): what callbacks may do where the event is
/// raised, `MpiRestricted` under the engine's lock, `None` where no lock is held. `verbosity` is a further
/// key; behind the source it applies to the whole block, `, verbosity: TunerDetail`. Its default is `UserDetail`.
#[macro_export]
macro_rules! events {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $block:ident: $bind:ident, from: $source:path $(, verbosity: $verbosity:ident)? {
            $(
                $(#[doc = $doc:expr])*
                $field_visibility:vis $field:ident($($element:ident: $type:ident),* $(,)?) = {
                    name: $name:expr, category: $category:expr, at: $place:ident $(, $key:ident: $setting:expr)* $(,)?
                }
            ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Default)]
        $visibility struct $block {
            $( $(#[doc = $doc])* $field_visibility $field: $crate::EventPoint<($($type,)*)>, )*
        }

        #[allow(dead_code)] // a block uses those it needs
        impl $block {
            /// The verbosity of events without one of their own.
            const VERBOSITY: $crate::Verbosity = $crate::__verbosity!($($verbosity)?, UserDetail);

            /// A block of points without callbacks. It is never freed; a process makes one.
            #[allow(clippy::new_ret_no_self)] // it returns the static reference
            $visibility fn new() -> &'static Self {
                Box::leak(Box::default())
            }
        }

        impl $crate::Events for $block {
            fn points(&'static self) -> Vec<($crate::EventDef, &'static dyn $crate::AnyPoint)> {
                vec![$((
                    const {
                        const ELEMENTS: &[$crate::ElementDef] =
                            &$crate::__laid_out([$((stringify!($element), $crate::__value_type!($type))),*]);
                        $crate::EventDef {
                            name: $name,
                            description: concat!($($doc),*),
                            category: $category,
                            source: &$source,
                            bind: $crate::Bind::$bind,
                            place: $crate::Safety::$place,
                            verbosity: Self::VERBOSITY,
                            elements: ELEMENTS,
                            bytes: $crate::__bytes_of(ELEMENTS),
                        }$(.$key($setting))*
                    },
                    &self.$field as &'static dyn $crate::AnyPoint,
                )),*]
            }
        }
    };
}
