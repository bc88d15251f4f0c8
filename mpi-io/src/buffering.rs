//! Hints about collective buffering and data sieving, named as ROMIO names them.
//!
//! | key | values | effect |
//! | --- | --- | --- |
//! | `romio_cb_write`, `romio_cb_read` | `automatic`, `enable`, `disable` | collective accesses go through shared windows |
//! | `cb_nodes` | 1 to the number of processes | processes that make the system calls for windows, in turn |
//! | `cb_buffer_size` | 4096 to 2147483647 | bytes of a window; a file has two |
//! | `romio_ds_write` | `automatic`, `enable`, `disable` | strided writes read, change and write back a range of the file, and all writes lock theirs; `automatic`: where no other handle can lose data (`openers`) |
//! | `romio_ds_read` | `automatic`, `enable`, `disable` | strided reads read the gaps too |
//! | `ind_wr_buffer_size`, `ind_rd_buffer_size` | 4096 to 2147483647 | bytes that are written back or read at once |
//!
//! Invariant: the hints of [`Buffering`] are those of rank 0 in all processes, so that all take the same decisions.
//! Not here: other hints, and the object of the program (`hints`).

use mpi_core::Info;

const CB_WRITE: &str = "romio_cb_write";
const CB_READ: &str = "romio_cb_read";
const CB_NODES: &str = "cb_nodes";
const CB_BUFFER_SIZE: &str = "cb_buffer_size";
const DS_WRITE: &str = "romio_ds_write";
const DS_READ: &str = "romio_ds_read";
const IND_WR_BUFFER_SIZE: &str = "ind_wr_buffer_size";
const IND_RD_BUFFER_SIZE: &str = "ind_rd_buffer_size";

/// Bytes of a buffer that a hint may choose.
const SIZES: std::ops::RangeInclusive<u64> = 4096..=i32::MAX as u64;
const NODES: u64 = (1 << 26) - 1;

/// Whether a way of access is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Choice {
    /// Where it is expected to be faster.
    #[default]
    Automatic,
    /// Wherever it is possible.
    Enable,
    /// Never.
    Disable,
}

impl Choice {
    const ALL: [(Choice, &'static str); 3] =
        [(Choice::Automatic, "automatic"), (Choice::Enable, "enable"), (Choice::Disable, "disable")];

    fn of(text: &str) -> Option<Choice> {
        Choice::ALL.iter().find(|(_, name)| *name == text.trim()).map(|(choice, _)| *choice)
    }

    fn text(self) -> &'static str {
        Choice::ALL[self as usize].1
    }
}

/// The hints on which all processes agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buffering {
    /// Collective writes go through windows.
    pub cb_write: Choice,
    /// Collective reads go through windows.
    pub cb_read: Choice,
    /// Strided writes write back the gaps.
    pub ds_write: Choice,
    /// Processes that make system calls for windows; above their number, all of them.
    nodes: u64,
    /// Bytes of a window.
    pub window: u64,
}

impl Default for Buffering {
    fn default() -> Buffering {
        Buffering {
            cb_write: Choice::Automatic,
            cb_read: Choice::Automatic,
            ds_write: Choice::Automatic,
            nodes: NODES,
            window: 1 << 20,
        }
    }
}

impl Buffering {
    /// Sets the hints of the program; absent hints and those with bad values keep their value.
    pub fn take(&mut self, info: &Info) {
        let choice = |key| info.get(key).and_then(Choice::of);
        self.cb_write = choice(CB_WRITE).unwrap_or(self.cb_write);
        self.cb_read = choice(CB_READ).unwrap_or(self.cb_read);
        self.ds_write = choice(DS_WRITE).unwrap_or(self.ds_write);
        self.nodes = number(info, CB_NODES).filter(|nodes| *nodes > 0).map_or(self.nodes, |nodes| nodes.min(NODES));
        self.window = size(info, CB_BUFFER_SIZE).unwrap_or(self.window);
    }

    /// The processes of `all` that make system calls for windows; without a hint, one on each host of several.
    pub fn nodes(&self, all: u32, hosts: Option<u32>) -> u64 {
        match hosts {
            Some(hosts) if self.nodes == NODES => u64::from(hosts),
            _ => self.nodes.min(u64::from(all)),
        }
    }

    /// One number for a report to other processes, below 2^63.
    pub fn to_word(self) -> u64 {
        self.cb_write as u64
            | (self.cb_read as u64) << 2
            | (self.ds_write as u64) << 4
            | self.nodes << 6
            | self.window << 32
    }

    /// The hints of another process; what is none of them is the default.
    pub fn from_word(word: u64) -> Buffering {
        let choice = |bits: u64| Choice::ALL.get(bits as usize & 3).map_or_else(Choice::default, |(choice, _)| *choice);
        Buffering {
            cb_write: choice(word),
            cb_read: choice(word >> 2),
            ds_write: choice(word >> 4),
            nodes: (word >> 6 & NODES).max(1),
            window: (word >> 32).clamp(*SIZES.start(), *SIZES.end()),
        }
    }

    /// The keys and values in use, in a file of so many processes, and hosts if there are several.
    pub fn texts(&self, processes: u32, hosts: Option<u32>) -> [(&'static str, String); 5] {
        [
            (CB_WRITE, self.cb_write.text().to_owned()),
            (CB_READ, self.cb_read.text().to_owned()),
            (CB_NODES, self.nodes(processes, hosts).to_string()),
            (CB_BUFFER_SIZE, self.window.to_string()),
            (DS_WRITE, self.ds_write.text().to_owned()),
        ]
    }
}

/// The hints of one process about its own strided accesses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sieving {
    /// Reads read the gaps too.
    pub read: Choice,
    /// Bytes that are read at once.
    pub read_bytes: u64,
    /// Bytes that are written back at once.
    pub write_bytes: u64,
}

impl Default for Sieving {
    fn default() -> Sieving {
        Sieving { read: Choice::Automatic, read_bytes: 256 << 10, write_bytes: 256 << 10 }
    }
}

impl Sieving {
    /// As [`Buffering::take`].
    pub fn take(&mut self, info: &Info) {
        self.read = info.get(DS_READ).and_then(Choice::of).unwrap_or(self.read);
        self.read_bytes = size(info, IND_RD_BUFFER_SIZE).unwrap_or(self.read_bytes);
        self.write_bytes = size(info, IND_WR_BUFFER_SIZE).unwrap_or(self.write_bytes);
    }

    /// The keys and values in use.
    pub fn texts(&self) -> [(&'static str, String); 3] {
        [
            (DS_READ, self.read.text().to_owned()),
            (IND_RD_BUFFER_SIZE, self.read_bytes.to_string()),
            (IND_WR_BUFFER_SIZE, self.write_bytes.to_string()),
        ]
    }
}

fn number(info: &Info, key: &str) -> Option<u64> {
    info.get(key).and_then(|text| text.trim().parse().ok())
}

fn size(info: &Info, key: &str) -> Option<u64> {
    number(info, key).filter(|bytes| SIZES.contains(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(pairs: &[(&str, &str)]) -> Info {
        let mut info = Info::new();
        pairs.iter().for_each(|(key, value)| info.set(key, value).expect("short"));
        info
    }

    #[test]
    fn hints_keep_their_values_on_the_way_to_other_processes() {
        let mut hints = Buffering::default();
        assert_eq!(Buffering::from_word(hints.to_word()), hints);
        hints.take(&info(&[(CB_WRITE, "enable"), (CB_READ, "disable"), (DS_WRITE, "enable")]));
        hints.take(&info(&[(CB_NODES, "3"), (CB_BUFFER_SIZE, "2147483647")]));
        assert_eq!((hints.cb_write, hints.cb_read, hints.ds_write), (Choice::Enable, Choice::Disable, Choice::Enable));
        assert_eq!((hints.nodes(2, None), hints.nodes(9, Some(2)), hints.window), (2, 3, 2147483647));
        assert!(hints.to_word() < 1 << 63);
        assert_eq!(Buffering::from_word(hints.to_word()), hints);
        assert_eq!(Buffering::from_word(u64::MAX).window, 2147483647);
        assert_eq!(Buffering::from_word(0).nodes(5, None), 1);
        let unset = Buffering::from_word(Buffering::default().to_word());
        assert_eq!((unset.nodes(5, None), unset.nodes(5, Some(2))), (5, 2));
    }

    #[test]
    fn bad_values_are_ignored() {
        let (mut hints, mut own) = (Buffering::default(), Sieving::default());
        for value in ["", "-1", "0", "4095", "2147483648", "many", "Enable"] {
            let keys = [CB_WRITE, CB_READ, CB_BUFFER_SIZE, DS_WRITE, DS_READ, IND_WR_BUFFER_SIZE, IND_RD_BUFFER_SIZE];
            keys.iter().for_each(|key| {
                hints.take(&info(&[(key, value)]));
                own.take(&info(&[(key, value)]));
            });
        }
        hints.take(&info(&[(CB_NODES, "0")]));
        assert_eq!((hints, own.texts()), (Buffering::default(), Sieving::default().texts()));
    }
}
