//! `bench hosts`: messages and collectives between two hosts, which are namespaces of this machine (`tests/hosts/lab.sh`), under
//! Hydra, beside MPICH over libfabric, and plain libfabric (`fi_pingpong`); and the start of a job under Slurm, too.
//!
//! Invariant: one round runs a program once with every library before the next round starts. No process and no namespace is left.
//! Not here: the programs (`benches/c`), the table (`table`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::cases::Number;
use super::floor::Class;
use super::{Measured, record, table};
use crate::lab::{Lab, need_slurm};
use crate::peers::{self, Library};
use crate::process::Outcome;
use crate::{Result, dist, paths, process, tools, ui};

const LIMIT: Duration = Duration::from_secs(90);
/// The provider of all libraries.
const PROVIDER: &str = "tcp";
/// Lengths of messages, and round trips, of `fi_pingpong`.
const FLOORS: [(u32, u32); 4] = [(8, 4000), (1 << 10, 4000), (64 << 10, 500), (1 << 20, 100)];

/// What is measured: by a program of the libraries, or by none.
#[derive(Clone, Copy)]
enum Case {
    Program { file: &'static str, argument: Option<&'static str>, ranks: u32, printed: bool },
    Floor(u32, u32),
}

const PROGRAMS: [Case; 4] = [
    Case::Program { file: "hosts", argument: Some("messages"), ranks: 2, printed: true },
    Case::Program { file: "hosts", argument: Some("collectives"), ranks: 2, printed: true },
    Case::Program { file: "hosts", argument: Some("collectives"), ranks: 4, printed: true },
    Case::Program { file: "startend", argument: None, ranks: 4, printed: false },
];

/// A way to run programs between the hosts.
struct Runner {
    name: &'static str,
    library: Option<Library>,
    /// Variables of the environment.
    variables: Vec<(&'static str, PathBuf)>,
}

/// All rounds. Says so where namespaces are not allowed.
pub fn run(rounds: u32, with_peers: bool) -> Result<()> {
    if !tools::is_root() {
        return Err("only root can make hosts of namespaces".into());
    }
    let dist = dist::build(&paths::dist())?;
    // Its launcher starts the programs of all libraries, and its libfabric is used by all.
    let mpich = Library::mpich()?;
    let fabric = peers::mpich_folder().join("lib/mpich/libfabric.so.1");
    let hydra = mpich.launcher().to_owned();
    let mut runners = vec![
        Runner {
            name: "ferrum",
            library: Some(Library::ferrum(&dist)),
            variables: vec![("FERRUM_NET_PROVIDER", PROVIDER.into()), ("FERRUM_NET_LIBRARY", fabric.clone())],
        },
        Runner {
            name: "ferrum-sys",
            library: Some(Library::ferrum(&dist)),
            variables: vec![("FERRUM_NET_PROVIDER", PROVIDER.into())],
        },
    ];
    if with_peers {
        let variables = vec![("MPIR_CVAR_CH4_NETMOD", "ofi".into()), ("FI_PROVIDER", PROVIDER.into())];
        runners.push(Runner { name: "mpich", library: Some(mpich), variables });
    }
    if tools::need("fi_pingpong", "libfabric-bin", false).is_ok() {
        let folder = fabric.parent().unwrap_or(&fabric).to_owned();
        runners.push(Runner { name: "pingpong", library: None, variables: vec![("LD_LIBRARY_PATH", folder)] });
    } else {
        ui::note("left out: fi_pingpong (Debian: libfabric-bin)");
    }
    for runner in &runners {
        build(runner)?;
    }
    let lab = Lab::start("bench", 2).map_err(|failure| failure.during("namespaces are not allowed here"))?;
    let bench = Bench { lab, dist, hydra };
    let (mut measured, mut failures) = (Measured::new(), Vec::new());
    let cases: Vec<Case> = FLOORS.iter().map(|(bytes, trips)| Case::Floor(*bytes, *trips)).chain(PROGRAMS).collect();
    for round in 0..rounds as usize {
        for (place, case) in cases.iter().enumerate() {
            for turn in 0..runners.len() {
                let runner = &runners[(turn + round) % runners.len()];
                match bench.measure(runner, *case) {
                    // The floor of a length is in the row of its latency.
                    Ok(numbers) if matches!(case, Case::Floor(..)) => {
                        for number in numbers {
                            let at = FLOORS.iter().position(|(bytes, _)| number.name.ends_with(&format!("/{bytes}")));
                            floor_row(&mut measured, at.unwrap_or(0), number);
                        }
                    }
                    Ok(numbers) => record(&mut measured, place.max(FLOORS.len()), Class::Any, runner.name, numbers),
                    Err(failure) => failures.push(format!("{}: {failure}", runner.name)),
                }
            }
        }
    }
    if let Err(failure) = need_slurm(false) {
        ui::note(format_args!("left out: starts under Slurm: {failure}"));
    } else if let Err(failure) = bench.lab.start_slurm() {
        failures.push(failure.to_string());
    } else {
        for runner in (0..rounds).flat_map(|_| &runners).filter(|runner| runner.library.is_some()) {
            match bench.start_under_slurm(runner) {
                Ok(number) => record(&mut measured, cases.len(), Class::Any, runner.name, vec![number]),
                Err(failure) => failures.push(format!("{}: {failure}", runner.name)),
            }
        }
    }
    let names: Vec<&str> = runners.iter().map(|runner| runner.name).collect();
    let rows = table::rows(&measured);
    ui::answer(table::text(&rows, &names));
    let file = paths::target().join("bench-hosts.json");
    fs::write(&file, table::json(&rows, &names, rounds))?;
    ui::answer(format_args!("all values: {}", file.display()));
    match failures.is_empty() {
        true => Ok(()),
        false => Err(format!("{} runs failed:\n{}", failures.len(), failures.join("\n")).into()),
    }
}

/// Enters a value of plain libfabric in the row of the same length.
fn floor_row(measured: &mut Measured, place: usize, number: Number) {
    let key = (FLOORS.len(), place, number.name, Class::Any);
    let series = measured
        .entry(key)
        .or_insert_with(|| super::Series { unit: number.unit, values: std::collections::BTreeMap::new() });
    series.values.entry("pingpong").or_default().push(number.value);
}

struct Bench {
    lab: Lab,
    dist: PathBuf,
    hydra: PathBuf,
}

impl Bench {
    fn measure(&self, runner: &Runner, case: Case) -> Result<Vec<Number>> {
        match (case, &runner.library) {
            (Case::Floor(bytes, trips), None) => self.pingpong(runner, bytes, trips),
            (Case::Program { file, argument, ranks, printed }, Some(_)) => {
                let mut command = self.launch(runner, ranks);
                command.arg(programs(runner).join(file)).args(argument);
                let outcome = process::must(&mut command, LIMIT)?;
                match printed {
                    true => outcome.stdout.lines().map(super::cases::parse).collect(),
                    false => Ok(vec![wall_time(format!("start and end/2x{}", ranks / 2), &outcome)]),
                }
            }
            _ => Ok(Vec::new()),
        }
    }

    fn start_under_slurm(&self, runner: &Runner) -> Result<Number> {
        let mut command = self.on("1", runner);
        command.args(["srun", "--mpi=pmi2", "-N", "2", "-n", "4", "--overcommit"]);
        let outcome = process::must(command.arg(programs(runner).join("startend")), LIMIT)?;
        Ok(wall_time("start and end/srun 2x2".into(), &outcome))
    }

    fn on(&self, host: &str, runner: &Runner) -> Command {
        let mut command = self.lab.command(&["run", host]);
        for (name, value) in &runner.variables {
            command.env(name, value);
        }
        command.env("HYDRA_LAUNCHER", "ssh").env("HYDRA_LAUNCHER_EXEC", self.lab.folder().join("ssh"));
        command
    }

    /// The launcher of a library, with its options, on the first host.
    fn launch(&self, runner: &Runner, ranks: u32) -> Command {
        let (mut command, ranks, each) = (self.on("1", runner), ranks.to_string(), (ranks / 2).to_string());
        if runner.name == "mpich" {
            command.arg(&self.hydra).args(["-hosts", "h1,h2", "-n", &ranks, "-ppn", &each]);
        } else {
            command.arg(self.dist.join("bin/mpiexec")).arg("--manager").arg(&self.hydra);
            command.args(["-n", &ranks, "-host", &format!("h1:{each},h2:{each}")]);
        }
        command
    }

    /// Half round trips of plain libfabric: a server on the first host, a client on the second.
    fn pingpong(&self, runner: &Runner, bytes: u32, trips: u32) -> Result<Vec<Number>> {
        let (size, count) = (bytes.to_string(), trips.to_string());
        let options = ["fi_pingpong", "-p", PROVIDER, "-e", "rdm", "-S", &size, "-I", &count];
        let mut server = self.on("1", runner).args(options).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(Duration::from_millis(300));
        let outcome = process::must(self.on("2", runner).args(options).arg("10.93.0.1"), LIMIT);
        if outcome.is_err() {
            let _ = server.kill();
        }
        server.wait()?;
        let outcome = outcome?;
        // bytes, #sent, #ack, total, time, MB/sec, usec/xfer, Mxfers/sec
        let words = outcome.stdout.lines().last().unwrap_or_default().split_whitespace();
        match words.rev().nth(1).and_then(|word| word.parse().ok()) {
            Some(value) => Ok(vec![Number { name: format!("latency/{bytes}"), value, unit: "us".into() }]),
            None => Err(format!("fi_pingpong printed {:?}", outcome.stdout).into()),
        }
    }
}

fn wall_time(name: String, outcome: &Outcome) -> Number {
    Number { name, value: outcome.wall.as_secs_f64() * 1e3, unit: "ms".into() }
}

fn programs(runner: &Runner) -> PathBuf {
    paths::scratch("bench-hosts").join(runner.name)
}

fn build(runner: &Runner) -> Result<()> {
    let Some(library) = &runner.library else { return Ok(()) };
    let folder = programs(runner);
    fs::create_dir_all(&folder)?;
    for file in ["hosts", "startend"] {
        library.compile(&source(file), &folder.join(file), &["-O2", "-Wall"])?;
    }
    Ok(())
}

fn source(file: &str) -> PathBuf {
    paths::root().join("benches/c").join(Path::new(file).with_extension("c"))
}
