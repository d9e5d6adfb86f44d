//! `vmstat -i`: interrupts by their source.
//!
//! ```text
//! interrupt                          total       rate
//! cpu0:timer                      12345678        113
//! Total                           12345678        113
//! ```
//!
//! With an interval the same comes again below one header, of what came since (`dointr` in FreeBSD's
//! `vmstat.c`). NetBSD has a column `type` behind the others.

use crate::out::{Out, Shape};
use crate::time::Stamp;
use crate::tools::solaris::sample;
use crate::{Line, fields, number};

pub(super) struct Interrupts {
    /// Below a header.
    begun: bool,
    /// The next row begins a report.
    fresh: bool,
    /// No report ended yet.
    first: bool,
    interrupt: Shape,
}

impl Interrupts {
    pub(super) fn new() -> Interrupts {
        Interrupts {
            begun: false,
            fresh: true,
            first: true,
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

    pub(super) fn header(&mut self) {
        // The tool prints it once: this is another output of it.
        (self.begun, self.fresh, self.first) = (true, true, true);
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
            if self.first {
                out.since_boot();
            }
        }
        if name == [b"Total"] {
            (self.fresh, self.first) = (true, false);
            return Some(Line::Data);
        }
        let words = [out.word(b"hard"), out.word(&name.join(&b' '))];
        if out.is_since_boot() {
            out.put_since_boot(&self.interrupt, &words, &[rate]);
            out.other("total", "since boot", words[1], total);
        } else {
            out.put_amounts(&self.interrupt, &words, &[total]);
        }
        Some(Line::Data)
    }
}
