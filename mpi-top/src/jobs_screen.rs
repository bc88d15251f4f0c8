//! The list of this user's jobs, of which one is chosen.

use mpi_observe::job_list::{self, FoundJob, id_text};
use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Row as Line1, Table, TableState};

use crate::fit;
use crate::request::Request;

/// The width from which on the table has the numbers of the jobs.
const NUMBER_FROM: u16 = 60;

/// The list.
pub struct JobsScreen {
    jobs: Vec<FoundJob>,
    state: TableState,
}

impl JobsScreen {
    /// A list of these jobs.
    pub fn new(jobs: Vec<FoundJob>) -> JobsScreen {
        JobsScreen { jobs, state: TableState::default().with_selected(0) }
    }

    /// Reads the list again; if that fails, it stays.
    pub fn refresh(&mut self) {
        let chosen = self.chosen().map(|found| found.job.view().id());
        if let Ok(jobs) = job_list::list() {
            self.jobs = jobs;
        }
        let at = self.jobs.iter().position(|found| Some(found.job.view().id()) == chosen);
        self.state.select(Some(at.unwrap_or(0)));
    }

    fn chosen(&self) -> Option<&FoundJob> {
        self.jobs.get(self.state.selected()?)
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyCode) -> Request {
        match key {
            KeyCode::Up => self.state.select_previous(),
            KeyCode::Down => self.state.select_next(),
            KeyCode::Enter if self.chosen().is_some() => {
                let at = self.state.selected().unwrap_or(0);
                return Request::Ranks(Box::new(self.jobs.remove(at)));
            }
            _ => {}
        }
        Request::None
    }

    /// Draws the list.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let [title, body, keys] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)]).areas(frame.area());
        let text = match self.jobs.len() {
            0 => "mpitop: no job of this user runs on this host; waiting for one".to_owned(),
            count => format!("mpitop: {count} jobs of this user"),
        };
        let width = frame.area().width;
        frame.render_widget(Line::from(fit::words(&text, width)).style(Modifier::BOLD), title);
        // A narrow terminal has no room for the numbers of the jobs.
        let shows_number = width >= NUMBER_FROM;
        let rows = self.jobs.iter().map(|found| {
            let view = found.job.view();
            let number = shows_number.then(|| id_text(view.id()));
            let cells =
                [Some(found.pid.to_string()), Some(view.ranks().to_string()), number, Some(found.command.clone())];
            Line1::new(cells.into_iter().flatten().map(Cell::from))
        });
        let number = shows_number.then_some((Constraint::Length(16), "JOB"));
        let columns = [Some((Constraint::Length(8), "PID")), Some((Constraint::Length(5), "RANKS")), number];
        let columns: Vec<_> = columns.into_iter().flatten().chain([(Constraint::Fill(1), "COMMAND")]).collect();
        let table = Table::new(rows, columns.iter().map(|(width, _)| *width))
            .header(Line1::new(columns.iter().map(|(_, title)| *title)).style(Modifier::REVERSED))
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
        frame.render_stateful_widget(table, body, &mut self.state);
        frame.render_widget(Line::from(fit::items(&["up, down: choose", "Enter: show", "q: end"], "   ", width)), keys);
    }
}
