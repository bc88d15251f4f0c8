//! The forms for programs in Rust: windows that own a vector, and shared memory as elements.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use common::{Rank, Way, kept, run, run_all};
use mpi_core::Info;
use mpi_core::abi::{MPI_ERR_NOT_SAME, MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_SYNC};
use mpi_errors::{Error, Result};
use mpi_t::HeapMemory;
use mpi_win::{Exposure, Flavor, Win};

fn owning(rank: &Rank, data: Vec<u32>) -> Win {
    let made = rank.one_sided.create_owning(&rank.world, &rank.ids, (data, Info::new()), true, &HeapMemory);
    made.expect("little memory")
}

fn shared(rank: &Rank, size: i64, disp_unit: i64) -> Arc<Win> {
    let what = Exposure { flavor: Flavor::Shared, size, disp_unit, hints: Info::new() };
    Arc::new(rank.try_create(what, true).expect("little memory"))
}

fn class<T>(result: Result<T>) -> Option<i32> {
    result.err().as_ref().map(Error::class)
}

#[test]
fn a_vector_comes_back_with_what_others_put_there() {
    run_all(|rank| {
        let mut data = Vec::with_capacity(64);
        data.extend([rank.rank() as u32; 50]);
        let address = data.as_ptr();
        let win = owning(rank, data);
        rank.fence(&win).expect("no fault");
        rank.put(&win, kept(vec![7u32, 8]), (rank.rank() + 1) % rank.size(), 3).expect("inside");
        rank.fence(&win).expect("no fault");
        rank.one_sided.end(&win).expect("no fault");
        let data = win.into_data::<u32>().expect("it has ended");
        assert_eq!((data.len(), data.capacity(), data.as_ptr()), (50, 64, address));
        assert_eq!(data[2..6], [rank.rank() as u32, 7, 8, rank.rank() as u32]);
        // Of other elements, or not ended yet.
        let win = owning(rank, vec![1]);
        rank.one_sided.end(&win).expect("no fault");
        assert_eq!(win.into_data::<u64>(), None);
        assert_eq!(owning(rank, vec![1]).into_data::<u32>(), None);
    });
}

#[test]
fn parts_are_given_out_once_and_phases_are_of_one_kind() {
    run(3, Way::Shared, |rank| {
        let win = shared(rank, 8 * (rank.rank() as i64 + 1), 8);
        let mut parts = rank.one_sided.shared_parts::<u64>(win.clone()).expect("all alike");
        assert_eq!(class(rank.one_sided.shared_parts::<u64>(win.clone())), Some(MPI_ERR_RMA_FLAVOR));
        assert_eq!(class(rank.one_sided.shared_atomics::<AtomicU32>(win.clone())), Some(MPI_ERR_RMA_FLAVOR));
        assert_eq!(parts.lengths().collect::<Vec<_>>(), [1, 2, 3]);
        for step in 0..100 {
            rank.one_sided.own_part(&mut parts).expect("all change").fill(10 * rank.rank() as u64 + step);
            let read = rank.one_sided.read_parts(&mut parts).expect("all read");
            for other in 0..3 {
                assert_eq!(read.of(other), Some(&vec![10 * u64::from(other) + step; other as usize + 1][..]));
            }
        }
        let mixed = match rank.rank() {
            0 => class(rank.one_sided.own_part(&mut parts)),
            _ => class(rank.one_sided.read_parts(&mut parts)),
        };
        assert_eq!(mixed, Some(MPI_ERR_RMA_SYNC));
        rank.one_sided.end(&win).expect("no fault");
        assert_eq!(
            class(rank.one_sided.shared_parts::<u64>(Arc::new(rank.allocate::<u64>(1)))),
            Some(MPI_ERR_RMA_FLAVOR)
        );
    });
}

#[test]
fn no_operation_reaches_parts_that_were_given_out() {
    run(2, Way::Shared, |rank| {
        let win = shared(rank, 8, 8);
        rank.fence(&win).expect("no fault");
        let mut parts = rank.one_sided.shared_parts::<u64>(win.clone()).expect("all alike");
        let own = rank.one_sided.own_part(&mut parts).expect("all change");
        own[0] = 5;
        assert_eq!(class(rank.put(&win, kept(vec![7u64]), rank.rank(), 0)), Some(MPI_ERR_RMA_SYNC));
        assert_eq!(class(rank.fence(&win)), Some(MPI_ERR_RMA_SYNC));
        assert_eq!(class(win.write_own(&mut rank.engine.lock(), 0, &[7u64])), Some(MPI_ERR_RMA_SYNC));
        assert_eq!(class(win.read_own(&mut rank.engine.lock(), 0, &mut [0u64])), Some(MPI_ERR_RMA_SYNC));
        assert_eq!(own[0], 5);
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn elements_have_one_size_and_one_kind_in_all_processes() {
    run(2, Way::Shared, |rank| {
        let win = shared(rank, 8, 4 << rank.rank());
        let refused = match rank.rank() {
            0 => class(rank.one_sided.shared_parts::<u32>(win.clone())),
            _ => class(rank.one_sided.shared_parts::<u64>(win.clone())),
        };
        assert_eq!(refused, Some(MPI_ERR_NOT_SAME));
        rank.one_sided.end(&win).expect("no fault");
        let win = shared(rank, 8, 2);
        let refused = match rank.rank() {
            0 => class(rank.one_sided.shared_parts::<u16>(win.clone())),
            _ => class(rank.one_sided.shared_atomics::<AtomicU16>(win.clone())),
        };
        assert_eq!(refused, Some(MPI_ERR_NOT_SAME));
        rank.one_sided.end(&win).expect("no fault");
        let win = shared(rank, 4, 4);
        let atomics = rank.one_sided.shared_atomics::<AtomicU32>(win.clone()).expect("all alike");
        for of in 0..2 {
            atomics.of(of).expect("a rank")[0].fetch_add(1, Ordering::Relaxed);
        }
        rank.one_sided.end(&win).expect("no fault");
        assert_eq!(atomics.of(rank.rank() as u32).expect("a rank")[0].load(Ordering::Relaxed), 2);
        assert!(atomics.of(2).is_none());
    });
}
