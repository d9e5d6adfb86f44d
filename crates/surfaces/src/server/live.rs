//! An observation that goes on: its newest part in memory, and a word to all pages when a
//! sample has come.

use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use run::tail::KeepError;
use run::write::CreateError;
use run::{Run, Tail};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::Serving;
use super::refused::Refused;
use super::runs::{loss, own_cost, since};

/// The id of an observation that goes on.
pub(super) const ID: &str = "live";

/// Characters of the name of a run that is kept.
const LONGEST_NAME: usize = 100;

/// An observation that goes on. However many look at it, it is observed once.
#[derive(Debug)]
pub struct Live {
    tail: Arc<Tail>,
    /// As of the newest sample.
    newest: Mutex<(u64, Arc<Run>)>,
    ticks: watch::Sender<Tick>,
    /// One run is kept at a time.
    keeping: Mutex<()>,
}

/// What pages are told.
#[derive(Clone, Debug)]
enum Tick {
    Sample(Arc<str>),
    Ended,
}

impl Live {
    /// Of what is observed into `tail`.
    pub fn new(tail: Arc<Tail>) -> Live {
        let run = Arc::new(tail.run());
        let (ticks, _) = watch::channel(Tick::Sample(told(&run)));
        Live {
            newest: Mutex::new((tail.version(), run)),
            tail,
            ticks,
            keeping: Mutex::new(()),
        }
    }

    /// Tells all pages that a sample has come.
    pub fn sampled(&self) {
        // Nobody looks: nothing to be made.
        if self.ticks.receiver_count() > 0 {
            let (run, _) = self.run();
            self.ticks.send_replace(Tick::Sample(told(&run)));
        }
    }

    /// Tells all pages that no more will come.
    pub fn ended(&self) {
        self.ticks.send_replace(Tick::Ended);
    }

    /// The observation as of its newest sample, and the number of that.
    pub(super) fn run(&self) -> (Arc<Run>, u64) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.tail.version();
        if newest.0 != version {
            *newest = (version, Arc::new(self.tail.run()));
        }
        (newest.1.clone(), newest.0)
    }

    /// The second from which on rows are kept.
    pub(super) fn kept_from(&self, run: &Run) -> Option<f64> {
        self.tail.oldest().map(|time| since(run, time))
    }

    /// A file beside the tables.
    pub(super) fn beside(&self, name: &str) -> Option<Vec<u8>> {
        self.tail.beside(name)
    }

    /// Writes what there is as a run.
    fn keep(&self, path: &Path) -> Result<Value, Refused> {
        let _one = self.keeping.lock().unwrap_or_else(PoisonError::into_inner);
        let finished = self.tail.keep(path).map_err(|e| match e {
            KeepError::Create(CreateError::Exists { path }) => Refused::new(
                StatusCode::CONFLICT,
                format!("{path} exists already\nhint: choose another name"),
            ),
            KeepError::Empty => Refused::new(StatusCode::CONFLICT, e),
            KeepError::Create(_) | KeepError::Io(_) => {
                Refused::new(StatusCode::INTERNAL_SERVER_ERROR, e)
            }
        })?;
        let path = finished.path.display().to_string();
        match finished.not_sealed {
            None => Ok(json!({"path": path})),
            Some(why) => {
                let text = format!("the run could not be sealed: {why}; it opens all the same");
                Ok(json!({"path": path, "problem": text}))
            }
        }
    }
}

/// What a page is told of a sample.
fn told(run: &Run) -> Arc<str> {
    let tick = json!({
        "run": ID,
        "seconds": since(run, run.ended()),
        "own_cost": own_cost(run),
        "loss": loss(run),
    });
    tick.to_string().into()
}

/// Ticks as they come, until the observation or the server ends.
pub(super) async fn stream(
    State(serving): State<Arc<Serving>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refused> {
    let Some(live) = serving.live().cloned() else {
        let text = "these runs are not live: nothing comes\nhint: `sonde view` without a run";
        return Err(Refused::new(StatusCode::NOT_FOUND, text));
    };
    let ticks = live.ticks.subscribe();
    let next = |state: Option<(Arc<Live>, watch::Receiver<Tick>, bool)>| async move {
        let (live, mut ticks, begun) = state?;
        // The first is what is there already.
        let changed = !begun || ticks.changed().await.is_ok();
        let tick = ticks.borrow_and_update().clone();
        match tick {
            Tick::Sample(text) if changed => {
                // While nobody listened, ticks were not made.
                let text = if begun { text } else { told(&live.run().0) };
                let event = Event::default().event("tick").data(&*text);
                Some((Ok(event), Some((live, ticks, true))))
            }
            _ => Some((Ok(Event::default().event("ended").data("{}")), None)),
        }
    };
    let stream = unfold(Some((live, ticks, false)), next);
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

/// Writes the observation as a run.
pub(super) async fn keep(
    State(serving): State<Arc<Serving>>,
    request: Request<Body>,
) -> Result<Json<Value>, Refused> {
    let Some(live) = serving.live().cloned() else {
        let text = "these runs are kept already";
        return Err(Refused::new(StatusCode::CONFLICT, text));
    };
    let body = super::body(request, 4096).await?;
    let wanted: Value = serde_json::from_slice(&body)
        .map_err(|e| Refused::bad(format!("the request is no JSON: {e}")))?;
    let name = wanted.get("name").and_then(Value::as_str).unwrap_or("");
    if !is_name(name) {
        return Err(Refused::bad(format!(
            "`{}` cannot be a run's name\nhint: letters, digits, `.`, `-` and `_`",
            name.chars().take(LONGEST_NAME).collect::<String>()
        )));
    }
    let path = serving.keep_in.join(name);
    let task = tokio::task::spawn_blocking(move || live.keep(&path));
    let kept = task
        .await
        .map_err(|e| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, format!("not kept: {e}")))?;
    kept.map(Json)
}

/// Whether it names a directory right here.
fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    !name.is_empty()
        && name.chars().count() <= LONGEST_NAME
        && !name.starts_with(['.', '-'])
        && name.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_stay_here() {
        for name in ["run", "fio-1.2", "Übung_7"] {
            assert!(super::is_name(name), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "-o",
            ".hidden",
            "a b",
            "a\0",
            &"x".repeat(101),
        ] {
            assert!(!super::is_name(name), "{name}");
        }
    }
}
