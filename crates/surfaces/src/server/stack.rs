//! What devices are made of, as the inventory has it: stacked devices of their parts, partitions
//! of their disk, loop devices of the disk that their file lies on.

use std::collections::BTreeMap;
use std::path::Path;

use run::inventory::Inventory;
use serde_json::Value;

/// Devices, by name, with those they are made of.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Stack {
    pub(super) parts: BTreeMap<String, Vec<String>>,
}

impl Stack {
    /// Whether `name` is one of `from`, or below one.
    pub(super) fn reaches(&self, from: &[&String], name: &str) -> bool {
        let mut seen: Vec<&str> = vec![];
        let mut left: Vec<&str> = from.iter().map(|n| n.as_str()).collect();
        while let Some(at) = left.pop() {
            if at == name {
                return true;
            }
            if !seen.contains(&at) {
                seen.push(at);
                let parts = self.parts.get(at).into_iter().flatten();
                left.extend(parts.map(String::as_str));
            }
        }
        false
    }

    /// Whether something is known of `name`, or of anything below it.
    pub(super) fn has_amount(&self, name: &String, amounts: &BTreeMap<String, f64>) -> bool {
        amounts.keys().any(|known| self.reaches(&[name], known))
    }
}

/// The stack of a machine.
pub(super) fn of(inventory: &Inventory) -> Stack {
    let mut stack = Stack::default();
    let block = inventory.sections.get("block").and_then(Value::as_object);
    for (name, fields) in block.into_iter().flatten() {
        let parts = fields.get("made_of").and_then(Value::as_array);
        for part in parts.into_iter().flatten().filter_map(Value::as_str) {
            stack.put(name, part);
        }
        let partitions = fields.get("partitions").and_then(Value::as_object);
        for partition in partitions.into_iter().flatten() {
            stack.put(partition.0, name);
        }
        let file = fields.get("loop_file").and_then(Value::as_str);
        if let Some(device) = file.and_then(|file| device_of(inventory, file)) {
            stack.put(name, device);
        }
    }
    stack
}

impl Stack {
    fn put(&mut self, name: &str, part: &str) {
        let parts = self.parts.entry(name.to_owned()).or_default();
        if name != part && !parts.iter().any(|p| p == part) {
            parts.push(part.to_owned());
        }
    }
}

/// The device of the file system that has `file`: that of the longest mount point above it.
fn device_of<'i>(inventory: &'i Inventory, file: &str) -> Option<&'i str> {
    let mounts = inventory.sections.get("filesystems")?.as_object()?;
    let above = mounts.iter().filter(|(point, _)| {
        let point = Path::new(point);
        Path::new(file).starts_with(point)
    });
    let (_, fields) = above.max_by_key(|(point, _)| point.len())?;
    fields.get("device")?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn devices_lie_above_what_they_are_made_of() {
        let inventory = Inventory {
            sections: json!({
                "block": {
                    "sda": {"partitions": {"sda1": {}, "sda2": {}}}, "sdb": {},
                    "md0": {"made_of": ["sda1", "sdb"]}, "dm-0": {"made_of": ["md0"]},
                    "vda": {"made_of": "odd"},
                    "loop0": {"loop_file": "/srv/images/a"}, "loop1": {"loop_file": "/b (deleted)"},
                    "loop2": {"loop_file": "/srvx"}, "loop3": {"loop_file": "/tmp/x"},
                },
                "filesystems": {
                    "/": {"device": "vda"}, "/srv": {"device": "dm-0"}, "/tmp": {"type": "tmpfs"},
                },
            }),
            problem: None,
        };
        let stack = of(&inventory);
        let parts = |name: &str| stack.parts.get(name).cloned().unwrap_or_default();
        assert_eq!(parts("md0"), ["sda1", "sdb"]);
        assert_eq!(parts("dm-0"), ["md0"]);
        assert_eq!(parts("sda2"), ["sda"]);
        assert_eq!(parts("loop0"), ["dm-0"]);
        assert_eq!(parts("loop1"), ["vda"]);
        assert_eq!(parts("loop2"), ["vda"]);
        assert!(parts("loop3").is_empty() && parts("vda").is_empty());
        let top = ["loop0".to_owned()];
        let top: Vec<&String> = top.iter().collect();
        assert!(stack.reaches(&top, "sda") && !stack.reaches(&top, "sda2"));
        assert_eq!(
            of(&Inventory {
                sections: json!([]),
                problem: None
            }),
            Stack::default()
        );
    }
}
