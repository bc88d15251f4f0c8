//! Instruments in the job memory: the values that a rank maintains, with a table that describes each of them.
//!
//! The area is a sequence of entries, appended and never moved: *types* (a block type and its variables) and *blocks*
//! (the words of one object, and which type they have). A freed block's words are zeroed and used again for a block of
//! the same type. A reader in another process therefore needs only the area: `FORMAT.md`, section "Instruments".
//!
//! Invariant: `used` is stored (Release) after the entry it covers is whole; a block's `object` changes only while its
//! state is FREE. Not here: what the values mean (mpi-t).

mod read;
mod sums;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mpi_t::{Bind, BlockDescription, InstrumentMemory, PvarClass, PvarDef, ValueType};

use crate::job::Job;
use crate::layout::block;
use crate::mapping::Mapping;
use crate::traffic::TrafficArea;

pub use read::{BlockReading, VariableReading};
pub use sums::{Summand, Sums};

/// Offset of the first entry in the area; the word before it all is `used`.
const FIRST: usize = 64;
/// Low half of an entry's first word: a block type.
const TYPE: u64 = 1;
/// A block in use.
const LIVE: u64 = 2;
/// A block that was freed.
const FREE: u64 = 3;
/// Bytes of a type before its variables, and of a block before its words.
const ENTRY_HEAD: usize = 64;
/// Bytes of one variable's description.
const VARIABLE: usize = 160;
/// Text fields inside it: offset and length.
const NAME: (usize, usize) = (16, 64);
const UNIT: (usize, usize) = (80, 24);
const CATEGORY: (usize, usize) = (104, 56);
/// A type's or object's name in the entry's head.
const TITLE: (usize, usize) = (16, 48);

/// The instrument memory of one rank. Thread-safe.
pub struct JobInstruments {
    area: Area,
    state: Mutex<Directory>,
    traffic: TrafficArea,
    keeps_peaks: bool,
}

/// The owner's private index, so that it does not search the area, which other processes can write.
#[derive(Default)]
struct Directory {
    used: usize,
    /// By name and number of words; several types can have both in common if variables of two classes have one name.
    types: HashMap<(&'static str, usize), Vec<Type>>,
    /// Freed blocks of a type, by the type's offset.
    free: HashMap<usize, Vec<usize>>,
    /// The block of each slice that was returned, by address.
    live: HashMap<usize, Placed>,
}

/// A type of block as it stands in the area.
struct Type {
    at: usize,
    variables: &'static [PvarDef],
}

impl Type {
    /// Whether its entry describes exactly these variables.
    fn describes(&self, variables: &'static [PvarDef]) -> bool {
        // Types declared in Rust nearly always have one address for their variables.
        std::ptr::eq(self.variables, variables) || self.variables.iter().map(shown).eq(variables.iter().map(shown))
    }
}

/// The description of a variable in the area.
fn shown(variable: &PvarDef) -> (&str, &str, &str, PvarClass, ValueType, Bind, usize) {
    let PvarDef { name, unit, category, class, value, bind, word, .. } = *variable;
    (name, unit, category, class, value, bind, word)
}

struct Placed {
    at: usize,
    of_type: usize,
}

impl JobInstruments {
    /// The area of a rank; this must be its only writer.
    pub(crate) fn new(job: &Job, rank: u32) -> JobInstruments {
        JobInstruments {
            area: Area::of(job, rank),
            state: Mutex::new(Directory { used: FIRST, ..Directory::default() }),
            traffic: TrafficArea::new(job, rank),
            keeps_peaks: job.keeps_peaks(),
        }
    }

    /// The counters of messages by classes of sizes, of which `traffic::Traffic::sizes` are read.
    pub fn sizes(&self) -> &'static [AtomicU64] {
        self.traffic.sizes()
    }

    /// Whether the greatest levels of all queues are to be kept.
    pub fn keeps_peaks(&self) -> bool {
        self.keeps_peaks
    }

    /// Keeps the highest levels of the queues of a communicator that is freed (`traffic::Traffic::freed_peaks`).
    pub fn note_peaks(&self, peaks: [Option<u64>; 3]) {
        self.traffic.note_peaks(peaks);
    }

    /// The contents of the area, as a reader in another process sees them.
    pub fn read(&self) -> Vec<BlockReading> {
        read::blocks(&self.area)
    }
}

/// The contents of a rank's instruments, for readers in any process.
pub fn read(job: &Job, rank: u32) -> Vec<BlockReading> {
    read::blocks(&Area::of(job, rank))
}

impl InstrumentMemory for JobInstruments {
    fn allocate(&self, words: usize, description: &BlockDescription<'_>) -> Option<&'static [AtomicU64]> {
        let mut directory = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, variables) = ((description.block, words), description.variables);
        let of_name = directory.types.get(&key).into_iter().flatten();
        let of_type = match of_name.into_iter().find(|described| described.describes(variables)) {
            Some(described) => described.at,
            None => {
                let at = self.add_type(&mut directory, words, description)?;
                directory.types.entry(key).or_default().push(Type { at, variables });
                at
            }
        };
        let at = match directory.free.get_mut(&of_type).and_then(Vec::pop) {
            Some(at) => at,
            None => {
                let at = self.grow(&mut directory, ENTRY_HEAD + words * 8)?;
                self.area.word(at + 8).store((of_type as u64) << 32 | words as u64, Ordering::Relaxed);
                at
            }
        };
        self.area.put_text(at, TITLE, description.object);
        // Release pairs with the Acquire in `read`: the title is there when the block is live.
        self.area.word(at).store(((ENTRY_HEAD + words * 8) as u64) << 32 | LIVE, Ordering::Release);
        self.publish(&directory);
        let slice = self.area.words(at + ENTRY_HEAD, words);
        directory.live.insert(slice.as_ptr().addr(), Placed { at, of_type });
        Some(slice)
    }

    fn release(&self, words: &'static [AtomicU64]) -> bool {
        let mut directory = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Placed { at, of_type }) = directory.live.remove(&words.as_ptr().addr()) else {
            return self.traffic.release(words);
        };
        self.area.word(at).store(((ENTRY_HEAD + words.len() * 8) as u64) << 32 | FREE, Ordering::Release);
        words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        directory.free.entry(of_type).or_default().push(at);
        true
    }

    fn allocate_rows(&self, words: usize, peers: &[u32]) -> Option<&'static [AtomicU64]> {
        self.traffic.allocate(words, peers)
    }

    fn note_rows(&self, words: &'static [AtomicU64], peers: &[u32]) {
        self.traffic.note(words, peers);
    }

    fn rename(&self, words: &'static [AtomicU64], object: &str) {
        let directory = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Placed { at, .. }) = directory.live.get(&words.as_ptr().addr()) else { return };
        let entry = ((ENTRY_HEAD + words.len() * 8) as u64) << 32;
        // A reader that comes now finds no block; one that is reading it, or sees the state late, may see a part of
        // each name, and still reads the values. No other access depends on the first store, so it is Relaxed; the
        // second pairs with the Acquire in `read`: the title is there when the block is live.
        self.area.word(*at).store(entry | FREE, Ordering::Relaxed);
        self.area.put_text(*at, TITLE, object);
        self.area.word(*at).store(entry | LIVE, Ordering::Release);
    }
}

impl JobInstruments {
    /// Reserves an entry; it is not visible before `publish`.
    fn grow(&self, directory: &mut Directory, bytes: usize) -> Option<usize> {
        let at = directory.used;
        let end = at + bytes.next_multiple_of(8);
        (end <= block::INSTRUMENTS_BYTES).then(|| {
            directory.used = end;
            at
        })
    }

    fn publish(&self, directory: &Directory) {
        // Release pairs with the Acquire in `read`.
        self.area.word(0).store(directory.used as u64, Ordering::Release);
    }

    fn add_type(&self, directory: &mut Directory, words: usize, what: &BlockDescription<'_>) -> Option<usize> {
        let bytes = ENTRY_HEAD + what.variables.len() * VARIABLE;
        // A type without room for one of its blocks would only waste the rest.
        if directory.used + bytes + ENTRY_HEAD + words * 8 > block::INSTRUMENTS_BYTES {
            return None;
        }
        let at = self.grow(directory, bytes)?;
        let area = &self.area;
        area.word(at).store((bytes as u64) << 32 | TYPE, Ordering::Relaxed);
        area.word(at + 8).store((what.variables.len() as u64) << 32 | words as u64, Ordering::Relaxed);
        area.put_text(at, TITLE, what.block);
        for (i, variable) in what.variables.iter().enumerate() {
            area.put_variable(at + ENTRY_HEAD + i * VARIABLE, variable, words);
        }
        Some(at)
    }
}

/// One rank's area.
struct Area {
    mapping: Arc<Mapping>,
    at: usize,
    /// Where this rank's block ends.
    end: usize,
}

impl Area {
    fn of(job: &Job, rank: u32) -> Area {
        let at = job.layout().block_at(rank);
        Area { mapping: job.mapping().clone(), at: at + block::INSTRUMENTS, end: at + block::BYTES }
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < block::INSTRUMENTS_BYTES);
        self.mapping.word(self.at + at)
    }

    fn words(&self, at: usize, count: usize) -> &'static [AtomicU64] {
        assert!(at.is_multiple_of(8) && at + count * 8 <= block::INSTRUMENTS_BYTES);
        let address = self.mapping.at(self.at + at, count * 8).cast::<AtomicU64>();
        self.mapping.keep(self.end);
        // SAFETY: inside the part of the mapping that is never unmapped, by the call above; aligned; any bits are valid
        // atomics.
        unsafe { std::slice::from_raw_parts(address.as_ptr(), count) }
    }

    /// Writes a text, cut to its field at a character's border, padded with zeros.
    fn put_text(&self, entry: usize, (at, len): (usize, usize), text: &str) {
        let cut = &text.as_bytes()[..text.floor_char_boundary(len)];
        for (i, word) in (0..len).step_by(8).enumerate() {
            let mut bytes = [0u8; 8];
            let part = cut.get(i * 8..).unwrap_or(&[]);
            let n = part.len().min(8);
            bytes[..n].copy_from_slice(&part[..n]);
            self.word(entry + at + word).store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        }
    }

    fn put_variable(&self, at: usize, variable: &PvarDef, words: usize) {
        // Readers outside want the highest level, which stands behind the level.
        let peak = variable.word + mpi_t::PEAK_WORD;
        let word = if variable.class == PvarClass::HighWatermark && peak < words { peak } else { variable.word };
        let value = match variable.value {
            ValueType::I32 => 0,
            ValueType::U32 => 1,
            ValueType::U64 => 2,
            ValueType::F64 => 3,
            ValueType::Text => 4,
        };
        self.word(at).store((variable.class as u32 as u64) << 32 | word as u64, Ordering::Relaxed);
        self.word(at + 8).store((variable.bind as u32 as u64) << 32 | value, Ordering::Relaxed);
        self.put_text(at, NAME, variable.name);
        self.put_text(at, UNIT, variable.unit);
        self.put_text(at, CATEGORY, variable.category);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobOptions;
    use mpi_t::{Counter, Instruments, Level, Registry, VariableTexts};

    mpi_t::instruments! {
        /// A queue's.
        struct QueueBlock: Comm {
            /// Items that came.
            items: Counter = { name: "test_items", class: Counter, type: u64, unit: "items", category: "test.queue" },
            /// Items that are there.
            length: Level = { name: "test_length", class: Level, type: u32, unit: "items", category: "test.queue" },
        }
    }

    fn job() -> Job {
        Job::create(&JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).unwrap()
    }

    #[test]
    fn a_reader_outside_sees_values_with_their_names() {
        let job = job();
        let memory = JobInstruments::new(&job, 1);
        let world: &'static QueueBlock = mpi_t::place(&memory, "MPI_COMM_WORLD");
        let copy: &'static QueueBlock = mpi_t::place(&memory, "copy");
        world.items.add(3);
        copy.items.add(4);
        copy.length.raise(2);
        let outside = Job::open(job.fd().unwrap()).unwrap();
        assert!(read(&outside, 0).is_empty());
        let blocks = read(&outside, 1);
        let shown: Vec<_> = blocks
            .iter()
            .flat_map(|block| block.variables.iter().map(|v| (&*block.object, &*v.name, v.class, v.word)))
            .collect();
        assert_eq!(
            shown,
            [
                ("MPI_COMM_WORLD", "test_items", PvarClass::Counter as i32, 3),
                ("MPI_COMM_WORLD", "test_length", PvarClass::Level as i32, 0),
                ("copy", "test_items", PvarClass::Counter as i32, 4),
                ("copy", "test_length", PvarClass::Level as i32, 2),
            ]
        );
        assert_eq!((&*blocks[0].type_name, &*blocks[0].variables[0].unit), (QueueBlock::NAME, "items"));
        assert_eq!(blocks[0].variables[1].category, "test.queue");
    }

    #[test]
    fn freed_blocks_vanish_and_are_used_again_zeroed() {
        let job = job();
        let memory = JobInstruments::new(&job, 0);
        for round in 0..10_000 {
            let block: &'static QueueBlock = mpi_t::place(&memory, &format!("communicator {round}"));
            assert_eq!(block.items.get(), 0);
            block.items.incr();
            assert_eq!(memory.read().len(), 1);
            mpi_t::retire(&memory, block);
        }
        assert!(memory.read().is_empty());
    }

    #[test]
    fn variables_of_one_name_and_two_classes_are_distinct() {
        let job = job();
        let memory = JobInstruments::new(&job, 0);
        let registry = Registry::with_environment([]);
        for (class, unit, value) in [(PvarClass::Counter, "calls", 3), (PvarClass::Level, "pages", 4)] {
            let texts = VariableTexts { name: "x", description: "", unit, category: "plug", category_description: "" };
            let words = registry.add_pvar(&memory, &texts, class, ValueType::U64, 1).expect("a new name");
            words[0].store(value, Ordering::Relaxed);
        }
        let shown: Vec<_> = memory
            .read()
            .into_iter()
            .flat_map(|block| block.variables)
            .map(|variable| (variable.name, variable.class, variable.unit, variable.word))
            .collect();
        let [counter, level] = [PvarClass::Counter, PvarClass::Level].map(|class| class as i32);
        assert_eq!(shown, [("x".into(), counter, "calls".into(), 3), ("x".into(), level, "pages".into(), 4)]);
    }

    #[test]
    fn a_full_area_leaves_the_rest_to_the_heap() {
        let job = job();
        let memory = JobInstruments::new(&job, 0);
        let description = BlockDescription { block: QueueBlock::NAME, variables: QueueBlock::VARS, object: "x" };
        let mut given = 0;
        while memory.allocate(2, &description).is_some() {
            given += 1;
        }
        assert!(given > 1000);
        assert_eq!(memory.read().len(), given);
        let foreign: &'static [AtomicU64] = Vec::leak(vec![AtomicU64::new(0), AtomicU64::new(0)]);
        assert!(!memory.release(foreign));
        memory.rename(foreign, "y");
        assert!(memory.read().iter().all(|block| block.object == "x"));
    }

    #[test]
    fn an_object_shows_its_last_name_and_keeps_its_values() {
        let job = job();
        let memory = JobInstruments::new(&job, 0);
        let [first, second] = ["first", "second"].map(|name| mpi_t::place::<QueueBlock>(&memory, name));
        first.items.add(3);
        second.items.add(4);
        mpi_t::rename(&memory, first, "a long name of which only the begin is shown to all");
        mpi_t::rename(&memory, first, "new");
        let shown: Vec<_> = memory.read().into_iter().map(|block| (block.object, block.variables[0].word)).collect();
        assert_eq!(shown, [("new".to_owned(), 3), ("second".to_owned(), 4)]);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let job = job();
        let memory = JobInstruments::new(&job, 0);
        let description = BlockDescription { block: "b", variables: &[], object: &"\u{e4}".repeat(100) };
        memory.allocate(1, &description).unwrap();
        assert_eq!(memory.read()[0].object, "\u{e4}".repeat(24));
    }
}
