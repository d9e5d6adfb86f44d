//! Documents of any length: their reports are handed out as they close, and what is held does not
//! grow with the text.
//!
//! In a file of its own, because what another test holds would count.

use formats::{Format, Head, Import, Options, named};
use jiff::ToSpan as _;

/// Bytes of a document; where optimised code does not read it, less is enough to show.
const LONG: usize = 64 << 20;
const SHORT: usize = 12 << 20;
/// What reading one may hold, whatever its length.
const MOST: u64 = 8 << 20;

/// The most that the process held since [`forget`], in bytes.
fn most() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// What it held so far does not count any more.
#[allow(
    clippy::disallowed_methods,
    reason = "the kernel's own switch for this process"
)]
fn forget() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

const JSON: &str = r#"{"sysstat": {
"hosts": [
{
"nodename": "box", "machine": "x86_64", "number-of-cpus": 8, "date": "2026-11-22",
"statistics": [
"#;
const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<sysstat>
<host nodename="box">
<number-of-cpus>8</number-of-cpus>
<statistics>
"#;

/// The report of that second.
fn report(format: &str, second: i64) -> String {
    let at = jiff::civil::date(2026, 11, 22)
        .at(0, 0, 0, 0)
        .saturating_add(second.seconds());
    let (day, time) = (at.date(), at.time());
    let comma = if second > 0 { ",\n" } else { "" };
    let each = |one: &dyn Fn(usize) -> String, between: &str| {
        (0..8).map(one).collect::<Vec<_>>().join(between)
    };
    match format {
        "mpstat-json" => {
            let cpu = |n| format!(r#"{{"cpu": "{n}", "usr": 37.82, "sys": 14.51, "idle": 47.67}}"#);
            let all = each(&cpu, ",\n");
            format!("{comma}{{\n\"timestamp\": \"{time}\",\n\"cpu-load\": [\n{all}\n]\n}}\n")
        }
        "sadf-json" => {
            let disk = |n| format!(r#"{{"disk-device": "sd{n}", "tps": 2.00, "rd_sec": 8.00}}"#);
            let all = each(&disk, ",\n");
            format!(
                "{comma}{{\n\"timestamp\": {{\"date\": \"{day}\", \"time\": \"{time}\", \"utc\": 1, \
                 \"interval\": 1}},\n\"disk\": [\n{all}\n]\n}}\n"
            )
        }
        "iostat-json" => {
            let disk = |n| format!(r#"{{"disk_device": "sd{n}", "r/s": 1.39, "rkB/s": 69.95}}"#);
            let all = each(&disk, ",\n");
            format!("{comma}{{\n\"timestamp\": \"{day}T{time}+0000\",\n\"disk\": [\n{all}\n]\n}}\n")
        }
        "pidstat-json" => {
            let task = |n| format!(r#"{{"UID": 0, "PID": 1{n}, "kB_rd/s": 4.00, "cmd": "dd"}}"#);
            let all = each(&task, ",\n");
            format!("{comma}{{\n\"timestamp\": \"{time}\",\n\"io\": [\n{all}\n]\n}}\n")
        }
        _ => {
            let disk = |n| format!(r#"<disk-device dev="sd{n}" tps="2.00" rd_sec="8.00"/>"#);
            let all = each(&disk, "\n");
            format!(
                "<timestamp date=\"{day}\" time=\"{time}\" utc=\"1\" interval=\"1\">\n\
                 <disk per=\"second\">\n{all}\n</disk>\n\
                 <memory unit=\"kB\">\n<memfree>151</memfree>\n</memory>\n</timestamp>\n"
            )
        }
    }
}

/// Reads a document of that length; samples, and rows that came before its end.
fn read(format: &'static Format, length: usize) -> (u64, usize) {
    let (begin, end) = match format.name {
        "sadf-xml" => (XML, "</statistics>\n</host>\n</sysstat>\n"),
        _ => (JSON, "]\n}\n]\n}}\n"),
    };
    let first = format!("{begin}{}", report(format.name, 0));
    let mut import = Import::new(format, &Head::new(first.as_bytes()), Options::default());
    let (mut fed, mut second, mut rows) = (0, 0, 0);
    import.feed(begin.as_bytes()).expect("a document");
    while fed < length {
        let text = report(format.name, second);
        import.feed(text.as_bytes()).expect("a report");
        rows += import.rows().filled().map(|(_, r)| r.len()).sum::<usize>();
        import.rows().clear();
        fed += text.len();
        second += 1;
    }
    import.feed(end.as_bytes()).expect("its end");
    let report = import.finish().expect("reports");
    assert_eq!(report.unknown, 0, "{:?}", report.not_understood);
    assert_eq!(
        report.samples + report.since_boot,
        second as u64,
        "{}",
        format.name
    );
    (second as u64, rows)
}

#[test]
#[allow(clippy::disallowed_macros, reason = "a test says why it skips")]
fn a_document_of_any_length_is_read_as_it_comes() {
    let in_ci = std::env::var_os("CI").is_some();
    if !forget() || most().is_none() {
        assert!(!in_ci, "the kernel does not tell");
        eprintln!("skipped: the kernel does not tell how much memory a process held");
        return;
    }
    let length = if in_ci { LONG } else { SHORT };
    for name in [
        "mpstat-json",
        "sadf-json",
        "iostat-json",
        "pidstat-json",
        "sadf-xml",
    ] {
        let format = named(name).expect(name);
        forget();
        let before = most().unwrap_or_default();
        let (reports, rows) = read(format, length);
        let grown = most().unwrap_or_default().saturating_sub(before);
        assert!(grown < MOST, "{name}: {} MiB", grown >> 20);
        // All but what waits for the report after it.
        assert!(rows as u64 >= (reports - 3) * 8, "{name}: {rows} rows");
    }
}
