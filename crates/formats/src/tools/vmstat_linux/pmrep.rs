//! `pmrep :vmstat` of Performance Co-Pilot: the columns of `vmstat`, in other widths.
//!
//! ```text
//!    r   b    swpd     free    buff   cache    si    so     bi     bo    in     cs  us  sy  id  wa  st
//!    3   0       0  8938988  255392 1240000   N/A   N/A    N/A    N/A   N/A    N/A N/A N/A N/A N/A N/A
//!    2   0       0  8929940  255392 1240012     0     0      0     40  1133   1192  43  28  27   0   0
//! ```
//!
//! No report is a mean since boot: the first has no rates, since it is printed when the first
//! interval begins. `si` and `so` are pages (`swap.pagesin` in its `vmstat.conf`), not KiB.

use crate::number::number;

/// Three places for `r` and `b` and seven for `swpd`, after a blank each; `vmstat -w` has others.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"   r   b    swpd ")
}

/// Whether the row is printed before the first interval.
pub(super) fn is_without_rates(all: &[&[u8]]) -> bool {
    all.contains(&&b"N/A"[..])
}

/// The numbers of a row; NaN where one is not known, or was wider than its column.
pub(super) fn values(all: &[&[u8]]) -> Option<Vec<f64>> {
    let value = |field: &&[u8]| match *field {
        b"N/A" | b"?" | b"xxx" => Some(f64::NAN),
        field => number(field),
    };
    all.iter().map(value).collect()
}
