//! Lines of `iostat` that are of no table.

use super::{Iostat, Table, is_header};
use crate::Line;
use crate::out::Out;
use crate::stamp_line::{stamp_line, told};
use crate::tools::sysstat::told::By;
use crate::tools::sysstat::when::{Day, stamp};
use crate::tools::sysstat::{banner, command};

impl Iostat {
    /// A line of a report of which an output above told.
    pub(super) fn left_out(&mut self, line: &[u8], names: &[&[u8]], out: &mut Out) -> Line {
        let starts: [&[u8]; 3] = [b"avg-cpu:", b"Filesystem:", b"Filesystem"];
        let header = names.first().is_some_and(|f| starts.contains(f)) || is_header(names);
        if header || self.between(line, out) == Line::Noise {
            return Line::Noise;
        }
        self.left_out.row(By::Output, out);
        self.appended(line, Line::Unknown, out)
    }

    /// The banner of an output that was appended to one which was interrupted, perhaps behind a
    /// row that was cut off.
    pub(super) fn appended(&mut self, line: &[u8], seen: Line, out: &mut Out) -> Line {
        let Some(at) = memchr::memmem::find(line, b"Linux ") else {
            return seen;
        };
        if self.between(&line[at..], out) != Line::Noise {
            return seen;
        }
        self.end_devices(out);
        self.table = Table::None;
        if at == 0 { Line::Noise } else { seen }
    }

    /// A line of no table: the banner, a time, a command line. A time of a script is of the first
    /// report below it.
    pub(super) fn between(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(banner) = banner(line, out) {
            self.day = Day::new(&banner.date);
            // A script printed the time above it: iostat has its own below.
            if let Some(stamp) = self.stamp.take() {
                self.times.lead |= out.samples() == 0;
                self.times.told = Some(stamp);
            }
            out.broken();
            self.outputs.next();
            (self.fresh, self.times.whole) = (true, true);
            self.devices.clear();
            self.places.clear();
            return Line::Noise;
        }
        let arguments = command(line, "iostat").or_else(|| command(line, "cifsiostat"));
        if let Some(arguments) = arguments {
            self.command(&arguments, out);
            return Line::Noise;
        }
        if let Some(stamp) = stamp(line, &mut self.day, out) {
            if self.outputs.is_told(stamp, &mut self.day, out) {
                self.end_devices(out);
                self.fresh = false;
                return Line::Noise;
            }
            // One that nothing follows had nothing to report.
            self.begin_stamped(out);
            self.times.lead |= out.samples() == 0;
            self.stamp = Some(stamp);
            self.times.told = None;
            return Line::Noise;
        }
        if let Some(stamp) = told(line, out) {
            self.times.lead |= out.samples() == 0;
            // One that came after the first report is none of the next.
            if self.times.lead {
                self.times.told = Some(stamp);
                return Line::Noise;
            }
        }
        Line::Unknown
    }

    /// A time right below a row, where blank lines were taken out: the table is over. Where none
    /// came before the first report it may be that of the report above.
    pub(super) fn ends_table(&mut self, line: &[u8], out: &mut Out) -> bool {
        let is_time = self.times.lead
            && (stamp(line, &mut self.day, out).is_some()
                || matches!(stamp_line(line, out.options()), Ok(Some(_))));
        if is_time {
            self.end_devices(out);
            self.table = Table::None;
        }
        is_time && self.between(line, out) == Line::Noise
    }
}
