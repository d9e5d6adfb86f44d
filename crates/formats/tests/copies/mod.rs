//! A text over and over, each copy later than the one before and of other devices.

use jiff::civil::{Date, DateTime, Time};

/// Seconds from one copy to the next where the text tells no two times.
const APART: i64 = 10;
/// Names that are replaced by others of the same length, so that columns stay where they are.
const NAMES: [&str; 8] = ["sda", "sdb", "vda", "vdb", "eth0", "ada0", "sd0", "da0"];

/// A part of a text.
enum Part {
    Plain(Vec<u8>),
    /// `2026-11-22 02:44:43` or with `T` and slashes: what stands between the numbers.
    Moment(DateTime, [u8; 3]),
    /// `02:44:43`, and the day of it is not told.
    Clock(Time),
    /// `Nov 22 02:44:43 UTC 2026`: what stands between.
    Dated(DateTime, Vec<u8>),
    /// Since 1970, and how many of it are a second.
    Epoch(i64, i64),
    Name(&'static [u8]),
}

/// The copies of a text.
pub(crate) struct Copies {
    parts: Vec<Part>,
    /// Seconds from a copy to the next.
    later: i64,
    count: u64,
    text: Vec<u8>,
}

impl Copies {
    pub(crate) fn of(text: &[u8]) -> Copies {
        let mut parts: Vec<Part> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let bounded = at == 0 || !text[at - 1].is_ascii_alphanumeric();
            if bounded && let Some((part, length)) = part(&text[at..]) {
                parts.push(part);
                at += length;
                continue;
            }
            match parts.last_mut() {
                Some(Part::Plain(plain)) => plain.push(text[at]),
                _ => parts.push(Part::Plain(vec![text[at]])),
            }
            at += 1;
        }
        let mut seconds: Vec<i64> = parts.iter().filter_map(second).collect();
        seconds.sort_unstable();
        seconds.dedup();
        // The next copy follows as the samples of one do. Of several kinds of times nobody knows how
        // far they are apart.
        let apart = seconds.windows(2).map(|w| w[1] - w[0]).min();
        let span = seconds
            .last()
            .zip(seconds.first())
            .map_or(0, |(last, first)| last - first);
        let later = span + apart.unwrap_or(APART);
        Copies {
            parts,
            later: if later < 86_400 { later } else { 60 },
            count: 0,
            text: Vec::new(),
        }
    }

    /// Copies that are all the same.
    pub(crate) fn same(text: &[u8]) -> Copies {
        Copies {
            parts: vec![Part::Plain(text.to_vec())],
            later: 0,
            count: 0,
            text: Vec::new(),
        }
    }

    /// How many there were.
    pub(crate) fn copies(&self) -> u64 {
        self.count
    }

    /// The next copy.
    pub(crate) fn following(&mut self) -> &[u8] {
        let later = self.count as i64 * self.later;
        self.text.clear();
        for part in &self.parts {
            part.put(later, self.count, &mut self.text);
        }
        self.count += 1;
        &self.text
    }
}

fn second(part: &Part) -> Option<i64> {
    let of = |at: &DateTime| {
        at.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0))
            .as_secs()
    };
    match part {
        Part::Plain(_) | Part::Name(_) => None,
        Part::Moment(at, _) | Part::Dated(at, _) => Some(of(at)),
        Part::Clock(time) => Some(of(&Date::constant(1970, 1, 1).to_datetime(*time))),
        Part::Epoch(count, each) => Some(count / each),
    }
}

/// The part that a text begins with, if it is to be changed, and how long it is.
fn part(text: &[u8]) -> Option<(Part, usize)> {
    moment(text)
        .or_else(|| dated(text))
        .or_else(|| clock(text).map(|time| (Part::Clock(time), 8)))
        .or_else(|| epoch(text))
        .or_else(|| name(text))
}

fn digits(text: &[u8]) -> Option<i64> {
    let all = text.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(text).ok().filter(|_| all)?;
    text.parse().ok()
}

fn clock(text: &[u8]) -> Option<Time> {
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = text else {
        return None;
    };
    if rest
        .first()
        .is_some_and(|b| b.is_ascii_digit() || *b == b':')
    {
        return None;
    }
    let [h, m, s] = [[*h1, *h2], [*m1, *m2], [*s1, *s2]].map(|two| digits(&two));
    Time::new(h? as i8, m? as i8, s? as i8, 0).ok()
}

fn moment(text: &[u8]) -> Option<(Part, usize)> {
    let date = text.get(..10)?;
    let between = [date[4], date[7], *text.get(10)?];
    let known = matches!(between, [b'-', b'-', b' ' | b'T'] | [b'/', b'/', b' ']);
    let [y, m, d] = [&date[..4], &date[5..7], &date[8..]].map(digits);
    let date = Date::new(y? as i16, m? as i8, d? as i8)
        .ok()
        .filter(|_| known)?;
    let time = clock(&text[11..])?;
    Some((Part::Moment(date.to_datetime(time), between), 19))
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// `Nov 22 02:44:43 UTC 2026`, after the day of the week, which nobody checks.
fn dated(text: &[u8]) -> Option<(Part, usize)> {
    let month = MONTHS.iter().position(|m| text.starts_with(m.as_bytes()))?;
    let day = digits(text.get(4..6)?.trim_ascii_start())?;
    let time = clock(text.get(7..)?)?;
    let zone = text.get(15..)?;
    let zone = match zone.get(1..5) {
        Some(b"UTC ") => &zone[..5],
        _ => &zone[..1],
    };
    let year = digits(text.get(15 + zone.len()..19 + zone.len())?)?;
    let date = Date::new(year as i16, month as i8 + 1, day as i8).ok()?;
    Some((
        Part::Dated(date.to_datetime(time), zone.to_vec()),
        19 + zone.len(),
    ))
}

fn epoch(text: &[u8]) -> Option<(Part, usize)> {
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let each = match length {
        10 => 1,
        13 => 1000,
        _ => return None,
    };
    let count = digits(&text[..length])?;
    let recent = (1_000_000_000..2_000_000_000).contains(&(count / each));
    recent.then_some((Part::Epoch(count, each), length))
}

fn name(text: &[u8]) -> Option<(Part, usize)> {
    let length = text
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    let name = NAMES.iter().find(|n| n.as_bytes() == &text[..length])?;
    Some((Part::Name(name.as_bytes()), length))
}

impl Part {
    fn put(&self, later: i64, copy: u64, text: &mut Vec<u8>) {
        let after = |at: &DateTime| at.saturating_add(jiff::SignedDuration::from_secs(later));
        let time = |at: DateTime| at.strftime("%H:%M:%S").to_string();
        match self {
            Part::Plain(plain) => text.extend_from_slice(plain),
            Part::Moment(at, [first, second, third]) => {
                let [first, second, third] = [*first, *second, *third].map(char::from);
                let at = after(at);
                let (date, time) = (at.date(), time(at));
                let (y, m, d) = (date.year(), date.month(), date.day());
                let told = format!("{y:04}{first}{m:02}{second}{d:02}{third}{time}");
                text.extend_from_slice(told.as_bytes());
            }
            Part::Clock(clock) => {
                let at = after(&Date::constant(2000, 1, 1).to_datetime(*clock));
                text.extend_from_slice(time(at).as_bytes());
            }
            Part::Dated(at, zone) => {
                let at = after(at);
                let month = MONTHS[at.month() as usize - 1];
                let told = format!("{month} {:2} {}", at.day(), time(at));
                text.extend_from_slice(told.as_bytes());
                text.extend_from_slice(zone);
                text.extend_from_slice(format!("{:04}", at.year()).as_bytes());
            }
            Part::Epoch(count, each) => {
                text.extend_from_slice((count + later * each).to_string().as_bytes());
            }
            // Ten copies are of the same devices, then others come.
            Part::Name(name) => {
                text.push(name[0]);
                let mut left = copy / 10;
                for _ in 1..name.len() {
                    text.push(b'a' + (left % 26) as u8);
                    left /= 26;
                }
            }
        }
    }
}
