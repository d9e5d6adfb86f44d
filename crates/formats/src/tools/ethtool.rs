//! `ethtool -S` of Linux, again and again: what a network driver counts.
//!
//! ```text
//! $ ethtool -S eth0
//! NIC statistics:
//!      rx_packets: 1647967
//!      tx_bytes: 83125410
//!      rx_queue_0_drops: 0
//! ```
//!
//! The text does not name the interface; a command line before it does, a line `eth0` or `eth0:`
//! that a script printed, or `Standard stats for eth0:`. Names and units are the driver's own: those
//! of packets and bytes in all are the same as in `/proc/net/dev`, but a driver may count bytes with
//! the frames' checksums. `grep` may have left out the title; `PHY statistics:` are those of
//! `--phy-statistics`, and `watch` tells the command and the time in a line of its own.

use crate::echo::Watched;
use crate::list::Format;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::time::Refused;
use crate::{Line, Parser, net, prompt, stamp_line};

pub(crate) const FORMAT: Format = Format {
    name: "ethtool",
    tool: "ethtool",
    systems: "Linux",
    help: "counters of network drivers (ethtool -S), read repeatedly",
    recognised: "a line `NIC statistics:` or `Standard stats for NAME:` and lines `name: number`",
    yields: &["net"],
    example: "\
$ ethtool -S eth0
NIC statistics:
     rx_packets: 1647967
     tx_packets: 93422
     rx_queue_0_drops: 0
",
    recognise: |head: &Head| {
        let begins = head.lines().any(|l| title(l).is_some());
        let counts = head.lines().any(|l| counter(l).is_some());
        // Without a title: as `ethtool -S eth0 | grep rx_` leaves them.
        let bare = |l: &[u8]| {
            let indented = l.starts_with(b"     rx_") || l.starts_with(b"     tx_");
            indented && counter(l).is_some()
        };
        match (begins, counts) {
            (true, true) => 93,
            _ if head.lines().any(bare) => 60,
            _ => 0,
        }
    },
    parser: || Box::new(Ethtool::new()),
};

/// The title of counters of an interface beside those of its driver.
const PHY: &[u8] = b"PHY statistics:";

/// The interface that the line before the counters names; empty if it names none.
fn title(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    if line == b"NIC statistics:" || line == PHY {
        return Some(b"");
    }
    line.strip_prefix(b"Standard stats for ")?
        .strip_suffix(b":")
}

/// A name alone on its line, as scripts print it: `eth0`, `eth0:`, `== eth0 ==`.
fn bare_name(line: &[u8]) -> Option<&[u8]> {
    let frame = |b: &u8| matches!(b, b'=' | b'-' | b'#' | b'*' | b' ' | b'\t');
    let from = line.iter().position(|b| !frame(b))?;
    let to = line.iter().rposition(|b| !frame(b) && *b != b':')?;
    let name = line.get(from..=to)?;
    is_name(name).then_some(name)
}

/// Whether an interface can be called so: Linux allows 15 characters.
fn is_name(name: &[u8]) -> bool {
    let known = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'@');
    (2..=15).contains(&name.len())
        && name.iter().all(known)
        && name.iter().any(u8::is_ascii_alphabetic)
}

/// The interface that a command asks for: `$ while true; do date; ethtool -S eth0; sleep 1; done`.
fn asked(line: &[u8]) -> Option<&[u8]> {
    let mut words = crate::fields(line)
        .skip_while(|w| !w.ends_with(b"ethtool"))
        .skip(1);
    let name = words.find(|w| !w.starts_with(b"-"))?;
    let name = name.strip_suffix(b";").unwrap_or(name);
    // Another command may follow that asks for another.
    let once = !words.any(|w| w.ends_with(b"ethtool"));
    (once && is_name(name)).then_some(name)
}

/// `     rx_packets: 1647967`, `     [0]: tx_packets: 12`, `eth-mac-FramesTransmittedOK: 1`.
fn counter(line: &[u8]) -> Option<(&str, f64)> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let (name, value) = text.rsplit_once(':')?;
    let digits = value.trim();
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let named = name.bytes().any(|b| b.is_ascii_alphabetic());
    (plain && named).then_some((name.trim(), number(digits.as_bytes())?))
}

/// Measures of `net`, in the order of values.
const MEASURES: [&str; 4] = ["bytes", "packets", "errors", "drops"];

/// Counters of the whole interface: direction and measure.
fn place(name: &str) -> Option<(usize, usize)> {
    let (direction, rest) = name.split_once('_')?;
    let direction = ["rx", "tx"].iter().position(|d| *d == direction)?;
    let names = ["bytes", "packets", "errors", "dropped"];
    Some((direction, names.iter().position(|n| *n == rest)?))
}

/// Whether it is of the moment, and no counter: what mac80211 tells of a station, and temperatures.
fn is_level(name: &str) -> bool {
    let of_station = [
        "sta_state",
        "txrate",
        "rxrate",
        "signal",
        "channel",
        "noise",
    ];
    of_station.contains(&name) || name.contains("temperature")
}

fn unit(name: &str) -> &'static str {
    let name = name.to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|e| name.ends_with(e));
    match () {
        () if ends(&["bytes", "octets", "octetstransmittedok", "octetsreceivedok"]) => "bytes",
        () if ends(&["packets", "pkts", "frames", "_ucast", "_mcast", "_bcast"]) => "packets",
        () => "",
    }
}

/// How many names lines told.
#[derive(PartialEq)]
enum Names {
    /// One or none: what has none is of that one.
    One,
    Several,
    /// More than one, and that of the present counters is lost.
    Lost,
}

struct Ethtool {
    interface: Vec<u8>,
    /// The name that a line told for the counters that follow.
    named: Vec<u8>,
    names: Names,
    reports: Repeated,
    /// Titles stand above counters.
    titled: bool,
    /// Where there are none: the next counter begins a report; the present one's first counter.
    starts: bool,
    first: String,
    /// Counters of the present report and interface.
    counters: Vec<(String, f64)>,
    net: Shape,
}

impl Ethtool {
    fn new() -> Ethtool {
        Ethtool {
            interface: Vec::new(),
            named: Vec::new(),
            names: Names::One,
            reports: Repeated::new(),
            titled: false,
            starts: true,
            first: String::new(),
            counters: Vec::new(),
            net: Shape::of("net", &MEASURES),
        }
    }

    /// The counters of an interface come, of the name that the title tells, if it does.
    fn begin(&mut self, name: &[u8], of_phy: bool, out: &mut Out) {
        self.put(out);
        let named = std::mem::take(&mut self.named);
        let name = if name.is_empty() { &named } else { name };
        if !name.is_empty() {
            let is_another = !self.interface.is_empty() && self.interface != name;
            if is_another || self.names == Names::Lost {
                self.names = Names::Several;
            }
            self.interface = name.to_vec();
        } else if self.names != Names::One && !of_phy {
            self.names = Names::Lost;
            return;
        }
        let mut key = self.interface.clone();
        if of_phy {
            key.extend(b" phy");
        }
        // A script may tell the time of each interface that it reads in turn.
        if !key.is_empty() && out.has_sample() && !self.reports.has(&key) {
            self.reports.goes_on();
        }
        self.reports.counted(&key, out);
    }

    /// The counters of an interface are all here.
    fn put(&mut self, out: &mut Out) {
        let counters = std::mem::take(&mut self.counters);
        if counters.is_empty() {
            return;
        }
        if self.interface.is_empty() {
            out.note(
                "the text does not name the interface: all is taken to be of one; lines \
                 `$ ethtool -S NAME` before each would tell",
            );
        }
        let interface = out.word(&self.interface);
        let layer = out.word(net::layer(&self.interface).as_bytes());
        let (mut whole, mut fell) = ([[f64::NAN; 4]; 2], 0);
        for (name, now) in counters.iter().filter(|(name, _)| is_level(name)) {
            out.other(name, "", interface, *now);
        }
        for (name, now) in counters.iter().filter(|(name, _)| !is_level(name)) {
            let key = [&self.interface[..], b" ", name.as_bytes()].concat();
            let Some(grown) = self.reports.grown(&key, &[*now], out) else {
                continue;
            };
            let value = grown[0];
            // What drivers count beside all packets and bytes may be levels, too.
            let weight = if place(name).is_some() { 3 } else { 1 };
            fell += weight * u32::from(value.is_nan());
            match place(name) {
                Some((direction, measure)) => whole[direction][measure] = value,
                None => out.other_grown(name, unit(name), interface, value),
            }
        }
        for (direction, values) in ["receive", "transmit"].iter().zip(&whole) {
            if values.iter().any(|v| !v.is_nan()) {
                let words = [interface, layer, out.word(direction.as_bytes())];
                out.put_amounts(&self.net, &words, values);
            }
        }
        if fell > 2 && self.interface.is_empty() {
            out.refuse(Refused(
                "its counters go back, as those of several interfaces in turn do, and it does \
                 not name them\nhint: put a line `$ ethtool -S NAME` before each"
                    .into(),
            ));
        }
    }
}

impl Parser for Ethtool {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(arguments) = prompt::arguments(line, &["ethtool"]) {
            self.put(out);
            self.starts = true;
            let name = arguments.iter().find(|a| !a.starts_with('-'));
            let name = name.map_or("", |n| n.trim_end_matches(';')).as_bytes();
            self.interface = if is_name(name) {
                name.to_vec()
            } else {
                Vec::new()
            };
            return Line::Noise;
        }
        if let Some(name) = title(line) {
            self.begin(name, line.trim_ascii() == PHY, out);
            self.titled = true;
            return Line::Noise;
        }
        if let Some((name, value)) = counter(line) {
            // Without titles a report begins below a time or a name, or where its first counter
            // comes again.
            if !self.titled && (self.starts || self.first == name) {
                self.begin(b"", false, out);
                name.clone_into(&mut self.first);
                self.starts = false;
            }
            if self.names == Names::Lost || !out.has_sample() {
                return Line::Unknown;
            }
            self.counters.push((name.to_owned(), value));
            return Line::Data;
        }
        if let Some(watched) = Watched::of(line) {
            self.put(out);
            self.interface = asked(watched.command).unwrap_or_default().to_vec();
            if let Some(stamp) = stamp_line::told(watched.time, out) {
                self.reports.made_at(stamp);
            }
            self.starts = true;
            return Line::Noise;
        }
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if prompt::is_chatter(line) {
            if let Some(name) = asked(line) {
                self.put(out);
                self.interface = name.to_vec();
                self.starts = true;
            }
            return Line::Noise;
        }
        let told = self.reports.between(line, &["ethtool"], out);
        let name = bare_name(line).filter(|_| !told);
        if !told && name.is_none() {
            return Line::Unknown;
        }
        // What came is of before that time, or of another interface.
        self.put(out);
        self.starts = true;
        if let Some(name) = name {
            self.named = name.to_vec();
        }
        Line::Noise
    }

    fn end(&mut self, out: &mut Out) {
        self.put(out);
    }
}
