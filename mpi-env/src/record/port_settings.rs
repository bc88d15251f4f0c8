//! The control variable of ports (MPI-5.0, 11.8.2).
//!
//! Not here: ports (`objects::connections`, mpi-dynamic).

mpi_t::cvars! {
    /// Settings of MPI_Open_port.
    pub struct PortSettings, verbosity: UserDetail {
        /// Whether MPI_Open_port listens on the network too where all processes of the job are on one host, so that processes of
        /// other hosts can connect. Otherwise only processes of the same user on this host can. A job on several hosts always
        /// listens on the network. Takes effect with the next call.
        pub on_network: bool = true =>
            { name: "net_ports", unit: "", category: "net", scope: Local },
    }
}
