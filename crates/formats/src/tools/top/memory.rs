//! Lines of memory and swap.

use super::text::{after_colon, of, pairs, parts, size_of, unit};
use crate::Line;
use crate::number::{decimal, scaled_decimal};
use crate::out::{Out, Shape};

const KIB: f64 = 1024.0;

pub(super) struct Memory {
    kinds: Shape,
    swap: Shape,
}

impl Memory {
    pub(super) fn new() -> Memory {
        Memory {
            kinds: Shape::of("memory", &["bytes"]),
            swap: Shape::of("memory_state", &["swap_total", "swap_used", "available"]),
        }
    }

    /// `KiB Mem : …`, `Mem: 3861332k total, …`, and the same of swap, perhaps on one line.
    pub(super) fn line(&self, line: &[u8], out: &mut Out) -> Line {
        let mut seen = Line::Unknown;
        for part in parts(line) {
            seen = match (self.part(part, out), seen) {
                (Line::Unknown, _) => return Line::Unknown,
                (Line::Noise, Line::Unknown) => Line::Noise,
                (Line::Noise, seen) => seen,
                (Line::Data, _) => Line::Data,
            };
        }
        seen
    }

    /// Pages by how they are used, of a version before procps 3.
    pub(super) fn pages(pages: &[(&str, Vec<u8>)], out: &mut Out) -> Line {
        let none = out.word(b"");
        for (name, size) in pages {
            let size = scaled_decimal(size, KIB).unwrap_or(f64::NAN);
            out.other(name, "bytes", none, size);
        }
        Line::Data
    }

    fn part(&self, line: &[u8], out: &mut Out) -> Line {
        // Without a unit before the line each number has its letter.
        let unit = unit(line).map_or(1.0, |(bytes, _)| bytes);
        let Some(is_swap) = size_of(line).map(|of| of == "swap") else {
            return Line::Unknown;
        };
        if let Some(at) = line.iter().position(|b| matches!(b, b'[' | b'|')) {
            return self
                .graph(&line[..at], unit, is_swap, out)
                .unwrap_or(Line::Unknown);
        }
        let Some(pairs) = pairs(after_colon(line)) else {
            return Line::Unknown;
        };
        let of = |name: &str| of(&pairs, name) * unit;
        if !pairs.iter().any(|(n, _)| n == "free" || n == "used") {
            return Line::Unknown;
        }
        for (name, kind) in [
            ("buffers", "buffers"),
            ("cached", "cache"),
            ("buff/cache", "buff/cache"),
            ("free", "free"),
        ] {
            if !(of(name).is_nan() || is_swap && name == "free") {
                let kind = out.word(kind.as_bytes());
                out.put(&self.kinds, &[kind], &[of(name)]);
            }
        }
        if is_swap {
            out.put(&self.swap, &[], &[of("total"), of("used"), of("avail")]);
        } else {
            // What counts as used differs from version to version.
            let none = out.word(b"");
            out.other("Mem total", "bytes", none, of("total"));
            out.other("Mem used", "bytes", none, of("used"));
        }
        Line::Data
    }

    /// What stands before a graph: `MiB Mem : 45.2/7812.5  `, the share in use and the size, or nothing.
    fn graph(&self, line: &[u8], unit: f64, is_swap: bool, out: &mut Out) -> Option<Line> {
        let text = after_colon(line).trim_ascii();
        if text.is_empty() {
            return Some(Line::Noise);
        }
        let at = text.iter().position(|b| *b == b'/')?;
        let (share, size) = (decimal(&text[..at])?, &text[at + 1..]);
        let size = match size.last() {
            Some(b'0'..=b'9') => decimal(size)? * unit,
            // Without a unit before the line.
            _ => scaled_decimal(size, KIB).filter(|_| unit == 1.0)?,
        };
        let none = out.word(b"");
        if is_swap {
            out.put(&self.swap, &[], &[size, f64::NAN, f64::NAN]);
            out.other("Swap used", "%", none, share);
        } else {
            out.other("Mem total", "bytes", none, size);
            out.other("Mem used", "%", none, share);
        }
        Some(Line::Data)
    }
}
