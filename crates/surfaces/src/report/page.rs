//! One HTML file: the page of `sonde view` with its script, its style and all it can show within
//! it. It asks nobody for anything, and its policy forbids it to.

use run::Run;
use serde_json::{Map, Value, json};

use super::hyper::escaped;
use crate::part::{Part, untied};
use crate::server;
use crate::table::{Align, Table};
use crate::text::clean;
use crate::worksheet::{self, Worksheet};

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// This program was built without one.
    #[error("{}", server::WITHOUT_PAGE)]
    NotBuilt,
    /// The page that it was built with is not made as expected: a fault of this program.
    #[error("the page that this sonde was built with cannot be carried: {0}")]
    Form(&'static str),
}

/// Columns of time to try, until the answers are small enough.
const WIDTHS: [u32; 4] = [2000, 1000, 500, 250];

/// Columns of time to try for what a finding looks at.
const FINDING_WIDTHS: [u32; 2] = [500, 250];

/// Bytes of the answers. With the page and the rest the file has at most three megabytes.
const MOST: usize = 2_400_000;

/// Bytes of them that are left for what findings look at.
const FOR_FINDINGS: usize = 800_000;

/// What the file may do: run what is in it.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
     script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; \
     form-action 'none'\" />";

/// The file: `summary`, and `run` as `worksheet` shows it; and what of that it cannot show, a
/// sentence each.
pub fn text(
    run: &Run,
    summary: &[Part],
    worksheet: &Worksheet,
) -> Result<(String, Vec<String>), PageError> {
    let index = asset("index.html")?;
    let mut carried = server::beside(run, worksheet);
    carried["summary"] = summary.iter().filter_map(told).collect();
    let (answers, missing) = answers(run, worksheet, &looked_at(&carried, worksheet));
    carried["answers"] = Value::Object(answers);
    Ok((assembled(&index, &run.manifest.name, &carried)?, missing))
}

/// What findings look at and the worksheet does not show.
fn looked_at(carried: &Value, worksheet: &Worksheet) -> Vec<worksheet::Panel> {
    let findings = carried["findings"]["findings"].as_array();
    let mut all: Vec<worksheet::Panel> = Vec::new();
    for finding in findings.into_iter().flatten() {
        let Some(expr) = finding["expr"].as_str() else {
            continue;
        };
        let shown = |panel: &worksheet::Panel| panel.expr == expr;
        if !worksheet.panels.iter().chain(&all).any(shown) {
            // What stands out is often just what would be left out as an outlier.
            all.push(worksheet::Panel {
                outliers: Some(0.0),
                ..worksheet::Panel::of(expr)
            });
        }
    }
    all
}

/// The answers of `findings`, the first before the others, as many as there is room for; and those
/// of the worksheet, as fine as the rest of the room allows. And what of the worksheet has none.
fn answers(
    run: &Run,
    sheet: &Worksheet,
    findings: &[worksheet::Panel],
) -> (Map<String, Value>, Vec<String>) {
    let mut found = Map::new();
    let mut left = FOR_FINDINGS;
    for panel in findings {
        let one = Worksheet::of(vec![panel.clone()]);
        for width in FINDING_WIDTHS {
            let (answer, _) = server::answers(run, &one, width);
            if let Some(rest) = left.checked_sub(size(&answer)) {
                left = rest;
                found.extend(answer);
                break;
            }
        }
    }
    let most = MOST - (FOR_FINDINGS - left);
    let (mut all, mut missing) = (Map::new(), Vec::new());
    for width in WIDTHS {
        (all, missing) = server::answers(run, sheet, width);
        if size(&all) <= most {
            break;
        }
    }
    all.extend(found);
    (all, missing)
}

fn size(answers: &Map<String, Value>) -> usize {
    json!(answers).to_string().len()
}

/// A part of the summary as the page reads it; a gap says nothing there.
fn told(part: &Part) -> Option<Value> {
    match part {
        Part::Line(text) => Some(json!({"line": untied(text)})),
        Part::Entry { label, text } => Some(json!({"label": label, "text": untied(text)})),
        Part::Table(table) => Some(told_table(table)),
        Part::Gap => None,
    }
}

fn told_table(table: &Table) -> Value {
    let column =
        |(name, align): &(String, Align)| json!({"name": name, "number": *align == Align::Right});
    let columns: Vec<Value> = table.columns().iter().map(column).collect();
    json!({"columns": columns, "rows": table.rows()})
}

fn asset(path: &str) -> Result<String, PageError> {
    let bytes = server::asset(path).ok_or(PageError::NotBuilt)?;
    String::from_utf8(bytes).map_err(|_| PageError::Form("a file of it is no text"))
}

/// The page with everything it names put into it.
fn assembled(index: &str, title: &str, carried: &Value) -> Result<String, PageError> {
    let (script, style) = (asset("assets/page.js")?, asset("assets/page.css")?);
    let mut page = index.to_owned();
    // The icon is the one thing that can be missed.
    replace(&mut page, "<link rel=\"icon\"", ">", "")?;
    replace(
        &mut page,
        "<link rel=\"stylesheet\"",
        ">",
        &within_style(&style)?,
    )?;
    replace(&mut page, "<script type=\"module\"", "</script>", "")?;
    let title = format!("<title>{}</title>", escaped(&clean(title)));
    replace(&mut page, "<title>", "</title>", &title)?;
    let head = page
        .find("<meta")
        .ok_or(PageError::Form("it has no head"))?;
    page.insert_str(head, &format!("{POLICY}\n    "));
    let end = page
        .rfind("</body>")
        .ok_or(PageError::Form("it has no body"))?;
    let scripts = format!(
        "<script type=\"application/json\" id=\"sonde-report\">{}</script>\n\
         <script type=\"module\">{}</script>\n",
        carried.to_string().replace('<', "\\u003c"),
        within_script(&script),
    );
    page.insert_str(end, &scripts);
    Ok(page)
}

/// Puts `by` in the place of what is from `from` up to and with `to`.
fn replace(page: &mut String, from: &str, to: &str, by: &str) -> Result<(), PageError> {
    let missing = PageError::Form("a part of its head is missing");
    let Some(start) = page.find(from) else {
        return Err(missing);
    };
    let Some(length) = page[start..].find(to) else {
        return Err(missing);
    };
    page.replace_range(start..start + length + to.len(), by);
    Ok(())
}

/// A script that does not end the element it stands in: `</script` and `<!--` can only be in
/// texts and patterns, where a backslash before a sign changes nothing.
fn within_script(script: &str) -> String {
    script
        .replace("</script", "<\\/script")
        .replace("<!--", "<\\!--")
}

fn within_style(style: &str) -> Result<String, PageError> {
    if style.contains("</style") {
        return Err(PageError::Form("its style ends its own element"));
    }
    Ok(format!("<style>{style}</style>"))
}
