//! One HTML file: the page of `sonde view` with its script, its style and all it can show within
//! it. It asks nobody for anything, and its policy forbids it to.

use run::Run;
use serde_json::Value;

use super::hyper::escaped;
use crate::server;
use crate::text::clean;
use crate::worksheet::Worksheet;

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

/// Bytes of the answers. With the page and the rest the file has at most three megabytes.
const MOST: usize = 2_400_000;

/// What the file may do: run what is in it.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
     script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; \
     form-action 'none'\" />";

/// The file: `run` as `worksheet` shows it; and what of that it cannot show, a sentence each.
pub fn text(run: &Run, worksheet: &Worksheet) -> Result<(String, Vec<String>), PageError> {
    let index = asset("index.html")?;
    let mut carried = server::beside(run, worksheet);
    let mut missing = Vec::new();
    for width in WIDTHS {
        (carried["answers"], missing) = server::answers(run, worksheet, width);
        if carried["answers"].to_string().len() <= MOST {
            break;
        }
    }
    Ok((assembled(&index, &run.manifest.name, &carried)?, missing))
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
