//! `sadf -j` and `mpstat -o JSON`, `sadf -x` (XML): what `sar` tells, for programs.

use jiff::civil::DateTime;
use serde_json::Value;

use super::json::{self, Documents, Reports};
use super::moments::When;
use super::page_of;
use super::records::Records;
use super::rules::TABLES;
use super::when::{Day, clock, lacks_half, with_colons};
use super::xml::Xml;
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp, time_of_day};

pub(crate) const JSON: Format = Format {
    name: "sadf-json",
    tool: "sar",
    systems: "Linux",
    help: "all reports of sar, as JSON of `sadf -j`",
    recognised: "JSON with `sysstat` and times with `interval`",
    yields: TABLES,
    example: r#"{"sysstat": {
	"hosts": [
		{
			"nodename": "box", "sysname": "Linux", "machine": "x86_64", "number-of-cpus": 2, "file-date": "2026-11-22",
			"statistics": [
				{
					"timestamp": {"date": "2026-11-22", "time": "02:52:31", "utc": 1, "interval": 10},
					"cpu-load": [
						{"cpu": "all", "usr": 37.82, "nice": 0.00, "sys": 14.51, "iowait": 8.29, "steal": 0.00, "idle": 38.34}
					],
					"process-and-context-switch": {"proc": 25.00, "cswch": 2134.00},
					"network": {
						"net-dev": [{"iface": "eth0", "rxpck": 697.00, "txpck": 412.00, "rxkB": 9765.42, "txkB": 36.32}]
					}
				}
			]
		}
	]
}}
"#,
    recognise: |head| {
        let ours = head.contains("\"timestamp\"") && head.contains("\"interval\"");
        let found = head.is_json() && head.contains("\"sysstat\"") && ours;
        if found { 93 } else { 0 }
    },
    parser: || Box::new(Documents::of(Json::new(false))),
};

pub(crate) const MPSTAT: Format = Format {
    name: "mpstat-json",
    tool: "mpstat",
    systems: "Linux",
    help: "processors and their interrupts, as JSON of sysstat 12",
    recognised: "JSON with `sysstat`, and `cpu-load` or `sum-interrupts` with times of day",
    yields: &["cpu", "cpu_idle", "interrupt"],
    example: r#"{"sysstat": {
	"hosts": [
		{
			"nodename": "box", "sysname": "Linux", "machine": "x86_64", "number-of-cpus": 2, "date": "2021-05-19",
			"statistics": [
				{
					"timestamp": "18:01:05",
					"cpu-load": [
						{"cpu": "all", "usr": 50.01, "nice": 0.00, "sys": 0.00, "iowait": 0.00, "irq": 0.00, "soft": 0.01, "steal": 0.00, "guest": 0.00, "gnice": 0.00, "idle": 49.98}
					]
				}
			]
		}
	]
}}
"#,
    recognise: |head| {
        let all = [
            "\"cpu-load\"",
            "\"sum-interrupts\"",
            "\"soft-interrupts\"",
            "\"node-load\"",
        ];
        let ours = all.iter().any(|t| head.contains(t)) && !head.contains("\"interval\"");
        let found = head.is_json() && head.contains("\"sysstat\"") && ours;
        if found { 93 } else { 0 }
    },
    parser: || Box::new(Documents::of(Json::new(true))),
};

pub(crate) const XML: Format = Format {
    name: "sadf-xml",
    tool: "sar",
    systems: "Linux",
    help: "all reports of sar, as XML of `sadf -x`",
    recognised: "XML whose first element is `sysstat`",
    yields: TABLES,
    example: r#"<?xml version="1.0" encoding="UTF-8"?>
<sysstat>
	<host nodename="box">
		<machine>x86_64</machine>
		<number-of-cpus>2</number-of-cpus>
		<statistics>
			<timestamp date="2026-11-22" time="02:52:31" utc="1" interval="10">
				<cpu-load>
					<cpu number="all" usr="37.82" nice="0.00" sys="14.51" iowait="8.29" steal="0.00" idle="38.34"/>
				</cpu-load>
				<memory unit="kB">
					<memfree>15111164</memfree>
				</memory>
			</timestamp>
		</statistics>
	</host>
</sysstat>
"#,
    recognise: recognise_xml,
    parser: || Box::new(Xml::default()),
};

fn recognise_xml(head: &Head) -> u8 {
    let first = head.bytes().trim_ascii_start().first();
    if head.any_starts("<sysstat") || first == Some(&b'<') && head.contains("<sysstat") {
        93
    } else {
        0
    }
}

/// When a record ends: its date, its time, whether they are of UTC, and its interval.
pub(super) fn when(date: &str, time: &str, utc: bool, interval: Option<f64>) -> Option<When> {
    let date: jiff::civil::Date = date.parse().ok()?;
    // Sysstat 10 had `05-10-01` where the locale has no way of its own to print times.
    let time = time.replace('-', ":");
    let at = date.to_datetime(time_of_day(time.as_bytes(), None)?);
    Some(of(at, utc, interval))
}

fn of(at: DateTime, utc: bool, interval: Option<f64>) -> When {
    When {
        at,
        stamp: if utc {
            Stamp::Zoned(at, 0)
        } else {
            Stamp::Civil(at)
        },
        interval: interval.filter(|i| *i > 0.0),
        since_boot: false,
    }
}

struct Json {
    records: Records,
    mpstat: bool,
    day: Day,
    /// When the report before ended.
    before: Option<DateTime>,
}

impl Json {
    fn new(mpstat: bool) -> Json {
        let mut records = Records::default();
        records.moments.in_turn = true;
        Json {
            records,
            mpstat,
            day: Day::default(),
            before: None,
        }
    }

    fn when(&mut self, stamp: &Value, out: &mut Out) -> Option<When> {
        if self.mpstat {
            return time_of_report(stamp.as_str()?, &mut self.day, &mut self.before, out);
        }
        let utc = json::number(&stamp["utc"]) == Some(1.0);
        let part = |name: &str| stamp[name].as_str().unwrap_or_default();
        let interval = json::number(&stamp["interval"]);
        when(part("date"), part("time"), utc, interval)
    }
}

impl Reports for Json {
    fn host(&mut self, host: &Value, out: &mut Out) {
        self.records.next();
        self.day = Day::new(json::host(host, out).as_bytes());
        self.before = None;
        let place = &mut self.records.moments.place;
        place.processors = host["number-of-cpus"]
            .as_u64()
            .and_then(|n| u32::try_from(n).ok());
        place.page = host["machine"].as_str().and_then(|m| page_of(m.as_bytes()));
    }

    fn report(&mut self, report: &Value, whole: bool, out: &mut Out) -> bool {
        let stamp = &report["timestamp"];
        let Some(when) = self.when(stamp, out) else {
            out.refuse(no_time(stamp));
            return true;
        };
        let left_out = self.records.left_out();
        for (group, value) in report.as_object().into_iter().flatten() {
            if group != "timestamp" {
                self.records.member(&when, group, value, out);
            }
        }
        let found = self.records.moments.hand_out_report(whole, out);
        found || self.records.left_out() == left_out
    }

    fn end(&mut self, out: &mut Out) {
        self.records.end(out);
    }
}

/// Why a report is not taken whose time says nothing.
pub(super) fn no_time(stamp: impl std::fmt::Display) -> Refused {
    Refused(format!(
        "a report's time is {stamp}, which is none that is known"
    ))
}

/// The moment of a report that tells a time of day.
pub(super) fn time_of_report(
    text: &str,
    day: &mut Day,
    before: &mut Option<DateTime>,
    out: &mut Out,
) -> Option<When> {
    let plain = with_colons(text.as_bytes());
    let text = plain.as_deref().unwrap_or(text.as_bytes());
    let all: Vec<&[u8]> = crate::fields(text).collect();
    let (time, taken) = clock(&all)?;
    if taken != all.len() || lacks_half(&all) {
        return None;
    }
    let last = *before;
    let date = last.map_or_else(|| day.date(out), DateTime::date);
    let mut at = date.to_datetime(time);
    if last.is_some_and(|last| at < last) {
        at = date.tomorrow().ok()?.to_datetime(time);
    }
    let passed = last.map(|last| at.duration_since(last).as_secs_f64());
    *before = Some(at);
    Some(of(at, false, passed))
}
