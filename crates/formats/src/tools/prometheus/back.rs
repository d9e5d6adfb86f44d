//! Counters that went back: what is said of them, once for all.

use std::collections::BTreeMap;

use crate::out::Out;

/// More names are not told one by one.
const TOLD: usize = 4;

/// In how many scrapes counters of each name went back.
#[derive(Default)]
struct Times {
    /// The last of those scrapes, and how many.
    by_name: BTreeMap<String, (u64, u64)>,
}

impl Times {
    fn count(&mut self, name: &str, scrape: u64) {
        let (last, times) = self.by_name.entry(name.to_owned()).or_default();
        *times += u64::from(*last != scrape);
        *last = scrape;
    }

    /// `jobs_total (once), calls_total (3 times) and 2 others`; `None` if there are none.
    fn text(&self) -> Option<String> {
        let one = |(name, (_, times)): (&String, &(u64, u64))| match times {
            1 => format!("{name} (once)"),
            _ => format!("{name} ({times} times)"),
        };
        let named: Vec<String> = self.by_name.iter().take(TOLD).map(one).collect();
        let others = match self.by_name.len() - named.len() {
            0 => String::new(),
            1 => " and another".to_owned(),
            n => format!(" and {n} others"),
        };
        (!named.is_empty()).then(|| format!("{}{others}", named.join(", ")))
    }
}

/// Counters that went back.
#[derive(Default)]
pub(super) struct WentBack {
    restarted: Times,
    left_out: Times,
}

impl WentBack {
    /// One was set to zero before that scrape.
    pub(super) fn restarted(&mut self, name: &str, scrape: u64) {
        self.restarted.count(name, scrape);
    }

    /// One went back to something else than zero.
    pub(super) fn left_out(&mut self, name: &str, scrape: u64) {
        self.left_out.count(name, scrape);
    }

    /// Says it.
    pub(super) fn tell(&self, out: &mut Out) {
        if let Some(names) = self.restarted.text() {
            out.note(&format!(
                "counters were set to zero between two scrapes and count from zero there, as \
                 Prometheus' rate() does: {names}"
            ));
        }
        if let Some(names) = self.left_out.text() {
            out.note(&format!(
                "counters went back without being set to zero and are left out there: {names}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_a_name_that_go_back_together_count_once() {
        let mut times = Times::default();
        assert_eq!(times.text(), None);
        for (name, scrape) in [("b", 2), ("b", 2), ("a", 2), ("b", 3)] {
            times.count(name, scrape);
        }
        assert_eq!(times.text().as_deref(), Some("a (once), b (2 times)"));
        for name in ["c", "d", "e", "f"] {
            times.count(name, 4);
        }
        let text = "a (once), b (2 times), c (once), d (once) and 2 others";
        assert_eq!(times.text().as_deref(), Some(text));
    }
}
