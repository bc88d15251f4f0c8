//! The network of a process whose job has ranks that share no memory with it.
//!
//! Invariant: a process that shares memory with all ranks of its job loads no library for networks, unless `net_force` says so.
//! Not here: which ranks share memory (`mpi-wireup`), the transport (`mpi-net`).

use std::sync::Arc;

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};
use mpi_fabric::{Attachment, Endpoint, FabricSettings, NetworkSource, Transport, host};
use mpi_net::{Addresses, Meters, NetSettings, Network, Options, net_force};
use mpi_wireup::{Directory, Joined};

/// The addresses in the key-value space of the launcher.
struct OfLauncher(Arc<Directory>);

impl Addresses for OfLauncher {
    fn address_of(&self, rank: u32) -> std::result::Result<String, String> {
        self.0.address_of(rank).map_err(|error| error.to_string())
    }
}

/// What belongs to the network of a process.
#[derive(Default)]
pub(super) struct OverNetwork {
    /// The directory of addresses; `None`: all ranks share memory.
    pub(super) directory: Option<Arc<Directory>>,
    /// A sentence for the user.
    pub(super) warning: Option<String>,
}

/// Takes the place of a process in its job, connected by a network to the ranks that share no memory with it. Collective in a
/// job with a network.
/// # Errors
/// `MPI_ERR_OTHER`: the job memory or the network cannot be used.
pub(super) fn attach(
    joined: &Joined,
    fabric: &'static FabricSettings,
    settings: &'static NetSettings,
    meters: &Meters,
) -> Result<(Endpoint, OverNetwork)> {
    let place = &joined.attachment;
    let Some(here) = sharing(joined, settings.force.get()) else {
        return Ok((Endpoint::attach(place, fabric)?, OverNetwork::default()));
    };
    let directory = Directory::of(place.rank, place.size, joined.manager.as_ref()).map_err(other)?;
    let secret = match &joined.over {
        Some(over) => over.secret,
        None => directory.agree_on_secret().map_err(other)?,
    };
    // The launcher of a job on one host compares the number with those of the jobs that this one is connected with.
    let job = (joined.over.is_none() && joined.manager.is_none()).then_some(place.job_id);
    let meters = meters.clone();
    let opened = Network::open(settings, &Options { rank: place.rank, size: place.size, secret, job, meters });
    let own = opened.as_ref().map(Network::address).map_err(|error| error.to_string());
    directory.meet(own.as_deref().map_err(String::as_str)).map_err(other)?;
    let network = opened?;
    let directory = Arc::new(directory);
    network.set_addresses(Arc::new(OfLauncher(directory.clone())));
    let warning = network.unwatched().map(|why| {
        format!(
            "rank {}: {why}; this process finds the end of a process on another host only when it sends to that process, and a \
             receive from it may wait for ever",
            place.rank
        )
    });
    let over = OverNetwork { directory: Some(directory), warning };
    Ok((Endpoint::attach_over(Box::new(network), place, here, fabric)?, over))
}

/// How a process gets a network when it connects with a process of another job on another host; and whether it is to share memory
/// with none of another job.
pub(super) fn source(rank: u32, size: u32, settings: &'static NetSettings, meters: Meters) -> (NetworkSource, bool) {
    let open = move || {
        let [low, high] = host::random_words().map_err(other)?;
        // Of a job whose ranks share memory: only processes of other jobs are on the network, which have secrets of their own.
        let secret = u128::from(high) << 64 | u128::from(low);
        let network = Network::open(settings, &Options { rank, size, secret, job: None, meters: meters.clone() })?;
        Ok(Box::new(network) as Box<dyn Transport>)
    };
    (Box::new(open), settings.force.get() != net_force::OFF)
}

fn other(error: impl ToString) -> Error {
    Error::new(MPI_ERR_OTHER, error.to_string())
}

/// The ranks that share memory with this one in this job; `None`: all do.
fn sharing(joined: &Joined, force: i32) -> Option<Arc<[u32]>> {
    let Attachment { rank, size, .. } = joined.attachment;
    let here: Arc<[u32]> = match &joined.over {
        Some(over) => over.here.clone(),
        None => (0..size).collect(),
    };
    let here: Arc<[u32]> = match force {
        net_force::ALL => Arc::from([rank]),
        net_force::HOSTS => {
            let (first, second) = here.split_at(here.len().div_ceil(2));
            if first.contains(&rank) { first.into() } else { second.into() }
        }
        _ => here,
    };
    ((here.len() as u32) < size).then_some(here)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_wireup::OverHosts;

    fn joined(rank: u32, size: u32, here: Option<&[u32]>) -> Joined {
        let over = here.map(|here| OverHosts { here: here.into(), secret: 1 });
        Joined { attachment: Attachment { fd: 3, job_id: 1, rank, size, appnum: 0 }, manager: None, over, parent: None }
    }

    #[test]
    fn ranks_that_share_memory_follow_hosts_and_the_setting() {
        let of = |rank, size, here, force| sharing(&joined(rank, size, here), force).map(|here| here.to_vec());
        assert_eq!(of(1, 4, None, net_force::OFF), None);
        assert_eq!(of(1, 4, None, net_force::ALL), Some(vec![1]));
        assert_eq!(of(0, 1, None, net_force::ALL), None);
        assert_eq!(of(1, 5, None, net_force::HOSTS), Some(vec![0, 1, 2]));
        assert_eq!(of(3, 5, None, net_force::HOSTS), Some(vec![3, 4]));
        assert_eq!(of(3, 4, Some(&[1, 3]), net_force::OFF), Some(vec![1, 3]));
        assert_eq!(of(3, 4, Some(&[1, 3]), net_force::HOSTS), Some(vec![3]));
    }
}
