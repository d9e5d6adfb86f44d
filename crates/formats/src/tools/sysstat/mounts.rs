//! Mounted directories of servers, as `iostat -n` of sysstat 7 to 10 printed them, and `cifsiostat`.

use super::unit_of;
use crate::Line;
use crate::number::number;
use crate::out::Out;

/// A row of `-n`.
pub(super) fn mount(all: &[&[u8]], columns: &[String], out: &mut Out) -> Line {
    let values: Option<Vec<f64>> = all[1..].iter().map(|f| number(f)).collect();
    let Some(values) = values.filter(|v| v.len() == columns.len()) else {
        return Line::Unknown;
    };
    let instance = out.word(all[0]);
    for (column, value) in columns.iter().zip(values) {
        let unit = if column.contains("Blk") {
            "sectors/s"
        } else {
            unit_of(column)
        };
        out.other(column, unit, instance, value);
    }
    Line::Data
}
