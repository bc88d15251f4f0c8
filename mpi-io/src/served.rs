//! What rank 0 keeps for the processes of a file that share no memory: the position of the shared file pointer, and
//! the lock of atomic accesses where locks of the file system do not reach all hosts.
//!
//! The others send requests to a service of rank 0, which answers in each call of MPI that makes progress there.
//! Invariants: any number that another process sends is a valid one; a process has one request under way; a lock is
//! given to the processes in the order of their requests; a process that is lost has it no more, and waits for it no more.
//! Not here: shared pointers in memory (`pointer`), locks of the system (`atomicity`).
#![allow(unsafe_code)] // requests use memory that outlives them

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mpi_comm::{Comm, PendingOps};
use mpi_core::{Guard, Handle};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::{Completion, Engine, Mode, Service, ServiceMessage, TAGS_OF_SOME};

/// Tags of requests are those of [`Verb`]. All of them are messages of two processes: the loss of a third one ends none of them.
const ANSWER: i32 = TAGS_OF_SOME + 0x7014;

/// The requests, by the tags of their messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
enum Verb {
    /// Advance the pointer by a number of etypes; the answer is its previous value.
    Advance = TAGS_OF_SOME + 0x7015,
    /// Take the lock; the answer comes when no other process has it.
    Lock = TAGS_OF_SOME + 0x7016,
    /// Give the lock back; answered too, so that no request is on its way when the file is closed.
    Unlock = TAGS_OF_SOME + 0x7017,
}

/// The pointer and the lock, as each process reaches them.
pub(crate) struct Served {
    engine: Arc<Engine>,
    context: u32,
    /// In rank 0.
    server: Option<Arc<Server>>,
    /// One request at a time, so that each thread gets the answer to its own.
    turn: Mutex<()>,
}

/// The lock; given back when dropped.
pub(crate) struct ServedLock<'a>(&'a Served);

/// The state in rank 0.
struct Server {
    context: u32,
    /// The processes of the file, by their numbers among all processes.
    members: Arc<[u32]>,
    pointer: AtomicU64,
    lock: Mutex<Waiters>,
    /// Answers that are not sent yet, by request.
    answers: Mutex<HashMap<Handle, Box<[u8; 8]>>>,
}

/// The process that has the lock, and those that wait for it, by rank.
#[derive(Debug, Default)]
struct Waiters {
    holder: Option<i32>,
    waiting: VecDeque<i32>,
}

impl Waiters {
    /// Whether the process has the lock now.
    fn take_if_free(&mut self, rank: i32) -> bool {
        let free = self.holder.is_none();
        if free {
            self.holder = Some(rank);
        }
        free
    }

    /// Whether the process has the lock now; it waits otherwise.
    fn take(&mut self, rank: i32) -> bool {
        let taken = self.take_if_free(rank);
        if !taken {
            self.waiting.push_back(rank);
        }
        taken
    }

    /// A process is lost: the process that gets the lock from it, if it had it.
    fn remove(&mut self, rank: i32) -> Option<i32> {
        self.waiting.retain(|waiting| *waiting != rank);
        self.give_back(rank)
    }

    /// The process that gets the lock from this one. A process that does not have the lock changes nothing.
    fn give_back(&mut self, rank: i32) -> Option<i32> {
        if self.holder != Some(rank) {
            return None;
        }
        self.holder = self.waiting.pop_front();
        self.holder
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the mutexes here protect is changed in single steps, so a panic in another thread leaves it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Served {
    /// In each process of the communicator of a file; rank 0 serves from now on, until the service of the context is
    /// removed. The pointer is 0.
    pub fn new(engine: &Arc<Engine>, comm: &Comm) -> Served {
        let context = comm.collective_context();
        let server = (comm.rank() == 0).then(|| {
            let server = Arc::new(Server {
                context,
                members: comm.group().world_ranks().clone(),
                pointer: AtomicU64::default(),
                lock: Mutex::default(),
                answers: Mutex::default(),
            });
            engine.add_service(&mut engine.lock(), context, server.clone());
            server
        });
        Served { engine: engine.clone(), context, server, turn: Mutex::default() }
    }

    /// The pointer's word in rank 0.
    pub fn word(&self) -> Option<&AtomicU64> {
        self.server.as_ref().map(|server| &server.pointer)
    }

    /// Advances the pointer, and returns its previous value. Waits for rank 0, with no guard held. Errors:
    /// `MPI_ERR_PROC_ABORTED` when rank 0 is lost.
    pub fn advance(&self, by: u64) -> Result<u64> {
        match self.word() {
            // Relaxed: only the number is shared; data are exchanged through the file.
            Some(word) => Ok(word.fetch_add(by, Ordering::Relaxed)),
            None => self.request(Verb::Advance, by),
        }
    }

    /// Takes the lock. Waits for other processes, with no guard held. Errors: as [`Served::advance`].
    pub fn lock(&self) -> Result<ServedLock<'_>> {
        // Rank 0 waits for its own answer, which comes too when the process that has the lock is lost.
        let free = self.server.as_ref().is_some_and(|server| locked(&server.lock).take_if_free(0));
        if !free && let Err(error) = self.request(Verb::Lock, 0) {
            // In rank 0 the request is in the queue, or granted, all the same.
            if let Some(server) = &self.server {
                let next = locked(&server.lock).remove(0);
                server.granted(&self.engine, &mut self.engine.lock(), next);
            }
            return Err(error);
        }
        Ok(ServedLock(self))
    }

    /// Sends a request to rank 0, and waits for the answer.
    fn request(&self, verb: Verb, number: u64) -> Result<u64> {
        let _turn = locked(&self.turn);
        let (number, mut answer) = (number.to_ne_bytes(), [0; 8]);
        PendingOps::scope(&self.engine, |operations| {
            let guard = &mut self.engine.lock();
            operations.irecv(guard, self.context, 0, ANSWER, RecvBuf::from_slice(&mut answer))?;
            // SAFETY: the request ends before `operations`, and so before the number.
            let data = unsafe { SendBuf::from_slice(&number).detach() };
            let request = self.engine.send_to_service(guard, self.context, 0, verb as i32, data)?;
            operations.add(request, None);
            Ok(())
        })?;
        Ok(u64::from_ne_bytes(answer))
    }
}

impl Drop for ServedLock<'_> {
    fn drop(&mut self) {
        match &self.0.server {
            Some(server) => {
                let next = locked(&server.lock).give_back(0);
                server.granted(&self.0.engine, &mut self.0.engine.lock(), next);
            }
            // Rank 0 is lost if this fails, and then no process waits for the lock without an error.
            None => drop(self.0.request(Verb::Unlock, 0)),
        }
    }
}

impl Server {
    /// Reports to a process that it has the lock.
    fn granted(&self, engine: &Engine, guard: &mut Guard<'_>, rank: Option<i32>) {
        if let Some(rank) = rank {
            self.answer(engine, guard, rank, 0);
        }
    }

    fn answer(&self, engine: &Engine, guard: &mut Guard<'_>, rank: i32, number: u64) {
        let number = number.to_ne_bytes();
        if engine.send_at_once(guard, self.context, rank, ANSWER, &SendBuf::from_slice(&number)) {
            return;
        }
        let answer = Box::new(number);
        // SAFETY: the bytes stay where they are until the request is complete, or for ever (`drop`).
        let data = unsafe { SendBuf::from_slice(&answer[..]).detach() };
        // A process that cannot be reached is lost, and needs no answer.
        if let Ok(request) = engine.isend(guard, self.context, rank, ANSWER, data, Mode::Standard) {
            locked(&self.answers).insert(request, answer);
            engine.serve_completion(guard, self.context, request);
        }
    }
}

impl Service for Server {
    fn message(&self, engine: &Engine, guard: &mut Guard<'_>, message: ServiceMessage<'_>) {
        let Ok(number) = <[u8; 8]>::try_from(message.data).map(u64::from_ne_bytes) else { return };
        let rank = message.source;
        match message.tag {
            tag if tag == Verb::Advance as i32 => {
                let before = self.pointer.fetch_add(number, Ordering::Relaxed);
                self.answer(engine, guard, rank, before);
            }
            tag if tag == Verb::Lock as i32 => {
                let granted = locked(&self.lock).take(rank);
                self.granted(engine, guard, granted.then_some(rank));
            }
            tag if tag == Verb::Unlock as i32 => {
                let next = locked(&self.lock).give_back(rank);
                self.answer(engine, guard, rank, 0);
                self.granted(engine, guard, next);
            }
            _ => {}
        }
    }

    fn lost(&self, engine: &Engine, guard: &mut Guard<'_>, number: u32) {
        // What it had requested before is in the queue. One that is granted the lock meanwhile and is lost too is reported next.
        if let Some(rank) = self.members.iter().position(|member| *member == number) {
            let next = locked(&self.lock).remove(rank as i32);
            self.granted(engine, guard, next);
        }
    }

    fn completed(&self, _engine: &Engine, _guard: &mut Guard<'_>, request: Handle, _completion: Completion) {
        locked(&self.answers).remove(&request);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Sends to processes that were lost may still use these.
        locked(&self.answers).drain().for_each(|(_, answer)| mem::forget(answer));
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("context", &self.context).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{channel, sync_channel};
    use std::thread;
    use std::time::Duration;

    use mpi_comm::{CommSpec, register};
    use mpi_core::ProcessLock;
    use mpi_fabric::Endpoint;
    use mpi_p2p::CommMeters;
    use mpi_t::HeapMemory;

    use super::*;

    /// The file of a rank that is a thread.
    fn served(endpoint: Endpoint) -> Served {
        let engine = Arc::new(Engine::new(endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory));
        let spec = CommSpec::world(engine.rank(), engine.size());
        let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(engine.size()));
        Served::new(&engine, &world)
    }

    #[test]
    fn the_lock_of_a_process_that_is_lost_goes_to_those_that_wait_also_to_rank_0() {
        let ends = channel();
        let (pass_server, server) = sync_channel::<Arc<Server>>(1);
        let (has_lock, lock) = sync_channel::<()>(2);
        let lock = Arc::new(Mutex::new(lock));
        let mut endpoints = Endpoint::threads(3).expect("memory").into_iter();
        let [first, second, third] = [(); 3].map(|()| endpoints.next().expect("a rank"));
        let job = first.job().clone();
        // It takes the lock, and is lost when the others wait for that.
        let ended = ends.0.clone();
        thread::spawn(move || {
            let own = served(second);
            mem::forget(own.lock().expect("rank 0 serves"));
            (0..2).for_each(|_| has_lock.send(()).expect("the others wait"));
            let server = server.recv().expect("rank 0 runs");
            while locked(&server.lock).waiting.len() < 2 {
                thread::yield_now();
            }
            job.report_lost(1);
            ended.send(own).expect("the test waits");
        });
        for endpoint in [first, third] {
            let (ended, pass_server, lock) = (ends.0.clone(), pass_server.clone(), lock.clone());
            thread::spawn(move || {
                let own = served(endpoint);
                own.server.iter().for_each(|server| pass_server.send(server.clone()).expect("room"));
                // Rank 0 serves while it waits.
                while locked(&lock).try_recv().is_err() {
                    own.engine.progress(&mut own.engine.lock()).expect("no fault");
                }
                drop(own.lock().expect("the next one gets it"));
                // Rank 0 serves until the other one has had it, too; the pointer shows that.
                let had = own.advance(1).expect("rank 0 serves");
                while had == 0 && own.word().is_some_and(|word| word.load(Ordering::Relaxed) < 2) {
                    own.engine.progress(&mut own.engine.lock()).expect("no fault");
                }
                ended.send(own).expect("the test waits");
            });
        }
        let all = [(); 3].map(|()| ends.1.recv_timeout(Duration::from_secs(120)).expect("a rank hangs or panicked"));
        let server = all.iter().find_map(|own| own.server.clone()).expect("rank 0");
        let lock = locked(&server.lock);
        assert_eq!((lock.holder, lock.waiting.len()), (None, 0));
    }

    #[test]
    fn a_process_that_is_lost_has_the_lock_no_more_and_waits_no_more() {
        let mut lock = Waiters::default();
        assert!(lock.take(3) && !lock.take(0) && !lock.take(5));
        assert_eq!(lock.remove(0), None, "another one has it");
        assert_eq!((lock.remove(3), lock.remove(5), lock.holder), (Some(5), None, None));
    }

    #[test]
    fn the_lock_goes_round_in_the_order_of_the_requests() {
        let mut lock = Waiters::default();
        assert!(lock.take(3) && !lock.take(0) && !lock.take(5));
        assert_eq!(lock.give_back(5), None, "it does not have it");
        assert_eq!((lock.give_back(3), lock.give_back(0), lock.give_back(5)), (Some(0), Some(5), None));
        assert!(lock.take(0));
    }
}
