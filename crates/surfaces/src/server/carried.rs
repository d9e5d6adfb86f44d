//! What a report carries so that the page can show a run without a server: the answers that the
//! server would give, each in as many columns as fit.

use std::sync::Arc;

use analysis::bounds::Bounds;
use analysis::window::{Window, window};
use run::Run;
use run::inventory::Inventory;
use serde_json::{Map, Value, json};

use super::Limits;
use super::beside::{findings_of, inventory_of};
use super::cells::Wanted;
use super::levels;
use super::menu;
use super::picture::{Look, can_be_drawn, picture};
use super::printed::{Most, Part, Start};
use super::refused::Refused;
use super::runs::{describe, id, since};
use crate::worksheet::{Panel, Worksheet};

/// Groups with a line of their own, and rows of a heat map.
const SHOWN: (usize, usize) = (8, 128);

/// Of what the command printed, of each stream.
const OUTPUT: Most = Most {
    bytes: 128 << 10,
    lines: 4000,
};

/// Everything but the answers, in the form of the page's static provider. Of the run's path it
/// has only the last name: who reads a report has no use for the rest.
pub fn beside(run: &Run, worksheet: &Worksheet) -> Value {
    let first = id(0);
    let mut told = describe(&first, run);
    let name = run.path().file_name().unwrap_or_default();
    told["path"] = json!(name.to_string_lossy());
    let inventory = Inventory::read(run.path());
    let findings = findings_of(run, &inventory);
    let mut sheet = json!(worksheet);
    sheet["runs"] = json!([first]);
    json!({
        "runs": {"version": env!("CARGO_PKG_VERSION"), "live": false, "runs": [told]},
        "catalog": menu::catalog(),
        "findings": findings,
        "inventory": inventory_of(run, inventory),
        "output": {"stdout": printed(run, "stdout"), "stderr": printed(run, "stderr")},
        "worksheet": sheet,
        "levels": levels_of(run, worksheet),
    })
}

/// Those of the worksheet's expressions that have some.
fn levels_of(run: &Run, worksheet: &Worksheet) -> Value {
    let inventory = Inventory::read(run.path());
    let whole = Window {
        from: 0.0,
        to: since(run, run.ended()),
        width: 1000,
    };
    let limits = Limits::default();
    let mut all = Map::new();
    for panel in &worksheet.panels {
        let bounds = Arc::new(Bounds::new(limits.groups, limits.cells));
        if let Ok(told) = levels::of(run, &inventory, &panel.expr, &whole, &bounds) {
            all.insert(format!("{}|{}", id(0), panel.expr), told);
        }
    }
    Value::Object(all)
}

/// The answers to the worksheet's expressions over the whole run, in at most `width` columns of
/// time; and why there is none of those that cannot be drawn, a sentence each, with a hint.
pub fn answers(run: &Run, worksheet: &Worksheet, width: u32) -> (Map<String, Value>, Vec<String>) {
    let mut answers = Map::new();
    let mut missing = Vec::new();
    for panel in &worksheet.panels {
        for expr in [Some(&panel.expr), panel.right.as_ref()]
            .into_iter()
            .flatten()
        {
            match answer(run, panel, expr, width) {
                Ok(answer) => {
                    answers.insert(format!("{}|{expr}", id(0)), answer);
                }
                Err(why) => {
                    let hint = why.hint.map(|h| format!("\nhint: {h}"));
                    let (message, hint) = (why.message, hint.unwrap_or_default());
                    missing.push(format!("the page does not show `{expr}`: {message}{hint}"));
                }
            }
        }
    }
    (answers, missing)
}

fn answer(run: &Run, panel: &Panel, expr: &str, width: u32) -> Result<Value, Refused> {
    let whole = Window {
        from: 0.0,
        to: since(run, run.ended()),
        width,
    };
    can_be_drawn(expr)?;
    let limits = Limits::default();
    let bounds = Arc::new(Bounds::new(limits.groups, limits.cells));
    let pictured = window(run, expr, &whole, &bounds)?;
    let (top, rows) = SHOWN;
    let look = Look {
        top,
        wanted: Wanted {
            rows,
            log: panel.log,
            outliers: panel.outliers(),
        },
    };
    let picture = picture(run, expr, &pictured, &look, &bounds)?;
    let mut value = serde_json::to_value(picture).map_err(Refused::bad)?;
    // Columns are of a round length and reach over the run's ends; the numbers are of all of it.
    value["from"] = json!(0.0);
    value["to"] = json!(whole.to);
    let groups = value.get_mut("groups").and_then(Value::as_array_mut);
    for group in groups.into_iter().flatten() {
        brief(&mut group["series"]);
    }
    if let Some(others) = value.pointer_mut("/others/series") {
        brief(others);
    }
    Ok(value)
}

/// Leaves least and greatest out where they are the mean: where no column has two intervals.
fn brief(series: &mut Value) {
    let Some(fields) = series.as_object_mut() else {
        return;
    };
    for name in ["min", "max"] {
        if fields
            .get(name)
            .is_none_or(|values| fields.get("mean") == Some(values))
        {
            fields.insert(name.to_owned(), json!([]));
        }
    }
}

/// The beginning of what the command printed.
fn printed(run: &Run, stream: &str) -> Value {
    let part = Part::read(run.path(), stream, Start::At(0), OUTPUT);
    part.map_or(Value::Null, |part| part.told(run.manifest.started))
}
