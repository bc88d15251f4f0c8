//! What `mpiexec` reads of an ELF file before it starts anything: whether a tool can be loaded, whether tools reach a
//! program.
//!
//! Invariant: any bytes may be read; a reference outside the file is a malformed file.

use std::fs;
use std::io;
use std::path::Path;

/// A file that can be read as ELF of this machine's class.
pub(super) struct Elf {
    bytes: Vec<u8>,
}

/// Why a file is no shared object for this machine. `Display` continues "it".
#[derive(Debug, thiserror::Error)]
pub(super) enum Wrong {
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("is a directory")]
    Directory,
    #[error("is no shared object (ELF)")]
    NoElf,
    #[error("is a file of {0} bits, but programs here have 64")]
    Class(u32),
    #[error("is for another machine (number {found} of the ELF format, this one has {own})")]
    Machine { found: u16, own: u16 },
    #[error("is no shared object, but {0}")]
    Kind(&'static str),
    #[error("is damaged or cut off")]
    Damaged,
}

/// Number of this machine in the format.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
const ET_EXEC: u16 = 2;
const ET_DYN: u16 = 3;
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const SHT_SYMTAB: u32 = 2;
const SHT_DYNSYM: u32 = 11;

impl Elf {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Elf, Wrong> {
        let kind = fs::metadata(path)?;
        if kind.is_dir() {
            return Err(Wrong::Directory);
        }
        // A pipe would wait for its writer, and a device may have no end.
        if !kind.is_file() {
            return Err(Wrong::NoElf);
        }
        Elf::new(fs::read(path)?)
    }

    fn new(bytes: Vec<u8>) -> Result<Elf, Wrong> {
        if bytes.get(..4) != Some(b"\x7fELF") {
            return Err(Wrong::NoElf);
        }
        match bytes.get(4..6) {
            Some([2, 1]) => {}
            Some([1, _]) => return Err(Wrong::Class(32)),
            Some([2, _]) => return Err(Wrong::NoElf),
            _ => return Err(Wrong::Damaged),
        }
        let elf = Elf { bytes };
        match elf.half(18).ok_or(Wrong::Damaged)? {
            MACHINE => Ok(elf),
            found => Err(Wrong::Machine { found, own: MACHINE }),
        }
    }

    /// That the file is a shared object that programs can load.
    pub(super) fn check_shared(&self) -> Result<(), Wrong> {
        match self.half(16) {
            Some(ET_DYN) if self.has_segment(PT_INTERP) == Some(true) => Err(Wrong::Kind("a program")),
            Some(ET_DYN) => match self.has_segment(PT_DYNAMIC) {
                Some(true) if self.is_whole() == Some(true) => Ok(()),
                _ => Err(Wrong::Damaged),
            },
            Some(ET_EXEC) => Err(Wrong::Kind("a program")),
            Some(1) => Err(Wrong::Kind("an object file: link it with -shared")),
            _ => Err(Wrong::Kind("a file of another kind")),
        }
    }

    /// Whether a program is started without the dynamic linker.
    pub(super) fn is_static(&self) -> bool {
        self.has_segment(PT_INTERP) == Some(false)
    }

    /// The names that the file defines for others; `None` if it has no such list.
    pub(super) fn exported(&self) -> Option<Vec<&[u8]>> {
        self.symbols(SHT_DYNSYM)
    }

    /// All names that the file defines; `None` if they have been removed.
    pub(super) fn defined(&self) -> Option<Vec<&[u8]>> {
        self.symbols(SHT_SYMTAB)
    }

    fn has_segment(&self, kind: u32) -> Option<bool> {
        let (table, size, count) = (self.long(32)?, self.half(54)?, self.half(56)?);
        for number in 0..u64::from(count) {
            if self.word(table.checked_add(number * u64::from(size))?)? == kind {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether the file has all bytes that are loaded from it.
    fn is_whole(&self) -> Option<bool> {
        let (table, size, count) = (self.long(32)?, self.half(54)?, self.half(56)?);
        for number in 0..u64::from(count) {
            let at = table.checked_add(number * u64::from(size))?;
            if self.word(at)? == PT_LOAD {
                self.part(self.long(at.checked_add(8)?)?, self.long(at.checked_add(32)?)?)?;
            }
        }
        Some(true)
    }

    fn symbols(&self, kind: u32) -> Option<Vec<&[u8]>> {
        let (table, size, count) = (self.long(40)?, self.half(58)?, self.half(60)?);
        let section = |number: u64| table.checked_add(number.checked_mul(u64::from(size))?);
        for number in 0..u64::from(count) {
            let at = section(number)?;
            if self.word(at.checked_add(4)?)? != kind {
                continue;
            }
            let strings = section(u64::from(self.word(at.checked_add(40)?)?))?;
            let (names, names_length) = (self.long(strings.checked_add(24)?)?, self.long(strings.checked_add(32)?)?);
            let names = self.part(names, names_length)?;
            let symbols = self.part(self.long(at.checked_add(24)?)?, self.long(at.checked_add(32)?)?)?;
            let name = |symbol: &[u8]| {
                let (name, info, section) = (symbol.get(..4)?, symbol[4], &symbol[6..8]);
                let global = matches!(info >> 4, 1 | 2) && section != [0, 0];
                let start = u32::from_le_bytes(name.try_into().ok()?) as usize;
                let rest = names.get(start..).filter(|_| global)?;
                rest.split(|byte| *byte == 0).next()
            };
            return Some(symbols.chunks_exact(24).filter_map(name).collect());
        }
        None
    }

    fn part(&self, offset: u64, length: u64) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
    }

    fn half(&self, offset: u64) -> Option<u16> {
        self.part(offset, 2)?.try_into().ok().map(u16::from_le_bytes)
    }

    fn word(&self, offset: u64) -> Option<u32> {
        self.part(offset, 4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn long(&self, offset: u64) -> Option<u64> {
        self.part(offset, 8)?.try_into().ok().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<u8> {
        fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    #[test]
    fn this_program_is_dynamic_and_no_shared_object() {
        let elf = Elf::new(own()).unwrap();
        assert!(!elf.is_static());
        assert!(matches!(elf.check_shared(), Err(Wrong::Kind("a program"))));
        assert!(elf.defined().is_none_or(|names| names.contains(&b"main".as_slice())));
    }

    #[test]
    fn other_files_are_told_apart() {
        let wrong = |bytes: &[u8]| Elf::new(bytes.to_vec()).err().unwrap().to_string();
        assert_eq!(wrong(b"#!/bin/sh\n"), "is no shared object (ELF)");
        assert_eq!(wrong(b""), "is no shared object (ELF)");
        let mut bytes = own();
        bytes[4] = 1;
        assert_eq!(wrong(&bytes), "is a file of 32 bits, but programs here have 64");
        bytes[4] = 2;
        bytes[18] = 243;
        assert!(wrong(&bytes).starts_with("is for another machine (number 243 "));
        assert!(matches!(Elf::read(Path::new("/")), Err(Wrong::Directory)));
        assert!(matches!(Elf::read(Path::new("/nonexistent")), Err(Wrong::Unreadable(_))));
    }

    #[test]
    fn a_file_that_is_cut_off_or_damaged_is_refused_and_never_read_outside() {
        let whole = own();
        for length in [5, 10, 19, 40, 63, 64, 100, 4000] {
            if let Ok(elf) = Elf::new(whole[..length].to_vec()) {
                assert!(elf.check_shared().is_err() && elf.exported().is_none(), "{length}");
            }
        }
        for place in (16..64).chain(whole.len() - 64..whole.len()) {
            let mut bytes = whole.clone();
            bytes[place] = 0xff;
            if let Ok(elf) = Elf::new(bytes) {
                let _ = (elf.check_shared(), elf.is_static(), elf.exported(), elf.defined());
            }
        }
    }
}
