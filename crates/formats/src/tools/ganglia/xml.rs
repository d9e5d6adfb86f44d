//! As much of XML as Ganglia's daemons write: tags and their attributes, over several lines or
//! many in one.

/// More than any tag takes: what is longer is none.
const LONGEST: usize = 4 << 10;

/// An opening tag.
#[derive(Debug, PartialEq)]
pub(super) struct Tag {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A piece of a document.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Open(Tag),
    /// The name of a closing tag.
    Close(String),
    /// A comment, a declaration, the document type.
    Aside,
    /// Text between tags, or what is no tag.
    Text,
}

/// Cuts lines into pieces.
#[derive(Default)]
pub(super) struct Cutter {
    /// A tag that began in a line before.
    rest: Vec<u8>,
    /// The quote that is open in it.
    quote: Option<u8>,
    /// What ends the comment or the declaration that began in a line before.
    aside: Option<&'static [u8]>,
}

impl Cutter {
    /// The pieces that end in this line.
    pub(super) fn line(&mut self, line: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut held = std::mem::take(&mut self.rest);
        let mut looked_at = held.len();
        let mut rest = if held.is_empty() {
            line
        } else {
            held.push(b'\n');
            held.extend_from_slice(line);
            &held
        };
        loop {
            rest = rest.trim_ascii_start();
            if rest.is_empty() {
                return pieces;
            }
            if let Some(end) = self.aside.or_else(|| begins_aside(rest)) {
                match memchr::memmem::find(rest, end) {
                    Some(at) => {
                        self.aside = None;
                        pieces.push(Piece::Aside);
                        rest = &rest[at + end.len()..];
                        continue;
                    }
                    None => {
                        self.aside = Some(end);
                        return pieces;
                    }
                }
            }
            if rest[0] != b'<' {
                let end = memchr::memchr(b'<', rest).unwrap_or(rest.len());
                pieces.push(Piece::Text);
                rest = &rest[end..];
                continue;
            }
            let from = std::mem::take(&mut looked_at).max(1);
            let quote = std::mem::take(&mut self.quote);
            match end_of(rest, from, quote) {
                End::At(end) => {
                    pieces.push(piece(&rest[..end]));
                    rest = &rest[end..];
                }
                End::Never(at) => {
                    pieces.push(Piece::Text);
                    rest = &rest[at..];
                }
                End::Open(_) if rest.len() > LONGEST => {
                    pieces.push(Piece::Text);
                    return pieces;
                }
                End::Open(quote) => {
                    self.quote = quote;
                    // What was held grows at its end: long tags are not copied for each line.
                    self.rest = if rest.len() == held.len() {
                        held
                    } else {
                        rest.to_vec()
                    };
                    return pieces;
                }
            }
        }
    }

    /// Whether a piece has begun and has not ended.
    pub(super) fn is_open(&self) -> bool {
        !self.rest.is_empty() || self.aside.is_some()
    }
}

/// What ends the comment, declaration or document type that starts here, if one does.
fn begins_aside(text: &[u8]) -> Option<&'static [u8]> {
    if text.starts_with(b"<!--") {
        return Some(b"-->");
    }
    if text.starts_with(b"<?") {
        return Some(b"?>");
    }
    if !text.starts_with(b"<!") {
        return None;
    }
    // With a list of elements in brackets, that ends it.
    let mut marks = text.iter().filter(|b| matches!(b, b'[' | b'>'));
    Some(if marks.next() == Some(&b'[') {
        b"]>"
    } else {
        b">"
    })
}

/// Where a tag ends.
enum End {
    /// Before this place.
    At(usize),
    /// Not in this text; the quote that is open.
    Open(Option<u8>),
    /// It is none: another begins within it, here.
    Never(usize),
}

/// Where the tag ends that starts here, of which the first `from` bytes were looked at.
fn end_of(text: &[u8], from: usize, mut quote: Option<u8>) -> End {
    for (at, byte) in text.iter().enumerate().skip(from) {
        match (quote, byte) {
            (None, b'>') => return End::At(at + 1),
            (_, b'<') => return End::Never(at),
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
    }
    End::Open(quote)
}

fn piece(text: &[u8]) -> Piece {
    let text = String::from_utf8_lossy(text);
    let inside = text.trim_start_matches('<').trim_end_matches('>');
    if let Some(name) = inside.strip_prefix('/') {
        return Piece::Close(name.trim().to_owned());
    }
    let inside = inside.strip_suffix('/').unwrap_or(inside);
    opened(inside).map_or(Piece::Text, Piece::Open)
}

fn opened(text: &str) -> Option<Tag> {
    let end = text.find(|c: char| c.is_whitespace()).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        return None;
    }
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| "\"'".contains(*c))?;
        let (value, after) = after[1..].split_once(quote)?;
        attributes.push((name.trim().to_owned(), plain_text(value)));
        rest = after;
    }
    Some(Tag {
        name: name.to_owned(),
        attributes,
    })
}

/// The text that an attribute's value stands for.
fn plain_text(value: &str) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let named = after.split_once(';').and_then(|(name, after)| {
            let number = |digits: &str| match digits.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            };
            let c = match name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                _ => char::from_u32(number(name.strip_prefix('#')?)?)?,
            };
            Some((c, after))
        });
        let (c, after) = named.unwrap_or(('&', after));
        out.push(c);
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_over_lines_and_many_in_one() {
        let mut cutter = Cutter::default();
        let first = cutter.line(b"<?xml version=\"1.0\"?><A B=\"x &lt; &#65;\" C='1 > 0'/><D");
        let [Piece::Aside, Piece::Open(tag)] = &first[..] else {
            panic!("{first:?}");
        };
        assert_eq!((tag.name.as_str(), tag.get("B")), ("A", Some("x < A")));
        assert_eq!(tag.get("C"), Some("1 > 0"));
        assert!(cutter.is_open());
        let second = cutter.line(b"E=\"1\"></D > text <!-- <A> -->");
        assert_eq!(second.len(), 4, "{second:?}");
        assert!(matches!(&second[0], Piece::Open(t) if t.get("E") == Some("1")));
        assert_eq!(second[1], Piece::Close("D".into()));
        assert_eq!((&second[2], &second[3]), (&Piece::Text, &Piece::Aside));
        assert!(cutter.line(b"<!DOCTYPE A [").is_empty());
        assert!(cutter.line(b"<!ELEMENT A (B)*>").is_empty());
        assert_eq!(cutter.line(b"]>"), [Piece::Aside]);
        assert_eq!(cutter.line(b"<A B=1>"), [Piece::Text]);
    }
}
