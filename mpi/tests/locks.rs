//! Epochs under locks and among groups.

use mpi::{Hints, Lock, Operation, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

#[mpi::test(ranks = [1, 2, 4])]
fn an_exclusive_lock_keeps_other_processes_from_the_elements(world: &World) -> mpi::Result<()> {
    let mut window = world.window::<u64>(2)?;
    for _ in 0..50 {
        let mut both = [7, 8];
        window.lock(0, Lock::Exclusive, |epoch| {
            epoch.get(0, 0, &mut both)?;
            epoch.flush(0)
        })?;
        assert_eq!(both[0], both[1]);
        let (mut before, one) = ([0; 2], [1, 1]);
        window.lock(0, Lock::Exclusive, |epoch| epoch.fetch(0, 0, &one, &mut before, Operation::Sum))?;
        assert_eq!(before[0], before[1]);
    }
    world.barrier()?;
    let mut found = [0; 2];
    window.lock(0, Lock::Shared, |epoch| epoch.get(0, 0, &mut found))?;
    assert_eq!(found, [50 * u64::from(world.size()); 2]);
    assert_eq!(class(window.lock(world.size(), Lock::Shared, |_| Ok(()))), "MPI_ERR_RANK");
    assert_eq!(class(window.lock(u32::MAX, Lock::Shared, |_| Ok(()))), "MPI_ERR_RANK");
    Ok(())
}

#[mpi::test(ranks = [1, 3])]
fn numbers_that_processes_take_from_one_are_all_different(world: &World) -> mpi::Result<()> {
    let mut counter = world.window_over(vec![0u32; usize::from(world.rank() == 0)], &Hints::new())?;
    let one = [1];
    let mut own = Vec::new();
    for _ in 0..20 {
        let mut number = [u32::MAX];
        counter.lock(0, Lock::Shared, |epoch| epoch.fetch(0, 0, &one, &mut number, Operation::Sum))?;
        own.push(number[0]);
    }
    assert!(own.is_sorted());
    let mut all = world.all_gather(&own)?;
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..20 * world.size()));
    Ok(())
}

#[mpi::test(ranks = [1, 2, 3])]
fn all_elements_are_reached_under_one_lock(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut window = world.window::<u32>(size as usize)?;
    let own = [rank + 1];
    window.lock_all(|epoch| {
        for target in 0..size {
            epoch.put(target, rank as usize, &own)?;
            epoch.flush(target)?;
        }
        world.barrier()
    })?;
    let mut found = vec![0; size as usize];
    window.read(0, &mut found)?;
    assert!(found.iter().copied().eq(1..=size));
    assert_eq!(class(window.epoch(|epoch| epoch.flush(0))), "MPI_ERR_RMA_SYNC");
    // An error of the body ends the epoch.
    let failed = window.lock_all(|epoch| epoch.put(0, size as usize, &own));
    assert_eq!(class(failed), "MPI_ERR_RMA_RANGE");
    window.lock_all(|_| Ok(()))
}

#[mpi::test(ranks = [1, 2, 4])]
fn neighbours_exchange_without_the_others(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut window = world.window::<u32>(1)?;
    for round in 0..20 {
        let data = [100 * round + rank];
        window.epoch_among((&[previous], &[next]), |epoch| epoch.put(next, 0, &data))?;
        let mut found = [0];
        window.read(0, &mut found)?;
        assert_eq!(found, [100 * round + previous]);
    }
    if rank == 0 {
        // Only this process takes part.
        window.epoch_among((&[], &[]), |_| Ok(()))?;
        assert_eq!(class(window.epoch_among((&[size], &[]), |_| Ok(()))), "MPI_ERR_RANK");
        assert_eq!(class(window.epoch_among((&[], &[size]), |_| Ok(()))), "MPI_ERR_RANK");
    }
    Ok(())
}
