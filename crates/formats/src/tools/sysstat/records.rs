//! Records of `sadf -j`, `sadf -x` and `mpstat -o JSON`: they hold what the text holds, by names
//! without `/s`, `kb` and `%`.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use run::{Nanos, Word};
use serde_json::Value;

use super::moments::{Header, Moments, When};
use super::told::{By, LeftOut, Told};
use crate::number::number;
use crate::out::Out;
use crate::time::Stamp;

/// Gathers records as rows of tables like those of the text.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) moments: Moments,
    headers: HashMap<String, usize>,
    /// What each header's rows told of.
    told: Vec<Told>,
    left_out: LeftOut,
    /// When the present output's last record ended.
    before: Option<Nanos>,
}

/// Fields that say what a record is of, and the text's column of it.
fn instance_of(group: &str, key: &str) -> Option<&'static str> {
    Some(match key {
        "cpu" | "number" if group == "cpu-frequency" || group.starts_with("cpu-") => "CPU",
        "cpu" => "CPU",
        "disk-device" => "DEV",
        "dev" if group == "disk" => "DEV",
        "iface" => "IFACE",
        "intr" if group == "interrupts" => "INTR",
        "line" => "TTY",
        "filesystem" | "fsname" | "mountp" => "FILESYSTEM",
        "node" => "NODE",
        "number" | "device" | "bus_number" | "bus-number" | "fchost" | "core" | "socket" => "OF",
        _ => return None,
    })
}

/// The text's name of a column.
fn text_name(group: &str, key: &str) -> String {
    if let Some(share) = key.strip_suffix("-percent") {
        return format!("%{share}");
    }
    match (group, key) {
        ("cpu-load" | "cpu-load-all" | "node-load" | "cpu-topology", _) => format!("%{key}"),
        ("memory" | "hugepages", "inactive") => "kbinact".into(),
        ("memory" | "hugepages", _) => format!("kb{key}"),
        ("cpu-frequency" | "cpu-weighted-frequency", "frequency" | "weighted-frequency") => {
            "MHz".into()
        }
        ("psi-cpu" | "psi-io" | "psi-mem", _) => {
            let of = group.trim_start_matches("psi-");
            let (letter, rest) = match key.split_once("_avg") {
                Some(("some", rest)) => ('s', rest),
                Some(("full", rest)) => ('f', rest),
                _ => return key.to_owned(),
            };
            let dash = if rest.is_empty() { "" } else { "-" };
            format!("%{letter}{of}{dash}{rest}")
        }
        ("disk", "rd_sec" | "wr_sec" | "dc_sec" | "rkB" | "wkB" | "dkB")
        | ("sum-interrupts", "intr") => format!("{key}/s"),
        (
            "disk" | "queue" | "kernel" | "net-sock" | "net-sock6" | "filesystems" | "interrupts"
            | "temperature" | "fan-speed" | "voltage-input",
            _,
        )
        | (_, "tps" | "rtps" | "wtps" | "dtps" | "blg_len") => key.to_owned(),
        _ => format!("{key}/s"),
    }
}

impl Records {
    /// Another output begins.
    pub(crate) fn next(&mut self) {
        self.told.iter_mut().for_each(Told::next);
        self.before = None;
    }

    /// Rows that an output above told of.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out.by_output()
    }

    /// The input is over.
    pub(crate) fn end(&mut self, out: &mut Out) {
        self.moments.hand_out(None, out);
        self.left_out.note(out);
    }

    /// Whether an output above told of that row.
    fn is_told(&mut self, when: &When, header: usize, name: Word, out: &mut Out) -> bool {
        let local = match when.stamp {
            Stamp::Zoned(at, _) => TimeZone::UTC
                .to_timestamp(at)
                .ok()
                .and_then(|t| Nanos::try_from(t.as_nanosecond()).ok()),
            _ => out.local(when.at, self.before),
        };
        let Some(at) = local else { return false };
        self.before = Some(at);
        let when = When {
            stamp: Stamp::Epoch(at),
            ..*when
        };
        let Some(told) = self.told.get_mut(header) else {
            return false;
        };
        // A record may have rows that look alike: theirs are of one output.
        let is_told = told.told_by(name, &when, &[]) == Some(By::Output);
        if is_told {
            self.left_out.row(By::Output, out);
        }
        is_told
    }

    /// Adds a record.
    pub(crate) fn add<'a>(
        &mut self,
        when: &When,
        group: &str,
        fields: impl Iterator<Item = (&'a str, String)>,
        out: &mut Out,
    ) {
        let (mut of, mut name) = (Vec::new(), Vec::new());
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (key, text) in fields {
            if let Some(column) = instance_of(group, key) {
                of.push(column.to_owned());
                name.push(match column {
                    "NODE" => format!("node {text}"),
                    _ => text,
                });
            } else if let Some(value) = number(text.as_bytes()) {
                names.push(text_name(group, key));
                values.push(value);
            }
        }
        if names.is_empty() || group == "usb-devices" {
            return;
        }
        let key = format!("{group} {} {}", of.join(" "), names.join(" "));
        let (headers, told) = (&mut self.moments.headers, &mut self.told);
        let header = *self.headers.entry(key).or_insert_with(|| {
            headers.push(Header::new(names, &of));
            told.push(Told::default());
            headers.len() - 1
        });
        let name = out.word(name.join(" ").as_bytes());
        if !self.is_told(when, header, name, out) {
            self.moments.row(when, header, name, &values);
        }
    }

    /// Adds what a member of a report in JSON holds.
    pub(crate) fn member(&mut self, when: &When, group: &str, value: &Value, out: &mut Out) {
        match value {
            Value::Array(all) => {
                for one in all {
                    self.member(when, group, one, out);
                }
            }
            Value::Object(fields) => {
                let plain = fields
                    .iter()
                    .filter_map(|(k, v)| Some((k.as_str(), text(v)?)));
                let mut plain: Vec<(&str, String)> = plain.collect();
                for (key, nested) in fields.iter().filter(|(_, v)| v.is_array() || v.is_object()) {
                    if key == "intr" {
                        // Lines of one processor, each with a name and a value.
                        for line in nested.as_array().into_iter().flatten() {
                            let name = line["name"].as_str().unwrap_or_default();
                            plain.extend(text(&line["value"]).map(|v| (name, v)));
                        }
                    } else {
                        self.member(when, key, nested, out);
                    }
                }
                self.add(when, group, plain.into_iter(), out);
            }
            _ => {}
        }
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::text_name;

    #[test]
    fn names_become_those_of_the_text() {
        for (group, key, name) in [
            ("cpu-load", "usr", "%usr"),
            ("memory", "memfree", "kbmemfree"),
            ("memory", "memused-percent", "%memused"),
            ("paging", "vmeff-percent", "%vmeff"),
            ("paging", "pgpgin", "pgpgin/s"),
            ("psi-io", "full_avg", "%fio"),
            ("psi-mem", "some_avg10", "%smem-10"),
            ("disk", "rd_sec", "rd_sec/s"),
            ("disk", "util-percent", "%util"),
            ("queue", "ldavg-1", "ldavg-1"),
            ("net-tcp", "iseg", "iseg/s"),
            ("cpu-frequency", "frequency", "MHz"),
        ] {
            assert_eq!(text_name(group, key), name, "{group}");
        }
    }
}
