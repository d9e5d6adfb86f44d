//! The recorder itself was too dear, or missed something.

use run::manifest::{Loss, Program};

use super::look::Look;
use super::stretch::above;
use super::text::{count, percent, rate, time};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "observer",
    help: "The recorder itself cost much, lost rows or events, or came late.",
    find,
};

const DEAR: &[&str] = &[
    "a short interval (`--every`) on a machine with many processes, groups or devices",
    "the table of files, or many events a second",
];

const PROBES: &[&str] = &[
    "so many I/Os, packets or switches a second that a look at each costs",
    "more detail than the question needs (`--detail`, `--events`, `--with`)",
];

const MISSED: &[&str] =
    &["an event within an event of the same kind on the same processor, as of stacked devices"];

const LOST: &[&str] = &["a disk that was full, or too slow for what was recorded"];

const DROPPED: &[&str] = &[
    "a burst: more events at a time than the memory holds through which the kernel hands them over",
    "processors that were full, so that the recorder did not get to read them",
];

const UNSEEN: &[&str] = &[
    "more of them under way, or more devices and groups, than the programs in the kernel have \
     room for",
    "what had begun before the recording did",
    "a kernel that leaves programs out for a moment: while another recorder comes or goes, or while \
     certain tasks have a processor",
];

const LATE: &[&str] = &[
    "processors that were full, so that the recorder had to wait for one",
    "an interval shorter than a sample takes",
    "a virtual machine that did not run",
];

/// Share of one processor. The recorder is meant to stay below 1 %; from here on a run that
/// is short of processors is another run without it.
const COST: f64 = 0.05;
/// Processor seconds in all: the start, with its inventory, is dearer than the rest.
const LEAST: f64 = 0.25;
/// Seconds, for the same reason.
const LONG: f64 = 2.0;
/// Share of a program's hits that the kernel left out; less does not change a number shown.
const MISSED_SHARE: f64 = 0.001;
/// Hits left out, or things not followed; fewer do no harm.
const FEWEST_MISSED: f64 = 10.0;
/// Share of the samples that were late or left out.
const UNPUNCTUAL: f64 = 0.1;
/// Samples; with less, one slow moment is a tenth.
const ENOUGH: f64 = 20.0;
/// Where events or rows are missing, numbers are too small: this comes before most others.
const LOSS_SCORE: f64 = 0.5;

fn find(look: &Look<'_>) -> Vec<Finding> {
    [
        dear(look),
        probes(look),
        lost(look),
        dropped(look),
        missed(look),
        unseen(look),
        uncounted(look),
        late(look),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn dear(look: &Look<'_>) -> Option<Finding> {
    let stretch = above(&look.whole_series("self.time")?, COST)?;
    if stretch.amount < LEAST || stretch.seconds < LONG {
        return None;
    }
    let sources = look.manifest().sources.iter();
    let dearest = sources.max_by(|a, b| a.cost_seconds.total_cmp(&b.cost_seconds));
    let dearest = dearest.filter(|s| s.cost_seconds > 0.0);
    let dearest = dearest.map_or(String::new(), |s| {
        format!(
            " Its dearest source, {}, took {} in {} readings.",
            s.name,
            time(s.cost_seconds),
            s.samples
        )
    });
    Some(Finding {
        name: RULE.name,
        score: (stretch.amount / look.seconds()).min(1.0),
        sentence: format!(
            "The recorder used {} of one processor, {} of all.{dearest}",
            percent(stretch.rate()),
            percent(stretch.rate() / look.processors()),
        ),
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed("self.time", stretch.time()),
        causes: DEAR,
    })
}

/// Programs in the kernel: their time is not the recorder's, and is in no table.
fn probes(look: &Look<'_>) -> Option<Finding> {
    let measured = look.manifest().programs.iter();
    let costs = measured
        .filter(|p| p.measured_seconds > 0.0)
        .map(|p| (p, p.time_seconds / p.measured_seconds));
    let costs: Vec<_> = costs.filter(|(_, share)| share.is_finite()).collect();
    let share = costs.iter().fold(0.0, |sum, (_, share)| sum + share);
    let (dearest, of_it) = costs.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if share < COST || dearest.hits == 0 {
        return None;
    }
    let (from, to) = look.whole();
    Some(Finding {
        name: RULE.name,
        score: (share / look.processors()).min(1.0),
        sentence: format!(
            "The programs in the kernel used {} of one processor, {} of all, with the cost of \
             measuring them, in the {} in which they were measured; the dearest, {}, {}: {} a \
             hit, {}.",
            percent(share),
            percent(share / look.processors()),
            time(dearest.measured_seconds),
            dearest.name,
            percent(*of_it),
            time(dearest.time_seconds / dearest.hits as f64),
            rate(dearest.hits as f64 / dearest.measured_seconds),
        ),
        from,
        to,
        expression: counted_by(look, &dearest.name),
        causes: PROBES,
    })
}

/// What grows with the hits of a program, of whose own time there is no table.
fn counted_by(look: &Look<'_>, program: &str) -> String {
    let counted = match program.split('_').next() {
        Some("disk") => "disk.ios by device",
        Some("net") => "net.segments by interface",
        Some("tcp") => "tcp.segments",
        Some("cpu") => "cpu.slices",
        Some("file") => "file.ops by process",
        _ => "self.time",
    };
    look.answerable(&[counted, "self.time"]).to_owned()
}

/// What programs in the kernel did not see.
fn missed(look: &Look<'_>) -> Option<Finding> {
    let many = |p: &&Program| {
        // Hits are counted for a part of the run only.
        let hits = p.hits as f64 * (look.seconds() / p.measured_seconds).max(1.0);
        p.missed as f64 >= FEWEST_MISSED && p.missed as f64 > MISSED_SHARE * hits
    };
    let programs: Vec<&Program> = look.manifest().programs.iter().filter(many).collect();
    let worst = programs.iter().max_by_key(|p| p.missed)?;
    let (from, to) = look.whole();
    Some(Finding {
        name: RULE.name,
        score: LOSS_SCORE,
        sentence: format!(
            "The kernel left out {} hits of the program {} ({}): what it counts is too small.",
            count(worst.missed as f64),
            worst.name,
            worst.hook,
        ),
        from,
        to,
        expression: counted_by(look, &worst.name),
        causes: MISSED,
    })
}

fn lost(look: &Look<'_>) -> Option<Finding> {
    // Events have a count of their own.
    let of_rows = look.manifest().loss.iter().filter(|l| l.table.is_none());
    let losses: Vec<&Loss> = of_rows.collect();
    let (first, last) = (losses.first()?, losses.last()?);
    let rows: u64 = losses.iter().map(|l| l.rows).sum();
    (rows > 0).then(|| Finding {
        name: RULE.name,
        score: LOSS_SCORE,
        sentence: format!(
            "{} rows could not be kept ({}): sums over that time are too small.",
            count(rows as f64),
            first.why
        ),
        from: first.from,
        to: last.to.max(first.from),
        expression: "self.lost_rows".into(),
        causes: LOST,
    })
}

/// Events for which there was no room.
fn dropped(look: &Look<'_>) -> Option<Finding> {
    let amounts = look.whole_series("self.dropped")?;
    let mut with = amounts.iter().filter(|(_, dropped)| *dropped > 0.0);
    let first = with.next()?;
    let last = with.next_back().unwrap_or(first);
    let by_table = look.totals("self.dropped by table");
    let all = by_table.iter().fold(0.0, |sum, (_, dropped)| sum + dropped);
    let table = by_table.first().and_then(|(key, _)| key.first())?;
    Some(Finding {
        name: RULE.name,
        score: LOSS_SCORE,
        sentence: format!(
            "{} events were dropped, most of them of {table}: they came faster than they could be \
             read. What is told from single events is too small; histograms have them all.",
            count(all),
        ),
        from: first.0.from(),
        to: last.0.time,
        expression: "self.dropped by table".into(),
        causes: DROPPED,
    })
}

/// What programs in the kernel ran for and could not follow.
fn unseen(look: &Look<'_>) -> Option<Finding> {
    let by_table = look.totals("self.unseen by table");
    let many = |(key, unseen): &&(Vec<String>, f64)| {
        let counted = key.first().and_then(|table| counted_beside(table));
        let seen = counted.and_then(|c| look.total(c)).unwrap_or(0.0);
        *unseen >= FEWEST_MISSED && *unseen > MISSED_SHARE * (seen + unseen)
    };
    // By falling amounts.
    let (key, unseen) = by_table.iter().find(many)?;
    let table = key.first()?;
    let (from, to) = look.whole();
    Some(Finding {
        name: RULE.name,
        score: LOSS_SCORE,
        sentence: format!(
            "The programs in the kernel could not follow {} of what {table} tells: no event and no \
             histogram of their own has them.",
            count(*unseen),
        ),
        from,
        to,
        expression: "self.unseen by table".into(),
        causes: UNSEEN,
    })
}

/// I/Os that the kernel's own counters have and no histogram: of these the programs know nothing.
fn uncounted(look: &Look<'_>) -> Option<Finding> {
    let mut programs = look.manifest().programs.iter();
    if !programs.any(|p| p.hook == "block_rq_complete" && p.state == "attached") {
        return None;
    }
    let all = look.total("disk.ios")?;
    let seen = look.total("disk.ios by latency")?;
    let known = look.total("self.unseen where table = disk_event");
    let uncounted = all - seen - known.unwrap_or(0.0);
    if uncounted < FEWEST_MISSED || uncounted <= MISSED_SHARE * all {
        return None;
    }
    let (from, to) = look.whole();
    Some(Finding {
        name: RULE.name,
        score: LOSS_SCORE,
        sentence: format!(
            "Of {} I/Os that the kernel counted {} are in no histogram.",
            count(all),
            count(uncounted),
        ),
        from,
        to,
        expression: "disk.ios by device".into(),
        causes: UNSEEN,
    })
}

/// What the programs did follow of the things that a table of events tells.
fn counted_beside(table: &str) -> Option<&'static str> {
    match table {
        "disk_event" => Some("disk.ios"),
        "net_event" => Some("net.segments"),
        "tcp_event" => Some("tcp.connects"),
        "file_event" => Some("file.ops"),
        "nfs_event" => Some("nfs.ops"),
        "nfsd_event" => Some("nfsd.ops"),
        "cpu_slice" => Some("cpu.slices"),
        _ => None,
    }
}

fn late(look: &Look<'_>) -> Option<Finding> {
    let total = |name: &str| look.total(&format!("self.{name}"));
    let (samples, late, missed) = (total("samples")?, total("late")?, total("missed")?);
    let due = samples + missed;
    let share = (late + missed) / due;
    if due < ENOUGH || share < UNPUNCTUAL || share.is_nan() {
        return None;
    }
    let (from, to) = look.whole();
    Some(Finding {
        name: RULE.name,
        score: share * 0.5,
        sentence: format!(
            "Of {} samples {} were late by more than a tenth of the interval and {} were left \
             out; rates are right, their times are coarser.",
            count(due),
            count(late),
            count(missed),
        ),
        from,
        to,
        expression: "self.late".into(),
        causes: LATE,
    })
}
