//! Settings of the machine, as `inventory.json` of a run has them.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

/// What a run knows of its machine.
pub struct Inventory {
    /// Everything in it; null if there is none.
    pub sections: Value,
    /// Why there is nothing, though there is a file.
    pub problem: Option<String>,
}

impl Inventory {
    /// Of the run in `dir`. Runs that were imported have none.
    pub fn read(dir: &Path) -> Inventory {
        let path = dir.join("inventory.json");
        let name = path.display().to_string();
        match std::fs::read(&path) {
            Ok(text) => Inventory::parsed(Some(&text), &name),
            Err(e) if e.kind() == ErrorKind::NotFound => Inventory::of(None),
            Err(e) => Inventory::unknown(&name, &e),
        }
    }

    /// Of the text of `inventory.json`, if there is one.
    pub fn of(text: Option<&[u8]>) -> Inventory {
        Inventory::parsed(text, "inventory.json")
    }

    fn parsed(text: Option<&[u8]>, name: &str) -> Inventory {
        match text.map_or(Ok(Value::Null), serde_json::from_slice) {
            Ok(sections) => Inventory {
                sections,
                problem: None,
            },
            Err(e) => Inventory::unknown(name, &e),
        }
    }

    fn unknown(name: &str, why: &dyn Display) -> Inventory {
        Inventory {
            sections: Value::Null,
            problem: Some(format!("{name} cannot be read: {why}")),
        }
    }

    /// The text, number or flag at `path`.
    pub fn setting(&self, path: &[&str]) -> Option<String> {
        let found = path.iter().try_fold(&self.sections, |at, key| at.get(key));
        match found? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_text() {
        let inventory = Inventory {
            sections: json!({"block": {"sda": {"nr_requests": 64, "rotational": true, "scheduler": "none", "made_of": []}}}),
            problem: None,
        };
        let of = |name| inventory.setting(&["block", "sda", name]);
        assert_eq!(of("nr_requests").as_deref(), Some("64"));
        assert_eq!(of("rotational").as_deref(), Some("true"));
        assert_eq!(of("scheduler").as_deref(), Some("none"));
        assert_eq!(of("made_of"), None);
        assert_eq!(of("model"), None);
        assert_eq!(inventory.setting(&["net", "eth0"]), None);
    }
}
