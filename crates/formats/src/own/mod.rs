//! Any table of text, described by a small TOML file.
//!
//! ```toml
//! name = "frobstat"
//! comment = "#"
//! [column]
//! time = { time = "%H:%M:%S" }
//! dev = { is = "device" }
//! "rd/s" = { measure = "disk.ios", op = "read", unit = "count/s" }
//! "lat" = { measure = "disk.time", op = "read", unit = "ms", times = "rd/s" }
//! heat = { unit = "C" }
//! ```

mod cell;
mod column;
mod describe;
mod field;
mod group;
mod put;
mod rounds;
mod table;
mod unit;
pub(crate) mod when;

use std::sync::Arc;

use crate::Parser;
use crate::time::Refused;
use column::Column;
use group::Group;

/// What separates the columns.
#[derive(Clone, Debug, PartialEq)]
enum Separator {
    /// Any number of blanks and tabs.
    Blank,
    /// This text, once; fields may be quoted.
    Text(String),
}

/// When the next sample begins, where there are no times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Begins {
    /// An instance comes again; without instances, with each line.
    Instance,
    /// With each line.
    Line,
    /// After an empty line.
    Blank,
    /// With each header.
    Header,
}

/// A described table.
#[derive(Debug)]
struct Table {
    name: String,
    separator: Separator,
    comment: Option<String>,
    skip: u64,
    decimal_comma: bool,
    /// Names of the columns, where the text has no header.
    listed: Option<Vec<String>>,
    begins: Begins,
    since_boot: bool,
    every: Option<f64>,
    /// What is described, by name.
    columns: Vec<Column>,
    /// Which of them are put side by side into a row.
    groups: Vec<Group>,
}

/// A table of text that somebody described; see [`own`].
#[derive(Clone, Debug)]
pub struct Own(Arc<Table>);

impl Own {
    /// Its name: the tool in `other.<tool>.<column>`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn parser(&self) -> Box<dyn Parser> {
        Box::new(table::Reader::new(self.0.clone()))
    }
}

/// Reads the description of a table.
///
/// # Errors
/// What is wrong in it, with its line and what is allowed there.
pub fn own(toml: &str) -> Result<Own, Refused> {
    let table = describe::read(toml)?;
    Ok(Own(Arc::new(table)))
}
