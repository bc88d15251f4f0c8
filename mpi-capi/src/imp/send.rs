//! Sends in all modes, blocking and non-blocking (MPI-5.0, 3.4 and 3.7).

use mpi_core::Guard;
use mpi_datatype::SendBuf;
use mpi_p2p::Mode;

use crate::call_context::{CallContext, CommView};
use crate::check::Out;
use crate::errors::Outcome;

macro_rules! sends {
    ($($blocking:ident, $started:ident: $mode:ident;)*) => {$(
        /// The blocking send of one mode.
        #[inline(always)] // one caller each: the entry point
        pub fn $blocking(cx: CallContext, buffer: SendBuf<'_>, dest: i32, tag: i32, comm: CommView) -> Outcome {
            let CallContext { process, guard, .. } = cx;
            Ok(process.engine.send(guard, comm.context, dest, tag, buffer, Mode::$mode)?)
        }

        /// The non-blocking send of one mode.
        #[inline(always)] // one caller each: the entry point
        pub fn $started(
            cx: CallContext,
            buffer: SendBuf<'static>,
            dest: i32,
            tag: i32,
            comm: CommView,
            request: Out<usize>,
        ) -> Outcome {
            let CallContext { process, mut guard, .. } = cx;
            let guard: &mut Guard<'_> = &mut guard;
            request.set(process.engine.isend(guard, comm.context & !1, dest, tag, buffer, Mode::$mode)?.0);
            Ok(())
        }
    )*};
}

sends! {
    send, isend: Standard;
    ssend, issend: Synchronous;
    rsend, irsend: Ready;
    bsend, ibsend: Buffered;
}
