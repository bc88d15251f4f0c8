//! Put, get and accumulate (MPI-5.0, 12.3): starting operations, and completing those that can be complete at once.
//!
//! Invariant: nothing here waits, and long copies run with the process lock released. An operation on memory that this
//! process has mapped, and a direct copy, is complete when the call returns; all others, which use the program's buffer
//! until then, are complete with the next fence.

use mpi_core::Guard;
use mpi_core::abi::{MPI_ERR_RMA_SYNC, MPI_ERR_TRUNCATE, MPI_ERR_TYPE};
use mpi_datatype::{Datatype, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::RegionKey;

use crate::OneSided;
use crate::accumulate::combine_there;
use crate::basic::Basic;
use crate::combine::Combine;
use crate::place::Place;
use crate::target::Target;
use crate::window::Win;
use crate::wire::{Head, PIECE, REPLY, Verb};

impl OneSided {
    /// `MPI_Put`. The program leaves the data unchanged until the next fence, hence `'static`. Does not wait.
    ///
    /// Errors: `MPI_ERR_RANK`, `MPI_ERR_DISP`, `MPI_ERR_TYPE`, `MPI_ERR_RMA_RANGE`, `MPI_ERR_TRUNCATE`,
    /// `MPI_ERR_RMA_SYNC` outside of an epoch, `MPI_ERR_OTHER` when a direct copy fails.
    pub fn put(&self, guard: &mut Guard<'_>, win: &Win, data: SendBuf<'static>, target: &Target<'_>) -> Result<()> {
        let checked = |place: &Place| fits(data.bytes(), place.bytes(), "origin_count", "the target");
        let Some(place) = win.begin(guard, target, checked)? else { return Ok(()) };
        let instruments = win.instruments();
        instruments.puts.incr();
        instruments.put_bytes.add(data.bytes());
        if let Some(memory) = win.reach(place.rank) {
            self.engine.copy_unlocked(guard, data.bytes(), || place.in_memory_mut(memory).copy_from(&data));
            return Ok(());
        }
        if !win.epoch.get_mut(guard).prefers_sending(data.bytes())
            && let Some(there) = self.direct(guard, win, &place)
            && let Some(copied) = self.engine.copy_to(guard, win.world_rank(place.rank), there, &data)
        {
            return copied;
        }
        if data.bytes() > 0 {
            win.send(guard, Verb::Put, 0, &place, data.bytes(), Some(data));
        }
        Ok(())
    }

    /// `MPI_Get`. The memory is the library's until the next fence. Does not wait. Errors: as [`OneSided::put`].
    pub fn get(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        mut memory: RecvBuf<'static>,
        target: &Target<'_>,
    ) -> Result<()> {
        let checked = |place: &Place| fits(place.bytes(), memory.bytes(), "target_count", "the origin");
        let Some(place) = win.begin(guard, target, checked)? else { return Ok(()) };
        let bytes = place.bytes();
        let instruments = win.instruments();
        instruments.gets.incr();
        instruments.get_bytes.add(bytes);
        if let Some(there) = win.reach(place.rank) {
            self.engine.copy_unlocked(guard, bytes, || memory.copy_from(&place.in_memory(there)));
            return Ok(());
        }
        if bytes == 0 {
            return Ok(());
        }
        if let Some(there) = self.direct(guard, win, &place) {
            let mut part = memory.part(0, bytes);
            if let Some(copied) = self.engine.copy_from(guard, win.world_rank(place.rank), there, &mut part) {
                return copied;
            }
        }
        self.await_reply(guard, win, place.rank, bytes, memory)?;
        win.send(guard, Verb::Get, 0, &place, bytes, None);
        Ok(())
    }

    /// `MPI_Accumulate`, with the word of a predefined operation, and the word of the origin's type. Does not wait.
    /// Errors: as [`OneSided::put`], and `MPI_ERR_OP`.
    pub fn accumulate(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        data: SendBuf<'static>,
        origin: (&Datatype, usize),
        target: &Target<'_>,
        op: usize,
    ) -> Result<()> {
        let of_origin = Basic::of("origin_datatype", origin.1, origin.0)?;
        let of_target = Basic::of("target_datatype", target.handle, target.datatype)?;
        if data.bytes() > 0 {
            same_elements("origin_datatype", of_origin, of_target, target)?;
        }
        let combine = Combine::on_any(target.has_no_elements(), op, of_target)?;
        let checked = |place: &Place| fits(data.bytes(), place.bytes(), "origin_count", "the target");
        let Some(place) = win.begin(guard, target, checked)? else { return Ok(()) };
        let instruments = win.instruments();
        instruments.accumulates.incr();
        instruments.accumulate_bytes.add(data.bytes());
        if let Some(memory) = win.reach(place.rank) {
            self.engine.copy_unlocked(guard, data.bytes(), || combine_there(memory, &combine, &place, &data));
            return Ok(());
        }
        let (datatype, bytes) = (of_target.datatype, data.bytes());
        let mut done = 0;
        while done < bytes {
            let part = data.part(done, at_once(datatype));
            let piece = place.piece(done, part.bytes());
            done += part.bytes().max(1);
            win.send(guard, Verb::Accumulate, op, &piece, part.bytes(), Some(part));
        }
        Ok(())
    }

    /// Starts to receive the answer of a target's service.
    pub(crate) fn await_reply(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        rank: u32,
        bytes: u64,
        memory: RecvBuf<'static>,
    ) -> Result<()> {
        let receive = self.engine.irecv(guard, win.context(), rank as i32, REPLY, memory)?;
        win.epoch.get_mut(guard).replies.push((receive, rank, bytes));
        Ok(())
    }

    /// The region and offset of a place in its owner's memory, if it can be copied to and from directly.
    #[inline]
    fn direct(&self, guard: &Guard<'_>, win: &Win, place: &Place) -> Option<(RegionKey, u64)> {
        let can = place.basic.datatype.is_contiguous()
            && self.settings.direct.get()
            && self.engine.can_copy(guard, win.world_rank(place.rank));
        let exposed = win.exposed(place.rank as i32).filter(|_| can)?;
        Some((exposed.region, place.offset))
    }
}

/// Bytes of data that an accumulation sends at once: whole elements.
pub(crate) fn at_once(datatype: &Datatype) -> u64 {
    (PIECE / datatype.size()).max(1) * datatype.size()
}

impl Win {
    /// The memory that an operation names. Counts the operation as started when all checks, `check` included, have
    /// passed; `None` for `MPI_PROC_NULL`.
    #[inline]
    pub(crate) fn begin(
        &self,
        guard: &mut Guard<'_>,
        target: &Target<'_>,
        check: impl FnOnce(&Place) -> Result<()>,
    ) -> Result<Option<Place>> {
        let place = self.place(target)?;
        let epoch = self.epoch.get_mut(guard);
        if !epoch.open {
            return Err(self.no_epoch());
        }
        if let Some(place) = &place {
            check(place)?;
            epoch.started += 1;
        }
        Ok(place)
    }

    /// Adds an operation to the records that the target's service applies.
    pub(crate) fn send(
        &self,
        guard: &mut Guard<'_>,
        verb: Verb,
        op: usize,
        place: &Place,
        bytes: u64,
        data: Option<SendBuf<'static>>,
    ) {
        self.instruments().messages.incr();
        // Words of predefined objects are small.
        let (op, datatype) = (op as u32, place.basic.handle as u32);
        let head = Head { verb, op, datatype, offset: place.offset, count: place.count, bytes };
        self.epoch.get_mut(guard).send(place.rank, &head, data);
    }

    /// As [`Win::send`], with short data, which are copied.
    pub(crate) fn send_copied(&self, guard: &mut Guard<'_>, verb: Verb, place: &Place, data: &[u8]) {
        self.instruments().messages.incr();
        let (bytes, datatype) = (data.len() as u64, place.basic.handle as u32);
        let head = Head { verb, op: 0, datatype, offset: place.offset, count: place.count, bytes };
        self.epoch.get_mut(guard).send_inline(place.rank, &head, |room| room.copy_from_slice(data));
    }

    #[cold]
    fn no_epoch(&self) -> Error {
        let rule = format!("no epoch is open on {}: call MPI_Win_fence first", self.described());
        Error::new(MPI_ERR_RMA_SYNC, rule)
    }
}

pub(crate) fn fits(data: u64, room: u64, name: &'static str, whose: &str) -> Result<()> {
    if data <= room { Ok(()) } else { Err(too_long(data, room, name, whose)) }
}

#[cold]
fn too_long(data: u64, room: u64, name: &'static str, whose: &str) -> Error {
    let rule = format!("{whose} has room for {room} bytes");
    Error::new(MPI_ERR_TRUNCATE, rule).arg(name, &format_args!("{data} bytes of data"))
}

/// Accumulations are arithmetic: both sides must have the same kind of number. If the target has no elements, or is
/// `MPI_PROC_NULL`, no element is combined and any type matches.
pub(crate) fn same_elements(name: &'static str, origin: Basic, target: Basic, at: &Target<'_>) -> Result<()> {
    let facts = |basic: Basic| (basic.datatype.scalar(), basic.datatype.size(), basic.datatype.category());
    if origin.handle == target.handle || at.has_no_elements() || facts(origin) == facts(target) {
        return Ok(());
    }
    let rule = "an accumulation needs the same elements on both sides";
    let error = Error::new(MPI_ERR_TYPE, rule).arg(name, &origin.datatype.name());
    Err(error.arg("target_datatype", &target.datatype.name()))
}
