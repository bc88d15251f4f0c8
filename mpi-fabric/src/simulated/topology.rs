//! The shape of a simulated network: ranks, hosts, links, and the processes that are lost.

/// A link between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Time from the end of a transfer's sending to its arrival.
    pub latency_ns: u64,
    /// Bytes that the link carries in a microsecond, at least 1.
    pub bytes_per_us: u64,
}

impl Link {
    /// How long a transfer of this many bytes occupies the link.
    pub(super) fn occupied_ns(&self, bytes: usize) -> u64 {
        bytes as u64 * 1000 / self.bytes_per_us.max(1)
    }
}

/// Ranks on hosts, the cores that they share, and the links between them.
#[derive(Clone, Debug)]
pub struct Topology {
    ranks: u32,
    ranks_per_host: u32,
    cores_per_host: Option<u32>,
    within: Link,
    between: Link,
    stack_bytes: usize,
    losses: Vec<(u64, u32)>,
}

impl Topology {
    /// So many ranks, at least 1, on hosts of 64, each with a core of its own; 300 ns and 10 GB/s within a host, 1500 ns
    /// and 12.5 GB/s between hosts.
    pub fn new(ranks: u32) -> Topology {
        Topology {
            ranks: ranks.max(1),
            ranks_per_host: 64,
            cores_per_host: None,
            within: Link { latency_ns: 300, bytes_per_us: 10_000 },
            between: Link { latency_ns: 1500, bytes_per_us: 12_500 },
            stack_bytes: 256 << 10,
            losses: Vec::new(),
        }
    }

    /// Puts so many consecutive ranks, at least 1, on each host.
    pub fn ranks_per_host(self, ranks: u32) -> Topology {
        Topology { ranks_per_host: ranks.max(1), ..self }
    }

    /// Gives each host so many cores, at least 1, which its ranks share: what a rank does takes the next core that is free,
    /// to its end. A rank that waits takes none, and a change from one rank to another costs nothing.
    pub fn cores_per_host(self, cores: u32) -> Topology {
        Topology { cores_per_host: Some(cores.max(1)), ..self }
    }

    /// Sets the links between ranks of one host.
    pub fn within_hosts(self, link: Link) -> Topology {
        Topology { within: link, ..self }
    }

    /// Sets the links between ranks of two hosts.
    pub fn between_hosts(self, link: Link) -> Topology {
        Topology { between: link, ..self }
    }

    /// Sets the stack of each rank's thread, in bytes.
    pub fn stack_bytes(self, bytes: usize) -> Topology {
        Topology { stack_bytes: bytes, ..self }
    }

    /// Lets a rank be lost at a virtual time: from then on it sends nothing, and its own calls return an error.
    pub fn lose(mut self, rank: u32, at_ns: u64) -> Topology {
        self.losses.push((at_ns, rank));
        self.losses.sort_unstable();
        self
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Number of the host that a rank is on.
    pub fn host_of(&self, rank: u32) -> u32 {
        rank / self.ranks_per_host
    }

    /// Number of cores of each host; `None` if each rank has its own.
    pub(super) fn cores(&self) -> Option<u32> {
        self.cores_per_host.filter(|cores| *cores < self.ranks_per_host)
    }

    pub(super) fn stack(&self) -> usize {
        self.stack_bytes
    }

    /// The link between two ranks; none from a rank to itself.
    pub(super) fn link(&self, from: u32, to: u32) -> Option<Link> {
        match (from == to, self.host_of(from) == self.host_of(to)) {
            (true, _) => None,
            (false, true) => Some(self.within),
            (false, false) => Some(self.between),
        }
    }

    /// Time after which every rank has detected that another is lost.
    pub(super) fn detection_ns(&self) -> u64 {
        self.within.latency_ns.max(self.between.latency_ns)
    }

    /// The shortest time from the sending of a record to its arrival at another rank.
    pub(super) fn shortest_latency_ns(&self) -> u64 {
        let one_host = self.host_of(self.ranks - 1) == 0;
        match (one_host, self.ranks_per_host) {
            (true, _) => self.within.latency_ns,
            (false, 1) => self.between.latency_ns,
            (false, _) => self.within.latency_ns.min(self.between.latency_ns),
        }
    }

    /// The losses, the earliest first.
    pub(super) fn losses(&self) -> &[(u64, u32)] {
        &self.losses
    }
}
