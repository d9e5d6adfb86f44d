//! `pgbench -l`: a line for each transaction.

use run::rows::TableId;

use crate::list::Format;
use crate::number::whole;
use crate::out::Out;
use crate::time::Stamp;
use crate::{Line, Parser, fields};

pub(crate) const LOG: Format = Format {
    name: "pgbench-log",
    tool: "pgbench",
    systems: "all that PostgreSQL runs on",
    help: "pgbench's log of transactions: when each ended and how long it took",
    recognised: "rows of client, transaction, microseconds, script, and a time since 1970",
    yields: &["workload_event"],
    example: "\
0 199 2241 0 1175850568 995598
0 200 2465 0 1175850568 998079
",
    recognise: |head| {
        let mut lines = head.lines().filter(|l| !l.is_empty()).peekable();
        let any = lines.peek().is_some();
        if any && lines.take(20).all(|l| transaction(l).is_some()) {
            80
        } else {
            0
        }
    },
    parser: || Box::new(Log::new()),
};

/// A line of the log: `client_id transaction_no time script_no time_epoch time_us`, with `--rate`
/// how late it began, with `--max-tries` how often it was tried again.
struct Transaction<'a> {
    client: &'a [u8],
    script: &'a [u8],
    /// When it ended, in nanoseconds.
    at: i64,
    /// Microseconds that it took, if it did.
    time: Option<u64>,
    /// It has a lag or retries.
    more: bool,
}

fn transaction(line: &[u8]) -> Option<Transaction<'_>> {
    let all: Vec<&[u8]> = fields(line).collect();
    let [client, number, time, script, seconds, micros, rest @ ..] = &all[..] else {
        return None;
    };
    whole(client).and(whole(number)).and(whole(script))?;
    let micros = whole(micros).filter(|m| *m < 1_000_000)?;
    let seconds = whole(seconds).filter(|s| (1_000_000_000..10_000_000_000).contains(s))?;
    let time = match *time {
        b"skipped" | b"failed" | b"serialization" | b"deadlock" | b"other" => None,
        time => Some(whole(time)?),
    };
    if rest.len() > 2 || rest.iter().any(|n| crate::number::decimal(n).is_none()) {
        return None;
    }
    let at = i64::try_from(seconds * 1_000_000 + micros).ok()?;
    Some(Transaction {
        client,
        script,
        at: at.checked_mul(1000)?,
        time,
        more: !rest.is_empty(),
    })
}

struct Log {
    event: TableId,
}

impl Log {
    fn new() -> Log {
        Log {
            event: TableId::of("workload_event"),
        }
    }
}

impl Parser for Log {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Some(found) = transaction(line) else {
            return Line::Unknown;
        };
        if found.more {
            out.note("schedule lag and retries of each transaction are known and not imported");
        }
        let Some(time) = found.time else {
            out.note("transactions that pgbench skipped or that failed are not among its events");
            return Line::Noise;
        };
        let job = [b"script ", found.script].concat();
        let words = [&b"pgbench"[..], &job, b"transaction", found.client].map(|w| out.word(w));
        let values = [time as f64 / 1e6, f64::NAN, f64::NAN, 1.0];
        out.event(self.event, Stamp::Epoch(found.at), &words, &values);
        Line::Data
    }
}
