//! `pidstat -o JSON`, of sysstat 12.7: reports with a time, and in each lists of tasks, whose
//! members are named as the columns of the text.

use jiff::civil::DateTime;
use serde_json::Value;

use super::json::{self, Documents, Reports};
use super::outputs::Outputs;
use super::pidstat::{THREAD, program, put};
use super::sadf::{no_time, time_of_report};
use super::sheet::Sheet;
use super::when::Day;
use crate::list::Format;
use crate::out::Out;

pub(crate) const FORMAT: Format = Format {
    name: "pidstat-json",
    tool: "pidstat",
    systems: "Linux",
    help: "processes: processor time, memory, disk I/O, switches, as JSON of sysstat 12.7",
    recognised: "JSON with `sysstat`, `statistics`, and lists of tasks with `PID`",
    yields: &["process", "process_memory", "process_io"],
    example: r#"{"sysstat": {
	"hosts": [
		{
			"nodename": "box", "sysname": "Linux", "machine": "x86_64", "number-of-cpus": 2, "date": "2026-11-22",
			"statistics": [
				{
					"timestamp": "18:01:05",
					"io": [
						{"UID": 0, "PID": 12, "kB_rd/s": 4.00, "kB_wr/s": 128.00, "kB_ccwr/s": 0.00, "iodelay": 0, "cmd": "dd"}
					]
				}
			]
		}
	]
}}
"#,
    recognise: |head| {
        let tasks = ["\"PID\"", "\"pid\"", "\"TGID\"", "\"tgid\""];
        let ours = head.contains("\"statistics\"") && tasks.iter().any(|t| head.contains(t));
        let found = head.is_json() && head.contains("\"sysstat\"") && ours;
        if found { 95 } else { 0 }
    },
    parser: || Box::new(Documents::of(Pidstat::default())),
};

/// Members that are no numbers over time.
const SETTINGS: [&str; 8] = ["uid", "user", "pid", "tgid", "tid", "cpu", "policy", "prio"];

#[derive(Default)]
struct Pidstat {
    sheet: Sheet,
    day: Day,
    outputs: Outputs,
    /// When the report before ended.
    before: Option<DateTime>,
}

/// The member of that name, whatever its case.
fn member<'a>(task: &'a Value, names: &[&str]) -> Option<&'a Value> {
    let fields = task.as_object()?;
    let is = |name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
    fields.iter().find(|(n, _)| is(n)).map(|(_, value)| value)
}

/// A number of a task that is none of its process's measures: `12`, `"12"`; `-` and -1 are none.
fn id(task: &Value, names: &[&str]) -> Option<u64> {
    let number = json::number(member(task, names)?)?;
    (number > 0.0).then_some(number as u64)
}

impl Pidstat {
    fn task(&mut self, task: &Value, out: &mut Out) -> bool {
        let pid = id(task, &["pid"]).or_else(|| id(task, &["tgid"]));
        let thread = id(task, &["tid"]).filter(|_| pid.is_none());
        let Some(number) = pid.or(thread) else {
            return false;
        };
        let command = member(task, &["cmd", "command"]).and_then(Value::as_str);
        let command = command.unwrap_or_default().as_bytes();
        let command = command.strip_prefix(THREAD).unwrap_or(command);
        let program = program(command);
        let mark = if thread.is_some() { THREAD } else { b"" };
        let process = [mark, program, format!("[{number}]").as_bytes()].concat();
        for (name, value) in task.as_object().into_iter().flatten() {
            let setting = SETTINGS.iter().any(|s| s.eq_ignore_ascii_case(name));
            let Some(value) = json::number(value).filter(|_| !setting) else {
                continue;
            };
            // What the reader had no right to see.
            if value < 0.0 {
                continue;
            }
            let of = [&process[..], program];
            put(&mut self.sheet, out, of, thread.is_some(), name, value);
        }
        true
    }
}

impl Reports for Pidstat {
    fn host(&mut self, host: &Value, out: &mut Out) {
        self.day = Day::new(json::host(host, out).as_bytes());
        self.outputs.next();
        self.before = None;
        out.broken();
    }

    fn report(&mut self, report: &Value, _whole: bool, out: &mut Out) -> bool {
        let text = report["timestamp"].as_str();
        let when = text.and_then(|t| time_of_report(t, &mut self.day, &mut self.before, out));
        let Some(when) = when else {
            out.refuse(no_time(&report["timestamp"]));
            return true;
        };
        if self.outputs.is_told(when.stamp, &mut self.day, out) {
            return false;
        }
        out.sample_at(when.stamp);
        for (_, tasks) in report.as_object().into_iter().flatten() {
            for task in tasks.as_array().into_iter().flatten() {
                if !self.task(task, out) {
                    out.note("entries without a number of a process are left out");
                }
            }
        }
        self.sheet.hand_out(out);
        true
    }
}
