//! Blocks of control variables for objects that are created and freed: reused by the next object, never freed.
//!
//! Invariant: a block that is allocated has its initial values.
//! Not here: binding a block to its object (`registry`).

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::Settings;

/// Free blocks, by their type.
static FREE: Mutex<BTreeMap<TypeId, Vec<&'static (dyn Any + Sync)>>> = Mutex::new(BTreeMap::new());

/// A block of control variables for one object, with their initial values. Thread-safe; takes a lock.
pub fn place_settings<S: Settings + Any>() -> &'static S {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let block = free.get_mut(&TypeId::of::<S>()).and_then(Vec::pop);
    block.and_then(|block| (block as &dyn Any).downcast_ref()).unwrap_or_else(S::make)
}

/// Returns a block for reuse by another object. Unbind it from registries first. Thread-safe; takes a lock.
pub fn retire_settings<S: Settings + Any>(block: &'static S) {
    block.restore();
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    free.entry(TypeId::of::<S>()).or_default().push(block);
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::cvars! {
        /// A block that no other test uses.
        struct Odd: Comm {
            /// A limit.
            limit: u64 = 7 => { name: "odd_limit", unit: "", category: "odd", scope: Local },
        }
    }

    crate::cvars! {
        /// Another one.
        struct Even: Comm {
            /// A limit.
            limit: u64 = 8 => { name: "even_limit", unit: "", category: "odd", scope: Local },
        }
    }

    #[test]
    fn a_block_is_used_again_with_its_initial_values_by_objects_of_its_type() {
        let first = place_settings::<Odd>();
        first.limit.set(1);
        assert!(!std::ptr::eq(first, place_settings::<Odd>()), "both are in use");
        retire_settings(first);
        assert_eq!(place_settings::<Even>().limit.get(), 8);
        let again = place_settings::<Odd>();
        assert!(std::ptr::eq(first, again));
        assert_eq!(again.limit.get(), 7);
    }
}
