//! CSV of `dstat`, `dool` and `pcp dstat` (`--output`): a preamble, two rows of headers (groups,
//! then columns; a group's name stands over its first column only), and a row a sample.
//!
//! ```text
//! "Host:","box",,,,"User:","me"
//! "Cmdline:","dstat -cd --output f.csv 5",,,,"Date:","05 Oct 2016 23:04:53 UTC"
//! "total cpu usage",,,,,"dsk/total",
//! "usr","sys","idl","wai","stl","read","writ"
//! 6.4,5.2,86.8,0.3,0.0,72741.4,280219.3
//! ```
//!
//! Where a group comes for several devices, names have it before them: `"dsk/sda:read"`. Spreadsheets
//! save it without quotes, or with `;` or tabs between, and decimal commas.
//!
//! From version 1.3 on `dool` has what disks and networks move in bits, unless asked for `--bytes` or
//! for what `--dstat` had; the rest is in bytes.
//!
//! Shares are in percent, sizes in bytes, rates per second; the first row is a mean since boot
//! (`dstat(1)`). Stamps of `--time` have no year: the preamble's date does, and it decides
//! whether the day or the month comes first.

mod columns;

use jiff::civil::{Date, DateTime};

use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::stamp_line::{epoch, month_named, stamp_of, told};
use crate::time::{Refused, Stamp, time_of_day};
use crate::{Line, Parser, fields, number};
use columns::{Columns, Time};

pub(crate) const FORMAT: Format = Format {
    name: "dstat-csv",
    tool: "dstat",
    systems: "Linux",
    help: "processors, disks, networks, memory and more, as chosen by its flags",
    recognised: "a preamble with `CSV output` or `Cmdline:`, or a header row of quoted names",
    yields: &[
        "cpu",
        "cpu_idle",
        "system",
        "interrupt",
        "disk",
        "net",
        "memory",
        "memory_state",
        "vm",
    ],
    example: "\
\"dool 1.3.1 CSV output\"
\"Host:\",\"box\",,,,\"User:\",\"me\"
\"Cmdline:\",\"dool -cd --output f.csv 5\",,,,\"Date:\",\"05 Oct 2016 23:04:53 UTC\"
\"total cpu usage\",,,,,\"dsk/total\",
\"usr\",\"sys\",\"idl\",\"wai\",\"stl\",\"read\",\"writ\"
6.4,5.2,86.8,0.3,0.0,72741.4,280219.3
1.0,0.5,98.5,0.0,0.0,0.0,4096.0
",
    recognise,
    parser: || Box::new(Dstat::default()),
};

fn recognise(head: &Head) -> u8 {
    let mut sure = 0;
    for line in head.lines() {
        let lower = line.to_ascii_lowercase();
        let has = |text: &str| memchr::memmem::find(&lower, text.as_bytes()).is_some();
        let title = [&b"\""[..], b"dstat ", b"dool "];
        let titled = title.iter().any(|t| lower.starts_with(t)) && has("csv output");
        if titled && (has("dstat") || has("dool")) {
            return 95;
        }
        let pairs = ["\"usr\",\"sys\"", "\"read\",\"writ\"", "\"recv\",\"send\""];
        if pairs.iter().any(|p| has(p)) || has("\"used\",\"buff\"") || has("\"int\",\"csw\"") {
            sure = 85;
        }
    }
    sure
}

/// What is between cells: the first such character that is not in quotes.
fn separator(line: &[u8]) -> Option<u8> {
    let mut quoted = false;
    line.iter().copied().find(|byte| {
        quoted ^= *byte == b'"';
        !quoted && matches!(byte, b',' | b';' | b'\t')
    })
}

/// The cells of a row. Quotes that do not pair are taken for decoration.
fn cells(line: &[u8], separator: u8) -> Vec<Vec<u8>> {
    let mut found = vec![Vec::new()];
    let mut quoted = false;
    let mut sound = true;
    for (i, byte) in line.iter().enumerate() {
        match *byte {
            b'"' => {
                let closes = line.get(i + 1).is_none_or(|b| *b == separator);
                let opens = i == 0 || line[i - 1] == separator;
                sound &= if quoted { closes } else { opens };
                quoted = !quoted;
            }
            byte if byte == separator && !quoted => found.push(Vec::new()),
            byte => {
                if let Some(last) = found.last_mut() {
                    last.push(byte);
                }
            }
        }
    }
    if sound && !quoted {
        return found;
    }
    let plain = |cell: &[u8]| cell.iter().copied().filter(|b| *b != b'"').collect();
    line.split(|b| *b == separator).map(plain).collect()
}

/// Whether a line without quotes or numbers has the names of groups, which come before columns.
fn is_groups(all: &[Vec<u8>]) -> bool {
    let begin = [&b"dsk/"[..], b"net/", b"io/", b"pkt/"];
    let whole = [
        &b"total cpu usage"[..],
        b"total usage",
        b"memory usage",
        b"load avg",
        b"system",
        b"procs",
        b"paging",
        b"swap",
        b"epoch",
        b"interrupts",
    ];
    all.iter()
        .any(|cell| whole.contains(&&cell[..]) || begin.iter().any(|b| cell.starts_with(b)))
}

fn is_number(cell: &[u8]) -> bool {
    number::number(cell.trim_ascii()).is_some()
}

#[derive(Default)]
struct Dstat {
    /// What is between cells, once a line has told.
    separator: Option<u8>,
    /// The first header row, when the second is still to come.
    groups: Option<Vec<Vec<u8>>>,
    columns: Option<Columns>,
    /// When the tool was started, as the preamble says.
    started: Option<DateTime>,
    in_utc: bool,
    /// What moves is in bits.
    in_bits: bool,
    /// The preamble has told which tool it is.
    is_titled: bool,
    /// Rows since the preamble or the headers.
    rows: u64,
    /// Year of the row before, where the text has none.
    last: Option<DateTime>,
}

impl Dstat {
    fn preamble(&mut self, all: &[Vec<u8>], out: &mut Out) -> bool {
        let first = all.first().map(|c| c.to_ascii_lowercase());
        let first = first.unwrap_or_default();
        let contains = |text: &str| memchr::memmem::find(&first, text.as_bytes()).is_some();
        let titled = contains("csv output") || first == b"author:";
        let after = |label: &[u8]| {
            let at = all.iter().position(|c| c == label)?;
            all.get(at + 1)
        };
        if contains("csv output") {
            self.in_bits = has_bits(&first);
            self.is_titled = true;
        }
        if titled {
            return true;
        }
        if let Some(host) = after(b"Host:") {
            out.host(host);
            return true;
        }
        let command = after(b"Cmdline:");
        if let Some(command) = command {
            if let Some(seconds) = delay(command) {
                out.every(seconds);
            }
            let is_dool = memchr::memmem::find(command, b"dool").is_some();
            if is_dool && !self.is_titled {
                self.in_bits = true;
                out.note(
                    "the version of `dool` is not told: taken for 1.3 or later, which has bits",
                );
            }
            self.in_bits &= !asks_for_bytes(command);
            self.is_titled = false;
            self.groups = None;
            self.columns = None;
            self.rows = 0;
        }
        let date = after(b"Date:");
        match date.map(|d| stamp_of(d, out)) {
            Some(Ok(Some(Stamp::Zoned(at, 0)))) => (self.started, self.in_utc) = (Some(at), true),
            Some(Ok(Some(Stamp::Civil(at)))) => (self.started, self.in_utc) = (Some(at), false),
            _ => {}
        }
        command.is_some() || date.is_some()
    }

    fn header(&mut self, all: Vec<Vec<u8>>, out: &mut Out) {
        match self.groups.take() {
            None => {
                self.groups = Some(all);
                self.columns = None;
            }
            Some(groups) => {
                self.columns = Some(Columns::new(&groups, &all, self.in_bits, out));
            }
        }
    }

    /// The time of a row.
    fn stamp(&mut self, cell: &[u8], out: &mut Out) -> Option<Stamp> {
        if let Some(stamp) = self.without_year(cell) {
            return Some(stamp);
        }
        // `DSTAT_TIMEFMT` says another way to write it.
        match told(cell, out)? {
            Stamp::Civil(at) => Some(self.civil(at)),
            stamp => Some(stamp),
        }
    }

    /// Date and time of day, as `05-10 23:04:53` or `Oct-05 23:04:53`.
    fn without_year(&mut self, cell: &[u8]) -> Option<Stamp> {
        let mut parts = fields(cell);
        let (first, second) = (parts.next()?, parts.next());
        if parts.next().is_some() {
            return None;
        }
        let Some(second) = second else {
            return time_of_day(first, None).map(Stamp::Clock);
        };
        let time = time_of_day(second, None)?;
        let (a, b) = {
            let at = first.iter().position(|b| matches!(b, b'-' | b'/'))?;
            (&first[..at], &first[at + 1..])
        };
        let small = |text: &[u8]| i8::try_from(number::whole(text)?).ok();
        let Some(before) = self.last.or(self.started) else {
            return Some(Stamp::Clock(time));
        };
        let candidates = match (month_named(a), month_named(b)) {
            (Some(month), _) => vec![(small(b)?, month)],
            (_, Some(month)) => vec![(small(a)?, month)],
            // Day first is what it prints unless told otherwise.
            _ => vec![(small(a)?, small(b)?), (small(b)?, small(a)?)],
        };
        // The nearest moment not long before that of the row before.
        let mut best: Option<(i64, DateTime)> = None;
        for (day, month) in candidates {
            for year in [before.year(), before.year().saturating_add(1)] {
                let Ok(date) = Date::new(year, month, day) else {
                    continue;
                };
                let at = date.to_datetime(time);
                let Ok(span) = at.since((jiff::Unit::Second, before)) else {
                    continue;
                };
                let seconds = span.get_seconds();
                if seconds > -86_400 && best.is_none_or(|(s, _)| seconds < s) {
                    best = Some((seconds, at));
                }
            }
        }
        let (_, at) = best?;
        self.last = Some(at);
        Some(self.civil(at))
    }

    /// Whether a line that begins with a quote is a row: there is a time where the columns have it,
    /// and all else is numbers.
    fn is_quoted_row(&self, all: &[Vec<u8>]) -> bool {
        let Some((at, _)) = self.columns.as_ref().and_then(Columns::time) else {
            return false;
        };
        let digit = |cell: &Vec<u8>| cell.iter().any(u8::is_ascii_digit);
        let others = all.iter().enumerate().filter(|(i, _)| *i != at);
        all.get(at).is_some_and(digit)
            && all.len() > 1
            && others.clone().any(|(_, cell)| is_number(cell))
            && others
                .into_iter()
                .all(|(_, cell)| cell.is_empty() || is_number(cell))
    }

    fn civil(&self, at: DateTime) -> Stamp {
        if self.in_utc && self.started.is_some() {
            Stamp::Zoned(at, 0)
        } else {
            Stamp::Civil(at)
        }
    }

    fn row(&mut self, columns: &Columns, all: &[Vec<u8>], out: &mut Out) -> Line {
        let mut all = all;
        while all.len() > columns.len() && all.last().is_some_and(Vec::is_empty) {
            all = &all[..all.len() - 1];
        }
        if all.len() != columns.len() {
            return Line::Unknown;
        }
        let stamp = match columns.time() {
            None => None,
            Some((at, Time::Epoch)) => match epoch(&all[at]) {
                Some(stamp) => Some(stamp),
                None if lost_digits(&all[at]) => {
                    out.note("the column `epoch` has too few digits to be a time; not used");
                    None
                }
                None => return Line::Unknown,
            },
            Some((at, Time::Civil)) => match self.stamp(&all[at], out) {
                Some(stamp) => Some(stamp),
                None => {
                    out.fault("the time", &all[at]);
                    return Line::Unknown;
                }
            },
        };
        match (stamp, self.started) {
            (Some(stamp), _) => {
                if matches!(stamp, Stamp::Clock(_)) && self.started.is_none() {
                    out.note("the text does not tell the year: times are those of a day");
                }
                out.sample_once(Some(stamp));
            }
            (None, Some(started)) if self.rows == 0 => {
                out.sample_once(Some(self.civil(started)));
            }
            (None, _) => out.sample_once(None),
        }
        if self.rows == 0 {
            out.since_boot();
        }
        self.rows += 1;
        columns.put(all, out);
        Line::Data
    }
}

/// `1.47571e+09`: a time that was rounded.
fn lost_digits(cell: &[u8]) -> bool {
    cell.contains(&b'e') && is_number(cell)
}

/// Whether the tool of that title, as `"dool 1.3.1 csv output"`, tells bits unless asked otherwise.
fn has_bits(title: &[u8]) -> bool {
    let mut words = fields(title).skip_while(|word| !word.ends_with(b"dool"));
    let Some(version) = words.nth(1) else {
        return false;
    };
    let mut parts = version.split(|b| *b == b'.').map(number::whole);
    let [major, minor] = [(); 2].map(|()| parts.next().flatten());
    (major, minor) >= (Some(1), Some(3))
}

/// Whether a command asks for bytes.
fn asks_for_bytes(command: &[u8]) -> bool {
    let flags = fields(command).filter_map(|word| match word {
        b"--bytes" | b"--dstat" => Some(true),
        b"--bits" => Some(false),
        _ => None,
    });
    flags.last().unwrap_or(false)
}

/// Seconds between rows that a command line asks for; 1 if it does not say.
fn delay(command: &[u8]) -> Option<f64> {
    let mut rest = fields(command).skip(1);
    while let Some(argument) = rest.next() {
        let long = argument.starts_with(b"--");
        if long {
            let valued = [&b"--output"[..], b"--color-count", b"--profile"];
            if valued.contains(&argument) {
                rest.next();
            }
        } else if argument.starts_with(b"-") {
            let last = argument.last().copied().unwrap_or_default();
            if argument.len() > 1 && b"CDILMNSo".contains(&last) {
                rest.next();
            }
        } else if let Some(value) = number::number(argument) {
            return (value > 0.0).then_some(value);
        }
    }
    Some(1.0)
}

impl Parser for Dstat {
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let Some(columns) = &self.columns else { return };
        let at = columns.time().map(|(at, _)| at);
        let all = cells(line, self.separator.unwrap_or(b','));
        // Before any time nothing has to be kept free.
        if at.is_some() && !out.is_stamped() {
            return;
        }
        if crate::lines::rows_in(line, all.len().saturating_sub(1)) > 0 && out.has_sample() {
            out.lost();
            self.rows += 1;
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let line = line.trim_ascii();
        if line.is_empty() {
            return Line::Noise;
        }
        self.separator = self.separator.or_else(|| separator(line));
        let all = cells(line, self.separator.unwrap_or(b','));
        let quoted = line.starts_with(b"\"");
        let labels = ["Dstat ", "dool ", "Author:", "Host:", "Cmdline:"];
        let is_preamble = quoted || labels.iter().any(|l| line.starts_with(l.as_bytes()));
        if all.iter().all(Vec::is_empty) || (is_preamble && self.preamble(&all, out)) {
            return Line::Noise;
        }
        let is_row = if quoted {
            // Times are quoted by some versions.
            self.groups.is_none() && self.is_quoted_row(&all)
        } else {
            all.iter().any(|c| is_number(c))
        };
        if is_row {
            let Some(columns) = self.columns.take() else {
                out.refuse(Refused(
                    "it looks like `dstat --output`, and rows of numbers come without the two rows \
                     of headers that say what they are\nhint: where another tool's text is in \
                     the same file, import each by itself"
                    .into(),
                ));
                return Line::Unknown;
            };
            let seen = self.row(&columns, &all, out);
            self.columns = Some(columns);
            return seen;
        }
        if quoted || line.starts_with(b",") || self.groups.is_some() || is_groups(&all) {
            self.header(all, out);
            return Line::Noise;
        }
        Line::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_of_command_lines() {
        for (command, wanted) in [
            ("dstat -cd --output f.csv 5", Some(5.0)),
            ("dstat -C 0,1 -cdD 8 10 3", Some(10.0)),
            ("dool --cpu -N eth0", Some(1.0)),
            ("dstat 0", None),
        ] {
            assert_eq!(delay(command.as_bytes()), wanted, "{command}");
        }
    }

    #[test]
    fn versions_that_have_bits() {
        for (title, wanted) in [
            ("dool 1.3.8 csv output", true),
            ("dool 2.0 csv output", true),
            ("dool 1.2.0 csv output", false),
            ("dstat 0.7.4 csv output", false),
            ("pcp-dstat 6.0.3 csv output", false),
        ] {
            assert_eq!(has_bits(title.as_bytes()), wanted, "{title}");
        }
        assert!(asks_for_bytes(b"/usr/bin/dool -d --bytes 1"));
        assert!(!asks_for_bytes(b"dool --dstat --bits"));
    }

    #[test]
    fn quotes_that_do_not_pair_are_decoration() {
        let text = |line: &str| -> Vec<String> {
            let cells = cells(line.as_bytes(), b',');
            cells
                .iter()
                .map(|c| String::from_utf8_lossy(c).into_owned())
                .collect()
        };
        assert_eq!(text("\"a,b\",,\"c\""), ["a,b", "", "c"]);
        assert_eq!(
            text("\"cpu\",,\"dsk/total,,\"net\","),
            ["cpu", "", "dsk/total", "", "net", ""]
        );
        assert_eq!(text("1,2.5"), ["1", "2.5"]);
    }
}
