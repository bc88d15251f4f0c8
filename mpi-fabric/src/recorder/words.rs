//! Recorded calls as text.
//!
//! Not here: recording and reading calls (`recorder`).

use mpi_core::functions;

use super::{Call, REFUSED};

impl Call {
    /// The name of the function.
    pub fn function_name(&self) -> String {
        functions::name(self.function).map_or_else(|| format!("function {}", self.function), str::to_owned)
    }

    /// The function with the peer and tag, as far as the function has them.
    pub fn describe(&self) -> String {
        let name = self.function_name();
        let mut text = name.clone();
        if self.peer == REFUSED {
            return text + ", which was refused";
        }
        let has = |part: &str| name.to_ascii_lowercase().contains(part);
        let (receives, sends) = (has("recv") && !has("sendrecv") || has("probe"), has("send"));
        let rooted = !receives && !sends && self.peer >= 0;
        match self.peer {
            peer if receives && peer >= 0 => text += &format!(" from rank {peer}"),
            -1 if receives && !has("mrecv") => text += " from any rank",
            peer if sends && peer >= 0 => text += &format!(" to rank {peer}"),
            peer if rooted => text += &format!(" with root {peer}"),
            _ => {}
        }
        if (receives || sends) && !has("mrecv") {
            text += &if self.tag == mpi_core::abi::MPI_ANY_TAG {
                " with any tag".into()
            } else {
                format!(" with tag {}", self.tag)
            };
        }
        text
    }
}
