//! Names of months and weekdays: those of `date` in English, and of `-T d` of Solaris' and ZFS'
//! tools in other languages.

/// The months, as English, German, French, Spanish, Italian, Portuguese and Dutch have them, without
/// accents.
const MONTHS: [&[&str]; 12] = [
    &[
        "january", "januar", "janvier", "enero", "gennaio", "janeiro", "januari",
    ],
    &[
        "february",
        "februar",
        "fevrier",
        "febrero",
        "febbraio",
        "fevereiro",
        "februari",
    ],
    &["march", "marz", "mars", "marzo", "marco", "maart", "mrt"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "maio", "mei"],
    &["june", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "aout", "agosto", "augustus"],
    &[
        "september",
        "septembre",
        "septiembre",
        "settembre",
        "setembro",
    ],
    &[
        "october", "oktober", "octobre", "octubre", "ottobre", "outubro",
    ],
    &["november", "novembre", "noviembre", "novembro"],
    &[
        "december",
        "dezember",
        "decembre",
        "diciembre",
        "dicembre",
        "dezembro",
    ],
];

/// What weekdays begin with.
const WEEKDAYS: [&str; 42] = [
    "sun", "mon", "tue", "wed", "thu", "fri", "sat", "so", "mo", "di", "mi", "do", "fr", "sa",
    "lun", "mar", "mer", "jeu", "ven", "sam", "dim", "mie", "jue", "vie", "sab", "dom", "gio",
    "seg", "ter", "qua", "qui", "sex", "ma", "wo", "vr", "za", "zo", "lu", "me", "je", "ve", "gi",
];

/// In small letters, without accents and the point of what is cut short.
fn plain(text: &str) -> String {
    let plain = |c: char| match c {
        'á' | 'ã' | 'ä' => 'a',
        'é' | 'è' => 'e',
        'ì' => 'i',
        'û' => 'u',
        'ç' => 'c',
        c => c,
    };
    let text = text.strip_suffix('.').unwrap_or(text).to_lowercase();
    text.chars().map(plain).collect()
}

/// The number of a month of that English name, whole or of three letters.
pub(crate) fn month_named(text: &[u8]) -> Option<i8> {
    let text = text.to_ascii_lowercase();
    let same = |names: &&[&str]| {
        let english = names[0].as_bytes();
        english == text || english.get(..3) == Some(&text[..])
    };
    let place = MONTHS.iter().position(same)?;
    i8::try_from(place + 1).ok()
}

/// The same of any language that is known here, and of three letters or more that begin one
/// month's name only.
pub(super) fn month_of_any(text: &str) -> Option<i8> {
    let text = plain(text);
    if text.len() < 3 {
        return None;
    }
    let begins = |names: &&[&str]| names.iter().any(|n| n.starts_with(&text));
    let mut found = (1..).zip(MONTHS).filter(|(_, names)| begins(names));
    let (month, _) = found.next()?;
    found.next().is_none().then_some(month)
}

/// Whether the word is a weekday's name, or its beginning.
pub(super) fn is_weekday(text: &str) -> bool {
    let east = text.ends_with("曜日") || text.starts_with("星期") || text.ends_with("요일");
    let text = plain(text);
    let named = WEEKDAYS.iter().any(|n| match n.len() {
        // Of these a whole name is known by how it ends.
        2 => {
            text == *n
                || text.starts_with(n) && ["tag", "dag", "woch"].iter().any(|e| text.ends_with(e))
        }
        _ => text.starts_with(n),
    });
    east || named && text.chars().all(char::is_alphabetic)
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
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    digits.then_some((number, what))
}
