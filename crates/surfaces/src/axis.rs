//! Value axes: from base-unit values to a share of the axis, with round ticks in one unit.

use run::Unit;
use run::unit::{Prefix, scale};

use crate::chart::Axis;
use crate::scale::{Scale, Span};

/// Values beyond this are taken as not known: they would overflow on the way.
pub(crate) const LARGEST: f64 = 1e290;

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Where, in the axis' base unit.
    pub(crate) value: f64,
    /// What to print; empty for a line without a number.
    pub(crate) text: String,
}

/// An axis with its range and ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ruler {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) scale: Scale,
    pub(crate) ticks: Vec<Tick>,
    /// The label with the unit of the ticks.
    pub(crate) heading: String,
}

impl Ruler {
    /// An axis for lines with values from `least` to `most`, with room above and, where that
    /// makes sense, zero. `wanted` is how many ticks there is room for.
    pub(crate) fn for_values(axis: &Axis, least: f64, most: f64, wanted: usize) -> Ruler {
        if axis.log && least > 0.0 {
            let room = (most / least).powf(0.04).max(1.2);
            return Ruler::between(axis, least / room, most * room, Scale::Log, wanted);
        }
        let (mut low, mut high) = (least.min(0.0), most.max(0.0));
        if axis.unit == Unit::Celsius {
            // Zero degrees mean nothing here.
            (low, high) = (least - 1.0, most + 1.0);
        }
        if low == high {
            high = 1.0;
        }
        let room = (high - low) * 0.05;
        if low < 0.0 {
            low -= room;
        }
        Ruler::between(axis, low, high + room, Scale::Linear, wanted)
    }

    /// An axis with exactly this range.
    pub(crate) fn between(
        axis: &Axis,
        lower: f64,
        upper: f64,
        scale: Scale,
        wanted: usize,
    ) -> Ruler {
        let wanted = wanted.max(2);
        let mut ruler = Ruler {
            lower,
            upper,
            scale,
            ticks: vec![],
            heading: axis.label.clone(),
        };
        let mut unit = "";
        match scale {
            Scale::Log => ruler.ticks = log_ticks(axis, lower, upper, wanted),
            Scale::Signed { least, .. } => {
                ruler.ticks = ruler.signed_ticks(axis, least, wanted);
                if lower < -least {
                    push_word(&mut ruler.heading, ", log to both sides of 0", "");
                }
            }
            Scale::Linear => (ruler.ticks, unit) = scaled_ticks(axis, lower, upper, wanted),
        }
        if axis.unit == Unit::Count && axis.rate {
            push_word(&mut ruler.heading, " per second", "per second");
        } else if !unit.is_empty() {
            let with = format!(", {unit}");
            push_word(&mut ruler.heading, &with, unit);
        }
        ruler
    }

    /// Zero, and the ticks of a log axis on each side, as far from it as ticks are from each
    /// other.
    fn signed_ticks(&self, axis: &Axis, least: f64, wanted: usize) -> Vec<Tick> {
        let far = self.lower.abs().max(self.upper.abs()).max(least * 2.0);
        let [below, zero, above] = [self.lower, 0.0, self.upper].map(|v| self.share(v));
        let sides = (zero - below).max(above - zero);
        let each = ((wanted as f64 * sides).ceil() as usize).max(2);
        let apart = 0.6 / wanted as f64;
        let mut ticks = vec![Tick {
            value: 0.0,
            text: "0".into(),
        }];
        for tick in log_ticks(axis, least, far, each) {
            for (value, sign) in [(tick.value, ""), (-tick.value, "-")] {
                let at = self.share(value);
                if (0.0..=1.0).contains(&at) && (at - zero).abs() >= apart {
                    let text = format!("{sign}{}", tick.text);
                    ticks.push(Tick { value, text });
                }
            }
        }
        ticks.sort_by(|a, b| a.value.total_cmp(&b.value));
        ticks
    }

    /// Where a value lies: 0 at the lower end, 1 at the upper; NaN if it has no place.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let Ruler {
            lower,
            upper,
            scale,
            ..
        } = *self;
        let span = Span {
            lower,
            upper,
            scale,
        };
        span.share(value)
    }
}

/// Ticks of a linear axis, and the unit they are in.
fn scaled_ticks(axis: &Axis, lower: f64, upper: f64, wanted: usize) -> (Vec<Tick>, &'static str) {
    let largest = lower.abs().max(upper.abs()) / 1.05;
    let by = scale(largest, axis.unit, axis.rate, Prefix::Binary);
    let mark = if axis.unit == Unit::Count {
        by.suffix.trim_end_matches("/s")
    } else {
        ""
    };
    let ticks = linear_ticks(axis.unit, lower, upper, wanted, by.by, mark);
    let unit = if axis.unit == Unit::Count {
        ""
    } else {
        by.suffix
    };
    (ticks, unit)
}

fn push_word(heading: &mut String, after: &str, alone: &str) {
    let word = if heading.is_empty() { alone } else { after };
    heading.push_str(word);
}

/// The least round step that is at least `least`: 1, 2 or 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .map(|m| m * power)
        .find(|s| *s >= least * 0.999);
    step.unwrap_or(10.0 * power)
}

fn linear_ticks(
    unit: Unit,
    lower: f64,
    upper: f64,
    wanted: usize,
    by: f64,
    mark: &str,
) -> Vec<Tick> {
    let least = (upper - lower) / wanted as f64;
    let step = if unit == Unit::Bytes {
        2_f64.powf(least.log2().ceil())
    } else {
        // Rounded in the unit shown, so that 50 % is round.
        round_step(least / by) * by
    };
    if !(step > 0.0 && step.is_finite() && by > 0.0) {
        return vec![];
    }
    let first = (lower / step - 1e-9).ceil();
    let steps = (upper / step + 1e-9).floor() - first;
    (0..=steps.clamp(0.0, 100.0) as usize)
        .map(|i| (first + i as f64) * step)
        .filter(|value| *value <= upper + step * 1e-6)
        .map(|value| {
            let number = plain(value / by, step / by);
            let text = if number == "0" { number } else { number + mark };
            Tick { value, text }
        })
        .collect()
}

/// A multiple of `step` with the decimals the step needs.
fn plain(value: f64, step: f64) -> String {
    if value.abs() >= 1e9 {
        return format!("{value:.2e}");
    }
    if value.abs() < step / 2.0 {
        return "0".into();
    }
    let needed = (0..=6).find(|d| {
        let shifted = step * 10_f64.powi(*d);
        (shifted - shifted.round()).abs() < 1e-6 * shifted.max(1.0) && shifted >= 0.5
    });
    match needed {
        Some(d) => format!("{value:.*}", d as usize),
        None => format!("{value:.2e}"),
    }
}

/// Round steps for a logarithmic axis too short for powers of ten.
fn narrow_ticks(axis: &Axis, lower: f64, upper: f64, wanted: usize) -> Vec<Tick> {
    let least = (upper - lower) / wanted as f64;
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
    let Some(step) = steps.into_iter().find(|s| *s >= least) else {
        return vec![];
    };
    let (from, to) = ((lower / step).ceil(), (upper / step).floor());
    if !(to - from).is_finite() || to - from > 2.0 * wanted as f64 {
        return vec![];
    }
    (0..=(to - from).max(0.0) as u32)
        .map(|i| (from + f64::from(i)) * step)
        .map(|value| Tick {
            value,
            text: log_text(axis, value),
        })
        .collect()
}

/// Powers of the base that fit; where there is room for more, round numbers between them.
fn log_ticks(axis: &Axis, lower: f64, upper: f64, wanted: usize) -> Vec<Tick> {
    let binary = axis.unit == Unit::Bytes;
    let base = if binary { 2_f64 } else { 10.0 };
    let from = lower.log(base).ceil();
    let to = upper.log(base).floor();
    let powers = (to - from + 1.0).max(0.0);
    let strides: &[f64] = if binary {
        &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
    } else {
        &[1.0, 2.0, 3.0, 6.0, 12.0, 50.0, 100.0]
    };
    let stride = strides
        .iter()
        .copied()
        .find(|s| powers / s <= wanted as f64)
        .unwrap_or(powers);
    let within: &[f64] = match (binary, powers) {
        (true, _) => &[1.0],
        (_, p) if stride == 1.0 && p * 3.0 <= wanted as f64 => &[1.0, 2.0, 5.0],
        // One alone would not tell how wide the axis is.
        (_, p) if p < 2.0 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let mut ticks = vec![];
    let mut power = ((from - 1.0) / stride).floor() * stride;
    while power <= to + 1.0 {
        for m in within {
            // A positive and a negative power, since 10^-9 is not exact but 1/10^9 is nearest.
            let value = if power < 0.0 {
                m / base.powf(-power)
            } else {
                m * base.powf(power)
            };
            if value >= lower * 0.999999 && value <= upper * 1.000001 {
                let text = log_text(axis, value);
                ticks.push(Tick { value, text });
            }
        }
        power += stride.max(1.0);
    }
    if ticks.len() < 3 && !binary && upper / lower <= 20.0 {
        ticks = narrow_ticks(axis, lower, upper, wanted);
    }
    if ticks.is_empty() {
        let value = (lower * upper).sqrt();
        let text = run::unit::amount(value, axis.unit, axis.rate);
        ticks.push(Tick { value, text });
    }
    ticks
}

/// A tick of a log axis carries its unit, since the axis spans several.
fn log_text(axis: &Axis, value: f64) -> String {
    let by = scale(value, axis.unit, axis.rate, Prefix::Binary);
    let number = value / by.by;
    let suffix = match axis.unit {
        Unit::Count => by.suffix.trim_end_matches("/s"),
        _ => by.suffix,
    };
    let number = if (0.0005..1e6).contains(&number) {
        let text = format!("{number:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{number:.0e}")
    };
    let gap = if suffix.is_empty() || axis.unit == Unit::Count {
        ""
    } else {
        " "
    };
    format!("{number}{gap}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(unit: Unit, rate: bool, log: bool) -> Axis {
        Axis {
            label: "x".into(),
            unit,
            rate,
            log,
        }
    }

    fn texts(ruler: &Ruler) -> Vec<&str> {
        ruler.ticks.iter().map(|t| t.text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_in_the_unit_shown() {
        let of = |unit, rate, most| Ruler::for_values(&axis(unit, rate, false), 0.0, most, 5);
        let count = of(Unit::Count, true, 81_000.0);
        assert_eq!(texts(&count), ["0", "20k", "40k", "60k", "80k"]);
        assert_eq!(count.heading, "x per second");
        let bytes = of(Unit::Bytes, true, 900.0 * 1048576.0);
        assert_eq!(texts(&bytes), ["0", "256", "512", "768"]);
        assert_eq!(bytes.heading, "x, MiB/s");
        let bytes = of(Unit::Bytes, false, 3.0 * 1073741824.0);
        assert_eq!(texts(&bytes), ["0", "1", "2", "3"]);
        let ratio = of(Unit::Ratio, false, 0.97);
        assert_eq!(texts(&ratio), ["0", "50", "100"]);
        let seconds = of(Unit::Seconds, false, 0.0021);
        assert_eq!(
            texts(&seconds),
            ["0.0", "0.5", "1.0", "1.5", "2.0"].map(|t| if t == "0.0" { "0" } else { t })
        );
        assert_eq!(seconds.heading, "x, ms");
    }

    #[test]
    fn negative_and_celsius_ranges() {
        let below = Ruler::for_values(&axis(Unit::Count, false, false), -30.0, 50.0, 5);
        assert_eq!(texts(&below), ["-20", "0", "20", "40"]);
        let warm = Ruler::for_values(&axis(Unit::Celsius, false, false), 41.0, 47.0, 5);
        assert_eq!(texts(&warm), ["40", "42", "44", "46", "48"]);
    }

    #[test]
    fn log_ticks_carry_their_unit() {
        let ruler = Ruler::for_values(&axis(Unit::Seconds, false, true), 12e-6, 0.3, 8);
        assert_eq!(
            texts(&ruler),
            ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms"]
        );
        let ruler = Ruler::for_values(&axis(Unit::Bytes, false, true), 600.0, 3e6, 6);
        assert_eq!(texts(&ruler), ["1 KiB", "32 KiB", "1 MiB"]);
        let ruler = Ruler::for_values(&axis(Unit::Count, true, true), 3.0, 70.0, 8);
        assert_eq!(texts(&ruler), ["5", "10", "20", "50"]);
        let ruler = Ruler::for_values(&axis(Unit::Count, true, true), 3.0, 70.0, 2);
        assert_eq!(texts(&ruler), ["3", "10", "30"]);
        let ruler = Ruler::for_values(&axis(Unit::Seconds, false, true), 110e-6, 380e-6, 6);
        assert_eq!(texts(&ruler), ["100 µs", "200 µs", "300 µs", "400 µs"]);
        assert!((ruler.share(ruler.lower)).abs() < 1e-12);
        assert!((ruler.share(ruler.upper) - 1.0).abs() < 1e-12);
        assert!(ruler.share(0.0).is_nan());
    }

    #[test]
    fn any_range_has_few_ticks_inside() {
        let mut seed = crate::random::Random(7);
        for _ in 0..3000 {
            let (a, b) = (seed.value(), seed.value());
            if a.abs() > LARGEST || b.abs() > LARGEST || a.is_nan() || b.is_nan() {
                continue;
            }
            let unit = [
                Unit::Count,
                Unit::Bytes,
                Unit::Seconds,
                Unit::Ratio,
                Unit::Celsius,
            ][seed.below(5)];
            let log = seed.below(2) == 0;
            let ruler = Ruler::for_values(&axis(unit, true, log), a.min(b), a.max(b), 6);
            assert!(ruler.ticks.len() <= 14, "{ruler:?}");
            for tick in &ruler.ticks {
                assert!(tick.text.len() < 24, "{tick:?}");
                let at = ruler.share(tick.value);
                assert!(
                    at.is_nan() || (-0.01..=1.01).contains(&at),
                    "{at} {ruler:?}"
                );
            }
        }
    }
}
