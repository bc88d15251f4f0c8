//! What `#[derive(mpi::Element)]` refuses, as tests.
//!
//! Invariant: each struct differs in one thing from the first one, which is accepted.
//! Not here: what it makes (the test `structs`).

/// ```
/// #[derive(Clone, Copy, mpi::Element)]
/// #[repr(C)]
/// struct Accepted {
///     a: f64,
///     b: [u32; 2],
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, mpi::Element)]
/// #[repr(C)]
/// struct WithPadding {
///     a: f64,
///     b: [u32; 3],
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, mpi::Element)]
/// #[repr(C)]
/// struct OfNoElement {
///     a: f64,
///     b: [char; 2],
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, mpi::Element)]
/// struct OfNoFixedLayout {
///     a: f64,
///     b: [u32; 2],
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, mpi::Element)]
/// #[repr(C)]
/// struct Empty {
///     a: [f64; 0],
///     b: [u32; 0],
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, mpi::Element)]
/// #[repr(C)]
/// struct Generic<const N: usize> {
///     a: f64,
///     b: [u32; N],
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, mpi::Element)]
/// #[repr(C, packed)]
/// struct Packed {
///     a: f64,
///     b: [u32; 2],
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, mpi::Element)]
/// #[repr(C)]
/// union Union {
///     a: f64,
///     b: [u32; 2],
/// }
/// ```
struct Refused;
