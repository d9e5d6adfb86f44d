//! The observer's own cost.

use super::{PLAIN, Subject, dense, level, sum};
use crate::Unit::{Bytes, Count, Seconds};

pub(super) const SELF: Subject = Subject {
    name: "self",
    help: "What Sonde itself cost and missed.",
    measures: &[
        sum(
            "time",
            Seconds,
            "CPU time of the recorder, all its threads.",
        ),
        sum("written", Bytes, "Bytes written to the journal."),
        sum("samples", Count, "Samples taken."),
        sum(
            "late",
            Count,
            "Samples taken late, by more than a tenth of the interval.",
        ),
        sum(
            "missed",
            Count,
            "Samples left out because an earlier one was still being taken.",
        ),
        sum("lost_rows", Count, "Rows that could not be written."),
        level("resident", Bytes, "Resident memory of the recorder."),
    ],
    tables: &[dense(
        "self",
        "self",
        &[],
        &[
            "time",
            "written",
            "samples",
            "late",
            "missed",
            "lost_rows",
            "resident",
        ],
    )],
    ..PLAIN
};
