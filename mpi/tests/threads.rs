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
}
