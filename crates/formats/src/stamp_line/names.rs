//! Names of months and days, as `date` and the tools print them in other languages: `names.txt` has them.

use std::collections::HashMap;
use std::sync::LazyLock;

const ENGLISH: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// What a word can be: months from January, days from Sunday, a bit each. Of Polish, Czech and
/// Croatian `lis` is not the same month, and `mar` is a day in French.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) months: u16,
    pub(super) days: u8,
}

/// All of `names.txt`, and what they are cut to.
static NAMES: LazyLock<HashMap<String, Named>> = LazyLock::new(|| {
    let mut all: HashMap<String, Named> = HashMap::new();
    let lines = include_str!("names.txt").lines();
    for line in lines.filter(|l| !l.starts_with('#')) {
        let mut words = line.split(' ');
        let are_months = words.nth(1) == Some("months");
        for (at, forms) in words.enumerate() {
            for form in forms.split('/') {
                let (least, rest) = form.split_once('|').unwrap_or((form, ""));
                let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
                for end in std::iter::once(0).chain(ends) {
                    let named = all
                        .entry(plain(&[least, &rest[..end]].concat()))
                        .or_default();
                    if are_months {
                        named.months |= 1 << at;
                    } else {
                        named.days |= 1 << at;
                    }
                }
            }
        }
    }
    all
});

/// In small letters, without accents of the west and the point of what is cut short.
fn plain(text: &str) -> String {
    let plain = |c: char| match c {
        'á' | 'à' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'é' | 'è' | 'ê' => 'e',
        'í' | 'ì' | 'ı' => 'i',
        'ó' | 'ö' | 'ø' => 'o',
        'ú' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        c => c,
    };
    let text = text.strip_suffix('.').unwrap_or(text).to_lowercase();
    text.chars().map(plain).collect()
}

/// The number of a month of that English name, whole or of three letters.
pub(crate) fn month_named(text: &[u8]) -> Option<i8> {
    let same = |name: &&str| {
        let name = name.as_bytes();
        text.eq_ignore_ascii_case(name) || text.eq_ignore_ascii_case(&name[..3])
    };
    let place = ENGLISH.iter().position(same)?;
    i8::try_from(place + 1).ok()
}

/// What the word can be in any language that is known here.
pub(super) fn named(text: &str) -> Named {
    if let Some(month) = month_named(text.as_bytes())
        && !matches!(month, 3 | 5)
    {
        // Most are these, and no day is called so.
        return Named {
            months: 1 << (month - 1),
            days: 0,
        };
    }
    // `d’abril`.
    let text = ["d’", "d'"]
        .iter()
        .find_map(|d| text.strip_prefix(d))
        .unwrap_or(text);
    NAMES.get(&plain(text)).copied().unwrap_or_default()
}

/// The number in `2023年`, `4月`, `10일`, and what it counts: a year, a month or a day.
pub(super) fn counted(text: &str) -> Option<(&str, char)> {
    let last = text.chars().next_back()?;
    let what = match last {
        '年' | '년' => 'y',
        '月' | '월' => 'm',
        '日' | '일' => 'd',
        _ => return None,
    };
    let number = text.strip_suffix(last)?;
    // Of our era, as it is said on Taiwan.
    let number = number.strip_prefix("西元").unwrap_or(number);
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    digits.then_some((number, what))
}

/// The half of the day, as English and Greek have it.
pub(crate) fn half(word: &[u8]) -> Option<&'static [u8]> {
    let is = |english: &[u8], greek: &str| {
        word.eq_ignore_ascii_case(english) || word == greek.as_bytes()
    };
    if is(b"AM", "πμ") {
        return Some(b"AM");
    }
    is(b"PM", "μμ").then_some(b"PM")
}

/// A line as it would be with blanks, colons and halves of the day of the west:
/// `2014年03月04日 (火) 午前10時15分05秒 JST` is `2014年 03月 04日 (火) AM 10:15:05 JST`. `None` if it is
/// so already.
pub(super) fn western(line: &[u8]) -> Option<String> {
    const HOURS: [char; 3] = ['時', '时', '시'];
    const MINUTES: [char; 2] = ['分', '분'];
    const HALVES: [(&str, &str); 6] = [
        ("午前", "AM "),
        ("午後", "PM "),
        ("上午", "AM "),
        ("下午", "PM "),
        ("오전", "AM "),
        ("오후", "PM "),
    ];
    if line.is_ascii() {
        return None;
    }
    let Ok(text) = std::str::from_utf8(line) else {
        // As older locales of Europe had it, ISO 8859-1.
        return Some(line.iter().map(|b| char::from(*b)).collect());
    };
    let has_hours = text.contains(HOURS);
    let halves = || HALVES.iter().filter(|(half, _)| text.contains(half));
    if !has_hours && !text.contains(['\u{a0}', '\u{202f}']) && halves().next().is_none() {
        return None;
    }
    let mut found = String::new();
    let mut chars = text.chars().peekable();
    let mut was_digit = false;
    while let Some(c) = chars.next() {
        match c {
            '\u{a0}' | '\u{202f}' => found.push(' '),
            _ if !has_hours => found.push(c),
            _ if HOURS.contains(&c) || MINUTES.contains(&c) => {
                found.push(':');
                while chars.next_if_eq(&' ').is_some() {}
            }
            '秒' | '초' => {}
            _ => {
                found.push(c);
                // Behind a number it is no day of the week.
                if was_digit && "年月日년월일".contains(c) {
                    found.push(' ');
                }
            }
        }
        was_digit = c.is_ascii_digit();
    }
    for (half, english) in halves() {
        found = found.replace(half, english);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_twelve_months_and_seven_days() {
        let mut languages = Vec::new();
        for line in include_str!("names.txt")
            .lines()
            .filter(|l| !l.starts_with('#'))
        {
            let mut words = line.split(' ');
            let language = words.next().expect("a language");
            let wanted = match words.next() {
                Some("months") => 12,
                Some("days") => 7,
                _ => panic!("{line}"),
            };
            assert_eq!(words.count(), wanted, "{line}");
            languages.push(language);
        }
        assert!(languages.is_sorted());
    }

    #[test]
    fn a_word_may_name_several() {
        let of = |text| (named(text).months, named(text).days);
        assert_eq!(of("Nov"), (1 << 10, 0));
        assert_eq!(of("Sonntag"), (0, 1));
        assert_eq!(of("lis"), (1 << 9 | 1 << 10, 0));
        // March; Tuesday.
        assert_eq!(of("mar."), (1 << 2, 1 << 2));
        assert_eq!(of("So"), (0, 1 | 1 << 6));
        assert_eq!(of("sda"), (0, 0));
    }
}
