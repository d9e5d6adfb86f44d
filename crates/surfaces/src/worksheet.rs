//! A worksheet: panels over one time axis, each an expression and how it is to look. The page
//! of `sonde view` saves them as JSON; fields that this program does not know are passed over.

use serde::{Deserialize, Serialize};

use crate::from_answer::Look;

/// The version of worksheets that is read.
const VERSION: u32 = 1;

/// Panels over one time axis.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Worksheet {
    /// Version of the form.
    pub v: u32,
    /// The runs that panels may name; the first is meant where a panel names none.
    #[serde(default)]
    pub runs: Vec<String>,
    /// First second shown, since the run's start.
    #[serde(default)]
    pub from: Option<f64>,
    /// Last second shown.
    #[serde(default)]
    pub to: Option<f64>,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// One expression, and how it is to look.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Panel {
    /// What to show.
    pub expr: String,
    /// A second expression, on the right axis.
    #[serde(default)]
    pub right: Option<String>,
    /// How to draw it.
    #[serde(default)]
    pub kind: Kind,
    /// Logarithmic axis; `None`: as suits what is on it.
    #[serde(default)]
    pub log: Option<bool>,
    /// Seconds over which values are averaged.
    #[serde(default)]
    pub smooth: Option<f64>,
    /// Share of a heat map that may lie above its axis.
    #[serde(default)]
    pub outliers: Option<f64>,
    /// The run that it is of.
    #[serde(default)]
    pub run: Option<String>,
}

/// How a panel is drawn.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// As suits the expression.
    #[default]
    Auto,
    /// Lines.
    Lines,
    /// Areas on top of each other.
    Stack,
    /// A number dimension over time.
    Heat,
    /// A number dimension as one distribution.
    Fold,
    /// Numbers alone.
    Table,
    /// What only the page can show: single events, a tree.
    #[serde(other)]
    Page,
}

/// Why a worksheet cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorksheetError {
    /// Not JSON, or not of this form.
    #[error("not a worksheet: {0}")]
    Form(#[from] serde_json::Error),
    /// From a newer program.
    #[error("a worksheet of version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// Times that are no range.
    #[error("its time from {0} s to {1} s is no range")]
    Time(f64, f64),
    /// Nothing to show.
    #[error("it has no panels")]
    Empty,
}

impl Worksheet {
    /// Reads a saved one.
    pub fn read(text: &[u8]) -> Result<Worksheet, WorksheetError> {
        let sheet: Worksheet = serde_json::from_slice(text)?;
        if sheet.v != VERSION {
            return Err(WorksheetError::Version(sheet.v));
        }
        if let (Some(from), Some(to)) = (sheet.from, sheet.to)
            && from >= to
        {
            return Err(WorksheetError::Time(from, to));
        }
        if sheet.panels.is_empty() {
            return Err(WorksheetError::Empty);
        }
        Ok(sheet)
    }

    /// Of these expressions, over all the time.
    pub fn of(panels: Vec<Panel>) -> Worksheet {
        Worksheet {
            v: VERSION,
            runs: vec![],
            from: None,
            to: None,
            panels,
        }
    }

    /// How `panel` is to look.
    pub fn look(&self, panel: &Panel) -> Look {
        Look {
            title: None,
            log: panel.log,
            stack: panel.kind == Kind::Stack,
            smooth: panel.smooth.filter(|s| *s > 0.0),
            from: self.from,
            to: self.to,
            fold: panel.kind == Kind::Fold,
            outliers: panel.outliers(),
        }
    }
}

impl Panel {
    /// The share that may lie above its heat map.
    pub fn outliers(&self) -> f64 {
        self.outliers.unwrap_or(0.001).clamp(0.0, 0.05)
    }

    /// Of one expression, drawn as suits it.
    pub fn of(expr: &str) -> Panel {
        Panel {
            expr: expr.to_owned(),
            ..Panel::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_read() {
        let text = br#"{"v":1,"runs":["a"],"from":1.5,"to":null,"align":"start","panels":[
            {"expr":"disk.ios by latency","right":null,"kind":"fold","log":true,"smooth":null,
             "palette":"log","outliers":0.01,"run":null,"hidden":[],"isolate":null},
            {"expr":"cpu.time"},{"expr":"disk.ios","kind":"events"}]}"#;
        let sheet = Worksheet::read(text).unwrap();
        assert_eq!(sheet.panels.len(), 3);
        assert_eq!(sheet.panels[2].kind, Kind::Page);
        let look = sheet.look(&sheet.panels[0]);
        assert!(look.fold && !look.stack && look.log == Some(true));
        assert_eq!((look.from, look.to, look.outliers), (Some(1.5), None, 0.01));
        assert_eq!(sheet.panels[1], Panel::of("cpu.time"));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, said) in [
            ("", "not a worksheet"),
            ("[1]", "not a worksheet"),
            (r#"{"v":1}"#, "missing field `panels`"),
            (r#"{"v":2,"panels":[{"expr":"x"}]}"#, "version 2"),
            (r#"{"v":1,"panels":[]}"#, "no panels"),
            (
                r#"{"v":1,"from":2,"to":1,"panels":[{"expr":"x"}]}"#,
                "no range",
            ),
            (
                r#"{"v":1,"panels":[{"kind":"heat"}]}"#,
                "missing field `expr`",
            ),
        ] {
            let error = Worksheet::read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
