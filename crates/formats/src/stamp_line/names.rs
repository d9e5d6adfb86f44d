//! Names of months and weekdays: those of `date` in English, and of `-T d` of Solaris' and ZFS'
//! tools in other languages.

/// The months, as English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Turkish
/// and Russian have them, without accents. Of Polish, Czech and Croatian `lis` is not the same month.
const MONTHS: [&[&str]; 12] = [
    &[
        "january",
        "januar",
        "janvier",
        "enero",
        "gennaio",
        "janeiro",
        "januari",
        "ocak",
        "января",
    ],
    &[
        "february",
        "februar",
        "fevrier",
        "febrero",
        "febbraio",
        "fevereiro",
        "februari",
        "şubat",
        "февраля",
    ],
    &[
        "march",
        "marz",
        "mars",
        "marzo",
        "marco",
        "maart",
        "mrt",
        "marts",
        "mart",
        "марта",
    ],
    &["april", "avril", "abril", "aprile", "nisan", "апреля"],
    &[
        "may", "mai", "mayo", "maggio", "maio", "mei", "maj", "mayıs", "мая", "май",
    ],
    &[
        "june", "juni", "juin", "junio", "giugno", "junho", "haziran", "июня", "июнь",
    ],
    &[
        "july", "juli", "juillet", "julio", "luglio", "julho", "temmuz", "июля", "июль",
    ],
    &[
        "august",
        "aout",
        "agosto",
        "augustus",
        "augusti",
        "ağustos",
        "августа",
    ],
    &[
        "september",
        "septembre",
        "septiembre",
        "settembre",
        "setembro",
        "eylül",
        "сентября",
    ],
    &[
        "october",
        "oktober",
        "octobre",
        "octubre",
        "ottobre",
        "outubro",
        "ekim",
        "октября",
    ],
    &[
        "november",
        "novembre",
        "noviembre",
        "novembro",
        "kasım",
        "ноября",
    ],
    &[
        "december",
        "dezember",
        "decembre",
        "diciembre",
        "dicembre",
        "dezembro",
        "aralık",
        "декабря",
    ],
];

/// What weekdays begin with.
const WEEKDAYS: [&str; 69] = [
    "sun", "mon", "tue", "wed", "thu", "fri", "sat", "so", "mo", "di", "mi", "do", "fr", "sa",
    "lun", "mar", "mer", "jeu", "ven", "sam", "dim", "mie", "jue", "vie", "sab", "dom", "gio",
    "seg", "ter", "qua", "qui", "sex", "ma", "wo", "vr", "za", "zo", "lu", "me", "je", "ve", "gi",
    "mån", "tis", "ons", "tor", "fre", "lör", "sön", "man", "tir", "lør", "søn", "pzt", "sal",
    "car", "per", "cum", "cmt", "paz", "пн", "вт", "ср", "чт", "пт", "сб", "вс", "пон", "суб",
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
    if text.chars().count() < 3 {
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

/// A date that Solaris' tools print in Chinese, Japanese or Korean, with the time as in English:
/// `2014年03月04日 (火) 10時15分05秒 JST` is `2014年 03月 04日 10:15:05 JST`.
pub(super) fn with_colons(line: &[u8]) -> Option<String> {
    const HOURS: [char; 3] = ['時', '时', '시'];
    const MINUTES: [char; 2] = ['分', '분'];
    if line.is_ascii() {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    text.find(HOURS)?;
    let mut found = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            _ if HOURS.contains(&c) || MINUTES.contains(&c) => {
                found.push(':');
                while chars.next_if_eq(&' ').is_some() {}
            }
            '秒' | '초' => {}
            // A weekday.
            '(' => while chars.next().is_some_and(|c| c != ')') {},
            _ => {
                found.push(c);
                if "年月日년월일".contains(c) {
                    found.push(' ');
                }
            }
        }
    }
    for (half, english) in [
        ("午前", "AM "),
        ("午後", "PM "),
        ("上午", "AM "),
        ("下午", "PM "),
        ("오전", "AM "),
        ("오후", "PM "),
    ] {
        found = found.replace(half, english);
    }
    Some(found)
}
