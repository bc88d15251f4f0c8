//! Channels of ranks that are threads: what is read is what was published, and forged places open nothing.

use std::sync::{Arc, Barrier};

use mpi_fabric::{Awaited, Channel, Endpoint, Place};

const LENGTHS: [usize; 2] = [256 << 10, 64 << 10];

fn wait<T>(mut try_it: impl FnMut() -> Result<T, ()>) -> T {
    loop {
        match try_it() {
            Ok(value) => return value,
            Err(()) => std::thread::yield_now(),
        }
    }
}

fn not_yet<T>(result: Result<T, Awaited<'_>>) -> Result<T, ()> {
    result.map_err(drop)
}

/// Opens a channel of all endpoints.
fn open(endpoints: &[Endpoint]) -> Vec<Channel> {
    let places: Vec<Option<Place>> = endpoints.iter().map(|endpoint| endpoint.take_room(&LENGTHS)).collect();
    let words: Vec<[u64; 2]> = places.iter().map(|place| place.expect("room").to_words()).collect();
    let places: Vec<Option<Place>> = words.into_iter().map(Place::from_words).collect();
    let members: Vec<u32> = (0..endpoints.len() as u32).collect();
    let open = |endpoint: &Endpoint| endpoint.open_channel(&members, endpoint.rank(), &places).expect("opened");
    endpoints.iter().map(open).collect()
}

fn content(operation: u64, turn: u64, rank: u32, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (operation * 7 + turn * 3 + u64::from(rank) * 31 + i as u64) as u8).collect()
}

/// The operations of a test: bytes and turns of the n-th, and its root if only that publishes.
fn operation(n: u64) -> (usize, u64, Option<u32>) {
    let random = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let bytes = [0, 8, 48, 49, 1000, 5000, 20_000, 32 << 10][random as usize % 8];
    let turns = if random.is_multiple_of(5) { 1 + random / 8 % 40 } else { 1 };
    (bytes, turns, (!(random / 64).is_multiple_of(3)).then_some((random / 256 % 16) as u32))
}

fn work(channel: &Channel, rank: u32, operations: u64) {
    let size = channel.size();
    for n in 0..operations {
        let (bytes, turns, root) = operation(n);
        let root = root.map(|root| root % size);
        for turn in 0..turns {
            if turn > 0 {
                channel.end_turn();
            }
            if root.is_none_or(|root| root == rank) {
                let mut publication = wait(|| not_yet(channel.reserve(bytes)));
                let data = content(n, turn, rank, bytes);
                publication.put(0, &data[..bytes / 2]);
                publication.put(bytes / 2, &data[bytes / 2..]);
                publication.publish(n);
            }
            let sources = (0..size).filter(|source| root.map_or(*source != rank, |root| root == *source));
            for source in sources.filter(|source| *source != rank) {
                let published = wait(|| not_yet(channel.read(source)));
                assert_eq!(published.terms, n);
                assert_eq!(published.bytes(0, bytes).expect("inside"), content(n, turn, source, bytes));
                assert!(published.bytes(0, usize::MAX).is_none() && published.bytes(8 << 20, 1).is_none());
            }
        }
        channel.end_operation(root.is_none());
    }
}

#[test]
fn everything_published_is_read_by_all_in_its_step() {
    for size in [2, 3, 5] {
        let endpoints = Endpoint::threads(size).expect("memory for a few ranks");
        let channels = open(&endpoints);
        std::thread::scope(|scope| {
            for (rank, channel) in (0..).zip(&channels) {
                scope.spawn(move || work(channel, rank, 400));
            }
        });
    }
}

/// Exchanges of turns of many lengths, between which a root publishes alone.
fn exchange(channel: &Channel, rank: u32, operations: u64) {
    for n in 0..operations {
        let (bytes, turns, root) = operation(n);
        let publish = |turn: u64| {
            let mut publication = wait(|| not_yet(channel.reserve_exchange(bytes)));
            let (data, mut also) = (content(n, turn, rank, bytes), vec![0; bytes / 2]);
            publication.put_and_copy(0, &data[..bytes / 2], &mut also);
            assert_eq!(also, data[..bytes / 2]);
            publication.put(bytes / 2, &data[bytes / 2..]);
            publication.publish(n);
        };
        let check = |turn: u64, source: u32| {
            let published = wait(|| not_yet(channel.read(source)));
            let mut data = vec![0; bytes];
            assert!(published.terms == n && published.copy(0, &mut data));
            assert_eq!(
                data,
                content(n, turn, source, bytes),
                "operation {n}, turn {turn}, of rank {source} in rank {rank}"
            );
        };
        for turn in 0..turns {
            if turn > 0 {
                channel.end_turn();
            }
            publish(turn);
            check(turn, 1 - rank);
        }
        channel.end_operation(true);
        if root.is_some() {
            if rank == 0 {
                let mut publication = wait(|| not_yet(channel.reserve(bytes)));
                publication.put(0, &content(n, 99, 0, bytes));
                publication.publish(n);
            } else {
                check(99, 0);
            }
            channel.end_operation(false);
        }
    }
}

#[test]
fn rooms_that_pass_have_the_data_of_their_exchange() {
    let endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let channels = open(&endpoints);
    std::thread::scope(|scope| {
        for (rank, channel) in (0..).zip(&channels) {
            scope.spawn(move || exchange(channel, rank, 300));
        }
    });
}

#[test]
fn rooms_are_used_again_by_later_channels() {
    let endpoints = Endpoint::threads(2).expect("memory for two ranks");
    // Far more channels than there is room for at once.
    for _ in 0..200 {
        let channels = open(&endpoints);
        let together = Arc::new(Barrier::new(2));
        std::thread::scope(|scope| {
            for (rank, channel) in (0..).zip(channels) {
                let together = together.clone();
                scope.spawn(move || {
                    work(&channel, rank, 7);
                    drop(channel);
                    together.wait();
                });
            }
        });
    }
}

/// A process that uses a channel that the other one has closed, as an erroneous program does, writes in a room in its part.
#[test]
fn a_part_with_a_room_that_passes_is_not_used_again_before_both_have_closed_the_channel() {
    let endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let [one, two] = <[Channel; 2]>::try_from(open(&endpoints)).expect("two channels");
    for channel in [&one, &two] {
        channel.reserve_exchange(1000).ok().expect("room").publish(1);
    }
    for (channel, other) in [(&one, 1), (&two, 0)] {
        channel.read(other).ok().expect("published");
        channel.end_operation(true);
    }
    drop(one);
    // What this process takes now is all that is free; the room that `two` has lies in the first one's part.
    let mut taken = Vec::new();
    while let Some(place) = endpoints[0].take_room(&[64 << 10]) {
        taken.push(place);
    }
    two.reserve_exchange(1000).ok().expect("a room").publish(2);
    two.end_turn(); // reports all operations that the first one has had
    assert_eq!(
        endpoints[0].take_room(&[0]),
        None,
        "what is left is not given out, whatever the other one has finished"
    );
    drop(two);
    assert!(endpoints[0].take_room(&LENGTHS).is_some(), "both have closed it");
    taken.into_iter().for_each(|place| endpoints[0].give_room_back(place));
}

#[test]
fn places_that_cannot_be_open_nothing_and_cost_no_room() {
    let endpoints = Endpoint::threads(2).expect("memory for two ranks");
    assert_eq!(Place::from_words([0, 0]), None, "no place");
    assert_eq!(Place::from_words([1 << 63 | 1 << 62 | 1, 1]), None, "a block that does not exist");
    assert!(Place::from_words([1 << 63, 1]).is_some(), "publications without data beside their lines");
    assert_eq!(Place::from_words([1 << 63 | 1, u64::MAX]), None, "no such operation");
    let beyond = Place::from_words([1 << 63 | 0xffff << 16 | 0xffff, 1]);
    assert!(beyond.is_some(), "only the room's length shows that it lies outside");
    for _ in 0..1000 {
        let own = endpoints[0].take_room(&LENGTHS);
        assert!(own.is_some());
        assert!(endpoints[0].open_channel(&[0, 1], 0, &[own, beyond]).is_none());
        let own = endpoints[0].take_room(&LENGTHS);
        assert!(endpoints[0].open_channel(&[0, 1], 0, &[own, None]).is_none());
    }
}

/// Publishes so many bytes in the first turn of an operation that only this channel publishes in.
fn publish(channel: &Channel, bytes: usize) {
    channel.reserve(bytes).ok().expect("room").publish(1);
    channel.end_operation(false);
}

#[test]
fn a_process_that_waits_has_reported_what_it_has_finished() {
    let endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let [root, reader] = <[Channel; 2]>::try_from(open(&endpoints)).expect("two channels");
    let move_on = |bytes| {
        publish(&root, bytes);
        assert!(reader.read(0).ok().expect("published").bytes(0, bytes).is_some());
        reader.end_operation(false);
    };
    // The last of these need not be reported, and lies across the middle of the area: neither behind it nor before it is
    // room for the longest publication.
    let middle = root.longest() - 512;
    move_on(1000);
    move_on(middle - 1024);
    move_on(1000);
    assert!(root.reserve(root.longest()).is_err());
    assert!(reader.read(0).is_err(), "nothing is published");
    assert!(root.reserve(root.longest()).is_ok(), "the reader, which now waits, has reported");
}

#[test]
fn room_of_the_next_turn_takes_data_of_the_present_one() {
    let endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let [one, two] = <[Channel; 2]>::try_from(open(&endpoints)).expect("two channels");
    for bytes in [8, 48, 49, 5000, one.longest()] {
        one.reserve(8).ok().expect("room").publish(1);
        two.read(0).ok().expect("published");
        let mut next = one.reserve_next(bytes).expect("room");
        next.put(0, &content(1, 1, 0, bytes));
        one.end_turn();
        two.end_turn();
        assert!(two.read(0).is_err(), "it is not published yet");
        next.publish(2);
        let published = two.read(0).ok().expect("published");
        assert_eq!(published.bytes(0, bytes).expect("inside"), content(1, 1, 0, bytes));
        one.end_operation(false);
        two.end_operation(false);
    }
    // Where it would wait for the present turn there is none.
    for _ in 0..2 {
        publish(&one, one.longest());
        two.read(0).ok().expect("published");
        two.end_operation(false);
    }
    one.reserve(one.longest()).ok().expect("the first one's room").publish(1);
    assert!(one.reserve_next(one.longest()).is_some() && one.reserve_next(one.longest()).is_none());
}

#[test]
fn exchanges_of_three_use_no_more_than_a_few_publications_need() {
    let endpoints = Endpoint::threads(3).expect("memory for three ranks");
    let lengths = [2 << 20];
    let places: Vec<Option<Place>> = endpoints.iter().map(|endpoint| endpoint.take_room(&lengths)).collect();
    let open = |endpoint: &Endpoint| endpoint.open_channel(&[0, 1, 2], endpoint.rank(), &places).expect("opened");
    let channels: Vec<Channel> = endpoints.iter().map(open).collect();
    let bytes = 128 << 10;
    let publish = |channel: &Channel| channel.reserve_exchange(bytes).map_err(drop).map(|room| room.publish(1));
    let read_all = |channel: &Channel| (0..3).all(|rank| channel.read(rank).is_ok());
    // Nobody waits for room if each has read the exchange before, though none knows that the others have read it too.
    for _ in 0..100 {
        assert!(channels.iter().all(|channel| publish(channel).is_ok()));
        assert!(channels.iter().all(read_all));
        channels.iter().for_each(|channel| channel.end_operation(true));
    }
    // One reader is late, which the third publication finds: it would lie where the first one is.
    let [first, second, late] = <[Channel; 3]>::try_from(channels).expect("three channels");
    publish(&first).expect("room");
    first.end_operation(false);
    second.end_operation(false);
    publish(&first).expect("room");
    first.end_operation(false);
    second.end_operation(false);
    assert!(first.reserve_exchange(bytes).is_err());
    // A publication of no exchange has the whole area.
    assert!(first.reserve(bytes).is_ok());
    late.end_operation(false);
    late.end_operation(false);
    assert!(first.reserve_exchange(bytes).is_ok());
}
