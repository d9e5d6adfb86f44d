//! The page itself: files of `web/dist`, compressed when this was built.

use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, Response, StatusCode};

use super::refused::Refused;

/// A file of the page.
pub(super) struct Asset {
    /// Its path below the page, such as `assets/page.js`.
    pub(super) path: &'static str,
    /// Its bytes, compressed with gzip.
    pub(super) gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// What to do where the page was not built.
pub const WITHOUT_PAGE: &str = "this sonde was built without its page, which needs Node 20 or \
     newer\nhint: `make page` builds it, then build sonde again; the HTTP API works without";

/// Whether the page was there when this was built.
pub fn has_page() -> bool {
    find("index.html").is_some()
}

fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|a| a.path == path)
}

/// Types by the end of a name.
const TYPES: &[(&str, &str)] = &[
    (".html", "text/html; charset=utf-8"),
    (".js", "text/javascript; charset=utf-8"),
    (".css", "text/css; charset=utf-8"),
    (".svg", "image/svg+xml"),
    (".png", "image/png"),
    (".ico", "image/x-icon"),
    (".woff2", "font/woff2"),
    (".json", "application/json"),
    (".txt", "text/plain; charset=utf-8"),
    (".wasm", "application/wasm"),
];

/// The file at `path` of the address.
pub(super) fn answer(path: &str, headers: &HeaderMap) -> Result<Response<Body>, Refused> {
    let path = match path.trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    let Some(asset) = find(path) else {
        if path == "index.html" {
            return Err(Refused::new(StatusCode::NOT_FOUND, WITHOUT_PAGE));
        }
        return Err(Refused::new(StatusCode::NOT_FOUND, "there is no such page"));
    };
    let kind = TYPES.iter().find(|(end, _)| path.ends_with(end));
    // Vite puts a checksum into the names of what is below `assets`.
    let lasting = if path.starts_with("assets/") {
        "private, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let response = Response::builder()
        .header(
            CONTENT_TYPE,
            kind.map_or("application/octet-stream", |k| k.1),
        )
        .header(CACHE_CONTROL, lasting);
    let accepts = headers.get_all(ACCEPT_ENCODING).iter();
    let gzip = accepts
        .filter_map(|v| v.to_str().ok())
        .any(|v| v.contains("gzip"));
    let built = if gzip {
        let response = response.header(CONTENT_ENCODING, "gzip");
        response.body(Body::from(asset.gzip))
    } else {
        let mut plain = Vec::new();
        let mut from = flate2::read::GzDecoder::new(asset.gzip);
        std::io::Read::read_to_end(&mut from, &mut plain)
            .map_err(|e| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, e))?;
        response.body(Body::from(plain))
    };
    built.map_err(|e| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, e))
}
