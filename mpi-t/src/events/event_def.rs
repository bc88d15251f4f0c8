//! The definition of an event type: its source, its elements and their layout.
//!
//! Invariant: an event's elements fit into [`EVENT_BYTES`](super::EVENT_BYTES), laid out as a C struct of them would
//! be; another declaration does not compile.
//! Not here: declaring event types (`declare`), giving them their indices (`registry`).

use super::dispatcher::Data;
use super::safety::Safety;
use super::{EVENT_BYTES, WORDS};
use crate::{Bind, ValueType, Verbosity};

/// An event source (MPI-5.0, section 15.3.8): its events have times of one clock, and come in their order.
#[derive(Debug)]
pub struct SourceDef {
    /// The name, unique in a process.
    pub name: &'static str,
    /// The part of the program that raises its events.
    pub description: &'static str,
}

/// One element of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementDef {
    /// The name.
    pub name: &'static str,
    /// The type.
    pub value: ValueType,
    /// Bytes from the beginning of the event's data.
    pub displacement: usize,
}

/// One event type as declared.
#[derive(Debug, Clone, Copy)]
pub struct EventDef {
    /// The name, unique in a process.
    pub name: &'static str,
    /// When it is raised, as written above the field.
    pub description: &'static str,
    /// The category, a dotted path.
    pub category: &'static str,
    /// Its source.
    pub source: &'static SourceDef,
    /// What it is bound to.
    pub bind: Bind,
    /// The restrictions on callbacks at the place where it is raised.
    pub place: Safety,
    /// Its intended readers.
    pub verbosity: Verbosity,
    /// Its elements.
    pub elements: &'static [ElementDef],
    /// The bytes of all elements together.
    pub bytes: usize,
}

impl EventDef {
    /// Its intended readers; [`Verbosity::UserDetail`] by default.
    pub const fn verbosity(self, verbosity: Verbosity) -> EventDef {
        EventDef { verbosity, ..self }
    }
}

/// The offsets of elements of these types, one behind the other. Panics, at compile time, if they do not fit.
#[doc(hidden)]
pub const fn laid_out<const N: usize>(elements: [(&'static str, ValueType); N]) -> [ElementDef; N] {
    let mut laid_out = [ElementDef { name: "", value: ValueType::I32, displacement: 0 }; N];
    let (mut i, mut end) = (0, 0);
    while i < N {
        let (name, value) = elements[i];
        assert!(!matches!(value, ValueType::Text), "an element is a number");
        let displacement = usize::next_multiple_of(end, value.size());
        end = displacement + value.size();
        assert!(end <= EVENT_BYTES, "the elements are too long for an event");
        laid_out[i] = ElementDef { name, value, displacement };
        i += 1;
    }
    laid_out
}

/// The bytes of all elements, up to the end of the last one.
#[doc(hidden)]
pub const fn bytes_of(elements: &[ElementDef]) -> usize {
    match elements.last() {
        Some(last) => last.displacement + last.value.size(),
        None => 0,
    }
}

/// A type that an element can have: `i32`, `u32`, `u64`, `f64`.
pub trait Element: Copy {
    #[doc(hidden)]
    fn put(self, at: &mut usize, bytes: &mut [u8; EVENT_BYTES]);
}

macro_rules! element {
    ($($type:ty),+) => {$(
        impl Element for $type {
            fn put(self, at: &mut usize, bytes: &mut [u8; EVENT_BYTES]) {
                let begin = at.next_multiple_of(size_of::<$type>());
                *at = begin + size_of::<$type>();
                bytes[begin..*at].copy_from_slice(&self.to_ne_bytes());
            }
        }
    )+};
}

element!(i32, u32, u64, f64);

/// All elements of an event: a tuple of up to eight.
pub trait Payload {
    #[doc(hidden)]
    fn words(self) -> Data;
}

fn words(bytes: &[u8; EVENT_BYTES]) -> Data {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().expect("chunks of eight"));
    }
    words
}

macro_rules! payload {
    ($($name:ident)*) => {
        impl<$($name: Element),*> Payload for ($($name,)*) {
            #[allow(non_snake_case, unused_mut, unused_variables)] // one macro for all lengths
            fn words(self) -> Data {
                let ($($name,)*) = self;
                let (mut at, mut bytes) = (0, [0; EVENT_BYTES]);
                $($name.put(&mut at, &mut bytes);)*
                words(&bytes)
            }
        }
    };
}

payload!();
payload!(A);
payload!(A B);
payload!(A B C);
payload!(A B C D);
payload!(A B C D E);
payload!(A B C D E F);
payload!(A B C D E F G);
payload!(A B C D E F G H);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_lie_as_in_a_struct_of_c() {
        let elements = laid_out([("a", ValueType::I32), ("b", ValueType::U64), ("c", ValueType::U32)]);
        assert_eq!(elements.map(|element| element.displacement), [0, 8, 16]);
        assert_eq!((bytes_of(&elements), bytes_of(&[])), (20, 0));
        let data = (-1i32, 7u64, 9u32).words();
        assert_eq!((data[0] as u32 as i32, data[1], data[2] as u32), (-1, 7, 9));
    }
}
