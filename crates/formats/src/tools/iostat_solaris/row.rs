//! Fields of a row.

use super::layout::Layout;
use crate::cpu::{AllCpus, UNKNOWN};
use crate::disk::{is_unknown, layer_on_solaris};
use crate::out::Out;
use crate::{fields, number, scan};

/// The layer of a device; where its name does not tell it, that is said.
pub(super) fn layer_of(name: &[u8], out: &mut Out) -> &'static str {
    if is_unknown(name) {
        out.note(
            "devices whose names no known driver gives are taken for pools and volumes, of the layer \
             `stacked`, which is counted where it is named only: `disk.bytes where layer = stacked`",
        );
    }
    layer_on_solaris(name)
}

/// The name after the numbers of a row, without the mount point of `-m`.
pub(super) fn name_after(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.trim_ascii_end();
    let end = rest.iter().position(u8::is_ascii_whitespace);
    let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
    // A server's folder may have blanks in its name: `nas1:/vol/my files (/mnt)`.
    if memchr::memmem::find(name, b":/").is_some() {
        let mount = memchr::memmem::rfind(rest, b" (").filter(|_| rest.ends_with(b")"));
        return Some(rest[..mount.unwrap_or(rest.len())].trim_ascii_end());
    }
    let after = after.trim_ascii_start();
    (after.is_empty() || after.starts_with(b"(") && after.ends_with(b")")).then_some(name)
}

/// A row of fields with commas between them.
pub(super) fn raw_row<'a>(
    line: &'a [u8],
    layout: &Layout,
    values: &mut [f64; scan::MOST],
) -> Option<(&'a [u8], usize)> {
    let mut all: Vec<&[u8]> = line.split(|b| *b == b',').map(<[u8]>::trim_ascii).collect();
    if all.len() > 2
        && all
            .last()
            .is_some_and(|f| f.starts_with(b"(") || f.is_empty())
    {
        all.pop();
    }
    let name = if layout.name_first {
        let first = *all.first()?;
        if number::number(first).is_some() && all.len() == layout.tail.len() {
            &b""[..]
        } else {
            all.remove(0)
        }
    } else {
        all.pop()?
    };
    let count = all.len();
    for (value, field) in values.get_mut(..count)?.iter_mut().zip(all) {
        *value = number::number(field)?;
    }
    Some((name, count))
}

/// Numbers with commas between them, as many as there is room for.
pub(super) fn raw_numbers(line: &[u8], values: &mut [f64]) -> bool {
    let mut all = line.split(|b| *b == b',').map(<[u8]>::trim_ascii);
    for value in values {
        match all.next().and_then(number::number) {
            Some(found) => *value = found,
            None => return false,
        }
    }
    all.next().is_none()
}

/// Numbers of which some have run together, as `  0  0  0100`: no number begins with a zero that
/// a digit follows, so the zero is a column of its own. Whether there are as many then as wanted.
pub(super) fn joined_zeros(line: &[u8], values: &mut [f64]) -> bool {
    let mut places = values.iter_mut();
    for mut field in fields(line) {
        let joined = field.iter().all(u8::is_ascii_digit);
        while let ([b'0', rest @ ..], true) = (field, joined)
            && !rest.is_empty()
        {
            let Some(place) = places.next() else {
                return false;
            };
            *place = 0.0;
            field = rest;
        }
        match (places.next(), number::number(field)) {
            (Some(place), Some(value)) => *place = value,
            _ => return false,
        }
    }
    places.next().is_none()
}

/// Puts numbers of terminals and processors.
pub(super) fn put_tail<'a>(
    cpus: &mut AllCpus,
    amounts: bool,
    values: impl Iterator<Item = (&'a str, f64)>,
    out: &mut Out,
) {
    let mut shares = UNKNOWN;
    let mut known = false;
    for (name, value) in values {
        let share = value / 100.0;
        match name {
            "us" => shares.user = share,
            "sy" => shares.system = share,
            "wt" => shares.iowait = share,
            "st" => shares.steal = share,
            "id" => shares.idle = share,
            _ => {
                let unit = match name {
                    "tin" | "tout" if amounts => "characters",
                    "tin" | "tout" => "characters/s",
                    // Time in probes of DTrace, of illumos.
                    _ => "%",
                };
                let empty = out.word(b"");
                out.other(name, unit, empty, value);
            }
        }
        known |= matches!(name, "us" | "sy" | "id");
    }
    if known {
        cpus.put(out, &shares);
    }
}

#[cfg(test)]
mod tests {
    use super::{joined_zeros, name_after};

    #[test]
    fn names_of_folders_may_have_blanks() {
        for (rest, name) in [
            ("c1t0d0 (/)", Some("c1t0d0")),
            ("nas1:/vol/home (/home)", Some("nas1:/vol/home")),
            ("nas1:/vol/my files", Some("nas1:/vol/my files")),
            (
                "nas1:/vol/my files (/my mount) ",
                Some("nas1:/vol/my files"),
            ),
            ("c1t0d0 12", None),
        ] {
            let found = name_after(rest.as_bytes());
            assert_eq!(found, name.map(str::as_bytes), "{rest}");
        }
    }

    #[test]
    fn a_zero_before_a_digit_is_a_column() {
        let read = |line: &str, count: usize| {
            let mut values = vec![f64::NAN; count];
            joined_zeros(line.as_bytes(), &mut values).then_some(values)
        };
        assert_eq!(read("  0  0  0100", 4), Some(vec![0.0, 0.0, 0.0, 100.0]));
        assert_eq!(read("  0  0100", 3), Some(vec![0.0, 0.0, 100.0]));
        assert_eq!(read("0.5 0100 0", 4), Some(vec![0.5, 0.0, 100.0, 0.0]));
        // Too many columns, too few, no number.
        assert_eq!(read("  0  0  0100", 3), None);
        assert_eq!(read("  0  0  0100", 5), None);
        assert_eq!(read("  0  0 x0100", 4), None);
        // Where no zero stands before, nobody knows where one ends.
        assert_eq!(read(" 10 0 100100", 4), None);
    }
}
