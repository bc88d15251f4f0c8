//! Monte Carlo: all processes throw points into a square, and count those inside the circle.
//!
//! Run it with `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 4 target/debug/examples/pi`; the
//! argument is the number of points of all processes.

use std::error::Error;

use mpi::Operation;

/// A generator of numbers (xorshift), one sequence for each rank.
struct Numbers(u64);

impl Numbers {
    fn of_rank(rank: u32) -> Numbers {
        Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(u64::from(rank) + 1))
    }

    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let points: u64 = std::env::args().nth(1).map_or(Ok(4_000_000), |points| points.parse())?;
    mpi::run(|world| {
        // The first ranks take the points that do not divide evenly.
        let (rank, size) = (u64::from(world.rank()), u64::from(world.size()));
        let own = points / size + u64::from(rank < points % size);
        let mut numbers = Numbers::of_rank(world.rank());
        let inside = (0..own).filter(|_| numbers.next().powi(2) + numbers.next().powi(2) <= 1.0).count();
        if let Some(all) = world.reduce(&[inside as u64, own], Operation::Sum, 0)? {
            let pi = 4.0 * all[0] as f64 / all[1] as f64;
            println!("{} points on {}: pi is about {pi:.4}", all[1], mpi::errors::processes(world.size()));
        }
        Ok(())
    });
    Ok(())
}
