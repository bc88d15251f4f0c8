//! A process of another MPI library, as its launcher sees it: it uses PMI-1 over `PMI_FD` and performs the action that
//! its first argument names; the tests of `mpiexec` run it.
//!
//! `mpiexec -n 4 target/debug/examples/guest exchange`
#![allow(unsafe_code)] // writes to a descriptor that the environment names

use std::fmt::Display;
use std::process::exit;
use std::time::Duration;

use mpi_wireup::launcher::{KeyValueExchange, Launcher};
use mpi_wireup::pmi::client::Client;

fn number(name: &str) -> i32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or_else(|| fail(&format!("{name} is no number")))
}

fn fail(why: &dyn Display) -> ! {
    eprintln!("{why}");
    exit(99)
}

fn write_raw(fd: i32, bytes: &[u8]) {
    // SAFETY: the bytes are readable for their length; the descriptor is the one that was handed down.
    if unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) } < 0 {
        fail(&std::io::Error::last_os_error());
    }
}

fn main() {
    let task = std::env::args().nth(1).unwrap_or_default();
    let (fd, rank, size) = (number("PMI_FD"), number("PMI_RANK"), number("PMI_SIZE"));
    let last = rank == size - 1;
    match task.as_str() {
        // Ends without a greeting.
        "missing" if last => return,
        // The answers to these come before those that are read, so this rank ends here.
        "nonsense" if last => {
            write_raw(fd, b"nonsense\ncmd=\xff\n\0\0\0\ncmd=put key=\nmcmd=spawn\nendcmd\n");
            write_raw(fd, &vec![b'x'; 100_000]);
            return;
        }
        "flood" if last => {
            // The launcher closes this connection; the job continues.
            for _ in 0..100_000 {
                let line = b"cmd=get_maxes\n";
                // SAFETY: as in `write_raw`; that it fails in the end is the point.
                if unsafe { libc::send(fd, line.as_ptr().cast(), line.len(), libc::MSG_NOSIGNAL) } < 0 {
                    println!("given up");
                    return;
                }
            }
            return;
        }
        "nonsense" | "flood" => return,
        _ => {}
    }
    let client = Client::on_descriptor(fd, rank as u32, size as u32, Duration::from_secs(20));
    let mut client = client.unwrap_or_else(|trouble| fail(&trouble));
    if task == "abort" && last {
        client.abort(42);
    }
    let step = |done: Result<(), _>| done.unwrap_or_else(|trouble| fail(&trouble));
    step(client.put(&format!("word-{rank}"), &format!("{}", rank * rank)));
    step(client.fence());
    let words: Vec<String> = (0..size)
        .map(|other| match client.get(other as u32, &format!("word-{other}")) {
            Ok(Some(word)) => word,
            Ok(None) => fail(&format!("there is no word of rank {other}")),
            Err(trouble) => fail(&trouble),
        })
        .collect();
    println!("{rank}: {}", words.join(" "));
    step(client.fence());
    if task == "leave" && last {
        return;
    }
    if task == "leave" {
        step(client.fence());
    }
    step(client.finalize());
}
