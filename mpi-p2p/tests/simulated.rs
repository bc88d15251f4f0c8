//! Point-to-point messages over the simulated network: 1,024 ranks in one process, counted record by record.
#![allow(unsafe_code)] // requests keep buffers of the test

use std::sync::Arc;

use mpi_core::ProcessLock;
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_BYTE, MPI_ERR_PROC_ABORTED};
use mpi_datatype::{Datatype, Form, RecvBuf, SendBuf, predefined};
use mpi_errors::Result;
use mpi_fabric::simulated::{Link, Outcome, Topology, run};
use mpi_p2p::{CommMeters, ContextSpec, Engine, Mode};
use mpi_t::HeapMemory;

const CONTEXT: u32 = 0;

struct Rank {
    engine: Engine,
    me: u32,
    size: u32,
}

impl Rank {
    fn send(&self, dest: u32, tag: i32, data: &[u8], mode: Mode) -> Result<()> {
        self.engine.send(self.engine.lock(), CONTEXT, dest as i32, tag, SendBuf::from_slice(data), mode)
    }

    fn receive(&self, source: i32, tag: i32, data: &mut [u8]) -> Result<i32> {
        let status = self.engine.recv(self.engine.lock(), CONTEXT, source, tag, RecvBuf::from_slice(data))?;
        Ok(status.source)
    }
}

fn simulate<T: Send>(topology: &Topology, body: impl Fn(&Rank) -> T + Sync) -> Outcome<T> {
    let world: Arc<[u32]> = (0..topology.ranks()).collect();
    let outcome = run(topology, |rank| {
        let (me, size) = (rank.endpoint.rank(), rank.endpoint.size());
        let engine = Engine::new(rank.endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory);
        let spec = ContextSpec {
            id: CONTEXT,
            rank: me,
            world_ranks: world.clone(),
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments: CommMeters::detached(size),
        };
        engine.add_context(&mut engine.lock(), spec);
        body(&Rank { engine, me, size })
    });
    outcome.expect("memory and threads for the ranks")
}

#[test]
fn a_token_visits_1024_ranks_in_1024_records_and_the_time_of_its_hops() {
    let outcome = simulate(&Topology::new(1024).ranks_per_host(64), |rank| {
        let mut token = [0u8; 8];
        if rank.me > 0 {
            rank.receive(rank.me as i32 - 1, 5, &mut token)?;
        }
        token = (u64::from_le_bytes(token) + 1).to_le_bytes();
        rank.send((rank.me + 1) % rank.size, 5, &token, Mode::Standard)?;
        if rank.me == 0 {
            rank.receive(1023, 5, &mut token)?;
        }
        Ok::<_, mpi_errors::Error>(u64::from_le_bytes(token))
    });
    assert_eq!(outcome.results.into_iter().next().expect("rank 0").expect("no fault"), 1024);
    assert_eq!((outcome.traffic.records, outcome.traffic.copies, outcome.traffic.pairs), (1024, 0, 1024));
    // 16 hops between hosts, the last one back to rank 0, and 1008 within: latencies and overheads, and polls on the
    // way.
    let least = 16 * 1500 + 1008 * 300 + 1024 * 100;
    let took = outcome.clocks_ns[0];
    assert!((least..least + 1024 * 200).contains(&took), "{took} ns, at least {least}");
}

#[test]
fn a_long_message_is_offered_read_in_one_copy_and_acknowledged() {
    const BYTES: usize = 1 << 20;
    let far = Link { latency_ns: 5000, bytes_per_us: 1000 };
    let outcome = simulate(&Topology::new(2).ranks_per_host(1).between_hosts(far), |rank| {
        let mut data = vec![rank.me as u8; BYTES];
        match rank.me {
            0 => rank.send(1, 1, &data, Mode::Standard).map(|()| 0),
            _ => rank.receive(0, 1, &mut data).map(|_| data.iter().map(|byte| u64::from(*byte)).sum()),
        }
    });
    let sums: Vec<u64> = outcome.results.into_iter().collect::<Result<_>>().expect("no fault");
    assert_eq!(sums, [0, 0], "all bytes are rank 0's");
    let traffic = outcome.traffic;
    assert_eq!((traffic.records, traffic.copies, traffic.copied_bytes), (2, 1, BYTES as u64));
    // The offer, the request and the data each cross the link; a byte takes a nanosecond.
    assert!((15_000 + BYTES as u64..20_000 + BYTES as u64).contains(&outcome.clocks_ns[1]), "{:?}", outcome.clocks_ns);
}

#[test]
fn long_messages_of_one_process_that_are_read_together_reach_their_buffers() {
    // The last two are longer than what is read together.
    const LENGTHS: [usize; 6] = [1 << 20, 100_000, 1 << 20, 70_001, 5 << 20, 4 << 20];
    let byte = |message: usize, at: usize| (at * 7 + message * 31) as u8;
    let outcome = simulate(&Topology::new(2).ranks_per_host(1), |rank| {
        let fill = |message: usize| (0..LENGTHS[message]).map(|at| byte(message, at)).collect::<Vec<u8>>();
        let mut buffers: Vec<Vec<u8>> = match rank.me {
            0 => (0..LENGTHS.len()).map(fill).collect(),
            _ => LENGTHS.map(|bytes| vec![0; bytes]).into(),
        };
        let engine = &rank.engine;
        let mut requests = Vec::new();
        for (tag, buffer) in (0..).zip(&mut buffers) {
            let guard = &mut engine.lock();
            // SAFETY: the buffers stay until all requests are complete.
            requests.push(unsafe {
                match rank.me {
                    0 => engine.isend(guard, CONTEXT, 1, tag, SendBuf::from_slice(buffer).detach(), Mode::Standard),
                    _ => engine.irecv(guard, CONTEXT, 0, tag, RecvBuf::from_slice(buffer).detach()),
                }
            }?);
        }
        for request in requests {
            engine.wait(engine.lock(), request)?;
        }
        for (message, buffer) in buffers.iter().enumerate() {
            assert!(buffer.iter().enumerate().all(|(at, found)| *found == byte(message, at)), "message {message}");
        }
        Ok::<_, mpi_errors::Error>(())
    });
    outcome.results.into_iter().collect::<Result<()>>().expect("no fault");
    let bytes = LENGTHS.iter().sum::<usize>() as u64;
    assert_eq!(outcome.traffic.copied_bytes, bytes, "every byte is read once");
}

#[test]
fn data_of_few_long_runs_are_read_from_the_runs_of_their_sender() {
    const RUN: usize = 100_000;
    let outcome = simulate(&Topology::new(2).ranks_per_host(1), |rank| {
        let bytes = predefined(MPI_BYTE).expect("predefined");
        let mut runs = Datatype::vector(3, RUN as u64, 2 * RUN as i64, bytes, Form::Small).expect("small");
        runs.commit();
        let mut whole: Vec<u8> = (0..6 * RUN).map(|at| (at / 3) as u8).collect();
        let expected: Vec<u8> = [0, 2, 4].iter().flat_map(|run| whole[run * RUN..][..RUN].to_vec()).collect();
        let engine = &rank.engine;
        match rank.me {
            0 => {
                let data = SendBuf::over(&whole, 1, &runs).expect("it fits");
                engine.send(engine.lock(), CONTEXT, 1, 4, data, Mode::Standard)?;
            }
            _ => {
                // The receiver's memory has none of these gaps.
                whole.fill(0);
                rank.receive(0, 4, &mut whole[..3 * RUN])?;
                assert!(whole[..3 * RUN] == expected, "the runs follow each other");
            }
        }
        Ok::<_, mpi_errors::Error>(())
    });
    outcome.results.into_iter().collect::<Result<()>>().expect("no fault");
    let traffic = outcome.traffic;
    // The offer and the report; the table of regions, and three runs.
    assert_eq!((traffic.records, traffic.copies), (2, 4));
}

#[test]
fn a_thousand_messages_for_one_wildcard_receiver_all_arrive() {
    let outcome = simulate(&Topology::new(1024), |rank| {
        if rank.me > 0 {
            return rank.send(0, 9, &rank.me.to_le_bytes(), Mode::Synchronous).map(|()| 0);
        }
        let mut sum = 0u64;
        for _ in 1..rank.size {
            let mut data = [0u8; 4];
            let source = rank.receive(MPI_ANY_SOURCE, 9, &mut data)?;
            assert_eq!(u32::from_le_bytes(data), source as u32);
            sum += source as u64;
        }
        Ok(sum)
    });
    let sums: Vec<u64> = outcome.results.into_iter().collect::<Result<_>>().expect("no fault");
    assert_eq!(sums[0], 1023 * 1024 / 2);
    // Each message and its acknowledgement.
    assert_eq!((outcome.traffic.records, outcome.traffic.pairs), (2 * 1023, 2 * 1023));
}

#[test]
fn a_receive_from_a_lost_rank_is_an_error() {
    let outcome = simulate(&Topology::new(8).lose(3, 10_000), |rank| match rank.me {
        3 => rank.receive(0, 1, &mut [0; 8]),
        _ => rank.receive(3, 1, &mut [0; 8]),
    });
    for (rank, result) in outcome.results.into_iter().enumerate() {
        let error = result.expect_err("no rank sends");
        assert_eq!(error.class(), MPI_ERR_PROC_ABORTED, "rank {rank}: {error}");
        assert!(error.to_string().contains("rank 3 was lost"), "{error}");
    }
}
