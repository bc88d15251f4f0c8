//! Reading and writing another process's memory (`process_vm_readv`, `process_vm_writev`).
//!
//! Whether the kernel allows it depends on user, container and security modules, so it is tried once per peer, on a
//! word that the peer published for the purpose: that also finds out when the peer's process id means another process
//! here. Works within one process too, and a bad address is an error in every case, never a crash.

use std::io;

/// Copies from address `from` of process `pid` into `dst`.
pub fn read(pid: u32, from: u64, dst: &mut [u8]) -> io::Result<()> {
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
pub fn write(pid: u32, to: u64, src: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < src.len() {
        let rest = &src[done..];
        let local = libc::iovec { iov_base: rest.as_ptr().cast_mut().cast(), iov_len: rest.len() };
        let remote = libc::iovec { iov_base: (to as usize).wrapping_add(done) as *mut _, iov_len: rest.len() };
        // SAFETY: `local` is only read; `remote` is an address in the other process, which the kernel checks.
        done += step(unsafe { libc::process_vm_writev(pid as libc::pid_t, &local, 1, &remote, 1, 0) })?;
    }
    Ok(())
}

/// What one call moved. Nothing at all would loop for ever, and means that the address is bad.
fn step(moved: isize) -> io::Result<usize> {
    match moved {
        n if n > 0 => Ok(n as usize),
        0 => Err(io::Error::from_raw_os_error(libc::EFAULT)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets the launcher and what it started read this process, where a security module (Yama) would otherwise refuse it.
pub(crate) fn permit(launcher: u32) {
    // SAFETY: no memory is passed; without Yama the call fails and nothing is needed.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, launcher as libc::c_ulong, 0, 0, 0) };
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
            return; // not permitted here; the endpoint then says so
        }
        assert_eq!(source, target);
        target.fill(0);
        write(me, target.as_mut_ptr() as u64, &source).unwrap();
        assert_eq!(source, target);
        assert!(read(me, 8, &mut target).is_err());
        assert!(write(me, 8, &source).is_err());
        assert!(read(me, u64::MAX - 10, &mut target).is_err());
    }
}
