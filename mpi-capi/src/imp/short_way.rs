//! Short ways of calls that take the process lock: one body, compiled for a process with one thread and for others.
//!
//! Not here: what the short ways do (`send`, `receive`).

/// A function that runs its body, in which `$alone` is whether the process has one thread. The code for several threads is
/// apart, so that it costs the other one nothing.
macro_rules! short_way {
    (
        $(#[$doc:meta])*
        fn $name:ident<$alone:ident>($($argument:ident: $type:ty),* $(,)?) -> $result:ty $body:block
    ) => {
        $(#[$doc])*
        #[inline(always)] // one caller: the entry point
        pub fn $name($($argument: $type),*) -> $result {
            #[inline(always)] // two callers, one for each number of threads
            fn body<const $alone: bool>($($argument: $type),*) -> $result $body

            #[inline(never)]
            fn among_threads($($argument: $type),*) -> $result {
                body::<false>($($argument),*)
            }

            if mpi_core::single_threaded::is_single_threaded() {
                body::<true>($($argument),*)
            } else {
                among_threads($($argument),*)
            }
        }
    };
}
pub(super) use short_way;
