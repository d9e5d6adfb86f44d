//! Histograms that a script prints again and again without clearing them: each holds all that
//! was counted since it was started.

use std::collections::HashMap;

use super::buckets::Bucket;
use crate::out::Out;

/// So many reports that only grow are no chance.
const SUSPICIOUS: u32 = 3;

/// What was printed last of each histogram.
#[derive(Default)]
pub(super) struct Cumulative {
    last: HashMap<String, (u32, Vec<Bucket>)>,
    /// A count was less than in the report before: something clears them.
    fell: bool,
}

impl Cumulative {
    /// What the histogram of that name counted since it was printed last; all of it the first
    /// time, and where it was begun anew.
    pub(super) fn grown(&mut self, name: &str, rows: &[Bucket]) -> Vec<Bucket> {
        let Some((_, before)) = self.last.insert(name.to_owned(), (1, rows.to_vec())) else {
            return rows.to_vec();
        };
        if fell(&before, rows) {
            return rows.to_vec();
        }
        let before = Counts::of(&before);
        let grown = rows.iter().map(|row| Bucket {
            count: row.count - before.at(row),
            ..*row
        });
        grown.collect()
    }

    /// A report is over, and all that the script keeps is printed in it: what is not was removed, and
    /// counts anew.
    pub(super) fn report_ends(&mut self) {
        self.last
            .retain(|_, (printed, _)| std::mem::take(printed) > 0);
    }

    /// The script is not known: it may clear this histogram or not.
    pub(super) fn perhaps(&mut self, name: &str, rows: &[Bucket]) {
        let (times, before) = self.last.entry(name.to_owned()).or_default();
        self.fell |= fell(before, rows);
        *times += 1;
        rows.clone_into(before);
    }

    /// Another script follows, or none.
    pub(super) fn end(&mut self, out: &mut Out) {
        let often = self.last.values().any(|(times, _)| *times >= SUSPICIOUS);
        if often && !self.fell {
            out.note(
                "no count of any histogram is ever less than in the report before: if the script \
                 does not clear them, each report holds those before it, and counts are too high",
            );
        }
        *self = Cumulative::default();
    }
}

/// Counts by range.
struct Counts(HashMap<[u64; 2], f64>);

impl Counts {
    fn of(rows: &[Bucket]) -> Counts {
        // Of the same range twice the first one counts.
        let rows = rows.iter().rev();
        Counts(rows.map(|b| (Counts::range(b), b.count)).collect())
    }

    fn range(bucket: &Bucket) -> [u64; 2] {
        // There are two zeros.
        [bucket.from, bucket.to].map(|end| (end + 0.0).to_bits())
    }

    /// The count of the same range.
    fn at(&self, range: &Bucket) -> f64 {
        self.0.get(&Counts::range(range)).copied().unwrap_or(0.0)
    }
}

fn fell(before: &[Bucket], now: &[Bucket]) -> bool {
    let now = Counts::of(now);
    before.iter().any(|b| now.at(b) < b.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(counts: &[(f64, f64)]) -> Vec<Bucket> {
        let row = |(from, count): &(f64, f64)| Bucket {
            from: *from,
            to: from * 2.0,
            count: *count,
        };
        counts.iter().map(row).collect()
    }

    #[test]
    fn what_was_counted_since_the_report_before() {
        let mut all = Cumulative::default();
        let mut grown = |counts: &[(f64, f64)]| all.grown("a", &rows(counts));
        assert_eq!(grown(&[(4.0, 3.0)]), rows(&[(4.0, 3.0)]));
        let more = [(2.0, 1.0), (4.0, 5.0)];
        assert_eq!(grown(&more), rows(&[(2.0, 1.0), (4.0, 2.0)]));
        assert_eq!(grown(&more), rows(&[(2.0, 0.0), (4.0, 0.0)]));
        // It was started anew.
        assert_eq!(grown(&[(4.0, 5.0)]), rows(&[(4.0, 5.0)]));
    }

    #[test]
    fn three_reports_that_only_grow_are_noted() {
        let notes = |counts: &[f64]| {
            let mut out = Out::new("bpftrace", crate::Options::default());
            let mut all = Cumulative::default();
            for count in counts {
                all.perhaps("a", &rows(&[(4.0, *count)]));
            }
            all.end(&mut out);
            out.notes().count()
        };
        assert_eq!(notes(&[3.0, 4.0, 4.0]), 1);
        assert_eq!(notes(&[3.0, 4.0]), 0);
        assert_eq!(notes(&[3.0, 4.0, 3.0]), 0);
    }
}
