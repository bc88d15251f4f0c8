//! The exchange of edges with the processes at their two ends (`MPI_Dist_graph_create`, MPI-5.0, 8.5.4).
//!
//! Each process sends one message to each process at an end of the edges that it names. A sum over all processes gives
//! the number of messages that each of them receives, so that nothing grows with the square of their number.
//! Invariant: a message of the next call cannot arrive in this one, because each call begins with an agreement of all
//! processes, which no process reaches before it has all of its messages.
//! Not here: the contents of the messages (`topology`).

use mpi_core::abi::MPI_ANY_SOURCE;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::Engine;

use crate::comm::Comm;
use crate::exchange::Exchange;
use crate::pending_ops::PendingOps;
use crate::tags;
use crate::topology::{Distributed, EdgeList};

/// The edges of this process, as all processes have named them: this one those in `named`. Collective over `comm`;
/// waits, with no guard held. The caller has agreed with all processes on `weighted`.
pub fn distribute(engine: &Engine, comm: &Comm, named: &EdgeList, weighted: bool) -> Result<Distributed> {
    let own = comm.rank();
    let mut by_process = named.by_process();
    let mut announced = vec![0; comm.size() as usize];
    let kept = by_process.remove(&own).unwrap_or_default();
    by_process.keys().for_each(|dest| announced[*dest as usize] = 1);
    let expected = Exchange::among_all(engine, comm, tags::EDGE_COUNTS).sum(announced)?[own as usize];
    let context = comm.collective_context();
    let mut received = PendingOps::scope(engine, |sends| {
        for (dest, words) in &by_process {
            sends.isend(&mut engine.lock(), context, *dest, tags::EDGES, SendBuf::from_slice(words))?;
        }
        (0..expected).map(|_| receive(engine, context)).collect::<Result<Vec<_>>>()
    })?;
    received.push((own as i32, kept));
    EdgeList::unpack(received, weighted, comm.size())
}

/// One message: its source and its words.
fn receive(engine: &Engine, context: u32) -> Result<(i32, Vec<i32>)> {
    let (message, status) = engine.mprobe(engine.lock(), context, MPI_ANY_SOURCE, tags::EDGES)?;
    let mut words = vec![0_i32; status.bytes() as usize / size_of::<i32>()];
    engine.mrecv(engine.lock(), message, RecvBuf::from_slice(&mut words))?;
    Ok((status.source, words))
}
