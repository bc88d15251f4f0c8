//! All processes take pieces of work from a counter in shared memory, and read the results of the others where they lie.
//!
//! Run it with `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 4 target/debug/examples/shared`.

use std::sync::atomic::{AtomicU64, Ordering};

use mpi::Hints;

/// Numbers in one piece of work.
const PIECE: u64 = 1000;

fn main() {
    let pieces = std::env::args().nth(1).and_then(|pieces| pieces.parse().ok()).unwrap_or(100);
    mpi::run(|world| {
        // The next piece of work: a piece that takes long keeps no process from the others.
        let next = world.shared_atomics::<AtomicU64>(u64::from(world.rank() == 0) as usize, &Hints::new())?;
        let counter = &next.part(0)?[0];
        // Each process has room for the result of every piece.
        let mut results = world.shared_window::<u64>(pieces as usize, &Hints::new())?;

        let own = results.own()?;
        loop {
            let piece = counter.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                break;
            }
            own[piece as usize] =
                (piece * PIECE..(piece + 1) * PIECE).filter(|number| is_prime(*number)).count() as u64;
        }

        let parts = results.read()?;
        let of = |rank| parts.of(rank).map_or(0, |part: &[u64]| part.iter().sum::<u64>());
        let primes: u64 = (0..world.size()).map(of).sum();
        if world.rank() == 0 {
            println!("{primes} primes below {}", pieces * PIECE);
        }
        Ok(())
    });
}

fn is_prime(number: u64) -> bool {
    number > 1 && (2..).take_while(|factor| factor * factor <= number).all(|factor| !number.is_multiple_of(factor))
}
