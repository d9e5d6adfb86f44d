//! `sar` as text: of Linux (sysstat), Solaris, AIX and HP-UX.

use super::rules::TABLES;
use super::timed::Timed;
use super::when::{clock, with_colons};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Refused;
use crate::{Line, Parser, fields};

pub(crate) const FORMAT: Format = Format {
    name: "sar",
    tool: "sar",
    systems: "Linux, Solaris, AIX, HP-UX",
    help: "all reports of sar, live or from a file of the day",
    recognised: "lines of a time and names of columns, after a line `Linux …`, `SunOS …`, `AIX …` \
                 or `HP-UX …`",
    yields: TABLES,
    example: "\
Linux 4.4.0-1083-aws (box)  05/21/2019   _x86_64_  (8 CPU)

06:42:09 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle
06:42:39 PM     all     99.85      0.00      0.00      0.00      0.15      0.00
06:43:09 PM     all     99.77      0.00      0.01      0.00      0.22      0.00
Average:        all     99.81      0.00      0.00      0.00      0.19      0.00
",
    recognise,
    parser: || {
        Box::new(Sar {
            timed: Timed::new("sar", false),
        })
    },
};

/// Columns of `mpstat`, which `sar` does not print in such a table or order.
pub(super) fn is_mpstat(names: &[&[u8]]) -> bool {
    let place = |name: &[u8]| names.iter().position(|n| *n == name);
    let of_cpu = matches!(names.first(), Some(&(b"CPU" | b"NODE")));
    // sar -u ALL has %steal before %irq.
    let shares = place(b"%irq").is_some_and(|irq| place(b"%steal").is_none_or(|s| irq < s));
    let known: [&[u8]; 4] = [b"NET_RX/s", b"intr/s", b"LOC/s", b"NMI/s"];
    of_cpu && (shares || names.iter().any(|n| known.contains(n)))
}

pub(super) fn is_pidstat(names: &[&[u8]]) -> bool {
    names.contains(&&b"Command"[..])
}

fn recognise(head: &Head) -> u8 {
    if sadc(head.bytes()) {
        return 90;
    }
    // `atopsar` prints tables that look alike.
    if head.lines().any(is_of_atop) {
        return 0;
    }
    let mut banner = false;
    for line in head.lines() {
        let plain = with_colons(line);
        let all: Vec<&[u8]> = fields(plain.as_deref().unwrap_or(line)).collect();
        let systems: [&[u8]; 4] = [b"Linux", b"SunOS", b"AIX", b"HP-UX"];
        banner |= all.first().is_some_and(|f| systems.contains(f));
        let Some((_, taken)) = clock(&all) else {
            continue;
        };
        let names = &all[taken..];
        // Who kept iostat's lines put the time there.
        let is_iostat = matches!(names.first(), Some(&(b"Device" | b"Device:" | b"avg-cpu:")));
        if is_mpstat(names) || is_pidstat(names) || is_iostat {
            return 0;
        }
        let column = |n: &&&[u8]| {
            n.ends_with(b"/s") || n.starts_with(b"%") || n.starts_with(b"kb") || n.ends_with(b"-sz")
        };
        let words = names.iter().all(|n| n.iter().any(u8::is_ascii_alphabetic));
        // `proc/s` and `cswch/s` stand alone in reports of sysstat before 9 and of AIX.
        let alone = names.len() == 1 && names[0].ends_with(b"/s");
        if (names.len() > 1 || alone) && words && banner {
            return 88;
        }
        if names.len() > 1 && words && names.iter().filter(column).count() * 2 > names.len() {
            return 75;
        }
    }
    0
}

/// Whether a line is one that `atopsar` prints above its tables:
/// `------ analysis date: 2026/11/22 ------`.
fn is_of_atop(line: &[u8]) -> bool {
    line.starts_with(b"---") && memchr::memmem::find(line, b" analysis date: ").is_some()
}

/// Whether it is a file of `sadc`: it begins with 0xd596, in the machine's order.
fn sadc(bytes: &[u8]) -> bool {
    matches!(bytes, [0x96, 0xd5, ..] | [0xd5, 0x96, ..])
}

struct Sar {
    timed: Timed,
}

impl Parser for Sar {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if out.line_number() == 1 && sadc(line) {
            out.refuse(Refused(
                "it is a binary file of sadc, which only the sysstat that wrote it reads for sure\n\
                 hint: sadf -j FILE -- -A > FILE.json prints it as text that can be imported"
                    .into(),
            ));
            return Line::Unknown;
        }
        self.timed.line(line, out)
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.timed.end(out);
    }
}
