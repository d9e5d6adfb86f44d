//! The columns of a report's header, in any of the languages that procps speaks.

use crate::headers::leave_out_last;
use crate::out::Out;

/// Columns that have their place; old versions had `w`, processes swapped out.
pub(super) const KNOWN: [&str; 20] = [
    "r", "b", "swpd", "free", "buff", "cache", "inact", "active", "si", "so", "bi", "bo", "in",
    "cs", "us", "sy", "id", "wa", "st", "gu",
];

/// Columns of memory as translated (`po/*.po` of procps-ng 4); others keep their names in most
/// languages, and their places in all.
const TRANSLATED: [(&str, &[&str]); 6] = [
    ("swpd", &["swap", "växl", "스왑", "交换"]),
    (
        "free",
        &[
            "frei",
            "libre",
            "wolna",
            "livre",
            "liber",
            "fritt",
            "trống",
            "თავისუფალია",
            "가용",
            "空闲",
        ],
    ),
    ("buff", &["búf", "tampon", "bufor", "버퍼", "缓冲"]),
    (
        "cache",
        &["Cache", "caché", "кеш", "nhớtạm", "캐시", "缓存"],
    ),
    ("inact", &["inakt", "nieakt", "inativ", "비활", "不活动"]),
    (
        "active",
        &[
            "aktiv",
            "activo",
            "actif",
            "akt",
            "ativo",
            "activă",
            "aktivt",
            "активно",
            "hđộng",
            "აქტიური",
            "활성",
            "活动",
        ],
    ),
];

/// The columns of a header line as they are called in English; a last word in capitals is the
/// zone of `-t`.
pub(super) fn of_header(words: &[&[u8]]) -> Option<Vec<String>> {
    let text = |word: &&[u8]| String::from_utf8_lossy(word).into_owned();
    if words.first() == Some(&&b"r"[..]) && words.contains(&&b"swpd"[..]) && all_known(words) {
        return Some(words.iter().map(text).collect());
    }
    let memory = words.get(2..6)?.iter().map(english);
    let memory: Vec<&str> = memory.collect::<Option<_>>()?;
    let (["swpd", "free", "buff", "cache"] | ["swpd", "free", "inact", "active"]) = memory[..]
    else {
        return None;
    };
    let after = [
        "si", "so", "bi", "bo", "in", "cs", "us", "sy", "id", "wa", "st", "gu",
    ];
    let names = ["r", "b"].into_iter().chain(memory).chain(after);
    // Up to `wa` all versions have them; a zone may follow.
    let zone = words.last().filter(|w| is_zone(w)).map(text);
    let count = words.len() - usize::from(zone.is_some());
    let all = names.clone().count();
    let names = names.take(count).map(str::to_owned).chain(zone);
    (all - 2..=all).contains(&count).then(|| names.collect())
}

/// Whether the words of memory are in English, which older versions always were.
fn all_known(words: &[&[u8]]) -> bool {
    let memory = words.iter().skip_while(|w| **w != b"swpd").take(4);
    memory.into_iter().all(|word| {
        let word = std::str::from_utf8(word).unwrap_or_default();
        // The last may be cut.
        KNOWN.iter().any(|k| k.starts_with(word))
    })
}

/// What a column of memory is called in English.
fn english(word: &&[u8]) -> Option<&'static str> {
    let word = std::str::from_utf8(word).ok()?;
    let is = |(name, others): &&(&'static str, &[&str])| *name == word || others.contains(&word);
    TRANSLATED.iter().find(is).map(|(name, _)| *name)
}

/// Whether the word is a zone's: `UTC`, `+0530`.
pub(super) fn is_zone(word: &[u8]) -> bool {
    !word.is_empty() && word.is_ascii() && word.iter().all(|b| !b.is_ascii_lowercase())
}

/// Every version's header has `id`, and `wa` since it has no `w` any more; and none of its words is
/// another's beginning. Where the last is one, or those are not there, the lines were cut, perhaps within
/// the last number.
pub(super) fn leave_out_cut(names: &mut [String], out: &mut Out) {
    let has = |name: &str| names.iter().any(|n| n == name);
    let whole = has("id") && (has("w") || has("wa"));
    let Some(last) = names.last() else { return };
    let cut = |known: &&str| known.len() > last.len() && known.starts_with(&**last);
    let is_known = KNOWN.contains(&last.as_str());
    if whole && (is_known || !KNOWN.iter().any(cut)) {
        return;
    }
    leave_out_last(names, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_in_several_languages() {
        let of = |line: &str| {
            let words: Vec<&[u8]> = crate::fields(line.as_bytes()).collect();
            of_header(&words).map(|names| names.join(" "))
        };
        let plain = "r b swpd free buff cache si so bi bo in cs us sy id wa st";
        let timed = "r b swpd free inact active si so bi bo in cs us sy id wa st gu CET";
        for (line, wanted) in [
            (plain, plain),
            (timed, timed),
            (
                "r b w swpd free buff cache si so bi bo in cs us sy id",
                "r b w swpd free buff cache si so bi bo in cs us sy id",
            ),
            (
                "r b swpd frei buff Cache si so bi bo in cs us sy id wa st",
                plain,
            ),
            (
                "r b swpd libre tampon cache si so bi bo in cs us sy id wa st",
                plain,
            ),
            (
                "k b växl fritt buff cache vi vu bi bu avb ktxb an sy ia vä st",
                plain,
            ),
            (
                "dz bl swap wolna bufor cache si so bi bo in cs uż sy be io sk",
                plain,
            ),
            (
                "r b 스왑 가용 버퍼 캐시 입 출 입 출 in cs us sy id wa st",
                plain,
            ),
            (
                "r b swpd frei inakt aktiv si so bi bo in cs us sy id wa st gu CET",
                timed,
            ),
        ] {
            assert_eq!(of(line).as_deref(), Some(wanted), "{line}");
        }
        for no in [
            "r b swpd frei",
            "a b swpd libre x cache si so bi bo in cs us sy id wa st",
            "",
        ] {
            assert_eq!(of(no), None, "{no}");
        }
    }
}
