//! Names from outside, made fit to print: no control characters, a known width, not too long.

/// `text` in one line, without what could move the cursor, turn the writing direction or
/// be illegal in XML.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| !is_invisible(*c))
        .map(|c| match c {
            '\n' | '\r' | '\t' => ' ',
            '\u{FFFE}' | '\u{FFFF}' => '\u{FFFD}',
            c if c.is_control() => '\u{FFFD}',
            c => c,
        })
        .collect()
}

/// Joiners, variation selectors and directional marks: no glyph of their own.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E0FFF}')
}

/// How many terminal columns a character takes: 0, 1 or 2 (Unicode Annex 11, by blocks).
pub(crate) fn columns_of(c: char) -> usize {
    match c {
        '\u{0300}'..='\u{036F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{20D0}'..='\u{20FF}' => 0,
        '\u{1100}'..='\u{115F}'
        | '\u{231A}'..='\u{231B}'
        | '\u{2E80}'..='\u{A4CF}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7A3}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE6F}'
        | '\u{FF00}'..='\u{FF60}'
        | '\u{FFE0}'..='\u{FFE6}'
        | '\u{1F000}'..='\u{1FAFF}'
        | '\u{20000}'..='\u{3FFFD}' => 2,
        _ => 1,
    }
}

/// Terminal columns of a clean text.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// A clean text of at most `most` columns: the middle makes way, since names differ at
/// both ends.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    if most == 0 {
        return String::new();
    }
    let tail_room = (most - 1) / 2;
    let head = fitting(text.chars(), most - 1 - tail_room);
    let mut tail = fitting(text.chars().rev(), tail_room);
    tail.reverse();
    head.into_iter().chain(['…']).chain(tail).collect()
}

/// The first characters that fit in `room` columns.
fn fitting(characters: impl Iterator<Item = char>, room: usize) -> Vec<char> {
    let mut used = 0;
    characters
        .take_while(|c| {
            used += columns_of(*c);
            used <= room
        })
        .collect()
}

/// The width of a text in a common sans-serif face, in em. An estimate, a little wide:
/// an SVG does not know the face it will be shown in.
pub(crate) fn em(text: &str) -> f64 {
    text.chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.28,
            'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.36,
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.88,
            'A'..='Z' => 0.68,
            c if c.is_ascii() => 0.56,
            c => 0.60 * columns_of(c) as f64,
        })
        .sum()
}

/// A clean text shortened to `room` em.
pub(crate) fn fit(text: &str, room: f64) -> String {
    if em(text) <= room {
        return text.to_owned();
    }
    let mut most = columns(text);
    loop {
        most = most.saturating_sub(1 + most / 40);
        let short = shorten(text, most);
        if most == 0 || em(&short) <= room {
            return short;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_makes_way() {
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("abcdefghij", 7), "abc…hij");
        assert_eq!(shorten("abcdefghij", 1), "…");
        assert_eq!(shorten("abcdefghij", 0), "");
        assert_eq!(shorten("日本語日本語日本語", 7), "日…語");
        assert!(em(&fit(&"W".repeat(200), 10.0)) <= 10.0);
        assert_eq!(fit("abc", -1.0), "");
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(
            clean("a\nb\tc\x1b[31m\u{202E}d\u{0}"),
            "a b c\u{FFFD}[31md\u{FFFD}"
        );
    }
}
