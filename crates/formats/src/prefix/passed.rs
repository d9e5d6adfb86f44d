//! Times since the line before, as `ts -i` puts them: they look as those of a day.

use jiff::civil::Time;

use crate::time::Stamp;

/// Whether times of day are those since the line before: they begin at none and go back.
pub(super) fn are_passed(times: &[Stamp]) -> bool {
    let clock = |stamp: &Stamp| match stamp {
        Stamp::Clock(time) => Some(time.duration_since(Time::midnight()).as_secs_f64()),
        _ => None,
    };
    let Some(times) = times.iter().map(clock).collect::<Option<Vec<f64>>>() else {
        return false;
    };
    // Midnight is a longer way back.
    let back = |pair: &[f64]| pair[1] < pair[0] && pair[0] - pair[1] < 12.0 * 3600.0;
    times.first().is_some_and(|first| *first < 60.0) && times.windows(2).any(back)
}

#[cfg(test)]
mod tests {
    use super::super::Prefix;
    use crate::out::Out;

    #[test]
    fn times_since_the_line_before_are_none_of_the_day() {
        let of = |times: [&str; 5]| {
            let lines = times.map(|time| format!("{time} 1 2"));
            Prefix::perhaps(&lines.each_ref().map(String::as_bytes))
        };
        let last = "00:00:05";
        assert_eq!(
            of(["00:00:00", "00:00:00", "00:00:05", "00:00:04", last]),
            Prefix::Passed
        );
        assert_eq!(
            of(["00:00:00", "00:00:00", "00:00:05", "00:00:10", last]),
            Prefix::Stamped
        );
        // Past midnight; a clock that was set.
        assert_eq!(
            of(["23:59:58", "23:59:59", "00:00:00", "00:00:01", last]),
            Prefix::Stamped
        );
        assert_eq!(
            of(["10:00:05", "10:00:03", "10:00:04", "10:00:05", last]),
            Prefix::Stamped
        );
        let line = b"00:00:05 1 2";
        let mut out = Out::new("test", crate::Options::default());
        assert_eq!(Prefix::Passed.strip(line), b"1 2");
        assert_eq!(Prefix::Passed.stamp(line, &mut out), None);
        assert!(Prefix::Stamped.stamp(line, &mut out).is_some());
    }
}
