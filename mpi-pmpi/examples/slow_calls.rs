//! A tool in Rust: prints the longest call of each process when it ends.
//!
//!     cargo build --release -p mpi-pmpi --example slow_calls
//!     mpiexec --tool target/release/examples/libslow_calls.so -n 2 ./program

use std::sync::Mutex;
use std::time::{Duration, Instant};

use mpi_pmpi::interceptor::{Call, Host, Interceptor};

/// The longest call so far, and the time from which calls are measured.
struct SlowCalls {
    begin: Instant,
    longest: Mutex<(Duration, &'static str)>,
}

impl Interceptor for SlowCalls {
    fn start(_: &Host<'_>) -> SlowCalls {
        SlowCalls { begin: Instant::now(), longest: Mutex::new((Duration::ZERO, "none")) }
    }

    fn enter(&self, call: &mut Call<'_>) {
        call.keep(self.begin.elapsed().as_nanos() as u64);
    }

    fn leave(&self, call: &mut Call<'_>) {
        let time = self.begin.elapsed().saturating_sub(Duration::from_nanos(call.kept()));
        if let Ok(mut longest) = self.longest.lock()
            && longest.0 < time
        {
            *longest = (time, call.function().name());
        }
    }

    fn end(&self) {
        if let Ok(longest) = self.longest.lock() {
            eprintln!("slow_calls: the longest call is {}, {:?}", longest.1, longest.0);
        }
    }
}

mpi_pmpi::interceptor!(SlowCalls);
