//! How the ranks of a job that a network connects find each other: over the key-value space of their launcher.
//!
//! Each rank puts its address, and reads that of a peer at its first message to it. A rank that has none puts a sentence, which
//! all ranks read, so that all of them fail or none does.
//!
//! Invariant: a rank uses no network before all ranks have one.
//! Not here: which ranks share memory (`rendezvous`, `environment`), what an address is (`mpi-net`).

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{WireupError, number};
use crate::hosts::{random_secret, secret_of};
use crate::launcher::{Launcher, LauncherError};
use crate::manager::Manager;
use crate::sentence::agree;
use crate::{pmi, time_limit};

const SECRET: &str = "ferrum-secret";
const FAILURE: &str = "ferrum-net-failure";

/// The addresses of the ranks of a job. Thread-safe.
pub struct Directory {
    manager: Arc<Manager>,
    /// Whether the connection is this value's own: that to our launcher.
    own: bool,
    rank: u32,
    /// Whether the launcher has the report that the exit of this process is a normal end: saves a request.
    has_ended: AtomicBool,
}

impl Directory {
    /// The one of a rank that has joined a job. `manager`: the launcher, if it is not ours.
    /// # Errors
    /// The launcher serves no key-value space to this process.
    pub fn of(rank: u32, size: u32, manager: Option<&Arc<Manager>>) -> Result<Directory, WireupError> {
        if let Some(manager) = manager {
            return Ok(Directory { manager: manager.clone(), own: false, rank, has_ended: AtomicBool::new(false) });
        }
        let get = |name: &str| std::env::var_os(name);
        let link = to_our_launcher(&get, rank, size)?;
        Ok(Directory { manager: Arc::new(Manager::new(link)), own: true, rank, has_ended: AtomicBool::new(false) })
    }

    /// The random number that rank 0 chooses for the job. Collective.
    /// # Errors
    /// The launcher does not answer, or passes no such number on.
    pub fn agree_on_secret(&self) -> Result<u128, LauncherError> {
        self.manager.with(|link| {
            if self.rank == 0 {
                link.put(SECRET, &format!("{:032x}", random_secret()?))?;
            }
            link.fence()?;
            let value = link.get(0, SECRET)?;
            value.as_deref().and_then(secret_of).ok_or_else(|| {
                LauncherError(
                    "the launcher passes on no random number of rank 0, which the ranks need to connect".into(),
                )
            })
        })
    }

    /// Puts this process's address, or why it has none, and waits until all ranks have done so. Collective.
    /// # Errors
    /// A sentence: a rank has no address.
    pub fn meet(&self, own: Result<&str, &str>) -> Result<(), LauncherError> {
        self.manager.with(|link| {
            let most = link.longest_value();
            let trouble = match own {
                Ok(address) if address.len() <= most => link.put(&key(self.rank), address).map(|()| None)?,
                Ok(address) => Some(format!(
                    "the launcher takes values of {most} bytes; the address of a rank has {}",
                    address.len()
                )),
                Err(why) => Some(why.to_owned()),
            };
            agree(link, FAILURE, trouble.map(LauncherError).as_ref())
        })
    }

    /// The address that a rank has put. After [`Self::meet`].
    /// # Errors
    /// A sentence: the launcher does not answer, or the connection to it has ended.
    pub fn address_of(&self, rank: u32) -> Result<String, LauncherError> {
        let address = self.manager.with(|link| link.get(rank, &key(rank)))?;
        address.ok_or_else(|| LauncherError(format!("rank {rank} has put no address")))
    }

    /// Reports on a connection of its own to our launcher that the exit of this process is a normal end. Our launcher still answers
    /// requests for addresses, which sessions that begin later make.
    pub fn finalize(&self) {
        // Relaxed: nothing else is read with it.
        if self.own && !self.has_ended.swap(true, Ordering::Relaxed) {
            // A launcher that has closed the connection detects the end of the process.
            let _ = self.manager.with(|link| link.finalize());
        }
    }
}

fn key(rank: u32) -> String {
    format!("ferrum-net-{rank}")
}

/// The connection that our `mpiexec` has given this process.
fn to_our_launcher(
    get: &dyn Fn(&str) -> Option<OsString>,
    rank: u32,
    size: u32,
) -> Result<Box<dyn Launcher>, WireupError> {
    let fd = number(get, "PMI_FD", "it has to be a descriptor", |fd: &i32| *fd >= 0)?;
    let limit = time_limit::of_launcher(get(time_limit::LAUNCHER_TIMEOUT)).map_err(LauncherError)?;
    Ok(Box::new(pmi::client::Client::on_copy_of(fd, rank, size, limit)?))
}
