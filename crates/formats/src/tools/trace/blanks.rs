//! Blank lines that are in a text twice, as logs of some terminals have them: two of them end an
//! interval, one does not.

use super::stamp;
use crate::recognise::Head;

/// How blank lines came to be in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Spacing {
    #[default]
    AsPrinted,
    /// Each is there twice.
    Twice,
    /// One is behind each line, those that are blank among them.
    BehindEach,
}

impl Spacing {
    /// Of the text that begins so. That lines alone are twice there is told by four where two are
    /// printed, or by two below a time, where none or one is.
    pub(super) fn of(head: &Head) -> Spacing {
        let (mut runs, mut run) = (Vec::new(), 0);
        let (mut below_time, mut told) = (false, false);
        for line in head.lines().map(<[u8]>::trim_ascii) {
            if line.is_empty() {
                run += 1;
                continue;
            }
            told |= run == 4 || run == 2 && below_time;
            runs.push(std::mem::take(&mut run));
            let text = std::str::from_utf8(line).ok();
            below_time = text.and_then(stamp).is_some();
        }
        // What is before the first line is no run between two.
        let between = runs.get(1..).unwrap_or_default();
        let blank: Vec<usize> = between.iter().copied().filter(|run| *run > 0).collect();
        if between.len() >= 4 && between.iter().all(|run| run % 2 == 1) {
            return Spacing::BehindEach;
        }
        if told && blank.len() >= 2 && blank.iter().all(|run| run % 2 == 0) {
            return Spacing::Twice;
        }
        Spacing::AsPrinted
    }

    /// How many blank lines were printed, of so many in a row.
    pub(super) fn printed(self, lines: usize) -> usize {
        match self {
            Spacing::AsPrinted => lines,
            Spacing::Twice => lines / 2,
            Spacing::BehindEach => lines.saturating_sub(1) / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_that_are_there_twice() {
        for (text, spacing) in [
            ("a\n\n\nb\n1\n\nb\n2\n\n\nb\n3\n", Spacing::AsPrinted),
            ("a\n\n\nb\n1\n\n\nb\n2\n", Spacing::AsPrinted),
            ("a\n\n\n\n\nb\n1\n\n\nb\n2\n\n\n\n\nb\n3\n", Spacing::Twice),
            ("a\n\n\n10:00:05\n\n\nb\n", Spacing::Twice),
            ("a\n\n\n10:00:05\nb\n\n\n10:00:10\nb\n", Spacing::AsPrinted),
            ("a\n\nb\n\n1\n\n2\n\n\n\nb\n", Spacing::BehindEach),
        ] {
            assert_eq!(Spacing::of(&Head::new(text.as_bytes())), spacing, "{text}");
        }
        assert_eq!(Spacing::Twice.printed(4), 2);
        assert_eq!(Spacing::BehindEach.printed(5), 2);
    }
}
