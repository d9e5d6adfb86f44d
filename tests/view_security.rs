//! `sonde view` answers only who may ask, and only what may be asked: through real sockets.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and run programs"
)]

#[path = "support/browser.rs"]
mod browser;
#[path = "support/made.rs"]
mod made;
mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use browser::{Answer, View, encoded, request};
use support::{output, scratch, sonde};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

fn viewed(name: &str) -> View {
    let dir = scratch(name);
    View::open(&[made::disk_run(&dir.join("run"), 3)])
}

/// A request with headers of its own.
fn with(view: &View, method: &str, path: &str, host: &str, headers: &[(&str, &str)]) -> Answer {
    view.raw(&request(method, path, host, headers, b""))
}

#[test]
fn a_token_opens_once_and_nothing_opens_without() {
    let dir = scratch("security-token");
    let run = made::disk_run(&dir.join("run"), 3);
    let mut view = View::start(&[&run]);
    let host = view.host();
    for path in [
        "/",
        "/api/v1/runs",
        "/api/v1/catalog",
        "/index.html",
        "/nothing",
        "/?token=",
    ] {
        let answer = with(&view, "GET", path, &host, &[]);
        assert_eq!(answer.status, 401, "{path}: {answer:?}");
        assert!(answer.json()["error"]["message"].is_string());
    }
    let first = view.address.clone();
    let guess = format!("/?token={}", "0".repeat(64));
    assert_eq!(with(&view, "GET", &guess, &host, &[]).status, 401);
    view.enter();
    assert_eq!(view.ask("GET", "/api/v1/runs", b"").status, 200);
    let cookie = view.cookie().1.to_owned();
    // Used: worth nothing to another browser, and harmless to the same one.
    let path = first.split_at(view.base().len()).1;
    assert_eq!(with(&view, "GET", path, &host, &[]).status, 401);
    assert_eq!(
        with(&view, "GET", path, &host, &[("Cookie", &cookie)]).status,
        303
    );
    // A fresh one was printed, which opens a session of its own.
    let next = view.next_address();
    assert_ne!(next, first);
    let path = next.split_at(view.base().len()).1;
    let entered = with(
        &view,
        "GET",
        path,
        &host,
        &[("Sec-Fetch-Site", "cross-site")],
    );
    assert_eq!(entered.status, 200);
    assert!(String::from_utf8_lossy(&entered.body).contains("url=/"));
    let other = entered.header("set-cookie").unwrap();
    assert!(
        other.contains("HttpOnly") && other.contains("SameSite=Strict"),
        "{other}"
    );
    // A link from elsewhere is loaded again from here; without a session that ends.
    let led = with(
        &view,
        "GET",
        "/",
        &host,
        &[("Sec-Fetch-Site", "cross-site")],
    );
    assert_eq!(led.status, 200);
    assert!(String::from_utf8_lossy(&led.body).contains("content=\"0\""));
    let again = with(
        &view,
        "GET",
        "/",
        &host,
        &[("Sec-Fetch-Site", "same-origin")],
    );
    assert_eq!(again.status, 401);
    let wrong = format!("{cookie}x");
    assert_eq!(
        with(&view, "GET", "/api/v1/runs", &host, &[("Cookie", &wrong)]).status,
        401
    );
    let (status, said) = view.end();
    assert!(status.success());
    let token = first.split("token=").nth(1).unwrap();
    assert!(!said.contains(token) && !said.contains("token="), "{said}");
}

#[test]
fn other_names_and_other_sites_get_nothing() {
    let view = viewed("security-host");
    let (host, cookie) = (view.host(), view.cookie());
    let port = host.rsplit(':').next().unwrap();
    for name in [
        "evil.example",
        "127.0.0.1.evil.example",
        "10.1.2.3",
        "0.0.0.0",
    ] {
        let name = format!("{name}:{port}");
        let answer = with(&view, "GET", "/api/v1/runs", &name, &[cookie]);
        assert_eq!(answer.status, 421, "{name}");
    }
    let local = format!("localhost:{port}");
    assert_eq!(
        with(&view, "GET", "/api/v1/runs", &local, &[cookie]).status,
        200
    );
    let none = format!(
        "GET /api/v1/runs HTTP/1.1\r\n{}: {}\r\n\r\n",
        cookie.0, cookie.1
    );
    assert!(view.raw(none.as_bytes()).status >= 400);
    for headers in [
        [cookie, ("Origin", "http://evil.example")],
        [cookie, ("Origin", "null")],
        [cookie, ("Sec-Fetch-Site", "cross-site")],
        [cookie, ("Sec-Fetch-Site", "same-site")],
    ] {
        let answer = with(&view, "GET", "/api/v1/runs", &host, &headers);
        assert_eq!(answer.status, 403, "{headers:?}");
        assert!(answer.header("access-control-allow-origin").is_none());
    }
    // What changes something says that it comes from here.
    let put = |headers: &[(&str, &str)]| {
        view.raw(&request(
            "PUT",
            "/api/v1/worksheets/x?run=a",
            &host,
            headers,
            b"{}",
        ))
    };
    assert_eq!(put(&[cookie]).status, 403);
    assert_eq!(
        put(&[cookie, ("Origin", "http://evil.example")]).status,
        403
    );
    assert_eq!(put(&[cookie, ("Origin", view.base())]).status, 200);
    let preflight = with(
        &view,
        "OPTIONS",
        "/api/v1/runs",
        &host,
        &[("Origin", "http://evil.example")],
    );
    assert_eq!(preflight.status, 403);
}

#[test]
fn every_answer_has_a_strict_policy() {
    let view = viewed("security-policy");
    let host = view.host();
    for (path, headers) in [
        ("/api/v1/runs", vec![view.cookie()]),
        ("/", vec![view.cookie()]),
        ("/api/v1/nothing", vec![view.cookie()]),
        ("/", vec![]),
    ] {
        let answer = with(&view, "GET", path, &host, &headers);
        let policy = answer.header("content-security-policy").expect(path);
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        for unsafe_word in ["unsafe-inline", "unsafe-eval", "*", "http:"] {
            assert!(!policy.contains(unsafe_word), "{policy}");
        }
        assert!(policy.contains("frame-ancestors 'none'"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert!(answer.header("access-control-allow-origin").is_none());
        if path.starts_with("/api") {
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
    }
}

#[test]
fn requests_are_bounded_in_size_number_and_time() {
    let view = viewed("security-limits");
    let (host, cookie) = (view.host(), view.cookie());
    let long = "x".repeat(100 << 10);
    let head = with(
        &view,
        "GET",
        "/api/v1/runs",
        &host,
        &[cookie, ("X-Long", &long)],
    );
    assert_eq!(head.status, 431, "{:.200}", head.head);
    // A little too large: told like all else.
    let longer = "x".repeat(33 << 10);
    let few: Vec<(String, &str)> = (0..70).map(|n| (format!("X-{n}"), "1")).collect();
    let few = few.iter().map(|(n, v)| (n.as_str(), *v));
    for mut headers in [vec![("X-Long", longer.as_str())], few.collect()] {
        headers.push(cookie);
        let answer = with(&view, "GET", "/api/v1/runs", &host, &headers);
        assert_eq!(answer.status, 431, "{:.200}", answer.head);
        assert!(answer.header("content-security-policy").is_some());
        assert!(answer.json()["error"]["message"].is_string());
    }
    let within = "x".repeat(30 << 10);
    let answer = with(
        &view,
        "GET",
        "/api/v1/runs",
        &host,
        &[cookie, ("X-Long", &within)],
    );
    assert_eq!(answer.status, 200, "{:.200}", answer.head);
    let many: Vec<(String, &str)> = (0..100).map(|n| (format!("X-{n}"), "1")).collect();
    let mut headers: Vec<(&str, &str)> = many.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    headers.push(cookie);
    assert_eq!(
        with(&view, "GET", "/api/v1/runs", &host, &headers).status,
        431
    );
    let path = format!("/api/v1/eval?run=a&expr={long}");
    let answer = with(&view, "GET", &path, &host, &[cookie]);
    assert!([414, 431].contains(&answer.status), "{:.200}", answer.head);
    let path = format!("/api/v1/eval?run=a&expr={}", "x".repeat(5000));
    assert_eq!(view.ask("GET", &path, b"").status, 400);
    let body = format!("{{\"x\":\"{long}\"}}");
    let large = view.ask("PUT", "/api/v1/worksheets/x?run=a", body.as_bytes());
    assert!([413, 0].contains(&large.status), "{large:?}");
    for (method, path) in [
        ("POST", "runs"),
        ("DELETE", "worksheets/x"),
        ("PUT", "keep"),
    ] {
        assert_eq!(
            view.ask(method, &format!("/api/v1/{path}"), b"").status,
            405,
            "{method}"
        );
    }
    // Nonsense ends a connection, not the server.
    for bytes in [
        &b"\0\0\0\0"[..],
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"",
    ] {
        let mut stream = view.connect();
        stream.write_all(bytes).unwrap();
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut back = Vec::new();
        let _ = stream.read_to_end(&mut back);
    }
    assert_eq!(view.ask("GET", "/api/v1/catalog", b"").status, 200);
    // Guessing tokens soon has an end; who has a session goes on.
    let guesses = (0..60).map(|n| with(&view, "GET", &format!("/?token={n}"), &host, &[]).status);
    let refused = guesses.filter(|status| *status == 429).count();
    assert!(refused >= 20, "{refused}");
    assert_eq!(view.ask("GET", "/api/v1/catalog", b"").status, 200);
}

#[test]
fn a_client_that_says_nothing_is_not_waited_for() {
    let view = viewed("security-slow");
    let mut slow = view.connect();
    slow.write_all(b"GET /api/v1/runs HTTP/1.1\r\nHost: x\r\n")
        .unwrap();
    let from = Instant::now();
    let mut back = Vec::new();
    let _ = slow.read_to_end(&mut back);
    assert!(
        from.elapsed() < Duration::from_secs(30),
        "{:?}",
        from.elapsed()
    );
    assert_eq!(view.ask("GET", "/api/v1/catalog", b"").status, 200);
}

/// Sends as much of `bytes` again and again as the other side takes.
fn fill(stream: &mut TcpStream, bytes: &[u8]) {
    stream.set_nonblocking(true).unwrap();
    for _ in 0..100 {
        if stream.write_all(bytes).is_err() {
            return;
        }
    }
}

#[test]
fn who_has_a_session_comes_in_however_many_have_none() {
    let view = viewed("security-places");
    let asked = format!("GET /api/v1/runs HTTP/1.1\r\nHost: {}\r\n\r\n", view.host());
    let asked = asked.repeat(500);
    // They ask on and on, and never read what comes back.
    let mut outside: Vec<TcpStream> = Vec::new();
    for _ in 0..300 {
        let mut stream = view.connect();
        fill(&mut stream, asked.as_bytes());
        outside.push(stream);
    }
    let from = Instant::now();
    for _ in 0..20 {
        assert_eq!(view.ask("GET", "/api/v1/catalog", b"").status, 200);
    }
    assert!(
        from.elapsed() < Duration::from_secs(8),
        "{:?}",
        from.elapsed()
    );
}

#[test]
fn paths_never_leave_the_runs() {
    let dir = scratch("security-paths");
    let run = made::disk_run(&dir.join("run"), 3);
    std::fs::write(dir.join("secret"), "do not tell").unwrap();
    std::fs::write(run.join("own.json"), "{}").unwrap();
    let view = View::open(&[&run]);
    for path in [
        "/../secret",
        "/..%2fsecret",
        "/%2e%2e/secret",
        "/assets/../../../../etc/passwd",
        "/api/v1/output?run=a&stream=..%2fsecret",
        "/api/v1/output?run=a&stream=run.json",
        "/api/v1/output?run=..&stream=stdout",
        "/api/v1/inventory?run=%2fetc",
        "//etc/passwd",
    ] {
        let answer = view.ask("GET", path, b"");
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        assert!(
            !String::from_utf8_lossy(&answer.body).contains("do not tell"),
            "{path}"
        );
    }
    for name in [
        "..%2fx",
        "%2e%2e%2fx",
        "..",
        "a%2fb",
        "x%00",
        "%2fetc%2fx",
        "run.json",
        "a.b",
    ] {
        let answer = view.ask("PUT", &format!("/api/v1/worksheets/{name}?run=a"), b"{}");
        assert!([400, 404].contains(&answer.status), "{name}: {answer:?}");
    }
    assert!(!dir.join("x.json").exists() && !run.join("x.json").exists());
    assert!(!run.join("worksheets").exists());
    // A saved worksheet that leads elsewhere is not followed out of the run.
    std::fs::create_dir(run.join("worksheets")).unwrap();
    std::fs::write(dir.join("secret.json"), "{\"do\":\"not tell\"}").unwrap();
    std::os::unix::fs::symlink(dir.join("secret.json"), run.join("worksheets/led.json")).unwrap();
    let all = view.get("worksheets?run=a").to_string();
    assert!(!all.contains("not tell"), "{all}");
}

#[test]
fn answers_are_bounded() {
    let dir = scratch("security-bounded");
    let run = made::disk_run(&dir.join("run"), 3);
    let view = View::open(&[&run]);
    // Dear to match as a backtracking pattern; here it is linear.
    let pattern = format!(
        "disk.ios by file where file ~ \"({}a{{1,9}}){{9}}$\"",
        "a?".repeat(60)
    );
    let path = format!("/api/v1/eval?run=a&expr={}", encoded(&pattern));
    let from = Instant::now();
    let answer = view.ask("GET", &path, b"");
    assert!(answer.status < 500, "{answer:?}");
    assert!(from.elapsed() < Duration::from_secs(30));
    let huge = "disk.ios by file where file ~ \"(((a{1000}){1000}){1000})\"";
    let (status, _) = view.refused(&format!("eval?run=a&expr={}", encoded(huge)));
    assert_eq!(status, 400);
}

/// What a server that speaks TLS answers to a client that trusts `authority`.
fn over_tls(view: &View, authority: &Path, name: &str, bytes: &[u8]) -> std::io::Result<Answer> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(authority).expect("a certificate");
    roots.add(certificate).expect("a certificate");
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    let client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut stream: StreamOwned<ClientConnection, TcpStream> =
        StreamOwned::new(client, view.connect());
    stream.write_all(bytes)?;
    let mut back = Vec::new();
    // The end of the stream need not be said in TLS.
    let _ = stream.read_to_end(&mut back);
    Ok(browser::parse(&back))
}

#[test]
fn beyond_this_machine_there_is_tls_only() {
    let dir = scratch("security-tls");
    let run = made::disk_run(&dir.join("run"), 3);
    let made = rcgen::generate_simple_self_signed(vec!["lab7.example".to_owned()]).unwrap();
    let (certificate, key) = (dir.join("cert.pem"), dir.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let listen = Path::new("0.0.0.0:0");
    let view = View::start(&[
        &run,
        Path::new("--listen"),
        listen,
        Path::new("--cert"),
        &certificate,
        Path::new("--key"),
        &key,
    ]);
    assert!(view.address.starts_with("https://"), "{}", view.address);
    // By the name that its certificate is for, which is a name of the server.
    let here = view.host();
    assert!(here.starts_with("lab7.example:"), "{here}");
    let (_, path) = view.address.split_at(view.base().len());
    let enter = request("GET", path, &here, &[], b"");
    // Without TLS not a byte of HTTP comes back, and the token is not used up.
    let plain = view.raw(&enter);
    assert_eq!(plain.status, 0, "{plain:?}");
    let entered = over_tls(&view, &certificate, "lab7.example", &enter).unwrap();
    assert_eq!(entered.status, 303, "{entered:?}");
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("; Secure"), "{cookie}");
    // It would hold for all services of this host.
    assert!(entered.header("strict-transport-security").is_none());
    let other = request("GET", path, &here.replace("lab7", "lab8"), &[], b"");
    let other = over_tls(&view, &certificate, "lab7.example", &other).unwrap();
    assert_eq!(other.status, 421, "{other:?}");
    let refused = request("GET", "/api/v1/runs", &here, &[], b"");
    let refused = over_tls(&view, &certificate, "lab7.example", &refused).unwrap();
    assert_eq!(refused.status, 401, "a token is needed with TLS too");
    assert!(over_tls(&view, &certificate, "other.example", &enter).is_err());
    drop(view);
    // Without a certificate of one's own, one is made and its fingerprint told.
    let view = View::start(&[&run, Path::new("--listen"), listen]);
    assert!(view.address.starts_with("https://"));
    assert!(!view.host().starts_with("0.0.0.0"), "{}", view.address);
    assert_eq!(view.raw(&enter).status, 0);
    let (status, said) = view.end();
    assert!(status.success() && said.contains("SHA-256"), "{said}");
    // Files that are none.
    let out = output(
        sonde()
            .arg("view")
            .arg(&run)
            .args(["--no-open", "--cert"])
            .arg(&key)
            .arg("--key")
            .arg(&key),
    );
    assert_eq!(out.status.code(), Some(2));
}
