//! Several jobs whose processes are threads, each with its own job memory: connections, groups, routes and endings.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use mpi_comm::{
    Comm, CommSpec, Comparison, ContextIds, Group, InternalMeters, PeerLeader, RemoteSpec, agree, agree_on_context,
    by_color, connect, host_number, merged, register, unregister,
};
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ERR_INTERN, MPI_ERR_OTHER, MPI_ERR_PORT, MPI_ERR_PROC_ABORTED};
use mpi_core::{Guarded, Handle, ProcessLock};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_dynamic::{Port, Reach, connect_over, dial};
use mpi_errors::{Error, Result};
use mpi_fabric::Endpoint;
use mpi_p2p::{CommMeters, Engine, Mode};
use mpi_t::HeapMemory;

/// One process of one job.
struct Process {
    job: usize,
    engine: Engine,
    ids: Guarded<ContextIds>,
    world: Comm,
    meters: InternalMeters,
}

/// Starts jobs of these sizes; `body` gets each process. The results, by job and rank.
fn jobs<T: Send>(sizes: &[u32], body: impl Fn(&Process) -> T + Sync) -> Vec<Vec<T>> {
    let all: Vec<Vec<Endpoint>> = sizes.iter().map(|size| Endpoint::threads(*size).expect("memory")).collect();
    let body = &body;
    thread::scope(|scope| {
        let start = |(job, endpoints): (usize, Vec<Endpoint>)| {
            let start = |endpoint| scope.spawn(move || body(&Process::new(job, endpoint)));
            endpoints.into_iter().map(start).collect::<Vec<_>>()
        };
        let started: Vec<_> = all.into_iter().enumerate().map(start).collect();
        started.into_iter().map(|job| job.into_iter().map(|it| it.join().expect("no panic")).collect()).collect()
    })
}

impl Process {
    fn new(job: usize, endpoint: Endpoint) -> Process {
        let lock = Arc::new(ProcessLock::new(false));
        let engine = Engine::new(endpoint, lock.clone(), &HeapMemory);
        let (rank, size) = (engine.rank(), engine.size());
        let ids = Guarded::new(&lock, ContextIds::new(rank, size));
        let world = register(&engine, &mut engine.lock(), CommSpec::world(rank, size), CommMeters::detached(size));
        Process { job, engine, ids, world, meters: InternalMeters::default() }
    }

    fn register(&self, spec: CommSpec) -> Comm {
        let meters = self.meters.of(spec.peers());
        register(&self.engine, &mut self.engine.lock(), spec, meters)
    }

    fn inter(&self, local: &Comm, made: mpi_comm::Connection) -> Comm {
        let (context, group, rank) = (made.context, local.group().clone(), local.rank());
        let remote = Some(RemoteSpec { group: made.remote, internal_meters: self.meters.of(group.size()) });
        let (name, errhandler) = (String::new(), Handle(0));
        self.register(CommSpec { context, group, remote, rank, name, errhandler, topology: None })
    }

    fn over<S: AsFd>(&self, local: &Comm, stream: impl FnOnce() -> Result<S>) -> Result<Comm> {
        let stream = (local.rank() == 0).then(stream);
        let made = connect_over(&self.engine, local, 0, stream, None, &self.ids)?;
        Ok(self.inter(local, made))
    }

    fn merge(&self, inter: &Comm, high: bool) -> Comm {
        let agreed = agree(&self.engine, inter, &self.ids, [i32::from(high), 0]).expect("ids");
        let group = merged(inter, inter.remote().expect("two groups"), &agreed).expect("the same in each group");
        self.part(inter, agreed.context, &group)
    }

    fn part(&self, parent: &Comm, context: u32, group: &Group) -> Comm {
        let rank = group.rank_of(self.engine.rank()).expect("a member");
        self.register(CommSpec::part(parent, context, group, rank))
    }

    /// Each process exchanges data of this length with each other one.
    fn exchange_with_all(&self, comm: &Comm, words: usize) {
        let engine = &self.engine;
        let value = |from: u32, to: u32| vec![u64::from(from) << 32 | u64::from(to); words];
        let requests: Vec<(Vec<u64>, u32)> = (0..comm.peers()).map(|to| (value(comm.rank(), to), to)).collect();
        for (data, to) in &requests {
            let mut room = vec![0u64; words];
            // Pairs in one order, so that long messages find their receives.
            let status = engine
                .sendrecv(
                    engine.lock(),
                    comm.context(),
                    *to as i32,
                    4,
                    SendBuf::from_slice(data),
                    *to as i32,
                    4,
                    RecvBuf::from_slice(&mut room),
                )
                .map_err(Error::from);
            assert_eq!(status.expect("no fault").source, *to as i32);
            assert_eq!(room, value(*to, comm.rank()));
        }
    }

    fn send(&self, comm: &Comm, to: i32, word: u64) {
        let data = [word];
        let (engine, data) = (&self.engine, SendBuf::from_slice(&data));
        engine.send(engine.lock(), comm.context(), to, 1, data, Mode::Standard).expect("no fault");
    }

    fn recv(&self, comm: &Comm, from: i32) -> Result<u64> {
        let mut word = [0u64];
        let engine = &self.engine;
        engine.recv(engine.lock(), comm.context(), from, 1, RecvBuf::from_slice(&mut word)).map_err(Error::from)?;
        Ok(word[0])
    }

    fn free(&self, comm: Comm) {
        unregister(&self.engine, &mut self.engine.lock(), &comm);
        drop(comm);
        self.engine.release_peers(&mut self.engine.lock());
    }

    fn connected(&self) -> [usize; 2] {
        self.engine.connected_peers(&self.engine.lock())
    }
}

/// A stream for each of two roots.
struct Pair([std::sync::Mutex<Option<UnixStream>>; 2]);

impl Pair {
    fn new() -> Pair {
        let (one, other) = UnixStream::pair().expect("sockets");
        Pair([one, other].map(|end| std::sync::Mutex::new(Some(end))))
    }

    fn take(&self, end: usize) -> Result<UnixStream> {
        Ok(self.0[end].lock().expect("no panic").take().expect("taken once"))
    }
}

#[test]
fn jobs_of_all_sizes_connect_merge_and_exchange_messages() {
    for sizes in [[1, 1], [1, 3], [3, 2], [2, 5]] {
        let pair = Pair::new();
        jobs(&sizes, |process| {
            let inter = process.over(&process.world, || pair.take(process.job)).expect("connected");
            assert_eq!((inter.size(), inter.peers()), (sizes[process.job], sizes[1 - process.job]));
            for words in [1, 100, 3000, 50_000] {
                process.exchange_with_all(&inter, words);
            }
            let all = process.merge(&inter, process.job == 1);
            assert_eq!(
                (all.size(), all.rank()),
                (sizes[0] + sizes[1], process.engine.rank() + [0, sizes[0]][process.job])
            );
            // Of one host, whatever their ranks in their jobs.
            assert_eq!([&inter, &all].map(|comm| host_number(&process.engine, comm)), [0; 2]);
            for words in [1, 5000, 40_000] {
                process.exchange_with_all(&all, words);
            }
            let same = process.merge(&inter, false);
            assert!(matches!(all.compare(&same), Comparison::Congruent | Comparison::Similar));
            // Parts of all processes, duplicates, and ids that no process uses twice.
            let agreed = agree(&process.engine, &all, &process.ids, [all.rank() as i32 % 2, 0]).expect("ids");
            let half = process.part(&all, agreed.context, &by_color(&all, &agreed.words).expect("a color"));
            process.exchange_with_all(&half, 10);
            let copy = agree_on_context(&process.engine, &inter, &process.ids).expect("ids");
            let copy = process.register(CommSpec::duplicate(&inter, copy));
            process.exchange_with_all(&copy, 10);
            let contexts = [&inter, &all, &same, &half, &copy].map(|comm| comm.context());
            assert!(contexts.windows(2).all(|two| two[0] != two[1]));
            for comm in [copy, half, same, all, inter] {
                process.free(comm);
            }
            assert_eq!(process.connected(), [0, 0]);
        });
    }
}

#[test]
fn a_server_takes_clients_one_after_the_other_and_keeps_nothing() {
    const CLIENTS: usize = 40;
    let port = Port::open(Reach::Host).expect("a socket");
    let mut sizes = vec![2];
    sizes.resize(1 + CLIENTS, 1);
    jobs(&sizes, |process| {
        if process.job > 0 {
            let server = process.over(&process.world, || dial(&process.engine, port.name(), None)).expect("accepted");
            let answer = process.recv(&server, 1).expect("an answer");
            process.send(&server, 0, answer + 1);
            process.free(server);
            return assert_eq!(process.connected(), [0, 0]);
        }
        for turn in 0..CLIENTS as u64 {
            let client = process.over(&process.world, || port.accept(&process.engine, None)).expect("a client");
            match process.engine.rank() {
                1 => process.send(&client, 0, turn),
                _ => assert_eq!(process.recv(&client, MPI_ANY_SOURCE).expect("no fault"), turn + 1),
            }
            let number = client.remote().expect("two groups").group().world_ranks()[0];
            assert_eq!(number, 2, "the same in each turn");
            process.free(client);
            assert_eq!(process.connected(), [0, 0], "turn {turn}");
        }
    });
}

/// A, B and C are connected as A-B and B-C; then A and C come together.
#[test]
fn processes_without_a_route_get_one_when_they_come_together() {
    let (ab, bc) = (Pair::new(), Pair::new());
    jobs(&[2, 1, 2], |process| {
        let engine = &process.engine;
        let merge_over = |pair: &Pair, end: usize, local: &Comm| {
            let inter = process.over(local, || pair.take(end)).expect("connected");
            let all = process.merge(&inter, end == 1);
            process.free(inter);
            all
        };
        // B is rank 2 of A+B; then C's group connects with A+B through B alone.
        let (local, leader, peer_comm) = match process.job {
            0 => (merge_over(&ab, 0, &process.world), 2, None),
            1 => {
                let of_ab = merge_over(&ab, 1, &process.world);
                let with_c = process.over(&process.world, || bc.take(0)).expect("connected");
                (of_ab, 2, Some(with_c))
            }
            _ => {
                let with_b = process.over(&process.world, || bc.take(1)).expect("connected");
                (
                    process.register(CommSpec::part(&process.world, 0x4000_0000, process.world.group(), engine.rank())),
                    0,
                    Some(with_b),
                )
            }
        };
        let peer = (local.rank() == leader).then(|| {
            let comm = peer_comm.as_ref().expect("the leaders are connected");
            Ok(PeerLeader { comm, rank: 0, tag: 9, expected: None, refusal: 0 })
        });
        let made = connect(engine, &local, leader, peer, &process.ids).expect("routes are made");
        let inter = process.inter(&local, made);
        process.exchange_with_all(&inter, 100);
        let all = process.merge(&inter, process.job == 2);
        assert_eq!(all.size(), 5);
        process.exchange_with_all(&all, 20_000);
        for comm in [all, inter, local].into_iter().chain(peer_comm) {
            process.free(comm);
        }
        assert_eq!(process.connected(), [0, 0]);
    });
}

#[test]
fn operations_with_a_process_that_ends_fail_and_others_do_not() {
    let pair = Pair::new();
    let (gone, wait): (Sender<()>, Receiver<()>) = channel();
    let wait = std::sync::Mutex::new(wait);
    jobs(&[2, 2], |process| {
        let inter = process.over(&process.world, || pair.take(process.job)).expect("connected");
        let all = process.merge(&inter, process.job == 1);
        let engine = &process.engine;
        match (process.job, engine.rank()) {
            (1, 1) => {
                process.send(&all, 0, 77);
                // Ends: its endpoint is dropped.
                gone.send(()).expect("others wait");
            }
            (0, 0) => {
                wait.lock().expect("no panic").recv().expect("the process ends");
                assert_eq!(process.recv(&all, 3).expect("sent before the end"), 77);
                assert_eq!(process.recv(&all, 3).expect_err("ended").class(), MPI_ERR_PROC_ABORTED);
                assert_eq!(process.recv(&all, MPI_ANY_SOURCE).expect_err("ended").class(), MPI_ERR_PROC_ABORTED);
                assert_eq!(
                    engine.probe(engine.lock(), all.context(), 3, 1).expect_err("ended").class(),
                    MPI_ERR_PROC_ABORTED
                );
                let long = vec![1u64; 100_000];
                let sent =
                    engine.send(engine.lock(), all.context(), 3, 1, SendBuf::from_slice(&long), Mode::Synchronous);
                assert_eq!(sent.expect_err("ended").class(), MPI_ERR_PROC_ABORTED);
                // The others still communicate.
                process.send(&all, 1, 5);
                process.send(&all, 2, 6);
                let failed = agree_on_context(engine, &all, &process.ids).expect_err("a member has ended");
                assert_eq!(failed.class(), MPI_ERR_PROC_ABORTED);
            }
            (job, _) => {
                assert_eq!(process.recv(&all, 0).expect("no fault"), if job == 0 { 5 } else { 6 });
                if job == 0 {
                    let failed = agree_on_context(engine, &all, &process.ids).expect_err("a member has ended");
                    assert_eq!(failed.class(), MPI_ERR_PROC_ABORTED);
                }
            }
        }
    });
}

#[test]
fn an_error_of_a_root_and_a_closed_connection_are_errors_in_all_processes() {
    let (first, second) = (Pair::new(), Pair::new());
    jobs(&[3, 2], |process| {
        let fails = || -> Result<UnixStream> { Err(Error::new(MPI_ERR_PORT, "no port")) };
        assert_eq!(process.over(&process.world, fails).expect_err("the root failed").class(), MPI_ERR_PORT);
        let other_end = || {
            if process.job == 0 {
                first.take(0)
            } else {
                drop(first.take(1));
                fails()
            }
        };
        let class = process.over(&process.world, other_end).expect_err("the other root failed").class();
        assert_eq!(class, if process.job == 0 { MPI_ERR_PROC_ABORTED } else { MPI_ERR_PORT });
        let noise = || {
            let stream = second.take(process.job)?;
            if process.job == 1 {
                use std::io::Write;
                (&stream).write_all(&[b'x'; 24]).expect("room");
                std::mem::forget(stream);
                return fails();
            }
            Ok(stream)
        };
        let class = process.over(&process.world, noise).expect_err("no greeting").class();
        assert_eq!(class, if process.job == 0 { MPI_ERR_OTHER } else { MPI_ERR_PORT });
        assert_eq!(process.connected(), [0, 0]);
    });
}

#[test]
fn a_class_that_is_none_from_the_other_root_is_an_error_in_all_processes() {
    jobs(&[3], |process| {
        // The low half of the class is that of success.
        let (greeting, head) = ([u64::from_le_bytes(*b"FERRUMCN"), 2], [1, 0, u64::MAX, u64::MAX, 1 << 32]);
        let words: Vec<u8> = greeting.into_iter().chain(head).flat_map(u64::to_le_bytes).collect();
        let stream = || -> Result<UnixStream> {
            use std::io::Write;
            let (stream, mut other) = UnixStream::pair().expect("a pair");
            other.write_all(&words).expect("room");
            // It stays open, so that what this process sends is no error.
            std::mem::forget(other);
            Ok(stream)
        };
        assert_eq!(process.over(&process.world, stream).expect_err("refused").class(), MPI_ERR_INTERN);
    });
}

#[test]
fn two_halves_of_one_job_connect_without_a_bridge() {
    let pair = Pair::new();
    jobs(&[4], |process| {
        let half = process.engine.rank() / 2;
        let agreed = agree(&process.engine, &process.world, &process.ids, [half as i32, 0]).expect("ids");
        let local =
            process.part(&process.world, agreed.context, &by_color(&process.world, &agreed.words).expect("a color"));
        let inter = process.over(&local, || pair.take(half as usize)).expect("connected");
        process.exchange_with_all(&inter, 1000);
        assert_eq!(process.connected(), [0, 0]);
    });
}

#[test]
fn a_process_that_stops_in_its_greeting_or_leaves_is_passed_over() {
    let (send, name) = channel();
    let (send, name) = (std::sync::Mutex::new(send), std::sync::Mutex::new(name));
    jobs(&[1, 1], |process| {
        if process.job == 0 {
            let port = Port::open(Reach::Host).expect("a socket");
            let _ = send.lock().expect("one user").send(port.name().to_owned());
            let inter = process.over(&process.world, || port.accept(&process.engine, None)).expect("a client");
            process.exchange_with_all(&inter, 1000);
            return;
        }
        use std::io::Write;
        let name = name.lock().expect("one user").recv().expect("a name");
        // One stops after a byte, one has left after a whole greeting.
        let dialled = || UnixStream::from(dial(&process.engine, &name, None).expect("open"));
        let mut stops = dialled();
        stops.write_all(b"F").expect("room");
        let mut leaves = dialled();
        leaves.write_all(&[0; 16]).expect("room");
        drop(leaves);
        let inter = process.over(&process.world, || dial(&process.engine, &name, None)).expect("a server");
        process.exchange_with_all(&inter, 1000);
        drop(stops);
    });
}

#[test]
fn unknown_and_closed_ports_are_refused() {
    jobs(&[1], |process| {
        let port = Port::open(Reach::Host).expect("a socket");
        let name = port.name().to_owned();
        drop(port);
        let error = dial(&process.engine, &name, None).expect_err("closed");
        assert_eq!(error.class(), MPI_ERR_PORT);
        assert_eq!(dial(&process.engine, "elsewhere", None).expect_err("malformed").class(), MPI_ERR_PORT);
        let port = Port::open(Reach::Host).expect("a socket");
        let soon = std::time::Instant::now() + std::time::Duration::from_millis(30);
        assert_eq!(port.accept(&process.engine, Some(soon)).expect_err("nobody").class(), MPI_ERR_PORT);
        port.close();
        assert_eq!(port.accept(&process.engine, None).expect_err("closed").class(), MPI_ERR_PORT);
    });
}
