//! Areas of traffic: rows, freed communicators, areas that are full, and damaged ones.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::*;
use crate::JobOptions;
use crate::layout::MIN_RING_BYTES;

fn job(ranks: u32) -> Job {
    Job::create(&JobOptions { ranks, ring_bytes: Some(MIN_RING_BYTES), cores: 1 }).unwrap()
}

fn count(rows: &[AtomicU64], row: usize, counts: [u64; 4]) {
    for (word, n) in rows[row * ROW_WORDS..].iter().zip(counts) {
        word.store(word.load(Relaxed) + n, Relaxed);
    }
}

fn counts([messages_sent, bytes_sent, messages_received, bytes_received]: [u64; 4]) -> Counts {
    Counts { messages_sent, bytes_sent, messages_received, bytes_received }
}

#[test]
fn communicators_add_up_by_rank_also_when_they_are_freed() {
    let job = job(4);
    let area = TrafficArea::new(&job, 2);
    let world = area.allocate(16, &[0, 1, 2, 3]).unwrap();
    let pair = area.allocate(8, &[3, 2]).unwrap();
    count(world, 3, [1, 10, 0, 0]);
    count(pair, 0, [2, 20, 5, 50]);
    area.sizes()[4].store(3, Relaxed);
    let expected = counts([3, 30, 5, 50]);
    let outside = Job::open(job.fd().unwrap()).unwrap();
    assert_eq!(read(&outside, 2).peers, [(3, expected)].into());
    assert!(area.release(pair) && !area.release(pair));
    area.note_peaks([Some(7), None, Some(0)]);
    area.note_peaks([Some(3), None, Some(0)]);
    let found = read(&outside, 2);
    assert_eq!((found.peers, found.sizes[4]), ([(3, expected)].into(), 3));
    assert_eq!(found.freed_peaks, [Some(7), None, Some(0)]);
    // A table of the same length is used again, with other peers.
    let again = area.allocate(8, &[1, 0]).unwrap();
    assert!(std::ptr::eq(again, pair) && again.iter().all(|word| word.load(Relaxed) == 0));
    count(again, 0, [1, 1, 1, 1]);
    assert_eq!(read(&job, 2).peers, [(1, counts([1; 4])), (3, expected)].into());
    assert_eq!(read(&job, 1).peers, [].into());
}

#[test]
fn a_full_area_leaves_rows_elsewhere_and_adds_them_when_they_are_freed() {
    let job = job(2);
    let area = TrafficArea::new(&job, 0);
    let mut tables = 0;
    while area.allocate(8, &[0, 1]).is_some() {
        tables += 1;
    }
    assert!(tables > 500, "{tables}");
    let rows: &'static [AtomicU64] = Vec::leak((0..8).map(|_| AtomicU64::new(0)).collect());
    area.note(rows, &[1, 9]);
    count(rows, 0, [4, 4, 0, 0]);
    count(rows, 1, [9, 9, 0, 0]);
    assert_eq!((read(&job, 0).elsewhere, read(&job, 0).peers), (1, [].into()));
    assert!(!area.release(rows));
    // The process with number 9 is one of another job.
    assert_eq!((read(&job, 0).elsewhere, read(&job, 0).peers), (0, [(1, counts([4, 4, 0, 0]))].into()));
}

#[test]
fn rows_of_many_ranks_take_memory_when_they_are_used_and_reading_takes_none() {
    let job = job(1024);
    let area = TrafficArea::new(&job, 5);
    let everybody: Vec<u32> = (0..1024).collect();
    let before = job.bytes_in_use().unwrap();
    let rows = area.allocate(4096, &everybody).unwrap();
    count(rows, 700, [1, 2, 3, 4]);
    let used = job.bytes_in_use().unwrap() - before;
    assert!(used <= 4 * PAGE as u64, "{used}");
    for rank in 0..1024 {
        let found = read(&job, rank);
        assert_eq!(found.peers.len(), usize::from(rank == 5));
    }
    assert_eq!(job.bytes_in_use().unwrap() - before, used);
}

#[test]
fn any_damage_is_read_without_a_crash() {
    let job = job(3);
    let area = TrafficArea::new(&job, 1);
    let mut number = 0x1234_5678_9abc_def1_u64;
    let mut next = || {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        number
    };
    for round in 0..4000 {
        if round % 50 == 0 {
            // Correct again, apart from what was damaged in the rows.
            area.word(USED).store(0, Relaxed);
            *area.directory.lock().unwrap() = Directory::default();
            (0..20).for_each(|_| assert!(area.allocate(12, &[0, 1, 2]).is_some()));
        }
        let at = (next() % (TABLES as u64 + 4000)) as usize / 8 * 8;
        let word = next() >> (next() % 64);
        area.word(at).store(if next() % 2 == 0 { word << 32 | 1 } else { word }, Relaxed);
        let found = read(&job, 1);
        assert!(found.peers.keys().all(|peer| *peer < 3) && found.sizes.len() == SIZE_CLASSES);
    }
}
