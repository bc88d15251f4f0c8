//! Several threads of one process at once, with the world that can be shared.

use mpi::{Multiple, World};

#[test]
fn threads_of_one_process_send_and_receive_at_once() {
    let world: World<Multiple> = mpi::init_multiple().expect("the first time");
    std::thread::scope(|scope| {
        for thread in 0..4i32 {
            let world = &world;
            scope.spawn(move || {
                for i in 0..500u32 {
                    world.process(0).send(&[i, thread as u32], thread).expect("short");
                    let (data, received) = world.any().receive::<u32>(thread).expect("sent just before");
                    assert_eq!((data.as_slice(), received.tag), (&[i, thread as u32][..], thread));
                }
            });
        }
    });
    values_of_threads_are_waited_for(&world);
}

/// Each thread completes a request that this one waits for, or tests.
fn values_of_threads_are_waited_for(world: &World<Multiple>) {
    std::thread::scope(|scope| {
        let (waited, completer) = world.start_generalized::<String>().expect("few requests");
        scope.spawn(move || completer.complete("from another thread".to_owned()));
        assert_eq!(waited.wait().expect("completed"), "from another thread");

        let (mut tested, completer) = world.start_generalized::<u32>().expect("few requests");
        tested = tested.test().expect("no error").expect_err("not completed");
        scope.spawn(move || completer.complete(7));
        let value = loop {
            match tested.test().expect("no error") {
                Ok(value) => break value,
                Err(request) => tested = request,
            }
        };
        assert_eq!(value, 7);

        let (waited, completer) = world.start_generalized::<u32>().expect("few requests");
        scope.spawn(move || drop(completer));
        let error = waited.wait().expect_err("no value");
        assert_eq!(error.class(), mpi::core::abi::MPI_ERR_OTHER, "{error}");

        // The first one is dropped before it is completed, the second one afterwards.
        let (early, completer) = world.start_generalized::<u32>().expect("few requests");
        drop(early);
        completer.complete(1);
        let (late, completer) = world.start_generalized::<u32>().expect("few requests");
        completer.complete(2);
        drop(late);
    });
}
