//! Copies of many pieces of another process's memory with few system calls (`process_vm_readv`, `process_vm_writev`).
//!
//! Invariant: a copy moves all pieces or returns an error.
//! Not here: copies of one piece (`remote`), copies that the kernel does not make (`endpoint/copier`).
#![allow(unsafe_code)] // passes addresses to the kernel

use std::io;

use libc::iovec;

/// Bytes of a peer's region and as many bytes of this process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// From the start of the peer's region.
    pub offset: u64,
    /// Address in this process, exposed.
    pub address: usize,
    /// Bytes; not 0.
    pub bytes: usize,
}

/// Pieces that one system call copies; the kernel takes up to 1024.
const AT_ONCE: usize = 256;

/// Copies the pieces of the region at `region` of process `pid` to this process.
///
/// # Safety
/// The pieces of this process are writable memory that no other code uses.
pub(crate) unsafe fn read(pid: u32, region: u64, pieces: &[Piece]) -> io::Result<()> {
    copy(region, pieces, |local, remote| {
        let (locals, remotes) = (local.len() as libc::c_ulong, remote.len() as libc::c_ulong);
        // SAFETY: the caller's promise on `local`; the kernel checks `remote`, addresses in the other process.
        unsafe { libc::process_vm_readv(pid as libc::pid_t, local.as_ptr(), locals, remote.as_ptr(), remotes, 0) }
    })
}

/// Copies the pieces of this process to the region at `region` of process `pid`.
///
/// # Safety
/// The pieces of this process are readable memory that no code writes meanwhile; `pid` is another process.
pub(crate) unsafe fn write(pid: u32, region: u64, pieces: &[Piece]) -> io::Result<()> {
    copy(region, pieces, |local, remote| {
        let (locals, remotes) = (local.len() as libc::c_ulong, remote.len() as libc::c_ulong);
        // SAFETY: the caller's promise on `local`; `remote` lies in another process, where the kernel checks it.
        unsafe { libc::process_vm_writev(pid as libc::pid_t, local.as_ptr(), locals, remote.as_ptr(), remotes, 0) }
    })
}

fn copy(region: u64, pieces: &[Piece], call: impl Fn(&[iovec], &[iovec]) -> isize) -> io::Result<()> {
    let (mut first, mut within) = (0, 0);
    while first < pieces.len() {
        let (mut local, mut remote) = (Runs::new(), Runs::new());
        for (index, piece) in pieces[first..].iter().take(AT_ONCE).enumerate() {
            // The first piece may have been copied in part.
            let done = if index == 0 { within } else { 0 };
            let length = piece.bytes - done;
            local.push(piece.address.wrapping_add(done), length);
            remote.push((region.wrapping_add(piece.offset) as usize).wrapping_add(done), length);
        }
        let mut moved = match call(local.list(), remote.list()) {
            moved if moved > 0 => moved as usize,
            // No progress would loop for ever, and means that the address is bad.
            0 => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
            _ => return Err(io::Error::last_os_error()),
        };
        while first < pieces.len() && moved >= pieces[first].bytes - within {
            moved -= pieces[first].bytes - within;
            (first, within) = (first + 1, 0);
        }
        within += moved;
    }
    Ok(())
}

/// The memory of pieces on one side. Pieces that follow each other are one run: of runs in the other process the kernel
/// looks up the pages one by one, which takes longer than to copy a short one.
struct Runs {
    list: [iovec; AT_ONCE],
    length: usize,
}

impl Runs {
    fn new() -> Runs {
        Runs { list: [iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; AT_ONCE], length: 0 }
    }

    fn push(&mut self, address: usize, bytes: usize) {
        if let Some(last) = self.list[..self.length].last_mut()
            && (last.iov_base as usize).wrapping_add(last.iov_len) == address
        {
            last.iov_len += bytes;
            return;
        }
        let iov_base = std::ptr::with_exposed_provenance_mut(address);
        self.list[self.length] = iovec { iov_base, iov_len: bytes };
        self.length += 1;
    }

    fn list(&self) -> &[iovec] {
        &self.list[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies within this process, at most `most` bytes.
    fn moved(local: &[iovec], remote: &[iovec], most: usize) -> isize {
        let (mut to, mut from, mut done) = (local.to_vec(), remote.to_vec(), 0);
        let skip = |list: &mut Vec<iovec>, bytes: usize| {
            list[0].iov_base = list[0].iov_base.wrapping_byte_add(bytes);
            list[0].iov_len -= bytes;
            if list[0].iov_len == 0 {
                list.remove(0);
            }
        };
        while done < most && !to.is_empty() && !from.is_empty() {
            let length = to[0].iov_len.min(from[0].iov_len).min(most - done);
            // SAFETY: memory of the test.
            unsafe { std::ptr::copy_nonoverlapping(from[0].iov_base.cast::<u8>(), to[0].iov_base.cast(), length) };
            skip(&mut to, length);
            skip(&mut from, length);
            done += length;
        }
        done as isize
    }

    #[test]
    fn a_copy_goes_on_where_the_system_stopped() {
        let source: Vec<u8> = (0..=255).cycle().take(5000).collect();
        for most in [1, 7, 300, usize::MAX] {
            let mut target = vec![0u8; 5000];
            let region = source.as_ptr().expose_provenance() as u64;
            let address = target.as_mut_ptr().expose_provenance();
            // Pieces of 1 to 9 bytes, in both memories from the back.
            let mut pieces = Vec::new();
            let mut end = 5000;
            while end > 10 {
                let bytes = 1 + end % 9;
                pieces.push(Piece { offset: (end - bytes) as u64, address: address + end - bytes, bytes });
                end -= bytes + 1;
            }
            assert!(pieces.len() > 2 * AT_ONCE);
            copy(region, &pieces, |local, remote| moved(local, remote, most)).expect("no fault");
            for piece in &pieces {
                let at = piece.offset as usize..piece.offset as usize + piece.bytes;
                assert_eq!(target[at.clone()], source[at], "{most}");
            }
            assert_eq!(target.iter().zip(&source).filter(|(to, from)| to != from).count(), {
                let copied: Vec<_> =
                    pieces.iter().map(|piece| piece.offset as usize..piece.offset as usize + piece.bytes).collect();
                (0..5000).filter(|at| source[*at] != 0 && !copied.iter().any(|range| range.contains(at))).count()
            });
        }
    }

    #[test]
    fn pieces_that_follow_each_other_on_one_side_are_one_run_there() {
        let source: Vec<u8> = (0..=255).cycle().take(3000).collect();
        let mut target = vec![0u8; 9000];
        let address = target.as_mut_ptr().expose_provenance();
        let pieces: Vec<Piece> =
            (0..1000).map(|i| Piece { offset: 3 * i as u64, address: address + 9 * i, bytes: 3 }).collect();
        copy(source.as_ptr().expose_provenance() as u64, &pieces, |local, remote| {
            assert_eq!((local.len(), remote.len()), (local.len().min(AT_ONCE), 1));
            moved(local, remote, 100)
        })
        .expect("no fault");
        let packed: Vec<u8> = target.chunks(9).flat_map(|block| block[..3].to_vec()).collect();
        assert!(packed == source && target.iter().skip(3).step_by(9).all(|byte| *byte == 0));
    }

    #[test]
    fn a_bad_address_is_an_error() {
        let mut memory = [0u8; 16];
        let pieces = [Piece { offset: 8, address: memory.as_mut_ptr().expose_provenance(), bytes: 16 }];
        // SAFETY: the memory of this process is writable; nothing is mapped at the other address.
        assert!(unsafe { read(std::process::id(), 0, &pieces) }.is_err());
        assert!(copy(0, &pieces, |_, _| 0).is_err());
    }
}
