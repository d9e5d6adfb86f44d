//! The same output twice in one file, as after `cat a a` or a second download: numbers stay what
//! they were. Added up they would be twice as large, and look true.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use formats::{FORMATS, Format, Head, Import, Options};
use jiff::tz::TimeZone;
use run::Sink;

/// The rows of each table by time and words: how many of each.
type Rows = BTreeMap<(String, i64, Vec<String>, u64), usize>;

/// In the zone that the text's case says.
fn options(zone: TimeZone) -> Options {
    Options {
        every: Some(1.0),
        processors: Some(2),
        zone,
        ..Options::default()
    }
}

fn zone_of(text: &Path) -> TimeZone {
    let case = std::fs::read(text.with_extension("json")).unwrap_or_default();
    let case: serde_json::Value = serde_json::from_slice(&case).unwrap_or_default();
    let rule = case["options"]["tz"].as_str();
    rule.map_or(TimeZone::UTC, |rule| TimeZone::posix(rule).unwrap())
}

/// `None` where it is refused, or where the text has no times of its own.
fn rows(format: &'static Format, text: &[u8], zone: &TimeZone) -> Option<Rows> {
    let mut import = Import::new(format, &Head::new(text), options(zone.clone()));
    import.feed(text).ok()?;
    let report = import.finish().ok()?;
    if !report.stamped || report.relative || report.from_start {
        return None;
    }
    let mut all = Rows::new();
    let sink: Sink = {
        let mut sink = std::mem::take(import.rows());
        sink.spread();
        sink
    };
    for (table, rows) in sink.filled() {
        let (subject, entry) = run::catalog::tables()
            .nth(usize::from(table.0))
            .expect("a table");
        let columns = run::catalog::columns(subject, entry);
        // Of a histogram the first number is a dimension.
        let by_number = columns
            .filter(|c| matches!(c, run::catalog::Column::Dimension(d) if d.number.is_some()))
            .count();
        if entry.detail == run::catalog::Detail::Event {
            continue;
        }
        for i in 0..rows.len() {
            let words = rows
                .words
                .iter()
                .map(|w| sink.words.text(w[i]).unwrap_or_default());
            let number = if by_number > 0 {
                rows.values[0][i].to_bits()
            } else {
                0
            };
            let key = (
                entry.name.to_owned(),
                rows.times[i],
                words.map(str::to_owned).collect(),
                number,
            );
            *all.entry(key).or_default() += 1;
        }
    }
    Some(all)
}

#[test]
fn a_second_copy_adds_nothing() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let (mut looked_at, mut faults) = (0, Vec::new());
    for format in FORMATS {
        // Two results of a benchmark are two results; those of one moment may be of two jobs.
        if ["fio-json", "fio-text", "memtier-json", "uperf", "ganglia"].contains(&format.name) {
            continue;
        }
        let example = format.example.as_bytes().to_vec();
        let mut texts = vec![("example".to_owned(), example, TimeZone::UTC)];
        for entry in std::fs::read_dir(fixtures.join(format.name))
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "txt") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                texts.push((name, std::fs::read(&path).unwrap(), zone_of(&path)));
            }
        }
        for (name, text, zone) in texts {
            let Some(once) = rows(format, &text, &zone) else {
                continue;
            };
            // Of one report nobody knows whether the second is another of the same second.
            let times: BTreeSet<i64> = once.keys().map(|key| key.1).collect();
            if times.len() < 2 {
                continue;
            }
            let Some(twice) = rows(format, &[&text[..], &text[..]].concat(), &zone) else {
                continue;
            };
            looked_at += 1;
            let more: Vec<_> = twice
                .iter()
                .filter(|(key, count)| once.get(*key).is_some_and(|once| once < *count))
                .collect();
            if let Some((key, _)) = more.first() {
                faults.push(format!(
                    "{} {name}: {} rows, as {key:?}",
                    format.name,
                    more.len()
                ));
            }
        }
    }
    assert!(
        looked_at > 40,
        "only {looked_at} texts with times of their own"
    );
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Three reports, five seconds apart.
fn iostat(hour: u32) -> String {
    let report = |second: u32, reads: u32| {
        format!(
            "Sun Mar  4 {hour}:00:{second:02} 2012
                    extended device statistics              
    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device
{reads:5}.0    6.0   32.0   48.0  0.0  0.0    0.0    2.5   0   1 c0t0d0
"
        )
    };
    [report(0, 4), report(5, 14), report(10, 24)].concat()
}

/// A job that appends to one file: the first report of each run is a mean since boot, and no
/// measurement of the hour between.
#[test]
fn the_next_run_begins_with_a_mean_since_boot() {
    let format = FORMATS
        .iter()
        .find(|f| f.name == "iostat-solaris")
        .expect("a format");
    for hours in [[10, 11], [11, 10]] {
        let text = hours.map(iostat).concat();
        let mut import = Import::new(format, &Head::new(text.as_bytes()), Options::default());
        import.feed(text.as_bytes()).unwrap();
        let report = import.finish().unwrap();
        assert_eq!(
            (report.samples, report.since_boot),
            (4, 2),
            "{hours:?}: {report:?}"
        );
        let mut sink = std::mem::take(import.rows());
        sink.spread();
        let rows = sink.rows(run::rows::TableId::of("disk"));
        let is_read = |i: &usize| sink.words.text(rows.words[2][*i]) == Some("read");
        let reads: f64 = (0..rows.len())
            .filter(is_read)
            .map(|i| rows.values[0][i])
            .sum();
        assert_eq!(reads, 2.0 * (14.0 + 24.0) * 5.0, "{hours:?}");
        let told = report.notes.iter().any(|n| n.contains("since boot"));
        assert!(told, "{:?}", report.notes);
    }
}
