//! An immutable array that is cheap to clone: static, or shared.

use std::ops::Deref;
use std::sync::Arc;

/// An array of static memory, or one with a reference count.
#[derive(Debug, Clone)]
pub(crate) enum Array<T: 'static> {
    Static(&'static [T]),
    Shared(Arc<[T]>),
}

impl<T> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Array::Static(array) => array,
            Array::Shared(array) => array,
        }
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(list: Vec<T>) -> Self {
        Array::Shared(list.into())
    }
}
