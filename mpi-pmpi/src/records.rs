//! The records that the tools `profile` and `timeline` write in memory which `mpiexec` reads when the job has ended.
//!
//! Both are files of 64-bit words in the machine's order. A rank maps its file and writes it with plain stores, so that
//! nothing is lost when the rank is killed. The file begins with a head of [`HEAD_WORDS`] words.
//! Invariant: a reader accepts any contents; what is no record is left out. Not here: who writes and reads them
//! (mpi-stack, mpi-launch).

use std::fmt;

/// Environment variable with the tools of the stack, separated by `:`.
pub const TOOLS: &str = "FERRUM_TOOLS";
/// Environment variable with the file for the tool `profile`, a [`Place`].
pub const PROFILE_FD: &str = "FERRUM_PROFILE_FD";
/// Environment variable with the file for the tool `timeline`, a [`Place`].
pub const TIMELINE_FD: &str = "FERRUM_TIMELINE_FD";
/// Environment variable with the name of the file for the tool `calls`; `%r` stands for the rank, `%p` for the process.
pub const CALLS_FILE: &str = "FERRUM_CALLS_FILE";
/// The tools that the stack library itself has; other names in the list are files.
pub const OWN_TOOLS: [&str; 3] = ["calls", "profile", "timeline"];

/// Whether a function sends a message and receives another one, whose source and tag are in [`Event::second`].
pub fn sends_and_receives(function: u16) -> bool {
    use mpi_core::functions::*;
    matches!(
        function,
        MPI_SENDRECV
            | MPI_SENDRECV_C
            | MPI_SENDRECV_REPLACE
            | MPI_SENDRECV_REPLACE_C
            | MPI_ISENDRECV
            | MPI_ISENDRECV_C
            | MPI_ISENDRECV_REPLACE
            | MPI_ISENDRECV_REPLACE_C
    )
}

/// The first word of a file.
pub const MAGIC: u64 = 0x4645_5252_5354_4B31;
/// Words of the head.
pub const HEAD_WORDS: usize = 8;
/// Bytes before the records of a timeline: a multiple of every size of a page.
pub const TIMELINE_START: u64 = 1 << 16;
/// Bytes of a part of a timeline, which a rank maps at once.
pub const PART_BYTES: u64 = 1 << 21;
/// Bytes of the file of a timeline where the limit of file sizes permits it; what is not written takes no room.
pub const TIMELINE_BYTES: u64 = TIMELINE_START + (PART_BYTES << 13);
/// Words of a row of a profile, and of a record of a timeline.
pub const ROW_WORDS: usize = 8;

/// Places of the words of the head.
pub mod head {
    /// [`super::MAGIC`], once the process uses the file.
    pub const MAGIC: usize = 0;
    /// Number of functions of the writer, which is [`mpi_core::functions::COUNT`].
    pub const FUNCTIONS: usize = 1;
    /// The process that uses the file, also after it has executed another program; others leave it alone.
    pub const PROCESS: usize = 2;
    /// Number of records begun.
    pub const USED: usize = 3;
    /// Number of records for which there was no room.
    pub const LOST: usize = 4;
}

/// Places of the words of a row of a profile; the row of a function is at its number.
pub mod row {
    /// Calls begun.
    pub const BEGUN: usize = 0;
    /// Calls that have returned.
    pub const RETURNED: usize = 1;
    /// Sum of their times in nanoseconds.
    pub const TOTAL_NS: usize = 2;
    /// The longest of their times.
    pub const LONGEST_NS: usize = 3;
    /// Sum of the bytes that their arguments describe.
    pub const BYTES: usize = 4;
}

/// Bytes of the file of a profile.
pub const PROFILE_BYTES: u64 = ((mpi_core::functions::COUNT as usize + 2) * ROW_WORDS * 8) as u64;

/// A file that a rank inherits: its descriptor, and what identifies the file, as a program may have closed the descriptor
/// and use its number for a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The descriptor.
    pub descriptor: i32,
    /// The number of the file's device.
    pub device: u64,
    /// The file's number on its device.
    pub inode: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.descriptor, self.device, self.inode)
    }
}

impl Place {
    /// The place that a variable's value describes; `None` for another text.
    pub fn parse(value: &str) -> Option<Place> {
        let mut parts = value.split(':');
        let place = Place {
            descriptor: parts.next()?.parse().ok().filter(|descriptor| *descriptor >= 0)?,
            device: parts.next()?.parse().ok()?,
            inode: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(place)
    }
}

/// A call in a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Number of the function.
    pub function: u16,
    /// The system's number of the thread.
    pub thread: u32,
    /// When it began, in nanoseconds of the system's monotonic clock.
    pub start_ns: u64,
    /// When it returned; 0 if it did not.
    pub end_ns: u64,
    /// The bytes that the arguments describe.
    pub bytes: Option<u64>,
    /// The rank of the other process, or of the root.
    pub peer: Option<i32>,
    /// The tag.
    pub tag: Option<i32>,
    /// The handle of the communicator, window or file.
    pub object: Option<u64>,
    /// The error code that it returned.
    pub code: i32,
    /// Source and tag of the receive of a call that sends and receives.
    pub second: Option<(i32, i32)>,
}

impl Event {
    /// The words of a record; the last one is stored last, and is 0 in a record that is not complete.
    pub fn to_words(&self) -> [u64; ROW_WORDS] {
        let signed = |value: Option<i32>| u64::from(value.unwrap_or(0) as u32);
        let flags = 1
            | u64::from(self.peer.is_some()) << 1
            | u64::from(self.tag.is_some()) << 2
            | u64::from(self.object.is_some()) << 3
            | u64::from(self.second.is_some()) << 4;
        let (source, receive_tag) = self.second.unwrap_or_default();
        [
            u64::from(self.function) | u64::from(self.thread) << 32,
            self.start_ns,
            self.end_ns,
            self.bytes.map_or(0, |bytes| bytes.saturating_add(1)),
            signed(self.peer) | signed(self.tag) << 32,
            self.object.unwrap_or(0),
            u64::from(self.code as u32) | u64::from(source as u32) << 32,
            flags | u64::from(receive_tag as u32) << 32,
        ]
    }

    /// A record; `None` for one that was not completed.
    pub fn from_words(words: &[u64; ROW_WORDS]) -> Option<Event> {
        let [call, start_ns, end_ns, bytes, place, object, code, flags] = *words;
        let has = |bit: u32| flags >> bit & 1 == 1;
        has(0).then(|| Event {
            function: call as u16,
            thread: (call >> 32) as u32,
            start_ns,
            end_ns,
            bytes: bytes.checked_sub(1),
            peer: has(1).then_some(place as u32 as i32),
            tag: has(2).then_some((place >> 32) as u32 as i32),
            object: has(3).then_some(object),
            code: code as u32 as i32,
            second: has(4).then_some(((code >> 32) as u32 as i32, (flags >> 32) as u32 as i32)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_were_written() {
        let place = Place { descriptor: 7, device: u64::MAX, inode: 12 };
        assert_eq!(Place::parse(&place.to_string()), Some(place));
        for wrong in ["", "7", "7:1", "7:1:2:3", "-1:1:2", "7:x:2", "7:1:"] {
            assert_eq!(Place::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn events_are_read_as_they_were_written() {
        let event = Event {
            function: 400,
            thread: u32::MAX,
            start_ns: 5,
            end_ns: 9,
            bytes: Some(0),
            peer: Some(-2),
            tag: Some(i32::MIN),
            object: None,
            code: 15,
            second: Some((-1, i32::MIN)),
        };
        assert_eq!(Event::from_words(&event.to_words()), Some(event));
        let empty = Event { bytes: None, peer: None, tag: None, object: Some(0), second: None, ..event };
        assert_eq!(Event::from_words(&empty.to_words()), Some(empty));
        assert_eq!(Event::from_words(&[0; ROW_WORDS]), None);
    }
}
