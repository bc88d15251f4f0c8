//! A rank that uses the fabric alone and performs the action that its first argument names; the tests of `mpiexec` run
//! it.
//!
//! `mpiexec -n 4 target/debug/examples/rank ring`

use std::process::exit;

use mpi_core::functions;
use mpi_fabric::{AbortCause, Endpoint, FabricSettings, Life, Payload, RecordHead, RegionKey, Sink, WaitStep};
use mpi_t::Registry;

/// Keeps the first word of the last record.
#[derive(Default)]
struct Last(Option<u64>);

impl Sink for Last {
    fn record(&mut self, _: u32, head: &RecordHead, _: Payload<'_>) {
        self.0 = Some(head.a);
    }
}

fn receive(endpoint: &mut Endpoint) -> u64 {
    let (doorbell, mut last) = (endpoint.doorbell(), Last::default());
    let mut wait = doorbell.begin_wait();
    loop {
        endpoint.poll(&mut last).expect("only records are sent");
        if let Some(word) = last.0 {
            return word;
        }
        if let WaitStep::Sleep(ticket) = wait.next() {
            endpoint.poll(&mut last).expect("only records are sent");
            if last.0.is_none() {
                doorbell.sleep(ticket);
            }
        }
    }
}

fn send(endpoint: &mut Endpoint, dest: u32, word: u64) {
    let head = RecordHead { kind: 1, a: word, ..Default::default() };
    endpoint.push(dest, &head, &[]).expect("one record fits");
}

/// Waits for a record that never comes.
fn hang(endpoint: &mut Endpoint) -> ! {
    receive(endpoint);
    unreachable!("no rank sends")
}

fn main() {
    let task = std::env::args().nth(1).unwrap_or_default();
    let settings = FabricSettings::new();
    Registry::from_surroundings().register_settings(settings).expect("the first variables of a registry");
    let place = mpi_wireup::from_environment(settings.ring_length()).unwrap_or_else(|error| {
        eprintln!("{error}");
        exit(99)
    });
    let endpoint = match place {
        Some(joined) => Endpoint::attach(&joined.attachment, settings),
        None => Endpoint::alone(settings),
    };
    let endpoint = endpoint.unwrap_or_else(|error| {
        eprintln!("{error}");
        exit(98)
    });
    endpoint.set_life(Life::Initialised);
    // What a process records that has been connected with another job and is not any more.
    if let Some(task) = task.strip_prefix("disconnected-") {
        endpoint.job().set_connected_jobs(endpoint.rank(), &[]);
        // Processes that were connected have all initialised MPI.
        while (0..endpoint.size()).any(|rank| endpoint.job().life(rank) < Life::Initialised) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        act(endpoint, task);
    } else {
        act(endpoint, &task);
    }
}

/// Does what the task names.
fn act(mut endpoint: Endpoint, task: &str) {
    let (rank, size) = (endpoint.rank(), endpoint.size());
    match task {
        // A token goes around three times, and each rank adds 1.
        "ring" => {
            let next = (rank + 1) % size;
            if rank == 0 {
                send(&mut endpoint, next, 1);
            }
            for round in 0..3 {
                let token = receive(&mut endpoint);
                if rank != 0 || round < 2 {
                    send(&mut endpoint, next, token + 1);
                } else {
                    println!("token {token}");
                }
            }
        }
        // Rank 1 reads a value out of rank 0's memory.
        "copy" => {
            let value = 0x1122_3344_5566_7788_u64;
            if rank == 0 {
                // Its peer is another process, so the kernel permits copies from any address.
                send(&mut endpoint, 1, std::ptr::from_ref(&value) as u64);
                receive(&mut endpoint);
            } else {
                let (at, mut bytes) = (receive(&mut endpoint), [0; 8]);
                let read =
                    endpoint.can_copy(0) && endpoint.read(0, RegionKey::from_words([at, 0]), 0, &mut bytes).is_ok();
                println!("{}", if read { format!("{:x}", u64::from_ne_bytes(bytes)) } else { "no single copy".into() });
                send(&mut endpoint, 0, 0);
            }
        }
        "abort" if rank == 1 => {
            endpoint.request_abort(42, AbortCause::Call);
            exit(42);
        }
        "error" if rank == 1 => {
            endpoint.request_abort(15, AbortCause::Error);
            exit(15);
        }
        "leave" if rank == 1 => return,
        // Returns without a report that it has finished.
        "unfinished" => return,
        // Waits like a rank whose peer never sends.
        "wait" => {
            endpoint.recorder().enter(functions::MPI_RECV, 0, ((rank + 1) % size) as i32, 7, 1);
            println!("up");
            hang(&mut endpoint);
        }
        "crash" if rank == 1 => {
            // A job of which a rank has not initialised could not connect with the one that spawned it: its failure is its own.
            while endpoint.job().life(0) < Life::Initialised {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            endpoint.recorder().enter(functions::MPI_RECV, 0, 0, 0, 0);
            std::process::abort();
        }
        "twice" => {
            let place = mpi_wireup::from_environment(None).expect("it was valid").expect("it was there");
            println!(
                "{}",
                Endpoint::attach(&place.attachment, FabricSettings::new()).err().expect("a rank is one process")
            );
        }
        "alone" => println!("{rank} of {size}"),
        _ => hang(&mut endpoint),
    }
    endpoint.set_life(Life::Finalised);
}
