//! Integers of the program in collective calls, whose width depends on the form of the function.

/// An integer of the program: a count or a displacement of any form of a function.
pub trait Number: Copy {
    /// Its value.
    fn wide(self) -> i64;
}

impl Number for i32 {
    fn wide(self) -> i64 {
        i64::from(self)
    }
}

impl Number for i64 {
    fn wide(self) -> i64 {
        self
    }
}

impl Number for isize {
    fn wide(self) -> i64 {
        self as i64
    }
}
