//! Buffered sends: their data are copied, and the copy is sent (MPI-5.0, 3.4).
//!
//! Invariant: when a call here returns, the program may use the buffer again. Long data are copied with the process
//! lock released.
//! Not here: the room in the attached buffer (`buffered`), sending (`send`).

use mpi_core::abi::MPI_PROC_NULL;
use mpi_core::{Guard, Handle};
use mpi_datatype::SendBuf;
use mpi_errors::Result;

use crate::copying::is_long;
use crate::engine::Engine;
use crate::recipe::{Activity, Recipe, RecipeRequest};
use crate::request::{Data, Mode, Receiver, no_such_request};

impl Engine {
    /// A buffered send (`MPI_Bsend`). Errors: `MPI_ERR_BUFFER` when the attached buffer has no room, `MPI_ERR_COMM` for
    /// an unknown context, `MPI_ERR_INTERN` without room for the request.
    #[inline(never)]
    pub(crate) fn start_buffered(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        dest: i32,
        tag: i32,
        buffer: SendBuf<'static>,
    ) -> Result<()> {
        let data = self.buffered_data(guard, context, dest, buffer)?;
        let state = self.state.get_mut(guard);
        state.start_send_slowly(context, dest, tag, data, Mode::Buffered, Receiver::Matching).map(drop)
    }

    /// A start of an inactive persistent buffered send. Errors: as [`Engine::start_buffered`], and `MPI_ERR_REQUEST`
    /// when another thread has started or freed the request meanwhile.
    #[cold]
    pub(crate) fn start_buffered_recipe(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let found = self.state.get(guard).core.recipes.get(request);
        let Some(RecipeRequest { context, recipe: Recipe::Send(send), .. }) = found else {
            return Err(no_such_request(request));
        };
        let (context, dest, tag) = (*context, send.dest, send.tag);
        let data = self.buffered_data(guard, context, dest, send.buffer.clone())?;
        let state = self.state.get_mut(guard);
        state.core.check_startable(request)?;
        state.start_send_slowly(context, dest, tag, data, Mode::Buffered, Receiver::Matching)?;
        if let Some(found) = state.core.recipes.get_mut(request) {
            found.activity = Activity::Over;
        }
        Ok(())
    }

    /// The data of a buffered send to a rank: a copy if they are long; else the send makes it where it needs one.
    fn buffered_data(&self, guard: &mut Guard<'_>, context: u32, dest: i32, buffer: SendBuf<'static>) -> Result<Data> {
        let (bytes, data) = (buffer.bytes(), Data::User(buffer));
        if !is_long(bytes) || dest == MPI_PROC_NULL {
            return Ok(data);
        }
        self.state.get(guard).core.buffer_owner(context, bytes)?;
        self.copy_unlocked(guard, bytes, || data.into_owned())
    }
}
