//! What `dd` prints in languages without blanks.

/// A line with the words of a language that puts no blanks between them, in English.
pub(super) fn with_blanks(line: &[u8]) -> Option<Vec<u8>> {
    if line.is_ascii() {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    // Chinese since coreutils 9 has the direction first.
    for (before, records) in [("输入了", "records in"), ("输出了", "records out")] {
        if let Some(count) = text.trim_start().strip_prefix(before) {
            return Some(count.replace("块记录", records).into_bytes());
        }
    }
    // Japanese, then Chinese.
    let words = [
        ("レコード入力", "records in"),
        ("レコード出力", "records out"),
        ("バイト", "bytes"),
        ("、", ","),
        ("记录了", ""),
        ("的读入", "records in"),
        ("的写出", "records out"),
        ("字节", " bytes "),
        ("（", "("),
        ("）", ") "),
        ("已复制", " copied"),
        ("，", ", "),
        ("/秒", "/s"),
        ("秒", "s"),
    ];
    let known = words.iter().any(|(word, _)| text.contains(word));
    let english = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    known.then(|| words.iter().fold(text.to_owned(), english).into_bytes())
}
