//! What a cell says: a number, with its unit where that stands beside it.

use run::Unit;

use super::Table;
use super::column::Value;
use super::field::{ungrouped, with_decimal_comma};
use super::unit;
use crate::number;

impl Table {
    /// The number of a cell that has nothing else.
    pub(super) fn number(&self, text: &[u8]) -> Option<f64> {
        let text = &*ungrouped(text)?;
        if self.decimal_comma {
            return with_decimal_comma(text);
        }
        // A comma separates thousands here, and nothing else.
        let commas = memchr::memchr(b',', text).is_some();
        let grouped = || {
            text.split(|b| *b == b',')
                .skip(1)
                .all(|p| p.iter().take_while(|b| b.is_ascii_digit()).count() == 3)
        };
        if commas && !grouped() {
            return None;
        }
        number::number(text)
    }

    /// The number of a described column's cell in base units, and the unit that it tells of a column that
    /// has none: `463.8MiB` is of bytes. A cell's own unit goes before the column's.
    pub(super) fn cell(&self, text: &[u8], of: &Value) -> Option<(f64, Option<String>)> {
        if let Some(number) = self.number(text) {
            return Some((number * of.scale.factor, None));
        }
        let text = std::str::from_utf8(text).ok()?.trim();
        let at = text.find(|c: char| c.is_alphabetic() || matches!(c, '%' | '°'))?;
        let (number, written) = text.split_at(at);
        let number = self.number(number.trim_end().as_bytes())?;
        if written == of.unit {
            return Some((number * of.scale.factor, None));
        }
        let Some(place) = &of.measure else {
            let (factor, base) = unit::base(written).filter(|_| of.unit.is_empty())?;
            return Some((number * factor, Some(base)));
        };
        let scale = unit::scale(written, place.measure.unit).ok()?;
        // A share of the time is another thing than a time.
        let is_same = scale.rate == of.scale.rate
            && (scale.percent == of.scale.percent || scale.unit == Unit::Ratio);
        is_same.then_some((number * scale.factor, None))
    }
}
