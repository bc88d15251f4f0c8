//! The live view: the terminal, the keys, and which of the two screens is shown.
//!
//! Invariant: the terminal is as it was when the program ends, also by a signal or a panic. Between two refreshes the
//! program sleeps. Not here: what the screens show (`jobs_screen`, `ranks_screen`).

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mpi_observe::job_list;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::jobs_screen::JobsScreen;
use crate::ranks_screen::RanksScreen;
use crate::request::Request;

/// How often the list of jobs is read again: it looks at all processes.
const LIST_INTERVAL: Duration = Duration::from_secs(2);

/// Longer than the view takes to see a signal.
const GRACE: Duration = LIST_INTERVAL.saturating_add(Duration::from_secs(1));

/// What is shown.
enum Screen {
    Jobs(JobsScreen),
    Ranks(Box<RanksScreen>),
}

/// Runs the live view until a key ends it.
pub fn run(job: Option<&str>, interval: Duration) -> Result<(), String> {
    let mut screen = first(job)?;
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err("the live view needs a terminal; --once prints the same once, --once --json for programs".into());
    }
    let ended = Arc::new(AtomicBool::new(false));
    end_by_signals(ended.clone()).map_err(|error| format!("signals cannot be handled: {error}"))?;
    let mut terminal = ratatui::try_init().map_err(|error| format!("the terminal cannot be used: {error}"))?;
    let outcome = show(&mut terminal, &mut screen, interval, &ended);
    ratatui::restore();
    outcome.map_err(|error| format!("the terminal cannot be used: {error}"))
}

/// Sets the flag at a signal that ends the program. Reading from a terminal that is gone does not return, so after some time
/// the program ends without the view.
fn end_by_signals(ended: Arc<AtomicBool>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT])?;
    std::thread::spawn(move || {
        let signal = signals.forever().next().unwrap_or(SIGTERM);
        // Relaxed: the flag is all that is stored.
        ended.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        std::process::exit(128 + signal);
    });
    Ok(())
}

fn first(job: Option<&str>) -> Result<Screen, String> {
    if job.is_none() {
        let jobs = job_list::list().map_err(|error| format!("the processes cannot be listed: {error}"))?;
        if jobs.len() != 1 {
            return Ok(Screen::Jobs(JobsScreen::new(jobs)));
        }
    }
    Ok(Screen::Ranks(Box::new(RanksScreen::new(job_list::find(job)?))))
}

fn show(terminal: &mut DefaultTerminal, screen: &mut Screen, interval: Duration, ended: &AtomicBool) -> io::Result<()> {
    let mut last = Instant::now();
    // Relaxed: the flag is all that is stored.
    while !ended.load(Ordering::Relaxed) {
        terminal.draw(|frame| match screen {
            Screen::Jobs(jobs) => jobs.draw(frame),
            Screen::Ranks(ranks) => ranks.draw(frame),
        })?;
        let wait = match screen {
            Screen::Jobs(_) => LIST_INTERVAL,
            Screen::Ranks(_) => interval,
        };
        if !event::poll(wait.saturating_sub(last.elapsed()))? {
            last = Instant::now();
            match screen {
                Screen::Jobs(jobs) => jobs.refresh(),
                Screen::Ranks(ranks) => ranks.refresh(),
            }
            continue;
        }
        // Other events, such as a new size, are followed by a drawing.
        let Event::Key(key) = event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        if is_end(&key) {
            break;
        }
        let request = match screen {
            Screen::Jobs(jobs) => jobs.key(key.code),
            Screen::Ranks(ranks) => ranks.key(key.code),
        };
        match request {
            Request::None => {}
            Request::Jobs => *screen = Screen::Jobs(JobsScreen::new(job_list::list()?)),
            Request::Ranks(found) => *screen = Screen::Ranks(Box::new(RanksScreen::new(*found))),
        }
    }
    Ok(())
}

fn is_end(key: &KeyEvent) -> bool {
    matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
        || key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}
