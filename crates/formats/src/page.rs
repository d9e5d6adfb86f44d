//! What a page, a mail or an editor did to all of a text: signs written as the source of a page has
//! them, a blank line below each.

use crate::around::is_around;
use crate::fields;
use crate::number::number;
use crate::prompt::is_chatter;

/// So many lines have a blank one below, at least, or that is how the tool prints.
const LEAST: usize = 3;

/// What was done to a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// `<` is `&lt;`.
    escaped: bool,
    /// Below each line is a blank one.
    spaced: bool,
}

impl Page {
    /// What was done to a text that begins with those lines, of which the last may be cut.
    pub(crate) fn of(lines: &[Vec<u8>]) -> Page {
        Page {
            escaped: is_escaped(lines),
            spaced: is_spaced(lines),
        }
    }

    /// Those lines as they were, without what stands around them.
    pub(crate) fn undone(self, lines: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let mut below = false;
        let kept = lines
            .into_iter()
            .filter(|line| !self.is_added(line, &mut below) && !is_around(line));
        kept.map(|line| self.unescaped(&line).unwrap_or(line))
            .collect()
    }

    /// Whether the line was not there before; `below`: the one above it was.
    pub(crate) fn is_added(self, line: &[u8], below: &mut bool) -> bool {
        if !self.spaced {
            return false;
        }
        let is_blank = line.trim_ascii().is_empty();
        std::mem::replace(below, !is_blank) && is_blank
    }

    /// Whether lines are as the tool printed them.
    pub(crate) fn is_plain(self) -> bool {
        !self.spaced && !self.escaped
    }

    /// The line with the signs that it had, if any of them was written otherwise.
    pub(crate) fn unescaped(self, line: &[u8]) -> Option<Vec<u8>> {
        if !self.escaped || !line.contains(&b'&') {
            return None;
        }
        let mut made = Vec::with_capacity(line.len());
        let mut rest = line;
        while let Some((&byte, after)) = rest.split_first() {
            let written = SIGNS.iter().find(|(name, _)| rest.starts_with(name));
            let (sign, length) = written.map_or((byte, 1), |(name, sign)| (*sign, name.len()));
            made.push(sign);
            rest = if length == 1 { after } else { &rest[length..] };
        }
        Some(made)
    }
}

/// Signs as the source of a page has them.
const SIGNS: [(&[u8], u8); 7] = [
    (b"&lt;", b'<'),
    (b"&gt;", b'>'),
    (b"&amp;", b'&'),
    (b"&quot;", b'"'),
    (b"&#39;", b'\''),
    (b"&#039;", b'\''),
    (b"&nbsp;", b' '),
];

/// Whether the first of those lines that has anything begins JSON or XML.
pub(crate) fn begins_document<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let first = lines.map(<[u8]>::trim_ascii).find(|l| !l.is_empty());
    first.is_some_and(|first| match first {
        [b'{' | b'<', ..] => true,
        [b'[', rest @ ..] => matches!(rest.trim_ascii_start(), [] | [b'{' | b'[' | b'"', ..]),
        _ => false,
    })
}

/// Whether it has such signs and is no document that has them itself.
fn is_escaped(lines: &[Vec<u8>]) -> bool {
    let own = lines.iter().map(Vec::as_slice).filter(|l| !is_around(l));
    let is_document = begins_document(own);
    let has = |line: &Vec<u8>| {
        let signs: [&[u8]; 3] = [b"&lt;", b"&gt;", b"&nbsp;"];
        line.contains(&b'&')
            && signs
                .iter()
                .any(|s| memchr::memmem::find(line, s).is_some())
    };
    !is_document && lines.iter().any(has)
}

/// Whether a blank line is below each other line. (Lists of one row each, which some tools print so,
/// have no header.)
fn is_spaced(lines: &[Vec<u8>]) -> bool {
    let is_blank = |l: &[u8]| l.trim_ascii().is_empty();
    let whole = &lines[..lines.len().saturating_sub(1)];
    let mut full = whole.windows(2).filter(|w| !is_blank(&w[0]));
    let is_header = |line: &[u8]| {
        fields(line).count() > 1 && fields(line).all(|f| number(f).is_none()) && !is_chatter(line)
    };
    let (mut count, mut headers) = (0, 0);
    let all = full.all(|pair| {
        count += 1;
        headers += usize::from(is_header(&pair[0]));
        is_blank(&pair[1])
    });
    all && count >= LEAST && headers > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Page, String) {
        let lines: Vec<Vec<u8>> = text.split('\n').map(|l| l.as_bytes().to_vec()).collect();
        let page = Page::of(&lines);
        let undone = page.undone(lines).join(&b'\n');
        (page, String::from_utf8(undone).unwrap())
    }

    #[test]
    fn signs_are_what_they_were() {
        let (page, text) = of("  &lt; 0 |@ 1\n &gt;= 8 &amp;&lt; & 2\n");
        assert!(page.escaped);
        assert_eq!(text, "  < 0 |@ 1\n >= 8 &< & 2\n");
        for own in ["a?b&amp;c 1\n", "<x y=\"&lt;\"/>\n", "{\"a\": \"&lt;\"}\n"] {
            assert_eq!(of(own).1, own);
        }
    }

    #[test]
    fn lines_with_a_blank_one_below_each() {
        let spaced = "dev r w\n\na 1 2\n\nb 3 4\n\n\ndev r w\n\na 1 2\n\nb 3";
        let was = "dev r w\na 1 2\nb 3 4\n\ndev r w\na 1 2\nb 3";
        assert_eq!(of(spaced).1, was);
        for own in [
            was,
            "a 1 2\n\nb 3 4\n\nc 1 2\n\nd 1 2\n",
            "dev r w\n\na 1 2\n",
        ] {
            assert_eq!(of(own).1, own);
        }
    }
}
