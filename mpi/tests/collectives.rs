//! Collective operations of the facade in all forms, on several processes.

use mpi::{Collective, Combine, Element, Multiple, Neighbor, Operation, Part, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

/// The result of an operation that is started, and of the same one as a persistent operation, started three times.
fn in_both_forms<T>(comm: &mpi::Communicator<'_>, what: impl Fn() -> Collective<T>) -> mpi::Result<Vec<T>>
where
    T: Element + Default + PartialEq + std::fmt::Debug,
{
    let started = comm.start(what())?;
    let mut repeated = comm.persistent(what())?;
    let result = started.wait()?;
    for _ in 0..3 {
        repeated.start()?;
        assert!(repeated.result().is_none() && repeated.data_mut().is_none(), "active");
        repeated.wait()?;
        assert!(repeated.is_complete()?);
        assert_eq!(repeated.result().expect("inactive"), result, "{:?}", what());
    }
    Ok(result)
}

/// Maps x -> a x + b, one after the other.
fn follow() -> Combine<[f64; 2]> {
    Combine::by(|lower: [f64; 2], higher| [lower[0] * higher[0], higher[0] * lower[1] + higher[1]])
}

fn composition(ranks: std::ops::Range<u32>) -> [f64; 2] {
    let maps = ranks.map(|rank| [f64::from(rank % 3) + 1.0, f64::from(rank) + 5.0]);
    maps.reduce(|lower, higher| [lower[0] * higher[0], higher[0] * lower[1] + higher[1]]).unwrap_or_default()
}

#[mpi::test(ranks = [1, 2, 5])]
fn scans_combine_the_data_of_lower_ranks(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    assert_eq!(world.scan(&[rank, 1], Operation::Sum)?, [(0..=rank).sum(), rank + 1]);
    assert_eq!(world.exclusive_scan(&[1u64], Operation::Sum)?, (rank > 0).then(|| vec![u64::from(rank)]));
    let own = composition(rank..rank + 1);
    assert_eq!(world.scan(&[own], follow())?, [composition(0..rank + 1)], "in the order of ranks");
    assert_eq!(world.exclusive_scan(&[own], follow())?, (rank > 0).then(|| vec![composition(0..rank)]));
    assert_eq!(in_both_forms(world, || Collective::scan(vec![own], follow()))?, [composition(0..rank + 1)]);
    let before = in_both_forms(world, || Collective::exclusive_scan(vec![own], follow()))?;
    assert_eq!(before, [if rank > 0 { composition(0..rank) } else { [0.0; 2] }]);
    assert_eq!(in_both_forms(world, || Collective::all_reduce(vec![own], follow()))?, [composition(0..size)]);
    let reduced = in_both_forms(world, || Collective::reduce(vec![own, own], follow(), size - 1))?;
    assert_eq!(reduced, if rank + 1 == size { vec![composition(0..size); 2] } else { Vec::new() });
    assert_eq!(class(world.scan(&[1.5f64], Operation::BitAnd)), "MPI_ERR_OP");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 5])]
fn results_are_scattered(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let data: Vec<u32> = (0..2 * size).map(|at| at + rank).collect();
    let total = |at: u32| size * at + (0..size).sum::<u32>();
    let own = [total(2 * rank), total(2 * rank + 1)];
    assert_eq!(world.reduce_scatter(&data, Operation::Sum)?, own);
    assert_eq!(in_both_forms(world, || Collective::reduce_scatter(data.clone(), Operation::Sum))?, own);
    // Nothing for the first process, more for the last one.
    let mut counts = vec![2usize; size as usize];
    (counts[0], counts[size as usize - 1]) = if size > 1 { (0, 4) } else { (2, 2) };
    let first: usize = counts[..rank as usize].iter().sum();
    let own: Vec<u32> = (first..first + counts[rank as usize]).map(|at| total(at as u32)).collect();
    assert_eq!(world.reduce_scatter_varying(&data, &counts, Operation::Sum)?, own);
    let varying = || Collective::reduce_scatter_varying(data.clone(), counts.clone(), Operation::Sum);
    assert_eq!(in_both_forms(world, varying)?, own);
    if size > 1 {
        assert_eq!(class(world.reduce_scatter(&vec![0u8; size as usize + 1], Operation::Sum)), "MPI_ERR_COUNT");
    }
    assert_eq!(class(world.reduce_scatter_varying(&data[1..], &counts, Operation::Sum)), "MPI_ERR_COUNT");
    assert_eq!(class(world.reduce_scatter_varying(&data, &counts[1..], Operation::Sum)), "MPI_ERR_COUNT");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 5])]
fn counts_vary_from_process_to_process(world: &World) -> mpi::Result<()> {
    let (rank, size, root) = (world.rank(), world.size(), world.size() - 1);
    // A process of rank r has r % 3 elements.
    let length = |rank: u32| rank as usize % 3;
    let counts: Vec<usize> = (0..size).map(length).collect();
    let own = vec![rank as i32; length(rank)];
    let all: Vec<i32> = (0..size).flat_map(|rank| vec![rank as i32; length(rank)]).collect();
    let at_root = if rank == root { all.clone() } else { Vec::new() };
    assert_eq!(world.gather_varying(&own, &counts, root)?, (rank == root).then(|| all.clone()));
    assert_eq!(in_both_forms(world, || Collective::gather_varying(own.clone(), counts.clone(), root))?, at_root);
    assert_eq!(world.scatter_varying(&at_root, &counts, root)?, own);
    assert_eq!(in_both_forms(world, || Collective::scatter_varying(at_root.clone(), counts.clone(), root))?, own);
    assert_eq!(world.all_gather_varying(&own, &counts)?, all);
    assert_eq!(in_both_forms(world, || Collective::all_gather_varying(own.clone(), counts.clone()))?, all);
    // Rank s sends (s + 2 r) % 3 elements to rank r.
    let between = |from: u32, to: u32| (from + 2 * to) as usize % 3;
    let sends: Vec<usize> = (0..size).map(|to| between(rank, to)).collect();
    let receives: Vec<usize> = (0..size).map(|from| between(from, rank)).collect();
    let data: Vec<u32> = (0..size).flat_map(|to| vec![10 * rank + to; between(rank, to)]).collect();
    let got: Vec<u32> = (0..size).flat_map(|from| vec![10 * from + rank; between(from, rank)]).collect();
    assert_eq!(world.all_to_all_varying(&data, &sends, &receives)?, got);
    let varying = || Collective::all_to_all_varying(data.clone(), sends.clone(), receives.clone());
    assert_eq!(in_both_forms(world, varying)?, got);
    assert_eq!(class(world.all_gather_varying(&[0i32; 9], &counts)), "MPI_ERR_COUNT");
    assert_eq!(class(world.all_gather_varying(&own, &counts[1..])), "MPI_ERR_COUNT");
    assert_eq!(class(world.gather_varying(&own, &counts, size)), "MPI_ERR_ROOT");
    assert_eq!(class(world.all_to_all_varying(&data, &sends, &receives[1..])), "MPI_ERR_COUNT");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 5])]
fn operations_are_started_and_waited_for_later(world: &World) -> mpi::Result<()> {
    let (rank, size, root) = (world.rank(), world.size(), world.size() / 2);
    assert!(in_both_forms(world, Collective::barrier)?.is_empty());
    let data = || if rank == root { vec![7i64, 9] } else { vec![0; 2] };
    assert_eq!(world.start(Collective::broadcast(data(), root))?.wait()?, [7, 9]);
    let both = in_both_forms(world, || Collective::all_reduce(vec![rank, 1], Operation::Sum))?;
    assert_eq!(both, [(0..size).sum(), size]);
    let gathered = in_both_forms(world, || Collective::gather(vec![rank], root))?;
    assert_eq!(gathered, if rank == root { (0..size).collect() } else { Vec::new() });
    assert_eq!(in_both_forms(world, || Collective::all_gather(vec![rank]))?, (0..size).collect::<Vec<_>>());
    let parts: Vec<u32> = if rank == root { (0..3 * size).collect() } else { Vec::new() };
    let part = in_both_forms(world, || Collective::scatter(parts.clone(), 3, root))?;
    assert_eq!(part, [3 * rank, 3 * rank + 1, 3 * rank + 2]);
    let to_each: Vec<u32> = (0..size).map(|to| 100 * rank + to).collect();
    let from_each = in_both_forms(world, || Collective::all_to_all(to_each.clone()))?;
    assert_eq!(from_each, (0..size).map(|from| 100 * from + rank).collect::<Vec<_>>());

    // Several at once, of any length, waited for in another order.
    let long: Vec<u64> = (0..100_000).map(|at| at + u64::from(rank)).collect();
    let sums = world.start(Collective::all_reduce(long, Operation::Sum))?;
    let barrier = world.start(Collective::barrier())?;
    let ranks = world.start(Collective::all_gather(vec![rank]))?;
    assert_eq!(ranks.wait()?.len(), size as usize);
    barrier.wait()?;
    while !sums.is_complete()? {}
    let (offset, size) = (u64::from((0..size).sum::<u32>()), u64::from(size));
    assert!(sums.wait()?.iter().zip(0..).all(|(sum, at)| *sum == size * at + offset));
    let root_of_none = world.start(Collective::broadcast(vec![0u8], size as u32));
    assert_eq!(class(root_of_none), "MPI_ERR_ROOT");
    assert_eq!(class(world.persistent(Collective::all_reduce(vec![0.5f32], Operation::Or))), "MPI_ERR_OP");
    Ok(())
}

#[mpi::test(ranks = [1, 3])]
fn persistent_operations_take_new_data_at_each_start(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut sums = world.persistent(Collective::all_reduce(vec![0u32; 4], Operation::Sum))?;
    let mut news = world.persistent(Collective::broadcast(vec![0u32; 4], 0))?;
    for step in 1..20 {
        sums.data_mut().expect("inactive").fill(step + rank);
        news.data_mut().expect("inactive").fill(if rank == 0 { step } else { 0 });
        sums.start()?;
        assert_eq!(class(sums.start()), "MPI_ERR_REQUEST");
        news.start()?;
        news.wait()?;
        sums.wait()?;
        assert_eq!(sums.result(), Some(&[size * step + (0..size).sum::<u32>(); 4][..]));
        assert_eq!(news.result(), Some(&[step; 4][..]));
    }
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn neighbors_exchange_data(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    // A line: there is nobody beyond its ends, from where default values come.
    let line = world.grid(&[size], &[false], false)?.expect("all processes");
    let at = |there: bool, value: u32| if there { value } else { 0 };
    let (before, behind) = (rank > 0, rank + 1 < size);
    let ends = [at(before, 10 * (rank.max(1) - 1) + 1), at(behind, 10 * (rank + 1) + 1)];
    assert_eq!(line.neighbor_all_gather(&[10 * rank + 1])?, ends);
    assert_eq!(in_both_forms(&line, || Collective::neighbor_all_gather(vec![10 * rank + 1]))?, ends);
    let crossed = [at(before, 10 * (rank.max(1) - 1) + 2), at(behind, 10 * (rank + 1) + 1)];
    assert_eq!(line.neighbor_all_to_all(&[10 * rank + 1, 10 * rank + 2])?, crossed);
    // A ring in which each process sends as many elements as its rank to the next one.
    let next = [Neighbor { rank: (rank + 1) % size, weight: None }];
    let previous = [Neighbor { rank: (rank + size - 1) % size, weight: None }];
    let ring = world.adjacent_graph(&previous, &next)?;
    let (own, count) = (vec![rank; rank as usize], previous[0].rank as usize);
    let got = vec![count as u32; count];
    assert_eq!(ring.neighbor_all_gather_varying(&own, &[count])?, got);
    let varying = || Collective::neighbor_all_gather_varying(own.clone(), vec![count]);
    assert_eq!(in_both_forms(&ring, varying)?, got);
    assert_eq!(ring.neighbor_all_to_all_varying(&own, &[own.len()], &[count])?, got);
    let varying = || Collective::neighbor_all_to_all_varying(own.clone(), vec![own.len()], vec![count]);
    assert_eq!(in_both_forms(&ring, varying)?, got);
    assert_eq!(in_both_forms(&ring, || Collective::neighbor_all_to_all(vec![rank; 2]))?, [count as u32; 2]);
    assert_eq!(class(ring.neighbor_all_gather_varying(&own, &[count, 0])), "MPI_ERR_COUNT");
    assert_eq!(class(line.neighbor_all_to_all(&[0u8; 3])), "MPI_ERR_COUNT");
    assert_eq!(class(world.start(Collective::neighbor_all_gather(vec![0u8]))), "MPI_ERR_TOPOLOGY");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4], seconds = 60)]
fn operations_that_are_dropped_or_forgotten_go_on(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for length in [1usize, 1000, 200_000] {
        let data = || vec![u64::from(rank); length];
        // The last process waits; the others take no notice of the result, and reuse their memory.
        let dropped = world.start(Collective::all_reduce(data(), Operation::Sum))?;
        let forgotten = world.start(Collective::all_gather(data()))?;
        let mut repeated = world.persistent(Collective::scan(data(), Operation::Max))?;
        repeated.start()?;
        if rank + 1 == size {
            let sum = (0..u64::from(size)).sum::<u64>();
            assert!(dropped.wait()?.iter().all(|value| *value == sum));
            assert!(forgotten.wait()?.chunks(length).zip(0..).all(|(part, rank)| part.iter().all(|it| *it == rank)));
            repeated.wait()?;
            assert!(repeated.result().expect("inactive").iter().all(|value| *value == u64::from(rank)));
        } else {
            drop(dropped);
            std::mem::forget(forgotten);
            drop(repeated);
            drop(vec![u64::MAX; length]);
        }
        world.barrier()?;
    }
    // One that is complete only when MPI is finalized.
    std::mem::forget(world.start(Collective::barrier())?);
    Ok(())
}

#[mpi::test(ranks = 2, seconds = 60)]
fn threads_start_operations_of_their_own_communicators(world: &World<Multiple>) -> mpi::Result<()> {
    let comms = (0..3).map(|_| world.duplicate()).collect::<mpi::Result<Vec<_>>>()?;
    std::thread::scope(|scope| {
        for comm in &comms {
            scope.spawn(move || {
                for step in 0..50u32 {
                    let sum = comm.start(Collective::all_reduce(vec![step; 100], Operation::Sum)).expect("started");
                    assert_eq!(sum.wait().expect("a sum"), [2 * step; 100]);
                }
            });
        }
    });
    Ok(())
}

#[mpi::test(ranks = [2, 3, 5])]
fn each_group_gets_what_the_other_one_contributes(world: &World) -> mpi::Result<()> {
    // The first two fifths of the processes, one at least, and the others.
    let first = (2 * world.size() / 5).max(1);
    let upper = world.rank() >= first;
    let both = world.two_groups(upper)?;
    let (rank, remote) = (u64::from(both.rank()), u64::from(both.remote_size()));
    let own = u64::from(upper) * 100 + rank;
    let theirs: Vec<u64> = (0..remote).map(|rank| u64::from(!upper) * 100 + rank).collect();
    both.barrier()?;
    assert_eq!(both.all_gather(&[own], 1)?, theirs);
    assert_eq!(both.all_reduce(&[own, 1], Operation::Sum)?, [theirs.iter().sum(), remote]);
    let parts: Vec<u64> = (0..remote).flat_map(|to| [own, to]).collect();
    assert_eq!(both.all_to_all(&parts, 2)?, theirs.iter().flat_map(|from| [*from, rank]).collect::<Vec<_>>());
    // The root is the last process of the upper group.
    let last = u64::from(world.size() - first) - 1;
    let is_root = upper && rank == last;
    let part = match upper {
        false => Part::Across(last as u32),
        true if is_root => Part::Root,
        true => Part::BesideRoot,
    };
    let mut news = [own];
    both.broadcast(&mut news, part)?;
    assert_eq!(news, [if upper { own } else { 100 + last }]);
    assert_eq!(both.gather(&[own], part)?, is_root.then(|| theirs.clone()));
    assert_eq!(both.reduce(&[own], Operation::Max, part)?, is_root.then(|| vec![remote - 1]));
    let by_function = Combine::by(|lower: u64, higher| 10 * lower + higher);
    let digits = theirs.iter().copied().reduce(|lower, higher| 10 * lower + higher);
    assert_eq!(both.reduce(&[own], by_function, part)?, is_root.then(|| vec![digits.unwrap_or(0)]));
    let mut got = [0; 2];
    both.scatter(if is_root { &parts } else { &[] }, &mut got, part)?;
    assert_eq!(got, if upper { [0, 0] } else { [100 + last, rank] });
    assert_eq!(class(both.gather(&[own], Part::Across(remote as u32))), "MPI_ERR_ROOT");
    if remote > 1 {
        assert_eq!(class(both.all_to_all(&vec![0u8; remote as usize + 1], 1)), "MPI_ERR_COUNT");
    }
    Ok(())
}
