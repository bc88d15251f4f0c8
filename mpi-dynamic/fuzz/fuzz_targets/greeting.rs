//! Any bytes to a port on the network and to a process that connects with another job: nothing gets past the port without its
//! name, and what follows a proof ends with an error of a class that exists.
#![no_main]

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use mpi_comm::{Comm, CommSpec, ContextIds, register};
use mpi_core::abi::{MPI_ERR_OTHER, MPI_SUCCESS};
use mpi_core::{Guarded, ProcessLock};
use mpi_dynamic::{Port, Reach, connect_over, fuzzed};
use mpi_errors::{Error, Result, classes};
use mpi_fabric::Endpoint;
use mpi_p2p::{CommMeters, Engine};
use mpi_t::HeapMemory;

/// A job of one process, with a port.
struct Process {
    engine: Engine,
    world: Comm,
    ids: Guarded<ContextIds>,
    port: Port,
    address: SocketAddr,
}

impl Process {
    fn new() -> Process {
        let lock = Arc::new(ProcessLock::new(false));
        let engine = Engine::new(Endpoint::world_of_one().expect("memory"), lock.clone(), &HeapMemory);
        let ids = Guarded::new(&lock, ContextIds::new(0, 1));
        let world = register(&engine, &mut engine.lock(), CommSpec::world(0, 1), CommMeters::detached(1));
        let port = Port::open(Reach::Hosts).expect("a socket");
        let address = fuzzed::addresses(port.name())[0];
        Process { engine, world, ids, port, address }
    }
}

thread_local!(static PROCESS: Process = Process::new());

/// Words of a handshake: some bytes stand for those that a test of them looks for.
fn words_of(process: &Process, input: &[u8]) -> Vec<u8> {
    let guard = &process.engine.lock();
    let (id, host) = (process.engine.process_id(guard), process.engine.host_key(guard));
    let mut bytes = Vec::new();
    let mut rest = input;
    while let Some((first, tail)) = rest.split_first() {
        let word = match first {
            0..=15 => u64::from(*first),
            16 => u64::from_le_bytes(*b"FERRUMCN"),
            17 => id.job,
            18 => id.job ^ 1,
            19 => host,
            20 => u64::MAX,
            21 => 1 << 32,
            22 => 1 << 20,
            _ => {
                let (word, tail) = tail.split_at(tail.len().min(8));
                bytes.extend_from_slice(word);
                rest = tail;
                continue;
            }
        };
        bytes.extend(word.to_le_bytes());
        rest = tail;
    }
    bytes
}

/// Connects with the port, sends what an input is, and returns what the port accepts.
fn accepted(process: &Process, has_name: bool, input: &[u8]) -> (TcpStream, Result<OwnedFd>) {
    let mut stream = TcpStream::connect(process.address).expect("it listens");
    if !has_name {
        stream.write_all(input).expect("room");
    }
    let _ = stream.shutdown(if has_name { Shutdown::Both } else { Shutdown::Write }).is_ok();
    let turns = Cell::new(0);
    let failure = || {
        turns.set(turns.get() + 1);
        (turns.get() > 2).then(|| Error::new(MPI_ERR_OTHER, "nobody"))
    };
    let accepted = process.port.accept_unless(&process.engine, None, failure);
    (stream, accepted)
}

/// The same for one that has the name, which greets in a thread of its own, as it first gets the port's number.
fn accepted_with_name(process: &Process, input: &[u8]) -> OwnedFd {
    let (name, address) = (process.port.name().to_owned(), process.address);
    std::thread::scope(|scope| {
        let caller = scope.spawn(move || {
            let mut stream = TcpStream::connect(address).expect("it listens");
            let mut number = [0; 16];
            stream.read_exact(&mut number).expect("a number");
            let words = number.as_chunks().0;
            let number = [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])];
            stream.write_all(&fuzzed::hello(&name, number).expect("a name")).expect("room");
            stream.write_all(input).expect("room");
            stream
        });
        let end = Instant::now() + Duration::from_secs(2);
        let accepted = process.port.accept(&process.engine, Some(end));
        let stream = caller.join().expect("no panic");
        let _ = stream.shutdown(Shutdown::Write);
        accepted.expect("accepted with a proof")
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((how, rest)) = input.split_first() else { return };
    PROCESS.with(|process| {
        let stream = match how {
            0 => {
                let (stream, accepted) = accepted(process, false, rest);
                assert!(accepted.is_err(), "accepted without a proof");
                drop(stream);
                return;
            }
            1 => {
                let words = words_of(process, rest);
                // Without a whole greeting the port waits.
                if words.len() < 16 {
                    return;
                }
                accepted_with_name(process, &words)
            }
            _ => {
                let (own, mut other) = std::os::unix::net::UnixStream::pair().expect("a pair");
                let greeting = [u64::from_le_bytes(*b"FERRUMCN"), 2].map(u64::to_le_bytes);
                if *how > 2 {
                    other.write_all(greeting.as_flattened()).expect("room");
                }
                other.write_all(&words_of(process, rest)).expect("room");
                other.shutdown(Shutdown::Write).expect("connected");
                let own: OwnedFd = own.into();
                let end = Instant::now() + Duration::from_secs(5);
                finish(
                    process,
                    connect_over(&process.engine, &process.world, 0, Some(Ok(&own)), Some(end), &process.ids),
                );
                drop(other);
                return;
            }
        };
        let end = Instant::now() + Duration::from_secs(5);
        finish(process, connect_over(&process.engine, &process.world, 0, Some(Ok(&stream)), Some(end), &process.ids));
    });
});

/// A process that is none has no connection, and the error has a class.
fn finish(process: &Process, result: Result<mpi_comm::Connection>) {
    if let Err(error) = result {
        assert!(error.class() != MPI_SUCCESS && classes::name(error.class()).is_some(), "{error}");
    }
    process.engine.progress(&mut process.engine.lock()).expect("no fault");
}
