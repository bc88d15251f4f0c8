//! Accumulations that also fetch the value before (MPI-5.0, 12.3.4): get and accumulate, compare and swap.
//!
//! Invariant: fetching and combining are one step; no other accumulation changes the element in between.

use mpi_core::Guard;
use mpi_core::abi::MPI_NO_OP;
use mpi_datatype::{Datatype, RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::OneSided;
use crate::access::{at_once, fits, same_elements};
use crate::accumulate::fetch_there;
use crate::basic::Basic;
use crate::combine::Combine;
use crate::place::Place;
use crate::swap::{LARGEST, comparable, swap};
use crate::target::{Target, overlap_free};
use crate::window::Win;
use crate::wire::Verb;

impl OneSided {
    /// `MPI_Get_accumulate`: the elements at the target go to `result`, and are
    /// combined with `data`. With `MPI_NO_OP` there are no data, and their type is ignored. `of_data` and
    /// `of_result` are types with their words. Does not wait. Errors: as [`OneSided::accumulate`].
    #[allow(clippy::too_many_arguments)] // the standard's own list
    pub fn get_accumulate(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        data: SendBuf<'static>,
        of_data: (&Datatype, usize),
        mut result: RecvBuf<'static>,
        of_result: (&Datatype, usize),
        target: &Target<'_>,
        op: usize,
    ) -> Result<()> {
        let of_target = Basic::in_all_of("target_datatype", target.handle, target.datatype)?;
        let of_result = Basic::in_all_of("result_datatype", of_result.1, of_result.0)?;
        if result.bytes() > 0 {
            same_elements("result_datatype", of_result, of_target, target)?;
        }
        let data = if op == MPI_NO_OP { SendBuf::empty() } else { data };
        if data.bytes() > 0 {
            let of_data = Basic::in_all_of("origin_datatype", of_data.1, of_data.0)?;
            same_elements("origin_datatype", of_data, of_target, target)?;
        }
        let combine = Combine::fetching_on_any(target.has_no_elements(), op, of_target)?;
        let elements = target.combined(of_target)?;
        let checked = |place: &Place<'_>| {
            fits(data.bytes(), place.bytes(), "origin_count", "the target")?;
            fits(place.bytes(), result.bytes(), "target_count", "the result")?;
            // Elements that are only read may overlap.
            if op == MPI_NO_OP { Ok(()) } else { overlap_free(&place.elements) }
        };
        let Some(place) = win.begin(guard, target, elements, checked)? else { return Ok(()) };
        let instruments = win.instruments();
        instruments.fetches.incr();
        instruments.fetch_bytes.add(place.bytes());
        if let Some(memory) = win.reach(place.rank) {
            let fetch = || fetch_there(memory, combine.as_ref(), &place, &data, result);
            self.engine.copy_unlocked(guard, place.bytes(), fetch);
            self.stored(guard);
            return Ok(());
        }
        let (mut done, bytes) = (0, place.bytes());
        while done < bytes {
            let cut = place.cut(done, at_once(of_target.datatype).min(bytes - done));
            let part = data.part(done, cut.bytes);
            let (into, rest) = result.split_at(cut.bytes);
            result = rest;
            self.await_reply(guard, win, place.rank, cut.bytes, into)?;
            win.send(guard, Verb::Fetch, op, &cut, part.bytes(), Some(part));
            done += cut.bytes;
        }
        Ok(())
    }

    /// `MPI_Fetch_and_op`: [`OneSided::get_accumulate`] of one element of a predefined type, or a duplicate of one, on
    /// all sides. Errors: as [`OneSided::accumulate`], and `MPI_ERR_TYPE` for other types.
    pub fn fetch_and_op(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        data: SendBuf<'static>,
        result: RecvBuf<'static>,
        target: &Target<'_>,
        op: usize,
    ) -> Result<()> {
        Basic::of("datatype", target.handle, target.datatype)?;
        let of_all = (target.datatype, target.handle);
        self.get_accumulate(guard, win, data, of_all, result, of_all, target, op)
    }

    /// `MPI_Compare_and_swap`: the element at the target goes to `result`; where it is the same as `compare`, `data`
    /// takes its place. All of the target's type, which must be an integer, a truth value or `MPI_BYTE`. Does not wait.
    /// Errors: as [`OneSided::put`].
    pub fn compare_and_swap(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        data: &SendBuf<'_>,
        compare: &SendBuf<'_>,
        mut result: RecvBuf<'static>,
        target: &Target<'_>,
    ) -> Result<()> {
        let basic = Basic::of("datatype", target.handle, target.datatype)?;
        comparable(basic)?;
        let Some(place) = win.begin(guard, target, target.combined(basic)?, |_| Ok(()))? else { return Ok(()) };
        let instruments = win.instruments();
        instruments.fetches.incr();
        instruments.fetch_bytes.add(place.bytes());
        let size = basic.datatype.size() as usize;
        let mut both = [0; 2 * LARGEST];
        compare.pack(0, &mut both[..size]);
        data.pack(0, &mut both[size..2 * size]);
        let both = &both[..2 * size];
        if let Some(memory) = win.reach(place.rank) {
            let _held = memory.lock();
            let before = swap(&mut place.in_memory_mut(memory), both);
            result.unpack(0, &before[..size]);
            self.stored(guard);
            return Ok(());
        }
        self.await_reply(guard, win, place.rank, size as u64, result)?;
        win.send_copied(guard, Verb::Swap, &place, both);
        Ok(())
    }
}
