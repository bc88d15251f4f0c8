//! Variables with one element for each row of an array, such as each peer of a communicator.
//!
//! Invariant: no row has another's values, and a handle's elements start, stop and end together.
//! Not here: the rules of one element by its class (`classes`).
#![allow(unsafe_code)] // one test reads as C does

use mpi_core::{Handle, abi};
use mpi_t::{Counter, PvarClass, Registry, TError, Value, WatchedTimer};

mpi_t::instruments! {
    /// Metrics of one peer.
    struct PeerRow: Comm {
        /// Messages.
        messages: Counter = { name: "row_messages", class: Counter, type: u64, unit: "messages", category: "rows" },
        /// Time.
        time: WatchedTimer = { name: "row_time", class: Timer, type: u64, unit: "nanoseconds", category: "rows" },
    }
}

/// A registry that a tool has initialized, and its session.
struct Tool {
    registry: Registry,
    session: Handle,
}

impl Tool {
    fn new() -> Tool {
        let registry = Registry::with_environment([]);
        registry.init_thread().expect("address space for handles");
        let session = registry.pvar_session_create().expect("room");
        Tool { registry, session }
    }

    fn start(&self, handle: Handle) {
        self.registry.pvar_start(self.session, handle).expect("can be started");
    }

    fn stop(&self, handle: Handle) {
        self.registry.pvar_stop(self.session, handle).expect("can be stopped");
    }
}

#[test]
fn every_element_of_an_array_is_a_variable_of_its_own() {
    let tool = Tool::new();
    let peers = mpi_t::place_rows::<PeerRow>(3);
    tool.registry.bind_rows(76, peers).expect("rows");
    let index = tool.registry.pvar_get_index("row_messages", PvarClass::Counter as i32).expect("declared");
    let (handle, count) = tool.registry.pvar_handle_alloc(tool.session, index, Some(76)).expect("room");
    assert_eq!(count, 3);
    peers[0].messages.add(1);
    tool.start(handle);
    peers[0].messages.add(10);
    peers[2].messages.add(30);
    let values = |read: Result<Vec<Value>, TError>| -> Vec<u64> {
        read.expect("live").iter().map(|value| value.as_u64().expect("u64")).collect()
    };
    assert_eq!(values(tool.registry.pvar_read_all(tool.session, handle)), [10, 0, 30]);
    let mut raw = [0u64; 3];
    // SAFETY: room for three u64.
    assert_eq!(unsafe { mpi_t::pvar_read_raw(tool.session.0, handle.0, raw.as_mut_ptr().cast()) }, abi::MPI_SUCCESS);
    assert_eq!(raw, [10, 0, 30]);
    assert_eq!(values(tool.registry.pvar_readreset(tool.session, handle)), [10, 0, 30]);
    peers[1].messages.add(5);
    tool.stop(handle);
    peers[1].messages.add(5);
    assert_eq!(values(tool.registry.pvar_read_all(tool.session, handle)), [0, 5, 0]);
    let written = [Value::U64(1), Value::U64(2), Value::U64(3)];
    tool.registry.pvar_write(tool.session, handle, &written).expect("writable");
    assert_eq!(tool.registry.pvar_read_all(tool.session, handle).expect("live"), written);
    tool.registry.pvar_handle_free(tool.session, handle).expect("live");
    let again = tool.registry.pvar_handle_alloc(tool.session, index, Some(76)).expect("room").0;
    assert_eq!(values(tool.registry.pvar_read_all(tool.session, again)), [0, 0, 0]);
}

#[test]
fn each_variable_of_rows_has_an_element_in_every_row() {
    let tool = Tool::new();
    let rows = mpi_t::place_rows::<PeerRow>(3);
    tool.registry.bind_rows(77, rows).expect("rows");
    let index = tool.registry.pvar_get_index("row_messages", PvarClass::Counter as i32).expect("declared");
    assert_eq!(tool.registry.pvar_handle_alloc(tool.session, index, Some(78)), Err(TError::INVALID), "another object");
    let (handle, count) = tool.registry.pvar_handle_alloc(tool.session, index, Some(77)).expect("room");
    assert_eq!(count, 3);
    tool.start(handle);
    rows[0].messages.add(1);
    rows[2].messages.add(3);
    let values = tool.registry.pvar_read_all(tool.session, handle).expect("live");
    assert_eq!(values, [Value::U64(1), Value::U64(0), Value::U64(3)]);
    assert!(tool.registry.bind_rows::<PeerRow>(79, &[]).is_err());
}

#[test]
fn a_watched_timer_counts_while_a_handle_exists() {
    let tool = Tool::new();
    let rows = mpi_t::place_rows::<PeerRow>(2);
    tool.registry.bind_rows(80, rows).expect("rows");
    let index = tool.registry.pvar_get_index("row_time", PvarClass::Timer as i32).expect("declared");
    let alloc = || tool.registry.pvar_handle_alloc(tool.session, index, Some(80)).expect("room").0;
    let (first, second) = (alloc(), alloc());
    assert!(rows.iter().all(|row| row.time.is_watched()));
    rows[1].time.add_ns(5);
    tool.registry.pvar_handle_free(tool.session, first).expect("live");
    assert!(rows.iter().all(|row| row.time.is_watched()));
    tool.registry.pvar_handle_free(tool.session, second).expect("live");
    assert!(rows.iter().all(|row| !row.time.is_watched()));
    assert_eq!(rows[1].time.get_ns(), 5);
}

#[test]
fn arrays_of_every_length_are_read_alike_in_both_ways_and_after_every_step() {
    let tool = Tool::new();
    for count in 2..=19 {
        let (object, peers) = (1000 + count, mpi_t::place_rows::<PeerRow>(count));
        tool.registry.bind_rows(object, peers).expect("rows");
        let index = tool.registry.pvar_get_index("row_messages", PvarClass::Counter as i32).expect("declared");
        let (handle, elements) = tool.registry.pvar_handle_alloc(tool.session, index, Some(object)).expect("room");
        assert_eq!(elements as usize, count);
        let read = |expected: &[u64]| {
            let mut raw = vec![7; count + 1];
            // SAFETY: room for all elements, and one more.
            let code = unsafe { mpi_t::pvar_read_raw(tool.session.0, handle.0, raw.as_mut_ptr().cast()) };
            assert_eq!((code, raw.pop()), (abi::MPI_SUCCESS, Some(7)), "{count} elements");
            assert_eq!(raw, expected);
            let all = tool.registry.pvar_read_all(tool.session, handle).expect("live");
            assert!(all.iter().map(|value| value.as_u64().expect("u64")).eq(expected.iter().copied()));
        };
        let add = || (0..).zip(peers).for_each(|(i, peer)| peer.messages.add(i << 40 | 1));
        let times = |n: u64| (0..count as u64).map(|i| n * (i << 40 | 1)).collect::<Vec<_>>();
        add();
        read(&times(0));
        tool.start(handle);
        add();
        read(&times(1));
        tool.registry.pvar_readreset(tool.session, handle).expect("resettable");
        read(&times(0));
        add();
        add();
        read(&times(2));
        tool.stop(handle);
        add();
        read(&times(2));
        tool.start(handle);
        let mut written = times(3);
        // More than a state word holds.
        written[count - 1] = u64::MAX >> 1;
        let values: Vec<_> = written.iter().map(|value| Value::U64(*value)).collect();
        tool.registry.pvar_write(tool.session, handle, &values).expect("writable");
        read(&written);
        tool.registry.unbind(object, &peers[0]);
        let mut raw = vec![7_u64; count];
        // SAFETY: room for all elements.
        let code = unsafe { mpi_t::pvar_read_raw(tool.session.0, handle.0, raw.as_mut_ptr().cast()) };
        assert_ne!(code, abi::MPI_SUCCESS, "the object is freed");
        tool.registry.pvar_handle_free(tool.session, handle).expect("live");
        // SAFETY: as above.
        let code = unsafe { mpi_t::pvar_read_raw(tool.session.0, handle.0, raw.as_mut_ptr().cast()) };
        assert_eq!(code, abi::MPI_T_ERR_INVALID_HANDLE, "the handle is freed");
    }
}
