//! JSON documents among other lines: errors before them, one after the other, text behind.

use serde_json::Value;

use crate::out::Out;

/// What a line was.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Not of a document.
    Outside,
    /// Of a document that goes on.
    Inside,
    /// Of the document that ended in it. A line may end several.
    Whole(Vec<Value>),
}

/// Collects documents line by line.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    /// The document so far, with `null` for numbers that are none.
    text: Vec<u8>,
    /// A bare word or number at its end.
    token: Vec<u8>,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Where it began.
    first: u64,
}

impl Documents {
    /// Takes a line. Documents that are no JSON are told as not understood.
    pub(crate) fn line(&mut self, line: &[u8], out: &mut Out) -> Piece {
        let start = line.trim_ascii_start();
        if self.depth == 0 && !matches!(start.first(), Some(b'{' | b'[')) {
            return Piece::Outside;
        }
        let mut whole = Vec::new();
        let mut broken = false;
        for byte in line.iter().chain(b"\n") {
            if self.depth == 0 && !matches!(byte, b'{' | b'[') {
                continue;
            }
            if self.depth == 0 {
                self.first = out.line_number();
            }
            self.byte(*byte);
            if self.depth > 0 {
                continue;
            }
            let text = std::mem::take(&mut self.text);
            match serde_json::from_slice(&text) {
                Ok(value) => whole.push(value),
                Err(why) => {
                    broken = true;
                    let why = format!("the JSON that begins here is broken: {why}");
                    out.not_understood(self.first, &why);
                }
            }
        }
        if whole.is_empty() && !broken {
            Piece::Inside
        } else {
            Piece::Whole(whole)
        }
    }

    /// The line at which the document begun last began.
    pub(crate) fn began(&self) -> u64 {
        self.first
    }

    /// The input is over; a document that did not end is not understood.
    pub(crate) fn end(&mut self, out: &mut Out) {
        if self.depth > 0 {
            out.not_understood(self.first, "the JSON that begins here is cut off");
            *self = Documents::default();
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.text.push(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.') {
            self.token.push(byte);
            return;
        }
        // Some tools print what C makes of a division by zero.
        if !self.token.is_empty() {
            let token = std::mem::take(&mut self.token);
            let word = token.to_ascii_lowercase();
            match word.trim_ascii().strip_prefix(b"-").unwrap_or(&word) {
                b"nan" | b"inf" | b"infinity" => self.text.extend_from_slice(b"null"),
                _ => self.text.extend_from_slice(&token),
            }
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.text.push(byte);
    }
}

/// The number in a field of an object; NaN if there is none.
pub(crate) fn number(object: &Value, field: &str) -> f64 {
    object
        .get(field)
        .and_then(Value::as_f64)
        .unwrap_or(f64::NAN)
}

/// The text in a field of an object; empty if there is none.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Calls for each number in a value, with the names that lead to it.
pub(crate) fn leaves<'a>(
    value: &'a Value,
    path: &mut Vec<&'a str>,
    take: &mut impl FnMut(&[&'a str], f64),
) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push(name);
                leaves(value, path, take);
                path.pop();
            }
        }
        Value::Number(number) => take(path, number.as_f64().unwrap_or(f64::NAN)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn all(text: &str) -> (Vec<Value>, usize) {
        let mut out = Out::new("test", Options::default());
        let mut documents = Documents::default();
        let (mut found, mut outside) = (Vec::new(), 0);
        for line in text.lines() {
            out.line += 1;
            match documents.line(line.as_bytes(), &mut out) {
                Piece::Outside => outside += 1,
                Piece::Inside => {}
                Piece::Whole(values) => found.extend(values),
            }
        }
        documents.end(&mut out);
        (found, outside + 100 * out.unknown.len())
    }

    #[test]
    fn documents_are_found_among_other_lines() {
        let (found, outside) = all("warning: x\n{\n\"a\": [1, {\"b\": \"}\\\"{\"}]\n}\ndone\n");
        assert_eq!((found.len(), outside), (1, 2));
        assert_eq!(text(&found[0]["a"][1], "b"), "}\"{");
        let (found, outside) = all("{\"a\": 1}{\"a\": 2}\n{\"a\":\n3}trailing words\n");
        let values: Vec<f64> = found.iter().map(|v| number(v, "a")).collect();
        assert_eq!((values, outside), (vec![1.0, 2.0, 3.0], 0));
    }

    #[test]
    fn numbers_that_are_none_are_not_known() {
        let (found, _) = all("{\"a\": nan, \"b\": -nan, \"c\": -inf, \"d\": 1e3, \"e\": \"nan\"}");
        assert!(found[0]["a"].is_null() && found[0]["b"].is_null() && found[0]["c"].is_null());
        assert_eq!(number(&found[0], "d"), 1000.0);
        assert_eq!(text(&found[0], "e"), "nan");
    }

    #[test]
    fn broken_documents_are_told() {
        let (found, told) = all("{\"a\": }\n{\"a\": 1}\n");
        assert_eq!((found.len(), told), (1, 100));
        let (found, told) = all("{\"a\": 1\n");
        assert_eq!((found.len(), told), (0, 100));
    }
}
