//! Loom model: what an origin does in its epoch is over when the target's epoch has ended, and begins after the target's
//! accesses before it.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::coll_room::protocol::{publish, published};
use crate::sync::AtomicU64;

/// Epochs of the model.
const EPOCHS: u64 = 2;

struct Pair {
    posts: AtomicU64,
    completes: AtomicU64,
    /// The target's memory.
    value: UnsafeCell<u64>,
}

// SAFETY: the counts under test order the accesses to `value`; loom reports any two that they do not.
unsafe impl Sync for Pair {}
// SAFETY: as above.
unsafe impl Send for Pair {}

fn wait_for(word: &AtomicU64, number: u64) {
    while published(word) < number {
        thread::yield_now();
    }
}

#[test]
fn loom_an_epoch_of_post_and_start_orders_the_accesses_of_both_processes() {
    loom::model(|| {
        let pair = Arc::new(Pair { posts: AtomicU64::new(0), completes: AtomicU64::new(0), value: UnsafeCell::new(0) });
        let origin = thread::spawn({
            let pair = pair.clone();
            move || {
                for epoch in 1..=EPOCHS {
                    wait_for(&pair.posts, epoch);
                    // SAFETY: see `Sync`.
                    pair.value.with_mut(|value| unsafe { *value += 1 });
                    publish(&pair.completes, epoch);
                }
            }
        });
        for epoch in 1..=EPOCHS {
            // SAFETY: see `Sync`.
            pair.value.with_mut(|value| unsafe { *value += 10 });
            publish(&pair.posts, epoch);
            wait_for(&pair.completes, epoch);
            // SAFETY: see `Sync`.
            assert_eq!(pair.value.with(|value| unsafe { *value }), epoch * 11);
        }
        origin.join().unwrap();
    });
}
