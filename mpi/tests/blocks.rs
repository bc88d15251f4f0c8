//! Exchanges of blocks with a layout each, and collective calls into slices of the caller, on several processes.

use mpi::{Block, Collective, Combine, Layout, Neighbor, Operation, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

/// The matrix of `size` rows and columns whose element is 100 times its row and its column, by rows of a process.
fn rows(rank: u32, size: u32) -> Vec<u32> {
    (0..2).flat_map(|row| (0..2 * size).map(move |column| 100 * (2 * rank + row) + column)).collect()
}

#[mpi::test(ranks = [1, 2, 4])]
fn each_pair_of_processes_has_its_own_layouts(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let width = 2 * size as usize;
    // Two rows of a matrix become two columns: each block of two by two elements is sent by rows, and received so.
    let block = Layout::<u32>::vector(2, 2, width)?;
    let tall = Layout::<u32>::vector(2, 1, 1)?;
    let sends: Vec<_> = (0..size as usize).map(|to| Block::new(&block, 2 * to, 1)).collect();
    let receives: Vec<_> = (0..size as usize).map(|from| Block::new(&tall, 4 * from, 2)).collect();
    assert!(sends.iter().chain(&receives).all(|block| block.count() == 4));
    let expected: Vec<u32> = (0..2 * size).flat_map(|row| [0, 1].map(|column| 100 * row + 2 * rank + column)).collect();
    let data = rows(rank, size);
    for _ in 0..3 {
        let mut columns = vec![0; 2 * width];
        world.all_to_all_blocks(&data, &sends, &mut columns, &receives)?;
        assert_eq!(columns, expected);
    }
    let collective = || Collective::all_to_all_blocks(data.clone(), &sends, vec![7; 2 * width + 1], &receives);
    let started = world.start(collective())?;
    let mut repeated = world.persistent(collective())?;
    let result = started.wait()?;
    assert_eq!((&result[..2 * width], result[2 * width]), (&expected[..], 7), "what lies between and behind stays");
    for step in 1..4 {
        repeated.data_mut().expect("inactive").iter_mut().for_each(|value| *value += 1000);
        repeated.start()?;
        assert!(repeated.data_mut().is_none());
        repeated.wait()?;
        let more: Vec<u32> = expected.iter().map(|value| value + 1000 * step).collect();
        assert_eq!(&repeated.result().expect("inactive")[..2 * width], more);
    }
    // Blocks that lie in each other's gaps, and processes that exchange nothing.
    let own = Block::elements(0..2);
    let only = |block: &Block<u32>| -> Vec<_> {
        (0..size).map(|other| if other == rank { block.clone() } else { Block::empty() }).collect()
    };
    let mut gaps = [9; 4];
    let every_second = Block::new(&Layout::vector(2, 1, 2)?, 1, 1);
    world.all_to_all_blocks(&[1, 2], &only(&own), &mut gaps, &only(&every_second))?;
    assert_eq!(gaps, [9, 1, 9, 2]);
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn wrong_blocks_are_refused_before_the_call_begins(world: &World) -> mpi::Result<()> {
    let size = world.size() as usize;
    let one = |at: usize| Block::<u8>::elements(at..at + 1);
    let good: Vec<_> = (0..size).map(one).collect();
    let mut into = vec![0u8; size];
    let data = vec![1u8; size];
    let mut call = |sends: &[Block<u8>], receives: &[Block<u8>]| {
        let blocking = class(world.all_to_all_blocks(&data, sends, &mut into, receives));
        let collective = Collective::all_to_all_blocks(data.clone(), sends, into.clone(), receives);
        assert_eq!(class(world.start(collective.clone())), blocking);
        assert_eq!(class(world.persistent(collective)), blocking);
        blocking
    };
    assert_eq!(call(&good[1..], &good), "MPI_ERR_COUNT");
    assert_eq!(call(&good, &good[1..]), "MPI_ERR_COUNT");
    let outside: Vec<_> = (1..=size).map(one).collect();
    assert_eq!(call(&outside, &good), "MPI_ERR_BUFFER");
    assert_eq!(call(&good, &outside), "MPI_ERR_BUFFER");
    let far = vec![Block::elements(usize::MAX - 1..usize::MAX); size];
    assert_eq!(call(&far, &good), "MPI_ERR_BUFFER");
    let huge = vec![Block::new(&Layout::vector(1, 1, 1)?, 0, usize::MAX); size];
    assert_eq!(call(&huge, &huge), "MPI_ERR_BUFFER");
    if size > 1 {
        assert_eq!(call(&good, &vec![one(0); size]), "MPI_ERR_BUFFER", "they overlap");
    }
    let mut unequal = good.clone();
    unequal[world.rank() as usize] = Block::empty();
    assert_eq!(call(&good, &unequal), "MPI_ERR_COUNT", "of this process for itself");
    assert_eq!(
        class(world.start(Collective::neighbor_all_to_all_blocks(data, &good, vec![0], &good))),
        "MPI_ERR_TOPOLOGY"
    );
    // All calls were refused in all processes, so the next one meets no remains.
    let mut into = vec![0u8; size];
    world.all_to_all_blocks(&vec![5u8; size], &good, &mut into, &good)?;
    assert_eq!(into, vec![5; size]);
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4], seconds = 60)]
fn exchanges_of_blocks_that_are_forgotten_go_on(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size() as usize);
    let length = 50_000;
    let blocks: Vec<_> = (0..size).map(|at| Block::elements(at * length..(at + 1) * length)).collect();
    for round in 0..4 {
        let data = vec![u64::from(rank); size * length];
        let started = world.start(Collective::all_to_all_blocks(data.clone(), &blocks, data, &blocks))?;
        match (rank + round) % 3 {
            0 => drop(started),
            1 => std::mem::forget(started),
            _ => assert!(started.wait()?.chunks(length).zip(0..).all(|(part, from)| part.iter().all(|it| *it == from))),
        }
        drop(vec![u64::MAX; size * length]);
        world.barrier()?;
    }
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn neighbors_exchange_blocks(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let neighbor = |rank| [Neighbor { rank, weight: None }];
    let ring = world.adjacent_graph(&neighbor(previous), &neighbor(next))?;
    let column = Block::from(Layout::<u32>::vector(3, 1, 2)?);
    let (data, mut into) = ([rank, 9, rank + 1, 9, rank + 2, 9], [8; 4]);
    ring.neighbor_all_to_all_blocks(&data, std::slice::from_ref(&column), &mut into, &[Block::elements(1..4)])?;
    assert_eq!(into, [8, previous, previous + 1, previous + 2]);
    let room = vec![8; 4];
    let sends = [column];
    let started =
        ring.start(Collective::neighbor_all_to_all_blocks(data.to_vec(), &sends, room, &[Block::elements(0..3)]))?;
    assert_eq!(started.wait()?, [previous, previous + 1, previous + 2, 8]);
    let line = world.grid(&[size], &[false], false)?.expect("all processes");
    let ends = [Block::elements(0..1), Block::elements(1..2)];
    let mut halo = [100, 100];
    line.neighbor_all_to_all_blocks(&[rank, rank], &ends, &mut halo, &ends)?;
    assert_eq!(halo, [rank.checked_sub(1).unwrap_or(100), if rank + 1 < size { rank + 1 } else { 100 }]);
    assert_eq!(class(line.neighbor_all_to_all_blocks(&[0u8; 2], &[Block::empty()], &mut [], &[])), "MPI_ERR_COUNT");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 5])]
fn results_are_stored_into_slices(world: &World) -> mpi::Result<()> {
    let (rank, size, root) = (world.rank(), world.size(), world.size() - 1);
    let (all, wide) = ((0..size).collect::<Vec<_>>(), size as usize);
    let sum: u32 = all.iter().sum();
    let mut at_root = vec![0; if rank == root { wide } else { 0 }];
    world.gather_into(&[rank], &mut at_root, root)?;
    assert_eq!(at_root, if rank == root { all.clone() } else { Vec::new() });
    let mut reduced = vec![0; if rank == root { 1 } else { 0 }];
    world.reduce_into(&[rank], &mut reduced, Operation::Sum, root)?;
    assert_eq!(reduced, if rank == root { vec![sum] } else { Vec::new() });
    let mut everywhere = vec![0; wide];
    world.all_gather_into(&[rank], &mut everywhere)?;
    assert_eq!(everywhere, all);
    let to_each: Vec<u32> = (0..size).map(|to| 10 * rank + to).collect();
    let from_each: Vec<u32> = (0..size).map(|from| 10 * from + rank).collect();
    world.all_to_all_into(&to_each, &mut everywhere)?;
    assert_eq!(everywhere, from_each);
    let mut in_place = to_each.clone();
    world.all_to_all_in_place(&mut in_place)?;
    assert_eq!(in_place, from_each);
    let mut part = [0];
    world.reduce_scatter_into(&all, &mut part, Operation::Sum)?;
    assert_eq!(part, [size * rank]);
    let mut scanned = [0];
    world.scan_into(&[rank], &mut scanned, Operation::Sum)?;
    let mut scanned_in_place = [rank];
    world.scan_in_place(&mut scanned_in_place, Operation::Sum)?;
    assert_eq!((scanned, scanned_in_place), ([(0..=rank).sum()], [(0..=rank).sum()]));
    let mut summed = vec![rank; 1000];
    world.all_reduce_in_place(&mut summed, Operation::Sum)?;
    assert_eq!(summed, vec![sum; 1000]);
    let mut first_and_last = [[f64::from(rank); 2]];
    world.all_reduce_in_place(&mut first_and_last, Combine::by(|a: [f64; 2], b: [f64; 2]| [a[0], b[1]]))?;
    assert_eq!(first_and_last, [[0.0, f64::from(size - 1)]]);
    // A process of rank r has r elements.
    let counts: Vec<usize> = (0..wide).collect();
    let (own, total) = (vec![rank; rank as usize], counts.iter().sum::<usize>());
    let varying: Vec<u32> = (0..size).flat_map(|rank| vec![rank; rank as usize]).collect();
    let mut room = vec![0; total];
    world.all_gather_varying_into(&own, &mut room, &counts)?;
    assert_eq!(room, varying);
    let mut at_root = vec![0; if rank == root { total } else { 0 }];
    world.gather_varying_into(&own, &mut at_root, &counts, root)?;
    let mut back = vec![9; rank as usize];
    world.scatter_varying_into(&at_root, &mut back, &counts, root)?;
    assert_eq!(back, own);
    let mut received = vec![0; wide];
    world.all_to_all_varying_into(&to_each, &mut received, &vec![1; wide], &vec![1; wide])?;
    assert_eq!(received, from_each);
    // A slice of another length is refused in the process that has it; here in all.
    let (mut long, ones) = (vec![0; total + wide + 1], vec![1; wide]);
    assert_eq!(class(world.all_gather_into(&[0], &mut long)), "MPI_ERR_COUNT");
    assert_eq!(class(world.gather_into(&[0], &mut long, root)), "MPI_ERR_COUNT");
    assert_eq!(class(world.reduce_into(&[0], &mut long, Operation::Sum, root)), "MPI_ERR_COUNT");
    assert_eq!(class(world.scan_into(&[0], &mut long, Operation::Sum)), "MPI_ERR_COUNT");
    assert_eq!(class(world.reduce_scatter_into(&all, &mut long, Operation::Sum)), "MPI_ERR_COUNT");
    assert_eq!(class(world.all_to_all_into(&to_each, &mut long)), "MPI_ERR_COUNT");
    assert_eq!(class(world.all_gather_varying_into(&own, &mut long, &counts)), "MPI_ERR_COUNT");
    assert_eq!(class(world.gather_varying_into(&own, &mut long, &counts, root)), "MPI_ERR_COUNT");
    assert_eq!(class(world.scatter_varying_into(&at_root, &mut long, &counts, root)), "MPI_ERR_COUNT");
    assert_eq!(class(world.all_to_all_varying_into(&to_each, &mut long, &ones, &ones)), "MPI_ERR_COUNT");
    assert_eq!(class(world.gather_into(&[0u8], &mut [], size)), "MPI_ERR_ROOT");
    assert_eq!(class(world.scan_in_place(&mut [0.5f32], Operation::BitOr)), "MPI_ERR_OP");
    if size > 1 {
        assert_eq!(class(world.all_to_all_in_place(&mut vec![0u8; wide + 1])), "MPI_ERR_COUNT");
    }
    Ok(())
}
