//! What the command said of its own work: results of benchmarks in what it printed become rows
//! of the subject `workload`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use formats::{Embedded, Options, find_workload, import_embedded};
use run::printed::Times;
use run::{Nanos, Sink};

use super::tee::Kept;

/// Bytes of the end of what was printed that are looked at: results come last.
const LOOKED_AT: u64 = 16 << 20;

/// Adds rows of the results that are found in what the command printed until it `ended`; answers
/// with what the user should know.
pub(super) fn take(printed: &[Kept; 2], ended: Nanos, into: &mut Sink) -> Vec<String> {
    // What cannot be read back is told when the run is closed.
    let texts = printed.each_ref().map(|kept| {
        let (before, text) = end_of(&kept.text).unwrap_or_default();
        (before, find_workload(&text), text)
    });
    let [(_, out, _), (_, err, _)] = &texts;
    let told = are_told_again(out, err);
    let mut remarks = Vec::new();
    if told {
        remarks.push(
            "pgbench's summary tells of the same work as its progress and was left out".to_owned(),
        );
    }
    for (place, (kept, (before, parts, text))) in printed.iter().zip(&texts).enumerate() {
        let times = kept.times.try_clone().and_then(Times::of);
        let times = times.ok().flatten();
        // What came last may have no time.
        let came = |upto: usize| {
            let when = times.as_ref().map(|t| t.when(before + upto as u64));
            when.and_then(|t| t.ok().flatten())
                .map_or(ended, |at| at.min(ended))
        };
        for part in parts {
            if told && place == 0 && part.format.name == "pgbench" {
                continue;
            }
            match import_embedded(part, text, came, &Options::default()) {
                Ok((report, mut rows)) => {
                    into.absorb(&mut rows);
                    let name = part.format.name;
                    remarks.extend(report.notes.iter().map(|n| format!("{name} output: {n}")));
                }
                Err(why) => remarks.push(not_taken(part.format.tool, &why.to_string())),
            }
        }
    }
    remarks
}

/// Whether pgbench's summaries, on stdout, are of runs of which its progress told on stderr.
fn are_told_again(out: &[Embedded], err: &[Embedded]) -> bool {
    let has = |parts: &[Embedded]| parts.iter().any(|p| p.format.name == "pgbench");
    has(out) && has(err)
}

/// What to do about it is for who imports: `--every` means something else here.
fn not_taken(tool: &str, why: &str) -> String {
    let why = why.split("\nhint:").next().unwrap_or_default();
    format!("what looks like output of {tool} was not taken: {why}")
}

/// The end of what was printed, and how many bytes there are before it.
fn end_of(file: &File) -> io::Result<(u64, Vec<u8>)> {
    let mut file = file.try_clone()?;
    let before = file.metadata()?.len().saturating_sub(LOOKED_AT);
    file.seek(SeekFrom::Start(before))?;
    let mut text = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut text)?;
    Ok((before, text))
}

#[cfg(test)]
mod tests {
    use super::{are_told_again, not_taken};
    use formats::find_workload;

    #[test]
    fn a_summary_does_not_count_beside_its_progress() {
        let summary = b"transaction type: a\nduration: 10 s\n\
                        number of transactions actually processed: 50\ntps = 5.0\n";
        let progress = b"progress: 5.0 s, 4.0 tps, lat 2.0 ms stddev 0.5\n\
                         progress: 10.0 s, 6.0 tps, lat 2.0 ms stddev 0.5\n";
        let [summary, progress] = [find_workload(summary), find_workload(progress)];
        assert_eq!((summary.len(), progress.len()), (1, 1));
        assert!(are_told_again(&summary, &progress));
        assert!(!are_told_again(&summary, &[]));
        assert!(!are_told_again(&[], &progress));
    }

    #[test]
    fn hints_of_imports_are_not_given() {
        let why = "the text does not tell how long an interval is\nhint: say it, as --every 1s";
        let remark = not_taken("sysbench", why);
        assert!(remark.ends_with("how long an interval is"), "{remark}");
        assert!(!remark.contains("--every"), "{remark}");
    }
}
