//! A manager that spawns workers, and a client that finds a service by its name: two jobs that talk to each other.
//!
//! Run it with `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 2 target/debug/examples/workers`.

use mpi::{ErrorClass, Hints, Program, World};

const WORKERS: u32 = 3;

fn main() {
    mpi::run(|world| match world.parent()? {
        Some(manager) => work(world, &manager),
        None => manage(world),
    });
}

fn work(world: &World, manager: &mpi::Intercomm<'_>) -> mpi::Result<()> {
    let (task, _) = manager.process(0).receive::<u64>(0)?;
    manager.process(0).send(&[task[0] * task[0]], 1)?;
    // All processes of both jobs, those of the manager first.
    let all = manager.merge(true)?;
    assert_eq!(all.rank(), manager.remote_size() + world.rank());
    let mut last = [0];
    all.all_reduce(&[all.rank()], &mut last, mpi::Operation::Max)?;
    assert_eq!(last, [all.size() - 1]);
    // A service that the manager has published.
    let port = world.lookup_name(&service(manager)?)?;
    let server = world.connect_to(0, &port)?;
    server.process(0).send(&[world.rank()], 2)?;
    server.disconnect()
}

/// The name that the manager sends to all.
fn service(manager: &mpi::Intercomm<'_>) -> mpi::Result<String> {
    let (name, _) = manager.process(0).receive::<u8>(3)?;
    Ok(String::from_utf8_lossy(&name).into_owned())
}

fn manage(world: &World) -> mpi::Result<()> {
    let program = std::env::current_exe()?;
    let hints = Hints::new().with("wdir", "/")?;
    let workers = world.spawn(0, &[Program::new(program).processes(WORKERS).argument("worker").hints(&hints)])?;
    assert_eq!(workers.remote_size(), WORKERS);
    if world.rank() == 0 {
        for worker in 0..WORKERS {
            workers.process(worker).send(&[u64::from(worker) + 10], 0)?;
        }
        for worker in 0..WORKERS {
            let (square, _) = workers.process(worker).receive::<u64>(1)?;
            println!("worker {worker} answers {}", square[0]);
        }
    }
    let all = workers.merge(false)?;
    assert_eq!(all.rank(), world.rank());
    all.all_reduce(&[all.rank()], &mut [0], mpi::Operation::Max)?;

    let mut port = (world.rank() == 0).then(|| world.open_port()).transpose()?;
    if let Some(port) = &mut port {
        let name = format!("workers of {}", std::process::id());
        port.publish(&name)?;
        assert_eq!(world.lookup_name(&name)?, port.name());
        for worker in 0..WORKERS {
            workers.process(worker).send(name.as_bytes(), 3)?;
        }
    }
    let clients = world.accept(0, port.as_ref())?;
    if world.rank() == 0 {
        for client in 0..clients.remote_size() {
            assert_eq!(clients.process(client).receive::<u32>(2)?.0, [client]);
        }
    }
    clients.disconnect()?;

    // What cannot be started is an error in all processes, and the job continues.
    let missing = world.spawn(0, &[Program::new("/nonexistent/program")]);
    assert_eq!(missing.expect_err("there is no such program").kind(), ErrorClass::Spawn);
    let unknown = world.lookup_name("no such service").expect_err("nobody has published it");
    assert_eq!(unknown.kind(), ErrorClass::Name);
    world.barrier()
}
