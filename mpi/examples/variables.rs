//! A tool in Rust: lists all variables of the library with their values, and reads some while messages are sent.
//!
//! Run it with `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 2
//! target/debug/examples/variables`.

use mpi::tool::{self, Bind, PvarClass, PvarEntry, PvarHandle, TResult, Variables};
use mpi::{Result, World};

const MESSAGES: u64 = 100;

/// Rank 0 sends to each other process, which receives only when all messages have arrived.
fn traffic(world: &World) -> Result<()> {
    for rank in 1..world.size() {
        for i in 0..MESSAGES {
            if world.rank() == 0 {
                world.process(rank).send(&[i], 1)?;
            }
        }
        if world.rank() == 0 {
            world.process(rank).send(&[MESSAGES], 2)?;
        }
    }
    if world.rank() > 0 {
        // The last message arrives last, so the others are unexpected by then.
        world.process(0).receive::<u64>(2)?;
    }
    Ok(())
}

fn main() {
    let variables = tool::open().expect("the tool interface works before MPI is initialized");
    let all: Vec<PvarEntry<'_>> = variables.pvars().collect();
    mpi::run(|world| {
        let watch = |variable: &PvarEntry<'_>| variables.watch(*variable, Some(world.handle()));
        // Variables of other kinds of objects need one: an error handler, a datatype.
        let watchable = |variable: &PvarEntry<'_>| matches!(variable.info.bind(), Bind::NoObject | Bind::Comm);
        let watches = all.iter().map(|variable| watchable(variable).then(|| watch(variable)).transpose());
        let watches: Vec<Option<PvarHandle<'_>>> = watches.collect::<TResult<_>>()?;
        let length = variables.pvar_of::<u32>("MPI_T_UMQ_LENGTH", PvarClass::Level, world.handle())?;

        traffic(world)?;
        if world.rank() == 1 {
            println!("unexpected messages before they are received: {}", length.read()?);
            assert_eq!(u64::from(length.read()?), MESSAGES);
        }
        if world.rank() > 0 {
            for i in 0..MESSAGES {
                assert_eq!(world.process(0).receive::<u64>(1)?.0, [i], "in the order in which they were sent");
            }
        }
        if world.rank() == 1 {
            println!("and after: {}", length.read()?);
            assert_eq!(length.read()?, 0);
        }
        if world.rank() == 1 || world.size() == 1 {
            list(&variables, &all, &watches)?;
        }
        world.barrier()
    });
}

/// All variables, by category, with the values that the handles have read.
fn list(variables: &Variables<'_>, all: &[PvarEntry<'_>], watches: &[Option<PvarHandle<'_>>]) -> Result<()> {
    let settings: Vec<_> = variables.cvars().collect();
    for category in variables.categories() {
        println!("\n{}: {}", category.name(), category.description());
        for index in category.cvars() {
            let setting = settings[index as usize];
            println!("  {:<28} {:<13} {setting}", setting.info.name(), "setting");
        }
        for index in category.pvars() {
            let (info, watch) = (all[index as usize].info, &watches[index as usize]);
            let value = match watch {
                Some(watch) => watch.read()?.to_string(),
                None => format!("one for each {}", info.bind().object()),
            };
            println!("  {:<28} {:<13} {value}", info.name(), format!("{:?}", info.class()));
        }
    }
    Ok(())
}
