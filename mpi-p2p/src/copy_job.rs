//! Long messages that this process copies: the jobs, the parts that threads claim of them, and the pins.
//!
//! A job is a region of another process, an offset in it, and memory of this process. A thread claims a part under the
//! process lock, copies it with the lock released, and counts it under the lock again. Where the sender copies as well,
//! both processes claim chunks from a transfer slot.
//! Invariant: from the claim of a part until its count, the job stays in the list ([`CopyJob::copiers`]), and the
//! memory of the part stays with its request: a receive completes, or is dropped, only without copiers, and so does a
//! send (`Work::Offered`, `PartitionedSend::copying`). All of this state is under the process lock, which orders it for
//! all threads; only the words of a transfer slot are shared without the lock (`chunk_claims`).
//! Not here: claiming, counting and completing (`copies`), the release of the lock (`copying`).
#![allow(unsafe_code)] // parts of a receive's buffer are copied into at the same time

use mpi_core::Handle;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_fabric::{Copier, CopyState, RegionKey, Registration, StartedCopy};

use crate::region_table;
use crate::request::Data;
use crate::run_table::{ListedChunk, RunTable, pieces};

/// Longest part in bytes where several threads may copy: the thread that polls for the others polls between two parts.
const PART_MAX: u64 = 128 << 10;
/// The same over a network, where each part costs a round trip.
const NETWORK_PART_MAX: u64 = 1 << 20;
/// Bytes of parts that networks copy from which on no further one is started.
const ENOUGH_STARTED: u64 = 4 << 20;
/// Bytes of a part whose runs are listed at once.
const PIECE: u64 = 128 << 10;
/// The same where the runs are long: all of a part over a network, which has several copies under way.
const LONG_RUNS_PIECE: u64 = NETWORK_PART_MAX;

/// A long message that this process copies, or helps to copy.
#[derive(Debug)]
pub(crate) struct CopyJob {
    /// Differs from those of all other jobs of the process.
    pub id: u64,
    pub request: Handle,
    pub copier: Copier,
    pub remote: Remote,
    pub side: Side,
    pub claims: Claims,
    /// Whether parts may be left to claim.
    pub open: bool,
    /// Number of parts that are claimed and not counted yet: a thread copies each, or it is [`CopyJobs::started`].
    pub copiers: u32,
    /// Number of threads that wait until a network has copied a part.
    pub waiting: u32,
    /// Bytes that this process has copied.
    pub copied: u64,
}

/// The other process's memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Remote {
    pub region: RegionKey,
    /// Bytes from the start of the region.
    pub offset: u64,
    pub bytes: u64,
    /// Whether the region is a table of the runs of that memory; then both processes copy.
    pub listed: bool,
    /// Whether the region is a table of the regions of that memory (`region_table`); then the receiver copies.
    pub keyed: bool,
}

/// This process's side of the transfer, with its memory.
#[derive(Debug)]
pub(crate) enum Side {
    /// It copies from the region into the buffer of a receive. `token` names the send at its sender.
    Receive { buffer: RecvBuf<'static>, token: u64 },
    /// It copies the data of a send to the region.
    Send { data: SendBuf<'static> },
    /// It copies the partitions `range.0 .. range.1` of the partitioned send with this handle to the region.
    Partitions { data: SendBuf<'static>, send: Handle, range: (u32, u32) },
}

impl Side {
    /// The side of the sender of this data; the request holds the data.
    pub fn of_send(data: &Data) -> Side {
        // SAFETY: a part of it is used only while the request that holds the data is offered and pinned.
        Side::Send { data: unsafe { data.as_send().detach() } }
    }
}

/// How parts are claimed.
#[derive(Debug)]
pub(crate) enum Claims {
    /// By this process alone, in order: `claimed` bytes so far. Where several threads may copy, at most `most` at a
    /// time.
    Alone { claimed: u64, most: u64 },
    /// By both processes: chunks, in a transfer slot of the receiver.
    Slot(SharedClaims),
}

impl Claims {
    /// Those of this process alone; `near`: the other process is on this host.
    pub fn alone(near: bool) -> Claims {
        Claims::Alone { claimed: 0, most: if near { PART_MAX } else { NETWORK_PART_MAX } }
    }
}

/// Claims in a transfer slot.
#[derive(Debug)]
pub(crate) struct SharedClaims {
    pub slot: u32,
    pub round: u32,
    pub chunks: u64,
    /// Bytes of a chunk.
    pub chunk: u64,
    /// This process has claimed chunks below this one only. The other process can write the slot; if it sets the count
    /// of claims back, no two threads copy the same chunk.
    pub next: u64,
    /// Of a receive that is revoked, or whose rest goes in fragments: the number of chunks that were claimed when the slot
    /// was closed.
    pub claimed_at_close: Option<u64>,
    /// Of a receive: the sender sends in fragments what nobody has begun to copy.
    pub rest_in_fragments: bool,
    /// Of a receive: lets the sender write to the buffer, whose runs the table lists if it has gaps.
    pub _registration: (Registration, Option<RunTable>),
}

impl CopyJob {
    /// The claimed part of `bytes` bytes at `start`.
    pub fn part(&mut self, start: u64, bytes: u64) -> Part {
        let local = match &mut self.side {
            // SAFETY: the pin keeps the memory with the request until the part is counted, and no two claims overlap.
            Side::Receive { buffer, .. } => Local::Into(unsafe { buffer.part(start, bytes).detach() }),
            Side::Send { data } | Side::Partitions { data, .. } => Local::From(data.part(start, bytes)),
        };
        self.copiers += 1;
        let region = self.remote.region;
        let far = match &self.claims {
            Claims::Slot(SharedClaims { chunks, chunk, .. }) if self.remote.listed => {
                Far::Listed(ListedChunk { table: region, chunks: *chunks, index: start / *chunk, bytes })
            }
            _ if self.remote.keyed => Far::Regions { table: region, start },
            _ => Far::Region { region, offset: self.remote.offset + start },
        };
        Part {
            id: self.id,
            copier: self.copier.clone(),
            far,
            local,
            #[cfg(test)]
            before: None,
        }
    }
}

/// The jobs of a process, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct CopyJobs {
    pub list: Vec<CopyJob>,
    next_id: u64,
    /// Number of jobs with parts to claim.
    pub open: usize,
    /// Parts that a network copies while the process does other things.
    pub started: Vec<StartedPart>,
    #[cfg(test)]
    pub before: Option<BeforeCopy>,
    /// How often the lock was released for a copy.
    #[cfg(test)]
    pub releases: u64,
}

impl CopyJobs {
    /// Adds a job.
    pub fn add(&mut self, request: Handle, copier: Copier, remote: Remote, side: Side, claims: Claims) {
        let id = self.next_id;
        self.next_id += 1;
        self.open += 1;
        self.list.push(CopyJob {
            id,
            request,
            copier,
            remote,
            side,
            claims,
            open: true,
            copiers: 0,
            waiting: 0,
            copied: 0,
        });
    }

    /// The id of the job that is added next, if there is none now.
    pub fn next_if_idle(&self) -> Option<u64> {
        self.list.is_empty().then_some(self.next_id)
    }

    /// The oldest job with parts to claim. `leads`: the thread polls for others, so it does not wait for a process that may answer late,
    /// because another thread copies from it over a network.
    pub fn first_open(&self, leads: bool) -> Option<usize> {
        if self.open == 0 {
            return None;
        }
        let started: u64 = self.started.iter().map(|part| part.bytes).sum();
        let stays = |job: &CopyJob| {
            let same = |other: &CopyJob| other.waiting > 0 && other.copier.peer() == job.copier.peer();
            job.copier.is_over_network() && (started >= ENOUGH_STARTED || leads && self.list.iter().any(same))
        };
        self.list.iter().position(|job| job.open && !stays(job))
    }

    /// Counts a thread that waits until a network has copied a part of a job, or waits no more.
    pub fn count_waiting(&mut self, id: u64, waits: bool) {
        if let Some(job) = self.list.iter_mut().find(|job| job.id == id) {
            job.waiting = if waits { job.waiting + 1 } else { job.waiting - 1 };
        }
    }

    /// A part that has been copied meanwhile. `moved`: counts those of which something has come.
    pub fn next_over(&mut self, moved: &mut usize) -> Option<CopiedPart> {
        for at in 0..self.started.len() {
            let part = &mut self.started[at];
            match part.copy.advance() {
                CopyState::UnderWay { came } => {
                    part.refused = false;
                    *moved += usize::from(came);
                }
                CopyState::Refused => part.refused = true,
                CopyState::Over(result) => {
                    let StartedPart { id, bytes, .. } = self.started.swap_remove(at);
                    return Some(CopiedPart { id, bytes, result });
                }
            }
        }
        None
    }

    /// Whether a network has taken nothing of a part yet: no doorbell rings when it would.
    pub fn is_refused(&self) -> bool {
        self.started.iter().any(|part| part.refused)
    }

    /// Whether a thread copies over a network.
    pub fn is_awaited(&self) -> bool {
        self.list.iter().any(|job| job.waiting > 0)
    }

    /// Ends the claims of a job.
    pub fn close(&mut self, at: usize) {
        self.open -= usize::from(std::mem::replace(&mut self.list[at].open, false));
    }

    /// Removes a job, which must have no copiers.
    pub fn remove(&mut self, at: usize) -> CopyJob {
        self.close(at);
        self.list.remove(at)
    }

    /// Whether a request has a job.
    pub fn has(&self, request: Handle) -> bool {
        self.list.iter().any(|job| job.request == request)
    }

    /// Whether the other process may still copy a chunk of a receive: it reports that in the slot, and no doorbell
    /// rings.
    pub fn await_chunks(&self) -> bool {
        let mut jobs = self.list.iter();
        jobs.any(|job| matches!((&job.side, &job.claims), (Side::Receive { .. }, Claims::Slot(_))))
    }
}

/// Called before each copy of a part, without the lock.
#[cfg(test)]
#[derive(Clone)]
pub(crate) struct BeforeCopy(pub std::sync::Arc<dyn Fn() + Send + Sync>);

#[cfg(test)]
impl std::fmt::Debug for BeforeCopy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BeforeCopy")
    }
}

/// A claimed part of a job, to be copied by the thread that claimed it.
#[derive(Debug)]
#[must_use = "a claimed part pins its request until it is counted"]
pub(crate) struct Part {
    pub id: u64,
    copier: Copier,
    far: Far,
    local: Local,
    #[cfg(test)]
    before: Option<BeforeCopy>,
}

/// The other process's memory of a part.
#[derive(Debug)]
enum Far {
    /// In one piece, from so many bytes behind the start of the region.
    Region { region: RegionKey, offset: u64 },
    /// In the runs that a table of that process lists.
    Listed(ListedChunk),
    /// In the regions that a table of that process lists, from so many bytes of the message on.
    Regions { table: RegionKey, start: u64 },
}

/// The memory of a part.
#[derive(Debug)]
enum Local {
    Into(RecvBuf<'static>),
    From(SendBuf<'static>),
}

/// A part that a network copies.
pub(crate) struct StartedPart {
    id: u64,
    bytes: u64,
    copy: Box<dyn StartedCopy>,
    /// Whether the network takes nothing of it now.
    refused: bool,
}

impl std::fmt::Debug for StartedPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartedPart").field("id", &self.id).field("bytes", &self.bytes).finish()
    }
}

/// A part that has been copied, or could not be.
#[derive(Debug)]
pub(crate) struct CopiedPart {
    pub id: u64,
    pub bytes: u64,
    pub result: Result<()>,
}

impl Part {
    #[cfg(test)]
    pub fn after(self, before: &Option<BeforeCopy>) -> Part {
        Part { before: before.clone(), ..self }
    }

    /// Bytes of the part.
    pub fn bytes(&self) -> u64 {
        match &self.local {
            Local::Into(buffer) => buffer.bytes(),
            Local::From(data) => data.bytes(),
        }
    }

    /// Whether a network copies it.
    pub fn is_over_network(&self) -> bool {
        self.copier.is_over_network()
    }

    /// Copies the part. Needs no lock.
    pub fn copy(mut self) -> CopiedPart {
        #[cfg(test)]
        if let Some(before) = self.before.take() {
            before.0();
        }
        let bytes = self.bytes();
        let whole = match (&self.far, &mut self.local) {
            (Far::Region { region, offset }, Local::Into(buffer)) => {
                buffer.contiguous_mut().map(|memory| self.copier.read(*region, *offset, memory))
            }
            (Far::Region { region, offset }, Local::From(data)) => {
                data.contiguous().map(|memory| self.copier.write(*region, *offset, memory))
            }
            _ => None,
        };
        let result = whole.unwrap_or_else(|| self.copy_runs(bytes));
        CopiedPart { id: self.id, bytes, result }
    }

    /// Has a network copy the part while the process does other things; the part itself if that cannot be.
    pub fn start(self) -> Result<StartedPart, Part> {
        let (Far::Region { region, offset }, Local::Into(buffer)) = (&self.far, &self.local) else { return Err(self) };
        let bytes = self.bytes();
        let pieces = pieces(&[(*offset, bytes)], buffer).into_iter().map(|piece| (*region, piece)).collect();
        // SAFETY: the pin keeps the memory with the request, which no other code uses, until the part is counted; also if the other process
        // is lost, as docs/hosts.md says.
        match unsafe { self.copier.start_read(pieces) } {
            Some(copy) => Ok(StartedPart { id: self.id, bytes, copy, refused: false }),
            None => Err(self),
        }
    }

    /// Copies the part where the memory of either process has gaps.
    fn copy_runs(&mut self, bytes: u64) -> Result<()> {
        match self.far {
            // The table has addresses.
            Far::Listed(chunk) => self.copy_piece(0, bytes, RegionKey::NONE, &chunk.read(&self.copier)?),
            Far::Regions { table, start } => {
                let regions = region_table::read(&self.copier, table)?;
                let Local::Into(buffer) = &self.local else { return Ok(()) };
                let pieces = pieces(&[(start, bytes)], buffer);
                let pieces = region_table::in_regions(self.copier.peer(), &pieces, &regions)?;
                // SAFETY: as in `copy_piece`.
                unsafe { self.copier.read_regions(&pieces) }
            }
            Far::Region { region, offset } => {
                let mean_run = match &self.local {
                    Local::Into(buffer) => buffer.mean_run(),
                    Local::From(data) => data.mean_run(),
                };
                let piece = if mean_run >= PIECE / 2 { LONG_RUNS_PIECE } else { PIECE };
                (0..bytes).step_by(piece as usize).try_for_each(|at| {
                    let length = piece.min(bytes - at);
                    self.copy_piece(at, length, region, &[(offset + at, length)])
                })
            }
        }
    }

    /// Copies `length` bytes of the part, from `at` on, from or to these runs of a region.
    fn copy_piece(&mut self, at: u64, length: u64, region: RegionKey, runs: &[(u64, u64)]) -> Result<()> {
        match &mut self.local {
            // SAFETY: the memory of the part, which no other code uses until it is counted.
            Local::Into(buffer) => unsafe { self.copier.read_pieces(region, &pieces(runs, &buffer.part(at, length))) },
            // SAFETY: the memory of the part, which no code writes until it is counted.
            Local::From(data) => unsafe { self.copier.write_pieces(region, &pieces(runs, &data.part(at, length))) },
        }
    }
}
