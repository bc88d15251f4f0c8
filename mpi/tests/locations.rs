//! Reductions that find where the smallest or largest value is, in all forms, and other calls with values and places.

use mpi::{Collective, Combine, Element, InterCollective, Located, Operation, Part, Value, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> mpi::ErrorClass {
    result.expect_err("an error").kind()
}

fn all_reduce<T: Element + Default>(world: &World, data: &[T], combine: impl Into<Combine<T>>) -> mpi::Result<Vec<T>> {
    let mut all = vec![T::default(); data.len()];
    world.all_reduce(data, &mut all, combine).map(|()| all)
}

/// Two pairs of a process: the first value is largest at odd ranks, the second falls with the rank.
fn own<T: Value>(rank: u32, value: fn(i16) -> T) -> Vec<Located<T>> {
    let place = rank as i32;
    vec![Located::new(value(if rank % 2 == 1 { 900 } else { -3 }), place), Located::new(value(-(rank as i16)), place)]
}

/// What they combine to among the processes up to `last`.
fn largest<T: Value>(last: u32, value: fn(i16) -> T) -> Vec<Located<T>> {
    let first = if last == 0 { Located::new(value(-3), 0) } else { Located::new(value(900), 1) };
    vec![first, Located::new(value(0), 0)]
}

fn found<T: Value>(world: &World, value: fn(i16) -> T) -> mpi::Result<()> {
    let (rank, last) = (world.rank(), world.size() - 1);
    let data = own(rank, value);
    let all = largest(last, value);
    assert_eq!(all_reduce(world, &data, Operation::MaxLocation)?, all);
    assert_eq!(world.reduce(&data, Operation::MaxLocation, last)?, (rank == last).then(|| all.clone()));
    assert_eq!(world.scan(&data, Operation::MaxLocation)?, largest(rank, value));
    let before = world.exclusive_scan(&data, Operation::MaxLocation)?;
    assert_eq!(before, rank.checked_sub(1).map(|before| largest(before, value)));
    let mut in_place = data.clone();
    world.all_reduce_in_place(&mut in_place, Operation::MaxLocation)?;
    assert_eq!(in_place, all);
    // Many, for the algorithms of long data.
    let many = vec![data[0]; 3001 * world.size() as usize];
    assert_eq!(world.reduce_scatter(&many, Operation::MaxLocation)?, vec![all[0]; 3001]);
    assert_eq!(all_reduce(world, &many, Operation::MaxLocation)?, vec![all[0]; many.len()]);
    let counts: Vec<usize> = (0..=last as usize).collect();
    let total = counts.iter().sum::<usize>();
    let part = world.reduce_scatter_varying(&vec![data[1]; total], &counts, Operation::MinLocation)?;
    assert_eq!(part, vec![Located::new(value(-(last as i16)), last as i32); rank as usize]);
    let started = world.start(Collective::all_reduce(data.clone(), Operation::MaxLocation))?;
    let mut repeated = world.persistent(Collective::scan(data.clone(), Operation::MaxLocation))?;
    repeated.start()?;
    repeated.wait()?;
    assert_eq!(started.wait()?, all);
    assert_eq!(repeated.result().expect("inactive"), largest(rank, value));
    // Of a function, which gets whole pairs.
    let higher = Combine::by(|lower: Located<T>, higher| if lower.value == higher.value { lower } else { higher });
    assert_eq!(all_reduce(world, &data, higher)?[1], Located::new(value(-(last as i16)), last as i32));
    Ok(())
}

#[mpi::test(ranks = [1, 2, 5])]
fn the_place_of_the_largest_value_is_found(world: &World) -> mpi::Result<()> {
    found(world, f64::from)?;
    found(world, f32::from)?;
    found(world, i64::from)?;
    found(world, i32::from)?;
    found(world, i16::from)
}

#[mpi::test(ranks = 2)]
fn of_equal_values_the_lowest_place_is_taken(world: &World) -> mpi::Result<()> {
    let data = [Located::new(1.5, 7 - 3 * world.rank() as i32)];
    for operation in [Operation::MinLocation, Operation::MaxLocation] {
        assert_eq!(all_reduce(world, &data, operation)?, [Located::new(1.5, 4)]);
    }
    let mut values = [Located::new(2i64, 0), Located::new(9, 1)];
    Combine::from(Operation::MinLocation).apply(&[Located::new(3, 5), Located::new(8, 6)], &mut values)?;
    assert_eq!(values, [Located::new(2, 0), Located::new(8, 6)]);
    Ok(())
}

#[mpi::test(ranks = 2)]
fn operations_and_types_have_to_fit(world: &World) -> mpi::Result<()> {
    assert_eq!(class(all_reduce(world, &[1.5f64], Operation::MaxLocation)), mpi::ErrorClass::Op);
    assert_eq!(class(all_reduce(world, &[Located::new(1.5f64, 0)], Operation::Max)), mpi::ErrorClass::Op);
    let error = world.start(Collective::scan(vec![Located::new(1i16, 0)], Operation::Sum)).expect_err("no sum");
    assert_eq!(error.kind(), mpi::ErrorClass::Op);
    let mut two = [Located::default(); 2];
    assert_eq!(
        class(Combine::from(Operation::MinLocation).apply(&[Located::new(1i32, 0)], &mut two)),
        mpi::ErrorClass::Count
    );
    Ok(())
}

#[mpi::test(ranks = 4)]
fn the_largest_of_another_group_is_found(world: &World) -> mpi::Result<()> {
    let groups = world.two_groups(world.rank() % 2 == 1)?;
    let (mine, theirs) = (world.rank() as i32, if world.rank() % 2 == 0 { 3 } else { 2 });
    let data = [Located::new(f64::from(mine), mine)];
    let expected = [Located::new(f64::from(theirs), theirs)];
    assert_eq!(groups.all_reduce(&data, Operation::MaxLocation)?, expected);
    let started = groups.start(InterCollective::all_reduce(data.to_vec(), Operation::MaxLocation))?;
    assert_eq!(started.wait()?, expected);
    let part = match (world.rank() % 2, groups.rank()) {
        (0, _) => Part::Across(1),
        (_, 1) => Part::Root,
        _ => Part::BesideRoot,
    };
    let reduced = groups.reduce(&data, Operation::MaxLocation, part)?;
    assert_eq!(reduced, (part == Part::Root).then(|| vec![Located::new(2.0, 2)]));
    Ok(())
}

fn moved<T: Value>(world: &World, value: fn(i16) -> T) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let pair = Located::new(value(rank as i16), -(rank as i32));
    let from = |rank: u32| Located::new(value(rank as i16), -(rank as i32));
    let (next, previous) = (world.process((rank + 1) % size), world.process((rank + size - 1) % size));
    let sending = next.start_send(vec![pair; 3], 0)?;
    let (received, what) = previous.receive::<Located<T>>(0)?;
    sending.wait()?;
    let expected = from((rank + size - 1) % size);
    assert_eq!((received, what.count), (vec![expected; 3], 3));
    let mut into = [Located::default(); 4];
    assert_eq!(next.exchange(&[pair, pair], &previous, &mut into, 0)?.count, 2);
    assert_eq!(into[..3], [expected, expected, Located::default()]);
    let all: Vec<Located<T>> = (0..size).map(from).collect();
    assert_eq!(world.all_gather(&[pair])?, all);
    let counts = vec![1; size as usize];
    assert_eq!(world.all_gather_varying(&[pair], &counts)?, all);
    assert_eq!(world.all_to_all(&vec![pair; size as usize])?, all);
    assert_eq!(world.all_to_all_varying(&vec![pair; size as usize], &counts, &counts)?, all);
    // Memory of rank 0, in which each process stores its pair, and all combine theirs.
    let mut window = world.window::<Located<T>>(if rank == 0 { size as usize + 1 } else { 0 })?;
    window.epoch(|epoch| {
        epoch.put(0, rank as usize, std::slice::from_ref(&pair))?;
        epoch.accumulate(0, size as usize, std::slice::from_ref(&pair), Operation::MaxLocation)
    })?;
    let mut there = vec![Located::default(); size as usize + 1];
    window.epoch(|epoch| epoch.get(0, 0, &mut there))?;
    assert_eq!(there, [all, vec![if size == 1 { Located::default() } else { from(size - 1) }]].concat());
    Ok(())
}

#[mpi::test(ranks = [1, 3])]
fn pairs_go_through_all_kinds_of_calls(world: &World) -> mpi::Result<()> {
    moved(world, f64::from)?;
    moved(world, i16::from)?;
    moved(world, i32::from)?;
    // A file has the pairs without their gaps.
    let name = std::env::temp_dir().join(format!("pairs-{}-{}", std::process::id(), world.rank()));
    let file = world.alone().open(&name, mpi::Access::READ_WRITE.create())?;
    file.write_at(0, &[Located::new(1.5f64, 2), Located::new(2.5, 3)])?;
    assert_eq!(file.size()?, 2 * Located::<f64>::BYTES as u64);
    let mut into = [Located::default(); 3];
    assert_eq!(file.read_at(0, &mut into)?, 2);
    assert_eq!(into, [Located::new(1.5f64, 2), Located::new(2.5, 3), Located::default()]);
    file.close()?;
    std::fs::remove_file(&name).expect("it was made");
    Ok(())
}
