//! Reading and writing another process's memory (`process_vm_readv`, `process_vm_writev`).
//!
//! Whether the kernel allows it depends on user, container and security modules, so it is tried once per peer, on a
//! word that the peer published for the purpose: that also detects a process id of the peer that means another process
//! here. A bad address is an error in every case, never a crash.
//! Not here: copies between ranks of one process (`region`), which process a peer is (`peer_process`).

use std::io;

/// Copies from address `from` of process `pid` into `dst`. Works on this process too.
pub(crate) fn read(pid: u32, from: u64, dst: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < dst.len() {
        let rest = &mut dst[done..];
        let local = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let remote = libc::iovec { iov_base: (from as usize).wrapping_add(done) as *mut _, iov_len: rest.len() };
        // SAFETY: `local` is writable private memory; `remote` is an address in the other process, which the kernel
        // checks.
        done += step(unsafe { libc::process_vm_readv(pid as libc::pid_t, &local, 1, &remote, 1, 0) })?;
    }
    Ok(())
}

/// Copies `src` to address `to` of process `pid`.
///
/// # Safety
/// `pid` is another process, or `to..to + src.len()` may be written in this one.
pub(crate) unsafe fn write(pid: u32, to: u64, src: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < src.len() {
        let rest = &src[done..];
        let local = libc::iovec { iov_base: rest.as_ptr().cast_mut().cast(), iov_len: rest.len() };
        let remote = libc::iovec { iov_base: (to as usize).wrapping_add(done) as *mut _, iov_len: rest.len() };
        // SAFETY: `local` is only read; `remote` lies in another process, where the kernel checks it, or may be written
        // by this function's contract.
        done += step(unsafe { libc::process_vm_writev(pid as libc::pid_t, &local, 1, &remote, 1, 0) })?;
    }
    Ok(())
}

/// Whether this process has readable memory at an address. True where the kernel does not answer.
pub fn is_readable(address: u64) -> bool {
    let read = read(std::process::id(), address, &mut [0]);
    !read.is_err_and(|error| error.raw_os_error() == Some(libc::EFAULT))
}

/// The number of bytes that one call copied. 0 would loop for ever, and means that the address is bad.
fn step(moved: isize) -> io::Result<usize> {
    match moved {
        n if n > 0 => Ok(n as usize),
        0 => Err(io::Error::from_raw_os_error(libc::EFAULT)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Permits the launcher and its descendants to read this process, where a security module (Yama) would otherwise refuse
/// it.
pub(crate) fn permit(launcher: u32) {
    // SAFETY: no memory is passed; without Yama the call fails and nothing is needed.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, launcher as libc::c_ulong, 0, 0, 0) };
}

/// Whether the kernel lets one process of a job copy from another one: tried with two children of this process, as the
/// ranks of a job are children of a launcher. To be called in a process of one thread.
/// # Errors
/// The reason of the kernel, or why the children cannot be made.
pub fn try_between_children() -> io::Result<()> {
    static WORD: u64 = 0x5af3_107a_4000_0001;
    let launcher = std::process::id();
    let mut ready = [0; 2];
    // SAFETY: the array has room for both descriptors.
    if unsafe { libc::pipe2(ready.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the process has one thread; the child makes system calls only.
    let source = unsafe { libc::fork() };
    if source == 0 {
        // SAFETY: as above. It ends with its parent, and at the latest when that kills it.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            permit(launcher);
            libc::write(ready[1], [1_u8].as_ptr().cast(), 1);
            loop {
                libc::pause();
            }
        }
    }
    let mut byte = [0_u8];
    // SAFETY: a buffer of one byte; without a child the other end is closed first, so the call does not wait for ever.
    unsafe {
        libc::close(ready[1]);
        libc::read(ready[0], byte.as_mut_ptr().cast(), 1);
        libc::close(ready[0]);
    }
    if source < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as for the first child.
    let reader = unsafe { libc::fork() };
    if reader == 0 {
        let mut word = [0; 8];
        let code = match read(source as u32, (&raw const WORD) as u64, &mut word) {
            Ok(()) if u64::from_ne_bytes(word) == WORD => 0,
            Ok(()) => libc::EFAULT,
            Err(error) => error.raw_os_error().unwrap_or(libc::EIO),
        };
        // SAFETY: ends the child without the parent's exit functions.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: own children, each waited for once.
    let waited = unsafe {
        let waited = if reader > 0 { libc::waitpid(reader, &raw mut status, 0) } else { -1 };
        libc::kill(source, libc::SIGKILL);
        libc::waitpid(source, std::ptr::null_mut(), 0);
        waited
    };
    match (waited, libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
        (waited, true, 0) if waited > 0 => Ok(()),
        (waited, true, code) if waited > 0 => Err(io::Error::from_raw_os_error(code)),
        _ => Err(io::Error::other("the process that tried it has ended")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_within_one_process_and_refuses_bad_addresses() {
        let source: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let mut target = vec![0u8; source.len()];
        let me = std::process::id();
        if read(me, source.as_ptr() as u64, &mut target).is_err() {
            return; // not permitted here; the endpoint then reports it
        }
        assert_eq!(source, target);
        target.fill(0);
        // SAFETY: `target` is memory of this process, as long as `source`, and not borrowed.
        unsafe { write(me, target.as_mut_ptr() as u64, &source).unwrap() };
        assert_eq!(source, target);
        assert!(read(me, 8, &mut target).is_err());
        // SAFETY: nothing is mapped there, so nothing is written.
        assert!(unsafe { write(me, 8, &source) }.is_err());
        assert!(read(me, u64::MAX - 10, &mut target).is_err());
        assert!(is_readable(target.as_ptr() as u64) && !is_readable(8));
    }
}
