//! The forms of a collective operation: blocking, non-blocking, persistent.
//!
//! Not here: the operations (`coll`, `neighbor`).

use mpi_coll::{CollCall, Reduction};
use mpi_core::{Guard, Handle};
use mpi_datatype::predefined;
use mpi_env::Process;

use super::coll_args::Arguments;
use super::comm_create::hints;
use crate::call_context::{CallContext, CommView};
use crate::check::Out;
use crate::errors::Outcome;

/// What is done with a call that does not block.
pub enum Form {
    /// It is started, and its request stored here.
    Start(Out<usize>),
    /// A persistent request of it is made, with this info object, and stored here.
    Init(usize, Out<usize>),
}

/// Carries out an operation.
pub fn block(cx: CallContext, comm: CommView, arguments: Arguments) -> Outcome {
    block_short(cx, comm, arguments)
}

/// The same, for operations with a short way, which is a part of the caller.
#[inline(always)] // the operation is a constant in every caller, so one short way remains in it
pub fn block_short(cx: CallContext, comm: CommView, arguments: Arguments) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let CallContext { process, guard, .. } = cx;
    let Arguments { which, root, send, recv, reducing, counts } = arguments;
    let call = CollCall::new(which, send, recv).rooted(root).scattered(&counts);
    let Some((op, datatype, count)) = &reducing else {
        return Ok(process.coll.block_with(guard, &whole, call)?);
    };
    let reduction = Reduction { op, datatype, handle: datatype.word(), count: *count };
    Ok(process.coll.block_with(guard, &whole, call.reducing(&reduction))?)
}

/// Starts, or makes a persistent request of an operation.
pub fn begin(cx: CallContext, comm: CommView, arguments: Arguments, form: Form) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let CallContext { process, mut guard, .. } = cx;
    let Arguments { which, root, send, recv, reducing, counts } = arguments;
    let reduction = reducing.as_ref().map(|(op, datatype, count)| Reduction {
        op,
        datatype,
        handle: datatype.word(),
        count: *count,
    });
    let call = CollCall::new(which, send, recv).rooted(root).scattered(&counts);
    let call = match &reduction {
        Some(reduction) => call.reducing(reduction),
        None => call,
    };
    match form {
        Form::Start(request) => {
            let held = hold_type(process, &mut guard, reduction.as_ref());
            let started = process.coll.start(&mut guard, &whole, ending_with(call, process, held));
            request.set(started.inspect_err(|_| release(process, &mut guard, held))?.0);
            Ok(())
        }
        Form::Init(info, request) => {
            guard.unlocked(|| hints(info).map(drop))?;
            let held = hold_type(process, &mut guard, reduction.as_ref());
            let made = process.coll.init(&mut guard, &whole, ending_with(call, process, held));
            request.set(made.inspect_err(|_| release(process, &mut guard, held))?.0);
            Ok(())
        }
    }
}

/// Holds the handle of the datatype that a user's operation gets, which the program may free meanwhile.
fn hold_type(process: &'static Process, guard: &mut Guard<'_>, reduction: Option<&Reduction<'_>>) -> Option<Handle> {
    let what = reduction.filter(|what| what.op.is_user() && predefined(what.handle).is_none())?;
    process.hold_type(guard, Handle(what.handle));
    Some(Handle(what.handle))
}

fn release(process: &'static Process, guard: &mut Guard<'_>, held: Option<Handle>) {
    if let Some(held) = held {
        process.release_type(guard, held);
    }
}

/// The call, at whose end the handle is released.
fn ending_with<'a>(
    call: CollCall<'static, 'a>,
    process: &'static Process,
    held: Option<Handle>,
) -> CollCall<'static, 'a> {
    match held {
        None => call,
        Some(held) => call.at_end(Box::new(move |guard| process.release_type(guard, held))),
    }
}

/// The functions of an operation: blocking, behind the function that carries it out, unless it is written by hand;
/// non-blocking; persistent. The brackets hold the types of numbers that are not checked yet; the first line is the module
/// that checks the arguments.
macro_rules! operations {
    ($arguments_of:ident; $($build:ident $numbers:tt $arguments:tt: $($how:ident $block:ident)?, $start:ident, $init:ident;)*) => {$(
        $(operations!(@blocking $arguments_of $build $numbers $arguments $how $block);)?
        operations!(@others $arguments_of $build $numbers $arguments $start $init);
    )*};
    (@blocking $arguments_of:ident $build:ident [$($number:ident),*] ($($argument:ident: $type:ty),* $(,)?) $how:ident $block:ident) => {
        /// The blocking form.
        #[allow(clippy::too_many_arguments)] // the standard's own list
        pub fn $block<$($number: Number),*>(cx: CallContext, $($argument: $type,)* comm: CommView) -> Outcome {
            let arguments = $arguments_of::$build(&cx, comm, $($argument),*)?;
            $how(cx, comm, arguments)
        }
    };
    (@others $arguments_of:ident $build:ident [$($number:ident),*] ($($argument:ident: $type:ty),* $(,)?) $start:ident $init:ident) => {
        /// The non-blocking form.
        #[allow(clippy::too_many_arguments)] // the standard's own list
        pub fn $start<$($number: Number),*>(
            cx: CallContext,
            $($argument: $type,)*
            comm: CommView,
            request: Out<usize>,
        ) -> Outcome {
            let arguments = $arguments_of::$build(&cx, comm, $($argument),*)?;
            begin(cx, comm, arguments, Form::Start(request))
        }

        /// The persistent form.
        #[allow(clippy::too_many_arguments)] // the standard's own list
        pub fn $init<$($number: Number),*>(
            cx: CallContext,
            $($argument: $type,)*
            comm: CommView,
            info: usize,
            request: Out<usize>,
        ) -> Outcome {
            let arguments = $arguments_of::$build(&cx, comm, $($argument),*)?;
            begin(cx, comm, arguments, Form::Init(info, request))
        }
    };
}
pub(super) use operations;
