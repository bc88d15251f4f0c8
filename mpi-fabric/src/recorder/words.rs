//! Recorded calls as text.
//!
//! Not here: recording and reading calls (`recorder`).

use mpi_core::functions;

use super::{Call, RECEIVE, REFUSED, SEND};

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
        if let Some(requests) = self.describe_requests() {
            return text + &requests;
        }
        let has = |part: &str| name.to_ascii_lowercase().contains(part);
        let (receives, sends) = (has("recv") && !has("sendrecv") || has("probe"), has("send"));
        let rooted = !receives && !sends && self.peer >= 0;
        match self.peer {
            peer if is_of_target(self.function) && peer >= 0 => text += &format!(" for rank {peer}"),
            peer if receives && peer >= 0 => text += &format!(" from rank {peer}"),
            -1 if receives && !has("mrecv") => text += " from any rank",
            peer if sends && peer >= 0 => text += &format!(" to rank {peer}"),
            peer if rooted => text += &format!(" with root {peer}"),
            _ => {}
        }
        if has_common_count(&name) && self.count > 0 {
            text += &format!("{} count {}", if rooted { " and" } else { " with" }, self.count);
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

    /// The rank that the call sends to, receives from, or has as its root or target; negative for none and for any. `None` for a
    /// function without.
    pub fn peer(&self) -> Option<i32> {
        let has_one = self.peer >= 0 || self.is_of_messages() && self.peer != REFUSED;
        has_one.then_some(self.peer)
    }

    /// The tag of the message that the call sends or receives; `None` for a function without.
    pub fn tag(&self) -> Option<i32> {
        let has_one = self.is_of_messages() || self.peer >= 0 && self.describe_requests().is_some();
        (has_one && self.peer != REFUSED).then_some(self.tag)
    }

    /// Whether the function names a message by its peer and tag. One that receives a probed message does not.
    fn is_of_messages(&self) -> bool {
        let name = self.function_name().to_ascii_lowercase();
        ["recv", "probe", "send"].iter().any(|part| name.contains(part)) && !name.contains("mrecv")
    }

    /// What a call on several requests, or a call that waits for one, works on, if that is recorded.
    fn describe_requests(&self) -> Option<String> {
        let waits = matches!(
            self.function,
            functions::MPI_WAIT | functions::MPI_WAITALL | functions::MPI_WAITANY | functions::MPI_WAITSOME
        );
        let number = self.count & (SEND - 1);
        if !(waits || self.function == functions::MPI_STARTALL) || number == 0 {
            return None;
        }
        let first = match self.count & !(SEND - 1) {
            SEND => "a send with ",
            RECEIVE => "a receive with ",
            _ if self.peer < 0 => return Some(format!(", on {}", mpi_errors::counted(number, "request"))),
            _ => "one with ",
        };
        let mut text = match number {
            1 if waits => format!(", which waits for {first}"),
            1 => format!(", on {first}"),
            _ if waits => format!(", which waits for {number} requests, the first {first}"),
            _ => format!(", on {number} requests, the first {first}"),
        };
        text += &match self.peer {
            peer @ 0.. => format!("rank {peer}"),
            _ => "any rank".to_owned(),
        };
        if self.tag != mpi_core::abi::MPI_ANY_TAG {
            text += &format!(" and tag {}", self.tag);
        }
        if self.comm != 0 {
            text += &format!(" in communicator {}", self.comm / 2);
        }
        Some(text)
    }
}

/// Whether the peer of a function is the target of one-sided operations.
fn is_of_target(function: u16) -> bool {
    use functions::*;
    matches!(
        function,
        MPI_WIN_LOCK
            | MPI_WIN_UNLOCK
            | MPI_WIN_FLUSH
            | MPI_WIN_FLUSH_LOCAL
            | MPI_PUT
            | MPI_PUT_C
            | MPI_GET
            | MPI_GET_C
            | MPI_ACCUMULATE
            | MPI_ACCUMULATE_C
            | MPI_GET_ACCUMULATE
            | MPI_GET_ACCUMULATE_C
            | MPI_FETCH_AND_OP
            | MPI_COMPARE_AND_SWAP
            | MPI_RPUT
            | MPI_RPUT_C
            | MPI_RGET
            | MPI_RGET_C
            | MPI_RACCUMULATE
            | MPI_RACCUMULATE_C
            | MPI_RGET_ACCUMULATE
            | MPI_RGET_ACCUMULATE_C
    )
}

/// Whether a collective function has a count that is the same in all processes, so that a different one shows who is wrong.
fn has_common_count(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.trim_start_matches("mpi_").trim_end_matches("_c").trim_end_matches("_init");
    matches!(
        name.strip_prefix('i').unwrap_or(name),
        "bcast"
            | "reduce"
            | "allreduce"
            | "reduce_scatter_block"
            | "scan"
            | "exscan"
            | "gather"
            | "scatter"
            | "allgather"
            | "alltoall"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(function: u16, comm: u32, peer: i32, tag: i32, count: u64) -> String {
        Call { sequence: 1, function, ended: false, comm, peer, tag, count }.describe()
    }

    #[test]
    fn one_sided_calls_name_their_target() {
        assert_eq!(text(functions::MPI_WIN_LOCK, 4, 3, 0, 0), "MPI_Win_lock for rank 3");
        assert_eq!(text(functions::MPI_WIN_FLUSH, 4, 0, 0, 0), "MPI_Win_flush for rank 0");
        assert_eq!(text(functions::MPI_WIN_LOCK, 4, mpi_core::abi::MPI_PROC_NULL, 0, 0), "MPI_Win_lock");
        assert_eq!(text(functions::MPI_WIN_LOCK_ALL, 4, -1, 0, 0), "MPI_Win_lock_all");
        assert_eq!(text(functions::MPI_ACCUMULATE, 4, 1, 0, 7), "MPI_Accumulate for rank 1");
    }

    #[test]
    fn collective_calls_name_root_and_count() {
        assert_eq!(text(functions::MPI_BCAST, 4, 1, 0, 7), "MPI_Bcast with root 1 and count 7");
        assert_eq!(text(functions::MPI_IALLREDUCE_C, 4, -1, 0, 7), "MPI_Iallreduce_c with count 7");
        assert_eq!(text(functions::MPI_BARRIER, 4, -1, 0, 0), "MPI_Barrier");
        assert_eq!(text(functions::MPI_ALLTOALLV, 4, -1, 0, 7), "MPI_Alltoallv");
    }

    #[test]
    fn a_wait_names_the_first_of_its_requests() {
        assert_eq!(text(functions::MPI_WAITALL, 0, -1, 0, 0), "MPI_Waitall");
        assert_eq!(
            text(functions::MPI_WAITALL, 16, 3, 7, 4 | RECEIVE),
            "MPI_Waitall, which waits for 4 requests, the first a receive with rank 3 and tag 7 in communicator 8"
        );
        assert_eq!(
            text(functions::MPI_WAIT, 0, 2, mpi_core::abi::MPI_ANY_TAG, 1 | SEND),
            "MPI_Wait, which waits for a send with rank 2"
        );
        assert_eq!(
            text(functions::MPI_WAIT, 0, -1, 5, 1 | RECEIVE),
            "MPI_Wait, which waits for a receive with any rank and tag 5"
        );
        assert_eq!(text(functions::MPI_WAITANY, 4, -1, -1, 2), "MPI_Waitany, on 2 requests");
        assert_eq!(
            text(functions::MPI_STARTALL, 0, 1, 9, 3),
            "MPI_Startall, on 3 requests, the first one with rank 1 and tag 9"
        );
    }
}
