//! The sentences of `mountstats`, and what their numbers count.

/// What a number of a sentence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Number {
    /// Bytes since it was mounted: access and layer of `nfs_bytes`.
    Bytes(&'static str, &'static str),
    /// RPC requests sent, replies received, replies to no request, since it was mounted.
    Sends,
    Replies,
    BadXids,
    /// The mean length of the backlog at each request since it was mounted, cut to a whole number.
    Backlog,
    /// A counter without a place in the catalog: its name and unit.
    Count(&'static str, &'static str),
    /// The same of what there is now.
    Level(&'static str, &'static str),
    /// A mean since it was mounted, cut to a whole number.
    Mean(&'static str),
    /// Means of an operation since it was mounted: bytes, cut to a whole number.
    Sent,
    Received,
    /// The same in ms, with six decimals.
    QueueTime,
    RoundTripTime,
    Time,
}

use Number::{
    Backlog, BadXids, Bytes, Count, Level, Mean, QueueTime, Received, Replies, RoundTripTime,
    Sends, Sent, Time,
};

/// Sentences with `#` for each of their numbers. Counters are called as those of the file
/// `/proc/self/mountstats` are.
const SENTENCES: [(&str, &[Number]); 65] = [
    // Bytes.
    (
        "applications read # bytes via read(2)",
        &[Bytes("read", "program")],
    ),
    (
        "applications wrote # bytes via write(2)",
        &[Bytes("write", "program")],
    ),
    (
        "applications read # bytes via O_DIRECT read(2)",
        &[Bytes("direct_read", "program")],
    ),
    (
        "applications wrote # bytes via O_DIRECT write(2)",
        &[Bytes("direct_write", "program")],
    ),
    (
        "client read # bytes via NFS READ",
        &[Bytes("read", "server")],
    ),
    (
        "client wrote # bytes via NFS WRITE",
        &[Bytes("write", "server")],
    ),
    // Requests.
    (
        "# RPC requests sent, # RPC replies received (# XIDs not found)",
        &[Sends, Replies, BadXids],
    ),
    ("average backlog queue length: #", &[Backlog]),
    // An operation.
    (
        "avg bytes sent per op: # avg bytes received per op: #",
        &[Sent, Received],
    ),
    (
        "backlog wait: # RTT: # total execute time: # (milliseconds)",
        &[QueueTime, RoundTripTime, Time],
    ),
    // `--nfs`.
    (
        "data cache invalidated # times",
        &[Count("data invalidations", "count")],
    ),
    (
        "attribute cache invalidated # times",
        &[Count("attribute invalidations", "count")],
    ),
    ("inodes synced # times", &[Count("inode syncs", "count")]),
    (
        "VFS requested # inode revalidations",
        &[Count("inode revalidations", "count")],
    ),
    (
        "VFS requested # dentry revalidations",
        &[Count("dentry revalidations", "count")],
    ),
    (
        "VFS called nfs_readdir() # times",
        &[Count("directory reads", "count")],
    ),
    (
        "VFS called nfs_lookup() # times",
        &[Count("lookups", "count")],
    ),
    (
        "VFS called nfs_permission() # times",
        &[Count("access checks", "count")],
    ),
    (
        "VFS called nfs_file_open() # times",
        &[Count("opens", "count")],
    ),
    (
        "VFS called nfs_file_flush() # times",
        &[Count("flushes", "count")],
    ),
    ("VFS called nfs_lock() # times", &[Count("locks", "count")]),
    (
        "VFS called nfs_fsync() # times",
        &[Count("fsyncs", "count")],
    ),
    (
        "VFS called nfs_file_release() # times",
        &[Count("releases", "count")],
    ),
    (
        "VFS called nfs_updatepage() # times",
        &[Count("page updates", "count")],
    ),
    (
        "VFS called nfs_readpage() # times",
        &[Count("page reads", "count")],
    ),
    (
        "VFS called nfs_readpages() # times",
        &[Count("pages reads", "count")],
    ),
    (
        "VFS called nfs_writepage() # times",
        &[Count("page writes", "count")],
    ),
    (
        "VFS called nfs_writepages() # times",
        &[Count("pages writes", "count")],
    ),
    (
        "truncating SETATTRs: # extending WRITEs: #",
        &[
            Count("truncations", "count"),
            Count("extending writes", "count"),
        ],
    ),
    ("# silly renames", &[Count("silly renames", "count")]),
    (
        "short reads: # short writes: #",
        &[
            Count("short reads", "count"),
            Count("short writes", "count"),
        ],
    ),
    ("NFSERR_DELAYs from server: #", &[Count("delays", "count")]),
    ("pNFS READs: #", &[Count("pNFS reads", "count")]),
    ("pNFS WRITEs: #", &[Count("pNFS writes", "count")]),
    // `--xprt`.
    ("Bind count: #", &[Count("binds", "count")]),
    ("Connect count: #", &[Count("connects", "count")]),
    ("Connect time: # seconds", &[Count("connect time", "s")]),
    ("Idle time: # seconds", &[Level("idle time", "s")]),
    ("RPC requests: #", &[Count("RPC requests", "count")]),
    ("RPC replies: #", &[Count("RPC replies", "count")]),
    ("XIDs not found: #", &[Count("XIDs not found", "count")]),
    ("Max slots: #", &[Level("max slots", "count")]),
    ("Avg backlog length: #", &[Mean("avg backlog length")]),
    ("Avg send queue length: #", &[Mean("avg send queue length")]),
    (
        "Avg pending queue length: #",
        &[Mean("avg pending queue length")],
    ),
    ("Read segments: #", &[Count("read segments", "count")]),
    ("Write segments: #", &[Count("write segments", "count")]),
    ("Reply segments: #", &[Count("reply segments", "count")]),
    ("Read chunks: #", &[Count("read segments", "count")]),
    ("Write chunks: #", &[Count("write segments", "count")]),
    ("Reply chunks: #", &[Count("reply segments", "count")]),
    ("Registered: # bytes", &[Count("registered", "B")]),
    ("RDMA received: # bytes", &[Count("RDMA received", "B")]),
    ("Total pull-up: # bytes", &[Count("pull-up", "B")]),
    ("Total fix-up: # bytes", &[Count("fix-up", "B")]),
    (
        "Hardway allocations: # bytes",
        &[Count("hardway allocations", "B")],
    ),
    ("Failed marshals: #", &[Count("failed marshals", "count")]),
    ("Bad replies: #", &[Count("bad replies", "count")]),
    ("RDMA_NOMSG calls: #", &[Count("RDMA_NOMSG calls", "count")]),
    ("Allocated MRs: #", &[Count("allocated MRs", "count")]),
    ("Recovered MRs: #", &[Count("recovered MRs", "count")]),
    ("Orphaned MRs: #", &[Count("orphaned MRs", "count")]),
    (
        "Local Invalidates needed: #",
        &[Count("local invalidates", "count")],
    ),
    (
        "Empty sendctx queue count: #",
        &[Count("empty sendctx queues", "count")],
    ),
    (
        "Replies that waited for Send completion: #",
        &[Count("replies that waited for a send", "count")],
    ),
];

/// What begins lines without numbers over time: headings and settings.
const SETTINGS: [&str; 14] = [
    "NFS mount options:",
    "NFS server capabilities:",
    "NFSv4 capability flags:",
    "NFS security flavor:",
    "Transport protocol:",
    "Source port:",
    "Cache events:",
    "VFS calls:",
    "VM calls:",
    "Generic NFS counters:",
    "File size changing operations:",
    "NFS byte counts:",
    "RPC statistics:",
    "No NFS mount points were found",
];

/// Whether it is a heading, a setting, or says what there is not.
pub(super) fn is_setting(text: &str) -> bool {
    let begins = SETTINGS.iter().any(|s| text.starts_with(s));
    begins
        || text.starts_with("Statistics for mount point ") && text.ends_with(" not found")
        || text.starts_with("Mount point ") && text.ends_with(" is not an NFS mount")
}

/// A number as the tool prints it: digits, perhaps with a point among them. One below zero is
/// none: the counters of a difference were set to zero in between.
fn value(text: &str) -> Option<f64> {
    let plain = |b: u8| b.is_ascii_digit() || b == b'.';
    let sound = text.bytes().all(plain) && text.starts_with(|c: char| c.is_ascii_digit());
    let value: f64 = text.parse().ok().filter(|_| sound)?;
    value.is_finite().then_some(value)
}

/// The numbers of a line that is one of the sentences.
pub(super) fn numbers(words: &[&str]) -> Option<Vec<(Number, f64)>> {
    SENTENCES.iter().find_map(|(sentence, names)| {
        let mut values = Vec::with_capacity(names.len());
        let mut rest = words.iter();
        for wanted in sentence.split(' ') {
            let word = rest.next()?;
            match wanted.split_once('#') {
                Some((before, after)) => {
                    let inside = word.strip_prefix(before)?.strip_suffix(after)?;
                    values.push(value(inside)?);
                }
                None if wanted == *word => {}
                None => return None,
            }
        }
        let whole = rest.next().is_none();
        whole.then(|| names.iter().copied().zip(values).collect())
    })
}

/// How often an operation was done, as the first line of its paragraph has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Done {
    pub(super) ops: f64,
    pub(super) retransmissions: f64,
    /// Not known where it was not printed.
    pub(super) timeouts: f64,
    /// Not printed where it is zero, or not known to the tool or the kernel.
    pub(super) errors: Option<f64>,
}

/// `123 ops (45%) 2 retrans (1%) 0 major timeouts 1 errors (0%)`; what follows the operations may
/// be missing.
pub(super) fn done(words: &[&str]) -> Option<Done> {
    let share = |word: &str| word.starts_with('(') && word.ends_with("%)");
    let [ops, "ops", of_all, rest @ ..] = words else {
        return None;
    };
    let mut done = Done {
        ops: value(ops).filter(|_| share(of_all))?,
        retransmissions: 0.0,
        timeouts: f64::NAN,
        errors: None,
    };
    let mut rest = rest;
    if let [count, "retrans", of_ops, more @ ..] = rest {
        // Operations that ended before they were sent make it less than none.
        done.retransmissions = match count.strip_prefix('-') {
            Some(count) => -value(count)?,
            None => value(count)?,
        };
        share(of_ops).then_some(())?;
        rest = more;
    }
    if let [count, "major", "timeouts", more @ ..] = rest {
        done.timeouts = value(count)?;
        rest = more;
    }
    if let [count, "errors", of_ops, more @ ..] = rest {
        done.errors = Some(value(count).filter(|_| share(of_ops))?);
        rest = more;
    }
    rest.is_empty().then_some(done)
}

/// Seconds of `12 days, 3:04:05`.
pub(super) fn age(text: &str) -> Option<f64> {
    let (days, time) = match text.split_once(", ") {
        Some((days, time)) => {
            let count = days.strip_suffix(" days").or(days.strip_suffix(" day"))?;
            (value(count)?, time)
        }
        None => (0.0, text),
    };
    let mut parts = time.split(':');
    let mut part = || value(parts.next()?);
    let seconds = part()? * 3600.0 + part()? * 60.0 + part()?;
    parts.next().is_none().then_some(days * 86_400.0 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn sentences_have_a_name_for_each_number() {
        for (sentence, names) in SENTENCES {
            assert_eq!(sentence.matches('#').count(), names.len(), "{sentence}");
            let line = sentence.replace('#', "7");
            let found = numbers(&words(&line)).unwrap_or_default();
            let found: Vec<Number> = found.into_iter().map(|(name, _)| name).collect();
            assert_eq!(found, names, "{sentence}");
        }
        for line in [
            "Bind count: -1",
            "Bind count: 1,5",
            "Bind count:",
            "Bind count: 1 2",
            "8 RPC requests sent, 8 RPC replies received (x XIDs not found)",
        ] {
            assert_eq!(numbers(&words(line)), None, "{line}");
        }
    }

    #[test]
    fn paragraphs_of_all_versions() {
        let of = |text: &str| done(&words(text)).map(|d| (d.ops, d.retransmissions, d.errors));
        assert_eq!(of("338 ops (48%) "), Some((338.0, 0.0, None)));
        assert_eq!(
            of("338 ops (48%) \t2 retrans (0%) \t1 major timeouts"),
            Some((338.0, 2.0, None))
        );
        assert_eq!(
            of("338 ops (48%) \t-2 retrans (0%) \t1 major timeouts\t3 errors (0%)"),
            Some((338.0, -2.0, Some(3.0)))
        );
        assert_eq!(
            of("338 ops (48%) \t3 errors (0%)"),
            Some((338.0, 0.0, Some(3.0)))
        );
        for line in ["338 ops", "338 ops (48%) 3", "338 ops (48%) 3 retrans", ""] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn ages() {
        assert_eq!(age("0:10:05"), Some(605.0));
        assert_eq!(age("1 day, 3:00:00"), Some(97_200.0));
        assert_eq!(age("12 days, 0:00:01"), Some(1_036_801.0));
        assert_eq!(age("-1 day, 23:59:59"), None);
        assert_eq!(age("10:05"), None);
    }
}
