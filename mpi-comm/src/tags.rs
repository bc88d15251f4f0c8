//! Tags of the library's own messages on communicators.
//!
//! Invariants: different tags of the program give different internal tags; none is a wildcard or one of the small
//! positive tags of collectives and of the exchanges here. An exchange also uses the tag above its own.
//! Not here: the tags of collectives, files and windows (beside their users).

/// Ids that a communicator's processes publish.
pub(crate) const PUBLISH: i32 = 0x7001;
/// Agreement on a context id.
pub(crate) const AGREEMENT: i32 = 0x7003;
/// Messages within a group, and between the groups of an intercommunicator.
pub(crate) const BOTH_GROUPS: i32 = 0x7005;
/// What the leader of a group reports to its group.
pub(crate) const LEADERS: i32 = 0x7007;
/// Numbers of edges of a distributed graph.
pub(crate) const EDGE_COUNTS: i32 = 0x7009;
/// Edges of a distributed graph.
pub(crate) const EDGES: i32 = 0x700b;
/// Places of the processes of a topology that is reordered, and what they agree on.
pub const TOPOLOGY: i32 = 0x700d;
/// Places of the parts of channels.
pub const CHANNELS: i32 = 0x700f;

/// Tags of groups that lie beyond [`group_tag`]'s plain rule.
const LAST_TAGS: i32 = 0x7100_0000;
/// Tags of leaders begin here. The engine takes messages with lower ones as those of all processes.
const LEADER_TAGS: i32 = mpi_p2p::TAGS_OF_SOME;

/// Tags of collective operations that do not block begin here, and those of persistent ones.
const OPERATION_TAGS: [i32; 2] = [0x0001_0000, 0x0080_0000];
/// The number of tags of each kind.
const OPERATIONS: u32 = 0x007f_0000;

/// The internal tag of a collective operation by its number.
pub(crate) fn operation_tag(number: u32, persistent: bool) -> i32 {
    OPERATION_TAGS[usize::from(persistent)] + (number % OPERATIONS) as i32
}

/// The internal tag of a communicator's creation by a group (`MPI_Comm_create_group`).
pub(crate) fn group_tag(tag: i32) -> i32 {
    const BESIDE_WILDCARDS: i32 = i32::MAX - 15;
    if tag >= BESIDE_WILDCARDS { LAST_TAGS + (tag - BESIDE_WILDCARDS) } else { i32::MIN + tag }
}

/// The internal tag of the messages between the leaders of two groups (`MPI_Intercomm_create`). No tag of a group is
/// the same, except that of the same tag of the program from 0x7000_0000: there are not enough internal tags for both.
pub(crate) fn leader_tag(tag: i32) -> i32 {
    if tag < LAST_TAGS - LEADER_TAGS { LEADER_TAGS + tag } else { group_tag(tag) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL};

    const TAGS: [i32; 12] = [
        0,
        1,
        0x7003,
        0x0100_0000,
        0x6fff_ffff,
        0x7000_0000,
        i32::MAX - 17,
        i32::MAX - 16,
        i32::MAX - 15,
        i32::MAX - 2,
        i32::MAX - 1,
        i32::MAX,
    ];

    fn differ(of: fn(i32) -> i32) {
        let inner: Vec<i32> = TAGS.iter().map(|tag| of(*tag)).collect();
        for (place, tag) in inner.iter().enumerate() {
            assert!(![MPI_ANY_TAG, MPI_ANY_SOURCE, MPI_PROC_NULL].contains(tag));
            assert!(!inner[..place].contains(tag) && !(0..0x1_0000).contains(tag), "{tag}");
        }
    }

    #[test]
    fn internal_tags_differ_and_are_no_wildcards() {
        differ(group_tag);
        differ(leader_tag);
    }

    #[test]
    fn tags_of_operations_lie_below_those_of_leaders_and_above_those_of_exchanges() {
        for number in [0, 1, OPERATIONS - 1, OPERATIONS, u32::MAX] {
            let (other, kept) = (operation_tag(number, false), operation_tag(number, true));
            assert!((0x1_0000..OPERATION_TAGS[1]).contains(&other), "{number}");
            assert!((OPERATION_TAGS[1]..LEADER_TAGS).contains(&kept), "{number}");
        }
    }

    #[test]
    fn leaders_and_groups_have_different_tags() {
        for tag in TAGS {
            let shared = TAGS.iter().find(|other| group_tag(**other) == leader_tag(tag));
            assert!(shared.is_none() || tag >= 0x7000_0000 && shared == Some(&tag), "{tag}");
        }
    }
}
