//! `MPI_Reduce` (MPI-5.0, 6.9.1).

use mpi_comm::{Comm, Outcome};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::agreement::Terms;
use crate::coll_op::CollOp;
use crate::link::{Link, REDUCE};
use crate::missing_buffer::{absent_at_root, in_place_elsewhere};
use crate::op::Reducer;
use crate::partial::{Partial, elements_mut, in_scratch, needs_scratch};
use crate::scratch::Scratch;
use crate::{Collectives, Reduction, split};

impl Collectives {
    /// Combines the contributions of all processes, in rank order; `root` gets the result in `recv`, which no
    /// other process needs. `None` for `send`, at the root only, takes the root's contribution from `recv`.
    /// Errors: also `MPI_ERR_OP` when the operation is not defined on the type.
    pub fn reduce(
        &self,
        comm: &Comm,
        send: Option<SendBuf<'_>>,
        recv: Option<RecvBuf<'_>>,
        what: &Reduction<'_>,
        root: u32,
    ) -> Result<()> {
        let reducer = what.op.on(what.datatype, what.handle)?;
        let mut recv = if comm.rank == root { recv } else { None };
        if recv.as_mut().is_some_and(|recv| needs_scratch(what.datatype, recv)) {
            let recv = recv.expect("it is there");
            return in_scratch(send, recv, what, |inside| self.reduce(comm, None, Some(inside), what, root));
        }
        let bytes = match (&send, &recv) {
            (Some(send), _) => send.bytes(),
            (None, Some(recv)) => recv.bytes(),
            (None, None) => return Err(in_place_elsewhere("sendbuf")),
        };
        if comm.rank == root && recv.is_none() {
            return Err(absent_at_root("recvbuf"));
        }
        let (calling, guard) = self.begin(comm, (CollOp::Reduce, bytes), |it| {
            it.reduce_calls.incr();
            it.reduce_bytes.add(bytes);
        });
        let guard = self.agree(comm, guard, || Terms::new(CollOp::Reduce, bytes).root(root).reducing(what))?;
        drop(guard);
        let (link, plan) = (self.link(comm, REDUCE), calling.plan);
        if bytes == 0 {
            return Ok(());
        }
        let mut outcome = Outcome::default();
        let call = Call { link, what, reducer: &reducer, root };
        match recv {
            _ if plan.split(bytes) => split::reduce(link, send, recv, &reducer, what, root, &mut outcome)?,
            Some(recv) if plan.flat() || link.size <= 2 => call.collect(send, recv, &mut outcome)?,
            None if plan.flat() || link.size <= 2 => {
                let send = send.ok_or_else(|| in_place_elsewhere("sendbuf"))?;
                link.send(root, send)?;
            }
            recv => call.tree(send, recv, &mut outcome)?,
        }
        outcome.end()
    }
}

struct Call<'c> {
    link: Link<'c>,
    what: &'c Reduction<'c>,
    reducer: &'c Reducer<'c>,
    root: u32,
}

impl Call<'_> {
    /// The root of a flat reduction combines all contributions itself.
    fn collect(&self, send: Option<SendBuf<'_>>, mut recv: RecvBuf<'_>, outcome: &mut Outcome) -> Result<()> {
        let Call { link, what, reducer, root } = *self;
        if reducer.is_commutative() {
            if let Some(send) = &send {
                recv.copy_from(send);
            }
            let value = elements_mut(&mut recv)?;
            let mut scratch = Scratch::elements(what.datatype, what.count)?;
            let mut partial = Partial::new(reducer, what.datatype, what.count, value, scratch.bytes());
            for source in link.others() {
                outcome.record_data_error(link.recv(source, partial.incoming()))?;
                partial.absorb_lower();
            }
            partial.settle();
            return Ok(());
        }
        // From the last rank down, so that each contribution is the left operand.
        let mut own = Scratch::elements(what.datatype, what.count)?;
        let mut own = RecvBuf::in_span(own.bytes(), what.count, what.datatype).expect("as long as the elements span");
        own.copy_from(send.as_ref().unwrap_or(&recv.as_send()));
        let mut scratch = Scratch::elements(what.datatype, what.count)?;
        let mut partial = Partial::new(reducer, what.datatype, what.count, elements_mut(&mut recv)?, scratch.bytes());
        for source in (0..link.size).rev() {
            let first = source == link.size - 1;
            let mut into = if first { partial.value_mut() } else { partial.incoming() };
            if source == root {
                into.copy_from(&own.as_send());
            } else {
                outcome.record_data_error(link.recv(source, into))?;
            }
            if !first {
                partial.absorb_lower();
            }
        }
        partial.settle();
        Ok(())
    }

    /// A binomial tree. Around the root where operands may be swapped; else around rank 0, which sends the result on.
    fn tree(&self, send: Option<SendBuf<'_>>, recv: Option<RecvBuf<'_>>, outcome: &mut Outcome) -> Result<()> {
        let Call { link, what, reducer, root } = *self;
        let top = if reducer.is_commutative() { root } else { 0 };
        let place = (link.rank + link.size - top) % link.size;
        let at = |place: u32| (place + top) % link.size;
        if let Some(send) = send.as_ref().filter(|_| place % 2 == 1) {
            // A leaf only sends its contribution.
            link.send(at(place - 1), send.clone())?;
            return self.deliver(None, recv, outcome);
        }
        let mut value = Scratch::elements(what.datatype, what.count)?;
        let mut other = Scratch::elements(what.datatype, what.count)?;
        let mut partial = Partial::new(reducer, what.datatype, what.count, value.bytes(), other.bytes());
        match (&send, &recv) {
            (Some(send), _) => partial.value_mut().copy_from(send),
            (None, Some(recv)) => partial.value_mut().copy_from(&recv.as_send()),
            (None, None) => return Err(in_place_elsewhere("sendbuf")),
        };
        let mut bit = 1;
        while bit < link.size {
            if place & bit != 0 {
                link.send(at(place - bit), partial.value())?;
                return self.deliver(None, recv, outcome);
            }
            if place + bit < link.size {
                outcome.record_data_error(link.recv(at(place + bit), partial.incoming()))?;
                partial.absorb(true);
            }
            bit *= 2;
        }
        debug_assert_eq!(link.rank, top);
        self.deliver(Some(partial.value()), recv, outcome)
    }

    /// Sends the result of a tree from its top to the root.
    fn deliver(&self, result: Option<SendBuf<'_>>, recv: Option<RecvBuf<'_>>, outcome: &mut Outcome) -> Result<()> {
        match (result, recv) {
            (Some(result), Some(mut recv)) => {
                recv.copy_from(&result);
                Ok(())
            }
            (Some(result), None) => self.link.send(self.root, result),
            (None, Some(recv)) => outcome.record_data_error(self.link.recv(0, recv)),
            (None, None) => Ok(()),
        }
    }
}
