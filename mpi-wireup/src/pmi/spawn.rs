//! The request of a process to start further ones, as PMI-1 has it: one block of lines `key=value` for each program,
//! from `mcmd=spawn` to `endcmd`; and the answer, one line.
//!
//! Values of our own processes are escaped, so that arguments may hold any byte; a line `escaped=1` states that. Other
//! libraries and launchers do not know the line, and have no line ends in values.
//!
//! Invariant: a parsed request has at least one program, and each has at least one process. The limits of this module
//! bound what a request can make its reader store.
//! Not here: the request itself (`spawn_request`), who sends requests (`spawner`), starting the processes (`mpi-launch`).

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::wire::Message;
use crate::spawn_request::{MOST_PROCESSES, SpawnProgram, SpawnRequest, SpawnResult};

/// First line of each program's block.
pub const BEGIN: &str = "mcmd=spawn";
/// Last line of each program's block.
pub const END: &str = "endcmd";
/// The line of our own processes.
const ESCAPED: &str = "escaped=1";

/// Longest line of a block, in bytes: that of the longest argument that the kernel accepts, escaped.
pub const LONGEST_LINE: usize = 3 * (128 << 10) + 64;
/// Longest reason in an answer, in characters, so that the answer is no longer than a line may be.
const LONGEST_REASON: usize = 1000;
/// Most bytes of all lines of a request.
const MOST_BYTES: usize = 16 << 20;
/// Most programs, and most arguments or keys of a program.
const MOST_ITEMS: usize = 1 << 16;

/// Why lines are no request. `Display` ends a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// A line is missing, or its value cannot be understood.
    #[error("{0} is missing or has a bad value")]
    Bad(String),
    /// More lines or bytes than a request may have.
    #[error("it is too long")]
    TooLong,
    /// A value that the launcher's protocol cannot carry.
    #[error("the launcher cannot be given {0:?}: values must be text without line ends there")]
    NotText(OsString),
}

impl SpawnRequest {
    /// The lines, one block after the other. `escaped`: for our own `mpiexec`.
    /// # Errors
    /// [`BadRequest::NotText`], if the values are not escaped and one is no text, or has a line end.
    pub fn to_lines(&self, escaped: bool) -> Result<String, BadRequest> {
        let mut lines = String::new();
        for (number, program) in self.programs.iter().enumerate() {
            let mut line = |key: &str, value: &OsStr| -> Result<(), BadRequest> {
                let value = if escaped { escape(value) } else { plain(value)?.to_owned() };
                // Writing to a string cannot fail.
                let _ = writeln!(lines, "{key}={value}");
                Ok(())
            };
            let text = |number: usize| OsString::from(number.to_string());
            line("mcmd", OsStr::new("spawn"))?;
            if escaped {
                line("escaped", OsStr::new("1"))?;
            }
            line("nprocs", &text(program.processes as usize))?;
            line("execname", &program.program)?;
            line("totspawns", &text(self.programs.len()))?;
            line("spawnssofar", &text(number + 1))?;
            for (i, argument) in program.arguments.iter().enumerate() {
                line(&format!("arg{}", i + 1), argument)?;
            }
            line("argcnt", &text(program.arguments.len()))?;
            line("preput_num", &text(self.values.len()))?;
            for (i, (key, value)) in self.values.iter().enumerate() {
                line(&format!("preput_key_{i}"), OsStr::new(key))?;
                line(&format!("preput_val_{i}"), OsStr::new(value))?;
            }
            line("info_num", &text(program.info.len()))?;
            for (i, (key, value)) in program.info.iter().enumerate() {
                line(&format!("info_key_{i}"), OsStr::new(key))?;
                line(&format!("info_val_{i}"), value)?;
            }
            lines.push_str(END);
            lines.push('\n');
        }
        Ok(lines)
    }
}

/// Collects the lines of a request.
#[derive(Debug, Default)]
pub struct Collector {
    request: SpawnRequest,
    /// The lines of the block that is being read: keys and values.
    block: Option<Vec<(String, OsString)>>,
    escaped: bool,
    bytes: usize,
    bad: Option<BadRequest>,
}

/// A whole request, or why it is none; and whether its process is one of ours.
#[derive(Debug, PartialEq, Eq)]
pub struct Collected {
    /// The request.
    pub request: Result<SpawnRequest, BadRequest>,
    /// Whether its values were escaped.
    pub ours: bool,
}

impl Collector {
    /// Whether a block has begun and not ended, so that the next line belongs to it.
    pub fn in_block(&self) -> bool {
        self.block.is_some()
    }

    /// Begins a block.
    pub fn begin(&mut self) {
        self.block = Some(Vec::new());
    }

    /// Takes a line of the current block without its line end; the request, if that was the last line.
    pub fn line(&mut self, line: &[u8]) -> Option<Collected> {
        if line != END.as_bytes() {
            self.add(line);
            return None;
        }
        let block = self.block.take().unwrap_or_default();
        let last = match self.bad.is_none().then(|| self.end(&block)) {
            Some(Ok(last)) => last,
            Some(Err(bad)) => {
                self.bad = Some(bad);
                is_last(&block)
            }
            None => is_last(&block),
        };
        if !last {
            return None;
        }
        let whole = std::mem::take(self);
        Some(Collected { request: whole.bad.map_or(Ok(whole.request), Err), ours: whole.escaped })
    }

    /// Records that a line of the current block was too long to be read.
    pub fn overlong(&mut self) {
        self.bad.get_or_insert(BadRequest::TooLong);
    }

    fn add(&mut self, line: &[u8]) {
        self.bytes = self.bytes.saturating_add(line.len());
        let Some(block) = &mut self.block else { return };
        if self.bad.is_none() && (self.bytes > MOST_BYTES || block.len() > 4 * MOST_ITEMS) {
            // The keys that end the request are still read.
            self.bad = Some(BadRequest::TooLong);
            block.retain(|(key, _)| is_counter(key));
        }
        if line == ESCAPED.as_bytes() {
            self.escaped = true;
            return;
        }
        let at = line.iter().position(|byte| *byte == b'=').unwrap_or(line.len());
        let key = String::from_utf8_lossy(&line[..at]).into_owned();
        if self.bad.is_some() {
            // Of the keys that end the request the last ones count.
            block.retain(|(own, _)| *own != key);
            if !is_counter(&key) || line.len() > 40 {
                return;
            }
        }
        let value = line.get(at + 1..).unwrap_or_default();
        let value = if self.escaped { unescape(value) } else { Some(value.to_vec()) };
        match value {
            Some(value) => block.push((key, OsString::from_vec(value))),
            None => self.bad = Some(BadRequest::Bad(key)),
        }
    }

    /// Adds the program of a block; returns whether it is the last.
    fn end(&mut self, block: &[(String, OsString)]) -> Result<bool, BadRequest> {
        let bad = |key: &str| BadRequest::Bad(key.to_owned());
        // Servers must not search thousands of lines for each key.
        let mut sorted: Vec<(&str, &OsStr)> = block.iter().map(|(key, value)| (&**key, &**value)).collect();
        sorted.sort_by_key(|(key, _)| *key);
        let get = |key: &str| {
            let at = sorted.partition_point(|(own, _)| *own < key);
            sorted.get(at).filter(|(own, _)| *own == key).map(|(_, value)| *value)
        };
        let number = |key: &str| get(key).and_then(|value| value.to_str()?.parse::<u32>().ok());
        let count = |key: &str| match get(key) {
            None => Ok(0),
            Some(_) => number(key).filter(|n| *n as usize <= MOST_ITEMS).ok_or_else(|| bad(key)),
        };
        let text = |key: String| {
            let value = get(&key).and_then(|value| value.to_str().map(str::to_owned));
            value.ok_or(BadRequest::Bad(key))
        };
        let processes = number("nprocs").filter(|n| *n > 0).ok_or_else(|| bad("nprocs"))?;
        let before: u64 = self.request.programs.iter().map(|program| u64::from(program.processes)).sum();
        if before + u64::from(processes) > MOST_PROCESSES {
            return Err(bad("nprocs"));
        }
        let program = get("execname").filter(|name| !name.is_empty()).ok_or_else(|| bad("execname"))?;
        let argument = |i| {
            let key = format!("arg{i}");
            get(&key).map(OsStr::to_owned).ok_or(BadRequest::Bad(key))
        };
        let arguments = (1..=count("argcnt")?).map(argument).collect::<Result<_, _>>()?;
        let info = |i| {
            let key = format!("info_val_{i}");
            let value = get(&key).map(OsStr::to_owned).ok_or(BadRequest::Bad(key))?;
            Ok((text(format!("info_key_{i}"))?, value))
        };
        let info = (0..count("info_num")?).map(info).collect::<Result<_, BadRequest>>()?;
        let put = |i| Ok((text(format!("preput_key_{i}"))?, text(format!("preput_val_{i}"))?));
        let values: Vec<_> = (0..count("preput_num")?).map(put).collect::<Result<_, BadRequest>>()?;
        if self.request.programs.is_empty() {
            self.request.values = values;
        }
        self.request.programs.push(SpawnProgram { processes, program: program.to_owned(), arguments, info });
        let all = get("totspawns").map_or(Some(1), |_| number("totspawns"));
        let all = all.filter(|n| (1..=MOST_ITEMS as u32).contains(n)).ok_or_else(|| bad("totspawns"))?;
        Ok(self.request.programs.len() >= all as usize)
    }
}

/// Whether a key decides which block is the last.
fn is_counter(key: &str) -> bool {
    key == "totspawns" || key == "spawnssofar"
}

/// Whether a block is the last of its request, by its own counters; a block without them is.
fn is_last(block: &[(String, OsString)]) -> bool {
    let get = |name: &str| block.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.to_str());
    let number = |name: &str| get(name).and_then(|value| value.parse::<u32>().ok());
    number("totspawns").zip(number("spawnssofar")).is_none_or(|(all, so_far)| so_far >= all)
}

impl SpawnResult {
    /// The line, with its line end. `number`: that of the new job.
    pub fn to_line(&self, number: &str) -> String {
        let code = if self.reason.is_empty() { 0 } else { -1 };
        let codes: Vec<&str> = self.started.iter().map(|started| if *started { "0" } else { "1" }).collect();
        // If all or none were started, the result has that already.
        let codes = if self.started.contains(&true) && self.started.contains(&false) { codes } else { Vec::new() };
        let mut line = format!("cmd=spawn_result rc={code} jobid={number} nerrs={}", self.started.len());
        if !codes.is_empty() {
            let _ = write!(line, " errcodes={}", codes.join(","));
        }
        if !self.reason.is_empty() {
            let cut: String = self.reason.chars().take(LONGEST_REASON).collect();
            let _ = write!(line, " msg={}", escape(OsStr::new(&cut)));
        }
        line.push('\n');
        line
    }
}

/// The result in an answer for so many processes, and the number of the new job.
/// # Errors
/// Why it is no answer; ends a sentence.
pub fn answer(line: &[u8], processes: usize) -> Result<(SpawnResult, String), String> {
    let message = Message::parse(line).map_err(|malformed| malformed.to_string())?;
    if message.command != "spawn_result" {
        return Err("it is not cmd=spawn_result".into());
    }
    let failed = message.get("rc").is_some_and(|code| code != "0");
    let why = message.get("msg").map(reason).filter(|why| !why.is_empty());
    let codes = message.get("errcodes").map(|codes| codes.split(',').map(|code| code == "0").collect::<Vec<_>>());
    let started = match codes.filter(|codes| codes.len() == processes) {
        Some(codes) => codes,
        None => vec![!failed; processes],
    };
    let reason = if failed { why.unwrap_or_else(|| "the launcher gives no reason".into()) } else { String::new() };
    Ok((SpawnResult { started, reason }, message.get("jobid").unwrap_or_default().to_owned()))
}

/// The job that has ended, if a line informs of one.
pub fn ended_job(line: &[u8]) -> Option<String> {
    let message = Message::parse(line).ok().filter(|message| message.command == "spawned_ended")?;
    message.get("jobid").map(str::to_owned)
}

/// The line of a process without a launcher to the `mpiexec` that it started: it will end without a failure.
pub const FINALIZED: &str = "finalized";

/// The line that informs a process of this library that a job which it spawned has ended.
pub fn ended_line(number: &str) -> String {
    format!("cmd=spawned_ended jobid={number}\n")
}

/// The reason in an answer, as a sentence: our `mpiexec` escapes blanks, others write `_`.
pub fn reason(msg: &str) -> String {
    match unescape(msg.as_bytes()) {
        Some(bytes) if msg.contains('%') => String::from_utf8_lossy(&bytes).into_owned(),
        _ => msg.replace('_', " "),
    }
}

/// A value that needs no escapes.
fn plain(value: &OsStr) -> Result<&str, BadRequest> {
    let text = value.to_str().filter(|text| !text.contains(['\n', '\r', '\0']));
    text.ok_or_else(|| BadRequest::NotText(value.to_owned()))
}

/// Printable text without blanks: all else, and `%`, as `%` and two hexadecimal digits.
fn escape(value: &OsStr) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.as_bytes() {
        match byte {
            b'!'..=b'~' if *byte != b'%' && *byte != b'\\' => text.push(char::from(*byte)),
            other => {
                let _ = write!(text, "%{other:02x}");
            }
        }
    }
    text
}

/// The value of an escaped text; `None` if a `%` has no two digits behind it.
fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn_request::PARENT_PORT;
    use proptest::prelude::*;

    fn collect(lines: &[u8]) -> Option<Collected> {
        let mut collector = Collector::default();
        let mut found = None;
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            assert!(found.is_none(), "lines follow the last block");
            if collector.in_block() {
                found = collector.line(line);
            } else {
                assert!(line.starts_with(b"mcmd="));
                collector.begin();
            }
        }
        found
    }

    fn program() -> impl Strategy<Value = SpawnProgram> {
        let word = prop::collection::vec(1u8..=255, 1..20).prop_map(OsString::from_vec);
        let words = prop::collection::vec(prop::collection::vec(1u8..=255, 0..20).prop_map(OsString::from_vec), 0..4);
        let info = prop::collection::vec(("[a-z_]{1,9}", word.clone()), 0..3);
        (1u32..5000, word, words, info).prop_map(|(processes, program, arguments, info)| SpawnProgram {
            processes,
            program,
            arguments,
            info,
        })
    }

    proptest! {
        #[test]
        fn a_request_is_read_as_it_was_written(programs in prop::collection::vec(program(), 1..4)) {
            let request = SpawnRequest { programs, values: vec![(PARENT_PORT.into(), "a b".into())] };
            let lines = request.to_lines(true).unwrap();
            prop_assert_eq!(collect(lines.as_bytes()), Some(Collected { request: Ok(request), ours: true }));
        }

        #[test]
        fn any_lines_are_a_request_or_an_error(lines in "(mcmd=spawn\n((nprocs|argcnt|totspawns|execname|arg1|info_num|preput_num)=[0-9]{1,12}\n){0,7}endcmd\n)") {
            let _ = collect(lines.as_bytes());
        }
    }

    #[test]
    fn the_blocks_of_another_library_are_understood() {
        let lines = "mcmd=spawn\nnprocs=2\nexecname=./a b\ntotspawns=2\nspawnssofar=1\narg1=x y\nargcnt=1\npreput_num=1\n\
                     preput_key_0=PARENT_ROOT_PORT_NAME\npreput_val_0=tag#0$\ninfo_num=0\nendcmd\n\
                     mcmd=spawn\nnprocs=1\nexecname=b\ntotspawns=2\nspawnssofar=2\nargcnt=0\npreput_num=0\ninfo_num=1\n\
                     info_key_0=wdir\ninfo_val_0=/tmp\nendcmd\n";
        let Some(Collected { request: Ok(request), ours: false }) = collect(lines.as_bytes()) else {
            panic!("not understood")
        };
        assert_eq!((request.processes(), request.programs.len()), (3, 2));
        assert_eq!(
            (&*request.programs[0].program, &*request.programs[0].arguments),
            (OsStr::new("./a b"), &["x y".into()][..])
        );
        assert_eq!(request.programs[1].info, [("wdir".to_owned(), "/tmp".into())]);
        assert_eq!(request.value(PARENT_PORT), Some("tag#0$"));
        assert_eq!(request.to_lines(false).map(|text| collect(text.as_bytes()).is_some()), Ok(true));
    }

    #[test]
    fn a_bad_block_refuses_the_whole_request_at_its_end() {
        let first = "mcmd=spawn\nnprocs=0\nexecname=a\ntotspawns=2\nspawnssofar=1\nendcmd\n";
        assert_eq!(collect(first.as_bytes()), None);
        let both = format!("{first}mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=2\nspawnssofar=2\nendcmd\n");
        let bad = Some(Collected { request: Err(BadRequest::Bad("nprocs".into())), ours: false });
        assert_eq!(collect(both.as_bytes()), bad);
        let missing = collect(b"mcmd=spawn\nnprocs=1\nexecname=a\nargcnt=2\narg1=x\nendcmd\n");
        assert_eq!(missing.map(|found| found.request), Some(Err(BadRequest::Bad("arg2".into()))));
    }

    #[test]
    fn a_line_end_is_refused_where_values_are_not_escaped() {
        let program = SpawnProgram { processes: 1, program: "a\nb".into(), ..SpawnProgram::default() };
        let request = SpawnRequest { programs: vec![program], values: Vec::new() };
        assert_eq!(request.to_lines(false), Err(BadRequest::NotText("a\nb".into())));
        assert!(request.to_lines(true).is_ok());
    }

    #[test]
    fn answers_of_other_launchers_are_understood() {
        let result = |line: &[u8]| answer(line, 2).map(|(result, _)| result);
        let all = SpawnResult { started: vec![true, true], reason: String::new() };
        assert_eq!(result(b"cmd=spawn_result rc=0\n"), Ok(all));
        let none = SpawnResult { started: vec![false, false], reason: "no such file".into() };
        assert_eq!(result(b"cmd=spawn_result rc=-1 msg=no_such_file\n"), Ok(none));
        assert!(result(b"cmd=put_result rc=0\n").is_err() && result(b"\xff\n").is_err());
        assert_eq!(ended_job(ended_line("2.1").as_bytes()).as_deref(), Some("2.1"));
    }

    #[test]
    fn an_answer_is_one_line() {
        let result = SpawnResult { started: vec![false, false], reason: "program \"x y\" is not found".into() };
        let line = result.to_line("2");
        assert_eq!(answer(line.as_bytes(), 2), Ok((result, "2".into())));
        assert_eq!(reason("no_such_file"), "no such file");
    }
}
