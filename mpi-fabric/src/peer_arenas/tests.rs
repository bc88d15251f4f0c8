//! Segments that are mapped, and what names none.

use std::os::fd::OwnedFd;

use super::*;
use crate::arena::Arena;
use crate::shared_objects;

const OWNER: ProcessId = ProcessId { job: 0x77, rank: 3 };

/// A block of an arena of this process, with the number of its segment and its offset there.
fn block(arena: &mut Arena, bytes: usize) -> (usize, u64, u64) {
    let address = arena.allocate(bytes as u64, 1).expect("memory");
    // SAFETY: memory of the arena that nothing else uses.
    let memory = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), bytes) };
    let (number, offset) = shared_objects::place_of(memory).expect("in a segment");
    (address, number, offset)
}

fn mapped(arenas: &PeerArenas, owner: ProcessId, number: u64, offset: u64, bytes: u64) -> Option<Arc<Mapping>> {
    arenas.mapping_of((owner.rank, owner), || Some(std::process::id()), number, (offset, bytes))
}

#[test]
fn a_segment_is_mapped_once_and_shows_what_its_owner_writes() {
    let mut arena = Arena::new(OWNER).expect("no strict overcommitment");
    let (address, number, offset) = block(&mut arena, 1 << 16);
    let arenas = PeerArenas::default();
    let mapping = mapped(&arenas, OWNER, number, offset, 1 << 16).expect("sound");
    // SAFETY: both mappings have the byte, and no other code uses it.
    unsafe {
        std::ptr::with_exposed_provenance_mut::<u8>(address).write_volatile(5);
        assert_eq!(mapping.at(PAGE + offset as usize, 1).as_ptr().read_volatile(), 5);
    }
    let again = mapped(&arenas, OWNER, number, offset, 1).expect("mapped already");
    assert!(Arc::ptr_eq(&mapping, &again));
    // Beyond the end of the segment.
    let bytes = (mapping.bytes() - PAGE) as u64;
    assert!(mapped(&arenas, OWNER, number, 0, bytes).is_some());
    for (offset, length) in [(0, bytes + 1), (1, bytes), (bytes, 1), (u64::MAX, 1), (1, u64::MAX), (u64::MAX, u64::MAX)]
    {
        assert!(mapped(&arenas, OWNER, number, offset, length).is_none(), "{offset} {length}");
    }
}

#[test]
fn what_is_no_segment_of_the_peer_is_not_mapped() {
    let mut arena = Arena::new(OWNER).expect("no strict overcommitment");
    let (_, number, _) = block(&mut arena, 1 << 16);
    let refused = |owner, number| mapped(&PeerArenas::default(), owner, number, 0, 1).is_none();
    assert!(!refused(OWNER, number));
    assert!(refused(ProcessId { job: 0x78, ..OWNER }, number) && refused(ProcessId { rank: 2, ..OWNER }, number));
    // Another count, descriptors that are closed, of no shared memory, or of another object.
    assert!(refused(OWNER, number ^ 1));
    let with_descriptor = |descriptor: i32| 1 << 63 | (descriptor as u64) << 32 | number & 0xffff_ffff;
    assert!(refused(OWNER, with_descriptor(i32::MAX)));
    let null = std::fs::File::open("/dev/null").expect("a device");
    assert!(refused(OWNER, with_descriptor(null.as_raw_fd())));
    let (other, _mapping) = Mapping::create(c"other", 1 << 20, std::iter::empty()).expect("memory");
    assert!(refused(OWNER, with_descriptor(other.as_raw_fd())));
    // A peer without a process id, and one that has no such process.
    let arenas = PeerArenas::default();
    assert!(arenas.mapping_of((3, OWNER), || None, number, (0, 1)).is_none());
    assert!(PeerArenas::default().mapping_of((3, OWNER), || Some(u32::MAX), number, (0, 1)).is_none());
    // It is tried again later, ever less often.
    assert!(mapped(&arenas, OWNER, number, 0, 1).is_some());
}

/// An object with the words of a segment of [`OWNER`] in front, whose length can be changed afterwards.
fn forged(bytes: u64, kind: libc::c_uint) -> Option<(OwnedFd, u64)> {
    use std::os::fd::FromRawFd;
    use std::os::unix::fs::FileExt;
    // SAFETY: a C string, and a new descriptor without another owner.
    let file = unsafe {
        let descriptor = libc::memfd_create(c"forged".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | kind);
        (descriptor >= 0).then(|| std::fs::File::from_raw_fd(descriptor))?
    };
    file.set_len(bytes).ok()?;
    let number = 1 << 63 | (file.as_raw_fd() as u64) << 32;
    for (at, word) in [(KIND, ARENA), (NUMBER, number), (JOB, OWNER.job), (RANK, u64::from(OWNER.rank))] {
        file.write_at(&word.to_ne_bytes(), at as u64).ok()?;
    }
    Some((file.into(), number))
}

#[test]
fn a_segment_that_could_become_shorter_or_is_too_short_is_not_mapped() {
    let seal = |descriptor: &OwnedFd| {
        // SAFETY: a plain system call on our descriptor.
        assert_eq!(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) }, 0);
    };
    let (descriptor, number) = forged(1 << 20, 0).expect("memory");
    let arenas = PeerArenas::default();
    assert!(mapped(&arenas, OWNER, number, 0, 1).is_none(), "without a seal");
    seal(&descriptor);
    assert!(mapped(&arenas, OWNER, number, 0, 1).is_some());
    let (short, number) = forged(PAGE as u64, 0).expect("memory");
    seal(&short);
    assert!(mapped(&PeerArenas::default(), OWNER, number, 0, 0).is_none());
}

#[test]
fn a_peer_may_name_so_many_segments_only() {
    let mut arena = Arena::new(OWNER).expect("no strict overcommitment");
    let (_, number, _) = block(&mut arena, 1 << 16);
    let arenas = PeerArenas::default();
    for other in 0..MOST as u64 {
        assert!(mapped(&arenas, OWNER, 1 << 63 | (i32::MAX as u64) << 32 | other, 0, 1).is_none());
    }
    assert!(mapped(&arenas, OWNER, number, 0, 1).is_none());
    assert_eq!(arenas.0.borrow()[&OWNER.rank].len(), MOST);
}

#[test]
fn a_segment_that_is_mapped_outlives_its_owner() {
    // SAFETY: the child makes an arena, writes to a pipe, waits and leaves by `_exit`; the C library keeps its allocator usable there.
    unsafe {
        let (mut up, mut down) = ([0; 2], [0; 2]);
        assert_eq!(libc::pipe(up.as_mut_ptr()) | libc::pipe(down.as_mut_ptr()), 0);
        let child = libc::fork();
        if child == 0 {
            let (address, number, offset) = block(&mut Arena::new(OWNER).expect("no strict overcommitment"), 1 << 16);
            std::ptr::with_exposed_provenance_mut::<u8>(address).write(8);
            let words = [number, offset];
            libc::write(up[1], words.as_ptr().cast(), 16);
            libc::read(down[0], (&raw mut up[0]).cast(), 1);
            libc::_exit(0);
        }
        let mut words = [0u64; 2];
        assert_eq!(libc::read(up[0], words.as_mut_ptr().cast(), 16), 16);
        let [number, offset] = words;
        let arenas = PeerArenas::default();
        let find = |arenas: &PeerArenas| arenas.mapping_of((3, OWNER), || Some(child as u32), number, (offset, 1));
        assert!(find(&arenas).is_some());
        libc::write(down[1], [0u8].as_ptr().cast(), 1);
        assert_eq!(libc::waitpid(child, std::ptr::null_mut(), 0), child);
        let mapping = find(&arenas).expect("mapped before");
        assert_eq!(mapping.at(PAGE + offset as usize, 1).as_ptr().read_volatile(), 8);
        assert!(find(&PeerArenas::default()).is_none());
        up.iter().chain(&down).for_each(|&descriptor| _ = libc::close(descriptor));
    }
}
