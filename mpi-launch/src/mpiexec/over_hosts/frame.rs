//! The messages between `mpiexec` and its proxies on the hosts of a job, as bytes.
//!
//! A message is its length (u32), its kind (u8) and its fields, all numbers with the low byte first.
//! Invariant: any bytes are a message or an error, and no length in them makes the reader allocate more than came.
//! Not here: the connection (`link`), what messages cause (`front`, `proxy`).

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Longest message, in bytes: the values of a key-value space of a whole job fit into one.
pub(super) const LONGEST: usize = 128 << 20;

/// A value in a message.
pub(super) trait Field: Sized {
    /// Appends the value.
    fn put(&self, to: &mut Vec<u8>);
    /// Takes the value from the front of the bytes; `None` if they have none.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

fn bytes<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(first)
}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl Field for $number {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn take(from: &mut &[u8]) -> Option<$number> {
                Some(<$number>::from_le_bytes(bytes(from, size_of::<$number>())?.try_into().ok()?))
            }
        }
    )* };
}

numbers!(u8, u32, u64, i32);

impl Field for bool {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn take(from: &mut &[u8]) -> Option<bool> {
        u8::take(from).map(|byte| byte != 0)
    }
}

/// Bytes as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Field for Bytes {
    fn put(&self, to: &mut Vec<u8>) {
        put_bytes(&self.0, to);
    }

    fn take(from: &mut &[u8]) -> Option<Bytes> {
        take_bytes(from).map(|bytes| Bytes(bytes.to_vec()))
    }
}

fn put_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    (bytes.len() as u32).put(to);
    to.extend_from_slice(bytes);
}

fn take_bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let count = u32::take(from)?;
    bytes(from, count as usize)
}

impl Field for String {
    fn put(&self, to: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), to);
    }

    fn take(from: &mut &[u8]) -> Option<String> {
        std::str::from_utf8(take_bytes(from)?).ok().map(str::to_owned)
    }
}

impl Field for OsString {
    fn put(&self, to: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), to);
    }

    fn take(from: &mut &[u8]) -> Option<OsString> {
        take_bytes(from).map(|bytes| OsString::from_vec(bytes.to_vec()))
    }
}

impl Field for PathBuf {
    fn put(&self, to: &mut Vec<u8>) {
        put_bytes(self.as_os_str().as_bytes(), to);
    }

    fn take(from: &mut &[u8]) -> Option<PathBuf> {
        OsString::take(from).map(PathBuf::from)
    }
}

impl<T: Field> Field for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.is_some().put(to);
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut &[u8]) -> Option<Option<T>> {
        if bool::take(from)? { T::take(from).map(Some) } else { Some(None) }
    }
}

impl<T: Field> Field for Box<T> {
    fn put(&self, to: &mut Vec<u8>) {
        (**self).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Box<T>> {
        T::take(from).map(Box::new)
    }
}

impl<T: Field> Field for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        (self.len() as u32).put(to);
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut &[u8]) -> Option<Vec<T>> {
        // Each value has a byte at least, so that the list is no longer than the bytes.
        let count = u32::take(from)? as usize;
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(T::take(from)?);
        }
        Some(values)
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<(A, B)> {
        Some((A::take(from)?, B::take(from)?))
    }
}

/// Defines a structure whose fields are those of a message.
macro_rules! fields {
    ($(#[$attributes:meta])* $name:ident { $($(#[$field_attributes:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$attributes])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(in crate::mpiexec::over_hosts) struct $name {
            $($(#[$field_attributes])* pub(in crate::mpiexec::over_hosts) $field: $type,)*
        }

        impl Field for $name {
            fn put(&self, to: &mut Vec<u8>) {
                $(self.$field.put(to);)*
            }

            fn take(from: &mut &[u8]) -> Option<$name> {
                Some($name { $($field: <$type as Field>::take(from)?,)* })
            }
        }
    };
}

mod facts;

pub(super) use facts::WaitFacts;

fields! {
    /// One program of a job.
    ProgramPart {
        /// The program as given.
        program: OsString,
        /// Its arguments.
        arguments: Vec<OsString>,
        /// Number of its processes in the whole job.
        processes: u32,
        /// The ranks of this host that run it.
        ranks: Vec<u32>,
        /// The values of the options of the same names.
        soft: Option<String>,
        host: Option<OsString>,
        arch: Option<OsString>,
        wdir: Option<PathBuf>,
        path: Option<OsString>,
        file: Option<OsString>,
        variables: Vec<(OsString, OsString)>,
    }
}

fields! {
    /// What one host runs of a job.
    JobPart {
        /// The directory of `mpiexec`.
        directory: PathBuf,
        /// The environment of `mpiexec`.
        environment: Vec<(OsString, OsString)>,
        programs: Vec<ProgramPart>,
        /// Number of ranks of the whole job.
        size: u32,
        /// Number of this host, and how many there are.
        host: (u32, u32),
        /// By host: its name and ranks.
        hosts: Vec<(String, Vec<u32>)>,
        /// The front: what `HostInfo` has of its host, and its process id.
        front: (String, u32),
        /// A number of the job, and its secret for connections between ranks.
        number: u64,
        secret: String,
        /// Which ranks are on which host, in the form of PMI.
        mapping: String,
        /// The lines of the settings file.
        settings: String,
        variables: Vec<(OsString, OsString)>,
        cvars: Vec<(String, String)>,
        settings_file: Option<PathBuf>,
        tools: Vec<OsString>,
        profile: bool,
        trace: bool,
        /// 0: automatic, 1: cores, 2: none.
        bind: u8,
        /// The rank that gets the input; all if that is the size of the job, none if it is more.
        input: u32,
        /// Length of a ring, if it is set.
        ring_bytes: Option<u64>,
        /// Whether the blocks of all ranks are sent at their ends, for the statistics.
        statistics: bool,
        /// Whether ranks keep the greatest levels of all queues.
        peaks: bool,
        /// The time without progress of interest, in milliseconds.
        hang_ms: Option<u64>,
        /// Whether error reports may have colours.
        terminal: bool,
        /// The port of the process that spawned this job, if one did, and the values for PMI.
        parent: Option<String>,
        values: Vec<(String, String)>,
    }
}

/// Defines the messages.
macro_rules! frames {
    ($($(#[$attributes:meta])* $name:ident = $kind:literal { $($field:ident: $type:ty),* }),* $(,)?) => {
        /// A message.
        #[derive(Clone, Debug, PartialEq)]
        pub(super) enum Frame { $($(#[$attributes])* $name { $($field: $type),* }),* }

        impl Frame {
            /// Appends the message with its length.
            pub(super) fn put(&self, to: &mut Vec<u8>) {
                let at = to.len();
                to.extend_from_slice(&[0; 4]);
                match self {
                    $(Frame::$name { $($field),* } => {
                        to.push($kind);
                        $($field.put(to);)*
                    })*
                }
                let length = (to.len() - at - 4) as u32;
                to[at..at + 4].copy_from_slice(&length.to_le_bytes());
            }

            /// The message in these bytes, which come after its length.
            pub(super) fn take(mut from: &[u8]) -> Option<Frame> {
                let from = &mut from;
                let frame = match u8::take(from)? {
                    $($kind => Frame::$name { $($field: <$type as Field>::take(from)?),* },)*
                    _ => return None,
                };
                from.is_empty().then_some(frame)
            }
        }

        /// A value for each kind, for tests.
        #[cfg(test)]
        pub(super) const KINDS: &[u8] = &[$($kind),*];
    };
}

frames! {
    /// Nothing: the sender runs.
    Ping = 0 {},
    /// Proxy: who it is, by its launcher and its system, and a challenge.
    Hello = 1 { release: String, place: String, name: String, challenge: Vec<u64> },
    /// `mpiexec`: the answer to the challenge, and another one.
    Challenge = 2 { answer: u64, challenge: Vec<u64> },
    /// Proxy: the answer to that.
    Answer = 3 { answer: u64 },
    /// `mpiexec`: what to run.
    Job = 4 { part: Box<JobPart> },
    /// Proxy: all is there; warnings, and by how many nanoseconds the time of day is ahead of the host's monotonic clock.
    Ready = 5 { warnings: Vec<String>, ahead_ns: u64 },
    /// Proxy: nothing can be started; exit code and sentence.
    Refused = 6 { code: i32, sentence: String },
    /// `mpiexec`: start the ranks.
    Start = 7 {},
    /// Proxy: a rank is started; its core + 1, or 0.
    Started = 8 { rank: u32, pid: i32, core: u32 },
    /// Proxy: what a rank has written, on standard error if `error`.
    Output = 9 { rank: u32, error: bool, bytes: Bytes },
    /// Proxy: a stream of a rank has ended.
    OutputEnd = 10 { rank: u32, error: bool },
    /// `mpiexec`: so many bytes of output were taken.
    OutputTaken = 11 { bytes: u32 },
    /// `mpiexec`: the stream has no reader any more.
    CloseOutput = 12 { rank: u32, error: bool },
    /// `mpiexec`: input of the ranks that get it.
    Input = 13 { bytes: Bytes },
    /// `mpiexec`: the end of the input.
    InputEnd = 14 {},
    /// Proxy: so many bytes of the input were taken.
    InputTaken = 15 { bytes: u32 },
    /// Proxy: all ranks of the host are in the barrier of PMI, with the values that they have put since the last one.
    Fence = 16 { values: Vec<(String, String)> },
    /// `mpiexec`: the barrier ends; the values of all hosts.
    FenceEnd = 17 { values: Vec<(String, String)> },
    /// Proxy: a rank is missing in the barrier, because it has ended.
    Missed = 18 { rank: u32 },
    /// Proxy: a rank requests the end of the job; `error`: after a fatal error.
    Abort = 19 { rank: u32, code: i32, error: bool },
    /// Proxy: a rank has requested the end of a part of the job.
    PartAbort = 20 { rank: u32, code: i32, error: bool, members: Vec<u32> },
    /// Proxy: a page of a rank: its block and its traffic.
    Page = 21 { rank: u32, page: u32, bytes: Bytes },
    /// Proxy: a rank has ended, by a signal or with a code; whether it left PMI open, and whether there was no memory.
    Ended = 22 { rank: u32, killed: bool, code: i32, inside: bool, memory: bool },
    /// Proxy: state of a rank's process and hundredths of a second that it has computed.
    Activity = 23 { rank: u32, state: String, ticks: u64 },
    /// `mpiexec`: send pages, activities and waits of all ranks for the report of this number; `twice`: those of two looks.
    Report = 24 { number: u32, twice: bool },
    /// Proxy: they were sent.
    ReportEnd = 25 { number: u32 },
    /// `mpiexec`: signal the ranks; with `all` also what they have started.
    Signal = 26 { signal: i32, all: bool },
    /// `mpiexec`: signal some ranks.
    SignalPart = 27 { signal: i32, ranks: Vec<u32> },
    /// `mpiexec`: a rank of a part of the job has ended, and the others continue.
    Lost = 28 { rank: u32 },
    /// Proxy: no process is left, and all output was sent.
    Idle = 29 {},
    /// Proxy: its launcher has ended, or has requested its end by a signal.
    Leaving = 30 { signal: i32 },
    /// `mpiexec`: stops for a time, and sends nothing meanwhile.
    Pause = 31 {},
    /// `mpiexec`: all is done.
    End = 32 {},
    /// Proxy: the start of a rank has failed; exit code and sentence.
    NotStarted = 33 { code: i32, sentence: String },
    /// Proxy: a part of the calls that a rank has recorded, at a place of the file of its profile or timeline.
    Recording = 34 { rank: u32, timeline: bool, at: u64, bytes: Bytes },
    /// Proxy: what is known of a rank's waits, beyond its pages, for the report of this number.
    Waits = 35 { number: u32, rank: u32, facts: WaitFacts },
    /// Proxy: how long no rank of the host has made progress, in milliseconds.
    WithoutProgress = 36 { idle_ms: u64 },
    /// Proxy: a rank requests the start of processes, in the lines of PMI-1; `ours`: it is a process of this library.
    Spawn = 37 { rank: u32, ours: bool, lines: Bytes },
    /// `mpiexec`: a line for a rank about processes that it has spawned.
    SpawnLine = 38 { rank: u32, line: String },
    /// Proxy: something that the user should read.
    Warning = 39 { sentence: String },
    /// Proxy: what the ranks of the host are doing, for the report if the host is lost.
    Doing = 40 { text: String },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_put_is_taken() {
        let program =
            ProgramPart { program: "a".into(), ranks: vec![3, 4], soft: Some("1:2".into()), ..Default::default() };
        let part = JobPart { programs: vec![program], host: (1, 2), ring_bytes: Some(9), ..Default::default() };
        for frame in [
            Frame::Ping {},
            Frame::Job { part: Box::new(part) },
            Frame::Output { rank: 3, error: true, bytes: Bytes(vec![0, 255]) },
            Frame::Fence { values: vec![("k".into(), "v".into())] },
            Frame::Ended { rank: 1, killed: true, code: 9, inside: false, memory: true },
        ] {
            let mut bytes = Vec::new();
            frame.put(&mut bytes);
            assert_eq!(u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize, bytes.len() - 4);
            assert_eq!(Frame::take(&bytes[4..]), Some(frame.clone()));
            assert!((4..bytes.len()).all(|end| Frame::take(&bytes[4..end]).is_none()), "{frame:?}");
            bytes.push(0);
            assert_eq!(Frame::take(&bytes[4..]), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_none(kind in 0..45u8, bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let whole: Vec<u8> = std::iter::once(kind).chain(bytes).collect();
            if let Some(frame) = Frame::take(&whole) {
                prop_assert!(KINDS.contains(&kind));
                let mut again = Vec::new();
                frame.put(&mut again);
                prop_assert!(again.len() <= whole.len() + 4);
            }
        }
    }
}
