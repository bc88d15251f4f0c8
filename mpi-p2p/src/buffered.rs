//! The buffers of buffered sends: of communicators, of sessions, and of the process (MPI-5.0, 3.6).
//!
//! A message uses the buffer of its communicator; without one, that of the session that its communicator is derived
//! from; without one, that of the process. A buffer bounds what may be pending; the bytes themselves wait in memory
//! that the library allocates, so a program that frees its buffer too early cannot corrupt a message.
//! Invariant: `in_use` of a buffer is the sum of the sizes, overhead included, of its messages that are not yet on
//! their way.

use std::collections::HashMap;

use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_BUFFER;
use mpi_errors::{Error, Result};

/// What each message takes of the buffer besides its data; at most `MPI_BSEND_OVERHEAD`.
const OVERHEAD: u64 = 64;

/// The object that a buffer is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BufferOwner {
    /// The process.
    Process,
    /// The communicator with this context id.
    Comm(u32),
    /// The session with this handle.
    Session(Handle),
}

#[derive(Debug, Default)]
pub(crate) struct Buffered {
    buffers: HashMap<BufferOwner, Buffer>,
    /// Messages that are not on their way yet, by request.
    pending: HashMap<Handle, Pending>,
    /// Messages that have been pending so far.
    messages: u64,
    flushes: Vec<Flush>,
}

#[derive(Debug)]
struct Buffer {
    attached: Attached,
    in_use: u64,
    /// Messages up to this number used a buffer that the owner had before.
    since: u64,
}

#[derive(Debug)]
struct Pending {
    owner: BufferOwner,
    bytes: u64,
    /// Its place in the order of all.
    number: u64,
}

/// A request that is complete when the messages that were pending before it are on their way.
#[derive(Debug)]
struct Flush {
    request: Handle,
    owner: BufferOwner,
    /// Messages with a lower number count.
    before: u64,
    left: usize,
}

/// A buffer that the program attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attached {
    /// Address of the buffer, or `MPI_BUFFER_AUTOMATIC`'s.
    pub address: usize,
    /// Its size in bytes; without bound for automatic buffering.
    pub bytes: Option<u64>,
}

impl BufferOwner {
    /// What the program calls it, and the function that attaches its buffer.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            BufferOwner::Process => ("the process", "Attach a larger buffer with MPI_Buffer_attach."),
            BufferOwner::Comm(_) => ("the communicator", "Attach a larger buffer with MPI_Comm_attach_buffer."),
            BufferOwner::Session(_) => ("the session", "Attach a larger buffer with MPI_Session_attach_buffer."),
        }
    }
}

impl Buffered {
    pub fn attach(&mut self, owner: BufferOwner, attached: Attached) -> Result<()> {
        if self.buffers.contains_key(&owner) {
            let rule = format!("{} has a buffer for buffered sends already", owner.names().0);
            return Err(Error::new(MPI_ERR_BUFFER, rule).hint("Detach it first."));
        }
        self.buffers.insert(owner, Buffer { attached, in_use: 0, since: self.messages });
        Ok(())
    }

    pub fn detach(&mut self, owner: BufferOwner) -> Option<Attached> {
        self.buffers.remove(&owner).map(|buffer| buffer.attached)
    }

    /// Whether all messages of a buffer are on their way.
    pub fn is_idle(&self, owner: BufferOwner) -> bool {
        self.pending.is_empty() || self.buffers.get(&owner).is_none_or(|buffer| buffer.in_use == 0)
    }

    /// The buffer for a message of so many bytes on a communicator. Errors: `MPI_ERR_BUFFER` without a buffer, or
    /// without room for the message.
    pub fn choose(&self, context: u32, session: Option<Handle>, bytes: u64) -> Result<BufferOwner> {
        let owners = [Some(BufferOwner::Comm(context)), session.map(BufferOwner::Session), Some(BufferOwner::Process)];
        let found = owners.into_iter().flatten().find_map(|owner| Some((owner, self.buffers.get(&owner)?)));
        let Some((owner, buffer)) = found else {
            return Err(Error::new(MPI_ERR_BUFFER, "no buffer is attached").hint("Call MPI_Buffer_attach first."));
        };
        let (of, advice) = owner.names();
        match buffer.attached.bytes {
            Some(size) if buffer.in_use.saturating_add(bytes).saturating_add(OVERHEAD) > size => {
                let in_use = buffer.in_use;
                let needed = in_use.saturating_add(bytes).saturating_add(OVERHEAD);
                let has = mpi_errors::counted(size, "byte");
                let rule = format!(
                    "the buffer of {of} has {has}, and {needed} are needed: {in_use} for messages that have not \
                     left, {bytes} for this one and {OVERHEAD} besides"
                );
                let error = Error::new(MPI_ERR_BUFFER, rule).hint(advice);
                Err(error.fact("buffer_bytes", size as i64).fact("needed_bytes", needed as i64))
            }
            _ => Ok(owner),
        }
    }

    pub fn started(&mut self, owner: BufferOwner, request: Handle, bytes: u64) {
        let bytes = bytes + OVERHEAD;
        if let Some(buffer) = self.buffers.get_mut(&owner) {
            buffer.in_use += bytes;
        }
        self.messages += 1;
        self.pending.insert(request, Pending { owner, bytes, number: self.messages });
    }

    /// A message is on its way. Returns the requests that waited for it last.
    #[inline]
    pub fn finished(&mut self, request: Handle) -> Vec<Handle> {
        match self.pending.is_empty() {
            true => Vec::new(),
            false => self.left(request),
        }
    }

    fn left(&mut self, request: Handle) -> Vec<Handle> {
        let Some(Pending { owner, bytes, number }) = self.pending.remove(&request) else { return Vec::new() };
        if let Some(buffer) = self.buffers.get_mut(&owner).filter(|buffer| number > buffer.since) {
            buffer.in_use -= bytes;
        }
        for flush in self.flushes.iter_mut().filter(|flush| flush.owner == owner && number < flush.before) {
            flush.left -= 1;
        }
        self.flushes.extract_if(.., |flush| flush.left == 0).map(|flush| flush.request).collect()
    }

    /// Adds a request that is complete when all messages now pending in a buffer are on their way; false if there are
    /// none.
    pub fn flush(&mut self, owner: BufferOwner, request: Handle) -> bool {
        let left = self.pending.values().filter(|pending| pending.owner == owner).count();
        if left > 0 {
            self.flushes.push(Flush { request, owner, before: self.messages + 1, left });
        }
        left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: Handle = Handle(77);

    fn buffer(bytes: u64) -> Attached {
        Attached { address: 4096, bytes: Some(bytes) }
    }

    #[test]
    fn a_message_takes_the_buffer_of_the_nearest_owner() {
        let mut all = Buffered::default();
        assert_eq!(all.choose(2, None, 1).expect_err("none").class(), MPI_ERR_BUFFER);
        for owner in [BufferOwner::Process, BufferOwner::Session(SESSION), BufferOwner::Comm(4)] {
            all.attach(owner, buffer(1000)).expect("the first one");
            assert_eq!(all.attach(owner, buffer(1000)).expect_err("the second one").class(), MPI_ERR_BUFFER);
        }
        assert_eq!(all.choose(2, None, 1).expect("room"), BufferOwner::Process);
        assert_eq!(all.choose(2, Some(SESSION), 1).expect("room"), BufferOwner::Session(SESSION));
        assert_eq!(all.choose(4, Some(SESSION), 1).expect("room"), BufferOwner::Comm(4));
        assert_eq!(all.choose(4, Some(Handle(78)), 1).expect("room"), BufferOwner::Comm(4));
        assert_eq!(all.detach(BufferOwner::Comm(4)), Some(buffer(1000)));
        assert_eq!(all.choose(4, None, 1).expect("room"), BufferOwner::Process);
    }

    #[test]
    fn a_buffer_without_room_names_the_bytes_that_are_needed() {
        let mut all = Buffered::default();
        all.attach(BufferOwner::Process, buffer(200)).expect("the first one");
        all.started(BufferOwner::Process, Handle(1), 100);
        assert!(!all.is_idle(BufferOwner::Process) && all.is_idle(BufferOwner::Comm(0)));
        let error = all.choose(0, None, 10).expect_err("no room");
        assert!(error.to_string().contains("200 bytes, and 238 are needed"), "{error}");
        assert!(all.choose(0, None, u64::MAX).is_err());
        assert!(all.finished(Handle(9)).is_empty() && all.finished(Handle(1)).is_empty());
        assert!(all.choose(0, None, 136).is_ok() && all.choose(0, None, 137).is_err());
    }

    #[test]
    fn messages_of_a_removed_buffer_do_not_count_in_the_next_one() {
        let mut all = Buffered::default();
        all.attach(BufferOwner::Process, buffer(200)).expect("the first one");
        all.started(BufferOwner::Process, Handle(1), 100);
        all.detach(BufferOwner::Process).expect("attached");
        all.attach(BufferOwner::Process, buffer(200)).expect("none is there");
        all.started(BufferOwner::Process, Handle(2), 50);
        all.finished(Handle(1));
        assert!(all.choose(0, None, 22).is_ok() && all.choose(0, None, 23).is_err());
        all.finished(Handle(2));
        assert!(all.is_idle(BufferOwner::Process) && all.choose(0, None, 136).is_ok());
    }

    #[test]
    fn a_flush_waits_for_the_messages_before_it_in_its_buffer() {
        let mut all = Buffered::default();
        let (process, comm) = (BufferOwner::Process, BufferOwner::Comm(2));
        for owner in [process, comm] {
            all.attach(owner, buffer(10_000)).expect("the first one");
        }
        assert!(!all.flush(process, Handle(50)));
        all.started(process, Handle(1), 10);
        all.started(comm, Handle(2), 10);
        assert!(all.flush(process, Handle(51)));
        all.started(process, Handle(3), 10);
        assert!(all.flush(process, Handle(52)));
        assert!(all.finished(Handle(2)).is_empty());
        assert!(all.finished(Handle(3)).is_empty());
        assert_eq!(all.finished(Handle(1)), [Handle(51), Handle(52)]);
    }
}
