//! The thread that wakes a process that sleeps on its doorbell when the network has something for it.
//!
//! The threads of a process sleep on the doorbell alone, which peers of the host ring. Before one sleeps it arms the watcher, which waits
//! for the provider's descriptor and then rings the doorbell.
//! Invariant: after an arming the doorbell rings when the descriptor is readable, at least once: the arming is taken back before
//! the ring, so an arming that comes meanwhile is followed by that ring, or by another round.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use mpi_fabric::signal_mask::with_all_signals_blocked;

use crate::event::Event;

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    armed: bool,
    ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread, until the value is dropped.
pub(crate) struct Watcher {
    shared: Arc<Shared>,
    /// Readable when the thread is to end.
    stop: Event,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Starts the thread. `descriptor` stays open as long as the value. `None` if the system has no thread or descriptor left.
    pub(crate) fn start(descriptor: i32, ring: Arc<dyn Fn() + Send + Sync>) -> Option<Watcher> {
        let stop = Event::new().ok()?;
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let (of_thread, stops) = (shared.clone(), stop.descriptor());
        let watch = move || {
            while of_thread.await_arming() && wait_for(descriptor, stops) {
                of_thread.lock().armed = false;
                ring();
            }
        };
        // Signals of the program go to its own threads.
        let spawn = || thread::Builder::new().name("mpi-net".into()).stack_size(64 << 10).spawn(watch);
        let thread = with_all_signals_blocked(spawn);
        Some(Watcher { shared, stop, thread: Some(thread.ok()?) })
    }

    /// Makes the thread ring when the descriptor is readable.
    pub(crate) fn arm(&self) {
        let mut state = self.shared.lock();
        if !state.armed {
            state.armed = true;
            self.shared.changed.notify_one();
        }
    }
}

impl Shared {
    /// Whether to watch again; waits for that.
    fn await_arming(&self) -> bool {
        let mut state = self.lock();
        while !state.armed && !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.ended
    }
}

/// Waits until one of two descriptors is readable. False if the first one cannot be waited for: then sleeps end by their bound alone.
fn wait_for(descriptor: i32, stop: i32) -> bool {
    let mut list = [descriptor, stop].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: a list of two; an interrupted wait is one that ended.
    let ready = unsafe { libc::poll(list.as_mut_ptr(), 2, -1) };
    let interrupted = ready < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR);
    interrupted || ready > 0 && list[0].revents & libc::POLLNVAL == 0
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_one();
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
