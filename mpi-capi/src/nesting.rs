//! How deep error handlers of the program's run within each other.
//!
//! A handler may call MPI, and an error of that call, or `MPI_Comm_call_errhandler`, may call a handler again, also the
//! same. Up to [`DEEPEST`] calls stand within each other in a thread; what would be deeper is not called, so that a
//! handler whose own calls fail ends and does not fill the stack.
//! Invariant: a handler that never returns (`longjmp`, an exception) is not counted for longer than its frame lives.

use std::cell::Cell;

/// Calls of handlers within each other that are allowed in a thread.
pub const DEEPEST: usize = 16;

/// The calls under way in this thread: how many, and where on the stack each stands.
struct Frames {
    count: Cell<usize>,
    places: [Cell<usize>; DEEPEST],
}

thread_local! {
    static FRAMES: Frames = const { Frames { count: Cell::new(0), places: [const { Cell::new(0) }; DEEPEST] } };
}

/// Calls a handler; false, and it is not called, where that would be too deep.
#[inline]
pub fn within(handler: impl FnOnce()) -> bool {
    let here = 0u8;
    let place = (&raw const here).addr();
    FRAMES.with(|frames| {
        let mut count = frames.count.get();
        // The stack grows downwards: a call that stands at or below this frame has been left without a return.
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
