//! Collective operations of two groups in all forms, on several processes.

use mpi::{Block, Combine, Element, InterCollective, Intercomm, Operation, Part, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

/// The result of an operation that is started, and of the same one as a persistent operation, started three times.
fn in_both_forms<T>(both: &Intercomm<'_>, what: impl Fn() -> InterCollective<T>) -> mpi::Result<Vec<T>>
where
    T: Element + Default + PartialEq + std::fmt::Debug,
{
    let started = both.start(what())?;
    let mut repeated = both.persistent(what())?;
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

/// The first two fifths of the processes, one at least, and the others; whether this process is one of the latter.
fn divided(world: &World) -> mpi::Result<(Intercomm<'_>, bool)> {
    let upper = world.rank() >= (2 * world.size() / 5).max(1);
    Ok((world.two_groups(upper)?, upper))
}

#[mpi::test(ranks = [2, 3, 5])]
fn operations_of_two_groups_are_started_and_repeated(world: &World) -> mpi::Result<()> {
    let (both, upper) = divided(world)?;
    let (rank, remote) = (u64::from(both.rank()), u64::from(both.remote_size()));
    let own = u64::from(upper) * 100 + rank;
    let theirs: Vec<u64> = (0..remote).map(|rank| u64::from(!upper) * 100 + rank).collect();
    assert!(in_both_forms(&both, InterCollective::barrier)?.is_empty());
    assert_eq!(in_both_forms(&both, || InterCollective::all_gather(vec![own], 1))?, theirs);
    let sums = in_both_forms(&both, || InterCollective::all_reduce(vec![own, 1], Operation::Sum))?;
    assert_eq!(sums, [theirs.iter().sum(), remote]);
    let parts: Vec<u64> = (0..remote).flat_map(|to| [own, to]).collect();
    let crossed: Vec<u64> = theirs.iter().flat_map(|from| [*from, rank]).collect();
    assert_eq!(in_both_forms(&both, || InterCollective::all_to_all(parts.clone(), 2))?, crossed);
    // The root is the last process of the upper group.
    let last = if upper { both.size() - 1 } else { both.remote_size() - 1 };
    let is_root = upper && both.rank() == last;
    let part = match (upper, is_root) {
        (false, _) => Part::Across(last),
        (true, true) => Part::Root,
        (true, false) => Part::BesideRoot,
    };
    let at_root = |data: Vec<u64>| if is_root { data } else { Vec::new() };
    let news = in_both_forms(&both, || InterCollective::broadcast(vec![own], part))?;
    assert_eq!(news, [if upper { own } else { 100 + u64::from(last) }]);
    assert_eq!(in_both_forms(&both, || InterCollective::gather(vec![own], part))?, at_root(theirs.clone()));
    let by_function = || Combine::by(|lower: u64, higher| 10 * lower + higher);
    let digits = theirs.iter().copied().reduce(|lower, higher| 10 * lower + higher).unwrap_or(0);
    assert_eq!(
        in_both_forms(&both, || InterCollective::reduce(vec![own], by_function(), part))?,
        at_root(vec![digits])
    );
    let scattered = in_both_forms(&both, || InterCollective::scatter(at_root(parts.clone()), 2, part))?;
    assert_eq!(scattered, if upper { Vec::new() } else { vec![100 + u64::from(last), rank] });
    // Several at once, and ones that are dropped or forgotten.
    let long = vec![own; 50_000];
    let first = both.start(InterCollective::all_gather(long.clone(), 50_000))?;
    std::mem::forget(both.start(InterCollective::all_reduce(long.clone(), Operation::Max))?);
    drop(both.start(InterCollective::all_gather(long, 50_000))?);
    let barrier = both.start(InterCollective::barrier())?;
    mpi::wait_all(&[&first, &barrier])?;
    assert!(first.wait()?.chunks(50_000).zip(theirs).all(|(part, from)| part.iter().all(|it| *it == from)));
    barrier.wait()?;
    // Wrong arguments.
    let beyond = Part::Across(both.remote_size());
    assert_eq!(class(both.start(InterCollective::gather(vec![own], beyond))), "MPI_ERR_ROOT");
    assert_eq!(class(both.start(InterCollective::scatter(vec![0u8; 7], 0, Part::Root))), "MPI_ERR_COUNT");
    assert_eq!(class(both.persistent(InterCollective::all_reduce(vec![0.5f32], Operation::BitOr))), "MPI_ERR_OP");
    world.barrier()
}

#[mpi::test(ranks = [2, 3, 5])]
fn counts_of_two_groups_vary_from_process_to_process(world: &World) -> mpi::Result<()> {
    let (both, upper) = divided(world)?;
    let (rank, size, remote) = (both.rank(), both.size(), both.remote_size());
    // A process of rank r has r + 1 elements.
    let length = |rank: u32| rank as usize + 1;
    let (own, counts) = (vec![rank; length(rank)], (0..remote).map(length).collect::<Vec<_>>());
    let theirs: Vec<u32> = (0..remote).flat_map(|rank| vec![rank; length(rank)]).collect();
    assert_eq!(both.all_gather_varying(&own, &counts)?, theirs);
    assert_eq!(in_both_forms(&both, || InterCollective::all_gather_varying(own.clone(), counts.clone()))?, theirs);
    let part = match (upper, rank) {
        (true, 0) => Part::Root,
        (true, _) => Part::BesideRoot,
        (false, _) => Part::Across(0),
    };
    let is_root = part == Part::Root;
    assert_eq!(both.gather_varying(&own, &counts, part)?, is_root.then(|| theirs.clone()));
    let gathered = in_both_forms(&both, || InterCollective::gather_varying(own.clone(), counts.clone(), part))?;
    assert_eq!(gathered, if is_root { theirs.clone() } else { Vec::new() });
    let (data, passed) = if is_root { (theirs.clone(), counts.clone()) } else { (Vec::new(), Vec::new()) };
    let expected = if upper { Vec::new() } else { own.clone() };
    assert_eq!(both.scatter_varying(&data, &passed, length(rank), part)?, expected);
    let scatter = || InterCollective::scatter_varying(data.clone(), passed.clone(), length(rank), part);
    assert_eq!(in_both_forms(&both, scatter)?, expected);
    // Rank s of either group sends s + 2 r elements to rank r of the other one.
    let between = |from: u32, to: u32| (from + 2 * to) as usize;
    let sends: Vec<usize> = (0..remote).map(|to| between(rank, to)).collect();
    let receives: Vec<usize> = (0..remote).map(|from| between(from, rank)).collect();
    let data: Vec<u32> = (0..remote).flat_map(|to| vec![10 * rank + to; between(rank, to)]).collect();
    let got: Vec<u32> = (0..remote).flat_map(|from| vec![10 * from + rank; between(from, rank)]).collect();
    assert_eq!(both.all_to_all_varying(&data, &sends, &receives)?, got);
    let varying = || InterCollective::all_to_all_varying(data.clone(), sends.clone(), receives.clone());
    assert_eq!(in_both_forms(&both, varying)?, got);
    // The same in blocks, in descending order of ranks.
    let blocks = |counts: &[usize]| {
        let mut end = counts.iter().sum::<usize>();
        let block = |count: &usize| {
            end -= count;
            Block::<u32>::elements(end..end + count)
        };
        counts.iter().map(block).collect::<Vec<_>>()
    };
    let reversed: Vec<u32> = (0..remote).rev().flat_map(|to| vec![10 * rank + to; between(rank, to)]).collect();
    let back: Vec<u32> = (0..remote).rev().flat_map(|from| vec![10 * from + rank; between(from, rank)]).collect();
    let mut into = vec![0; back.len()];
    both.all_to_all_blocks(&reversed, &blocks(&sends), &mut into, &blocks(&receives))?;
    assert_eq!(into, back);
    let room = || vec![0; back.len()];
    let exchange = || InterCollective::all_to_all_blocks(reversed.clone(), &blocks(&sends), room(), &blocks(&receives));
    assert_eq!(in_both_forms(&both, exchange)?, back);
    // Each group scatters what the other one contributes; both groups have as many elements.
    let all = vec![1u32; (size * remote) as usize];
    let part = vec![remote; remote as usize];
    assert_eq!(both.reduce_scatter(&all, Operation::Sum)?, part);
    assert_eq!(in_both_forms(&both, || InterCollective::reduce_scatter(all.clone(), Operation::Sum))?, part);
    let mut lengths = vec![0; size as usize];
    lengths[size as usize - 1] = all.len();
    let last = vec![remote; lengths[rank as usize]];
    assert_eq!(both.reduce_scatter_varying(&all, &lengths, Operation::Sum)?, last);
    let varying = || InterCollective::reduce_scatter_varying(all.clone(), lengths.clone(), Operation::Sum);
    assert_eq!(in_both_forms(&both, varying)?, last);
    // Wrong arguments.
    assert_eq!(class(both.all_gather_varying(&own, &counts[1..])), "MPI_ERR_COUNT");
    assert_eq!(class(both.all_to_all_varying(&data, &sends, &receives[1..])), "MPI_ERR_COUNT");
    assert_eq!(class(both.gather_varying(&own, &counts[1..], Part::Root)), "MPI_ERR_COUNT");
    assert_eq!(class(both.scatter_varying(&own, &counts, 0, Part::Across(remote))), "MPI_ERR_ROOT");
    assert_eq!(class(both.reduce_scatter_varying(&all, &lengths[1..], Operation::Sum)), "MPI_ERR_COUNT");
    let outside = vec![Block::elements(5..6); remote as usize];
    assert_eq!(class(both.all_to_all_blocks(&[0u8], &outside, &mut [0u8; 9], &outside)), "MPI_ERR_BUFFER");
    world.barrier()
}
