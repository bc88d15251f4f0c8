//! Rules of reading and writing: amount, place, and the state after a system error.

#![allow(unsafe_code)] // makes a pipe with a name

mod common;

use std::io::Write;
use std::os::unix::fs::FileExt;

use common::{Name, run};
use mpi_core::abi::*;
use mpi_datatype::{RecvBuf, SendBuf, predefined};
use mpi_io::{SplitKind, Whence};
use mpi_p2p::Doing;

const CREATE: i32 = MPI_MODE_CREATE | MPI_MODE_RDWR;

#[test]
fn what_one_writes_the_others_read() {
    for size in [1, 2, 5] {
        let name = Name::new("shared");
        let path = name.0.clone();
        run(size, move |rank| {
            let file = rank.open(&path, CREATE).expect("nothing is wrong");
            let own = vec![rank.rank() as u64 + 1; 10_000];
            let place = |rank: u32| i64::from(rank) * 80_000;
            let status = file.write_at(place(rank.rank()), SendBuf::from_slice(&own)).expect("room");
            assert_eq!(status.bytes(), 80_000);
            // Setting the size waits for all.
            file.set_size(place(rank.world.size())).expect("as it is");
            for other in 0..rank.world.size() {
                let mut data = vec![0u64; 10_000];
                let status = file.read_at(place(other), RecvBuf::from_slice(&mut data)).expect("it is there");
                assert_eq!((status.bytes(), data), (80_000, vec![u64::from(other) + 1; 10_000]));
            }
            assert_eq!(file.size().expect("a file"), u64::from(size) * 80_000);
            file.close().expect("all close it");
        });
    }
}

#[test]
fn the_pointer_follows_what_was_moved() {
    let name = Name::new("pointer");
    let path = name.0.clone();
    run(2, move |rank| {
        let file = rank.open(&path, CREATE).expect("nothing is wrong");
        file.set_size(100).expect("room");
        let mut data = [1u8; 30];
        for (offset, whence, at) in [(90, Whence::Start, 90), (-5, Whence::Current, 85), (-20, Whence::End, 80)] {
            file.seek(offset, whence).expect("a place");
            assert_eq!(file.position().expect("not sequential"), at);
        }
        assert_eq!(file.read(RecvBuf::from_slice(&mut data)).expect("readable").bytes(), 20);
        assert_eq!((file.position().expect("not sequential"), data[19], data[20]), (100, 0, 1));
        assert_eq!(file.read(RecvBuf::from_slice(&mut data)).expect("readable").bytes(), 0);
        for (offset, whence) in [(-1, Whence::Start), (-101, Whence::Current), (i64::MAX, Whence::End)] {
            assert_eq!(file.seek(offset, whence).expect_err("no place").class(), MPI_ERR_ARG);
            assert_eq!(file.position().expect("not sequential"), 100);
        }
        file.seek(i64::MAX, Whence::Start).expect("a place");
        assert_eq!(file.write(SendBuf::from_slice(&[1u8])).expect_err("behind the last").class(), MPI_ERR_ARG);
    });
}

#[test]
fn elements_with_gaps_are_packed_in_the_file_and_gaps_are_kept_in_memory() {
    const COUNT: usize = 30_000;
    let name = Name::new("gaps");
    let path = name.0.clone();
    run(2, move |rank| {
        let pair = predefined(MPI_LONG_INT).expect("predefined");
        assert_eq!((pair.size(), pair.extent()), (12, 16));
        let file = rank.open(&path, CREATE).expect("nothing is wrong");
        let start = i64::from(rank.rank()) * COUNT as i64 * 12;
        let memory: Vec<u8> = (0..COUNT * 16).map(|at| (at * 7 + at / 256) as u8).collect();
        let out = SendBuf::over(&memory, COUNT as u64, pair).expect("as long");
        assert_eq!(file.write_at(start, out).expect("room").bytes(), COUNT as u64 * 12);
        let packed = std::fs::File::open(&path).expect("it is there");
        let mut element = [0; 12];
        for number in [0, 5461, 5462, COUNT - 1] {
            packed.read_exact_at(&mut element, start as u64 + number as u64 * 12).expect("it is there");
            assert_eq!(element, memory[number * 16..number * 16 + 12]);
        }
        let mut back = vec![0xaa; COUNT * 16];
        let into = RecvBuf::over(&mut back, COUNT as u64, pair).expect("as long");
        assert_eq!(file.read_at(start, into).expect("it is there").bytes(), COUNT as u64 * 12);
        for (element, expected) in back.chunks(16).zip(memory.chunks(16)) {
            assert_eq!((&element[..12], &element[12..]), (&expected[..12], [0xaa; 4].as_slice()));
        }
    });
}

#[test]
fn a_file_is_for_what_it_was_opened_for() {
    let name = Name::new("one-way");
    let path = name.0.clone();
    run(2, move |rank| {
        let mut data = [0u8; 4];
        let write_only = rank.open(&path, MPI_MODE_CREATE | MPI_MODE_WRONLY).expect("nothing is wrong");
        assert_eq!(write_only.read_at(0, RecvBuf::from_slice(&mut data)).expect_err("no").class(), MPI_ERR_ACCESS);
        let read_only = rank.open(&path, MPI_MODE_RDONLY).expect("nothing is wrong");
        assert_eq!(read_only.write_at(0, SendBuf::from_slice(&data)).expect_err("no").class(), MPI_ERR_READ_ONLY);
        assert_eq!(read_only.set_size(5).expect_err("no").class(), MPI_ERR_READ_ONLY);
        assert_eq!(read_only.preallocate(5).expect_err("no").class(), MPI_ERR_READ_ONLY);
        read_only.sync().expect("others may have written");
        assert_eq!(write_only.write_at(-1, SendBuf::from_slice(&data)).expect_err("no place").class(), MPI_ERR_ARG);
        let sequential = rank.open(&path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL).expect("nothing is wrong");
        let class = MPI_ERR_UNSUPPORTED_OPERATION;
        assert_eq!(sequential.read(RecvBuf::from_slice(&mut data)).expect_err("no").class(), class);
        assert_eq!(sequential.read_at(0, RecvBuf::from_slice(&mut data)).expect_err("no").class(), class);
        assert_eq!(sequential.seek(0, Whence::Start).expect_err("no").class(), class);
        assert_eq!(sequential.position().expect_err("no").class(), class);
    });
}

#[test]
fn a_full_device_is_an_error_and_the_pointer_stays() {
    run(2, |rank| {
        let file = rank.open("/dev/full", MPI_MODE_WRONLY).expect("it is everywhere");
        let data = vec![1u8; 200_000];
        let error = file.write(SendBuf::from_slice(&data)).expect_err("nothing fits");
        assert_eq!((error.class(), file.position().expect("not sequential")), (MPI_ERR_NO_SPACE, 0));
        assert!(error.to_string().contains("\"/dev/full\""), "{error}");
        assert_eq!((file.instruments().writes.get(), file.instruments().bytes_written.get()), (1, 0));
        file.close().expect("there is nothing behind it");
    });
}

#[test]
fn instruments_count_what_was_moved() {
    let name = Name::new("counted");
    let path = name.0.clone();
    run(3, move |rank| {
        let file = rank.open(&path, CREATE).expect("nothing is wrong");
        let own = i64::from(rank.rank()) * 10;
        file.write_at(own, SendBuf::from_slice(&[rank.rank() as u8; 10])).expect("room");
        file.set_size(30).expect("as it is");
        let mut data = [0u8; 64];
        assert_eq!(file.read_at(own, RecvBuf::from_slice(&mut data)).expect("readable").bytes(), 30 - own as u64);
        let metrics = file.instruments();
        assert_eq!((metrics.reads.get(), metrics.writes.get()), (1, 1));
        assert_eq!((metrics.bytes_read.get(), metrics.bytes_written.get()), (30 - own as u64, 10));
        let before = metrics.time.get_ns();
        file.sync().expect("a file");
        assert!(metrics.time.get_ns() > before);
    });
}

#[test]
fn sizes_are_the_same_everywhere_or_nothing_happens() {
    let name = Name::new("sizes");
    let path = name.0.clone();
    run(3, move |rank| {
        let file = rank.open(&path, CREATE).expect("nothing is wrong");
        file.preallocate(5000).expect("room");
        let last = rank.rank() == 2;
        let error = file.set_size(if last { 10 } else { 20 }).expect_err("they differ");
        assert_eq!(error.class(), MPI_ERR_NOT_SAME);
        assert!(error.to_string().contains("rank 0 has 20 and rank 2 has 10"), "{error}");
        let error = file.set_size(if last { -1 } else { 20 }).expect_err("one is wrong");
        assert_eq!(error.class(), MPI_ERR_ARG);
        assert_eq!(error.to_string().contains("rank 2 was refused"), !last, "{error}");
        assert_eq!(file.size().expect("a file"), 5000);
    });
}

#[test]
fn a_process_that_waits_for_a_file_is_seen_to_do_so() {
    let name = Name::new("pipe");
    let text = std::ffi::CString::new(name.0.to_str().expect("plain")).expect("no NUL");
    // SAFETY: the call reads a C string.
    assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0);
    let path = name.0.clone();
    run(1, move |rank| {
        let state = &rank.engine.instruments().state;
        // Opened both ways, so that the open does not wait for another process.
        let other = std::fs::File::options().read(true).write(true).open(&path).expect("a pipe");
        let file = rank.open(&path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL).expect("a pipe");
        assert_eq!(state.get(), Doing::Computing as i32);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while state.get() != Doing::File as i32 {
                    std::thread::yield_now();
                }
                (&other).write_all(b"abc").expect("room");
            });
            let mut data = [0u8; 3];
            assert_eq!(file.read_shared(RecvBuf::from_slice(&mut data)).expect("they come").bytes(), 3);
            assert_eq!(&data, b"abc");
        });
        assert_eq!(state.get(), Doing::Computing as i32);
    });
}

#[test]
fn no_split_access_begins_while_another_one_begins() {
    let name = Name::new("two_begins");
    let path = name.0.clone();
    run(1, move |rank| {
        let file = rank.open(&path, CREATE).expect("nothing is wrong");
        let write = || file.write_at(0, SendBuf::from_slice(&[1u8; 3]));
        let begun = file.begin(SplitKind::WriteAtAll, None, || {
            // As another thread may do meanwhile.
            let second = file.begin(SplitKind::WriteAll, None, write);
            assert_eq!(second.expect_err("the first one has the file").class(), MPI_ERR_IO);
            assert_eq!(file.end(SplitKind::WriteAtAll, 0).expect_err("it has not begun").class(), MPI_ERR_IO);
            write()
        });
        begun.expect("writable");
        assert_eq!(file.end(SplitKind::WriteAtAll, 0).expect("it was begun").bytes(), 3);
        let refused = file.begin(SplitKind::ReadAtAll, None, || file.read_at(-1, RecvBuf::from_slice(&mut [0u8])));
        assert_eq!(refused.expect_err("no place").class(), MPI_ERR_ARG);
        file.begin(SplitKind::WriteAll, None, write).expect("a refused one is not under way");
        file.end(SplitKind::WriteAll, 0).expect("it was begun");
        file.close().expect("all close it");
    });
}
