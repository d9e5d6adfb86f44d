//! Files whose lines were sorted, as for a spreadsheet: `ZZZZ`, the times, come last.

use std::collections::{BTreeMap, HashSet};

use crate::out::Out;
use crate::time::Refused;

/// Bytes of lines that wait for their times.
const MOST: usize = 256 << 20;

/// Lines of a snapshot, each with its number in the file.
type Lines = Vec<(u64, Vec<u8>)>;

/// Lines that wait for the end of the file, by snapshot.
#[derive(Default)]
pub(super) struct Sorted {
    /// `T9999` comes before `T10000`.
    snapshots: BTreeMap<(usize, Vec<u8>), Snapshot>,
    bytes: usize,
}

#[derive(Default)]
struct Snapshot {
    time: Option<(u64, Vec<u8>)>,
    lines: Lines,
}

impl Sorted {
    /// Keeps a line of a snapshot; `tells_time` if it is its `ZZZZ`.
    pub(super) fn keep(&mut self, snapshot: &[u8], line: &[u8], tells_time: bool, out: &mut Out) {
        self.bytes += line.len();
        if self.bytes > MOST {
            out.refuse(Refused(
                "its lines were sorted, and it is too large to wait for the times at its end\n\
                 hint: import it as nmon wrote it"
                    .into(),
            ));
            return;
        }
        let key = (snapshot.len(), snapshot.to_vec());
        let found = self.snapshots.entry(key).or_default();
        let kept = (out.line_number(), line.to_vec());
        if !tells_time {
            found.lines.push(kept);
        } else if found.time.get_or_insert(kept).1 != line {
            out.refuse(Refused(
                "lines of several files were sorted together, so that it is not known which \
                 snapshot they are of\n\
                 hint: import the files as nmon wrote them"
                    .into(),
            ));
        }
    }

    /// The lines as nmon writes them: the time of each snapshot first. What has none is not
    /// understood.
    pub(super) fn in_order(self, out: &mut Out) -> Lines {
        if self.snapshots.values().all(|s| s.time.is_none()) {
            out.refuse(Refused(
                "its lines `ZZZZ`, which tell the times of its snapshots, are missing\n\
                 hint: import the whole file, as nmon wrote it"
                    .into(),
            ));
            return Lines::new();
        }
        let mut all = Lines::new();
        for snapshot in self.snapshots.into_values() {
            match snapshot.time {
                Some(time) => {
                    all.push(time);
                    // Of a second copy each line comes twice.
                    let mut came = HashSet::new();
                    let mut lines = snapshot.lines;
                    lines.retain(|(_, line)| came.insert(line.clone()));
                    all.extend(lines);
                }
                None => {
                    for (number, line) in snapshot.lines {
                        out.not_understood(number, &String::from_utf8_lossy(&line));
                    }
                }
            }
        }
        all
    }
}
