//! Locks and flushes wait for nothing but what they have to wait for, also among several threads of a process.
#![allow(unsafe_code)] // reads the results of operations, whose memory is lent for good

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use common::{Rank, WAYS, Way, kept, run};
use mpi_core::abi::*;
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_p2p::Mode;
use mpi_win::{Target, Win};

const TAG: i32 = 5;

fn class<T>(result: mpi_errors::Result<T>) -> Option<i32> {
    result.err().map(|error| error.class())
}

fn send(rank: &Rank, dest: i32) {
    let engine = &rank.engine;
    engine.send(engine.lock(), rank.world.context(), dest, TAG, SendBuf::empty(), Mode::Standard).expect("no fault");
}

fn receive(rank: &Rank, source: i32) {
    let engine = &rank.engine;
    engine.recv(engine.lock(), rank.world.context(), source, TAG, RecvBuf::empty()).expect("no fault");
}

/// Long enough that another rank or thread waits in its call.
fn a_while() {
    std::thread::sleep(Duration::from_millis(150));
}

/// The time until which a wait in a test must be over.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Runs `body` under locks in shared memory, and under locks that the owners of the memory grant.
fn run_both(size: u32, body: impl Fn(&Rank) + Send + Sync + Clone + 'static) {
    [Way::Shared, Way::Granted].into_iter().for_each(|way| run(size, way, body.clone()));
}

#[test]
fn an_epoch_for_no_process_takes_operations_on_none() {
    run_both(2, |rank: &Rank| {
        let win = rank.allocate::<u64>(1);
        let none = |count: u64| Target {
            rank: MPI_PROC_NULL,
            displacement: 0,
            count,
            datatype: u64::datatype(),
            handle: u64::HANDLE,
        };
        let put = || {
            let data = SendBuf::from_slice(kept(vec![1u64]));
            rank.one_sided.put(&mut rank.engine.lock(), &win, data, &none(1))
        };
        assert_eq!(class(put()), Some(MPI_ERR_RMA_SYNC));
        rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_SHARED, MPI_PROC_NULL, 0).expect("no process");
        put().expect("an epoch is open");
        let guard = &mut rank.engine.lock();
        rank.one_sided
            .requested(guard, &win, &none(1), |guard| {
                rank.one_sided.put(guard, &win, SendBuf::from_slice(kept(vec![1u64])), &none(1))
            })
            .map(|request| rank.engine.test(guard, request).expect("live").expect("complete"))
            .expect("an epoch is open");
        assert_eq!(class(win.is_complete(guard)), Some(MPI_ERR_RMA_SYNC));
    });
}

#[test]
fn an_epoch_for_no_process_ends() {
    run_both(1, |rank: &Rank| {
        let win = rank.allocate::<u64>(1);
        rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0).expect("no process");
        assert_eq!(
            class(rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0)),
            Some(MPI_ERR_RMA_SYNC),
            "locked twice"
        );
        rank.one_sided.flush(rank.engine.lock(), &win, MPI_PROC_NULL).expect("locked");
        rank.one_sided.unlock(rank.engine.lock(), &win, MPI_PROC_NULL).expect("locked");
        assert_eq!(class(rank.one_sided.unlock(rank.engine.lock(), &win, MPI_PROC_NULL)), Some(MPI_ERR_RMA_SYNC));
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn a_process_that_waits_in_flushes_for_a_change_of_its_memory_applies_it() {
    for way in WAYS {
        run(2, way, |rank: &Rank| {
            let win = rank.allocate::<u64>(1);
            rank.one_sided.lock_all(rank.engine.lock(), &win, 0).expect("free");
            if rank.rank() == 0 {
                let limit = soon();
                let address = kept(vec![0u64]).as_mut_ptr();
                loop {
                    // SAFETY: the last operation on it is complete, and nothing else refers to it.
                    let into = unsafe { std::slice::from_raw_parts_mut(address, 1) };
                    rank.fetch(&win, &[], into, (0, 0), MPI_NO_OP).expect("inside");
                    rank.one_sided.flush(rank.engine.lock(), &win, 0).expect("locked");
                    // SAFETY: as above.
                    if unsafe { address.read() } == 7 {
                        break;
                    }
                    assert!(Instant::now() < limit, "the accumulation is never applied");
                }
            } else {
                rank.accumulate(&win, &[7u64], 0, 0, MPI_REPLACE).expect("inside");
                rank.one_sided.flush(rank.engine.lock(), &win, 0).expect("locked");
            }
            rank.one_sided.unlock_all(rank.engine.lock(), &win).expect("locked");
            rank.one_sided.end(&win).expect("no fault");
        });
    }
}

#[test]
fn a_process_that_waits_in_synchronizations_for_a_change_of_its_memory_applies_it() {
    run(2, Way::Sent, |rank: &Rank| {
        let win = rank.allocate::<u64>(1);
        rank.one_sided.lock_all(rank.engine.lock(), &win, 0).expect("free");
        if rank.rank() == 0 {
            let limit = soon();
            while rank.memory::<u64>(&win)[0] != 7 {
                rank.one_sided.sync(&mut rank.engine.lock()).expect("no fault");
                assert!(Instant::now() < limit, "the accumulation is never applied");
            }
        } else {
            rank.accumulate(&win, &[7u64], 0, 0, MPI_REPLACE).expect("inside");
        }
        rank.one_sided.unlock_all(rank.engine.lock(), &win).expect("locked");
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn a_lock_is_shared_although_a_process_waits_to_hold_it_alone() {
    // The holder waits for a message that another process sends when it shares the lock too.
    run_both(3, |rank: &Rank| {
        let win = rank.allocate::<u64>(1);
        match rank.rank() {
            0 => {
                rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_SHARED, 0, 0).expect("free");
                send(rank, 1);
                a_while();
                send(rank, 2);
                receive(rank, 2);
                rank.one_sided.unlock(rank.engine.lock(), &win, 0).expect("locked");
            }
            1 => {
                receive(rank, 0);
                rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_EXCLUSIVE, 0, 0).expect("free at last");
                rank.one_sided.unlock(rank.engine.lock(), &win, 0).expect("locked");
            }
            _ => {
                receive(rank, 0);
                rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_SHARED, 0, 0).expect("shared");
                send(rank, 0);
                rank.one_sided.unlock(rank.engine.lock(), &win, 0).expect("locked");
            }
        }
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn a_process_that_waits_for_all_locks_keeps_none_from_others() {
    run_both(3, |rank: &Rank| {
        let win = rank.allocate::<u64>(1);
        if rank.rank() == 0 {
            rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_EXCLUSIVE, 2, 0).expect("free");
            send(rank, 1);
            a_while();
            rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_EXCLUSIVE, 0, 0).expect("free");
            rank.one_sided.unlock(rank.engine.lock(), &win, 0).expect("locked");
            rank.one_sided.unlock(rank.engine.lock(), &win, 2).expect("locked");
        } else if rank.rank() == 1 {
            receive(rank, 0);
            rank.one_sided.lock_all(rank.engine.lock(), &win, 0).expect("free at last");
            rank.one_sided.unlock_all(rank.engine.lock(), &win).expect("locked");
        }
        rank.one_sided.end(&win).expect("no fault");
    });
}

/// Runs two threads of a rank of a process of several threads.
fn both(rank: &Rank, one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    rank.engine.process_lock().set_multiple(true);
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        other();
        one.join().expect("no panic");
    });
}

#[test]
fn a_rank_is_locked_by_one_thread_of_a_process_and_released_once() {
    run_both(2, |rank: &Rank| {
        let win = rank.allocate::<u64>(1);
        for round in 0..300 {
            let refused = AtomicU32::new(0);
            let lock = || match class(rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_SHARED, round % 2, 0)) {
                None => {}
                Some(MPI_ERR_RMA_SYNC) => drop(refused.fetch_add(1, SeqCst)),
                other => panic!("{other:?}"),
            };
            both(rank, lock, lock);
            assert_eq!(refused.load(SeqCst), 1, "one of two threads has the lock");
            let unlock = || match class(rank.one_sided.unlock(rank.engine.lock(), &win, round % 2)) {
                None => {}
                Some(MPI_ERR_RMA_SYNC) => drop(refused.fetch_add(1, SeqCst)),
                other => panic!("{other:?}"),
            };
            both(rank, unlock, unlock);
            assert_eq!(refused.load(SeqCst), 2, "it is released once");
        }
        // No share is left.
        rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_EXCLUSIVE, 0, 0).expect("free");
        rank.one_sided.unlock(rank.engine.lock(), &win, 0).expect("locked");
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn a_thread_that_waits_for_a_lock_excludes_other_epochs_and_no_other_use() {
    run_both(2, |rank: &Rank| {
        let win = rank.allocate::<u64>(2);
        if rank.rank() == 0 {
            rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_EXCLUSIVE, 0, 0).expect("free");
            send(rank, 1);
            receive(rank, 1);
            rank.one_sided.unlock(rank.engine.lock(), &win, 0).expect("locked");
        } else {
            receive(rank, 0);
            let locked = AtomicBool::new(false);
            let wait = || {
                rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_EXCLUSIVE, 0, 0).expect("free at last");
                locked.store(true, SeqCst);
                rank.one_sided.unlock(rank.engine.lock(), &win, 0).expect("locked");
            };
            let use_it = || {
                a_while();
                assert_eq!(class(rank.put(&win, &[1u64], 0, 0)), Some(MPI_ERR_RMA_SYNC), "it is not locked yet");
                assert_eq!(class(rank.one_sided.unlock(rank.engine.lock(), &win, 0)), Some(MPI_ERR_RMA_SYNC));
                assert_eq!(class(rank.one_sided.lock_all(rank.engine.lock(), &win, 0)), Some(MPI_ERR_RMA_SYNC));
                rank.one_sided.lock(rank.engine.lock(), &win, MPI_LOCK_SHARED, 1, 0).expect("free");
                rank.put(&win, &[1u64], 1, 0).expect("locked");
                rank.one_sided.flush_all(rank.engine.lock(), &win).expect("locked");
                rank.one_sided.unlock(rank.engine.lock(), &win, 1).expect("locked");
                assert!(!locked.load(SeqCst));
                send(rank, 0);
            };
            both(rank, wait, use_it);
        }
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn a_flush_waits_for_operations_that_another_thread_flushes() {
    run(2, Way::Sent, |rank: &Rank| {
        let win = rank.allocate::<u64>(2);
        rank.engine.process_lock().set_multiple(true);
        rank.one_sided.lock_all(rank.engine.lock(), &win, 0).expect("free");
        static APPLIES: AtomicBool = AtomicBool::new(false);
        if rank.rank() == 0 {
            rank.accumulate(&win, &[1u64], 1, 0, MPI_SUM).expect("inside");
            let flush = || rank.one_sided.flush(rank.engine.lock(), &win, 1).expect("locked");
            let flush_later = || {
                a_while();
                rank.one_sided.flush(rank.engine.lock(), &win, 1).expect("locked");
                assert!(APPLIES.load(SeqCst), "the operation is not complete");
            };
            let target_later = || {
                a_while();
                a_while();
                APPLIES.store(true, SeqCst);
            };
            both(rank, flush, || both(rank, flush_later, target_later));
        } else {
            // In no call of the library.
            while !APPLIES.load(SeqCst) {
                std::thread::yield_now();
            }
        }
        rank.one_sided.unlock_all(rank.engine.lock(), &win).expect("locked");
        rank.one_sided.end(&win).expect("no fault");
    });
}

/// Threads of all ranks add to elements of all ranks, each thread under the lock of one rank at a time.
#[test]
fn threads_lock_different_ranks_at_once() {
    const ROUNDS: u64 = 60;
    for way in [Way::Shared, Way::Sent, Way::Granted] {
        run(4, way, |rank: &Rank| {
            let size = rank.size();
            let win = rank.allocate::<u64>(2);
            rank.engine.process_lock().set_multiple(true);
            std::thread::scope(|scope| {
                for target in 0..size {
                    let win: &Win = &win;
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            let kind = if round % 3 == 0 { MPI_LOCK_SHARED } else { MPI_LOCK_EXCLUSIVE };
                            rank.one_sided.lock(rank.engine.lock(), win, kind, target as i32, 0).expect("free at last");
                            rank.accumulate(win, &[1u64], target, 0, MPI_SUM).expect("locked");
                            if kind == MPI_LOCK_EXCLUSIVE {
                                let found = kept(vec![0u64]);
                                let address = found.as_ptr();
                                rank.get(win, found, target, 1).expect("locked");
                                rank.one_sided.flush(rank.engine.lock(), win, target as i32).expect("locked");
                                // SAFETY: the get is complete.
                                let next = unsafe { address.read() } + 1;
                                rank.put(win, kept(vec![next]), target, 1).expect("locked");
                            }
                            rank.one_sided.unlock(rank.engine.lock(), win, target as i32).expect("locked");
                        }
                    });
                }
            });
            rank.fence(&win).expect("no fault");
            let (all, alone) = (ROUNDS * size as u64, ROUNDS * 2 / 3 * size as u64);
            assert_eq!(rank.memory::<u64>(&win), [all, alone]);
            rank.one_sided.end(&win).expect("no fault");
        });
    }
}
