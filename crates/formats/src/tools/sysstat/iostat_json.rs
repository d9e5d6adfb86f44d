//! `iostat -o JSON` (sysstat 12): the numbers of the text, by the same names.
//!
//! The first report is a mean since boot, also here; nothing in the document tells of `-y`.

use serde_json::Value;

use super::device::{Column, Disks};
use super::json::{self, Documents, Reports};
use super::outputs::Outputs;
use super::shares::put_processors;
use super::when::{Day, iso, stamp};
use crate::cpu::Cpu;
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;

pub(crate) const FORMAT: Format = Format {
    name: "iostat-json",
    tool: "iostat",
    systems: "Linux",
    help: "block devices and processors, as JSON of sysstat 12",
    recognised: "JSON with `sysstat`, and `avg-cpu` or `disk_device`",
    yields: &["cpu", "cpu_idle", "disk", "disk_device"],
    example: r#"{"sysstat": {
	"hosts": [
		{
			"nodename": "box", "sysname": "Linux", "release": "6.1.0", "machine": "x86_64", "number-of-cpus": 2, "date": "2024-03-14",
			"statistics": [
				{
					"timestamp": "2024-03-14T17:53:14-0700",
					"avg-cpu":  {"user": 0.72, "nice": 0.22, "system": 0.77, "iowait": 0.01, "steal": 0.05, "idle": 98.23},
					"disk": [
						{"disk_device": "sda", "r/s": 1.39, "w/s": 22.85, "rkB/s": 69.95, "wkB/s": 431.31, "r_await": 0.95, "w_await": 1.12, "aqu-sz": 0.03, "util": 0.98}
					]
				}
			]
		}
	]
}}
"#,
    recognise,
    parser: || Box::new(Documents::of(IostatJson::new())),
};

fn recognise(head: &Head) -> u8 {
    let ours = head.contains("\"disk_device\"") || head.contains("\"avg-cpu\"");
    if head.is_json() && head.contains("\"sysstat\"") && ours {
        95
    } else {
        0
    }
}

struct IostatJson {
    cpu: Cpu,
    disks: Disks,
    day: Day,
    outputs: Outputs,
    /// Reports of the present host.
    reports: u64,
}

impl IostatJson {
    fn new() -> IostatJson {
        IostatJson {
            cpu: Cpu::new(),
            disks: Disks::new(),
            day: Day::default(),
            outputs: Outputs::default(),
            reports: 0,
        }
    }
}

impl Reports for IostatJson {
    fn host(&mut self, host: &Value, out: &mut Out) {
        self.day = Day::new(json::host(host, out).as_bytes());
        self.outputs.next();
        self.reports = 0;
        out.broken();
    }

    fn report(&mut self, report: &Value, _whole: bool, out: &mut Out) -> bool {
        let text = report["timestamp"].as_str().map(str::as_bytes);
        let told = text.and_then(|t| iso(t).or_else(|| stamp(t, &mut self.day, out)));
        self.reports += 1;
        if let Some(stamp) = told
            && self.outputs.is_told(stamp, &mut self.day, out)
        {
            return false;
        }
        out.sample_told(told);
        if self.reports == 1 {
            out.since_boot();
        }
        self::report(report, &self.cpu, &mut self.disks, out);
        true
    }
}

fn report(report: &Value, cpu: &Cpu, disks: &mut Disks, out: &mut Out) {
    if let Some(shares) = report["avg-cpu"].as_object() {
        let values = shares
            .iter()
            .map(|(n, v)| (n.as_str(), json::number(v).unwrap_or(f64::NAN)));
        put_processors(cpu, values, out);
    }
    for device in report["disk"].as_array().into_iter().flatten() {
        let Some(columns) = device.as_object() else {
            continue;
        };
        let name = ["disk_device", "disk", "device"]
            .iter()
            .find_map(|n| device[*n].as_str());
        let Some(name) = name else { continue };
        let values: Vec<(Column, f64)> = columns
            .iter()
            .filter_map(|(n, v)| {
                let column = Column::of(&text_name(n));
                let value = column.amount(json::number(v)?);
                Some((column, value))
            })
            .collect();
        disks.put(out, name.as_bytes(), values.iter().map(|(c, v)| (c, *v)));
    }
}

/// The column's name in the text.
fn text_name(name: &str) -> String {
    match name {
        "util" | "rrqm" | "wrqm" | "drqm" => format!("%{name}"),
        _ => name.to_owned(),
    }
}
