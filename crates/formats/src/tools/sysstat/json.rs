//! JSON of the sysstat tools: one document, that has faults in some versions and when the tool
//! was interrupted.

use serde_json::Value;

use crate::Line;
use crate::out::Out;
use crate::time::Refused;

/// The longest document that is read.
const LONGEST: usize = 1 << 30;

/// Deeper than any document of the tools goes.
const DEEPEST: usize = 100;

/// A document as its lines come.
#[derive(Default)]
pub(crate) struct Document {
    text: Vec<u8>,
}

impl Document {
    /// Takes the next line.
    pub(crate) fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if self.text.len() + line.len() > LONGEST {
            out.refuse(Refused("it is a JSON document of more than 1 GiB".into()));
            return Line::Unknown;
        }
        let begins =
            !self.text.is_empty() || matches!(line.trim_ascii().first(), Some(b'{' | b'['));
        if !begins {
            // What a shell printed before it.
            return Line::Noise;
        }
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        let has_value = line.iter().any(u8::is_ascii_digit);
        if has_value { Line::Data } else { Line::Noise }
    }

    /// The hosts of it, each with its `statistics`; nothing where the document is none, which
    /// `out` is told.
    pub(crate) fn hosts(&mut self, out: &mut Out) -> Vec<Value> {
        let text = std::mem::take(&mut self.text);
        let read = serde_json::from_slice::<Value>(&text).or_else(|_| {
            let mended = mended(&text);
            let read = serde_json::from_slice::<Value>(&mended);
            if read.is_ok() {
                out.note("the JSON had faults, as missing commas or ends; they were mended");
            }
            read
        });
        match read {
            // Not by index: one that may be changed asks for an object.
            Ok(mut document) => match document.pointer_mut("/sysstat/hosts").map(Value::take) {
                Some(Value::Array(hosts)) => hosts,
                _ => Vec::new(),
            },
            Err(why) => {
                out.refuse(Refused(format!("its JSON cannot be read: {why}")));
                Vec::new()
            }
        }
    }
}

/// What the parts of JSON are, for mending.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Open,
    Close,
    Comma,
    Colon,
    Value,
}

/// The text with commas where they are missing, without those that are too many, `null` for
/// `nan` and `inf`, and closed at its end: a member that was cut off goes.
fn mended(text: &[u8]) -> Vec<u8> {
    let mut mended: Vec<u8> = Vec::with_capacity(text.len() + 64);
    let mut open: Vec<u8> = Vec::new();
    let mut last = Part::Open;
    // Where to cut, and how much was open there, if the text ends in the midst of something.
    let mut whole = (0, Vec::new());
    let mut rest = text;
    while let Some((part, token, after)) = next(rest) {
        let (Some(part), true) = (part, token.len() <= 1 << 20) else {
            break;
        };
        rest = after;
        let follows = matches!(last, Part::Value | Part::Close);
        match part {
            Part::Comma if !follows => continue,
            Part::Value | Part::Open if follows => mended.push(b','),
            Part::Close if last == Part::Comma => {
                mended.pop();
            }
            _ => {}
        }
        match part {
            Part::Open if open.len() > DEEPEST => break,
            Part::Open => open.push(if token == b"{" { b'}' } else { b']' }),
            Part::Close if open.pop() != token.first().copied() => break,
            _ => {}
        }
        let undefined = [&b"nan"[..], b"-nan", b"inf", b"-inf", b"NaN"].contains(&token);
        mended.extend_from_slice(if undefined { b"null" } else { token });
        last = part;
        if part == Part::Close {
            whole = (mended.len(), open.clone());
            if open.is_empty() {
                return mended;
            }
        }
    }
    let (length, mut open) = whole;
    mended.truncate(length);
    while let Some(end) = open.pop() {
        mended.push(end);
    }
    mended
}

/// The next part of a text, the bytes of it, and what comes after; no part where there is none.
fn next(text: &[u8]) -> Option<(Option<Part>, &[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let (&first, rest) = text.split_first()?;
    let one = |part| Some((Some(part), &text[..1], rest));
    match first {
        b'{' | b'[' => one(Part::Open),
        b'}' | b']' => one(Part::Close),
        b',' => one(Part::Comma),
        b':' => one(Part::Colon),
        b'"' => {
            let mut escaped = false;
            let end = rest.iter().position(|b| {
                let ends = *b == b'"' && !escaped;
                escaped = *b == b'\\' && !escaped;
                ends
            });
            let Some(end) = end else {
                return Some((None, text, &[]));
            };
            let (token, after) = text.split_at(end + 2);
            Some((Some(Part::Value), token, after))
        }
        _ => {
            let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
            let end = text.iter().position(|b| !plain(b)).unwrap_or(text.len());
            if end == 0 {
                return Some((None, text, &[]));
            }
            let (token, after) = text.split_at(end);
            Some((Some(Part::Value), token, after))
        }
    }
}

/// A number, also one in a text.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => crate::number::number(text.as_bytes()),
        _ => None,
    }
}

/// Says to `out` what a host tells of itself; gives its date.
pub(crate) fn host<'a>(host: &'a Value, out: &mut Out) -> &'a str {
    if let Some(name) = host["nodename"].as_str() {
        out.host(name.as_bytes());
    }
    let count = host["number-of-cpus"].as_u64();
    if let Some(count) = count.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0) {
        out.has_processors(count);
    }
    let date = host["date"].as_str().or_else(|| host["file-date"].as_str());
    date.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mend(text: &str) -> Value {
        let mended = mended(text.as_bytes());
        serde_json::from_slice(&mended)
            .unwrap_or_else(|e| panic!("{text}: {e}: {}", String::from_utf8_lossy(&mended)))
    }

    #[test]
    fn faults_are_mended() {
        let right = serde_json::json!({"a": [{"b": 1}, {"b": 2}]});
        for text in [
            r#"{"a": [{"b": 1}, {"b": 2}]}"#,
            r#"{"a": [{"b": 1} {"b": 2}]}"#,
            r#"{"a": [{"b": 1}, {"b": 2},]}"#,
            r#"{"a": [{"b": 1},, {"b": 2}"#,
            r#"{"a": [{"b": 1}, {"b": 2}], "c": {"d": 1"#,
            r#"{"a": [{"b": 1}, {"b": 2}], "c"#,
            "{\"a\": [{\"b\": 1}, {\"b\": 2}]}\n$ echo",
        ] {
            assert_eq!(mend(text), right, "{text}");
        }
        let nothing = serde_json::json!({"a": [{"b": null, "c": 3}]});
        assert_eq!(mend(r#"{"a": [{"b": -nan "c": 3}]}"#), nothing);
    }

    #[test]
    fn json_of_another_shape_has_nothing() {
        for text in ["[1]", "3", "{\"sysstat\": [1]}", "{\"sysstat\": 3}", "{}"] {
            let format = crate::named("iostat-json").unwrap();
            let head = crate::Head::new(text.as_bytes());
            let mut import = crate::Import::new(format, &head, crate::Options::default());
            let fed = import.feed(text.as_bytes());
            assert!(fed.and_then(|()| import.finish()).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for text in ["", "x", "{\"a", "]", "{\"user\": 0,72, \"nice\": 1}"] {
            let mended = mended(text.as_bytes());
            let read = serde_json::from_slice::<Value>(&mended);
            assert!(read.is_err(), "{text}");
        }
    }
}
