//! `mpstat` of Linux, as text: `-P`, `-u`, `-I`, `-N`, `-A`.

use super::sar::is_mpstat;
use super::timed::Timed;
use super::when::{clock, with_colons};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::{Line, Parser, fields};

pub(crate) const FORMAT: Format = Format {
    name: "mpstat-linux",
    tool: "mpstat",
    systems: "Linux",
    help: "processors, each or all as one, and their interrupts",
    recognised: "lines of a time and `CPU %usr %nice %sys %iowait %irq …`, or `CPU … intr/s`",
    yields: &["cpu", "cpu_idle", "interrupt"],
    example: "\
Linux 3.10.0-1062.1.2.el7.x86_64 (box) \t03/21/2022 \t_x86_64_\t(1 CPU)

03:16:15 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
03:16:17 PM  all    0.00    0.00    0.50    0.00    0.00    0.00    0.00    0.00    0.00   99.50
03:16:17 PM    0    0.00    0.00    0.50    0.00    0.00    0.00    0.00    0.00    0.00   99.50

03:16:15 PM  CPU    intr/s
03:16:17 PM  all     55.50
03:16:17 PM    0     54.00
",
    recognise,
    parser: || {
        Box::new(Mpstat {
            timed: Timed::new("mpstat", true),
        })
    },
};

fn recognise(head: &Head) -> u8 {
    let found = head.headers().any(|line| {
        let plain = with_colons(line);
        let all: Vec<&[u8]> = fields(plain.as_deref().unwrap_or(line)).collect();
        clock(&all).is_some_and(|(_, taken)| is_mpstat(&all[taken..]))
    });
    if found { 90 } else { 0 }
}

struct Mpstat {
    timed: Timed,
}

impl Parser for Mpstat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        self.timed.line(line, out)
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.timed.end(out);
    }
}
