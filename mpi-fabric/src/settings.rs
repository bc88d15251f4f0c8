//! The control variables of the fabric.
//!
//! Not here: where values come from (mpi-t).

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi_t::Verbosity::{TunerAll, TunerBasic, UserAll};
use mpi_t::{Cell, EnumDef, Limits, SWITCH, SettingType, TError, TResult, Value, ValueType};

use crate::layout::{MAX_RING_BYTES, MIN_RING_BYTES};
use crate::recorder::{self, Recorder};

/// How payloads are copied to memory that another process reads, and to which. Those from [`STREAMING`] on permit no cells.
pub(crate) static STORES: EnumDef = EnumDef {
    name: "fabric_copy_stores",
    items: &[(AUTO, "auto"), (CACHED, "cached"), (STREAMING, "streaming"), (BUFFER, "buffer"), (RING, "ring")],
};
pub(crate) const AUTO: i32 = 0;
pub(crate) const CACHED: i32 = 1;
pub(crate) const STREAMING: i32 = 2;
pub(crate) const BUFFER: i32 = 3;
pub(crate) const RING: i32 = 4;

mpi_t::cvars! {
    /// How the processes of a job are connected.
    pub struct FabricSettings {
        /// Length in bytes of the ring from one process to another, rounded up to a power of two of at least 16384; 0:
        /// chosen by the number of processes. Takes effect when the job starts, so set it by file, environment or
        /// mpiexec. Afterwards it has the length of the job's rings.
        pub ring_bytes: u64 = 0 => {
            name: "fabric_ring_bytes", unit: "bytes", category: "fabric.queues", scope: Constant,
            range: 0..=MAX_RING_BYTES as i128, verbosity: TunerBasic },
        /// Whether this process copies long messages directly from and to the memory of other processes, where the
        /// kernel allows it; otherwise they go through the rings as fragments. Takes effect with the next message.
        pub single_copy: bool = true => {
            name: "fabric_single_copy", unit: "", category: "fabric", scope: Local, verbosity: TunerAll },
        /// How this process copies data to memory that the receiver reads, and to which: through cells while some are free (more
        /// than 32 bytes), the copy buffer (2 KiB and more) or the ring. cached: by ordinary stores, which are faster when
        /// both run on cores that share a cache; streaming: without cells, to the copy buffer by stores that go past the
        /// caches, which are faster otherwise; buffer: as cached, but without cells; ring: all data in the ring; auto: through
        /// cells by ordinary stores, and to the copy buffer for each receiver as its distance is measured
        /// (fabric_ring_distance). With cached and buffer, receivers count as near where they could copy from shared memory
        /// (p2p_copy_shared_from). fabric_buffered_bytes and fabric_copy_buffer_bytes count the ways. Takes effect with the
        /// next message.
        pub copy_stores: i32 = AUTO => {
            name: "fabric_copy_stores", unit: "", category: "fabric.queues", scope: Local, states: &STORES,
            verbosity: TunerAll },
        /// Number of MPI calls that the flight recorder of this process stores, the last ones; 0: none. The report of
        /// mpiexec on a process that hangs or dies and the full error report of the process show them. Takes effect
        /// with the next call; a change may discard earlier calls.
        pub recorder_depth: RecorderDepth = recorder::DEPTH => {
            name: "fabric_recorder_depth", unit: "calls", category: "fabric.recorder", scope: Local,
            verbosity: UserAll },
        /// Whether the flight recorder of this process stores when each call began and returned, and in which thread.
        /// mpitop --timeline and mpiexec --timeline, which sets it, make a timeline of that. Each call takes the time of
        /// two looks at the clock longer. Takes effect with the next call.
        pub recorder_times: RecorderTimes = false => {
            name: "fabric_recorder_times", unit: "", category: "fabric.recorder", scope: Local,
            verbosity: UserAll },
    }
}

impl FabricSettings {
    /// The ring length of a new job; `None`: chosen by the number of ranks.
    pub fn ring_length(&self) -> Option<usize> {
        let bytes = self.ring_bytes.get() as usize;
        // The range is that of the declaration, so the next power of two is in range.
        (bytes != 0).then(|| bytes.next_power_of_two().clamp(MIN_RING_BYTES, MAX_RING_BYTES))
    }
}

/// The type of the recorder's depth.
#[derive(Debug)]
pub enum RecorderDepth {}

/// The type of the switch for the recorder's times.
#[derive(Debug)]
pub enum RecorderTimes {}

/// A word that is passed to the recorder when it changes.
pub struct RecorderCell {
    word: AtomicU64,
    recorder: OnceLock<Recorder>,
    pass: fn(&Recorder, u64),
    is_switch: bool,
}

impl fmt::Debug for RecorderCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecorderCell").field(&self.word).finish()
    }
}

impl RecorderCell {
    fn new(initial: u64, is_switch: bool, pass: fn(&Recorder, u64)) -> RecorderCell {
        RecorderCell { word: AtomicU64::new(initial), recorder: OnceLock::new(), pass, is_switch }
    }

    /// Connects the word to this recorder. Only the first one counts.
    pub(crate) fn govern(&self, recorder: Recorder) {
        (self.pass)(self.recorder.get_or_init(|| recorder), self.word.load(Ordering::Relaxed));
    }
}

impl Cell for RecorderCell {
    fn read(&self) -> Value {
        let word = self.word.load(Ordering::Relaxed);
        if self.is_switch { Value::I32(word as i32) } else { Value::U64(word) }
    }

    fn write(&self, value: &Value) -> TResult<()> {
        let word = match value {
            Value::U64(depth) if !self.is_switch => *depth,
            Value::I32(on) if self.is_switch => u64::from(*on != 0),
            _ => return Err(TError::INVALID),
        };
        let before = self.word.swap(word, Ordering::Relaxed);
        if self.is_switch && before != word {
            // Short ways of calls record no times. Settings are never dropped, so what is requested stays balanced.
            mpi_t::request_whole_calls(word != 0);
        }
        if let Some(recorder) = self.recorder.get() {
            (self.pass)(recorder, word);
        }
        Ok(())
    }

    fn word(&self) -> Option<&AtomicU64> {
        Some(&self.word)
    }
}

impl SettingType for RecorderDepth {
    type Cell = RecorderCell;
    type Initial = u64;
    const TYPE: ValueType = ValueType::U64;
    const LIMITS: Limits = Limits::Whole(0, recorder::MOST as i128);

    fn cell(initial: u64) -> RecorderCell {
        RecorderCell::new(initial, false, Recorder::set_depth)
    }
}

impl SettingType for RecorderTimes {
    type Cell = RecorderCell;
    type Initial = bool;
    const TYPE: ValueType = ValueType::I32;
    const LIMITS: Limits = Limits::Whole(0, 1);
    const STATES: Option<&'static EnumDef> = Some(&SWITCH);

    fn cell(initial: bool) -> RecorderCell {
        debug_assert!(!initial, "a switch that is on from the beginning would have to request whole calls");
        RecorderCell::new(initial.into(), true, |recorder, on| recorder.set_times(on != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoint;

    #[test]
    fn ring_lengths_are_powers_of_two_and_the_variable_has_the_actual_one() {
        for (given, due) in
            [(0, None), (1, Some(16384)), (65536, Some(65536)), (65537, Some(131072)), (1 << 24, Some(1 << 24))]
        {
            let settings = FabricSettings::new();
            settings.ring_bytes.set(given);
            assert_eq!(settings.ring_length(), due, "{given}");
        }
        let settings = FabricSettings::new();
        settings.ring_bytes.set(20000);
        let endpoint = Endpoint::alone(settings).expect("memory for one rank");
        assert_eq!((settings.ring_bytes.get(), endpoint.job().ring_bytes()), (32768, 32768));
    }

    #[test]
    fn as_many_calls_are_stored_as_the_depth() {
        let settings = FabricSettings::new();
        settings.recorder_depth.write(&Value::U64(3)).expect("a number");
        let recorder = Endpoint::alone(settings).expect("memory for one rank").recorder();
        let calls = || recorder.calls().iter().map(|call| call.sequence).collect::<Vec<_>>();
        (0..5).for_each(|_| recorder.record(1, 0, 0, 0, 0));
        assert_eq!(calls(), [3, 4, 5]);
        settings.recorder_depth.write(&Value::U64(2000)).expect("a number");
        (0..3000).for_each(|_| recorder.record(1, 0, 0, 0, 0));
        assert_eq!((calls().len(), calls()[0]), (2000, 1006));
        settings.recorder_depth.write(&Value::U64(0)).expect("a number");
        let open = recorder.enter(1, 0, 0, 0, 0);
        assert!(calls().is_empty() && recorder.current().is_none());
        open.leave();
        settings.recorder_depth.write(&Value::U64(1)).expect("a number");
        recorder.record(2, 0, 0, 0, 0);
        assert_eq!(recorder.current().map(|call| (call.sequence, call.function)), Some((3007, 2)));
    }

    #[test]
    fn calls_have_times_while_the_variable_says_so() {
        let settings = FabricSettings::new();
        let recorder = Endpoint::alone(settings).expect("memory for one rank").recorder();
        recorder.enter(1, 0, 0, 0, 0).leave();
        settings.recorder_times.write(&Value::I32(1)).expect("a switch");
        let (before, open) = (mpi_core::clock::now_ns(), recorder.enter(2, 0, 0, 0, 0));
        recorder.receives(3, 4);
        recorder.record(3, 0, 0, 0, 0);
        open.leave();
        // The times stay when the depth changes.
        settings.recorder_depth.write(&Value::U64(100)).expect("a number");
        let still_open = recorder.enter(4, 0, 0, 0, 0);
        let after = mpi_core::clock::now_ns();
        let calls = recorder.timed_calls();
        let times: Vec<_> = calls.iter().map(|timed| timed.times).collect();
        let [None, Some(sent), Some(short), Some(begun)] = times[..] else { panic!("{calls:?}") };
        assert_eq!((sent.second, short.second), (Some((3, 4)), None));
        assert_eq!((short.end_ns, begun.end_ns), (Some(short.begin_ns), None));
        let end = sent.end_ns.expect("it has returned");
        assert!(sent.thread != 0 && sent.thread == begun.thread, "{sent:?}");
        let order = [before, sent.begin_ns, short.begin_ns, end, begun.begin_ns, after];
        assert!(order.is_sorted(), "{order:?}");
        settings.recorder_times.write(&Value::I32(0)).expect("a switch");
        still_open.leave();
        recorder.record(5, 0, 0, 0, 0);
        assert!(recorder.timed_calls().last().is_some_and(|timed| timed.times.is_none()));
    }
}
