//! What a recorded benchmark says of its own work is in the run.
#![allow(clippy::disallowed_methods, reason = "tests write files")]

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Need, can_run, scratch, sonde, succeed};

fn recorded(dir: &Path, script: &str) -> String {
    let run = dir.join("run");
    let mut command = sonde();
    command
        .args([
            "record", "-q", "--detail", "samples", "--every", "200ms", "-o",
        ])
        .arg(&run)
        .args(["--", "sh", "-c", script])
        .current_dir(dir);
    succeed(&mut command)
}

fn groups(dir: &Path, expression: &str) -> Vec<Value> {
    let mut command = sonde();
    command
        .arg("get")
        .arg(dir.join("run"))
        .args([expression, "--json"]);
    let answer: Value = serde_json::from_str(&succeed(&mut command)).expect("JSON");
    answer["groups"].as_array().expect("groups").clone()
}

fn total(dir: &Path, expression: &str) -> f64 {
    let all = groups(dir, expression);
    all.iter().filter_map(|g| g["total"].as_f64()).sum()
}

/// The last two cells of the row of a benchmark that begins so, in seconds.
fn latency_and_p99(screen: &str, begins: &str) -> Vec<f64> {
    let row = screen.lines().find(|l| l.starts_with(begins));
    let row = row.unwrap_or_else(|| panic!("no row {begins}:\n{screen}"));
    let cells: Vec<&str> = row.split("  ").filter(|c| !c.is_empty()).collect();
    let told = cells[cells.len() - 2..].iter().map(|cell| {
        let amount = run::unit::parse_amount(&cell.trim().replace('µ', "u"));
        amount
            .unwrap_or_else(|e| panic!("{cell}: {e}\n{screen}"))
            .value
    });
    told.collect()
}

fn after<'a>(text: &'a str, before: &str) -> &'a str {
    text.split_once(before).expect(before).1
}

const JOB: &str = "fio --name=mixed --filename=data --size=16m --rw=randrw --bs=4k \
                   --ioengine=psync --time_based --runtime=1 --eta=never";

/// fio's JSON after other lines, and its text, agree with what is asked of the run.
#[test]
fn fios_own_numbers_are_in_the_run() {
    if !can_run("fios_own_numbers", &[Need::Program("fio")]) {
        return;
    }
    let dir = scratch("workload-fio");
    let json = format!("echo starting; {JOB} --output-format=json+ | tee result");
    recorded(&dir, &json);
    let text = std::fs::read_to_string(dir.join("result")).expect("the result");
    let result: Value = serde_json::from_str(&text[text.find('{').expect("JSON")..]).expect("JSON");
    let job = &result["jobs"][0];
    for op in ["read", "write"] {
        let of = |field: &str| job[op][field].as_f64().expect("a number");
        let asked = |measure: &str| total(&dir, &format!("workload.{measure} where op = {op}"));
        assert_eq!(asked("ops"), of("total_ios"), "{op}");
        assert_eq!(asked("bytes"), of("io_bytes"), "{op}");
        let by_latency = total(&dir, &format!("workload.ops by latency where op = {op}"));
        assert_eq!(by_latency, of("total_ios"), "{op}");
    }
    // The screen has them, with mean and p99 of its latencies from submission on.
    let screen = succeed(sonde().arg("show").arg(dir.join("run")));
    for op in ["read", "write"] {
        let told = latency_and_p99(&screen, &format!("mixed {op} "));
        let clat = &job[op]["clat_ns"];
        let fios = [&clat["mean"], &clat["percentile"]["99.000000"]];
        for (told, fio) in told.into_iter().zip(fios) {
            let fio = fio.as_f64().expect("a number") / 1e9;
            assert!(
                (told / fio - 1.0).abs() < 0.03,
                "{op}: {told} {fio}\n{screen}"
            );
        }
    }
    std::fs::remove_dir_all(dir).unwrap();
    let dir = scratch("workload-fio-text");
    recorded(&dir, &format!("{JOB} | tee result"));
    assert!(total(&dir, "workload.bytes where tool = fio") > 1e6);
    let text = std::fs::read_to_string(dir.join("result")).expect("the result");
    let screen = succeed(sonde().arg("show").arg(dir.join("run")));
    for op in ["read", "write"] {
        let of_op = after(&text, &format!("  {op}: IOPS="));
        let scale = |text: &str| match text.split_once(')').expect("a unit").0 {
            "nsec" => 1e-9,
            "usec" => 1e-6,
            "msec" => 1e-3,
            unit => panic!("{unit}"),
        };
        let number = |text: &str| {
            let end = text.find([',', ']']).expect("its end");
            text[..end].trim().parse::<f64>().expect("a number")
        };
        let clat = after(of_op, "    clat (");
        let shares = after(of_op, "clat percentiles (");
        let fios = [
            number(after(clat, "avg=")) * scale(clat),
            number(after(shares, "99.00th=[")) * scale(shares),
        ];
        let told = latency_and_p99(&screen, &format!("mixed {op} "));
        for (told, fio) in told.into_iter().zip(fios) {
            assert!(
                (told / fio - 1.0).abs() < 0.006,
                "{op}: {told} {fio}\n{screen}\n{text}"
            );
        }
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn copies_of_dd_are_operations_with_their_bytes() {
    let dir = scratch("workload-dd");
    recorded(
        &dir,
        "echo; dd if=/dev/zero of=out bs=64k count=40; sleep 0.3; dd if=out of=/dev/null bs=64k",
    );
    assert_eq!(
        total(&dir, "workload.bytes where tool = dd"),
        2.0 * 40.0 * 65536.0
    );
    std::fs::remove_dir_all(dir).unwrap();
    // What is no benchmark makes no rows.
    let dir = scratch("workload-none");
    recorded(&dir, "echo 5 bytes copied, 1 s; sleep 0.2");
    assert!(!dir.join("run/workload.parquet").exists());
    std::fs::remove_dir_all(dir).unwrap();
}

/// What a tool tells of its quantiles is on the screen, also where it prints no distribution or a coarse one.
#[test]
fn told_quantiles_are_on_the_screen() {
    let dir = scratch("workload-told");
    let result = |rate: f64, p99: f64| {
        format!(
            "====== GET ======\n  100000 requests completed in {:.2} seconds\n  50 parallel clients\n\n\
             Latency by percentile distribution:\n0.000% <= 0.103 milliseconds (cumulative count 4)\n\
             50.000% <= 0.351 milliseconds (cumulative count 50000)\n\
             100.000% <= 5.903 milliseconds (cumulative count 100000)\n\nSummary:\n  \
             throughput summary: {rate:.2} requests per second\n  latency summary (msec):\n          \
             avg       min       p50       p95       p99       max\n        \
             0.671     0.103     0.351     3.343     {p99:.3}     5.903\n",
            1e5 / rate
        )
    };
    let shown = |name: &str, text: &str| {
        let (file, run) = (dir.join(name), dir.join(format!("{name}.run")));
        std::fs::write(&file, text).unwrap();
        succeed(sonde().arg("import").arg(&file).arg("-o").arg(&run));
        succeed(sonde().arg("show").arg(&run))
    };
    let one = shown("one", &result(5e4, 4.503));
    let told = latency_and_p99(&one, "GET request ");
    let is = |told: f64, wanted: f64| (told / wanted - 1.0).abs() < 1e-9;
    assert!(is(told[0], 671e-6) && is(told[1], 4.5e-3), "{one}");
    // Two results have no p99 of both but that of their distributions.
    let two = shown("two", &(result(5e4, 4.503) + &result(4e4, 4.901)));
    let told = latency_and_p99(&two, "GET request ");
    assert!(told[1] > 5e-3, "{two}");
    std::fs::remove_dir_all(dir).unwrap();
}
