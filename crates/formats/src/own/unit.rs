//! Units as people write them, of a described table's columns.

use run::Unit;

/// What a printed number is to be multiplied by, and what it is then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) unit: Unit,
    pub(super) factor: f64,
    /// It is per second.
    pub(super) rate: bool,
    /// It is in per cent.
    pub(super) percent: bool,
}

/// Those that mean one thing. `%` is told apart by who asks.
const UNITS: &[(&[&str], Unit, f64)] = &[
    (&["count", "counts", "1"], Unit::Count, 1.0),
    (&["thousand"], Unit::Count, 1e3),
    (&["million"], Unit::Count, 1e6),
    (&["B", "byte", "bytes"], Unit::Bytes, 1.0),
    (&["kB"], Unit::Bytes, 1e3),
    (&["MB"], Unit::Bytes, 1e6),
    (&["GB"], Unit::Bytes, 1e9),
    (&["TB"], Unit::Bytes, 1e12),
    (&["KiB"], Unit::Bytes, 1024.0),
    (&["MiB"], Unit::Bytes, 1_048_576.0),
    (&["GiB"], Unit::Bytes, 1_073_741_824.0),
    (&["TiB"], Unit::Bytes, 1_099_511_627_776.0),
    (&["bit", "bits"], Unit::Bytes, 0.125),
    (&["kbit"], Unit::Bytes, 125.0),
    (&["Mbit"], Unit::Bytes, 125e3),
    (&["Gbit"], Unit::Bytes, 125e6),
    (&["s", "seconds"], Unit::Seconds, 1.0),
    (&["ms"], Unit::Seconds, 1e-3),
    (&["us", "µs", "μs"], Unit::Seconds, 1e-6),
    (&["ns"], Unit::Seconds, 1e-9),
    (&["min"], Unit::Seconds, 60.0),
    (&["h"], Unit::Seconds, 3600.0),
    (&["J"], Unit::Joules, 1.0),
    (&["mJ"], Unit::Joules, 1e-3),
    (&["uJ", "µJ", "μJ"], Unit::Joules, 1e-6),
    (&["kWh"], Unit::Joules, 3.6e6),
    (&["C", "°C", "degrees C"], Unit::Celsius, 1.0),
    (&["ratio"], Unit::Ratio, 1.0),
];

/// A unit that stands beside a number of nothing known: what the number is to be multiplied by, and the unit
/// that it is in then. Per cent stay what they are.
pub(super) fn base(text: &str) -> Option<(f64, String)> {
    if text == "%" {
        return Some((1.0, text.to_owned()));
    }
    let (name, per) = match text.strip_suffix("/s") {
        Some(name) => (name, "/s"),
        None => (text, ""),
    };
    let (_, unit, factor) = UNITS.iter().find(|(names, ..)| names.contains(&name))?;
    let (names, ..) = UNITS.iter().find(|(_, u, one)| u == unit && *one == 1.0)?;
    Some((*factor, format!("{}{per}", names[0])))
}

/// Names of the units that a number in `of` may have.
pub(super) fn names(of: Unit) -> String {
    let fitting = UNITS.iter().filter(|(_, unit, _)| *unit == of);
    let mut all: Vec<&str> = fitting.map(|(names, _, _)| names[0]).collect();
    match of {
        Unit::Seconds | Unit::Ratio => all.push("%"),
        Unit::Joules => all.push("W"),
        _ => {}
    }
    all.join(", ")
}

/// The scale of a number in `of` that is written in that unit: `KiB/s`, `ms`, `512 B`, `%`.
///
/// # Errors
/// Why it is none, and what is allowed.
pub(super) fn scale(text: &str, of: Unit) -> Result<Scale, String> {
    let text = text.trim();
    let (rest, rate) = match text.strip_suffix("/s").or(text.strip_suffix("/sec")) {
        Some(rest) => (rest.trim(), true),
        None => (text, false),
    };
    // "512 B", "4 KiB": so many of them.
    let digits = rest
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.');
    let (many, name) = match rest.split_at(digits.count()) {
        ("", name) | (name, "") => (1.0, name),
        (many, name) => (many.parse().unwrap_or(f64::NAN), name.trim()),
    };
    let made = |factor: f64, rate, percent| Scale {
        unit: of,
        factor: factor * many,
        rate,
        percent,
    };
    if many.is_nan() || many <= 0.0 {
        return Err(format!("{text:?} is no unit"));
    }
    match (name, of) {
        // A share of the interval: time per time.
        ("%", Unit::Seconds) => return Ok(made(0.01, true, true)),
        ("%", Unit::Ratio) => return Ok(made(0.01, rate, true)),
        ("W", Unit::Joules) => return Ok(made(1.0, true, false)),
        ("KB" | "K" | "k" | "M" | "G" | "kb" | "Kb", Unit::Bytes) => {
            return Err(format!(
                "{name:?} can be 1,000 or 1,024: say kB or KiB, MB or MiB, GB or GiB, or kbit"
            ));
        }
        _ => {}
    }
    let found = UNITS.iter().find(|(names, _, _)| names.contains(&name));
    match found {
        Some((_, unit, factor)) if *unit == of => Ok(made(*factor, rate, false)),
        Some((_, unit, _)) => Err(format!(
            "{name:?} is a unit of {unit}, and the measure is in {of}: it can be {}",
            names(of)
        )),
        None => Err(format!("{name:?} is no unit: it can be {}", names(of))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_as_people_write_them() {
        for (text, of, factor, rate) in [
            ("KiB/s", Unit::Bytes, 1024.0, true),
            ("MB", Unit::Bytes, 1e6, false),
            ("Mbit/s", Unit::Bytes, 125e3, true),
            ("512 B", Unit::Bytes, 512.0, false),
            ("4 KiB/s", Unit::Bytes, 4096.0, true),
            ("ms", Unit::Seconds, 1e-3, false),
            ("%", Unit::Seconds, 0.01, true),
            ("%", Unit::Ratio, 0.01, false),
            ("W", Unit::Joules, 1.0, true),
            ("count/s", Unit::Count, 1.0, true),
            ("1/s", Unit::Count, 1.0, true),
            ("100 count", Unit::Count, 100.0, false),
        ] {
            let scale = scale(text, of).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!((scale.factor, scale.rate), (factor, rate), "{text}");
        }
        for (text, of, says) in [
            ("KB/s", Unit::Bytes, "kB or KiB"),
            ("M", Unit::Bytes, "MB or MiB"),
            ("ms", Unit::Bytes, "a unit of seconds"),
            ("furlong", Unit::Count, "is no unit"),
            ("0 B", Unit::Bytes, "is no unit"),
        ] {
            let why = scale(text, of).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
