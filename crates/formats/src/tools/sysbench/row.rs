//! What of the row of an intermediate report is whole.
//!
//! A terminal, a mail or `cut` take rows' ends away, and what is left of a number is a number, too.
//! sysbench prints all of them with two decimals, latency of files with three, and ends each kind of
//! row in its own way.

/// Said of rows without their end.
pub(super) const CUT: &str = "rows of sysbench's reports were cut off before their end: what is missing there, and a \
                              last number without all its decimals, is left out";

/// The row with blanks for the commas between its parts: one between two digits is a decimal one.
pub(super) fn plain(text: &str) -> String {
    let is_digit = |at: Option<usize>| {
        let byte = at.and_then(|at| text.as_bytes().get(at));
        byte.is_some_and(u8::is_ascii_digit)
    };
    let kept = |at: usize| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
    let letters = text.char_indices();
    letters
        .map(|(at, c)| if c == ',' && !kept(at) { ' ' } else { c })
        .collect()
}

/// The row without a last number that was cut, and whether its end is missing.
pub(super) fn without_cut(text: &str) -> (&str, bool) {
    let text = text.trim_end();
    let at = text.rfind(' ').map_or(0, |blank| blank + 1);
    let (before, last) = text.split_at(at);
    if is_whole(
        before.split_whitespace().next_back().unwrap_or_default(),
        last,
    ) {
        return (text, !is_ended(text, last));
    }
    // `(r/w/o: 14207.58/4`
    let kept = match last.rfind('/') {
        Some(slash) => &text[..at + slash],
        None => before.trim_end(),
    };
    (kept, true)
}

/// Whether the last word of a row, behind that one, has no number that was cut.
fn is_whole(before: &str, last: &str) -> bool {
    if before == "time:" {
        return last.ends_with("ms");
    }
    let number = last.rsplit('/').next().unwrap_or(last);
    let is_number = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',');
    if number.is_empty() || !number.bytes().all(is_number) {
        return true;
    }
    let decimals = number
        .rfind(['.', ','])
        .map_or(0, |dot| number.len() - dot - 1);
    decimals >= 2
}

/// Whether a row ends as those of its kind do. What a script prints without queries has an end of its
/// own.
fn is_ended(text: &str, last: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let has = |name: &str| words.contains(&name);
    let before = words.iter().rev().nth(1).copied().unwrap_or_default();
    let reconnects = matches!(before, "reconn/s:" | "reconnects:");
    let response = has("time:") && last.ends_with("%)");
    let share = before.ends_with("%):");
    match () {
        () if has("qps:") => reconnects,
        () if has("threads:") && has("tps:") => reconnects || response,
        () if has("eps:") || has("fsyncs:") => share || response,
        () => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_between_digits_stay() {
        assert_eq!(
            plain("thds: 4, tps: 998,01 lat (ms,99%): 9,22"),
            "thds: 4  tps: 998,01 lat (ms 99%): 9,22"
        );
    }

    #[test]
    fn a_cut_number_is_left_out() {
        let row = "thds: 4 tps: 10.25 qps: 20.50 (r/w/o: 14.25/4.25/2.00) lat (ms 99%): 9.22 err/s: 0.00 reconn/s: 0.00";
        assert_eq!(without_cut(row), (row, false));
        for (left, kept) in [
            ("tps: 10.25 qps: 20.5", "tps: 10.25 qps:"),
            ("qps: 20.50 (r/w/o: 14.25/4", "qps: 20.50 (r/w/o: 14.25"),
            ("qps: 20.50 lat (ms 99%): 9", "qps: 20.50 lat (ms 99%):"),
            (
                "threads: 4 tps: 10.25 response time: 21.11m",
                "threads: 4 tps: 10.25 response time:",
            ),
            ("eps: 31", "eps:"),
            ("eps: 31.25 lat (ms 9", "eps: 31.25 lat (ms"),
            ("qps: 20.50 lat", "qps: 20.50 lat"),
        ] {
            assert_eq!(without_cut(left), (kept, true), "{left}");
        }
        for row in [
            "5248.45 MiB/sec",
            "eps: 31.25 lat (ms 95%): 2.71",
            "threads: 4 tps: 10.25 response time: 21.11ms (95%)",
            "thds: 4 qps: 20.50 err/s 0.00 reconn/s: N/A",
            "reads: 1.00 MiB/s writes: 1.00 MiB/s fsyncs: 5.00/s latency (ms 95%): 1.304",
        ] {
            assert_eq!(without_cut(row), (row, false));
        }
    }
}
