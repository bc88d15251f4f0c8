//! The limit on nested calls of the program's error handlers.
//!
//! A handler may call MPI functions. An error of such a call, or `MPI_Comm_call_errhandler`, calls a handler again,
//! possibly the same one. A thread may have up to [`DEEPEST`] nested calls; a deeper call is not made, so that a
//! handler whose own calls fail does not overflow the stack.
//! Invariant: a handler that does not return (`longjmp`, an exception) is not counted after its frame has been left.

use std::cell::Cell;

/// The largest number of nested handler calls in a thread.
pub const DEEPEST: usize = 16;

/// This thread's nested handler calls: their number, and the stack address of each.
struct Frames {
    count: Cell<usize>,
    places: [Cell<usize>; DEEPEST],
}

thread_local! {
    static FRAMES: Frames = const { Frames { count: Cell::new(0), places: [const { Cell::new(0) }; DEEPEST] } };
}

/// Calls a handler; returns false without calling it if the nesting would be too deep.
#[inline]
pub fn within(handler: impl FnOnce()) -> bool {
    let here = 0u8;
    let place = (&raw const here).addr();
    FRAMES.with(|frames| {
        let mut count = frames.count.get();
        // The stack grows downwards, so a recorded call at or below this frame was left without a return.
        while count > 0 && frames.places[count - 1].get() <= place {
            count -= 1;
        }
        if count == DEEPEST {
            return false;
        }
        frames.places[count].set(place);
        frames.count.set(count + 1);
        handler();
        frames.count.set(count);
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(depth: &Cell<usize>) -> bool {
        within(|| {
            depth.set(depth.get() + 1);
            again(depth);
        })
    }

    #[test]
    fn a_handler_that_calls_itself_ends() {
        let depth = Cell::new(0);
        assert!(again(&depth));
        assert_eq!(depth.get(), DEEPEST);
        assert!(again(&depth), "the count is down again");
        assert_eq!(depth.get(), 2 * DEEPEST);
    }

    #[test]
    fn a_handler_that_is_left_by_a_jump_is_not_counted_on() {
        for _ in 0..3 * DEEPEST {
            let left = std::panic::catch_unwind(|| within(|| std::panic::resume_unwind(Box::new(()))));
            assert!(left.is_err());
        }
        let depth = Cell::new(0);
        assert!(again(&depth));
        assert_eq!(depth.get(), DEEPEST);
    }
}
