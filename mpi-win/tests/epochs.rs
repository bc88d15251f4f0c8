//! Operations of several ranks in several epochs, compared with a sequential model.

mod common;

use common::{Numbers, Rank, WAYS, Way, kept, run, run_all};
use mpi_core::abi::{MPI_BXOR, MPI_NO_OP, MPI_REPLACE, MPI_SUM};

/// Words of one rank's part: a region for each origin's puts, and one that all accumulate to.
const REGION: usize = 70_000;

/// Lengths on both sides of every limit: inside a record, beyond it, more than one piece.
fn length(numbers: &mut Numbers) -> usize {
    let most = [3, 40, 1100, 9000, REGION][numbers.below(5)];
    1 + numbers.below(most)
}

#[test]
fn a_mixture_of_operations_gives_what_a_sequential_program_gives() {
    for size in [1, 2, 4] {
        for way in WAYS {
            run(size, way, move |rank: &Rank| mixture(rank, 12));
        }
    }
}

/// Each process computes the operations of all, performs its own, and keeps a model of its own memory.
fn mixture(rank: &Rank, epochs: usize) {
    let (own, size) = (rank.rank(), rank.size());
    let shared = size * REGION;
    let win = rank.allocate::<u64>(shared + REGION);
    let mut model = vec![0u64; shared + REGION];
    rank.fence(&win).expect("no fault");
    for epoch in 0..epochs {
        let mut gets = Vec::new();
        for origin in 0..size {
            for step in 0..6 {
                let numbers = &mut Numbers::new(&[epoch, origin, step]);
                let (target, count) = (numbers.below(size), length(numbers));
                let at = numbers.below(REGION - count + 1);
                let data: Vec<u64> = (0..count).map(|_| numbers.below(1 << 40) as u64).collect();
                match step {
                    // One put an origin and epoch, into the origin's region of the target.
                    0 => {
                        if target == own {
                            model[origin * REGION + at..][..count].copy_from_slice(&data);
                        }
                        if origin == own {
                            rank.put(&win, kept(data), target, origin * REGION + at).expect("inside");
                        }
                    }
                    // Sums in one epoch, bits in the next: any order gives the same.
                    _ => {
                        let op = if epoch.is_multiple_of(2) { MPI_SUM } else { MPI_BXOR };
                        if target == own {
                            for (word, value) in model[shared + at..].iter_mut().zip(&data) {
                                *word = if op == MPI_SUM { word.wrapping_add(*value) } else { *word ^ value };
                            }
                        }
                        if origin == own {
                            rank.accumulate(&win, kept(data), target, shared + at, op).expect("inside");
                        }
                    }
                }
            }
        }
        rank.fence(&win).expect("no fault");
        assert!(*rank.memory::<u64>(&win) == *model, "epoch {epoch}");
        // An epoch of gets: the values that a rank reads of itself through others are its own.
        let numbers = &mut Numbers::new(&[epoch, own, 99]);
        for _ in 0..3 {
            let count = length(numbers);
            let at = numbers.below(REGION);
            let target = numbers.below(size);
            let into = kept(vec![0u64; count]);
            let address = into.as_ptr() as usize;
            rank.get(&win, into, target, at).expect("inside");
            gets.push((target, at, count, address));
        }
        rank.fence(&win).expect("no fault");
        for (target, at, count, address) in gets {
            if target == own {
                let got = seen(address, count);
                assert_eq!(got, &model[at..at + count]);
            }
        }
    }
    rank.fence(&win).expect("no fault");
    rank.one_sided.end(&win).expect("no fault");
}

/// Memory that was kept, after the fence that ended its use by the library.
#[allow(unsafe_code)]
fn seen(address: usize, count: usize) -> &'static [u64] {
    // SAFETY: leaked memory of `count` words, which no process writes any more.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), count) }
}

#[test]
fn gets_bring_what_stands_at_the_target() {
    run_all(|rank: &Rank| {
        let (own, size) = (rank.rank(), rank.size());
        let win = rank.allocate::<u32>(50_000);
        for (at, word) in rank.memory::<u32>(&win).iter_mut().enumerate() {
            *word = (own * 100_000 + at) as u32;
        }
        rank.fence(&win).expect("no fault");
        let mut awaited = Vec::new();
        for target in 0..size {
            for (at, count) in [(0, 1), (7, 2000), (100, 2500), (0, 50_000)] {
                let into = kept(vec![0u32; count]);
                awaited.push((target, at, count, into.as_ptr() as usize));
                rank.get(&win, into, target, at).expect("inside");
            }
        }
        rank.fence(&win).expect("no fault");
        for (target, at, count, address) in awaited {
            let expected: Vec<u32> = (at..at + count).map(|at| (target * 100_000 + at) as u32).collect();
            // SAFETY: as in `seen`.
            #[allow(unsafe_code)]
            let got: &[u32] = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), count) };
            assert!(got == expected, "{count} from {target}");
        }
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn fetching_sums_hand_out_every_number_once() {
    run_all(|rank: &Rank| {
        let (own, size) = (rank.rank(), rank.size());
        let (win, rounds) = (rank.allocate::<i64>(2 + size * 500), 500);
        rank.fence(&win).expect("no fault");
        let mut places = Vec::new();
        for _ in 0..rounds {
            let into = kept(vec![-1i64]);
            places.push(into.as_ptr() as usize);
            rank.fetch(&win, kept(vec![1i64]), into, (0, 0), MPI_SUM).expect("inside");
        }
        rank.fence(&win).expect("no fault");
        // Every rank marks its numbers at rank 0.
        let mut last = -1;
        for address in places {
            let number = seen(address, 1)[0] as i64;
            assert!(number > last && number < (size * rounds) as i64);
            last = number;
            rank.accumulate(&win, kept(vec![1i64]), 0, 2 + number as usize, MPI_SUM).expect("inside");
        }
        rank.fence(&win).expect("no fault");
        if own == 0 {
            let memory = rank.memory::<i64>(&win);
            assert_eq!((memory[0], memory[1]), ((size * rounds) as i64, 0));
            assert!(memory[2..].iter().all(|marks| *marks == 1));
        }
        // Fetching alone changes nothing.
        let into = kept(vec![-1i64; 3]);
        let address = into.as_ptr() as usize;
        rank.fetch(&win, &[], into, (0, 0), MPI_NO_OP).expect("inside");
        rank.fence(&win).expect("no fault");
        assert_eq!(seen(address, 3).iter().map(|word| *word as usize).collect::<Vec<_>>(), [size * rounds, 0, 1]);
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn accumulations_of_one_process_keep_their_order_across_batches_and_pieces() {
    run(3, Way::Copied, |rank: &Rank| {
        let count = 300_000;
        let win = rank.allocate::<i32>(count);
        rank.fence(&win).expect("no fault");
        if rank.rank() == 1 {
            for step in 0..200 {
                let small = kept(vec![step; 100]);
                rank.accumulate(&win, small, 2, 0, MPI_REPLACE).expect("inside");
                if step % 50 == 0 {
                    rank.accumulate(&win, kept(vec![step * 1000; count]), 2, 0, MPI_REPLACE).expect("inside");
                }
            }
        }
        rank.fence(&win).expect("no fault");
        if rank.rank() == 2 {
            let memory = rank.memory::<i32>(&win);
            assert!(memory[..100].iter().all(|word| *word == 199));
            assert!(memory[100..].iter().all(|word| *word == 150_000));
        }
        rank.one_sided.end(&win).expect("no fault");
    });
}

#[test]
fn only_operations_that_cannot_be_copied_directly_are_sent() {
    for way in WAYS {
        run(2, way, move |rank: &Rank| {
            let win = rank.allocate::<u8>(1000);
            rank.fence(&win).expect("no fault");
            let other = 1 - rank.rank();
            rank.put(&win, kept(vec![1u8; 10]), other, 0).expect("inside");
            rank.get(&win, kept(vec![1u8; 10]), other, 500).expect("inside");
            rank.put(&win, kept(vec![1u8; 10]), rank.rank(), 20).expect("inside");
            rank.accumulate(&win, kept(vec![1u8; 10]), other, 40, MPI_SUM).expect("inside");
            let instruments = win.instruments();
            let sent = match way {
                Way::Shared => 0,
                Way::Copied if copies(rank) => 1,
                Way::Copied | Way::Sent | Way::Granted => 3,
            };
            assert_eq!(instruments.messages.get(), sent);
            assert_eq!((instruments.puts.get(), instruments.gets.get(), instruments.accumulates.get()), (2, 1, 1));
            assert_eq!((instruments.put_bytes.get(), instruments.get_bytes.get()), (20, 10));
            rank.fence(&win).expect("no fault");
            rank.one_sided.end(&win).expect("no fault");
        });
    }
}

#[test]
fn many_small_puts_are_sent_together_and_all_arrive() {
    for way in WAYS {
        run(3, way, |rank: &Rank| {
            let count = 5000;
            let win = rank.allocate::<u32>(3 * count);
            rank.fence(&win).expect("no fault");
            for at in 0..count {
                let data = kept(vec![(rank.rank() * count + at) as u32]);
                rank.put(&win, data, (rank.rank() + 1) % 3, rank.rank() * count + at).expect("inside");
            }
            rank.fence(&win).expect("no fault");
            let from = (rank.rank() + 2) % 3 * count;
            let memory = rank.memory::<u32>(&win);
            assert!((from..from + count).all(|at| memory[at] == at as u32));
            assert_eq!(memory.iter().filter(|word| **word == 0).count(), 2 * count + usize::from(from == 0));
            rank.one_sided.end(&win).expect("no fault");
        });
    }
}

/// Whether the kernel of this machine lets processes copy.
fn copies(rank: &Rank) -> bool {
    rank.engine.can_copy(&rank.engine.lock(), 1 - rank.rank() as u32)
}
