//! The web page's server: the runs that are shown, asked through HTTP.
//!
//! It sees runs and nothing else. `docs/reference/http-api.md` has every request.

mod access;
mod answers;
mod arrow;
mod asked;
mod assets;
mod beside;
mod carried;
mod cells;
mod eval;
mod events;
mod guard;
mod levels;
mod listen;
mod live;
mod menu;
mod names;
mod picture;
mod places;
mod printed;
mod progress;
mod refused;
mod runs;
mod stack;
mod tls;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use run::Run;
use run::inventory::Inventory;
use run::read::ReadError;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

use access::Access;
use answers::Answers;
use asked::Asked;
use guard::Guard;
use names::Names;
use refused::Refused;
use runs::Shown;
use tls::Secured;

pub use answers::Limits;
pub use assets::{WITHOUT_PAGE, asset, has_page};
pub use carried::{answers, beside};
pub use live::Live;
pub use tls::{Certificate, TlsError};

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address and port; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Names by which this machine may be asked, beside its addresses.
    pub names: Vec<String>,
    /// Addresses by which others reach it, the usual one first.
    pub addresses: Vec<IpAddr>,
    /// What answers may take.
    pub limits: Limits,
    /// What connections are secured with. Beyond this machine they always are.
    pub certificate: Option<Certificate>,
    /// Directory in which live observations are kept.
    pub keep_in: PathBuf,
}

/// What is shown.
#[derive(Clone, Debug)]
pub enum Showing {
    /// Runs in these directories.
    Runs(Vec<PathBuf>),
    /// An observation that goes on.
    Live(Arc<Live>),
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is not to be had.
    #[error("cannot listen on {address}: {error}\nhint: --listen 127.0.0.1:0 takes a free port")]
    Listen {
        /// What was asked for.
        address: SocketAddr,
        /// What the operating system said.
        error: io::Error,
    },
    /// A run cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Threads, or randomness for the token.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// What requests are answered from.
struct Serving {
    shown: Vec<Shown>,
    access: Access,
    guard: Guard,
    /// Host and port to open.
    authority: String,
    answers: Answers,
    keep_in: PathBuf,
    /// Called when a token was used.
    entered: Box<dyn Fn() + Send + Sync>,
}

impl Serving {
    fn shown(&self, asked: &Asked) -> Result<&Shown, Refused> {
        let Some(id) = asked.text("run") else {
            return self.shown.first().ok_or_else(|| runs::no_run("a"));
        };
        let found = self.shown.iter().find(|s| s.id == id);
        found.ok_or_else(|| runs::no_run(id))
    }

    /// The run that is asked about, and the number of its state.
    fn run(&self, asked: &Asked) -> Result<(Arc<Run>, u64), Refused> {
        Ok(self.shown(asked)?.run()?)
    }

    /// Settings of its machine.
    fn inventory(&self, asked: &Asked) -> Result<Inventory, Refused> {
        Ok(self.shown(asked)?.inventory())
    }

    /// The address that the next browser may open.
    fn token_address(&self) -> String {
        self.access.token_address(&self.authority, self.guard.tls)
    }

    /// The observation that goes on, if one is shown.
    fn live(&self) -> Option<&Arc<Live>> {
        self.shown.iter().find_map(Shown::of_live)
    }
}

/// How long a client may take to send what it wants kept.
const BODY_PATIENCE: Duration = Duration::from_secs(10);

/// The body of a request, of at most so many bytes.
async fn body(request: Request, most: usize) -> Result<Bytes, Refused> {
    let read = axum::body::to_bytes(request.into_body(), most);
    match timeout(BODY_PATIENCE, read).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            let text = format!("the request is larger than {most} bytes, or broke off");
            Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, text))
        }
        Err(_) => {
            let text = "the request did not come";
            Err(Refused::new(StatusCode::REQUEST_TIMEOUT, text))
        }
    }
}

/// A server that listens, and answers once it is told to.
pub struct Server {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    serving: Arc<Serving>,
    secured: Option<Secured>,
    end: watch::Sender<bool>,
}

/// Ends a server.
#[derive(Clone, Debug)]
pub struct End(watch::Sender<bool>);

impl End {
    /// Answers under way are finished, if that does not take long.
    pub fn end(&self) {
        let _ = self.0.send(true);
    }
}

impl Server {
    /// Listens as `settings` say. `entered` is called with a fresh address when the token of
    /// the last one was used.
    pub fn new(
        settings: &Settings,
        showing: &Showing,
        entered: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Server, ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(settings.limits.at_once + 8)
            .thread_name("view")
            .enable_all()
            .build()?;
        let listen = settings.listen;
        let listener = runtime
            .block_on(TcpListener::bind(listen))
            .map_err(|error| ServeError::Listen {
                address: listen,
                error,
            })?;
        let address = listener.local_addr()?;
        let loopback = address.ip().is_loopback();
        // Those of an address that stands for all are the machine's.
        let mut certified = settings.addresses.clone();
        if !address.ip().is_unspecified() {
            certified.insert(0, address.ip());
        }
        let certificate = match &settings.certificate {
            None if !loopback => Some(&Certificate::Made),
            given => given.as_ref(),
        };
        let secured = certificate
            .map(|c| tls::secured(c, &settings.names, &certified))
            .transpose()?;
        let shown = match showing {
            Showing::Live(live) => vec![Shown::live(live.clone())],
            Showing::Runs(paths) => {
                let opened = paths
                    .iter()
                    .enumerate()
                    .map(|(i, path)| Shown::open(i, path));
                opened.collect::<Result<Vec<_>, _>>()?
            }
        };
        let names = Names {
            own: settings.names.clone(),
            addresses: settings.addresses.clone(),
            certificate: secured.as_ref().and_then(|s| s.given.clone()),
        };
        let authority = names.authority(address);
        let guard = Guard::new(address.port(), secured.is_some(), loopback, names);
        let access = Access::new(address.port(), secured.is_some())?;
        let serving = Arc::new_cyclic(|weak: &std::sync::Weak<Serving>| {
            let weak = weak.clone();
            let told = move || {
                if let Some(serving) = weak.upgrade() {
                    entered(&serving.token_address());
                }
            };
            Serving {
                shown,
                access,
                guard,
                authority,
                answers: Answers::new(settings.limits),
                keep_in: settings.keep_in.clone(),
                entered: Box::new(told),
            }
        });
        let (end, _) = watch::channel(false);
        Ok(Server {
            runtime,
            listener,
            serving,
            secured,
            end,
        })
    }

    /// The address with a token that opens it once.
    pub fn address(&self) -> String {
        self.serving.token_address()
    }

    /// SHA-256 of the certificate that was made, if one was, as browsers show it.
    pub fn fingerprint(&self) -> Option<&str> {
        self.secured.as_ref()?.fingerprint.as_deref()
    }

    /// What ends it.
    pub fn end(&self) -> End {
        End(self.end.clone())
    }

    /// Answers until it is ended.
    pub fn run(self) {
        let router = router(&self.serving);
        let end = self.end.subscribe();
        let tls = self.secured.map(|s| s.acceptor);
        self.runtime
            .block_on(listen::answer(self.listener, tls, router, end));
        // Answers still worked out would hold the program up.
        self.runtime.shutdown_background();
    }
}

fn router(serving: &Arc<Serving>) -> Router {
    Router::new()
        .route("/api/v1/runs", get(list_runs))
        .route("/api/v1/catalog", get(catalog))
        .route("/api/v1/eval", get(eval::eval))
        .route("/api/v1/events", get(events::list))
        .route("/api/v1/findings", get(beside::found))
        .route("/api/v1/inventory", get(beside::inventory))
        .route("/api/v1/output", get(printed::output))
        .route("/api/v1/levels", get(levels::levels))
        .route("/api/v1/worksheets", get(beside::worksheets))
        .route("/api/v1/worksheets/{name}", put(beside::save))
        .route("/api/v1/stream", get(live::stream))
        .route("/api/v1/keep", post(live::keep))
        .method_not_allowed_fallback(no_such_method)
        .fallback(page)
        .layer(from_fn_with_state(serving.clone(), guard::pass))
        .with_state(serving.clone())
}

async fn no_such_method() -> Refused {
    let text = "this request is made by another method";
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, text)
}

async fn page(uri: Uri, headers: HeaderMap) -> Result<Response, Refused> {
    if uri.path().starts_with("/api/") {
        let text = "there is no such request in version 1 of the API";
        return Err(Refused::new(StatusCode::NOT_FOUND, text));
    }
    assets::answer(uri.path(), &headers).map(IntoResponse::into_response)
}

async fn list_runs(State(serving): State<Arc<Serving>>) -> Result<Json<Value>, Refused> {
    let asked = serving.clone();
    let work = move |_: &Arc<_>| {
        let all = asked.shown.iter().map(Shown::describe);
        let all = all.collect::<Result<Vec<_>, _>>()?;
        let live = asked.live().is_some();
        Ok(json!({"version": env!("CARGO_PKG_VERSION"), "live": live, "runs": all}))
    };
    serving.answers.work_out(work).await.map(Json)
}

async fn catalog() -> Json<Value> {
    Json(menu::catalog())
}
