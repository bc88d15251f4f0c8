//! Starting the ranks of a host.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use mpi_fabric::Attachment;
use mpi_wireup::{HOST_RANKS, HOSTS, NET_SECRET};

use super::super::super::child_job;
use super::super::super::os;
use super::super::super::refusal::Refusal;
use super::super::super::spawn::{Own, Stdio, Template};
use super::super::frame::Frame;
use super::{Fed, Pipe, Proxy, Rank};

impl Proxy<'_> {
    pub(super) fn start_all(&mut self) {
        self.started = true;
        if let Err(refusal) = self.start_ranks() {
            // An incomplete job must leave no process.
            self.signal_all(libc::SIGKILL, true);
            self.link.send(&Frame::NotStarted { code: refusal.exit_code(), sentence: refusal.to_string() });
        }
    }

    pub(super) fn start_ranks(&mut self) -> Result<(), Refusal> {
        let mut place = 0;
        for (appnum, program) in self.plan.programs.iter().enumerate().filter(|(_, program)| program.ranks > 0) {
            let (settings, tools) = (&self.plan.settings, &self.plan.tools);
            let mut template =
                Template::new(program, self.options, settings, tools, self.inherited, self.part.terminal)?;
            for _ in 0..program.ranks {
                let pid = self.start(&mut template, place, appnum as u32)?;
                self.guard.set_group(place, pid);
                self.ranks.push(Rank { pid, living: true });
                self.living += 1;
                let core = self.core(place).map_or(0, |core| core as u32 + 1);
                self.link.send(&Frame::Started { rank: self.world[place as usize], pid, core });
                place += 1;
            }
        }
        Ok(())
    }

    pub(super) fn core(&self, place: u32) -> Option<usize> {
        self.plan.cores.as_ref().map(|cores| cores[place as usize])
    }

    pub(super) fn start(&mut self, template: &mut Template, place: u32, appnum: u32) -> Result<i32, Refusal> {
        let rank = self.world[place as usize];
        let input = self.input_of(rank)?;
        let [output, error] = [false, true].map(|error| -> std::io::Result<OwnedFd> {
            let (read, write) = os::pipe()?;
            os::set_nonblocking(read.as_fd());
            self.pipes.push(Pipe { fd: Some(read), rank, error });
            Ok(write)
        });
        let (output, error) = (output?, error?);
        let memory = self.job.fd();
        let fd = memory.map_or(-1, |fd| fd.as_raw_fd());
        let position = Attachment { fd, job_id: self.job.id(), rank, size: self.part.size, appnum };
        let (connection, of_pmi) = self.pmi.add(appnum)?;
        let recorded = self.recordings.of_rank(place).map_err(Refusal::System)?;
        let handed_down: Vec<_> = memory.into_iter().chain([connection.as_fd()]).chain(recorded.files).collect();
        let (host, hosts) = self.part.host;
        let of_hosts = [
            (HOST_RANKS, mpi_observe::words::ranges(&self.world).replace(' ', "")),
            (HOSTS, format!("{host}/{hosts}")),
            (NET_SECRET, self.part.secret.clone()),
        ];
        let position = mpi_wireup::to_variables(&position).into_iter();
        let of_parent = child_job::variables(self.part.parent.as_deref());
        let variables: Vec<_> =
            position.chain(of_pmi).chain(recorded.variables).chain(of_hosts).chain(of_parent).collect();
        let own = Own {
            variables: &variables,
            stdio: Stdio { input: input.as_fd(), output: output.as_fd(), error: error.as_fd() },
            handed_down: &handed_down,
            core: self.core(place),
        };
        let program = self.plan.programs[appnum as usize].group.program.clone();
        template.start(&own).map_err(|error| match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => Refusal::System(error),
            _ => Refusal::Start(program, error),
        })
    }

    /// The standard input of a rank.
    pub(super) fn input_of(&mut self, rank: u32) -> std::io::Result<OwnedFd> {
        let (read, write) = os::pipe()?;
        if self.part.input == rank || self.part.input == self.part.size {
            os::set_nonblocking(write.as_fd());
            self.fed.push(Fed { pipe: Some(write), waiting: Vec::new() });
        }
        // Without a writer a rank reads the end of its input.
        Ok(read)
    }
}
