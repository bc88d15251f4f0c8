//! Two processes that a provider connects, for the tests of this crate.
#![allow(clippy::unwrap_used)] // a failed step panics

use std::sync::{Arc, OnceLock};

use mpi_net::{Meters, NetSettings, Network, Options};

/// Two processes; `None` without the provider.
pub fn pair(provider: &str) -> Option<[Network; 2]> {
    let open = |rank: u32| {
        let settings = NetSettings::new();
        mpi_t::Cell::write(&settings.provider, &mpi_t::Value::Text(provider.into())).unwrap();
        Network::open(settings, &Options { rank, size: 2, secret: 7, job: None, meters: Meters::default() })
    };
    let networks: mpi_errors::Result<Vec<Network>> = (0..2).map(open).collect();
    let networks = networks.inspect_err(|why| eprintln!("skipped: {why}")).ok()?;
    let addresses: Arc<OnceLock<Vec<String>>> = Arc::default();
    addresses.set(networks.iter().map(Network::address).collect()).unwrap();
    networks.iter().for_each(|network| network.set_addresses(addresses.clone(), Vec::new()));
    networks.try_into().ok()
}
