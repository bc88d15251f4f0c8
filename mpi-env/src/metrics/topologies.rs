//! The variables and events of topologies (MPI-5.0, chapter 8, 15.3.7 and 15.3.8).
//!
//! Not here: the creation of the communicators (`objects::topologies`).

use mpi_t::{Aggregate, Counter, SourceDef};

mpi_t::instruments! {
    /// The topologies of one process.
    pub struct TopologyInstruments: NoObject, verbosity: UserDetail {
        /// Number of communicators of this process that were created with a topology: grids, parts of grids, graphs and
        /// distributed graphs. Duplicates are not counted.
        pub created: Counter =
            { name: "topo_created", class: Counter, type: u64, unit: "communicators", category: "topo" },
        /// Number of those communicators whose processes have other ranks than in the order of the communicator they
        /// were created from. MPI_Cart_sub never changes the order.
        pub reordered: Counter =
            { name: "topo_reordered", class: Counter, type: u64, unit: "communicators", category: "topo" },
        /// Number of neighbours of this process in those communicators: the processes that it sends to in a
        /// neighbourhood collective. A process that is a neighbour twice counts twice.
        pub neighbors: Aggregate =
            { name: "topo_neighbors", class: Aggregate, type: u64, unit: "neighbors", category: "topo" },
        /// Number of those neighbours that are bound to the same package (socket) as this process. Only communicators
        /// that were created with reorder, and whose processes are all bound to one package each, are counted.
        pub near_neighbors: Aggregate =
            { name: "topo_neighbors_on_package", class: Aggregate, type: u64, unit: "neighbors", category: "topo" },
    }
}

/// Where events of topologies come from.
static TOPOLOGIES: SourceDef = SourceDef {
    name: "topologies",
    description: "Communicators that are created with a topology, in the calling thread.",
};

mpi_t::events! {
    /// Events of topologies.
    pub struct TopologyEvents: NoObject, from: TOPOLOGIES {
        /// A communicator was created with a topology: its handle, the kind of topology as MPI_Topo_test returns it,
        /// the number of neighbours that this process sends to, and whether the order of the processes was changed.
        pub created(comm: u64, kind: i32, neighbors: u64, reordered: i32) =
            { name: "topo_created", category: "topo.events", at: MpiRestricted },
    }
}
