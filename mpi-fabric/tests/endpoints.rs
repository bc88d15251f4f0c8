//! The endpoint API with several ranks as threads.
#![allow(unsafe_code)] // registers memory
#![allow(clippy::unwrap_used)] // a failed step panics

use std::thread;

use mpi_fabric::recorder::REFUSED;
use mpi_fabric::{Access, Endpoint, Expected, Extent, Full, Payload, RecordHead, RingInstruments, Sink, WaitStep};
use mpi_t::{PvarClass, Registry};

/// Keeps the records that arrived.
#[derive(Default)]
struct Inbox(Vec<(u32, RecordHead, Vec<u8>)>);

impl Sink for Inbox {
    fn record(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        self.0.push((from, *head, payload.to_vec()));
    }
}

/// Takes a record that the first closure accepts, and returns it.
struct Take<W>(W);

impl<W: Fn(&RecordHead, usize) -> bool> Expected for Take<W> {
    type Output = (RecordHead, Vec<u8>);

    fn is(&self, head: &RecordHead, len: usize) -> bool {
        (self.0)(head, len)
    }

    fn take(self, head: &RecordHead, payload: Payload<'_>) -> (RecordHead, Vec<u8>) {
        (*head, payload.to_vec())
    }
}

/// Pushes, polling its own rings (into `inbox`) while there is no room.
fn push(endpoint: &mut Endpoint, dest: u32, head: &RecordHead, payload: &[u8], inbox: &mut impl Sink) {
    while endpoint.push(dest, head, payload) == Err(Full) {
        endpoint.poll(inbox).unwrap();
        thread::yield_now();
    }
}

/// Waits, sleeping if necessary, until a poll finds something.
fn receive(endpoint: &mut Endpoint, sink: &mut impl Sink) {
    let doorbell = endpoint.doorbell();
    let mut wait = doorbell.begin_wait();
    while endpoint.poll(sink).unwrap() == 0 {
        if let WaitStep::Sleep(ticket) = wait.next() {
            if endpoint.poll(sink).unwrap() != 0 {
                return;
            }
            doorbell.sleep(ticket);
        }
    }
}

/// Content that depends on length and number, so that a wrong byte is detected.
fn content(number: u64, len: usize) -> Vec<u8> {
    (0..len).map(|i| (number as usize * 31 + i * 7 + len) as u8).collect()
}

#[test]
fn records_arrive_complete_and_in_order_at_every_length() {
    let [mut sender, mut receiver]: [Endpoint; 2] = Endpoint::threads(2).unwrap().try_into().ok().unwrap();
    let most = sender.max_payload();
    assert!(most >= 16 << 10);
    let lengths: Vec<usize> =
        (0..200).chain((0..300).map(|i| i * 97 % most)).chain([most, most - 1, 0, most, most]).collect();
    let expected = lengths.clone();
    let thread = thread::spawn(move || {
        for (i, len) in lengths.into_iter().enumerate() {
            let i = i as u64;
            let head = RecordHead { kind: i as u8, flags: 3, context: 7, tag: -(i as i32), a: i, b: !i };
            push(&mut sender, 1, &head, &content(i, len), &mut Inbox::default());
        }
        sender
    });
    let mut inbox = Inbox::default();
    while inbox.0.len() < expected.len() {
        receive(&mut receiver, &mut inbox);
    }
    thread.join().unwrap();
    for (i, ((from, head, payload), len)) in inbox.0.into_iter().zip(expected).enumerate() {
        let i = i as u64;
        assert_eq!(from, 0);
        assert_eq!(head, RecordHead { kind: i as u8, flags: 3, context: 7, tag: -(i as i32), a: i, b: !i });
        assert_eq!(payload, content(i, len));
    }
}

#[test]
fn the_next_record_is_taken_or_left_to_the_poll() {
    const LENGTHS: [usize; 6] = [0, 8, 40, 700, 1500, 5000];
    let [mut sender, mut receiver]: [Endpoint; 2] = Endpoint::threads(2).unwrap().try_into().ok().unwrap();
    let head = |i: u64| RecordHead { kind: 1, flags: 0, context: 7, tag: -(i as i32), a: i, b: !i };
    let is_there = |receiver: &mut Endpoint, from| receiver.take_next(from, Take(|_: &RecordHead, _| true)).is_some();
    push(&mut sender, 1, &head(0), &[], &mut Inbox::default());
    assert!(!is_there(&mut receiver, 0), "no poll has found the sender");
    receive(&mut receiver, &mut Inbox::default());
    assert!(!is_there(&mut receiver, 0) && !is_there(&mut receiver, 1) && !is_there(&mut receiver, 2));
    let mut taken = 0;
    // More than one lap of the ring, so that its marks are among the records.
    for i in 1..6000 {
        let (len, wanted) = (LENGTHS[i as usize % LENGTHS.len()], i % 5 != 0);
        push(&mut sender, 1, &head(i), &content(i, len), &mut Inbox::default());
        let accepts = |found: &RecordHead, bytes: usize| {
            assert_eq!((*found, bytes), (head(i), len));
            wanted
        };
        let mut got = receiver.take_next(0, Take(accepts));
        assert!(got.is_none() || wanted && len < 5000, "record {i}");
        taken += u32::from(got.is_some());
        if got.is_none() {
            let mut inbox = Inbox::default();
            receive(&mut receiver, &mut inbox);
            got = inbox.0.pop().map(|(_, head, payload)| (head, payload));
        }
        assert_eq!(got, Some((head(i), content(i, len))));
    }
    assert!((3000..4000).contains(&taken), "{taken} of the short ones that were wanted");
}

#[test]
fn an_awaited_record_is_taken_if_it_is_expected_and_short_or_in_a_cell() {
    const LENGTHS: [usize; 6] = [0, 32, 100, 700, 9000, 40_000];
    let [mut sender, mut receiver]: [Endpoint; 2] = Endpoint::threads(2).unwrap().try_into().ok().unwrap();
    let head = |i: u64| RecordHead { kind: 1, flags: 0, context: 7, tag: i as i32, a: i, b: !i };
    assert!(receiver.records_of(0).is_none() && receiver.records_of(2).is_none());
    push(&mut sender, 1, &head(0), &[], &mut Inbox::default());
    receive(&mut receiver, &mut Inbox::default());
    let any = || Take(|_: &RecordHead, _| true);
    let mut misses = 0;
    let (nothing, looked) = receiver.records_of(0).unwrap().await_next(5, || misses += 1, any());
    assert_eq!((nothing, looked, misses), (None, 5, 1));
    let (mut taken, mut left) = (0, 0);
    for i in 1..3000 {
        let (len, wanted) = (LENGTHS[i as usize % LENGTHS.len()], i % 5 != 0);
        push(&mut sender, 1, &head(i), &content(i, len), &mut Inbox::default());
        let accepts = |found: &RecordHead, bytes: usize| {
            assert_eq!((*found, bytes), (head(i), len));
            wanted
        };
        let missed = || panic!("record {i} is there");
        let (mut got, looked) = receiver.records_of(0).unwrap().await_next(1, missed, Take(accepts));
        assert_eq!(looked, 1);
        // Longer payloads lie in the copy buffer.
        assert!(got.is_none() || wanted && len < 40_000, "record {i}");
        taken += u32::from(got.is_some());
        if got.is_none() {
            let mut inbox = Inbox::default();
            receive(&mut receiver, &mut inbox);
            got = inbox.0.pop().map(|(_, head, payload)| (head, payload));
            left += 1;
        }
        assert_eq!(got, Some((head(i), content(i, len))));
        // The cells go back.
        push(&mut receiver, 0, &head(i), &content(i, len), &mut Inbox::default());
        receive(&mut sender, &mut Inbox::default());
    }
    assert!((1900..2100).contains(&taken) && left > 0, "{taken} were taken, {left} left to a poll");
}

#[test]
fn a_rank_can_send_to_itself() {
    let mut alone = Endpoint::world_of_one().unwrap();
    assert_eq!((alone.rank(), alone.size()), (0, 1));
    let mut inbox = Inbox::default();
    for i in 0..10_000u64 {
        alone.push(0, &RecordHead { kind: 1, a: i, ..Default::default() }, &i.to_le_bytes()).unwrap();
        assert_eq!(alone.poll(&mut inbox).unwrap(), 1);
    }
    assert!(inbox.0.iter().enumerate().all(|(i, (from, head, payload))| {
        (*from, head.a, &payload[..]) == (0, i as u64, &(i as u64).to_le_bytes()[..])
    }));
}

#[test]
#[cfg_attr(feature = "uninstrumented", ignore = "nothing is counted")]
fn a_full_ring_refuses_and_takes_the_longest_record_again_once_drained() {
    let mut alone = Endpoint::world_of_one().unwrap();
    let longest = vec![5u8; alone.max_payload()];
    for round in 0..50usize {
        let payload = &longest[..longest.len() - round * 64 % longest.len()];
        let mut pushed = 0;
        while alone.push(0, &RecordHead::default(), payload).is_ok() {
            pushed += 1;
        }
        assert!(pushed >= 1, "a drained ring has room for the longest record");
        let (mut inbox, mut polled) = (Inbox::default(), 0);
        while polled < pushed {
            polled += alone.poll(&mut inbox).unwrap();
        }
        assert_eq!(polled, pushed);
    }
    assert!(alone.instruments().queue_full.get() >= 50);
}

#[test]
#[cfg_attr(feature = "uninstrumented", ignore = "nothing is counted")]
fn each_push_that_fails_is_counted_once() {
    // Short, in the ring, through the copy buffer, and longer than either ever takes.
    for len in [8, 1000, 4000, 40_000, 1 << 20] {
        let mut alone = Endpoint::world_of_one().unwrap();
        let payload = vec![1; len];
        let failures = |endpoint: &Endpoint| endpoint.instruments().queue_full.get();
        while alone.push(0, &RecordHead::default(), &payload).is_ok() {}
        assert_eq!(failures(&alone), 1, "{len}");
        assert_eq!(alone.push(0, &RecordHead::default(), &payload), Err(Full));
        assert_eq!(failures(&alone), 2, "{len}");
        if len <= alone.max_payload() {
            while alone.push_with(0, &RecordHead::default(), len, |_| ()).is_ok() {}
            assert_eq!(failures(&alone), 3, "{len}");
        }
    }
}

#[test]
#[cfg_attr(feature = "uninstrumented", ignore = "nothing is counted")]
fn what_is_in_use_of_a_ring_follows_the_records_in_it() {
    let mut alone = Endpoint::world_of_one().unwrap();
    let rings = alone.watch_rings();
    let registry = Registry::with_environment([]);
    registry.init_thread().unwrap();
    registry.declare_on_demand::<RingInstruments>(move |_, open| open(rings)).unwrap();
    let session = registry.pvar_session_create().unwrap();
    let index = registry.pvar_get_index("fabric_ring_used", PvarClass::Percentage as i32).unwrap();
    registry.pvar_handle_alloc(session, index, None).unwrap();
    let mut used = 0.0;
    let mut pushed = |result: Result<(), Full>| {
        let before = std::mem::replace(&mut used, rings[0].used.get());
        assert_eq!(before < used, result.is_ok(), "{before} {used} {result:?}");
        result
    };
    // Through the copy buffer until it is full; the ring has room.
    let (payload, head) = (vec![1; 50_000], RecordHead { kind: 1, ..Default::default() });
    assert!(payload.len() > alone.max_payload());
    for _ in 0..10 {
        let result = alone.push_segments(0, &head, 2, &payload, (16 << 10, Extent::Whole));
        let _ = pushed(result);
    }
    let result = alone.push(0, &head, &[7]);
    assert_eq!(pushed(result), Ok(()));
    loop {
        let result = alone.push(0, &head, &[7; 1000]);
        if pushed(result).is_err() {
            break;
        }
    }
}

#[test]
fn a_payload_made_in_place_arrives() {
    let mut alone = Endpoint::world_of_one().unwrap();
    let head = RecordHead { kind: 9, ..Default::default() };
    alone.push_with(0, &head, 100, |bytes| bytes.copy_from_slice(&content(1, 100))).unwrap();
    let mut inbox = Inbox::default();
    alone.poll(&mut inbox).unwrap();
    alone.poll(&mut inbox).unwrap();
    assert_eq!(inbox.0, [(0, head, content(1, 100))]);
}

#[test]
#[cfg_attr(feature = "uninstrumented", ignore = "nothing is counted")]
fn sleepers_wake_up_for_every_message() {
    const ROUNDS: u64 = 2000;
    let [mut left, mut right]: [Endpoint; 2] = Endpoint::threads(2).unwrap().try_into().ok().unwrap();
    for endpoint in [&left, &right] {
        // Sleep at once, so that every message has to ring.
        endpoint.doorbell().policy().set_spins(0);
        endpoint.doorbell().policy().set_yields(0);
    }
    let echo = thread::spawn(move || {
        for _ in 0..ROUNDS {
            let mut inbox = Inbox::default();
            receive(&mut right, &mut inbox);
            right.push(0, &inbox.0[0].1, &[]).unwrap();
        }
    });
    for i in 0..ROUNDS {
        left.push(1, &RecordHead { a: i, ..Default::default() }, &[]).unwrap();
        let mut inbox = Inbox::default();
        receive(&mut left, &mut inbox);
        assert_eq!(inbox.0[0].1.a, i);
    }
    echo.join().unwrap();
    assert!(left.instruments().sleeps.get() > 0);
}

#[test]
fn many_ranks_all_to_all() {
    const RANKS: u32 = 9;
    const EACH: u64 = 300;
    let threads: Vec<_> = Endpoint::threads(RANKS)
        .unwrap()
        .into_iter()
        .map(|mut endpoint| {
            thread::spawn(move || {
                let mut inbox = Inbox::default();
                for i in 0..EACH {
                    for dest in 0..RANKS {
                        let head = RecordHead { a: i, b: u64::from(dest), ..Default::default() };
                        push(&mut endpoint, dest, &head, &content(i, (i * 13 % 700) as usize), &mut inbox);
                    }
                }
                while inbox.0.len() < (RANKS as u64 * EACH) as usize {
                    receive(&mut endpoint, &mut inbox);
                }
                let mut next = vec![0; RANKS as usize];
                for (from, head, payload) in inbox.0 {
                    assert_eq!((head.a, head.b), (next[from as usize], u64::from(endpoint.rank())));
                    assert_eq!(payload, content(head.a, (head.a * 13 % 700) as usize));
                    next[from as usize] += 1;
                }
                endpoint
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn remote_copies_work_between_ranks_as_threads() {
    let mut endpoints = Endpoint::threads(2).unwrap();
    let right = endpoints.pop().unwrap();
    let left = endpoints.pop().unwrap();
    assert!(left.can_copy(1) && right.can_copy(0) && right.can_copy(1));
    let mut source = content(3, 100_000);
    let mut target = vec![0; source.len() - 10];
    let (start, bytes) = (source.as_mut_ptr(), source.len());
    // SAFETY: `source` outlives the registration and is not used while it lasts.
    let (key, registration) = unsafe { left.register(&[1], start, bytes, Access::ReadWrite) };
    right.read(0, key, 10, &mut target).unwrap();
    right.write(0, key, 99_999, &[77]).unwrap();
    let error = right.read(0, key, 11, &mut target).unwrap_err();
    assert!(error.to_string().contains("rank 0"), "{error}");
    drop(registration);
    assert!(right.read(0, key, 10, &mut target).is_err(), "the registration has ended");
    assert_eq!(source[10..], [&target[..target.len() - 1], &[77]].concat());
    assert!(left.alive(1));
    drop(right);
    assert!(!left.alive(1));
}

#[test]
fn transfer_slots_are_shared_by_both_sides_and_distinct() {
    let endpoints = Endpoint::threads(2).unwrap();
    let order = std::sync::atomic::Ordering::Relaxed;
    endpoints[0].transfer_slot(1, 255).claimed.store(11, order);
    endpoints[0].transfer_slot(1, 255).done.store(12, order);
    assert_eq!(endpoints[1].transfer_slot(1, 255).claimed.load(order), 11);
    assert_eq!(endpoints[1].transfer_slot(1, 255).done.load(order), 12);
    assert_eq!(endpoints[1].transfer_slot(0, 255).done.load(order), 0);
    assert_eq!(endpoints[1].transfer_slot(1, 254).claimed.load(order), 0);
}

#[test]
#[cfg_attr(feature = "uninstrumented", ignore = "nothing is recorded")]
fn a_refused_call_is_recorded_once_whatever_came_before() {
    let alone = Endpoint::world_of_one().unwrap();
    let recorder = alone.recorder();
    let calls = || recorder.calls().iter().map(|call| (call.function, call.peer == REFUSED)).collect::<Vec<_>>();
    let mark = recorder.enter(5, 0, 1, 2, 3);
    mark.leave();
    recorder.refused(5);
    assert_eq!(calls(), [(5, false), (5, true)], "the call before had succeeded");
    let mark = recorder.enter(5, 0, 1, 2, 3);
    mark.leave();
    mark.failed();
    recorder.refused(5);
    assert_eq!(calls()[2..], [(5, false)], "it was recorded when it began");
    assert_eq!(recorder.current().map(|call| call.tag), Some(2));
    recorder.refused(5);
    assert_eq!(calls()[2..], [(5, false), (5, true)], "this is the next one");
}

#[test]
#[cfg_attr(feature = "uninstrumented", ignore = "nothing is recorded")]
fn a_reader_beside_a_writer_sees_whole_entries_of_the_calls_it_requested() {
    const CALLS: u32 = 300_000;
    let alone = Endpoint::world_of_one().unwrap();
    let (writer, reader) = (alone.recorder(), alone.job().recorder(0));
    writer.set_depth(4);
    let mut seen = 0;
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for n in 1..=CALLS {
                let mark = writer.enter(n as u16, n, n as i32, n as i32, u64::from(n));
                mark.leave();
            }
        });
        let mut over = false;
        while !over {
            // After the writer has ended, one more read: its last calls are there.
            over = writing.is_finished();
            for call in reader.calls() {
                let n = call.sequence as u32;
                let expected = (n as u16, n, n as i32, n as i32, u64::from(n));
                assert_eq!((call.function, call.comm, call.peer, call.tag, call.count), expected);
                seen += 1;
            }
        }
    });
    assert!(seen > 0, "the writer's last calls at least");
}

#[test]
#[cfg_attr(feature = "uninstrumented", ignore = "nothing is recorded")]
fn the_recorder_keeps_the_last_calls_and_who_is_still_inside() {
    let alone = Endpoint::world_of_one().unwrap();
    let recorder = alone.recorder();
    assert_eq!(recorder.current(), None);
    for i in 0..200 {
        let mark = recorder.enter(5, 1, i, 2, 3);
        mark.leave();
    }
    let outer = recorder.enter(6, 1, -1, 9, 1 << 40);
    let inner = recorder.enter(7, 2, 0, 0, 0);
    assert_eq!(alone.job().recorder(0).current().unwrap().function, 7);
    inner.leave();
    let current = alone.job().recorder(0).current().unwrap();
    assert_eq!((current.function, current.peer, current.tag, current.count, current.ended), (6, -1, 9, 1 << 40, false));
    outer.leave();
    assert!(recorder.current().unwrap().ended);
    let calls = recorder.calls();
    assert_eq!((calls.len(), calls[0].sequence, calls.last().unwrap().sequence), (64, 139, 202));
}

/// Pushes one record with this payload and polls it at the other end.
fn transfer(from: &mut Endpoint, to: &mut Endpoint, number: u64, len: usize) {
    let (dest, mut inbox) = (to.rank(), Inbox::default());
    push(from, dest, &RecordHead { a: number, ..Default::default() }, &content(number, len), &mut Inbox::default());
    while to.poll(&mut inbox).unwrap() == 0 {}
    let [(source, head, data)] = &inbox.0[..] else { panic!("{} records", inbox.0.len()) };
    assert_eq!((*source, head.a, data == &content(number, len)), (from.rank(), number, true), "{len} bytes");
}

#[test]
fn cells_run_out_where_nobody_answers_and_come_back_with_answers() {
    let [mut one, mut other]: [Endpoint; 2] = Endpoint::threads(2).unwrap().try_into().ok().unwrap();
    let cells =
        |endpoint: &Endpoint, dest| (0..200).take_while(|n| endpoint.has_cells_for(dest, (n + 1) << 14)).count();
    assert_eq!([cells(&one, 1), cells(&other, 0)], [64, 64]);
    for number in 0..200 {
        transfer(&mut one, &mut other, number, 192 + number as usize * 81);
    }
    assert_eq!([cells(&one, 1), cells(&other, 0)], [0, 128]);
    for number in 0..10 {
        transfer(&mut other, &mut one, number, 16 << 10);
        transfer(&mut other, &mut one, number, 32);
    }
    assert_eq!([cells(&one, 1), cells(&other, 0)], [10, 118]);
    for number in 0..1000 {
        transfer(&mut one, &mut other, number, 5000);
        transfer(&mut other, &mut one, number, 7000);
    }
    assert_eq!([cells(&one, 1), cells(&other, 0)], [10, 118]);
    // In segments: four cells each.
    let first = RecordHead::default();
    for number in 0..3 {
        let data = content(number, 60_000);
        assert_eq!(one.segment_bytes(1, data.len(), Extent::Whole), Some(16 << 10));
        one.push_segments(1, &first, 9, &data, (16 << 10, Extent::Whole)).unwrap();
        let mut inbox = Inbox::default();
        while inbox.0.len() < 4 {
            other.poll(&mut inbox).unwrap();
        }
        assert_eq!(
            inbox.0.iter().map(|(_, head, _)| (head.kind, head.a)).collect::<Vec<_>>(),
            [(0, 0), (9, 16 << 10), (9, 32 << 10), (9, 48 << 10)]
        );
        assert!(inbox.0.iter().flat_map(|(_, _, data)| data).eq(&data));
        std::mem::swap(&mut one, &mut other);
        one.push(0, &first, &[7; 192]).unwrap();
        while other.poll(&mut Inbox::default()).unwrap() == 0 {}
        std::mem::swap(&mut one, &mut other);
    }
    assert_eq!([cells(&one, 1), cells(&other, 0)], [1, 127]);
}
