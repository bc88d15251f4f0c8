//! The ranks of one job: a table that is sorted by a column, and the totals above it.
//!
//! Invariant: a refresh costs about a microsecond for each rank; what the system reports of processes is read for a part
//! of the ranks at a time, because it costs ten. Not here: the rows (`rows`).

use std::time::Duration;

use mpi_fabric::job::HostRanks;
use mpi_observe::job_list::{FoundJob, id_text};
use mpi_observe::process::{self, ProcessFacts};
use mpi_observe::sample::{Sample, Sampler};
use mpi_observe::words::{amount, bytes, counted, elsewhere};
use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Row as Line1, Table};

use crate::fit;
use crate::metrics;
use crate::request::Request;
use crate::rows::{self, COLUMNS, Column, Row};

/// Processes that are read at each refresh.
const PROCESSES_AT_ONCE: usize = 32;
/// Refreshes between two looks whether the job runs.
const LOOK: u32 = 8;

/// What is shown when the job has ended.
const ENDED: &str = "THE JOB HAS ENDED. Below: the state in which each rank ended, and its last call";
/// The keys.
const HELP: [&str; 5] = ["left, right: sort", "r: reverse", "j: jobs", "t: threads", "q: end"];

/// The table.
pub struct RanksScreen {
    found: FoundJob,
    hosts: Vec<HostRanks>,
    sampler: Sampler,
    before: Sample,
    processes: Vec<Option<ProcessFacts>>,
    /// The first process that is read at the next refresh.
    next_process: usize,
    rows: Vec<Row>,
    /// The column by which rows are sorted: its place.
    sorted_by: usize,
    reversed: bool,
    shows_threads: bool,
    /// Rows above the first one that is shown.
    above: usize,
    /// Rows that fit.
    height: usize,
    refreshes: u32,
    runs: bool,
}

/// The line above a table of ranks.
pub fn title(found: &FoundJob) -> String {
    let view = found.job.view();
    let elsewhere = elsewhere(&view.hosts(), view.ranks()).map_or(String::new(), |text| format!(" ({text})"));
    let (of, cores) = (counted(view.ranks(), "rank"), counted(view.cores(), "core"));
    format!("job {}, {of} on {cores}{elsewhere}, process {}: {}", id_text(view.id()), found.pid, found.command.clone())
}

impl RanksScreen {
    /// The ranks of a job.
    pub fn new(found: FoundJob) -> RanksScreen {
        let mut sampler = Sampler::new();
        let before = sampler.take(found.job.view());
        let processes: Vec<_> = before.ranks.iter().map(|rank| process::facts(rank.pid)).collect();
        // The first screen comes at once, with rates of the time that this takes.
        std::thread::sleep(Duration::from_millis(50));
        let mut screen = RanksScreen {
            hosts: found.job.view().hosts(),
            found,
            sampler,
            before,
            processes,
            next_process: 0,
            rows: Vec::new(),
            sorted_by: 0,
            reversed: false,
            shows_threads: true,
            above: 0,
            height: 1,
            refreshes: 0,
            runs: true,
        };
        screen.refresh();
        screen
    }

    /// Takes a sample. When the job has ended, its last state stays.
    pub fn refresh(&mut self) {
        if !self.runs {
            return;
        }
        let now = self.sampler.take(self.found.job.view());
        if self.hosts.is_empty() {
            // They are recorded a moment after the memory is made.
            self.hosts = self.found.job.view().hosts();
        }
        let ranks = now.ranks.len();
        for i in 0..PROCESSES_AT_ONCE.min(ranks) {
            let rank = (self.next_process + i) % ranks;
            self.processes[rank] = process::facts(now.ranks[rank].pid);
        }
        self.next_process = (self.next_process + PROCESSES_AT_ONCE) % ranks.max(1);
        self.rows = rows::rows(&self.before, &now, &self.processes, &self.hosts);
        self.before = now;
        self.sort();
        self.refreshes = self.refreshes.wrapping_add(1);
        let all_are_gone = self.rows.iter().all(|row| matches!(row.state, "ended" | "lost"));
        if (all_are_gone || self.refreshes.is_multiple_of(LOOK)) && !metrics::runs(&self.found) {
            self.keep_last_state();
        }
    }

    /// The job has ended: process ids may be of other processes from now on.
    fn keep_last_state(&mut self) {
        self.runs = false;
        self.processes.fill(None);
        let last = self.sampler.take(self.found.job.view());
        self.rows = rows::rows(&last, &last, &self.processes, &self.hosts);
        self.sort();
    }

    fn sort(&mut self) {
        rows::sort(&mut self.rows, COLUMNS[self.sorted_by].0, self.reversed);
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyCode) -> Request {
        let columns = COLUMNS.len();
        let page = self.height.saturating_sub(1).max(1);
        match key {
            KeyCode::Char('>') | KeyCode::Right => self.sorted_by = (self.sorted_by + 1) % columns,
            KeyCode::Char('<') | KeyCode::Left => self.sorted_by = (self.sorted_by + columns - 1) % columns,
            KeyCode::Char('r') => self.reversed = !self.reversed,
            KeyCode::Char('t') => self.shows_threads = !self.shows_threads,
            KeyCode::Char('j') => return Request::Jobs,
            KeyCode::Up => self.above = self.above.saturating_sub(1),
            KeyCode::Down => self.above += 1,
            KeyCode::PageUp => self.above = self.above.saturating_sub(page),
            KeyCode::PageDown => self.above += page,
            KeyCode::Home => self.above = 0,
            KeyCode::End => self.above = usize::MAX,
            _ => {}
        }
        self.sort();
        Request::None
    }

    /// Draws the table.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let [title, totals, body, keys] =
            Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
                .areas(frame.area());
        let width = frame.area().width;
        let of_job = fit::words(&self::title(&self.found), width);
        frame.render_widget(Line::from(of_job).style(Modifier::BOLD), title);
        let second = match self.runs {
            true => Line::from(self.totals(width)),
            false => Line::from(fit::words(ENDED, width)).style(Modifier::REVERSED),
        };
        frame.render_widget(second, totals);
        self.draw_table(frame, body);
        frame.render_widget(Line::from(fit::items(&HELP, "   ", width)), keys);
    }

    /// What all ranks do together: the states, and the rates as far as they fit.
    fn totals(&self, width: u16) -> String {
        let sum = |value: fn(&Row) -> f64| self.rows.iter().map(value).sum::<f64>();
        let mut states: Vec<(&str, usize)> = Vec::new();
        for row in &self.rows {
            match states.iter_mut().find(|(state, _)| *state == row.state) {
                Some((_, count)) => *count += 1,
                None => states.push((row.state, 1)),
            }
        }
        states.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let states: Vec<String> = states.iter().map(|(state, count)| format!("{count} {state}")).collect();
        let waiting = 100.0 * sum(|row| row.rates.waiting) / self.rows.len().max(1) as f64;
        let parts = [
            format!("{} messages/s", amount(sum(|row| row.rates.messages_sent).round())),
            format!("{}/s", bytes(sum(|row| row.rates.bytes_sent).round())),
            format!("waiting {waiting:.0} %"),
            format!("{} collectives/s", amount(sum(|row| row.rates.collective_calls).round())),
            states.join(", "),
        ];
        fit::words(&fit::items(&parts.each_ref().map(String::as_str), "  ", width), width)
    }

    fn draw_table(&mut self, frame: &mut Frame<'_>, area: Rect) {
        self.height = usize::from(area.height.saturating_sub(1));
        self.above = self.above.min(self.rows.len().saturating_sub(self.height.max(1)));
        let columns = fit::columns(area.width, COLUMNS[self.sorted_by].0);
        let calls = columns.iter().find(|(column, ..)| *column == Column::Call).map(|(.., width)| *width);
        let mut lines = Vec::new();
        for row in self.rows.iter().skip(self.above).take(self.height) {
            let cells = columns.iter().map(|(column, _, width)| match column {
                Column::Call => cell(*column, fit::words(&row.cell(*column), *width)),
                _ => cell(*column, row.cell(*column)),
            });
            lines.push(Line1::new(cells).style(style(row)));
            let Some(width) = calls else { continue };
            for call in row.other_calls.iter().filter(|_| self.shows_threads) {
                let mut cells = vec![Cell::default(); columns.len() - 1];
                cells.push(Cell::from(fit::words(&format!("another thread: {}", call.describe()), width)));
                lines.push(Line1::new(cells));
            }
        }
        let widths: Vec<Constraint> = columns.iter().map(|(.., width)| Constraint::Length(*width)).collect();
        let titles = columns.iter().map(|(column, title, _)| {
            let cell = cell(*column, (*title).to_owned());
            // The column by which rows are sorted is marked also where a terminal has no colours.
            let mark = Modifier::BOLD | Modifier::UNDERLINED;
            if *column == COLUMNS[self.sorted_by].0 { cell.style(Style::new().add_modifier(mark)) } else { cell }
        });
        let header = Line1::new(titles).style(Modifier::REVERSED);
        frame.render_widget(Table::new(lines, widths).header(header), area);
    }
}

/// A cell: numbers to the right, texts to the left.
fn cell(column: Column, text: String) -> Cell<'static> {
    let alignment = match column {
        Column::State | Column::Call => Alignment::Left,
        _ => Alignment::Right,
    };
    Cell::from(Text::from(text).alignment(alignment))
}

fn style(row: &Row) -> Style {
    match row.state {
        "lost" | "stopped" => Style::new().fg(Color::Red),
        "waiting" | "sending" | "in a collective" if row.rates.waiting > 0.9 => Style::new().fg(Color::Yellow),
        "computing" => Style::new().fg(Color::Green),
        "ended" | "finalized" | "not started" => Style::new().add_modifier(Modifier::DIM),
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_fabric::{Endpoint, Life};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn screen() -> (RanksScreen, Vec<Endpoint>) {
        let endpoints = Endpoint::threads(30).expect("memory");
        let job = endpoints[0].job();
        for rank in 0..30 {
            job.set_life(rank, Life::Initialised);
            job.recorder(rank).enter(mpi_core::functions::MPI_RECV, 0, (rank as i32 + 1) % 30, 7, 1);
        }
        let number = id_text(job.id());
        let found = mpi_observe::job_list::find(Some(&number)).expect("the job of this process");
        (RanksScreen::new(found), endpoints)
    }

    fn drawn(screen: &mut RanksScreen, height: u16) -> Vec<String> {
        drawn_in(screen, 130, height)
    }

    fn drawn_in(screen: &mut RanksScreen, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal of the test");
        terminal.draw(|frame| screen.draw(frame)).expect("drawn");
        let buffer = terminal.backend().buffer();
        let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..height).map(line).collect()
    }

    #[test]
    fn no_width_of_a_terminal_cuts_a_number_or_a_title() {
        let (mut screen, _endpoints) = screen();
        screen.refresh();
        for row in &mut screen.rows {
            row.pid = 4_194_304;
            row.rates.messages_sent = 20_543.0;
            row.rates.messages_received = 999_400.0;
            row.rates.bytes_sent = 1_022.0 * 1_048_576.0;
            row.rates.collective_calls = 12_345.0;
            row.rates.waiting = 1.0;
        }
        let titles: Vec<&str> = COLUMNS.iter().map(|(_, title, _)| *title).collect();
        for width in [1, 10, 20, 27, 40, 60, 80, 110, 130, 150, 300] {
            let lines = drawn_in(&mut screen, width, 14);
            let shown: Vec<&str> = lines[2].split_whitespace().collect();
            assert!(shown.iter().all(|title| titles.contains(title)), "{width}: {lines:?}");
            let cells = screen.rows[0].clone();
            let all =
                |text: &str| [format!(" {text} "), format!(" {text}")].iter().any(|text| lines[3].contains(&**text));
            for (column, title, _) in
                COLUMNS.iter().filter(|(column, title, _)| shown.contains(title) && *column != Column::Call)
            {
                assert!(all(&cells.cell(*column)), "{title} at {width}: {lines:?}");
            }
            if shown.contains(&"CALL") {
                assert!(lines[3].contains("MPI_Recv"), "{width}: {lines:?}");
                assert!(
                    lines[3].ends_with('…') || lines[3].ends_with("MPI_Recv from rank 1 with tag 7"),
                    "{width}: {lines:?}"
                );
            }
            let least: &[&str] = match width {
                150.. => &[
                    "RANK", "PID", "STATE", "WAIT%", "SENT/S", "RECV/S", "BYTES/S", "COLL/S", "UNEXP", "POSTED",
                    "REQS", "CALL",
                ],
                80.. => &["RANK", "STATE", "WAIT%", "SENT/S", "BYTES/S", "CALL"],
                40.. => &["RANK", "STATE", "WAIT%", "CALL"],
                27.. => &["RANK", "STATE", "WAIT%"],
                _ => &[],
            };
            assert!(least.iter().all(|title| shown.contains(title)), "{width}: {lines:?}");
            let keys = lines[13].split("   ").filter(|key| !key.is_empty());
            assert!(width < 10 || keys.clone().all(|key| HELP.contains(&key)), "{width}: {lines:?}");
            assert!(width < 10 || keys.last() == Some("q: end"), "{width}: {lines:?}");
            assert!(
                width < 80 || lines[1].starts_with("616k messages/s  29.9 GiB/s  waiting 100 %"),
                "{width}: {lines:?}"
            );
            assert!(
                width < 40 || lines[1].ends_with("30 waiting") || lines[1].ends_with("30 in MPI"),
                "{width}: {lines:?}"
            );
        }
    }

    #[test]
    fn ranks_are_a_table_that_is_moved_and_sorted_by_keys() {
        let (mut screen, _endpoints) = screen();
        let lines = drawn(&mut screen, 14);
        assert!(lines[0].contains("30 ranks on"), "{lines:?}");
        assert!(lines[2].starts_with(" RANK      PID STATE"), "{lines:?}");
        assert!(lines[3].contains("MPI_Recv from rank 1 with tag 7"), "{lines:?}");
        let first = |lines: &[String]| lines[3].split_whitespace().next().map(str::to_owned);
        assert_eq!(first(&lines).as_deref(), Some("0"));
        screen.key(KeyCode::PageDown);
        assert_eq!(first(&drawn(&mut screen, 14)).as_deref(), Some("9"));
        screen.key(KeyCode::End);
        assert_eq!(first(&drawn(&mut screen, 14)).as_deref(), Some("20"));
        screen.key(KeyCode::Char('r'));
        screen.key(KeyCode::Home);
        assert_eq!(first(&drawn(&mut screen, 14)).as_deref(), Some("29"));
        screen.key(KeyCode::Left);
        screen.key(KeyCode::Char('r'));
        // By the call: "from rank 0" is the first, in rank 29.
        assert_eq!(first(&drawn(&mut screen, 14)).as_deref(), Some("29"));
    }

    #[test]
    fn the_end_of_the_job_is_shown_and_its_last_state_stays() {
        let (mut screen, endpoints) = screen();
        assert!(!drawn(&mut screen, 14).iter().any(|line| line.contains("HAS ENDED")));
        endpoints[0].job().set_life(0, Life::Finalised);
        screen.keep_last_state();
        let lines = drawn(&mut screen, 14);
        assert_eq!(lines[1], ENDED);
        assert!(lines[3].contains(" ended ") && lines[4].contains(" lost "), "{lines:?}");
        assert!(lines[4].contains("MPI_Recv from rank 2 with tag 7"), "{lines:?}");
        screen.refresh();
        assert_eq!(drawn(&mut screen, 14), lines);
        for width in [20, 40, 80] {
            assert!(drawn_in(&mut screen, width, 14)[1].starts_with("THE JOB HAS ENDED"), "{width}");
        }
    }

    #[test]
    fn a_screen_of_any_size_can_be_drawn() {
        let (mut screen, _endpoints) = screen();
        for height in [1, 2, 3, 4, 5, 60] {
            drawn(&mut screen, height);
        }
    }
}
