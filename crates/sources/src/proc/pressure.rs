//! Time lost waiting for a resource, from `/proc/pressure/*` (PSI).
//!
//! ```text
//! some avg10=1.17 avg60=0.77 avg300=0.69 total=16081834
//! full avg10=0.00 avg60=0.00 avg300=0.00 total=0
//! ```
//! `total` is in microseconds since boot. For the whole system `full` of `cpu` has no meaning
//! (the kernel prints 0 since 5.13) and is left out; `irq` has only `full`.
//!
//! Linux 4.20 and newer. Where it is built in but not switched on, the files are absent or
//! answer "operation not supported".
//!
//! <https://docs.kernel.org/accounting/psi.html>

use std::io;

use run::rows::TableId;
use run::{Sink, Word};

use crate::read::{Kept, advance, fields, lines, number};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "pressure",
    help: "time lost waiting for processors, I/O, memory, interrupts (PSI)",
    reads: "/proc/pressure/{cpu,io,memory,irq}",
    link: "https://docs.kernel.org/accounting/psi.html",
    detail: Detail::Samples,
    open,
};

const RESOURCES: [&str; 4] = ["cpu", "io", "memory", "irq"];
const SHARES: [&str; 2] = ["some", "full"];
const NEEDS: &str = "Linux 4.20 or newer with CONFIG_PSI, and psi=1 on the kernel command line \
                     where it is off by default";
const REMEDY: &str = "boot with psi=1 on the kernel command line";

/// Microseconds stalled: some, full. `None` where the file does not say.
pub fn parse(text: &[u8]) -> [Option<u64>; 2] {
    let mut totals = [None; 2];
    for line in lines(text) {
        let mut fields = fields(line);
        let name = fields.next();
        let total = fields
            .find_map(|f| f.strip_prefix(b"total="))
            .and_then(number);
        for (told, share) in totals.iter_mut().zip(SHARES) {
            if name == Some(share.as_bytes()) {
                *told = total;
            }
        }
    }
    totals
}

struct Resource {
    name: &'static str,
    file: Kept,
    word: Option<Word>,
    before: [Option<u64>; 2],
}

impl Resource {
    /// What counts of a reading.
    fn totals(&self, text: &[u8]) -> [Option<u64>; 2] {
        let [some, full] = parse(text);
        [some, full.filter(|_| self.name != "cpu")]
    }
}

struct Pressure {
    resources: Vec<Resource>,
    buffer: Vec<u8>,
    shares: Option<[Word; 2]>,
    table: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let mut resources = Vec::new();
    let mut refused = None;
    let mut buffer = Vec::new();
    for name in RESOURCES {
        let path = host.proc("pressure").join(name);
        // Where PSI is switched off some kernels refuse the opening, others the reading.
        let opened = Kept::open(&path).and_then(|file| {
            file.read(&mut buffer)?;
            Ok(file)
        });
        match opened {
            Ok(file) => resources.push(Resource {
                name,
                file,
                word: None,
                before: [None; 2],
            }),
            Err(error) => {
                refused.get_or_insert_with(|| availability(&path, &error));
            }
        }
    }
    if let (true, Some(refused)) = (resources.is_empty(), refused) {
        return Err(refused);
    }
    Ok(Box::new(Pressure {
        resources,
        buffer,
        shares: None,
        table: TableId::of("pressure"),
    }))
}

fn availability(path: &std::path::Path, error: &io::Error) -> Availability {
    if error.raw_os_error() == Some(rustix::io::Errno::OPNOTSUPP.raw_os_error()) {
        return Availability::Denied {
            remedy: REMEDY.into(),
        };
    }
    Availability::of(path, error, NEEDS, "read it as root")
}

impl Source for Pressure {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let shares = *self
            .shares
            .get_or_insert_with(|| SHARES.map(|s| out.word(s)));
        for resource in &mut self.resources {
            let name = resource.name;
            let word = *resource.word.get_or_insert_with(|| out.word(name));
            let now = resource.totals(resource.file.read(&mut self.buffer)?);
            let before = std::mem::replace(&mut resource.before, now);
            if interval.is_none() {
                continue;
            }
            for (share, pair) in shares.into_iter().zip(before.into_iter().zip(now)) {
                if let (Some(before), Some(now)) = pair {
                    out.row(self.table, &[word, share], &[advance(before, now) / 1e6]);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_both_lines_or_of_one() {
        let both = b"some avg10=1.17 avg60=0.77 avg300=0.69 total=16081834\n\
            full avg10=0.00 avg60=0.00 avg300=0.00 total=25\n";
        assert_eq!(parse(both), [Some(16081834), Some(25)]);
        let irq = b"full avg10=0.00 avg60=0.00 avg300=0.00 total=77\n";
        assert_eq!(parse(irq), [None, Some(77)]);
        assert_eq!(parse(b"some avg10=0.00 total=x\nfull\n\n"), [None; 2]);
    }

    #[test]
    fn errors_say_what_to_do() {
        let path = std::path::Path::new("/proc/pressure/cpu");
        let off = io::Error::from(rustix::io::Errno::OPNOTSUPP);
        assert_eq!(
            availability(path, &off),
            Availability::Denied {
                remedy: REMEDY.into()
            }
        );
        let absent = open(&Host::at("/nonexistent")).err();
        assert_eq!(
            absent,
            Some(Availability::Unsupported {
                needs: NEEDS.into()
            })
        );
    }

    #[test]
    fn a_row_a_resource_and_share_without_full_of_cpu() {
        let host = Host::at(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/fixtures/pressure/irq"
        ));
        let mut source = open(&host).unwrap_or_else(|a| panic!("{a}"));
        let mut out = Sink::new();
        source.sample(None, &mut out).unwrap();
        assert_eq!(out.filled().count(), 0);
        source.sample(Some(1.0), &mut out).unwrap();
        let rows = out.rows(TableId::of("pressure"));
        let names: Vec<_> = (0..rows.len())
            .map(|i| [0, 1].map(|d| out.words.text(rows.words[d][i]).unwrap_or("?")))
            .collect();
        assert_eq!(
            names,
            [
                ["cpu", "some"],
                ["io", "some"],
                ["io", "full"],
                ["irq", "full"]
            ]
        );
        assert_eq!(rows.values[0], [0.0; 4]);
    }

    #[test]
    fn microseconds_become_seconds() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/fixtures/pressure/irq/proc/pressure/io"
        );
        let mut source = Pressure {
            resources: vec![Resource {
                name: "io",
                file: Kept::open(path).unwrap(),
                word: None,
                before: [Some(6_131_200 - 250_000), Some(5_735_633 + 1)],
            }],
            buffer: Vec::new(),
            shares: None,
            table: TableId::of("pressure"),
        };
        let mut out = Sink::new();
        source.sample(Some(1.0), &mut out).unwrap();
        let stalled = &out.rows(TableId::of("pressure")).values[0];
        assert_eq!(stalled[0], 0.25);
        assert!(stalled[1].is_nan(), "a counter that went back");
    }
}
