use run::rows::TableId;

use crate::{Head, Import, Options, Refused, Report, named};

const HEADER: &str = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
";

fn row(blocks: u32) -> String {
    format!(
        " 0  0    524 763388 147216 819640    0    0     0 {blocks:5}   57   96  4  3 93  0  0\n"
    )
}

const BEGIN: f64 = 1_600_000_000.0;

/// A row: when it ended, after the beginning; its interval, and blocks a second.
type Row = (f64, f64, f64);

/// What becomes of `vmstat` whose pieces come so many seconds after the beginning.
fn fed(pieces: &[(f64, String)], options: Options) -> Result<(Report, Vec<Row>), String> {
    let format = named("vmstat-linux").expect("a format");
    let head = Head::new(HEADER.as_bytes());
    let mut import = Import::new(format, &head, options);
    let why = |Refused(why): Refused| why;
    for (at, text) in pieces {
        import.came(((BEGIN + at) * 1e9) as i64);
        import.feed(text.as_bytes()).map_err(why)?;
    }
    let report = import.finish().map_err(why)?;
    let rows = import.rows().rows(TableId::of("vm"));
    let seconds = |at: i64| ((at as f64 / 1e9 - BEGIN) * 1e3).round() / 1e3;
    let all = (0..rows.len()).map(|i| {
        let every = rows.intervals[i];
        let rate = rows.values[1][i] / 1024.0 / every;
        (
            seconds(rows.times[i]),
            (every * 1e3).round() / 1e3,
            rate.round(),
        )
    });
    Ok((report, all.collect()))
}

/// A report at each of these times; the first is since boot.
fn at(times: &[f64]) -> Vec<(f64, String)> {
    let text = |(count, at): (usize, &f64)| {
        let header = if count == 0 { HEADER } else { "" };
        (*at, format!("{header}{}", row(count as u32)))
    };
    times.iter().enumerate().map(text).collect()
}

fn told(pieces: &[(f64, String)]) -> (Report, Vec<Row>) {
    fed(pieces, Options::default()).expect("a run")
}

fn refused(pieces: &[(f64, String)]) -> String {
    fed(pieces, Options::default()).expect_err("refused")
}

#[test]
fn reports_that_come_one_after_the_other_are_of_then() {
    let (report, rows) = told(&at(&[0.0, 1.0, 2.01, 3.0]));
    assert_eq!(rows, [(1.0, 1.0, 1.0), (2.01, 1.01, 2.0), (3.0, 0.99, 3.0)]);
    assert!(report.by_arrival && !report.relative && !report.from_start);
    assert_eq!((report.samples, report.since_boot), (3, 1));
    assert_eq!(report.every, Some(1.003));
    assert_eq!(
        report
            .notes
            .iter()
            .filter(|n| n.contains("when it came"))
            .count(),
        1
    );
    // Two are enough where no more come.
    let (_, rows) = told(&at(&[0.0, 10.0]));
    assert_eq!(rows, [(10.0, 10.0, 1.0)]);
}

#[test]
fn a_line_in_pieces_came_when_it_began() {
    let mut pieces = vec![(0.0, format!("{HEADER}{}", row(0)))];
    for second in 1..=3 {
        let line = row(second);
        let (first, rest) = line.split_at(30);
        let (second_part, end) = rest.split_at(rest.len() - 1);
        let at = f64::from(second);
        pieces.push((at, first.to_owned()));
        pieces.push((at + 0.01, second_part.to_owned()));
        pieces.push((at + 0.02, end.to_owned()));
    }
    let (_, rows) = told(&pieces);
    assert_eq!(rows, [(1.0, 1.0, 1.0), (2.0, 1.0, 2.0), (3.0, 1.0, 3.0)]);
}

/// A file through a pipe: at once, or as quickly as a filter or a network hands it on.
#[test]
fn reports_that_come_at_once_are_refused() {
    let text: String = (0..100).map(row).collect();
    let whole = format!("{HEADER}{text}");
    let cut = |length: usize, apart: f64| -> Vec<(f64, String)> {
        let parts = whole.as_bytes().chunks(length).enumerate();
        let part = |(i, part): (usize, &[u8])| {
            (i as f64 * apart, String::from_utf8(part.to_vec()).unwrap())
        };
        parts.map(part).collect()
    };
    let line = row(0).len();
    for (length, apart) in [
        (1 << 16, 0.0),
        (1448, 0.1),
        (1448, 1.0),
        (4 * line, 1.0),
        (line, 1e-4),
    ] {
        let why = refused(&cut(length, apart));
        assert!(
            why.contains("came at once") && why.contains("--every 1s"),
            "{why}"
        );
    }
    // Also if there are two only.
    let two = format!("{HEADER}{}{}", row(0), row(1));
    assert!(refused(&[(0.0, two)]).contains("came at once"));
    // It is told early: not when all is read.
    let format = named("vmstat-linux").expect("a format");
    let mut import = Import::new(format, &Head::new(HEADER.as_bytes()), Options::default());
    import.came(1);
    assert!(import.feed(whole.as_bytes()).is_err());
}

#[test]
fn a_single_report_and_what_tells_its_interval_are_as_without() {
    let (report, _) = fed(&at(&[5.0]), Options::default()).expect("since boot");
    assert!(report.relative && !report.by_arrival);
    let every = Options {
        every: Some(2.0),
        ..Options::default()
    };
    let (report, rows) = fed(&at(&[0.0, 0.0, 0.0]), every).expect("told");
    assert!(report.relative && !report.by_arrival);
    assert_eq!(rows.iter().map(|r| r.1).collect::<Vec<_>>(), [2.0, 2.0]);
}

#[test]
fn what_waited_is_put_between_those_that_came_in_time() {
    // Three seconds nothing, then three at once.
    let (report, rows) = told(&at(&[0.0, 1.0, 2.0, 3.0, 6.3, 6.3, 6.3, 7.0, 8.0]));
    let times: Vec<f64> = rows.iter().map(|r| r.0).collect();
    assert_eq!(times, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert!(rows.iter().all(|r| r.1 == 1.0), "{rows:?}");
    let notes = report.notes.join("\n");
    assert!(notes.contains("3 reports came late"), "{notes}");
    // One alone.
    let (report, rows) = told(&at(&[0.0, 1.0, 2.0, 3.6, 4.0, 5.0]));
    let times: Vec<f64> = rows.iter().map(|r| r.0).collect();
    assert_eq!(times, [1.0, 2.0, 3.0, 4.0, 5.0]);
    let notes = report.notes.join("\n");
    assert!(notes.contains("1 report came late"), "{notes}");
    // At the end.
    let (_, rows) = told(&at(&[0.0, 1.0, 2.0, 4.5, 4.5]));
    let times: Vec<f64> = rows.iter().map(|r| r.0).collect();
    assert_eq!(times, [1.0, 2.0, 3.0, 4.0]);
}

/// The tool was stopped: what it reports first is of a time that nobody knows.
#[test]
fn what_came_late_for_no_known_reason_is_a_gap() {
    let (report, rows) = told(&at(&[0.0, 1.0, 2.0, 8.0, 9.0, 10.0, 11.0]));
    assert_eq!(
        rows,
        [
            (1.0, 1.0, 1.0),
            (2.0, 1.0, 2.0),
            (9.0, 1.0, 4.0),
            (10.0, 1.0, 5.0),
            (11.0, 1.0, 6.0)
        ]
    );
    let notes = report.notes.join("\n");
    assert!(notes.contains("1 report left out"), "{notes}");
    // More came at once than were printed meanwhile.
    let (report, rows) = told(&at(&[
        0.0, 1.0, 2.0, 4.0, 4.0, 4.0, 4.0, 4.0, 5.0, 6.0, 7.0,
    ]));
    let times: Vec<f64> = rows.iter().map(|r| r.0).collect();
    assert_eq!(times, [1.0, 2.0, 6.0, 7.0]);
    assert!(rows.iter().all(|r| r.1 == 1.0), "{rows:?}");
    assert_eq!(report.span.map(|s| s.1), Some(((BEGIN + 7.0) * 1e9) as i64));
}

#[test]
fn another_pace_is_seen() {
    let (_, rows) = told(&at(&[0.0, 1.0, 2.0, 4.0, 6.0, 8.0]));
    let short: Vec<(f64, f64)> = rows.iter().map(|r| (r.0, r.1)).collect();
    assert_eq!(
        short,
        [(1.0, 1.0), (2.0, 1.0), (4.0, 2.0), (6.0, 2.0), (8.0, 2.0)]
    );
    let why = refused(&at(&[0.0, 1.0, 3.0, 3.5, 8.0, 9.0, 20.0, 22.0, 23.0, 29.0]));
    assert!(why.contains("uneven"), "{why}");
}

#[test]
fn a_tool_that_is_started_anew_has_a_pace_of_its_own() {
    let mut pieces = at(&[0.0, 1.0, 2.0]);
    let again = at(&[10.0, 15.0, 20.0]);
    pieces.extend(again);
    let (report, rows) = told(&pieces);
    let short: Vec<(f64, f64)> = rows.iter().map(|r| (r.0, r.1)).collect();
    assert_eq!(short, [(1.0, 1.0), (2.0, 1.0), (15.0, 5.0), (20.0, 5.0)]);
    assert_eq!(report.since_boot, 2);
}
