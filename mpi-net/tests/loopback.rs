//! Endpoints of one process that a provider connects over the machine's own network.
//!
//! Without libfabric each test counts as skipped, and says so.
#![allow(unsafe_code)] // calls `register`
#![allow(clippy::unwrap_used)] // a failed step panics

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use mpi_fabric::{
    Access, Endpoint, FabricSettings, Payload, Piece, RecordHead, RegionKey, Registration, Sink, Transport, WaitStep,
    Waiting,
};
use mpi_net::{Meters, NetInstruments, NetSettings, Network, Options};

#[derive(Default)]
struct Inbox {
    records: Vec<(u32, u64, Vec<u8>)>,
    lost: Vec<u32>,
}

impl Sink for Inbox {
    fn record(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        self.records.push((from, head.a, payload.to_vec()));
    }

    fn lost(&mut self, peer: u32) {
        if !self.lost.contains(&peer) {
            self.lost.push(peer);
        }
    }
}

const PROVIDERS: [&str; 2] = ["tcp", "tcp;ofi_rxm"];

fn settings(provider: &str) -> &'static NetSettings {
    let settings = NetSettings::new();
    mpi_t::Cell::write(&settings.provider, &mpi_t::Value::Text(provider.into())).unwrap();
    settings
}

/// One network for each secret; `None` without the provider.
fn networks(provider: &str, secrets: &[u128]) -> Option<Vec<Network>> {
    let size = secrets.len() as u32;
    let open = |(rank, secret): (u32, &u128)| {
        Network::open(
            settings(provider),
            &Options { rank, size, secret: *secret, job: None, meters: Meters::default() },
        )
    };
    let networks: mpi_errors::Result<Vec<Network>> = (0..).zip(secrets).map(open).collect();
    let networks = match networks {
        Ok(networks) => networks,
        Err(why) => {
            eprintln!("skipped: {why}");
            return None;
        }
    };
    let addresses: Arc<OnceLock<Vec<String>>> = Arc::default();
    addresses.set(networks.iter().map(Network::address).collect()).unwrap();
    networks.iter().for_each(|network| network.set_addresses(addresses.clone(), Vec::new()));
    Some(networks)
}

#[test]
fn what_travels_is_counted_once_at_each_end() {
    for provider in PROVIDERS {
        let counted: [&'static NetInstruments; 2] = [(); 2].map(|()| mpi_t::place(&mpi_t::HeapMemory, ""));
        let open = |(rank, counted): (u32, &&'static NetInstruments)| {
            let meters = Meters::default();
            meters.count_in(counted);
            Network::open(settings(provider), &Options { rank, size: 2, secret: 7, job: None, meters })
        };
        let networks: mpi_errors::Result<Vec<Network>> = (0..).zip(&counted).map(open).collect();
        let Ok(networks) = networks.inspect_err(|why| eprintln!("skipped: {why}")) else { return };
        let addresses: Arc<OnceLock<Vec<String>>> = Arc::default();
        addresses.set(networks.iter().map(Network::address).collect()).unwrap();
        let [mut from, mut to]: [Network; 2] = networks.try_into().ok().unwrap();
        [&from, &to].into_iter().for_each(|network| network.set_addresses(addresses.clone(), Vec::new()));
        let mut inbox = Inbox::default();
        for word in 0..100 {
            while from.push(1, &head(word), &[1; 30]).is_err() {
                from.poll(&mut Inbox::default()).unwrap();
                to.poll(&mut inbox).unwrap();
            }
        }
        let end = Instant::now() + Duration::from_secs(30);
        while inbox.records.len() < 100 {
            assert!(Instant::now() < end, "the records do not arrive");
            from.poll(&mut Inbox::default()).unwrap();
            to.poll(&mut inbox).unwrap();
        }
        let [sent, received] = counted;
        assert_eq!((sent.records_sent.get(), sent.bytes_sent.get()), (100, 3000));
        assert_eq!((received.records_received.get(), received.bytes_received.get()), (100, 3000));
        assert!((1..=100).contains(&sent.packets_sent.get()), "{}", sent.packets_sent.get());
        let others = [received.records_sent.get(), received.packets_refused.get(), sent.records_received.get()];
        assert_eq!(others, [0; 3]);
        if !from.can_copy(1) {
            eprintln!("skipped: no remote access");
            continue;
        }
        let mut memory = vec![3u8; 5000];
        // SAFETY: the memory outlives the registration, and the copies below end before it is used.
        let (number, region) = unsafe { to.register(memory.as_mut_ptr(), memory.len(), Access::ReadWrite) };
        let key = RegionKey::from_words([memory.as_ptr() as u64, number]);
        let (copies, done) = (from.copies(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                copies.read(1, key, 0, &mut [0; 2000]).unwrap();
                copies.write(1, key, 100, &[4; 70]).unwrap();
                done.store(true, Relaxed);
            });
            while !done.load(Relaxed) {
                assert!(Instant::now() < end, "the copies do not end");
                to.poll(&mut inbox).unwrap();
            }
        });
        drop(region);
        assert_eq!((sent.bytes_read.get(), sent.bytes_written.get()), (2000, 70));
        assert_eq!((received.bytes_read.get(), received.bytes_written.get()), (0, 0));
    }
}

#[test]
fn a_description_reports_why_peers_are_not_watched() {
    let settings = settings(PROVIDERS[0]);
    let open = || {
        Network::open(settings, &Options { rank: 0, size: 1, secret: 1, job: None, meters: Meters::default() })
            .map(|network| network.description())
    };
    match open() {
        Ok(text) => assert!(
            text.starts_with("libfabric ") && text.contains(", provider tcp") && !text.contains("watched"),
            "{text}"
        ),
        Err(why) => return eprintln!("skipped: {why}"),
    }
    mpi_t::Cell::write(&settings.timeout, &mpi_t::Value::U32(0)).unwrap();
    let text = open().unwrap();
    assert!(text.ends_with("; peers are not watched: silence of a host has no time limit"), "{text}");
}

/// One endpoint for each secret; `None` without the provider.
fn endpoints(provider: &str, secrets: &[u128]) -> Option<Vec<Endpoint>> {
    let size = secrets.len() as u32;
    let over = |(rank, network): (u32, Network)| {
        Endpoint::over(Box::new(network), rank, size, None, FabricSettings::new()).unwrap()
    };
    Some((0..).zip(networks(provider, secrets)?).map(over).collect())
}

fn with_each(secrets: &[u128], body: impl Fn(Vec<Endpoint>)) {
    PROVIDERS.iter().filter_map(|provider| endpoints(provider, secrets)).for_each(body);
}

fn head(word: u64) -> RecordHead {
    RecordHead { kind: 1, a: word, ..RecordHead::default() }
}

/// Polls until an endpoint has so many records.
fn poll(endpoints: &mut [Endpoint], of: usize, inbox: &mut Inbox, records: usize) {
    let end = Instant::now() + Duration::from_secs(30);
    while inbox.records.len() < records {
        assert!(Instant::now() < end, "{} of {records} records", inbox.records.len());
        for (i, endpoint) in endpoints.iter_mut().enumerate() {
            if i == of { endpoint.poll(inbox) } else { endpoint.poll(&mut Inbox::default()) }.unwrap();
        }
    }
}

#[test]
fn records_of_all_lengths_arrive_whole_and_in_order() {
    with_each(&[7, 7], |mut ends| {
        let mut inbox = Inbox::default();
        let lengths = [0, 1, 7, 8, 9, 40, 1000, 4096, 65535, 65536];
        for (i, len) in lengths.iter().enumerate() {
            let payload: Vec<u8> = (0..*len).map(|byte| (byte + i) as u8).collect();
            while ends[0].push(1, &head(i as u64), &payload).is_err() {
                ends[0].poll(&mut Inbox::default()).unwrap();
                ends[1].poll(&mut inbox).unwrap();
            }
        }
        poll(&mut ends, 1, &mut inbox, lengths.len());
        for (i, (len, record)) in lengths.iter().zip(&inbox.records).enumerate() {
            let due: Vec<u8> = (0..*len).map(|byte| (byte + i) as u8).collect();
            assert_eq!(*record, (0, i as u64, due));
        }
        assert!(ends[0].push(1, &head(0), &vec![0; 65537]).is_err());
    });
}

#[test]
fn many_records_wait_for_credits_and_none_is_lost() {
    with_each(&[7, 7, 7], |mut ends| {
        let mut inbox = Inbox::default();
        for word in 0..3000 {
            for from in [0, 2] {
                while ends[from].push(1, &head(word), &word.to_ne_bytes()).is_err() {
                    ends[from].poll(&mut Inbox::default()).unwrap();
                    ends[1].poll(&mut inbox).unwrap();
                }
            }
        }
        poll(&mut ends, 1, &mut inbox, 6000);
        for from in [0, 2] {
            let words: Vec<u64> =
                inbox.records.iter().filter(|record| record.0 == from).map(|record| record.1).collect();
            assert_eq!(words, (0..3000).collect::<Vec<_>>());
        }
        let end = Instant::now() + Duration::from_secs(30);
        while !ends.iter().all(Endpoint::is_drained) {
            assert!(Instant::now() < end);
            for endpoint in &mut ends {
                endpoint.poll(&mut inbox).unwrap();
            }
        }
    });
}

#[test]
fn more_long_records_than_receives_arrive_whole() {
    const SENDERS: usize = 12;
    const EACH: u64 = 8;
    with_each(&[7; SENDERS + 1], |mut ends| {
        let mut inbox = Inbox::default();
        let payload = |from: u32, number: u64| vec![(u64::from(from) * EACH + number) as u8; 65536];
        // Connections need both ends.
        (1..=SENDERS).for_each(|from| ends[from].push(0, &head(0), &payload(from as u32, 0)).unwrap());
        poll(&mut ends, 0, &mut inbox, SENDERS);
        // As many packets are under way as a sender may have, and the receiver does not poll meanwhile.
        let end = Instant::now() + Duration::from_millis(500);
        let mut sent = [1; SENDERS + 1];
        while Instant::now() < end {
            for from in 1..=SENDERS {
                let number = sent[from];
                if number < EACH && ends[from].push(0, &head(number), &payload(from as u32, number)).is_ok() {
                    sent[from] += 1;
                }
                ends[from].poll(&mut Inbox::default()).unwrap();
            }
        }
        assert_eq!(sent[1..], [EACH; SENDERS]);
        poll(&mut ends, 0, &mut inbox, SENDERS * EACH as usize);
        let mut due = [0; SENDERS + 1];
        for (from, number, data) in inbox.records {
            assert_eq!(number, due[from as usize]);
            assert!(data == payload(from, number), "record {number} of {from}");
            due[from as usize] += 1;
        }
    });
}

#[test]
fn memory_of_a_peer_is_read_and_written() {
    with_each(&[7, 7], |mut ends| {
        if !ends[0].can_copy(1) {
            return eprintln!("skipped: no remote access");
        }
        let mut memory: Vec<u8> = (0..3 << 20).map(|byte| (byte / 7) as u8).collect();
        let before = memory.clone();
        let (start, bytes) = (memory.as_mut_ptr(), memory.len());
        // SAFETY: the memory outlives the registration and changes by the peer only.
        let (key, region) = unsafe { ends[1].register(&[0], start, bytes, Access::ReadWrite) };
        let copier = ends[0].copier(1).unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        let mut whole = vec![0; bytes];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                copier.read(key, 0, &mut whole).unwrap();
                let mut part = [0; 5];
                copier.read(key, 1001, &mut part).unwrap();
                assert_eq!(part, before[1001..1006]);
                copier.write(key, 3, b"abc").unwrap();
                done.store(true, std::sync::atomic::Ordering::Release);
            });
            // The owner makes progress for its peers.
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                ends[1].poll(&mut Inbox::default()).unwrap();
            }
        });
        drop(region);
        assert!(whole == before, "other bytes were read");
        assert_eq!(memory[3..6], *b"abc");
    });
}

/// Many pieces, more than are under way at a time, whose order in the region is not that in memory.
#[test]
fn pieces_of_a_peers_memory_are_read_and_written() {
    with_each(&[7, 7], |mut ends| {
        if !ends[0].can_copy(1) {
            return eprintln!("skipped: no remote access");
        }
        const EACH: usize = 5000;
        const PIECES: usize = 100;
        let byte = |at: usize| (at / 3) as u8;
        let mut memory: Vec<u8> = (0..EACH * PIECES).map(byte).collect();
        let (start, bytes) = (memory.as_mut_ptr(), memory.len());
        // SAFETY: the memory outlives the registration and changes by the peer only.
        let (key, region) = unsafe { ends[1].register(&[0], start, bytes, Access::ReadWrite) };
        let copier = ends[0].copier(1).unwrap();
        let done = AtomicBool::new(false);
        let mut whole = vec![0u8; bytes];
        let base = whole.as_mut_ptr().expose_provenance();
        let piece = |number: usize| Piece {
            offset: (number * EACH) as u64,
            address: base + (PIECES - 1 - number) * EACH,
            bytes: EACH - number,
        };
        let pieces: Vec<Piece> = (0..PIECES).map(piece).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: the pieces are parts of `whole`, which nothing else uses, and do not overlap.
                unsafe { copier.read_pieces(key, &pieces).unwrap() };
                let back: Vec<Piece> =
                    pieces.iter().map(|piece| Piece { offset: piece.offset + 1, bytes: 2, ..*piece }).collect();
                // SAFETY: as above.
                unsafe { copier.write_pieces(key, &back).unwrap() };
                done.store(true, std::sync::atomic::Ordering::Release);
            });
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                ends[1].poll(&mut Inbox::default()).unwrap();
            }
        });
        drop(region);
        for number in 0..PIECES {
            let read = &whole[(PIECES - 1 - number) * EACH..][..EACH - number];
            assert!(read.iter().enumerate().all(|(at, read)| *read == byte(number * EACH + at)), "piece {number}");
            assert_eq!(memory[number * EACH + 1..][..2], read[..2]);
            assert_eq!(memory[number * EACH + 3], byte(number * EACH + 3));
        }
    });
}

/// Ends a registration with the first record.
struct Ends(Option<Registration>);

impl Sink for Ends {
    fn record(&mut self, _: u32, _: &RecordHead, _: Payload<'_>) {
        self.0 = None;
    }
}

#[test]
fn a_record_may_end_a_registration() {
    with_each(&[7, 7], |mut ends| {
        let mut memory = [1u8; 4096];
        // SAFETY: the memory outlives the registration and nobody writes it.
        let (_, region) = unsafe { ends[1].register(&[0], memory.as_mut_ptr(), memory.len(), Access::Read) };
        ends[0].push(1, &head(1), &[1]).unwrap();
        let (done, waits) = std::sync::mpsc::channel();
        // A poll that never returns is to fail this test, and no other.
        std::thread::spawn(move || {
            let mut sink = Ends(Some(region));
            while sink.0.is_some() {
                ends[0].poll(&mut Inbox::default()).unwrap();
                ends[1].poll(&mut sink).unwrap();
            }
            done.send(()).unwrap();
        });
        waits.recv_timeout(Duration::from_secs(30)).expect("a poll waits for itself");
    });
}

#[test]
fn a_sleeping_process_wakes_for_a_record() {
    with_each(&[7, 7], |mut ends| {
        let mut sender = ends.remove(0);
        let mut receiver = ends.remove(0);
        let thread = std::thread::spawn(move || {
            let mut inbox = Inbox::default();
            let doorbell = receiver.doorbell();
            for due in 1..=20 {
                let mut wait = doorbell.begin_wait();
                while inbox.records.len() < due {
                    receiver.poll(&mut inbox).unwrap();
                    if let (true, WaitStep::Sleep(ticket)) = (inbox.records.len() < due, wait.next())
                        && receiver.poll(&mut inbox).unwrap() == 0
                    {
                        doorbell.sleep(ticket);
                    }
                }
            }
        });
        for word in 0..20 {
            std::thread::sleep(Duration::from_millis(5));
            let bytes = if word % 2 == 0 { 1 } else { 60_000 };
            let full = Instant::now() + Duration::from_secs(30);
            // The connection may not be made yet, or the receiver may be late.
            while sender.push(1, &head(word), &vec![1; bytes]).is_err() {
                assert!(Instant::now() < full, "the receiver takes nothing");
                sender.poll(&mut Inbox::default()).unwrap();
            }
            sender.poll(&mut Inbox::default()).unwrap();
        }
        let end = Instant::now() + Duration::from_secs(30);
        while !thread.is_finished() {
            assert!(Instant::now() < end, "the receiver sleeps");
            sender.poll(&mut Inbox::default()).unwrap();
        }
        thread.join().unwrap();
    });
}

/// What a thread takes from the provider while it waits for a copy makes the descriptor readable no more.
#[test]
fn a_thread_that_copies_wakes_one_that_sleeps() {
    for networks in PROVIDERS.iter().filter_map(|provider| networks(provider, &[7, 7])) {
        let [mut own, mut peer]: [Network; 2] = networks.try_into().ok().unwrap();
        if !own.can_copy(1) {
            return eprintln!("skipped: no remote access");
        }
        let rung = Arc::new(AtomicUsize::new(0));
        let Waiting::Bell(ringer) = own.waiting() else { panic!("threads sleep on the doorbell") };
        let counter = rung.clone();
        ringer.attach(Box::new(move || {
            counter.fetch_add(1, Relaxed);
        }));
        let mut memory = vec![3u8; 4096];
        // SAFETY: the memory outlives the registration and nobody writes it.
        let (number, region) = unsafe { peer.register(memory.as_mut_ptr(), memory.len(), Access::Read) };
        let key = RegionKey::from_words([memory.as_ptr() as u64, number]);
        // Over a connection that is made, the record is there before the answer to the read.
        let (mut first, end) = (Inbox::default(), Instant::now() + Duration::from_secs(30));
        peer.push(0, &head(0), &[]).unwrap();
        while first.records.is_empty() {
            assert!(Instant::now() < end, "the first record does not arrive");
            peer.poll(&mut Inbox::default()).unwrap();
            own.poll(&mut first).unwrap();
        }
        rung.store(0, Relaxed);
        peer.push(0, &head(1), &[]).unwrap();
        while !peer.is_drained() {
            assert!(Instant::now() < end, "the record is not sent");
            peer.poll(&mut Inbox::default()).unwrap();
        }
        let done = AtomicBool::new(false);
        let copies = own.copies();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut part = [0; 8];
                copies.read(1, key, 0, &mut part).unwrap();
                assert_eq!(part, [3; 8]);
                done.store(true, Relaxed);
            });
            let end = Instant::now() + Duration::from_secs(30);
            while !done.load(Relaxed) {
                assert!(Instant::now() < end, "the copy does not end");
                peer.poll(&mut Inbox::default()).unwrap();
            }
        });
        assert!(rung.load(Relaxed) > 0, "a thread that sleeps would not find the record");
        let mut inbox = Inbox::default();
        own.poll(&mut inbox).unwrap();
        assert_eq!(inbox.records, [(1, 1, vec![])]);
        drop(region);
    }
}

#[test]
fn a_process_without_the_jobs_secret_puts_no_record_into_it() {
    with_each(&[7, 7, 8], |mut ends| {
        ends[2].push(1, &head(5), &[1]).unwrap();
        ends[0].push(1, &head(6), &[2]).unwrap();
        let mut inbox = Inbox::default();
        poll(&mut ends, 1, &mut inbox, 1);
        let end = Instant::now() + Duration::from_millis(200);
        while Instant::now() < end {
            ends.iter_mut().enumerate().for_each(|(i, endpoint)| {
                let _ = if i == 1 { endpoint.poll(&mut inbox) } else { endpoint.poll(&mut Inbox::default()) };
            });
        }
        assert_eq!(inbox.records, [(0, 6, vec![2])]);
    });
}

#[test]
fn a_peer_that_is_gone_is_reported_by_its_rank() {
    with_each(&[7, 7], |mut ends| {
        let mut inbox = Inbox::default();
        ends[1].push(0, &head(9), &[]).unwrap();
        poll(&mut ends, 0, &mut inbox, 1);
        drop(ends.remove(1));
        let end = Instant::now() + Duration::from_secs(30);
        while inbox.lost.is_empty() {
            assert!(Instant::now() < end, "nothing is reported");
            let _ = ends[0].push(1, &head(1), &[1; 1000]);
            ends[0].poll(&mut inbox).unwrap();
        }
        assert_eq!(inbox.lost, [1]);
        assert!(!ends[0].alive(1));
        let sentence = ends[0].lost_error(1).to_string();
        assert!(sentence.contains("rank 1"), "{sentence}");
    });
}
