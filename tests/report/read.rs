//! What other programs read in reports: mails by Python's parser, spreadsheets by openpyxl, the
//! page by Chromium without a network.

use super::*;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/report")
        .join(name)
}

/// What the script `name` prints of `file`.
fn read_by(name: &str, file: &Path) -> Option<Value> {
    let python = support::python::python(
        include_str!("requirements.txt"),
        &script("requirements.txt"),
    )?;
    let text = succeed(Command::new(python).arg(script(name)).arg(file));
    Some(serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn a_mail_is_read_and_its_pictures_decoded() {
    let dir = scratch("report-eml");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let title =
        "Größe: a\r\nBcc: x@example.org <b>, 日本語の長い名前の長い名前の長い名前の長い名前";
    let run = made(&dir, title);
    let Some(mail) = read_by("mail.py", &report(&run, "a.eml", &ASKED)) else {
        return;
    };
    assert_eq!(mail["defects"], serde_json::json!([]), "{mail}");
    assert_eq!(mail["bare"], 0, "each line ends with CR LF");
    assert!(mail["longest"].as_u64() <= Some(998), "{}", mail["longest"]);
    let headers = mail["headers"].as_object().unwrap();
    assert_eq!(headers["Subject"], title.replace("\r\n", "  "));
    assert_eq!(headers["X-Unsent"], "1");
    assert!(headers.contains_key("Date") && headers.contains_key("MIME-Version"));
    assert!(!headers.contains_key("Bcc"), "{headers:?}");
    let structure = [
        "multipart/alternative",
        "text/plain",
        "multipart/related",
        "text/html",
        "image/png",
        "image/png",
    ];
    assert_eq!(mail["structure"], serde_json::json!(structure));
    // Each picture is shown where it belongs, and is one.
    let sources: Vec<&str> = mail["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s.as_str().unwrap())
        .collect();
    let pictures = mail["pictures"].as_object().unwrap();
    assert_eq!(sources.len(), 2);
    for source in sources {
        let picture = &pictures[source.strip_prefix("cid:").unwrap()];
        assert_eq!(picture["size"], serde_json::json!([1000, 480]));
        assert!(picture["colours"].as_u64() > Some(20), "{picture}");
    }
    // It takes the fonts and sizes of whoever reads, and nothing of a name is markup.
    let of = |name: &str| -> Vec<String> { serde_json::from_value(mail[name].clone()).unwrap() };
    let tags = [
        "b", "body", "br", "head", "hr", "html", "img", "meta", "p", "table", "td", "th", "title",
        "tr",
    ];
    assert!(
        of("tags").iter().all(|t| tags.contains(&t.as_str())),
        "{:?}",
        of("tags")
    );
    assert!(
        !of("attributes")
            .iter()
            .any(|a| a == "onerror" || a == "size" || a == "face")
    );
    assert!(
        of("styles")
            .iter()
            .all(|s| !s.contains("font") && !s.contains("color")),
        "{:?}",
        of("styles")
    );
    let rows: Vec<Vec<String>> = serde_json::from_value(mail["rows"].clone()).unwrap();
    for name in HOSTILE {
        let cell = name.replace(['\n', '\u{202e}', '\u{7}'], "\u{fffd}");
        let same =
            |row: &&Vec<String>| row[0].replace('\u{fffd}', "") == cell.replace('\u{fffd}', "");
        // In the summary, and with its numbers below.
        let found: Vec<_> = rows.iter().filter(same).collect();
        let told = found
            .iter()
            .any(|row| row.last().is_some_and(|c| c == "11"));
        assert!(told, "{name}: {found:?}");
        let begin: String = cell.chars().take(5).collect();
        assert!(mail["text"].as_str().unwrap().contains(&begin), "{mail}");
    }
}

/// The rows of a sheet from the one on that begins with `first`, up to an empty one.
fn below<'v>(sheet: &'v Value, first: &str) -> Vec<&'v Vec<Value>> {
    let rows = sheet["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r.as_array().unwrap());
    rows.skip_while(|r| r[0] != first)
        .take_while(|r| !r[0].is_null())
        .collect()
}

#[test]
fn a_spreadsheet_has_real_numbers_times_and_charts() {
    let dir = scratch("report-xlsx");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, HOSTILE[0]);
    let Some(book) = read_by("sheet.py", &report(&run, "a.xlsx", &ASKED)) else {
        return;
    };
    assert_eq!(book["title"], HOSTILE[0]);
    let sheets = book["sheets"].as_object().unwrap();
    let names: Vec<&String> = sheets.keys().collect();
    assert_eq!(
        names,
        ["Summary", "1 process.time", "2 disk.ios", "3 disk.ios"]
    );
    assert!(!book.to_string().contains("\"formula\""), "{book}");
    let summary = sheets["Summary"]["rows"].as_array().unwrap();
    assert_eq!(summary[0][0], HOSTILE[0]);
    assert_eq!(summary[1][1]["date"].as_f64(), Some(1.8e9));
    // Its tables too: numbers below a heading with their unit.
    let table = summary.iter().position(|r| r[1] == "process").unwrap();
    assert_eq!(summary[table][2], "of 1 cpu %");
    let busiest = get(&run, ASKED[0])["groups"][0]["mean"].as_f64().unwrap();
    let told = summary[table + 1][2].as_f64().unwrap();
    assert!((told - busiest * 100.0).abs() < 1e-9, "{told} {busiest}");
    processes(&run, &sheets["1 process.time"]);
    latencies(&run, &sheets["2 disk.ios"]);
}

#[test]
fn a_sheet_has_all_rows_and_numbers_as_keys() {
    let dir = scratch("report-xlsx-keys");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, "a");
    let expression = "disk.mean_size by latency";
    let Some(book) = read_by("sheet.py", &report(&run, "a.xlsx", &[expression])) else {
        return;
    };
    let sheet = &book["sheets"]["1 disk.mean_size"];
    let rows = below(sheet, "latency ms");
    let said = get(&run, expression);
    let said = said["groups"].as_array().unwrap();
    assert_eq!(rows.len(), said.len() + 1);
    assert!(said.len() > 20, "more than the table of a mail has");
    for row in &rows[1..] {
        let (latency, size) = (row[0].as_f64().unwrap(), row[1].as_f64().unwrap());
        assert!((0.12..25.0).contains(&latency) && size == 4.0, "{row:?}");
    }
    let text = sheet["rows"].to_string();
    assert!(!text.contains("not in this table"), "{text}");
    let text = std::fs::read_to_string(report(&run, "a.md", &[expression])).unwrap();
    assert!(text.contains("not in this table"), "{text}");
}

fn processes(run: &Path, sheet: &Value) {
    let groups = below(sheet, "process");
    let said = get(run, ASKED[0]);
    let said = said["groups"].as_array().unwrap();
    assert_eq!(groups.len(), said.len() + 1);
    assert_eq!(groups[0][1], "total s");
    assert_eq!(groups[0][2], "mean ms/s");
    for (row, group) in groups[1..].iter().zip(said) {
        let close = |cell: &Value, value: &Value, by: f64| {
            let (cell, value) = (cell.as_f64().unwrap(), value.as_f64().unwrap() / by);
            assert!(
                (cell - value).abs() <= value.abs() * 1e-12,
                "{cell}, {value}"
            );
        };
        close(&row[1], &group["total"], 1.0);
        close(&row[2], &group["mean"], 1e-3);
        close(&row[4], &group["max"], 1e-3);
        assert_eq!(row[5], 11);
    }
    // A row an interval, and one without values for the second that was not sampled.
    let series = below(sheet, "time (UTC)");
    assert_eq!(series.len(), 1 + 12);
    let blank: Vec<usize> = (1..=12).filter(|r| series[*r][3].is_null()).collect();
    assert_eq!(blank, [8]);
    for (row, second) in [(1, 1), (7, 7), (9, 9), (12, 12)] {
        assert_eq!(
            series[row][0]["date"].as_f64(),
            Some(1.8e9 + f64::from(second))
        );
        assert_eq!(series[row][1].as_f64(), Some(f64::from(second)));
        // The largest: 60 ms a second more each second.
        let value = series[row][3].as_f64().unwrap();
        assert!((value - 60.0 * f64::from(second)).abs() < 1e-9, "{value}");
    }
    let chart = &sheet["charts"][0];
    assert_eq!(chart["kind"], "ScatterChart");
    assert_eq!(chart["time"], "hh:mm:ss");
    let lines = chart["series"].as_array().unwrap();
    assert_eq!(lines.len(), HOSTILE.len());
    assert_eq!(lines[0]["x"], "'1 process.time'!$A$28:$A$39");
    assert_eq!(lines[0]["y"], "'1 process.time'!$D$28:$D$39");
    assert_eq!(lines[0]["name"], "'1 process.time'!$D$27");
}

fn latencies(run: &Path, sheet: &Value) {
    let said = &get(run, ASKED[1])["quantiles"][0];
    let groups = below(sheet, "count");
    assert_eq!(groups[0][2], "p50 ms");
    assert_eq!(groups[1][0].as_f64(), said["total"].as_f64());
    let p50 = groups[1][2].as_f64().unwrap();
    assert!(
        (p50 - said["p50"].as_f64().unwrap() * 1e3).abs() < 1e-9,
        "{p50}"
    );
    let kinds: Vec<&Value> = sheet["charts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["kind"])
        .collect();
    assert_eq!(kinds, ["ScatterChart", "BarChart"]);
    assert_eq!(sheet["pictures"], 1, "the heat map");
    let series = below(sheet, "time (UTC)");
    let counts: f64 = series[1..].iter().filter_map(|r| r[3].as_f64()).sum();
    assert_eq!(Some(counts), said["total"].as_f64());
}

/// What a browser without a network makes of `file`: the page's elements once it has drawn.
fn opened(file: &Path) -> String {
    let mut chromium = Command::new("unshare");
    chromium.args([
        "--net",
        "timeout",
        "60",
        "chromium",
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=8000",
        "--dump-dom",
    ]);
    succeed(chromium.arg(format!("file://{}", file.display())))
}

/// What is between `from` and the first `to` after it.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let rest = text.split_once(from).map_or("", |t| t.1);
    rest.split_once(to).map_or("", |t| t.0)
}

#[test]
fn a_page_opens_from_disk_without_a_network() {
    let dir = scratch("report-html");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, HOSTILE[5]);
    let file = dir.join("a.html");
    let mut command = sonde();
    command.arg("report").arg(&run).arg("-o").arg(&file);
    let out = output(command.args(["--expr", ASKED[0], "--expr", ASKED[1]]));
    if String::from_utf8_lossy(&out.stderr).contains("built without its page") {
        assert!(!file.exists());
        assert!(!can_run(
            "the page of a report",
            &[Need::Path("web/dist/index.html")]
        ));
        return;
    }
    assert!(out.status.success(), "{out:?}");
    // What the page cannot show is told when it is written.
    let other = dir.join("b.html");
    let mut command = sonde();
    command.arg("report").arg(&run).arg("-o").arg(&other);
    let missing = output(command.args(["--expr", "disk.ios by op, latency"]));
    let said = String::from_utf8_lossy(&missing.stderr);
    assert_eq!(missing.status.code(), Some(1), "{said}");
    let told = "the page does not show `disk.ios by op, latency`";
    assert!(said.contains(told) && said.contains("hint:"), "{said}");
    assert!(other.exists());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.len() < 3_000_000, "{} bytes", text.len());
    // Nothing is loaded, and a name ends no element.
    for address in [
        "src=\"/",
        "href=\"/",
        "src=\"http",
        "href=\"http",
        "url(http",
    ] {
        assert!(!text.contains(address), "{address}");
    }
    let carried = between(&text, "id=\"sonde-report\">", "</script>");
    let found: Value = serde_json::from_str(carried).unwrap();
    assert_eq!(found["runs"]["runs"][0]["title"], HOSTILE[5]);
    for expression in &ASKED[..2] {
        let answer = &found["answers"][format!("a|{expression}")];
        let sum: f64 = match answer["groups"].as_array() {
            Some(groups) => groups.iter().map(|g| g["total"].as_f64().unwrap()).sum(),
            None => answer["heat"]["total"].as_f64().unwrap(),
        };
        assert!(
            (sum - total_of(&run, expression)).abs() < 1e-6,
            "{expression}"
        );
    }
    let needs = [
        Need::Program("chromium"),
        Need::Program("unshare"),
        Need::Root,
    ];
    if !can_run("a page opens from disk", &needs) {
        return;
    }
    let page = opened(&file);
    let page = &page[..page.find("id=\"sonde-report\"").unwrap()];
    // What `get` says stands beside the picture.
    assert!(page.contains("4.20"), "{page}");
    assert!(page.contains("on box for 12.0 s"), "its summary: {page}");
    for name in ["a,b\"c\"", "&lt;img src=x onerror="] {
        assert!(page.contains(name), "{name}: {page}");
    }
    assert!(!page.contains("<img src=x"), "{page}");
    assert!(page.contains("<canvas"), "{page}");
    for wrong in ["Cannot read", "not in this report", "was refused"] {
        assert!(!page.contains(wrong), "{wrong}: {page}");
    }
}

/// A page has the summary of the other forms, and what its findings look at, whatever else was
/// asked for.
#[test]
fn a_page_has_the_summary_and_what_findings_look_at() {
    let dir = scratch("report-html-summary");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = throttled(&dir);
    let file = dir.join("a.html");
    let mut command = sonde();
    command.arg("report").arg(&run).arg("-o").arg(&file);
    let out = output(command.args(["--expr", "self.time"]));
    if String::from_utf8_lossy(&out.stderr).contains("built without its page") {
        return;
    }
    assert!(out.status.success(), "{out:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let carried = between(&text, "id=\"sonde-report\">", "</script>");
    let found: Value = serde_json::from_str(carried).unwrap();
    let parts = found["summary"].as_array().unwrap();
    let lines: Vec<&str> = parts.iter().filter_map(|p| p["line"].as_str()).collect();
    assert!(lines[0].starts_with("on box for 20.0 s"), "{lines:?}");
    assert!(parts.iter().any(|p| p["label"] == "found"), "{parts:?}");
    let shown = succeed(sonde().arg("show").arg(&run).arg("--all"));
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts.iter().filter_map(|p| p["text"].as_str()) {
        let part = part.split("look at:").next().unwrap();
        assert!(
            one_line(&shown).contains(&one_line(part)),
            "{part}: {shown}"
        );
    }
    let findings = found["findings"]["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        let key = format!("a|{}", finding["expr"].as_str().unwrap());
        assert!(found["answers"][&key].is_object(), "{key}");
    }
}

/// A run of twenty seconds whose control group was held back.
fn throttled(dir: &Path) -> PathBuf {
    let path = dir.join("run");
    let mut manifest = Manifest::new("box", START, 1.0);
    let mut writer = Writer::create(&path, &manifest).unwrap();
    let mut sink = Sink::new();
    let group = sink.word("/held");
    for second in 1..=20 {
        sink.at(START + second * SECOND, 1.0);
        let held = [0.4, 10.0, 7.0, 0.5];
        sink.row(TableId::of("cgroup_throttle"), &[group], &held);
        sink.row(TableId::of("self"), &[], &[0.0; 7]);
        writer.append(&mut sink, START + second * SECOND);
    }
    manifest.ended = Some(START + 20 * SECOND);
    writer.finish(manifest).unwrap();
    path
}
