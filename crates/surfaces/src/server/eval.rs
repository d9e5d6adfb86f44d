//! `eval`: an expression in as many columns as the picture has pixels.

use std::sync::Arc;

use analysis::window::{Window, window};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use run::Run;

use super::Serving;
use super::arrow;
use super::asked::Asked;
use super::cells::Wanted;
use super::picture::{Look, can_be_drawn, picture};
use super::refused::Refused;

/// Columns, rows and groups that can be asked for, and what they are otherwise.
const WIDTHS: (usize, usize, usize) = (1, 8192, 1000);
const ROWS: (usize, usize, usize) = (4, 1024, 128);
const TOPS: (usize, usize, usize) = (1, 200, 8);

/// Bytes of an expression.
const LONGEST: usize = 4096;

/// What Arrow's streams are called.
const ARROW: &str = "application/vnd.apache.arrow.stream";

/// What was asked.
struct Question {
    text: String,
    window: Window,
    look: Look,
    arrow: bool,
}

impl Question {
    fn read(asked: &Asked, headers: &HeaderMap, run: &Run) -> Result<Question, Refused> {
        let count = |name, (least, most, otherwise)| asked.count(name, least..=most, otherwise);
        let text = asked.needed("expr")?.to_owned();
        if text.len() > LONGEST {
            return Err(Refused::bad(format!(
                "an expression has at most {LONGEST} bytes"
            )));
        }
        let outliers = asked.number("outliers")?.unwrap_or(0.001);
        if !(0.0..=0.05).contains(&outliers) {
            return Err(Refused::bad("`outliers` is a share from 0 to 0.05"));
        }
        let accepts = headers.get_all(header::ACCEPT).iter();
        let mut accepts = accepts.filter_map(|v| v.to_str().ok());
        Ok(Question {
            text,
            window: asked.window(run, count("width", WIDTHS)?)?,
            look: Look {
                top: count("top", TOPS)?,
                wanted: Wanted {
                    rows: count("rows", ROWS)?,
                    log: asked.one_of("scale", &["linear", "log"])?.map(|at| at == 1),
                    outliers,
                },
            },
            arrow: accepts.any(|v| v.contains(ARROW)),
        })
    }

    /// What tells its answer from others.
    fn key(&self, id: &str, version: u64) -> String {
        let Question {
            text,
            window,
            look,
            arrow,
        } = self;
        format!("{id} {version} {window:?} {look:?} {arrow} {text}")
    }
}

/// Answers an expression.
pub(super) async fn eval(
    State(serving): State<Arc<Serving>>,
    asked: Asked,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let (run, version) = serving.run(&asked)?;
    let question = Question::read(&asked, &headers, &run)?;
    let key = question.key(asked.text("run").unwrap_or_default(), version);
    let kind = if question.arrow {
        ARROW
    } else {
        "application/json"
    };
    let work = move |bounds: &Arc<_>| {
        if !question.arrow {
            can_be_drawn(&question.text)?;
        }
        let pictured = window(&run, &question.text, &question.window, bounds)?;
        if question.arrow {
            return arrow::stream(&run, &pictured, question.look.top);
        }
        let picture = picture(&run, &question.text, &pictured, &question.look, bounds)?;
        serde_json::to_vec(&picture).map_err(Refused::bad)
    };
    let bytes: Bytes = serving.answers.kept(key, work).await?;
    Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response())
}
