//! The simulated network: virtual time, order, regions, lost ranks.
#![allow(unsafe_code)] // registers memory
#![allow(clippy::unwrap_used)] // a failed step panics

use mpi_core::abi::MPI_ERR_PROC_ABORTED;
use mpi_errors::Result;
use mpi_fabric::simulated::{Link, Rank, Topology, run};
use mpi_fabric::{Access, Payload, RecordHead, RegionKey, Sink, WaitStep, Way};

/// Keeps sender, first word and length of each record that arrived.
#[derive(Default)]
struct Inbox(Vec<(u32, u64, usize)>);

impl Sink for Inbox {
    fn record(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        self.0.push((from, head.a, payload.to_vec().len()));
    }
}

fn send(rank: &mut Rank, dest: u32, number: u64, bytes: usize) {
    let head = RecordHead { a: number, ..RecordHead::default() };
    rank.endpoint.push(dest, &head, &vec![1; bytes]).unwrap();
}

/// Waits as an engine does until so many records have arrived.
fn receive(rank: &mut Rank, inbox: &mut Inbox, until: usize) -> Result<()> {
    let doorbell = rank.endpoint.doorbell();
    let mut wait = doorbell.begin_wait();
    while inbox.0.len() < until {
        if rank.endpoint.poll(inbox)? == 0
            && let WaitStep::Sleep(ticket) = wait.next()
            && rank.endpoint.poll(inbox)? == 0
        {
            doorbell.sleep(ticket);
        }
    }
    Ok(())
}

const SLOW: Link = Link { latency_ns: 10_000, bytes_per_us: 1000 };
const FAST: Link = Link { latency_ns: 500, bytes_per_us: 10_000 };

fn pairs_of_hosts(ranks: u32) -> Topology {
    Topology::new(ranks).ranks_per_host(2).within_hosts(FAST).between_hosts(SLOW)
}

#[test]
fn a_record_takes_the_latency_and_the_time_of_its_bytes() {
    let outcome = run(&pairs_of_hosts(4), |mut rank| {
        let mut inbox = Inbox::default();
        match rank.endpoint.rank() {
            0 => {
                assert_eq!(rank.endpoint.way(3), Way::Network);
                (1..4).for_each(|peer| send(&mut rank, peer, 0, 5000));
            }
            _ => receive(&mut rank, &mut inbox, 1).unwrap(),
        }
        rank.clock.now_ns()
    })
    .unwrap();
    // 100 ns to send each; 5000 bytes take 500 ns within a host, 5000 ns between two.
    assert_eq!(outcome.results[0], 300);
    assert_eq!(outcome.results[1..], [100 + 500 + 500, 200 + 5000 + 10_000, 300 + 5000 + 10_000]);
    assert_eq!((outcome.traffic.records, outcome.traffic.record_bytes, outcome.traffic.pairs), (3, 15_000, 3));
}

#[test]
fn records_of_one_sender_arrive_in_order_and_share_the_link() {
    let outcome = run(&pairs_of_hosts(3), |mut rank| {
        let mut inbox = Inbox::default();
        match rank.endpoint.rank() {
            2 => receive(&mut rank, &mut inbox, 40).unwrap(),
            // Short and long ones: a short one does not overtake.
            _ => (0..20).for_each(|n| send(&mut rank, 2, n, if n % 2 == 0 { 1000 } else { 8 })),
        }
        (inbox.0, rank.clock.now_ns())
    })
    .unwrap();
    let (inbox, end) = &outcome.results[2];
    for from in [0, 1] {
        let of_one: Vec<u64> = inbox.iter().filter(|record| record.0 == from).map(|record| record.1).collect();
        assert_eq!(of_one, (0..20).collect::<Vec<_>>());
    }
    // Ten long records of a microsecond each go through one link after the other.
    assert!(*end > 10_000 + 10_000, "{end}");
}

#[test]
fn every_run_is_the_same() {
    let chatter = || {
        run(&Topology::new(60).ranks_per_host(7), |mut rank| {
            let (me, mut inbox) = (rank.endpoint.rank(), Inbox::default());
            for step in 1..6 {
                send(&mut rank, (me * 7 + step * 11) % 60, u64::from(step), (me as usize * 37) % 900);
                rank.endpoint.poll(&mut inbox).unwrap();
            }
            for _ in 0..200 {
                rank.endpoint.poll(&mut inbox).unwrap();
            }
            inbox.0
        })
        .unwrap()
    };
    let (first, second) = (chatter(), chatter());
    assert_eq!(first.results, second.results);
    assert_eq!((first.traffic, first.clocks_ns), (second.traffic, second.clocks_ns));
    assert_eq!(first.traffic.records, 300);
}

#[test]
fn registered_regions_are_read_and_written_by_key_and_offset() {
    let outcome = run(&pairs_of_hosts(4), |mut rank| {
        let mut inbox = Inbox::default();
        if rank.endpoint.rank() == 0 {
            let mut memory: Vec<u8> = (0..100).collect();
            // SAFETY: `memory` is not used while it is registered.
            let (key, registration) =
                unsafe { rank.endpoint.register(&[3], memory.as_mut_ptr(), 100, Access::ReadWrite) };
            let [address, number] = key.to_words();
            rank.endpoint.push(3, &RecordHead { a: number, b: address, ..RecordHead::default() }, &[]).unwrap();
            receive(&mut rank, &mut inbox, 1).unwrap();
            drop(registration);
            return memory[90..].to_vec();
        }
        if rank.endpoint.rank() == 3 {
            receive(&mut rank, &mut inbox, 1).unwrap();
            let key = RegionKey::from_words([0, inbox.0[0].1]);
            let (before, mut bytes) = (rank.clock.now_ns(), [0; 5]);
            rank.endpoint.read(0, key, 95, &mut bytes).unwrap();
            assert_eq!((bytes, rank.clock.now_ns() - before), ([95, 96, 97, 98, 99], 20_005));
            rank.endpoint.write(0, key, 90, &[1, 2, 3]).unwrap();
            for (peer, offset) in [(0, 96), (0, u64::MAX), (1, 0)] {
                assert!(rank.endpoint.read(peer, key, offset, &mut bytes).is_err(), "rank {peer} at {offset}");
            }
            assert!(rank.endpoint.write(0, RegionKey::from_words([0, 77]), 0, &[1]).is_err());
            send(&mut rank, 0, 0, 0);
        }
        Vec::new()
    })
    .unwrap();
    assert_eq!(outcome.results[0], [1, 2, 3, 93, 94, 95, 96, 97, 98, 99]);
    assert_eq!((outcome.traffic.copies, outcome.traffic.copied_bytes), (2, 8));
}

#[test]
fn a_lost_rank_gives_its_peers_an_error_after_the_detection_time() {
    let outcome = run(&pairs_of_hosts(6).lose(4, 50_000), |mut rank| {
        let mut inbox = Inbox::default();
        // Rank 4 sends nothing; the others wait for it.
        let error = receive(&mut rank, &mut inbox, 1).unwrap_err();
        (error.class(), error.to_string(), rank.clock.now_ns(), rank.endpoint.alive(4), rank.endpoint.alive(3))
    })
    .unwrap();
    for (rank, (class, text, end, lost_lives, other_lives)) in outcome.results.into_iter().enumerate() {
        assert_eq!((class, lost_lives, other_lives), (MPI_ERR_PROC_ABORTED, false, true), "rank {rank}");
        assert!(text.contains("rank 4 was lost"), "{text}");
        let seen = if rank == 4 { 50_000 } else { 60_000 };
        assert!((seen..seen + 1000).contains(&end), "rank {rank} at {end}");
    }
}

#[test]
fn ranks_that_wait_for_each_other_get_an_error() {
    let outcome = run(&Topology::new(3), |mut rank| receive(&mut rank, &mut Inbox::default(), 1)).unwrap();
    for result in outcome.results {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("every rank waits"), "{text}");
    }
}

#[test]
fn a_loop_of_polls_ends_because_it_takes_virtual_time() {
    let outcome = run(&pairs_of_hosts(3), |mut rank| {
        let (mut inbox, mut polls) = (Inbox::default(), 0);
        match rank.endpoint.rank() {
            0 => {
                rank.clock.spend_ns(100_000);
                send(&mut rank, 2, 7, 0);
            }
            2 => {
                while rank.endpoint.poll(&mut inbox).unwrap() == 0 {
                    polls += 1;
                }
            }
            _ => {}
        }
        polls
    })
    .unwrap();
    assert_eq!(outcome.results, [0, 0, 110_100 / 50]);
}

#[test]
fn ranks_of_a_host_share_its_cores() {
    let ends = |topology: Topology| {
        let outcome = run(&topology, |rank| rank.clock.spend_ns(1000));
        let mut ends = outcome.unwrap().clocks_ns;
        ends.sort_unstable();
        ends
    };
    let two_hosts = || Topology::new(6).ranks_per_host(4);
    assert_eq!(ends(two_hosts()), [1000; 6]);
    // Four ranks on two cores, and two on two.
    assert_eq!(ends(two_hosts().cores_per_host(2)), [1000, 1000, 1000, 1000, 2000, 2000]);
    assert_eq!(ends(two_hosts().cores_per_host(1)), [1000, 1000, 2000, 2000, 3000, 4000]);
    assert_eq!(ends(two_hosts().cores_per_host(9)), [1000; 6]);
}
