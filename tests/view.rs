//! `sonde view` through its HTTP API: the numbers are those of `sonde get`, live and recorded.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and run programs"
)]

#[path = "support/browser.rs"]
mod browser;
#[path = "view/live.rs"]
mod live;
#[path = "support/made.rs"]
mod made;
#[path = "support/recorder.rs"]
mod recorder;
mod support;

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use browser::{View, encoded};
use rustix::process::Signal;
use serde_json::Value;
use support::{get, output, scratch, sonde, succeed};

fn eval(view: &View, expression: &str, more: &str) -> Value {
    view.get(&format!("eval?run=a&expr={}{more}", encoded(expression)))
}

fn near(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        _ => a.is_null() && b.is_null(),
    }
}

#[test]
fn lines_have_the_numbers_of_get_and_their_parts_sum_to_the_whole() {
    let dir = scratch("view-lines");
    let run = made::disk_run(&dir.join("run"), 20);
    let view = View::open(&[&run]);
    for expression in [
        "disk.bytes by op",
        "disk.ios",
        "disk.mean_latency by device",
        "disk.bytes by device where op = read",
        "self.resident",
    ] {
        let shown = eval(&view, expression, "&width=10");
        let answer = get(&run, expression);
        let (a, b) = (&shown["groups"], &answer["groups"]);
        assert_eq!(a.as_array().unwrap().len(), b.as_array().unwrap().len());
        for (a, b) in a.as_array().unwrap().iter().zip(b.as_array().unwrap()) {
            for name in ["total", "mean", "min", "max"] {
                assert!(near(&a[name], &b[name]), "{expression} {name}: {a} {b}");
            }
            let columns = shown["times"].as_array().unwrap().len();
            for series in ["mean", "min", "max"] {
                assert_eq!(a["series"][series].as_array().unwrap().len(), columns);
            }
        }
        assert!(shown["unit"].is_string());
        assert_eq!(shown["value_unit"], answer["unit"]);
    }
    // Six devices, of which two are told: the rest is the rest.
    let whole = eval(&view, "disk.bytes", "&width=10");
    let parts = eval(&view, "disk.bytes by device", "&width=10&top=2");
    assert_eq!(parts["others"]["count"], 4);
    for column in 0..parts["times"].as_array().unwrap().len() {
        let of = |group: &Value| group["series"]["mean"][column].as_f64().unwrap();
        let sum = of(&parts["groups"][0]) + of(&parts["groups"][1]) + of(&parts["others"]);
        let all = of(&whole["groups"][0]);
        assert!(
            (sum - all).abs() <= 1e-9 * all.max(1.0),
            "{column}: {sum} {all}"
        );
    }
    // Zoomed in there is more to see, of less.
    let zoomed = eval(&view, "disk.bytes", "&from=5&to=9&width=1000");
    assert_eq!(zoomed["bucket"], 1.0);
    assert_eq!(zoomed["times"].as_array().unwrap().len(), 4);
    let within = get(&run, "disk.bytes where time in 5.5s..9.5s");
    assert!(near(
        &zoomed["groups"][0]["total"],
        &within["groups"][0]["total"]
    ));
}

#[test]
fn heat_maps_count_everything_and_tell_what_is_hidden() {
    let dir = scratch("view-heat");
    let run = made::disk_run(&dir.join("run"), 30);
    let view = View::open(&[&run]);
    let expression = "disk.ios by latency";
    let answer = get(&run, expression);
    let total: f64 = answer["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["total"].as_f64().unwrap())
        .sum();
    for more in [
        "",
        "&rows=8",
        "&outliers=0",
        "&outliers=0.05&scale=linear",
        "&width=3",
    ] {
        let shown = eval(&view, expression, more);
        let heat = &shown["heat"];
        let numbers = |v: &Value| -> Vec<f64> {
            let all = v.as_array().unwrap().iter();
            all.map(|n| n.as_f64().unwrap_or(0.0)).collect()
        };
        let (times, edges) = (numbers(&heat["times"]), numbers(&heat["edges"]));
        let cells = numbers(&heat["cells"]);
        assert!(times.is_sorted() && edges.is_sorted(), "{more}");
        assert_eq!(cells.len(), (times.len() - 1) * (edges.len() - 1), "{more}");
        let seen: f64 = cells.iter().sum();
        let hidden = heat["hidden"]["amount"].as_f64().unwrap();
        assert!(
            (seen + hidden - total).abs() < 1e-6,
            "{more}: {seen} + {hidden} != {total}"
        );
        assert!(hidden <= total * 0.05 + 1e-9);
        assert_eq!(heat["total"].as_f64(), Some(total));
        let fold: f64 = numbers(&shown["fold"]["amounts"]).iter().sum();
        assert!((fold - seen).abs() < 1e-6);
        for name in ["p50", "p90", "p99"] {
            let told = &shown["fold"]["quantiles"][name];
            assert!(near(told, &answer["quantiles"][0][name]), "{name}: {told}");
        }
    }
    let (status, error) = view.refused(&format!(
        "eval?run=a&expr={}",
        encoded("disk.ios by op, latency")
    ));
    assert_eq!(status, 400);
    assert!(error["hint"].as_str().unwrap().contains("where"), "{error}");
}

#[test]
fn errors_point_at_the_word() {
    let dir = scratch("view-errors");
    let run = made::disk_run(&dir.join("run"), 3);
    let view = View::open(&[&run]);
    let ask = |expression: &str| view.refused(&format!("eval?run=a&expr={}", encoded(expression)));
    let (status, error) = ask("disk.bytes by colour");
    assert_eq!(
        (status, error["at"].clone()),
        (400, serde_json::json!([14, 20]))
    );
    assert!(error["hint"].is_string() && error["message"].as_str().unwrap().contains("colour"));
    for expression in [
        "",
        "disk",
        "disk.bytes where",
        "x.y",
        "disk.bytes by op where latency ~ \"(\"",
    ] {
        assert_eq!(ask(expression).0, 400, "{expression}");
    }
    // What the run lacks: what to record.
    let (_, error) = ask("tcp.connects by latency");
    assert!(error["message"].is_string(), "{error}");
    for path in [
        "eval?run=zz&expr=disk.bytes",
        "eval?run=..%2F..&expr=disk.bytes",
        "eval?run=a&expr=disk.bytes&width=0",
        "eval?run=a&expr=disk.bytes&width=99999999",
        "eval?run=a&expr=disk.bytes&from=nan",
        "eval?run=a&expr=disk.bytes&from=9&to=3",
        "eval?run=a&expr=disk.ios+by+latency&outliers=0.5",
        "eval?run=a&expr=disk.bytes&scale=cubic",
        "events?run=a&subject=cheese",
        "levels?run=a&expr=disk.ios+by+op",
        "levels?run=a&expr=disk.ios+by+file&from=9&to=3",
        "stream",
        "nothing",
    ] {
        let (status, error) = view.refused(path);
        assert!([400, 404].contains(&status), "{path}: {status} {error}");
        assert!(error["message"].is_string(), "{path}");
    }
}

#[test]
fn events_are_found_told_and_exported() {
    let dir = scratch("view-events");
    let run = made::disk_run(&dir.join("run"), 10);
    let view = View::open(&[&run]);
    let query = format!(
        "events?run=a&subject=disk&where={}",
        encoded("latency > 1ms")
    );
    let found = view.get(&format!("{query}&order=latency&limit=5"));
    let answer = get(&run, "disk.ios by process where latency > 1ms");
    let total: f64 = answer["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["total"].as_f64().unwrap())
        .sum();
    assert_eq!(found["matched"].as_f64(), Some(total));
    assert_eq!(found["rows"].as_array().unwrap().len(), 5);
    let columns = found["columns"].as_array().unwrap();
    let place = columns.iter().position(|c| c["name"] == "latency").unwrap();
    let values: Vec<f64> = found["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r[place].as_f64().unwrap())
        .collect();
    assert!(
        values.is_sorted_by(|a, b| a >= b) && values[4] > 0.001,
        "{values:?}"
    );
    let csv = view.ask(
        "GET",
        &format!("/api/v1/{query}&format=csv&limit=100000"),
        b"",
    );
    let text = String::from_utf8(csv.body).unwrap();
    assert_eq!(text.lines().count() as f64, total + 1.0);
    assert!(text.starts_with("time,seconds,device,"), "{text:.80}");
    // A run without them says what to record.
    let plain = made::plain_run(&dir.join("plain"));
    let view = View::open(&[&plain]);
    let (status, error) = view.refused("events?run=a&subject=disk");
    assert_eq!(status, 409);
    assert!(
        error["hint"].as_str().unwrap().contains("record"),
        "{error}"
    );
}

#[test]
fn several_runs_worksheets_output_and_the_rest() {
    let dir = scratch("view-rest");
    let run = made::disk_run(&dir.join("one"), 5);
    let recorded = dir.join("two");
    let script = "echo first; echo second >&2; sleep 0.3";
    succeed(
        sonde()
            .args([
                "record", "--detail", "samples", "--every", "100ms", "-q", "-o",
            ])
            .arg(&recorded)
            .args(["--", "sh", "-c", script]),
    );
    let view = View::open(&[&run, &recorded]);
    let runs = view.get("runs");
    assert_eq!(
        (runs["live"].clone(), runs["runs"][1]["id"].clone()),
        (false.into(), "b".into())
    );
    assert_eq!(runs["runs"][1]["command"][2], script);
    assert_eq!(runs["runs"][0]["phases"][1]["name"], "steady");
    // The share is that of the samples, as `get` and `show` tell it; start and end stand beside it.
    let own = &runs["runs"][1]["own_cost"];
    let seconds = runs["runs"][1]["seconds"].as_f64().unwrap();
    let sampling = get(&recorded, "self.time")["groups"][0]["total"].clone();
    let told = own["cpu_share"].as_f64().unwrap() * seconds;
    assert!(near(&told.into(), &sampling), "{own}: {sampling}");
    assert!(own["cpu_at_ends"].as_f64() >= Some(0.0), "{own}");
    assert!(
        runs["runs"][0]["subjects"]["disk"]
            .as_array()
            .unwrap()
            .contains(&"latency".into())
    );
    let catalog = view.get("catalog");
    assert_eq!(
        catalog["subjects"].as_array().unwrap().len(),
        run::CATALOG.len()
    );
    assert_eq!(view.get("output?run=b&stream=stdout")["text"], "first\n");
    assert_eq!(
        view.get("output?run=b&stream=stderr&offset=3")["text"],
        "ond\n"
    );
    assert_eq!(view.get("output?run=a")["total"], 0);
    assert!(view.get("inventory?run=b")["start"]["kernel"]["release"].is_string());
    assert!(view.get("findings?run=b")["findings"].is_array());
    let disks = view.get("levels?run=b&expr=disk.bytes+by+device");
    assert!(
        disks["roots"].is_array() && disks["adds"] == false,
        "{disks}"
    );
    let files = view.get("levels?run=a&expr=disk.ios+by+file");
    assert_eq!(files["roots"][0]["name"], "/", "{files}");
    assert_eq!(files["roots"][0]["children"][0]["name"], "/data");
    let whole = view.get("eval?run=a&expr=disk.ios+where+file+%21%3D+nothing");
    let whole = whole["groups"][0]["total"].as_f64();
    assert!(whole > Some(0.0) && files["roots"][0]["sum"].as_f64() == whole);
    let sheet = br#"{"v":1,"panels":[]}"#;
    let kept = view.ask("PUT", "/api/v1/worksheets/slow%20disks?run=a", sheet);
    assert_eq!(kept.status, 200, "{kept:?}");
    assert!(run.join("worksheets/slow disks.json").exists());
    let all = view.get("worksheets?run=a");
    assert_eq!(all["worksheets"][0]["worksheet"]["v"], 1);
    // A run with worksheets is a run.
    succeed(sonde().arg("show").arg(&run));
    let (status, said) = view.end();
    assert!(status.success(), "{said}");
}

/// The columns of a ratio can be put together: by what they were divided by they are the whole.
#[test]
fn columns_of_a_ratio_tell_what_they_were_divided_by() {
    let run = made::disk_run(&scratch("view-ratio").join("one"), 9);
    let view = View::open(&[&run]);
    let told = eval(&view, "disk.mean_latency", "&width=3");
    let series = &told["groups"][0]["series"];
    let of = |name: &str| -> Vec<f64> {
        let numbers = series[name].as_array().expect("numbers").iter();
        numbers.map(|n| n.as_f64().unwrap_or(0.0)).collect()
    };
    let (means, weights) = (of("mean"), of("weight"));
    assert!(means.len() > 1, "{told}");
    let above: f64 = means.iter().zip(&weights).map(|(m, w)| m * w).sum();
    let mean = get(&run, "disk.mean_latency")["groups"][0]["mean"].clone();
    assert!(
        near(&(above / weights.iter().sum::<f64>()).into(), &mean),
        "{told}"
    );
    let sums = eval(&view, "disk.bytes", "");
    assert!(sums["groups"][0]["series"]["weight"].is_null());
    view.end();
}

#[test]
fn arrow_has_what_json_has() {
    let run = made::disk_run(&scratch("view-arrow").join("one"), 5);
    let view = View::open(&[&run]);
    let arrow = format!("/api/v1/eval?expr={}", encoded("disk.ios by latency"));
    let host = view.host();
    let accept = ("Accept", "application/vnd.apache.arrow.stream");
    let bytes = view.raw(&browser::request(
        "GET",
        &arrow,
        &host,
        &[view.cookie(), accept],
        b"",
    ));
    assert_eq!(bytes.header("content-type"), Some(accept.1));
    let reader = arrow_ipc::reader::StreamReader::try_new(bytes.body.as_slice(), None).unwrap();
    let names: Vec<String> = reader
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(names, ["time", "interval", "latency", "value"]);
    let mut sum = 0.0;
    for batch in reader {
        let batch = batch.unwrap();
        let values = batch
            .column(3)
            .as_any()
            .downcast_ref::<arrow_array::Float64Array>();
        sum += values.unwrap().iter().flatten().sum::<f64>();
    }
    let told = eval(&view, "disk.ios by latency", "")["heat"]["total"]
        .as_f64()
        .unwrap();
    assert!((sum - told).abs() < 1e-6, "{sum} {told}");
    // Of lines those beyond `top` are left out, which is told.
    let lines = format!(
        "/api/v1/eval?top=2&expr={}",
        encoded("disk.bytes by device")
    );
    let headers = [view.cookie(), accept];
    let bytes = view.raw(&browser::request("GET", &lines, &host, &headers, b""));
    let reader = arrow_ipc::reader::StreamReader::try_new(bytes.body.as_slice(), None).unwrap();
    assert_eq!(reader.schema().metadata()["others"], "4");
    view.end();
}

#[test]
fn before_the_run_there_is_nothing() {
    let dir = scratch("view-before");
    let run = made::disk_run(&dir.join("run"), 10);
    let view = View::open(&[&run]);
    for request in ["eval?expr=disk.bytes", "levels?expr=disk.bytes+by+device"] {
        for window in ["from=-10&to=-5", "from=-10&to=0"] {
            let (status, error) = view.refused(&format!("{request}&{window}"));
            assert_eq!(status, 400, "{request} {window}");
            assert!(
                error["message"].as_str().unwrap().contains("start"),
                "{error}"
            );
        }
        view.get(&format!("{request}&from=-10&to=5"));
    }
}

#[test]
fn what_cannot_be_shown_is_said() {
    let dir = scratch("view-bad");
    let bad = |arguments: &[&Path]| {
        let out = output(sonde().arg("view").arg("--no-open").args(arguments));
        assert_eq!(out.status.code(), Some(2));
        String::from_utf8(out.stderr).unwrap()
    };
    assert!(bad(&[&dir.join("none")]).contains("no such directory"));
    assert!(bad(&[&dir]).contains("is not a run"));
    let run = made::disk_run(&dir.join("run"), 3);
    let newer = dir.join("newer");
    std::fs::create_dir(&newer).unwrap();
    let text = std::fs::read_to_string(run.join("run.json")).unwrap();
    let text = text.replacen("\"format\": 1", "\"format\": 999", 1);
    std::fs::write(newer.join("run.json"), text).unwrap();
    assert!(bad(&[&run, &newer]).contains("run format 999"));
    // A port that is taken.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let listen = Path::new(&address);
    let said = bad(&[&run, Path::new("--listen"), listen]);
    assert!(
        said.contains("cannot listen") && said.contains("hint:"),
        "{said}"
    );
    let said = bad(&[&run, Path::new("--listen"), Path::new("nowhere")]);
    assert!(said.contains("--listen nowhere"), "{said}");
    assert!(bad(&[&run, Path::new("--cert"), Path::new("x")]).contains("--key"));
    // What says how to observe does nothing with a run.
    for (name, value) in [
        ("--every", "1s"),
        ("--detail", "events"),
        ("--sources", "cpu"),
    ] {
        let said = bad(&[&run, Path::new(name), Path::new(value)]);
        assert!(said.contains(&format!("{name} is for")), "{said}");
    }
    // A damaged table is told, and the others answer.
    std::fs::write(run.join("disk_latency.parquet"), b"nonsense").unwrap();
    let view = View::open(&[&run]);
    let problems = view.get("runs")["runs"][0]["problems"].to_string();
    assert!(problems.contains("disk_latency"), "{problems}");
    let (status, error) = view.refused("eval?run=a&expr=disk.ios+by+latency");
    assert_eq!(status, 500);
    assert!(
        error["message"].as_str().unwrap().contains("damaged"),
        "{error}"
    );
    eval(&view, "disk.bytes by op", "");
}
