//! Structs as elements.

use mpi::{Access, Collective, Combine, Element, Located, Operation, World};

#[derive(Debug, Clone, Copy, Default, PartialEq, mpi::Element)]
#[repr(C)]
struct Particle {
    position: [[f64; 2]; 2],
    charge: f32,
    kind: u32,
}

/// Of another struct and of an element with a gap behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq, mpi::Element)]
#[repr(C)]
struct Nested(Particle, Located<f64>, u64);

#[derive(Debug, Clone, Copy, Default, PartialEq, mpi::Element)]
#[repr(C)]
struct Vector {
    x: f64,
    y: f64,
}

fn particle(rank: u32) -> Particle {
    let place = f64::from(rank);
    Particle { position: [[place, 0.5], [-place, 1.0]], charge: 1.5 - rank as f32, kind: rank }
}

#[mpi::test(ranks = [1, 3])]
fn structs_go_through_all_kinds_of_calls(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = (world.process((rank + 1) % size), world.process((rank + size - 1) % size));
    let before = particle((rank + size - 1) % size);
    let sending = next.start_send(vec![particle(rank); 3], 0)?;
    assert_eq!(previous.receive::<Particle>(0)?.0, [before; 3]);
    sending.wait()?;
    let all: Vec<Particle> = (0..size).map(particle).collect();
    assert_eq!(world.all_gather(&[particle(rank)])?, all);
    assert_eq!(
        world.start(Collective::gather(vec![particle(rank)], 0))?.wait()?,
        if rank == 0 { &all[..] } else { &[] }
    );
    let heavier = Combine::by(|lower: Particle, higher| if lower.charge < higher.charge { higher } else { lower });
    let mut heaviest = [Particle::default()];
    world.all_reduce(&[particle(rank)], &mut heaviest, heavier)?;
    assert_eq!(heaviest, [particle(0)]);
    let error = world.scan(&[particle(rank)], Operation::Sum).expect_err("a sum of particles is not defined");
    assert_eq!(error.kind(), mpi::ErrorClass::Op);
    let nested = |rank: u32| Nested(particle(rank), Located::new(-1.5, rank as i32), 7 << 40);
    let mut into = [Nested::default(); 2];
    assert_eq!(next.exchange(&[nested(rank)], &previous, &mut into, 0)?.count, 1);
    assert_eq!(into, [nested((rank + size - 1) % size), Nested::default()]);
    let mut window = world.window::<Particle>(size as usize)?;
    window.epoch(|epoch| epoch.put((rank + 1) % size, rank as usize, std::slice::from_ref(&heaviest[0])))?;
    let mut found = [Particle::default(); 1];
    window.read(previous_of(rank, size), &mut found)?;
    assert_eq!(found, heaviest);
    Ok(())
}

fn previous_of(rank: u32, size: u32) -> usize {
    ((rank + size - 1) % size) as usize
}

#[mpi::test(ranks = 2)]
fn structs_of_one_type_are_accumulated(world: &World) -> mpi::Result<()> {
    let mut sums = world.window::<Vector>(1)?;
    let own = [Vector { x: 1.0, y: f64::from(world.rank()) }];
    sums.epoch(|epoch| epoch.accumulate(0, 0, &own, Operation::Sum))?;
    let mut sum = [Vector::default()];
    sums.read(0, &mut sum)?;
    assert_eq!(sum, [if world.rank() == 0 { Vector { x: 2.0, y: 1.0 } } else { Vector::default() }]);
    let mut particles = world.window::<Particle>(1)?;
    let (own, mut refused) = ([Particle::default()], None);
    particles.epoch(|epoch| {
        refused = epoch.accumulate(0, 0, &own, Operation::Sum).err().map(|error| error.kind());
        Ok(())
    })?;
    assert_eq!(refused, Some(mpi::ErrorClass::Type), "it has elements of several types");
    Ok(())
}

#[mpi::test(ranks = 1)]
fn a_file_has_structs_in_any_representation(world: &World) -> mpi::Result<()> {
    let path = std::env::temp_dir().join(format!("ferrum-mpi-{}-structs", std::process::id()));
    let file = world.open(&path, Access::READ_WRITE.create_new().delete_on_close())?;
    file.set_view_as(0, &mpi::Layout::<Particle>::contiguous(1)?, "external32", &mpi::Hints::new())?;
    file.write_at(1, &[particle(7)])?;
    let mut read = [Particle::default(); 2];
    assert_eq!(file.read_at(0, &mut read)?, 2);
    assert_eq!(read[1], particle(7));
    let bytes = std::fs::read(&path).expect("it exists");
    assert_eq!(bytes.len(), 2 * Particle::BYTES);
    assert_eq!(bytes[40..48], 7f64.to_be_bytes());
    file.close()
}

#[test]
fn a_datatype_has_the_fields_at_their_places() {
    let datatype = Particle::datatype();
    assert_eq!((datatype.size(), datatype.extent(), datatype.basic_elements()), (40, 40, 6));
    assert_eq!((Nested::BYTES, size_of::<Nested>()), (60, 64));
    assert_eq!((Nested::datatype().size(), Nested::datatype().extent()), (60, 64));
}
