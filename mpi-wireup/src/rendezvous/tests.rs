//! The rendezvous between threads that stand for processes, over a table that stands for the launcher.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::{Arc, Barrier, Mutex};

use mpi_fabric::Endpoint;

use super::*;
use crate::host_info;
use crate::tree::FAN;

/// A launcher: the values, and the fence.
struct Table {
    values: Mutex<HashMap<String, String>>,
    barrier: Barrier,
    /// By rank, how many values it has put and got, and their bytes.
    operations: Mutex<HashMap<u32, (usize, usize)>>,
    /// Values are found only under the process that put them, and a missing one is waited for, as by PMIx.
    waits: bool,
    /// Which ranks are refused the memory of which: the one that opens and the one that has made it.
    refuses: fn(u32, u32) -> bool,
}

impl Table {
    fn new(size: u32, waits: bool) -> Arc<Table> {
        Arc::new(Table {
            values: Mutex::default(),
            barrier: Barrier::new(size as usize),
            operations: Mutex::default(),
            waits,
            refuses: |_, _| false,
        })
    }

    fn refusing(size: u32, waits: bool, refuses: fn(u32, u32) -> bool) -> Arc<Table> {
        let table = Arc::into_inner(Table::new(size, waits)).unwrap();
        Arc::new(Table { refuses, ..table })
    }
}

impl Table {
    fn count(&self, rank: u32, value: Option<&str>) {
        let mut operations = self.operations.lock().unwrap();
        let (number, bytes) = operations.entry(rank).or_default();
        *number += 1;
        *bytes += value.map_or(0, str::len);
    }
}

/// One process's view of it. `changed` alters the values that it puts.
struct Place {
    table: Arc<Table>,
    rank: u32,
    size: u32,
    changed: Change,
}

impl KeyValueExchange for Place {
    fn rank(&self) -> u32 {
        self.rank
    }
    fn size(&self) -> u32 {
        self.size
    }
    fn program(&mut self) -> Result<u32, LauncherError> {
        Ok(self.rank % 2)
    }
    fn longest_value(&self) -> usize {
        1024
    }
    fn put(&mut self, key: &str, value: &str) -> Result<(), LauncherError> {
        assert!(value.len() <= 1024 && !value.contains(' '), "{value}");
        self.table.count(self.rank, Some(value));
        if let Some(value) = (self.changed)(key, value) {
            let key = if self.table.waits { format!("{}/{key}", self.rank) } else { key.into() };
            self.table.values.lock().unwrap().insert(key, value);
        }
        Ok(())
    }
    fn waits_for_values(&self) -> bool {
        self.table.waits
    }
    fn get(&mut self, from: u32, key: &str) -> Result<Option<String>, LauncherError> {
        let values = self.table.values.lock().unwrap();
        let value = match self.table.waits {
            true => {
                let value = values.get(&format!("{from}/{key}")).expect("nobody waits for what was never put");
                self.table.count(self.rank, Some(value));
                Some(value.clone())
            }
            false => {
                let value = values.get(key).cloned();
                self.table.count(self.rank, value.as_deref());
                value
            }
        };
        // A process that cannot be seen: to all appearance another one has its id.
        let hidden = key.starts_with(ADDRESS) && (self.table.refuses)(self.rank, from);
        Ok(value.map(|value| if hidden && value != "none" { changed_field(&value, 2, "1") } else { value }))
    }
    fn fence(&mut self) -> Result<(), LauncherError> {
        self.table.barrier.wait();
        Ok(())
    }
}

type Outcome = Result<(Attachment, Option<OverHosts>), LauncherError>;
/// The change of a value that is put under a key; `None`: it gets lost.
type Change = fn(&str, &str) -> Option<String>;

/// The rendezvous of all ranks; `host_of` makes the host info of each, `changed` alters the values.
fn all(size: u32, host_of: fn(u32) -> HostInfo, changed: Change) -> Vec<Outcome> {
    all_with(&Table::new(size, false), size, host_of, changed)
}

fn all_with(table: &Arc<Table>, size: u32, host_of: fn(u32) -> HostInfo, changed: Change) -> Vec<Outcome> {
    std::thread::scope(|scope| {
        let meeting = |rank| {
            let mut place = Place { table: table.clone(), rank, size, changed };
            scope.spawn(move || share_memory(&mut place, &host_of(rank), None))
        };
        let threads: Vec<_> = (0..size).map(meeting).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn as_is(_: &str, value: &str) -> Option<String> {
    Some(value.into())
}

/// All fail, and the sentence of each has one of these texts.
fn assert_all_fail(outcomes: &[Outcome], texts: &[&str]) {
    for outcome in outcomes {
        let sentence = outcome.as_ref().expect_err("no rank continues").to_string();
        assert!(texts.iter().any(|text| sentence.contains(text)), "{sentence}");
        assert!(!sentence.contains('\n'));
    }
}

#[test]
fn all_get_the_same_memory() {
    for size in [1, 2, 5] {
        let places: Vec<_> = all(size, |_| HostInfo::own(), as_is).into_iter().map(Result::unwrap).collect();
        assert!(places.iter().all(|(_, over)| over.is_none()));
        let places: Vec<Attachment> = places.into_iter().map(|(place, _)| place).collect();
        assert!(places.iter().all(|place| place.job_id == places[0].job_id && place.size == size));
        assert!(places.iter().all(|place| place.appnum == place.rank % 2));
        let endpoints: Vec<Endpoint> =
            places.iter().map(|place| Endpoint::attach(place, mpi_fabric::FabricSettings::new()).unwrap()).collect();
        let parent = std::os::unix::process::parent_id();
        assert_eq!(endpoints[0].job().launcher_pid(), parent, "the nearest ancestor of all");
        assert_eq!(endpoints[0].host_facts().cores, host::usable_cores());
    }
}

#[test]
fn the_job_has_the_cores_of_all_ranks_together() {
    let host = |rank: u32| HostInfo { cores: vec![(2 * rank, 2 * rank + 2)], ..HostInfo::own() };
    assert_eq!(all_cores(&[host(0), host(1), host(3)]), 8);
    assert_eq!(all_cores(&[]), 0);
}

/// The number of the memory that each rank has, and the ranks that share it.
fn memories(outcomes: Vec<Outcome>) -> Vec<(u64, Vec<u32>, u128)> {
    let of = |(place, over): (Attachment, Option<OverHosts>)| {
        let over = over.expect("several hosts");
        Endpoint::attach(&place, mpi_fabric::FabricSettings::new()).unwrap();
        (place.job_id, over.here.to_vec(), over.secret)
    };
    outcomes.into_iter().map(|outcome| of(outcome.unwrap())).collect()
}

#[test]
fn the_ranks_of_each_host_share_a_memory() {
    let host = |rank| HostInfo { boot: format!("b{}", rank % 2), host: format!("node{}", rank % 2), ..HostInfo::own() };
    let found = memories(all(5, host, as_is));
    for (rank, (memory, here, secret)) in found.iter().enumerate() {
        assert_eq!(*here, if rank % 2 == 0 { vec![0, 2, 4] } else { vec![1, 3] });
        assert_eq!((memory, secret), (&found[rank % 2].0, &found[0].2));
    }
    assert!(found[0].0 != found[1].0 && found[0].2 != 0);
}

#[test]
fn values_are_looked_up_under_the_process_that_put_them() {
    let host = |rank| HostInfo { boot: format!("b{}", rank % 2), ..HostInfo::own() };
    let found = memories(all_with(&Table::new(5, true), 5, host, as_is));
    assert!((0..5).all(|rank: usize| found[rank].1 == if rank.is_multiple_of(2) { vec![0, 2, 4] } else { vec![1, 3] }));
    let places = all_with(&Table::new(3, true), 3, |_| HostInfo::own(), as_is);
    assert!(places.iter().all(|place| place.as_ref().is_ok_and(|(_, over)| over.is_none())));
}

#[test]
fn the_trouble_of_any_process_is_that_of_all_where_values_are_waited_for() {
    let changes: [(Change, &str); 3] = [
        (|key, value| Some(if key == "ferrum-host-3" { "f9;x".into() } else { value.into() }), "rank 3 put \"f9;x\""),
        (|key, value| Some(if key == "ferrum-job-1" { "none".into() } else { value.into() }), "rank 1 could not make"),
        (|key, value| Some(if key == "ferrum-job" { "nonsense".into() } else { value.into() }), "\"nonsense\""),
    ];
    let host = |rank| HostInfo { boot: format!("b{}", rank % 2), ..HostInfo::own() };
    for (change, text) in changes {
        assert_all_fail(&all_with(&Table::new(4, true), 4, host, change), &[text]);
    }
}

#[test]
fn the_operations_of_a_rank_grow_with_the_logarithm_of_the_number_of_ranks() {
    // Ranks of a host are next to each other.
    const HOSTS: u32 = 8;
    fn block(rank: u32, size: u32) -> HostInfo {
        HostInfo { boot: format!("b{}", rank * HOSTS / size), ..HostInfo::own() }
    }
    type Job = (u32, fn(u32) -> HostInfo);
    let hosts: [Job; 3] = [(8, |rank| block(rank, 8)), (64, |rank| block(rank, 64)), (512, |rank| block(rank, 512))];
    for waits in [false, true] {
        let mut found = Vec::new();
        for (size, host_of) in hosts {
            let table = Table::new(size, waits);
            memories(all_with(&table, size, host_of, as_is));
            let operations = table.operations.lock().unwrap();
            let of = |rank: u32| operations[&rank];
            let usual = of(size - 1);
            // Neither the first rank of a host nor one that combines the values of others.
            let others = (1..size).filter(|rank| !rank.is_multiple_of(FAN) && !rank.is_multiple_of(size / HOSTS));
            assert!(others.into_iter().all(|rank| of(rank).0 == usual.0), "all others do as much");
            found.push((size, of(0), (1..size).map(of).max().unwrap(), usual));
        }
        let [(_, few, ..), (_, some, ..), (_, many, ..)] = found[..] else { unreachable!("three sizes") };
        // Under PMIx three steps combine values: the hosts, and the ends of two steps.
        let combined = if waits { 3 } else { 1 };
        // A rank reads at most 31 values on each level: of 64 ranks 31 and 1, of 512 ranks 31 and 15.
        assert_eq!((some.0 - few.0, many.0 - few.0), (combined * (32 - 7), combined * (46 - 7)), "{found:?}");
        assert!(found.iter().all(|(.., other, usual)| other.0 <= usual.0 + combined * 32 + 3), "{found:?}");
        assert_eq!(found[1].3.0, found[2].3.0, "most ranks do the same, however many there are: {found:?}");
        assert!(many.1 < 16_000 && found[2].3.1 < 1_000, "bytes: {found:?}");
    }
}

#[test]
fn a_rank_that_combines_others_passes_on_their_hosts_or_their_trouble() {
    // Over the ranks in turn, and with ranks of the last host beyond 32.
    let host = |rank| HostInfo { boot: format!("b{}", if rank < 40 { rank % 3 } else { 3 }), ..HostInfo::own() };
    for waits in [false, true] {
        let found = memories(all_with(&Table::new(70, waits), 70, host, as_is));
        let due = |rank: usize| {
            (0..70).filter(
                move |other| if rank < 40 { *other < 40 && *other as usize % 3 == rank % 3 } else { *other >= 40 },
            )
        };
        assert!((0..70).all(|rank| found[rank].1 == due(rank).collect::<Vec<_>>()), "{found:?}");
        let changes: [(Change, &str); 3] = [
            (
                |key, value| Some(if key == "ferrum-host-69" { "f9;x".into() } else { value.into() }),
                "rank 69 put \"f9;x\"",
            ),
            (
                |key, value| Some(if key == "ferrum-hosts-32-64-0" { value.replace("64", "63") } else { value.into() }),
                "where the hosts of ranks 64-69 belong",
            ),
            (
                |key, value| Some(if key == "ferrum-job-40" { "none".into() } else { value.into() }),
                "rank 40 could not make",
            ),
        ];
        for (change, text) in changes {
            assert_all_fail(&all_with(&Table::new(70, waits), 70, host, change), &[text]);
        }
        let table = Table::refusing(70, waits, |rank, first| rank >= 66 && first < 66);
        let found = groups_of(&table, 70, |_| HostInfo::own(), as_is);
        assert_eq!((&found[65], &found[66]), (&(0..66).collect(), &(66..70).collect()), "{waits}");
    }
}

/// The ranks with which each rank shares memory, and what those of a job have in common: the secret, and a memory for each group.
fn groups_of(table: &Arc<Table>, size: u32, host_of: fn(u32) -> HostInfo, changed: Change) -> Vec<Vec<u32>> {
    let outcomes = all_with(table, size, host_of, changed);
    for outcome in &outcomes {
        let (_, over) = outcome.as_ref().unwrap();
        let why = over.as_ref().unwrap().refusal.as_ref().expect("all have the reason");
        assert!(why.contains("does not see rank"), "{why}");
    }
    let hosts = outcomes[size as usize - 1].as_ref().unwrap().0.hosts().unwrap();
    let found = memories(outcomes);
    for (memory, here, secret) in &found {
        assert!(here.iter().all(|rank| found[*rank as usize] == (*memory, here.clone(), *secret)), "{found:?}");
        assert_eq!(*secret, found[0].2);
        assert_eq!(found.iter().filter(|(other, ..)| other == memory).count(), here.len());
        assert!(hosts.iter().any(|host| host.ranks == *here), "the memory has the groups of the end: {hosts:?}");
    }
    found.into_iter().map(|(_, here, _)| here).collect()
}

#[test]
fn ranks_that_are_refused_a_memory_share_one_of_their_own() {
    for waits in [false, true] {
        let table = Table::refusing(6, waits, |rank, first| rank >= 3 && first < 3);
        let found = groups_of(&table, 6, |_| HostInfo::own(), as_is);
        assert_eq!(found, [[0, 1, 2], [0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5], [3, 4, 5]], "{waits}");
    }
}

#[test]
fn ranks_of_each_host_are_refused_apart_from_those_of_others() {
    // Hosts of the ranks 0 to 3 and 4 to 7; odd ranks see no even ones. On a third one all is well.
    fn host(rank: u32) -> HostInfo {
        HostInfo { boot: format!("b{}", rank / 4), ..HostInfo::own() }
    }
    for waits in [false, true] {
        let table = Table::refusing(10, waits, |rank, first| rank % 2 != first % 2 && rank < 8);
        let found = groups_of(&table, 10, host, as_is);
        let due = [[0, 2], [1, 3], [0, 2], [1, 3], [4, 6], [5, 7], [4, 6], [5, 7], [8, 9], [8, 9]];
        assert_eq!(found, due, "{waits}");
        // Only on the second host.
        let table = Table::refusing(8, waits, |rank, first| rank == 7 && first == 4);
        assert_eq!(groups_of(&table, 8, host, as_is)[6..], [vec![4, 5, 6], vec![7]], "{waits}");
    }
}

#[test]
fn refused_ranks_of_different_classes_do_not_try_each_other() {
    let table = Table::refusing(5, false, |rank, first| rank != first && (rank < 3 || first < 3));
    let classes: Change = |key, value| {
        // Of the first three ranks each has a class of its own.
        let rank = key.strip_prefix("ferrum-failure-who-1-").and_then(|rank| rank.strip_suffix("-0"));
        let class = format!(":{}", host_info::access_class());
        Some(
            rank.filter(|rank| *rank < "3").map_or(value.into(), |rank| value.replacen(&class, &format!(":{rank}"), 1)),
        )
    };
    let found = groups_of(&table, 5, |_| HostInfo::own(), classes);
    assert_eq!(found, [vec![0], vec![1], vec![2], vec![3, 4], vec![3, 4]]);
    assert!(!table.values.lock().unwrap().contains_key("ferrum-groups-2-0"), "one round is enough");
}

#[test]
fn ranks_that_all_refuse_each_other_are_alone_after_a_fixed_number_of_rounds() {
    for waits in [false, true] {
        let counted = |size| {
            let table = Table::refusing(size, waits, |rank, first| rank != first);
            let found = groups_of(&table, size, |_| HostInfo::own(), as_is);
            assert!((0..size).all(|rank| found[rank as usize] == [rank]));
            let operations = table.operations.lock().unwrap();
            operations[&(size - 1)].0
        };
        let (few, many) = (counted(8), counted(64));
        assert!(waits || few == many, "a rank of many has the same number of requests: {few} {many}");
    }
}

#[test]
fn a_failure_beside_a_refusal_is_that_of_all() {
    let changes: [(Change, &str); 3] = [
        (|key, value| Some(if key == "ferrum-job-2" { "none".into() } else { value.into() }), "rank 2 could not make"),
        (
            |key, value| Some(if key == "ferrum-groups-1-0" { value.replace("2-3", "2,9") } else { value.into() }),
            "where the ranks",
        ),
        (|key, value| (key != "ferrum-groups-1-0").then(|| value.into()), "rank 0 has put no ranks"),
    ];
    for (change, text) in changes {
        let table = Table::refusing(4, false, |rank, first| rank >= 2 && first < 2);
        assert_all_fail(&all_with(&table, 4, |_| HostInfo::own(), change), &[text]);
    }
}

#[test]
fn a_job_without_refusals_puts_nothing_about_them() {
    let table = Table::new(4, false);
    assert!(all_with(&table, 4, |_| HostInfo::own(), as_is).iter().all(Result::is_ok));
    let mut keys: Vec<String> = table.values.lock().unwrap().keys().cloned().collect();
    keys.sort();
    assert_eq!(keys, ["ferrum-host-0", "ferrum-host-1", "ferrum-host-2", "ferrum-host-3", ADDRESS]);
    // Its host info, that of rank 0, the address, no sentence, nobody refused, no other hosts.
    assert_eq!(table.operations.lock().unwrap()[&3].0, 6);
}

#[test]
fn containers_are_hosts() {
    let host = |rank| HostInfo { namespace: format!("pid:_{rank}_"), ..HostInfo::own() };
    let outcomes = all(3, host, as_is);
    for (outcome, apart) in outcomes.iter().zip([1, 1, 2]) {
        let refusal = outcome.as_ref().unwrap().1.as_ref().unwrap().refusal.as_ref().unwrap();
        assert_eq!(*refusal, format!("rank {apart} has another process id namespace than rank 0"));
    }
    let found = memories(outcomes);
    assert!((0..3).all(|rank| found[rank as usize].1 == [rank]));
}

#[test]
fn many_hosts_fit_into_short_values() {
    let host = |rank| HostInfo { boot: format!("b{}", rank % 7), ..HostInfo::own() };
    let changed: Change = |_, value| Some(value.into());
    let found = memories(all(300, host, changed));
    assert!((0..300).all(|rank: usize| found[rank].1.iter().all(|other| *other as usize % 7 == rank % 7)));
}

#[test]
fn values_about_hosts_are_checked() {
    let host = |rank| HostInfo { boot: format!("b{}", rank / 2), ..HostInfo::own() };
    let changes: [(Change, &str); 4] = [
        (
            |key, value| Some(if key == "ferrum-hosts-0" { value.replace("2-3", "2,9") } else { value.into() }),
            "where the ranks",
        ),
        (
            |key, value| Some(if key == "ferrum-hosts-0" { value.replace("1:", "2:") } else { value.into() }),
            "lost a part",
        ),
        (|key, value| (key != "ferrum-job-2").then(|| value.into()), "rank 2 could not make"),
        (
            |key, value| Some(if key == "ferrum-job-2" { "nonsense".into() } else { value.into() }),
            "rank 2 put \"nonsense\"",
        ),
    ];
    for (change, text) in changes {
        assert_all_fail(&all(4, host, change), &[text]);
    }
}

#[test]
fn values_of_other_processes_are_checked() {
    let changes: [(Change, &str); 6] = [
        (|key, value| (key != ADDRESS).then(|| value.into()), "rank 0 could not make"),
        (|key, value| Some(if key == ADDRESS { "nonsense".into() } else { value.into() }), "\"nonsense\""),
        (|key, value| (key != "ferrum-host-1").then(|| value.into()), "rank 1 put nothing"),
        (|key, value| Some(if key == "ferrum-host-0" { "f9;x".into() } else { value.into() }), "rank 0 put \"f9;x\""),
        (
            |key, value| Some(if key == ADDRESS { changed_field(value, 3, "99999") } else { value.into() }),
            "No such file",
        ),
        (
            |key, value| Some(if key == ADDRESS { changed_field(value, 3, "0") } else { value.into() }),
            "should be the job's memory",
        ),
    ];
    for (change, text) in changes {
        assert_all_fail(&all(2, |_| HostInfo::own(), change), &[text]);
    }
}

fn changed_field(value: &str, field: usize, to: &str) -> String {
    let mut fields: Vec<&str> = value.split(';').collect();
    fields[field] = to;
    fields.join(";")
}

#[test]
fn too_many_processes_are_refused_before_anything_is_put() {
    let table = Table::new(1, false);
    let mut place = Place { table: table.clone(), rank: 0, size: MAX_RANKS + 1, changed: as_is };
    assert!(share_memory(&mut place, &HostInfo::own(), None).unwrap_err().to_string().contains("8193 processes"));
    assert!(table.values.lock().unwrap().is_empty());
}
