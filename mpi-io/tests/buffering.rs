//! Collective accesses to strided views against a serial model: with shared windows, without, and with data sieving.

mod common;

use common::{Name, Rank, run};
use mpi_core::Info;
use mpi_core::abi::*;
use mpi_datatype::{Datatype, Form, RecvBuf, SendBuf, predefined};
use mpi_io::{AccessMode, File, OpenArgs, Representation, Typed, View, ViewType};

const CREATE: i32 = MPI_MODE_CREATE | MPI_MODE_RDWR;

/// The generator xorshift64*, the same in all ranks.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

/// Runs of one rank in a filetype, which all ranks repeat every `extent` bytes from `displacement` on.
#[derive(Debug, Clone)]
struct Tiles {
    displacement: u64,
    extent: u64,
    runs: Vec<(u64, u64)>,
}

impl Tiles {
    fn size(&self) -> u64 {
        self.runs.iter().map(|(_, length)| length).sum()
    }

    fn view(&self) -> View {
        let byte = predefined(MPI_BYTE).expect("predefined");
        let (offsets, lengths): (Vec<i64>, Vec<i64>) =
            self.runs.iter().map(|&(offset, length)| (offset as i64, length as i64)).unzip();
        let blocks = Datatype::hindexed(&lengths, &offsets, byte, Form::Small).expect("small");
        let filetype = Datatype::resized(0, self.extent as i64, &blocks, Form::Small).expect("small").committed();
        let etype = ViewType { datatype: byte.clone(), word: MPI_BYTE };
        let filetype = ViewType { datatype: filetype, word: 0 };
        View::new(self.displacement as i64, etype, filetype, Representation::Native).expect("ascending")
    }

    /// The places of the data bytes from `at` on.
    fn places(&self, at: u64, bytes: u64) -> Vec<usize> {
        let in_tile: Vec<u64> = self.runs.iter().flat_map(|&(offset, length)| offset..offset + length).collect();
        let place = |at: u64| self.displacement + at / self.size() * self.extent + in_tile[(at % self.size()) as usize];
        (at..at + bytes).map(|at| place(at) as usize).collect()
    }
}

/// A filetype cut into runs that are dealt to the ranks; `gaps`: some to none.
fn deal(random: &mut Random, ranks: u64, gaps: bool) -> Vec<Tiles> {
    let longest = [3, 40, 3000][random.below(3) as usize];
    let displacement = random.below(5000);
    let (mut runs, mut at) = (vec![Vec::new(); ranks as usize], 0);
    for owner in (0..ranks).chain((0..random.below(20)).map(|_| u64::MAX)) {
        let length = 1 + random.below(longest);
        if owner == u64::MAX && gaps && random.below(3) == 0 {
            at += length;
            continue;
        }
        let owner = if owner == u64::MAX { random.below(ranks) } else { owner };
        let runs: &mut Vec<(u64, u64)> = &mut runs[owner as usize];
        match runs.last_mut() {
            Some((offset, last)) if *offset + *last == at => *last += length,
            _ => runs.push((at, length)),
        }
        at += length;
    }
    runs.into_iter().map(|runs| Tiles { displacement, extent: at, runs }).collect()
}

fn hints(random: &mut Random) -> Vec<(&'static str, String)> {
    let choice =
        |random: &mut Random| ["automatic", "enable", "enable", "disable"][random.below(4) as usize].to_owned();
    vec![
        ("romio_cb_write", choice(random)),
        ("romio_cb_read", choice(random)),
        ("romio_ds_read", choice(random)),
        ("romio_ds_write", choice(random)),
        ("cb_nodes", (1 + random.below(6)).to_string()),
        ("cb_buffer_size", (4096 + random.below(20_000)).to_string()),
        ("ind_rd_buffer_size", (4096 + random.below(9000)).to_string()),
        ("ind_wr_buffer_size", (4096 + random.below(9000)).to_string()),
    ]
}

fn info(pairs: &[(&str, String)]) -> Info {
    let mut info = Info::new();
    pairs.iter().for_each(|(key, value)| info.set(key, value).expect("short"));
    info
}

fn open(rank: &Rank, path: &std::path::Path, hints: &[(&str, String)]) -> File {
    let name = Ok(path.as_os_str().to_owned());
    rank.open_with(OpenArgs { name, amode: AccessMode::new(CREATE), hints: Ok(info(hints)) }).expect("nothing is wrong")
}

/// Rounds of collective accesses with random views, lengths, positions and hints; each round is compared with a model of
/// the whole file.
fn rounds(size: u32, seed: u64) {
    let name = Name::new("model");
    let path = name.0.clone();
    run(size, move |rank| {
        let mut random = Random(seed);
        let mut model: Vec<u8> = Vec::new();
        let file = open(rank, &path, &hints(&mut random));
        for round in 0..25 {
            let what = format!("seed {seed}, round {round}, rank {}", rank.rank());
            let gaps = random.below(2) == 0;
            let tiles = deal(&mut random, u64::from(size), gaps);
            let asked = hints(&mut random);
            file.set_view(Ok(tiles[rank.rank() as usize].view()), &info(&asked)).expect("a view");
            let collective = random.below(4) > 0;
            let memory_has_gaps = random.below(3) == 0;
            let mut parts = Vec::new();
            for tile in &tiles {
                let (at, tiles) = (random.below(3) * tile.size(), 1 + random.below(30));
                let bytes = if random.below(6) == 0 { 0 } else { tiles * tile.size() - random.below(tile.size()) };
                let data: Vec<u8> = (0..bytes).map(|_| random.below(256) as u8).collect();
                parts.push((at, data, tile.places(at, bytes)));
            }
            for (_, data, places) in &parts {
                let end = places.last().map_or(0, |last| last + 1);
                model.resize(model.len().max(end), 0);
                data.iter().zip(places).for_each(|(byte, place)| model[*place] = *byte);
            }
            let (at, data, places) = &parts[rank.rank() as usize];
            let (pairs, sparse) = (data.len() as u64, sparse());
            let spread: Vec<u8> = data.iter().flat_map(|byte| [*byte, 0x77]).collect();
            let buffer = || match memory_has_gaps {
                true => SendBuf::over(&spread, pairs, &sparse).expect("as long"),
                false => SendBuf::from_slice(data),
            };
            let status = match (collective, at) {
                (true, 0) => file.write_all(Ok(buffer().into())),
                (true, at) => file.write_at_all(*at as i64, Ok(buffer().into())),
                (false, at) => file.write_at(*at as i64, buffer()),
            };
            assert_eq!(status.expect("room").bytes(), data.len() as u64, "{what}");
            if collective && *at == 0 {
                assert_eq!(file.position().expect("not sequential"), data.len() as u64, "{what}");
            }
            // Setting the size waits for all.
            file.set_size(model.len() as i64).expect("as it is");
            assert!(std::fs::read(&path).expect("it is there") == model, "{what}: the file differs");

            // The own data, and what is behind them as far as the file has it.
            let tile = &tiles[rank.rank() as usize];
            let wanted = data.len() as u64 + random.below(2) * 100;
            let there = tile.places(*at, wanted).iter().take_while(|place| **place < model.len()).count();
            let mut back = vec![0x55; 2 * wanted as usize];
            let mut room = match memory_has_gaps {
                true => RecvBuf::over(&mut back, wanted, &sparse).expect("as long"),
                false => RecvBuf::from_slice(&mut back[..wanted as usize]),
            };
            let status = match (collective, at) {
                (true, 0) => {
                    file.seek(0, mpi_io::Whence::Start).expect("a place");
                    file.read_all(Ok(room.reborrow().into()))
                }
                (true, at) => file.read_at_all(*at as i64, Ok(room.reborrow().into())),
                (false, at) => file.read_at(*at as i64, room.reborrow()),
            };
            assert_eq!(status.expect("it is there").bytes(), there as u64, "{what}");
            let mut found = vec![0; there];
            room.pack(0, &mut found);
            let expected: Vec<u8> = tile.places(*at, there as u64).iter().map(|place| model[*place]).collect();
            assert!(found == expected && places.len() == data.len(), "{what}: other data");
            if memory_has_gaps {
                assert!(back.iter().skip(1).step_by(2).all(|byte| *byte == 0x55), "{what}: gaps of memory");
            }
            file.set_size(model.len() as i64).expect("as it is");
        }
        file.close().expect("all close it");
    });
}

/// A byte of every two.
fn sparse() -> Datatype {
    let byte = predefined(MPI_BYTE).expect("predefined");
    Datatype::resized(0, 2, byte, Form::Small).expect("small").committed()
}

#[test]
fn accesses_agree_with_a_model_of_the_file() {
    for seed in 1..=8 {
        rounds(2 + seed as u32 % 4, seed);
    }
}

/// Every rank has 8 bytes in turn.
fn interleaved(rank: &Rank) -> View {
    let (own, all) = (u64::from(rank.rank()), u64::from(rank.world.size()));
    Tiles { displacement: 8 * own, extent: 8 * all, runs: vec![(0, 8)] }.view()
}

#[test]
fn interleaved_writes_need_few_system_calls() {
    const COUNT: usize = 1 << 16;
    let name = Name::new("few-calls");
    let path = name.0.clone();
    run(4, move |rank| {
        let file = open(rank, &path, &[]);
        file.set_view(Ok(interleaved(rank)), &Info::new()).expect("a view");
        let data: Vec<u64> = (0..COUNT as u64).map(|at| 4 * at + u64::from(rank.rank())).collect();
        file.write_all(Ok(Typed::of_slice(&data))).expect("room");
        let metrics = file.instruments();
        assert!(metrics.system_calls.get() <= 2, "{} calls for 2 MiB", metrics.system_calls.get());
        assert_eq!((metrics.buffered.get(), metrics.bytes_buffered.get()), (1, 8 * COUNT as u64));
        let mut back = vec![0u64; COUNT];
        file.read_at_all(0, Ok(Typed::into_slice(&mut back))).expect("it is there");
        assert!(back == data);
        assert_eq!((metrics.reads.get(), metrics.buffered.get(), metrics.bytes_read.get()), (1, 2, 8 * COUNT as u64));
        // One process's strided read needs few calls too.
        let before = metrics.system_calls.get();
        file.read_at(0, RecvBuf::from_slice(&mut back)).expect("it is there");
        assert!(back == data && metrics.system_calls.get() - before < 20);
    });
}

#[test]
fn a_wrong_argument_in_one_process_is_an_error_in_all() {
    let name = Name::new("wrong");
    let path = name.0.clone();
    run(3, move |rank| {
        let file = open(rank, &path, &[]);
        file.set_view(Ok(interleaved(rank)), &Info::new()).expect("a view");
        let data = [7u8; 64];
        let offset = if rank.rank() == 1 { -1 } else { 0 };
        let status = file.write_at_all(offset, Ok(SendBuf::from_slice(&data).into()));
        assert_eq!(status.expect_err("in all").class(), MPI_ERR_ARG);
        let refused = || Err(mpi_errors::Error::new(MPI_ERR_COUNT, "negative"));
        let part = if rank.rank() == 2 { refused() } else { Ok(SendBuf::from_slice(&data).into()) };
        assert_eq!(file.write_all(part).expect_err("in all").class(), MPI_ERR_COUNT);
        assert_eq!((file.position().expect("not sequential"), file.size().expect("a file")), (0, 0));
        file.write_all(Ok(SendBuf::from_slice(&data).into())).expect("room");
        assert_eq!(file.position().expect("not sequential"), 64);
    });
}

#[test]
fn a_full_device_is_an_error_in_all() {
    let name = Name::new("limit");
    let path = name.0.clone();
    run(3, move |rank| {
        let file = open(rank, &path, &[("romio_cb_write", "enable".to_owned()), ("cb_nodes", "2".to_owned())]);
        let far = i64::MAX - 1000;
        let displaced = |first: i64| {
            let byte = ViewType { datatype: predefined(MPI_BYTE).expect("predefined").clone(), word: MPI_BYTE };
            View::new(first, byte.clone(), byte, Representation::Native)
        };
        // No file system has a file of this length.
        file.set_view(displaced(far + i64::from(rank.rank()) * 10), &Info::new()).expect("a view");
        let status = file.write_all(Ok(SendBuf::from_slice(&[1u8; 10]).into()));
        assert_eq!(status.expect_err("in all").class(), MPI_ERR_NO_SPACE);
        assert_eq!(file.position().expect("not sequential"), 0);
        file.set_view(displaced(i64::from(rank.rank()) * 10), &Info::new()).expect("a view");
        file.write_all(Ok(SendBuf::from_slice(&[1u8; 10]).into())).expect("room");
        file.set_size(30).expect("as it is");
        assert_eq!(std::fs::read(&path).expect("it is there"), [1; 30]);
    });
}

#[test]
fn hints_that_must_agree_are_those_of_rank_0() {
    let name = Name::new("agree");
    let path = name.0.clone();
    run(3, move |rank| {
        let own = |kind: &str| [("romio_cb_read", if rank.rank() == 0 { kind } else { "automatic" }.to_owned())];
        let file = open(rank, &path, &own("disable"));
        let used = |key: &str| file.hints().get(key).map(str::to_owned);
        assert_eq!(used("romio_cb_read").as_deref(), Some("disable"));
        file.set_hints(Ok(info(&own("enable")))).expect("no argument is wrong");
        assert_eq!(used("romio_cb_read").as_deref(), Some("enable"));
        file.set_view(Ok(interleaved(rank)), &info(&own("disable"))).expect("a view");
        assert_eq!(used("romio_cb_read").as_deref(), Some("disable"));
        let nodes = [("cb_nodes", "99".to_owned()), ("cb_buffer_size", (8192 + rank.rank()).to_string())];
        file.set_hints(Ok(info(&nodes))).expect("no argument is wrong");
        assert_eq!((used("cb_nodes").as_deref(), used("cb_buffer_size").as_deref()), (Some("3"), Some("8192")));
        let refused = Err(mpi_errors::Error::new(MPI_ERR_INFO, "no info"));
        let one = if rank.rank() == 1 { refused } else { Ok(Info::new()) };
        assert_eq!(file.set_hints(one).expect_err("in all").class(), MPI_ERR_INFO);
    });
}

/// Processes write disjoint strided data of one range independently, again and again: with sieving, ranges are locked,
/// so that no process writes old bytes back over another's.
#[test]
fn sieving_writes_keep_what_others_write_to_the_gaps() {
    for (hint, unique) in [("enable", 0), ("automatic", MPI_MODE_UNIQUE_OPEN), ("automatic", 0)] {
        let name = Name::new("sieving");
        let path = name.0.clone();
        run(3, move |rank| {
            let name = Ok(path.as_os_str().to_owned());
            let hints = Ok(info(&[("romio_ds_write", hint.to_owned())]));
            let args = OpenArgs { name, amode: AccessMode::new(CREATE | unique), hints };
            write_in_turn(rank, &rank.open_with(args).expect("nothing is wrong"));
        });
    }
}

fn write_in_turn(rank: &Rank, file: &File) {
    // The last rank writes without gaps, between the data of the others.
    let last = rank.rank() + 1 == rank.world.size();
    let own = u64::from(rank.rank());
    let tiles = Tiles { displacement: 8 * own, extent: 24, runs: vec![(0, 8)] };
    file.set_view(Ok(tiles.view()), &Info::new()).expect("a view");
    for round in 1..=20u64 {
        let data: Vec<u64> = (0..3000).map(|at| round << 32 | at << 8 | own).collect();
        if last {
            for (at, value) in data.iter().enumerate() {
                file.write_at(8 * at as i64, SendBuf::from_slice(&[*value])).expect("room");
            }
        } else {
            let before = file.instruments().system_calls.get();
            file.write_at(0, SendBuf::from_slice(&data)).expect("room");
            assert!(file.instruments().system_calls.get() - before < 10, "few calls for 3000 runs");
        }
        file.set_size(24 * 3000).expect("as it is");
        let mut back = vec![0u64; 3000];
        file.read_at(0, RecvBuf::from_slice(&mut back)).expect("it is there");
        assert!(back == data, "round {round} of rank {own}");
    }
}

/// Beside a handle that writes gaps back, the writes of one that is opened later lock their ranges; beside one that was
/// opened before, no gaps are written back.
#[test]
fn no_handle_undoes_what_another_one_writes_to_the_gaps() {
    for other_first in [false, true] {
        let name = Name::new("handles");
        let path = name.0.clone();
        run(2, move |rank| {
            let opened = || {
                let (name, hints) = (Ok(path.as_os_str().to_owned()), Ok(Info::new()));
                rank.open_with(OpenArgs { name, amode: AccessMode::new(CREATE), hints }).expect("nothing is wrong")
            };
            let strided = opened();
            let early = other_first.then(opened);
            let tiles = Tiles { displacement: 0, extent: 16, runs: vec![(0, 8)] };
            strided.set_view(Ok(tiles.view()), &Info::new()).expect("a view");
            let other = early.unwrap_or_else(opened);
            for round in 1..=20u64 {
                let data: Vec<u64> = (0..3000).map(|at| round << 32 | at << 8 | u64::from(rank.rank())).collect();
                if rank.rank() == 0 {
                    let before = strided.instruments().system_calls.get();
                    strided.write_at(0, SendBuf::from_slice(&data)).expect("room");
                    let calls = strided.instruments().system_calls.get() - before;
                    assert_eq!(calls >= 3000, other_first, "{calls} calls for 3000 runs");
                } else {
                    for (at, value) in (0..).zip(&data) {
                        other.write_at(16 * at + 8, SendBuf::from_slice(&[*value])).expect("room");
                    }
                    for (at, value) in (0..).zip(&data) {
                        let mut back = [0u64];
                        other.read_at(16 * at + 8, RecvBuf::from_slice(&mut back)).expect("it is there");
                        assert_eq!(back[0], *value, "round {round}");
                    }
                }
                strided.set_size(16 * 3000).expect("as it is");
            }
        });
    }
}
