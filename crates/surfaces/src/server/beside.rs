//! What stands beside a run's tables: findings, inventory, what the command printed, saved
//! worksheets.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
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
use serde_json::{Map, Value, json};

use super::Serving;
use super::asked::Asked;
use super::refused::Refused;
use super::runs::since;

/// Bytes of output in one answer.
const MOST_OUTPUT: usize = 1 << 20;

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

fn findings_of(run: &Run, inventory: &Inventory) -> Value {
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
    let mut inventory = serving.inventory(&asked)?;
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
    Ok(Json(json!({
        "start": inventory.sections, "changed": changed, "problem": inventory.problem,
    })))
}

/// What the command printed.
pub(super) async fn output(
    State(serving): State<Arc<Serving>>,
    asked: Asked,
) -> Result<Json<Value>, Refused> {
    let names = ["stdout", "stderr"];
    let stream = names[asked.one_of("stream", &names)?.unwrap_or(0)];
    let offset = asked.count("offset", 0..=usize::MAX, 0)?;
    let limit = asked.count("limit", 1..=MOST_OUTPUT, 64 << 10)?;
    let Some(path) = serving.shown(&asked)?.path() else {
        return Ok(Json(
            json!({"text": "", "offset": 0, "total": 0, "lines": null}),
        ));
    };
    let (text, offset, total) = part_of(&path.join(stream), offset as u64, limit)?;
    Ok(Json(
        json!({"text": text, "offset": offset, "total": total, "lines": null}),
    ))
}

/// Some of a file from `offset` on, as text: whole characters, what is none replaced.
fn part_of(path: &Path, offset: u64, limit: usize) -> Result<(String, u64, u64), Refused> {
    let failed = |e: std::io::Error| {
        let text = format!("cannot read {}: {e}", path.display());
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok((String::new(), 0, 0)),
        Err(e) => return Err(failed(e)),
    };
    let total = file.metadata().map_err(failed)?.len();
    let offset = offset.min(total);
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit as u64)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    // A character that is cut belongs to the next part.
    if bytes.len() == limit
        && let Err(e) = std::str::from_utf8(&bytes)
        && e.error_len().is_none()
        && e.valid_up_to() > 0
    {
        bytes.truncate(e.valid_up_to());
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), offset, total))
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

/// Most names of a tree; more are cut, and that is told.
const MOST_NAMES: usize = 50_000;

/// What is part of what: devices, control groups, files in directories.
pub(super) async fn hierarchy(
    State(serving): State<Arc<Serving>>,
    asked: Asked,
) -> Result<Json<Value>, Refused> {
    const DIMENSIONS: &[&str] = &["device", "cgroup", "file"];
    let dimension = asked.one_of("dimension", DIMENSIONS)?.unwrap_or(0);
    if dimension == 0 {
        return Ok(Json(of_devices(&serving.inventory(&asked)?)));
    }
    let (run, _) = serving.run(&asked)?;
    let work = move |bounds: &Arc<_>| {
        let candidates: &[&str] = match DIMENSIONS[dimension] {
            "cgroup" => &["cgroup.time by cgroup", "disk.bytes by cgroup"],
            _ => &["file.opens by path", "file.ops by path", "disk.ios by file"],
        };
        of_paths(&run, candidates, bounds)
    };
    serving.answers.work_out(work).await.map(Json)
}

/// Devices above those they are made of.
fn of_devices(inventory: &Inventory) -> Value {
    let mut children: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut below: Vec<String> = Vec::new();
    let mut all: Vec<String> = Vec::new();
    let block = inventory.sections.get("block").and_then(Value::as_object);
    for (name, fields) in block.into_iter().flatten() {
        all.push(name.clone());
        let parts = fields.get("made_of").and_then(Value::as_array);
        for part in parts.into_iter().flatten().filter_map(Value::as_str) {
            children
                .entry(name.clone())
                .or_default()
                .push(part.to_owned());
            below.push(part.to_owned());
        }
    }
    let roots: Vec<&String> = all.iter().filter(|n| !below.contains(n)).collect();
    json!({"children": children, "roots": roots, "cut": false})
}

/// Names that are paths, each below the one it is in.
fn of_paths(
    run: &Run,
    candidates: &[&str],
    bounds: &Arc<analysis::bounds::Bounds>,
) -> Result<Value, Refused> {
    let whole = analysis::window::Window {
        from: 0.0,
        to: since(run, run.ended()),
        width: 1,
    };
    let mut answer = Err(Refused::bad("nothing is known by that dimension"));
    for expression in candidates {
        answer = analysis::window::window(run, expression, &whole, bounds).map_err(Refused::from);
        if answer.is_ok() {
            break;
        }
    }
    let groups = answer?.answer.groups;
    let cut = groups.len() > MOST_NAMES;
    let mut children: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut known: std::collections::HashSet<String> = std::collections::HashSet::new();
    let mut roots: Vec<String> = Vec::new();
    for group in groups.iter().take(MOST_NAMES) {
        let name = super::picture::words(&group.key).concat();
        let mut below = name.as_str();
        // From the name upwards, until one that is known.
        while known.insert(below.to_owned()) {
            match parent(below) {
                Some(above) => {
                    let siblings = children.entry(above.to_owned()).or_default();
                    siblings.push(below.to_owned());
                    below = above;
                }
                None => {
                    roots.push(below.to_owned());
                    break;
                }
            }
        }
    }
    let children: Map<String, Value> = children.into_iter().map(|(k, v)| (k, json!(v))).collect();
    Ok(json!({"children": children, "roots": roots, "cut": cut}))
}

/// The directory that a path is in.
fn parent(path: &str) -> Option<&str> {
    let trimmed = path.trim_end_matches('/');
    let at = trimmed.rfind('/')?;
    if trimmed.is_empty() {
        None
    } else if at == 0 {
        Some("/")
    } else {
        Some(&trimmed[..at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_directories() {
        let cases = [
            ("/", None),
            ("", None),
            ("/a", Some("/")),
            ("/a/b", Some("/a")),
            ("/a/b/", Some("/a")),
            ("(unknown)", None),
            ("a/b", Some("a")),
        ];
        for (path, wanted) in cases {
            assert_eq!(parent(path), wanted, "{path}");
        }
    }

    #[test]
    fn devices_lie_above_what_they_are_made_of() {
        let inventory = Inventory {
            sections: json!({"block": {
                "sda": {}, "sdb": {}, "md0": {"made_of": ["sda", "sdb"]},
                "dm-0": {"made_of": ["md0"]}, "vda": {"made_of": "odd"},
            }}),
            problem: None,
        };
        let tree = of_devices(&inventory);
        assert_eq!(tree["children"]["md0"], json!(["sda", "sdb"]));
        assert_eq!(tree["children"]["dm-0"], json!(["md0"]));
        assert_eq!(tree["roots"], json!(["dm-0", "vda"]));
    }

    #[test]
    fn output_comes_in_parts_of_whole_characters() {
        let path = std::env::temp_dir().join(format!("sonde-output-{}", std::process::id()));
        run::write::write_durably(&path, "aäöü\n".as_bytes()).unwrap();
        assert_eq!(part_of(&path, 0, 100).unwrap(), ("aäöü\n".into(), 0, 8));
        assert_eq!(part_of(&path, 0, 4).unwrap().0, "aä");
        assert_eq!(part_of(&path, 3, 4).unwrap().0, "öü");
        assert_eq!(part_of(&path, 99, 4).unwrap(), (String::new(), 8, 8));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(part_of(&path, 0, 4).unwrap(), (String::new(), 0, 0));
    }
}
