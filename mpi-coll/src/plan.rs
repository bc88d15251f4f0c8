//! The choice of algorithms, by operation, length and number of processes.
//!
//! Invariant: a plan depends only on facts that every process of the communicator has without a message and that are
//! the same in all: its size, whether the job is crowded, settings that all share, and the bytes that match across
//! processes.

use mpi_comm::Hosts;
use mpi_p2p::LONGEST_PASSED;

use crate::coll_op::CollOp;
use crate::settings::{AUTO, CollSettings, FLAT, TREE};

/// Messages up to this length are sent one after the other: each send is complete at once.
pub(crate) const SHORT: u64 = 4096;
/// Most bytes of all blocks that one process collects from its host in an exchange of all with all: it copies them three times, while
/// the others wait.
const LONGEST_COLLECTED: u64 = 256 << 10;
/// Up to this many processes one process reaches all others faster than a tree does.
const FLAT_SIZE: u32 = 4;
/// As [`FLAT_SIZE`], for messages that the receivers copy themselves.
const FLAT_LONG_SIZE: u32 = 16;

/// Longest contribution, in bytes, to a reduction through shared memory that every one of so many processes combines by itself where the
/// result is split otherwise: that takes one wait instead of two.
pub(crate) const fn longest_whole(size: u32) -> u64 {
    if size == 2 { 4 << 10 } else { 2 << 10 }
}

/// The part of long data where each process has a core. Where each of two processes reads what the other one publishes, it has room in the
/// memory that passes to the reader, whose lines stay in second-level caches (measured on a mesh, parts of 256 KiB: allreduce of 1 MiB
/// 277 us instead of 153, allgather 301 instead of 233).
fn chunk_with_cores(which: CollOp, size: u32, chunk: u64) -> u64 {
    let exchanges = matches!(which, CollOp::Allreduce | CollOp::Allgather | CollOp::Alltoall);
    if size == 2 && exchanges { chunk.min(LONGEST_PASSED as u64) } else { chunk }
}

/// The part of long data where processes share cores, and each wait for a part may cost a context switch. The root
/// of a broadcast waits for nobody.
fn crowded_chunk(which: CollOp, chunk: u64) -> u64 {
    if matches!(which, CollOp::Bcast) { chunk.min(64 << 10) } else { chunk.max(512 << 10) }
}

/// The algorithm of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Algorithm {
    /// There is no other process, or no data.
    Alone = 0,
    /// Two processes, one message each way at most.
    Pair = 1,
    /// Through one process.
    Flat = 2,
    /// In log2(n) steps.
    Tree = 3,
    /// Each process combines a part of it.
    Split = 4,
    /// Every process with every other one.
    Direct = 5,
    /// Around a ring.
    Ring = 6,
    /// Through memory that all processes share.
    Shared = 7,
    /// Within each host, and between one process of each.
    Hosts = 8,
    /// Between the two groups of an intercommunicator, and within each where it needs that.
    Groups = 9,
}

impl Algorithm {
    /// The number of algorithms; they are numbered from 0.
    pub const COUNT: usize = Algorithm::Groups as usize + 1;
}

/// Whether a call without bytes, as counted, has nothing to do in any process.
const fn has_data(which: CollOp) -> bool {
    !matches!(which, CollOp::Barrier | CollOp::Gatherv | CollOp::Scatterv | CollOp::Alltoallv | CollOp::Alltoallw)
}

/// Calls of any number of bytes.
const ANY: u32 = u32::MAX;

/// The choices for one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    size: u32,
    crowded: bool,
    shape: i32,
    split_limit: u64,
    allgather_limit: u64,
    ring_from: u32,
    alltoall_limit: u64,
    /// Fewest processes of an exchange of all with all in log2(n) steps.
    alltoall_from: u32,
    /// Most bytes of a publication in the communicator's channel; 0: messages.
    longest: u64,
    /// A call of fewer bytes, as counted, goes by hosts; 0: none, as with one host; [`ANY`]: every one.
    hosts_below: u32,
    /// Whether it is an intercommunicator.
    inter: bool,
}

impl Plan {
    #[inline(always)] // the operation is a constant in every caller, and unused choices are not computed
    pub fn new(which: CollOp, size: u32, crowded: bool, settings: &CollSettings, longest: u64) -> Plan {
        let own = match which {
            CollOp::Barrier => settings.barrier_shape.get(),
            CollOp::Bcast => settings.bcast_shape.get(),
            CollOp::Reduce => settings.reduce_shape.get(),
            CollOp::Allreduce => settings.allreduce_shape.get(),
            CollOp::ReduceScatter | CollOp::ReduceScatterBlock => settings.reduce_scatter_shape.get(),
            CollOp::Allgather => settings.allgather_shape.get(),
            CollOp::Gather => settings.gather_shape.get(),
            CollOp::Scatter => settings.scatter_shape.get(),
            CollOp::Alltoall => settings.alltoall_shape.get(),
            _ => AUTO,
        };
        let shape = if own == AUTO { settings.shape.get() } else { own };
        let split_limit = match which {
            CollOp::Reduce | CollOp::Allreduce | CollOp::ReduceScatter | CollOp::ReduceScatterBlock => {
                settings.split_limit.get()
            }
            CollOp::Bcast => settings.bcast_split_limit.get(),
            _ => u64::MAX,
        };
        let allgather_limit = if which == CollOp::Allgather { settings.allgather_limit.get() } else { 0 };
        let ring_from = settings.ring_from.get();
        let alltoall_limit = if which == CollOp::Alltoall && own != FLAT { settings.alltoall_limit.get() } else { 0 };
        let alltoall_from = if which == CollOp::Alltoall && own == TREE { 3 } else { ring_from.max(3) };
        // Reproducible sums are computed from messages of their own form.
        let reproduces = matches!(which, CollOp::Reduce | CollOp::Allreduce) && settings.reproducible_sums.get();
        let shares = shape == AUTO && which.can_share() && settings.shared.get() && !reproduces;
        let chunk = settings.shared_chunk.get();
        let chunk = if crowded { crowded_chunk(which, chunk) } else { chunk_with_cores(which, size, chunk) };
        let longest = if shares { longest.min(chunk) } else { 0 };
        let (hosts_below, inter) = (0, false);
        Plan {
            size,
            crowded,
            shape,
            split_limit,
            allgather_limit,
            ring_from,
            alltoall_limit,
            alltoall_from,
            longest,
            hosts_below,
            inter,
        }
    }

    /// Whether the call goes through the communicator's channel.
    #[inline(always)]
    pub fn shared(&self) -> bool {
        self.longest != 0
    }

    /// Most bytes that a process publishes at once.
    #[inline]
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// The same plan for a call with this many bytes, as counted. A long exchange of all with all, and a long broadcast between two,
    /// go by messages, whose data are copied once.
    #[inline(always)]
    pub fn with_bytes(self, which: CollOp, bytes: u64, settings: &CollSettings) -> Plan {
        let by_messages = match which {
            CollOp::Alltoall => {
                let limit =
                    if self.crowded { &settings.shared_alltoall_limit } else { &settings.shared_alltoall_limit_cores };
                bytes - bytes / u64::from(self.size) > limit.get()
            }
            CollOp::Bcast => self.size == 2 && bytes > settings.shared_bcast_limit.get(),
            _ => false,
        };
        if by_messages { Plan { longest: 0, ..self } } else { self }
    }

    /// The same plan for a communicator with several hosts. What would be sent twice goes by hosts only if it is short.
    pub fn with_hosts(self, which: CollOp, settings: &CollSettings, hosts: &Hosts) -> Plan {
        let reproduces = which.combines() && settings.reproducible_sums.get();
        let up_to = |longest: u64| u32::try_from(longest.saturating_add(1)).unwrap_or(ANY);
        let hosts_below = match which {
            _ if self.shape != AUTO || !which.has_hosts() || reproduces => 0,
            CollOp::Gather | CollOp::Scatter => up_to(SHORT),
            CollOp::Allgatherv => up_to(settings.allgather_limit.get()),
            CollOp::ReduceScatter | CollOp::ReduceScatterBlock => up_to(self.split_limit.max(1) - 1),
            CollOp::Alltoall => match self.longest_alltoall_by_hosts(hosts) {
                0 => 0,
                block => up_to(block.saturating_mul(self.size.into())),
            },
            _ => ANY,
        };
        Plan { hosts_below, ..self }
    }

    /// Longest block of an exchange of all with all by hosts; 0: none, because a message for each pair of hosts is more than the
    /// messages of log2(n) steps.
    fn longest_alltoall_by_hosts(&self, hosts: &Hosts) -> u64 {
        let (size, count) = (u64::from(self.size), u64::from(hosts.count()));
        let in_steps = size * u64::from(self.size.next_power_of_two().ilog2());
        if self.size >= self.alltoall_from && count * (count - 1) > in_steps {
            return 0;
        }
        let largest = (0..hosts.count()).map(|host| hosts.size(host)).max().map_or(1, u64::from);
        self.alltoall_limit.min(SHORT / largest).min(LONGEST_COLLECTED / (largest * size))
    }

    /// The same plan for an intercommunicator, whose size is that of the local group.
    pub fn between_groups(self) -> Plan {
        Plan { inter: true, ..self }
    }

    /// The same plan for some processes of the communicator.
    pub fn among(self, size: u32) -> Plan {
        Plan { size, hosts_below: 0, inter: false, ..self }
    }

    /// Whether a call of so many bytes, as counted, goes by hosts.
    #[inline]
    pub fn by_hosts(&self, bytes: u64) -> bool {
        bytes < self.hosts_below.into() || self.hosts_below == ANY
    }

    /// The same plan for a channel in which publications have so many bytes at most; 0: there is none.
    pub fn with_longest(self, longest: usize) -> Plan {
        Plan { longest: self.longest.min(longest as u64), ..self }
    }

    /// The same plan if elements of so many bytes fit into a publication, which has whole ones only; else by messages.
    pub fn with_elements(self, bytes: u64) -> Plan {
        if bytes > self.longest { Plan { longest: 0, ..self } } else { self }
    }

    /// The algorithm of a call of this operation with this many bytes, as counted.
    pub fn algorithm(&self, which: CollOp, bytes: u64) -> Algorithm {
        let either = |flat: bool| if flat { Algorithm::Flat } else { Algorithm::Tree };
        match which {
            _ if which.is_of_neighbours() => Algorithm::Direct,
            _ if self.inter => Algorithm::Groups,
            _ if self.size == 1 => Algorithm::Alone,
            _ if bytes == 0 && has_data(which) => Algorithm::Alone,
            _ if self.shared() => Algorithm::Shared,
            _ if self.by_hosts(bytes) => Algorithm::Hosts,
            // Their bytes differ between processes.
            CollOp::Gatherv | CollOp::Scatterv => Algorithm::Flat,
            CollOp::Alltoallv | CollOp::Alltoallw if self.in_ring() => Algorithm::Ring,
            CollOp::Alltoallv | CollOp::Alltoallw => Algorithm::Direct,
            CollOp::Reduce | CollOp::Allreduce | CollOp::ReduceScatter | CollOp::ReduceScatterBlock
                if self.split(bytes) =>
            {
                if self.in_ring() {
                    Algorithm::Ring
                } else {
                    Algorithm::Split
                }
            }
            _ if self.size == 2 => Algorithm::Pair,
            CollOp::Barrier
            | CollOp::Reduce
            | CollOp::Allreduce
            | CollOp::ReduceScatter
            | CollOp::ReduceScatterBlock => either(self.flat()),
            CollOp::Scan | CollOp::Exscan => Algorithm::Tree,
            CollOp::Bcast if self.split_bcast(bytes) => Algorithm::Split,
            CollOp::Bcast if bytes <= SHORT => either(self.flat_bcast()),
            CollOp::Bcast => either(self.flat_long_bcast()),
            CollOp::Gather | CollOp::Scatter => Algorithm::Flat,
            CollOp::Allgather if self.short_allgather(bytes) => either(self.flat()),
            CollOp::Alltoall if self.short_alltoall(bytes / u64::from(self.size)) => Algorithm::Tree,
            _ if self.in_ring() => Algorithm::Ring,
            _ => Algorithm::Direct,
        }
    }

    /// Whether short messages go through one process rather than in log2(n) steps: where processes share cores each
    /// step costs every process a context switch.
    #[inline]
    pub fn flat(&self) -> bool {
        match self.shape {
            FLAT => true,
            TREE => false,
            _ => self.crowded,
        }
    }

    /// Whether a root sends to all others directly.
    #[inline]
    pub fn flat_bcast(&self) -> bool {
        self.flat() || self.shape == AUTO && self.size <= FLAT_SIZE
    }

    /// The same for long messages: each receiver copies by itself, so a root serves many at once.
    #[inline]
    pub fn flat_long_bcast(&self) -> bool {
        self.flat() || self.shape == AUTO && self.size <= FLAT_LONG_SIZE
    }

    /// Whether a reduction of `bytes` is split among the processes.
    #[inline]
    pub fn split(&self, bytes: u64) -> bool {
        self.size > 1 && bytes >= self.split_limit.max(1)
    }

    /// Whether long data go around a ring, and exchanges of all with all take one process after the other.
    #[inline]
    pub fn in_ring(&self) -> bool {
        self.size >= self.ring_from.max(3)
    }

    /// Whether a broadcast of `bytes` is split into parts that go around a ring.
    #[inline]
    pub fn split_bcast(&self, bytes: u64) -> bool {
        self.in_ring() && bytes >= self.split_limit.max(u64::from(self.size))
    }

    /// Whether an exchange of all with all of equal blocks of `bytes` moves blocks more than once to need fewer messages.
    #[inline]
    pub fn short_alltoall(&self, bytes: u64) -> bool {
        self.size >= self.alltoall_from && bytes > 0 && bytes <= self.alltoall_limit
    }

    /// Whether an allgather of `bytes` in all moves blocks more than once to need fewer messages.
    #[inline]
    pub fn short_allgather(&self, bytes: u64) -> bool {
        bytes <= self.allgather_limit
    }
}

#[cfg(test)]
mod scale;
#[cfg(test)]
mod tests;
