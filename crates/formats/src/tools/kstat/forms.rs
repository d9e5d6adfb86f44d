//! The forms of a line: long, with `-p`, with `-C`, and what a terminal makes of a tab.

use crate::number::number;

/// A line of -C: `sd:0:sd0:nread:1024`. (A text that holds colons is none of these.)
pub(super) fn colon_form(line: &[u8]) -> Option<Short<'_>> {
    let (key, value) = std::str::from_utf8(line).ok()?.rsplit_once(':')?;
    let key = split_key(key)?;
    // A time has colons, too.
    let is_module = key.module.starts_with(|c: char| c.is_ascii_alphabetic());
    is_module.then_some(Short { value, ..key })
}

/// The module and the instance of a line that begins a set.
pub(super) fn module(line: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(line).ok()?;
    let (module, instance) = text
        .trim()
        .strip_prefix("module:")?
        .split_once("instance:")?;
    Some((module.trim(), instance.trim()))
}

pub(super) fn name_and_class(line: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(line).ok()?;
    let (name, class) = text.trim().strip_prefix("name:")?.split_once("class:")?;
    Some((name.trim(), class.trim()))
}

pub(super) struct Short<'a> {
    pub(super) module: &'a str,
    pub(super) instance: &'a str,
    pub(super) name: &'a str,
    pub(super) statistic: &'a str,
    pub(super) value: &'a str,
}

/// A line of -p. A set's name can hold colons.
pub(super) fn short_form(line: &[u8]) -> Option<Short<'_>> {
    let line = std::str::from_utf8(line).ok()?;
    match line.split_once('\t') {
        Some((key, value)) => {
            let value = value.trim();
            split_key(key).map(|key| Short { value, ..key })
        }
        None => pasted(line),
    }
}

/// The same from a terminal, which makes blanks of the tab: up to the next of its stops, each 8
/// columns. Numbers have none themselves; texts, and names of statistics, can.
fn pasted(line: &str) -> Option<Short<'_>> {
    let line = line.trim_end();
    let is_number = |(_, value): &(&str, &str)| number(value.as_bytes()).is_some();
    let at_stop = || {
        let starts = |at: &usize| {
            let column = at.is_multiple_of(8) && line.is_char_boundary(*at);
            column && line[..*at].ends_with(' ') && !line[*at..].starts_with(' ')
        };
        (8..line.len()).find(starts).map(|at| line.split_at(at))
    };
    let (key, value) = line.rsplit_once(' ').filter(is_number).or_else(at_stop)?;
    let key = split_key(key.trim_end())?;
    let is_like =
        key.module.starts_with(|c: char| c.is_ascii_alphabetic()) && !key.name.contains(' ');
    is_like.then_some(Short { value, ..key })
}

/// `sd:0:sd0:nread`.
fn split_key(key: &str) -> Option<Short<'_>> {
    let (module, rest) = key.split_once(':')?;
    let (instance, rest) = rest.split_once(':')?;
    let (name, statistic) = rest.rsplit_once(':')?;
    let whole = !instance.is_empty() && instance.bytes().all(|b| b.is_ascii_digit());
    let named = !module.is_empty() && !module.contains(' ') && !statistic.is_empty();
    (whole && named).then_some(Short {
        module,
        instance,
        name,
        statistic,
        value: "",
    })
}

/// Name and value of a statistic in the long form: the name has 30 places, and can hold blanks.
pub(super) fn long_form(line: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(line).ok()?;
    let inside = text.trim_start();
    if inside.len() == text.len() {
        return None;
    }
    let inside = inside.trim_end();
    if let (Some(name), Some(value)) = (inside.get(..31), inside.get(31..))
        && name.ends_with(' ')
    {
        return Some((name.trim(), value.trim()));
    }
    match inside.rsplit_once(char::is_whitespace) {
        Some((name, value)) if inside.len() > 31 => Some((name.trim(), value)),
        _ => Some((inside, "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_blanks_and_colons() {
        let line = b"        Predictive Failure Analysis     0";
        assert_eq!(long_form(line), Some(("Predictive Failure Analysis", "0")));
        let line = b"        Product                         Virtual disk    Revision";
        assert_eq!(
            long_form(line),
            Some(("Product", "Virtual disk    Revision"))
        );
        assert_eq!(long_form(b"        Serial No"), Some(("Serial No", "")));
        assert_eq!(long_form(b"no indent 1"), None);
        let found = short_form(b"unix:0:a:b:c\t12").unwrap();
        assert_eq!(
            (found.name, found.statistic, found.value),
            ("a:b", "c", "12")
        );
        assert!(short_form(b"12:30:45 a\t1").is_none());
        assert!(short_form(b"http://x:8080/a\tb").is_none());
        let of = |line| {
            let found: Short<'_> = short_form(line)?;
            Some((found.statistic, found.value))
        };
        assert_eq!(of(b"sd:0:sd0:nread  3523"), Some(("nread", "3523")));
        assert_eq!(of(b"sd:0:sd0:nread 3523"), Some(("nread", "3523")));
        let text = of(b"sd:0:sd0,err:Product    Virtual disk");
        assert_eq!(text, Some(("Product", "Virtual disk")));
        let named = of(b"sd:0:sd0,err:Predictive Failure Analysis        0");
        assert_eq!(named, Some(("Predictive Failure Analysis", "0")));
        assert_eq!(of(b"2026:11:26:day 12"), None);
        assert_eq!(of(b"sd:0:a name:nread 12"), None);
    }
}
