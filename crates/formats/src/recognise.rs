//! Which format a file is of, by what is in it.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::lines::{clean, without_mark};
use crate::list::{FORMATS, Format};
use crate::number::number;
use crate::page::Page;
use crate::prefix::{Indent, Prefix};

/// What a format answers of a text that has the beginning of an output, and nothing of its results.
pub(crate) const BEGINNING: u8 = 50;

/// How much of a file is looked at.
const LOOKED_AT: usize = 64 << 10;
/// How many lines.
const LINES: usize = 400;

/// The beginning of a file, for who recognises it.
#[derive(Debug, Default)]
pub struct Head {
    bytes: Vec<u8>,
    lines: Vec<Vec<u8>>,
    page: Page,
    prefix: Prefix,
    name: String,
    /// The lines together, and those that may be headers: for who looks for words among many numbers.
    text: OnceLock<Vec<u8>>,
    headers: OnceLock<Vec<usize>>,
    /// Formats that it may be of, by their places in the list, and how sure that is: found out once.
    likely: OnceLock<Vec<(u8, usize)>>,
}

impl Head {
    /// The head of a file that begins with `bytes`.
    pub fn new(bytes: &[u8]) -> Head {
        Head::named(bytes, "")
    }

    /// The same of a file whose name is known, of which a few formats need a part: the logs of fio do
    /// not tell in themselves what their numbers are.
    pub fn named(bytes: &[u8], name: &str) -> Head {
        let name = name.rsplit('/').next().unwrap_or_default();
        let bytes = &*narrow(&bytes[..bytes.len().min(LOOKED_AT)]);
        let mut buffer = Vec::new();
        let cleaned: Vec<Vec<u8>> = bytes
            .split(|b| *b == b'\n')
            .take(LINES)
            .map(|line| clean(line, &mut buffer).to_vec())
            .collect();
        let page = Page::of(&cleaned);
        let undone = page.undone(cleaned);
        let borrowed: Vec<&[u8]> = undone.iter().map(Vec::as_slice).collect();
        Head {
            page,
            ..Head::set_off(bytes, &borrowed, name)
        }
    }

    /// Of the bytes and their lines, which may be set off, or be an answer to a mail.
    fn set_off(bytes: &[u8], borrowed: &[&[u8]], name: &str) -> Head {
        let head = Head::of(bytes, borrowed, name);
        let Some(indent) = Indent::of(borrowed) else {
            return head;
        };
        // Whoever pasted it put it there, if it is known without, and was not.
        let found = recognise(&head);
        if found.as_ref().is_ok_and(|format| !indent.is_not_of(format)) {
            return head;
        }
        for prefix in indent.prefixes() {
            let rest: Vec<&[u8]> = borrowed.iter().map(|l| prefix.strip(l)).collect();
            let without = Head::of(bytes, &rest, name);
            let is_better = match (&found, &recognise(&without)) {
                (Err(Unrecognised::Unknown), Ok(_)) => true,
                (Ok(_), Ok(b)) => indent.is_not_of(b),
                _ => false,
            };
            if is_better {
                return Head {
                    prefix: prefix.and(without.prefix),
                    ..without
                };
            }
        }
        head
    }

    /// Of the bytes and their lines, of which nothing but a prefix is taken off.
    fn of(bytes: &[u8], borrowed: &[&[u8]], name: &str) -> Head {
        let quoted = Prefix::quoted(borrowed);
        if quoted != Prefix::None {
            let answered: Vec<&[u8]> = borrowed.iter().map(|l| quoted.strip(l)).collect();
            let head = Head::set_off(bytes, &answered, name);
            return Head {
                prefix: quoted.and(head.prefix),
                ..head
            };
        }
        let numbered = Prefix::numbered(borrowed);
        if numbered != Prefix::None {
            let rest: Vec<&[u8]> = borrowed.iter().map(|l| numbered.strip(l)).collect();
            let head = Head::set_off(bytes, &rest, name);
            if recognise(&head).is_ok() {
                return Head {
                    prefix: numbered.and(head.prefix),
                    ..head
                };
            }
        }
        let with = |prefix: Prefix| Head {
            bytes: bytes.to_vec(),
            lines: borrowed.iter().map(|l| prefix.strip(l).to_vec()).collect(),
            prefix,
            name: name.to_owned(),
            ..Head::default()
        };
        let mut head = with(Prefix::logged(borrowed));
        let mut next = Prefix::perhaps(borrowed);
        if next == Prefix::None {
            return head;
        }
        let mut found = recognise(&head);
        if found.is_ok() && head.prefix != Prefix::None {
            return head;
        }
        // Behind a name may be a time. A tool may print such itself: it is none where that makes
        // another format of it.
        let (mut prefix, mut rest) = (Prefix::None, borrowed.to_vec());
        while next != Prefix::None && !matches!(prefix, Prefix::Both(_)) {
            for line in &mut rest {
                *line = next.strip(line);
            }
            prefix = prefix.and(next);
            let without = with(prefix.clone());
            let found_without = recognise(&without);
            let is_better = match (&found, &found_without) {
                (Ok(a), Ok(b)) => a.name == b.name || prefix.is_keepers(borrowed),
                (Err(Unrecognised::Unknown), Ok(_)) => true,
                _ => false,
            };
            if is_better {
                (head, found) = (without, found_without);
            }
            next = Prefix::perhaps(&rest);
        }
        head
    }

    /// Of a few lines, as they are.
    pub(crate) fn plain(lines: &[&[u8]]) -> Head {
        Head {
            bytes: lines.join(&b'\n'),
            lines: lines.iter().map(|l| l.to_vec()).collect(),
            ..Head::default()
        }
    }

    /// The file's name without its folder, or what `head` and `tail` print before the first of
    /// several files; empty if nobody told.
    pub fn name(&self) -> &str {
        let banner = self.lines.iter().find(|l| !l.is_empty()).and_then(|line| {
            let line = std::str::from_utf8(line).ok()?;
            line.strip_prefix("==> ")?.strip_suffix(" <==")
        });
        banner.unwrap_or(&self.name)
    }

    /// The bytes as they are, of binary formats; of UTF-16 without its zeros.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The lines, cleaned and without a logger's prefix.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(Vec::as_slice)
    }

    /// Lines that may be headers: those with more words than numbers.
    pub(crate) fn headers(&self) -> impl Iterator<Item = &[u8]> {
        let may_be = |line: &[u8]| {
            let all = crate::fields(line).map(|field| number(field).is_some());
            let (numbers, words) = all.fold((0, 0), |(numbers, words), is_number| {
                (
                    numbers + u32::from(is_number),
                    words + u32::from(!is_number),
                )
            });
            words > numbers
        };
        let places = self.headers.get_or_init(|| {
            let lines = self.lines.iter().enumerate();
            let found = lines.filter(|(_, line)| may_be(line));
            found.map(|(place, _)| place).collect()
        });
        places
            .iter()
            .filter_map(|place| self.lines.get(*place))
            .map(Vec::as_slice)
    }

    /// Whether any of the lines, cleaned and without a prefix, has this.
    pub(crate) fn has(&self, text: &str) -> bool {
        let all = self.text.get_or_init(|| self.lines.join(&b'\n'));
        memchr::memmem::find(all, text.as_bytes()).is_some()
    }

    /// Whether any line starts with this, but for blanks before it.
    pub fn any_starts(&self, start: &str) -> bool {
        let starts = |line: &[u8]| line.trim_ascii_start().starts_with(start.as_bytes());
        self.has(start) && self.lines().any(starts)
    }

    /// Whether any line holds all these fields next to one another, split at blanks.
    pub fn any_fields(&self, wanted: &[&str]) -> bool {
        wanted.iter().all(|w| self.has(w))
            && self.lines().any(|line| {
                let fields: Vec<&[u8]> = crate::fields(line).collect();
                let same = |w: &[&[u8]]| w.iter().zip(wanted).all(|(a, b)| *a == b.as_bytes());
                fields.windows(wanted.len()).any(same)
            })
    }

    /// Whether a line begins a JSON document: prompts and times stand in brackets, too.
    pub fn is_json(&self) -> bool {
        let lines = self.lines().map(<[u8]>::trim_ascii_start);
        let mut lines = lines.filter(|l| !l.is_empty()).peekable();
        while let Some(line) = lines.next() {
            let next = match line.split_first() {
                Some((b'{', _)) => return true,
                Some((b'[', rest)) => rest.trim_ascii_start().first(),
                _ => continue,
            };
            let next = next.or_else(|| lines.peek()?.first());
            if matches!(next, Some(b'{' | b'[' | b'"' | b']')) {
                return true;
            }
        }
        false
    }

    /// Whether the text occurs.
    pub fn contains(&self, text: &str) -> bool {
        memchr::memmem::find(&self.bytes, text.as_bytes()).is_some()
    }

    pub(crate) fn page(&self) -> Page {
        self.page
    }

    pub(crate) fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Formats that it may be of, the surest first, and how sure that is.
    fn likely(&self) -> &[(u8, usize)] {
        self.likely.get_or_init(|| {
            let all = FORMATS.iter().enumerate();
            let mut likely: Vec<(u8, usize)> = all
                .map(|(place, format)| ((format.recognise)(self), place))
                .filter(|(sure, _)| *sure > 0)
                .collect();
            likely.sort_by_key(|(sure, _)| std::cmp::Reverse(*sure));
            likely
        })
    }
}

/// Why no format was found for a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrecognised {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It looks like none.
    #[error(
        "it is of no known format\nhint: `sonde formats` lists them; --as NAME says which it is"
    )]
    Unknown,
    /// It looks like several.
    #[error(
        "it can be {0}, or has outputs of both\nhint: say which, as --as {1}; outputs of several tools \
         that do not tell when they were need a file each"
    )]
    Several(String, &'static str),
}

/// The beginning of a text without its mark; of UTF-16, whose other bytes are mostly zeros, without
/// these, as they are taken out of its lines.
fn narrow(bytes: &[u8]) -> Cow<'_, [u8]> {
    /// So many bytes tell it where there is no mark.
    const TELLING: usize = 64;
    let text = without_mark(bytes);
    let first = &text[..text.len().min(TELLING) / 2 * 2];
    let zeros = |place: usize| {
        first
            .chunks_exact(2)
            .filter(|pair| pair[place] == 0)
            .count()
    };
    let pairs = first.len() / 2;
    let is_wide = |zero: usize, other: usize| zero == pairs && other == 0 && pairs > 0;
    let marked = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    if marked || is_wide(zeros(0), zeros(1)) || is_wide(zeros(1), zeros(0)) {
        return text.iter().copied().filter(|b| *b != 0).collect();
    }
    Cow::Borrowed(text)
}

/// Whether a text that begins with these whole lines may have something before each of them that
/// somebody put there, and more lines have to come until that is seen.
pub fn may_have_prefix(bytes: &[u8]) -> bool {
    let mut buffer = Vec::new();
    let lines = without_mark(&bytes[..bytes.len().min(LOOKED_AT)]).split(|b| *b == b'\n');
    let cleaned: Vec<Vec<u8>> = lines
        .take(LINES)
        .map(|line| clean(line, &mut buffer).to_vec())
        .collect();
    Prefix::is_open(&cleaned.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The format of that name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.name == name)
}

/// The format of a file.
///
/// # Errors
/// Where it looks like none, or like several equally.
pub fn recognise(head: &Head) -> Result<&'static Format, Unrecognised> {
    recognise_among(head, |_| true)
}

/// The format of a file, of those that are `wanted`.
///
/// # Errors
/// Where it looks like none of them, or like several equally.
pub fn recognise_among(
    head: &Head,
    wanted: impl Fn(&Format) -> bool,
) -> Result<&'static Format, Unrecognised> {
    if head.bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Unrecognised::Empty);
    }
    let likely = head.likely().iter();
    let found: Vec<(u8, &'static Format)> = likely
        .map(|(sure, place)| (*sure, &FORMATS[*place]))
        .filter(|(_, format)| wanted(format))
        .collect();
    match found[..] {
        [] => Err(Unrecognised::Unknown),
        [(a, first), (b, second), ..] if a == b => Err(Unrecognised::Several(
            format!("{} or {}", first.name, second.name),
            first.name,
        )),
        [(_, first), ..] => Ok(first),
    }
}
