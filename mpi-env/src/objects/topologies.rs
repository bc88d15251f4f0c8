//! Creation of communicators with topologies (MPI-5.0, 8.5).
//!
//! A process whose arguments were refused takes part in the agreement on the context id with the class of the error,
//! so that all processes fail and none waits for ever. Processes that must give equal arguments compare a digest.
//!
//! `reorder`: if every process is bound to one package, the ranks of a grid or a graph follow
//! `mpi_comm::topology::place`; otherwise, and in distributed graphs, they keep the order of the parent.
//! Invariant: a topology is made of what all processes agree on, so that it is the same in all of them.
//! Not here: the topologies themselves (`mpi_comm::topology`).

use std::sync::Arc;

use mpi_comm::topology::{
    Adjacency, Cartesian, Distributed, EdgeList, Graph, Location, Topology, Weighting, digest, place,
};
use mpi_comm::{Comm, CommSpec, Exchange, TOPOLOGY_TAG, agree, distribute};
use mpi_core::Handle;
use mpi_core::abi::{MPI_COMM_NULL, MPI_ERR_COMM, MPI_ERR_NOT_SAME};
use mpi_errors::{Error, Result, classes};

use crate::hardware;
use crate::record::process::Process;

/// Bits of the word that carries the class of a refused argument, with the flags above them.
const CLASS_BITS: u32 = 16;
const REORDER: i32 = 1;
const EDGES: i32 = 2;
const WEIGHTED: i32 = 4;
/// A location that the process does not have.
const UNKNOWN: u64 = u64::MAX;
/// Bits of the number of a package within its host.
const HOST_SHIFT: u32 = 20;

impl Process {
    /// `MPI_Cart_create`: the communicator of a grid; `MPI_COMM_NULL` in processes that it does not need. Collective;
    /// waits, with no guard held; an `Err` as `grid` is an argument that was refused.
    ///
    /// Errors, in all processes: the refusal of one, `MPI_ERR_NOT_SAME` for grids that differ, `MPI_ERR_NO_MEM`,
    /// `MPI_ERR_OTHER`. In this process alone: `MPI_ERR_COMM`.
    pub fn cart_create(&self, parent: Handle, grid: Result<Cartesian>, reorder: bool) -> Result<Handle> {
        let parent = self.intra(parent)?;
        let (grid, agreed) = self.agree_on(&parent, grid, Cartesian::digest, flag(reorder, REORDER))?;
        let reorder = same_everywhere(&agreed.words, "grids")?.all_reorder();
        let topology = Topology::Cartesian(grid);
        let order = self.order(&parent, &topology, reorder)?;
        self.topology_comm(&parent, agreed.context, order, topology)
    }

    /// `MPI_Cart_map`: this process's rank in the communicator that [`Process::cart_create`] with `reorder` creates;
    /// `None` in processes that it does not need. Collective; waits, with no guard held. Errors: as there.
    pub fn cart_map(&self, parent: Handle, grid: Result<Cartesian>) -> Result<Option<u32>> {
        self.map(parent, grid.map(Topology::Cartesian), "grids")
    }

    /// `MPI_Cart_sub`: the communicator of the part of the parent's grid that this process is in. Collective; waits,
    /// with no guard held. Errors: as [`Process::cart_create`], and `MPI_ERR_TOPOLOGY`.
    pub fn cart_sub(&self, parent: Handle, remain: Result<Vec<bool>>) -> Result<Handle> {
        let parent = self.intra(parent)?;
        let grid = parent.cartesian()?;
        let of = |remain: &Vec<bool>| digest(remain.iter().map(|remains| i32::from(*remains)));
        let (remain, agreed) = self.agree_on(&parent, remain, of, 0)?;
        same_everywhere(&agreed.words, "remaining dimensions")?;
        let (part, members) = grid.sub(parent.rank(), &remain);
        self.topology_comm(&parent, agreed.context, Order::unchanged(members), Topology::Cartesian(part))
    }

    /// `MPI_Graph_create`, as [`Process::cart_create`]; `MPI_COMM_NULL` in all processes for a graph without nodes.
    pub fn graph_create(&self, parent: Handle, graph: Result<Graph>, reorder: bool) -> Result<Handle> {
        let parent = self.intra(parent)?;
        let (graph, agreed) = self.agree_on(&parent, graph, Graph::digest, flag(reorder, REORDER))?;
        let reorder = same_everywhere(&agreed.words, "graphs")?.all_reorder();
        let topology = Topology::Graph(graph);
        let order = self.order(&parent, &topology, reorder)?;
        self.topology_comm(&parent, agreed.context, order, topology)
    }

    /// `MPI_Graph_map`, as [`Process::cart_map`].
    pub fn graph_map(&self, parent: Handle, graph: Result<Graph>) -> Result<Option<u32>> {
        self.map(parent, graph.map(Topology::Graph), "graphs")
    }

    /// `MPI_Dist_graph_create_adjacent`: each process gives the edges at its own end; sources, destinations, and what
    /// it states about weights. Collective; waits, with no guard held. Errors: as [`Process::cart_create`];
    /// `MPI_ERR_NOT_SAME` when some processes give weights and others give edges without.
    pub fn dist_graph_create_adjacent(
        &self,
        parent: Handle,
        edges: Result<(Adjacency, Adjacency, Weighting)>,
    ) -> Result<Handle> {
        let parent = self.intra(parent)?;
        let flags = edges.as_ref().map_or(0, |(.., weights)| weight_flags(*weights));
        let ((sources, destinations, _), agreed) = self.agree_on(&parent, edges, |_| 0, flags)?;
        let weighted = agreed_weights(&agreed.words)?;
        let graph = Distributed::new(sources, destinations, weighted);
        let order = Order::unchanged((0..parent.size()).collect());
        self.topology_comm(&parent, agreed.context, order, Topology::Distributed(graph))
    }

    /// `MPI_Dist_graph_create`: each process gives any edges, and states whether they have weights. Collective; waits,
    /// with no guard held. Errors: as [`Process::dist_graph_create_adjacent`].
    pub fn dist_graph_create(&self, parent: Handle, edges: Result<(EdgeList, Weighting)>) -> Result<Handle> {
        let parent = self.intra(parent)?;
        let flags = edges.as_ref().map_or(0, |(_, weights)| weight_flags(*weights));
        let ((edges, _), agreed) = self.agree_on(&parent, edges, |_| 0, flags)?;
        let weighted = agreed_weights(&agreed.words)?;
        let graph = distribute(&self.engine, &parent, &edges, weighted)?;
        let order = Order::unchanged((0..parent.size()).collect());
        self.topology_comm(&parent, agreed.context, order, Topology::Distributed(graph))
    }

    /// The communicator that a topology is created from. Errors: `MPI_ERR_COMM`, also for an intercommunicator.
    fn intra(&self, parent: Handle) -> Result<Arc<Comm>> {
        let parent = self.parent(parent)?;
        match parent.remote() {
            None => Ok(parent),
            Some(_) => {
                let rule = "a topology is made of the processes of one group, and this is an intercommunicator";
                Err(Error::new(MPI_ERR_COMM, rule).arg("comm", &parent.handle()))
            }
        }
    }

    /// Agrees on a context id with the arguments of all processes. Errors: the refusal of this process's arguments, or
    /// else of another's.
    fn agree_on<T>(
        &self,
        parent: &Comm,
        given: Result<T>,
        digest: impl FnOnce(&T) -> i32,
        flags: i32,
    ) -> Result<(T, Agreed)> {
        let own = match &given {
            Ok(value) => [flags << CLASS_BITS, digest(value)],
            Err(error) => [error.class(), 0],
        };
        let agreed = agree(&self.engine, parent, &self.context_ids, own)?;
        let given = given?;
        let words = accepted(agreed.words)?;
        Ok((given, Agreed { context: agreed.context, words }))
    }

    fn map(&self, parent: Handle, topology: Result<Topology>, what: &str) -> Result<Option<u32>> {
        let parent = self.intra(parent)?;
        let (class, digest) = match &topology {
            Ok(Topology::Cartesian(grid)) => (0, grid.digest()),
            Ok(Topology::Graph(graph)) => (0, graph.digest()),
            Ok(Topology::Distributed(_)) => (0, 0),
            Err(error) => (error.class(), 0),
        };
        let [package, core] = self.location();
        let own = [class as u64, digest as u32 as u64, package, core];
        let all = Exchange::among_all(&self.engine, &parent, TOPOLOGY_TAG).all(own)?;
        let topology = topology?;
        let words = accepted(all.iter().map(|words| [words[0] as i32, words[1] as i32]).collect())?;
        same_everywhere(&words, what)?;
        let locations: Vec<[u64; 2]> = all.iter().map(|words| [words[2], words[3]]).collect();
        let order = placed(&topology, &locations);
        Ok(order.iter().position(|member| *member == parent.rank()).map(|rank| rank as u32))
    }

    /// Package and core that this process is bound to, as words; a process that is bound to a package alone has no core. Packages
    /// of different hosts have different numbers.
    fn location(&self) -> [u64; 2] {
        let host = u64::from(self.engine.first_of_host(&self.engine.lock())) << HOST_SHIFT;
        let number = |kind| hardware::instance(kind).map_or(UNKNOWN, u64::from);
        match number("sysfs://package") {
            UNKNOWN => [UNKNOWN, number("sysfs://core")],
            package => [host | package & ((1 << HOST_SHIFT) - 1), number("sysfs://core")],
        }
    }

    /// The processes of a topology, in the order of their new ranks.
    fn order(&self, parent: &Comm, topology: &Topology, reorder: bool) -> Result<Order> {
        if !reorder {
            return Ok(Order::unchanged((0..nodes(topology)).collect()));
        }
        let all = Exchange::among_all(&self.engine, parent, TOPOLOGY_TAG).all(self.location())?;
        let members = placed(topology, &all);
        let packages = members.iter().map(|member| all[*member as usize][0]).collect();
        Ok(Order { members, packages })
    }

    /// Creates the communicator of these processes of the parent, in this order; returns `MPI_COMM_NULL` in others.
    fn topology_comm(&self, parent: &Comm, context: u32, order: Order, topology: Topology) -> Result<Handle> {
        let group = parent.group().members(order.members.iter().copied());
        let Some(rank) = group.rank_of(self.rank()) else { return Ok(Handle(MPI_COMM_NULL)) };
        let topology = Arc::new(topology);
        let spec = CommSpec { topology: Some(topology.clone()), ..CommSpec::part(parent, context, &group, rank) };
        let guard = &mut self.engine.lock();
        let made = self.adopt(guard, spec)?;
        self.count_topology(made, &topology, rank, &order);
        Ok(made)
    }

    /// Counts a new communicator with a topology, in which this process has `rank`; the caller holds the process lock.
    fn count_topology(&self, made: Handle, topology: &Topology, rank: u32, order: &Order) {
        let counts = self.metrics.topologies;
        let neighbors: Vec<u32> = topology.neighborhood(rank).1.into_iter().flatten().collect();
        let reordered = !order.members.is_sorted();
        counts.created.incr();
        if reordered {
            counts.reordered.incr();
        }
        counts.neighbors.add(neighbors.len() as u64);
        counts.near_neighbors.add(order.near(rank, &neighbors));
        let count = neighbors.len() as u64;
        let data = (made.0 as u64, topology.kind(), count, i32::from(reordered));
        self.metrics.topology_events.created.emit(|| data);
    }
}

/// The processes of a new communicator.
struct Order {
    /// By new rank, the rank in the parent.
    members: Vec<u32>,
    /// By new rank, the package that the process is bound to, or [`UNKNOWN`]; empty if the processes have not exchanged
    /// them.
    packages: Vec<u64>,
}

impl Order {
    fn unchanged(members: Vec<u32>) -> Order {
        Order { members, packages: Vec::new() }
    }

    /// How many of the neighbours of a rank are bound to the same package, if all packages are known.
    fn near(&self, rank: u32, neighbors: &[u32]) -> u64 {
        if self.packages.contains(&UNKNOWN) {
            return 0;
        }
        let package = |rank: u32| self.packages.get(rank as usize);
        neighbors.iter().filter(|neighbor| package(rank).is_some_and(|own| package(**neighbor) == Some(own))).count()
            as u64
    }
}

/// What all processes agreed on.
struct Agreed {
    context: u32,
    words: Words,
}

/// For each process its flags, above [`CLASS_BITS`], and its digest.
struct Words(Vec<[i32; 2]>);

impl Words {
    fn all_reorder(&self) -> bool {
        self.0.iter().all(|[word, _]| word >> CLASS_BITS & REORDER != 0)
    }
}

fn flag(is_set: bool, flag: i32) -> i32 {
    if is_set { flag } else { 0 }
}

fn weight_flags(weights: Weighting) -> i32 {
    flag(weights.edges, EDGES) | flag(weights.weighted, WEIGHTED)
}

/// The words of all processes, if none of them refused an argument.
fn accepted(words: Vec<[i32; 2]>) -> Result<Words> {
    let refused =
        words.iter().map(|[word, _]| word & ((1 << CLASS_BITS) - 1)).enumerate().find(|(_, class)| *class != 0);
    match refused {
        None => Ok(Words(words)),
        Some((rank, class)) => {
            let text = classes::text(class).unwrap_or("an error that has no name");
            Err(Error::new(class, format!("an argument of rank {rank} was refused: {text}")))
        }
    }
}

/// The words, if the digests are equal.
fn same_everywhere<'w>(words: &'w Words, what: &str) -> Result<&'w Words> {
    match words.0.iter().position(|[_, digest]| *digest != words.0[0][1]) {
        None => Ok(words),
        Some(rank) => Err(Error::new(MPI_ERR_NOT_SAME, format!("ranks 0 and {rank} passed different {what}"))),
    }
}

/// Whether the edges have weights.
fn agreed_weights(words: &Words) -> Result<bool> {
    let all = words.0.iter().map(|[word, _]| word >> CLASS_BITS);
    let all = all.map(|flags| Weighting { edges: flags & EDGES != 0, weighted: flags & WEIGHTED != 0 });
    let rule = "some processes passed MPI_UNWEIGHTED and others passed weights";
    Weighting::of_all(all).ok_or_else(|| Error::new(MPI_ERR_NOT_SAME, rule))
}

fn nodes(topology: &Topology) -> u32 {
    match topology {
        Topology::Cartesian(grid) => grid.size(),
        Topology::Graph(graph) => graph.nodes(),
        // Every process is a node.
        Topology::Distributed(_) => u32::MAX,
    }
}

/// The processes of a topology in the order of their new ranks, by the locations of all processes of the parent. The
/// first processes of the parent take part.
fn placed(topology: &Topology, all: &[[u64; 2]]) -> Vec<u32> {
    let count = nodes(topology) as usize;
    let known = |[package, core]: &[u64; 2]| {
        (*package != UNKNOWN)
            .then(|| Location { package: *package as u32, core: (*core).try_into().unwrap_or(u32::MAX) })
    };
    let locations: Option<Vec<Location>> = all.iter().take(count).map(known).collect();
    match locations {
        Some(locations) if locations.len() == count => {
            let neighbors: Vec<Vec<u32>> =
                (0..count as u32).map(|node| topology.neighborhood(node).1.into_iter().flatten().collect()).collect();
            place(&neighbors, &locations)
        }
        _ => (0..count as u32).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_the_binding_when_all_of_it_is_known() {
        let grid = Topology::Cartesian(Cartesian::new(&[2, 2], &[0, 0], 5).expect("a grid"));
        let scattered = [[0, 0], [1, 8], [0, 1], [1, 9], [0, 2]];
        // Each column is on one package already.
        assert_eq!(placed(&grid, &scattered), [0, 1, 2, 3]);
        let crossing = Topology::Graph(Graph::new(&[1, 2, 3, 4], &[1, 0, 3, 2], 5).expect("a graph"));
        assert_eq!(placed(&crossing, &scattered), [0, 2, 1, 3]);
        let unknown = [[0, 0], [1, 8], [UNKNOWN, UNKNOWN], [1, 9], [0, 2]];
        assert_eq!(placed(&crossing, &unknown), [0, 1, 2, 3]);
        // The process that does not take part may be anywhere.
        let beyond = [[0, 0], [1, 8], [0, 1], [1, 9], [UNKNOWN, UNKNOWN]];
        assert_eq!(placed(&crossing, &beyond), [0, 2, 1, 3]);
    }

    #[test]
    fn near_neighbors_are_counted_where_all_packages_are_known() {
        let order = |packages: &[u64]| Order { members: vec![2, 0, 1], packages: packages.to_vec() };
        assert_eq!(order(&[0, 0, 1]).near(0, &[1, 2, 1]), 2);
        assert_eq!(order(&[0, 0, 1]).near(2, &[0, 1]), 0);
        assert_eq!(order(&[0, 0, UNKNOWN]).near(0, &[1]), 0);
        assert_eq!(Order::unchanged(vec![0, 1]).near(0, &[1]), 0);
    }

    #[test]
    fn a_process_bound_to_a_package_alone_has_a_location() {
        let crossing = Topology::Graph(Graph::new(&[1, 2, 3, 4], &[1, 0, 3, 2], 4).expect("a graph"));
        let packages = [[0, UNKNOWN], [1, UNKNOWN], [0, UNKNOWN], [1, UNKNOWN]];
        assert_eq!(placed(&crossing, &packages), [0, 2, 1, 3]);
    }

    #[test]
    fn flags_travel_above_the_class() {
        let word = |flags: i32| [flags << CLASS_BITS, 7];
        let words = accepted(vec![word(REORDER), word(REORDER | EDGES)]).expect("no class");
        assert!(words.all_reorder() && same_everywhere(&words, "grids").is_ok());
        assert!(!accepted(vec![word(REORDER), word(0)]).expect("no class").all_reorder());
        let refused = accepted(vec![word(REORDER), [MPI_ERR_NOT_SAME, 0]]).map(|_| ()).expect_err("refused");
        assert_eq!(refused.class(), MPI_ERR_NOT_SAME);
        assert!(refused.to_string().contains("rank 1"), "{refused}");
        let weights = |flags: &[i32]| agreed_weights(&Words(flags.iter().map(|flags| word(*flags)).collect()));
        assert!(weights(&[EDGES | WEIGHTED, 0]).expect("one with edges"));
        assert_eq!(weights(&[EDGES | WEIGHTED, EDGES]).expect_err("both").class(), MPI_ERR_NOT_SAME);
    }
}
