//! A job on several hosts: `mpiexec` (the front) and a proxy of it on each host, started by a launcher that is there.
//!
//! The proxies connect to the front by TCP, prove by the job's secret that they belong to it, and do what it requests: start
//! their hosts' ranks in job memories of their own, pass on what ranks write, report how they end. All decisions are the
//! front's, with the code for one host: `streams` for output, `ending` and `outcome` for the end, and copies of the ranks'
//! blocks for reports and statistics.
//!
//! - `manager`: the launcher that starts the proxies.
//! - `frame`, `link`, `secret`: the messages, the connection, and who may connect.
//! - `fuzzed`: messages of any bytes, for a fuzz target.
//! - `front`, `hosts`: the loop of `mpiexec`, and what it keeps of each host. `proxy`, `greeting`, `part`: the loop on a host,
//!   its connection, and what it runs.
//!
//! Invariant: when front, proxy, launcher or host end or fall silent, the ranks on all other hosts end within the time limit of
//! launchers, and nothing is left on them.
//! Not here: which rank is on which host (`placement`, `nodelist`), messages between ranks of several hosts, a remote shell.

mod frame;
mod front;
#[cfg(fuzzing)]
pub mod fuzzed;
mod greeting;
mod hosts;
mod link;
mod manager;
mod part;
mod proxy;
mod secret;

pub(super) use front::{Outcome, run};
pub(super) use manager::SERVE_HOST;
pub(super) use proxy::serve;

use std::time::Duration;

use mpi_wireup::{LAUNCHER_TIMEOUT, PROXY, launcher_time_limit};

/// After this silence of the other side, a host or the front is lost; launchers have the same time to start proxies.
pub(super) fn silence_limit() -> Result<Duration, String> {
    launcher_time_limit(std::env::var_os(LAUNCHER_TIMEOUT))
}

/// Between two signs of life.
fn ping_interval(limit: Duration) -> Duration {
    limit / 5
}
