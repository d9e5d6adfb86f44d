//! The time axis: ticks in seconds, `m:ss` or `h:mm`, and the caption that names the clock.

use run::Nanos;

use crate::axis::Tick;

/// Round steps of time, in seconds.
const STEPS: [f64; 26] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0,
    120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10800.0, 21600.0, 43200.0,
];
const DAY: f64 = 86400.0;

/// Time ticks and how to read them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimeTicks {
    pub(crate) ticks: Vec<Tick>,
    /// `seconds`, `m:ss`, `h:mm`, `h:mm:ss` or `days`.
    pub(crate) reading: &'static str,
}

/// At most `wanted` ticks, about, between two times in seconds since the run's start.
pub(crate) fn ticks(from: f64, to: f64, wanted: usize) -> TimeTicks {
    let least = (to - from) / wanted.max(1) as f64;
    let step = if least <= STEPS[0] {
        10_f64.powf(least.log10().ceil())
    } else {
        let days = || [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0].map(|d| d * DAY);
        let step = STEPS
            .into_iter()
            .chain(days())
            .find(|s| *s >= least * 0.999);
        step.unwrap_or((least / DAY).ceil() * DAY)
    };
    let largest = from.abs().max(to.abs());
    let reading = if step >= DAY {
        "days"
    } else if step < 1.0 || largest <= 120.0 {
        "seconds"
    } else if largest < 2.0 * 3600.0 {
        "m:ss"
    } else if step < 60.0 {
        "h:mm:ss"
    } else {
        "h:mm"
    };
    if !(step > 0.0 && step.is_finite()) {
        return TimeTicks {
            ticks: vec![],
            reading,
        };
    }
    // A hair of tolerance, since steps like 0.05 are not exact.
    let first = (from / step - 1e-9).ceil();
    let count = ((to / step + 1e-9).floor() - first).clamp(0.0, 100.0) as usize;
    let ticks = (0..=count)
        .map(|i| (first + i as f64) * step)
        .filter(|value| *value <= to + step * 1e-6)
        .map(|value| Tick {
            value,
            text: text(value, step, reading),
        })
        .collect();
    TimeTicks { ticks, reading }
}

fn text(value: f64, step: f64, reading: &str) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let whole = value.abs().round().min(1e15) as u64;
    let (h, m, s) = (whole / 3600, whole / 60 % 60, whole % 60);
    match reading {
        "days" => format!("{sign}{}", whole / 86400),
        "m:ss" => format!("{sign}{}:{s:02}", whole / 60),
        "h:mm" => format!("{sign}{h}:{m:02}"),
        "h:mm:ss" => format!("{sign}{h}:{m:02}:{s:02}"),
        _ => {
            let decimals = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
            format!("{value:.decimals$}")
        }
    }
}

/// The caption of the time axis: how to read its numbers and when zero was.
pub(crate) fn caption(reading: &str, start: Option<Nanos>) -> String {
    match start {
        Some(start) => format!("{reading} since {}", clock(start)),
        None => reading.to_owned(),
    }
}

/// `2026-03-01 14:05:09 UTC`.
pub(crate) fn clock(at: Nanos) -> String {
    let seconds = at.div_euclid(1_000_000_000);
    let (year, month, day) = civil(seconds.div_euclid(86400));
    let s = seconds.rem_euclid(86400);
    format!(
        "{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        s / 3600,
        s / 60 % 60,
        s % 60
    )
}

/// Year, month and day of a count of days since 1970-01-01, in the Gregorian calendar.
///
/// Counts in years that begin in March, so that the leap day is the last; 400 years are
/// 146097 days. After H. Hinnant, <https://howardhinnant.github.io/date_algorithms.html>.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719468;
    let era = days.div_euclid(146097);
    let of_era = days.rem_euclid(146097);
    let year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(from: f64, to: f64, wanted: usize) -> (Vec<String>, &'static str) {
        let all = ticks(from, to, wanted);
        (all.ticks.into_iter().map(|t| t.text).collect(), all.reading)
    }

    #[test]
    fn times_are_round() {
        let of = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            texts(0.0, 60.0, 6),
            (of(&["0", "10", "20", "30", "40", "50", "60"]), "seconds")
        );
        assert_eq!(
            texts(0.0, 600.0, 5),
            (
                of(&["0:00", "2:00", "4:00", "6:00", "8:00", "10:00"]),
                "m:ss"
            )
        );
        assert_eq!(
            texts(0.0, 86400.0, 4),
            (of(&["0:00", "6:00", "12:00", "18:00", "24:00"]), "h:mm")
        );
        assert_eq!(
            texts(1.0, 1.2, 4),
            (of(&["1.00", "1.05", "1.10", "1.15", "1.20"]), "seconds")
        );
        assert_eq!(
            texts(7200.0, 7260.0, 3).0,
            of(&["2:00:00", "2:00:30", "2:01:00"])
                .into_iter()
                .collect::<Vec<_>>()
        );
        assert_eq!(
            texts(0.0, 10.0 * DAY, 6).0,
            of(&["0", "2", "4", "6", "8", "10"])
        );
    }

    #[test]
    fn the_calendar_is_right() {
        assert_eq!(clock(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(clock(951782400 * 1_000_000_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(
            clock(1767225600 * 1_000_000_000 - 1),
            "2025-12-31 23:59:59 UTC"
        );
        assert_eq!(clock(-1), "1969-12-31 23:59:59 UTC");
    }
}
