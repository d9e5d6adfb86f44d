//! What stands beside a run's tables: findings, inventory, saved worksheets.

use std::path::Path;
use std::sync::Arc;

use analysis::findings::{self, Look};
use axum::Json;
use axum::body::Body;
use axum::extract::{self, Request, State};
use axum::http::StatusCode;
use run::Run;
use run::inventory::Inventory;
use run::worksheets::{self, KeepError};
use serde_json::{Value, json};

use super::Serving;
use super::asked::Asked;
use super::refused::Refused;
use super::runs::since;

/// Samples after which findings of a live observation are looked for again.
const LIVE_FINDINGS: u64 = 30;

/// What the run was bound by, and what stands out.
pub(super) async fn found(
    State(serving): State<Arc<Serving>>,
    asked: Asked,
) -> Result<axum::response::Response, Refused> {
    let (run, version) = serving.run(&asked)?;
    let inventory = serving.inventory(&asked)?;
    // They ask some hundred questions: of a live observation not with every sample.
    let state = match serving.shown(&asked)?.of_live() {
        Some(_) => version / LIVE_FINDINGS,
        None => version,
    };
    let id = asked.text("run").unwrap_or_default();
    let key = format!("findings {id} {state}");
    let work = move |_: &Arc<_>| Ok(findings_of(&run, &inventory).to_string().into_bytes());
    let bytes = serving.answers.kept(key, work).await?;
    let kind = [(axum::http::header::CONTENT_TYPE, "application/json")];
    Ok(axum::response::IntoResponse::into_response((kind, bytes)))
}

pub(super) fn findings_of(run: &Run, inventory: &Inventory) -> Value {
    let setting = |path: &[&str]| inventory.setting(path);
    let look = Look::new(run, &setting);
    let found = findings::find(&look);
    let findings: Vec<Value> = found
        .iter()
        .map(|f| {
            json!({
                "name": f.name, "score": f.score, "sentence": f.sentence,
                "from": since(run, f.from), "to": since(run, f.to),
                "expr": f.expression, "causes": f.causes,
            })
        })
        .collect();
    let limits: Vec<Value> = look
        .limits()
        .iter()
        .map(|l| {
            json!({
                "resource": l.resource, "name": l.name, "share": l.share, "full": l.full,
                "text": l.text,
            })
        })
        .collect();
    json!({"limits": limits, "findings": findings, "problems": look.problems()})
}

/// The machine, and what changed.
pub(super) async fn inventory(
    State(serving): State<Arc<Serving>>,
    asked: Asked,
) -> Result<Json<Value>, Refused> {
    let (run, _) = serving.run(&asked)?;
    let inventory = serving.inventory(&asked)?;
    Ok(Json(inventory_of(&run, inventory)))
}

/// The settings at the start, and what changed since.
pub(super) fn inventory_of(run: &Run, mut inventory: Inventory) -> Value {
    if let Value::Object(sections) = &mut inventory.sections {
        // It stands beside, with before and after.
        sections.remove("changes");
    }
    let changed: Vec<Value> = run
        .manifest
        .changes
        .iter()
        .map(|c| json!({"path": c.path, "before": c.before, "after": c.after}))
        .collect();
    json!({"start": inventory.sections, "changed": changed, "problem": inventory.problem})
}

/// Saved worksheets.
pub(super) async fn worksheets(
    State(serving): State<Arc<Serving>>,
    asked: Asked,
) -> Result<Json<Value>, Refused> {
    let found = serving.shown(&asked)?.path().map(worksheets::list);
    let found = found.unwrap_or_default().into_iter();
    let all: Vec<Value> = found
        .map(|w| json!({"name": w.name, "worksheet": w.content}))
        .collect();
    Ok(Json(json!({"worksheets": all})))
}

/// Saves a worksheet.
pub(super) async fn save(
    State(serving): State<Arc<Serving>>,
    extract::Path(name): extract::Path<String>,
    asked: Asked,
    request: Request<Body>,
) -> Result<Json<Value>, Refused> {
    let Some(path) = serving.shown(&asked)?.path().map(Path::to_owned) else {
        let text = "a live observation has no directory yet\nhint: keep it, then save into the run";
        return Err(Refused::new(StatusCode::CONFLICT, text));
    };
    let content = super::body(request, worksheets::LARGEST).await?;
    let kept = worksheets::keep(&path, &name, &content).map_err(|e| {
        let status = match &e {
            KeepError::Name(_) | KeepError::NotJson(_) => StatusCode::BAD_REQUEST,
            KeepError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            KeepError::TooMany => StatusCode::CONFLICT,
            KeepError::Io { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refused::new(status, e)
    })?;
    Ok(Json(
        json!({"name": name, "path": kept.display().to_string()}),
    ))
}
