//! Headers that a tool repeats after so many rows, and those that it prints because somebody
//! started it anew, as where the output of a second run was appended to the first's.

use crate::out::Out;

/// Tools repeat their header after so many rows at least: what a terminal of 24 lines or a file
/// gets is 19 to 22 of them.
const LEAST: u64 = 18;

/// The rows between headers.
#[derive(Debug, Default)]
pub(crate) struct Headers {
    /// Since the last header.
    rows: u64,
    /// After which the tool repeats it.
    usual: Option<u64>,
}

impl Headers {
    /// A row came.
    pub(crate) fn row(&mut self) {
        self.rows += 1;
    }

    /// The tool was started anew, as other lines say; how many rows its output had until there.
    pub(crate) fn take(&mut self) -> u64 {
        std::mem::take(&mut self.rows)
    }

    /// A header came. Whether it begins another output, whose first report is since boot: it
    /// came sooner than a repeated one does.
    pub(crate) fn begin_anew(&mut self, out: &mut Out) -> bool {
        let rows = std::mem::take(&mut self.rows);
        let anew = match self.usual {
            _ if rows == 0 => false,
            _ if rows < LEAST => true,
            Some(usual) if rows < usual => true,
            _ => {
                self.usual = Some(rows);
                false
            }
        };
        if anew {
            out.note(
                "a header comes sooner than the tool repeats it: it was started anew there, and \
                 the report below it is since boot",
            );
            out.broken();
        }
        anew
    }
}

/// Leaves out the last column of a header that does not have its end: where lines were cut at a width,
/// its numbers may have been cut, too.
pub(crate) fn leave_out_last(names: &mut [String], out: &mut Out) {
    let Some(last) = names.last_mut() else { return };
    out.note(&format!(
        "its lines were cut at the column `{last}`, which is left out: its numbers may be cut, too"
    ));
    last.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    /// Headers after so many rows each: which of them begin another output.
    fn anew(rows: &[u64]) -> Vec<bool> {
        let every = Some(1.0);
        let mut out = Out::new(
            "test",
            Options {
                every,
                ..Options::default()
            },
        );
        let mut headers = Headers::default();
        let header = |rows: &u64| {
            (0..*rows).for_each(|_| headers.row());
            headers.begin_anew(&mut out)
        };
        rows.iter().map(header).collect()
    }

    #[test]
    fn short_distances_are_starts() {
        assert_eq!(anew(&[0, 21, 21, 21]), [false; 4]);
        // 60 reports, and 60 of another start behind them.
        let appended = anew(&[0, 21, 21, 18, 21, 21]);
        assert_eq!(appended, [false, false, false, true, false, false]);
        assert_eq!(anew(&[0, 5, 5]), [false, true, true]);
        assert_eq!(anew(&[0, 21, 20]), [false, false, true]);
        // The terminal was made larger.
        assert_eq!(anew(&[0, 21, 47, 47]), [false; 4]);
    }
}
