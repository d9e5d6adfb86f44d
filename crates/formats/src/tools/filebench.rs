//! filebench: the breakdown by operation, and its summary of I/O. Its mb are MiB.

use crate::list::Format;
use crate::number::{decimal, seconds_decimal};
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::{Done, UNKNOWN, Work};
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "filebench",
    tool: "filebench",
    systems: "Linux, Solaris, illumos, BSD",
    help: "filebench's operations: how many, their bytes and their time, for each flowop",
    recognised: "`IO Summary:` and rows `NAME 5543ops 554ops/s 69.2mb/s 0.1ms/op`",
    yields: &["workload"],
    example: "\
12.345: Running...
22.350: Run took 10 seconds...
22.351: Per-Operation Breakdown
readfile1            5543ops      554ops/s  69.2mb/s      0.1ms/op [0.00ms -  5.51ms]
closefile1           5543ops      554ops/s   0.0mb/s      0.0ms/op [0.00ms -  0.03ms]
22.351: IO Summary: 11086 ops 1108.563 ops/s 554/0 rd/wr  69.2mb/s 0.1ms/op
",
    recognise,
    parser: || Box::new(Filebench::new()),
};

fn recognise(head: &Head) -> u8 {
    let rows = head.contains("ops/s") && head.contains("mb/s");
    if rows && (head.contains("IO Summary:") || head.contains("Per-Operation Breakdown")) {
        91
    } else {
        0
    }
}

struct Filebench {
    work: Work,
    /// Seconds that the run took.
    took: Option<f64>,
    begun: bool,
}

impl Filebench {
    fn new() -> Filebench {
        Filebench {
            work: Work::new("filebench"),
            took: None,
            begun: false,
        }
    }

    /// `readfile1  5543ops  554ops/s  69.2mb/s  0.1ms/op [0.00ms - 5.51ms]`.
    fn row(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [name, ops, rest @ ..] = &words[..] else {
            return None;
        };
        let ops = decimal(ops.strip_suffix("ops")?.as_bytes())?;
        let with = |unit: &str| {
            rest.iter()
                .find_map(|w| decimal(w.strip_suffix(unit)?.as_bytes()))
        };
        let per_second = with("ops/s")?;
        let mib = with("mb/s")?;
        let each = rest
            .iter()
            .find_map(|w| seconds_decimal(w.strip_suffix("/op")?.as_bytes()));
        let took = match self.took {
            Some(took) => took,
            None if per_second > 0.0 => {
                out.note(
                    "how long filebench ran is told by its operations and their rate only, as \
                     precisely as that",
                );
                ops / per_second
            }
            None => return None,
        };
        if !self.begun {
            out.sample();
            out.spans(took);
            self.begun = true;
        }
        let done = Done {
            ops,
            bytes: mib * 1_048_576.0 * took,
            time: each.unwrap_or(f64::NAN) * ops,
            ..UNKNOWN
        };
        self.work.amounts(out, [b"", name.as_bytes(), b""], done);
        let instance = out.word(name.as_bytes());
        if let Some((_, range)) = text.split_once('[') {
            let ends = range
                .trim_end_matches(']')
                .split(" - ")
                .map(|e| seconds_decimal(e.trim().as_bytes()));
            for (column, value) in ["latency.min", "latency.max"].iter().zip(ends) {
                out.other(column, "s", instance, value.unwrap_or(f64::NAN));
            }
        }
        if let Some(cpu) = rest
            .iter()
            .find_map(|w| decimal(w.strip_suffix("us/op-cpu")?.as_bytes()))
        {
            out.other("cpu", "us/op", instance, cpu);
        }
        Some(())
    }

    /// What follows `IO Summary:`, kept as it is: it sums the rows up.
    fn summary(text: &str, out: &mut Out) {
        let empty = out.word(b"");
        let words: Vec<&str> = text.split([' ', ',']).filter(|w| !w.is_empty()).collect();
        for pair in words.windows(2) {
            if let (Some(value), "ops" | "ops/s") = (decimal(pair[0].as_bytes()), pair[1]) {
                let unit = if pair[1] == "ops" { "" } else { "1/s" };
                out.other(&format!("io_summary.{}", pair[1]), unit, empty, value);
            }
        }
        for word in words {
            if let Some(value) = word
                .strip_suffix("mb/s")
                .and_then(|v| decimal(v.as_bytes()))
            {
                out.other("io_summary.bandwidth", "MiB/s", empty, value);
            }
        }
    }
}

impl Parser for Filebench {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let text = text.trim();
        if let Some((_, took)) = text.split_once("Run took ") {
            let first = took.split_whitespace().next().unwrap_or_default();
            self.took = decimal(first.as_bytes()).filter(|s| *s > 0.0);
            self.begun = false;
            return Line::Noise;
        }
        if let Some((_, summary)) = text.split_once("IO Summary:") {
            if self.begun {
                Filebench::summary(summary, out);
            }
            (self.took, self.begun) = (None, false);
            return Line::Data;
        }
        if self.row(text, out).is_some() {
            return Line::Data;
        }
        // Its log: `12.345: Running...`, of old ones `1234: 5.678: Running...`.
        let stamp = text.split(':').next().unwrap_or_default();
        let logged = decimal(stamp.as_bytes()).is_some();
        let known = text.is_empty()
            || logged
            || text.starts_with("Filebench")
            || text.starts_with("filebench");
        if known { Line::Noise } else { Line::Unknown }
    }
}
