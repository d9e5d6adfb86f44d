//! What netperf says while a test runs (`-D`): as text, keywords or CSV.
//!
//! ```text
//! Interim result: 9412.34 10^6bits/s over 1.000 seconds ending at 1357000001.123
//!
//! NETPERF_INTERIM_RESULT[0]=9412.34
//! NETPERF_UNITS[0]=10^6bits/s
//! NETPERF_INTERVAL[0]=1.000
//! NETPERF_ENDING[0]=1357000001.123
//!
//! 9412.34,10^6bits/s,1.000,1357000001.123
//! ```

use std::borrow::Cow;

use run::Nanos;

use super::{Netperf, Test, op, unit};
use crate::Line;
use crate::number::number;
use crate::out::Out;
use crate::own::when;
use crate::time::Stamp;
use crate::workload::{Done, UNKNOWN};

/// Times before 2001 are other numbers.
const LEAST: Nanos = 1_000_000_000_000_000_000;

/// An interval of a test.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Interim {
    pub(super) throughput: f64,
    pub(super) unit: String,
    pub(super) seconds: f64,
    /// When it ended, since 1970 began.
    pub(super) ending: Nanos,
}

impl Interim {
    fn of([throughput, printed, seconds, ending]: [&str; 4]) -> Option<Interim> {
        unit(printed)?;
        Some(Interim {
            throughput: number(throughput.as_bytes())?,
            unit: printed.to_owned(),
            seconds: number(seconds.as_bytes()).filter(|s| *s > 0.0)?,
            ending: when::epoch(ending.as_bytes(), 1_000_000_000).filter(|e| *e >= LEAST)?,
        })
    }

    /// Of one line, as text or CSV.
    pub(super) fn line(text: &str) -> Option<Interim> {
        let Some(words) = text.strip_prefix("Interim result:") else {
            let values: Vec<&str> = text.split(',').map(str::trim).collect();
            return Interim::of(values.try_into().ok()?);
        };
        let words: Vec<&str> = words.split_whitespace().collect();
        let [
            throughput,
            unit,
            "over",
            seconds,
            "seconds",
            "ending",
            "at",
            ending,
        ] = words[..]
        else {
            return None;
        };
        Interim::of([throughput, unit, seconds, ending])
    }
}

/// What keywords told so far of an interval, in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    number: String,
    values: Vec<String>,
}

/// What a line with a keyword is.
#[derive(Debug, PartialEq)]
pub(super) enum Keyword {
    /// Of something else.
    Other,
    /// It does not follow what came before.
    Astray,
    Part,
    Last(Interim),
}

impl Keywords {
    const NAMES: [&str; 4] = [
        "NETPERF_INTERIM_RESULT",
        "NETPERF_UNITS",
        "NETPERF_INTERVAL",
        "NETPERF_ENDING",
    ];

    /// Whether an interval is told in part.
    pub(super) fn is_begun(&self) -> bool {
        !self.values.is_empty()
    }

    pub(super) fn line(&mut self, text: &str) -> Keyword {
        let parts = text
            .split_once("]=")
            .and_then(|(left, value)| Some((left.split_once('[')?, value)));
        let Some(((name, number), value)) = parts else {
            return Keyword::Other;
        };
        let Some(place) = Keywords::NAMES.iter().position(|n| *n == name) else {
            return Keyword::Other;
        };
        if place == 0 {
            number.clone_into(&mut self.number);
            self.values.clear();
        } else if number != self.number || place != self.values.len() {
            self.values.clear();
            return Keyword::Astray;
        }
        self.values.push(value.trim().to_owned());
        let [throughput, unit, seconds, ending] = &self.values[..] else {
            return Keyword::Part;
        };
        let whole = Interim::of([throughput, unit, seconds, ending]);
        self.values.clear();
        whole.map_or(Keyword::Astray, Keyword::Last)
    }
}

/// From when to when a test's intervals are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran {
    began: Nanos,
    ended: Nanos,
}

impl Netperf {
    /// A line that tells an interval, or a part of one; `None` if it is another.
    pub(super) fn interim(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let interim = match self.keywords.line(text) {
            Keyword::Astray => return Some(Line::Unknown),
            Keyword::Part => return Some(Line::Data),
            Keyword::Last(interim) => interim,
            Keyword::Other => match Interim::line(text) {
                Some(interim) => interim,
                None => return text.starts_with("Interim result:").then_some(Line::Unknown),
            },
        };
        let (is_rate, scale) = unit(&interim.unit)?;
        if self.test.as_ref().is_some_and(|t| t.throughput.is_some()) {
            self.test_is_over(out);
        }
        let test = self.test.get_or_insert_default();
        let rate = interim.throughput * scale;
        let done = if is_rate {
            Done {
                ops: rate,
                ..UNKNOWN
            }
        } else {
            Done {
                bytes: rate,
                ..UNKNOWN
            }
        };
        out.sample_once(Some(Stamp::Epoch(interim.ending)));
        out.spans(interim.seconds);
        let of = [test.name.as_bytes(), op(&test.name, is_rate), b""];
        self.work.rates(out, of, done);
        let length = (interim.seconds * 1e9).round() as Nanos;
        let began = interim.ending.saturating_sub(length);
        test.ran = Some(Ran {
            began: test.ran.map_or(began, |ran| ran.began),
            ended: interim.ending,
        });
        Some(Line::Data)
    }
}

/// Begins the sample of the whole of a test whose intervals are told. Its throughput is kept
/// beside them: as work it would count twice.
pub(super) fn put_whole(test: &mut Test, ran: Ran, seconds: Option<f64>, out: &mut Out) {
    out.note(
        "intervals are those of netperf's interim results; what a test did in all is in \
         other.netperf.throughput",
    );
    let told = ran.ended.saturating_sub(ran.began);
    let length = seconds.map_or(told, |s| (s * 1e9).round() as Nanos);
    // It ends with its last interval or after it.
    out.sample_once(Some(Stamp::Epoch(
        ran.began.saturating_add(length.max(told)),
    )));
    out.spans(length as f64 / 1e9);
    let mut put = |column: &str, unit: &str, value: Option<f64>| {
        let kept = |value| (column.to_owned(), Cow::Owned(unit.to_owned()), value);
        test.others.extend(value.map(kept));
    };
    put("throughput", &test.unit, test.throughput);
    put("elapsed time", "s", test.seconds);
    put("messages", "", test.sent.map(|s| s.0));
    put("errors", "", test.sent.map(|s| s.1));
    put("received messages", "", test.received.map(|r| r.0));
    put(
        "received throughput",
        &test.unit,
        test.received.map(|r| r.1),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_printing_tells_the_same() {
        let wanted = Interim {
            throughput: 9412.34,
            unit: "10^6bits/s".to_owned(),
            seconds: 1.0,
            ending: 1_357_000_001_123_000_000,
        };
        let text = "Interim result: 9412.34 10^6bits/s over 1.000 seconds ending at 1357000001.123";
        assert_eq!(Interim::line(text).as_ref(), Some(&wanted));
        let csv = "9412.34,10^6bits/s,1.000,1357000001.123";
        assert_eq!(Interim::line(csv).as_ref(), Some(&wanted));
        let mut keywords = Keywords::default();
        for part in [
            "NETPERF_INTERIM_RESULT[0]=9412.34",
            "NETPERF_UNITS[0]=10^6bits/s",
            "NETPERF_INTERVAL[0]=1.000",
        ] {
            assert_eq!(keywords.line(part), Keyword::Part);
        }
        let last = keywords.line("NETPERF_ENDING[0]=1357000001.123");
        assert_eq!(last, Keyword::Last(wanted));
        assert_eq!(keywords.line("NETPERF_ENDING[1]=1357"), Keyword::Astray);
        assert_eq!(keywords.line("THROUGHPUT=9412.34"), Keyword::Other);
    }

    #[test]
    fn what_is_cut_or_of_an_unknown_unit_is_none() {
        for text in [
            "Interim result: 9412.34 10^6bits/s over 1.000 seconds ending at",
            "Interim result: 9412.34 10^6frobs/s over 1.000 seconds ending at 1357000001.123",
            "9412.34,10^6bits/s,1.000",
            "1,2,3,4",
        ] {
            assert_eq!(Interim::line(text), None, "{text}");
        }
    }
}
