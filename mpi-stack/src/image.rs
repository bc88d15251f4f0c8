//! A shared object as the dynamic linker has loaded it: the functions that it defines, and its references to others.
//!
//! Invariant: only what lies in the object's own loaded segments is read, and only words of its writable segments and of
//! its relocated, then protected part (RELRO) are changed. Not here: which objects there are (`objects`).

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Symbol table entries (ELF-64).
type Symbol = libc::Elf64_Sym;

/// A relocation with addend (ELF-64).
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

/// An entry of the dynamic section.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

const DT_NEEDED: i64 = 1;
const DT_PLTRELSZ: i64 = 2;
const DT_HASH: i64 = 4;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_SONAME: i64 = 14;
const DT_PLTREL: i64 = 20;
const DT_JMPREL: i64 = 23;
const DT_GNU_HASH: i64 = 0x6fff_fef5;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const STT_TLS: u8 = 6;
const STT_GNU_IFUNC: u8 = 10;

/// Relocations that store the address of a symbol: by the table of procedure linkage, by the global offset table, as
/// data with an addend.
#[cfg(target_arch = "x86_64")]
const ADDRESSES: [u32; 3] = [7, 6, 1];
#[cfg(target_arch = "aarch64")]
const ADDRESSES: [u32; 3] = [1026, 1025, 257];

/// A loaded object.
#[derive(Clone)]
pub(crate) struct Image {
    /// The difference between addresses in memory and in the file.
    base: usize,
    /// Loaded segments: first address, end, writable.
    segments: Vec<(usize, usize, bool)>,
    /// What is protected after relocation: first address and end.
    relro: Option<(usize, usize)>,
    /// The dynamic section.
    dynamic: usize,
    /// The file, as the dynamic linker names it; empty for the program.
    path: PathBuf,
}

impl Image {
    /// An object by what `dl_iterate_phdr` reports of it; `None` without dynamic section.
    ///
    /// # Safety
    /// The object stays loaded as long as the image is used.
    pub(crate) unsafe fn new(info: &libc::dl_phdr_info) -> Option<Image> {
        let base = info.dlpi_addr as usize;
        // SAFETY: the dynamic linker's own table of this length.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let range = |header: &libc::Elf64_Phdr| {
            let start = base.wrapping_add(header.p_vaddr as usize);
            (start, start.wrapping_add(header.p_memsz as usize))
        };
        let segments = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        let segments = segments.map(|header| (range(header).0, range(header).1, header.p_flags & libc::PF_W != 0));
        let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC)?;
        Some(Image {
            base,
            segments: segments.collect(),
            relro: headers.iter().find(|header| header.p_type == PT_GNU_RELRO).map(range),
            dynamic: range(dynamic).0,
            // SAFETY: the dynamic linker's own text, or null.
            path: unsafe { path_of(info.dlpi_name) },
        })
    }

    /// The file, as the dynamic linker names it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an address lies in the object.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.segments.iter().any(|(start, end, _)| (*start..*end).contains(&address))
    }

    /// Whether two images are of one loaded object.
    pub(crate) fn is(&self, other: &Image) -> bool {
        self.dynamic == other.dynamic
    }

    /// The values of the entries of the dynamic section with a tag.
    fn entries(&self, tag: i64) -> impl Iterator<Item = u64> {
        let first = self.dynamic as *const Dynamic;
        // SAFETY: the dynamic section ends with a null tag, behind which nothing is read.
        let all = (0..).map(move |at| unsafe { &*first.add(at) }).take_while(|entry| entry.tag != 0);
        all.filter(move |entry| entry.tag == tag).map(|entry| entry.value)
    }

    /// The value of an entry of the dynamic section.
    fn entry(&self, tag: i64) -> Option<u64> {
        self.entries(tag).next()
    }

    /// A text of the object's table of strings.
    fn text(&self, offset: u64) -> Option<&CStr> {
        let texts = self.pointer(DT_STRTAB)?;
        // SAFETY: offsets come from the tables of a loaded object, and lead to its strings.
        Some(unsafe { CStr::from_ptr((texts + offset as usize) as *const c_char) })
    }

    /// Whether the object names another one as a library that it needs.
    pub(crate) fn needs(&self, other: &Image) -> bool {
        let soname = other.entry(DT_SONAME).and_then(|offset| other.text(offset)).map(CStr::to_bytes);
        let file = other.path.file_name().map(OsStr::as_bytes);
        self.entries(DT_NEEDED).filter_map(|offset| self.text(offset)).any(|needed| {
            let needed = needed.to_bytes();
            let last = needed.rsplit(|byte| *byte == b'/').next();
            soname == Some(needed) || (soname.is_none() && file == last)
        })
    }

    /// Whether the object refers to functions of MPI by their second names.
    pub(crate) fn calls_mpi(&self) -> bool {
        self.relocations().any(|relocation| {
            let symbol = self.symbol((relocation.info >> 32) as usize);
            let name = symbol.filter(|symbol| symbol.st_shndx == 0).and_then(|symbol| self.name(symbol));
            name.is_some_and(|name| name.to_bytes().starts_with(b"PMPI_"))
        })
    }

    /// The address that an entry gives, which the dynamic linker may or may not have relocated in place.
    fn pointer(&self, tag: i64) -> Option<usize> {
        let value = self.entry(tag)? as usize;
        [value, value.wrapping_add(self.base)].into_iter().find(|address| self.contains(*address))
    }

    /// A symbol by its number.
    fn symbol(&self, number: usize) -> Option<&Symbol> {
        let table = self.pointer(DT_SYMTAB)?;
        // SAFETY: numbers come from relocations and hash tables of this object.
        Some(unsafe { &*(table as *const Symbol).add(number) })
    }

    fn name(&self, symbol: &Symbol) -> Option<&CStr> {
        self.text(u64::from(symbol.st_name))
    }

    /// Number of symbols, by the hash table.
    fn symbols(&self) -> usize {
        if let Some(table) = self.pointer(DT_HASH) {
            // SAFETY: the table begins with the numbers of buckets and of symbols.
            return unsafe { *(table as *const u32).add(1) } as usize;
        }
        let Some(table) = self.pointer(DT_GNU_HASH) else { return 0 };
        let words = table as *const u32;
        // SAFETY: the head of the table, the words of its filter (64 bits each), its buckets, its chains, of which the
        // last symbol's has the lowest bit set.
        unsafe {
            let (buckets, first, filter) = (*words as usize, *words.add(1) as usize, *words.add(2) as usize);
            let bucket = words.add(4 + 2 * filter);
            let mut last = (0..buckets).map(|at| *bucket.add(at) as usize).max().unwrap_or(0);
            if last < first {
                return first;
            }
            let chains = bucket.add(buckets);
            while *chains.add(last - first) & 1 == 0 {
                last += 1;
            }
            last + 1
        }
    }

    /// The functions and variables that the object defines: names and addresses.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&CStr, usize)> {
        (1..self.symbols()).filter_map(|number| {
            let symbol = self.symbol(number)?;
            let defined = symbol.st_shndx != 0 && matches!(symbol.st_info >> 4, 1 | 2);
            let visible = matches!(symbol.st_other & 3, 0 | 3);
            let plain = !matches!(symbol.st_info & 15, STT_GNU_IFUNC | STT_TLS);
            if !(defined && visible && plain) {
                return None;
            }
            Some((self.name(symbol)?, self.base.wrapping_add(symbol.st_value as usize)))
        })
    }

    /// The address of one definition.
    pub(crate) fn definition(&self, name: &CStr) -> Option<usize> {
        self.definitions().find(|(known, _)| *known == name).map(|(_, address)| address)
    }

    fn relocations(&self) -> impl Iterator<Item = &Relocation> {
        let of_linkage = self.entry(DT_PLTREL) == Some(DT_RELA as u64);
        let tables =
            [(self.pointer(DT_RELA), self.entry(DT_RELASZ)), (self.pointer(DT_JMPREL), self.entry(DT_PLTRELSZ))];
        let present = tables.into_iter().enumerate().filter(move |(number, _)| *number == 0 || of_linkage);
        present.flat_map(|(_, (table, bytes))| match (table, bytes) {
            // SAFETY: the loaded object's own table of relocations of this length.
            (Some(table), Some(bytes)) => unsafe {
                std::slice::from_raw_parts(table as *const Relocation, bytes as usize / size_of::<Relocation>())
            },
            _ => &[],
        })
    }

    /// Changes the references to named symbols to the addresses that a function gives for their names. Errors: a reference
    /// that cannot be changed.
    ///
    /// # Safety
    /// The addresses are of functions of the types that the object expects; no other thread calls the object's
    /// functions.
    pub(crate) unsafe fn redirect(&self, target: &dyn Fn(&[u8]) -> Option<usize>) -> Result<(), String> {
        let mut changes: Vec<(usize, usize)> = Vec::new();
        for relocation in self.relocations() {
            let (kind, number) = (relocation.info as u32, (relocation.info >> 32) as usize);
            if number == 0 {
                continue;
            }
            let Some(name) = self.symbol(number).and_then(|symbol| self.name(symbol)) else { continue };
            let Some(address) = target(name.to_bytes()) else { continue };
            let place = self.base.wrapping_add(relocation.offset as usize);
            let writable = self.segments.iter().any(|(start, end, write)| *write && (*start..*end).contains(&place));
            if !(writable && ADDRESSES.contains(&kind)) {
                return Err(format!(
                    "its code has a relocation of {} (type {kind}, text relocation), which would call the library and \
                     not the tools behind it: compile all of it as position-independent code (-fPIC) and link it \
                     without -z notext",
                    name.to_string_lossy()
                ));
            }
            // Only relocations of data have an addend.
            let addend = if kind == ADDRESSES[2] { relocation.addend as usize } else { 0 };
            changes.push((place, address.wrapping_add(addend)));
        }
        if changes.is_empty() {
            return Ok(());
        }
        self.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        for (place, address) in changes {
            // SAFETY: a word of a writable segment that holds the address of a symbol; packed data is not aligned.
            unsafe { (place as *mut usize).write_unaligned(address) };
        }
        self.protect(libc::PROT_READ)
    }

    /// Changes the protection of the part that is protected after relocation.
    fn protect(&self, protection: i32) -> Result<(), String> {
        let Some((start, end)) = self.relro else { return Ok(()) };
        // SAFETY: no arguments but a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        // The dynamic linker protects whole pages only.
        let (start, end) = (start / page * page, end / page * page);
        if start >= end {
            return Ok(());
        }
        // SAFETY: pages of this object's RELRO part.
        match unsafe { libc::mprotect(start as *mut c_void, end - start, protection) } {
            0 => Ok(()),
            _ => Err(format!("its relocations cannot be changed: {}", std::io::Error::last_os_error())),
        }
    }
}

/// # Safety
/// A C string, or null.
unsafe fn path_of(name: *const c_char) -> PathBuf {
    if name.is_null() {
        return PathBuf::new();
    }
    // SAFETY: the contract of this function.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes())).to_owned()
}
