//! Rules of exchanges between processes, in communicators with more processes than the tree has branches.

mod common;

use common::run;
use mpi_comm::{Exchange, Group};
use mpi_core::abi::MPI_ERR_PROC_ABORTED;
use mpi_errors::Error;

const TAG: i32 = 0x7777;
/// Of an operation of some processes of a communicator.
const TAG_OF_SOME: i32 = i32::MIN + 3;

#[test]
fn all_processes_receive_the_words_of_all() {
    for size in [1, 2, 5, 16, 17, 35] {
        run(size, move |engine, world| {
            let own = u64::from(engine.rank());
            let all = Exchange::among_all(engine, world, TAG).all([own, own * own]).expect("no fault");
            let expected: Vec<_> = (0..u64::from(size)).map(|rank| [rank, rank * rank]).collect();
            assert_eq!(all, expected);
        });
    }
}

#[test]
fn the_first_process_adjusts_the_words_before_others_receive_them() {
    run(18, |engine, world| {
        let exchange = Exchange::among_all(engine, world, TAG);
        let sum = |all: &mut [[u64; 1]]| all[1] = [all.iter().flatten().sum()];
        for round in 0..20 {
            let all = exchange.all_with([round], sum).expect("no fault");
            assert_eq!((all[0], all[1], all.len()), ([round], [18 * round], 18));
            let make = || [engine.rank() as u64 + 7, round];
            assert_eq!(exchange.from_first(make).expect("no fault"), [7, round]);
        }
    });
}

#[test]
fn a_group_exchanges_in_its_own_order_while_others_do_not() {
    run(6, |engine, world| {
        let group = Group::new([4, 1, 3]);
        match Exchange::among_group(engine, world, &group, TAG) {
            Ok(exchange) => {
                let all = exchange.all([u64::from(engine.rank())]).expect("no fault");
                assert_eq!(all, [[4], [1], [3]]);
            }
            Err(_) => assert!(group.rank_of(engine.rank()).is_none()),
        }
    });
}

#[test]
fn a_loss_found_in_the_previous_exchange_is_an_error_in_all_processes() {
    let lost = || Error::new(MPI_ERR_PROC_ABORTED, "lost");
    for (size, found) in [(2, 0), (5, 3), (17, 16), (18, 16), (18, 17), (35, 0), (35, 17)] {
        run(size, move |engine, world| {
            let group = Group::new((0..size).collect::<Vec<_>>());
            let exchange = Exchange::among_group(engine, world, &group, TAG_OF_SOME).expect("it is a part");
            for round in 0..3 {
                let first = || (engine.rank() == found && round == 1).then(lost);
                let sum = exchange.sum_after(first(), vec![u64::from(engine.rank())]);
                let all = exchange.all_after(first(), [1]);
                if round == 1 {
                    assert_eq!(sum.expect_err("one has lost another").class(), MPI_ERR_PROC_ABORTED);
                    assert_eq!(all.expect_err("one has lost another").class(), MPI_ERR_PROC_ABORTED);
                } else {
                    assert_eq!(sum.expect("no fault"), [u64::from(size * (size - 1) / 2)]);
                    assert_eq!(all.expect("no fault"), vec![[1]; size as usize]);
                }
            }
        });
    }
}
