//! The bounds of a type (MPI-5.0, 5.1.6 to 5.1.8).

/// The bounds of a type, in bytes. Both pairs, start and length, have ends that fit into an `i64`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub lower: i64,
    pub extent: i64,
    pub true_lower: i64,
    pub true_extent: i64,
    pub alignment: u8,
    /// Whether a resized part gives lower bound and extent.
    pub explicit: bool,
}
