//! Numbers of lines, as `cat -n`, `nl`, `grep -n` and editors put them.

use crate::fields;
use crate::number::number;

/// The number that a line begins with, what ends it, and the length of both.
pub(super) fn line_number(line: &[u8]) -> Option<(u64, u8, usize)> {
    let before = line.iter().take_while(|b| **b == b' ').count();
    let digits = line[before..].iter().take_while(|b| b.is_ascii_digit());
    let end = before + digits.count();
    let number = std::str::from_utf8(&line[before..end]).ok()?.parse().ok()?;
    let mark = *line.get(end)?;
    matches!(mark, b'\t' | b':' | b' ').then_some((number, mark, end + 1))
}

/// Whether those lines are numbered one after another. A tool may print numbers so itself: what blanks
/// alone are behind counts from 1, and a header is numbered, too.
pub(super) fn are_numbered(lines: &[&[u8]]) -> bool {
    let mut found = lines.iter().map(|line| line_number(line));
    let Some(Some((first, mark, _))) = found.next() else {
        return false;
    };
    let mut expected = first;
    let follow = found.all(|found| {
        let next = found
            .filter(|(_, m, _)| *m == mark)
            .map(|(number, ..)| number);
        // Lines that are blank may be numbered, too.
        let follows = next.is_some_and(|n| n > expected && n <= expected + 3);
        expected = next.unwrap_or(expected);
        follows
    });
    let is_header = |line: &&[u8]| {
        let rest = line_number(line).map_or(*line, |(.., length)| &line[length..]);
        fields(rest).next().is_some() && fields(rest).all(|f| number(f).is_none())
    };
    let enough = match mark {
        b'\t' => 2,
        _ => 3,
    };
    follow && lines.len() >= enough && (mark != b' ' || first == 1 && lines.iter().any(is_header))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_one_another() {
        let are = |text: &str| {
            let lines: Vec<&[u8]> = text.split('\n').map(str::as_bytes).collect();
            are_numbered(&lines)
        };
        assert!(are("     1\tr b\n     2\t1 2\n     3\t3 4"));
        assert!(are("     1\tr b\n     3\t1 2\n     4\t3 4"));
        assert!(are("     1\tr b\n     2\t1 2"));
        assert!(are("12:r b\n13:1 2\n14:3 4"));
        assert!(are("  1 r b\n  2 1 2\n  3 3 4"));
        for no in [
            "  0 1 2\n  1 1 2\n  2 3 4",
            "  1 1 2\n  2 1 2\n  3 3 4",
            "  2 r b\n  3 1 2\n  4 3 4",
            "12:r b\n13:1 2",
            "1\tr b\n1\t1 2\n2\t3 4",
            "10:00:01 r b\n10:00:02 1 2\n10:00:03 3 4",
            "1\tr b\n2:1 2\n3\t3 4",
            "r b\n1\t1 2\n2\t3 4",
        ] {
            assert!(!are(no), "{no}");
        }
    }
}
