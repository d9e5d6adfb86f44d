//! Energy, from `/sys/class/powercap/intel-rapl:*` (Intel, and AMD since Zen).
//!
//! ```text
//! intel-rapl:0/name                  package-0
//! intel-rapl:0/energy_uj             262143328850
//! intel-rapl:0/max_energy_range_uj   262143328850
//! intel-rapl:0:0/name                dram
//! ```
//! Counters of microjoules that begin again at zero after `max_energy_range_uj`. A package's
//! energy holds its cores' and uncore's, not its memory's. The domains of `intel-rapl-mmio`
//! are the same packages read in another way, and left out.
//!
//! A counter may wrap more than once between readings that are far apart; where a thousand
//! watts would have done it, the amount is not known.
//!
//! <https://docs.kernel.org/power/powercap/powercap.html>

use std::io;
use std::path::Path;

use run::rows::TableId;
use run::{Sink, Word};

use crate::read::{Kept, number, once};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "power",
    help: "energy as the processor meters it (RAPL)",
    reads: "/sys/class/powercap/intel-rapl:*/energy_uj",
    link: "https://docs.kernel.org/power/powercap/powercap.html",
    detail: Detail::Samples,
    open,
};

const PREFIX: &str = "intel-rapl:";
const MICRO: f64 = 1e-6;
/// Watts that no domain reaches.
const LARGEST: f64 = 1000.0;
const NEEDS: &str = "a processor with RAPL, seen from outside a virtual machine, and its driver: \
                     modprobe intel_rapl_msr";
// Energy tells on a fine scale what other programs compute: the kernel keeps it from users.
const REMEDY: &str = "run as root, or let every user read it: \
                      chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj";

struct Domain {
    energy: Kept,
    name: String,
    layer: &'static str,
    words: Option<[Word; 2]>,
    /// Microjoules at which the counter begins again.
    range: Option<u64>,
    before: Option<u64>,
}

struct Power {
    domains: Vec<Domain>,
    buffer: Vec<u8>,
    table: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    Ok(Box::new(new(host)?))
}

fn new(host: &Host) -> Result<Power, Availability> {
    let class = host.sys("class/powercap");
    let entries =
        std::fs::read_dir(&class).map_err(|e| Availability::of(&class, &e, NEEDS, REMEDY))?;
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut zones: Vec<String> = names.filter(|n| n.starts_with(PREFIX)).collect();
    zones.sort();
    let mut domains = Vec::new();
    let mut refused = None;
    for zone in &zones {
        match domain(&class, zone) {
            Ok(domain) => domains.push(domain),
            Err(e) => refused = refused.or(Some((class.join(zone).join("energy_uj"), e))),
        }
    }
    match refused {
        Some((path, e)) if domains.is_empty() => Err(Availability::of(&path, &e, NEEDS, REMEDY)),
        None if domains.is_empty() => Err(Availability::Unsupported {
            needs: NEEDS.into(),
        }),
        _ => Ok(Power {
            domains,
            buffer: Vec::new(),
            table: TableId::of("power"),
        }),
    }
}

/// The domain of the folder `zone`: `intel-rapl:0` a package, `intel-rapl:0:1` a part.
fn domain(class: &Path, zone: &str) -> io::Result<Domain> {
    let folder = class.join(zone);
    let energy = Kept::open(folder.join("energy_uj"))?;
    let title = |zone: &str| {
        let name = once(&class.join(zone).join("name"));
        name.filter(|n| !n.is_empty())
            .unwrap_or_else(|| zone.to_owned())
    };
    let own = title(zone);
    let parent = zone.rsplit_once(':').map_or("", |(parent, _)| parent);
    let (name, layer) = if parent.starts_with(PREFIX) {
        (format!("{}/{own}", title(parent)), "part")
    } else if own.starts_with("psys") {
        (own, "platform")
    } else {
        (own, "package")
    };
    let range = once(&folder.join("max_energy_range_uj"));
    Ok(Domain {
        energy,
        name,
        layer,
        words: None,
        range: range.and_then(|r| number(r.as_bytes())),
        before: None,
    })
}

/// Joules from one reading to the next, `interval` seconds later.
fn joules(before: u64, now: u64, range: Option<u64>, interval: f64) -> f64 {
    let may_wrap_twice = range.is_none_or(|r| interval * LARGEST >= r as f64 * MICRO);
    let amount = match range {
        _ if may_wrap_twice => None,
        _ if now >= before => Some(now - before),
        // Past its range it cannot have been.
        Some(range) => range
            .checked_sub(before)
            .and_then(|left| left.checked_add(now)),
        None => None,
    };
    amount.map_or(f64::NAN, |a| a as f64 * MICRO)
}

impl Source for Power {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        for domain in &mut self.domains {
            let words = *domain
                .words
                .get_or_insert_with(|| [out.word(&domain.name), out.word(domain.layer)]);
            // A domain whose reading fails has no row; the others do.
            let read = domain.energy.read(&mut self.buffer);
            let now = read.ok().and_then(|bytes| number(bytes.trim_ascii()));
            let before = std::mem::replace(&mut domain.before, now);
            if let (Some(interval), Some(before), Some(now)) = (interval, before, now) {
                let energy = joules(before, now, domain.range, interval);
                out.row(self.table, &words, &[energy]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(case: &str) -> Host {
        let root = env!("CARGO_MANIFEST_DIR");
        Host::at(format!("{root}/fixtures/power/{case}"))
    }

    #[test]
    fn domains_are_named_and_layered() {
        let power = new(&host("server")).unwrap();
        let domains: Vec<_> = power
            .domains
            .iter()
            .map(|d| (&d.name[..], d.layer))
            .collect();
        assert_eq!(
            domains,
            [
                ("package-0", "package"),
                ("package-0/core", "part"),
                ("package-0/dram", "part"),
                ("psys", "platform"),
            ]
        );
    }

    #[test]
    fn energy_is_counted_across_the_wrap() {
        let mut power = new(&host("server")).unwrap();
        let mut out = Sink::new();
        power.sample(None, &mut out).unwrap();
        let later = host("later").sys("class/powercap");
        for (domain, zone) in power.domains.iter_mut().zip(["0", "0:0", "0:1", "1"]) {
            let path = later.join(format!("{PREFIX}{zone}/energy_uj"));
            domain.energy = Kept::open(path).unwrap();
        }
        power.sample(Some(2.0), &mut out).unwrap();
        let rows = out.rows(TableId::of("power"));
        // 1000000 more; 65532610987 - 65532000000 + 389013 past the range; 250000 more; the
        // last is no number.
        assert_eq!(rows.values[0], [1.0, 1.0, 0.25]);
    }

    #[test]
    fn amounts_that_cannot_be_told_are_not() {
        let range = Some(65_532_610_987);
        assert_eq!(joules(10, 2_000_010, range, 60.0), 2.0);
        // 65.5 s at 1000 W is the whole range.
        assert!(joules(10, 2_000_010, range, 66.0).is_nan());
        assert!(joules(10, 5, None, 1.0).is_nan());
        assert!(joules(70_000_000_000, 5, range, 1.0).is_nan());
    }

    #[test]
    fn absence_says_what_is_needed() {
        let absent = new(&Host::at("/nonexistent")).err().unwrap();
        assert!(matches!(absent, Availability::Unsupported { .. }));
        let empty = new(&host("empty")).err().unwrap();
        assert!(matches!(empty, Availability::Unsupported { .. }));
        let path = Path::new("/sys/class/powercap/intel-rapl:0/energy_uj");
        let refusal = io::Error::from(io::ErrorKind::PermissionDenied);
        let denied = Availability::of(path, &refusal, NEEDS, REMEDY);
        assert!(matches!(denied, Availability::Denied { remedy } if remedy.contains("chmod a+r")));
    }
}
