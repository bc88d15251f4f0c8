//! Opening the channels of a communicator, at its first blocking collective or persistent request, and the channels that
//! persistent operations have for themselves.
//!
//! The order of the collectives on a communicator is the same in all of its processes, so all open its channels in the
//! same call, or none does; afterwards each finds whether there are channels without a message. Calls that make
//! persistent requests are in that order too.

use mpi_comm::{CHANNELS_TAG, Channels, Comm, Exchange, Hosts};
use mpi_core::Guard;
use mpi_errors::Result;
use mpi_p2p::{Channel, Place};

use crate::Collectives;
use crate::coll_op::{CollOp, Form};

/// Most processes of a communicator with channels: each reads the words of all others.
const MOST_PROCESSES: u32 = 64;

/// Lengths of the data of the channel for blocking collectives, as there is room: long beside a second-level cache.
const BLOCKING: [usize; 3] = [4 << 20, 256 << 10, 64 << 10];
/// The same of the channel for the others.
const NONBLOCKING: [usize; 2] = [256 << 10, 64 << 10];
/// The same of the channel of a persistent operation.
const OWN: [usize; 2] = [256 << 10, 64 << 10];
/// Longest publication for which the shorter of these is enough: two have room.
const SHORT_OWN: u64 = 32 << 10;
/// Most bytes of a publication that needs no data beside its line.
const IN_LINE: u64 = mpi_p2p::IN_LINE as u64;
/// Most places that the processes exchange at once.
const MOST_PLACES: usize = 2;

impl Collectives {
    /// Opens the channels of a communicator, unless that was tried before; releases the guard meanwhile.
    #[inline(always)]
    pub(crate) fn meet<'a>(&'a self, comm: &Comm, guard: Guard<'a>, which: CollOp) -> Result<Guard<'a>> {
        if comm.has_met() || !self.settings.shared.get() { Ok(guard) } else { self.meet_first(comm, guard, which) }
    }

    #[cold]
    #[inline(never)]
    fn meet_first<'a>(&'a self, comm: &Comm, guard: Guard<'a>, which: CollOp) -> Result<Guard<'a>> {
        drop(guard);
        self.agree_on_form(comm, which, Form::Blocking)?;
        self.open_channels(comm, self.engine.lock())
    }

    /// Opens the channels of a communicator, unless that was tried before; for a caller without the process lock.
    pub(crate) fn open_channels_once(&self, comm: &Comm) -> Result<()> {
        if comm.has_met() || !self.settings.shared.get() {
            return Ok(());
        }
        self.open_channels(comm, self.engine.lock()).map(drop)
    }

    #[cold]
    #[inline(never)]
    fn open_channels<'a>(&'a self, comm: &Comm, guard: Guard<'a>) -> Result<Guard<'a>> {
        let members = comm.group().world_ranks();
        if comm.remote().is_none() && self.engine.has_hosts(&guard, members) {
            let own = u64::from(self.engine.first_of_host(&guard));
            drop(guard);
            let words = Exchange::among_all(&self.engine, comm, CHANNELS_TAG).all([own])?;
            let words: Vec<u64> = words.iter().map(|[word]| *word).collect();
            if let Some(hosts) = Hosts::of(&words) {
                comm.set_hosts(hosts);
            }
            comm.set_channels(None);
            return Ok(self.engine.lock());
        }
        let several = (2..=self.settings.shared_processes.get().min(MOST_PROCESSES)).contains(&comm.size());
        if comm.remote().is_some() || !several || !self.engine.share_memory(&guard, members) {
            comm.set_channels(None);
            return Ok(guard);
        }
        let own = [self.engine.take_room(&guard, &BLOCKING), self.engine.take_room(&guard, &NONBLOCKING)];
        drop(guard);
        let places = self.exchange_places(comm, own)?;
        let guard = self.engine.lock();
        let [blocking, nonblocking] = self.open(&guard, comm, own, places);
        comm.set_channels(blocking.zip(nonblocking).map(|(blocking, nonblocking)| Channels { blocking, nonblocking }));
        Ok(guard)
    }

    /// Opens a channel for one persistent operation, in which a process publishes at most so many bytes at once; `None`
    /// without bytes, or if not all processes have room. All processes of the communicator call it for the same
    /// operation. The caller does not hold the process lock.
    pub(crate) fn open_own_channel(&self, comm: &Comm, bytes: Option<u64>) -> Result<Option<Channel>> {
        if comm.channels().is_none() {
            return Ok(None);
        }
        let own = bytes.and_then(|bytes| {
            let lengths: &[usize] = match bytes {
                0..=IN_LINE => &[0],
                bytes if bytes <= SHORT_OWN => &OWN[1..],
                _ => &OWN,
            };
            self.engine.take_spare_room(&self.engine.lock(), lengths)
        });
        let places = self.exchange_places(comm, [own])?;
        let [channel] = self.open(&self.engine.lock(), comm, [own], places);
        Ok(channel)
    }

    /// The places of all processes, of which this one has these.
    fn exchange_places<const N: usize>(&self, comm: &Comm, own: [Option<Place>; N]) -> Result<[Vec<Option<Place>>; N]> {
        let mut words = [[0; 2]; MOST_PLACES];
        for (words, place) in words.iter_mut().zip(own) {
            *words = place.map_or([0; 2], Place::to_words);
        }
        let [[one, two], [three, four]] = words;
        let all = Exchange::among_all(&self.engine, comm, CHANNELS_TAG).all([one, two, three, four])?;
        let place = |words: &[u64; 4], at: usize| Place::from_words([words[2 * at], words[2 * at + 1]]);
        Ok(std::array::from_fn(|at| all.iter().map(|words| place(words, at)).collect()))
    }

    /// Opens the channels at these places, if all processes have all of them; else gives room back.
    fn open<const N: usize>(
        &self,
        guard: &Guard<'_>,
        comm: &Comm,
        own: [Option<Place>; N],
        places: [Vec<Option<Place>>; N],
    ) -> [Option<Channel>; N] {
        let members = comm.group().world_ranks();
        if places.iter().flatten().all(Option::is_some) {
            return places.map(|places| self.engine.open_channel(guard, members, comm.rank, &places));
        }
        own.into_iter().flatten().for_each(|place| self.engine.give_room_back(guard, place));
        [const { None }; N]
    }
}
