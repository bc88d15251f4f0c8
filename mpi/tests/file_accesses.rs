//! Collective, split and non-blocking accesses to files, layouts in memory, data representations.

use std::path::PathBuf;

use mpi::datatype::Datatype;
use mpi::{Access, DataRepresentation, Hints, Layout, Multiple, ThreadUse, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

/// A name that all processes of a test have, and no other test.
fn name<M: ThreadUse>(world: &World<M>, test: &str) -> mpi::Result<PathBuf> {
    let mut process = [std::process::id()];
    world.broadcast(&mut process, 0)?;
    Ok(std::env::temp_dir().join(format!("ferrum-mpi-{}-{test}", process[0])))
}

const NEW: Access = Access::READ_WRITE.create_new().delete_on_close();

#[mpi::test(ranks = [1, 2, 4])]
fn all_processes_read_and_write_together(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let file = world.open(name(world, "together")?, NEW)?;
    file.write_at_all(8 * rank as u64, &[rank as u64])?;
    world.barrier()?;
    let mut all = vec![0u64; size + 1];
    assert_eq!(file.read_all(&mut all)?, size, "up to the end of the file");
    assert_eq!(all[..size], (0..size as u64).collect::<Vec<_>>());
    assert_eq!(file.position()?, 8 * size as u64);
    world.barrier()?;
    file.seek(std::io::SeekFrom::Start(8 * (size - 1 - rank) as u64))?;
    file.write_all(&[100 + rank as u64])?;
    world.barrier()?;
    assert_eq!(file.read_at_all(0, &mut all)?, size);
    assert_eq!(all[..size], (0..size as u64).rev().map(|it| 100 + it).collect::<Vec<_>>());
    assert_eq!(class(file.write_at_all(u64::MAX, &[1u8])), "MPI_ERR_ARG");
    file.close()
}

#[mpi::test(ranks = [1, 3])]
fn split_accesses_own_their_data(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let file = world.open(name(world, "split")?, NEW)?;
    let data = vec![rank as u32 + 1; rank + 1];
    let address = data.as_ptr();
    let writing = file.write_ordered_begin(data)?;
    // One at a time.
    assert_eq!(class(file.read_all_begin(vec![0u8; 1])), "MPI_ERR_IO");
    let (data, count) = writing.end()?;
    assert_eq!((data.as_ptr(), count), (address, rank + 1), "the data come back");
    world.barrier()?;
    let expected: Vec<u32> = (0..size).flat_map(|rank| vec![rank as u32 + 1; rank + 1]).collect();
    let (all, count) = file.read_all_begin(vec![0u32; expected.len() + 5])?.end()?;
    assert_eq!((&all[..count], count), (&expected[..], expected.len()));
    let (last, count) = file.read_at_all_begin(4 * (expected.len() as u64 - 1), vec![0u32; 2])?.end()?;
    assert_eq!((last[0], count), (size as u32, 1));
    world.barrier()?;
    file.seek_shared(std::io::SeekFrom::Start(0))?;
    assert_eq!(file.read_ordered_begin(data)?.end()?, (vec![rank as u32 + 1; rank + 1], rank + 1));
    world.barrier()?;
    // One that is dropped has ended.
    drop(file.write_at_all_begin(4 * rank as u64, vec![50 + rank as u32])?);
    file.seek(std::io::SeekFrom::Start(0))?;
    world.barrier()?;
    let (all, _) = file.read_all_begin(vec![0u32; size])?.end()?;
    assert_eq!(all, (0..size).map(|rank| 50 + rank as u32).collect::<Vec<_>>());
    file.seek(std::io::SeekFrom::Start(4 * rank as u64))?;
    world.barrier()?;
    assert_eq!(file.write_all_begin(vec![9u32])?.end()?, (vec![9], 1));
    assert_eq!(file.position()?, 4 * rank as u64 + 4);
    assert_eq!(class(file.read_at_all_begin(u64::MAX, vec![0u8])), "MPI_ERR_ARG");
    // A refused one does not stand in the way; a forgotten one does, and memory stays.
    std::mem::forget(file.read_at_all_begin(0, vec![0u8; 4])?);
    assert_eq!(class(file.write_all_begin(vec![0u8; 4])), "MPI_ERR_IO");
    assert_eq!(file.read_at(0, &mut [0u8; 4])?, 4, "other accesses go on");
    file.close()
}

#[mpi::test(ranks = [1, 3])]
fn accesses_are_waited_for_later(world: &World) -> mpi::Result<()> {
    let (rank, size) = (u64::from(world.rank()), u64::from(world.size()));
    let file = world.open(name(world, "started")?, NEW)?;
    let writing = file.start_write_at(8 * rank, vec![rank])?;
    let never = world.process(world.rank()).start_receive::<u8>(1, 0)?;
    assert!(writing.is_complete()? && mpi::test_all(&[&writing])?);
    assert_eq!(mpi::wait_any(&[&never, &writing])?, Some(1), "with operations of other kinds");
    assert!(never.cancel()?.is_none());
    assert_eq!(writing.wait()?, (vec![rank], 1));
    world.barrier()?;
    let (all, count) = file.start_read(vec![0u64; size as usize + 2])?.wait()?;
    assert_eq!((&all[..count], count), (&(0..size).collect::<Vec<_>>()[..], size as usize));
    assert_eq!(file.position()?, 8 * size);
    world.barrier()?;
    // Forgotten and dropped accesses are made all the same.
    std::mem::forget(file.start_write_at_all(8 * (size + rank), vec![rank + 10])?);
    drop(file.start_write_at(8 * (2 * size + rank), vec![rank + 20])?);
    world.barrier()?;
    let (all, count) = file.start_read_at_all(8 * size, vec![0u64; 2 * size as usize])?.wait()?;
    assert_eq!((count, all), (2 * size as usize, (10..10 + size).chain(20..20 + size).collect()));
    world.barrier()?;
    file.seek(std::io::SeekFrom::Start(16 * rank))?;
    file.start_write(vec![rank + 30])?.wait()?;
    file.start_write_all(vec![rank + 31])?.wait()?;
    file.seek(std::io::SeekFrom::Start(16 * rank))?;
    assert_eq!(file.start_read_all(vec![0u64])?.wait()?.0, [rank + 30]);
    file.seek_shared(std::io::SeekFrom::Start(0))?;
    file.start_write_shared(vec![rank + 40])?.wait()?;
    world.barrier()?;
    file.seek_shared(std::io::SeekFrom::Start(0))?;
    let mut shared = world.all_gather(&file.start_read_shared(vec![0u64])?.wait()?.0)?;
    shared.sort_unstable();
    assert_eq!(shared, (40..40 + size).collect::<Vec<_>>());
    assert_eq!(class(file.start_read_at(u64::MAX, vec![0u8])), "MPI_ERR_ARG");
    file.close()
}

#[mpi::test(ranks = [1, 2])]
fn data_have_gaps_in_memory(world: &World) -> mpi::Result<()> {
    let rank = u64::from(world.rank());
    let file = world.open(name(world, "gaps")?, NEW)?;
    let every_other = Layout::<u16>::vector(3, 1, 2)?;
    let data: Vec<u16> = (0..5).map(|at| 10 * rank as u16 + at).collect();
    file.write_layout_at(6 * rank, &data, &every_other)?;
    let mut back = [0u16; 3];
    assert_eq!(file.read_at(6 * rank, &mut back)?, 3);
    assert_eq!(back, [data[0], data[2], data[4]]);
    let mut apart = [7u16; 5];
    assert_eq!(file.read_layout_at(6 * rank, &mut apart, &every_other)?, 3);
    assert_eq!(apart, [data[0], 7, data[2], 7, data[4]]);
    file.seek(std::io::SeekFrom::Start(6 * rank))?;
    file.write_layout(&[1, 0, 2, 0, 3], &every_other)?;
    file.seek(std::io::SeekFrom::Start(6 * rank))?;
    assert_eq!(file.read_layout(&mut apart, &every_other)?, 3);
    assert_eq!(apart, [1, 7, 2, 7, 3]);
    assert_eq!(class(file.read_layout(&mut apart[..4], &every_other)), "MPI_ERR_BUFFER");
    assert_eq!(class(file.write_layout(&apart[..4], &every_other)), "MPI_ERR_BUFFER");
    file.close()
}

#[mpi::test(ranks = [1, 2])]
fn a_file_reports_how_it_is_open(world: &World) -> mpi::Result<()> {
    let (rank, path) = (world.rank() as usize, name(world, "state")?);
    let file = world.open(&path, NEW)?;
    assert_eq!((file.name().as_str(), file.access()), (path.to_str().expect("text"), NEW));
    assert!(!file.is_atomic());
    file.set_atomic(true)?;
    assert!(file.is_atomic());
    assert_eq!(file.view(), (0, "native".to_owned()));
    assert_eq!((file.byte_offset(5)?, file.bytes_of::<f64>()?), (5, 8));
    let hints = Hints::new().with("access_style", "random")?;
    file.set_view_as(3, &Layout::<u16>::subarray(&[2, 2], &[1, 2], &[rank % 2, 0])?, "external32", &hints)?;
    assert_eq!(file.view(), (3, "external32".to_owned()));
    assert_eq!(file.hints().get("access_style"), Some("random"));
    assert_eq!((file.byte_offset(0)?, file.byte_offset(3)?), (3 + 4 * rank as u64, 13 + 4 * rank as u64));
    assert_eq!((file.bytes_of::<usize>()?, file.bytes_of::<u64>()?), (4, 8), "usize is an unsigned long of C");
    let unknown = file.set_view_as(0, &Layout::<u8>::contiguous(1)?, "martian", &hints);
    assert_eq!(class(unknown), "MPI_ERR_UNSUPPORTED_DATAREP");
    assert_eq!(class(file.byte_offset(u64::MAX)), "MPI_ERR_ARG");
    file.close()?;
    let empty = world.open(&path, Access::WRITE.create_new())?;
    empty.set_size(10)?;
    empty.close()?;
    let file = world.open(&path, Access::WRITE.append().unique().delete_on_close())?;
    assert_eq!(file.position()?, 10);
    file.close()?;
    let file = world.open(&path, Access::WRITE.create().sequential().delete_on_close())?;
    assert_eq!(class(file.write(&[1u8])), "MPI_ERR_UNSUPPORTED_OPERATION");
    file.write_shared(&[1u8])?;
    world.barrier()?;
    assert_eq!(file.size()?, u64::from(world.size()));
    file.close()?;
    assert_eq!(class(world.open(&path, Access::READ_WRITE.create().sequential())), "MPI_ERR_AMODE");
    assert!(!path.exists());
    Ok(())
}

#[mpi::test(ranks = 2, seconds = 60)]
fn threads_begin_and_end_accesses(world: &World<Multiple>) -> mpi::Result<()> {
    let file = world.open(name(world, "threads")?, NEW)?;
    let rank = u64::from(world.rank());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let file = &file;
            scope.spawn(move || {
                let at = 8 * (4 * rank + thread);
                let writing = file.start_write_at(at, vec![4 * rank + thread]).expect("a file for writing");
                assert_eq!(writing.wait().expect("it is complete").1, 1);
            });
        }
        let split = file.read_at_all_begin(1000, vec![0u8; 1]).expect("nothing is there");
        let ended = scope.spawn(move || split.end().map(|(_, count)| count));
        assert_eq!(ended.join().expect("no panic").expect("it was begun"), 0);
    });
    world.barrier()?;
    let mut all = [0u64; 9];
    assert_eq!((file.read_at(0, &mut all)?, all), (8, [0, 1, 2, 3, 4, 5, 6, 7, 0]));
    file.close()
}

/// Numbers with the bytes in reverse order behind their length; unsigned ones only.
struct Tagged;

impl DataRepresentation for Tagged {
    fn stored_bytes(&self, datatype: &Datatype) -> usize {
        datatype.size() as usize + 1
    }

    fn load(&self, datatype: &Datatype, stored: &[u8], element: &mut [u8]) -> mpi::Result<()> {
        if u64::from(stored[0]) != datatype.size() {
            return Err(mpi::Error::new(mpi::ErrorClass::Conversion.number(), "the element has another length"));
        }
        element.copy_from_slice(&stored[1..]);
        element.reverse();
        Ok(())
    }

    fn store(&self, datatype: &Datatype, element: &[u8], stored: &mut [u8]) -> mpi::Result<()> {
        stored[0] = datatype.size() as u8;
        stored[1..].copy_from_slice(element);
        stored[1..].reverse();
        Ok(())
    }
}

#[mpi::test(ranks = [1, 2])]
fn elements_have_a_representation_of_the_program(world: &World) -> mpi::Result<()> {
    let (rank, size) = (u64::from(world.rank()), u64::from(world.size()));
    world.register_representation("tagged", Tagged)?;
    assert_eq!(class(world.register_representation("tagged", Tagged)), "MPI_ERR_DUP_DATAREP");
    assert_eq!(class(world.register_representation("native", Tagged)), "MPI_ERR_DUP_DATAREP");
    assert_eq!(class(world.register_representation("", Tagged)), "MPI_ERR_ARG");
    let file = world.open(name(world, "tagged")?, NEW)?;
    let own = Layout::<u32>::contiguous(1)?;
    file.set_view_as(0, &own, "tagged", &Hints::new())?;
    assert_eq!(file.bytes_of::<u32>()?, 5);
    let data = [0x0102_0304 + rank as u32, 7];
    file.write_at(2 * rank, &data)?;
    let mut back = [0u32; 3];
    assert_eq!(file.read_at(2 * rank, &mut back[..2])?, 2);
    assert_eq!(back[..2], data);
    world.barrier()?;
    let far = file.start_read_at(2 * size - 1, vec![0u32; 4])?.wait()?;
    assert_eq!(far, (vec![7, 0, 0, 0], 1), "up to the end of the file");
    assert_eq!(class(file.read_layout_at(0, &mut back, &Layout::vector(2, 1, 2)?)), "MPI_ERR_CONVERSION");
    assert_eq!(class(file.write_layout(&back, &own)), "MPI_ERR_CONVERSION");
    file.set_view(0, &Layout::<u8>::contiguous(1)?)?;
    let mut bytes = [0u8; 10];
    file.read_at(10 * rank, &mut bytes)?;
    assert_eq!(bytes, [4, 1, 2, 3, 4 + rank as u8, 4, 0, 0, 0, 7]);
    world.barrier()?;
    // An error of a function is the access's.
    file.write_at(10 * rank, &[9u8])?;
    file.set_view_as(0, &own, "tagged", &Hints::new())?;
    assert_eq!(class(file.read_at(2 * rank, &mut back[..1])), "MPI_ERR_CONVERSION");
    if size > 1 {
        let representation = if rank == 0 { "tagged" } else { "external32" };
        let differ = file.set_view_as(0, &own, representation, &Hints::new());
        assert_eq!(class(differ), "MPI_ERR_NOT_SAME");
    }
    // The representation of the standard: the most significant byte first.
    file.set_view_as(0, &own, "external32", &Hints::new())?;
    file.write_at(rank, &data[..1])?;
    file.read_at(rank, &mut back[..1])?;
    assert_eq!(back[0], data[0]);
    file.set_view(0, &Layout::<u8>::contiguous(1)?)?;
    file.read_at(4 * rank, &mut bytes[..4])?;
    assert_eq!(bytes[..4], [1, 2, 3, 4 + rank as u8]);
    file.close()
}

/// A representation that does not work.
struct Broken;

impl DataRepresentation for Broken {
    fn stored_bytes(&self, datatype: &Datatype) -> usize {
        datatype.size() as usize
    }

    fn load(&self, _: &Datatype, _: &[u8], _: &mut [u8]) -> mpi::Result<()> {
        panic!("this representation loads nothing")
    }

    fn store(&self, _: &Datatype, _: &[u8], _: &mut [u8]) -> mpi::Result<()> {
        Ok(())
    }
}

#[mpi::test(ranks = 2, seconds = 60)]
#[should_panic(expected = "this representation loads nothing")]
fn a_panic_of_a_representation_ends_the_job(world: &World) -> mpi::Result<()> {
    world.register_representation("broken", Broken)?;
    let file = world.open(name(world, "broken")?, NEW)?;
    // No name is left behind when the job ends.
    world.barrier()?;
    std::fs::remove_file(file.name()).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(mpi::Error::new(mpi::ErrorClass::Io.number(), "the file cannot be removed")),
    })?;
    file.set_view_as(0, &Layout::<u16>::contiguous(1)?, "broken", &Hints::new())?;
    file.write_at(0, &[1u16])?;
    if world.rank() == 1 {
        let loaded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| file.read_at(0, &mut [0u16])));
        assert!(loaded.is_err(), "the job has ended");
    }
    world.barrier()
}

/// A representation that reports another length of its elements in every call but the first one.
struct Inconsistent(std::sync::atomic::AtomicUsize);

impl DataRepresentation for &'static Inconsistent {
    fn stored_bytes(&self, _: &Datatype) -> usize {
        // Relaxed: one thread uses it.
        if self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 { 8 } else { 1 }
    }

    fn load(&self, _: &Datatype, stored: &[u8], element: &mut [u8]) -> mpi::Result<()> {
        element.copy_from_slice(stored);
        Ok(())
    }

    fn store(&self, _: &Datatype, element: &[u8], stored: &mut [u8]) -> mpi::Result<()> {
        stored.copy_from_slice(element);
        Ok(())
    }
}

#[mpi::test(ranks = 1)]
fn an_access_stores_no_more_than_its_room_whatever_a_representation_reports(world: &World) -> mpi::Result<()> {
    static INCONSISTENT: Inconsistent = Inconsistent(std::sync::atomic::AtomicUsize::new(1));
    world.register_representation("inconsistent", &INCONSISTENT)?;
    let file = world.open(name(world, "inconsistent")?, NEW)?;
    file.write_at(0, &[1u8; 64])?;
    file.set_view_as(0, &Layout::<u8>::contiguous(1)?, "inconsistent", &Hints::new())?;
    let mut memory = [7u8; 64];
    INCONSISTENT.0.store(0, std::sync::atomic::Ordering::Relaxed);
    let count = file.read_at(0, &mut memory[..4])?;
    assert!(count <= 4, "{count} elements");
    assert!(memory[..4] == [1; 4] && memory[4..] == [7; 60], "{memory:?}");
    file.close()
}

#[mpi::test(ranks = 2)]
fn errors_have_the_positions_that_were_given(world: &World) -> mpi::Result<()> {
    use std::io::SeekFrom;

    let file = world.open(name(world, "far")?, NEW)?;
    let far = 1u64 << 63;
    let text = |error: mpi::Error, start: &str| {
        assert_eq!(mpi::errors::classes::name(error.class()), Some("MPI_ERR_ARG"));
        assert_eq!(error.to_string(), format!("{start} is {far}, but a file has fewer than 2^63 bytes"));
    };
    text(file.write_at(far, &[1u8]).expect_err("far"), "File::write_at: argument offset");
    text(file.write_at_all(far, &[1u8]).expect_err("far"), "File::write_at_all: argument offset");
    text(file.start_read_at(far, vec![1u8]).expect_err("far"), "File::start_read_at: argument offset");
    text(file.set_size(far).expect_err("far"), "File::set_size: argument bytes");
    text(file.preallocate(far).expect_err("far"), "File::preallocate: argument bytes");
    text(file.byte_offset(far).expect_err("far"), "File::byte_offset: argument position");
    text(file.seek(SeekFrom::Start(far)).expect_err("far"), "File::seek: argument to");
    text(file.seek_shared(SeekFrom::Start(far)).expect_err("far"), "File::seek_shared: argument to");
    let layout = Layout::<u8>::contiguous(1)?;
    text(file.set_view(far, &layout).expect_err("far"), "File::set_view: argument displacement");
    // The other process of a collective call fails, too, and nothing has changed.
    let other = if world.rank() == 0 { far } else { 3 };
    assert!(file.set_size(other).is_err() && file.set_view(other, &layout).is_err());
    assert_eq!((file.size()?, file.position()?), (0, 0));
    file.close()
}
