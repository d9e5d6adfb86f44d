//! What the command said of its own work: results of benchmarks in what it printed become rows
//! of the subject `workload`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use formats::{Options, find_workload, import_embedded};
use run::{Nanos, Sink};

/// Bytes of the end of what was printed that are looked at: results come last.
const LOOKED_AT: u64 = 16 << 20;

/// Adds rows of the results that are found in what the command printed until it `ended`; answers
/// with what the user should know.
pub(super) fn take(printed: [&File; 2], ended: Nanos, into: &mut Sink) -> Vec<String> {
    let mut remarks = Vec::new();
    for file in printed {
        // What cannot be read back is told when the run is closed.
        let Ok(text) = end_of(file) else { continue };
        for part in find_workload(&text) {
            match import_embedded(&part, &text, ended, &Options::default()) {
                Ok((report, mut rows)) => {
                    into.absorb(&mut rows);
                    let name = part.format.name;
                    remarks.extend(report.notes.iter().map(|n| format!("{name} output: {n}")));
                }
                Err(why) => remarks.push(format!(
                    "what looks like output of {} was not taken: {why}",
                    part.format.tool
                )),
            }
        }
    }
    remarks
}

fn end_of(file: &File) -> io::Result<Vec<u8>> {
    let mut file = file.try_clone()?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    let mut text = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut text)?;
    Ok(text)
}
