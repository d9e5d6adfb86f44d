//! Comma-separated values as RFC 4180 has them.

/// A text as a field.
pub fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A number as a field: the shortest that reads back the same; empty where it is not known.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        String::new()
    } else {
        value.to_string()
    }
}
