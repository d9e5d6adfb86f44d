//! A run to hand on: its summary and some of its statistics as a page of its own, Markdown,
//! mail, spreadsheet and comma-separated values; and an experiment in the same forms
//! ([`document`], [`figures`]). All texts from outside are escaped as each form needs it.

pub mod csv;
pub mod document;
pub mod figures;
mod hyper;
pub mod mail;
pub mod markdown;
pub mod page;
pub mod sheet;

use analysis::Answer;
use analysis::quantiles::Spreads;
use run::Nanos;

use crate::chart::Chart;
use crate::part::Part;
use crate::table::Table;

/// Pixels of a picture.
pub const PICTURE: (u32, u32) = (1000, 480);

/// What a report tells.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the run.
    pub title: String,
    /// What happened and what stands out.
    pub summary: Vec<Part>,
    /// Statistics, each with its numbers and its picture.
    pub panels: Vec<Panel>,
    /// When the run started.
    pub started: Nanos,
    /// Whether that is known: times of imported texts may be relative to nothing.
    pub dated: bool,
    /// When the report was made.
    pub made: Nanos,
}

/// One statistic.
#[derive(Clone, Debug)]
pub struct Panel {
    /// All its numbers.
    pub answer: Answer,
    /// Of a number dimension, how the amounts are spread.
    pub spreads: Option<Spreads>,
    /// What the columns of the table share.
    pub head: Option<String>,
    /// The largest groups as a person reads them.
    pub table: Table,
    /// What its reader has to know.
    pub notes: Vec<String>,
    /// What `table` leaves out; a form that has another table says that of its own.
    pub left_out: Option<String>,
    /// Its picture.
    pub chart: Option<Chart>,
}

impl Panel {
    /// What a reader of `table` has to know.
    pub(crate) fn notes_of_table(&self) -> impl Iterator<Item = &String> {
        self.left_out.iter().chain(&self.notes)
    }
}

impl Report {
    /// Seconds from the run's start to `time`.
    pub(crate) fn since(&self, time: Nanos) -> f64 {
        (time - self.started) as f64 / 1e9
    }
}
