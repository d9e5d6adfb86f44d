//! `stress-ng --metrics` and `--metrics-brief`: what each kind of stressor did.
//!
//! A bogo operation is what one round of a stressor does: those of different stressors do not
//! compare. Columns are named by two lines of a heading, which newer versions make longer. `--log-brief`,
//! and who pastes the table, leave out what is before each line; `--timestamp` puts a time there.

use crate::list::Format;
use crate::number::{decimals, number};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Stamp, time_of_day};
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "stress-ng",
    tool: "stress-ng",
    systems: "all that stress-ng runs on",
    help: "bogo operations of each stressor, and the processor time that they took",
    recognised: "a line `stressor bogo ops real time …`, perhaps behind `stress-ng: metrc: [123]`",
    yields: &["workload"],
    example: "\
stress-ng: info:  [2383] dispatching hogs: 1 cpu, 1 vm
stress-ng: metrc: [2383] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s
stress-ng: metrc: [2383]                           (secs)    (secs)    (secs)   (real time) (usr+sys time)
stress-ng: metrc: [2383] cpu                 228      1.01      0.15      0.00       224.73        1497.23
stress-ng: metrc: [2383] vm                 7028      1.14      0.08      0.11      6190.49       36841.91
",
    recognise: |head: &Head| {
        let is_heading = |line: &[u8]| {
            let text = String::from_utf8_lossy(line);
            is_heading(message(&text).unwrap_or(text.trim()))
        };
        if head.lines().any(is_heading) { 92 } else { 0 }
    },
    parser: || Box::new(StressNg::new()),
};

/// What follows `stress-ng: metrc: [2383]`.
fn message(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("stress-ng: ")?;
    // `23:32:16.52`.
    let timed = rest.split_once(' ');
    let timed = timed.filter(|(time, _)| time_of_day(time.as_bytes(), None).is_some());
    let rest = timed.map_or(rest, |(_, rest)| rest);
    let (level, rest) = rest.split_once(": ")?;
    let is_level = matches!(
        level.trim(),
        "info"
            | "metrc"
            | "metric"
            | "warn"
            | "fail"
            | "debug"
            | "error"
            | "skip"
            | "pass"
            | "stderr"
            | "stdout"
    );
    let rest = rest.trim_start().strip_prefix('[')?;
    let (pid, rest) = rest.split_once(']')?;
    let is_pid = !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit());
    (is_level && is_pid).then_some(rest.trim())
}

fn is_heading(message: &str) -> bool {
    message.starts_with("stressor ") && message.contains("bogo ops real time")
}

/// The first columns, as all versions have them: bogo operations, and seconds.
const BESIDE: [(&str, &str); 6] = [
    ("usr_time", "s"),
    ("sys_time", "s"),
    ("bogo_ops.real_time", "1/s"),
    ("bogo_ops.cpu_time", "1/s"),
    // Since 0.14.
    ("cpu_used", "%"),
    ("rss_max", "KiB"),
];

struct Row {
    name: String,
    ops: f64,
    seconds: f64,
    others: Vec<(String, String, f64)>,
}

struct StressNg {
    work: Work,
    rows: Vec<Row>,
    /// A heading was seen.
    headed: bool,
    /// So often stressors were started: with `--sequential` one after the other.
    dispatched: u32,
    /// Seconds of the whole run, as it says at its end.
    whole: Option<f64>,
    elapsed: f64,
}

impl StressNg {
    fn new() -> StressNg {
        StressNg {
            work: Work::new("stress-ng"),
            rows: Vec::new(),
            headed: false,
            dispatched: 0,
            whole: None,
            elapsed: 0.0,
        }
    }

    /// `cpu  228  1.01  0.15  0.00  224.73  1497.23`, with up to two columns more.
    fn row(&mut self, message: &str) -> Option<()> {
        let words: Vec<&str> = message.split_whitespace().collect();
        let (name, cells) = words.split_first()?;
        if !(6..=8).contains(&cells.len()) {
            return None;
        }
        let numbers: Option<Vec<f64>> = cells.iter().map(|c| number(c.as_bytes())).collect();
        let numbers = numbers?;
        // All have as many decimals but memory, which has none: one that lacks some was cut.
        let decimals = |cell: &str| decimals(cell.as_bytes());
        let is_whole = |(column, cell): (&str, &str)| {
            column == "rss_max" || decimals(cell) == decimals(cells[1])
        };
        let others = BESIDE.iter().zip(&cells[2..]).zip(&numbers[2..]);
        let others = others.filter(|(((column, _), cell), _)| is_whole((column, cell)));
        let others =
            others.map(|(((column, unit), _), v)| ((*column).to_owned(), (*unit).to_owned(), *v));
        self.rows.push(Row {
            name: (*name).to_owned(),
            ops: numbers[0],
            seconds: numbers[1],
            others: others.collect(),
        });
        Some(())
    }

    /// `vm  1234.56 MB per sec memory rate (geometric mean of 2 instances)`, below `miscellaneous
    /// metrics:`.
    fn miscellaneous(&mut self, message: &str) -> Option<()> {
        let mut words = message.split_whitespace();
        let (name, value) = (words.next()?, number(words.next()?.as_bytes())?);
        let rest = words.collect::<Vec<_>>().join(" ");
        let column = rest
            .split(" (")
            .next()
            .filter(|c| !c.is_empty())?
            .to_owned();
        let row = self.rows.iter_mut().find(|row| row.name == name)?;
        row.others.push((column, String::new(), value));
        Some(())
    }

    fn run_is_over(&mut self, out: &mut Out) {
        self.headed = false;
        let mut rows = std::mem::take(&mut self.rows);
        let longest = rows.iter().map(|r| r.seconds).fold(0.0, f64::max);
        let sum: f64 = rows.iter().map(|r| r.seconds).sum();
        let whole = self.whole.take().unwrap_or(0.0);
        let is_sum = whole > 0.95 * sum && sum > 1.5 * longest;
        let in_turn = std::mem::take(&mut self.dispatched) > 1 || is_sum;
        if in_turn && rows.len() > 1 {
            out.note("stressors that ran one after the other are laid in the order of their rows");
        }
        if !in_turn {
            // Times do not go back.
            rows.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        }
        let began = self.elapsed;
        for row in rows {
            if row.seconds <= 0.0 {
                out.note("a stressor that took no time is left out");
                continue;
            }
            let from = if in_turn { self.elapsed } else { began };
            self.elapsed = self.elapsed.max(from + row.seconds);
            out.sample_at(Stamp::Elapsed(from + row.seconds));
            out.spans(row.seconds);
            let of = [row.name.as_bytes(), b"bogo-op", b""];
            let done = Done {
                ops: row.ops,
                ..UNKNOWN
            };
            self.work.amounts(out, of, done);
            let instance = instance(out, [of[0], b"", b""]);
            for (column, unit, value) in row.others {
                out.other(&column, &unit, instance, value);
            }
        }
    }
}

/// Whether a stressor's name and several of its numbers are there.
fn is_like_a_row(message: &str) -> bool {
    let mut cells = message.split_whitespace().skip(1);
    let mut is_number = || cells.next().is_some_and(|c| number(c.as_bytes()).is_some());
    is_number() && is_number() && is_number()
}

/// The second line of the heading, and what `--log-brief` says around the table.
fn is_about_the_run(message: &str) -> bool {
    let begins = [
        "(secs)",
        "setting to a ",
        "passed: ",
        "failed: ",
        "skipped: ",
        "for a ",
        "load average: ",
        "metrics-check: ",
        "metrics untrustworthy: ",
    ];
    let holds = [
        "available CPU time",
        "user time",
        "system time",
        "total time",
        "unsuccessful run",
        "bogo-ops",
    ];
    begins.iter().any(|b| message.starts_with(b)) || holds.iter().any(|h| message.contains(h))
}

/// `1.98s`, `60.05s (1 min, 0.05 secs)`, or newer `1 min, 0.05 secs`.
fn length(text: &str) -> Option<f64> {
    let first = text.split_whitespace().next()?;
    if let Some(seconds) = first.strip_suffix('s') {
        return number(seconds.as_bytes());
    }
    let mut sum = 0.0;
    for part in text.split(", ") {
        let (value, unit) = part.split_once(' ')?;
        let step = match unit.trim_end_matches('s') {
            "day" => 86400.0,
            "hour" => 3600.0,
            "min" => 60.0,
            "sec" => 1.0,
            _ => return None,
        };
        sum += number(value.as_bytes())? * step;
    }
    Some(sum)
}

impl Parser for StressNg {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let bare = text.trim();
        let is_said = message(text).is_some();
        let Some(message) = message(text).or((!bare.is_empty()).then_some(bare)) else {
            return Line::Noise;
        };
        if message.starts_with("dispatching hogs:") {
            if !self.rows.is_empty() {
                self.run_is_over(out);
            }
            self.dispatched += 1;
            return Line::Noise;
        }
        if is_heading(message) {
            if !self.rows.is_empty() {
                self.run_is_over(out);
            }
            self.headed = true;
            return Line::Noise;
        }
        if let Some((_, rest)) = message.split_once("run completed in ") {
            self.whole = length(rest);
            return Line::Noise;
        }
        let seen = self.headed
            && self
                .row(message)
                .or_else(|| self.miscellaneous(message))
                .is_some();
        if seen {
            return Line::Data;
        }
        // What else it says is about the run, not of its numbers.
        let is_row = self.headed && is_like_a_row(message);
        let is_of_it = is_said || is_about_the_run(message) || prompt::is_chatter(line);
        if is_of_it && !is_row {
            Line::Noise
        } else {
            Line::Unknown
        }
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        let is_told = !self.rows.is_empty() || self.dispatched == 0;
        if is_told {
            self.run_is_over(out);
            self.elapsed = 0.0;
        }
        is_told
    }

    fn end(&mut self, out: &mut Out) {
        self.run_is_over(out);
    }
}
