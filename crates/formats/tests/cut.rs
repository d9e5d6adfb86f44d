//! A file that was cut off within a line: no number appears that the whole file does not have.
//! What is left of `714K   520K` is 520 of something else, and looks true.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use formats::{FORMATS, Format, Head, Import, Options, Reading, own, recognise};

/// Of a long text the beginning, up to the end of a line.
const LONGEST: usize = 4 << 10;
/// Lines that are cut of an example, and of a fixture.
const OF_EXAMPLE: usize = 3;
const OF_FIXTURE: usize = 1;
/// The part of a line that is cut at each byte: at the end of it.
const CUT: usize = 24;

/// Where it stands how long a text tells of.
const SPAN: &str = "span";

/// What was read: rows by table, time, interval and words, with the values of each.
#[derive(Default)]
struct Read {
    rows: BTreeMap<String, Vec<Vec<f64>>>,
}

impl Read {
    /// Whether all that is known of a row is in one of these.
    fn has(&self, key: &str, values: &[f64]) -> bool {
        let same = |(a, b): (&f64, &f64)| a.is_nan() || a.to_bits() == b.to_bits();
        let is_row = |row: &Vec<f64>| values.iter().zip(row).all(same);
        let rows = self.rows.get(key);
        values.iter().all(|v| v.is_nan()) || rows.is_some_and(|all| all.iter().any(is_row))
    }

    fn of(format: Reading, text: &[u8]) -> Read {
        let options = Options {
            every: Some(1.0),
            processors: Some(2),
            start: Some(1_700_000_000_000_000_000),
            ..Options::default()
        };
        let mut import = Import::new(format, &Head::new(text), options);
        let Ok(report) = import.feed(text).and_then(|()| import.finish()) else {
            return Read::default();
        };
        let mut sink = std::mem::take(import.rows());
        sink.spread();
        let mut all = Read::default();
        // Of how long it tells is a number, too.
        if let Some((from, to)) = report.span {
            let span = vec![from as f64, to as f64];
            all.rows.insert(SPAN.to_owned(), vec![span]);
        }
        for (_, rows) in sink.filled() {
            let name = rows.table.name;
            for i in 0..rows.len() {
                let words: Vec<_> = rows.words.iter().map(|w| sink.words.text(w[i])).collect();
                let values: Vec<_> = rows.values.iter().map(|v| v[i]).collect();
                let (time, interval) = (rows.times[i], rows.intervals.get(i));
                let key = format!("{name} {time} {interval:?} {words:?}");
                all.rows.entry(key).or_default().push(values);
            }
        }
        all
    }

    /// A row that none of the others has.
    fn differs(&self, others: &[&Read]) -> Option<String> {
        for (key, all) in &self.rows {
            for values in all {
                if !others.iter().any(|other| other.has(key, values)) {
                    return Some(format!("{key} {values:?}"));
                }
            }
        }
        None
    }
}

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

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Fixtures, and the captures if they are here, with the format that they are of.
fn texts() -> Vec<(String, &'static Format, Vec<u8>)> {
    let told = std::env::var_os("SONDE_CAPTURES").map(PathBuf::from);
    let captures = told.unwrap_or_else(|| here().join("../../../shared/fixtures"));
    let fixtures = files(&here().join("fixtures")).into_iter();
    let fixtures = fixtures.filter(|path| path.extension().is_some_and(|e| e == "txt"));
    let mut found = Vec::new();
    for path in fixtures.chain(files(&captures)) {
        let mut text = std::fs::read(&path).unwrap_or_default();
        if text.len() > LONGEST {
            let end = text[..LONGEST].iter().rposition(|b| *b == b'\n');
            text.truncate(end.map_or(LONGEST, |end| end + 1));
        }
        if let Ok(format) = recognise(&Head::new(&text)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            found.push((name.into_owned(), format, text));
        }
    }
    found
}

/// What examples lack: names at the end of a row and numbers for people, devices that a report leaves
/// out, times and headers that stand alone, a remap, dates in rows and before them, names before lines.
const MORE: [(&str, &str); 14] = [
    (
        "iostat-linux",
        "$ iostat -hz 5\nLinux 6.8.0-31-generic (box) \t03/09/2026 \t_x86_64_\t(2 CPU)\n\n\
         avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
         \x20          1.2%    0.0%    2.5%    0.0%    0.0%   96.3%\n\n\
         \x20     tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device\n\
         \x20   10.20        25.3M       512.0k      25.3G       1.2G sda\n\
         \x20    1.20         5.3M        12.0k       5.3G       0.2G sda1\n\
         \x20    2.20         6.3M        22.0k       6.3G       0.3G sda12\n\n\
         avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
         \x20          3.2%    0.0%    4.5%    0.0%    0.0%   92.3%\n\n\
         \x20     tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device\n\
         \x20   11.20        26.3M       513.0k      25.4G       1.3G sda\n\
         \x20    3.20         7.3M        23.0k       6.4G       0.4G sda12\n",
    ),
    (
        "iostat-linux",
        "$ iostat -dxtzy 5\nLinux 6.8.0-31-generic (box) \t03/19/2026 \t_x86_64_\t(2 CPU)\n\n\
         03/19/2026 10:00:05 AM\n\
         Device            r/s     rkB/s     w/s     wkB/s  r_await w_await  aqu-sz  %util\n\
         sda              2.65    102.40    2.80    131.00     0.36    0.42    0.05   0.41\n\
         sdb              1.65    202.40    1.80    231.00     0.46    0.52    0.15   0.51\n\n\
         03/19/2026 10:00:10 PM\n\
         Device            r/s     rkB/s     w/s     wkB/s  r_await w_await  aqu-sz  %util\n\
         sda              3.65    103.40    3.80    133.00     0.33    0.43    0.35  12.41\n\n",
    ),
    (
        "sar",
        "Linux 6.8.0-31-generic (box) \t03/19/2026 \t_x86_64_\t(2 CPU)\n\n\
         10:00:00 AM       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util DEV\n\
         10:10:00 AM     12.25      8.5k     16.5M      4.1k      0.25      1.25     12.5% sda\n\
         10:10:00 AM      2.25      7.5k     15.5M      3.1k      0.15      1.35      2.5% sda1\n\
         10:20:00 AM     22.25      6.5k     26.5M      4.2k      0.35      1.45     22.5% sda\n\
         10:20:00 AM     12.25      5.5k     25.5M      3.2k      0.45      1.55     12.5% sda1\n",
    ),
    (
        "sar",
        "SunOS box 5.10 Generic_141445-09 i86pc    03/19/2026\n\n\
         10:00:00    %usr    %sys    %wio   %idle\n\
         \x20        device        %busy   avque   r+w/s  blks/s  avwait  avserv\n\n\
         10:10:00       1       2       0      97\n\
         \x20        sd0              10     0.3      12     104     0.5    12.5\n\
         \x20        sd1              20     0.4      22     204     0.6    13.5\n\n\
         10:20:00      11      12      10      67\n\
         \x20        sd0              30     0.5      32     304     0.7    14.5\n\
         \x20        sd1              40     0.6      42     404     0.8    15.5\n",
    ),
    (
        "pcp",
        "Time,\"kernel.all.load-1 minute\",\"disk.dev.read-sda\"\n\
         2026-03-19 10:00:00,0.125,1234.25\n2026-03-19 10:00:10,0.25,1235.75\n",
    ),
    (
        "blkparse",
        "  8,0    1        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n\
         \x20 8,0    1        2     0.000001000   697  A   W 223490 + 128 <- (8,1) 223427\n\
         \x20 8,0    1        5     0.000017090   697  D   W 223490 + 128 [kjournald]\n\
         \x20 8,0    0        1     0.000317090     0  C   W 223490 + 128 [0]\n",
    ),
    (
        "arcstat",
        "    time  read  hits  miss  hit%  arcsz     c\n\
         03/14/26 14:44:32  1.2K  1.2K     0   100    59G   60G\n\
         03/14/26 14:44:37   377   375     2    99    59G   60G\n\
         03/14/26 14:44:42   387   385     2    99    59G   60G\n",
    ),
    (
        "arcstat",
        "2026-03-14T14:44:32Z     time  read  hits  miss  hit%  arcsz     c\n\
         2026-03-14T14:44:32Z 14:44:32  1.2K  1.2K     0   100    59G   60G\n\
         2026-03-14T14:44:37Z 14:44:37   377   375     2    99    59G   60G\n\
         2026-03-14T14:44:42Z 14:44:42   387   385     2    99    59G   60G\n",
    ),
    (
        "nicstat",
        "2026-03-14T14:44:32Z     Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         2026-03-14T14:44:32Z 14:44:32  e1000g0    0.33    0.04    2.04    0.30   167.7   136.6  0.00   0.00\n\
         2026-03-14T14:44:37Z 14:44:37  e1000g0    1.50    0.25    3.00    1.00   512.0   256.0  0.01   0.00\n\
         2026-03-14T14:44:42Z 14:44:42  e1000g0    2.50    1.25    4.00    2.00   640.0   640.0  0.02   0.00\n",
    ),
    (
        "nicstat",
        "$ nicstat -z 5\n    Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         14:44:32  e1000g0    0.33    0.04    2.04    0.30   167.7   136.6  0.00   0.00\n\
         14:44:32  e1000g1    0.33    0.04    2.04    0.30   167.7   136.6  0.00   0.00\n\
         \x20   Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         14:44:37  e1000g1    1.50    0.25    3.00    1.00   512.0   256.0  0.01   0.00\n\
         \x20   Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         \x20   Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n\
         14:44:47  e1000g0    2.50    1.25    4.00    2.00   640.0   640.0  0.02   0.00\n",
    ),
    (
        "vmstat-solaris",
        "node1:  kthr      memory            page            disk          faults      cpu\n\
         node1:  r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 --   in   sy   cs us sy id\n\
         node1:  0 0 0 11456120 4120528 1 41 19 1 3 0 2 0 4 0 0   48  112  130  4 14 82\n\
         node1:  0 0 0 11456121 4120529 11 42 18 10 30 0 0 0 14 0 0   58  122  140  5 15 80\n\
         node1:  0 0 0 11456122 4120530 12 43 17 10 30 0 0 0 15 0 0   68  132  150  6 16 78\n",
    ),
    (
        "vmstat-solaris",
        "2026-03-14T14:44:32Z  kthr      memory            page            disk          faults      cpu\n\
         2026-03-14T14:44:32Z  r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 --   in   sy   cs us sy id\n\
         2026-03-14T14:44:32Z  0 0 0 11456120 4120528 1 41 19 1 3 0 2 0 4 0 0   48  112  130  4 14 82\n\
         2026-03-14T14:44:37Z  0 0 0 11456121 4120529 11 42 18 10 30 0 0 0 14 0 0   58  122  140  5 15 80\n\
         2026-03-14T14:44:42Z  0 0 0 11456122 4120530 12 43 17 10 30 0 0 0 15 0 0   68  132  150  6 16 78\n",
    ),
    (
        "blkparse",
        "  8,0    1        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n\
         \x20 8,0    1        2     0.000001000   697  D   W 223490 + 8 [kjournald]\n\
         \x20 8,0    0        1     0.000317090     0  C   W 223490 + 8 [0]\n\
         \x20 8,0    1        3     1.200000000   698  Q   R 123490 + 16 [dd]\n\
         \x20 8,0    1        4     1.200001000   698  D   R 123490 + 16 [dd]\n\
         \x20 8,0    0        2     1.200317090     0  C   R 123490 + 16 [0]\n",
    ),
    (
        "pidstat",
        "Linux 6.8.0-31-generic (box) \t03/19/2026 \t_x86_64_\t(2 CPU)\n\n\
         10:00:00 AM   UID       PID   cswch/s nvcswch/s  Command\n\
         10:00:05 AM     0       712      1.25      0.40  postgres\n\
         10:00:05 AM  1000      2297      3.25      0.50  java\n\n\
         10:00:05 AM   UID       PID   cswch/s nvcswch/s  Command\n\
         10:00:10 AM     0       712      2.25      0.40  postgres\n\
         10:00:10 AM  1000      3297      4.25      0.50  java-server\n\n\
         10:00:10 AM   UID       PID   cswch/s nvcswch/s  Command\n\
         10:00:15 AM     0       712      2.25      0.40  postgres\n",
    ),
];

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
    let parts = std::thread::available_parallelism().map_or(2, usize::from);
    let (mut cuts, mut faults) = (0, Vec::new());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..parts)
            .map(|part| {
                let mine = all.iter().skip(part).step_by(parts);
                scope.spawn(move || {
                    let (mut cuts, mut faults) = (0, Vec::new());
                    for (name, format, text, most) in mine {
                        if let Some(fault) = fault((*format).into(), text, *most, &mut cuts) {
                            faults.push(format!("{} {name}: {fault}", format.name));
                        }
                    }
                    (cuts, faults)
                })
            })
            .collect();
        for thread in threads {
            let (more, found) = thread.join().expect("no format falls over");
            cuts += more;
            faults.extend(found);
        }
    });
    faults.sort();
    assert!(cuts > 20_000, "only {cuts} cuts were looked at");
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Formats of which each report has all there is of what it tells.
const LIST_ALL: [&str; 7] = [
    "atop",
    "ip-link",
    "kstat",
    "nfsiostat",
    "proc",
    "sar",
    "vmstat-linux",
];

/// Of tables that leave out what is nothing: the first row of the whole text that is missing where a
/// text that was cut behind a line has others of the same report.
fn lost(format: Reading, text: &[u8], cuts: &mut usize) -> Option<String> {
    let leaves_out = |key: &str| {
        let mut tables = run::catalog::tables().map(|(_, table)| table);
        tables.any(|t| t.sparse && key.split(' ').next() == Some(t.name))
    };
    let report = |key: &str| key.split(" [").next().unwrap_or_default().to_owned();
    let whole = Read::of(format, text);
    let lines = text.split_inclusive(|b| *b == b'\n');
    let ends = lines.scan(0, |at, line| {
        *at += line.len();
        Some(*at)
    });
    for end in ends {
        *cuts += 1;
        let cut = Read::of(format, &text[..end]);
        let begun: HashSet<String> = cut.rows.keys().map(|key| report(key)).collect();
        // What no report above has told of is not known to be missing.
        let instance = |key: &str| key.split_once(" [").map(|(_, words)| words.to_owned());
        let table = |key: &str| key.split(' ').next().unwrap_or_default().to_owned();
        let is_told = |key: &str| {
            let same =
                |other: &&String| table(other) == table(key) && instance(other) == instance(key);
            cut.rows.keys().any(|k| k.starts_with("since_boot "))
                || cut.rows.keys().any(|k| same(&k))
        };
        // A row of all stands for those of each until they are there.
        let of_all = |key: &&String| key.contains("Some(\"all\")");
        let all: HashSet<String> = cut.rows.keys().filter(of_all).map(|k| report(k)).collect();
        let is_lost = |key: &&String| {
            let report = report(key);
            leaves_out(key)
                && begun.contains(&report)
                && !all.contains(&report)
                && !cut.rows.contains_key(*key)
                && is_told(key)
        };
        if let Some(key) = whole.rows.keys().find(is_lost) {
            let last = text[..end].trim_ascii_end().rsplit(|b| *b == b'\n').next();
            let last = String::from_utf8_lossy(last.unwrap_or_default());
            return Some(format!("{last}|\n    {key}"));
        }
    }
    None
}

#[test]
fn what_a_text_lacks_that_was_cut_behind_a_line_is_no_zero() {
    let examples = FORMATS.iter();
    let examples = examples.map(|f| ("example".to_owned(), f, f.example_bytes()));
    let all = examples.chain(texts());
    let (mut cuts, mut faults) = (0, Vec::new());
    for (name, format, text) in all.filter(|(_, format, _)| LIST_ALL.contains(&format.name)) {
        if let Some(fault) = lost(format.into(), &text, &mut cuts) {
            faults.push(format!("{} {name}: {fault}", format.name));
        }
    }
    assert!(cuts > 1_000, "only {cuts} cuts were looked at");
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
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
