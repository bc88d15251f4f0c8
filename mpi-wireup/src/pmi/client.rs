//! A process's connection to the PMI-1 server of the launcher that started it.
//!
//! Invariant: one request is under way at a time, and every answer is checked before it is used. A launcher that does
//! not answer within the time limit, closes the connection, refuses or answers something else is an error that names
//! the command. Only a fence is waited for without a limit: it ends when the slowest process comes, or when the
//! launcher closes the connection.

use std::time::Duration;

use super::connection::{self, Connection, ConnectionError, our_link};
use super::spawn::{self, answer};
use super::wire::{Message, compose};
use crate::launcher::{KeyValueExchange, Launcher, LauncherError, Spawning};
use crate::spawn_request::SpawnRequest;
use crate::waiting;

/// The part of a bad answer that is quoted, in bytes.
const QUOTED: usize = 80;

/// How long a process that aborts waits for its end.
const ABORT_WAIT: Duration = Duration::from_secs(2);

/// How long a process that ends without finalising waits for the launcher.
const LEAVE_WAIT: Duration = Duration::from_secs(1);

/// The connection, after the first greeting.
pub struct Client {
    connection: Connection,
    /// How the user can find the launcher: a variable and its value.
    origin: String,
    limit: Duration,
    rank: u32,
    size: u32,
    /// Name of the job's key-value space.
    space: String,
    longest_value: usize,
    /// Whether it is a copy of the connection to our launcher, by which this process starts others too.
    shared: bool,
}

impl Client {
    fn new(connection: Connection, origin: String, limit: Duration, [rank, size]: [u32; 2], shared: bool) -> Client {
        Client { connection, origin, limit, rank, size, space: String::new(), longest_value: 0, shared }
    }

    /// Takes over the descriptor of `PMI_FD` and sends the first request.
    /// # Errors
    /// A sentence that names the variable.
    pub fn on_descriptor(fd: i32, rank: u32, size: u32, limit: Duration) -> Result<Client, LauncherError> {
        let origin = format!("PMI_FD is {fd}");
        let connection = Connection::from_descriptor(fd).map_err(|why| {
            LauncherError(format!(
                "a launcher serves PMI to this program ({origin}), but {why}; start the program with the launcher \
                 itself, or unset PMI_FD, PMI_RANK and PMI_SIZE to run alone"
            ))
        })?;
        Client::new(connection, origin, limit, [rank, size], false).greet()
    }

    /// Uses a copy of the descriptor of `PMI_FD`, which stays open, and sends the first request: for our own launcher, which uses
    /// the connection for other requests too.
    /// # Errors
    /// A sentence that names the variable.
    pub fn on_copy_of(fd: i32, rank: u32, size: u32, limit: Duration) -> Result<Client, LauncherError> {
        let origin = format!("PMI_FD is {fd}");
        let connection = Connection::duplicate(fd)
            .map_err(|why| LauncherError(format!("mpiexec serves PMI to this program ({origin}), but {why}")))?;
        Client::new(connection, origin, limit, [rank, size], true).greet()
    }

    /// Connects to the address that `PMI_PORT` names, sends `PMI_ID` and receives the rank.
    /// # Errors
    /// A sentence that names the variable.
    pub fn on_port(address: &str, id: u32, limit: Duration) -> Result<Client, LauncherError> {
        let origin = format!("PMI_PORT is {address}");
        let connection = Connection::to_address(address, limit).map_err(|error| {
            LauncherError(format!("the launcher that started this program ({origin}) cannot be reached: {error}"))
        })?;
        let mut client = Client::new(connection, origin, limit, [0, 1], false);
        client.introduce(&id.to_string())?;
        client.greet()
    }

    /// The exchange with which a port begins: three lines have the number of ranks, the rank and a debugging flag.
    fn introduce(&mut self, id: &str) -> Result<(), LauncherError> {
        self.request("initack", &[("pmiid", id)], "initack", |_| Ok(()))?;
        let (mut rank, mut size) = (None, None);
        for _ in 0..3 {
            let line = self.answer("initack", Some(self.limit))?;
            let message = self.parsed("initack", &line)?;
            rank = rank.or(message.number("rank"));
            size = size.or(message.number("size"));
        }
        match (rank, size) {
            (Some(rank), Some(size)) if rank < size => (self.rank, self.size) = (rank, size),
            _ => return Err(self.trouble("answers cmd=initack without a rank and a number of ranks above it")),
        }
        Ok(())
    }

    fn greet(mut self) -> Result<Client, LauncherError> {
        let version = [("pmi_version", "1"), ("pmi_subversion", "1")];
        let offered = self.request("init", &version, "response_to_init", |answer| {
            answer.number::<u32>("pmi_version").ok_or("names no version of PMI")
        })?;
        if offered != 1 {
            return Err(self.trouble(&format!("has version {offered} of PMI, this library version 1")));
        }
        self.longest_value = self.request("get_maxes", &[], "maxes", |answer| {
            answer.number("vallen_max").filter(|most| *most >= 64).ok_or("allows no values of 64 bytes")
        })?;
        self.space = self.request("get_my_kvsname", &[], "my_kvsname", |answer| {
            answer.get("kvsname").filter(|name| !name.is_empty()).map(str::to_owned).ok_or("names no key-value space")
        })?;
        Ok(self)
    }

    /// Sends one request; `read` returns the result from the answer, or the fault of the answer.
    fn request<T>(
        &mut self,
        command: &str,
        attributes: &[(&str, &str)],
        due: &str,
        read: impl FnOnce(&Message<'_>) -> Result<T, &'static str>,
    ) -> Result<T, LauncherError> {
        let line = self.answer_to(command, &compose(command, attributes))?;
        let answer = self.parsed(command, &line)?;
        if answer.command != due {
            return Err(self.bad(command, &line, &format!("it is not cmd={due}")));
        }
        if answer.get("rc").is_some_and(|code| code != "0") {
            let why = answer.get("msg").unwrap_or("it gives no reason");
            return Err(self.trouble(&format!("refuses cmd={command}: {}", quoted(why.as_bytes()))));
        }
        read(&answer).map_err(|wrong| self.trouble(wrong))
    }

    /// Sends the line of a request and receives the one that answers it.
    fn answer_to(&mut self, command: &str, line: &str) -> Result<Vec<u8>, LauncherError> {
        if !self.shared {
            return self.exchange(command, line, None);
        }
        let link = &mut *our_link();
        self.connection.swap_rest(link);
        let answer = self.exchange(command, line, Some(&mut link.ended));
        self.connection.swap_rest(link);
        answer
    }

    /// Sends a line and receives the answer. `ended`: takes the reports of spawned jobs that come between.
    fn exchange(
        &mut self,
        command: &str,
        line: &str,
        ended: Option<&mut Vec<String>>,
    ) -> Result<Vec<u8>, LauncherError> {
        self.connection.send(line.as_bytes(), self.limit).map_err(|failed| self.failed(command, failed))?;
        let mut answer =
            if command == "barrier_in" { self.wait_for_all(command)? } else { self.answer(command, Some(self.limit))? };
        let Some(ended) = ended else { return Ok(answer) };
        loop {
            match spawn::ended_job(&answer) {
                Some(name) => ended.push(name),
                // The answer to a request for which nobody waits any more.
                None if answer.starts_with(b"cmd=spawn_result") => {}
                None => return Ok(answer),
            }
            answer = self.answer(command, Some(self.limit))?;
        }
    }

    /// Waits for the other processes without a limit, and warns the user once.
    fn wait_for_all(&mut self, command: &str) -> Result<Vec<u8>, LauncherError> {
        match self.connection.line(Some(self.limit)) {
            Err(ConnectionError::Silent(limit)) => {
                waiting::warn(self.rank, self.size, limit, &self.origin);
                self.answer(command, None)
            }
            other => other.map_err(|failed| self.failed(command, failed)),
        }
    }

    fn answer(&mut self, command: &str, limit: Option<Duration>) -> Result<Vec<u8>, LauncherError> {
        self.connection.line(limit).map_err(|failed| self.failed(command, failed))
    }

    fn parsed<'a>(&self, command: &str, line: &'a [u8]) -> Result<Message<'a>, LauncherError> {
        Message::parse(line).map_err(|malformed| self.bad(command, line, &malformed.to_string()))
    }

    fn failed(&self, command: &str, failed: ConnectionError) -> LauncherError {
        self.trouble(&match failed {
            ConnectionError::Silent(limit) => {
                format!("does not answer cmd={command} within {} seconds", limit.as_secs_f32())
            }
            ConnectionError::Closed => format!("closed the connection instead of answering cmd={command}"),
            ConnectionError::TooLong => format!("answers cmd={command} with a line that does not end"),
            ConnectionError::System(error) => format!("cannot be sent cmd={command}: {error}"),
        })
    }

    fn bad(&self, command: &str, line: &[u8], why: &str) -> LauncherError {
        self.trouble(&format!("answers cmd={command} with {}, which is no answer of PMI-1: {why}", quoted(line)))
    }

    fn trouble(&self, what: &str) -> LauncherError {
        LauncherError(format!("the launcher that started this program ({}) {what}", self.origin))
    }
}

impl Launcher for Client {
    fn finalize(&mut self) -> Result<(), LauncherError> {
        self.request("finalize", &[], "finalize_ack", |_| Ok(()))
    }

    fn spawn(&mut self, request: &SpawnRequest) -> Result<Spawning, LauncherError> {
        let lines = request.to_lines(false).map_err(|bad| LauncherError(bad.to_string()))?;
        self.connection.send(lines.as_bytes(), self.limit).map_err(|failed| self.failed("spawn", failed))?;
        let line = self.answer("spawn", Some(self.limit))?;
        let (result, _) = answer(&line, request.processes()).map_err(|why| self.bad("spawn", &line, &why))?;
        Ok(Box::new(|| Ok(result)))
    }

    fn leave(&mut self) {
        self.connection.end();
        // Nothing comes but the end of the other direction, when the launcher has seen that of this one.
        while self.connection.line(Some(LEAVE_WAIT)).is_ok() {}
    }

    fn abort(&mut self, code: i32) {
        let line = compose("abort", &[("exitcode", &code.to_string())]);
        if self.connection.send(line.as_bytes(), ABORT_WAIT).is_ok() {
            // No answer comes. The launcher ends this process, or closes the connection.
            let _ = self.connection.line(Some(ABORT_WAIT));
        }
    }
}

impl KeyValueExchange for Client {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn program(&mut self) -> Result<u32, LauncherError> {
        // Slurm answers -1: a job has one program.
        self.request("get_appnum", &[], "appnum", |answer| Ok(answer.number("appnum").unwrap_or(0)))
    }

    fn longest_value(&self) -> usize {
        self.longest_value
    }

    fn put(&mut self, key: &str, value: &str) -> Result<(), LauncherError> {
        let space = self.space.clone();
        self.request("put", &[("kvsname", &space), ("key", key), ("value", value)], "put_result", |_| Ok(()))
    }

    fn get(&mut self, _: u32, key: &str) -> Result<Option<String>, LauncherError> {
        let line = compose("get", &[("kvsname", &self.space), ("key", key)]);
        let line = self.answer_to("get", &line)?;
        let answer = self.parsed("get", &line)?;
        if answer.command != "get_result" {
            return Err(self.bad("get", &line, "it is not cmd=get_result"));
        }
        // Servers report a missing key in several ways, and no failure has another reason.
        let found = answer.get("rc").is_none_or(|code| code == "0") && answer.get("found") != Some("FALSE");
        match answer.get("value") {
            Some(value) if found => Ok(Some(value.to_owned())),
            None if found => Err(self.bad("get", &line, "it has no value")),
            _ => Ok(None),
        }
    }

    fn fence(&mut self) -> Result<(), LauncherError> {
        self.request("barrier_in", &[], "barrier_out", |_| Ok(()))
    }
}

/// The first bytes of a line, safe to print.
fn quoted(bytes: &[u8]) -> String {
    let cut = bytes.len() > QUOTED;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(QUOTED)]).trim_end().escape_debug().to_string();
    format!("\"{text}{}\"", if cut { "..." } else { "" })
}

/// Whether a descriptor is a stream connection of this process.
pub fn is_connection(fd: i32) -> bool {
    connection::check(fd).is_ok()
}

#[cfg(test)]
mod tests;
