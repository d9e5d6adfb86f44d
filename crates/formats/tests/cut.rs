//! A file that was cut off within a line: no number appears that the whole file does not have.
//! What is left of `714K   520K` is 520 of something else, and looks true.

#[path = "cut/more.rs"]
mod more;
mod texts;

use formats::{FORMATS, Reading, own};
use more::MORE;
use texts::{Read, SPAN, assert_none, faults, texts};

/// Lines that are cut of an example, and of a fixture.
const OF_EXAMPLE: usize = 3;
const OF_FIXTURE: usize = 1;
/// The part of a line that is cut at each byte: at the end of it.
const CUT: usize = 24;

/// Where the lines of a text begin and end, without what ends them.
fn lines(text: &[u8]) -> Vec<(usize, usize)> {
    let mut from = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive(|b| *b == b'\n') {
        let end = from + line.trim_ascii_end().len();
        if end > from {
            found.push((from, end));
        }
        from += line.len();
    }
    found
}

/// Where the numbers of a line stand that have blanks around them.
fn numbers(line: &[u8]) -> Vec<(usize, usize)> {
    let mut from = 0;
    let mut found = Vec::new();
    for word in line.split(u8::is_ascii_whitespace) {
        let digits = |b: &u8| b.is_ascii_digit() || *b == b'.';
        if word.first().is_some_and(u8::is_ascii_digit) && word.iter().all(digits) {
            found.push((from, from + word.len()));
        }
        from += word.len() + 1;
    }
    found
}

/// The line, and others that the tool could have printed: with no zero in its last number, for
/// `0.0` is what `0.00` is, and with a number among the others that is wider than its column and moves
/// what is behind it.
fn printed(line: &[u8]) -> Vec<Vec<u8>> {
    let mut sevens = line.to_vec();
    let is_of_number = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b',');
    if let Some(last) = line.iter().rposition(u8::is_ascii_digit) {
        let before = line[..last].iter().rposition(|b| !is_of_number(b));
        let number = &mut sevens[before.map_or(0, |b| b + 1)..=last];
        for digit in number.iter_mut().filter(|digit| **digit == b'0') {
            *digit = b'7';
        }
    }
    let all = numbers(&sevens);
    let wide = (all.len() > 3).then(|| {
        let (at, _) = all[all.len() / 2];
        [&sevens[..at], b"98", &sevens[at..]].concat()
    });
    let mut all = vec![line.to_vec(), sevens];
    all.extend(wide);
    all.dedup();
    all
}

/// The first cut after which there is something that the whole file does not have.
fn fault(format: Reading, text: &[u8], most: usize, cuts: &mut usize) -> Option<String> {
    let lines = lines(text);
    let step = lines.len().div_ceil(most).max(1);
    // Counted from the last, which is the one that files lose.
    for (from, end) in lines.iter().rev().step_by(step) {
        for line in printed(&text[*from..*end]) {
            let before = &text[..*from];
            let fault = fault_in(format, [before, &line, &text[*end..]], cuts);
            if fault.is_some() {
                return fault;
            }
        }
    }
    None
}

/// The same of one line, and what is before and after it.
fn fault_in(
    format: Reading,
    [before, line, after]: [&[u8]; 3],
    cuts: &mut usize,
) -> Option<String> {
    let read = |text: &[u8]| Read::of(format, text);
    let all = read(&[before, line, after].concat());
    if all.rows.is_empty() {
        return None;
    }
    // Rows may wait for what tells of their time, which may then be of the line above.
    let (with, without) = (read(&[before, line, b"\n"].concat()), read(before));
    for cut in line.len().saturating_sub(CUT).max(1)..line.len() {
        *cuts += 1;
        let mut found = read(&[before, &line[..cut]].concat());
        if without.rows.is_empty() {
            // What stands before its lines is seen with this one only.
            found.rows.remove(SPAN);
        }
        if found.differs(&[&with, &without, &all]).is_some() {
            // Rows of all processors stand for those of each until the last of them is there: what
            // whole lines tell, however few, is no fault of the cut one.
            let ends = memchr::memchr_iter(b'\n', before);
            let whole: Vec<Read> = ends.map(|end| read(&before[..=end])).collect();
            let others: Vec<&Read> = whole.iter().chain([&with, &without, &all]).collect();
            let Some(what) = found.differs(&others) else {
                continue;
            };
            let (left, lost) = line.split_at(cut);
            let text = String::from_utf8_lossy;
            return Some(format!("{}|{}\n    {what}", text(left), text(lost)));
        }
    }
    None
}

#[test]
fn a_cut_line_makes_no_number_of_its_own() {
    let examples = FORMATS.iter();
    let examples = examples.map(|f| ("example".to_owned(), f, f.example_bytes(), OF_EXAMPLE));
    let more = MORE.iter().map(|(name, text)| {
        let format = FORMATS.iter().find(|f| f.name == *name).expect(name);
        (
            text[..20].to_owned(),
            format,
            text.as_bytes().to_vec(),
            usize::MAX,
        )
    });
    for (name, format, text, _) in more.clone() {
        assert!(!Read::of(format.into(), &text).rows.is_empty(), "{name}");
    }
    let texts = texts().into_iter();
    let texts = texts.map(|(name, format, text)| (name, format, text, OF_FIXTURE));
    let all: Vec<_> = examples.chain(more).chain(texts).collect();
    let faults = faults(&all, 20_000, |(name, format, text, most), cuts| {
        let fault = fault((*format).into(), text, *most, cuts)?;
        Some((format!("{} {name}", format.name), fault))
    });
    assert_none(&faults);
}

/// The rows of a text.
fn shown(format: Reading, text: &str) -> String {
    format!("{:?}", Read::of(format, text.as_bytes()).rows)
}

/// Tables that a user describes: their columns, and a text.
const DESCRIBED: [(&str, &str); 4] = [
    (
        "name = \"blanks\"\n[column]\nt = { time = \"epoch\" }\nd = { is = \"device\" }\n\
         reads = { measure = \"disk.ios\", op = \"read\", kind = \"rate\" }\n",
        "t d reads more\n1700000000 sda 12 714\n1700000001 sda 13 520\n1700000001 sdb1 5 33\n",
    ),
    (
        "name = \"name_last\"\nseparator = \"comma\"\n[column]\nd = { is = \"device\" }\n\
         reads = { measure = \"disk.ios\", op = \"read\", kind = \"rate\" }\n",
        "reads,d\n12,sda\n120,sdb1\n13,sda\n130,sdb12\n",
    ),
    (
        "name = \"counters\"\nseparator = \";\"\ndecimal = \"comma\"\n[column]\n\
         t = { time = \"%Y-%m-%d %H:%M:%S\" }\nheat = { unit = \"C\" }\n\
         reads = { measure = \"disk.ios\", op = \"read\", kind = \"counter\" }\n",
        "t;reads;heat\n2026-11-22 10:00:00;100;3,25\n2026-11-22 10:00:10;250;3,75\n\
         2026-11-22 10:00:20;1250;13,75\n",
    ),
    (
        "name = \"closed\"\nseparator = \"comma\"\n[column]\nt = { time = \"epoch\" }\n\
         reads = { measure = \"disk.ios\", op = \"read\", kind = \"rate\" }\n",
        "t,reads\n1700000000,12,\n1700000001,130,\n1700000002,140,\n",
    ),
];

#[test]
fn a_described_table_takes_no_line_that_may_be_cut() {
    let mut cuts = 0;
    for (toml, text) in DESCRIBED {
        let own = own(toml).unwrap_or_else(|why| panic!("{why}: {toml}"));
        let fault = fault((&own).into(), text.as_bytes(), usize::MAX, &mut cuts);
        assert_eq!(fault, None, "{toml}");
        // A separator behind the last column shows that it is whole.
        let read = |text: &str| shown((&own).into(), text);
        let whole = read(text.trim_end()) == read(text);
        assert_eq!(whole, text.ends_with(",\n"), "{toml}");
    }
    assert!(cuts > 150, "only {cuts} cuts were looked at");
}

/// What shows that a last line is whole which has no end: decimals, shares that add up, brackets.
#[test]
fn a_last_line_that_is_whole_is_taken() {
    for name in [
        "iostat-linux",
        "mpstat-solaris",
        "pidstat",
        "sar",
        "blkparse",
        "sadf-xml",
    ] {
        let format = FORMATS.iter().find(|f| f.name == name).expect(name);
        let text = format.example;
        // Of sar, and of blkparse, what stands at the end repeats what is above.
        let repeated = ["Average:", "CPU0"]
            .iter()
            .find_map(|label| text.find(label));
        let text = repeated.map_or(text, |at| &text[..at]);
        let whole = shown(format.into(), text);
        assert!(whole.contains("cpu") || whole.contains("disk") || whole.contains("process"));
        assert_eq!(shown(format.into(), text.trim_end()), whole, "{name}");
    }
}
