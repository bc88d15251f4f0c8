//! Rules of opening: all processes or none, one creates the file, no file is left after an error.

mod common;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use common::{Name, run};
use mpi_core::abi::*;
use mpi_core::{Handle, Info};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Error;
use mpi_io::{AccessMode, OpenArgs};

const CREATE: i32 = MPI_MODE_CREATE | MPI_MODE_RDWR;

#[test]
fn an_exclusive_file_is_created_by_exactly_one_of_them() {
    for size in [1, 2, 3, 7] {
        let name = Name::new("exclusive");
        let path = name.0.clone();
        run(size, move |rank| {
            for _ in 0..100 {
                let file = rank
                    .open(&path, CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE)
                    .expect("no other process has it");
                assert!(path.exists());
                file.close().expect("all close it");
                assert!(!path.exists());
                // All have seen that it is deleted before it is created again: opening waits for all.
                let absent = rank.open(&path, MPI_MODE_RDONLY).err().map(|error| error.class());
                assert_eq!(absent, Some(MPI_ERR_NO_SUCH_FILE));
            }
        });
        assert!(!name.0.exists());
    }
}

#[test]
fn a_wrong_argument_of_one_is_the_error_of_all() {
    let name = Name::new("refused");
    let path = name.0.clone();
    run(3, move |rank| {
        let refuse = rank.rank() == 1;
        let good =
            || OpenArgs { name: Ok(path.clone().into()), amode: AccessMode::new(CREATE), hints: Ok(Info::new()) };
        let wrong = |class: i32, args: OpenArgs| {
            let error = rank.open_with(if refuse { args } else { good() }).err().expect("one was refused");
            assert_eq!(error.class(), class, "{error}");
            assert_eq!(error.to_string().contains("an argument of rank 1 was refused"), !refuse, "{error}");
            assert!(!path.exists());
        };
        wrong(MPI_ERR_AMODE, OpenArgs { amode: AccessMode::new(0), ..good() });
        wrong(MPI_ERR_BAD_FILE, OpenArgs { name: Ok(OsString::new()), ..good() });
        wrong(MPI_ERR_BAD_FILE, OpenArgs { name: Ok("a\0b".into()), ..good() });
        wrong(MPI_ERR_INFO, OpenArgs { hints: Err(Error::new(MPI_ERR_INFO, "no such info object")), ..good() });
        wrong(MPI_ERR_ARG, OpenArgs { name: Err(Error::new(MPI_ERR_ARG, "an address is needed")), ..good() });
        let differ = rank.open(&path, if refuse { CREATE } else { MPI_MODE_RDWR }).err().expect("modes differ");
        assert_eq!(differ.class(), MPI_ERR_NOT_SAME);
        assert!(differ.to_string().contains("rank 1 has MPI_MODE_RDWR | MPI_MODE_CREATE"), "{differ}");
    });
}

#[test]
fn a_file_that_was_created_is_deleted_when_one_cannot_open_it() {
    let (name, old) = (Name::new("created"), Name::new("old"));
    std::fs::write(&old.0, "old").expect("a folder for temporary files");
    let (path, old_path) = (name.0.clone(), old.0.clone());
    run(4, move |rank| {
        for _ in 0..20 {
            let own = if rank.rank() == 3 { path.join("below") } else { path.clone() };
            let error = rank.open(&own, CREATE).err().expect("rank 3 cannot");
            assert_eq!(error.class(), MPI_ERR_BAD_FILE);
            assert!(error.to_string().contains(if rank.rank() == 3 { "below" } else { "rank 3 could not" }), "{error}");
            assert!(!path.exists(), "rank 0 has deleted it before the others get the error");
            let own = if rank.rank() == 3 { old_path.join("below") } else { old_path.clone() };
            assert!(rank.open(&own, CREATE).is_err() && old_path.exists());
        }
    });
    assert_eq!(std::fs::read_to_string(&old.0).expect("it stays"), "old");
}

#[test]
fn files_with_the_same_name_in_different_folders_are_not_the_same() {
    let (one, two) = (Name::new("one"), Name::new("two"));
    let (first, second) = (one.0.clone(), two.0.clone());
    run(2, move |rank| {
        let own = if rank.rank() == 0 { &first } else { &second };
        std::fs::write(own, "x").expect("a folder for temporary files");
        let error = rank.open(own, MPI_MODE_RDONLY).err().expect("two files");
        assert_eq!(error.class(), MPI_ERR_NOT_SAME, "{error}");
    });
}

#[test]
fn a_link_to_a_file_that_is_to_be_is_followed() {
    let (link, target) = (Name::new("link"), Name::new("target"));
    std::os::unix::fs::symlink(&target.0, &link.0).expect("a folder for temporary files");
    let path = link.0.clone();
    run(2, move |rank| {
        let refused = rank.open(&path, CREATE | MPI_MODE_EXCL).err().map(|error| error.class());
        assert_eq!(refused, Some(MPI_ERR_FILE_EXISTS));
        rank.open(&path, CREATE).expect("the target is created").close().expect("all close it");
    });
    assert!(target.0.exists());
}

#[test]
fn names_are_bytes_and_colons_are_nothing_special() {
    let mut bytes = Name::new("ufs:").0.clone().into_os_string().into_vec();
    bytes.extend([0xff, b'\n', b' ']);
    let name = Name(OsString::from_vec(bytes).into());
    let path = name.0.clone();
    run(2, move |rank| {
        let file = rank.open(&path, CREATE).expect("any bytes but NUL");
        assert!(path.exists());
        file.close().expect("all close it");
    });
}

#[test]
fn one_file_may_be_open_many_times() {
    let name = Name::new("many");
    let path = name.0.clone();
    run(2, move |rank| {
        let files: Vec<_> = (0..100).map(|_| rank.open(&path, CREATE).expect("few")).collect();
        for (number, file) in files.iter().enumerate() {
            let data = [number as u8 + rank.rank() as u8 * 100];
            file.write_at(i64::from(rank.rank()), SendBuf::from_slice(&data)).expect("room");
            let mut back = [0u8];
            files[99 - number].read_at(i64::from(rank.rank()), RecvBuf::from_slice(&mut back)).expect("it is there");
            assert_eq!(back, data);
        }
        for file in files {
            file.close().expect("all close it");
            rank.io.leave(&mut rank.engine.lock(), file.comm());
        }
    });
}

#[test]
fn the_error_handler_is_the_one_that_was_given() {
    let name = Name::new("handler");
    let path = name.0.clone();
    run(2, move |rank| {
        let file = rank.open(&path, CREATE).expect("nothing is wrong");
        assert_eq!(file.errhandler().get(), Handle(MPI_ERRORS_RETURN));
        assert_eq!((file.group().size(), file.name()), (2, path.to_str().expect("plain")));
    });
}
