//! Errors of the program and of the standard library in tests and in `run`.

use std::error::Error;
use std::process::Command;

use mpi::{ErrorClass, World};

#[mpi::test(ranks = 2)]
fn any_error_may_leave_a_test(world: &World) -> Result<(), Box<dyn Error>> {
    let sum: u32 = "1".parse::<u32>()? + world.all_reduce_one(world.rank(), mpi::Operation::Sum)?;
    assert_eq!(sum, 2);
    let fails = |what: u32| -> mpi::Result<()> {
        match what {
            0 => std::fs::read("/nowhere/at all").map(drop)?,
            1 => "x".parse::<u32>().map(drop)?,
            2 => Err(Box::<dyn Error>::from("of the program"))?,
            3 => Err(Box::<dyn Error>::from(world.process(9).send(&[0u8], 0).expect_err("there is none")))?,
            _ => return Err(mpi::Error::other(format!("number {what}"))),
        }
        Ok(())
    };
    let kinds = [ErrorClass::NoSuchFile, ErrorClass::Other, ErrorClass::Other, ErrorClass::Rank, ErrorClass::Other];
    for (what, kind) in kinds.into_iter().enumerate() {
        assert_eq!(fails(what as u32).expect_err("an error").kind(), kind, "{what}");
    }
    Ok(())
}

#[mpi::test(ranks = 2, seconds = 60)]
#[ignore = "it fails; the test below runs it"]
fn a_file_is_missing(world: &World) -> Result<(), Box<dyn Error>> {
    if world.rank() == 1 {
        std::fs::read("/nowhere/at all")?;
    }
    Ok(world.barrier()?)
}

#[mpi::test(ranks = 2, seconds = 60)]
#[ignore = "it fails; the test below runs it"]
fn a_text_is_the_error(world: &World) -> Result<(), String> {
    if world.rank() == 1 { Err("a text of its own".to_owned()) } else { Ok(()) }
}

#[test]
fn the_report_has_the_text_of_the_error() {
    let test = std::env::current_exe().expect("a test is a program");
    for (name, words) in [
        ("a_file_is_missing", "No such file or directory (os error 2) (MPI_ERR_NO_SUCH_FILE)"),
        ("a_text_is_the_error", "text of its own (MPI_ERR_OTHER)"),
    ] {
        let output = Command::new(&test).args([name, "--exact", "--ignored", "--nocapture"]).output();
        let output = output.expect("the program runs");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!output.status.success(), "{text}");
        assert!(text.contains(words), "{text}");
    }
}
