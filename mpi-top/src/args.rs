//! The command line.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use mpi_observe::words;

/// What is to be done.
pub enum Command {
    /// Print the jobs.
    List {
        /// As JSON.
        json: bool,
    },
    /// Print the ranks of a job.
    Once {
        /// The job.
        job: Option<String>,
        /// As JSON.
        json: bool,
        /// The time over which rates are measured.
        interval: Duration,
    },
    /// Print who waits for whom, and why.
    Why {
        /// The job.
        job: Option<String>,
        /// As JSON.
        json: bool,
    },
    /// Write the last calls with their times.
    Timeline {
        /// The job.
        job: Option<String>,
        /// The file.
        file: PathBuf,
    },
    /// Print metrics.
    Metrics {
        /// The job; none: all.
        job: Option<String>,
    },
    /// Serve metrics.
    Serve {
        /// The job; none: all.
        job: Option<String>,
        /// Where.
        address: SocketAddr,
    },
    /// The live view.
    Screen {
        /// The job; none: the only one, or the list.
        job: Option<String>,
        /// The time between two refreshes.
        interval: Duration,
    },
}

/// Shows what the ranks of a running MPI job do: on a terminal, live; or once as text or JSON; or as metrics.
///
/// JOB is the process id of mpiexec or of a rank, or the first digits of the job's number (--list shows both). It may be
/// left out where only one job of yours runs on this machine.
#[derive(Parser)]
#[command(name = "mpitop", version = concat!("(Ferrum MPI) ", env!("CARGO_PKG_VERSION")), after_help = KEYS)]
struct Options {
    /// Process id of mpiexec or of a rank, or the job's number
    job: Option<String>,
    /// Print your jobs on this machine, and end
    #[arg(long, conflicts_with_all = ["job", "once", "openmetrics"])]
    list: bool,
    /// Print the ranks once, and end
    #[arg(long, conflicts_with = "openmetrics")]
    once: bool,
    /// Print why the job makes no progress: who waits for whom
    #[arg(long, conflicts_with_all = ["once", "openmetrics", "list"])]
    why: bool,
    /// Write the times of the last calls to this file, for ui.perfetto.dev; the job needs fabric_recorder_times=on
    #[arg(long, value_name = "FILE", conflicts_with_all = ["once", "openmetrics", "list", "why", "json"])]
    timeline: Option<PathBuf>,
    /// With --once, --why or --list: print JSON
    #[arg(long)]
    json: bool,
    /// Print the metrics of the job, or of all your jobs, in the OpenMetrics format
    #[arg(long)]
    openmetrics: bool,
    /// With --openmetrics: serve them over HTTP at /metrics instead; a port alone is on the loopback interface
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "9464", requires = "openmetrics", value_parser = address)]
    listen: Option<SocketAddr>,
    /// Seconds between two refreshes, or over which --once measures rates
    #[arg(long, value_name = "SECONDS", default_value = "0.25", value_parser = interval)]
    interval: Duration,
}

const KEYS: &str = "Keys of the live view:
  < >, left, right   sort by the next column; r reverses the order
  up, down, PgUp, PgDn, Home, End   move
  t                  a line for each further thread that is in a call
  j                  the list of jobs; Enter takes one
  q, Esc, Ctrl-C     end";

/// Reads the command line; ends the process where it is wrong, or requests a text.
pub fn parse() -> Command {
    read(std::env::args_os()).unwrap_or_else(|error| match error.use_stderr() {
        true => {
            eprint!("{}", words::usage_error("mpitop", &error.to_string()));
            std::process::exit(error.exit_code())
        }
        false => error.exit(),
    })
}

fn read(words: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let options = Options::try_parse_from(words)?;
    if options.json && !options.once && !options.why && !options.list {
        let sentence = "--json needs --once, --why or --list\n";
        return Err(clap::Error::raw(clap::error::ErrorKind::MissingRequiredArgument, sentence));
    }
    let Options { job, json, interval, .. } = options;
    Ok(match options {
        _ if options.list => Command::List { json },
        Options { timeline: Some(file), .. } => Command::Timeline { job, file },
        _ if options.why => Command::Why { job, json },
        _ if options.once => Command::Once { job, json, interval },
        Options { listen: Some(address), .. } => Command::Serve { job, address },
        _ if options.openmetrics => Command::Metrics { job },
        _ => Command::Screen { job, interval },
    })
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let port = text.strip_prefix("localhost:").unwrap_or(text).parse().map(loopback);
    port.or_else(|_| text.parse())
        .map_err(|_| "it is a port, as 9464, or an address with one, as 127.0.0.1:9464".to_owned())
}

fn interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is a number of seconds".to_owned())?;
    match (0.05..=3600.0).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("it is from 0.05 to 3600 seconds".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_the_loopback_interface() {
        assert_eq!(address("9464").unwrap().to_string(), "127.0.0.1:9464");
        assert_eq!(address("localhost:80").unwrap().to_string(), "127.0.0.1:80");
        assert_eq!(address("[::1]:80").unwrap().to_string(), "[::1]:80");
        assert!(address("metrics").is_err() && address("65536").is_err());
        assert!(interval("0").is_err() && interval("nan").is_err() && interval("0.25").is_ok());
    }
}
