//! The topology of a communicator, for calls that need one kind of it (MPI-5.0, 8.5.5).
//!
//! Not here: the topologies themselves (`topology`).

use mpi_core::abi::{MPI_ERR_TOPOLOGY, MPI_UNDEFINED};
use mpi_errors::{Error, Result};

use crate::comm::Comm;
use crate::topology::{Cartesian, Distributed, Graph, Topology};

impl Comm {
    /// The kind of its topology (`MPI_Topo_test`): `MPI_CART`, `MPI_GRAPH`, `MPI_DIST_GRAPH` or `MPI_UNDEFINED`.
    pub fn topology_kind(&self) -> i32 {
        self.topology().map_or(MPI_UNDEFINED, |topology| topology.kind())
    }

    /// Its grid. Errors: `MPI_ERR_TOPOLOGY` for a communicator without a Cartesian topology.
    pub fn cartesian(&self) -> Result<&Cartesian> {
        match self.topology().map(|topology| &**topology) {
            Some(Topology::Cartesian(grid)) => Ok(grid),
            other => Err(self.wrong_topology("a Cartesian topology", other)),
        }
    }

    /// Its graph. Errors: `MPI_ERR_TOPOLOGY` for a communicator without a graph topology.
    pub fn graph(&self) -> Result<&Graph> {
        match self.topology().map(|topology| &**topology) {
            Some(Topology::Graph(graph)) => Ok(graph),
            other => Err(self.wrong_topology("a graph topology", other)),
        }
    }

    /// Its distributed graph. Errors: `MPI_ERR_TOPOLOGY` for a communicator without one.
    pub fn distributed(&self) -> Result<&Distributed> {
        match self.topology().map(|topology| &**topology) {
            Some(Topology::Distributed(graph)) => Ok(graph),
            other => Err(self.wrong_topology("a distributed graph topology", other)),
        }
    }

    /// The processes that this one receives from and sends to in its topology, in order; `None` beyond the end of a
    /// grid. Errors: `MPI_ERR_TOPOLOGY` for a communicator without a topology.
    pub fn neighborhood(&self) -> Result<[&[Option<u32>]; 2]> {
        match self.topology() {
            Some(topology) => {
                let [sources, destinations] = self.neighbors.get_or_init(|| topology.neighborhood(self.rank).into());
                Ok([sources, destinations])
            }
            None => Err(self.wrong_topology("a topology", None)),
        }
    }

    /// The numbers of processes that this one receives from and sends to in its topology, those beyond the end of a
    /// grid included. Errors: `MPI_ERR_TOPOLOGY` for a communicator without a topology, and for a graph that has an edge
    /// in one direction only.
    pub fn neighbor_counts(&self) -> Result<(u32, u32)> {
        match self.topology() {
            Some(topology) => {
                if let Topology::Graph(graph) = &**topology
                    && let Some((one, two)) = graph.one_sided()
                {
                    return Err(self.one_sided_edge(one, two));
                }
                Ok(topology.degrees(self.rank))
            }
            None => Err(self.wrong_topology("a topology", None)),
        }
    }

    #[cold]
    fn one_sided_edge(&self, one: u32, two: u32) -> Error {
        let rule = format!(
            "neighbourhood collectives need a graph whose edges go both ways: node {one} names node {two} more often than \
             {two} names {one}"
        );
        let error = Error::new(MPI_ERR_TOPOLOGY, rule).arg("comm", &self.handle());
        error.hint("MPI_Dist_graph_create makes graphs with edges in one direction.")
    }

    #[cold]
    fn wrong_topology(&self, needed: &str, found: Option<&Topology>) -> Error {
        let found = found.map_or("no topology", Topology::noun);
        let rule = format!("the call needs a communicator with {needed}, and this one has {found}");
        let error = Error::new(MPI_ERR_TOPOLOGY, rule).arg("comm", &self.handle());
        error
            .hint("MPI_Comm_dup keeps a topology; MPI_Comm_split and MPI_Comm_create do not. MPI_Topo_test reports it.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Group;
    use mpi_core::Handle;
    use mpi_core::abi::MPI_CART;
    use mpi_p2p::CommMeters;
    use std::sync::Arc;

    #[test]
    fn a_communicator_has_one_kind_of_topology() {
        let comm =
            |topology| Comm::new(0, 0, Group::world(2), "", Handle(0), CommMeters::detached(2)).with_topology(topology);
        let plain = comm(None);
        assert_eq!(plain.topology_kind(), MPI_UNDEFINED);
        let text = plain.cartesian().expect_err("no topology").to_string();
        assert!(text.contains("no topology"), "{text}");
        let grid = Cartesian::new(&[2], &[0], 2).expect("a grid of 2");
        let grid = comm(Some(Arc::new(Topology::Cartesian(grid))));
        assert_eq!((grid.topology_kind(), grid.cartesian().is_ok()), (MPI_CART, true));
        for error in [grid.graph().err(), grid.distributed().err()] {
            let error = error.expect("another topology");
            assert_eq!(error.class(), MPI_ERR_TOPOLOGY);
            assert!(error.to_string().contains("has a Cartesian topology"), "{error}");
        }
    }
}
