//! Documents with faults, cut off, and one after the other.

use super::*;
use crate::Options;

/// Reports as they come, beside how many hosts there were before.
#[derive(Default)]
struct Seen {
    hosts: Vec<Value>,
    reports: Vec<(usize, Value)>,
}

impl Reports for Seen {
    fn host(&mut self, host: &Value, _out: &mut Out) {
        self.hosts.push(host.clone());
    }

    fn report(&mut self, report: &Value, _whole: bool, _out: &mut Out) -> bool {
        self.reports.push((self.hosts.len(), report.clone()));
        true
    }
}

/// What is seen of a text, lines by what they were, and lines that were not understood later.
fn read(text: &str) -> (Seen, [usize; 3], Vec<u64>) {
    let mut out = Out::new("test", Options::default());
    let mut all = Documents::of(Seen::default());
    let mut lines = [0; 3];
    for line in text.lines() {
        out.line += 1;
        lines[all.line(line.as_bytes(), &mut out) as usize] += 1;
    }
    all.end(&mut out);
    let late = out.unknown.iter().map(|(line, _)| *line).collect();
    (all.reports, lines, late)
}

fn reports(text: &str) -> Vec<Value> {
    let (seen, ..) = read(text);
    seen.reports.into_iter().map(|(_, report)| report).collect()
}

const BEFORE: &str = r#"{"sysstat": {"hosts": [{"nodename": "box", "statistics": ["#;

#[test]
fn faults_are_mended() {
    let right = [serde_json::json!({"a": [{"b": 1}, {"b": 2}]})];
    for text in [
        r#"{"a": [{"b": 1}, {"b": 2}]}]}]}}"#,
        r#"{"a": [{"b": 1} {"b": 2}]}]}]}}"#,
        r#"{"a": [{"b": 1}, {"b": 2},]}]}]}}"#,
        r#"{"a": [{"b": 1},, {"b": 2}"#,
        r#"{"a": [{"b": 1}, {"b": 2}], "c": {"d": 1"#,
        r#"{"a": [{"b": 1}, {"b": 2}], "c"#,
        "{\"a\": [{\"b\": 1}, {\"b\": 2}]}]}]}}\n$ echo",
    ] {
        assert_eq!(reports(&format!("{BEFORE}{text}")), right, "{text}");
    }
    let nothing = [serde_json::json!({"a": [{"b": null, "c": 3}]})];
    let text = format!(r#"{BEFORE}{{"a": [{{"b": -nan "c": 3}}]}}"#);
    assert_eq!(reports(&text), nothing);
}

/// The documents of two runs of a tool, of which the first was perhaps interrupted.
#[test]
fn one_document_after_the_other() {
    let document = |n: u32| {
        format!(
            "{{\"sysstat\": {{\n\"hosts\": [\n{{\n\"nodename\": \"box{n}\",\n\"statistics\": [\n\
             {{\n\"a\": [\n{{\"b\": {n}}},\n{{\"b\": {n}}}\n]\n}}\n]\n}}\n]\n}}}}\n"
        )
    };
    let (first, second) = (document(1), document(2));
    let both = |n| serde_json::json!({"a": [{"b": n}, {"b": n}]});
    for between in ["", "$ sadf -j\n", "[root@box ~]# sadf -j\n"] {
        let (seen, [data, ..], late) = read(&format!("{first}{between}{second}"));
        let wanted = [(1, both(1)), (2, both(2))];
        assert_eq!(seen.reports, wanted, "{between}");
        assert_eq!(seen.hosts[1]["nodename"], "box2");
        assert_eq!((data, late.len()), (6, 0));
    }
    for (cut, left) in [
        ("\n]\n}\n]\n}}", 2),
        ("},\n{\"b\": 1}\n]", 1),
        ("{\"b\": 1}", 0),
    ] {
        let at = first.find(cut).unwrap() + usize::from(left == 1);
        let (seen, _, _) = read(&format!("{}\n{second}", &first[..at]));
        let last = seen.reports.last().unwrap();
        assert_eq!(*last, (2, both(2)), "{cut}");
        let told = seen.reports.iter().filter(|(host, _)| *host == 1);
        let rows = told.map(|(_, report)| report["a"].as_array().unwrap().len());
        assert_eq!(rows.sum::<usize>(), left, "{cut}");
    }
}

#[test]
fn what_is_dropped_is_told() {
    let line = |n: u32| format!("{{\"timestamp\": \"{n}\", \"a\": {n}}},\n");
    // A report that cannot be read, and one with another's bracket.
    for fault in [
        "{\n\"timestamp\": \"2\",\n\"a\": 0,72, \"b\": 1\n},\n",
        "{\n\"timestamp\": \"2\",\n\"a\": 1 ]\n},\n",
        "{\n\"timestamp\": \"2\",\n\"a\": 1 ;\n},\n",
    ] {
        let three = "{\n\"timestamp\": \"3\",\n\"a\": 3\n}\n";
        let (seen, [_, _, unknown], late) = read(&format!("{BEFORE}\n{}{fault}{three}", line(1)));
        let times: Vec<_> = seen.reports.iter().map(|(_, r)| &r["timestamp"]).collect();
        assert_eq!(times, ["1", "3"], "{fault}");
        assert!(late.contains(&4), "{fault} {late:?}");
        assert!(late.contains(&5) || unknown > 0, "{fault}");
    }
    // Text before it and behind it.
    let (_, lines, _) = read("ssh: connection lost\n7 {\n3 4\n");
    assert_eq!(lines, [0, 0, 3]);
    let (_, lines, late) = read(&format!("{BEFORE}{{\"a\": 1}}]}}]}}}} 17\nmore\n"));
    assert_eq!((lines, late), ([1, 0, 1], vec![1]));
}

#[test]
fn json_of_another_shape_has_nothing() {
    for text in ["[1]", "3", "{\"sysstat\": [1]}", "{\"sysstat\": 3}", "{}"] {
        let format = crate::named("iostat-json").unwrap();
        let head = crate::Head::new(text.as_bytes());
        let mut import = crate::Import::new(format, &head, Options::default());
        let fed = import.feed(text.as_bytes());
        assert!(fed.and_then(|()| import.finish()).is_err(), "{text}");
    }
}

#[test]
fn what_is_no_json_stays_none() {
    for text in ["", "x", "{\"a", "]", "{\"user\": 0,72, \"nice\": 1}"] {
        assert!(reports(text).is_empty(), "{text}");
        let text = format!("{BEFORE}{text}");
        assert!(reports(&text).is_empty(), "{text}");
    }
}
