//! `ip -s link` of Linux: counters of interfaces since they were made.
//!
//! ```text
//! 2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
//!     link/ether 08:00:27:aa:bb:cc brd ff:ff:ff:ff:ff:ff
//!     RX: bytes  packets  errors  dropped overrun mcast
//!     1000       10       0       1       0       2
//!     TX: bytes  packets  errors  dropped carrier collsns
//!     2000       20       0       0       0       0
//! ```
//!
//! Also `ip -s addr`. With `-s` twice the kinds of errors follow, on two more lines of each direction
//! (`RX errors: length crc frame fifo overrun`), and with `-d` what a CAN interface counted
//! (`re-started bus-errors arbit-lost error-warn error-pass bus-off`). Of the second and later reports the
//! growth is taken.

use run::Word;

use crate::list::Format;
use crate::number::scaled;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::time::Refused;
use crate::{Line, Parser, fields, net, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "ip-link",
    tool: "ip",
    systems: "Linux",
    help: "bytes, packets, errors and drops of network interfaces",
    recognised: "lines `RX: bytes packets errors dropped …` and `TX: bytes …`",
    yields: &["net"],
    example: "\
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 08:00:27:aa:bb:cc brd ff:ff:ff:ff:ff:ff
    RX: bytes  packets  errors  dropped overrun mcast
    1000       10       0       1       0       2
    TX: bytes  packets  errors  dropped carrier collsns
    2000       20       0       0       0       0
",
    recognise: |head: &Head| {
        let of = |d: &str| head.any_fields(&[d, "bytes", "packets", "errors", "dropped"]);
        match (of("RX:"), of("TX:")) {
            (true, true) => 90,
            // So far.
            (true, false) if head.contains("> mtu ") => 70,
            _ => 0,
        }
    },
    parser: || Box::new(Links::new()),
};

const MEASURES: [&str; 7] = [
    "bytes",
    "packets",
    "errors",
    "drops",
    "overruns",
    "multicast",
    "collisions",
];

/// How lines about an interface begin that have no counters.
const SETTINGS: [&[u8]; 9] = [
    b"link/",
    b"inet",
    b"inet6",
    b"valid_lft",
    b"alias",
    b"altname",
    b"vf",
    b"prog/",
    b"vlan",
];

/// Kinds of interfaces, which a line of `-d` about their settings begins with.
const KINDS: [&[u8]; 30] = [
    b"bond",
    b"bond_slave",
    b"bridge",
    b"bridge_slave",
    b"dummy",
    b"erspan",
    b"geneve",
    b"gre",
    b"gretap",
    b"hsr",
    b"ifb",
    b"ip6gre",
    b"ip6tnl",
    b"ipip",
    b"ipoib",
    b"ipvlan",
    b"macsec",
    b"macvlan",
    b"macvtap",
    b"nlmon",
    b"openvswitch",
    b"openvswitch_slave",
    b"sit",
    b"team",
    b"team_slave",
    b"tun",
    b"veth",
    b"vrf",
    b"vrf_slave",
    b"vxlan",
];

/// How lines of `-d` about the settings of a CAN interface begin.
const OF_CAN: [&[u8]; 10] = [
    b"can",
    b"bitrate",
    b"dbitrate",
    b"tq",
    b"dtq",
    b"clock",
    b"termination",
    b"tdcv",
    b"ingress-qos-map",
    b"egress-qos-map",
];

const ROUNDED: &str = "it was printed with -h, which rounds counters (`1.36T`): by how much they grew is not \
    known\n\
    hint: ip -s link without -h prints all digits";

struct Links {
    interface: Vec<u8>,
    reports: Repeated,
    /// What the next line has.
    columns: Option<Columns>,
    net: Shape,
    /// The last row: kinds of its errors may follow.
    row: Option<([Word; 3], [f64; 7])>,
}

/// What columns count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    /// Kinds of the errors that the lines above have.
    Errors,
    /// States and errors of a CAN interface.
    Can,
}

/// A header.
struct Columns {
    direction: &'static str,
    of: Of,
    names: Vec<String>,
}

/// The name in `2: eth0@if3: <BROADCAST…`.
fn interface(line: &[u8]) -> Option<&[u8]> {
    let mut words = fields(line);
    let number = words.next()?.strip_suffix(b":")?;
    let name = words.next()?.strip_suffix(b":")?;
    let flags = words.next()?.starts_with(b"<");
    let numbered = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    let name = name.split(|b| *b == b'@').next()?;
    (flags && numbered).then_some(name)
}

/// Whether a line about an interface has no counters.
fn is_setting(all: &[&[u8]]) -> bool {
    let [first, rest @ ..] = all else {
        return false;
    };
    // `mcp251xfd: tseg1 2..256 tseg2 1..128 …`.
    let of_chip = matches!(rest, [b"tseg1" | b"dtseg1", ..]) && first.ends_with(b":");
    of_chip
        || SETTINGS.iter().any(|s| first.starts_with(s))
        || KINDS.contains(first)
        || OF_CAN.contains(first)
}

impl Links {
    fn new() -> Links {
        Links {
            interface: Vec::new(),
            reports: Repeated::new(),
            columns: None,
            net: Shape::of("net", &MEASURES),
            row: None,
        }
    }

    fn counts(&mut self, columns: &Columns, line: &[u8], out: &mut Out) -> Line {
        let Some(now) = crate::numbers(fields(line)) else {
            if fields(line).all(|count| scaled(count, 1000.0).is_some()) {
                out.refuse(Refused(ROUNDED.into()));
            }
            return Line::Unknown;
        };
        let Columns {
            direction,
            of,
            names,
        } = columns;
        let of_errors = *of == Of::Errors;
        if now.len() != names.len() || self.interface.is_empty() {
            return Line::Unknown;
        }
        let kind: &[u8] = if of_errors { b" errors" } else { b"" };
        let key = [&self.interface, direction.as_bytes(), kind].concat();
        // The line that names another interface is lost.
        if self.reports.again(&key) {
            self.interface.clear();
            return Line::Unknown;
        }
        let Some(values) = self.reports.grown(&key, &now, out) else {
            return Line::Data;
        };
        let layer = out.word(net::layer(&self.interface).as_bytes());
        let interface = out.word(&self.interface);
        let mut sorted = [f64::NAN; 7];
        for (column, value) in names.iter().zip(values) {
            let place = match column.as_str() {
                "overrun" => 4,
                name if *of != Of::All => {
                    out.other_grown(&format!("{direction}_{name}"), "", interface, value);
                    continue;
                }
                "bytes" => 0,
                "packets" => 1,
                "errors" => 2,
                "dropped" => 3,
                "mcast" => 5,
                "collsns" => 6,
                name => {
                    out.other_grown(&format!("{direction}_{name}"), "", interface, value);
                    continue;
                }
            };
            sorted[place] = value;
        }
        if *of == Of::Can {
            return Line::Data;
        }
        let words = [interface, layer, out.word(direction.as_bytes())];
        match &mut self.row {
            Some((_, above)) if of_errors && above[4].is_nan() => above[4] = sorted[4],
            _ if of_errors => {}
            row => *row = Some((words, sorted)),
        }
        Line::Data
    }

    fn put_row(&mut self, out: &mut Out) {
        if let Some((words, values)) = self.row.take() {
            out.put_amounts(&self.net, &words, &values);
        }
    }
}

impl Parser for Links {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let of_errors = fields(line).nth(1) == Some(b"errors:");
        let kinds = self.columns.as_ref().is_some_and(|c| c.of == Of::Errors);
        let follow = kinds && crate::numbers(fields(line)).is_some();
        if !of_errors && !follow {
            self.put_row(out);
        }
        if self.reports.between(line, &["ip"], out) {
            if self.reports.is_over() {
                // The next report names each.
                self.interface.clear();
            }
            return Line::Noise;
        }
        if let Some(name) = interface(line) {
            self.reports.counted(name, out);
            self.interface = name.to_vec();
            self.columns = None;
            return Line::Noise;
        }
        if let Some(columns) = self.columns.take() {
            return self.counts(&columns, line, out);
        }
        let mut words = fields(line);
        let first = words.next().unwrap_or_default();
        if let b"RX:" | b"TX:" | b"RX" | b"TX" = first {
            let names = words.filter(|w| !w.ends_with(b":"));
            let names = names.map(|w| String::from_utf8_lossy(w).into_owned());
            self.columns = Some(Columns {
                direction: if first.starts_with(b"RX") {
                    "receive"
                } else {
                    "transmit"
                },
                of: if of_errors { Of::Errors } else { Of::All },
                names: names.collect(),
            });
            return Line::Noise;
        }
        let names: Vec<&[u8]> = fields(line).collect();
        if names.ends_with(&[b"arbit-lost", b"error-warn", b"error-pass", b"bus-off"]) {
            let names = names
                .iter()
                .map(|w| String::from_utf8_lossy(w).into_owned());
            self.columns = Some(Columns {
                direction: "can",
                of: Of::Can,
                names: names.collect(),
            });
            return Line::Noise;
        }
        if is_setting(&names) || prompt::is_chatter(line) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.put_row(out);
    }
}
