//! What single lines of `dd`, of `time`, and of the command tell.

use crate::fields;
use crate::number::{decimal, scaled, whole};

/// `200+0 records in`.
pub(super) struct Records<'a> {
    pub(super) full: f64,
    pub(super) partial: f64,
    pub(super) name: &'a [u8],
    pub(super) direction: &'a [u8],
}

/// The count of records in a line, which a logger's words may stand before.
pub(super) fn records<'a>(line: &[&'a [u8]]) -> Option<Records<'a>> {
    let count = |field: &[u8]| {
        // The terminal's echo of what ended it.
        let field = field.strip_prefix(b"^C").unwrap_or(field);
        let plus = field.iter().position(|b| *b == b'+')?;
        Some((whole(&field[..plus])?, whole(&field[plus + 1..])?))
    };
    let place = line.iter().position(|f| count(f).is_some())?;
    let (full, partial) = count(line[place])?;
    let name = line.get(place + 1).copied()?;
    let direction = line.get(place + 2).copied()?;
    // In another language the line begins with it.
    let known = name == b"records" && matches!(direction, b"in" | b"out");
    let letter = |b: &u8| b.is_ascii_alphabetic() || !b.is_ascii();
    let plain = place == 0 && name.iter().any(letter);
    (known || plain).then_some(Records {
        full: full as f64,
        partial: partial as f64,
        name,
        direction,
    })
}

/// Bytes and seconds of `209715200 bytes (210 MB, 200 MiB) copied, 0.767176 s, 273 MB/s` or
/// `104857600 bytes transferred in 0.125 secs (838860800 bytes/sec)`, of illumos
/// `104857600 (100 MiB) bytes transferred in 0.125 secs (800 MiB/sec)`.
pub(super) fn copied(line: &[&[u8]]) -> Option<(f64, f64)> {
    let is_unit = |f: &&[u8]| f.starts_with(b"byte") || f.starts_with(b"Byte");
    let named = line.iter().position(is_unit).and_then(|p| p.checked_sub(1));
    // Of illumos the size in another unit stands between them.
    let opening = |at: &usize| line[at + 1].starts_with(b"(");
    let named = named.map(|at| {
        let is_other = line[at].ends_with(b")");
        let before = (0..at).rev().find(opening);
        before.filter(|_| is_other).unwrap_or(at)
    });
    // In Czech, Polish and Ukrainian a word stands before them.
    let place =
        named.unwrap_or_else(|| usize::from(line.first().is_some_and(|f| whole(f).is_none())));
    let bytes = whole(line.get(place)?)? as f64;
    let rest = &line[place + 1..];
    let bsd = rest
        .windows(2)
        .position(|w| w == [&b"transferred"[..], b"in"]);
    if let Some(at) = bsd {
        let time = *rest.get(at + 2)?;
        // Behind it the rate stands always: without it the line was cut.
        let [rate, unit, ..] = rest.get(at + 4..)? else {
            return None;
        };
        let rate = Rate::of(&[rate.strip_prefix(b"(")?, unit]);
        return agreed(bytes, time, rate);
    }
    // The last two parts are the time and the rate.
    let rate = rest.last()?;
    let seconds = rest.iter().rposition(|f| {
        matches!(*f, b"s," | b"seconds," | b"secs," | b"sec,")
            || (f.ends_with(b"s,") && ends_in_s(f))
    })?;
    let is_rate = rate.ends_with(b"/s") || rate.ends_with(b"/sec");
    if !is_rate || seconds + 3 < rest.len() {
        return None;
    }
    let time = match rest[seconds] {
        field if ends_in_s(field) => &field[..field.len() - 2],
        _ => rest.get(seconds.checked_sub(1)?)?,
    };
    agreed(bytes, time, Rate::of(&rest[seconds + 1..]))
}

/// Whether the line tells what was copied, as it seems, though [`copied`] does not understand it.
pub(super) fn tells_copied(line: &[&[u8]]) -> bool {
    let has = |word: &[u8]| line.iter().any(|field| field.starts_with(word));
    has(b"byte") && (has(b"transferred") || has(b"copied"))
}

/// A printed rate, in bytes per second.
struct Rate {
    least: f64,
    most: f64,
}

impl Rate {
    /// Of `273 MB/s`, `260.7MB/s`, `838860800 bytes/sec)`. Steps are 1,000 or 1,024: versions of
    /// dd differ, so both are within the bounds.
    fn of(fields: &[&[u8]]) -> Option<Rate> {
        let text = fields.concat();
        let digit = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b',');
        let end = text.iter().position(|b| !digit(b))?;
        let (digits, unit) = text.split_at(end);
        let step = match unit.first()? {
            b'B' | b'b' => 0,
            letter => 1 + "KMGTPE".find(letter.to_ascii_uppercase() as char)? as i32,
        };
        let (value, half) = (decimal(digits)?, half_a_digit(digits));
        Some(Rate {
            least: (value - half) * 1000_f64.powi(step),
            most: (value + half) * 1024_f64.powi(step),
        })
    }
}

/// Half of what the last digit stands for.
fn half_a_digit(text: &[u8]) -> f64 {
    let point = text.iter().position(|b| matches!(b, b'.' | b','));
    let decimals = point.map_or(0, |at| text.len() - at - 1);
    0.5 * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX))
}

/// Bytes and seconds, unless the rate that is printed beside them is another one: then one of
/// the numbers is not what it seems to be.
fn agreed(bytes: f64, time: &[u8], rate: Option<Rate>) -> Option<(f64, f64)> {
    /// What a copy that was measured again for the rate may differ by.
    const SLACK: f64 = 1.02;
    let seconds = decimal(time)?;
    if let Some(rate) = rate {
        let half = half_a_digit(time);
        let least = bytes / (seconds + half);
        let most = bytes / (seconds - half).max(0.0);
        if least > rate.most * SLACK || most * SLACK < rate.least {
            return None;
        }
    }
    Some((bytes, seconds))
}

/// `1s,`: a number and the unit in one.
fn ends_in_s(field: &[u8]) -> bool {
    field
        .strip_suffix(b"s,")
        .is_some_and(|n| decimal(n).is_some())
}

/// Seconds of `2:45.0`, `1:02:45.0`, `0m0.771s`, `98.4`.
pub(super) fn clock(text: &[u8]) -> Option<f64> {
    if let Some(rest) = text.strip_suffix(b"s") {
        let at = rest.iter().position(|b| *b == b'm')?;
        return Some(decimal(&rest[..at])? * 60.0 + decimal(&rest[at + 1..])?);
    }
    text.split(|b| *b == b':')
        .try_fold(0.0, |sum, part| Some(sum * 60.0 + decimal(part)?))
}

/// A command line in the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    pub(super) from: Vec<u8>,
    pub(super) to: Vec<u8>,
    pub(super) block: Option<f64>,
    /// It goes on where a record cannot be read.
    pub(super) goes_on: bool,
    /// A part of it is filled in by the shell.
    varies: bool,
}

impl Command {
    /// Whether each of its copies is of as much, as far as is told: a report of more is of the same copy,
    /// which was asked for with a signal.
    pub(super) fn is_fixed(&self) -> bool {
        !(self.varies || self.from.is_empty() && self.to.is_empty())
    }

    /// Whether it may go on, as far as is told.
    pub(super) fn may_go_on(&self) -> bool {
        self.goes_on || self.from.is_empty() && self.to.is_empty()
    }
}

/// All commands `dd` of a line.
pub(super) fn commands(line: &[u8]) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let is_quote = |b: &u8| matches!(b, b'\'' | b'"' | b',' | b'[' | b']' | b';' | b')' | b'(');
    for field in fields(line) {
        let start = field
            .iter()
            .position(|b| !is_quote(b))
            .unwrap_or(field.len());
        let end = field
            .iter()
            .rposition(|b| !is_quote(b))
            .map_or(start, |e| e + 1);
        let word = &field[start..end];
        if word == b"dd" || word.ends_with(b"/dd") {
            found.push(Command::default());
        }
        let Some(command) = found.last_mut() else {
            continue;
        };
        command.varies |= word.iter().any(|b| matches!(b, b'$' | b'`'));
        if let Some(from) = word.strip_prefix(b"if=") {
            command.from = from.to_vec();
        } else if let Some(to) = word.strip_prefix(b"of=") {
            command.to = to.to_vec();
        } else if let Some(block) = word.strip_prefix(b"bs=") {
            command.block = block_size(block);
        } else if let Some(how) = word.strip_prefix(b"conv=") {
            command.goes_on = how.split(|b| *b == b',').any(|w| w == b"noerror");
        }
    }
    found.retain(|c| !(c.from.is_empty() && c.to.is_empty()));
    found
}

/// Bytes of `2048k`, `1M`, `512`, `4b`, `1MB` (1,000,000 with GNU).
fn block_size(text: &[u8]) -> Option<f64> {
    match text.strip_suffix(b"b") {
        Some(blocks) => Some(whole(blocks)? as f64 * 512.0),
        None if text.ends_with(b"B") && !text.ends_with(b"iB") => scaled(text, 1000.0),
        None => scaled(text, 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::languages::with_blanks;
    use super::*;

    fn of(line: &str) -> Option<(f64, f64)> {
        let plain = with_blanks(line.as_bytes());
        let line = plain.as_deref().unwrap_or(line.as_bytes());
        let line: Vec<&[u8]> = fields(line).collect();
        copied(&line)
    }

    #[test]
    fn what_was_copied_in_all_forms() {
        for (line, wanted) in [
            (
                "209715200 bytes (210 MB, 200 MiB) copied, 0.767176 s, 273 MB/s",
                (209715200.0, 0.767176),
            ),
            (
                "209715200 bytes (210 MB) copied, 0.767176 seconds, 273 MB/s",
                (209715200.0, 0.767176),
            ),
            (
                "209715200 bytes (200.0MB) copied, 0.767176 seconds, 260.7MB/s",
                (209715200.0, 0.767176),
            ),
            ("512 bytes copied, 0.0001 s, 5.1 MB/s", (512.0, 0.0001)),
            (
                "209715200 Bytes (210 MB, 200 MiB) kopiert, 0,767176 s, 273 MB/s",
                (209715200.0, 0.767176),
            ),
            (
                "209715200 octets (210 MB, 200 MiB) copiés, 0,5 s, 419 MB/s",
                (209715200.0, 0.5),
            ),
            (
                "104857600 bytes transferred in 0.125 secs (838860800 bytes/sec)",
                (104857600.0, 0.125),
            ),
            (
                "104857600 (100 MiB) bytes transferred in 0.125 secs (800 MiB/sec)^C",
                (104857600.0, 0.125),
            ),
            (
                "104857600 bytes (105 MB, 100 MiB) transferred 1.001s, 105 MB/s",
                (104857600.0, 1.001),
            ),
            (
                "209715200 バイト (210 MB, 200 MiB) コピーされました、 0.5 s、 419 MB/秒",
                (209715200.0, 0.5),
            ),
            (
                "104857600 字节 (105 MB, 100 MiB) 已复制，0.25 s，419 MB/s",
                (104857600.0, 0.25),
            ),
            (
                "104857600 바이트 (105 MB, 100 MiB) 복사함, 0.25 s, 419 MB/s",
                (104857600.0, 0.25),
            ),
            (
                "скопійовано 104857600 байтів (105 MB, 100 MiB), 0,25 s, 419 MB/s",
                (104857600.0, 0.25),
            ),
            (
                "skopiowane 104857600 bajtów (105 MB, 100 MiB), 0,25 s, 419 MB/s",
                (104857600.0, 0.25),
            ),
            ("x[1].stdout 5 bytes copied, 2 s, 0.0 kB/s", (5.0, 2.0)),
            (
                "209715200 Bytes (210 MB, 200 MiB) kopiert, 1,234 s, 170 MB/s",
                (209715200.0, 1.234),
            ),
            (
                "209715200 octets (210 MB, 200 MiB) copiés, 234,567 s, 894 kB/s",
                (209715200.0, 234.567),
            ),
            // Progress counts whole seconds.
            (
                "1610612736 bytes (1.6 GB) copied, 1 s, 1.1 GB/s",
                (1610612736.0, 1.0),
            ),
            ("0 bytes copied, 0,000012 s, 0,0 kB/s", (0.0, 0.000012)),
        ] {
            assert_eq!(of(line), Some(wanted), "{line}");
        }
        for line in [
            "",
            "5",
            "bytes",
            "5 bytes",
            "copied 5 bytes in 2 s",
            "7 apples, 2 s, 3 pears",
            // The rate is that of another time, or of other bytes.
            "209715200 bytes (210 MB, 200 MiB) copied, 1.234 s, 170 kB/s",
            "209715200 bytes (210 MB, 200 MiB) copied, 1,234.5 s, 170 kB/s",
            "104857600 bytes transferred in 0.125 secs (838860 bytes/sec)",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn times_and_sizes() {
        assert_eq!(clock(b"2:45.0"), Some(165.0));
        assert_eq!(clock(b"1:00:01.5"), Some(3601.5));
        assert_eq!(clock(b"0m0.771s"), Some(0.771));
        assert_eq!(clock(b"98.4"), Some(98.4));
        assert_eq!(clock(b"0m12,567s"), Some(12.567));
        assert_eq!(clock(b"2,500"), Some(2.5));
        assert_eq!(block_size(b"2048k"), Some(2097152.0));
        assert_eq!(block_size(b"1MB"), Some(1e6));
        assert_eq!(block_size(b"1MiB"), Some(1048576.0));
        assert_eq!(block_size(b"4b"), Some(2048.0));
    }
}
