//! What can be set of the engine.

/// Longest message in bytes that is sent whole, without asking the receiver first.
pub(crate) struct EagerLimit;

impl EagerLimit {
    pub fn get(&self) -> u64 {
        8192
    }
}

pub(crate) static EAGER_LIMIT: EagerLimit = EagerLimit;
