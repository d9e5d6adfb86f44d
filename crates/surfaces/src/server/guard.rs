//! What every request passes before it is answered.
//!
//! A page of another site, opened in the same browser, must get nothing here: not by a name
//! that it made point to this machine (the `Host` header is checked), not by asking across
//! sites (`Origin` and `Sec-Fetch-Site`), not with the browser's cookie (`SameSite=Strict`).

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;

use super::Serving;
use super::names::Names;
use super::places::Mark;
use super::refused::Refused;

/// Bytes and headers that the head of a request may have.
const LARGEST_HEAD: (usize, usize) = (32 << 10, 64);

/// Requests a second from those who have a session, over some seconds; and at once.
const RATE: (f64, f64) = (200.0, 600.0);
/// Likewise from those who have none.
const RATE_OUTSIDE: (f64, f64) = (10.0, 30.0);

/// Headers of every answer. Scripts, styles and requests of the page come from here only. None asks
/// for TLS from now on: browsers would ask it of other services of this host too.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
         font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

/// Counts requests against a rate.
#[derive(Debug)]
pub(super) struct Rate {
    each_second: f64,
    most: f64,
    left: Mutex<(f64, Instant)>,
}

impl Rate {
    fn new((each_second, most): (f64, f64)) -> Rate {
        Rate {
            each_second,
            most,
            left: Mutex::new((most, Instant::now())),
        }
    }

    /// Whether there is room for one more.
    fn take(&self) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let passed = now.duration_since(left.1).as_secs_f64();
        *left = ((left.0 + passed * self.each_second).min(self.most), now);
        let room = left.0 >= 1.0;
        if room {
            left.0 -= 1.0;
        }
        room
    }
}

/// What the checks need to know.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) port: u16,
    pub(super) tls: bool,
    /// Reached from this machine only.
    pub(super) loopback: bool,
    /// Names by which this server may be asked.
    pub(super) names: Names,
    inside: Rate,
    outside: Rate,
}

impl Guard {
    pub(super) fn new(port: u16, tls: bool, loopback: bool, names: Names) -> Guard {
        Guard {
            port,
            tls,
            loopback,
            names,
            inside: Rate::new(RATE),
            outside: Rate::new(RATE_OUTSIDE),
        }
    }

    /// Whether `host` (with a port) is this server. A number is: a name that changes its
    /// address while a page is open is what would be dangerous.
    fn is_here(&self, host: &str) -> bool {
        let default = if self.tls { 443 } else { 80 };
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port.parse().ok()),
            _ => (host, Some(default)),
        };
        if port != Some(self.port) {
            return false;
        }
        let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
        match bare.unwrap_or(name).parse::<IpAddr>() {
            Ok(address) => !self.loopback || address.is_loopback(),
            Err(_) => self.names.has(name),
        }
    }

    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let (bytes, many) = LARGEST_HEAD;
        if headers.len() > many || head_bytes(method, uri, headers) > bytes {
            let text = format!("the head of a request has at most {bytes} bytes, {many} headers");
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return Err(Refused::new(status, text));
        }
        let text = |name: HeaderName| headers.get(name).and_then(|v| v.to_str().ok());
        // An address with a host of its own (`GET http://other/`) is not for this server.
        let absolute = uri.host().is_some();
        let hosts = headers.get_all(header::HOST).iter().count();
        let here = text(header::HOST).is_some_and(|host| self.is_here(host));
        if !here || hosts != 1 || absolute {
            let text = "this server is not known by that name\n\
                        hint: open the address that `sonde view` printed";
            return Err(Refused::new(StatusCode::MISDIRECTED_REQUEST, text));
        }
        let scheme = if self.tls { "https://" } else { "http://" };
        if let Some(origin) = headers.get(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let same = origin.strip_prefix(scheme) == text(header::HOST);
            if !same {
                return Err(foreign());
            }
        }
        let site = text(HeaderName::from_static("sec-fetch-site")).unwrap_or("none");
        let from_here = ["none", "same-origin"].contains(&site);
        // Only the address that was printed may be opened from elsewhere.
        let opened = method == Method::GET && uri.path() == "/";
        if !from_here && !opened {
            return Err(foreign());
        }
        // What changes something says where it comes from.
        let says = headers.contains_key(header::ORIGIN) || site == "same-origin";
        if ![Method::GET, Method::HEAD].contains(method) && !says {
            return Err(foreign());
        }
        Ok(())
    }
}

/// Bytes of a request's head as it is usually written, up to the empty line.
fn head_bytes(method: &Method, uri: &Uri, headers: &HeaderMap) -> usize {
    let address = uri.path_and_query().map_or(0, |p| p.as_str().len());
    let first = method.as_str().len() + address + "  HTTP/1.1\r\n".len();
    let lines = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    first + lines.sum::<usize>()
}

fn foreign() -> Refused {
    Refused::new(
        StatusCode::FORBIDDEN,
        "requests from other sites' pages are not answered",
    )
}

/// Checks a request, has it answered, and adds the headers of every answer.
pub(super) async fn pass(
    State(serving): State<Arc<Serving>>,
    request: Request,
    next: Next,
) -> Response {
    let api = request.uri().path().starts_with("/api/");
    let answer = admitted(&serving, request, next).await;
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    if api || !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

async fn admitted(
    serving: &Arc<Serving>,
    request: Request,
    next: Next,
) -> Result<Response, Refused> {
    let guard = &serving.guard;
    guard.check(request.method(), request.uri(), request.headers())?;
    let cookies = request.headers().get_all(header::COOKIE).iter();
    let cookies = cookies.filter_map(|v| v.to_str().ok());
    let known = serving.access.has_session(cookies);
    if known && let Some(connection) = request.extensions().get::<Mark>() {
        connection.has_session();
    }
    let rate = if known { &guard.inside } else { &guard.outside };
    if !rate.take() {
        let mut busy = Refused::new(StatusCode::TOO_MANY_REQUESTS, "too many requests");
        busy.hint = Some("wait a second".into());
        return Err(busy);
    }
    let opens = request.method() == Method::GET && request.uri().path() == "/";
    if opens && let Some(token) = token(request.uri()) {
        return enter(serving, &token, known, request.headers());
    }
    if !known && opens && is_foreign(request.headers()) {
        // Somebody followed a link to a worksheet: our own page may have a session, which the
        // browser did not send along. Loaded again from here, it does; what is behind the # of
        // the address stays.
        return Ok(leading_on(""));
    }
    if !known {
        let text = "this needs the address that `sonde view` printed: its token opens the page \
                    once\nhint: a fresh address is printed each time one was used";
        return Err(Refused::new(StatusCode::UNAUTHORIZED, text));
    }
    Ok(next.run(request).await)
}

/// The token in an address.
fn token(uri: &Uri) -> Option<String> {
    let mut pairs = uri.query()?.split('&');
    let found = pairs.find_map(|pair| pair.strip_prefix("token="));
    found.map(str::to_owned)
}

/// Makes a session for the token, and sends the browser on to the page.
fn enter(
    serving: &Arc<Serving>,
    token: &str,
    known: bool,
    headers: &HeaderMap,
) -> Result<Response, Refused> {
    let Some(session) = serving.access.enter(token) else {
        if known {
            // Loaded again: the session it made is still good.
            return Ok(moved(None));
        }
        let text = "this address was used already, or is not the one that was printed last\n\
                    hint: `sonde view` prints a fresh address each time one was used";
        return Err(Refused::new(StatusCode::UNAUTHORIZED, text));
    };
    (serving.entered)();
    let name = &serving.access.cookie;
    let secure = if serving.guard.tls { "; Secure" } else { "" };
    let value = session.text();
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}");
    if is_foreign(headers) {
        // A browser does not send a strict cookie along a redirection that began elsewhere;
        // it does when a page of ours leads on.
        let mut response = leading_on(";url=/");
        set_cookie(&mut response, &cookie);
        return Ok(response);
    }
    Ok(moved(Some(&cookie)))
}

/// Whether a browser says that a page of another site led here.
fn is_foreign(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|v| v.to_str().ok());
    site.is_some_and(|s| s != "none" && s != "same-origin")
}

/// A page that leads on at once: to `to`, or without it to itself.
fn leading_on(to: &str) -> Response {
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>Sonde</title>\
         <meta http-equiv=refresh content=\"0{to}\"><a href=\"/\">continue</a>"
    );
    let mut response = Response::new(Body::from(page));
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, html);
    response
}

fn moved(cookie: Option<&str>) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let root = HeaderValue::from_static("/");
    response.headers_mut().insert(header::LOCATION, root);
    if let Some(cookie) = cookie {
        set_cookie(&mut response, cookie);
    }
    response
}

fn set_cookie(response: &mut Response, cookie: &str) {
    if let Ok(mut value) = HeaderValue::from_str(cookie) {
        value.set_sensitive(true);
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            )
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn only_this_server_is_meant_by_a_host() {
        let here = Guard::new(8000, false, true, Names::default());
        for host in [
            "127.0.0.1:8000",
            "localhost:8000",
            "LOCALHOST:8000",
            "[::1]:8000",
            "127.9.9.9:8000",
        ] {
            assert!(here.is_here(host), "{host}");
        }
        for host in [
            "evil.example:8000",
            "127.0.0.1",
            "127.0.0.1:8001",
            "localhost.evil.example:8000",
            "10.0.0.1:8000",
            "",
            ":8000",
            "[::1]",
        ] {
            assert!(!here.is_here(host), "{host}");
        }
        let lab7 = Names {
            own: vec!["lab7".into()],
            ..Names::default()
        };
        let wide = Guard::new(443, true, false, lab7);
        assert!(wide.is_here("lab7") && wide.is_here("10.0.0.1") && wide.is_here("[::1]:443"));
        assert!(!wide.is_here("lab8") && !wide.is_here("lab7:80"));
    }

    #[test]
    fn requests_of_other_sites_are_refused() {
        let guard = Guard::new(8000, false, true, Names::default());
        let host = ("host", "127.0.0.1:8000");
        let api: Uri = "/api/v1/runs".parse().unwrap();
        let check = |method: Method, more: &[(&str, &str)]| {
            let all: Vec<_> = [host].iter().chain(more).copied().collect();
            guard.check(&method, &api, &headers(&all)).is_ok()
        };
        let own = ("origin", "http://127.0.0.1:8000");
        assert!(check(Method::GET, &[]));
        assert!(check(Method::GET, &[own]) && check(Method::PUT, &[own]));
        assert!(!check(Method::GET, &[("origin", "http://evil.example")]));
        assert!(!check(Method::GET, &[("origin", "null")]));
        assert!(!check(Method::GET, &[("origin", "https://127.0.0.1:8000")]));
        assert!(!check(Method::GET, &[("sec-fetch-site", "cross-site")]));
        assert!(!check(Method::GET, &[("sec-fetch-site", "same-site")]));
        assert!(!check(Method::PUT, &[]));
        assert!(!check(Method::POST, &[("sec-fetch-site", "none")]));
        assert!(check(Method::POST, &[("sec-fetch-site", "same-origin")]));
        assert!(
            !check(Method::GET, &[("host", "127.0.0.1:8000")]),
            "two hosts"
        );
        let absolute: Uri = "http://127.0.0.1:8000/".parse().unwrap();
        assert!(
            guard
                .check(&Method::GET, &absolute, &headers(&[host]))
                .is_err()
        );
        let root: Uri = "/?token=x".parse().unwrap();
        let opened = headers(&[host, ("sec-fetch-site", "cross-site")]);
        assert!(guard.check(&Method::GET, &root, &opened).is_ok());
    }

    #[test]
    fn a_rate_has_an_end() {
        let rate = Rate::new((0.001, 3.0));
        let taken: Vec<bool> = (0..5).map(|_| rate.take()).collect();
        assert_eq!(taken, [true, true, true, false, false]);
    }
}
