//! Any records of two peers on a network, while a correct rank sends, receives, probes, cancels and frees.
#![no_main]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use libfuzzer_sys::fuzz_target;
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_INTERN, MPI_ERR_OTHER};
use mpi_core::{Guard, Handle, ProcessLock};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::{
    Access, Endpoint, FabricSettings, Full, NetworkCopies, Payload, RecordHead, RegionKey, Registration, Sink,
    Transport, Waiter, Waiting,
};
use mpi_p2p::{CommMeters, ContextSpec, Engine, LONGEST_FOR_SERVICE, Mode, Service, ServiceMessage};
use mpi_t::HeapMemory;

/// Rank 0 is correct.
const RANKS: u32 = 3;
/// Its communicators; the second one has a service.
const CONTEXTS: [u32; 2] = [0, 4];
/// Lengths of messages: within one record, several records, and a rendezvous.
const LENGTHS: [usize; 6] = [0, 8, 1000, 20_000, 70_000, 300_000];
const MOST_PAYLOAD: usize = 16 << 10;

/// What the peers send, and what the correct rank has sent to them.
#[derive(Default)]
struct Wire {
    arriving: Mutex<VecDeque<(u32, RecordHead, Vec<u64>, usize)>>,
    /// Words of its records, some of which are tokens of its requests.
    sent: Mutex<Vec<u64>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics")
}

struct Port(Arc<Wire>);

impl Transport for Port {
    fn job(&self) -> u64 {
        1
    }

    fn max_payload(&self) -> usize {
        MOST_PAYLOAD
    }

    fn push(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        assert!((1..RANKS).contains(&dest) && payload.len() <= MOST_PAYLOAD);
        let mut sent = lock(&self.0.sent);
        if sent.len() < 4096 {
            sent.extend([head.a, head.b]);
            sent.extend(payload.as_chunks().0.iter().take(4).map(|bytes| u64::from_ne_bytes(*bytes)));
        }
        Ok(())
    }

    fn poll(&mut self, sink: &mut dyn Sink) -> Result<usize> {
        let arrived = std::mem::take(&mut *lock(&self.0.arriving));
        for (from, head, words, len) in &arrived {
            sink.record(*from, head, Payload::from_words(words, *len));
        }
        Ok(arrived.len())
    }

    // Rank 2 is one of a provider without remote access.
    fn can_copy(&self, peer: u32) -> bool {
        peer == 1
    }

    unsafe fn register(&self, _: *mut u8, _: usize, _: Access) -> (u64, Registration) {
        (7, Registration::NONE)
    }

    fn copies(&self) -> Arc<dyn NetworkCopies> {
        Arc::new(Copies)
    }

    fn alive(&self, _: u32) -> bool {
        true
    }

    fn waiting(&self) -> Waiting {
        Waiting::Own(Arc::new(NoWait))
    }
}

/// A peer's memory, of which some regions exist.
struct Copies;

impl NetworkCopies for Copies {
    fn read(&self, _: u32, key: RegionKey, offset: u64, into: &mut [u8]) -> Result<()> {
        match key.number() % 4 {
            0 => Err(Error::new(MPI_ERR_OTHER, "no such region")),
            _ => {
                into.fill(offset as u8);
                Ok(())
            }
        }
    }

    fn write(&self, _: u32, key: RegionKey, _: u64, data: &[u8]) -> Result<()> {
        std::hint::black_box(data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
        if key.number() % 4 == 0 { Err(Error::new(MPI_ERR_OTHER, "no such region")) } else { Ok(()) }
    }
}

struct NoWait;

impl Waiter for NoWait {
    fn sleep(&self) {}
    fn wake(&self) {}
}

struct Reads;

impl Service for Reads {
    fn message(&self, _: &Engine, _: &mut Guard<'_>, message: ServiceMessage<'_>) {
        assert!((0..RANKS as i32).contains(&message.source) && message.data.len() as u64 <= LONGEST_FOR_SERVICE);
        std::hint::black_box(message.data.to_vec());
    }

    fn completed(&self, _: &Engine, _: &mut Guard<'_>, _: Handle, _: mpi_p2p::Completion) {}
}

/// The input, as numbers; zeros behind its end.
struct Numbers<'i>(&'i [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    fn any(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A word as a record has it: small, one that the correct rank has sent, a length, in both halves, or any.
    fn word(&mut self, sent: &[u64]) -> u64 {
        match self.below(6) {
            0 => self.below(4) as u64,
            1 | 2 if !sent.is_empty() => sent[sent.len() - 1 - self.below(sent.len().min(32))],
            1 | 3 => self.of(&LENGTHS) as u64,
            4 => (self.of(&LENGTHS) as u64) << 32 | self.below(4) as u64,
            _ => self.any(),
        }
    }
}

/// Puts a record of a peer on its way.
fn send_record(wire: &Wire, numbers: &mut Numbers<'_>) {
    let sent = lock(&wire.sent).clone();
    let head = RecordHead {
        kind: numbers.byte() % 22,
        flags: if numbers.below(2) == 0 { 0 } else { numbers.byte() },
        context: if numbers.below(8) == 0 { numbers.any() as u32 } else { numbers.below(6) as u32 },
        tag: if numbers.below(8) == 0 { numbers.any() as i32 } else { numbers.below(3) as i32 },
        a: numbers.word(&sent),
        b: numbers.word(&sent),
    };
    let (words, data) =
        (numbers.below(6), if numbers.below(2) == 0 { 0 } else { numbers.of(&LENGTHS).min(MOST_PAYLOAD) });
    let mut payload: Vec<u64> = (0..words).map(|_| numbers.word(&sent)).collect();
    let len = (words * 8).max(data);
    payload.resize(len.div_ceil(8), 0x0101_0101_0101_0101);
    lock(&wire.arriving).push_back((1 + numbers.below(2) as u32, head, payload, len));
}

fn engine(wire: &Arc<Wire>) -> Engine {
    let endpoint = Endpoint::over(Box::new(Port(wire.clone())), 0, RANKS, None, FabricSettings::new());
    let engine = Engine::new(endpoint.expect("memory for a rank"), Arc::new(ProcessLock::new(false)), &HeapMemory);
    for id in CONTEXTS {
        let (world_ranks, instruments) = ((0..RANKS).collect(), CommMeters::detached(RANKS));
        let spec = ContextSpec {
            id,
            rank: 0,
            world_ranks,
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments,
        };
        engine.add_context(&mut engine.lock(), spec);
    }
    engine.add_service(&mut engine.lock(), CONTEXTS[1], Arc::new(Reads));
    engine
}

/// Executes the input; ends with the error that a damaged record is.
fn run(engine: &Engine, wire: &Wire, numbers: &mut Numbers<'_>, memory: &mut Vec<Box<[u8]>>) -> Result<()> {
    let (mut requests, mut held) = (Vec::new(), Vec::new());
    let mut room = |bytes: usize| {
        memory.push(vec![5; bytes].into_boxed_slice());
        memory.last_mut().expect("just pushed").as_mut_ptr()
    };
    while !numbers.0.is_empty() {
        let guard = &mut engine.lock();
        let (source, tag) = (numbers.of(&[MPI_ANY_SOURCE, 1, 2]), numbers.of(&[MPI_ANY_TAG, 0, 1]));
        let (dest, to_tag, bytes) = (source.abs().clamp(1, 2), tag.max(0), numbers.of(&LENGTHS));
        // SAFETY: the memory stays where it is until the engine is dropped.
        let receives = |at: *mut u8| unsafe { RecvBuf::from_slice(std::slice::from_raw_parts_mut(at, bytes)).detach() };
        // SAFETY: as above.
        let sends = |at: *mut u8| unsafe { SendBuf::from_slice(std::slice::from_raw_parts(at, bytes)).detach() };
        match numbers.below(20) {
            0 | 1 => requests.push(engine.irecv(guard, 0, source, tag, receives(room(bytes)))?),
            2 | 3 => {
                let mode = numbers.of(&[Mode::Standard, Mode::Synchronous]);
                requests.push(engine.isend(guard, 0, dest, to_tag, sends(room(bytes)), mode)?);
            }
            4 => {
                let request = engine.precv_init(guard, 0, (dest, to_tag), receives(room(bytes)), 2)?;
                requests.push(request);
                engine.start(guard, request)?;
            }
            5 => {
                let request = engine.psend_init(guard, 0, (dest, to_tag), sends(room(bytes)), 2)?;
                requests.push(request);
                engine.start(guard, request)?;
                engine.pready(guard, request, [(0, numbers.below(2) as i32)].into_iter())?;
            }
            6 => drop(engine.iprobe(guard, 0, source, tag)?),
            7 => held.extend(engine.improbe(guard, 0, source, tag)?.map(|(message, _)| message)),
            8 => {
                if let Some(message) = held.pop() {
                    requests.extend(engine.imrecv(guard, message, receives(room(bytes)))?);
                }
            }
            9 if !requests.is_empty() => {
                let request = numbers.of(&requests);
                // A request that has ended meanwhile is none; a partitioned one cannot be cancelled.
                let _ = engine.cancel(guard, request);
            }
            10 if !requests.is_empty() => {
                let at = numbers.below(requests.len());
                // One that is active may be one that cannot be freed.
                let _ = engine.request_free(guard, requests.swap_remove(at));
            }
            11 | 12 if !requests.is_empty() => {
                let at = numbers.below(requests.len());
                match engine.test(guard, requests[at]) {
                    Ok(None) => {}
                    Ok(Some(_)) => drop(requests.swap_remove(at)),
                    Err(error) if error.class() == MPI_ERR_INTERN => return Err(error),
                    Err(_) => drop(requests.swap_remove(at)),
                }
            }
            13 => engine.progress(guard)?,
            _ => send_record(wire, numbers),
        }
    }
    for _ in 0..4 {
        engine.progress(&mut engine.lock())?;
    }
    Ok(())
}

fuzz_target!(|input: &[u8]| {
    let (wire, mut memory) = (Arc::new(Wire::default()), Vec::new());
    let engine = engine(&wire);
    if let Err(error) = run(&engine, &wire, &mut Numbers(input), &mut memory) {
        std::hint::black_box(error.to_string());
    }
    // Its requests point into the memory.
    drop(engine);
    drop(memory);
});
