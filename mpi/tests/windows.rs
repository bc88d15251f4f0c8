//! Windows over memory of the program, on shared memory, and operations on layouts.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use mpi::{Hints, Layout, Multiple, Operation, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

#[mpi::test(ranks = [1, 2, 4])]
fn a_window_over_a_vector_gives_it_back(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut data = Vec::with_capacity(1000);
    data.extend((0..100 + rank).map(|at| 1000 * rank + at));
    let address = data.as_ptr();
    let mut window = world.window_over(data, &Hints::new())?;
    assert_eq!((window.len(), window.is_empty()), (100 + rank as usize, false));
    let next = (rank + 1) % size;
    let (mut got, put) = ([0; 3], [rank, rank + 1]);
    window.epoch(|epoch| {
        epoch.get(next, 50, &mut got)?;
        epoch.put(next, 10, &put)?;
        epoch.accumulate(next, 20, &[5], Operation::Sum)
    })?;
    assert_eq!(got, [50, 51, 52].map(|at| 1000 * next + at));
    window.write(0, &[77])?;
    assert_eq!(class(window.epoch(|epoch| epoch.put(next, 100 + next as usize, &put))), "MPI_ERR_RMA_RANGE");
    let data = window.into_data()?.expect("it was made over a vector");
    assert_eq!((data.len(), data.capacity(), data.as_ptr()), (100 + rank as usize, 1000, address), "no copy");
    let previous = (rank + size - 1) % size;
    assert_eq!([data[0], data[10], data[11], data[20]], [77, previous, previous + 1, 1000 * rank + 25]);
    // A window that is dropped frees its vector; one of no elements gives back an empty one.
    drop(world.window_over(vec![0u8; 1 << 20], &Hints::new())?);
    assert_eq!(world.window_over(Vec::<u64>::new(), &Hints::new())?.into_data()?, Some(Vec::new()));
    assert_eq!(world.window::<u8>(4)?.into_data()?, None, "it owned no vector");
    Ok(())
}

/// Whether new vectors of as many elements use none of the memory at this address.
fn is_taken(address: usize, length: usize) -> bool {
    let bytes = length * size_of::<u32>();
    let others: Vec<Vec<u32>> = (0..8).map(|fill| vec![fill; length]).collect();
    others.iter().map(|other| other.as_ptr().addr()).all(|start| start + bytes <= address || start >= address + bytes)
}

#[mpi::test(ranks = [1, 3], seconds = 60)]
fn a_window_that_is_not_freed_leaks_its_vector(world: &World) -> mpi::Result<()> {
    const LENGTH: usize = 1 << 12;
    let (rank, next) = (world.rank(), (world.rank() + 1) % world.size());
    // A vector that is freed leaves its memory to others.
    let data = vec![rank; LENGTH];
    let address = data.as_ptr().addr();
    drop(world.window_over(data, &Hints::new())?);
    assert!(!is_taken(address, LENGTH));

    let data = vec![rank; LENGTH];
    let address = data.as_ptr().addr();
    let mut window = world.window_over(data, &Hints::new())?;
    window.epoch(|epoch| epoch.put(next, 0, &[9]))?;
    std::mem::forget(window);
    assert!(is_taken(address, LENGTH));

    // One that is dropped by a panic does not wait for the others, which may still use it.
    let data = vec![rank; LENGTH];
    let address = data.as_ptr().addr();
    let window = world.window_over(data, &Hints::new())?;
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _window = window;
        panic!("the window is dropped here");
    }));
    assert!(panicked.is_err() && is_taken(address, LENGTH));

    let mut again = world.window_over(vec![rank; LENGTH], &Hints::new())?;
    again.epoch(|epoch| epoch.put(next, 0, &[9]))?;
    assert_eq!(again.into_data()?.expect("its own")[..2], [9, rank]);
    Ok(())
}

#[mpi::test(ranks = [1, 2, 3])]
fn operations_reach_the_elements_of_a_layout(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    // A matrix of `size` columns in each process; each process changes its column in all.
    for over in [false, true] {
        let cells = 5 * size;
        let mut matrix = match over {
            false => world.window::<i32>(cells)?,
            true => world.window_over(vec![0; cells], &Hints::new())?,
        };
        let (column, side_by_side) = (Layout::vector(5, 1, size)?, Layout::contiguous(5)?);
        let every_other = Layout::vector(5, 1, 2)?;
        let data: Vec<i32> = (0..9).map(|at| 100 * rank as i32 + at).collect();
        matrix.epoch(|epoch| {
            for to in 0..size as u32 {
                epoch.put_layout(to, (rank, &column), (&data, &every_other))?;
            }
            Ok(())
        })?;
        let ones = [1; 5];
        matrix.epoch(|epoch| {
            (0..size as u32)
                .try_for_each(|to| epoch.accumulate_layout(to, (rank, &column), (&ones, &side_by_side), Operation::Sum))
        })?;
        let mut own = vec![0; cells];
        matrix.read(0, &mut own)?;
        let expected: Vec<i32> =
            (0..5).flat_map(|row| (0..size as i32).map(move |of| 100 * of + 2 * row + 1)).collect();
        assert_eq!(own, expected);
        let mut got = [0; 9];
        let last = size as u32 - 1;
        matrix.epoch(|epoch| epoch.get_layout(last, (rank, &column), (&mut got, &every_other)))?;
        assert_eq!(got, [1, 0, 3, 0, 5, 0, 7, 0, 9].map(|it| if it == 0 { 0 } else { it + 100 * rank as i32 }));

        // Each process draws a number for each row of the first column of the last process.
        let (mut before, three) = ([0; 9], [3; 5]);
        let (first, last_rank) = ((0, &column), size as u32 - 1);
        matrix.epoch(|epoch| {
            let (data, into) = ((&three[..], &side_by_side), (&mut before[..], &every_other));
            epoch.fetch_layout(last_rank, first, data, into, Operation::Sum)
        })?;
        let drawn = world.all_gather(&before)?;
        for row in 0..5 {
            let mut numbers: Vec<i32> = drawn.chunks(9).map(|before| before[2 * row]).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..size as i32).map(|turn| 2 * row as i32 + 1 + 3 * turn).collect::<Vec<_>>());
        }
        assert!(before.iter().skip(1).step_by(2).all(|it| *it == 0), "{before:?}");
        let mut little = [0; 4];
        let fewer = Layout::contiguous(4)?;
        let unequal = matrix.epoch(|epoch| {
            epoch.fetch_layout(0, first, (&three[..], &side_by_side), (&mut little[..], &fewer), Operation::Sum)
        });
        assert_eq!(class(unequal), "MPI_ERR_COUNT");

        let short = matrix.epoch(|epoch| epoch.put_layout(0, (0, &column), (&data[..3], &every_other)));
        assert_eq!(class(short), "MPI_ERR_BUFFER");
        let unequal = matrix.epoch(|epoch| epoch.put_layout(0, (0, &column), (&data, &fewer)));
        assert_eq!(class(unequal), "MPI_ERR_COUNT");
        let outside = matrix.epoch(|epoch| epoch.put_layout(0, (size, &column), (&data, &side_by_side)));
        assert_eq!(class(outside), "MPI_ERR_RMA_RANGE");
        let mut room = [0; 5];
        let no_rank = matrix.epoch(|epoch| epoch.get_layout(last + 1, (0, &column), (&mut room, &side_by_side)));
        assert_eq!(class(no_rank), "MPI_ERR_RANK");
        let twice = Layout::indexed(&[(0, 2), (1, 2)])?;
        let overlap = matrix.epoch(|epoch| epoch.put_layout(0, (0, &twice), (&data, &fewer)));
        assert_eq!(class(overlap), "MPI_ERR_TYPE");
        let short =
            matrix.epoch(|epoch| epoch.accumulate_layout(0, (0, &column), (&data[..3], &every_other), Operation::Sum));
        assert_eq!(class(short), "MPI_ERR_BUFFER");
        let mut little = [0; 4];
        let short = matrix.epoch(|epoch| epoch.get_layout(0, (0, &column), (&mut little, &every_other)));
        assert_eq!(class(short), "MPI_ERR_BUFFER");
        let (mut room, end) = ([0; 5], (size, &column));
        let outside = matrix.epoch(|epoch| {
            let (data, into) = ((&three[..], &side_by_side), (&mut room[..], &side_by_side));
            epoch.fetch_layout(0, end, data, into, Operation::Sum)
        });
        assert_eq!(class(outside), "MPI_ERR_RMA_RANGE");
    }
    Ok(())
}

#[mpi::test(ranks = [1, 4])]
fn elements_are_replaced_and_read_one_at_a_time(world: &World) -> mpi::Result<()> {
    let rank = world.rank();
    let mut window = world.window::<u64>(2)?;
    let (mut read, own) = ([u64::MAX; 1], [u64::from(rank) << 32 | 7]);
    window.epoch(|epoch| {
        epoch.replace(0, 0, &own)?;
        epoch.accumulate(0, 1, &[1], Operation::Sum)?;
        epoch.read(0, 1, &mut read)
    })?;
    assert!((1..=u64::from(world.size())).contains(&read[0]), "{read:?}");
    if rank == 0 {
        let mut all = [0; 2];
        window.read(0, &mut all)?;
        assert_eq!((all[0] & 0xffff_ffff, all[1]), (7, u64::from(world.size())));
    }
    assert_eq!(class(window.epoch(|epoch| epoch.replace(0, 2, &own))), "MPI_ERR_RMA_RANGE");
    assert_eq!(class(window.epoch(|epoch| epoch.read(world.size(), 0, &mut read))), "MPI_ERR_RANK");
    window.set_name("counters");
    assert_eq!(window.name(), "counters");
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn processes_read_the_parts_of_others_where_they_lie(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for hints in [Hints::new(), Hints::new().with("alloc_shared_noncontig", "true")?] {
        let mut shared = world.shared_window::<u64>(3 * rank as usize, &hints)?;
        assert_eq!(shared.lengths(), (0..size as usize).map(|rank| 3 * rank).collect::<Vec<_>>());
        for step in 0..20 {
            let own = shared.own()?;
            let before = if step == 0 { 0 } else { u64::from(rank) + step - 1 };
            assert!(own.iter().all(|it| *it == before), "zero at first");
            own.fill(u64::from(rank) + step);
            let parts = shared.read()?;
            for other in 0..size {
                let part = parts.of(other).expect("a rank");
                assert_eq!(part.len(), 3 * other as usize);
                assert!(part.iter().all(|it| *it == u64::from(other) + step), "{part:?} of {other} in step {step}");
            }
            assert!(parts.of(size).is_none());
        }
        if size > 1 {
            let mixed = if rank == 0 { shared.read().map(drop) } else { shared.own().map(drop) };
            assert_eq!(class(mixed), "MPI_ERR_RMA_SYNC");
            assert!(shared.own().is_ok(), "they agree again");
        }
    }
    Ok(())
}

#[mpi::test(ranks = [1, 2, 4])]
fn shared_atomics_are_changed_by_all_at_once(world: &World) -> mpi::Result<()> {
    let size = world.size();
    let shared = world.shared_atomics::<AtomicU64>(2, &Hints::new())?;
    for _ in 0..1000 {
        for rank in 0..size {
            shared.part(rank)?[1].fetch_add(1, Ordering::Relaxed);
        }
    }
    world.barrier()?;
    let found: Vec<u64> = (0..size)
        .map(|rank| shared.part(rank).map(|part| part[1].load(Ordering::Relaxed)))
        .collect::<mpi::Result<_>>()?;
    assert_eq!(found, vec![1000 * u64::from(size); size as usize]);
    assert_eq!(shared.part(0)?[0].load(Ordering::Relaxed), 0);
    assert_eq!(class(shared.part(size)), "MPI_ERR_RANK");
    Ok(())
}

#[mpi::test(ranks = [2, 3])]
fn shared_memory_has_elements_of_one_kind(world: &World) -> mpi::Result<()> {
    let rank = world.rank();
    let sizes = match rank {
        0 => world.shared_window::<u32>(4, &Hints::new()).map(drop),
        _ => world.shared_window::<u64>(4, &Hints::new()).map(drop),
    };
    assert_eq!(class(sizes), "MPI_ERR_NOT_SAME");
    let kinds = match rank {
        0 => world.shared_window::<u32>(4, &Hints::new()).map(drop),
        _ => world.shared_atomics::<AtomicU32>(4, &Hints::new()).map(drop),
    };
    assert_eq!(class(kinds), "MPI_ERR_NOT_SAME");
    let mut agreed = world.shared_window::<u32>(4, &Hints::new())?;
    agreed.own()?.fill(rank);
    assert_eq!(agreed.read()?.of(0), Some(&[0; 4][..]));
    assert_eq!(class(world.shared_window::<u64>(usize::MAX / 4, &Hints::new()).map(drop)), "MPI_ERR_SIZE");
    Ok(())
}

#[mpi::test(ranks = [1, 2], seconds = 60)]
fn forgotten_shared_memory_stays_mapped(world: &World<Multiple>) -> mpi::Result<()> {
    let shared = Box::leak(Box::new(world.shared_atomics::<AtomicU32>(1, &Hints::new())?));
    let part: &[AtomicU32] = shared.part(0)?;
    std::thread::scope(|scope| {
        scope.spawn(|| part[0].fetch_add(1, Ordering::Relaxed));
    });
    world.barrier()?;
    assert_eq!(part[0].load(Ordering::Relaxed), world.size());
    Ok(())
}
