//! Blanks before each line, as text is set off in mails and wikis.

use super::Prefix;
use crate::list::Format;

/// Text is set off by so many blanks, or a tab.
const STEP: usize = 4;

/// What all lines begin with.
#[derive(Debug)]
pub(crate) struct Indent {
    blanks: Vec<u8>,
    /// There are no more of them before the first line.
    is_of_first: bool,
}

impl Indent {
    /// The blanks and tabs that all lines begin with which have anything else.
    pub(crate) fn of(lines: &[&[u8]]) -> Option<Indent> {
        let mut full = lines.iter().filter(|l| !l.trim_ascii().is_empty());
        let is_blank = |b: &u8| matches!(b, b' ' | b'\t');
        let first = full.next()?;
        let before = first.iter().take_while(|b| is_blank(b)).count();
        let common = full.fold(&first[..before], |common, line| {
            let same = common.iter().zip(*line).take_while(|(a, b)| a == b);
            &common[..same.count()]
        });
        (!common.is_empty()).then(|| Indent {
            blanks: common.to_vec(),
            is_of_first: common.len() == before,
        })
    }

    /// What may stand before each line: what text is set off by, and then all of it, of which some may
    /// be the tool's.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = Prefix> {
        let tabs = self.blanks.iter().take_while(|b| **b == b'\t').count();
        let set_off = match tabs {
            0 => self.blanks.len() / STEP * STEP,
            tabs => tabs,
        };
        let lengths = [set_off, set_off.min(STEP), self.blanks.len()];
        let is_new = |i: &usize| lengths[*i] > 0 && !lengths[..*i].contains(&lengths[*i]);
        let lengths: Vec<usize> = (0..3).filter(is_new).map(|i| lengths[i]).collect();
        lengths
            .into_iter()
            .map(|length| Prefix::Indented(self.blanks[..length].to_vec()))
    }

    /// Whether the tool does not print it itself, as far as is known: it is wide, and not all lines of
    /// the format's example begin with a blank, or the first is no deeper than others.
    pub(crate) fn is_not_of(&self, format: &Format) -> bool {
        let mut lines = format.example.lines().filter(|l| !l.trim().is_empty());
        let is_own = lines.all(|l| l.starts_with(' '));
        let is_wide = self.blanks.len() >= STEP || self.blanks.contains(&b'\t');
        is_wide && (self.is_of_first || !is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_lines_begin_with() {
        let of = |text: &str| {
            let lines: Vec<&[u8]> = text.split('\n').map(str::as_bytes).collect();
            let indent = Indent::of(&lines)?;
            let lengths = indent.prefixes().map(|prefix| match prefix {
                Prefix::Indented(blanks) => blanks.len(),
                _ => 0,
            });
            Some((lengths.collect::<Vec<_>>(), indent.is_of_first))
        };
        assert_eq!(of("    a\n\n     b\n  "), Some((vec![4], true)));
        assert_eq!(of("         a"), Some((vec![8, 4, 9], true)));
        assert_eq!(of("       a\n      b"), Some((vec![4, 6], false)));
        assert_eq!(of("\t  a\n\t  b"), Some((vec![1, 3], true)));
        assert_eq!(of("  a\n  b"), Some((vec![2], true)));
        assert_eq!(of("\ta\n    b"), None);
        assert_eq!(of(""), None);
    }
}
