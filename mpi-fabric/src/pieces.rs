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
    let none = iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
    let (mut local, mut remote) = ([none; AT_ONCE], [none; AT_ONCE]);
    let (mut first, mut within) = (0, 0);
    while first < pieces.len() {
        let count = AT_ONCE.min(pieces.len() - first);
        for (index, piece) in pieces[first..first + count].iter().enumerate() {
            // The first piece may have been copied in part.
            let done = if index == 0 { within } else { 0 };
            let length = piece.bytes - done;
            let address = region.wrapping_add(piece.offset) as usize;
            let base = |address: usize| std::ptr::with_exposed_provenance_mut(address.wrapping_add(done));
            local[index] = iovec { iov_base: base(piece.address), iov_len: length };
            remote[index] = iovec { iov_base: base(address), iov_len: length };
        }
        let mut moved = match call(&local[..count], &remote[..count]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies within this process, at most `most` bytes at a time.
    fn moved(local: &[iovec], remote: &[iovec], most: usize) -> isize {
        let mut left = most;
        for (to, from) in local.iter().zip(remote) {
            assert_eq!(to.iov_len, from.iov_len);
            let length = to.iov_len.min(left);
            // SAFETY: memory of the test.
            unsafe { std::ptr::copy_nonoverlapping(from.iov_base.cast::<u8>(), to.iov_base.cast(), length) };
            left -= length;
        }
        (most - left) as isize
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
    fn a_bad_address_is_an_error() {
        let mut memory = [0u8; 16];
        let pieces = [Piece { offset: 8, address: memory.as_mut_ptr().expose_provenance(), bytes: 16 }];
        // SAFETY: the memory of this process is writable; nothing is mapped at the other address.
        assert!(unsafe { read(std::process::id(), 0, &pieces) }.is_err());
        assert!(copy(0, &pieces, |_, _| 0).is_err());
    }
}
