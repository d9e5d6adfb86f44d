//! `vmstat -i`: interrupts by their source.
//!
//! ```text
//! interrupt                          total       rate
//! cpu0:timer                      12345678        113
//! Total                           12345678        113
//! ```
//!
//! With an interval the same comes again below one header, of what came since (`dointr` in FreeBSD's
//! `vmstat.c`). Of one without, which a script starts again and again, totals grow from one output to
//! the next. NetBSD has a column `type` behind the others.

use std::collections::HashMap;

use run::Word;

use crate::out::{Out, Shape};
use crate::time::Stamp;
use crate::tools::solaris::sample;
use crate::{Line, fields, number};

/// How often a source interrupted, and how often in a second.
#[derive(Clone, Copy)]
struct Row {
    total: f64,
    rate: f64,
}

pub(super) struct Interrupts {
    /// Below a header.
    begun: bool,
    /// The next row begins a report.
    fresh: bool,
    /// Reports of the present output, and its rows of the last.
    reports: u64,
    rows: Vec<(Word, Row)>,
    /// What the first report of an output had: all since boot.
    boot: HashMap<Word, Row>,
    /// No other report followed it.
    is_boot_last: bool,
    interrupt: Shape,
}

impl Interrupts {
    pub(super) fn new() -> Interrupts {
        Interrupts {
            begun: false,
            fresh: true,
            reports: 0,
            rows: Vec::new(),
            boot: HashMap::new(),
            is_boot_last: false,
            interrupt: Shape::of("interrupt", &["count"]),
        }
    }

    pub(super) fn is_header(line: &[u8]) -> bool {
        let mut words = fields(line);
        [&b"interrupt"[..], b"total", b"rate"]
            .iter()
            .all(|name| words.next() == Some(*name))
            && words.all(|w| w == b"type")
    }

    pub(super) fn header(&mut self, out: &mut Out) {
        // The tool prints it once: this is another output of it.
        self.close(out);
        (self.begun, self.fresh, self.reports) = (true, true, 0);
    }

    /// Takes `cpu0:timer 12345678 113`; `None` where no such row can be.
    pub(super) fn row(
        &mut self,
        line: &[u8],
        stamp: &mut Option<Stamp>,
        out: &mut Out,
    ) -> Option<Line> {
        if !self.begun {
            return None;
        }
        let mut all: Vec<&[u8]> = fields(line).collect();
        if all.len() > 3
            && all
                .last()
                .is_some_and(|f| matches!(*f, b"intr" | b"misc" | b"trap"))
        {
            all.pop();
        }
        let [name @ .., total, rate] = &all[..] else {
            return None;
        };
        let (total, rate) = (number::number(total)?, number::number(rate)?);
        if name.is_empty() {
            return None;
        }
        if std::mem::take(&mut self.fresh) {
            sample(stamp, out);
            self.reports += 1;
        }
        if name == [b"Total"] {
            if self.rows.is_empty() && self.reports == 1 {
                out.since_boot();
            }
            self.close(out);
            self.fresh = true;
            return Some(Line::Data);
        }
        self.rows
            .push((out.word(&name.join(&b' ')), Row { total, rate }));
        Some(Line::Data)
    }

    /// Whether the report is of all since boot: the first, and another that tells of as long a time and
    /// of as many, whose header is lost.
    fn is_of_boot(&self) -> bool {
        let known = self
            .rows
            .iter()
            .filter_map(|(name, row)| Some((*row, *self.boot.get(name)?)));
        let [mut total, mut rate, mut total_then, mut rate_then] = [0.0; 4];
        for (row, then) in known {
            total += row.total;
            rate += row.rate;
            total_then += then.total;
            rate_then += then.rate;
        }
        let is_as_long = total * rate_then >= 0.98 * total_then * rate;
        self.reports == 1 || total_then > 0.0 && total >= total_then && is_as_long
    }

    /// The report is over.
    pub(super) fn close(&mut self, out: &mut Out) {
        if self.rows.is_empty() {
            return;
        }
        let kind = out.word(b"hard");
        let is_of_boot = self.is_of_boot();
        let grows = is_of_boot && self.is_boot_last;
        if grows {
            out.counts();
        } else if is_of_boot {
            out.since_boot();
        }
        let rows = std::mem::take(&mut self.rows);
        for (name, row) in &rows {
            let words = [kind, *name];
            if grows {
                // Of one that was set to zero meanwhile, or was not there, nothing is known.
                let then = self.boot.get(name).map(|then| row.total - then.total);
                if let Some(grown) = then.filter(|grown| *grown >= 0.0) {
                    out.put_amounts(&self.interrupt, &words, &[grown]);
                }
            } else if is_of_boot {
                out.put_since_boot(&self.interrupt, &words, &[row.rate]);
                out.other("total", "since boot", *name, row.total);
            } else {
                out.put_amounts(&self.interrupt, &words, &[row.total]);
            }
        }
        self.is_boot_last = is_of_boot;
        if is_of_boot {
            self.boot = rows.into_iter().collect();
        }
    }
}
