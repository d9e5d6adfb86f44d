//! `/sys/block/NAME/stat`: the numbers that a line of `diskstats` has behind the name
//! (<https://docs.kernel.org/block/stat.html>). What `head` and `tail` print above it names the device, or
//! `grep` before it.

use crate::fields;
use crate::number::whole;

/// The device of the file of that path, of a partition `/sys/block/sda/sda1/stat`.
fn device(path: &[u8]) -> Option<&[u8]> {
    let place = path.strip_suffix(b"/stat")?;
    let places: [&[u8]; 2] = [b"/sys/block/", b"/sys/class/block/"];
    let name = places.iter().find_map(|p| place.strip_prefix(*p))?;
    name.rsplit(|b| *b == b'/').next().filter(|n| !n.is_empty())
}

/// The device of a line `==> /sys/block/sda/stat <==`; empty if it is another.
pub(super) fn named(line: &[u8]) -> &[u8] {
    let path = fields(line).nth(1).unwrap_or_default();
    device(path).unwrap_or_default()
}

/// The line as `diskstats` has it, but for its numbers of the device; `above` is the device of the file
/// that is printed, or empty.
pub(super) fn with_name(above: &[u8], line: &[u8]) -> Option<Vec<u8>> {
    let path = line.starts_with(b"/sys/");
    let (name, rest) = match line.iter().position(|b| *b == b':').filter(|_| path) {
        Some(at) => (device(&line[..at])?, &line[at + 1..]),
        None => (above, line),
    };
    let all: Vec<&[u8]> = fields(rest).collect();
    let counts = matches!(all.len(), 11 | 15 | 17) && all.iter().all(|n| whole(n).is_some());
    // A name with slashes has exclamation marks there.
    let name: Vec<u8> = name
        .iter()
        .map(|b| if *b == b'!' { b'/' } else { *b })
        .collect();
    (counts && !name.is_empty()).then(|| [b"0 0 ", &name[..], b" ", rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_file_of_a_device() {
        let numbers = "1 2 3 4 5 6 7 8 9 10 11";
        let of = |above: &str, before: &str| {
            let line = with_name(above.as_bytes(), format!("{before}{numbers}").as_bytes())?;
            String::from_utf8(line)
                .ok()?
                .strip_suffix(numbers)
                .map(str::to_owned)
        };
        assert_eq!(of("sda", "  ").as_deref(), Some("0 0 sda   "));
        assert_eq!(
            of("", "/sys/block/sda/sda1/stat:").as_deref(),
            Some("0 0 sda1 ")
        );
        assert_eq!(of("cciss!c0d0", "").as_deref(), Some("0 0 cciss/c0d0 "));
        for (above, before) in [("", ""), ("sda", "/sys/x:"), ("sda", "7 "), ("sda", "x ")] {
            assert_eq!(of(above, before), None, "{before}");
        }
        assert_eq!(named(b"==> /sys/class/block/dm-0/stat <=="), b"dm-0");
        assert_eq!(named(b"==> /proc/pressure/io <=="), b"");
    }
}
