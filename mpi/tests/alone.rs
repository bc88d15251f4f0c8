//! A world of one, in this process: everything that needs no launcher. One test, as MPI starts once a process.

use mpi::tool::{self, PvarClass, TError, Value};
use mpi::{ANY_TAG, Operation, errors::classes};
use mpi_core::abi;

fn class<T: std::fmt::Debug>(result: mpi::Result<T>) -> &'static str {
    classes::name(result.expect_err("an error").class()).expect("a class of the standard")
}

#[test]
fn a_process_alone_sends_to_itself_and_watches_itself() {
    let variables = tool::open().expect("before MPI is initialized");
    let missing = variables.find_pvar("p2p_message_sent", PvarClass::Counter).expect_err("a slip");
    assert!(
        missing.to_string().contains("\"p2p_message_sent\"") && missing.to_string().contains("p2p_messages_sent\"?")
    );
    let limit = variables.find_cvar("p2p_eager_limit").expect("declared");
    variables.set(limit, None, &Value::U64(1000)).expect("writable");
    assert_eq!(limit.value(), Some(Value::U64(1000)));
    assert_eq!(variables.set(limit, None, &Value::F64(1.0)), Err(TError::INVALID));

    let world = mpi::init().expect("the first time");
    assert_eq!(class(mpi::init()), "MPI_ERR_OTHER", "the second time");
    assert_eq!((world.rank(), world.size()), (0, 1));
    let of_world = variables.cvar_of::<i32>("p2p_comm_eager_limit", world.handle()).expect("declared");
    assert_eq!(of_world.get(), Ok(-1));
    of_world.set(500).expect("in range");
    assert_eq!(of_world.get(), Ok(500));
    assert_eq!(variables.cvar::<i32>("p2p_comm_eager_limit").map(drop), Err(TError::INVALID), "of no communicator");
    let watch = variables.pvar_of::<u64>("p2p_messages_sent", PvarClass::Counter, world.handle()).expect("declared");
    let me = world.process(0);

    me.send(&[1.5, 2.5], 7).expect("a short message needs no receiver yet");
    me.send(&[0u8; 0], 8).expect("nor does an empty one");
    let probed = world.any().probe::<f64>(ANY_TAG).expect("it is there");
    assert_eq!((probed.source, probed.tag, probed.count), (0, 7, 2));
    let (data, received) = me.receive::<f64>(7).expect("whole elements");
    assert_eq!((data, received.count), (vec![1.5, 2.5], 2));
    assert_eq!(me.receive::<u8>(8).expect("an empty message").0, []);
    assert_eq!(watch.read(), Ok(2));
    watch.reset().expect("a counter");
    assert_eq!(watch.read(), Ok(0));

    let mut short = [0u32; 1];
    me.send(&[1u32, 2], 0).expect("short");
    assert_eq!(class(me.receive_into(&mut short, 0)), "MPI_ERR_TRUNCATE");
    me.send(&[1u8, 2, 3], 0).expect("short");
    assert_eq!(class(me.receive::<u16>(0)), "MPI_ERR_TYPE", "one and a half elements");
    assert_eq!(class(world.process(1).send(&[0u8], 0)), "MPI_ERR_RANK");
    assert_eq!(class(world.any().send(&[0u8], 0)), "MPI_ERR_RANK");
    assert_eq!(class(me.send(&[0u8], ANY_TAG)), "MPI_ERR_TAG");
    assert_eq!(class(me.receive::<u8>(-5)), "MPI_ERR_TAG");

    let mut into = [0i64; 2];
    let exchanged = me.exchange(&[3i64, 4], &me, &mut into, 1).expect("with oneself");
    assert_eq!((into, exchanged.count), ([3, 4], 2));
    assert_eq!(world.all_reduce_one(5i32, Operation::Max).expect("defined"), 5);
    assert_eq!(class(world.all_reduce_one(5.0f64, Operation::BitAnd)), "MPI_ERR_OP");
    assert_eq!(class(world.all_reduce(&[1, 2], &mut [0], Operation::Sum)), "MPI_ERR_COUNT");
    assert_eq!(class(world.broadcast(&mut [0u8], 1)), "MPI_ERR_ROOT");
    assert_eq!(world.all_gather(&[1u16, 2]).expect("one process"), [1, 2]);
    world.barrier().expect("one process");

    let grid = world.grid(&[1, 1], &[true, false], true).expect("one process").expect("this one");
    assert_eq!((grid.rank(), grid.size(), grid.coords(0).expect("its own")), (0, 1, vec![0, 0]));
    assert_eq!(grid.shift(0, 3).expect("a dimension"), (Some(0), Some(0)));
    assert_eq!(grid.shift(1, 1).expect("a dimension"), (None, None));
    assert_eq!((class(grid.shift(2, 1)), class(grid.coords(1))), ("MPI_ERR_DIMS", "MPI_ERR_RANK"));
    assert_eq!((grid.rank_at(&[-5, 0]).expect("it wraps"), class(grid.rank_at(&[0, 1]))), (0, "MPI_ERR_ARG"));
    assert_eq!((class(grid.rank_at(&[0])), class(grid.process(1).send(&[0u8], 0))), ("MPI_ERR_DIMS", "MPI_ERR_RANK"));
    let part = grid.part(&[true, false]).expect("one process");
    assert_eq!((part.dims().len(), part.size()), (1, 1));
    assert_eq!(class(grid.part(&[true])), "MPI_ERR_DIMS");
    grid.process(0).send(&[9u8], 4).expect("short");
    assert_eq!(grid.any().receive::<u8>(4).expect("it is there").0, [9]);
    assert_eq!(class(world.grid(&[2], &[false], false)), "MPI_ERR_DIMS");
    assert_eq!(class(world.grid(&[1], &[], false)), "MPI_ERR_DIMS");
    let handle = grid.handle();
    drop(part);
    drop(grid);
    let process = mpi::env::joined().expect("made");
    assert!(process.comm(&process.engine.lock(), handle).is_none(), "freed with the grid");
    let (mut dims, mut none) = ([0, 3, 0], [0]);
    mpi::balance(24, &mut dims).expect("divisible");
    assert_eq!((dims, class(mpi::balance(0, &mut none))), ([4, 3, 2], "MPI_ERR_ARG"));

    drop(world);
    assert_eq!(watch.read(), Ok(3), "the tool interface works after MPI is finalized");
    assert_eq!(class(mpi::init()), "MPI_ERR_OTHER", "never again");
    drop((watch, of_world));
    drop(variables);
    assert_eq!(mpi::env::joined().expect("made").registry.pvar_get_num(), Err(TError::NOT_INITIALIZED));
    assert_eq!(abi::MPI_T_ERR_NOT_INITIALIZED, TError::NOT_INITIALIZED.code());
}
