//! The zone that the header of `pmrep` tells: ` timezone: UTC+10 (reporting, current is UTC+0)`.
//!
//! `pmrep` counts it eastward: its `-f %s` prints 1373034000 where the date is `2013-07-06 00:20:00` of UTC+10.

use jiff::civil::{Date, Time};

use crate::number::number;
use crate::time::Stamp;

/// The zone of times that are printed without one.
#[derive(Default)]
pub(super) struct Zone {
    /// Seconds east of Greenwich.
    east: Option<i32>,
    /// The day of times of day, and the last of those.
    day: Option<Date>,
    last: Option<Time>,
}

impl Zone {
    /// The header tells it.
    pub(super) fn tells(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let first = text.split_ascii_whitespace().next();
        self.east = first.and_then(|zone| east_of(zone.strip_prefix("UTC")?));
    }

    /// Times of day begin on that date.
    pub(super) fn starts(&mut self, day: Date) {
        (self.day, self.last) = (Some(day), None);
    }

    /// The time in its zone, where that is known.
    pub(super) fn of(&mut self, stamp: Stamp) -> Stamp {
        match (stamp, self.east, self.day) {
            (Stamp::Civil(at), Some(east), _) => Stamp::Zoned(at, east),
            (Stamp::Clock(time), Some(east), Some(day)) => {
                let is_next = self.last.replace(time).is_some_and(|last| time < last);
                let day = if is_next {
                    day.tomorrow().unwrap_or(day)
                } else {
                    day
                };
                self.day = Some(day);
                Stamp::Zoned(day.to_datetime(time), east)
            }
            _ => stamp,
        }
    }
}

/// Seconds east of Greenwich of what stands behind `UTC`: nothing, `+10`, `-3.5`, `+5:30`.
pub(super) fn east_of(zone: &str) -> Option<i32> {
    if zone.is_empty() {
        return Some(0);
    }
    let (hours, minutes) = zone.split_once(':').unwrap_or((zone, "0"));
    let (hours, minutes) = (number(hours.as_bytes())?, number(minutes.as_bytes())?);
    let seconds = hours.abs() * 3600.0 + minutes * 60.0;
    let is_zone = seconds <= 86_400.0 && (0.0..60.0).contains(&minutes);
    is_zone.then_some(if zone.starts_with('-') {
        -seconds
    } else {
        seconds
    } as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_behind_utc() {
        for (text, hours) in [
            ("", 0.0),
            ("+10", 10.0),
            ("-3.5", -3.5),
            ("+5:30", 5.5),
            ("-0:30", -0.5),
        ] {
            assert_eq!(east_of(text), Some((hours * 3600.0) as i32), "{text}");
        }
        for text in ["+25", "x", "+5:70", "+"] {
            assert_eq!(east_of(text), None, "{text}");
        }
    }
}
