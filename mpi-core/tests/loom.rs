//! Every order in which a reader and a writer can meet on a slot of facts: the protocol's own file, on loom's atomics.
#![allow(dead_code)] // the model uses a part of the file

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
}
use mpi_core::Handle;

#[path = "../src/facts/slot.rs"]
mod slot;

#[test]
fn a_reader_gets_the_fact_of_its_own_handle_or_none() {
    loom::model(|| {
        let (first, second) = (Handle(0x1000), Handle(0x2000));
        let slot = loom::sync::Arc::new(slot::Slot::default());
        slot.set(first, 1);
        let writer = {
            let slot = slot.clone();
            loom::thread::spawn(move || {
                slot.clear();
                slot.set(second, 2);
            })
        };
        assert!(matches!(slot.get(first), None | Some(1)));
        assert!(matches!(slot.get(second), None | Some(2)));
        writer.join().expect("no panic");
        assert_eq!((slot.get(first), slot.get(second)), (None, Some(2)));
    });
}
