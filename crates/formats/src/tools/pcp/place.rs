//! Where Performance Co-Pilot's metrics are in the catalog, where the text tells their unit.

use run::Word;

use crate::net;
use crate::out::{Out, Shape};

/// Table, measure and words; `@` stands for the instance, `@layer` for what its name says.
type Place = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

#[rustfmt::skip]
const PLACES: &[Place] = &[
    ("disk.dev.read", "disk", "ios", &["@", "@layer", "read"]),
    ("disk.dev.write", "disk", "ios", &["@", "@layer", "write"]),
    ("disk.dev.discard", "disk", "ios", &["@", "@layer", "discard"]),
    ("disk.dev.read_bytes", "disk", "bytes", &["@", "@layer", "read"]),
    ("disk.dev.write_bytes", "disk", "bytes", &["@", "@layer", "write"]),
    ("disk.dev.read_merge", "disk", "merges", &["@", "@layer", "read"]),
    ("disk.dev.write_merge", "disk", "merges", &["@", "@layer", "write"]),
    ("disk.dev.read_rawactive", "disk", "time", &["@", "@layer", "read"]),
    ("disk.dev.write_rawactive", "disk", "time", &["@", "@layer", "write"]),
    ("disk.dev.avactive", "disk_device", "busy", &["@", "@layer"]),
    ("disk.dev.aveq", "disk_device", "depth_time", &["@", "@layer"]),
    ("network.interface.in.bytes", "net", "bytes", &["@", "@layer", "receive"]),
    ("network.interface.in.packets", "net", "packets", &["@", "@layer", "receive"]),
    ("network.interface.in.errors", "net", "errors", &["@", "@layer", "receive"]),
    ("network.interface.in.drops", "net", "drops", &["@", "@layer", "receive"]),
    ("network.interface.out.bytes", "net", "bytes", &["@", "@layer", "transmit"]),
    ("network.interface.out.packets", "net", "packets", &["@", "@layer", "transmit"]),
    ("network.interface.out.errors", "net", "errors", &["@", "@layer", "transmit"]),
    ("network.interface.out.drops", "net", "drops", &["@", "@layer", "transmit"]),
    ("kernel.all.cpu.user", "cpu", "time", &["all", "user"]),
    ("kernel.all.cpu.nice", "cpu", "time", &["all", "nice"]),
    ("kernel.all.cpu.sys", "cpu", "time", &["all", "system"]),
    ("kernel.all.cpu.irq.hard", "cpu", "time", &["all", "irq"]),
    ("kernel.all.cpu.irq.soft", "cpu", "time", &["all", "softirq"]),
    ("kernel.all.cpu.idle", "cpu_idle", "idle", &["all"]),
    ("kernel.all.cpu.wait.total", "cpu_idle", "iowait", &["all"]),
    ("kernel.all.cpu.steal", "cpu_idle", "steal", &["all"]),
    ("kernel.all.pswitch", "system", "context_switches", &[]),
    ("kernel.all.runnable", "system", "runnable", &[]),
    ("kernel.all.blocked", "system", "blocked", &[]),
    ("kernel.all.intr", "interrupt", "count", &["hard", "all"]),
    ("mem.util.free", "memory", "bytes", &["free"]),
    ("mem.util.bufmem", "memory", "bytes", &["buffers"]),
    ("mem.util.cached", "memory", "bytes", &["cache"]),
    ("mem.util.available", "memory_state", "available", &[]),
    ("mem.util.dirty", "memory_state", "dirty", &[]),
    ("mem.util.writeback", "memory_state", "writeback", &[]),
];

/// Names of the loads are those of its instances.
const LOADS: [(&str, &str); 3] = [
    ("1 minute", "load1"),
    ("5 minute", "load5"),
    ("15 minute", "load15"),
];

/// A unit as PCP writes it: what a number is to be multiplied by, and whether it is per second.
pub(super) fn unit(text: &str) -> Option<(f64, bool)> {
    let (base, rate) = match text.split_once('/') {
        Some((base, per)) => {
            let per = per.trim();
            if !matches!(per, "s" | "sec" | "second") {
                return None;
            }
            (base.trim(), true)
        }
        None => (text.trim(), false),
    };
    let factor = match base {
        "none" | "" | "count" | "byte" | "b" | "s" | "sec" | "second" => 1.0,
        "Kbyte" => 1024.0,
        "Mbyte" => 1024.0 * 1024.0,
        "Gbyte" => 1024.0 * 1024.0 * 1024.0,
        "ms" | "millisec" => 1e-3,
        "us" | "microsec" => 1e-6,
        "ns" | "nanosec" => 1e-9,
        _ => return None,
    };
    Some((factor, rate))
}

/// A table, words, and measures with their values.
type Row = (&'static str, Vec<Word>, Vec<(&'static str, f64)>);

/// Values of a sample that go to tables, row by row.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
}

impl Rows {
    /// Takes the value, if the catalog has a place for it.
    pub(super) fn take(
        &mut self,
        metric: &str,
        instance: &str,
        unit_text: &str,
        value: f64,
        out: &mut Out,
    ) -> bool {
        let Some((factor, rate)) = unit(unit_text) else {
            return false;
        };
        let found = if metric == "kernel.all.load" {
            let load = LOADS.iter().find(|(name, _)| *name == instance);
            load.map(|(_, measure)| ("system", *measure, &[][..]))
        } else {
            let place = PLACES.iter().find(|(name, ..)| *name == metric);
            place.map(|(_, table, measure, words)| (*table, *measure, *words))
        };
        let Some((table, measure, words)) = found else {
            return false;
        };
        let is_sum = run::catalog::table(table)
            .and_then(|(s, _)| s.measure(measure))
            .is_some_and(|m| m.kind == run::catalog::Kind::Sum);
        // Raw counters are no rates.
        if is_sum != rate || (words.contains(&"@") && instance.is_empty()) {
            return false;
        }
        let word = |text: &&str, out: &mut Out| match *text {
            "@" => out.word(instance.as_bytes()),
            "@layer" if table == "net" => out.word(net::layer(instance.as_bytes()).as_bytes()),
            "@layer" => out.disk_layer(instance.as_bytes()),
            text => out.word(text.as_bytes()),
        };
        let words: Vec<Word> = words.iter().map(|w| word(w, out)).collect();
        let value = value * factor;
        let row = self
            .rows
            .iter_mut()
            .find(|(t, w, _)| *t == table && *w == words);
        match row {
            // The same twice: a metric that was asked for twice.
            Some((_, _, values)) if values.iter().any(|(m, _)| *m == measure) => {}
            Some((_, _, values)) => values.push((measure, value)),
            None => self.rows.push((table, words, vec![(measure, value)])),
        }
        true
    }

    /// Puts the rows into the present sample.
    pub(super) fn put(self, out: &mut Out) {
        for (table, words, values) in self.rows {
            let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
            let values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
            out.put(&Shape::of(table, &names), &words, &values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_of_the_catalog() {
        let all = PLACES
            .iter()
            .map(|(_, table, measure, words)| (table, measure, words.len()));
        for (table, measure, words) in all {
            let (_, found) = run::catalog::table(table).expect("a table");
            assert!(found.measures.contains(measure), "{table} {measure}");
            assert_eq!(found.dimensions.len(), words, "{table} {measure}");
        }
    }

    #[test]
    fn units_of_pcp() {
        assert_eq!(unit("Kbyte / second"), Some((1024.0, true)));
        assert_eq!(unit("Kbyte/s"), Some((1024.0, true)));
        assert_eq!(unit("ms/s"), Some((1e-3, true)));
        assert_eq!(unit("none"), Some((1.0, false)));
        assert_eq!(unit("count / hour"), None);
        assert_eq!(unit("furlong"), None);
    }
}
