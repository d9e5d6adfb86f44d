//! Fields of a row of `prstat`.

use crate::{fields, number};

/// The fields of a row, by the names of the header.
pub(super) struct Row<'a> {
    names: &'a [String],
    fields: Vec<&'a [u8]>,
    /// What is in the last column, which may hold blanks.
    last: &'a [u8],
}

/// The last column of processes and threads.
pub(super) struct Name {
    /// Name of the program.
    pub(super) command: String,
    /// Its threads, where the row is of a process.
    pub(super) threads: Option<f64>,
    /// The thread, where it is of one.
    pub(super) thread: Option<String>,
}

impl<'a> Row<'a> {
    /// `None` if there are fewer fields than names.
    pub(super) fn parse(line: &'a [u8], names: &'a [String]) -> Option<Row<'a>> {
        let all: Vec<&[u8]> = fields(line).collect();
        if all.len() < names.len() || names.is_empty() {
            return None;
        }
        let last = names.len() - 1;
        // From where the last column's first field begins.
        let mut rest = line;
        for _ in 0..last {
            rest = rest.trim_ascii_start();
            let end = rest.iter().position(u8::is_ascii_whitespace)?;
            rest = &rest[end..];
        }
        let of_group = names.get(last).is_some_and(|n| n == "CPU");
        if of_group && all.len() > names.len() {
            return None;
        }
        Some(Row {
            names,
            fields: all,
            last: rest.trim_ascii(),
        })
    }

    /// The field of that column.
    pub(super) fn of(&self, name: &str) -> Option<&'a [u8]> {
        let place = self.names.iter().position(|n| n == name)?;
        self.fields.get(place).copied()
    }

    /// A whole number of that column.
    pub(super) fn whole(&self, name: &str) -> Option<u64> {
        number::whole(self.of(name)?)
    }

    /// `name/12`: the threads of a process, or the thread.
    pub(super) fn process(&self) -> Option<Name> {
        let header = self.names.last()?;
        let slash = self.last.iter().rposition(|b| *b == b'/')?;
        let (command, after) = (&self.last[..slash], &self.last[slash + 1..]);
        if after.is_empty() {
            return None;
        }
        let of_process = header.ends_with("/NLWP");
        let threads = number::whole(after);
        if of_process && threads.is_none() {
            return None;
        }
        Some(Name {
            command: String::from_utf8_lossy(command).into_owned(),
            threads: threads.filter(|_| of_process).map(|n| n as f64),
            thread: (!of_process).then(|| String::from_utf8_lossy(after).into_owned()),
        })
    }

    /// `zone global`, `project default`, `task 12 default`.
    pub(super) fn group(&self) -> Option<String> {
        let id = self.fields.first()?;
        let (id, name) = (
            String::from_utf8_lossy(id),
            String::from_utf8_lossy(self.last),
        );
        number::whole(id.as_bytes())?;
        Some(match self.names.first()?.as_str() {
            "ZONEID" => format!("zone {name}"),
            "TASKID" => format!("task {id} {name}"),
            _ => format!("project {name}"),
        })
    }
}

/// `2095M`, in bytes.
pub(super) fn size(text: &[u8]) -> Option<f64> {
    let lettered = text.last().is_some_and(u8::is_ascii_alphabetic);
    number::scaled(text, 1024.0).filter(|_| lettered)
}

/// The line with a blank between two sizes that run together, `1234G1023G`: a letter ends a size.
pub(super) fn sizes_apart(line: &[u8], names: &[String]) -> Option<Vec<u8>> {
    let place = names
        .iter()
        .position(|n| matches!(n.as_str(), "SIZE" | "SWAP"))?;
    if names.get(place + 1).is_none_or(|n| n != "RSS") {
        return None;
    }
    let field = fields(line).nth(place)?;
    let letter = field.iter().position(u8::is_ascii_uppercase)?;
    let (first, second) = field.split_at(letter + 1);
    let whole = |text: &[u8]| {
        let digits = &text[..text.len() - 1];
        let zeros = digits.len() > 1 && digits.starts_with(b"0");
        size(text).is_some() && digits.iter().all(u8::is_ascii_digit) && !zeros
    };
    if second.is_empty() || !whole(first) || !whole(second) {
        return None;
    }
    let at = field.as_ptr() as usize - line.as_ptr() as usize + letter + 1;
    Some([&line[..at], b" ", &line[at..]].concat())
}

/// `0.4%`, `100`.
pub(super) fn percent(text: &[u8]) -> Option<f64> {
    if text == b"-" {
        return Some(f64::NAN);
    }
    number::number(text.strip_suffix(b"%").unwrap_or(text))
}

/// `0:03:54`, in seconds.
pub(super) fn elapsed(text: &[u8]) -> Option<f64> {
    let mut parts = text.split(|b| *b == b':').map(number::whole);
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let sound = parts.next().is_none() && minutes < 60 && seconds < 60;
    sound.then(|| hours as f64 * 3600.0 + (minutes * 60 + seconds) as f64)
}

/// `12`, `34K` for 34,000; of 100,000 and more so many of them behind a point, as prstat's `Format_num`
/// prints them: `.5M` is 500,000, and `.12M` 1,200,000. `None` for what lost its end, as `.12`.
pub(super) fn thousands(text: &[u8]) -> Option<f64> {
    match text {
        [b'.', digits @ .., b'M'] => Some(number::whole(digits)? as f64 * 1e5),
        [b'.', ..] => None,
        _ => number::scaled(text, 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_they_are_printed() {
        assert_eq!(size(b"2095M"), Some(2095.0 * 1_048_576.0));
        assert_eq!(size(b"0K"), Some(0.0));
        assert_eq!(size(b"12"), None);
        let names = ["PID", "SIZE", "RSS", "X"].map(str::to_owned);
        let apart = sizes_apart(b" 12 1234G1023G x ", &names);
        assert_eq!(apart.as_deref(), Some(&b" 12 1234G 1023G x "[..]));
        for no in [
            "12 1234G 1G x",
            "12 123M x",
            "12 1234G01M x",
            "12 1G1M1K x",
            "12",
        ] {
            assert_eq!(sizes_apart(no.as_bytes(), &names), None, "{no}");
        }
        assert_eq!(percent(b"0.4%"), Some(0.4));
        assert_eq!(percent(b"100"), Some(100.0));
        assert_eq!(elapsed(b"123:45:06"), Some(445_506.0));
        assert_eq!(elapsed(b"0:99:00"), None);
        assert_eq!(thousands(b"34K"), Some(34_000.0));
        assert_eq!(thousands(b".5M"), Some(500_000.0));
        assert_eq!(thousands(b".12"), None);
    }

    #[test]
    fn names_may_hold_blanks() {
        let names = ["PID", "PROCESS/NLWP"].map(str::to_owned);
        let row = Row::parse(b"  12 my /prog/3 ", &names).unwrap();
        let name = row.process().unwrap();
        assert_eq!((&*name.command, name.threads), ("my /prog", Some(3.0)));
        assert!(Row::parse(b"12", &names).is_none());
    }
}
