//! The network of a process whose job has ranks that share no memory with it.
//!
//! Invariant: a process that shares memory with all ranks of its job loads no library for networks, unless `net_force` says so.
//! Not here: which ranks share memory (`mpi-wireup`), the transport (`mpi-net`).

use std::sync::Arc;

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};
use mpi_fabric::job::HostRanks;
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
    /// A sentence for the user: what peers cannot be expected to find.
    pub(super) warning: Option<String>,
    /// What the network is, if that is to be reported.
    pub(super) report: Option<String>,
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
    let Some(hosts) = over_hosts(joined, settings.force.get())? else {
        return Ok((Endpoint::attach(place, fabric)?, OverNetwork::default()));
    };
    let here: Arc<[u32]> = hosts[0].ranks.as_slice().into();
    let directory = Directory::of(place.rank, place.size, joined.manager.as_ref()).map_err(other)?;
    let secret = match &joined.over {
        Some(over) => over.secret,
        None => directory.agree_on_secret().map_err(other)?,
    };
    // The launcher of a job on one host compares the number with those of the jobs that this one is connected with.
    let job = (joined.over.is_none() && joined.manager.is_none()).then_some(place.job_id);
    let meters = meters.clone();
    let opened = Network::open(settings, &Options { rank: place.rank, size: place.size, secret, job, meters });
    let refusal = joined.over.as_ref().and_then(|over| over.refusal.as_deref());
    let own = opened.as_ref().map(Network::address).map_err(|error| with_refusal(error.to_string(), refusal));
    directory.meet(own.as_deref().map_err(String::as_str)).map_err(other)?;
    let network = opened?;
    let directory = Arc::new(directory);
    network.set_addresses(Arc::new(OfLauncher(directory.clone())), hosts);
    let warning = network.unwatched().map(|why| {
        format!(
            "rank {}: {why}; this process finds the end of a process on another host only when it sends to that process, and a \
             receive from it may wait for ever",
            place.rank
        )
    });
    let reports = settings.report.get() && here.first() == Some(&place.rank);
    let report = reports.then(|| {
        let first = format!("rank {} on {}: {}", place.rank, host::name(), network.description());
        with_refusal(first, refusal)
    });
    let over = OverNetwork { directory: Some(directory), warning, report };
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

/// A sentence, with the reason why processes of one host use the network, if there is one.
fn with_refusal(sentence: String, refusal: Option<&str>) -> String {
    match refusal {
        Some(why) => format!("{sentence}; processes of one host need the network because {why}"),
        None => sentence,
    }
}

fn other(error: impl ToString) -> Error {
    Error::new(MPI_ERR_OTHER, error.to_string())
}

/// The hosts of this job as its processes use them, that of this one first; `None`: all ranks share memory.
/// # Errors
/// `MPI_ERR_OTHER`: the job memory cannot be read.
fn over_hosts(joined: &Joined, force: i32) -> Result<Option<Vec<HostRanks>>> {
    let Attachment { rank, size, .. } = joined.attachment;
    let hosts = match &joined.over {
        None => Vec::new(),
        Some(_) => joined.attachment.hosts()?,
    };
    let here = joined.over.as_ref().map_or_else(|| (0..size).collect(), |over| over.here.to_vec());
    let hosts = split(here, hosts, rank, force);
    Ok(((hosts[0].ranks.len() as u32) < size).then_some(hosts))
}

/// Hosts as `net_force` has them, that of a rank first. `here`: the ranks that share memory with it; `hosts`: all that are known.
fn split(here: Vec<u32>, hosts: Vec<HostRanks>, rank: u32, force: i32) -> Vec<HostRanks> {
    let others = hosts.into_iter().filter(|host| !host.ranks.contains(&rank));
    let all = [HostRanks { name: host::name(), ranks: here }].into_iter().chain(others);
    let parts = |HostRanks { name, ranks }: HostRanks| -> Vec<HostRanks> {
        let longest = match force {
            net_force::ALL => 1,
            net_force::HOSTS => ranks.len().div_ceil(2),
            _ => ranks.len(),
        };
        ranks.chunks(longest.max(1)).map(|part| HostRanks { name: name.clone(), ranks: part.into() }).collect()
    };
    let mut hosts: Vec<HostRanks> = all.flat_map(parts).collect();
    let own = hosts.iter().position(|host| host.ranks.contains(&rank)).unwrap_or_default();
    hosts[..=own].rotate_right(1);
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(here: &[u32], others: &[&[u32]], rank: u32, force: i32) -> Vec<Vec<u32>> {
        let of = |ranks: &[u32]| HostRanks { name: "h".into(), ranks: ranks.to_vec() };
        let known = [here].iter().chain(others).map(|ranks| of(ranks)).collect();
        split(here.to_vec(), known, rank, force).into_iter().map(|host| host.ranks).collect()
    }

    #[test]
    fn ranks_that_share_memory_follow_hosts_and_the_setting() {
        assert_eq!(hosts(&[0, 1, 2, 3], &[], 1, net_force::OFF), [[0, 1, 2, 3]]);
        assert_eq!(hosts(&[0, 1, 2], &[], 1, net_force::ALL), [[1], [0], [2]]);
        assert_eq!(hosts(&[0], &[], 0, net_force::ALL), [[0]]);
        assert_eq!(hosts(&[0, 1, 2, 3, 4], &[], 1, net_force::HOSTS), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(hosts(&[0, 1, 2, 3, 4], &[], 3, net_force::HOSTS), [vec![3, 4], vec![0, 1, 2]]);
        assert_eq!(hosts(&[1, 3], &[&[0, 2], &[4]], 3, net_force::OFF), [vec![1, 3], vec![0, 2], vec![4]]);
        assert_eq!(hosts(&[1, 3], &[&[0, 2]], 3, net_force::HOSTS), [[3], [1], [0], [2]]);
    }
}
