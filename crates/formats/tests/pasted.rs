//! A text that was pasted into a mail or a wiki, or came through a terminal, reads as the tool printed
//! it: set off by blanks or a tab, with blank lines twice, with several carriage returns.

mod texts;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use formats::{FORMATS, Format, Head, Import, recognise};
use texts::{every, files, here};

/// Rows by table, time, interval, words and values, and how many of each; why not, if it is refused.
type Rows = Result<BTreeMap<String, usize>, String>;

fn read(format: &'static Format, text: &[u8]) -> Rows {
    let mut import = Import::new(format, &Head::new(text), every(Some(1.0)));
    let report = import.feed(text).and_then(|()| import.finish());
    let report = report.map_err(|why| why.to_string())?;
    let mut sink = std::mem::take(import.rows());
    sink.spread();
    let mut all = BTreeMap::new();
    all.insert(format!("unknown {}", report.unknown), 1);
    for (_, rows) in sink.filled() {
        for i in 0..rows.len() {
            let words: Vec<_> = rows.words.iter().map(|w| sink.words.text(w[i])).collect();
            let values: Vec<_> = rows.values.iter().map(|v| v[i].to_bits()).collect();
            let (time, interval) = (rows.times[i], rows.intervals.get(i));
            let key = format!(
                "{} {time} {interval:?} {words:?} {values:?}",
                rows.table.name
            );
            *all.entry(key).or_default() += 1;
        }
    }
    Ok(all)
}

/// A text, what it is of, and what it reads as.
struct Text {
    name: String,
    format: &'static Format,
    bytes: Vec<u8>,
    rows: Rows,
}

impl Text {
    fn new(name: String, format: &'static Format, bytes: Vec<u8>) -> Text {
        let rows = read(format, &bytes);
        Text {
            name,
            format,
            bytes,
            rows,
        }
    }
}

/// Examples and fixtures, but for what is binary; read once.
fn texts() -> &'static [Text] {
    static TEXTS: OnceLock<Vec<Text>> = OnceLock::new();
    TEXTS.get_or_init(all_texts)
}

fn all_texts() -> Vec<Text> {
    let examples = FORMATS.iter().filter(|f| !f.example.starts_with("0x"));
    let mut found: Vec<_> = examples
        .map(|f| Text::new("example".to_owned(), f, f.example_bytes()))
        .collect();
    let is_text = |path: &PathBuf| path.extension().is_some_and(|e| e == "txt");
    for path in files(&here().join("fixtures")).into_iter().filter(is_text) {
        let text = std::fs::read(&path).expect("a fixture");
        // What marks the text's code, or it as binary, stands before all.
        let is_text = text.first().is_some_and(u8::is_ascii) && !text.contains(&0);
        if let Ok(format) = recognise(&Head::new(&text))
            && is_text
        {
            let name = path.strip_prefix(here()).expect("a fixture").display();
            found.push(Text::new(name.to_string(), format, text));
        }
    }
    found
}

/// Each line that is not empty with `before` it.
fn indented(text: &[u8], before: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|b| *b == b'\n');
    let line = |line: &[u8]| {
        let before = if line.trim_ascii().is_empty() {
            &[][..]
        } else {
            before
        };
        [before, line].concat()
    };
    lines.flat_map(line).collect()
}

/// What a changed text reads as otherwise; `adds`: it has lines that nobody understands.
fn faults(change: impl Fn(&[u8]) -> Vec<u8>, adds: bool) -> Vec<String> {
    let mut faults = Vec::new();
    for known in texts() {
        let (name, format) = (&known.name, known.format);
        let changed = change(&known.bytes);
        let found = recognise(&Head::new(&changed)).map(|f| f.name);
        if adds && found.is_err() {
            continue;
        }
        if found != Ok(format.name) {
            faults.push(format!("{} {name}: is {found:?}", format.name));
            continue;
        }
        let (mut as_is, mut changed) = (known.rows.clone(), read(format, &changed));
        if adds {
            for rows in [&mut as_is, &mut changed].into_iter().flatten() {
                rows.retain(|row, _| !row.starts_with("unknown"));
            }
        }
        let fault = match (&as_is, &changed) {
            (Err(_), Err(_)) => None,
            (Ok(a), Ok(b)) if a == b => None,
            (Ok(a), Ok(b)) => {
                let less = a.keys().find(|k| !b.contains_key(*k));
                let more = b.keys().find(|k| !a.contains_key(*k));
                Some(format!("{less:?} became {more:?}"))
            }
            (a, b) => Some(format!(
                "{:?} became {:?}",
                a.as_ref().err(),
                b.as_ref().err()
            )),
        };
        faults.extend(fault.map(|fault| format!("{} {name}: {fault}", format.name)));
    }
    faults
}

fn assert_none(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn a_text_that_is_set_off() {
    let indent = ["    ", "\t"].into_iter();
    let found = indent.flat_map(|b| faults(|text| indented(text, b.as_bytes()), false));
    assert_none(&found.collect::<Vec<_>>());
}

#[test]
fn a_text_with_several_carriage_returns() {
    let returns = |text: &[u8]| {
        let lines = text.split(|b| *b == b'\n');
        lines.collect::<Vec<_>>().join(&b"\r\r\n"[..])
    };
    assert_none(&faults(returns, false));
}

/// What tells where an interval ends is how many blank lines there are.
#[test]
fn a_text_with_blank_lines_twice() {
    let twice = |text: &[u8]| {
        let lines = text.split_inclusive(|b| *b == b'\n');
        let line = |line: &'_ [u8]| line.repeat(1 + usize::from(line.trim_ascii().is_empty()));
        lines.flat_map(line).collect()
    };
    assert_none(&faults(twice, false));
}

/// A heading above is no part of it: it reads as before, or is refused. (Keys of `DTrace` may be any
/// words, and end in a number.)
#[test]
fn a_text_with_a_heading() {
    for above in ["## Results of host 3\n\n", "Test 12: 4 disks, 8 KiB\n"] {
        let found = faults(|text| [above.as_bytes(), text].concat(), true);
        let expected = |fault: &&String| {
            fault.starts_with("dtrace ")
                || fault.contains("became Some(\"it looks like ")
                // The times before its lines are no prefix of all then: it is said to be relative.
                || fault.starts_with("iperf3-text fixtures/iperf3-text/timestamps.txt")
                // It begins among lines that are a name and a number.
                || fault.starts_with("sysbench fixtures/sysbench/tail.txt")
        };
        let found: Vec<String> = found.iter().filter(|f| !expected(f)).cloned().collect();
        assert_none(&found);
    }
}

/// Each line as `change` makes it, by its number; a last one without an end stays.
fn each_line(text: &[u8], change: impl Fn(usize, &[u8]) -> Vec<u8>) -> Vec<u8> {
    let lines = text.split_inclusive(|b| *b == b'\n').enumerate();
    let line = |(i, line): (usize, &[u8])| {
        if line.ends_with(b"\n") {
            change(i, line)
        } else {
            line.to_vec()
        }
    };
    lines.flat_map(line).collect()
}

/// Faults but for those of texts whose names begin so.
fn unexpected(found: Vec<String>, expected: &[&str]) -> Vec<String> {
    let is_expected = |fault: &String| expected.iter().any(|name| fault.starts_with(name));
    found.into_iter().filter(|f| !is_expected(f)).collect()
}

#[test]
fn a_text_of_an_answer_to_a_mail() {
    let quoted = |text: &[u8]| indented(text, b"> ");
    assert_none(&faults(quoted, true));
}

/// As `cat -n`, `nl` and `grep -n` print it.
#[test]
fn a_text_with_numbers_of_its_lines() {
    let cat = |text: &[u8]| each_line(text, |i, line| [&numbered(i)[..], line].concat());
    let nl = |text: &[u8]| {
        let mut printed = 0;
        let lines = text.split_inclusive(|b| *b == b'\n');
        let line = |line: &[u8]| {
            let is_blank = line.trim_ascii().is_empty();
            printed += usize::from(!is_blank);
            if is_blank {
                b"\n".to_vec()
            } else {
                [&numbered(printed - 1)[..], line].concat()
            }
        };
        lines.flat_map(line).collect()
    };
    // All of it are numbers, or a logger's prefix is behind it.
    let expected = [
        "pgbench-aggregate-log ",
        "iostat-solaris fixtures/iostat-solaris/syslog.txt",
    ];
    for found in [faults(cat, true), faults(nl, true)] {
        let found = found
            .into_iter()
            .filter(|f| !f.contains("without-line-feed"));
        let found = found.filter(|f| !f.contains("cut")).collect();
        assert_none(&unexpected(found, &expected));
    }
}

fn numbered(i: usize) -> Vec<u8> {
    format!("{:6}\t", i + 1).into_bytes()
}

/// Each line is a paragraph of a page.
#[test]
fn a_text_with_a_blank_line_below_each() {
    let spaced = |text: &[u8]| {
        each_line(text, |_, line| {
            let below = usize::from(!line.trim_ascii().is_empty());
            [line, &b"\n"[..below]].concat()
        })
    };
    // It has no header, as lists of one row each have none.
    let expected = ["vm-stat fixtures/vm-stat/single.txt"];
    assert_none(&unexpected(faults(spaced, true), &expected));
}

/// Its signs are those of a page's source.
#[test]
fn a_text_of_the_source_of_a_page() {
    let escaped = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        text.replace('>', "&gt;").into_bytes()
    };
    // One was written so before, and the other is a document.
    let expected = [
        "bcc fixtures/bcc/from-a-page.txt",
        "memtier-json fixtures/memtier-json/old.txt",
    ];
    assert_none(&unexpected(faults(escaped, true), &expected));
}

/// What is whole where something follows may be cut where it ends.
#[test]
fn a_text_with_a_frame() {
    const FRAMES: [(&str, &str); 3] = [
        ("```\n", "```\n"),
        ("{noformat}\n", "{noformat}\n"),
        (
            "Script started on 2024-05-05 10:00:00+00:00 [TERM=\"xterm\" COLUMNS=\"80\"]\n",
            "\nScript done on 2024-05-05 10:30:00+00:00 [COMMAND_EXIT_CODE=\"0\"]\n",
        ),
    ];
    for (above, below) in FRAMES {
        let framed = |text: &[u8]| {
            let below = if text.ends_with(b"\n") { below } else { "" };
            [above.as_bytes(), text, below.as_bytes()].concat()
        };
        let expected = [
            "iostat-linux fixtures/iostat-linux/ends-within-report.txt",
            "iostat-linux fixtures/iostat-linux/name-cut.txt",
            "sar fixtures/sar/devices-cut-behind-a-line.txt",
            "sar fixtures/sar/name-cut.txt",
        ];
        assert_none(&unexpected(faults(framed, true), &expected));
    }
}

/// The kernel writes on the console that the tool prints on.
#[test]
fn a_text_with_a_message_of_the_kernel() {
    const MESSAGE: &[u8] =
        b"[12345.678901] sd 2:0:0:0: [sdb] tag#17 timing out command, waited 180s\n";
    for tenth in [2, 4, 5, 7, 9] {
        let written = |text: &[u8]| {
            let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
            let at = lines.len() * tenth / 10;
            [&lines[..at].concat(), MESSAGE, &lines[at..].concat()].concat()
        };
        assert_none(&faults(written, true));
    }
}

/// A terminal has blanks where a tool prints tabs.
#[test]
fn a_text_without_tabs() {
    let expanded = |text: &[u8]| {
        each_line(text, |_, line| {
            let mut made = Vec::new();
            for byte in line {
                match byte {
                    b'\t' => made.resize(made.len() / 8 * 8 + 8, b' '),
                    _ => made.push(*byte),
                }
            }
            made
        })
    };
    let refused = |f: &String| f.contains("became Some(\"it looks like ");
    let found = faults(expanded, true).into_iter();
    assert_none(&found.filter(|f| !refused(f)).collect::<Vec<_>>());
}

#[test]
fn a_text_whose_lines_lost_trailing_blanks() {
    let trim = |text: &[u8]| {
        let lines = text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end);
        lines.collect::<Vec<_>>().join(&b"\n"[..])
    };
    assert_none(&faults(trim, true));
}

/// What was told by where it stood is left out or refused then, and nothing is made up.
#[test]
fn a_text_whose_blanks_are_one() {
    // Names that have several blanks in a row, or by where they stand; numbers that are not told.
    const NAMES: [&str; 5] = [
        "collectl-raw fixtures",
        "netstat-s fixtures",
        "proc fixtures/proc/interrupts",
        "sysbench fixtures/sysbench/files",
        "zpool-iostat fixtures/zpool-iostat/within-a-list",
    ];
    let one = |text: &[u8]| {
        let is_more = |w: &[u8]| w == b"  ";
        let pairs = [b"x", text].concat();
        let kept = pairs.windows(2).filter(|w| !is_more(w));
        kept.map(|w| w[1]).collect()
    };
    let is_made_up = |fault: &&String| {
        let refused = [
            "became Some(\"it ",
            "became Some(\"blanks in it are gone",
            // They are told apart by where they stand.
            "became Some(\"the columns that netperf's -O prints cannot be told apart",
        ];
        let nan = format!("[{}]\")", f64::NAN.to_bits());
        !(fault.ends_with("became None")
            || fault.ends_with(&nan)
            || fault.contains("\"other.vmstat.")
            || refused.iter().any(|why| fault.contains(why))
            || NAMES.iter().any(|name| fault.starts_with(name)))
    };
    let found = faults(one, true);
    let found: Vec<String> = found.iter().filter(is_made_up).cloned().collect();
    assert_none(&found);
}

/// A word with a comma where it has a point, if it is a number: with a unit or a sign behind, too.
fn with_comma(word: &[u8]) -> Vec<u8> {
    let digits = word.strip_suffix(b"%").unwrap_or(word);
    let unit = digits.last().is_some_and(|b| b"KMGTPkmg".contains(b));
    let digits = &digits[..digits.len() - usize::from(unit)];
    let is_number = digits.split(|b| *b == b'.').count() == 2
        && digits.first().is_some_and(u8::is_ascii_digit)
        && digits.last().is_some_and(u8::is_ascii_digit)
        && digits.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    let comma = |b: &u8| if is_number && *b == b'.' { b',' } else { *b };
    word.iter().map(comma).collect()
}

/// As tools print in many languages; what has three decimals is no thousands.
#[test]
fn a_text_with_decimal_commas() {
    const PRINT_SO: [&str; 17] = [
        "iostat-aix",
        "iostat-solaris",
        "iostat-linux",
        "mpstat-linux",
        "mpstat-solaris",
        "pidstat",
        "prstat",
        "sar",
        "sysstat-averages",
        "top",
        "uptime",
        "vmstat-linux",
        "vmstat-solaris",
        "zpool-iostat",
        "dstat-text",
        "fsstat",
        "iotop",
    ];
    let change = |text: &[u8]| {
        let words = text.split_inclusive(u8::is_ascii_whitespace);
        let changed = words.flat_map(|word| {
            let (word, end) = word.split_at(word.trim_ascii_end().len());
            [with_comma(word), end.to_vec()].concat()
        });
        changed.collect()
    };
    let faults = faults(change, false);
    // Columns that run together are no numbers to `with_comma`.
    let is_so = |fault: &&String| {
        let prints_so = PRINT_SO
            .iter()
            .any(|name| fault.starts_with(&format!("{name} ")));
        prints_so && !fault.contains("/together")
    };
    let wrong: Vec<&String> = faults.iter().filter(is_so).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
