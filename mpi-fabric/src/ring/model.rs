//! Loom models of the ring: every interleaving, and every value that the memory model lets a load return.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p mpi-fabric --release --lib loom`

use loom::thread;

use super::{Consumer, Expected, Producer, RingMemory, longest_record};
use crate::layout::LINE;
use crate::record::{Payload, RecordHead, payload_at};
use crate::sync::{AtomicU64, Ordering};

/// Short enough for loom, long enough for the guarantee of `longest_record`.
const BYTES: usize = 8 * LINE;

/// A ring of loom's atomics.
struct Words {
    data: Vec<AtomicU64>,
    credit: AtomicU64,
    /// The copy buffer: two lines.
    buffer: Vec<AtomicU64>,
    next: Option<Ring>,
    /// The only cell of the pair: its first line.
    cell: loom::sync::Arc<Vec<AtomicU64>>,
}

type Ring = loom::sync::Arc<Words>;

fn cell() -> loom::sync::Arc<Vec<AtomicU64>> {
    loom::sync::Arc::new((0..LINE / 8).map(|_| AtomicU64::new(0)).collect())
}

fn ring(reported: u64, next: Option<Ring>) -> Ring {
    ring_with(reported, next, cell())
}

fn ring_with(reported: u64, next: Option<Ring>, cell: loom::sync::Arc<Vec<AtomicU64>>) -> Ring {
    let data = (0..BYTES / 8).map(|_| AtomicU64::new(0)).collect();
    let buffer = (0..2 * LINE / 8).map(|_| AtomicU64::new(0)).collect();
    loom::sync::Arc::new(Words { data, credit: AtomicU64::new(reported), buffer, next, cell })
}

impl RingMemory for Ring {
    fn bytes(&self) -> usize {
        BYTES
    }

    fn next(&self) -> Option<Ring> {
        self.next.clone()
    }

    fn credit(&self) -> &AtomicU64 {
        &self.credit
    }

    unsafe fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8));
        &self.data[at / 8]
    }

    unsafe fn fill(&self, at: usize, len: usize, fill: impl FnOnce(&mut [u8])) {
        let mut bytes = vec![0; len];
        fill(&mut bytes);
        // SAFETY: the caller's contract is the same.
        unsafe { self.write(at, &bytes) };
    }

    unsafe fn write(&self, at: usize, src: &[u8]) {
        for (i, chunk) in src.chunks(8).enumerate() {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.data[at / 8 + i].store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        }
    }

    fn timed_credit(&self) -> (u64, u32) {
        (self.credit.load(Ordering::Acquire), 0)
    }

    fn buffer_bytes(&self) -> usize {
        self.buffer.len() * 8
    }

    unsafe fn view_buffer<R>(&self, at: usize, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R {
        let words: Vec<u64> = (0..len.div_ceil(8)).map(|i| self.buffer[at / 8 + i].load(Ordering::Relaxed)).collect();
        view(Payload::from_words(&words, len))
    }

    fn cells(&self) -> usize {
        1
    }

    unsafe fn view_cell<R>(&self, cell: usize, _far: bool, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R {
        assert_eq!(cell, 0);
        let words: Vec<u64> = (0..len.div_ceil(8)).map(|i| self.cell[i].load(Ordering::Relaxed)).collect();
        view(Payload::from_words(&words, len))
    }

    unsafe fn hand_over(&self, _at: usize, _bytes: usize) {}

    unsafe fn view<R>(&self, at: usize, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R {
        let words: Vec<u64> = (0..len.div_ceil(8)).map(|i| self.data[at / 8 + i].load(Ordering::Relaxed)).collect();
        view(Payload::from_words(&words, len))
    }
}

/// Both ends, as if `start` bytes had passed through before.
fn ends(start: usize) -> (Producer<Ring>, Consumer<Ring>) {
    let ring = ring(start as u64, None);
    let (mut producer, mut consumer) = (Producer::new(ring.clone()), Consumer::new(ring));
    (producer.pos, producer.consumed) = (start, start as u64);
    (consumer.pos, consumer.reported) = (start, start as u64);
    (producer, consumer)
}

/// Both ends of a pair that has not exchanged anything: with a longer ring behind the first one.
fn ends_of_new_pair() -> (Producer<Ring>, Consumer<Ring>) {
    let first = ring(0, Some(ring(0, None)));
    (Producer::new(first.clone()), Consumer::new(first))
}

fn push(producer: &mut Producer<Ring>, number: u64, words: usize) {
    let head = RecordHead { kind: 1, a: number, b: !number, ..Default::default() };
    let payload: Vec<u8> = (0..words as u64).flat_map(|i| (number * 100 + i).to_le_bytes()).collect();
    while !producer.fits(payload.len()) {
        if producer.grow(payload.len()).is_err() {
            thread::yield_now();
        }
    }
    assert!(producer.try_push(&head, &payload).is_ok());
}

fn receive(consumer: &mut Consumer<Ring>, next: &mut u64, until: u64) {
    while *next < until {
        let polled = consumer.poll(
            2,
            |head, payload| {
                assert_eq!((head.kind, head.a, head.b), (1, *next, !*next));
                for i in 0..payload.len() / 8 {
                    assert_eq!(payload.word(i), *next * 100 + i as u64);
                }
                *next += 1;
            },
            |_| false,
        );
        if polled.expect("a correct sender writes only records") == 0 {
            thread::yield_now();
        }
    }
}

/// Expects the record with this number, and checks its payload.
struct Numbered(u64);

impl Expected for Numbered {
    type Output = ();

    fn is(&self, head: &RecordHead, _len: usize) -> bool {
        head.a == self.0
    }

    fn take(self, _head: &RecordHead, payload: Payload<'_>) {
        (0..payload.len() / 8).for_each(|i| assert_eq!(payload.word(i), self.0 * 100 + i as u64));
    }
}

/// Waits for a record by [`Consumer::await_next`], and leaves to a poll what that leaves.
fn await_record(consumer: &mut Consumer<Ring>, number: u64) {
    loop {
        if consumer.await_next(2, || (), Numbered(number), |_| true).0.is_some() {
            return;
        }
        let mut polled = number;
        let each = |head: &RecordHead, _: Payload<'_>| {
            assert_eq!(head.a, polled);
            polled += 1;
        };
        if consumer.poll(1, each, |_| true).expect("a correct sender writes only records") > 0 {
            return;
        }
        thread::yield_now();
    }
}

fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(body);
}

#[test]
fn loom_records_arrive_whole_and_in_order() {
    model(3, || {
        let (mut producer, mut consumer) = ends(0);
        let sender = thread::spawn(move || {
            push(&mut producer, 0, 1);
            push(&mut producer, 1, 5);
            push(&mut producer, 2, 1);
        });
        receive(&mut consumer, &mut 0, 3);
        sender.join().unwrap();
    });
}

#[test]
fn loom_awaited_records_arrive_whole_and_in_order() {
    model(2, || {
        let (mut producer, mut consumer) = ends(0);
        let sender = thread::spawn(move || {
            push(&mut producer, 0, 1);
            push(&mut producer, 1, 5);
        });
        await_record(&mut consumer, 0);
        await_record(&mut consumer, 1);
        sender.join().unwrap();
    });
}

#[test]
fn loom_an_awaited_record_in_a_cell_has_its_payload() {
    model(2, || {
        let (mut producer, mut consumer) = ends(0);
        let sender = thread::spawn(move || push_cell(&mut producer, 1));
        await_record(&mut consumer, 1);
        sender.join().unwrap();
    });
}

#[test]
fn loom_records_around_the_end_of_the_ring_arrive() {
    model(3, || {
        // One more record fits before the spare line; the next one needs a wrap mark.
        let (mut producer, mut consumer) = ends(BYTES - 2 * LINE);
        let sender = thread::spawn(move || {
            push(&mut producer, 0, 1);
            push(&mut producer, 1, 1);
            push(&mut producer, 2, 5);
        });
        receive(&mut consumer, &mut 0, 3);
        sender.join().unwrap();
    });
}

#[test]
fn loom_a_sender_waits_for_room_and_overwrites_nothing_unread() {
    model(2, || {
        let (mut producer, mut consumer) = ends(0);
        let longest = (longest_record(BYTES) - payload_at(usize::MAX)) / 8;
        let mut pushed = 0;
        // No thread runs yet: fill the ring until it is full.
        while producer.fits(longest * 8) || producer.grow(longest * 8).is_ok() {
            push(&mut producer, pushed, longest);
            pushed += 1;
        }
        assert!(pushed >= 2);
        let sender = thread::spawn(move || push(&mut producer, pushed, longest));
        receive(&mut consumer, &mut 0, pushed + 1);
        sender.join().unwrap();
    });
}

#[test]
fn loom_records_continue_in_the_longer_ring() {
    model(3, || {
        let (mut producer, mut consumer) = ends_of_new_pair();
        let sender = thread::spawn(move || {
            push(&mut producer, 0, 1);
            push(&mut producer, 1, 1);
            let next = producer.memory.next().expect("a new pair");
            producer.move_to(next);
            push(&mut producer, 2, 1);
            assert!(producer.memory.next().is_none());
        });
        receive(&mut consumer, &mut 0, 3);
        assert!(consumer.memory.next().is_none());
        sender.join().unwrap();
    });
}

#[test]
fn loom_what_was_read_in_the_first_ring_is_reported_in_the_longer_one() {
    model(2, || {
        let (mut producer, mut consumer) = ends_of_new_pair();
        push(&mut producer, 0, 1);
        push(&mut producer, 1, 1);
        let before = producer.position();
        let next = producer.memory.next().expect("a new pair");
        producer.move_to(next);
        let longest = (longest_record(BYTES) - payload_at(usize::MAX)) / 8;
        let mut pushed = 2;
        while producer.fits(longest * 8) || producer.grow(longest * 8).is_ok() {
            push(&mut producer, pushed, longest);
            pushed += 1;
        }
        let sender = thread::spawn(move || {
            push(&mut producer, pushed, longest);
            assert!(producer.has_read(before), "there is room only behind what was read");
        });
        receive(&mut consumer, &mut 0, pushed + 1);
        sender.join().unwrap();
    });
}

#[test]
fn loom_a_part_of_the_copy_buffer_is_not_overwritten_before_it_is_read() {
    model(3, || {
        let (mut producer, mut consumer) = ends(0);
        let sender = thread::spawn(move || {
            let mut positions = Vec::new();
            for number in 0..3u64 {
                // Two parts of a line each, in turn.
                if let Some(before) = (number as usize).checked_sub(2) {
                    while !producer.has_read(positions[before]) {
                        thread::yield_now();
                    }
                }
                let at = number as usize % 2 * LINE;
                for i in 0..5 {
                    producer.memory.buffer[at / 8 + i].store(number * 100 + i as u64, Ordering::Relaxed);
                }
                while !producer.fits_lines(1) {
                    if producer.grow(0).is_err() {
                        thread::yield_now();
                    }
                }
                let head = RecordHead { kind: 1, a: number, b: !number, ..Default::default() };
                // SAFETY: a line fits, as just seen.
                unsafe { producer.push_away(&head, 40, at) };
                positions.push(producer.position());
            }
        });
        receive(&mut consumer, &mut 0, 3);
        sender.join().unwrap();
    });
}

#[test]
fn loom_an_offset_outside_the_copy_buffer_is_a_bad_record() {
    for (offset, len) in [(2 * LINE, 8), (LINE, LINE + 1), (8, 8), (usize::MAX - 63, 64), (0, 1 << 30)] {
        model(1, move || {
            let (mut producer, mut consumer) = ends(0);
            producer.grow(0).expect("an empty ring has room");
            // SAFETY: a line fits.
            unsafe { producer.push_away(&RecordHead { kind: 1, ..Default::default() }, len, offset) };
            assert!(consumer.poll(1, |_, _| unreachable!(), |_| true).is_err(), "{offset} {len}");
        });
    }
}

/// Fills the cell and pushes its record.
fn push_cell(producer: &mut Producer<Ring>, number: u64) {
    for i in 0..5 {
        producer.memory.cell[i].store(number * 100 + i as u64, Ordering::Relaxed);
    }
    while !producer.fits_lines(1) {
        if producer.grow(0).is_err() {
            thread::yield_now();
        }
    }
    // SAFETY: a line fits, as just seen.
    unsafe { producer.push_in_cell(&RecordHead { kind: 1, a: number, ..Default::default() }, 40, 0) };
}

/// Waits for the record of the cell, and reads the cell.
fn receive_cell(consumer: &mut Consumer<Ring>, number: u64) {
    let (mut cells, mut seen) = (Vec::new(), 0);
    while seen == 0 {
        let each = |head: &RecordHead, payload: Payload<'_>| {
            assert_eq!((head.a, payload.len()), (number, 40));
            (0..5).for_each(|i| assert_eq!(payload.word(i), number * 100 + i as u64));
        };
        seen = consumer
            .poll(2, each, |cell| {
                cells.push(cell);
                true
            })
            .expect("a correct sender writes only records");
        if seen == 0 {
            thread::yield_now();
        }
    }
    assert_eq!(cells, [0]);
}

#[test]
fn loom_a_cell_that_goes_to_and_fro_always_has_the_payload_of_its_record() {
    model(3, || {
        let cell = cell();
        let (there, back) = (ring_with(0, None, cell.clone()), ring_with(0, None, cell));
        let (mut to, mut from_there) = (Producer::new(there.clone()), Consumer::new(there));
        let (mut answers, mut from_back) = (Producer::new(back.clone()), Consumer::new(back));
        let other = thread::spawn(move || {
            receive_cell(&mut from_there, 1);
            push_cell(&mut answers, 2);
            receive_cell(&mut from_there, 3);
        });
        push_cell(&mut to, 1);
        receive_cell(&mut from_back, 2);
        push_cell(&mut to, 3);
        other.join().unwrap();
    });
}

#[test]
fn loom_a_cell_that_does_not_exist_or_is_refused_and_a_longer_payload_are_bad_records() {
    for (cell, len, accepted) in [(1, 8, true), (usize::MAX, 8, true), (0, 1 << 20, true), (0, 8, false)] {
        model(1, move || {
            let (mut producer, mut consumer) = ends(0);
            producer.grow(0).expect("an empty ring has room");
            // SAFETY: a line fits.
            unsafe { producer.push_in_cell(&RecordHead { kind: 1, ..Default::default() }, len, cell) };
            assert_eq!(consumer.await_next(1, || (), Numbered(0), |_| accepted).0, None, "{cell} {len}");
            assert!(consumer.poll(1, |_, _| unreachable!(), |_| accepted).is_err(), "{cell} {len}");
        });
    }
}
