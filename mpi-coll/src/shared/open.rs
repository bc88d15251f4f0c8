//! Opening the channels of a communicator, at its first blocking collective.
//!
//! The order of the collectives on a communicator is the same in all of its processes, so all open its channels in the
//! same call, or none does; afterwards each finds whether there are channels without a message.

use mpi_comm::{CHANNELS_TAG, Channels, Comm, Exchange};
use mpi_core::Guard;
use mpi_errors::Result;
use mpi_p2p::Place;

use crate::Collectives;

/// Most processes of a communicator with channels: each reads the words of all others.
const MOST_PROCESSES: u32 = 64;

/// Lengths of the data of the channel for blocking collectives, as there is room: long beside a second-level cache.
const BLOCKING: [usize; 3] = [4 << 20, 256 << 10, 64 << 10];
/// The same of the channel for the others.
const NONBLOCKING: [usize; 2] = [256 << 10, 64 << 10];

impl Collectives {
    /// Opens the channels of a communicator, unless that was tried before; releases the guard meanwhile.
    #[inline(always)]
    pub(crate) fn meet<'a>(&'a self, comm: &Comm, guard: Guard<'a>) -> Result<Guard<'a>> {
        if comm.has_met() || !self.settings.shared.get() { Ok(guard) } else { self.open_channels(comm, guard) }
    }

    #[cold]
    #[inline(never)]
    fn open_channels<'a>(&'a self, comm: &Comm, guard: Guard<'a>) -> Result<Guard<'a>> {
        let members = comm.group().world_ranks().clone();
        let several = (2..=self.settings.shared_processes.get().min(MOST_PROCESSES)).contains(&comm.size());
        if comm.remote().is_some() || !several || !self.engine.share_memory(&guard, &members) {
            comm.set_channels(None);
            return Ok(guard);
        }
        let blocking = self.engine.take_room(&guard, &BLOCKING);
        let nonblocking = self.engine.take_room(&guard, &NONBLOCKING);
        drop(guard);
        let words = |place: Option<Place>| place.map_or([0; 2], Place::to_words);
        let [one, two] = [words(blocking), words(nonblocking)];
        let own = [one[0], one[1], two[0], two[1]];
        let all = Exchange::among_all(&self.engine, comm, CHANNELS_TAG).all(own)?;
        let guard = self.engine.lock();
        let [one, two]: [Vec<_>; 2] = [0, 2].map(|at| {
            let place = |words: &[u64; 4]| Place::from_words([words[at], words[at + 1]]);
            all.iter().map(place).collect()
        });
        let open = |places: &[Option<Place>]| self.engine.open_channel(&guard, &members, comm.rank, places);
        let complete = one.iter().chain(&two).all(Option::is_some);
        if !complete {
            [blocking, nonblocking].into_iter().flatten().for_each(|place| self.engine.give_room_back(&guard, place));
            comm.set_channels(None);
            return Ok(guard);
        }
        let opened = open(&one).zip(open(&two));
        comm.set_channels(opened.map(|(blocking, nonblocking)| Channels { blocking, nonblocking }));
        Ok(guard)
    }
}
