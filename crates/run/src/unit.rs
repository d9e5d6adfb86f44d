//! Units of stored values, and the one formatter and parser of amounts with a unit.
//!
//! Stored data is in base units only. Prefixes exist at the edges: when a person reads
//! (`4.00 KiB/s`) or writes (`where latency > 10ms`).

use std::fmt;

/// What a stored number counts. Base units only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Things: I/Os, packets, processes.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A share, 0 to 1 (or more where the name says so).
    Ratio,
    /// Joules; per second, watts.
    Joules,
    /// Degrees Celsius.
    Celsius,
}

impl Unit {
    /// The name used in files and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Count => "count",
            Unit::Bytes => "bytes",
            Unit::Seconds => "seconds",
            Unit::Ratio => "ratio",
            Unit::Joules => "joules",
            Unit::Celsius => "celsius",
        }
    }

    /// The name of this unit per second, used in JSON.
    pub const fn per_second(self) -> &'static str {
        match self {
            Unit::Count => "count/s",
            Unit::Bytes => "bytes/s",
            Unit::Seconds => "seconds/s",
            Unit::Ratio => "ratio/s",
            Unit::Joules => "watts",
            Unit::Celsius => "celsius/s",
        }
    }

    /// Whether stored values are whole numbers (Int64 on disk, else Float64).
    pub const fn is_whole(self) -> bool {
        matches!(self, Unit::Count | Unit::Bytes)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Prefixes for byte counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// 1 KiB = 1024 bytes.
    Binary,
    /// 1 kB = 1000 bytes.
    Decimal,
}

/// A scale to print a whole column or axis in: divide by `by`, append `suffix`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Divide stored values by this.
    pub by: f64,
    /// What follows the number, without a leading space; may be empty.
    pub suffix: &'static str,
}

const BINARY: [(f64, &str, &str); 6] = [
    (1.0, "B", "B/s"),
    (1024.0, "KiB", "KiB/s"),
    (1048576.0, "MiB", "MiB/s"),
    (1073741824.0, "GiB", "GiB/s"),
    (1099511627776.0, "TiB", "TiB/s"),
    (1125899906842624.0, "PiB", "PiB/s"),
];
const DECIMAL: [(f64, &str, &str); 6] = [
    (1.0, "B", "B/s"),
    (1e3, "kB", "kB/s"),
    (1e6, "MB", "MB/s"),
    (1e9, "GB", "GB/s"),
    (1e12, "TB", "TB/s"),
    (1e15, "PB", "PB/s"),
];
const COUNTS: [(f64, &str, &str); 5] = [
    (1.0, "", "/s"),
    (1e3, "k", "k/s"),
    (1e6, "M", "M/s"),
    (1e9, "G", "G/s"),
    (1e12, "T", "T/s"),
];
const SECONDS: [(f64, &str, &str); 4] = [
    (1e-9, "ns", "ns/s"),
    (1e-6, "µs", "µs/s"),
    (1e-3, "ms", "ms/s"),
    (1.0, "s", "s/s"),
];
const WATTS: [(f64, &str, &str); 4] = [
    (1e-3, "mJ", "mW"),
    (1.0, "J", "W"),
    (1e3, "kJ", "kW"),
    (1e6, "MJ", "MW"),
];

/// The scale in which `largest` (an absolute value, in `unit`) reads best.
pub fn scale(largest: f64, unit: Unit, rate: bool, prefix: Prefix) -> Scale {
    let steps: &[(f64, &'static str, &'static str)] = match (unit, prefix) {
        (Unit::Bytes, Prefix::Binary) => &BINARY,
        (Unit::Bytes, Prefix::Decimal) => &DECIMAL,
        (Unit::Count, _) => &COUNTS,
        (Unit::Seconds, _) => &SECONDS,
        (Unit::Joules, _) => &WATTS,
        (Unit::Ratio, _) => {
            return Scale {
                by: 0.01,
                suffix: if rate { "%/s" } else { "%" },
            };
        }
        (Unit::Celsius, _) => {
            return Scale {
                by: 1.0,
                suffix: if rate { "°C/s" } else { "°C" },
            };
        }
    };
    // A value that rounds up to the next step's unit belongs to the next step; zero
    // belongs to the base unit.
    let base = steps.iter().find(|s| s.0 == 1.0).unwrap_or(&steps[0]);
    let step = if largest == 0.0 || !largest.is_finite() {
        base
    } else {
        steps
            .iter()
            .rev()
            .find(|s| largest.abs() >= s.0 * 0.9995)
            .unwrap_or(&steps[0])
    };
    Scale {
        by: step.0,
        suffix: if rate { step.2 } else { step.1 },
    }
}

/// The scale for a column of `values`: the one in which the largest reads best, or one below
/// it where small values would lose their digits and the largest still has at most five
/// before the point. Counts of up to six digits are not scaled.
pub fn column_scale(values: &[f64], unit: Unit, rate: bool) -> Scale {
    let sizes = || values.iter().map(|v| v.abs()).filter(|v| v.is_finite());
    let largest = sizes().fold(0.0, f64::max);
    let best = scale(largest, unit, rate, Prefix::Binary);
    if unit == Unit::Ratio || unit == Unit::Celsius {
        return best;
    }
    let most = if unit == Unit::Count { 1e6 } else { 1e5 };
    if unit == Unit::Count && largest < most {
        return scale(0.0, unit, rate, Prefix::Binary);
    }
    let least = sizes().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    if least / best.by >= 0.1 {
        return best;
    }
    // Half of a step is in the unit below.
    let below = scale(best.by / 2.0, unit, rate, Prefix::Binary);
    if largest / below.by < most {
        below
    } else {
        best
    }
}

/// A number of a column in whole `unit`s, or as [`digits`] prints it.
pub fn column_digits(value: f64, scale: Scale, unit: Unit) -> String {
    if value.is_nan() {
        "-".into()
    } else if unit.is_whole() && scale.by == 1.0 && value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        digits(value / scale.by)
    }
}

/// A number with three significant digits, but no more than three decimals:
/// `0`, `<0.001`, `0.012`, `0.12`, `1.23`, `12.3`, `123`, `12345`; `-` where it is not known.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        "-".into()
    } else if value == 0.0 {
        "0".into()
    } else if size >= 99.95 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size >= 0.0995 {
        format!("{value:.2}")
    } else if size >= 0.0005 {
        format!("{value:.3}")
    } else if value > 0.0 {
        "<0.001".into()
    } else {
        ">-0.001".into()
    }
}

/// One amount for a person: `4.00 KiB/s`, `1.25 ms`, `73.0 %`, `812`.
pub fn amount(value: f64, unit: Unit, rate: bool) -> String {
    if value.is_nan() {
        return "-".into();
    }
    let s = scale(value, unit, rate, Prefix::Binary);
    let number = value / s.by;
    let exact = matches!(unit, Unit::Count) && !rate && s.by == 1.0 && number.fract() == 0.0;
    let text = if exact {
        format!("{number:.0}")
    } else {
        digits(number)
    };
    let gap = if s.suffix.is_empty() || unit == Unit::Count {
        ""
    } else {
        " "
    };
    format!("{text}{gap}{}", s.suffix)
}

/// An amount as a person writes it in an expression: a number and perhaps a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// The value in the base unit.
    pub value: f64,
    /// The unit that was written, if one was.
    pub unit: Option<Unit>,
}

/// Why an amount could not be read.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum AmountError {
    /// No number at the start.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// The text after the number is no known unit.
    #[error(
        "unknown unit `{0}` (known: ns us ms s m h d, B KiB MiB GiB TiB kB MB GB TB, K M G T for 1024, k for 1000, %, J, C)"
    )]
    UnknownUnit(String),
}

/// Reads `10ms`, `4KiB`, `1GB`, `35%`, `1e6`, `512`.
///
/// `K`, `M`, `G`, `T` alone are 1024-based sizes, as `fio` and `dd` users write them.
pub fn parse_amount(text: &str) -> Result<Amount, AmountError> {
    let text = text.trim();
    let bad = || AmountError::NotANumber(text.to_owned());
    let split = number_length(text);
    if split == 0 {
        return Err(bad());
    }
    let number: f64 = text[..split].parse().map_err(|_| bad())?;
    let suffix = text[split..].trim();
    let (factor, unit) = match suffix {
        "" => (1.0, None),
        "ns" => (1e-9, Some(Unit::Seconds)),
        "us" | "µs" | "μs" => (1e-6, Some(Unit::Seconds)),
        "ms" => (1e-3, Some(Unit::Seconds)),
        "s" | "sec" => (1.0, Some(Unit::Seconds)),
        "m" | "min" => (60.0, Some(Unit::Seconds)),
        "h" => (3600.0, Some(Unit::Seconds)),
        "d" => (86400.0, Some(Unit::Seconds)),
        "B" => (1.0, Some(Unit::Bytes)),
        "K" | "KiB" => (1024.0, Some(Unit::Bytes)),
        "M" | "MiB" => (1048576.0, Some(Unit::Bytes)),
        "G" | "GiB" => (1073741824.0, Some(Unit::Bytes)),
        "T" | "TiB" => (1099511627776.0, Some(Unit::Bytes)),
        "PiB" => (1125899906842624.0, Some(Unit::Bytes)),
        "kB" | "KB" => (1e3, Some(Unit::Bytes)),
        "MB" => (1e6, Some(Unit::Bytes)),
        "GB" => (1e9, Some(Unit::Bytes)),
        "TB" => (1e12, Some(Unit::Bytes)),
        "PB" => (1e15, Some(Unit::Bytes)),
        "k" => (1e3, Some(Unit::Count)),
        "%" => (0.01, Some(Unit::Ratio)),
        "J" => (1.0, Some(Unit::Joules)),
        "C" | "°C" => (1.0, Some(Unit::Celsius)),
        other => return Err(AmountError::UnknownUnit(other.to_owned())),
    };
    Ok(Amount {
        value: number * factor,
        unit,
    })
}

/// How many leading bytes of `text` are a decimal number, with sign and exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let digits_from = at;
    while at < bytes.len() && (bytes[at].is_ascii_digit() || bytes[at] == b'.') {
        // `10..40` is a range, not a number with two points.
        if bytes[at] == b'.' && bytes.get(at + 1) == Some(&b'.') {
            break;
        }
        at += 1;
    }
    if at == digits_from {
        return 0;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let mut exponent = at + 1;
        if matches!(bytes.get(exponent), Some(b'+' | b'-')) {
            exponent += 1;
        }
        if bytes.get(exponent).is_some_and(u8::is_ascii_digit) {
            at = exponent;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
        }
    }
    at
}

/// Reads a length of time: `10ms`, `1s`, `5m`, `1h`; a bare number is seconds.
pub fn parse_duration(text: &str) -> Result<f64, AmountError> {
    let amount = parse_amount(text)?;
    match amount.unit {
        None | Some(Unit::Seconds) => Ok(amount.value),
        Some(_) => Err(AmountError::UnknownUnit(
            text[number_length(text.trim())..].to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_write_them() {
        for (text, value, unit) in [
            ("10ms", 0.01, Some(Unit::Seconds)),
            ("4KiB", 4096.0, Some(Unit::Bytes)),
            ("1GB", 1e9, Some(Unit::Bytes)),
            ("1.5k", 1500.0, Some(Unit::Count)),
            ("35%", 0.35, Some(Unit::Ratio)),
            ("1e6", 1e6, None),
            ("1e3s", 1e3, Some(Unit::Seconds)),
            ("-4096B", -4096.0, Some(Unit::Bytes)),
        ] {
            let got = parse_amount(text).unwrap();
            assert!(
                (got.value - value).abs() <= value.abs() * 1e-12,
                "{text}: {got:?}"
            );
            assert_eq!(got.unit, unit, "{text}");
        }
        assert_eq!(
            parse_amount("10xs"),
            Err(AmountError::UnknownUnit("xs".into()))
        );
        assert_eq!(
            parse_amount("ms"),
            Err(AmountError::NotANumber("ms".into()))
        );
        assert_eq!(
            parse_amount(""),
            Err(AmountError::NotANumber(String::new()))
        );
    }

    #[test]
    fn amounts_print_with_their_unit() {
        assert_eq!(amount(0.0, Unit::Bytes, true), "0 B/s");
        assert_eq!(amount(4096.0, Unit::Bytes, true), "4.00 KiB/s");
        assert_eq!(amount(1023.9, Unit::Bytes, false), "1.00 KiB");
        assert_eq!(amount(0.00125, Unit::Seconds, false), "1.25 ms");
        assert_eq!(amount(0.73, Unit::Ratio, false), "73.0 %");
        assert_eq!(amount(812.0, Unit::Count, false), "812");
        assert_eq!(amount(81234.0, Unit::Count, true), "81.2k/s");
        assert_eq!(amount(2.5, Unit::Joules, true), "2.50 W");
        assert_eq!(amount(f64::NAN, Unit::Count, true), "-");
        assert_eq!(amount(0.000_02, Unit::Ratio, false), "0.002 %");
        assert_eq!(amount(0.000_002, Unit::Ratio, false), "<0.001 %");
    }

    #[test]
    fn a_column_has_the_unit_that_shows_most_of_its_values() {
        let suffix = |values: &[f64], unit, rate| column_scale(values, unit, rate).suffix;
        let gib = 1073741824.0;
        // The small one would be 0.000 GiB.
        assert_eq!(suffix(&[1.5 * gib, 8192.0], Unit::Bytes, false), "MiB");
        assert_eq!(suffix(&[1.5 * gib, 0.7 * gib], Unit::Bytes, false), "GiB");
        assert_eq!(suffix(&[1.5 * gib, 0.0], Unit::Bytes, false), "GiB");
        // In MiB the largest would have six digits.
        assert_eq!(suffix(&[150.0 * gib, 8192.0], Unit::Bytes, false), "GiB");
        assert_eq!(suffix(&[1.04, 0.01], Unit::Seconds, false), "ms");
        assert_eq!(suffix(&[3197.0], Unit::Count, false), "");
        assert_eq!(suffix(&[3197.0, 0.5], Unit::Count, true), "/s");
        assert_eq!(suffix(&[0.3, 0.0001], Unit::Ratio, false), "%");
        assert_eq!(suffix(&[f64::NAN], Unit::Bytes, false), "B");
        let one = column_scale(&[3197.0, 5.0], Unit::Count, false);
        assert_eq!(column_digits(5.0, one, Unit::Count), "5");
        assert_eq!(column_digits(5.25, one, Unit::Count), "5.25");
        assert_eq!(column_digits(f64::NAN, one, Unit::Count), "-");
    }
}
