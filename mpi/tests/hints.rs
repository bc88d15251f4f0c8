//! Hints of communicators, sessions, windows and files, and inquiries about the environment.

use mpi::{Access, Hints, Session, World};

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    mpi::errors::classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

#[mpi::test(ranks = [1, 3])]
fn communicators_keep_the_hints_that_they_support(world: &World) -> mpi::Result<()> {
    let hints = Hints::new().with("mpi_assert_no_any_tag", "true")?.with("color", "red")?;
    let twin = world.duplicate_with_hints(&hints)?;
    assert_eq!((twin.rank(), twin.size()), (world.rank(), world.size()));
    assert_eq!(twin.hints().get("mpi_assert_no_any_tag"), Some("true"));
    assert_eq!((twin.hints().get("color"), twin.hints().len()), (None, 4), "others are ignored");
    assert_eq!(world.hints().get("mpi_assert_no_any_tag"), Some("false"), "the parent has its own");
    assert_eq!(twin.duplicate()?.hints().get("mpi_assert_no_any_tag"), Some("false"), "a duplicate has none");
    twin.set_hints(&Hints::new().with("mpi_assert_no_any_tag", "false")?.with("mpi_assert_exact_length", "perhaps")?);
    assert_eq!(twin.hints().get("mpi_assert_no_any_tag"), Some("false"));
    assert_eq!(twin.hints().get("mpi_assert_exact_length"), Some("false"), "a bad value changes nothing");
    assert_eq!(twin.all_reduce_one(1u32, mpi::Operation::Sum)?, world.size());
    assert_eq!(class(Hints::new().with("", "value")), "MPI_ERR_INFO_KEY");
    let long = Hints::new().with(&"\u{e4}".repeat(200), "value").expect_err("400 bytes").to_string();
    assert!(long.contains("\u{e4}\"... (400 bytes), but a key has 1 to 255 bytes"), "{long}");
    assert_eq!(class(Hints::new().with("key", &"v".repeat(10_000))), "MPI_ERR_INFO_VALUE");
    Ok(())
}

#[mpi::test(ranks = [1, 3])]
fn a_duplicate_that_is_started_has_its_hints(world: &World) -> mpi::Result<()> {
    let hints = Hints::new().with("mpi_assert_allow_overtaking", "true")?;
    let started = match world.rank() {
        0 => world.start_duplicate()?,
        _ => world.start_duplicate_with_hints(&hints)?,
    };
    let twin = started.wait()?;
    let expected = if world.rank() == 0 { "false" } else { "true" };
    assert_eq!(twin.hints().get("mpi_assert_allow_overtaking"), Some(expected), "each process has its own");
    assert_eq!(world.hints().get("mpi_assert_allow_overtaking"), Some("false"));
    assert_eq!(twin.all_reduce_one(1u32, mpi::Operation::Sum)?, world.size());
    Ok(())
}

#[mpi::test(ranks = 2)]
fn sessions_have_the_hints_that_they_support(_: &World) -> mpi::Result<()> {
    let level = |level: &str| Hints::new().with("color", "red")?.with("thread_level", level);
    let session = Session::new()?;
    let hints = session.hints();
    assert_eq!((hints.get("thread_level"), hints.len()), (Some("MPI_THREAD_FUNNELED"), 2));
    assert_eq!(hints.get("mpi_memory_alloc_kinds"), Some("mpi,system"));
    assert_eq!(Session::new_with_hints(&Hints::new())?.hints(), hints);
    let serialized = Session::new_with_hints(&level("MPI_THREAD_SERIALIZED")?)?;
    let given = serialized.hints();
    assert_eq!((given.get("thread_level"), given.get("color")), (Some("MPI_THREAD_SERIALIZED"), None));
    assert_eq!(serialized.communicator("mpi://WORLD", "hints")?.size(), 2);
    let multiple = Session::new_multiple_with_hints(&level("MPI_THREAD_MULTIPLE")?)?;
    assert_eq!(multiple.hints().get("thread_level"), Some("MPI_THREAD_MULTIPLE"));
    for refused in ["MPI_THREAD_SINGLE", "funneled", ""] {
        assert_eq!(class(Session::new_with_hints(&level(refused)?)), "MPI_ERR_ARG", "{refused}");
    }
    let error = Session::new_multiple_with_hints(&level("MPI_THREAD_SERIALIZED")?).expect_err("too low");
    let text = "Session::new_multiple_with_hints: argument thread_level is MPI_THREAD_SERIALIZED, but ";
    assert!(error.to_string().starts_with(text), "{error}");
    Ok(())
}

#[mpi::test(ranks = [1, 2])]
fn windows_keep_the_hints_that_they_support(world: &World) -> mpi::Result<()> {
    let hints = Hints::new().with("no_locks", "true")?.with("color", "red")?;
    let window = world.window_with_hints::<u8>(3, &hints)?;
    assert_eq!((window.hints().get("no_locks"), window.hints().get("color")), (Some("true"), None));
    assert_eq!(window.hints().get("same_size"), Some("false"));
    window.set_hints(&Hints::new().with("same_size", "true")?);
    assert_eq!((window.hints().get("no_locks"), window.hints().get("same_size")), (Some("true"), Some("true")));
    assert_eq!(class(world.window_with_hints::<u64>(usize::MAX, &hints)), "MPI_ERR_SIZE");
    Ok(())
}

#[mpi::test(ranks = [1, 2])]
fn a_file_is_created_with_the_permissions_of_a_hint(world: &World) -> mpi::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let mut process = [std::process::id()];
    world.broadcast(&mut process, 0)?;
    let path = std::env::temp_dir().join(format!("ferrum-mpi-{}-hints", process[0]));
    let hints = Hints::new().with("file_perm", "400")?.with("access_style", "sequential")?;
    let file = world.open_with_hints(&path, Access::READ_WRITE.create_new().delete_on_close(), &hints)?;
    let permissions = std::fs::metadata(&path).expect("it was created").permissions().mode();
    assert_eq!(permissions & 0o777, 0o400);
    assert_eq!((file.hints().get("file_perm"), file.hints().get("access_style")), (Some("400"), Some("sequential")));
    assert_eq!(file.hints().get("filename"), path.to_str());
    file.set_hints(&Hints::new().with("access_style", "random")?.with("color", "red")?)?;
    assert_eq!((file.hints().get("access_style"), file.hints().get("color")), (Some("random"), None));
    assert_eq!(class(world.open_with_hints("/nowhere/at all", Access::READ, &hints)), "MPI_ERR_NO_SUCH_FILE");
    file.close()
}

#[mpi::test(ranks = [1, 2])]
fn the_environment_is_described(world: &World) -> mpi::Result<()> {
    assert!(mpi::is_initialized() && !mpi::is_finalized());
    let (version, subversion) = mpi::version();
    assert!(mpi::library_version().contains(&format!("(MPI {version}.{subversion}, ")), "{}", mpi::library_version());
    assert!(mpi::library_version().starts_with("Ferrum MPI ") && !mpi::library_version().contains('\n'));
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("the kernel has it");
    assert_eq!(mpi::processor_name(), host.trim());
    let before = mpi::wtime();
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert!((0.005..60.0).contains(&(mpi::wtime() - before)));
    assert!(mpi::wtick() > 0.0 && mpi::wtick() < 0.01);
    let started = mpi::started_with();
    assert_eq!(started.get("maxprocs"), Some(world.size().to_string().as_str()));
    assert_eq!(started.get("arch"), Some(std::env::consts::ARCH));
    let command = std::env::args().next().expect("a command");
    assert_eq!(started.get("command"), Some(command.as_str()));
    let hardware = mpi::hardware();
    assert_eq!(hardware.get("mpi_shared_memory"), Some("true"), "all processes are on one host");
    assert!(hardware.iter().all(|(_, value)| ["true", "false"].contains(&value)), "{hardware:?}");
    Ok(())
}
