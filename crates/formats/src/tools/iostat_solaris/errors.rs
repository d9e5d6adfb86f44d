//! Counts of errors since boot, by device: `-E`.
//!
//! ```text
//! c0t0d0           Soft Errors: 0 Hard Errors: 0 Transport Errors: 0
//! Vendor: ATA      Product: SOMETHING 80   Revision: A1   Serial No:  X1234
//! Size: 80.03GB <80026361856 bytes>
//! Media Error: 0 Device Not Ready: 0 No Device: 0 Recoverable: 0
//! ```

use super::{Iostat, Part};
use crate::out::Out;
use crate::{Line, fields, number};

/// Whether the line is the first of a device.
pub(super) fn line_of_errors(line: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
    has(b"Soft Errors:") && has(b"Hard Errors:")
}

impl Iostat {
    /// A line of them; `None` if it is none.
    pub(super) fn errors(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        if line_of_errors(line) {
            let text = memchr::memmem::find(line, b"Soft Errors:")?;
            let name = line[..text].trim_ascii().to_vec();
            let again = self
                .errors
                .as_ref()
                .is_some_and(|(first, _)| *first == name);
            if again && self.part == Part::Errors {
                self.close(out);
            }
            if self.part != Part::Errors {
                self.begin(Part::Errors, out);
                self.errors = Some((name.clone(), Vec::new()));
            }
            self.open(out);
            if let Some((_, present)) = &mut self.errors {
                *present = name;
            }
            self.pairs(&line[text..], out);
            return Some(Line::Data);
        }
        if self.part != Part::Errors {
            return None;
        }
        let text = line.trim_ascii_start();
        let starts = |names: &[&str]| names.iter().any(|n| text.starts_with(n.as_bytes()));
        if starts(&[
            "Vendor:",
            "Model:",
            "Revision:",
            "Product:",
            "Serial No:",
            "Device Id:",
        ]) {
            return Some(Line::Noise);
        }
        // Of old disks the geometry stands before the size: `RPM: 5400 Heads: 9 Size: …`.
        if starts(&["Size:", "RPM:"])
            && let Some(at) = memchr::memmem::find(text, b"Size:")
        {
            let (before, after) = text.split_at(at);
            let at = after.iter().position(|b| *b == b'<')?;
            let size = number::number(fields(&after[at + 1..]).next()?)?;
            if !self.pairs(before, out) {
                return None;
            }
            // Of a drive without a medium it is -1.
            if size >= 0.0 {
                self.other("Size", "bytes", size, out);
            }
            return Some(Line::Data);
        }
        let counts = [
            "Media Error:",
            "Illegal Request:",
            "Non-Aligned Writes:",
            "RPM:",
        ];
        (starts(&counts) && self.pairs(text, out)).then_some(Line::Data)
    }

    fn other(&mut self, name: &str, unit: &str, value: f64, out: &mut Out) {
        let Some((_, device)) = &self.errors else {
            return;
        };
        let device = out.word(device);
        out.other(name, unit, device, value);
    }

    /// `Name: 1 Other name: 2`; nothing of it is put where a part is none.
    fn pairs(&mut self, line: &[u8], out: &mut Out) -> bool {
        let mut rest = line.trim_ascii();
        let mut found = Vec::new();
        while let Some(at) = rest.iter().position(|b| *b == b':') {
            let name = String::from_utf8_lossy(rest[..at].trim_ascii()).into_owned();
            let after = rest[at + 1..].trim_ascii_start();
            let end = after.iter().position(u8::is_ascii_whitespace);
            let (value, next) = after.split_at(end.unwrap_or(after.len()));
            let Some(value) = number::number(value) else {
                return false;
            };
            found.push((name, value));
            rest = next.trim_ascii_start();
        }
        if !rest.is_empty() {
            return false;
        }
        for (name, value) in found {
            let unit = match name.as_str() {
                "RPM" | "Heads" => "",
                _ => "since boot",
            };
            self.other(&name, unit, value, out);
        }
        true
    }
}
