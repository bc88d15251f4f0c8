//! One endpoint, two ways: rings to the ranks of its host, a transport to all others.
#![allow(unsafe_code)] // implements and calls `register`
#![allow(clippy::unwrap_used)] // a failed step panics

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mpi_errors::Result;
use mpi_fabric::{
    Access, Endpoint, FabricSettings, Full, HostShare, Job, JobOptions, NetworkCopies, Payload, RecordHead, RegionKey,
    Registration, Sink, Transport, Waiter, Waiting, Way,
};

type Queue = VecDeque<(u32, RecordHead, Vec<u64>, usize)>;

/// A transport that keeps records in lists and copies nothing.
struct Lists {
    rank: u32,
    queues: Arc<[Mutex<Queue>]>,
}

/// Number of the job; one such job does not meet another.
const JOB: u64 = 1;

impl Transport for Lists {
    fn job(&self) -> u64 {
        JOB
    }

    fn max_payload(&self) -> usize {
        1000
    }

    fn push(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        let mut queue = self.queues[dest as usize].lock().unwrap();
        if queue.len() == 2 {
            return Err(Full);
        }
        let words = vec![u64::from_ne_bytes([payload.first().copied().unwrap_or(0); 8]); payload.len().div_ceil(8)];
        queue.push_back((self.rank, *head, words, payload.len()));
        Ok(())
    }

    fn poll(&mut self, sink: &mut dyn Sink) -> Result<usize> {
        let arrived = std::mem::take(&mut *self.queues[self.rank as usize].lock().unwrap());
        for (from, head, words, len) in &arrived {
            sink.record(*from, head, Payload::from_words(words, *len));
        }
        Ok(arrived.len())
    }

    fn can_copy(&self, _: u32) -> bool {
        false
    }

    unsafe fn register(&self, _: *mut u8, _: usize, _: Access) -> (u64, Registration) {
        (77, Registration::NONE)
    }

    fn copies(&self) -> Arc<dyn NetworkCopies> {
        Arc::new(NoCopies)
    }

    fn alive(&self, peer: u32) -> bool {
        peer != 3
    }

    fn waiting(&self) -> Waiting {
        Waiting::Own(Arc::new(NoWait))
    }
}

struct NoCopies;

impl NetworkCopies for NoCopies {
    fn read(&self, peer: u32, _: RegionKey, _: u64, _: &mut [u8]) -> Result<()> {
        panic!("rank {peer} cannot be copied from")
    }

    fn write(&self, peer: u32, _: RegionKey, _: u64, _: &[u8]) -> Result<()> {
        panic!("rank {peer} cannot be copied to")
    }
}

struct NoWait;

impl Waiter for NoWait {
    fn sleep(&self) {}
    fn wake(&self) {}
}

#[derive(Default)]
struct Inbox(Vec<(u32, u64, usize)>);

impl Sink for Inbox {
    fn record(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        self.0.push((from, head.a, payload.to_vec().len()));
    }
}

/// Four ranks: 0 and 2 on one host, 3 and 1, in this order, on the other.
fn two_hosts() -> (Vec<Endpoint>, Arc<[Mutex<Queue>]>) {
    let queues: Arc<[Mutex<Queue>]> = (0..4).map(|_| Mutex::default()).collect();
    let mut endpoints = Vec::new();
    for world_ranks in [[0, 2], [3, 1]] {
        let job = Arc::new(Job::create(&JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).unwrap());
        let world_ranks: Arc<[u32]> = Arc::from(world_ranks);
        for local in 0..2 {
            let rank = world_ranks[local as usize];
            let host = HostShare { job: job.clone(), local, world_ranks: world_ranks.clone(), taken: None };
            let lists = Box::new(Lists { rank, queues: queues.clone() });
            endpoints.push(Endpoint::over(lists, rank, 4, Some(host), FabricSettings::new()).unwrap());
        }
    }
    endpoints.sort_by_key(Endpoint::rank);
    (endpoints, queues)
}

#[test]
fn the_way_to_a_peer_depends_on_its_host() {
    let (endpoints, _) = two_hosts();
    for (rank, endpoint) in endpoints.iter().enumerate() {
        assert_eq!((endpoint.rank(), endpoint.size(), endpoint.max_payload()), (rank as u32, 4, 1000));
        for peer in 0..4 {
            let one_host = rank as u32 % 2 == peer % 2;
            let way = if one_host { Way::SharedMemory } else { Way::Network };
            assert_eq!(endpoint.way(peer), way, "{rank} to {peer}");
            assert_eq!((endpoint.shares_memory(peer), endpoint.can_copy(peer)), (one_host, one_host));
            assert_eq!(endpoint.alive(peer), one_host || peer != 3);
        }
        assert_eq!(endpoint.host_facts().ranks, 2);
        assert_eq!(endpoint.first_of_host(), rank as u32 % 2);
    }
    assert_ne!(endpoints[0].process(1), endpoints[0].process(2));
}

#[test]
fn records_arrive_by_both_ways_with_the_world_rank_of_their_sender() {
    let (mut endpoints, queues) = two_hosts();
    for from in 0..4u32 {
        for dest in 0..4u32 {
            let head = RecordHead { a: u64::from(from * 10 + dest), ..RecordHead::default() };
            endpoints[from as usize].push(dest, &head, &[1; 3]).unwrap();
        }
        let by_network: usize = queues.iter().map(|queue| queue.lock().unwrap().len()).sum();
        assert_eq!(by_network, 2 * (from as usize + 1), "two of four peers are on the other host");
    }
    for (rank, endpoint) in endpoints.iter_mut().enumerate() {
        let mut inbox = Inbox::default();
        while endpoint.poll(&mut inbox).unwrap() > 0 {}
        inbox.0.sort_unstable();
        let expected: Vec<_> = (0..4).map(|from| (from, u64::from(from) * 10 + rank as u64, 3)).collect();
        assert_eq!(inbox.0, expected, "rank {rank}");
    }
}

#[test]
fn a_network_without_room_is_full_and_rings_are_not() {
    let (mut endpoints, _) = two_hosts();
    let head = RecordHead::default();
    let sender = &mut endpoints[0];
    assert_eq!((sender.push(1, &head, &[]), sender.push(1, &head, &[])), (Ok(()), Ok(())));
    assert_eq!((sender.push(1, &head, &[]), sender.push(2, &head, &[])), (Err(Full), Ok(())));
    assert_eq!(sender.push_with(1, &head, 8, |bytes| bytes.fill(1)), Err(Full));
    assert_eq!(sender.push_with(2, &head, 8, |bytes| bytes.fill(1)), Ok(()));
    let mut inbox = Inbox::default();
    assert_eq!(endpoints[1].poll(&mut inbox).unwrap(), 2);
    assert_eq!(endpoints[0].push_with(1, &head, 8, |bytes| bytes.fill(1)), Ok(()));
    assert_eq!(endpoints[1].poll(&mut inbox).unwrap(), 1);
    assert_eq!(inbox.0.last(), Some(&(0, 0, 8)));
}

#[test]
fn memory_is_shared_within_a_host_only() {
    let (endpoints, _) = two_hosts();
    let mut memory = [7u8; 16];
    // SAFETY: `memory` is not used while it is registered.
    let (key, registration) = unsafe { endpoints[2].register(&[0, 1], memory.as_mut_ptr(), 16, Access::Read) };
    let mut copy = [0; 4];
    endpoints[0].read(2, key, 4, &mut copy).unwrap();
    assert_eq!((copy, key.number()), ([7; 4], 77), "one key serves both ways");
    drop(registration);
    endpoints[0].transfer_slot(2, 5).claimed.store(9, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(endpoints[2].transfer_slot(2, 5).claimed.load(std::sync::atomic::Ordering::Relaxed), 9);
    assert!(endpoints[0].open_shared(1, 0, 8, 1).is_err(), "rank 1 is on another host");
}

/// What comes over a network rings no doorbell of a thread that went to sleep before the process had it.
#[test]
fn a_network_that_a_process_gets_wakes_a_thread_that_sleeps() {
    let mut endpoint = Endpoint::world_of_one().unwrap();
    let queues: Arc<[Mutex<Queue>]> = Arc::from([Mutex::default()]);
    endpoint.set_network_source(Box::new(move || Ok(Box::new(Lists { rank: 0, queues: queues.clone() }))), false);
    let doorbell = endpoint.doorbell().clone();
    let announced = Arc::new(AtomicBool::new(false));
    let sleeper = std::thread::spawn({
        let announced = announced.clone();
        move || {
            let ticket = doorbell.announce().unwrap();
            announced.store(true, Release);
            doorbell.sleep(ticket);
        }
    });
    let end = Instant::now() + Duration::from_secs(20);
    while !announced.load(Acquire) {
        assert!(Instant::now() < end, "the thread does not start");
        std::thread::yield_now();
    }
    assert!(endpoint.network_address().is_err(), "this one has no address");
    while !sleeper.is_finished() {
        assert!(Instant::now() < end, "the thread still sleeps");
        std::thread::yield_now();
    }
    sleeper.join().unwrap();
}
