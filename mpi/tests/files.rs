//! Files of the facade on several processes.

use std::io::SeekFrom;
use std::path::PathBuf;

use mpi::{Access, Layout, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

/// A name that all processes of a test have, and no other test.
fn name(world: &World, test: &str) -> mpi::Result<PathBuf> {
    let mut process = [std::process::id()];
    world.broadcast(&mut process, 0)?;
    Ok(std::env::temp_dir().join(format!("ferrum-mpi-{}-{test}", process[0])))
}

#[mpi::test(ranks = [1, 3])]
fn each_process_has_a_file_pointer_and_all_share_one(world: &World) -> mpi::Result<()> {
    let (rank, size) = (u64::from(world.rank()), u64::from(world.size()));
    let path = name(world, "pointers")?;
    let file = world.open(&path, Access::READ_WRITE.create_new().delete_on_close())?;
    assert_eq!((file.position()?, file.position_shared()?), (0, 0));
    file.seek(SeekFrom::Start(16 * rank))?;
    file.write(&[rank])?;
    file.write(&[rank + 100])?;
    assert_eq!(file.position()?, 16 * (rank + 1));
    world.barrier()?;
    file.seek(SeekFrom::Start(0))?;
    let mut all = vec![0u64; 2 * size as usize + 3];
    assert_eq!(file.read(&mut all)?, 2 * size as usize, "up to the end of the file");
    assert!(all.chunks(2).zip(0..size).all(|(pair, of)| pair == [of, of + 100]), "{all:?}");
    file.seek(SeekFrom::End(-8))?;
    let mut last = [0u64];
    assert_eq!((file.read(&mut last)?, last[0]), (1, size + 99));
    file.seek(SeekFrom::Current(-16))?;
    assert_eq!(file.position()?, 16 * size - 16);
    assert_eq!(class(file.seek(SeekFrom::Current(-16 * size as i64))), "MPI_ERR_ARG");

    // In the order of ranks, with parts of several lengths.
    file.seek_shared(SeekFrom::Start(0))?;
    file.write_ordered(&vec![rank + 1; rank as usize + 1])?;
    let length = size * (size + 1) / 2;
    world.barrier()?;
    assert_eq!(file.position_shared()?, 8 * length);
    let mut ordered = vec![0u64; length as usize];
    file.read_at(0, &mut ordered)?;
    let expected: Vec<u64> = (0..size).flat_map(|rank| vec![rank + 1; rank as usize + 1]).collect();
    assert_eq!(ordered, expected);
    file.seek_shared(SeekFrom::Start(0))?;
    let mut own = vec![0u64; rank as usize + 1];
    assert_eq!(file.read_ordered(&mut own)?, own.len());
    assert_eq!(own, vec![rank + 1; rank as usize + 1]);
    // Each gets some element, and no two get the same.
    file.seek_shared(SeekFrom::Start(0))?;
    file.write_shared(&[1000 + rank])?;
    world.barrier()?;
    let mut written = vec![0u64; size as usize];
    file.read_at(0, &mut written)?;
    written.sort_unstable();
    assert_eq!(written, (0..size).map(|rank| 1000 + rank).collect::<Vec<_>>());
    file.seek_shared(SeekFrom::Start(0))?;
    let mut one = [0u64];
    file.read_shared(&mut one)?;
    let mut read = world.all_gather(&one)?;
    read.sort_unstable();
    assert_eq!(read, written);
    if size > 1 {
        assert_eq!(class(file.seek_shared(SeekFrom::Start(rank))), "MPI_ERR_NOT_SAME");
    }
    file.close()
}

#[mpi::test(ranks = [1, 3])]
fn a_view_shows_the_elements_of_a_layout(world: &World) -> mpi::Result<()> {
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let path = name(world, "views")?;
    let file = world.open(&path, Access::READ_WRITE.create_new().delete_on_close())?;
    file.set_atomic(true)?;
    file.preallocate(100)?;
    assert!(file.size()? >= 100);
    file.set_size(0)?;
    // Two elements of each process take turns, behind a head of 4 bytes.
    file.set_view(4, &Layout::<u16>::subarray(&[size, 2], &[1, 2], &[rank, 0])?)?;
    let own: Vec<u16> = (0..6).map(|at| (100 * rank + at) as u16).collect();
    file.write(&own)?;
    assert_eq!(file.position()?, 6, "in elements");
    let mut back = [0u16; 3];
    assert_eq!(file.read_at(3, &mut back)?, 3);
    assert_eq!(back[..], own[3..]);
    world.barrier()?;
    file.set_view(4, &Layout::<u16>::vector(1, 1, 1)?)?;
    let mut all = vec![0u16; 6 * size];
    assert_eq!(file.read(&mut all)?, 6 * size);
    let expected: Vec<u16> = (0..3)
        .flat_map(|row| (0..size).flat_map(move |of| (0..2).map(move |at| (100 * of + 2 * row + at) as u16)))
        .collect();
    assert_eq!(all, expected);
    assert_eq!(file.size()?, 4 + 12 * size as u64);
    assert_eq!(class(file.set_view(u64::MAX, &Layout::<u16>::vector(1, 1, 1)?)), "MPI_ERR_ARG");
    assert_eq!(class(file.set_view(0, &Layout::<u16>::indexed(&[(3, 1), (0, 1)])?)), "MPI_ERR_TYPE");
    file.close()
}

#[mpi::test(ranks = [1, 2])]
fn a_file_is_deleted_by_one_process(world: &World) -> mpi::Result<()> {
    let path = name(world, "deleted")?;
    world.open(&path, Access::WRITE.create_new())?.close()?;
    world.barrier()?;
    if world.rank() == 0 {
        world.delete_file(&path)?;
        assert_eq!(class(world.delete_file(&path)), "MPI_ERR_NO_SUCH_FILE");
    }
    world.barrier()?;
    assert!(!path.exists());
    Ok(())
}
