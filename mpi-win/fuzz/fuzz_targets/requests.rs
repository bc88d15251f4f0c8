//! Any batches of one-sided operations, and data behind them, for a window of a correct rank: they change the window's memory
//! only, and each request that demands an answer gets one.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use mpi_coll::Collectives;
use mpi_comm::{CommSpec, ContextIds, register};
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE, MPI_ERR_INTERN, MPI_INT, MPI_SUM};
use mpi_core::{Guarded, Info, ProcessLock};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Error;
use mpi_fabric::Endpoint;
use mpi_p2p::{CommMeters, Engine, Mode};
use mpi_t::HeapMemory;
use mpi_win::{Exposure, Flavor, OneSided};

const BATCH: i32 = 1;
const DATA: i32 = 2;
/// Bytes of the window, in the middle of memory that nothing may change.
const WINDOW: usize = 20_000;
const AROUND: usize = 4096;

/// Puts words of the kind that records have in the place of some of the input: a byte below 32 stands for one.
fn batch_of(input: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = input;
    while let Some((first, tail)) = rest.split_first() {
        let word = match first {
            0..=9 => u64::from(*first),
            10..=15 => u64::from(*first - 9) | (MPI_SUM as u64) << 32,
            16..=18 => MPI_INT as u64 | u64::from(*first - 16) << 32,
            19..=21 => MPI_BYTE as u64 | u64::from(*first - 19) << 32,
            22..=24 => 8 << (first - 22),
            25 => WINDOW as u64,
            26 => 9000,
            27 => u64::MAX,
            28 => 1 << 40,
            _ => {
                let (word, tail) = tail.split_at(tail.len().min(8));
                bytes.extend_from_slice(word);
                rest = tail;
                continue;
            }
        };
        bytes.extend(word.to_ne_bytes());
        rest = tail;
    }
    bytes
}

fuzz_target!(|input: &[u8]| {
    let endpoint = Endpoint::world_of_one().expect("memory");
    let lock = Arc::new(ProcessLock::new(false));
    let engine = Arc::new(Engine::new(endpoint, lock.clone(), &HeapMemory));
    let coll = Collectives::new(engine.clone(), true, &HeapMemory);
    let one_sided = OneSided::new(engine.clone(), coll);
    one_sided.settings().direct.set(false);
    one_sided.settings().shared.set(false);
    one_sided.settings().shared_locks.set(false);
    let world = register(&engine, &mut engine.lock(), CommSpec::world(0, 1), CommMeters::detached(1));
    let ids = Guarded::new(&lock, ContextIds::new(0, 1));
    let mut memory = vec![0x77u8; WINDOW + 2 * AROUND];
    let base = memory[AROUND..].as_mut_ptr().expose_provenance();
    let what = Exposure { flavor: Flavor::Create { base }, size: WINDOW as i64, disp_unit: 1, hints: Info::new() };
    // SAFETY: the memory stays until the engine, which alone uses it, is dropped.
    let win = unsafe { one_sided.create(&world, &ids, what, true, &HeapMemory) }.expect("a window");
    let context = win.context();
    // Each part is a batch, or data; parts are separated by the byte 255.
    let parts: Vec<Vec<u8>> = input.split(|byte| *byte == 255).take(16).map(batch_of).collect();
    let mut requests = Vec::new();
    for part in &parts {
        let (tag, data) = if part.first() == Some(&0) { (DATA, &part[1..]) } else { (BATCH, &part[..]) };
        // SAFETY: the data stay until the engine is dropped.
        let buffer = unsafe { SendBuf::from_slice(data).detach() };
        let guard = &mut engine.lock();
        let sent = match tag {
            BATCH => engine.send_to_service(guard, context, 0, tag, buffer),
            _ => engine.isend(guard, context, 0, tag, buffer, Mode::Standard),
        };
        requests.push(sent.expect("room for a request"));
        engine.progress(guard).expect("a bad batch is no fault of the engine");
    }
    let mut answer = vec![0u8; WINDOW];
    for _ in 0..100 {
        let guard = &mut engine.lock();
        engine.progress(guard).expect("a bad batch is no fault of the engine");
        if let Some((message, status)) = engine.improbe(guard, context, MPI_ANY_SOURCE, MPI_ANY_TAG).expect("no fault")
        {
            let into = &mut answer[..(status.bytes() as usize).min(WINDOW)];
            // SAFETY: the memory stays until the engine is dropped.
            let into = unsafe { RecvBuf::from_slice(into).detach() };
            requests.extend(engine.imrecv(guard, message, into).expect("room for a request"));
        }
    }
    for request in requests {
        // Those whose other half is missing stay open.
        if let Err(error) = engine.test(&mut engine.lock(), request) {
            assert_ne!(Error::class(&error), MPI_ERR_INTERN, "{error}");
        }
    }
    let around = memory[..AROUND].iter().chain(&memory[AROUND + WINDOW..]);
    assert!(around.into_iter().all(|byte| *byte == 0x77), "memory outside of the window was changed");
    drop((win, one_sided, engine));
    drop((memory, answer, parts));
});
