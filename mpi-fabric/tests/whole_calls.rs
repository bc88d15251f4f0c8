//! Times of the flight recorder request whole calls of the operating-system process, so this test is alone in its program.

use mpi_fabric::FabricSettings;
use mpi_t::{Cell, Value, whole_calls_requested};

#[test]
fn whole_calls_are_requested_while_times_are_recorded() {
    let settings = FabricSettings::new();
    assert!(!whole_calls_requested());
    for (on, due) in [(1, true), (1, true), (0, false), (0, false), (1, true), (0, false)] {
        settings.recorder_times.write(&Value::I32(on)).expect("a switch");
        assert_eq!(whole_calls_requested(), due);
    }
}
