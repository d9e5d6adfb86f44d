//! The plan, as it is told before anything runs.

use analysis::compare::Metric;
use analysis::stats::planning::{
    LEVEL, least_blocks, least_doubled, smallest_of_aligned, smallest_of_blocks,
};
use lab::experiment::{Blocks, Design, Factor, Kind, Logbook, Measure, Role, Search, number};
use run::unit::digits;
use surfaces::table::wrapped;

use super::search;
use crate::commands::experiment::{aim, most_blocks, next_look};
use crate::commands::record::progress::clock_text;
use crate::output::{counted, one_line};

/// Columns of the text.
const WIDTH: usize = 80;

/// Arms that are listed by name.
const LISTED: usize = 12;

/// Metrics that are declared if none is named: a throughput and a latency.
const USUAL: usize = 2;

/// The whole plan.
pub(super) fn text(book: &Logbook, dir: &str) -> String {
    let mut out = wrapped("experiment  ", &one_line(&book.command.join(" ")), WIDTH);
    for (head, text) in lines(book).into_iter().chain([("into", dir.to_owned())]) {
        out += &wrapped(&format!("  {head:<10}"), &one_line(&text), WIDTH);
    }
    out
}

/// What is asked and how it is answered, each line with its label.
pub(crate) fn lines(book: &Logbook) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&'static str, String)> = book
        .factors
        .iter()
        .map(|factor| varied(factor, book))
        .collect();
    lines.push(("arms", arms(book)));
    lines.push(("blocks", blocks(book)));
    lines.push(("measure", measures(book)));
    lines.extend(uncounted(book).into_iter().map(|note| ("NOTE", note)));
    if !book.scale {
        lines.push(("decide", can_decide(book)));
    }
    for (head, seconds) in [("settle", book.settle), ("warm-up", book.warmup)] {
        if seconds > 0.0 {
            lines.push((head, format!("{} s of each trial", digits(seconds))));
        }
    }
    lines.extend(book.prepare.clone().map(|prepare| ("prepare", prepare)));
    lines
}

/// A factor, its values and its baseline.
fn varied(factor: &Factor, book: &Logbook) -> (&'static str, String) {
    let what = match factor.kind {
        Kind::Setting => "set",
        Kind::Parameter => "vary",
    };
    let values = match &book.search {
        Some(Search::Range { low, high, .. }) => {
            format!("{} to {}, searched", number(*low), number(*high))
        }
        Some(Search::Among { .. }) => format!("{}, searched", factor.values.join(", ")),
        None => factor.values.join(", "),
    };
    let base = &factor.base;
    (
        what,
        format!("{} = {values} (baseline: {base})", factor.name),
    )
}

fn arms(book: &Logbook) -> String {
    if book.arms.is_empty() {
        let again = if book.again { ", again" } else { "" };
        return format!(
            "the baseline{again}, and what the search proposes after about {}",
            counted(search::trials(book) as u64, "trial")
        );
    }
    let names = book.arms.iter().take(LISTED).map(|a| match a.role {
        Role::Again => format!("{} (A/A)", a.name),
        _ => a.name.clone(),
    });
    let mut text = format!(
        "{}: {}",
        book.arms.len(),
        names.collect::<Vec<_>>().join(", ")
    );
    if book.arms.len() > LISTED {
        text += &format!(" and {} more", book.arms.len() - LISTED);
    }
    if book.factors.len() > 1 && book.design == Design::OneAtATime {
        text += "; one factor at a time";
    }
    text
}

fn arms_of(book: &Logbook) -> usize {
    match book.arms.len() {
        0 => 2 + usize::from(book.again),
        arms => arms,
    }
}

fn blocks(book: &Logbook) -> String {
    let trials = arms_of(book) * most_blocks(book.blocks);
    let order = format!(
        "every arm once in each, in random order (seed {})",
        book.seed
    );
    match book.blocks {
        Blocks::Fixed(blocks) => format!("{blocks}: {order}; {}", counted(trials as u64, "trial")),
        Blocks::Auto => format!(
            "until it is decided, looked at after 6, 10, 16 and 24: {order}; {} at most",
            counted(trials as u64, "trial")
        ),
    }
}

fn measures(book: &Logbook) -> String {
    let declared = book.measures.iter().filter(|m| m.declared);
    let texts: Vec<String> = declared
        .filter_map(|m| {
            let metric = Metric::parse(&m.metric).ok()?;
            Some(format!("{} ({})", metric.text, aim(metric.aim)))
        })
        .collect();
    if texts.is_empty() {
        return "what the rehearsal shows: throughput and latency of the command itself if it \
                tells them, else of disks or networks, else how long it takes"
            .to_owned();
    }
    texts.join(", ")
}

/// Disks that are changed, and that a metric of all disks does not count: what it measures has
/// nothing to do with them.
fn uncounted(book: &Logbook) -> Vec<String> {
    let disks = book.factors.iter().filter_map(|f| {
        let (device, _) = f.name.strip_prefix("disk:")?.split_once('.')?;
        let layer = sources::proc::disk::layer(&sources::Host::default(), device);
        (layer != "disk").then_some(device)
    });
    let mut notes = Vec::new();
    for device in disks {
        let of_all = |m: &&Measure| {
            m.metric.contains("disk") && !m.metric.contains(device) && !m.metric.contains("layer")
        };
        for measure in book.measures.iter().filter(|m| m.declared).filter(of_all) {
            let note = format!(
                "{} counts whole disks, and {device} is none: say `where device = {device}`",
                measure.metric
            );
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// Questions that are asked at once: each change by each declared metric.
fn questions(book: &Logbook) -> usize {
    let changes = arms_of(book) - 1 - usize::from(book.again);
    let metrics = match book.measures.iter().filter(|m| m.declared).count() {
        0 => USUAL,
        n => n,
    };
    changes * metrics
}

/// Whether so many blocks can decide anything.
fn can_decide(book: &Logbook) -> String {
    let questions = questions(book);
    let most = most_blocks(book.blocks);
    let (least, smallest) = if book.again {
        (least_doubled(questions), smallest_of_aligned(most, 3))
    } else {
        (least_blocks(questions), smallest_of_blocks(most))
    };
    let chance = smallest * questions as f64;
    let asked = match questions {
        1 => "one question".to_owned(),
        n => format!("{n} questions at once (arms by metrics; Holm)"),
    };
    if chance > LEVEL {
        return format!(
            "{} CANNOT decide {asked}: the least p is {}; {least} are the least",
            counted(most as u64, "block"),
            digits(chance.min(1.0))
        );
    }
    if most < least {
        return format!(
            "{} CANNOT decide {asked}: so few could not show that the baseline differs from \
             itself; {least} are the least",
            counted(most as u64, "block"),
        );
    }
    let usual = if book.measures.is_empty() {
        ", if two metrics are measured"
    } else {
        ""
    };
    format!(
        "{asked}{usual}: {least} blocks are the least that can; the least p of {most} is {}{}",
        digits(chance),
        silent(book, most)
    )
}

/// What so many blocks can decide only in part: the guard is asked of each declared metric at
/// once, and an arm that is spread more than the baseline is judged by signed ranks.
fn silent(book: &Logbook, most: usize) -> String {
    if !book.again {
        return String::new();
    }
    let metrics = match book.measures.iter().filter(|m| m.declared).count() {
        0 => USUAL,
        n => n,
    };
    let mut text = String::new();
    let spread = least_blocks(questions(book));
    if most < spread {
        text += &format!("; of arms that are spread more than the baseline {spread} are the least");
    }
    let least = least_blocks(metrics);
    if most < least {
        text += &format!("; A/A needs {least} to show a difference by each of {metrics} metrics");
    }
    text
}

/// How long all trials will take, where one takes so many seconds.
pub(super) fn time(book: &Logbook, seconds: f64) -> String {
    let over = book.whole_blocks();
    let soonest = next_look(book.blocks, over + 1).saturating_sub(over);
    let most = most_blocks(book.blocks).saturating_sub(over);
    let search = match &book.search {
        Some(search) if search.found().is_none() => search::trials(book),
        _ => 0,
    };
    let of = |blocks: usize| clock_text((blocks * arms_of(book) + search) as f64 * seconds);
    let each = digits(seconds);
    let text = if soonest == most {
        format!("a trial takes {each} s: about {} in all", of(most))
    } else {
        format!(
            "a trial takes {each} s: about {} to the first look, {} at most",
            of(soonest),
            of(most)
        )
    };
    wrapped("  time      ", &text, WIDTH)
}

/// The same where no trial ran.
pub(super) fn unknown_time(book: &Logbook) -> String {
    let search = if book.search.is_some() {
        search::trials(book)
    } else {
        0
    };
    let trials = arms_of(book) * most_blocks(book.blocks) + search + 1;
    let mut text =
        format!("{trials} trials at most, one of them a rehearsal, each as long as the command");
    if book.settle > 0.0 {
        text += &format!(" and {} s to settle", digits(book.settle));
    }
    wrapped("  time      ", &text, WIDTH)
}
