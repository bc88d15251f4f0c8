//! The fields that an engine updates and that variables read: words of zeroed memory.
//!
//! Writers hold the engine's lock, so an update is a plain load and store. Any thread reads at any time.
//! Invariant: every field is whole `AtomicU64` words, and zeroed memory is a valid field; another process that can
//! write the memory can make values wrong, with no other effect.
//! Not here: variables on fields (`pvar_def`), levels and their watermarks (`level`).

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::{PvarClass, ValueType};

/// Whether fields are updated: not in the build that the cost of instruments is compared with, where a change of a
/// field compiles to nothing and every field stays zero.
pub(crate) const KEPT: bool = cfg!(not(feature = "uninstrumented"));

/// A field type that variables can be declared on.
///
/// # Safety
/// The type is `repr(C)` or `repr(transparent)` over `AtomicU64`s, its value being the first of them.
#[allow(unsafe_code)] // the promise permits a zeroed block
pub unsafe trait Field: Sync + 'static {
    /// The classes of the variables that can be declared on this field.
    const CLASSES: &'static [PvarClass];
    /// The conversion of the first word to a value.
    const UNIT: WordUnit;
    /// The word that counts the handles of the first: 1 the second, 3 the fourth; 0: none.
    const HANDLES: usize = 0;
}

/// The unit of a field's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum WordUnit {
    /// The value itself.
    One,
    /// Nanoseconds, read as seconds when the type is `f64`.
    Nanosecond,
    /// 2^-32, read as a part of 1.
    Fraction,
}

macro_rules! field {
    ($name:ident, $unit:ident, [$($class:ident),+]) => {
        #[allow(unsafe_code)] // see the trait
        // SAFETY: repr(transparent) over one word, or repr(C) with the value first.
        unsafe impl $crate::Field for $name {
            const CLASSES: &'static [$crate::PvarClass] = &[$($crate::PvarClass::$class),+];
            const UNIT: $crate::field::WordUnit = $crate::field::WordUnit::$unit;
        }
    };
}

pub(crate) use field;

/// Counts events; wraps at 2^64.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Counter(AtomicU64);

field!(Counter, One, [Counter, Generic]);

impl Counter {
    /// One more. For the holder of the engine's lock.
    #[inline(always)]
    pub fn incr(&self) {
        self.add(1);
    }

    /// One more, from any thread, with an atomic read-modify-write. A counter is updated either in this way or under
    /// the engine's lock.
    #[inline]
    pub fn incr_shared(&self) {
        if KEPT {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// `n` more. For the holder of the engine's lock.
    #[inline(always)]
    pub fn add(&self, n: u64) {
        add(&self.0, n);
    }

    /// The count since the start. Async-signal-safe, thread-safe.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Sums up amounts, such as bytes; wraps at 2^64.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Aggregate(AtomicU64);

field!(Aggregate, One, [Aggregate, Generic]);

impl Aggregate {
    /// `n` more. For the holder of the engine's lock.
    #[inline(always)]
    pub fn add(&self, n: u64) {
        add(&self.0, n);
    }

    /// The sum since the start. Async-signal-safe, thread-safe.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Sums up time in nanoseconds; a variable of type `f64` gives seconds, as `MPI_Wtime` does.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Timer(AtomicU64);

field!(Timer, Nanosecond, [Timer]);

impl Timer {
    /// `ns` nanoseconds more. For the holder of the engine's lock.
    #[inline(always)]
    pub fn add_ns(&self, ns: u64) {
        add(&self.0, ns);
    }

    /// The nanoseconds since the start. Async-signal-safe, thread-safe.
    #[inline(always)]
    pub fn get_ns(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The state of something; a small number that an enumeration names.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct State(AtomicU64);

field!(State, One, [State, Generic]);

impl State {
    /// Sets the state.
    #[inline(always)]
    pub fn set(&self, state: i32) {
        store(&self.0, u64::from(state as u32));
    }

    /// The state now. Async-signal-safe, thread-safe.
    #[inline(always)]
    pub fn get(&self) -> i32 {
        self.0.load(Relaxed) as u32 as i32
    }
}

/// The size of a resource, set when it is made.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Size(AtomicU64);

field!(Size, One, [Size, Generic]);

impl Size {
    /// Sets the size.
    #[inline(always)]
    pub fn set(&self, size: u64) {
        store(&self.0, size);
    }

    /// The size. Async-signal-safe, thread-safe.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The part of a resource that is in use, in steps of 2^-32.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Percentage(AtomicU64);

field!(Percentage, Fraction, [Percentage]);

impl Percentage {
    /// The number of steps in a whole.
    pub const WHOLE: u64 = 1 << 32;

    /// Sets the part to `used / size`, at most one; 0 if `size` is 0.
    #[inline]
    pub fn set(&self, used: u64, size: u64) {
        let part = if size == 0 { 0 } else { (u128::from(used.min(size)) << 32) / u128::from(size) };
        store(&self.0, part as u64);
    }

    /// The part, 0.0 to 1.0. Async-signal-safe, thread-safe.
    #[inline]
    pub fn get(&self) -> f64 {
        self.0.load(Relaxed) as f64 / Self::WHOLE as f64
    }
}

#[inline(always)]
pub(crate) fn add(word: &AtomicU64, n: u64) {
    store(word, word.load(Relaxed).wrapping_add(n));
}

#[inline(always)]
fn store(word: &AtomicU64, value: u64) {
    if KEPT {
        word.store(value, Relaxed);
    }
}

/// Whether a variable of this class and type can read a field of type `F`.
pub(crate) const fn fits<F: Field>(class: PvarClass, value: ValueType) -> bool {
    let mut i = 0;
    let mut known = false;
    while i < F::CLASSES.len() {
        known |= F::CLASSES[i] as i32 == class as i32;
        i += 1;
    }
    known && class.allows(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_add_up_and_wrap() {
        let counter = Counter::default();
        counter.incr();
        counter.add(u64::MAX);
        assert_eq!(counter.get(), 0);
        let timer = Timer::default();
        timer.add_ns(7);
        assert_eq!(timer.get_ns(), 7);
    }

    #[test]
    fn a_state_may_be_negative() {
        let state = State::default();
        state.set(-3);
        assert_eq!(state.get(), -3);
    }

    #[test]
    fn a_percentage_stays_between_nothing_and_all() {
        let part = Percentage::default();
        for (used, size, expected) in [(0, 0, 0.0), (1, 4, 0.25), (4, 4, 1.0), (9, 4, 1.0), (u64::MAX, u64::MAX, 1.0)] {
            part.set(used, size);
            assert_eq!(part.get(), expected, "{used} of {size}");
        }
    }

    #[test]
    fn fields_take_only_variables_of_their_classes_and_types() {
        assert!(!fits::<Counter>(PvarClass::Counter, ValueType::F64));
        assert!(fits::<Counter>(PvarClass::Counter, ValueType::U32));
        assert!(!fits::<Counter>(PvarClass::Level, ValueType::U32));
    }
}
