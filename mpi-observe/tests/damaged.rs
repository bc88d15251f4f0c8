//! A job memory with any contents gives a reader errors or wrong numbers, and never a crash or an endless search.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use mpi_fabric::layout::{Layout, MIN_RING_BYTES, PAGE, block};
use mpi_fabric::{Endpoint, Job, JobOptions};
use mpi_observe::hang::{self, HangView, RankProcess};
use mpi_observe::job_list::{find, id_text};
use mpi_observe::sample::{Rates, Sampler};
use mpi_observe::summary::Summary;
use mpi_observe::timeline::Timeline;
use mpi_observe::traffic::Pair;
use mpi_observe::{JobView, OpenJob, words};
use mpi_t::{BlockDescription, InstrumentMemory};

const RANKS: u32 = 3;

mpi_t::instruments! {
    /// A queue.
    struct Queue: NoObject {
        /// Its length.
        length: mpi_t::PeakLevel =
            { name: "p2p_posted_length", class: Level, type: u32, unit: "receives", category: "p2p" }
            { name: "p2p_posted_length", class: HighWatermark, type: u32, unit: "receives", category: "p2p", doc: "Most." },
    }
}

/// Reads everything that a reader can, and returns how much text it made.
fn read_all(job: JobView<'_>) -> usize {
    let mut sampler = Sampler::new();
    let (before, after) = (sampler.take(job), sampler.take(job));
    let mut length = 0;
    for rank in 0..job.ranks() {
        let (old, new) = (&before.ranks[rank as usize], &after.ranks[rank as usize]);
        let rates = Rates::between(old, new, 0.1);
        assert!((0.0..=1.0).contains(&rates.waiting) && rates.bytes_sent >= 0.0, "{rates:?}");
        length += job.activity(rank, true).len() + words::bytes(rates.bytes_sent).len();
        length += job.calls(rank).iter().map(|call| call.describe().len()).sum::<usize>();
        length += usize::from(job.is_lost(rank)) + usize::from(job.abort_by(rank).is_some());
    }
    length += hang::analyse(&HangView::capture(job, &|_| RankProcess::Runs(std::process::id()))).lines().len();
    let timeline = Timeline::capture(job, &[]);
    let written = timeline.write(File::create("/dev/null").expect("it is there"), &|_| Default::default(), "now");
    length += written.expect("it takes everything").calls as usize;
    let summary = Summary::new(job, 1.0, 0, &|_, _| None);
    assert!(summary.traffic.pairs.iter().all(|pair| pair.from < job.ranks() && pair.to < job.ranks()));
    length += summary.json(None).len();
    let table = job.table(false, &|_, _| None);
    length + table.rows().map(|(object, name, row)| object.len() + name.len() + row.unit().len()).sum::<usize>()
}

/// A generator of numbers that are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn any_damage_behind_the_header_is_survived() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for round in 0..150 {
        let endpoints = Endpoint::threads(RANKS).expect("memory");
        let job = endpoints[0].job();
        let description = BlockDescription { block: "block", variables: &[], object: "object" };
        InstrumentMemory::allocate(&*endpoints[1].instrument_memory(), 4, &description);
        let memory = File::from(job.fd().expect("a memfd").try_clone_to_owned().expect("a descriptor"));
        let layout = Layout::new(RANKS, MIN_RING_BYTES).expect("a layout");
        InstrumentMemory::allocate_rows(&*endpoints[2].instrument_memory(), 12, &[0, 1, 2]);
        let whole = layout.bells().0 - PAGE;
        for _ in 0..1 + round % 40 {
            // Half of the damage is in the instruments, a quarter in the recorder.
            let rank = numbers.next() as usize % RANKS as usize * block::BYTES;
            let at = match numbers.next() % 4 {
                0 | 1 => rank + block::INSTRUMENTS + numbers.next() as usize % 2048,
                2 if round % 2 == 0 => rank + block::RECORDER + numbers.next() as usize % 512,
                2 => layout.traffic_at(2) - PAGE + numbers.next() as usize % 1024,
                _ => numbers.next() as usize % whole,
            };
            // Small numbers pass more checks than large ones.
            let word = numbers.next() >> (numbers.next() % 64);
            let bytes = ((word << 32) | (numbers.next() % 8)).to_le_bytes();
            memory.write_all_at(&bytes, (PAGE + at / 8 * 8) as u64).expect("inside the memory");
        }
        read_all(JobView::of(job));
    }
}

#[test]
fn an_area_of_random_words_is_survived() {
    let mut numbers = Numbers(7);
    let job = Job::create(&JobOptions { ranks: 2, ring_bytes: Some(MIN_RING_BYTES), cores: 1 }).expect("memory");
    let memory = File::from(job.fd().expect("a memfd").try_clone_to_owned().expect("a descriptor"));
    let at = Layout::new(2, MIN_RING_BYTES).expect("a layout").block_at(1);
    for _ in 0..20 {
        let bytes: Vec<u8> = (0..block::BYTES / 8).flat_map(|_| numbers.next().to_le_bytes()).collect();
        memory.write_all_at(&bytes, at as u64).expect("inside the memory");
        read_all(JobView::of(&job));
    }
}

#[test]
fn an_area_of_as_many_variables_as_fit_is_read_in_a_moment() {
    let job = Job::create(&JobOptions { ranks: 1, ring_bytes: Some(MIN_RING_BYTES), cores: 1 }).expect("memory");
    let memory = File::from(job.fd().expect("a memfd").try_clone_to_owned().expect("a descriptor"));
    let area = (Layout::new(1, MIN_RING_BYTES).expect("a layout").block_at(0) + block::INSTRUMENTS) as u64;
    let put = |at: usize, word: u64| memory.write_all_at(&word.to_le_bytes(), area + at as u64).expect("inside");
    let half = block::INSTRUMENTS_BYTES / 2;
    let type_bytes = (half - 64) / 160 * 160 + 64;
    put(0, block::INSTRUMENTS_BYTES as u64);
    put(64, (type_bytes as u64) << 32 | 1);
    put(72, ((type_bytes as u64 - 64) / 160) << 32);
    let mut at = 64 + type_bytes;
    while at + 72 <= block::INSTRUMENTS_BYTES {
        put(at, 72 << 32 | 2);
        put(at + 8, 64 << 32 | 1);
        at += 72;
    }
    let blocks = mpi_fabric::instruments::read(&job, 0);
    assert!(blocks.len() > 100, "{}", blocks.len());
    // A block of one word has the variables of one word.
    assert!(blocks.iter().all(|block| block.variables.len() <= 4), "{}", blocks[0].variables.len());
    read_all(JobView::of(&job));
}

#[test]
fn the_summary_has_who_has_sent_to_whom_and_the_greatest_lengths() {
    let endpoints = Endpoint::threads(2).expect("memory");
    let rows = InstrumentMemory::allocate_rows(&*endpoints[1].instrument_memory(), 8, &[1, 0]).expect("room");
    rows[4].store(3, Relaxed);
    rows[5].store(70, Relaxed);
    endpoints[1].instrument_memory().sizes()[5].store(3, Relaxed);
    let queue: &'static Queue = mpi_t::place(&*endpoints[0].instrument_memory(), "");
    queue.length.keep_peak();
    queue.length.raise(9);
    queue.length.lower(4);
    let summary = Summary::new(JobView::of(endpoints[0].job()), 1.0, 0, &|_, _| None);
    assert_eq!(summary.traffic.pairs, [Pair { from: 1, to: 0, messages: 3, bytes: 70 }]);
    let json = summary.json(None);
    assert!(json.contains("\"traffic\":[[1,0,3,70]],\"traffic_incomplete\":[],\"sizes\":[0,0,0,0,0,3]"), "{json}");
    assert!(json.contains("\"name\":\"most_posted\"") && json.contains("\"values\":[9,null]"), "{json}");
    assert_eq!(summary.traffic.marks[2].greatest(), Some((9, 0)));
}

#[test]
fn a_job_is_found_by_the_process_that_holds_it_and_read_without_being_changed() {
    let job = Job::create(&JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).expect("memory");
    let own = std::process::id();
    let found = find(Some(&own.to_string())).expect("this process has a job");
    assert_eq!(found.pid, own);
    let by_number = find(Some(&mpi_observe::job_list::id_text(job.id())[..12])).expect("a number");
    assert_eq!((by_number.job.view().id(), by_number.job.view().ranks()), (job.id(), 2));
    let error = find(Some("no such job")).expect_err("no such job");
    assert!(error.starts_with("there is no job no such job; these run:\n") && error.contains("2 ranks"), "{error}");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the mappings");
    let of_job: Vec<&str> = maps.lines().filter(|line| line.contains("ferrum-job")).collect();
    assert!(of_job.iter().any(|line| line.contains(" r--s ")), "{of_job:?}");
}

/// A process that is ended at the end.
struct Started(Child);

impl Started {
    fn new(program: &Path, arguments: &[&str]) -> Started {
        let started = Command::new(program).args(arguments).env(WAITS, "").stdout(Stdio::null()).spawn();
        let started = Started(started.expect("a process"));
        // `spawn` returns while the kernel still replaces the program; until that is done the command line is empty.
        let end = Instant::now() + Duration::from_secs(30);
        while std::fs::read(format!("/proc/{}/cmdline", started.pid())).expect("it runs").is_empty() {
            assert!(Instant::now() < end, "the process has no command line");
            std::thread::yield_now();
        }
        started
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// With this variable `waits_for_its_end` waits.
const WAITS: &str = "FERRUM_TEST_WAITS";

/// No test: a process that other tests start.
#[test]
#[ignore = "a process for another test"]
fn waits_for_its_end() {
    if std::env::var_os(WAITS).is_some() {
        std::thread::sleep(Duration::from_secs(60));
    }
}

#[test]
fn the_mpiexec_of_a_job_on_several_hosts_names_it_if_it_runs_the_launchers_program() {
    let job = Job::create(&JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).expect("memory");
    let (own, number) = (std::process::id(), id_text(job.id()));
    let own_program = std::env::current_exe().expect("the test's file");
    let front = Started::new(&own_program, &["--exact", "waits_for_its_end", "--ignored"]);
    let other = Started::new(Path::new("sleep"), &["60"]);
    for (recorded, expected) in [(front.pid(), front.pid()), (other.pid(), own), (u32::MAX, own), (0, own)] {
        job.set_front(recorded);
        let found = find(Some(&number)).expect("the number of a job");
        assert_eq!((found.pid, found.job.view().id()), (expected, job.id()));
    }
    assert!(find(Some(&other.pid().to_string())).is_err(), "it has nothing to do with the job");
    assert!(find(Some(&front.pid().to_string())).is_err(), "the job does not name it");
    job.set_front(front.pid());
    let found = find(Some(&front.pid().to_string())).expect("the job names it");
    assert_eq!((found.pid, found.job.view().id()), (front.pid(), job.id()));
    assert!(found.command.contains("waits_for_its_end"), "{}", found.command);
}

#[test]
fn an_mpiexec_without_ranks_on_this_host_is_no_unknown_process() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}", std::process::id())).join("mpiexec");
    std::fs::create_dir_all(program.parent().expect("a folder")).expect("a folder");
    // A link, as a copy could not start while another test's fork holds the descriptor that wrote it (ETXTBSY).
    let _ = std::fs::remove_file(&program);
    std::fs::hard_link(std::env::current_exe().expect("the test's file"), &program).expect("a program");
    let started = Started::new(&program, &["--exact", "waits_for_its_end", "--ignored"]);
    let error = find(Some(&started.pid().to_string())).expect_err("it has no ranks");
    let begin = format!("process {} has no rank on this host: ", started.pid());
    assert!(
        error.starts_with(&begin)
            && error.contains("mpiexec --exact waits_for_its_end --ignored; if its ranks run on other hosts"),
        "{error}"
    );
    std::fs::remove_dir_all(program.parent().expect("a folder")).expect("an end");
}

#[test]
fn what_is_no_job_is_refused_with_a_sentence() {
    let file = File::open("/proc/self/exe").expect("the test's file");
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
    let error = OpenJob::open(std::process::id(), descriptor).expect_err("a file is no job");
    assert!(error.to_string().contains("this is not the shared memory of a job"), "{error}");
    assert!(OpenJob::open(std::process::id(), 1 << 20).is_err());
}
