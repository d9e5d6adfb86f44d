//! One line of the text exposition format, and of `OpenMetrics`.
//!
//! `name{label="value",…} number [time]`, after which `OpenMetrics` may have an exemplar.

use run::Nanos;

/// A series' value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) labels: Vec<(String, String)>,
    /// Name and labels as written.
    pub(super) key: Vec<u8>,
    pub(super) value: f64,
    pub(super) stamp: Option<Nanos>,
}

impl Sample {
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The labels side by side, but for the one of that name.
    pub(super) fn labels_without(&self, left_out: &str) -> String {
        let kept = self.labels.iter().filter(|(n, _)| n != left_out);
        let texts: Vec<String> = kept.map(|(n, v)| format!("{n}={v}")).collect();
        texts.join(",")
    }
}

/// The sample of a line; `None` if it is none.
pub(super) fn sample(line: &[u8]) -> Option<Sample> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let mut name_length = text.bytes().take_while(|b| is_of_name(*b)).count();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        name_length = 0;
    }
    let (name, rest) = text.split_at(name_length);
    let mut name = name.to_owned();
    let mut labels = Vec::new();
    let mut rest = rest.trim_start();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = read_labels(inside, &mut name, &mut labels)?;
    } else if !text[name_length..].starts_with(|c: char| c.is_ascii_whitespace()) {
        return None;
    }
    if name.is_empty() {
        return None;
    }
    let key = text[..text.len() - rest.len()]
        .trim_end()
        .as_bytes()
        .to_vec();
    let numbers = rest.split(" # ").next()?;
    let mut fields = numbers.split_ascii_whitespace();
    let value = number(fields.next()?)?;
    let stamp = match fields.next() {
        Some(stamp) => Some(time(stamp)?),
        None => None,
    };
    fields.next().is_none().then_some(Sample {
        name,
        labels,
        key,
        value,
        stamp,
    })
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':'
}

/// Reads `a="b",…}`; what follows the brace. A name in quotes is the metric's own.
fn read_labels<'a>(
    mut rest: &'a str,
    name: &mut String,
    labels: &mut Vec<(String, String)>,
) -> Option<&'a str> {
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Some(after);
        }
        let label;
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, after) = unquoted(quoted)?;
            rest = after.trim_start();
            if !rest.starts_with('=') {
                if !name.is_empty() {
                    return None;
                }
                *name = text;
                rest = rest.strip_prefix(',').unwrap_or(rest);
                continue;
            }
            label = text;
        } else {
            let length = rest.bytes().take_while(|b| is_of_name(*b)).count();
            if length == 0 {
                return None;
            }
            label = rest[..length].to_owned();
            rest = rest[length..].trim_start();
        }
        let value = rest.strip_prefix('=')?.trim_start().strip_prefix('"')?;
        let (value, after) = unquoted(value)?;
        labels.push((label, value));
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.starts_with('}') => {}
            None => return None,
        }
    }
}

/// The text up to the closing quote, and what follows that.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                c => out.push(c),
            },
            c => out.push(c),
        }
    }
    None
}

/// A number as Go prints it.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain = |b: u8| b.is_ascii_digit() || b"+-.eE".contains(&b);
    let named = ["NaN", "+Inf", "-Inf", "Inf", "inf", "+inf", "-inf", "nan"];
    if !text.bytes().all(plain) && !named.contains(&text) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    (value.is_finite() || named.contains(&text)).then_some(value)
}

/// Milliseconds since 1970 in the older format, seconds in `OpenMetrics`: they are told apart by
/// their size, as neither is used for times before 1973 or after 5000.
fn time(text: &str) -> Option<Nanos> {
    const SECONDS_BELOW: f64 = 1e11;
    let unit = match number(text)? {
        value if !(0.0..1e18).contains(&value) => return None,
        value if value < SECONDS_BELOW => 1_000_000_000,
        _ => 1_000_000,
    };
    if text.contains(['e', 'E']) {
        let nanos = number(text)? * f64::from(unit);
        return (nanos < 9e18).then_some(nanos as Nanos);
    }
    crate::own::when::epoch(text.as_bytes(), i64::from(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_samples() {
        let of = |line: &str| sample(line.as_bytes());
        let s = of(r#"http_requests_total{method="post",code="200",} 1027 1395066363000"#).unwrap();
        assert_eq!((s.name.as_str(), s.value), ("http_requests_total", 1027.0));
        assert_eq!(s.labels_without("code"), "method=post");
        assert_eq!(s.stamp, Some(1_395_066_363_000_000_000));
        let s = of(r#"m{path="C:\\DIR\\F.TXT",error="a\"b\nc"} 1.4582e+09"#).unwrap();
        assert_eq!(s.label("path"), Some(r"C:\DIR\F.TXT"));
        assert_eq!(s.label("error"), Some("a\"b\nc"));
        assert_eq!(s.value, 1.4582e9);
        let s = of(r#"foo_bucket{le="+Inf"} 17 1520879607.789 # {trace_id="a"} 9.8 15208.7"#);
        let s = s.unwrap();
        assert_eq!(s.stamp, Some(1_520_879_607_789_000_000));
        assert_eq!(s.key, br#"foo_bucket{le="+Inf"}"#);
        let s = of(r#"{"my.metric", "a b"="c"} 1"#).unwrap();
        assert_eq!((s.name.as_str(), s.label("a b")), ("my.metric", Some("c")));
        assert!(of("up NaN").unwrap().value.is_nan());
        assert_eq!(of("up +Inf").unwrap().value, f64::INFINITY);
        for no in [
            "",
            "up",
            "up x",
            "1up 1",
            "up{a=1} 1",
            "up{a=\"1\" 1",
            "up{a=\"1} 1",
            "up 1 2 3",
            "up 1e999",
            "up 0x10",
            "{} 1",
            "up 1 99999999999999999999",
            "up 1 -5",
            "a-b 1",
        ] {
            assert_eq!(of(no), None, "{no}");
        }
    }
}
