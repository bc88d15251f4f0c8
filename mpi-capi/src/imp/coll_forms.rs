//! The forms of a collective operation: blocking, non-blocking, persistent.
//!
//! Not here: the operations (`coll`, `neighbor`).

use mpi_coll::{CollCall, Reduction};

use super::coll_args::Arguments;
use super::comm_create::hints;
use crate::call_context::{CallContext, CommView};
use crate::check::Out;
use crate::errors::Outcome;

/// What is done with a call.
pub enum Form {
    /// It is carried out.
    Block,
    /// It is started, and its request stored here.
    Start(Out<usize>),
    /// A persistent request of it is made, with this info object, and stored here.
    Init(usize, Out<usize>),
}

/// Carries out, starts, or makes a persistent request of an operation.
pub fn carry_out(cx: CallContext, comm: CommView, arguments: Arguments, form: Form) -> Outcome {
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
        Form::Block => Ok(process.coll.block_with(guard, &whole, call)?),
        Form::Start(request) => {
            request.set(process.coll.start(&mut guard, &whole, call)?.0);
            Ok(())
        }
        Form::Init(info, request) => {
            guard.unlocked(|| hints(info).map(drop))?;
            request.set(process.coll.init(&mut guard, &whole, call)?.0);
            Ok(())
        }
    }
}

/// The functions of an operation: blocking, unless it has a short way of its own; non-blocking; persistent. The brackets
/// hold the types of numbers that are not checked yet; the first line is the module that checks the arguments.
macro_rules! operations {
    ($arguments_of:ident; $($build:ident $numbers:tt $arguments:tt: $($block:ident)?, $start:ident, $init:ident;)*) => {$(
        $(operations!(@blocking $arguments_of $build $numbers $arguments $block);)?
        operations!(@others $arguments_of $build $numbers $arguments $start $init);
    )*};
    (@blocking $arguments_of:ident $build:ident [$($number:ident),*] ($($argument:ident: $type:ty),* $(,)?) $block:ident) => {
        /// The blocking form.
        #[allow(clippy::too_many_arguments)] // the standard's own list
        pub fn $block<$($number: Number),*>(cx: CallContext, $($argument: $type,)* comm: CommView) -> Outcome {
            let arguments = $arguments_of::$build(&cx, comm, $($argument),*)?;
            carry_out(cx, comm, arguments, Form::Block)
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
            carry_out(cx, comm, arguments, Form::Start(request))
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
            carry_out(cx, comm, arguments, Form::Init(info, request))
        }
    };
}
pub(super) use operations;
