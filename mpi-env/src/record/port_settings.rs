//! The control variables of ports and published names (MPI-5.0, 11.8.2, 11.9.4).
//!
//! Not here: ports (`objects::connections`, mpi-dynamic).

use mpi_t::Text;

mpi_t::cvars! {
    /// Settings of MPI_Open_port and MPI_Publish_name.
    pub struct PortSettings, verbosity: UserDetail {
        /// Whether MPI_Open_port listens on the network too where all processes of the job are on one host, so that processes of
        /// other hosts can connect. Otherwise only processes of the same user on this host can. A job on several hosts always
        /// listens on the network. Takes effect with the next call.
        pub on_network: bool = true =>
            { name: "net_ports", unit: "", category: "net", scope: Local },
        /// Absolute path of a folder that several hosts share. MPI_Publish_name makes a file for each name there, by which
        /// MPI_Lookup_name finds it on other hosts. The folder belongs to the user, and nobody else may write into it. Without
        /// it names are found on the host of their process only. Takes effect with the next call.
        pub names_folder: Text = "" =>
            { name: "net_names_folder", unit: "", category: "net", scope: Local },
    }
}
