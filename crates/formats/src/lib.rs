//! What other tools print, as rows of the catalog's tables.
//!
//! Pure: bytes in, rows and remarks out. [`FORMATS`] is the one list; a format is a file with
//! an entry there, which says how it is recognised ([`recognise`]) and makes a [`Parser`]. An
//! [`Import`] cuts a stream into lines, has the parser read them and accounts for each; the
//! parser's rows go through [`Out`], which finds their times and true intervals.

mod above;
mod around;
mod counters;
mod cpu;
mod disk;
mod documents;
mod echo;
mod embedded;
mod headers;
mod import;
mod lines;
mod list;
mod net;
pub mod number;
mod others;
mod out;
mod own;
mod page;
mod prefix;
mod prompt;
mod recognise;
mod repeated;
mod report;
mod scan;
mod sources;
mod stamp_line;
mod time;
mod together;
mod tools;
mod workload;

pub use embedded::{Embedded, find_workload, import_embedded};
pub use import::{Import, Reading};
pub use list::{FORMATS, Format};
pub use others::{Beside, together};
pub use out::{NO_PROCESSORS, Out, Shape};
pub use own::{Own, own};
pub use recognise::{Head, Unrecognised, may_have_prefix, named, recognise, recognise_among};
pub use report::{NotUnderstood, Report};
pub use time::{DateOrder, Options, Refused, Stamp, date, time_of_day};
pub use tools::fio::{fio_version, fio_version_of};

/// What a parser says of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Its numbers were taken.
    Data,
    /// It is known and has no numbers to take: a header, a banner, a prompt, nothing.
    Noise,
    /// It is not understood.
    Unknown,
}

/// Reads one file of a format, line by line.
pub trait Parser {
    /// Takes the next line, without its end.
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line;

    /// Takes lines from the beginning of `text` that are rows for sure, each with its line feed, as
    /// [`Parser::line`] would take them: for tools that print millions of lines. They begin no sample. All
    /// others, and any that may be something else as well, come one by one.
    fn rows(&mut self, _text: &[u8], _out: &mut Out) -> Taken {
        Taken::default()
    }

    /// Sees how the file begins, before its first line.
    fn look(&mut self, _head: &Head) {}

    /// Whether it takes bytes as they are, and no lines.
    fn is_binary(&self) -> bool {
        false
    }

    /// Whether the line that begins a sample was printed when the sample was taken, so that the
    /// time that a logger puts before it is the sample's.
    fn is_printed_at_once(&self) -> bool {
        false
    }

    /// Whether it sees of a line, which is the file's last and has no end, that it was cut: by a
    /// bracket that closes it, the length of its header, the decimals of its last number. Of other
    /// lines nobody can tell that `520` was `520K`: they are left out.
    fn sees_cut(&self, _line: &[u8]) -> bool {
        false
    }

    /// Takes the next bytes of a binary format, cut anywhere. It tells [`Out::records`] how many
    /// records it found.
    fn bytes(&mut self, _bytes: &[u8], _out: &mut Out) {}

    /// A line is not understood and not cut off. Where it is a row that is a sample of its own,
    /// without a time, that sample's place has to stay ([`Out::lost`], [`Out::gap`]): without it
    /// all samples that follow would move to an earlier time.
    fn lost(&mut self, _line: &[u8], _out: &mut Out) {}

    /// A date that a script printed stands below what was read. Whether a run ends there whose result is
    /// told, as a benchmark's: what was held back of it is handed out, and what comes next is of
    /// another, counted from its own beginning.
    fn run_ends(&mut self, _out: &mut Out) -> bool {
        false
    }

    /// Whether each report has all there is of what it tells, idle or not: what the file's last one lacks
    /// is not known then.
    fn lists_all(&self) -> bool {
        false
    }

    /// The file is over; what was held back is to be handed out.
    fn end(&mut self, _out: &mut Out) {}
}

/// What was taken of a text at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// Whole lines.
    pub lines: u64,
    /// Their bytes, with their line feeds.
    pub bytes: usize,
}

/// The fields of a line, split at blanks.
pub(crate) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|f| !f.is_empty())
}

/// The numbers of all fields; `None` if one is none.
pub(crate) fn numbers<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Option<Vec<f64>> {
    fields.into_iter().map(number::number).collect()
}
