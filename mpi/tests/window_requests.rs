//! One-sided operations that are waited for by themselves, and windows to which memory is attached.

use mpi::{Address, ErrorClass, Hints, Lock, Operation, World, wait_all};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> ErrorClass {
    result.expect_err("an error").kind()
}

#[mpi::test(ranks = [1, 2, 4])]
fn operations_are_complete_before_their_epoch_ends(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for count in [3, 100_000] {
        // The memory of a vector is reached by messages, that of the window directly.
        let owning = world.window_over(vec![u64::from(rank); 2 * count], &Hints::new())?;
        let mut own = world.window::<u64>(2 * count)?;
        own.write(0, &vec![u64::from(rank); 2 * count])?;
        world.barrier()?;
        for mut window in [owning, own] {
            let next = (rank + 1) % size;
            window.lock_all(|epoch| {
                let all = (0..size).map(|target| epoch.start_get(target, 0, count)).collect::<mpi::Result<Vec<_>>>()?;
                wait_all(&all.iter().map(|access| access as &dyn mpi::Request).collect::<Vec<_>>())?;
                for (target, access) in all.into_iter().enumerate() {
                    assert!(access.is_complete()?);
                    assert_eq!(access.wait()?, vec![target as u64; count]);
                }
                world.barrier()?;
                let put = epoch.start_put(next, count, vec![u64::from(rank) + 10; count])?;
                assert_eq!(put.wait()?, vec![u64::from(rank) + 10; count], "it gives the data back");
                let before = epoch.start_fetch(next, 0, vec![100; count], Operation::Sum)?.wait()?;
                assert_eq!(before, vec![u64::from(next); count]);
                epoch.start_accumulate(next, 0, vec![1000; count], Operation::Sum)?.wait()?;
                // Dropped and forgotten ones are complete at the end of the epoch, too.
                drop(epoch.start_accumulate(next, 0, vec![10_000; count], Operation::Sum)?);
                std::mem::forget(epoch.start_accumulate(next, 0, vec![100_000; count], Operation::Sum)?);
                drop(epoch.start_get(next, 0, count)?);
                Ok(())
            })?;
            world.barrier()?;
            let mut found = vec![0; 2 * count];
            window.lock(rank, Lock::Shared, |epoch| epoch.get(rank, 0, &mut found))?;
            let previous = u64::from((rank + size - 1) % size);
            assert_eq!(found[..count], vec![u64::from(rank) + 111_100; count]);
            assert_eq!(found[count..], vec![previous + 10; count]);
        }
    }
    Ok(())
}

#[mpi::test(ranks = 2)]
fn operations_with_requests_need_locks(world: &World) -> mpi::Result<()> {
    let mut window = world.window::<i32>(2)?;
    let mut refused = None;
    window.epoch(|epoch| {
        refused = Some(class(epoch.start_put(0, 0, vec![7])));
        Ok(())
    })?;
    assert_eq!(refused, Some(ErrorClass::RmaSync), "a fence has begun the epoch");
    window.lock(0, Lock::Shared, |epoch| {
        assert_eq!(class(epoch.start_get(2, 0, 1)), ErrorClass::Rank);
        assert_eq!(class(epoch.start_get(1, 0, 1)), ErrorClass::RmaSync, "the other process is locked");
        assert_eq!(class(epoch.start_put(0, 1, vec![1, 2])), ErrorClass::RmaRange);
        assert_eq!(class(epoch.start_put(0, usize::MAX, vec![1])), ErrorClass::RmaRange);
        assert_eq!(class(epoch.start_accumulate(0, 0, vec![1], Operation::MaxLocation)), ErrorClass::Op);
        assert_eq!(epoch.start_get(0, 0, 0)?.wait()?, []);
        Ok(())
    })?;
    let mut floats = world.window::<f64>(1)?;
    floats.lock(0, Lock::Shared, |epoch| {
        assert_eq!(class(epoch.start_fetch(0, 0, vec![1.0], Operation::BitOr)), ErrorClass::Op);
        Ok(())
    })?;
    let mut value = [0];
    window.read(0, &mut value)?;
    assert_eq!(value, [0], "nothing has had an effect");
    world.barrier()
}

#[mpi::test(ranks = [1, 3])]
fn attached_vectors_are_accessed_and_given_back(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut window = world.window_without_memory::<u32>(&Hints::new())?;
    for round in 0..3 {
        let own = [window.attach(vec![rank; 10])?, window.attach(vec![round; 100_000])?];
        let all = world.all_gather(&own)?;
        let next = (rank + 1) % size;
        let [short, long] = [all[2 * next as usize], all[2 * next as usize + 1]];
        let (data, mut found) = ([rank + 100], vec![0; 100_000]);
        window.epoch(|epoch| {
            epoch.put(next, short.element(3), &data)?;
            epoch.get(next, long.element(0), &mut found)
        })?;
        assert_eq!(found, vec![round; 100_000]);
        window.lock_all(|epoch| {
            assert_eq!(epoch.start_fetch(next, short.element(9), vec![5], Operation::Sum)?.wait()?, [next]);
            epoch.accumulate(next, long.element(99_999), &data, Operation::Max)
        })?;
        world.barrier()?;
        let mut last = [0];
        window.read(own[0].element(9), &mut last)?;
        assert_eq!(last, [rank + 5]);
        window.write(own[0].element(0), &[77])?;
        let previous = (rank + size - 1) % size;
        let detached = window.detach(&[own[1], own[0]])?;
        assert_eq!(detached[0][99_999], previous + 100);
        assert_eq!(detached[1][..4], [77, rank, rank, previous + 100]);
        assert_eq!((detached[0].len(), detached[1].len(), detached[1][9]), (100_000, 10, rank + 5));
        assert_eq!(class(window.read(own[0].element(0), &mut last)), ErrorClass::RmaRange);
    }
    // What is attached still is freed with the window.
    window.attach(vec![1])?;
    assert_eq!(window.into_data()?, None);
    Ok(())
}

#[mpi::test(ranks = 2)]
fn only_attached_memory_is_accessed_and_detached(world: &World) -> mpi::Result<()> {
    let (rank, other) = (world.rank(), 1 - world.rank());
    let mut fixed = world.window::<u8>(8)?;
    assert_eq!(class(fixed.attach(vec![1])), ErrorClass::RmaFlavor);
    let mut window = world.window_without_memory::<u16>(&Hints::new())?;
    assert_eq!(class(window.attach(Vec::new())), ErrorClass::Size);
    let own = window.attach(vec![rank as u16; 4])?;
    let all = world.all_gather(&[own])?;
    window.lock(other, Lock::Shared, |epoch| {
        for place in [all[other as usize].element(4), Address::<u16>::default().element(0), usize::MAX >> 1] {
            let put = epoch.put(other, place, &[9]).and_then(|()| epoch.flush(other));
            assert_eq!(class(put), ErrorClass::RmaRange, "{place:#x}");
        }
        Ok(())
    })?;
    world.barrier()?;
    // An error of one process keeps none from the others.
    let wrong = match rank {
        0 => vec![own, Address::default()],
        _ => vec![own, own],
    };
    let error = window.detach(&wrong).expect_err("the second one is wrong");
    assert_eq!(error.kind(), ErrorClass::Base);
    assert!(error.to_string().contains("(element 1)"), "{error}");
    let detached = window.detach(if rank == 0 { std::slice::from_ref(&own) } else { &[] })?;
    assert_eq!(detached, if rank == 0 { vec![vec![0; 4]] } else { vec![] });
    assert_eq!(class(window.detach(&[all[0]])), ErrorClass::Base, "it is detached, or of the other process");
    Ok(())
}
