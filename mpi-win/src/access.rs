//! Put, get and accumulate (MPI-5.0, 12.3): starting operations, and completing those that can be complete at once.
//!
//! Invariant: nothing here waits, and long copies run with the process lock released. An operation on memory that this
//! process has mapped, and a direct copy, is complete when the call returns; all others, which use the program's buffer
//! until then, are complete with the next fence, or the call that ends or flushes another epoch.

use mpi_core::Guard;
use mpi_core::abi::{MPI_ERR_PROC_ABORTED, MPI_ERR_RMA_SYNC, MPI_ERR_TRUNCATE, MPI_ERR_TYPE};
use mpi_datatype::{Datatype, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::RegionKey;

use crate::OneSided;
use crate::accumulate::combine_there;
use crate::basic::Basic;
use crate::combine::Combine;
use crate::elements::Elements;
use crate::place::{Cut, Place};
use crate::target::{Target, overlap_free};
use crate::window::Win;
use crate::wire::{Head, PIECE, REPLY, Verb};

impl OneSided {
    /// `MPI_Put`. The program leaves the data unchanged until the next fence, hence `'static`. Does not wait.
    ///
    /// Errors: `MPI_ERR_RANK`, `MPI_ERR_DISP`, `MPI_ERR_TYPE`, also for elements that overlap at the target,
    /// `MPI_ERR_RMA_RANGE`, `MPI_ERR_TRUNCATE`, `MPI_ERR_RMA_SYNC` outside of an epoch, `MPI_ERR_OTHER` when a direct
    /// copy fails, `MPI_ERR_PROC_ABORTED` when it fails because the target has ended.
    pub fn put(&self, guard: &mut Guard<'_>, win: &Win, data: SendBuf<'static>, target: &Target<'_>) -> Result<()> {
        let elements = target.copied()?;
        let checked = |place: &Place<'_>| {
            fits(data.bytes(), place.bytes(), "origin_count", "the target")?;
            overlap_free(&place.elements)
        };
        let Some(place) = win.begin(guard, target, elements, checked)? else { return Ok(()) };
        let bytes = data.bytes();
        let instruments = win.instruments();
        instruments.puts.incr();
        instruments.put_bytes.add(bytes);
        if let Some(memory) = win.reach(place.rank) {
            self.engine.copy_unlocked(guard, bytes, || place.in_memory_mut(memory).copy_from(&data));
            self.stored(guard);
            return Ok(());
        }
        if !win.epoch.get_mut(guard).prefers_sending(bytes)
            && let Some(region) = self.direct(guard, win, place.rank)
        {
            let rank = win.world_rank(place.rank);
            if place.elements.datatype().is_contiguous()
                && let Some(copied) = self.engine.copy_to(guard, rank, (region, place.offset), &data)
            {
                return self.direct_result(guard, win, place.rank, copied);
            }
            if bytes > 0 && place.has_long_runs(&data) {
                let copied = self.engine.copy_to_runs(guard, rank, region, || place.runs(bytes), &data);
                return self.direct_result(guard, win, place.rank, copied);
            }
        }
        if place.elements.derived.is_none() {
            if bytes > 0 {
                win.send(guard, Verb::Put, 0, &place.cut(0, place.bytes()), bytes, Some(data));
            }
            return Ok(());
        }
        let mut done = 0;
        while done < bytes {
            let cut = place.cut(done, bytes - done);
            let part = data.part(done, cut.bytes);
            done += cut.bytes;
            win.send(guard, Verb::Put, 0, &cut, cut.bytes, Some(part));
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
        let elements = target.copied()?;
        let checked = |place: &Place<'_>| fits(place.bytes(), memory.bytes(), "target_count", "the origin");
        let Some(place) = win.begin(guard, target, elements, checked)? else { return Ok(()) };
        let bytes = place.bytes();
        let instruments = win.instruments();
        instruments.gets.incr();
        instruments.get_bytes.add(bytes);
        if let Some(there) = win.reach(place.rank) {
            self.order_stores(guard);
            self.engine.copy_unlocked(guard, bytes, || memory.copy_from(&place.in_memory(there)));
            return Ok(());
        }
        if bytes == 0 {
            return Ok(());
        }
        if let Some(region) = self.direct(guard, win, place.rank) {
            let rank = win.world_rank(place.rank);
            let mut part = memory.part(0, bytes);
            if place.elements.datatype().is_contiguous()
                && let Some(copied) = self.engine.copy_from(guard, rank, (region, place.offset), &mut part)
            {
                return self.direct_result(guard, win, place.rank, copied);
            }
            if place.has_long_runs(&part) {
                let copied = self.engine.copy_from_runs(guard, rank, region, || place.runs(bytes), &mut part);
                return self.direct_result(guard, win, place.rank, copied);
            }
        }
        let mut done = 0;
        while done < bytes {
            let cut = place.cut(done, bytes - done);
            let (part, rest) = memory.split_at(cut.bytes);
            memory = rest;
            done += cut.bytes;
            self.await_reply(guard, win, place.rank, cut.bytes, part)?;
            win.send(guard, Verb::Get, 0, &cut, cut.bytes, None);
        }
        Ok(())
    }

    /// `MPI_Accumulate`, with the word of a predefined operation, and the word of the origin's type. All data of both
    /// types are elements of one predefined type. Does not wait. Errors: as [`OneSided::put`], and `MPI_ERR_OP`.
    pub fn accumulate(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        data: SendBuf<'static>,
        origin: (&Datatype, usize),
        target: &Target<'_>,
        op: usize,
    ) -> Result<()> {
        let of_origin = Basic::in_all_of("origin_datatype", origin.1, origin.0)?;
        let of_target = Basic::in_all_of("target_datatype", target.handle, target.datatype)?;
        if data.bytes() > 0 {
            same_elements("origin_datatype", of_origin, of_target, target)?;
        }
        let combine = Combine::on_any(target.has_no_elements(), op, of_target)?;
        let elements = target.combined(of_target)?;
        let checked = |place: &Place<'_>| {
            fits(data.bytes(), place.bytes(), "origin_count", "the target")?;
            overlap_free(&place.elements)
        };
        let Some(place) = win.begin(guard, target, elements, checked)? else { return Ok(()) };
        let instruments = win.instruments();
        instruments.accumulates.incr();
        instruments.accumulate_bytes.add(data.bytes());
        if let Some(memory) = win.reach(place.rank) {
            self.engine.copy_unlocked(guard, data.bytes(), || combine_there(memory, &combine, &place, &data));
            self.stored(guard);
            return Ok(());
        }
        let (mut done, bytes) = (0, data.bytes());
        while done < bytes {
            let cut = place.cut(done, at_once(of_target.datatype).min(bytes - done));
            let part = data.part(done, cut.bytes);
            done += cut.bytes;
            win.send(guard, Verb::Accumulate, op, &cut, cut.bytes, Some(part));
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

    /// The result of a direct copy. Where it failed because the rank's process has ended, that is the error.
    #[inline]
    fn direct_result(&self, guard: &Guard<'_>, win: &Win, rank: u32, copied: Result<()>) -> Result<()> {
        copied.map_err(|error| match self.engine.is_alive(guard, win.world_rank(rank)) {
            true => error,
            false => Error::new(MPI_ERR_PROC_ABORTED, format!("rank {rank} of {} has ended", win.described())),
        })
    }

    /// The region of a rank's memory, if it can be copied to and from directly.
    #[inline]
    fn direct(&self, guard: &Guard<'_>, win: &Win, rank: u32) -> Option<RegionKey> {
        let peer = win.world_rank(rank);
        let region = win.exposed(rank as i32).map(|exposed| exposed.region)?;
        let can = self.settings.direct.get() && self.engine.can_copy(guard, peer) && region != RegionKey::NONE;
        // What a network could not register, processes of the same host reach by its address.
        (can && (!region.is_none() || self.engine.shares_memory(guard, peer))).then_some(region)
    }
}

impl<'t> Target<'t> {
    /// The elements, to be copied.
    #[inline]
    fn copied(&self) -> Result<Elements<'t>> {
        Elements::copied("target_datatype", self.handle, self.count, self.datatype)
    }

    /// The elements, to be combined, with the predefined type of their data.
    #[inline]
    pub(crate) fn combined(&self, basic: Basic) -> Result<Elements<'t>> {
        Elements::combined("target_datatype", self.handle, basic, self.count, self.datatype)
    }
}

/// Bytes of data that an accumulation sends at once: whole elements.
pub(crate) fn at_once(datatype: &Datatype) -> u64 {
    (PIECE / datatype.size()).max(1) * datatype.size()
}

impl Win {
    /// The memory that an operation names, whose elements are these. Counts the operation as started when all checks,
    /// `check` included, have passed; `None` for `MPI_PROC_NULL`.
    #[inline]
    pub(crate) fn begin<'t>(
        &self,
        guard: &mut Guard<'_>,
        target: &Target<'_>,
        elements: Elements<'t>,
        check: impl FnOnce(&Place<'t>) -> Result<()>,
    ) -> Result<Option<Place<'t>>> {
        let place = self.place(target, elements)?;
        let epoch = self.epoch.get_mut(guard);
        if std::mem::take(&mut epoch.requesting) {
            if !place.as_ref().map_or(epoch.locks.any(), |place| epoch.locks.has(place.rank)) {
                return Err(self.no_lock(target.rank));
            }
        } else if !place.as_ref().map_or(epoch.is_access(), |place| epoch.allows(place.rank)) {
            return Err(self.no_epoch(target.rank));
        }
        if let Some(place) = &place {
            check(place)?;
            // Other epochs complete all of their operations.
            epoch.started += u64::from(epoch.open);
        }
        Ok(place)
    }

    /// Adds an operation on a part of a place to the records that the target's service applies. `bytes` are those of
    /// the data; of a get, of the reply.
    pub(crate) fn send(
        &self,
        guard: &mut Guard<'_>,
        verb: Verb,
        op: usize,
        cut: &Cut<'_>,
        bytes: u64,
        data: Option<SendBuf<'static>>,
    ) {
        self.instruments().messages.incr();
        let head = Head::new(verb, op, &cut.place, cut.blocks.len(), bytes);
        self.epoch.get_mut(guard).send(cut.place.rank, &head, &cut.blocks, data);
    }

    /// Adds an operation on one element of a predefined type, with short data, which are copied.
    pub(crate) fn send_copied(&self, guard: &mut Guard<'_>, verb: Verb, place: &Place<'_>, data: &[u8]) {
        self.instruments().messages.incr();
        let head = Head::new(verb, 0, place, 0, data.len() as u64);
        self.epoch.get_mut(guard).send_inline(place.rank, &head, &[], |room| room.copy_from_slice(data));
    }

    #[cold]
    fn no_lock(&self, rank: i32) -> Error {
        let rule = format!("rank {rank} of {} is not locked by this process", self.described());
        Error::new(MPI_ERR_RMA_SYNC, rule).hint("Operations with requests need MPI_Win_lock or MPI_Win_lock_all.")
    }

    #[cold]
    fn no_epoch(&self, rank: i32) -> Error {
        let rule = format!("no epoch for rank {rank} is open on {}", self.described());
        Error::new(MPI_ERR_RMA_SYNC, rule)
            .hint("MPI_Win_fence, MPI_Win_lock, MPI_Win_lock_all and MPI_Win_start begin epochs.")
    }
}

pub(crate) fn fits(data: u64, room: u64, name: &'static str, whose: &str) -> Result<()> {
    if data <= room { Ok(()) } else { Err(too_long(data, room, name, whose)) }
}

#[cold]
fn too_long(data: u64, room: u64, name: &'static str, whose: &str) -> Error {
    let rule = format!("{whose} has room for {}", mpi_errors::counted(room, "byte"));
    Error::new(MPI_ERR_TRUNCATE, rule).arg(name, &format_args!("{} of data", mpi_errors::counted(data, "byte")))
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
    let advice =
        "Pass the same predefined datatype, or derived ones that are made of the same, for the origin and the target.";
    Err(error.arg("target_datatype", &target.datatype.name()).hint(advice))
}
