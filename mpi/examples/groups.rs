//! Two groups that send messages to each other, a ring described as a graph, and messages under way while the process
//! works.
//!
//! Run it with `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 5 target/debug/examples/groups`.

use mpi::{Edge, Neighbor};

fn main() {
    mpi::run(|world| {
        let (rank, size) = (world.rank(), world.size());
        if size > 1 {
            // The last process answers the others.
            let is_server = rank + 1 == size;
            let both = world.two_groups(is_server)?;
            assert_eq!(
                (both.size() + both.remote_size(), both.remote_ranks().len() as u32),
                (size, both.remote_size())
            );
            if is_server {
                for _ in 0..both.remote_size() {
                    let (question, from) = both.any().receive::<u64>(0)?;
                    both.process(from.source).send(&[question[0] * question[0]], 1)?;
                }
            } else {
                both.process(0).send(&[u64::from(both.rank())], 0)?;
                let (answer, from) = both.process(0).receive::<u64>(1)?;
                assert_eq!((answer[0], from.source), (u64::from(both.rank()).pow(2), 0));
                // There is one server.
                let error = both.process(1).send(&[0u8], 0).expect_err("no such rank in the remote group");
                assert!(error.to_string().contains("the remote group has 1 process"), "{error}");
            }
        }
        // The same ring in three ways.
        let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
        let to = [Neighbor { rank: next, weight: Some(3) }];
        let from = [Neighbor { rank: previous, weight: Some(3) }];
        let adjacent = world.adjacent_graph(&from, &to)?;
        assert_eq!((adjacent.sources(), adjacent.destinations()), (from.to_vec(), to.to_vec()));
        let edge = Edge { source: rank, destination: next, weight: None };
        let named = world.graph_of_edges(&[edge])?;
        assert_eq!(named.sources(), [Neighbor { rank: previous, weight: None }]);
        let lists: Vec<Vec<u32>> = (0..size).map(|rank| vec![(rank + 1) % size]).collect();
        let whole = world.graph(&lists, false)?.expect("the graph has all processes");
        assert_eq!(whole.destinations(), [Neighbor { rank: next, weight: None }]);
        assert!(world.graph_of_edges(&[Edge { source: size, ..edge }]).is_err());

        let mut sum = 0;
        for graph in [&adjacent, &named, &whole] {
            let (to, from) = (graph.process(next), graph.process(previous));
            let exchange = to.start_exchange(vec![rank; 10_000], &from, 20_000, 0)?;
            exchange.is_complete()?;
            let (numbers, received) = exchange.wait()?;
            assert_eq!((numbers, received.source), (vec![previous; 10_000], previous));
            sum += received.source;
        }
        println!("rank {rank} received {sum} from its neighbours");
        world.barrier()
    });
}
