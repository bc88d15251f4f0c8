//! Speed of the fabric alone between two ranks as threads: half round trip and streaming of short records.
//!
//! `cargo run --release -p mpi-fabric --example raw_speed`; numbers are the best and the median of many batches, since
//! other load on the machine only ever makes them worse.

use std::thread;
use std::time::Instant;

use mpi_fabric::{Endpoint, Full, Payload, RecordHead, Sink};

#[derive(Default)]
struct Count {
    seen: u64,
    last: u64,
}

impl Sink for Count {
    fn record(&mut self, _: u32, head: &RecordHead, payload: Payload<'_>) {
        let mut bytes = [0; 8];
        payload.copy_to(&mut bytes);
        self.last = u64::from_ne_bytes(bytes) ^ head.a;
        self.seen += 1;
    }
}

const BATCHES: usize = 200;

fn main() {
    println!("{:<34} {:>10} {:>10}", "", "best", "median");
    for payload in [8, 64, 1024] {
        report(&format!("half round trip, {payload} bytes, ns"), round_trips(payload, 2000));
    }
    for payload in [8, 64, 1024] {
        report(&format!("streaming, {payload} bytes, ns a record"), stream(payload, 20_000));
    }
}

fn report(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    println!("{what:<34} {:>10.1} {:>10.1}", times[0], times[times.len() / 2]);
}

fn pair() -> (Endpoint, Endpoint) {
    let mut endpoints = Endpoint::threads(2).expect("two ranks as threads");
    let right = endpoints.pop().expect("there are two");
    (endpoints.pop().expect("there are two"), right)
}

fn send(endpoint: &mut Endpoint, dest: u32, number: u64, payload: &[u8]) {
    while endpoint.push(dest, &RecordHead { kind: 1, a: number, ..Default::default() }, payload) == Err(Full) {
        std::hint::spin_loop();
    }
}

fn receive(endpoint: &mut Endpoint, sink: &mut Count, until: u64) {
    while sink.seen < until {
        endpoint.poll(sink).expect("only records are sent");
    }
}

fn round_trips(bytes: usize, rounds: u64) -> Vec<f64> {
    let (mut left, mut right) = pair();
    let total = BATCHES as u64 * rounds;
    let echo = thread::spawn(move || {
        let (payload, mut sink) = (vec![0; bytes], Count::default());
        for i in 1..=total {
            receive(&mut right, &mut sink, i);
            send(&mut right, 0, sink.last, &payload);
        }
    });
    let (payload, mut sink) = (vec![0; bytes], Count::default());
    let times = (0..BATCHES as u64)
        .map(|batch| {
            let start = Instant::now();
            for i in 1..=rounds {
                send(&mut left, 1, i, &payload);
                receive(&mut left, &mut sink, batch * rounds + i);
            }
            start.elapsed().as_nanos() as f64 / (2 * rounds) as f64
        })
        .collect();
    echo.join().expect("the echo does not panic");
    times
}

fn stream(bytes: usize, records: u64) -> Vec<f64> {
    let (mut left, mut right) = pair();
    let sink = thread::spawn(move || {
        let mut sink = Count::default();
        for batch in 1..=BATCHES as u64 {
            receive(&mut right, &mut sink, batch * records);
            send(&mut right, 0, batch, &[]);
        }
    });
    let (payload, mut answers) = (vec![0; bytes], Count::default());
    let times = (1..=BATCHES as u64)
        .map(|batch| {
            let start = Instant::now();
            for i in 0..records {
                send(&mut left, 1, i, &payload);
            }
            receive(&mut left, &mut answers, batch);
            start.elapsed().as_nanos() as f64 / records as f64
        })
        .collect();
    sink.join().expect("the receiver does not panic");
    times
}
