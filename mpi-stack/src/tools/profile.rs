//! The tool `profile`: for each function the calls, their times and bytes, in memory that `mpiexec` reads.

use std::sync::atomic::Ordering::Relaxed;

use mpi_pmpi::interceptor::{Call, Host, Interceptor};
use mpi_pmpi::records::{HEAD_WORDS, PROFILE_BYTES, PROFILE_FD, ROW_WORDS, row};

use super::now_ns;
use super::shared::{Inherited, Recording};

/// The rows of this process; `None` where `mpiexec` has given no memory.
pub(super) struct Profile(Option<Recording>);

impl Profile {
    fn add(&self, call: &Call<'_>, column: usize, value: u64) {
        if let Some(words) = self.0.as_ref().and_then(Recording::words) {
            words.at(HEAD_WORDS + call.function().number() * ROW_WORDS + column).fetch_add(value, Relaxed);
        }
    }
}

impl Interceptor for Profile {
    fn start(_: &Host<'_>) -> Profile {
        Profile(Inherited::find(PROFILE_FD).and_then(|file| file.map(PROFILE_BYTES)).map(Recording::new))
    }

    fn enter(&self, call: &mut Call<'_>) {
        self.add(call, row::BEGUN, 1);
        call.keep(now_ns());
    }

    fn leave(&self, call: &mut Call<'_>) {
        let time = now_ns().saturating_sub(call.kept());
        self.add(call, row::RETURNED, 1);
        self.add(call, row::TOTAL_NS, time);
        self.add(call, row::BYTES, call.bytes().unwrap_or(0));
        if let Some(words) = self.0.as_ref().and_then(Recording::words) {
            words.at(HEAD_WORDS + call.function().number() * ROW_WORDS + row::LONGEST_NS).fetch_max(time, Relaxed);
        }
    }
}
