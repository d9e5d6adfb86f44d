//! How top puts numbers beside their names. It separates no thousands: `1,234g` of some locales
//! is a little more than one.

use crate::number::{decimal, scaled_decimal, whole};

const KIB: f64 = 1024.0;

/// What follows the first colon.
pub(super) fn after_colon(line: &[u8]) -> &[u8] {
    let at = line.iter().position(|b| *b == b':');
    at.map_or(&[], |at| &line[at + 1..])
}

/// Units that stand before a line of sizes, as translations have them, too (`KB` is Brazilian for
/// `KiB`, `Kio` Romanian, `КіБ` Ukrainian).
const UNITS: [(&str, i32); 18] = [
    ("KiB ", 1),
    ("MiB ", 2),
    ("GiB ", 3),
    ("TiB ", 4),
    ("PiB ", 5),
    ("EiB ", 6),
    ("KB ", 1),
    ("MB ", 2),
    ("GB ", 3),
    ("Kio ", 1),
    ("Mio ", 2),
    ("Gio ", 3),
    ("КіБ ", 1),
    ("МіБ ", 2),
    ("ГіБ ", 3),
    ("კიბ ", 1),
    ("მიბ ", 2),
    ("გიბ ", 3),
];

/// Bytes of the unit that the text begins with, and what follows it.
pub(super) fn unit(text: &[u8]) -> Option<(f64, &[u8])> {
    UNITS.iter().find_map(|(unit, power)| {
        let rest = text.strip_prefix(unit.as_bytes())?;
        Some((KIB.powi(*power), rest))
    })
}

/// The parts of a line that each begin with a unit: procps 4 puts memory and swap side by side
/// where the terminal is wide.
pub(super) fn parts(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let begins =
        |at: &usize| !line[*at - 1].is_ascii_alphanumeric() && unit(&line[*at..]).is_some();
    let starts: Vec<usize> = (1..line.len()).filter(begins).collect();
    let froms = [0].into_iter().chain(starts.clone());
    let tos = starts.into_iter().chain([line.len()]);
    froms.zip(tos).map(|(from, to)| &line[from..to])
}

/// What a line of sizes is of, by its label: memory or swap, in the languages that procps-ng is
/// translated to and that [`english`] knows.
pub(super) fn size_of(line: &[u8]) -> Option<&'static str> {
    let label = &line[..line.len() - after_colon(line).len()];
    let label = label.strip_suffix(b":")?;
    let label = unit(label).map_or(label, |(_, rest)| rest);
    match std::str::from_utf8(label).ok()?.trim() {
        "Mem" | "Spch" | "mem" | "RAM" | "Minn" | "메모리" | "Пам" | "BNhớ" => {
            Some("memory")
        }
        "Swap" | "Éch" | "Intercambio" | "swap" | "Växl" | "스  왑" | "Своп" | "TĐổi" | "სვაპი" => {
            Some("swap")
        }
        _ => None,
    }
}

/// Labels of the line that counts tasks, or threads.
const TASKS: [&str; 11] = [
    "Tasks:",
    "Tâches:",
    "Tareas:",
    "Tarefas:",
    "Uppgifter:",
    "작  업:",
    "Sarcini:",
    "Завдання:",
    "任务:",
    "Tác vụ:",
    // Polish has the numbers behind their names.
    "Zadania:razem:",
];
const THREADS: [&str; 6] = [
    "Threads:",
    "Hilos:",
    "Trådar:",
    "스레드:",
    "Fire exec:",
    "Потоки:",
];

/// Whether the line counts tasks or threads.
pub(super) fn is_tasks(line: &[u8]) -> bool {
    TASKS.iter().any(|n| line.starts_with(n.as_bytes())) || is_threads(line)
}

/// Whether the line counts threads.
pub(super) fn is_threads(line: &[u8]) -> bool {
    THREADS.iter().any(|n| line.starts_with(n.as_bytes()))
}

/// The English name of a column.
pub(super) fn column_of(name: &str) -> &str {
    match name {
        "进程号" | "进程" => "PID",
        "REZ" => "RES",
        "WIRT" => "VIRT",
        "WSP" | "DELT" | "M.PART" => "SHR",
        "%PAM" | "%MIN" => "%MEM",
        "PRI" => "PR",
        _ => name,
    }
}

/// The rest of a line from its field of that number, from zero, on.
pub(super) fn rest_from(line: &[u8], field: usize) -> &[u8] {
    let mut rest = line.trim_ascii();
    for _ in 0..field {
        let end = rest.iter().position(u8::is_ascii_whitespace);
        rest = end.map_or(&[], |end| rest[end..].trim_ascii_start());
    }
    rest
}

/// `  5.9 us,  5.9 sy, 100.0 id` by name, also `5.9%us`, `5,9 us`, `3861332k total`; a letter
/// is a step of 1,024. A number that is cut (`12345+total`: there were more digits) is not known, but where
/// only its decimals are (`1542584.+total`).
/// German, French and Spanish names become English ones. `None` if nothing is known.
pub(super) fn pairs(text: &[u8]) -> Option<Vec<(String, f64)>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', ',', '.', '\t']);
        if rest.is_empty() {
            break;
        }
        let name_at = rest.find(char::is_alphabetic);
        let Some(mut name_at) = name_at else { break };
        if name_at == 0 {
            // A second word of a name, as `Mem`.
            let end = rest.find([' ', ',', '\t']).unwrap_or(rest.len());
            rest = &rest[end..];
            continue;
        }
        // A letter right after a digit, and alone, is the number's.
        let bytes = rest.as_bytes();
        let letter = bytes[name_at - 1].is_ascii_digit() && bytes[name_at].is_ascii();
        let alone = !bytes.get(name_at + 1).is_some_and(u8::is_ascii_alphabetic);
        if letter && alone {
            name_at += 1;
        }
        let (value, after) = rest.split_at(name_at);
        let value = value.trim().trim_end_matches('%').trim();
        let value = match value.strip_suffix('+') {
            Some(cut) => match cut.strip_suffix(['.', ',']) {
                Some(whole) => scaled_decimal(whole.as_bytes(), KIB)?,
                None => scaled_decimal(cut.as_bytes(), KIB).map(|_| f64::NAN)?,
            },
            None => scaled_decimal(value.as_bytes(), KIB)?,
        };
        let after = after.trim_start();
        let is_name = |c: char| c.is_alphabetic() || matches!(c, '/' | ' ' | '(' | ')');
        let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
        found.push((english(after[..end].trim()).to_owned(), value));
        rest = &after[end..];
    }
    found.iter().any(|(_, v)| !v.is_nan()).then_some(found)
}

/// `Zadania:razem:  75, działających:   1, śpiących:  73, zatrzymanych:   0, zombie: 1`, which is cut
/// where the terminal was narrow.
pub(super) fn polish_tasks(line: &[u8]) -> Option<Vec<(String, f64)>> {
    let text = std::str::from_utf8(line).ok()?.strip_prefix("Zadania:")?;
    let pair = |part: &str| {
        let (name, value) = part.split_once(':')?;
        let name = match name.trim() {
            "razem" => "total",
            "działających" => "running",
            "śpiących" => "sleeping",
            "zatrzymanych" => "stopped",
            "zombie" => "zombie",
            _ => return None,
        };
        Some((name.to_owned(), whole(value.trim().as_bytes())? as f64))
    };
    let found: Vec<(String, f64)> = text.split(',').map_while(pair).collect();
    (!found.is_empty()).then_some(found)
}

/// The English name of what is so much, as procps-ng's translations have it: German, French, Spanish,
/// Brazilian, Polish, Swedish, Korean, Romanian and Ukrainian. Of several words (`avail Mem`) the first is the name.
fn english(name: &str) -> &str {
    match name {
        "en cours" | "em exec" => return "running",
        "en veille" => return "sleeping",
        "en espera" => return "wa",
        "softw int" => return "si",
        _ => {}
    }
    let first = name.split(' ').next().unwrap_or(name);
    match first {
        "gesamt" | "razem" | "totalt" | "총계" | "загал" | "загалом" | "tổng" => {
            "total"
        }
        "frei" | "libr" | "libre" | "wolne" | "fritt" | "잔여" | "liberă" | "вільн" | "віль" => {
            "free"
        }
        "belegt" | "util" | "usado" | "użyte" | "anv" | "사용" | "utilizată" | "вик" | "вико" => {
            "used"
        }
        "verfü" | "dispo" | "dispon" | "dost" | "tillg" | "가용" | "дост" => "avail",
        // Cut at the end of the line.
        "buff/cac" | "buff/cach" | "Puff/Cache" | "tamp/cache" | "búf/caché" | "buf/cache"
        | "버퍼/캐시" | "буф/кеш" => "buff/cache",
        "ejecutar" | "körande" | "실행" | "rulând" | "працює" | "chạy" => "running",
        "hibernar" | "dormindo" | "sovande" | "대기" | "dormind" | "приспано" | "ngủ" => {
            "sleeping"
        }
        "arrêté" | "detener" | "parado" | "stoppade" | "멈춤" | "oprit(e)" | "зупинено"
        | "dừng" => "stopped",
        "zumbi" | "좀비" | "zombi" | "зомбі" => "zombie",
        "ut" | "usuario" | "uż" | "an" => "us",
        "sist" => "sy",
        "adecuado" => "ni",
        "inact" | "be" | "in" => "id",
        "io" | "vä" => "wa",
        "hardw" | "ha" => "hi",
        "ma" => "si",
        "robar" | "sk" => "st",
        _ => first,
    }
}

/// Whether a load average has its two decimals (`%.2f` in procps): one with fewer lost its end with
/// that of its line.
pub(super) fn is_whole_load(text: &[u8]) -> bool {
    let point = text.iter().rposition(|b| matches!(b, b'.' | b','));
    point.is_some_and(|at| text.len() == at + 3)
}

pub(super) fn of(pairs: &[(String, f64)], name: &str) -> f64 {
    let found = pairs.iter().find(|(n, _)| n == name);
    found.map_or(f64::NAN, |(_, v)| *v)
}

/// Seconds of a time, and how much more it may be, since its end is cut: `1:02.50` and `123:45`
/// (minutes first), `2:03:04`; where that is too wide, hours `27h`, and from procps 4 on hours and
/// minutes `27,13`, `5d+3h`, `2w+1d` (`scale_tics` in its source).
pub(in crate::tools) fn clock_seconds(text: &[u8]) -> Option<(f64, f64)> {
    if text.contains(&b':') {
        let mut seconds = 0.0;
        for part in text.split(|b| *b == b':') {
            seconds = seconds * 60.0 + decimal(part)?;
        }
        let within = if text.contains(&b'.') { 0.03 } else { 1.0 };
        return Some((seconds, within));
    }
    let count = |text: &[u8]| whole(text).map(|count| count as f64);
    if let Some(comma) = text.iter().position(|b| *b == b',') {
        let (hours, minutes) = (count(&text[..comma])?, count(&text[comma + 1..])?);
        return (minutes < 60.0).then_some((hours * 3600.0 + minutes * 60.0, 60.0));
    }
    let (mut seconds, mut step) = (0.0, 0.0);
    for part in text.split(|b| *b == b'+') {
        let (letter, digits) = part.split_last()?;
        step = match letter.to_ascii_lowercase() {
            b'h' => 3600.0,
            b'd' => 86400.0,
            b'w' => 7.0 * 86400.0,
            _ => return None,
        };
        seconds += count(digits)? * step;
    }
    Some((seconds, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_before_their_names() {
        let read = |text: &str| pairs(text.as_bytes());
        let two = |a: &str, x, b: &str, y| Some(vec![(a.to_owned(), x), (b.to_owned(), y)]);
        assert_eq!(read("  5.9 us,100.0 sy "), two("us", 5.9, "sy", 100.0));
        assert_eq!(read("  5,9 us,100,0 sy"), two("us", 5.9, "sy", 100.0));
        assert_eq!(read(" 5.9%us, 0.1% sy"), two("us", 5.9, "sy", 0.1));
        assert_eq!(
            read(" 2k total, 3M used"),
            two("total", 2048.0, "used", 3_145_728.0)
        );
        // A letter that takes more than a byte is none of a number's.
        assert_eq!(read("0.0戞 hi, 1 si"), two("戞", 0.0, "si", 1.0));
        assert_eq!(
            read(" 0 used.  34 avail Mem "),
            two("used", 0.0, "avail", 34.0)
        );
        assert_eq!(
            read(" 7 free, 8 buff/cache"),
            two("free", 7.0, "buff/cache", 8.0)
        );
        assert_eq!(
            read(" 1,500g total, 0,250g used"),
            two("total", 1.5 * KIB.powi(3), "used", 0.25 * KIB.powi(3))
        );
        let cut = read(" 13191+total,  1234 free").expect("one is known");
        assert!(cut[0].1.is_nan());
        assert_eq!((&*cut[1].0, cut[1].1), ("free", 1234.0));
        assert_eq!(
            read(" 1,5 frei,  2,5 verfü Spch"),
            two("free", 1.5, "avail", 2.5)
        );
        assert_eq!(
            read(" 1542584.+total,  27023.7 used").expect("both are known"),
            [
                ("total".to_owned(), 1_542_584.0),
                ("used".to_owned(), 27023.7)
            ]
        );
        assert_eq!(read(" 13191+total"), None);
        assert_eq!(read(" 13x1+total"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn a_load_average_has_two_decimals() {
        for whole in ["0.23", "112.10", "12,99"] {
            assert!(is_whole_load(whole.as_bytes()), "{whole}");
        }
        for cut in ["", "0", "11", "0.", "0.3", "12,9", "118"] {
            assert!(!is_whole_load(cut.as_bytes()), "{cut}");
        }
    }

    #[test]
    fn times_are_scaled_where_they_are_too_wide() {
        const HOUR: f64 = 3600.0;
        const DAY: f64 = 24.0 * HOUR;
        for (text, wanted) in [
            ("2:03.50", Some((123.5, 0.03))),
            ("1234:05", Some((74045.0, 1.0))),
            ("27,13", Some((27.0 * HOUR + 780.0, 60.0))),
            ("0,05", Some((300.0, 60.0))),
            ("5d+3h", Some((5.0 * DAY + 3.0 * HOUR, HOUR))),
            ("5D+3H", Some((5.0 * DAY + 3.0 * HOUR, HOUR))),
            ("14d", Some((14.0 * DAY, DAY))),
            ("2w+1d", Some((15.0 * DAY, DAY))),
            ("120w", Some((840.0 * DAY, 7.0 * DAY))),
            ("300h", Some((300.0 * HOUR, HOUR))),
            ("27,93", None),
            ("5d+", None),
            ("?", None),
            ("", None),
        ] {
            assert_eq!(clock_seconds(text.as_bytes()), wanted, "{text}");
        }
    }
}
