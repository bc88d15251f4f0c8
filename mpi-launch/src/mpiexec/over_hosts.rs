//! A job on several hosts: `mpiexec` (the front) and a proxy of it on each host, started by a launcher that is there.
//!
//! The proxies connect to the front by TCP, prove by the job's secret that they belong to it, and do what it requests: start
//! their hosts' ranks in job memories of their own, pass on what ranks write, report how they end. All decisions are the
//! front's, with the code for one host: `streams` for output, `ending` and `outcome` for the end, and copies of the ranks'
//! blocks for reports and statistics.
//!
//! - `placement`, `nodelist`: which rank is on which host; the hosts of a Slurm allocation.
//! - `manager`: the launcher that starts the proxies.
//! - `frame`, `link`, `secret`: the messages, the connection, and who may connect.
//! - `front`, `hosts`: the loop of `mpiexec`, and what it keeps of each host. `proxy`, `greeting`, `part`: the loop on a host,
//!   its connection, and what it runs.
//!
//! Invariant: when front, proxy, launcher or host end or fall silent, the ranks on all other hosts end within the time limit of
//! launchers, and nothing is left on them.
//! Not here: messages between ranks of several hosts, a remote shell.

mod frame;
mod front;
mod greeting;
mod hosts;
mod link;
mod manager;
mod nodelist;
mod part;
mod placement;
mod proxy;
mod secret;

pub(super) use front::run;
pub(super) use manager::SERVE_HOST;
pub(super) use placement::{Placement, default_number};
pub(super) use proxy::serve;

use std::time::Duration;

use mpi_wireup::{LAUNCHER_TIMEOUT, PROXY, launcher_time_limit};

use super::refusal::Refusal;
use crate::args::Run;

/// The placement of a job that has several hosts; `None` for one on this machine.
pub(super) fn placement(run: &Run) -> Result<Option<Placement>, Refusal> {
    let options = &run.options;
    if run.groups.iter().all(|group| group.host.is_none()) && options.hostfile.is_none() && options.map_by.is_none() {
        return Ok(None);
    }
    let allocation = nodelist::allocation(&|name| std::env::var_os(name)).map_err(Refusal::Allocation)?;
    placement::place(run, allocation.as_deref())
}

/// After this silence of the other side, a host or the front is lost; launchers have the same time to start proxies.
fn silence_limit() -> Result<Duration, String> {
    launcher_time_limit(std::env::var_os(LAUNCHER_TIMEOUT))
}

/// Between two signs of life.
fn ping_interval(limit: Duration) -> Duration {
    limit / 5
}
