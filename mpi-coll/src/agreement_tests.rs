//! Tests of the comparison of calls.

use super::*;
use crate::{Op, Reduction};
use mpi_core::abi::{MPI_INT, MPI_SUM};
use mpi_datatype::predefined;

fn reduce(root: Root, bytes: u64) -> Terms {
    let op = Op::predefined(MPI_SUM).expect("predefined");
    let datatype = predefined(MPI_INT).expect("predefined");
    let what = Reduction { op, datatype, handle: MPI_INT, count: bytes / 4 };
    Terms::new(CollOp::Reduce, bytes).root(root).reducing(&what)
}

/// The result of a comparison of a local group with these terms and another group with those.
fn compared(local: &[Terms], remote: &[Terms]) -> Result<()> {
    let among = Among { team: Team { rank: 0, size: local.len() as u32 }, remote: remote.len() as u32 };
    let words: Vec<u64> = local.iter().chain(remote).flat_map(|terms| terms.to_words()).collect();
    compare_terms(&words, among)
}

#[test]
fn terms_keep_their_value_in_a_message_and_other_words_are_no_terms() {
    let roots = [Root::Rank(0), Root::Rank(u32::MAX), Root::Here, Root::Elsewhere];
    let reductions = roots.map(|root| reduce(root, u64::MAX).expecting(7));
    for terms in reductions.into_iter().chain([Terms::new(CollOp::Barrier, 0)]) {
        assert_eq!(Terms::from_words(terms.to_words()), Some(terms));
    }
    for place in [0, 1, 4] {
        let mut words = reduce(Root::Rank(0), 8).to_words();
        words[place] = u64::MAX;
        assert_eq!(Terms::from_words(words), None, "word {place}");
    }
}

#[test]
fn the_error_of_a_difference_describes_both_calls() {
    let (one, two) = (reduce(Root::Rank(0), 8), Terms::new(CollOp::Bcast, 8).root(Root::Rank(1)));
    let fits = |other: Terms| compared(&[one, other], &[]).is_ok();
    assert!(fits(one) && !fits(two) && !fits(reduce(Root::Rank(1), 8)) && !fits(reduce(Root::Rank(0), 12)));
    let created = Terms::new(CollOp::Reduce, 8).root(Root::Rank(0));
    assert!(compared(&[created, one, created], &[]).is_ok(), "objects of the program may be equal");
    let text = compared(&[one, created, one, two], &[]).expect_err("two calls").to_string();
    for part in
        ["rank 0", "MPI_Reduce of 8 bytes with root 0, MPI_SUM, MPI_INT", "rank 3", "MPI_Bcast of 8 bytes with root 1"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn groups_match_if_one_names_the_root_that_the_other_has() {
    let root = Terms::new(CollOp::Bcast, 8).root(Root::Here);
    let beside = Terms::new(CollOp::Bcast, 0).root(Root::Elsewhere);
    let from = |rank: u32, bytes: u64| Terms::new(CollOp::Bcast, 0).expecting(bytes).root(Root::Rank(rank));
    let here = [beside, root];
    for (remote, fits) in [
        (vec![from(1, 8)], true),
        (vec![from(1, 8), from(1, 8)], true),
        (vec![from(0, 8)], false),
        (vec![from(1, 12)], false),
        (vec![from(1, 8), from(0, 8)], false),
        (vec![root], false),
        (vec![beside], false),
    ] {
        assert_eq!(compared(&here, &remote).is_ok(), fits, "{remote:?}");
        assert_eq!(compared(&remote, &here).is_ok(), fits, "{remote:?}");
    }
    assert!(compared(&[root, root], &[from(1, 8)]).is_err(), "two roots");
    assert!(compared(&[beside, beside], &[from(1, 8)]).is_err(), "no root");
}

#[test]
fn data_between_groups_match_across_them() {
    let gather = |out: u64, into: u64| Terms::new(CollOp::Allgather, out).expecting(into);
    assert!(compared(&[gather(8, 4), gather(8, 4)], &[gather(4, 8)]).is_ok());
    let text = compared(&[gather(8, 4)], &[gather(8, 4)]).expect_err("4 bytes meet 8").to_string();
    assert!(text.contains("rank 0 of the other group") && text.contains("8 bytes to send and 4 bytes"), "{text}");
    assert!(compared(&[gather(8, 4), gather(8, 0)], &[gather(4, 8)]).is_err());
}

#[test]
fn the_first_finding_names_both_processes_and_both_lengths() {
    let found = first_difference(&[1, 8, 2, 24], &[1, 8, 2, 16]);
    assert_eq!(first_difference(&[1, 8], &[1, 8]), [0; FINDING]);
    let words: Vec<u64> = [[0; FINDING], found].concat();
    let among = Among { team: Team { rank: 0, size: 2 }, remote: 0 };
    let text = report_finding(&words, among).expect_err("a difference").to_string();
    assert!(text.contains("rank 1 of the communicator expects 2 blocks of 16 bytes together from rank 1"), "{text}");
    assert!(text.contains("sends 2 blocks of 24 bytes"), "{text}");
}
