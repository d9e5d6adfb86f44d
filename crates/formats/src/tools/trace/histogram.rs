//! Where printed histograms go: those of known scripts to the catalog's own tables, all others
//! to `distribution`.

use std::collections::HashMap;

use run::Word;
use run::rows::TableId;

use super::buckets::Bucket;
use crate::out::Out;
use crate::time::Stamp;

/// What a known script measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    DiskLatency,
    DiskSize,
    Wait,
    Slice,
    /// Operations on that kind of file system.
    File(&'static str),
}

/// Tables that these formats can fill.
pub(super) const TABLES: &[&str] = &[
    "distribution",
    "disk_latency",
    "disk_size",
    "cpu_wait",
    "cpu_slice",
    "file_latency",
];

impl Goal {
    /// Of the script of that name.
    pub(super) fn of(script: &str) -> Option<Goal> {
        Some(match script {
            "biolatency" | "iolatency" => Goal::DiskLatency,
            "bitesize" => Goal::DiskSize,
            "runqlat" => Goal::Wait,
            "cpudist" => Goal::Slice,
            "ext4dist" => Goal::File("ext4"),
            "xfsdist" => Goal::File("xfs"),
            "btrfsdist" => Goal::File("btrfs"),
            "zfsdist" => Goal::File("zfs"),
            "nfsdist" => Goal::File("nfs"),
            "f2fsdist" => Goal::File("f2fs"),
            _ => return None,
        })
    }

    /// Of the script that says this when it starts.
    pub(super) fn of_banner(line: &str) -> Option<(&'static str, Goal)> {
        let script = [
            ("Tracing block device I/O...", "biolatency"),
            ("Tracing block I/O...", "bitesize"),
            ("Tracing block I/O. ", "iolatency"),
            ("Tracing block I/O size (bytes), ", "bitesize"),
            ("Tracing run queue latency...", "runqlat"),
            ("Tracing CPU scheduler...", "runqlat"),
            ("I/O size (bytes) histograms", "bitesize"),
            ("Tracing on-CPU time...", "cpudist"),
            ("Tracing ext4 operation latency", "ext4dist"),
            ("Tracing EXT4 operation latency", "ext4dist"),
            ("Tracing XFS operation latency", "xfsdist"),
            ("Tracing btrfs operation latency", "btrfsdist"),
            ("Tracing ZFS operation latency", "zfsdist"),
            ("Tracing NFS operation latency", "nfsdist"),
            ("Tracing F2FS operation latency", "f2fsdist"),
        ]
        .iter()
        .find_map(|(start, script)| line.starts_with(start).then_some(*script))?;
        Some((script, Goal::of(script)?))
    }
}

/// One histogram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Title<'a> {
    pub(super) tool: &'a str,
    pub(super) name: &'a str,
    /// What the key is of: `disk`, `operation`; empty if not told. Tabs separate several.
    pub(super) header: &'a str,
    /// The key, of as many parts.
    pub(super) key: &'a str,
    /// What known scripts' values are in: 1e-6 for microseconds, 1024 for KiB.
    pub(super) unit: f64,
}

/// Puts histograms into tables.
pub(super) struct Histograms {
    pub(super) goal: Option<Goal>,
    distribution: TableId,
}

impl Histograms {
    pub(super) fn new() -> Histograms {
        Histograms {
            goal: None,
            distribution: TableId::of("distribution"),
        }
    }

    /// Adds a histogram to the present sample.
    pub(super) fn put(&self, title: &Title, buckets: &[Bucket], out: &mut Out) {
        let goal = self.goal.filter(|_| !title.unit.is_nan());
        let known = goal.map(|goal| known(goal, title, out));
        if let Some((table, words, _)) = &known {
            for bucket in buckets.iter().filter(|b| b.count != 0.0) {
                let (from, to) = (bucket.from * title.unit, bucket.to * title.unit);
                out.bucket(*table, words, from, to, bucket.count);
            }
        }
        // A table of the catalog has no place for every key.
        if known.is_some_and(|(_, _, whole)| whole) {
            return;
        }
        let key = title.key.replace('\t', ", ");
        let words = [title.tool, title.name, &key].map(|w| out.word(w.as_bytes()));
        let parts = buckets.iter().filter(|b| b.count != 0.0);
        for part in parts.flat_map(|b| b.mirrored()) {
            out.bucket(self.distribution, &words, part.from, part.to, part.count);
        }
    }
}

/// The table, its words, and whether they tell all that the key tells.
fn known(goal: Goal, title: &Title, out: &mut Out) -> (TableId, Vec<Word>, bool) {
    let (table, words, whole) = match goal {
        Goal::DiskLatency | Goal::DiskSize => {
            let (mut device, mut op, mut plain) = ("(all)", "(all)", true);
            for (header, key) in title.header.split('\t').zip(title.key.split('\t')) {
                if header.ends_with("disk") {
                    device = key;
                } else if header == "flags" {
                    op = op_of_flags(key);
                    plain &= op.eq_ignore_ascii_case(key);
                } else {
                    plain &= key.is_empty();
                }
            }
            let table = match goal {
                Goal::DiskSize => "disk_size",
                _ => "disk_latency",
            };
            // Requests are of whole disks, whatever their names look like.
            (table, vec![device, request_layer(device), op], plain)
        }
        Goal::Wait => ("cpu_wait", vec![""], title.key.is_empty()),
        Goal::Slice => ("cpu_slice", vec![""], title.key.is_empty()),
        Goal::File(filesystem) => {
            let op = op_of_file(title.key);
            ("file_latency", vec![op, filesystem], op == title.key)
        }
    };
    let words = words.iter().map(|w| out.word(w.as_bytes())).collect();
    (TableId::of(table), words, whole)
}

/// The layer of a device that has requests.
pub(super) fn request_layer(device: &str) -> &'static str {
    match crate::disk::layer(device.as_bytes()) {
        "partition" => "disk",
        _ if device == "(all)" => "disk",
        layer => layer,
    }
}

/// `Sync-Metadata-Read` is a read.
fn op_of_flags(flags: &str) -> &'static str {
    match flags.rsplit('-').next() {
        Some("Read") => "read",
        Some("Write") => "write",
        Some("Flush") => "flush",
        Some("Discard" | "SecureErase") => "discard",
        _ => "other",
    }
}

/// `read` of `read`, `ext4_file_read_iter` or `xfs_file_read_iter`.
fn op_of_file(key: &str) -> &'static str {
    let has = |part: &str| key.contains(part);
    match key {
        _ if has("fsync") || has("sync_file") => "fsync",
        _ if has("read") => "read",
        _ if has("write") => "write",
        _ if has("open") => "open",
        _ if has("getattr") => "stat",
        _ => "other",
    }
}

/// Begins samples as histograms come.
#[derive(Default)]
pub(super) struct Pace {
    /// Histograms of the present sample, and how often each came.
    seen: HashMap<String, u32>,
    /// Samples that had a histogram.
    reports: u32,
    /// The next begins a sample.
    due: bool,
    stamp: Option<Stamp>,
    last: Option<Stamp>,
    /// The text says where intervals end.
    marked: bool,
    /// What follows was counted since the last interval ended, nobody knows how long ago.
    cut: bool,
    /// Nothing came since that time: its report is empty, if the next one follows.
    empty: Option<Stamp>,
}

impl Pace {
    /// An interval ends here; what follows was counted in it. One that ended at the time above,
    /// with nothing below it, was one in which nothing happened.
    pub(super) fn mark(&mut self, stamp: Option<Stamp>, out: &mut Out) {
        let kind = |stamp: &Stamp| std::mem::discriminant(stamp);
        let empty = std::mem::replace(&mut self.empty, stamp);
        // A date above the tool's own times is a script's.
        if let (Some(empty), Some(next)) = (empty, stamp)
            && kind(&empty) == kind(&next)
            && empty != next
        {
            out.sample_once(Some(empty));
            self.seen.clear();
        }
        self.due = true;
        self.marked = true;
        self.stamp = stamp;
        self.cut = false;
    }

    /// Whether nothing was printed since an interval ended.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Nothing was counted in the interval that ended.
    pub(super) fn nothing(&mut self, out: &mut Out) {
        out.sample_once(self.stamp.take());
        self.due = false;
        self.seen.clear();
    }

    /// What follows was printed at that time, as what came before it perhaps.
    pub(super) fn mark_new(&mut self, stamp: Stamp, out: &mut Out) {
        if self.last != Some(stamp) {
            self.last = Some(stamp);
            self.mark(Some(stamp), out);
        }
    }

    /// A script is started: a time above it is when that was, and ends no interval.
    pub(super) fn starts(&mut self) {
        self.empty = None;
    }

    /// All that follows was printed at one time, when the script ended.
    /// Before it can be less than an interval.
    pub(super) fn ends(&mut self, out: &Out) {
        let begun = out.samples() > 0;
        self.due |= begun;
        self.cut |= begun;
        self.marked = true;
    }

    /// What follows is of no interval: nobody knows how long it was counted.
    pub(super) fn of_no_length(&mut self, out: &mut Out) {
        if out.interval().is_some() {
            out.broken();
        }
        out.sample_once(None);
        out.since_boot();
        self.due = false;
        self.seen.clear();
    }

    /// The script is started anew, or another one.
    pub(super) fn anew(&mut self, out: &Out) {
        self.due |= out.samples() > 0;
        self.cut = false;
        self.empty = None;
    }

    /// Two blank lines or the like: an interval may end here.
    pub(super) fn pause(&mut self) {
        self.due |= !self.seen.is_empty();
    }

    /// Makes sure that there is a sample for the histogram of that name; which one of that name
    /// it is there, from 1 on.
    pub(super) fn begin(&mut self, name: &str, out: &mut Out) -> u32 {
        let again = self.seen.contains_key(name) && !self.marked;
        self.empty = None;
        if self.due || again || !out.has_sample() {
            let stamp = self.stamp.take();
            let cut = std::mem::take(&mut self.cut) && stamp.is_none();
            if cut {
                self.of_no_length(out);
                out.note(
                    "what was printed when the script was ended was counted in less than an \
                     interval, and it is not told in how much less: it is kept by itself, in \
                     `since_boot`",
                );
            } else {
                out.sample_once(stamp);
            }
            self.reports += 1;
            self.due = false;
            self.seen.clear();
        }
        let times = self.seen.entry(name.to_owned()).or_default();
        *times += 1;
        *times
    }

    /// The same of a tool that prints each once: one that comes again is of the next report, whose time
    /// was lost.
    pub(super) fn begin_once(&mut self, name: &str, out: &mut Out) {
        self.due |= self.seen.contains_key(name);
        self.begin(name, out);
    }

    /// Whether a report is being read, behind which the end may stand. The first one alone has all since the
    /// trace began, as the end has.
    pub(super) fn is_within(&self) -> bool {
        !self.due && !self.seen.is_empty() && self.reports > 1
    }

    /// Whether the text says where intervals end.
    pub(super) fn is_marked(&self) -> bool {
        self.marked
    }

    /// Whether the present sample has the histogram of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.seen.contains_key(name)
    }

    /// Whether nothing came yet.
    pub(super) fn is_new(&self) -> bool {
        self.seen.is_empty()
    }
}
