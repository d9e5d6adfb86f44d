//! Runs that are still recorded, and this host observed.

use super::*;

#[test]
fn a_run_that_is_still_recorded_grows() {
    let dir = scratch("view-growing");
    let run = dir.join("run");
    let mut recorder = sonde()
        .args([
            "record", "--detail", "samples", "--every", "100ms", "-q", "-o",
        ])
        .arg(&run)
        .spawn()
        .unwrap();
    recorder::wait("the journal", || {
        std::fs::metadata(run.join("journal")).is_ok_and(|m| m.len() > 0)
    });
    let view = View::open(&[&run]);
    let length = || view.get("runs")["runs"][0].clone();
    let first = length();
    assert_eq!(first["live"], true);
    assert!(
        first["problems"]
            .to_string()
            .contains("still being recorded")
    );
    recorder::wait("more", || {
        length()["seconds"].as_f64() > first["seconds"].as_f64().map(|s| s + 1.0)
    });
    eval(&view, "cpu.time by mode", "");
    rustix::process::kill_process(rustix::process::Pid::from_child(&recorder), Signal::INT)
        .unwrap();
    recorder.wait().unwrap();
    let last = length();
    assert_eq!(
        (last["live"].clone(), last["end"].clone()),
        (false.into(), "ok".into())
    );
    eval(&view, "cpu.time by mode", "");
}

#[test]
fn live_is_seen_kept_and_ended() {
    let dir = scratch("view-live");
    let mut command = sonde();
    command.current_dir(&dir);
    let live = [
        "--detail",
        "samples",
        "--every",
        "200ms",
        "--sources",
        "cpu,disk,process",
    ];
    let mut view = View::start_with(command, &live);
    view.enter();
    // Nobody has looked for some samples.
    std::thread::sleep(Duration::from_millis(900));
    let mut stream = view.connect();
    let head = browser::request("GET", "/api/v1/stream", &view.host(), &[view.cookie()], b"");
    std::io::Write::write_all(&mut stream, &head).unwrap();
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while text.matches("event: tick").count() < 4 {
        let n = stream.read(&mut buffer).unwrap();
        assert!(n > 0, "{text}");
        text += &String::from_utf8_lossy(&buffer[..n]);
    }
    assert!(text.contains("\"own_cost\""), "{text}");
    // The first is of the newest sample.
    let first = text.split("\ndata: ").nth(1).and_then(|t| t.lines().next());
    let first: Value = serde_json::from_str(first.unwrap()).unwrap();
    assert!(first["seconds"].as_f64() > Some(0.3), "{first}");
    assert!(first["own_cost"]["memory"].is_number(), "{first}");
    let ask = |more: &str| view.get(&format!("eval?run=live&expr=cpu.time+by+mode{more}"));
    let shown = ask("");
    let first = shown["to"].as_f64().unwrap();
    assert!(
        shown["groups"][0]["total"].as_f64().unwrap() > 0.0,
        "{shown}"
    );
    std::thread::sleep(Duration::from_millis(700));
    assert!(ask("")["to"].as_f64().unwrap() > first);
    let runs = view.get("runs");
    assert_eq!(
        (runs["live"].clone(), runs["runs"][0]["id"].clone()),
        (true.into(), "live".into())
    );
    recorder::wait("the inventory", || {
        view.get("inventory?run=live")["start"]["kernel"].is_object()
    });
    let keep = |name: &str| {
        view.ask(
            "POST",
            "/api/v1/keep",
            format!("{{\"name\":\"{name}\"}}").as_bytes(),
        )
    };
    let kept = keep("seen");
    assert_eq!(kept.status, 200, "{kept:?}");
    let path = dir.join("seen");
    assert!(
        get(&path, "cpu.time by mode")["groups"][0]["total"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    succeed(sonde().arg("show").arg(&path));
    assert_eq!(keep("seen").status, 409);
    for name in ["../x", "", ".x", "a/b"] {
        assert_eq!(keep(name).status, 400, "{name}");
    }
    let saved = view.ask("PUT", "/api/v1/worksheets/x?run=live", b"{}");
    assert_eq!(saved.status, 409);
    view.signal(Signal::INT);
    let (status, said) = view.end();
    assert_eq!(status.code(), Some(0), "{said}");
    // The page was told.
    let mut rest = String::new();
    let _ = stream.read_to_string(&mut rest);
    assert!(rest.contains("event: ended"), "{rest}");
    assert!(rest.ends_with("\r\n0\r\n\r\n"), "it is whole: {rest}");
}
