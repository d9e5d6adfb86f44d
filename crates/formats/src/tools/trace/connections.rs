//! Lists of TCP connections of bcc, libbpf-tools, bpftrace and perf-tools: `tcplife`, `tcptop`, `tcpconnect`,
//! `tcpaccept`, `tcpretrans`.
//!
//! ```text
//! TIME(s)   PID   COMM       LADDR           LPORT RADDR           RPORT TX_KB RX_KB MS
//! 1.022454  5996  curl       127.0.0.1       47988 127.0.0.1       28527     0    12 230.5
//! ```
//!
//! A row of `tcplife` is a connection that closed: it counts over its whole life. One of
//! `tcptop` counts over an interval. The others are events. KB are 1,024 bytes, cut to whole
//! ones.

use run::rows::TableId;

use super::table::{Row, Table};
use super::{echoed, event, first_number, output_every, stamp};
use crate::list::Format;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::{Refused, Stamp, time_of_day};
use crate::{Line, Parser};

const KIB: f64 = 1024.0;

const LIFE: &[&str] = &["PID", "COMM", "LADDR", "LPORT", "RADDR", "RPORT", "MS"];
const TOP: &[&str] = &["PID", "COMM", "LADDR", "RADDR", "RX_KB", "TX_KB"];
const CONNECT: &[&str] = &["PID", "COMM", "IP", "SADDR", "DADDR", "DPORT"];
const ACCEPT: &[&str] = &["PID", "COMM", "IP", "RADDR", "LADDR", "LPORT"];
const RETRANS: &[&str] = &["TIME", "PID", "IP", "T>", "STATE"];

pub(crate) const TCPLIFE: Format = Format {
    name: "tcplife",
    tool: "tcplife",
    systems: "Linux",
    help: "TCP connections that closed: who had them, how long, bytes both ways",
    recognised: "a header `PID COMM LADDR LPORT RADDR RPORT TX_KB RX_KB MS`, also with commas",
    yields: &["tcp_connection"],
    example: "\
TIME(s)   PID   COMM       LADDR           LPORT RADDR           RPORT TX_KB RX_KB MS
1.022454  5996  curl       127.0.0.1       47988 127.0.0.1       28527     0    12 230.5
",
    recognise: |head| recognise(head, &[LIFE]),
    parser: || Box::new(Connections::new()),
};

pub(crate) const TCPTOP: Format = Format {
    name: "tcptop",
    tool: "tcptop",
    systems: "Linux",
    help: "bytes of TCP connections by process, in intervals",
    recognised: "a header `PID COMM LADDR RADDR RX_KB TX_KB`",
    yields: &["tcp_connection"],
    example: "\
19:46:24 loadavg: 1.86 2.67 2.91 3/362 16681

PID    COMM         LADDR                 RADDR                  RX_KB  TX_KB
16648  16648        100.66.3.172:22       100.127.69.165:6684        1      0
",
    recognise: |head| recognise(head, &[TOP]),
    parser: || Box::new(Connections::new()),
};

pub(crate) const TCPCONNECT: Format = Format {
    name: "tcpconnect",
    tool: "tcpconnect",
    systems: "Linux",
    help: "connections that programs asked for (tcpconnect -t)",
    recognised: "a header `PID COMM IP SADDR DADDR DPORT` without `LAT(ms)`",
    yields: &["tcp_event"],
    example: "\
TIME(s)  PID    COMM         IP SADDR            DADDR            DPORT
0.000    1201   wget         4  10.153.223.157   23.23.100.231    80
",
    recognise: |head| recognise(head, &[CONNECT, CONNECT_BT]),
    parser: || Box::new(Connections::new()),
};

pub(crate) const TCPACCEPT: Format = Format {
    name: "tcpaccept",
    tool: "tcpaccept",
    systems: "Linux",
    help: "connections that programs accepted (tcpaccept -t)",
    recognised: "a header `PID COMM IP RADDR … LADDR LPORT`",
    yields: &["tcp_event"],
    example: "\
TIME(s)  PID    COMM         IP RADDR            RPORT LADDR            LPORT
0.992    907    sshd         4  127.0.0.1        32324 127.0.0.1        22
",
    recognise: |head| recognise(head, &[ACCEPT, ACCEPT_BT]),
    parser: || Box::new(Connections::new()),
};

pub(crate) const TCPRETRANS: Format = Format {
    name: "tcpretrans",
    tool: "tcpretrans",
    systems: "Linux",
    help: "segments of TCP that were sent again, one by one",
    recognised: "a header `TIME PID IP LADDR:LPORT T> RADDR:RPORT STATE`",
    yields: &["tcp_event"],
    example: "\
TIME     PID    IP LADDR:LPORT          T> RADDR:RPORT          STATE
01:55:05 0      4  10.153.223.157:22    R> 69.53.245.40:34619   ESTABLISHED
",
    recognise: |head| recognise(head, &[RETRANS, RETRANS_BT]),
    parser: || Box::new(Connections::new()),
};

/// Those of bpftrace's scripts of the same names.
const CONNECT_BT: &[&str] = &["PID", "COMM", "SADDR", "SPORT", "DADDR", "DPORT"];
const ACCEPT_BT: &[&str] = &["PID", "COMM", "RADDR", "RPORT", "LADDR", "LPORT", "BL"];
const RETRANS_BT: &[&str] = &["TIME", "PID", "LADDR:LPORT", "RADDR:RPORT", "STATE"];

/// A header with those columns, and with none that makes it another tool's.
fn header(line: &str, wanted: &[&str]) -> Option<Table> {
    // tcptop names the columns of IPv6 otherwise.
    let line = line.replace(',', " ").replace("ADDR6", "ADDR");
    let table = Table::of(&line, wanted)?;
    let other = match wanted {
        // `tcptracer` lists what was accepted and closed, too.
        CONNECT | CONNECT_BT => table.has("LAT(ms)") || table.has("T"),
        RETRANS_BT => table.has("IP"),
        TOP | ACCEPT => table.has("MS"),
        _ => false,
    };
    (!other).then_some(table)
}

fn recognise(head: &Head, wanted: &[&[&str]]) -> u8 {
    let is_header = |l: &[u8]| {
        let text = String::from_utf8_lossy(l);
        wanted.iter().any(|wanted| header(&text, wanted).is_some())
    };
    // Those of addresses may be named otherwise.
    let may_have = |names: &&[&str]| names.iter().all(|n| n.contains("ADDR") || head.has(n));
    let found = wanted.iter().any(may_have) && head.headers().any(is_header);
    if found { 91 } else { 0 }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Life,
    Top,
    Connect,
    Accept,
    Retrans,
}

struct Connections {
    table: Option<(Kind, Table)>,
    /// Fields stand between commas.
    commas: bool,
    /// The last header was of IPv6.
    of_six: bool,
    stamp: Option<Stamp>,
    fresh: bool,
    /// That of a report of `tcptop` which has no row so far.
    empty: Option<Stamp>,
    connection: Shape,
    event: TableId,
}

/// When it was, as the row tells.
fn moment(row: &Row, out: &mut Out) -> Option<Stamp> {
    if let Some(time) = row.text("TIME") {
        return time_of_day(time.as_bytes(), None).map(Stamp::Clock);
    }
    if let Some(time) = row.text("TIME(s)") {
        // That of libbpf-tools has times of day below it (`-T`).
        if time.contains(':') {
            return time_of_day(time.as_bytes(), None).map(Stamp::Clock);
        }
        return row.number("TIME(s)").map(Stamp::Elapsed);
    }
    let why = "the tool printed no times\nhint: its option -t or -T prints them";
    out.refuse(Refused(why.into()));
    None
}

/// `10.0.0.1:22`, `[::1]:80`.
fn end(text: &str) -> Option<(&str, &str)> {
    let (address, port) = text.rsplit_once(':')?;
    let address = address.trim_start_matches('[').trim_end_matches(']');
    (!port.is_empty()).then_some((address, port))
}

fn process(row: &Row) -> Option<[String; 2]> {
    let (comm, pid) = (row.text("COMM")?, row.text("PID")?);
    pid.parse::<u32>().ok()?;
    Some([format!("{comm}[{pid}]"), comm.to_owned()])
}

impl Connections {
    fn new() -> Connections {
        Connections {
            table: None,
            commas: false,
            of_six: false,
            stamp: None,
            fresh: true,
            empty: None,
            connection: Shape::of("tcp_connection", &["bytes"]),
            event: TableId::of("tcp_event"),
        }
    }

    /// Bytes both ways of a connection, in the present sample.
    fn put_bytes(
        &self,
        [remote, remote_port, local_port]: [&str; 3],
        [process, command]: &[String; 2],
        [sent, received]: [f64; 2],
        out: &mut Out,
    ) {
        for (direction, bytes) in [("transmit", sent), ("receive", received)] {
            let words = [
                direction,
                remote,
                remote_port,
                local_port,
                process,
                command,
                "",
            ];
            let words = words.map(|w| out.word(w.as_bytes()));
            out.put_amounts(&self.connection, &words, &[bytes * KIB]);
        }
    }

    fn life(&self, row: &Row, out: &mut Out) -> Option<()> {
        let sent = row.number("TX_KB")?;
        let received = row.number("RX_KB")?;
        let length = row.number("MS")? / 1e3;
        let process = process(row)?;
        let ends = [row.text("RADDR")?, row.text("RPORT")?, row.text("LPORT")?];
        let stamp = moment(row, out)?;
        out.note("a connection counts over its whole life, at the time when it closed");
        out.sample_at(stamp);
        // One of no length is still one.
        out.spans(length.max(1e-6));
        self.put_bytes(ends, &process, [sent, received], out);
        Some(())
    }

    fn top(&mut self, row: &Row, out: &mut Out) -> Option<()> {
        let sent = row.number("TX_KB")?;
        let received = row.number("RX_KB")?;
        let process = process(row)?;
        let (_, local_port) = end(row.text("LADDR")?)?;
        let (remote, remote_port) = end(row.text("RADDR")?)?;
        if std::mem::take(&mut self.fresh) {
            out.sample_told(self.stamp.take());
            self.empty = None;
        }
        self.put_bytes(
            [remote, remote_port, local_port],
            &process,
            [sent, received],
            out,
        );
        Some(())
    }

    fn event(&self, kind: Kind, row: &Row, out: &mut Out) -> Option<()> {
        let no_one = [String::new(), String::new()];
        let (ends, who, state) = match kind {
            Kind::Connect => (
                [
                    row.text("DADDR")?,
                    row.text("DPORT")?,
                    row.text("LPORT").or(row.text("SPORT")).unwrap_or(""),
                ],
                process(row)?,
                "CLOSE to SYN_SENT",
            ),
            Kind::Accept => (
                [
                    row.text("RADDR")?,
                    row.text("RPORT").unwrap_or(""),
                    row.text("LPORT")?,
                ],
                process(row)?,
                "SYN_RECV to ESTABLISHED",
            ),
            _ => {
                let (_, local_port) = end(row.text("LADDR:LPORT")?)?;
                let (remote, remote_port) = end(row.text("RADDR:RPORT")?)?;
                row.number("PID")?;
                // The column is `T>` of bcc and `--` of perf-tools; bpftrace has retransmissions only.
                match row.text("T>").or(row.text("--")).unwrap_or("R>") {
                    "R>" => {}
                    "L>" => {
                        out.note("tail loss probes (L>) are left out: they are no retransmissions");
                        return Some(());
                    }
                    _ => return None,
                }
                ([remote, remote_port, local_port], no_one, "retransmit")
            }
        };
        let stamp = moment(row, out)?;
        let [remote, remote_port, local_port] = ends;
        let words = [remote, remote_port, local_port, &who[0], &who[1], "", state];
        let words = words.map(|w| out.word(w.as_bytes()));
        event(self.event, stamp, &words, &[f64::NAN, f64::NAN, 1.0], out);
        Some(())
    }

    fn header(&mut self, text: &str) -> bool {
        let kinds = [
            (Kind::Life, LIFE),
            (Kind::Top, TOP),
            (Kind::Connect, CONNECT),
            (Kind::Accept, ACCEPT),
            (Kind::Retrans, RETRANS),
            (Kind::Connect, CONNECT_BT),
            (Kind::Accept, ACCEPT_BT),
            (Kind::Retrans, RETRANS_BT),
        ];
        let found = kinds
            .iter()
            .find_map(|(kind, wanted)| Some((*kind, header(text, wanted)?)));
        let Some((kind, table)) = found else {
            return false;
        };
        self.commas = text.contains(',');
        // A table of IPv6 stands below that of IPv4, if there is one: it is of the same interval.
        let of_six = text.contains("ADDR6");
        self.fresh |= kind == Kind::Top && (!of_six || self.of_six);
        self.of_six = of_six;
        self.table = Some((kind, table));
        true
    }

    /// Lines around the rows.
    fn beside(&mut self, text: &str, out: &mut Out) -> bool {
        // `19:46:24 loadavg: 1.86 2.67 2.91 3/362 16681`.
        if let Some((time, _)) = text.split_once(" loadavg:")
            && let Some(told) = stamp(time)
        {
            self.stamp = Some(told);
            // Nobody sent or received anything.
            if let Some(empty) = self.empty.replace(told) {
                out.sample_at(empty);
            }
            self.fresh = true;
            return true;
        }
        if let Some(words) = echoed(text) {
            if self
                .table
                .as_ref()
                .is_none_or(|(kind, _)| *kind == Kind::Top)
                && let Some(seconds) = first_number(words.get(1..).unwrap_or_default(), "pd")
            {
                out.every(seconds);
            }
            return true;
        }
        if let Some(seconds) = output_every(text) {
            out.every(seconds);
        }
        ["Tracing", "Attach", "Ending"]
            .iter()
            .any(|s| text.starts_with(s))
            || matches!(text, "^C" | "[...]")
            || {
                let told = stamp(text);
                self.stamp = told.or(self.stamp);
                self.fresh |= told.is_some();
                told.is_some()
            }
    }
}

impl Parser for Connections {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.is_empty() || self.header(text) {
            return Line::Noise;
        }
        let seen = self.table.take().and_then(|(kind, table)| {
            let split = if self.commas {
                text.replace(',', " ")
            } else {
                text.to_owned()
            };
            let seen = table.row(&split).and_then(|row| match kind {
                Kind::Life => self.life(&row, out),
                Kind::Top => self.top(&row, out),
                kind => self.event(kind, &row, out),
            });
            self.table = Some((kind, table));
            seen
        });
        if seen.is_some() {
            Line::Data
        } else if self.beside(text, out) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }
}
