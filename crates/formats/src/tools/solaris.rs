//! What the tools of Solaris and illumos have in common: prompts and command lines among their
//! output, and messages that devices or processors came or went.

use jiff::ToSpan;
use jiff::civil::Time;

use crate::out::Out;
use crate::time::Stamp;
use crate::{Line, echo, stamp_line};

/// What a line between reports is.
pub(super) enum Between {
    /// The tool's command line: it is started anew.
    Command,
    /// `<<device added: sd3>>`, `<<NFS mounted: nfs1>>`, `<<State change>>`: the report that
    /// follows is a mean since boot again.
    Change,
    /// The time of the report that follows, of `-T` or of a script's `date`.
    Stamp(Stamp),
    /// A prompt, an interruption.
    Chatter,
}

/// Which of them, if any. `valued` are the flags of the tool that have a value.
pub(super) fn between(line: &[u8], tool: &str, valued: &[&str], out: &mut Out) -> Option<Between> {
    let text = line.trim_ascii();
    if text.starts_with(b"<<") && text.ends_with(b">>") {
        return Some(Between::Change);
    }
    match stamp_line::stamp_of(line, out) {
        Ok(Some(stamp)) => return Some(Between::Stamp(stamp)),
        Ok(None) => {}
        Err(why) => {
            out.refuse(why);
            return Some(Between::Chatter);
        }
    }
    if let Some(arguments) = echo::command(line, tool) {
        // What it says is of the reports to come.
        out.broken();
        let interval = echo::interval(&arguments, valued);
        if let Some(interval) = interval {
            out.every(interval);
        }
        // Without an interval prstat goes on, every five seconds.
        let goes_on = interval.is_none() && tool == "prstat";
        // Of `vmstat -s` all are counters, and a second reading tells what they grew by.
        let goes_on = goes_on || tool == "vmstat" && echo::has_flag(&arguments, b's');
        out.runs(echo::reports(&arguments, valued).filter(|_| !goes_on));
        host_of_prompt(text, out);
        return Some(Between::Command);
    }
    let prompt = text.ends_with(b"$") || text.ends_with(b"#") || text.starts_with(b"^C");
    (prompt && !text.is_empty()).then_some(Between::Chatter)
}

/// `root@node01` in a prompt.
fn host_of_prompt(line: &[u8], out: &mut Out) {
    let Some(at) = line.iter().position(|b| *b == b'@') else {
        return;
    };
    let rest = &line[at + 1..];
    let end = rest
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || b"-_.".contains(b)));
    let host = &rest[..end.unwrap_or(rest.len())];
    if !host.is_empty() {
        out.host(host);
    }
}

/// A time of day in a row, with its date, where a logger put one before the line: both are of about
/// the same time then.
pub(super) fn dated(time: Time, out: &Out) -> Stamp {
    let (at, zone) = match out.logged {
        Some(Stamp::Civil(at)) => (at, None),
        Some(Stamp::Zoned(at, zone)) => (at, Some(zone)),
        _ => return Stamp::Clock(time),
    };
    // Midnight may be between them.
    let days = [-1, 0, 1].into_iter();
    let mut moments =
        days.filter_map(|days| Some(at.checked_add(days.days()).ok()?.date().to_datetime(time)));
    match (
        moments.find(|m| at.duration_until(*m).abs().as_secs() <= 60),
        zone,
    ) {
        (Some(moment), Some(zone)) => Stamp::Zoned(moment, zone),
        (Some(moment), None) => Stamp::Civil(moment),
        (None, _) => Stamp::Clock(time),
    }
}

/// Begins a sample, taken at `stamp` if that is known.
pub(super) fn sample(stamp: &mut Option<Stamp>, out: &mut Out) {
    out.sample_since_boot_first(stamp.take());
}

/// Keeps the place of a sample whose row is not understood.
pub(super) fn lost(stamp: &mut Option<Stamp>, out: &mut Out) {
    match stamp.take() {
        Some(stamp) => {
            out.sample_at(stamp);
            out.gap();
        }
        None => out.lost(),
    }
}

/// The note on reports that are means since boot though others came before.
pub(super) const CHANGED: &str = "devices or processors came or went: the report after that is a \
                                  mean since boot, as the tool prints it";

/// A line that is blank is nothing.
pub(super) fn blank_or_unknown(line: &[u8]) -> Line {
    if line.trim_ascii().is_empty() {
        Line::Noise
    } else {
        Line::Unknown
    }
}
