//! The observer's own cost.

use super::{PLAIN, Subject, dense, level, peak, sparse, sum, word};
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
        sum(
            "dropped",
            Count,
            "Events that were not told, because too many waited to be read.",
        ),
        sum(
            "unseen",
            Count,
            "I/Os, segments, connects or time slices that a program in the kernel could not follow: \
             they are in no histogram of their own.",
        ),
        peak(
            "one_in",
            Count,
            "Events were sampled, one in so many; 1: every event is told.",
        ),
    ],
    dimensions: &[word("table", "Table of events.")],
    tables: &[
        dense(
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
        ),
        sparse(
            "self_events",
            "self",
            &["table"],
            &["dropped", "unseen", "one_in"],
        ),
    ],
    ..PLAIN
};
