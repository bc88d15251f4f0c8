//! Starting all ranks: their streams, places, cores and processes.

use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use mpi_fabric::{Attachment, Job};

use super::child_job::Parent;
use super::guard::Guard;
use super::input::Inputs;
use super::os::{self, Inherited};
use super::plan::Plan;
use super::recordings::Recordings;
use super::refusal::Refusal;
use super::reporter::Reporter;
use super::spawn::{Own, Stdio, Template};
use super::streams::{Label, Stream, Streams};
use crate::args::Options;
use crate::pmi_server::Server;

/// The data with which ranks are started.
pub(super) struct Starter<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) options: &'a Options,
    pub(super) job: &'a Job,
    pub(super) guard: &'a Guard,
    pub(super) streams: &'a mut Streams,
    pub(super) inputs: &'a mut Inputs,
    pub(super) pmi: &'a mut Server,
    pub(super) recordings: &'a Recordings,
    pub(super) reporter: Reporter,
    /// If another job spawned this one.
    pub(super) parent: Option<&'a Parent>,
}

impl Starter<'_> {
    /// Starts the ranks in their order; calls `started` with the process id of each, so that the caller has the ids of
    /// the first ones when a later one cannot be started.
    pub(super) fn start_all(&mut self, inherited: Inherited, mut started: impl FnMut(i32)) -> Result<(), Refusal> {
        if let Some(directory) = &self.options.output {
            fs::create_dir_all(directory).map_err(|error| Refusal::Output(directory.clone(), error))?;
        }
        // Files of the ranks get no colours.
        let terminal = self.options.output.is_none() && io::stderr().is_terminal();
        let mut rank = 0;
        for (appnum, program) in self.plan.programs.iter().enumerate() {
            let (settings, tools) = (&self.plan.settings, &self.plan.tools);
            let mut template = Template::new(program, self.options, settings, tools, inherited, terminal)?;
            for _ in 0..program.ranks {
                let pid = self.start(&mut template, rank, appnum as u32)?;
                started(pid);
                self.reporter.verbose(|| {
                    let core = self.core(rank).map_or_else(String::new, |core| format!(" on core {core}"));
                    format!("rank {rank} is process {pid} ({}){core}", program.file.to_string_lossy().escape_debug())
                });
                rank += 1;
            }
        }
        Ok(())
    }

    fn start(&mut self, template: &mut Template, rank: u32, appnum: u32) -> Result<i32, Refusal> {
        let input = self.inputs.of_rank(rank)?;
        let output = self.stream(rank, Stream::Output)?;
        let error = self.stream(rank, Stream::Error)?;
        let memory = self.job.fd();
        let fd = memory.map_or(-1, |fd| fd.as_raw_fd());
        let place = Attachment { fd, job_id: self.job.id(), rank, size: self.plan.ranks, appnum };
        // For programs of other libraries.
        let (connection, variables) = self.pmi.add(appnum)?;
        let recorded = self.recordings.of_rank(rank).map_err(Refusal::System)?;
        let handed_down: Vec<_> = memory.into_iter().chain([connection.as_fd()]).chain(recorded.files).collect();
        let place = mpi_wireup::to_variables(&place).into_iter();
        let of_parent = self.parent.map(Parent::variables).unwrap_or_default();
        let variables: Vec<_> = place.chain(variables).chain(recorded.variables).chain(of_parent).collect();
        let own = Own {
            variables: &variables,
            stdio: Stdio { input: input.as_fd(), output: output.as_fd(), error: error.as_fd() },
            handed_down: &handed_down,
            core: self.core(rank),
        };
        let pid = template.start(&own).map_err(|error| match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => Refusal::System(error),
            _ => Refusal::Start(self.plan.program_of(rank).into(), error),
        })?;
        self.guard.set_group(rank, pid);
        Ok(pid)
    }

    fn core(&self, rank: u32) -> Option<usize> {
        self.plan.cores.as_ref().map(|cores| cores[rank as usize])
    }

    /// The target of a rank's stream.
    fn stream(&mut self, rank: u32, stream: Stream) -> Result<OwnedFd, Refusal> {
        let options = self.options;
        let job = self.reporter.job();
        let label = Label { job, rank, stream, tag: options.tag_output, time: options.timestamp };
        let file = options.output.as_deref().map(|directory| create(directory, rank, stream)).transpose()?;
        if let Some(file) = file {
            // The rank writes the file itself, unless labels are added.
            if !(label.tag || label.time) {
                return Ok(file.into());
            }
            let (read, write) = os::pipe()?;
            self.streams.add_to_file(read, label, file);
            return Ok(write);
        }
        let (read, write) = os::pipe()?;
        if self.plan.ranks <= 16 && stream == Stream::Output {
            os::enlarge_pipe(read.as_fd(), 256 << 10);
        }
        self.streams.add(read, label);
        Ok(write)
    }
}

/// The file of a rank's stream, empty.
pub(super) fn create(directory: &Path, rank: u32, stream: Stream) -> Result<File, Refusal> {
    let ending = if stream == Stream::Output { "out" } else { "err" };
    let path = directory.join(format!("rank.{rank}.{ending}"));
    File::create(&path).map_err(|error: io::Error| Refusal::Output(path, error))
}
