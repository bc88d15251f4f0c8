//! Ranks in grids and graphs before they are made, and neighbours of other processes.

use mpi::{ErrorClass, Neighbor, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> ErrorClass {
    result.expect_err("an error").kind()
}

/// A star: process 0 is the neighbour of all others.
fn star(size: u32) -> Vec<Vec<u32>> {
    (0..size).map(|rank| if rank == 0 { (1..size).collect() } else { vec![0] }).collect()
}

#[mpi::test(ranks = [1, 4])]
fn ranks_are_those_of_the_grid_or_graph_that_is_made_with_reordering(world: &World) -> mpi::Result<()> {
    let size = world.size();
    for dims in [[size, 1], [1, size.div_ceil(2)]] {
        let rank = world.rank_in_grid(&dims, &[true, false])?;
        let grid = world.grid(&dims, &[true, false], true)?;
        assert_eq!(rank, grid.as_ref().map(|grid| grid.rank()), "{dims:?}");
    }
    let needed = world.all_reduce_one(u32::from(world.rank_in_grid(&[1], &[true])?.is_some()), mpi::Operation::Sum)?;
    assert_eq!(needed, 1, "the grid has one process");
    for nodes in [size, size.div_ceil(2)] {
        let rank = world.rank_in_graph(&star(nodes))?;
        let graph = world.graph(&star(nodes), true)?;
        assert_eq!(rank, graph.as_ref().map(|graph| graph.rank()), "{nodes}");
    }
    Ok(())
}

#[mpi::test(ranks = 2)]
fn wrong_grids_and_graphs_have_no_ranks(world: &World) -> mpi::Result<()> {
    assert_eq!(class(world.rank_in_grid(&[3], &[true])), ErrorClass::Dims);
    assert_eq!(class(world.rank_in_grid(&[2], &[true, false])), ErrorClass::Dims);
    assert_eq!(class(world.rank_in_grid(&[1 + world.rank()], &[true])), ErrorClass::NotSame);
    assert_eq!(class(world.rank_in_graph(&star(3))), ErrorClass::Arg);
    let error = world.rank_in_graph(&[vec![5], vec![]]).expect_err("there is no process 5");
    assert_eq!(error.kind(), ErrorClass::Rank);
    assert!(error.to_string().starts_with("Communicator::rank_in_graph: argument neighbors is 5"), "{error}");
    world.barrier()
}

#[mpi::test(ranks = [1, 3])]
fn a_graph_has_the_neighbours_of_all_its_processes(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let graph = world.graph(&star(size), false)?.expect("all processes");
    for (other, neighbors) in star(size).into_iter().enumerate() {
        assert_eq!(graph.neighbors_of(other as u32)?, neighbors);
    }
    let error = graph.neighbors_of(size).expect_err("there is no such process");
    assert_eq!(error.kind(), ErrorClass::Rank);
    assert!(error.to_string().starts_with(&format!("Graph::neighbors_of: argument rank is {size}")), "{error}");
    assert_eq!(class(graph.neighbors_of(u32::MAX)), ErrorClass::Rank);
    let beside = |rank: u32| [Neighbor { rank, weight: None }];
    let ring = world.adjacent_graph(&beside((rank + size - 1) % size), &beside((rank + 1) % size))?;
    assert_eq!(class(ring.neighbors_of(rank)), ErrorClass::Topology);
    Ok(())
}
