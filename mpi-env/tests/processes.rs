//! Rules of the process record, with processes as threads: initialisation, communicators, objects, variables.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use mpi_coll::Op;
use mpi_comm::Comparison;
use mpi_core::Handle;
use mpi_core::abi::*;
use mpi_datatype::{RecvBuf, SendBuf, predefined};
use mpi_env::{Life, Process};
use mpi_errors::{Errhandler, HandlerKind};
use mpi_fabric::Endpoint;
use mpi_p2p::Mode;

/// A limit far above the time of any test, also on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(240);

/// Runs `body` in `size` processes; fails if they take longer than [`TIME_LIMIT`].
fn run(size: u32, body: impl Fn(&Arc<Process>) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let (report, reports) = channel();
    for endpoint in Endpoint::threads(size).expect("memory for a few ranks") {
        let (body, report) = (body.clone(), report.clone());
        std::thread::spawn(move || {
            let process: Arc<Process> = Process::new(endpoint).expect("variables have different names").into();
            body(&process);
            report.send(process).expect("the test waits");
        });
    }
    drop(report);
    for _ in 0..size {
        // No rank is dropped until all have finished: a peer may still copy from its memory.
        std::mem::forget(reports.recv_timeout(TIME_LIMIT).expect("a rank panicked, or hangs"));
    }
}

fn running(size: u32, level: i32, body: impl Fn(&Arc<Process>) + Send + Sync + 'static) {
    run(size, move |process| {
        process.init(level).expect("first");
        body(process);
        process.finalize().expect("once");
    });
}

#[test]
fn a_life_goes_forward_only_and_once() {
    run(3, |process| {
        assert_eq!(process.life(), Life::New);
        assert_eq!(process.finalize().expect_err("not yet").class(), MPI_ERR_OTHER);
        assert_eq!(process.init(17).expect_err("no level").class(), MPI_ERR_ARG);
        assert_eq!(process.init(MPI_THREAD_SERIALIZED).expect("first"), MPI_THREAD_SERIALIZED);
        assert_eq!((process.life(), process.thread_level()), (Life::Initialised, MPI_THREAD_SERIALIZED));
        assert!(process.is_main_thread());
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(!process.is_main_thread()));
        });
        assert_eq!(process.init(MPI_THREAD_SINGLE).expect_err("once").class(), MPI_ERR_OTHER);
        process.finalize().expect("once");
        assert_eq!(process.finalize().expect_err("once").class(), MPI_ERR_OTHER);
        assert_eq!(process.life(), Life::Finalised);
    });
}

#[test]
fn predefined_communicators_have_their_names_and_ranks() {
    running(3, MPI_THREAD_SINGLE, |process| {
        let guard = process.engine.lock();
        let world = process.comm(&guard, Handle(MPI_COMM_WORLD)).expect("predefined");
        let own = process.comm(&guard, Handle(MPI_COMM_SELF)).expect("predefined");
        assert_eq!((world.size(), world.rank(), world.name().as_str()), (3, process.rank(), "MPI_COMM_WORLD"));
        assert_eq!((own.size(), own.rank(), own.name().as_str()), (1, 0, "MPI_COMM_SELF"));
        assert_eq!(world.errhandler().get(), Handle(MPI_ERRORS_ARE_FATAL));
        assert_eq!(world.compare(own), Comparison::Unequal);
        for word in [0, MPI_COMM_NULL, MPI_GROUP_EMPTY, 4096, usize::MAX] {
            assert!(process.comm(&guard, Handle(word)).is_none(), "{word:#x}");
        }
    });
}

#[test]
fn a_duplicate_is_congruent_and_keeps_messages_apart() {
    running(4, MPI_THREAD_SINGLE, |process| {
        let copy = process.comm_dup(Handle(MPI_COMM_WORLD)).expect("collective");
        let comm = process.comm(&process.engine.lock(), copy).expect("alive").clone();
        assert_eq!(comm.compare(process.world()), Comparison::Congruent);
        assert_eq!((comm.handle(), comm.name().as_str()), (copy, ""));
        let guard = process.engine.lock();
        assert_eq!(process.handle_of_context(&guard, comm.context()), Some(copy));
        assert_eq!(process.handle_of_context(&guard, comm.collective_context()), Some(copy));
        drop(guard);

        // Both messages have the same tag: each receive gets the message of its own communicator, in any order of
        // arrival.
        let engine = &process.engine;
        let (next, before) = ((process.rank() as i32 + 1) % 4, (process.rank() as i32 + 3) % 4);
        for (context, value) in [(process.world().context(), [1u8]), (comm.context(), [2u8])] {
            engine.send(engine.lock(), context, next, 9, SendBuf::from_slice(&value), Mode::Standard).expect("sent");
        }
        for (context, expected) in [(comm.context(), 2u8), (process.world().context(), 1)] {
            let mut got = [0u8];
            engine.recv(engine.lock(), context, before, 9, RecvBuf::from_slice(&mut got)).expect("received");
            assert_eq!(got[0], expected);
        }
        process.comm_free(copy).expect("alive");
        assert!(process.comm(&process.engine.lock(), copy).is_none());
        assert_eq!(process.comm_free(copy).expect_err("freed").class(), MPI_ERR_COMM);
        assert_eq!(process.comm_free(Handle(MPI_COMM_WORLD)).expect_err("predefined").class(), MPI_ERR_COMM);
        assert_eq!(process.comm_dup(copy).expect_err("freed").class(), MPI_ERR_COMM);
    });
}

#[test]
fn duplicates_of_duplicates_and_of_self_never_share_a_context() {
    running(3, MPI_THREAD_SINGLE, |process| {
        let mut handles = vec![Handle(MPI_COMM_WORLD), Handle(MPI_COMM_SELF)];
        let mut contexts = vec![process.world().context(), process.comm_self().context()];
        for round in 0..20 {
            let copy = process.comm_dup(handles[round]).expect("collective");
            let context = process.comm(&process.engine.lock(), copy).expect("alive").context();
            assert!(!contexts.contains(&context) && context % 2 == 0);
            contexts.push(context);
            handles.push(copy);
        }
        handles[2..].iter().for_each(|handle| process.comm_free(*handle).expect("alive"));
        let reused = process.comm_dup(Handle(MPI_COMM_WORLD)).expect("collective");
        let context = process.comm(&process.engine.lock(), reused).expect("alive").context();
        assert!(!contexts.contains(&context), "a freed communicator's late messages must not reach a new one");
    });
}

#[test]
fn threads_duplicate_different_communicators_at_once() {
    running(3, MPI_THREAD_MULTIPLE, |process| {
        let parents: Vec<_> = (0..4).map(|_| process.comm_dup(Handle(MPI_COMM_WORLD)).expect("collective")).collect();
        let threads: Vec<_> = parents
            .into_iter()
            .enumerate()
            .map(|(thread, parent)| {
                let process = process.clone();
                std::thread::spawn(move || {
                    // Each process starts its threads in a different order, so that the calls interleave differently.
                    std::thread::sleep(Duration::from_millis((thread as u64 * 7 + process.rank() as u64 * 3) % 11));
                    let copies: Vec<_> = (0..5).map(|_| process.comm_dup(parent).expect("collective")).collect();
                    for copy in &copies {
                        let comm = process.comm(&process.engine.lock(), *copy).expect("alive").clone();
                        process.coll.barrier(&comm).expect("barrier");
                    }
                    let guard = process.engine.lock();
                    copies.iter().map(|copy| process.comm(&guard, *copy).expect("alive").context()).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut contexts: Vec<u32> = threads.into_iter().flat_map(|it| it.join().expect("no panic")).collect();
        contexts.sort_unstable();
        contexts.dedup();
        assert_eq!(contexts.len(), 20);
    });
}

#[test]
fn a_duplicate_inherits_the_error_handler_and_keeps_it_alive() {
    running(2, MPI_THREAD_SINGLE, |process| {
        let guard = &mut process.engine.lock();
        let handlers = process.errhandlers.get_mut(guard);
        let handler = handlers.create(HandlerKind::Comm, 0x1234).expect("room");
        handlers.attach(handler, HandlerKind::Comm).expect("fits");
        let old = process.world().errhandler().swap(handler);
        assert_eq!(old, Handle(MPI_ERRORS_ARE_FATAL));
        handlers.free(handler).expect("held");
        let _ = guard;
    });
    running(2, MPI_THREAD_SINGLE, |process| {
        let user = Errhandler::User { kind: HandlerKind::Comm, function: 0x1234 };
        let handler = {
            let guard = &mut process.engine.lock();
            let handlers = process.errhandlers.get_mut(guard);
            let handler = handlers.create(HandlerKind::Comm, 0x1234).expect("room");
            handlers.attach(handler, HandlerKind::Comm).expect("fits");
            process.world().errhandler().swap(handler);
            handlers.free(handler).expect("held");
            handler
        };
        let copy = process.comm_dup(Handle(MPI_COMM_WORLD)).expect("collective");
        let guard = &mut process.engine.lock();
        assert_eq!(process.comm(guard, copy).expect("alive").errhandler().get(), handler);
        // After the parent has another handler, the duplicate still has this one.
        process.world().errhandler().swap(Handle(MPI_ERRORS_RETURN));
        let handlers = process.errhandlers.get_mut(guard);
        handlers.detach(handler);
        assert_eq!((handlers.attached(handler), handlers.len()), (user, 1));
        let _ = guard;
    });
}

#[test]
fn freeing_the_last_communicator_ends_its_error_handler() {
    running(1, MPI_THREAD_SINGLE, |process| {
        let copy = process.comm_dup(Handle(MPI_COMM_SELF)).expect("alone");
        {
            let guard = &mut process.engine.lock();
            let comm = process.comm(guard, copy).expect("alive").clone();
            let handlers = process.errhandlers.get_mut(guard);
            let handler = handlers.create(HandlerKind::Comm, 1).expect("room");
            handlers.attach(handler, HandlerKind::Comm).expect("fits");
            comm.errhandler().swap(handler);
            handlers.free(handler).expect("held");
            assert_eq!(handlers.len(), 1);
        }
        process.comm_free(copy).expect("alive");
        assert!(process.errhandlers.get(&process.engine.lock()).is_empty());
    });
}

#[test]
fn datatypes_and_operations_exist_until_they_are_freed() {
    running(1, MPI_THREAD_SINGLE, |process| {
        let guard = &mut process.engine.lock();
        let datatype = process.type_create(guard, predefined(MPI_DOUBLE_INT).expect("predefined").dup()).expect("room");
        assert_eq!(process.datatypes.get(guard).get(datatype).map(|it| (it.size(), it.extent())), Some((12, 16)));
        process.type_free(guard, datatype).expect("alive");
        assert_eq!(process.type_free(guard, datatype).expect_err("freed").class(), MPI_ERR_TYPE);
        let op = process.op_create(guard, Op::user(Arc::new(|_, _, _| {}), true)).expect("room");
        assert!(process.ops.get(guard).get(op).is_some());
        assert_eq!(process.op_free(guard, datatype).expect_err("wrong kind").class(), MPI_ERR_OP);
        process.op_free(guard, op).expect("alive");
        let text = process.op_free(guard, op).expect_err("freed").to_string();
        assert!(text.contains("was freed"), "{text}");
    });
}

#[test]
fn variables_are_there_before_initialisation_and_after_finalisation() {
    run(2, |process| {
        let registry = &process.registry;
        registry.init_thread().expect("at any time");
        let session = registry.pvar_session_create().expect("initialised");
        let of = |name, class| registry.pvar_get_index(name, class).expect("registered");
        let sent = of("p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
        let world = Some(MPI_COMM_WORLD);
        let handle = registry.pvar_handle_alloc(session, sent, world).expect("bound").0;
        registry.pvar_start(session, handle).expect("startable");
        let barriers = of("coll_barrier_calls", MPI_T_PVAR_CLASS_COUNTER);
        let barrier_handle = registry.pvar_handle_alloc(session, barriers, None).expect("global").0;
        registry.pvar_start(session, barrier_handle).expect("startable");

        process.init(MPI_THREAD_SINGLE).expect("first");
        let engine = &process.engine;
        let other = 1 - process.rank() as i32;
        for _ in 0..3 {
            engine.send(engine.lock(), 0, other, 0, SendBuf::empty(), Mode::Standard).expect("sent");
            engine.recv(engine.lock(), 0, other, 0, RecvBuf::empty()).expect("received");
        }
        process.coll.barrier(process.world()).expect("barrier");

        let copy = process.comm_dup(Handle(MPI_COMM_WORLD)).expect("collective");
        let copy_handle = registry.pvar_handle_alloc(session, sent, Some(copy.0)).expect("bound").0;
        registry.pvar_start(session, copy_handle).expect("startable");
        let context = process.comm(&engine.lock(), copy).expect("alive").context();
        engine.send(engine.lock(), context, other, 0, SendBuf::empty(), Mode::Standard).expect("sent");
        engine.recv(engine.lock(), context, other, 0, RecvBuf::empty()).expect("received");
        assert_eq!(registry.pvar_read(session, copy_handle).expect("alive"), mpi_t::Value::U64(1));
        process.comm_free(copy).expect("alive");
        assert!(registry.pvar_handle_alloc(session, sent, Some(copy.0)).is_err(), "freed");

        process.finalize().expect("once");
        assert_eq!(registry.pvar_read(session, handle).expect("for ever"), mpi_t::Value::U64(3));
        assert_eq!(registry.pvar_read(session, barrier_handle).expect("for ever"), mpi_t::Value::U64(1));
        registry.finalize().expect("balanced");
    });
}

#[test]
fn finalize_waits_for_everybody_and_for_buffered_messages() {
    run(2, |process| {
        process.init(MPI_THREAD_SINGLE).expect("first");
        let engine = &process.engine;
        if process.rank() == 0 {
            let room = mpi_p2p::Attached { address: 0, bytes: None };
            engine.buffer_attach(&mut engine.lock(), mpi_p2p::BufferOwner::Process, room).expect("none is attached");
            let data = vec![7u8; 3 << 20];
            engine.send(engine.lock(), 0, 1, 5, SendBuf::from_slice(&data), Mode::Buffered).expect("buffered");
        } else {
            std::thread::sleep(Duration::from_millis(20));
            let mut data = vec![0u8; 3 << 20];
            engine.recv(engine.lock(), 0, 0, 5, RecvBuf::from_slice(&mut data)).expect("received");
            assert!(data.iter().all(|byte| *byte == 7));
        }
        process.finalize().expect("once");
    });
}

#[test]
fn a_duplicate_is_usable_when_its_request_completes_and_one_freed_before_leaves_nothing() {
    running(3, MPI_THREAD_SINGLE, |process| {
        let live = || process.comms.get(&process.engine.lock()).len();
        for round in 0..50 {
            let (copy, request) = process.comm_idup(Handle(MPI_COMM_WORLD)).expect("collective");
            if round % 2 == process.rank() % 2 {
                process.comm_free(copy).expect("live");
                process.engine.request_free(&mut process.engine.lock(), request).expect("under way or over");
                continue;
            }
            process.engine.wait(process.engine.lock(), request).expect("completed");
            let context = process.comm(&process.engine.lock(), copy).expect("live").context();
            process.engine.check_context(&process.engine.lock(), context).expect("known to the engine");
            process.comm_free(copy).expect("live");
        }
        // The context ids of the freed duplicates arrive as well, and complete them.
        while live() > 0 {
            process.engine.progress(&mut process.engine.lock()).expect("no fault");
        }
    });
}

#[test]
fn the_library_runs_while_a_session_or_the_world_model_uses_it() {
    run(2, |process| {
        let (all, ret) = (process.pset("mpi://WORLD").expect("predefined"), Handle(MPI_ERRORS_RETURN));
        let barrier = |comm: Handle| {
            let comm = process.comm(&process.engine.lock(), comm).expect("live").clone();
            process.coll.barrier(&comm).expect("all come");
        };
        assert!(process.comm(&process.engine.lock(), Handle(MPI_COMM_WORLD)).is_none());
        assert_eq!(process.session_init(Some("MPI_THREAD_MANY"), ret).expect_err("no level").class(), MPI_ERR_ARG);
        let first = process.session_init(None, ret).expect("room");
        let over = process.comm_create_from_group(&all, b"over", ret).expect("collective");
        assert!(process.engine.process_lock().is_multiple(), "the default level");
        process.init(MPI_THREAD_SINGLE).expect("first");
        assert!(process.engine.process_lock().is_multiple(), "the session's threads are still there");
        barrier(over);
        process.finalize().expect("once");
        assert!(process.comm(&process.engine.lock(), Handle(MPI_COMM_WORLD)).is_none());
        barrier(over);
        let second = process.session_init(Some("MPI_THREAD_SINGLE"), ret).expect("room");
        process.session_finalize(first).expect("live");
        assert_eq!(process.session_finalize(first).expect_err("over").class(), MPI_ERR_SESSION);
        // Objects of a finalised session remain while the library is running.
        barrier(over);
        process.comm_free(over).expect("live");
        process.session_finalize(second).expect("live");
        let third = process.session_init(Some("MPI_THREAD_SINGLE"), ret).expect("room");
        assert!(!process.engine.process_lock().is_multiple(), "one thread needs no real lock");
        process.session_finalize(third).expect("live");
    });
}
