//! What tools of AIX have in common: the line that says how the partition is configured, and of what
//! time the first report is.

use crate::fields;
use crate::number::number;
use crate::out::Out;
use crate::recognise::Head;

/// Whether the first report of `iostat` or `vmstat` is of an interval, too. AIX 5.3 and later report since
/// boot only where they are given no interval, and then once; before, the first of several reports was since
/// boot (`iostat(1)`, `vmstat(1)` of AIX 5.2 and 7). Which it is the line of the configuration tells: older
/// ones have none, or write `Configuration`.
fn begins_with_interval(head: &Head) -> bool {
    let is_new = |line: &[u8]| line.trim_ascii().starts_with(b"System configuration:");
    let lines: Vec<&[u8]> = head.lines().collect();
    // The last may be cut off.
    let (_, lines) = lines.split_last().unwrap_or((&&[][..], &[]));
    let from_new = lines.iter().skip_while(|l| !is_new(l)).skip(1);
    let of_one_start = from_new.take_while(|l| configured(l, "lcpu").is_none());
    let rows: Vec<(&[u8], Option<f64>)> = of_one_start.filter_map(|l| row(l)).collect();
    let Some((first, _)) = rows.first() else {
        return false;
    };
    let next = rows[1..].iter().position(|(name, _)| name == first);
    let Some((first, next)) = next.map(|at| rows.split_at(at + 1)) else {
        return false;
    };
    let longest = |rows: &[(&[u8], Option<f64>)]| rows.iter().filter_map(|r| r.1).reduce(f64::max);
    // What says otherwise is believed: it read more than it could in the time of the next.
    let is_longer = longest(first)
        .zip(longest(next))
        .is_some_and(|(first, next)| first > 2.0 * next);
    !is_longer
}

/// Whether the next report is since boot.
pub(super) struct SinceBoot {
    next: bool,
    /// No report is.
    never: bool,
}

impl SinceBoot {
    pub(super) fn new() -> SinceBoot {
        SinceBoot {
            next: true,
            never: false,
        }
    }

    /// The text begins so.
    pub(super) fn look(&mut self, head: &Head) {
        self.never = begins_with_interval(head);
    }

    /// The tool was started anew.
    pub(super) fn anew(&mut self) {
        self.next = true;
    }

    /// A report begins.
    pub(super) fn begins(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.next) && !self.never {
            out.since_boot();
        }
    }
}

/// What a row of numbers is of: a device, or nothing where it begins with a number. And, where it tells
/// both how much was moved and how fast (`hdisk0 5.0 160.0 20.0 480 320`), in how many seconds.
fn row(line: &[u8]) -> Option<(&[u8], Option<f64>)> {
    let mut words = fields(line);
    let first = words.next()?;
    let numbers: Vec<f64> = fields(line).filter_map(number).collect();
    let is_row = numbers.len() >= 2 || words.next() == Some(b"xfer:");
    let name = if number(first).is_some() { b"" } else { first };
    let seconds = match numbers[..] {
        [_, rate, _, read, written] if rate > 0.0 && !name.is_empty() => {
            Some((read + written) / rate)
        }
        _ => None,
    };
    is_row.then_some((name, seconds))
}

/// A number that `System configuration: lcpu=8 drives=1 ent=2.00 paths=1` tells; NaN if it does not.
/// AIX 5.3, and `vmstat -c`, write `Configuration`.
pub(super) fn configured(line: &[u8], name: &str) -> Option<f64> {
    let line = line.trim_ascii();
    let told = ["System configuration:", "System Configuration:"];
    let rest = told.iter().find_map(|t| line.strip_prefix(t.as_bytes()))?;
    let value = |f: &[u8]| number(f.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?);
    Some(fields(rest).find_map(value).unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::configured;

    #[test]
    fn what_the_configuration_tells() {
        let line = b"System configuration: lcpu=8 drives=1 ent=0.50 paths=2";
        assert_eq!(configured(line, "lcpu"), Some(8.0));
        assert_eq!(configured(line, "ent"), Some(0.5));
        assert!(configured(line, "mem").is_some_and(f64::is_nan));
        assert_eq!(configured(b"lcpu=8", "lcpu"), None);
    }
}
