//! Rules of exchanges between processes, in communicators with more processes than the tree has branches.

mod common;

use common::run;
use mpi_comm::{Exchange, Group};

const TAG: i32 = 0x7777;

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
