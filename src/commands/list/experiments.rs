//! Experiments in a list: what ran, how far it is, and what it comes to.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use lab::experiment::{Logbook, State};
use serde_json::{Value, json};
use surfaces::table::{Align, Table, shortened};

use super::minute;
use crate::commands::experiment::{Experiment, advice, headline, state};
use crate::failure::Failure;
use crate::output::one_line;

/// Characters of a command.
const COMMAND: usize = 40;

/// One experiment.
pub(super) struct Listed {
    dir: PathBuf,
    book: Logbook,
}

impl Listed {
    pub(super) fn open(dir: &Path) -> Result<Listed, Failure> {
        Ok(Listed {
            dir: dir.to_owned(),
            book: Logbook::open(dir).map_err(Failure::input)?,
        })
    }

    pub(super) fn by_start(&self, other: &Listed) -> Ordering {
        self.book.started.cmp(&other.book.started)
    }

    /// What became of the trial whose run is there.
    pub(super) fn state_of(&self, run: &Path) -> Option<&'static str> {
        let mut trials = self.book.trials.iter();
        let trial = trials.find(|t| self.dir.join(&t.run) == *run)?;
        Some(state(trial.state))
    }

    pub(super) fn json(&self) -> Value {
        let e = Experiment::of(&self.book, None);
        json!({
            "experiment": self.dir,
            "command": self.book.command,
            "host": self.book.host,
            "started": self.book.started,
            "blocks": self.book.whole_blocks(),
            "trials_done": e.in_state(State::Done),
            "trials_failed": e.in_state(State::Failed),
            "ended": self.book.ended,
            "advice": advice(&e),
        })
    }
}

/// A row an experiment; in a narrow terminal without the commands.
pub(super) fn text(experiments: &[Listed], width: usize) -> String {
    let full = table(experiments, true).render(width);
    if full.lines().all(|line| line.chars().count() <= width) {
        return full;
    }
    table(experiments, false).render(width)
}

fn table(experiments: &[Listed], commands: bool) -> Table {
    let mut table = Table::new();
    for (name, align) in [
        ("experiment", Align::Left),
        ("command", Align::Left),
        ("started (UTC)", Align::Right),
        ("blocks", Align::Right),
        ("trials", Align::Right),
        ("failed", Align::Right),
        ("result", Align::Left),
    ] {
        if commands || name != "command" {
            table.column(name, align);
        }
    }
    for Listed { dir, book } in experiments {
        let e = Experiment::of(book, None);
        let result = match &book.ended {
            Some(ended) => format!("{}; {ended}", headline(&e)),
            None => headline(&e),
        };
        let mut row = vec![
            one_line(&dir.display().to_string()),
            one_line(&minute(&book.started)),
            book.whole_blocks().to_string(),
            e.in_state(State::Done).to_string(),
            e.in_state(State::Failed).to_string(),
            one_line(&result),
        ];
        if commands {
            let command = one_line(&book.command.join(" "));
            row.insert(1, shortened(&command, COMMAND));
        }
        table.row(row);
    }
    table
}
