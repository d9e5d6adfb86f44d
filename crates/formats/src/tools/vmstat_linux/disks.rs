//! Reports of `-d` and `-p`: what disks and partitions counted since boot.

use super::Vmstat;
use crate::out::Out;
use crate::recognise::Head;
use crate::{Line, fields, numbers};

/// The line of dashes above a header, whose titles are those of procps's languages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Banner {
    System,
    Disks,
}

impl Banner {
    /// `procs -----memory---- ---swap-- -----io---- -system-- ------cpu-----`, or of -d
    /// `disk- ------reads------ ------writes----- -----IO------`.
    pub(super) fn of(words: &[&[u8]]) -> Option<Banner> {
        let (first, others) = words.split_first()?;
        let has_dashes = |word: &&&[u8]| word.windows(2).any(|w| w == b"--");
        let dashed = others.iter().filter(has_dashes).count();
        // Some titles are of two words.
        let is_banner = !first.is_empty() && dashed >= 3 && dashed + 1 >= others.len();
        let name = String::from_utf8_lossy(first).to_lowercase();
        let is_disks = ["dis", "dys", "дис", "đĩa"]
            .iter()
            .any(|n| name.starts_with(n));
        match is_banner {
            _ if first.starts_with(b"procs") || first.starts_with(b"--procs") => {
                Some(Banner::System)
            }
            false => None,
            true if is_disks => Some(Banner::Disks),
            true => name.contains(char::is_alphabetic).then_some(Banner::System),
        }
    }
}

/// Whether a report of `-d` begins in the text: its line of dashes, and two lines below it a device.
pub(super) fn begins(head: &Head) -> bool {
    let lines: Vec<&[u8]> = head.lines().collect();
    lines.windows(3).any(|three| {
        let words: Vec<&[u8]> = fields(three[0]).collect();
        let row: Vec<&[u8]> = fields(three[2]).collect();
        Banner::of(&words) == Some(Banner::Disks)
            && row
                .get(1..11)
                .is_some_and(|f| numbers(f.iter().copied()).is_some())
    })
}

impl Vmstat {
    /// A row of `-d`.
    pub(super) fn disk(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(mut values) = all.get(1..11).and_then(|f| numbers(f.iter().copied())) else {
            return Line::Unknown;
        };
        let stamp = match all[11..] {
            [] if all[0] == self.first || self.first.is_empty() => self.stamp.take(),
            [] => None,
            ref time => match self.stamp(time, out) {
                Some(stamp) => Some(stamp),
                None => return Line::Unknown,
            },
        };
        let device = out.word(all[0]);
        // The only one that is no counter.
        let inflight = std::mem::take(&mut values[8]);
        match stamp {
            Some(stamp) => out.sample_once_or_same(stamp),
            // A device that comes again begins the next report.
            None if !out.has_sample() || all[0] == self.first => out.sample(),
            None => {}
        }
        if self.sampled != out.samples() {
            self.sampled = out.samples();
            self.disks.next();
        }
        let grown = self.disks.grown_together(all[0], &values, out);
        if self.first.is_empty() {
            self.first = all[0].to_vec();
        }
        if out.samples() == 1 {
            out.since_boot();
        }
        let layer = out.disk_layer(all[0]);
        let whole = grown.is_none();
        let n = grown.unwrap_or(values);
        let busy = [n[9], inflight];
        if whole {
            out.put_since_boot(&self.device, &[device, layer], &busy);
        } else {
            out.put_amounts(&self.device, &[device, layer], &busy);
        }
        for (op, n) in [("read", &n[0..4]), ("write", &n[4..8])] {
            let words = [device, layer, out.word(op.as_bytes())];
            let values = [n[0], n[1], n[2] * 512.0, n[3] / 1000.0];
            if whole {
                // New, or the first report: all it did since boot.
                out.put_since_boot(&self.disk, &words, &values);
            } else {
                out.put_amounts(&self.disk, &words, &values);
            }
        }
        Line::Data
    }

    /// A report of `-p`: reads, sectors read, writes, and sectors written, which it calls
    /// requested writes.
    pub(super) fn partition(&mut self, name: &[u8], line: &[u8], out: &mut Out) -> Line {
        let Some(values) = numbers(fields(line)).filter(|v| v.len() == 4) else {
            return Line::Unknown;
        };
        out.sample_once(self.stamp.take());
        let grown = self.disks.grown(name, &values, out);
        let whole = grown.is_none();
        if whole {
            out.since_boot();
        }
        let n = grown.unwrap_or(values);
        let (device, layer) = (out.word(name), out.disk_layer(name));
        for (op, ios, sectors) in [("read", n[0], n[1]), ("write", n[2], n[3])] {
            let words = [device, layer, out.word(op.as_bytes())];
            let values = [ios, f64::NAN, sectors * 512.0, f64::NAN];
            if whole {
                out.put_since_boot(&self.disk, &words, &values);
            } else {
                out.put_amounts(&self.disk, &words, &values);
            }
        }
        Line::Data
    }
}
